//! What a campaign is: plain data, checked by the builder that made it.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::text;

/// Which act of a campaign: the index of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ActId(pub u32);

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// It did what it was for.
    Completed,
    /// Its cap came first; its data is incomplete.
    TimedOut,
    /// Something took it away: a disable, a lost lease.
    Interrupted,
    /// It could not, or what it made is invalid.
    Failed,
    /// A person decided against it, or what it builds on failed.
    Skipped,
}

impl StepOutcome {
    /// The token in checkpoint, log and report.
    #[must_use]
    pub const fn token(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The outcome that `token` names.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::Completed, Self::TimedOut, Self::Interrupted, Self::Failed, Self::Skipped]
            .into_iter()
            .find(|o| o.token() == token)
    }
}

/// The setpoint that a sweep's acts belong to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shot {
    /// Counts the shots of the sweep from zero; the join key between command, score and log.
    pub row: u32,
    /// Where the robot stands, in the sweep's own unit.
    pub at: f64,
    /// What each axis is set to, in the order of the axes.
    pub values: Vec<f64>,
}

/// One step of a procedure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What the operator reads.
    pub label: String,
    /// Steps of one group stand or fall together: the shots of a sweep, the laps of a drift test.
    pub group: u32,
    /// What it is.
    #[serde(flatten)]
    pub kind: StepKind,
}

/// The five kinds of step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepKind {
    /// The robot does something.
    Act {
        /// Whose payload to run.
        act: ActId,
        /// When it is stopped and called incomplete, seconds.
        timeout_secs: f64,
        /// How long it usually takes, seconds.
        estimate_secs: f64,
        /// Whether it can drive or swing something; a person must have confirmed before it starts.
        moves: bool,
        /// Whether the procedure is worth nothing without it.
        required: bool,
        /// Whether it only prepares the next act and is repeated with it.
        prepares: bool,
        /// Of a sweep: what it is set to.
        #[serde(skip_serializing_if = "Option::is_none")]
        shot: Option<Shot>,
    },
    /// A person types a number.
    Measure {
        /// Its name under the procedure.
        key: String,
        /// Its unit, as the operator reads it.
        unit: String,
        /// Plausible from, inclusive; `None` is no opinion.
        min: Option<f64>,
        /// Plausible up to, inclusive; `None` is no opinion.
        max: Option<f64>,
        /// The step of a slider or of buttons.
        step: f64,
        /// How long it usually takes, seconds.
        estimate_secs: f64,
        /// Whether the person stands at the robot for it, so that a Confirm must precede the next motion.
        near_robot: bool,
    },
    /// A person says that something is so.
    Confirm {
        /// How long it usually takes, seconds.
        estimate_secs: f64,
    },
    /// Nothing moves for a while.
    Settle {
        /// For how long, seconds.
        secs: f64,
    },
    /// Goes on only with a charged battery.
    BatteryGate {
        /// Below this it pauses, volts at rest.
        min_volts: f64,
        /// From this on it resumes, volts at rest.
        resume_volts: f64,
    },
}

impl StepKind {
    /// The word on `StepKind` and in the log.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Act { .. } => "act",
            Self::Measure { .. } => "measure",
            Self::Confirm { .. } => "confirm",
            Self::Settle { .. } => "settle",
            Self::BatteryGate { .. } => "battery_gate",
        }
    }

    /// How long it usually takes, seconds. A gate takes none: a swap is not the campaign's work.
    #[must_use]
    pub const fn estimate_secs(&self) -> f64 {
        match self {
            Self::Act { estimate_secs, .. }
            | Self::Measure { estimate_secs, .. }
            | Self::Confirm { estimate_secs } => *estimate_secs,
            Self::Settle { secs } => *secs,
            Self::BatteryGate { .. } => 0.0,
        }
    }

    /// Whether it waits for a person.
    #[must_use]
    pub const fn needs_operator(&self) -> bool {
        matches!(self, Self::Measure { .. } | Self::Confirm { .. })
    }

    /// Whether `value` is plausible as this step's answer. A value that is not finite never is.
    #[must_use]
    pub fn plausible(&self, value: f64) -> bool {
        match self {
            Self::Measure { min, max, .. } => {
                value.is_finite() && min.is_none_or(|m| value >= m) && max.is_none_or(|m| value <= m)
            }
            _ => false,
        }
    }
}

