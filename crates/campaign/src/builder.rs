//! Building procedures and campaigns, and every check that they must pass.

use fieldlab_base::{ConfigError, check};

use crate::model::{ActId, Campaign, Plan, Procedure, ProcedurePlan, Shot, Step, StepKind};
use crate::text;

/// Names that stand beside procedure ids under `FieldLab/`, and so cannot be one.
const RESERVED_IDS: [&str; 45] = [
    "State",
    "Session",
    "Campaign",
    "Procedure",
    "ProcedureId",
    "ProcedureIndex",
    "ProcedureCount",
    "Step",
    "StepKind",
    "StepIndex",
    "StepCount",
    "Progress",
    "ElapsedSeconds",
    "RemainingSeconds",
    "EstimatedSeconds",
    "BatteryVolts",
    "Notes",
    "LastNote",
    "Measurements",
    "Banked",
    "Prompt",
    "PromptUnit",
    "PromptSeq",
    "PromptKey",
    "PromptMin",
    "PromptMax",
    "LastCommit",
    "Plan",
    "GateMinVolts",
    "GateResumeVolts",
    "PreArm",
    "Hold",
    "Fault",
    "Enabled",
    "Header",
    "Events",
    "Value",
    "Advance",
    "SameAgain",
    "Redo",
    "Skip",
    "SkipReason",
    "Answers",
    "AngleDegrees",
    "PositionMeters",
];

/// Ends of measure keys that readers of the log take for something else.
const RESERVED_KEY_ENDS: [&str; 8] =
    ["Index", "Count", "Seconds", "Progress", "Volts", ".seconds", ".unit", ".achieved"];
const RESERVED_KEYS: [&str; 6] = ["Started", "Finished", "At", "First", "Second", "Row"];

/// An act to be added to a procedure.
#[derive(Debug, Clone)]
pub struct Act<A> {
    label: String,
    timeout_secs: f64,
    estimate_secs: Option<f64>,
    moves: bool,
    required: bool,
    prepares: bool,
    shot: Option<Shot>,
    payload: A,
}

impl<A> Act<A> {
    /// An act that moves something, that the procedure is worth nothing without, and that is stopped after
    /// `timeout_secs`.
    pub fn new(label: impl Into<String>, timeout_secs: f64, payload: A) -> Self {
        Self {
            label: label.into(),
            timeout_secs,
            estimate_secs: None,
            moves: true,
            required: true,
            prepares: false,
            shot: None,
            payload,
        }
    }

    /// How long it usually takes, when that is not its timeout.
    #[must_use]
    pub fn estimate_secs(mut self, secs: f64) -> Self {
        self.estimate_secs = Some(secs);
        self
    }

    /// Nothing moves: it may start while a person stands at the robot.
    #[must_use]
    pub fn stands_still(mut self) -> Self {
        self.moves = false;
        self
    }

    /// The procedure is worth something without it.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// It only prepares the next act: repeated with it, and the next act is not run unless this one completed.
    #[must_use]
    pub fn prepares_next(mut self) -> Self {
        self.prepares = true;
        self
    }

    /// It belongs to this setpoint of a sweep.
    #[must_use]
    pub fn shot(mut self, shot: Shot) -> Self {
        self.shot = Some(shot);
        self
    }
}

/// A question to be added to a procedure.
#[derive(Debug, Clone)]
pub struct Measure {
    label: String,
    key: String,
    unit: String,
    min: Option<f64>,
    max: Option<f64>,
    step: Option<f64>,
    estimate_secs: f64,
    near_robot: bool,
}

impl Measure {
    /// Asks for a number in `unit`, kept as `<procedure>/<key>`.
    pub fn new(label: impl Into<String>, key: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            key: key.into(),
            unit: unit.into(),
            min: None,
            max: None,
            step: None,
            estimate_secs: 60.0,
            near_robot: true,
        }
    }

    /// What is plausible, inclusive. An answer outside is recorded, noted and warned of, never refused.
    #[must_use]
    pub fn range(mut self, min: f64, max: f64) -> Self {
        self.min = Some(min);
        self.max = Some(max);
        self
    }

    /// The step of a slider, when the unit's own does not fit.
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// How long it usually takes, seconds.
    #[must_use]
    pub fn estimate_secs(mut self, secs: f64) -> Self {
        self.estimate_secs = secs;
        self
    }

    /// Nobody goes to the robot for it: what was seen from where one stands.
    #[must_use]
    pub fn from_afar(mut self) -> Self {
        self.near_robot = false;
        self
    }

    /// A step that fits the unit and divides the range: a millimetre, a hundredth of an inch, one of a count.
    fn step_that_fits(&self) -> f64 {
        self.step.unwrap_or(match self.unit.as_str() {
            "m" | "rad" => 0.001,
            "in" => 0.01,
            "score" => 0.5,
            "count" => 1.0,
            "deg" => 0.1,
            _ => 0.01,
        })
    }
}

/// Makes a [`Procedure`].
#[derive(Debug, Clone)]
pub struct ProcedureBuilder<A> {
    plan: ProcedurePlan,
    acts: Vec<A>,
    group: u32,
}

