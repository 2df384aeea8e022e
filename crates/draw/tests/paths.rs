//! Paths: what can be drawn is drawn within every limit, what cannot is refused with its code before a row is given out.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::W1;
use fieldlab_draw::DrawError;
use fieldlab_draw::math::{norm, rotation_about, sub};
use fieldlab_draw::path::{
    CameraOrbitConfig, DipPlan, Drawn, Hold, OrbitConfig, PathConfig, Pose, Timing, camera_orbit, compile,
    compile_parts, from_csv, orbit,
};
use fieldlab_draw::plan::Start;
use fieldlab_draw::profile::{Profile, REFERENCE_RIGHT, SIX_JOINT};
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
fn near_the_surface_the_pen_moves_gently() {
    let profile = profile();
    let surface = table(0.05);
    let drawn = draw(&surface, SQUARE, &PathConfig::default()).unwrap();
    // Over 20 ticks, so that the knots' own steps do not show.
    let places: Vec<[f64; 3]> = drawn.rows.iter().map(|row| row.p_m).collect();
    let mut looked = 0;
    for k in 40..places.len() {
        let window = &drawn.rows[k - 40..=k];
        let near = window.iter().all(|row| {
            let foot = surface.project(profile.base_in_root.point(row.p_m)).unwrap();
            !row.pen && foot.distance_m < 0.005
        });
        // The first lift leaves the held pose, not a stroke.
        if near && k > 2000 {
            let second =
                [0, 1, 2].map(|axis| places[k][axis] - 2.0 * places[k - 20][axis] + places[k - 40][axis]);
            let acceleration = norm(second) / 0.05f64.powi(2);
            assert!(acceleration < 0.003 * 1.05, "row {k}: {acceleration}");
            looked += 1;
        }
    }
    assert!(looked > 1000, "{looked}");
}

