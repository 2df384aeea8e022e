//! Surfaces against golden vectors computed with numpy from the published formulas, 2026-08.
#![allow(clippy::unwrap_used, missing_docs)]

use fieldlab_draw::math::{add_scaled, norm, sub};
use fieldlab_draw::npz::{Archive, Array, Data};
use fieldlab_draw::surface::{Chart, Grid, Shape, Surface, sidecar};
use proptest::prelude::*;
use std::f64::consts::PI;

const AXES: [[f64; 3]; 3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];

fn s1(shape: Shape) -> Surface {
    let (w, h) = (0.10, 0.12);
    let mut heights = Grid::filled(25, 21, 0.0);
    for row in 0..25 {
        for col in 0..21 {
            let u = -w / 2.0 + w * col as f64 / 20.0;
            let v = -h / 2.0 + h * row as f64 / 24.0;
            let height = 0.004 * (PI * u / w).cos() * (PI * v / h).cos()
                + 0.0005 * (90.0 * u).sin() * (70.0 * v).cos();
            heights.set(row, col, height);
        }
    }
    let chart = Chart::new(shape, [0.35, 0.1, 0.05], AXES).unwrap();
    Surface::new(chart, w, h, heights, Grid::filled(25, 21, 5), Grid::filled(25, 21, 0.0001)).unwrap()
}

fn plane() -> Surface {
    s1(Shape::Plane)
}

fn cylinder() -> Surface {
    s1(Shape::Cylinder { radius_m: 0.04 })
}

#[track_caller]
fn near(found: [f64; 3], wanted: [f64; 3]) {
    assert!(norm(sub(found, wanted)) < 2e-12, "{found:?} against {wanted:?}");
}

#[test]
fn points_tangents_and_normals_are_the_published_ones() {
    let plane = plane();
    assert!((plane.heights().at(0, 0) + 0.000_239_622_359_185_880_5).abs() < 1e-17);
    assert!((plane.heights().at(5, 7) - 0.002_545_407_932_435_055).abs() < 1e-17);
    let at = plane.frame([0.0123, -0.0345]);
    assert!((at.height_m - 0.001_959_665_497_793).abs() < 1e-14);
    near(at.point_m, [0.3845, 0.1123, 0.051_959_665_498]);
    near(at.normal, [0.096_140_310_392, 0.044_391_144_939, 0.994_377_426_820]);
    near(plane.frame([0.0, 0.0]).normal, [0.0, -0.043_455_465_049, 0.999_055_365_111]);

    let cylinder = cylinder();
    let at = cylinder.frame([0.0123, -0.0345]);
    near(at.point_m, [0.381_867_161_141, 0.1123, 0.037_296_475_404]);
    near(at.du, [-0.033_904_430_100, 1.0, -0.029_041_540_230]);
    near(at.dv, [-0.608_983_221_838, 0.0, 0.859_575_867_438]);
    near(at.normal, [0.815_167_056_731, 0.044_409_872_026, 0.577_520_937_185]);
    let at = cylinder.frame([-0.05, 0.06]);
    near(at.point_m, [0.310_339_222_638, 0.05, 0.012_812_537_852]);
    near(at.normal, [-0.996_460_916_638, -0.004_632_628_611, 0.083_929_615_548]);
    let at = cylinder.frame([0.053, -0.01]);
    assert!((at.height_m + 0.000_373_828_137).abs() < 1e-12);
    near(at.point_m, [0.359_803_671_809, 0.153, 0.048_394_290_143]);
    near(at.normal, [0.225_714_459_281, 0.067_499_214_960, 0.971_852_272_134]);
    assert!(!cylinder.contains([0.053, -0.01]) && cylinder.is_hole([0.053, -0.01]));
}

#[test]
fn projection_and_anchor_are_the_published_ones() {
    let mut plane = plane();
    let foot = plane.project([0.36, 0.115, 0.058]).unwrap();
    assert!(
        (foot.uv_m[0] - 0.014_807_134_937).abs() < 1e-12 && (foot.uv_m[1] + 0.009_812_801_477).abs() < 1e-12
    );
    assert!((foot.distance_m - 0.004_175_407_588).abs() < 1e-12);
    plane.anchor_to([0.36, 0.115, 0.058]).unwrap();
    let anchor = plane.anchor().unwrap();
    assert!((anchor.shift_m - 0.004_184_277_954).abs() < 1e-12);
    assert!((anchor.uv_m[0] - 0.015).abs() < 1e-12 && (anchor.uv_m[1] + 0.01).abs() < 1e-12);
    assert!(plane.project([0.36, 0.115, 0.058]).unwrap().distance_m.abs() < 1e-15);

    let mut cylinder = cylinder();
    let touch = [0.36, 0.115, 0.055];
    let foot = cylinder.project(touch).unwrap();
    assert!(
        (foot.uv_m[0] - 0.014_896_081_236).abs() < 1e-12 && (foot.uv_m[1] + 0.008_675_654_219).abs() < 1e-12
    );
    assert!((foot.distance_m - 0.002_223_877_588).abs() < 1e-12);
    cylinder.anchor_to(touch).unwrap();
    let anchor = cylinder.anchor().unwrap();
    assert!((anchor.shift_m - 0.002_227_801_329).abs() < 1e-12);
    assert!((anchor.uv_m[1] + 0.008_746_757_835).abs() < 1e-12);
    let centered = cylinder.chart().centered_at(touch).unwrap();
    near(centered.center_m, [0.358_677_218_313, 0.115, 0.049_047_482_407]);
    near(centered.rotation[0], [0.0, -0.976_187_060_184, 0.216_930_457_819]);
    near(centered.rotation[2], [0.0, 0.216_930_457_819, 0.976_187_060_184]);
    assert_eq!(centered.radius_m(), Some(0.04));
    let grown = centered.offset(0.002).unwrap();
    assert!((grown.radius_m().unwrap() - 0.042).abs() < 1e-15);
    assert!(centered.offset(-0.04).is_err());
}

