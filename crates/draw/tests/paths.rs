//! Paths: what can be drawn is drawn within every limit, what cannot is refused with its code before a row is given out.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::W1;
use fieldlab_draw::DrawError;
use fieldlab_draw::math::{norm, rotation_about, sub};
use fieldlab_draw::path::{
    DipPlan, Drawn, Hold, OrbitConfig, PathConfig, Pose, Timing, compile, from_csv, orbit,
};
use fieldlab_draw::profile::{Profile, REFERENCE_RIGHT};
use fieldlab_draw::surface::{Chart, Grid, Shape, Surface};

fn profile() -> Profile {
    REFERENCE_RIGHT.profile().unwrap()
}

/// A flat surface under the witness pose, tilted by `tilt` about x, with a hole in one corner.
fn table(tilt: f64) -> Surface {
    let profile = profile();
    let posture = profile.chain.posture(&W1.joints_rad, W1.carriage_m);
    let touched = profile.base_in_root.point(posture.tip_m);
    let chart = Chart::new(Shape::Plane, touched, rotation_about([1.0, 0.0, 0.0], tilt)).unwrap();
    let mut counts = Grid::filled(61, 61, 5);
    for row in 0..5 {
        for col in 0..5 {
            counts.set(row, col, 0);
        }
    }
    Surface::new(chart, 0.06, 0.06, Grid::filled(61, 61, 0.0), counts, Grid::filled(61, 61, 0.0)).unwrap()
}

fn draw(surface: &Surface, design: &str, config: &PathConfig) -> Result<Drawn, DrawError> {
    compile(&profile(), surface, &from_csv(design).unwrap(), Hold { start: W1 }, config)
}

#[track_caller]
fn refused(outcome: Result<Drawn, DrawError>, wanted: &str) {
    match outcome {
        Err(DrawError::Refused { code, .. }) => assert_eq!(code, wanted),
        other => assert!(other.is_err(), "drawn although {wanted}"),
    }
}

const SQUARE: &str = "-5,-5\n5,-5\n5,5\n-5,5\n-5,-5\n";

#[test]
fn a_square_is_drawn_on_the_surface_and_nowhere_else() {
    let profile = profile();
    let surface = table(0.05);
    for timing in [Timing::Corner, Timing::Quintic { ease_secs: 0.5 }] {
        let drawn = draw(&surface, SQUARE, &PathConfig { timing, speed_m_s: 0.004, ..PathConfig::default() })
            .unwrap();
        assert!((drawn.drawn_m - 0.04).abs() < 1e-9);
        let (mut corners, mut last) = (0, None::<[f64; 3]>);
        for row in &drawn.rows {
            let in_root = profile.base_in_root.point(row.p_m);
            let foot = surface.project(in_root).unwrap();
            if row.pen {
                assert!(foot.distance_m.abs() < 1e-9, "{}", foot.distance_m);
                let worst = foot.uv_m[0].abs().max(foot.uv_m[1].abs());
                assert!((worst - 0.005).abs() < 1e-7, "off the square: {:?}", foot.uv_m);
                if foot.uv_m.iter().all(|x| (x.abs() - 0.005).abs() < 2e-5) {
                    corners += 1;
                }
                if let Some(last) = last {
                    assert!(norm(sub(row.p_m, last)) < 0.004 * 0.0025 * 1.001);
                }
                last = Some(row.p_m);
            } else {
                assert!(foot.distance_m > -1e-9);
                last = None;
            }
        }
        assert!(corners >= 4);
        // The first row is exactly where the arm holds, the last at rest.
        let posture = profile.chain.posture(&W1.joints_rad, W1.carriage_m);
        assert!(norm(sub(drawn.rows[0].p_m, posture.tip_m)) < 1e-15);
        assert!(norm(drawn.rows.last().unwrap().v_m_s) < 1e-12);
    }
}

