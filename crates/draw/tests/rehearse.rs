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
    assert!(outcome.meets_aims(), "{line}");
    assert!(outcome.drawn_error_m < 0.001, "{line}");
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

/// Standard deviations of curvature (per metre) and axis (radians, both ways together) that waves of `height_m` as the truth's, and
/// noise, leave on a cylinder seen through a disc of 30 mm: least squares on its five ways, without any of the crate's code.
fn blur(radius_m: f64, height_m: f64, noise_m: f64, points: f64) -> [f64; 2] {
    let mut state = 11u64;
    let mut between = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (state >> 40) as f64 / f64::from(1 << 24)
    };
    let grid = (-15..=15).flat_map(|i| (-15..=15).map(move |k| (f64::from(i) * 0.002, f64::from(k) * 0.002)));
    let spots: Vec<(f64, f64)> = grid.filter(|(x, v)| x.hypot(*v) <= 0.03).collect();
    let rows: Vec<[f64; 5]> = spots
        .iter()
        .map(|(x, v)| {
            let (sin, cos) = (x / radius_m).asin().sin_cos();
            [sin, cos, v * sin, v * cos, 1.0]
        })
        .collect();
    let design = nalgebra::DMatrix::from_fn(rows.len(), 5, |row, way| rows[row][way]);
    let normal = (design.transpose() * &design).try_inverse().unwrap();
    let (mut curvature, mut axis) = (0.0, 0.0);
    let fields = 1000;
    for _ in 0..fields {
        let waves: [[f64; 3]; 4] = std::array::from_fn(|_| {
            [between(-300.0, 300.0), between(-300.0, 300.0), between(0.0, std::f64::consts::TAU)]
        });
        let heights = nalgebra::DVector::from_iterator(
            spots.len(),
            spots.iter().map(|(x, v)| {
                let arc = radius_m * (x / radius_m).asin();
                waves.iter().map(|[a, b, phase]| (a * arc + b * v + phase).sin()).sum::<f64>() * height_m
                    / 4.0
            }),
        );
        let ways = &normal * design.transpose() * heights;
        curvature += (ways[4] / (radius_m * radius_m)).powi(2) / f64::from(fields);
        axis += (ways[2].powi(2) + ways[3].powi(2)) / f64::from(fields);
    }
    let noise = noise_m * noise_m / points * spots.len() as f64;
    curvature += noise * normal[(4, 4)] / radius_m.powi(4);
    axis += noise * (normal[(2, 2)] + normal[(3, 3)]);
    [curvature.sqrt(), axis.sqrt()]
}

#[test]
fn the_bounds_are_what_bumps_and_noise_can_do_to_the_worst_of_the_cylinders() {
    use fieldlab_draw::rehearse::{MOST_CURVATURE_ERROR_PER_M, MOST_DIRECTION_ERROR_RAD};
    let [curvature, axis] = blur(0.080, 0.0003, 0.001, 10_000.0);
    let worst = [0.035, 0.050, 0.065].map(|radius_m| blur(radius_m, 0.0003, 0.001, 10_000.0));
    assert!(worst.iter().all(|blur| blur[0] <= 1.05 * curvature && blur[1] <= axis), "{worst:?}");
    let [curvatures, axes] = [MOST_CURVATURE_ERROR_PER_M / curvature, MOST_DIRECTION_ERROR_RAD / axis];
    assert!((3.7..4.3).contains(&curvatures), "{curvatures} standard deviations of {curvature} per metre");
    assert!((2.4..3.0).contains(&axes), "{axes} root mean squares of {axis} rad");
}
