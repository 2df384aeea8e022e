//! The person with the tape: answers prompts as a NetworkTables client, works the driver station by hand, carries the
//! robot and swaps its pack.

mod hands;
mod screen;
mod tape;

use std::collections::BTreeMap;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, Event};
use fieldlab_nt4::server::Version;
use fieldlab_robot::driver_station::{DriverPanel, OpModeId};
use fieldlab_values::ValueRef;

pub use hands::Habit;
use hands::{Hands, Slider};
use screen::{Prompt, Screen};
pub use tape::TapeConfig;
use tape::{Ahead, Tape};

use crate::battery::BatteryConfig;
use crate::rehearsal::{ProcedureResult, Progress};
use crate::rng::Rng;
use crate::world::World;

/// How the person works.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorConfig {
    /// The dashboard.
    pub habit: Habit,
    /// From reading a prompt to having done what it asks, seconds: at least, at most.
    pub think_secs: (f64, f64),
    /// How well the person measures.
    pub tape: TapeConfig,
    /// Chance that a number is mistyped at first; it is noticed and typed again with Redo.
    pub mistake_rate: f64,
    /// How long a pack swap takes, seconds: at least, at most.
    pub swap_secs: (f64, f64),
    /// The packs on the cart, in the order in which they are put in; the last kind is put in again and again.
    pub packs: Vec<BatteryConfig>,
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self {
            habit: Habit::Page,
            think_secs: (4.0, 12.0),
            tape: TapeConfig::default(),
            mistake_rate: 0.05,
            swap_secs: (20.0, 40.0),
            packs: (2..=4).map(|n| BatteryConfig::healthy(&format!("pack {n}"))).collect(),
        }
    }
}

/// What the person counted; for a summary and for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct OperatorTally {
    /// Numbers that the robot took.
    pub answers: u32,
    /// Confirmations given.
    pub confirms: u32,
    /// Numbers mistyped.
    pub mistakes: u32,
    /// Redo presses.
    pub redos: u32,
    /// Steps given up with a reason.
    pub skips: u32,
    /// Packs swapped.
    pub swaps: u32,
    /// Presses that the robot did not take at first.
    pub repeats: u32,
}

/// What of an afternoon's work the scripted person does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// All of it.
    #[default]
    Everything,
    /// The driver station, the packs and the carrying; somebody else answers.
    AllButAnswers,
    /// Carrying the robot and reading the tape aloud; somebody else enables and answers.
    Carrying,
}

#[derive(Debug, Clone, PartialEq)]
enum Doing {
    /// Watching the screen.
    Watching,
    /// Reading, walking, measuring: the prompt is acted on at this instant.
    Thinking { prompt: i64, until: Micros },
    /// Has acted on the prompt and waits for it to go away.
    Waiting { prompt: i64, until: Micros, attempt: u32 },
    /// Walks with a fresh pack: put in at this instant.
    Swapping { until: Micros },
}

/// A person who works through whatever campaign the robot runs.
#[derive(Debug)]
pub struct ScriptedOperator {
    config: OperatorConfig,
    client: Client,
    hands: Hands,
    tape: Tape,
    rng: Rng,
    doing: Doing,
    connected_at: Option<Micros>,
    plan_text: String,
    plan: serde_json::Value,
    /// What the tape said, by question; the person writes it down.
    paper: BTreeMap<String, f64>,
    wrong: Option<String>,
    failures: (String, u32),
    disabled_since: Option<Micros>,
    /// The driver station is somebody else's until then: a fault holds it disabled.
    locked_until: Micros,
    tally: OperatorTally,
    part: Part,
    carried_for: Option<i64>,
    paused_since: Option<Micros>,
    wants_restart: bool,
    session: String,
    state: String,
    banked: Vec<ProcedureResult>,
}

/// A prompt that did not go away this long after a press did not take it.
const PATIENCE: Micros = Micros::from_millis(2500);
/// A fresh pack takes a few seconds to be believed; a pause that stands longer wants another.
const PAUSE_IS_MEANT: Micros = Micros::from_millis(6000);
/// So many presses after which a robot that is not ready gets its code restarted.
const RESTART_AFTER: u32 = 4;
/// Nothing is pressed sooner after a connection: the robot ignores new clients for three seconds.
const AFTER_CONNECT: Micros = Micros::from_millis(3500);