/// A procedure without its act payloads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcedurePlan {
    /// Its key in checkpoint, log and report.
    pub id: String,
    /// What the operator reads.
    pub title: String,
    /// What it is for; the report prints it.
    pub why: String,
    /// For a sweep: the axes in order, name and unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<(String, String)>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

impl ProcedurePlan {
    /// How long it usually takes, seconds.
    #[must_use]
    pub fn estimate_secs(&self) -> f64 {
        self.steps.iter().map(|s| s.kind.estimate_secs()).sum()
    }

    /// Whether any step waits for a person.
    #[must_use]
    pub fn needs_operator(&self) -> bool {
        self.steps.iter().any(|s| s.kind.needs_operator())
    }

    /// A hash of id, kinds, keys, units, ranges and order, not of texts, times or volts: two procedures of equal hash
    /// ask the same questions and take the same data, so a run of one may go on as a run of the other.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        self.feed(&mut hasher);
        text::hex(&hasher.finalize())
    }

    fn feed(&self, hasher: &mut Sha256) {
        let mut word = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        word(&self.id);
        word(&self.steps.len().to_string());
        for step in &self.steps {
            word(step.kind.word());
            match &step.kind {
                StepKind::Measure { key, unit, min, max, .. } => {
                    word(key);
                    word(unit);
                    for bound in [min, max] {
                        word(&bound.map(|b| b.to_bits().to_string()).unwrap_or_default());
                    }
                }
                StepKind::Act { shot: Some(shot), .. } => {
                    for number in std::iter::once(&shot.at).chain(&shot.values) {
                        word(&number.to_bits().to_string());
                    }
                }
                _ => {}
            }
        }
    }
}

/// A campaign without its act payloads: what is logged, hashed, published and run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// What the operator reads; a checkpoint belongs to one name.
    pub name: String,
    /// In order of priority: the campaign will be cut short.
    pub procedures: Vec<ProcedurePlan>,
}

impl Plan {
    /// How long it usually takes, seconds.
    #[must_use]
    pub fn estimate_secs(&self) -> f64 {
        self.procedures.iter().map(ProcedurePlan::estimate_secs).sum()
    }

    /// [`Plan::estimate_secs`] for people: `1 h 12 min`, `9 min`, `0 min`.
    #[must_use]
    pub fn estimate_text(&self) -> String {
        text::duration(self.estimate_secs())
    }

    /// How many procedures wait for a person at least once.
    #[must_use]
    pub fn procedures_needing_operator(&self) -> usize {
        self.procedures.iter().filter(|p| p.needs_operator()).count()
    }

    /// A hash over the procedures' hashes, in order; see [`ProcedurePlan::hash`].
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for procedure in &self.procedures {
            procedure.feed(&mut hasher);
        }
        text::hex(&hasher.finalize())
    }

    /// The procedure called `id` and its place.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<(usize, &ProcedurePlan)> {
        self.procedures.iter().enumerate().find(|(_, p)| p.id == id)
    }
}

/// A procedure and what its acts run.
#[derive(Debug, Clone)]
pub struct Procedure<A> {
    pub(crate) plan: ProcedurePlan,
    pub(crate) acts: Vec<A>,
}

impl<A> Procedure<A> {
    /// What happens in it. Its act ids count from zero until a campaign takes it in.
    #[must_use]
    pub const fn plan(&self) -> &ProcedurePlan {
        &self.plan
    }

    /// The payloads of its acts, by act id.
    #[must_use]
    pub fn acts(&self) -> &[A] {
        &self.acts
    }
}

/// A plan and what its acts run.
#[derive(Debug, Clone)]
pub struct Campaign<A> {
    pub(crate) plan: Plan,
    pub(crate) acts: Vec<A>,
}

impl<A> Campaign<A> {
    /// The plan alone.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What `act` runs.
    #[must_use]
    pub fn act(&self, act: ActId) -> Option<&A> {
        self.acts.get(act.0 as usize)
    }

    /// Plan and payloads apart; the payload of [`ActId`] `n` is the `n`th.
    #[must_use]
    pub fn into_parts(self) -> (Plan, Vec<A>) {
        (self.plan, self.acts)
    }
}
