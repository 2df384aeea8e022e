//! The planner's law against golden vectors G1 to G6: figures computed with numpy from the published law, 2026-08.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{W1, close, ease, line_rows, plan, reference_watch, w1_posture};
use fieldlab_draw::findings::Code;
use fieldlab_draw::math::{mul, rotation_about};
use fieldlab_draw::samples::Row;
use proptest::prelude::*;

#[test]
fn w1_is_where_numpy_puts_it() {
    let posture = w1_posture();
    for (found, wanted) in posture.tip_m.iter().zip([
        0.458_630_899_188_049_95,
        0.051_327_286_383_016_583,
        0.051_038_844_298_144_37,
    ]) {
        assert!((found - wanted).abs() < 1e-12, "{found} against {wanted}");
    }
    let rotation = [
        [0.716_804_126_006_209_8, 0.696_268_854_179_406, 0.037_436_982_252_457_8],
        [0.003_152_463_174_555_9, 0.050_453_811_421_419, -0.998_721_420_061_162_6],
        [-0.697_267_457_233_167_3, 0.716_005_653_338_539_7, 0.033_970_538_277_221_5],
    ];
    for (found, wanted) in posture.rotation.iter().flatten().zip(rotation.iter().flatten()) {
        assert!((found - wanted).abs() < 1e-12);
    }
    let jacobian = posture.jacobian();
    let column = |axis: usize| jacobian.map(|row| row[axis]);
    close(&column(0), &[-0.051_327_286_383, 0.458_630_899_188, 0.0, 0.0, 0.0, 1.0], 1e-12);
    close(&column(6), &[0.696_268_854_179, 0.050_453_811_421, 0.716_005_653_339, 0.0, 0.0, 0.0], 1e-12);
}

#[test]
fn g1_the_spiral() {
    let posture = w1_posture();
    // r = a θ, run through at the stroke law's speed along its own length.
    let last = 3.0 * std::f64::consts::TAU;
    let a = 0.006 / last;
    let arc = |theta: f64| a / 2.0 * (theta * (1.0 + theta * theta).sqrt() + theta.asinh());
    let mut theta = 0.0f64;
    let rows: Vec<Row> = (1..=48_000)
        .map(|k| {
            let t_s = f64::from(k) * 0.0025;
            let (s, rate) = ease(arc(last), 120.0, 2.0, t_s);
            for _ in 0..20 {
                theta -= (arc(theta) - s) / (a * (1.0 + theta * theta).sqrt());
            }
            let (sin, cos) = theta.sin_cos();
            let turning = rate / (a * (1.0 + theta * theta).sqrt());
            let [x, y, z] = posture.tip_m;
            Row {
                t_s,
                p_m: [x + a * theta * cos, y + a * theta * sin, z],
                v_m_s: [a * turning * (cos - theta * sin), a * turning * (sin + theta * cos), 0.0],
                r: posture.rotation,
                pen: true,
                capture: 0,
                dip: 0,
            }
        })
        .collect();
    let (report, findings) = plan(&rows, true, &W1);
    assert!(findings.is_empty(), "{:?}", findings.listed().first());
    // The published length is the arc's; the plan sums chords.
    assert!((arc(last) - 0.057_205_975_785).abs() < 1e-12, "{}", arc(last));
    assert!((report.path_length_m - arc(last)).abs() < 1e-9, "{}", report.path_length_m);
    let peak = |name: &str| report.peak(name).unwrap().value.unwrap();
    assert!((peak("model_error_draw_m") - 6.8398e-7).abs() < 1e-11, "{}", peak("model_error_draw_m"));
    assert!((peak("orientation_error_rad") - 9.791e-7).abs() < 1e-10);
    assert!((peak("joint_velocity_draw_rad_s") - 0.001_817_877_78).abs() < 1e-11);
    assert!((peak("joint_acceleration_rad_s2") - 0.002_597_835_53).abs() < 1e-10);
    assert!((peak("carriage_velocity_m_s") - 2.559_742_2e-4).abs() < 1e-11);
    assert!((peak("carriage_acceleration_m_s2") - 4.605_364_9e-4).abs() < 1e-10);
    assert!((peak("carriage_min_m") - 0.000_861_911_847).abs() < 1e-12);
    assert!((peak("carriage_max_m") - 0.003_172_862_81).abs() < 1e-11);
    assert!((report.end_error_m.unwrap() - 3.838e-7).abs() < 1e-10);
    let positions = report.trajectory.unwrap().positions;
    close(
        &positions[23_999],
        &[
            0.181_079_067_344,
            1.558_451_203_402,
            0.840_642_095_909,
            -0.061_612_364_306,
            0.126_324_148_178,
            1.647_241_984_789,
            0.002_021_535_582,
        ],
        1e-11,
    );
    close(
        positions.last().unwrap(),
        &[
            0.170_318_975_760,
            1.566_325_785_563,
            0.846_680_911_597,
            -0.058_845_817_087,
            0.118_667_281_966,
            1.639_625_756_386,
            0.002_508_570_035,
        ],
        1e-11,
    );
}