impl ScriptedOperator {
    /// A person who has just sat down; every chance comes from `seed`.
    ///
    /// # Errors
    /// Refuses times and rates that are none.
    pub fn new(config: OperatorConfig, seed: u64) -> Result<Self, ConfigError> {
        use fieldlab_base::check;
        check::within("mistake_rate", config.mistake_rate, 0.0, 1.0)?;
        for (path, (least, most)) in [("think_secs", config.think_secs), ("swap_secs", config.swap_secs)] {
            check::within(&format!("{path}.0"), least, 0.0, 86_400.0)?;
            check::within(&format!("{path}.1"), most, least, 86_400.0)?;
        }
        let mut client = Client::new(ClientConfig::default())?;
        let (topics, period_secs): (&[&str], f64) = match config.habit {
            Habit::Page => (&["/Catalyst/FieldLab/", "/Catalyst/Tunables/"], 0.1),
            Habit::Console => (&["/"], 0.02),
            Habit::Tab => (&["/Catalyst/", "/FMSInfo/", "/SmartDashboard/"], 0.05),
        };
        let options = SubscribeOptions {
            prefix: true,
            period: Micros::from_secs(period_secs),
            ..SubscribeOptions::default()
        };
        client
            .subscribe(topics, options)
            .map_err(|e| ConfigError::new("habit", "a subscription that the client core takes", e))?;
        Ok(Self {
            hands: Hands::new(config.habit),
            tape: Tape::new(config.tape, seed),
            rng: Rng::stream(seed, "operator"),
            doing: Doing::Watching,
            connected_at: None,
            plan_text: String::new(),
            plan: serde_json::Value::Null,
            paper: BTreeMap::new(),
            wrong: None,
            failures: (String::new(), 0),
            disabled_since: None,
            locked_until: Micros::ZERO,
            tally: OperatorTally::default(),
            part: Part::Everything,
            carried_for: None,
            paused_since: None,
            wants_restart: false,
            session: String::new(),
            state: String::new(),
            banked: Vec::new(),
            config,
            client,
        })
    }

    /// Leaves what is not in `part` to somebody else.
    #[must_use]
    pub const fn doing(mut self, part: Part) -> Self {
        self.part = part;
        self
    }

    /// The version of the protocol that its dashboard speaks.
    #[must_use]
    pub const fn version(&self) -> Version {
        match self.config.habit {
            Habit::Console => Version::V40,
            Habit::Page | Habit::Tab => Version::V41,
        }
    }

    /// Whether the person has had enough of a robot that says that it is not ready, and restarts its code. Asked once.
    pub const fn takes_restart(&mut self) -> bool {
        std::mem::replace(&mut self.wants_restart, false)
    }

    /// What it wrote down for the question `<procedure>/<key>`, and types again when that is asked for again.
    #[must_use]
    pub fn noted(&self, question: &str) -> Option<f64> {
        self.paper.get(question).copied()
    }

    /// The session's id, as it last stood on the screen.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The procedures that were banked while this person watched, in order.
    #[must_use]
    pub fn banked(&self) -> &[ProcedureResult] {
        &self.banked
    }

    /// What stands on the screen, for a progress bar; `world` is for the tape.
    pub fn progress(&mut self, world: &World) -> Progress {
        let screen = Screen(&self.client);
        let prompt = screen.prompt();
        let hint = prompt.as_ref().and_then(|p| {
            let (procedure, key) = p.question()?;
            // Read with a steady hand: looking must not use up chance.
            self.tape.clone().read(world, procedure, key, &p.unit)
        });
        let screen = Screen(&self.client);
        Progress {
            now: Micros::ZERO,
            done: screen.number("Progress").unwrap_or(0.0),
            state: screen.text("State").to_owned(),
            procedure: screen.text("Procedure").to_owned(),
            step: screen.text("Step").to_owned(),
            prompt: prompt.map(|p| p.text).unwrap_or_default(),
            hint,
            battery_volts: 0.0,
            enabled: false,
            running: false,
        }
    }

    /// The client core, for whoever carries its messages.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// What was counted so far.
    #[must_use]
    pub const fn tally(&self) -> OperatorTally {
        self.tally
    }