#[test]
fn corners_are_braked_into() {
    let drawn = draw(&table(0.0), SQUARE, &PathConfig::default()).unwrap();
    let slowest_inside = drawn
        .rows
        .windows(3)
        .filter(|rows| rows.iter().all(|row| row.pen))
        .filter(|rows| {
            let a = sub(rows[1].p_m, rows[0].p_m);
            let b = sub(rows[2].p_m, rows[1].p_m);
            fieldlab_draw::math::angle_of_vectors(a, b) > 0.3
        })
        .map(|rows| norm(sub(rows[1].p_m, rows[0].p_m)) / 0.0025)
        .fold(0.0, f64::max);
    // A right angle may be taken at a w / theta = 0.010 * 0.0525 / (pi/2) = 0.334 mm/s; the tick that meets it adds half a tick's push.
    assert!(slowest_inside > 1e-5 && slowest_inside < 0.000_38, "{slowest_inside}");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_code() {
    let table = table(0.0);
    let config = PathConfig::default();
    refused(draw(&table, "0,0\n31,0\n", &config), "girth");
    refused(draw(&table, "0,0\n-28,-28\n", &config), "holes");
    refused(
        draw(&self::table(0.6), SQUARE, &PathConfig { lean_budget_rad: 0.1, ..config.clone() }),
        "lean_over_budget",
    );
    refused(draw(&table, SQUARE, &PathConfig { speed_m_s: 0.0, ..config.clone() }), "design");
    refused(draw(&table, SQUARE, &PathConfig { standoff_m: 0.004, ..config.clone() }), "design");
    refused(draw(&table, SQUARE, &PathConfig { speed_m_s: 1e-6, ..config.clone() }), "ticks");
    refused(
        draw(
            &table,
            SQUARE,
            &PathConfig { speed_m_s: 0.03, timing: Timing::Quintic { ease_secs: 0.5 }, ..config.clone() },
        ),
        "velocity",
    );
    // A table out of the wrist's reach: the preflight's own code.
    let mut far = config.clone();
    far.dips = Some(DipPlan { rim_m: [0.9, 0.3, 0.1], ..DipPlan::into_cap(&profile(), "large_1").unwrap() });
    assert!(draw(&table, SQUARE, &far).is_err());
    assert!(DipPlan::into_cap(&profile(), "huge_9").is_err());
}

#[test]
fn dips_are_marked_where_they_are_deepest() {
    let profile = profile();
    let plan = DipPlan::into_cap(&profile, "large_1").unwrap();
    let config = PathConfig { dips: Some(plan.clone()), ..PathConfig::default() };
    // Three strokes of 50 mm on 120 mm of ink: a dip before the first and before the third.
    let strokes = "-25,0\n25,0\n\n-25,5\n25,5\n\n-25,10\n25,10\n";
    let drawn = draw(&table(0.0), strokes, &config).unwrap();
    assert_eq!(drawn.dips, 2);
    assert_eq!(drawn.report.counts.dips, 2);
    assert!(drawn.dip_travel_m_s.unwrap() <= 0.08);
    let marked: Vec<_> = drawn.rows.iter().enumerate().filter(|(_, row)| row.dip > 0).collect();
    assert_eq!(marked.iter().map(|(_, row)| row.dip).collect::<Vec<_>>(), [1, 2]);
    for (index, row) in marked {
        let depth = (plan.rim_m[2] - row.p_m[2]) / -plan.entry[2];
        assert!((depth - plan.plunge_m).abs() < 1e-9, "{depth}");
        assert!(
            !row.pen && norm(sub(row.p_m, drawn.rows[index - 1].p_m)) > 0.0,
            "the first row at full depth"
        );
        // The dwell of 0.4 s follows at the bottom.
        assert!((1..=160).all(|k| drawn.rows[index + k].p_m == row.p_m));
    }
}

#[test]
fn an_orbit_takes_its_captures_at_rest_and_never_touches() {
    let profile = profile();
    let posture = profile.chain.posture(&W1.joints_rad, W1.carriage_m);
    let contact = Pose { tip_m: posture.tip_m, rotation: posture.rotation };
    for poses in 1..=5 {
        let rows = orbit(contact, profile.chain.tool_axis, &OrbitConfig { poses, ..OrbitConfig::default() })
            .unwrap();
        let numbers: Vec<u32> = rows.iter().map(|row| row.capture).filter(|&k| k > 0).collect();
        assert_eq!(numbers, (1..=poses as u32).collect::<Vec<_>>());
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.capture > 0) {
            assert!((norm(sub(row.p_m, contact.tip_m)) - 0.08).abs() < 1e-12);
            assert!(rows[index - 399..=index].iter().all(|held| held.p_m == row.p_m && held.r == row.r));
        }
        assert!(rows.iter().all(|row| !row.pen));
    }
    for poses in [0, 6] {
        assert!(
            orbit(contact, profile.chain.tool_axis, &OrbitConfig { poses, ..OrbitConfig::default() })
                .is_err()
        );
    }
}