impl<A> Procedure<A> {
    /// A procedure called `id` in checkpoint, log and report, and `title` on the dashboard.
    pub fn builder(id: impl Into<String>, title: impl Into<String>) -> ProcedureBuilder<A> {
        let plan = ProcedurePlan {
            id: id.into(),
            title: title.into(),
            why: String::new(),
            axes: Vec::new(),
            steps: Vec::new(),
        };
        ProcedureBuilder { plan, acts: Vec::new(), group: 0 }
    }
}

impl<A> ProcedureBuilder<A> {
    fn push(mut self, label: String, kind: StepKind) -> Self {
        self.plan.steps.push(Step { label, group: self.group, kind });
        self
    }

    /// What it is for.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.plan.why = why.into();
        self
    }

    /// The axes of a sweep, name and unit, in the order of every shot's values.
    #[must_use]
    pub fn axes(mut self, axes: Vec<(String, String)>) -> Self {
        self.plan.axes = axes;
        self
    }

    /// From here on steps stand or fall together, apart from those before.
    #[must_use]
    pub fn group(mut self) -> Self {
        self.group += 1;
        self
    }

    /// A gate at this place: pauses below `volts` and resumes 0.3 V above.
    #[must_use]
    pub fn needs_battery(self, volts: f64) -> Self {
        self.battery_gate(volts, volts + 0.3)
    }

    /// A gate at this place.
    #[must_use]
    pub fn battery_gate(self, min_volts: f64, resume_volts: f64) -> Self {
        let label = format!("Battery: {} V or more at rest", text::fixed(resume_volts, 1));
        self.push(label, StepKind::BatteryGate { min_volts, resume_volts })
    }

    /// Waits until a person says that it is so.
    #[must_use]
    pub fn confirm(self, label: impl Into<String>) -> Self {
        self.push(label.into(), StepKind::Confirm { estimate_secs: 30.0 })
    }

    /// Nothing moves for `secs`.
    #[must_use]
    pub fn settle(self, label: impl Into<String>, secs: f64) -> Self {
        self.push(label.into(), StepKind::Settle { secs })
    }

    /// Asks a person for a number.
    #[must_use]
    pub fn measure(self, measure: Measure) -> Self {
        let step = measure.step_that_fits();
        let Measure { label, key, unit, min, max, estimate_secs, near_robot, .. } = measure;
        self.push(label, StepKind::Measure { key, unit, min, max, step, estimate_secs, near_robot })
    }

    /// Runs something.
    #[must_use]
    pub fn act(mut self, act: Act<A>) -> Self {
        let Act { label, timeout_secs, estimate_secs, moves, required, prepares, shot, payload } = act;
        let id = ActId(u32::try_from(self.acts.len()).unwrap_or(u32::MAX));
        self.acts.push(payload);
        let estimate_secs = estimate_secs.unwrap_or(timeout_secs);
        self.push(
            label,
            StepKind::Act { act: id, timeout_secs, estimate_secs, moves, required, prepares, shot },
        )
    }

    /// Checks it all.
    ///
    /// # Errors
    /// Ids and keys that are not `[A-Za-z0-9._-]+`, look like a session, or are taken by a topic; keys used twice;
    /// numbers that are not finite; gates that resume below where they pause; a motion that no Confirm precedes, at the
    /// start of the procedure or after a question for which a person stands at the robot.
    pub fn build(self) -> Result<Procedure<A>, ConfigError> {
        let plan = self.plan;
        check_id(&plan.id).map_err(|e| e.within("procedure"))?;
        let place = format!("procedure[{}]", plan.id);
        check_steps(&plan.steps).map_err(|e| e.within(&place))?;
        for (i, (name, _)) in plan.axes.iter().enumerate() {
            check_word(name).map_err(|e| e.within(&format!("{place}.axes[{i}].name")))?;
        }
        Ok(Procedure { plan, acts: self.acts })
    }
}

fn check_word(word: &str) -> Result<(), ConfigError> {
    if word.is_empty() || !word.chars().all(text::is_safe) {
        return Err(ConfigError::new("", "letters, digits, '.', '_' or '-'", format!("{word:?}")));
    }
    Ok(())
}

fn check_id(id: &str) -> Result<(), ConfigError> {
    check_word(id).map_err(|e| e.within("id"))?;
    if id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(ConfigError::new("id", "an id that does not look like a session (8 hex digits)", id));
    }
    if RESERVED_IDS.contains(&id) {
        return Err(ConfigError::new("id", "an id that is no topic under FieldLab/", id));
    }
    Ok(())
}

/// As an id, and besides it may end in `#2`, `#3`: a sweep's second question at one setpoint.
fn check_key(key: &str) -> Result<(), ConfigError> {
    let (base, repeat) = key.split_once('#').map_or((key, None), |(b, r)| (b, Some(r)));
    check_word(base)?;
    if repeat.is_some_and(|r| r.is_empty() || r.starts_with('0') || !r.bytes().all(|b| b.is_ascii_digit())) {
        return Err(ConfigError::new("", "'#' only before a whole number at the end", key));
    }
    if RESERVED_KEYS.contains(&key) || RESERVED_KEY_ENDS.iter().any(|end| key.ends_with(end)) {
        return Err(ConfigError::new(
            "",
            "a key that readers of the log do not take for something else",
            key,
        ));
    }
    Ok(())
}

