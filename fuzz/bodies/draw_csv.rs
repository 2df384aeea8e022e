//! Any bytes as a samples file: judged by both readers and planned, the same however they are cut, in bounded memory.
use fieldlab_draw::check::{CheckConfig, Checker, Report};
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::profile::{Profile, REFERENCE_RIGHT};
use fieldlab_draw::samples::Mode;

thread_local! {
    static PROFILE: Profile = REFERENCE_RIGHT.profile().expect("the shipped rig");
}

/// One input.
pub(crate) fn run(data: &[u8]) {
    for mode in [Mode::Strict, Mode::Reference] {
        let whole = judge(data, mode, data.len().max(1));
        assert_eq!(whole, judge(data, mode, 7));
        assert_eq!(whole.accepted(), whole.findings.total() == 0);
        assert!(whole.findings.listed().len() <= 100);
        drop((whole.text(), whole.json(None).line()));
    }
}

fn judge(data: &[u8], mode: Mode, step: usize) -> Report {
    PROFILE.with(|profile| {
        let (joints_rad, carriage_m) = profile.rest.expect("the reference rests");
        let plan = PlanConfig::strict(profile, Start { joints_rad, carriage_m }).expect("a finite start");
        let config =
            CheckConfig::for_profile(profile, Some(PlanConfig { mode, keep_trajectory: false, ..plan }));
        let mut checker =
            Checker::new(CheckConfig { mode, max_findings: 100, ..config }).expect("a good config");
        data.chunks(step).for_each(|bytes| checker.push(bytes));
        checker.finish()
    })
}
