//! The motor model of every feedforward: kA v' = u − kS sgn v − kV v, solved exactly for a held voltage.

/// Gains of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plant {
    pub(crate) ks: f64,
    pub(crate) kv: f64,
    pub(crate) ka: f64,
}

impl Plant {
    /// Velocity and position after `dt` seconds at `volts`. The sign of the friction is followed through a stop inside
    /// the step; at rest nothing moves until the voltage exceeds kS.
    pub(crate) fn advance(&self, (mut v, mut x): (f64, f64), volts: f64, dt: f64) -> (f64, f64) {
        let tau = self.ka / self.kv;
        let mut left = dt;
        // A held voltage stops the wheel at most once and starts it at most once.
        for _ in 0..3 {
            if left <= 0.0 {
                break;
            }
            let direction = if v == 0.0 {
                if volts.abs() <= self.ks.max(0.0) {
                    break;
                }
                volts.signum()
            } else {
                v.signum()
            };
            let settled = (volts - self.ks * direction) / self.kv;
            let stop = (v * direction > 0.0 && settled * direction < 0.0)
                .then(|| tau * ((v - settled) / -settled).ln())
                .filter(|t| *t < left);
            let step = stop.unwrap_or(left);
            let decay = (-step / tau).exp();
            x += settled * step + (v - settled) * tau * (1.0 - decay);
            v = if stop.is_some() { 0.0 } else { settled + (v - settled) * decay };
            left -= step;
        }
        (v, x)
    }
}

/// A run's motion under one set of gains, asked for at rising instants.
pub(crate) struct Motion<'a> {
    plant: Plant,
    t: &'a [f64],
    volts: &'a [f64],
    start_velocity: f64,
    knot: usize,
    state: (f64, f64),
}

impl<'a> Motion<'a> {
    /// `t` must not be empty and as long as `volts`.
    pub(crate) fn new(plant: Plant, t: &'a [f64], volts: &'a [f64], start_velocity: f64) -> Self {
        Self { plant, t, volts, start_velocity, knot: 0, state: (start_velocity, 0.0) }
    }

    /// Velocity and position at `at`, which must not be before the instant asked for last. Before the run starts the
    /// start velocity holds; the last voltage holds after its end.
    pub(crate) fn at(&mut self, at: f64) -> (f64, f64) {
        let first = self.t[0];
        if at <= first {
            return (self.start_velocity, self.start_velocity * (at - first));
        }
        while self.knot + 1 < self.t.len() && self.t[self.knot + 1] <= at {
            let dt = self.t[self.knot + 1] - self.t[self.knot];
            self.state = self.plant.advance(self.state, self.volts[self.knot], dt);
            self.knot += 1;
        }
        self.plant.advance(self.state, self.volts[self.knot], at - self.t[self.knot])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANT: Plant = Plant { ks: 0.2, kv: 2.5, ka: 0.3 };

    #[test]
    fn one_long_step_equals_many_short_ones() {
        for (v0, volts) in [(0.0, 7.0), (2.0, -7.0), (2.0, 0.0), (-1.0, 0.1), (0.0, 0.2), (1.0, 0.15)] {
            let whole = PLANT.advance((v0, 0.0), volts, 0.5);
            let parts = (0..500).fold((v0, 0.0), |s, _| PLANT.advance(s, volts, 0.001));
            assert!((whole.0 - parts.0).abs() < 1e-9 && (whole.1 - parts.1).abs() < 1e-9, "{v0} {volts}");
        }
    }

    #[test]
    fn settles_where_the_formula_says_and_rests_below_friction() {
        let (v, _) = PLANT.advance((0.0, 0.0), 7.0, 10.0);
        assert!((v - (7.0 - 0.2) / 2.5).abs() < 1e-12);
        assert_eq!(PLANT.advance((0.0, 1.0), 0.19, 5.0), (0.0, 1.0));
        assert_eq!(PLANT.advance((0.5, 0.0), 0.0, 10.0).0, 0.0);
    }
}