    /// The name under which it connects.
    #[must_use]
    pub const fn client_name(&self) -> &'static str {
        match self.config.habit {
            Habit::Page => "fieldlab-page",
            Habit::Console => "catalyst-console",
            Habit::Tab => "catalyst-tab",
        }
    }

    /// Keeps the person's hands off the driver station until then.
    pub fn lock_station(&mut self, until: Micros) {
        self.locked_until = self.locked_until.max(until);
    }

    /// The campaign's state token, as it last stood on the screen.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Where the campaign is, as it stands on the screen.
    #[must_use]
    pub fn place(&self) -> Option<crate::faults::Place> {
        let screen = Screen(&self.client);
        let procedure = screen.text("ProcedureId");
        if procedure.is_empty() {
            return None;
        }
        Some(crate::faults::Place {
            procedure: procedure.to_owned(),
            step: screen.number("StepIndex")? as usize,
            step_kind: screen.text("StepKind").to_owned(),
        })
    }

    /// One glance at the screen and whatever follows from it. `now` is the person's own clock, which never restarts;
    /// `stamp` is what the dashboard stamps its writes with; `field_lab` is the op mode to select. The owner carries the
    /// client's messages before and after.
    pub fn step(
        &mut self,
        now: Micros,
        stamp: Micros,
        world: &mut World,
        panel: &DriverPanel,
        field_lab: OpModeId,
    ) {
        self.look();
        if !self.client.is_connected() {
            if self.connected_at.take().is_some() {
                self.hands.disconnected(&mut self.client);
                if !matches!(self.doing, Doing::Swapping { .. }) {
                    self.doing = Doing::Watching;
                }
            }
            return;
        }
        let since = *self.connected_at.get_or_insert(now);
        if self.part == Part::Carrying {
            self.carry_only(world);
            return;
        }
        self.hands.step(now, stamp, &mut self.client);
        if let Doing::Swapping { until } = self.doing {
            if now >= until {
                self.put_pack_in(world);
                self.doing = Doing::Watching;
                self.disabled_since = Some(now);
            }
            return;
        }
        if now.since(since) < AFTER_CONNECT {
            return;
        }
        self.work_station(now, panel, field_lab);
        if self.part == Part::AllButAnswers {
            self.carry_only(world);
        } else if panel.state().may_move() && Screen(&self.client).is_live() {
            self.work_prompt(now, world);
        }
    }

    /// Keeps what would be gone with the next connection.
    fn look(&mut self) {
        while let Some(event) = self.client.poll_event() {
            let Event::Value { name, value, .. } = event else { continue };
            if let ValueRef::String(text) = value.as_ref()
                && name.starts_with("/Catalyst/FieldLab/")
                && name.ends_with("/Events")
            {
                self.note_event(text);
            }
        }
        let screen = Screen(&self.client);
        if screen.is_live() {
            self.state.clear();
            self.state.push_str(screen.text("State"));
            if !screen.text("Session").is_empty() {
                self.session.clear();
                self.session.push_str(screen.text("Session"));
            }
        }
    }

    fn note_event(&mut self, text: &str) {
        let event: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        if event["event"] == "answer" && event["resumed"] != true {
            self.tally.answers += 1;
        }
        if event["event"] == "procedure_banked"
            && let Some(id) = event["procedure"].as_str()
        {
            let outcome = event["quality"].as_str().unwrap_or_default().to_owned();
            self.banked.retain(|b| b.id != id);
            self.banked.push(ProcedureResult { id: id.to_owned(), outcome });
        }
    }

    /// Puts the robot where a Confirm wants it, as soon as it is shown.
    fn carry_only(&mut self, world: &mut World) {
        let Some(prompt) = Screen(&self.client).prompt().filter(|_| self.state == "AWAITING_OPERATOR") else {
            return;
        };
        if prompt.key.is_empty() && self.carried_for != Some(prompt.seq) {
            self.carried_for = Some(prompt.seq);
            let ahead = self.ahead(&prompt);
            self.tape.prepare(world, &ahead);
        }
    }

    /// Select, enable, and disable for a swap.
    fn work_station(&mut self, now: Micros, panel: &DriverPanel, field_lab: OpModeId) {
        let state = panel.state();
        if matches!(self.state(), "DONE" | "ABORTED") {
            return;
        }
        if state.selected != Some(field_lab) {
            panel.select(Some(field_lab));
        }
        if self.state() != "PAUSED_BATTERY" || !state.enabled {
            self.paused_since = None;
        } else if now.since(*self.paused_since.get_or_insert(now)) >= PAUSE_IS_MEANT {
            self.paused_since = None;
            panel.set_enabled(false);
            self.hands.drop_all();
            let (least, most) = self.config.swap_secs;
            let walk = Micros::from_secs(self.rng.uniform(least, most));
            self.doing = Doing::Swapping { until: now + walk };
            return;
        }
        if state.enabled {
            self.disabled_since = None;
        } else if now >= self.locked_until {
            let since = *self.disabled_since.get_or_insert(now);
            if now.since(since) >= Micros::from_secs(3.0) {
                panel.set_enabled(true);
            }
        }
    }

    fn put_pack_in(&mut self, world: &mut World) {
        let index = (self.tally.swaps as usize).min(self.config.packs.len().saturating_sub(1));
        let pack = self.config.packs.get(index).cloned().unwrap_or_else(|| BatteryConfig::healthy("spare"));
        // A pack on the cart that is no pack stays there; the campaign then goes on waiting, as it should.
        if world.swap_battery(pack).is_ok() {
            self.tally.swaps += 1;
        }
    }

    fn work_prompt(&mut self, now: Micros, world: &mut World) {
        let asks = matches!(self.state(), "AWAITING_OPERATOR");
        let prompt = Screen(&self.client).prompt().filter(|_| asks);
        let Some(prompt) = prompt else {
            if !self.hands.are_busy() {
                self.doing = Doing::Watching;
            }
            return;
        };
        match self.doing {
            Doing::Thinking { prompt: seq, until } if seq == prompt.seq => {
                if now >= until {
                    self.act(now, world, &prompt, 0);
                }
            }
            Doing::Waiting { prompt: seq, until, attempt } if seq == prompt.seq => {
                if now >= until && !self.hands.are_busy() {
                    self.tally.repeats += 1;
                    self.act(now, world, &prompt, attempt + 1);
                }
            }
            _ => {
                let (least, most) = self.config.think_secs;
                let until = now + Micros::from_secs(self.rng.uniform(least, most));
                self.doing = Doing::Thinking { prompt: prompt.seq, until };
            }
        }
    }

    /// Does what the prompt asks, with its hands on the dashboard at the end.
    fn act(&mut self, now: Micros, world: &mut World, prompt: &Prompt, attempt: u32) {
        let screen = Screen(&self.client);
        let procedure = screen.text("ProcedureId").to_owned();
        self.wants_restart |= attempt >= RESTART_AFTER && prompt.text.starts_with("Not ready");
        let mut at = now;
        if attempt == 0 && self.wrong.take().is_some() {
            // The number on the screen is not the one on the tape.
            self.tally.redos += 1;
            self.hands.press(at, "Redo", prompt.seq);
        } else if attempt == 0 && prompt.is_offer() && self.gives_up(&procedure) {
            self.tally.skips += 1;
            self.hands.reason(at, "tried three times");
            at += Micros::from_millis(600);
            self.hands.press(at, "Skip", prompt.seq);
        } else if prompt.key.is_empty() {
            if attempt == 0 {
                let ahead = self.ahead(prompt);
                self.tape.prepare(world, &ahead);
                self.tally.confirms += 1;
                self.hands.press(at, "Advance", prompt.seq);
            } else {
                self.hands.press_again(at, attempt);
            }
        } else {
            at = self.answer(now, world, prompt, attempt);
        }
        // A prompt that takes nothing for a long time is looked at less and less often.
        let patience = Micros(PATIENCE.0.saturating_mul(i64::from(attempt.min(11)) + 1));
        self.doing = Doing::Waiting { prompt: prompt.seq, until: at + patience, attempt };
    }

    fn answer(&mut self, now: Micros, world: &World, prompt: &Prompt, attempt: u32) -> Micros {
        let Some((procedure, key)) = prompt.question() else { return now };
        let truth = self.look_up(world, prompt, procedure, key, attempt);
        let mut typed = truth;
        if attempt == 0 && !self.corrects(prompt) && self.rng.chance(self.config.mistake_rate) {
            typed = self.mistype(truth, prompt);
            if typed != truth {
                self.tally.mistakes += 1;
                self.wrong = Some(prompt.key.clone());
            }
        }
        let same_again = attempt > 0 && Screen(&self.client).text("LastCommit").contains("SameAgain");
        let slider = self.slider(procedure, key, prompt);
        let mut at = self.hands.type_number(now, procedure, key, slider, typed);
        at += Micros::from_millis(700);
        if same_again {
            self.hands.press(at, "SameAgain", prompt.seq);
            at += Micros::from_millis(700);
        }
        if attempt == 0 {
            self.hands.press(at, "Advance", prompt.seq);
        } else {
            self.hands.press_again(at, attempt);
        }
        at
    }

    /// The number for a question: off the paper when it is asked again, off the tape otherwise.
    fn look_up(&mut self, world: &World, prompt: &Prompt, procedure: &str, key: &str, attempt: u32) -> f64 {
        if (attempt > 0 || self.corrects(prompt))
            && let Some(noted) = self.paper.get(&prompt.key)
        {
            return *noted;
        }
        let read = self.tape.read(world, procedure, key, &prompt.unit).unwrap_or_else(|| {
            // A question that no tape answers: something plausible.
            0.5 * (prompt.min.unwrap_or(0.0) + prompt.max.unwrap_or(1.0))
        });
        self.paper.insert(prompt.key.clone(), read);
        read
    }

    /// Whether the prompt asks for an answer once more, because it was mistyped.
    fn corrects(&self, prompt: &Prompt) -> bool {
        prompt.text.starts_with("Again:")
    }

    /// The finger slips by a digit, inside what the dashboard can express.
    fn mistype(&mut self, truth: f64, prompt: &Prompt) -> f64 {
        let span = prompt.max.unwrap_or(truth + 1.0) - prompt.min.unwrap_or(truth - 1.0);
        let step = [0.1, 0.2, 0.5][self.rng.below(3) as usize] * span;
        let wrong =
            if truth + step <= prompt.max.unwrap_or(f64::INFINITY) { truth + step } else { truth - step };
        format!("{wrong:.3}").parse().unwrap_or(truth)
    }

    /// Three failures of one procedure's act are enough.
    fn gives_up(&mut self, procedure: &str) -> bool {
        if self.failures.0 != procedure {
            self.failures = (procedure.to_owned(), 0);
        }
        self.failures.1 += 1;
        self.failures.1 > 3
    }

    /// The plan on the dashboard, parsed when it changes.
    fn plan(&mut self) -> &serde_json::Value {
        let text = Screen(&self.client).text("Plan");
        if text != self.plan_text {
            self.plan_text = text.to_owned();
            self.plan = serde_json::from_str(text).unwrap_or_default();
        }
        &self.plan
    }

    fn steps_of<'a>(plan: &'a serde_json::Value, procedure: &str) -> &'a [serde_json::Value] {
        plan["procedures"]
            .as_array()
            .and_then(|all| all.iter().find(|p| p["id"] == procedure))
            .and_then(|p| p["steps"].as_array())
            .map_or(&[], Vec::as_slice)
    }

    fn ahead(&mut self, prompt: &Prompt) -> Ahead {
        let screen = Screen(&self.client);
        let procedure = screen.text("ProcedureId").to_owned();
        let index = screen.number("StepIndex").unwrap_or(0.0) as usize;
        let prompt = prompt.text.clone();
        let plan = self.plan();
        let act = Self::steps_of(plan, &procedure).iter().skip(index).find(|s| s["kind"] == "act");
        Ahead {
            act: act.and_then(|a| a["label"].as_str()).unwrap_or_default().to_owned(),
            shot_at: act.and_then(|a| a["shot"]["at"].as_f64()),
            procedure,
            prompt,
        }
    }

    fn slider(&mut self, procedure: &str, key: &str, prompt: &Prompt) -> Option<Slider> {
        let step = Self::steps_of(self.plan(), procedure)
            .iter()
            .find(|s| s["kind"] == "measure" && s["key"] == key)
            .and_then(|s| s["step"].as_f64())?;
        Some(Slider { min: prompt.min?, max: prompt.max?, step })
    }
}
