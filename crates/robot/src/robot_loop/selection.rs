//! The op mode that is selected: when its object is built, told, and dropped; and what happens when its code panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fieldlab_base::{ConfigError, Micros, OperatorSample, Tick};

use crate::driver_station::{DriverState, OpModeId};
use crate::hw::{Hardware, Inputs};
use crate::identity::Register;
use crate::operator::OperatorPort;
use crate::opmode::{OpMode, OpModeEntry, OpModeInfo, OpModeKind, Setup, Turn};
use crate::site::Site;
use crate::telemetry::{AlertLevel, Alerts, Door};

const SOURCE: &str = "OpMode";
/// An op mode that is not ready for longer than this is worth a word: a save takes milliseconds.
const SOON: Micros = Micros::from_millis(500);
const UNREADY: &str = "waits for the storage to finish what was submitted before";

/// What the loop lends the op mode for one turn.
pub(super) struct Environment<'a> {
    pub(super) tick: Tick,
    pub(super) unix: Option<Micros>,
    pub(super) rebuild_on_disable: bool,
    pub(super) inputs: &'a Inputs,
    pub(super) hardware: &'a Hardware,
    pub(super) door: &'a mut Door,
    pub(super) alerts: &'a mut Alerts,
    pub(super) site: &'a Site,
    pub(super) operator: &'a mut dyn OperatorPort,
    pub(super) samples: &'a [OperatorSample],
    pub(super) register: &'a Register,
}

/// The registered op modes and the one that is alive.
///
/// `Nothing` (none selected) → `Built` (selected, disabled) → `Started` (enabled) → on disable `Built` again, or `Nothing`
/// when objects are rebuilt, which becomes `Built` in the next turn or, when the op mode is not ready, in a later one. A
/// panic or a refusal leads to `Faulted`, which lasts until a person disables or selects another op mode.
pub(super) struct Selection {
    entries: Vec<OpModeEntry>,
    /// By op mode: whether its features are recorded.
    recorded: Vec<bool>,
    selected: Option<OpModeId>,
    alive: Alive,
    /// Since when the selected op mode has not been ready.
    unready: Option<Micros>,
}

enum Alive {
    Nothing,
    Built(Box<dyn OpMode>),
    Started(Box<dyn OpMode>),
    Faulted { reason: String, enabled_since: bool },
}

impl Selection {
    pub(super) fn new(entries: Vec<OpModeEntry>, register: &Register) -> Result<Self, ConfigError> {
        for (i, entry) in entries.iter().enumerate() {
            if entries.iter().take(i).any(|e| e.info.name == entry.info.name) || entry.info.name.is_empty() {
                let path = format!("op_modes[{i}].name");
                return Err(ConfigError::new(path, "a name used once", format!("{:?}", entry.info.name)));
            }
        }
        if u16::try_from(entries.len()).is_err() {
            return Err(ConfigError::new("op_modes", "at most 65535 op modes", entries.len()));
        }
        for (i, entry) in entries.iter().enumerate() {
            let recorded = entry.features.iter().try_for_each(|feature| register.record(feature));
            recorded.map_err(|refused| refused.within(&format!("op_modes[{i}]")))?;
        }
        let recorded = vec![true; entries.len()];
        Ok(Self { entries, recorded, selected: None, alive: Alive::Nothing, unready: None })
    }

    pub(super) fn find(&self, name: &str) -> Option<OpModeId> {
        self.infos().find(|(_, info)| info.name == name).map(|(id, _)| id)
    }

    pub(super) fn infos(&self) -> impl Iterator<Item = (OpModeId, &OpModeInfo)> {
        self.entries.iter().enumerate().map(|(i, entry)| (OpModeId(i as u16), &entry.info))
    }

