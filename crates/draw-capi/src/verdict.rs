//! What stands behind the handles, without a pointer in it.

use std::ffi::CString;
use std::path::Path;

use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::path_plan_check::Request;
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::profile::{AXES, JOINTS, Profile, Shipped};

/// A rig.
#[derive(Debug)]
pub(crate) struct Rig {
    profile: Profile,
}

/// A check under way.
#[derive(Debug)]
pub(crate) struct Check {
    checker: Checker,
    profile_sha: Option<String>,
}

/// A verdict.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) accepted: bool,
    /// The report, schema `fieldlab.draw-check/1`.
    pub(crate) json: CString,
    /// The code of the first finding.
    pub(crate) code: Option<CString>,
    pub(crate) positions: Vec<[f64; AXES]>,
}

impl Rig {
    pub(crate) fn shipped(name: &str) -> Result<Self, String> {
        let rig = Shipped::named(name).ok_or_else(|| {
            let known: Vec<&str> = Shipped::all().iter().map(|rig| rig.name).collect();
            format!("no rig is called `{name}`; there are {}", known.join(", "))
        })?;
        Ok(Self { profile: rig.profile().map_err(|error| error.to_string())? })
    }

    pub(crate) fn open(path: &str) -> Result<Self, String> {
        Ok(Self { profile: Profile::open(Path::new(path)).map_err(|error| error.to_string())? })
    }
}

impl Check {
    /// The strict check for a rig; planned from `start` when it is given.
    pub(crate) fn strict(rig: &Rig, start: Option<([f64; JOINTS], f64)>) -> Result<Self, String> {
        let plan = start
            .map(|(joints_rad, carriage_m)| {
                PlanConfig::strict(&rig.profile, Start { joints_rad, carriage_m })
            })
            .transpose()
            .map_err(|error| error.to_string())?;
        let config = CheckConfig::for_profile(&rig.profile, plan);
        let checker = Checker::new(config).map_err(|error| error.to_string())?;
        Ok(Self { checker, profile_sha: Some(rig.profile.sha().to_owned()) })
    }

    /// What the reference planner accepts, for its own arm: for parity, never for a robot.
    pub(crate) fn reference(
        period_s: f64,
        joints_rad: [f64; JOINTS],
        carriage_m: f64,
    ) -> Result<Self, String> {
        let mut words = vec![String::new(), format!("{period_s:?}")];
        words.extend(joints_rad.iter().chain([&carriage_m]).map(|value| format!("{value:?}")));
        words.push("--json".to_owned());
        let request = Request::parse(&words).map_err(|_| "the reference's words are wrong".to_owned())?;
        let config = request.config().map_err(|error| error.to_string())?;
        let checker = Checker::new(config).map_err(|error| error.to_string())?;
        Ok(Self { checker, profile_sha: None })
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.checker.push(bytes);
    }

    pub(crate) fn finish(self) -> Verdict {
        let report = self.checker.finish();
        let text = |text: String| CString::new(text).unwrap_or_default();
        Verdict {
            accepted: report.accepted(),
            json: text(report.json(self.profile_sha.as_deref()).line()),
            code: report.findings.listed().first().map(|finding| text(finding.code.name().to_owned())),
            positions: report
                .plan
                .and_then(|plan| plan.trajectory)
                .map(|trajectory| trajectory.positions)
                .unwrap_or_default(),
        }
    }
}