#[test]
fn g2_a_line_without_the_carriage_pen_down_and_pen_up() {
    for pen in [true, false] {
        let rows = line_rows(0.005, 2.5, 0.5, pen);
        assert_eq!(rows.len(), 1000);
        let (report, findings) = plan(&rows, false, &W1);
        assert!(findings.is_empty(), "{:?}", findings.listed().first());
        let peak = |name: &str| report.peak(name).unwrap().value.unwrap();
        let (velocity, error) = if pen {
            ("joint_velocity_draw_rad_s", "model_error_draw_m")
        } else {
            ("joint_velocity_pen_up_rad_s", "model_error_pen_up_m")
        };
        assert!((peak(velocity) - 0.009_416_584_056).abs() < 1e-12);
        assert!((peak("joint_acceleration_rad_s2") - 0.035_273_962_67).abs() < 1e-10);
        assert!((peak(error) - 2.2438e-6).abs() < 1e-10);
        assert!((peak("orientation_error_rad") - 2.8577e-6).abs() < 1e-10);
        assert!((report.end_error_m.unwrap() - 1.5797e-6).abs() < 1e-10);
        let positions = report.trajectory.unwrap().positions;
        close(
            &positions[0][..6],
            &[
                0.173_762_112_851_33,
                1.544_403_791_457_05,
                0.826_848_268_537_03,
                -0.061_226_826_159_56,
                0.121_118_485_924_68,
                1.642_061_471_935_70,
            ],
            1e-13,
        );
        close(
            &positions[999][..6],
            &[
                0.170_784_233_836,
                1.563_203_375_498,
                0.845_214_619_611,
                -0.060_539_504_217,
                0.118_998_882_159,
                1.639_954_792_034,
            ],
            1e-11,
        );
        assert!(positions.iter().all(|row| row[6].to_bits() == 0.002f64.to_bits()));
    }
}

#[test]
fn g3_the_carriage_leaves_its_envelope_at_tick_742() {
    let (_, findings) = plan(&line_rows(0.005, 2.5, 0.5, true), true, &W1);
    let first = findings.listed().first().unwrap();
    assert_eq!(first.code, Code::CarriageEnvelope);
    assert_eq!(first.place, fieldlab_draw::findings::Place::Row(742));
    assert!((first.value.unwrap() - 0.003_501_96).abs() < 1e-8);
}

#[test]
fn g4_a_short_line_with_the_carriage() {
    let (report, findings) = plan(&line_rows(0.001, 1.0, 0.25, true), true, &W1);
    assert!(findings.is_empty(), "{:?}", findings.listed().first());
    let peak = |name: &str| report.peak(name).unwrap().value.unwrap();
    assert!((peak("carriage_velocity_m_s") - 7.663_085e-4).abs() < 1e-10);
    assert!((peak("carriage_acceleration_m_s2") - 5.976_249e-3).abs() < 1e-9);
    assert!((peak("carriage_max_m") - 0.002_532_587_685).abs() < 1e-12);
    assert!((peak("model_error_draw_m") - 1.7435e-6).abs() < 1e-10);
    let positions = report.trajectory.unwrap().positions;
    assert_eq!(positions.len(), 400);
    assert!((positions[199][6] - 0.002_283_406_477).abs() < 1e-12);
    close(
        &positions[399],
        &[
            0.173_287_947_002,
            1.547_525_239_087,
            0.828_191_884_209,
            -0.059_408_600_928,
            0.120_781_087_811,
            1.641_726_035_786,
            0.002_525_790_582,
        ],
        1e-11,
    );
}

