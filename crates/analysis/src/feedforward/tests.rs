use super::scenario::{A_CLEAN, B2_NOISE, C2_DELAY60, F_FIELD, Scenario, TRUTH, make};
use super::*;

/// Sums of the anchor generator's own check rows (reference prototype, seed 0, 2026-08): voltage, position, velocity.
#[test]
fn generator_meets_its_check_rows() {
    let rows: [(&Scenario, [[f64; 3]; 4]); 4] = [
        (
            &A_CLEAN,
            [
                [903.0, 611.637_385, 322.735_127],
                [-903.0, -611.637_385, -322.735_127],
                [532.0, 132.359_725, 189.002_296],
                [-532.0, -132.359_725, -189.002_296],
            ],
        ),
        (
            &B2_NOISE,
            [
                [903.0, 611.627_9, 323.023_413],
                [-903.0, -611.633_9, -323.032_396],
                [532.0, 132.360_2, 189.020_256],
                [-532.0, -132.357, -188.887_145],
            ],
        ),
        (
            &C2_DELAY60,
            [
                [903.0, 611.643_9, 316.194_184],
                [-903.0, -611.627_4, -315.533_866],
                [532.0, 132.362_2, 180.810_302],
                [-532.0, -132.362_4, -180.938_852],
            ],
        ),
        (
            &F_FIELD,
            [
                [903.019, 615.396_158, 320.063_424],
                [-903.037, -616.008_702, -318.932_180],
                [532.0, 130.799_538, 182.799_742],
                [-532.0, -131.560_714, -183.348_196],
            ],
        ),
    ];
    for (scenario, expect) in rows {
        for (run, [volts, position, velocity]) in make(scenario, 0).iter().zip(expect) {
            let sum = |column: &[f64]| column.iter().sum::<f64>();
            assert!((sum(&run.volts) - volts).abs() < 2e-6, "{:?} {}", run.test, sum(&run.volts));
            assert!((sum(&run.position) - position).abs() < 2e-6, "{:?} {}", run.test, sum(&run.position));
            assert!((sum(&run.velocity) - velocity).abs() < 2e-6, "{:?} {}", run.test, sum(&run.velocity));
        }
    }
}

/// Gains of the reference prototype (whose SysId equals WPILib's own compiled analysis to 1e-9) on seeds 0 and 1.
#[test]
fn gains_meet_the_reference_prototypes() {
    let golden: [(&Scenario, u64, [f64; 3], [f64; 3]); 7] = [
        (&A_CLEAN, 0, [0.211_747_983, 2.499_400_72, 0.297_673_785], [0.200_02, 2.5, 0.299_88]),
        (&B2_NOISE, 0, [0.187_573_07, 2.508_849_73, 0.305_496_04], [0.194_842, 2.503_33, 0.298_633]),
        (&B2_NOISE, 1, [0.168_487_904, 2.520_973_53, 0.305_947_359], [0.191_338, 2.504_03, 0.303_652]),
        (&C2_DELAY60, 0, [0.255_700_066, 2.493_250_04, 0.326_827_384], [0.200_714, 2.498_05, 0.304_289]),
        (&C2_DELAY60, 1, [0.248_795_096, 2.506_175_52, 0.308_725_803], [0.191_361, 2.506_83, 0.298_992]),
        (&F_FIELD, 0, [0.221_976_231, 2.500_777_46, 0.306_626_033], [0.181_162, 2.500_96, 0.298_779]),
        (&F_FIELD, 1, [0.221_146_553, 2.516_862_88, 0.286_266_642], [0.160_339, 2.520_93, 0.298_487]),
    ];
    for (scenario, seed, sysid, preferred) in golden {
        let fit = fit_motor("drive", &make(scenario, seed));
        for (got, want) in fit.sysid.unwrap().iter().zip(sysid) {
            assert!((got - want).abs() < 2e-8, "SysId {} {seed}: {:?}", scenario.id, fit.sysid);
        }
        let gains = fit.gains.unwrap();
        for (got, want) in [gains.ks, gains.kv, gains.ka].iter().zip(preferred) {
            assert!((got.value - want).abs() < 2e-3, "preferred {} {seed}: {gains:?}", scenario.id);
        }
    }
}

/// Ours with intervals, SysId's without.
type Both = (Gains, [f64; 3]);

fn errors(scenario: &Scenario, seeds: u64) -> Vec<Both> {
    (0..seeds)
        .map(|seed| {
            let fit = fit_motor("drive", &make(scenario, seed));
            (fit.gains.unwrap(), fit.sysid.unwrap())
        })
        .collect()
}

fn rmse_percent(fits: &[Both], pick: impl Fn(&Both) -> f64, truth: f64) -> f64 {
    stats::rms(&fits.iter().map(|f| (pick(f) / truth - 1.0) * 100.0).collect::<Vec<_>>())
}