#[test]
fn a_point_that_does_not_project_is_said_so() {
    assert_eq!(plane().project([f64::NAN, 0.0, 0.0]), None);
    assert_eq!(plane().project([f64::INFINITY, 0.0, 0.0]), None);
    let mut surface = plane();
    assert!(surface.anchor_to([f64::NAN, 0.0, 0.0]).is_err());
    assert_eq!(surface, plane(), "a refused anchor changes nothing");
}

#[test]
fn files_read_back_exactly_and_wrong_ones_are_refused() {
    for mut surface in [plane(), cylinder()] {
        surface.anchor_to([0.36, 0.115, 0.055]).unwrap();
        let bytes = surface.to_bytes().unwrap();
        assert_eq!(Surface::parse(&bytes).unwrap(), surface);
        assert_eq!(bytes, surface.to_bytes().unwrap());
    }
    let archive = Archive::parse(&plane().to_bytes().unwrap()).unwrap();
    let with = |name: &str, array: Array| {
        let mut copy = archive.clone();
        copy.push(name, array);
        Surface::parse(&copy.to_bytes(true).unwrap()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with("other", Array::scalar(1.0)), Ok(()), "unknown members are ignored");
    let refused = [
        ("schema", Array::text("tatbot.surface/2")),
        ("chart_kind", Array::text("sphere")),
        ("center", Array::f64(&[3], vec![0.0, f64::NAN, 0.0]).unwrap()),
        ("rot", Array::f64(&[3, 3], vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]).unwrap()),
        ("width_m", Array::scalar(0.0)),
        ("height", Array::f64(&[25, 21], vec![f64::INFINITY; 525]).unwrap()),
        ("height", Array::f64(&[24, 21], vec![0.0; 504]).unwrap()),
        ("count", Array::f64(&[25, 21], vec![1.0; 525]).unwrap()),
        ("count", Array::new(&[25, 21], Data::I32(vec![-1; 525])).unwrap()),
        ("count", Array::new(&[25, 21], Data::I64(vec![1 << 40; 525])).unwrap()),
        ("residual_m", Array::f64(&[25, 21], vec![-1.0; 525]).unwrap()),
        ("anchor_uv", Array::f64(&[2], vec![0.0, 0.0]).unwrap()),
        ("anchor_shift_m", Array::scalar(0.001)),
    ];
    for (name, array) in refused {
        assert!(with(name, array).is_err(), "{name}");
    }
    assert_eq!(with("count", Array::new(&[25, 21], Data::I64(vec![5; 525])).unwrap()), Ok(()));
}

#[test]
fn a_filled_hole_is_known_within_its_radius_and_no_further() {
    let mut counts = Grid::filled(25, 21, 5);
    for row in 0..25 {
        for col in 0..10 {
            counts.set(row, col, 0);
        }
    }
    let s1 = plane();
    let surface =
        Surface::new(*s1.chart(), 0.10, 0.12, s1.heights().clone(), counts, Grid::filled(25, 21, 0.0))
            .unwrap();
    // Columns are 5 mm apart; column 10, at u = 0, is the first that was seen.
    for (u, fill, hole) in [
        (-0.005, 0.0, true),
        (-0.005, 0.0049, true),
        (-0.005, 0.005, false),
        (-0.010, 0.005, true),
        (-0.010, 0.010, false),
        (0.0, 0.0, false),
        (-0.06, 1.0, true),
    ] {
        assert_eq!(surface.is_hole_beyond([u, 0.0], fill), hole, "{u} {fill}");
    }
    // A metric radius: the corner of the square round it is farther.
    let mut counts = Grid::filled(25, 21, 0);
    counts.set(12, 10, 1);
    let lone = Surface::new(*s1.chart(), 0.10, 0.12, s1.heights().clone(), counts, Grid::filled(25, 21, 0.0))
        .unwrap();
    assert!(!lone.is_hole_beyond([0.005, 0.0], 0.006) && lone.is_hole_beyond([0.005, 0.005], 0.006));
    assert!(!lone.is_hole_beyond([0.005, 0.005], 0.0072));
}