#[test]
fn a_long_design_in_parts_goes_on_where_the_part_before_ended() {
    let profile = profile();
    let surface = table(0.05);
    let design = from_csv(SQUARE).unwrap();
    let parts = compile_parts(&profile, &surface, &design, Hold { start: W1 }, &PathConfig::default(), 0.025)
        .unwrap();
    assert_eq!(parts.len(), 2);
    // 20 mm is the last corner within a fifth of 25 mm.
    assert!((parts[0].drawn_m - 0.02).abs() < 1e-9 && (parts[1].drawn_m - 0.02).abs() < 1e-9);
    let end = parts[0]
        .report
        .plan
        .as_ref()
        .unwrap()
        .trajectory
        .as_ref()
        .unwrap()
        .positions
        .last()
        .copied()
        .unwrap();
    let [joints @ .., carriage_m] = end;
    let posture = profile.chain.posture(&joints, carriage_m);
    assert!(norm(sub(parts[1].rows[0].p_m, posture.tip_m)) < 1e-12);
    let pen_down =
        |drawn: &Drawn| drawn.rows.iter().filter(|row| row.pen).map(|row| row.p_m).collect::<Vec<_>>();
    let (first, second) = (pen_down(&parts[0]), pen_down(&parts[1]));
    assert!(norm(sub(*first.last().unwrap(), second[0])) < 1e-6);
    assert!(
        compile_parts(&profile, &surface, &design, Hold { start: W1 }, &PathConfig::default(), 1e-4).is_err()
    );
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
    // The hole is the corner of five by five nodes, a millimetre apart: its inner edge can be filled in, its corner cannot.
    let filling = PathConfig { hole_fill_m: 0.002, ..config.clone() };
    refused(draw(&table, "0,0\n-28,-28\n", &filling), "holes");
    let drawn = draw(&table, "0,-20\n-26,-26\n", &filling).unwrap();
    assert!(drawn.filled_m > 0.0 && drawn.filled_m < 0.002, "{}", drawn.filled_m);
    refused(draw(&table, SQUARE, &PathConfig { hole_fill_m: 0.05, ..config.clone() }), "design");
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
fn a_cap_that_the_tool_would_touch_is_refused() {
    let code = |profile: &Profile, cap: &str| match DipPlan::into_cap(profile, cap) {
        Ok(_) => "ok",
        Err(DrawError::Refused { code, .. }) => code,
        Err(_) => "other",
    };
    let mut profile = profile();
    // 3 mm deep the ballpoint is 2.286 mm wide; the bores are 7, 5 and 3.5 mm, and 2 mm must be left.
    assert_eq!(code(&profile, "large_1"), "ok");
    assert_eq!(code(&profile, "medium_1"), "ok");
    assert_eq!(code(&profile, "small_1"), "cap_wall");
    // 9.2 mm deep in a cap of 9.5 mm: the wall of a medium one is near, the floor of a slimmer tool's too.
    profile.tool.dip.as_mut().unwrap().depth_m = 0.0092;
    assert_eq!(code(&profile, "medium_1"), "cap_wall");
    profile.tool.silhouette_m = vec![(0.0, 0.001), (0.073, 0.001)];
    assert_eq!(code(&profile, "medium_1"), "cap_floor");
    profile.tool.dip.as_mut().unwrap().depth_m = 0.0090;
    assert_eq!(code(&profile, "medium_1"), "ok");
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

#[test]
fn an_orbit_for_the_cameras_shows_them_the_touched_point_in_every_view() {
    for (rig, ring_m) in [(REFERENCE_RIGHT, 0.008), (SIX_JOINT, 0.010)] {
        let profile = rig.profile().unwrap();
        let (joints_rad, carriage_m) = profile.rest.unwrap();
        let start = Start { joints_rad, carriage_m };
        let config = CameraOrbitConfig { ring_m, ..CameraOrbitConfig::default() };
        let flown = camera_orbit(&profile, start, &config).unwrap();
        assert!(flown.report.accepted());
        let contact = profile.chain.posture(&joints_rad, carriage_m).tip_m;
        let trajectory = flown.report.plan.as_ref().unwrap().trajectory.as_ref().unwrap();
        assert_eq!(trajectory.captures.iter().map(|mark| mark.1).collect::<Vec<_>>(), [1, 2, 3]);
        for (row, k) in &trajectory.captures {
            let [joints @ .., carriage_m] = trajectory.positions[usize::try_from(*row).unwrap()];
            let posture = profile.chain.posture(&joints, carriage_m);
            let hand =
                fieldlab_draw::math::Rigid { rotation: posture.rotation, translation_m: posture.final_m };
            let camera = &profile.cameras[0];
            let eye = hand.then(&camera.in_final);
            // The planner's own error is up to 0.15 mm at rest.
            assert!((norm(sub(eye.translation_m, contact)) - 0.16).abs() < 3e-4, "{}: view {k}", rig.name);
            let [x, y, z] = eye.inverse().point(contact);
            let [fx, fy, ppx, ppy] = camera.optics.intrinsics_px;
            let [width, height] = camera.optics.size_px;
            assert!(
                (0.0..width as f64).contains(&(fx * x / z + ppx))
                    && (0.0..height as f64).contains(&(fy * y / z + ppy))
            );
            // The view is turned off the point by what is said, along the picture's width.
            let off = x.atan2(z);
            assert!((off.abs() - flown.off_axis_rad.abs()).abs() < 0.01, "{off} {}", flown.off_axis_rad);
            assert!(y.abs() < 0.002);
        }
    }
    let profile = profile();
    let refused = |config: CameraOrbitConfig| match camera_orbit(&profile, W1, &config) {
        Err(DrawError::Refused { code, .. }) => code,
        _ => "flown",
    };
    let standard = CameraOrbitConfig::default();
    assert_eq!(refused(CameraOrbitConfig { ring_m: 0.15, ..standard }), "orbit_view");
    assert_eq!(refused(CameraOrbitConfig { distance_m: 0.6, ..standard }), "orbit_view");
    assert_eq!(refused(CameraOrbitConfig { poses: 6, ..standard }), "design");
    assert_eq!(refused(CameraOrbitConfig { off_axis_rad: f64::NAN, ..standard }), "design");
    let mut blind = profile.clone();
    blind.cameras.clear();
    assert!(camera_orbit(&blind, W1, &standard).unwrap_err().to_string().contains("camera"));
}