/// Coverage and error of the preferred method on the anchor scenarios, 20 seeds each: the acceptance thresholds of the
/// protocol (percent RMSE) and an interval that holds the truth about as often as it says.
#[test]
fn preferred_method_meets_the_protocols_thresholds() {
    for (scenario, limits, least_covered) in [
        (&B2_NOISE, [5.0, 0.25, 1.5], 51),
        (&C2_DELAY60, [3.5, 0.2, 1.2], 51),
        (&F_FIELD, [13.0, 0.6, 3.6], 52),
    ] {
        let fits = errors(scenario, 20);
        let picks: [fn(&Both) -> Interval; 3] = [|f| f.0.ks, |f| f.0.kv, |f| f.0.ka];
        let mut covered = 0;
        for ((pick, truth), limit) in picks.iter().zip(TRUTH).zip(limits) {
            let error = rmse_percent(&fits, |f| pick(f).value, truth);
            assert!(error <= limit, "scenario {}: {error} % over {limit} %", scenario.id);
            covered += fits.iter().filter(|f| pick(f).contains(truth)).count();
        }
        assert!(
            covered >= least_covered,
            "scenario {}: {covered} of 60 intervals hold the truth",
            scenario.id
        );
    }
}

/// A ramp of r volts per second and a delay d put r × d into SysId's kS; the preferred method takes it out.
#[test]
fn delay_biases_sysids_ks_and_not_ours() {
    let fits = errors(&C2_DELAY60, 6);
    let sysid = stats::mean(&fits.iter().map(|f| f.1[0]).collect::<Vec<_>>());
    let ours = stats::mean(&fits.iter().map(|f| f.0.ks.value).collect::<Vec<_>>());
    assert!((sysid - TRUTH[0]) > 0.03 && (sysid - TRUTH[0]) < 0.07, "{sysid}");
    assert!((ours - TRUTH[0]).abs() < 0.006, "{ours}");
}

fn flagged(runs: &[Run], word: &str) -> bool {
    fit_motor("m", runs).flags.iter().any(|f| f.contains(word))
}

#[test]
fn forward_only_is_flagged() {
    let runs: Vec<Run> = make(&B2_NOISE, 3).into_iter().filter(|r| r.test.sign() > 0.0).collect();
    assert!(flagged(&runs, "one direction only"));
    assert!(fit_motor("m", &runs).gains.is_some());
}

#[test]
fn signs_scales_and_dead_sensors_are_named() {
    let good = make(&B2_NOISE, 1);
    assert!(fit_motor("m", &good).flags.is_empty(), "{:?}", fit_motor("m", &good).flags);
    let mut inverted = good.clone();
    for run in &mut inverted {
        run.velocity.iter_mut().chain(&mut run.position).for_each(|v| *v = -*v);
    }
    assert!(fit_motor("m", &inverted).refused.unwrap().contains("invert"));
    let mut dead = good.clone();
    for run in &mut dead {
        run.velocity.fill(0.0);
    }
    assert!(fit_motor("m", &dead).refused.unwrap().contains("never moves"));
    let mut jitters = good.clone();
    for run in &mut jitters {
        run.velocity.iter_mut().enumerate().for_each(|(i, v)| *v = if i % 7 == 0 { 0.034 } else { 0.0 });
    }
    let said = fit_motor("m", &jitters).refused.unwrap();
    assert!(said.contains("never moves") && said.contains("0.0000 to 0.0340"), "{said}");
    let mut minutes = good;
    for run in &mut minutes {
        run.velocity.iter_mut().for_each(|v| *v *= 60.0);
    }
    assert!(flagged(&minutes, "per minute"));
    assert!(fit_motor("m", &[]).refused.unwrap().contains("0 rows"));
}

/// T2, in part: motors are fitted one by one, and their mean is no surer than one of them.
#[test]
fn t2_motors_are_fitted_alone_and_averaged() {
    let fits: Vec<MotorFit> = (0..4).map(|s| fit_motor("m", &make(&B2_NOISE, s))).collect();
    let mean = mean_gains(&fits).unwrap();
    let expect = stats::mean(&fits.iter().map(|f| f.gains.unwrap().kv.value).collect::<Vec<_>>());
    assert!((mean.kv.value - expect).abs() < 1e-12);
    assert!(mean.kv.contains(TRUTH[1]));
    let least = fits.iter().map(|f| f.gains.unwrap().kv.half_width()).fold(f64::INFINITY, f64::min);
    assert!(mean.kv.half_width() >= least);
    assert!(mean_gains(&[]).is_none());
}

#[test]
fn repeated_runs_of_one_test_are_all_used() {
    let mut runs = make(&B2_NOISE, 1);
    let once = fit_motor("m", &runs).samples;
    for mut again in make(&B2_NOISE, 2) {
        again.t.iter_mut().for_each(|t| *t += 100.0);
        runs.push(again);
    }
    let twice = fit_motor("m", &runs).samples;
    assert!(twice > once * 19 / 10, "{once} then {twice}");
}