#[test]
fn a_mesh_winds_outwards_and_leaves_holes_open() {
    for surface in [plane(), cylinder()] {
        let text = fieldlab_draw::surface::obj(&surface, 0.01).unwrap();
        let numbers = |key: &str| -> Vec<[f64; 3]> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(key));
            lines
                .map(|line| {
                    let mut words = line.split(' ').map(|word| word.parse().unwrap());
                    [0, 1, 2].map(|_| words.next().unwrap())
                })
                .collect()
        };
        let (points, normals) = (numbers("v "), numbers("vn "));
        assert_eq!((points.len(), normals.len()), (11 * 13, 11 * 13));
        let faces: Vec<[usize; 3]> = text
            .lines()
            .filter_map(|line| line.strip_prefix("f "))
            .map(|line| {
                let mut corners =
                    line.split(' ').map(|word| word.split('/').next().unwrap().parse().unwrap());
                [0, 1, 2].map(|_| corners.next().unwrap())
            })
            .collect();
        assert_eq!(faces.len(), 2 * 10 * 12);
        for [a, b, c] in faces {
            let [p, q, r] = [a, b, c].map(|corner| points[corner - 1]);
            let face = fieldlab_draw::math::cross(sub(q, p), sub(r, p));
            assert!(fieldlab_draw::math::dot(face, normals[a - 1]) > 0.0);
        }
    }
    let mut counts = Grid::filled(25, 21, 5);
    counts.set(12, 10, 0);
    let s1 = plane();
    let open = Surface::new(*s1.chart(), 0.10, 0.12, s1.heights().clone(), counts, Grid::filled(25, 21, 0.0))
        .unwrap();
    let text = fieldlab_draw::surface::obj(&open, 0.005).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("f ")).count(), 2 * (20 * 24 - 4));
    assert!(
        fieldlab_draw::surface::obj(&s1, 0.0).is_err() && fieldlab_draw::surface::obj(&s1, 1e-6).is_err()
    );
}

#[test]
fn d21_heights_that_fold_a_cylinder_over_are_refused() {
    let chart = Chart::new(Shape::Cylinder { radius_m: 0.01 }, [0.0; 3], AXES).unwrap();
    let with = |height: f64| {
        Surface::new(
            chart,
            0.02,
            0.02,
            Grid::filled(3, 3, height),
            Grid::filled(3, 3, 1),
            Grid::filled(3, 3, 0.0),
        )
    };
    assert!(with(-0.009).is_ok());
    assert!(with(-0.0099).is_err());
    assert!(with(-0.02).is_err());
}

#[test]
fn the_sidecar_is_strict_json_with_both_digests() {
    let text = sidecar(
        &plane(),
        Some("0123456789ab"),
        vec![("tool".to_owned(), fieldlab_draw::json::Json::text("pen"))],
    );
    let json = fieldlab_draw::json::Json::parse(text.as_bytes()).unwrap();
    assert_eq!(json.get("profile_sha").unwrap().canonical(), "\"0123456789ab\"");
    assert_eq!(json.get("constants_sha").unwrap().canonical(), "\"c36d529c2b43\"");
    assert_eq!(json.get("chart").unwrap().get("radius_m").unwrap().canonical(), "null");
    assert!(text.ends_with("}\n") && !text.contains("NaN"));
}

proptest! {
    /// A point lifted off the surface along its normal comes back to where it was lifted from.
    #[test]
    fn a_lifted_point_projects_back(u in -0.045f64..0.045, v in -0.05f64..0.05, lift in -0.003f64..0.02, round in any::<bool>()) {
        let surface = if round { cylinder() } else { plane() };
        let frame = surface.frame([u, v]);
        let foot = surface.project(add_scaled(frame.point_m, frame.normal, lift)).unwrap();
        prop_assert!((foot.distance_m - lift).abs() < 1e-9, "{} against {lift}", foot.distance_m);
        prop_assert!((foot.uv_m[0] - u).abs() < 1e-8 && (foot.uv_m[1] - v).abs() < 1e-8);
    }

    /// Charts are isometric: a chart's point goes back to its coordinates, wherever the chart is re-centred.
    #[test]
    fn charts_round_trip_and_re_centring_keeps_the_shape(u in -0.05f64..0.05, v in -0.06f64..0.06, x in -0.05f64..0.05, y in -0.03f64..0.03, round in any::<bool>()) {
        let surface = if round { cylinder() } else { plane() };
        let chart = *surface.chart();
        let point = chart.point(u, v);
        let back = chart.inverse(point);
        prop_assert!((back[0] - u).abs() < 1e-12 && (back[1] - v).abs() < 1e-12);
        let moved = chart.centered_at([0.35 + y, 0.1 + x, 0.055]).unwrap();
        let again = moved.inverse(point);
        prop_assert!(norm(sub(moved.point(again[0], again[1]), point)) < 1e-12);
    }
}