fn check_steps(steps: &[Step]) -> Result<(), ConfigError> {
    let mut keys: Vec<&str> = Vec::new();
    let mut confirmed = false;
    for (i, step) in steps.iter().enumerate() {
        let at = |field: &str| format!("steps[{i}].{field}");
        match &step.kind {
            StepKind::Act { timeout_secs, estimate_secs, moves, prepares, shot, .. } => {
                check::positive(&at("timeout_secs"), *timeout_secs)?;
                check::within(&at("estimate_secs"), *estimate_secs, 0.0, f64::MAX)?;
                if *moves && !confirmed {
                    let expected =
                        "a Confirm between the last step with a person at the robot and this motion";
                    return Err(ConfigError::new(
                        at("moves"),
                        expected,
                        format!("{:?} without one", step.label),
                    ));
                }
                let next = steps.get(i + 1);
                if *prepares
                    && !next.is_some_and(|s| matches!(s.kind, StepKind::Act { .. }) && s.group == step.group)
                {
                    return Err(ConfigError::new(
                        at("prepares"),
                        "an act of the same group right after",
                        "none",
                    ));
                }
                for (axis, value) in shot.iter().flat_map(|s| s.values.iter().enumerate()) {
                    check::finite(&at(&format!("shot.values[{axis}]")), *value)?;
                }
                if let Some(shot) = shot {
                    check::finite(&at("shot.at"), shot.at)?;
                }
            }
            StepKind::Measure { key, min, max, step, estimate_secs, near_robot, .. } => {
                check_key(key).map_err(|e| e.within(&at("key")))?;
                if keys.contains(&key.as_str()) {
                    return Err(ConfigError::new(at("key"), "a key used once in the procedure", key));
                }
                keys.push(key);
                for (name, bound) in [("min", min), ("max", max)] {
                    bound.map_or(Ok(0.0), |b| check::finite(&at(name), b))?;
                }
                if let (Some(min), Some(max)) = (min, max) {
                    check::within(&at("max"), *max, *min, f64::MAX)?;
                }
                check::positive(&at("step"), *step)?;
                check::within(&at("estimate_secs"), *estimate_secs, 0.0, f64::MAX)?;
                confirmed &= !near_robot;
            }
            StepKind::Confirm { estimate_secs } => {
                check::within(&at("estimate_secs"), *estimate_secs, 0.0, f64::MAX)?;
                confirmed = true;
            }
            StepKind::Settle { secs } => drop(check::within(&at("secs"), *secs, 0.0, f64::MAX)?),
            StepKind::BatteryGate { min_volts, resume_volts } => {
                check::positive(&at("min_volts"), *min_volts)?;
                check::within(&at("resume_volts"), *resume_volts, *min_volts, f64::MAX)?;
            }
        }
    }
    Ok(())
}

/// Makes a [`Campaign`].
#[derive(Debug, Clone)]
pub struct CampaignBuilder<A> {
    plan: Plan,
    acts: Vec<A>,
}

impl<A> Campaign<A> {
    /// A campaign of this name; a checkpoint belongs to one name.
    pub fn builder(name: impl Into<String>) -> CampaignBuilder<A> {
        CampaignBuilder { plan: Plan { name: name.into(), procedures: Vec::new() }, acts: Vec::new() }
    }
}

impl<A> CampaignBuilder<A> {
    /// Adds a procedure. Order is priority: the campaign will be cut short.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "builder vocabulary; nothing is summed")]
    pub fn add(mut self, procedure: Procedure<A>) -> Self {
        let offset = u32::try_from(self.acts.len()).unwrap_or(u32::MAX);
        let Procedure { mut plan, acts } = procedure;
        for step in &mut plan.steps {
            if let StepKind::Act { act, .. } = &mut step.kind {
                act.0 = act.0.saturating_add(offset);
            }
        }
        self.plan.procedures.push(plan);
        self.acts.extend(acts);
        self
    }

    /// Adds several, in order.
    #[must_use]
    pub fn add_all(self, procedures: impl IntoIterator<Item = Procedure<A>>) -> Self {
        procedures.into_iter().fold(self, Self::add)
    }

    /// Checks it all.
    ///
    /// # Errors
    /// An empty name, or two procedures of one id.
    pub fn build(self) -> Result<Campaign<A>, ConfigError> {
        if self.plan.name.trim().is_empty() {
            return Err(ConfigError::new("campaign.name", "a name", format!("{:?}", self.plan.name)));
        }
        for (i, procedure) in self.plan.procedures.iter().enumerate() {
            if self.plan.procedures.iter().take(i).any(|p| p.id == procedure.id) {
                let path = format!("campaign.procedures[{i}].id");
                return Err(ConfigError::new(path, "an id used once in the campaign", &procedure.id));
            }
        }
        Ok(Campaign { plan: self.plan, acts: self.acts })
    }
}