    pub(super) fn active_name(&self) -> &'static str {
        self.entry().map_or("", |entry| entry.info.name)
    }

    pub(super) fn active_kind(&self) -> Option<OpModeKind> {
        self.entry().map(|entry| entry.info.kind)
    }

    pub(super) fn fault(&self) -> Option<&str> {
        match &self.alive {
            Alive::Faulted { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn entry(&self) -> Option<&OpModeEntry> {
        self.selected.and_then(|id| self.entries.get(usize::from(id.0)))
    }

    /// One turn of whatever is selected. Answers whether it ran enabled, so that its leases may be carried out.
    pub(super) fn turn(&mut self, station: DriverState, env: &mut Environment<'_>) -> bool {
        let selected = station.selected.filter(|id| usize::from(id.0) < self.entries.len());
        if selected != self.selected {
            self.clear(env, true);
            self.selected = selected;
        }
        if self.selected.is_none() {
            return false;
        }
        let enabled = station.may_move();
        self.leave_fault(enabled, env);
        if matches!(self.alive, Alive::Nothing) {
            self.build(env);
        }
        match std::mem::replace(&mut self.alive, Alive::Nothing) {
            Alive::Built(op_mode) if enabled => {
                let started = self.call(op_mode, env, true, |mode, turn| {
                    mode.start(turn);
                    mode.periodic(turn);
                });
                started.is_some_and(|mode| {
                    self.alive = Alive::Started(mode);
                    true
                })
            }
            Alive::Started(op_mode) if enabled => {
                self.call(op_mode, env, true, |mode, turn| mode.periodic(turn)).is_some_and(|mode| {
                    self.alive = Alive::Started(mode);
                    true
                })
            }
            Alive::Built(op_mode) => {
                if let Some(mode) = self.call(op_mode, env, false, |mode, turn| mode.disabled_periodic(turn))
                {
                    self.alive = Alive::Built(mode);
                }
                false
            }
            Alive::Started(op_mode) => {
                if let Some(mode) = self.call(op_mode, env, false, |mode, turn| mode.end(turn)) {
                    if env.rebuild_on_disable {
                        self.drop_object(mode, env);
                    } else {
                        self.alive = Alive::Built(mode);
                    }
                }
                false
            }
            other => {
                self.alive = other;
                false
            }
        }
    }

    /// Ends and drops whatever is alive; nothing is selected afterwards. `deselected` says that a person chose so.
    pub(super) fn clear(&mut self, env: &mut Environment<'_>, deselected: bool) {
        let ended = match std::mem::replace(&mut self.alive, Alive::Nothing) {
            Alive::Started(op_mode) => self.call(op_mode, env, false, |mode, turn| mode.end(turn)),
            Alive::Built(op_mode) => Some(op_mode),
            Alive::Nothing | Alive::Faulted { .. } => None,
        };
        let told = match ended {
            Some(op_mode) if deselected => self.call(op_mode, env, false, |mode, turn| mode.deselected(turn)),
            other => other,
        };
        if let Some(op_mode) = told {
            self.drop_object(op_mode, env);
        }
        self.alive = Alive::Nothing;
        self.selected = None;
        self.unready = None;
        env.hardware.release_kept();
        env.operator.withdraw();
        env.alerts.clear_source(SOURCE);
    }

    /// A fault ends when the robot was disabled after it.
    fn leave_fault(&mut self, enabled: bool, env: &mut Environment<'_>) {
        if let Alive::Faulted { enabled_since, .. } = &mut self.alive {
            if enabled {
                *enabled_since = true;
            } else if *enabled_since {
                self.alive = Alive::Nothing;
                env.alerts.clear_source(SOURCE);
            }
        }
    }

    fn build(&mut self, env: &mut Environment<'_>) {
        let Some(entry) = self.selected.and_then(|id| self.entries.get_mut(usize::from(id.0))) else {
            return;
        };
        let mut setup = Setup {
            hardware: env.hardware.clone(),
            door: env.door.clone(),
            site: env.site,
            operator: &mut *env.operator,
            now: env.tick.now,
            unix: env.unix,
            register: env.register.clone(),
        };
        let built = catch_unwind(AssertUnwindSafe(|| (entry.build)(&mut setup)));
        self.note_features(matches!(built, Ok(Ok(_))), env.register);
        match built {
            Ok(Ok(Some(op_mode))) => {
                self.alive = Alive::Built(op_mode);
                self.unready = None;
                env.alerts.clear(AlertLevel::Warning, SOURCE, UNREADY);
            }
            Ok(Ok(None)) => {
                let since = *self.unready.get_or_insert(env.tick.now);
                if env.tick.now.since(since) >= SOON {
                    env.alerts.raise(AlertLevel::Warning, SOURCE, UNREADY);
                }
            }
            Ok(Err(refused)) => self.fail(format!("could not be built: {refused}"), env),
            Err(payload) => self.fail(format!("panicked while it was built: {}", text(&*payload)), env),
        }
    }

    /// What the selected op mode is made to do is on the sheet while it can be built.
    fn note_features(&mut self, came_up: bool, register: &Register) {
        let Some(at) = self.selected.map(|id| usize::from(id.0)) else { return };
        let (Some(entry), Some(recorded)) = (self.entries.get(at), self.recorded.get_mut(at)) else { return };
        if std::mem::replace(recorded, came_up) != came_up {
            for feature in &entry.features {
                if came_up {
                    // It was on the sheet before, so there is room and a name for it.
                    register.record(feature).ok();
                } else {
                    register.remove(feature);
                }
            }
        }
    }

    /// Calls a hook. A panic drops the object, which lets go of its leases, and is reported.
    fn call(
        &mut self,
        mut op_mode: Box<dyn OpMode>,
        env: &mut Environment<'_>,
        enabled: bool,
        hook: impl FnOnce(&mut dyn OpMode, &mut Turn<'_>),
    ) -> Option<Box<dyn OpMode>> {
        let mut turn = Turn {
            tick: env.tick,
            unix: env.unix,
            enabled,
            inputs: env.inputs,
            hardware: env.hardware,
            door: &mut *env.door,
            alerts: &mut *env.alerts,
            operator: env.samples,
        };
        match catch_unwind(AssertUnwindSafe(|| hook(&mut *op_mode, &mut turn))) {
            Ok(()) => Some(op_mode),
            Err(payload) => {
                self.drop_object(op_mode, env);
                self.fail(format!("panicked: {}", text(&*payload)), env);
                None
            }
        }
    }

    fn drop_object(&mut self, op_mode: Box<dyn OpMode>, env: &mut Environment<'_>) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(op_mode))) {
            self.fail(format!("panicked while it was dropped: {}", text(&*payload)), env);
        }
    }

    fn fail(&mut self, what: String, env: &mut Environment<'_>) {
        let reason = format!("{} {what}", self.active_name());
        env.alerts.raise(AlertLevel::Error, SOURCE, &reason);
        self.alive = Alive::Faulted { reason, enabled_since: env.inputs.enabled };
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}
