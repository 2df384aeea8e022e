//! A human's afternoon: somebody else enables and answers, the simulated person only carries the robot and reads the tape.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::any::Any;

use fieldlab_base::Micros;
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, PublishOptions, PublisherId};
use fieldlab_nt4_net::{Hub, LocalPipe};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_sim::operator::Part;
use fieldlab_sim::rehearsal::{Deed, Progress, RehearsalConfig, Scope, Stage, run_on};
use fieldlab_values::{DataType, ValueRef};

/// A person at a terminal and at a dashboard of their own.
struct Human {
    panel: DriverPanel,
    client: Client,
    value: PublisherId,
    advance: PublisherId,
    pipe: Option<LocalPipe>,
    prompts: Vec<(String, Option<f64>)>,
    typed_at: Option<Micros>,
    presses: f64,
}

impl Human {
    fn new(panel: DriverPanel) -> Self {
        let mut client = Client::new(ClientConfig::default()).unwrap();
        let options = SubscribeOptions { prefix: true, ..SubscribeOptions::default() };
        client.subscribe(&["/Catalyst/FieldLab/"], options).unwrap();
        let mut publish = |name: &str| {
            let topic = format!("/Catalyst/Tuning/FieldLab/{name}");
            client.publish(&topic, &DataType::Double, PublishOptions::default()).unwrap()
        };
        let (value, advance) = (publish("Value"), publish("Advance"));
        Self { panel, client, value, advance, pipe: None, prompts: Vec::new(), typed_at: None, presses: 0.0 }
    }

    /// Half a second after the number, the button.
    fn answer(&mut self, now: Micros, hint: Option<f64>) {
        match (self.typed_at, hint) {
            (None, Some(number)) => {
                self.client.set(self.value, now, ValueRef::Double(number));
                self.typed_at = Some(now);
            }
            (Some(at), _) if now.since(at) < Micros::from_millis(500) => {}
            _ => {
                self.presses += 1.0;
                self.client.set(self.advance, now, ValueRef::Double(self.presses));
                self.typed_at = None;
            }
        }
    }
}

impl Stage for Human {
    fn booted(&mut self, hub: &Hub) -> Result<Option<Box<dyn Any>>, String> {
        self.pipe = Some(hub.connect_local("human", Micros::ZERO).map_err(|e| e.to_string())?);
        Ok(None)
    }

    fn progress(&mut self, p: &Progress) -> Vec<Deed> {
        if let Some(pipe) = &mut self.pipe {
            pipe.pump(&mut self.client, p.now);
        }
        // Nobody else selects or enables.
        if p.now < Micros::from_secs(5.0) {
            assert!(!p.enabled && p.state.is_empty(), "{p:?}");
            return Vec::new();
        }
        if self.panel.state().selected.is_none() {
            return vec![Deed::Select];
        }
        self.panel.set_enabled(true);
        if p.state == "AWAITING_OPERATOR" && p.now > Micros::from_secs(9.0) {
            if self.prompts.last().is_none_or(|(text, _)| *text != p.prompt) {
                self.prompts.push((p.prompt.clone(), p.hint));
            }
            self.answer(p.now, p.hint);
            if let Some(pipe) = &mut self.pipe {
                pipe.pump(&mut self.client, p.now);
            }
        }
        if p.prompt.contains("clear behind") { vec![Deed::Quit] } else { Vec::new() }
    }
}

#[test]
fn a_person_at_the_station_and_at_a_dashboard_gets_through_a_run_with_the_tape_read_aloud() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = RehearsalConfig::new(3, dir.path());
    (config.scope, config.part, config.reboot, config.most_secs) =
        (Scope::Short, Part::Carrying, false, 120.0);
    let panel = DriverPanel::new();
    let mut human = Human::new(panel.clone());
    let done = run_on(&config, &panel, &mut human).unwrap();
    assert!(done.secs < 119.0, "{:?}", human.prompts);
    // The robot believes that it ran 2.5 m; the tape, read aloud, knows better.
    let (text, hint) = human.prompts.iter().find(|(text, _)| text.contains("taped length")).unwrap();
    let scale = done.truth.wheel_radius_m / 0.0508;
    assert!((hint.unwrap() - 2.5 * scale).abs() < 0.05, "{text}: {hint:?}, scale {scale}");
    assert_eq!(done.operator.confirms, 0, "the simulated person pressed nothing");
}
