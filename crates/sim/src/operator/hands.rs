//! How a person's intention becomes writes: the habits of three dashboards.

use std::collections::{BTreeMap, VecDeque};

use fieldlab_base::Micros;
use fieldlab_nt4::client::{Client, PublishOptions, PublisherId};
use fieldlab_values::{DataType, ValueRef};

/// Which dashboard the person sits at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// Our page: types into `Value`, then sends `Advance` = `PromptSeq`.
    Page,
    /// Catalyst Console: protocol 4.0 only, the answer's own slider, one write on release, `Advance` between 0 and 1.
    Console,
    /// Catalyst Tab: a drag streams values, buttons step, `Advance` between 0 and 1; re-sends nothing on reconnection.
    Tab,
}

/// One write that is due.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Write {
    pub(crate) at: Micros,
    pub(crate) topic: String,
    pub(crate) what: Written,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    Number(f64),
    Text(String),
}

/// The slider of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slider {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) step: f64,
}

impl Slider {
    fn nearest(self, value: f64) -> f64 {
        let steps = ((value - self.min) / self.step).round();
        // Through decimal text, as a browser does: 0.1 steps must not show as 0.30000000000000004.
        let at = format!("{:.6}", self.min + steps * self.step).parse().unwrap_or(value);
        f64::clamp(at, self.min, self.max.max(self.min))
    }
}

const TUNING: &str = "/Catalyst/Tuning/FieldLab/";

/// The hands: what will be written, and the publishers made so far on this connection.
#[derive(Debug)]
pub(crate) struct Hands {
    habit: Habit,
    due: VecDeque<Write>,
    publishers: BTreeMap<String, PublisherId>,
    toggles: BTreeMap<&'static str, bool>,
    shown: BTreeMap<String, f64>,
}

impl Hands {
    pub(crate) const fn new(habit: Habit) -> Self {
        Self {
            habit,
            due: VecDeque::new(),
            publishers: BTreeMap::new(),
            toggles: BTreeMap::new(),
            shown: BTreeMap::new(),
        }
    }

    /// Whether something is still to be written.
    pub(crate) fn are_busy(&self) -> bool {
        !self.due.is_empty()
    }

    /// Drops what was not written yet.
    pub(crate) fn drop_all(&mut self) {
        self.due.clear();
    }

    /// The connection is gone: these dashboards publish anew on their first write and re-send nothing.
    pub(crate) fn disconnected(&mut self, client: &mut Client) {
        for publisher in std::mem::take(&mut self.publishers).into_values() {
            client.unpublish(publisher);
        }
        self.due.clear();
    }

    /// Puts `value` in as the answer to `procedure/key`; answers when the last write is made.
    pub(crate) fn type_number(
        &mut self,
        from: Micros,
        procedure: &str,
        key: &str,
        slider: Option<Slider>,
        value: f64,
    ) -> Micros {
        let answer = format!("{TUNING}Answers/{procedure}/{key}");
        match (self.habit, slider) {
            (Habit::Page, _) | (_, None) => {
                self.put(from, format!("{TUNING}Value"), Written::Number(value));
                from
            }
            (Habit::Console, Some(slider)) => {
                self.put(from, answer, Written::Number(slider.nearest(value)));
                from
            }
            (Habit::Tab, Some(slider)) => self.drag(from, answer, slider, value),
        }
    }

    /// A drag over ten values to near the goal, then button taps of one step each to it.
    fn drag(&mut self, from: Micros, topic: String, slider: Slider, value: f64) -> Micros {
        let goal = slider.nearest(value);
        let start = self.shown.get(&topic).copied().unwrap_or(slider.min);
        let short = slider.nearest(goal - 2.0 * slider.step * (goal - start).signum());
        let mut at = from;
        for k in 1..=10 {
            let here = slider.nearest(start + (short - start) * f64::from(k) / 10.0);
            self.put(at, topic.clone(), Written::Number(here));
            at += Micros::from_millis(40);
        }
        let mut here = short;
        while (goal - here).abs() > 0.5 * slider.step {
            here = slider.nearest(here + slider.step * (goal - here).signum());
            at += Micros::from_millis(180);
            self.put(at, topic.clone(), Written::Number(here));
        }
        self.shown.insert(topic, goal);
        at
    }