#[test]
fn g5_a_turn_at_a_fixed_tip() {
    let posture = w1_posture();
    let rows: Vec<Row> = (1..=800)
        .map(|k| {
            let u = f64::from(k) / 800.0;
            let blend = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
            let turn = rotation_about([0.0, 0.0, 1.0], 5f64.to_radians() * blend);
            Row {
                t_s: f64::from(k) * 0.0025,
                p_m: posture.tip_m,
                v_m_s: [0.0; 3],
                r: mul(&turn, &posture.rotation),
                pen: false,
                capture: 0,
                dip: 0,
            }
        })
        .collect();
    let (report, findings) = plan(&rows, true, &W1);
    assert!(findings.is_empty(), "{:?}", findings.listed().first());
    let peak = |name: &str| report.peak(name).unwrap().value.unwrap();
    assert!((peak("model_error_pen_up_m") - 5.898e-5).abs() < 1e-8);
    assert!((peak("orientation_error_rad") - 1.7507e-4).abs() < 1e-8);
    assert!((peak("joint_velocity_pen_up_rad_s") - 0.094_732_544_4).abs() < 1e-10);
    assert!((report.end_error_m.unwrap() - 1.417e-5).abs() < 1e-8);
    close(
        &report.trajectory.unwrap().positions[799][..6],
        &[
            0.119_594_115_983,
            1.538_336_247_707,
            0.819_478_744_155,
            -0.052_915_589_980,
            0.020_037_937_228,
            1.542_872_146_547,
        ],
        1e-11,
    );
}

#[test]
fn g6_the_reference_law_takes_a_jump_of_1_4_mm_and_refuses_1_6_mm() {
    let posture = w1_posture();
    let rows = |jump: f64| -> Vec<Row> {
        (0..400)
            .map(|k| {
                let mut p_m = posture.tip_m;
                // Back again, so that the plan can converge at its end.
                p_m[0] += if k == 100 { jump } else { 0.0 };
                Row {
                    t_s: 0.0025 * f64::from(k + 1),
                    p_m,
                    v_m_s: [0.0; 3],
                    r: posture.rotation,
                    pen: false,
                    capture: 0,
                    dip: 0,
                }
            })
            .collect()
    };
    let (report, findings) = plan(&rows(0.0014), true, &W1);
    assert!(findings.is_empty(), "{:?}", findings.listed().first());
    assert!((report.peak("model_error_pen_up_m").unwrap().value.unwrap() - 1.386e-3).abs() < 1e-6);
    let (_, findings) = plan(&rows(0.0016), true, &W1);
    let first = findings.listed().first().unwrap();
    assert_eq!((first.code, first.place), (Code::ModelError, fieldlab_draw::findings::Place::Row(100)));
}

#[test]
fn d3_the_reference_law_sees_no_error_in_half_a_turn() {
    let posture = w1_posture();
    let flipped = mul(&rotation_about([0.0, 1.0, 0.0], std::f64::consts::PI), &posture.rotation);
    let rows: Vec<Row> = (1..=40)
        .map(|k| Row {
            t_s: 0.0025 * f64::from(k),
            p_m: posture.tip_m,
            v_m_s: [0.0; 3],
            r: flipped,
            pen: false,
            capture: 0,
            dip: 0,
        })
        .collect();
    let (report, findings) = plan(&rows, true, &W1);
    assert!(findings.is_empty());
    assert!(report.peak("orientation_error_rad").unwrap().value.unwrap() < 1e-9);
}

