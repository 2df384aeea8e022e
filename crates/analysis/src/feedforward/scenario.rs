//! The anchor scenarios: SplitMix64 and Box-Muller in a fixed order, so that the sums of a set can be checked against
//! those of another implementation.

use super::plant::Plant;
use super::run::{Run, Test};

pub(super) const TRUTH: [f64; 3] = [0.2, 2.5, 0.3];

/// Sensor and battery settings of one scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    pub(super) id: u64,
    pub(super) sigma: f64,
    pub(super) difference_ms: usize,
    pub(super) taps: usize,
    pub(super) tap_ms: usize,
    pub(super) count_m: f64,
    pub(super) sag: bool,
    pub(super) jitter_ms: f64,
    pub(super) age_ms: u32,
    pub(super) drop: f64,
    pub(super) load_volts: f64,
}

const PLAIN: Scenario = Scenario {
    id: 0,
    sigma: 0.0,
    difference_ms: 0,
    taps: 1,
    tap_ms: 1,
    count_m: 0.0,
    sag: false,
    jitter_ms: 0.0,
    age_ms: 0,
    drop: 0.0,
    load_volts: 0.0,
};
pub(super) const A_CLEAN: Scenario = PLAIN;
pub(super) const B2_NOISE: Scenario = Scenario { id: 2, sigma: 0.03, count_m: 1e-4, ..PLAIN };
pub(super) const C2_DELAY60: Scenario =
    Scenario { id: 5, sigma: 0.02, difference_ms: 60, taps: 61, count_m: 1e-4, ..PLAIN };
pub(super) const F_FIELD: Scenario = Scenario {
    id: 9,
    sigma: 0.02,
    difference_ms: 40,
    taps: 41,
    count_m: 1.126e-3,
    sag: true,
    jitter_ms: 1.0,
    age_ms: 10,
    drop: 0.01,
    load_volts: 0.05,
    ..PLAIN
};

struct Rng(u64);

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Rng {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        (mix(self.0) >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// The four runs of one seed.
pub(super) fn make(scenario: &Scenario, seed: u64) -> Vec<Run> {
    let mut rng = Rng(mix((scenario.id * 100_000 + seed + 1).wrapping_mul(GOLDEN)));
    let mut base = 10.0;
    [Test::QuasistaticForward, Test::QuasistaticReverse, Test::DynamicForward, Test::DynamicReverse]
        .iter()
        .map(|test| {
            let secs = if test.is_ramp() { 6.0 } else { 1.5 };
            let run = one(scenario, *test, secs, base, &mut rng);
            base += secs + 3.0;
            run
        })
        .collect()
}

fn one(s: &Scenario, test: Test, secs: f64, base: f64, rng: &mut Rng) -> Run {
    const HISTORY: usize = 400;
    const VOC: f64 = 12.5;
    const R_BATTERY: f64 = 0.018;
    const R_MOTOR: f64 = 0.04;
    const IDLE_AMPS: f64 = 2.0;
    const SIGMA_VOLTS: f64 = 0.03;
    let plant = Plant { ks: TRUTH[0], kv: TRUTH[1], ka: TRUTH[2] };
    let millis = (secs * 1000.0) as usize + 40;
    let (mut xs, mut vs) = (vec![0.0; HISTORY + millis + 1], vec![0.0; HISTORY + millis + 1]);
    let mut state = (0.0, 0.0);
    let (mut ms, mut duty, mut applied, mut load) = (0_usize, 0.0_f64, 0.0, 0.0);
    let mut last = (0.0, 0.0);
    let battery = |duty: f64, v: f64| {
        (VOC - R_BATTERY * IDLE_AMPS + R_BATTERY * duty * plant.kv * v / R_MOTOR)
            / (1.0 + R_BATTERY * duty * duty / R_MOTOR)
    };
    let offset = rng.uniform() * s.count_m;
    let count = |x: f64| if s.count_m > 0.0 { ((x + offset) / s.count_m).floor() * s.count_m } else { x };
    let mut run = Run::new(test);
    for k in 0..=(secs * 1000.0) as usize / 20 {
        let draw = rng.normal();
        let jitter = if k > 0 { (draw * s.jitter_ms).round_ties_even().clamp(-8.0, 8.0) } else { 0.0 };
        let now = (20.0 * k as f64 + jitter) as usize;
        while ms < now {
            if s.sag {
                applied = duty * battery(duty, state.0);
            }
            state = plant.advance(state, applied + load, 0.001);
            ms += 1;
            (vs[HISTORY + ms], xs[HISTORY + ms]) = state;
        }
        let volt_noise = rng.normal();
        let age = (rng.uniform() * f64::from(s.age_ms + 1)) as usize;
        let noise = rng.normal();
        let drop = rng.uniform();
        let load_noise = rng.normal();
        let m = HISTORY + ms - age;
        let mut position = count(xs[m]);
        let mut velocity = vs[m];
        if s.difference_ms > 0 {
            let sum: f64 = (0..s.taps)
                .map(|i| {
                    let to = m - i * s.tap_ms;
                    (count(xs[to]) - count(xs[to - s.difference_ms])) / (s.difference_ms as f64 * 1e-3)
                })
                .sum();
            velocity = sum / s.taps as f64;
        }
        velocity += s.sigma * noise;
        if k > 0 && drop < s.drop {
            (position, velocity) = last;
        }
        last = (position, velocity);
        let rho = (-0.1_f64).exp();
        load = rho * load + (1.0 - rho * rho).sqrt() * s.load_volts * load_noise;
        let t = now as f64 * 1e-3;
        let volts = test.sign() * if test.is_ramp() { t } else { 7.0 };
        if s.sag {
            duty = volts / (battery(duty, state.0) + SIGMA_VOLTS * volt_noise);
        } else {
            applied = volts;
        }
        run.push(((t + base) * 1e6).round() / 1e6, volts, position, velocity);
    }
    run
}