    /// Presses `button` (`Advance`, `Redo`, `Skip`, `SameAgain`) for the prompt with this number.
    pub(crate) fn press(&mut self, at: Micros, button: &'static str, prompt_seq: i64) {
        let value = if self.habit == Habit::Page && button == "Advance" {
            prompt_seq as f64
        } else {
            let on = self.toggles.entry(button).or_insert(false);
            *on = !*on;
            f64::from(u8::from(*on))
        };
        self.put(at, format!("{TUNING}{button}"), Written::Number(value));
    }

    /// Presses Advance once more for a prompt that did not take the first press: any other number is a change.
    pub(crate) fn press_again(&mut self, at: Micros, attempt: u32) {
        if self.habit == Habit::Page {
            self.put(at, format!("{TUNING}Advance"), Written::Number(-f64::from(attempt)));
        } else {
            self.press(at, "Advance", 0);
        }
    }

    /// Says why something is given up.
    pub(crate) fn reason(&mut self, at: Micros, text: &str) {
        self.put(at, format!("{TUNING}SkipReason"), Written::Text(text.to_owned()));
    }

    fn put(&mut self, at: Micros, topic: String, what: Written) {
        self.due.push_back(Write { at, topic, what });
    }

    /// Writes what is due at `now`, stamped with the dashboard's own `stamp`.
    pub(crate) fn step(&mut self, now: Micros, stamp: Micros, client: &mut Client) {
        while self.due.front().is_some_and(|w| w.at <= now) {
            let Some(write) = self.due.pop_front() else { return };
            let kind = match write.what {
                Written::Number(_) => DataType::Double,
                Written::Text(_) => DataType::String,
            };
            let publisher = match self.publishers.get(&write.topic) {
                Some(publisher) => *publisher,
                None => match client.publish(&write.topic, &kind, PublishOptions::default()) {
                    Ok(publisher) => *self.publishers.entry(write.topic).or_insert(publisher),
                    // Only a full table or a bad name refuse, and the robot chose the names; the prompt stays unanswered
                    // and the person tries again.
                    Err(_) => continue,
                },
            };
            match write.what {
                Written::Number(n) => client.set(publisher, stamp, ValueRef::Double(n)),
                Written::Text(t) => client.set(publisher, stamp, ValueRef::String(&t)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLIDER: Slider = Slider { min: 3.0, max: 4.5, step: 0.01 };

    fn numbers(hands: &Hands) -> Vec<f64> {
        let number = |w: &Write| match w.what {
            Written::Number(n) => n,
            Written::Text(_) => f64::NAN,
        };
        hands.due.iter().map(number).collect()
    }

    #[test]
    fn a_console_writes_once_and_on_its_step() {
        let mut hands = Hands::new(Habit::Console);
        hands.type_number(Micros::ZERO, "wheel-radius", "caliper-diameter-in", Some(SLIDER), 3.987_6);
        assert_eq!(numbers(&hands), [3.99]);
        assert!(hands.due[0].topic.ends_with("Answers/wheel-radius/caliper-diameter-in"));
        hands.press(Micros::ZERO, "Advance", 17);
        hands.press(Micros::ZERO, "Advance", 18);
        assert_eq!(numbers(&hands)[1..], [1.0, 0.0]);
    }

    #[test]
    fn a_tab_streams_and_steps_to_the_same_number() {
        let mut hands = Hands::new(Habit::Tab);
        let end = hands.type_number(Micros::ZERO, "p", "k", Some(SLIDER), 3.987_6);
        let written = numbers(&hands);
        assert!(written.len() >= 11, "{written:?}");
        assert_eq!(written.last(), Some(&3.99));
        assert_eq!(hands.due.back().map(|w| w.at), Some(end));
        assert!(written.windows(2).all(|w| w[1] >= w[0]));
    }

    #[test]
    fn our_page_says_which_prompt_it_answers() {
        let mut hands = Hands::new(Habit::Page);
        hands.type_number(Micros::ZERO, "p", "k", Some(SLIDER), 3.987_6);
        hands.press(Micros::ZERO, "Advance", 17);
        assert_eq!(numbers(&hands), [3.987_6, 17.0]);
        assert!(hands.due[0].topic.ends_with("FieldLab/Value"));
    }
}