#[test]
fn a_pen_up_scan_may_rest_outside_the_drawing_envelope_and_a_drawing_may_not() {
    for carriage_m in [0.0, -1.75e-6, -1e-4] {
        let start = fieldlab_draw::plan::Start { carriage_m, ..W1 };
        let posture = common::reference_chain().posture(&start.joints_rad, carriage_m);
        let mut rows: Vec<Row> = (1..=100)
            .map(|k| Row {
                t_s: 0.0025 * f64::from(k),
                p_m: posture.tip_m,
                v_m_s: [0.0; 3],
                r: posture.rotation,
                pen: false,
                capture: 0,
                dip: 0,
            })
            .collect();
        let (report, findings) = plan(&rows, true, &start);
        assert!(findings.is_empty(), "{:?}", findings.listed().first());
        let kept = |row: &[f64; 7]| row[6].to_bits() == carriage_m.to_bits();
        assert!(report.trajectory.unwrap().positions.iter().all(kept));
        rows[50].pen = true;
        let (_, findings) = plan(&rows, true, &start);
        assert!(findings.has(Code::StartCarriage), "{carriage_m}");
    }
}

#[test]
fn an_exported_trajectory_has_times_that_rise_and_stands_at_its_end() {
    let (report, _) = plan(&line_rows(0.001, 1.0, 0.25, true), true, &W1);
    let trajectory = report.trajectory.unwrap();
    for (stride, count) in [(0, 400), (1, 400), (3, 134), (4, 100), (399, 2), (400, 1), (9999, 1)] {
        for carriage in [true, false] {
            let knots = trajectory.knots(stride, carriage).unwrap();
            assert_eq!(knots.len(), count, "{stride}");
            assert!(knots.windows(2).all(|pair| pair[0].time_from_start_ns < pair[1].time_from_start_ns));
            assert!(knots[0].time_from_start_ns >= 2_500_000, "a controller is at time 0 already");
            let last = &knots[count - 1];
            assert_eq!(last.time_from_start_ns, 1_000_000_000);
            assert!(last.velocities.iter().all(|&v| v == 0.0));
            let axes = if carriage { 7 } else { 6 };
            assert!(knots.iter().all(|knot| knot.positions.len() == axes && knot.velocities.len() == axes));
            assert_eq!(last.positions, trajectory.positions[399][..axes]);
        }
    }
    // Three joints of the cut line still move by more than 0.01 rad/s.
    let (cut, _) = plan(&line_rows(0.02, 1.0, 0.25, false)[..200], false, &W1);
    assert!(cut.trajectory.unwrap().knots(4, true).is_err());
    let (empty, _) = plan(&[], false, &W1);
    assert!(empty.trajectory.unwrap().knots(4, true).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The plan and every finding depend on the rows and the start alone.
    #[test]
    fn any_line_is_planned_to_the_same_bits_twice(
        length in 1e-5f64..0.01,
        duration in 0.3f64..1.5,
        pen in any::<bool>(),
        carriage in any::<bool>(),
        nudge in -0.01f64..0.01,
    ) {
        let rows = line_rows(length, duration, 0.1, pen);
        let mut start = W1;
        start.joints_rad[2] += nudge;
        let ((first, found), (second, again)) = (plan(&rows, carriage, &start), plan(&rows, carriage, &start));
        prop_assert_eq!(found, again);
        let bits = |report: &fieldlab_draw::plan::PlanReport| -> Vec<u64> {
            let positions = report.trajectory.as_ref().map(|trajectory| trajectory.positions.clone());
            positions.unwrap_or_default().into_iter().flatten().map(f64::to_bits).collect()
        };
        prop_assert_eq!(bits(&first), bits(&second));
        prop_assert_eq!(first, second);
    }
}

#[test]
fn planning_twice_gives_the_same_bits() {
    let rows = line_rows(0.001, 1.0, 0.25, true);
    assert_eq!(plan(&rows, true, &W1).0, plan(&rows, true, &W1).0);
    drop(reference_watch(true, &W1));
}
