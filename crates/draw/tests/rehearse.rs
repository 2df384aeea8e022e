//! The chain against its truth, on a few seeds; `fieldlab draw rehearse` runs two hundred.
#![allow(clippy::unwrap_used, missing_docs)]

use fieldlab_draw::camera::Flaws;
use fieldlab_draw::profile::{REFERENCE_RIGHT, SIX_JOINT, Shipped};
use fieldlab_draw::rehearse::{Made, RehearseConfig, rehearse};

fn chain(rig: Shipped, cylinder: bool, seed: u64) -> Made {
    let config = RehearseConfig { seed, cylinder, flaws: Flaws::default(), bumps_m: 0.0003 };
    let made = rehearse(&rig.profile().unwrap(), &config).unwrap();
    let outcome = &made.outcome;
    let line = outcome.json().line();
    assert!(outcome.height_rms_m < 0.0003, "{line}");
    assert!(outcome.drawn_error_m < 0.001, "{line}");
    // One degree, and a millimetre and a half of a radius of 35 to 80 mm, over a patch of 60 mm with 1 mm of noise.
    assert!(outcome.direction_error_rad < 0.0175, "{line}");
    assert!(outcome.radius_error_m.is_none_or(|error| error.abs() < 0.0015), "{line}");
    assert_eq!(outcome.true_radius_m.is_some(), cylinder);
    assert!(made.path.report.accepted());
    made
}

#[test]
fn the_reference_arm_draws_on_a_plane_and_a_cylinder() {
    chain(REFERENCE_RIGHT, false, 1);
    let made = chain(REFERENCE_RIGHT, true, 2);
    assert!(made.fit.chart.radius_m().is_some());
    assert_eq!(made.captures.len(), 3);
    // The pictures are text that a browser opens, and the same every time.
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let picture = || {
        fieldlab_draw::plot::path(&made.surface, &made.path.rows, &profile.base_in_root, &made.path.report)
    };
    assert!(
        picture().starts_with("<svg")
            && picture().contains("stroke-dasharray")
            && picture().contains("accepted")
    );
    assert_eq!(picture(), picture());
    assert!(fieldlab_draw::plot::height_map(&made.surface).contains("heights"));
}

#[test]
fn an_arm_without_a_carriage_in_a_turned_base_does_the_same() {
    chain(SIX_JOINT, true, 3);
}
