//! Sweeps: command some axes, wait until they are there, act, and have a person say what happened.
//!
//! A setpoint names its axes, so that a hood angle cannot land in a flywheel; each axis has a unit and limits, so that a
//! number in the wrong place is refused when the sweep is built.
//!
//! ```
//! use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
//! let shots = Sweep::new("shot-map", "Shot map")
//!     .axis(Axis::new("hood", "deg", 20.0, 60.0))
//!     .axis(Axis::new("flywheel", "rpm", 0.0, 6000.0))
//!     .setpoint(Setpoint::at(2.0).set("flywheel", 1800.0).set("hood", 42.0))
//!     .setpoint(Setpoint::at(2.0).set("flywheel", 1900.0).set("hood", 42.0))
//!     .question("did it score? 1 = in, 0.5 = rim, 0 = miss", "score", 0.0, 1.0)
//!     .build(|shot| format!("set {:?}", shot.values), |_| "fire".to_owned())?;
//! let keys: Vec<_> = shots.plan().steps.iter().filter_map(|s| match &s.kind {
//!     fieldlab_campaign::StepKind::Measure { key, .. } => Some(key.as_str()),
//!     _ => None,
//! }).collect();
//! assert_eq!(keys, ["at-2.00", "at-2.00#2"]);
//! assert_eq!(shots.acts()[0], "set [42.0, 1800.0]");
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```

use std::collections::BTreeMap;

use fieldlab_base::{ConfigError, check};

use crate::builder::{Act, Measure};
use crate::model::{Procedure, Shot};
use crate::text;

/// One thing that a sweep sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    name: String,
    unit: String,
    min: f64,
    max: f64,
}

impl Axis {
    /// An axis called `name`, in `unit`, that may be set from `min` to `max`.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, min: f64, max: f64) -> Self {
        Self { name: name.into(), unit: unit.into(), min, max }
    }
}

/// One point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Setpoint {
    at: f64,
    label: Option<String>,
    values: Vec<(String, f64)>,
}

impl Setpoint {
    /// With the robot at `at`, in the sweep's own unit.
    #[must_use]
    pub const fn at(at: f64) -> Self {
        Self { at, label: None, values: Vec::new() }
    }

    /// Another label than `at` to two decimals; the measure key is made from it.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the axis of that name.
    #[must_use]
    pub fn set(mut self, axis: impl Into<String>, value: f64) -> Self {
        self.values.push((axis.into(), value));
        self
    }
}

/// Builds a sweep.
#[derive(Debug, Clone)]
pub struct Sweep {
    id: String,
    title: String,
    why: String,
    gate_volts: f64,
    at_unit: String,
    axes: Vec<Axis>,
    setpoints: Vec<Setpoint>,
    repeats: u32,
    question: String,
    unit: String,
    range: (f64, f64),
    step: Option<f64>,
    near_robot: bool,
    ready_secs: f64,
    fire_secs: f64,
}

impl Sweep {
    /// A sweep with the reference's defaults: gate 12.3 V, 8 s to be ready, 6 s to fire, a score from 0 to 1.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            why: String::new(),
            gate_volts: 12.3,
            at_unit: "m".into(),
            axes: Vec::new(),
            setpoints: Vec::new(),
            repeats: 1,
            question: "did it score? 1 = in, 0.5 = rim, 0 = miss".into(),
            unit: "score".into(),
            range: (0.0, 1.0),
            step: None,
            near_robot: false,
            ready_secs: 8.0,
            fire_secs: 6.0,
        }
    }

    /// What it is for.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// The gate, V at rest.
    #[must_use]
    pub fn needs_battery(mut self, volts: f64) -> Self {
        self.gate_volts = volts;
        self
    }

    /// The unit of `at`, when it is not metres.
    #[must_use]
    pub fn at_unit(mut self, unit: impl Into<String>) -> Self {
        self.at_unit = unit.into();
        self
    }

    /// Adds an axis.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Self {
        self.axes.push(axis);
        self
    }

    /// Adds a setpoint.
    #[must_use]
    pub fn setpoint(mut self, setpoint: Setpoint) -> Self {
        self.setpoints.push(setpoint);
        self
    }

    /// How often each setpoint is shot.
    #[must_use]
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = repeats;
        self
    }

    /// What a person is asked after each shot, its unit and what is plausible.
    #[must_use]
    pub fn question(
        mut self,
        question: impl Into<String>,
        unit: impl Into<String>,
        min: f64,
        max: f64,
    ) -> Self {
        self.question = question.into();
        self.unit = unit.into();
        self.range = (min, max);
        self
    }

    /// The step of the answer's slider, when the unit's own does not fit.
    #[must_use]
    pub fn answer_step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// The answer is read at the robot, so that a Confirm precedes every shot.
    #[must_use]
    pub fn read_at_robot(mut self) -> Self {
        self.near_robot = true;
        self
    }

    /// Caps of the two acts, seconds.
    #[must_use]
    pub fn caps(mut self, ready_secs: f64, fire_secs: f64) -> Self {
        (self.ready_secs, self.fire_secs) = (ready_secs, fire_secs);
        self
    }

    /// The procedure. `set` makes the act that sets the axes (`shot.values`, in the order in which they were added) and
    /// completes when they are there; `fire` makes the act that follows.
    ///
    /// # Errors
    /// No axis or setpoint, an axis named twice, a setpoint that sets an unknown axis, misses one or leaves its limits,
    /// and whatever [`ProcedureBuilder::build`](crate::ProcedureBuilder::build) refuses.
    pub fn build<A>(
        self,
        set: impl Fn(&Shot) -> A,
        fire: impl Fn(&Shot) -> A,
    ) -> Result<Procedure<A>, ConfigError> {
        let place = format!("sweep[{}]", self.id);
        self.check_axes().map_err(|e| e.within(&place))?;
        let axes = self.axes.iter().map(|a| (a.name.clone(), a.unit.clone())).collect();
        let mut builder = Procedure::builder(&self.id, &self.title)
            .why(&self.why)
            .axes(axes)
            .needs_battery(self.gate_volts);
        let mut used: BTreeMap<String, u32> = BTreeMap::new();
        let mut row = 0;
        let mut stands_at: Option<f64> = None;
        for (i, setpoint) in self.setpoints.iter().enumerate() {
            let values = self.values(setpoint).map_err(|e| e.within(&format!("{place}.setpoints[{i}]")))?;
            let label = setpoint.label.clone().unwrap_or_else(|| text::fixed(setpoint.at, 2));
            for _ in 0..self.repeats {
                let shot = Shot { row, at: setpoint.at, values: values.clone() };
                row += 1;
                builder = builder.group();
                if self.near_robot || stands_at != Some(setpoint.at) {
                    let at = text::fixed(setpoint.at, 2);
                    builder = builder.confirm(format!("Robot at {at} {}, everybody clear", self.at_unit));
                    stands_at = Some(setpoint.at);
                }
                let key = format!("at-{}", text::safe(&label));
                let times = used.entry(key.clone()).and_modify(|n| *n += 1).or_insert(1);
                let (key, mark) = if *times == 1 {
                    (key, String::new())
                } else {
                    (format!("{key}#{times}"), format!(" #{times}"))
                };
                let named: Vec<String> = self
                    .axes
                    .iter()
                    .zip(&shot.values)
                    .map(|(a, v)| format!("{} {} {}", a.name, text::fixed(*v, 1), a.unit))
                    .collect();
                builder = builder
                    .act(
                        Act::new(format!("{label}{mark}: {}", named.join(", ")), self.ready_secs, set(&shot))
                            .prepares_next()
                            .shot(shot.clone()),
                    )
                    .act(Act::new(format!("{label}{mark}: fire"), self.fire_secs, fire(&shot)).shot(shot));
                let mut measure = Measure::new(format!("{label}{mark}: {}", self.question), key, &self.unit)
                    .range(self.range.0, self.range.1);
                if let Some(step) = self.step {
                    measure = measure.step(step);
                }
                builder = builder.measure(if self.near_robot { measure } else { measure.from_afar() });
            }
        }
        builder.build()
    }

    fn check_axes(&self) -> Result<(), ConfigError> {
        if self.axes.is_empty() {
            return Err(ConfigError::new("axes", "at least one axis", 0));
        }
        if self.setpoints.is_empty() {
            return Err(ConfigError::new("setpoints", "at least one setpoint", 0));
        }
        if self.repeats == 0 {
            return Err(ConfigError::new("repeats", "at least 1", 0));
        }
        check::finite("question.min", self.range.0)?;
        check::finite("question.max", self.range.1)?;
        for (i, axis) in self.axes.iter().enumerate() {
            if self.axes.iter().take(i).any(|a| a.name == axis.name) {
                return Err(ConfigError::new(format!("axes[{i}].name"), "a name used once", &axis.name));
            }
            check::finite(&format!("axes[{i}].min"), axis.min)?;
            check::within(&format!("axes[{i}].max"), axis.max, axis.min, f64::MAX)?;
        }
        Ok(())
    }

    /// The setpoint's values in the order of the axes.
    fn values(&self, setpoint: &Setpoint) -> Result<Vec<f64>, ConfigError> {
        check::finite("at", setpoint.at)?;
        for (axis, _) in &setpoint.values {
            if !self.axes.iter().any(|a| a.name == *axis) {
                let names: Vec<&str> = self.axes.iter().map(|a| a.name.as_str()).collect();
                return Err(ConfigError::new("axis", format!("one of {}", names.join(", ")), axis));
            }
        }
        let mut values = Vec::with_capacity(self.axes.len());
        for axis in &self.axes {
            let mut set = setpoint.values.iter().filter(|(name, _)| *name == axis.name);
            match (set.next(), set.next()) {
                (Some((_, value)), None) => {
                    check::within(&axis.name, *value, axis.min, axis.max)?;
                    values.push(*value);
                }
                (None, _) => return Err(ConfigError::new(&axis.name, "a value", "none")),
                (Some(_), Some(_)) => return Err(ConfigError::new(&axis.name, "one value", "two")),
            }
        }
        Ok(values)
    }
}
