//! What a lens does to a picture.

/// Fixed-point steps of [`Lens::undistorted`].
const STEPS: usize = 10;

/// Brown and Conrady's model: radial terms k1, k2, k3 and tangential p1, p2, on coordinates divided by depth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lens {
    /// k1, k2, p1, p2, k3, in the order in which cameras report them.
    pub coefficients: [f64; 5],
}

impl Lens {
    /// Where the lens puts a ray.
    #[must_use]
    pub fn distorted(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (radial, [dx, dy]) = self.parts([x, y]);
        [x * radial + dx, y * radial + dy]
    }

    /// The ray that the lens puts at a place, by ten fixed-point steps, the rule of cameras' own software.
    #[must_use]
    pub fn undistorted(&self, place: [f64; 2]) -> [f64; 2] {
        let mut ray = place;
        for _ in 0..STEPS {
            let (radial, [dx, dy]) = self.parts(ray);
            ray = [(place[0] - dx) / radial, (place[1] - dy) / radial];
        }
        ray
    }

    /// Whether all coefficients are usable numbers: beyond one in size they describe no lens, and the steps would not settle.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.coefficients.iter().all(|c| c.abs() <= 1.0)
    }

    fn parts(&self, [x, y]: [f64; 2]) -> (f64, [f64; 2]) {
        let [k1, k2, p1, p2, k3] = self.coefficients;
        let r2 = x * x + y * y;
        let radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3));
        (radial, [2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x), 2.0 * p2 * x * y + p1 * (r2 + 2.0 * y * y)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_undo_the_model_over_a_whole_picture() {
        // Coefficients of the size that small depth cameras report.
        let lens = Lens { coefficients: [-0.055, 0.066, 0.0003, 0.0008, -0.021] };
        // By hand at (0.5, 0): r2 = 0.25, radial = 0.989972..., tangential 3 p2 / 4 and p1 / 4.
        let [x, y] = lens.distorted([0.5, 0.0]);
        let radial = 1.0 - 0.055 * 0.25 + 0.066 * 0.0625 - 0.021 * 0.015_625;
        assert!((x - (0.5 * radial + 0.0008 * 0.75)).abs() < 1e-15 && (y - 0.0003 * 0.25).abs() < 1e-15);
        for k in 0..=20 {
            for m in 0..=20 {
                let ray = [f64::from(k) * 0.08 - 0.8, f64::from(m) * 0.06 - 0.6];
                let back = lens.undistorted(lens.distorted(ray));
                assert!((back[0] - ray[0]).hypot(back[1] - ray[1]) < 1e-7, "{ray:?}: {back:?}");
            }
        }
        assert_eq!(Lens::default().undistorted([0.3, 0.4]), [0.3, 0.4]);
        assert!(!Lens { coefficients: [f64::NAN; 5] }.is_usable());
    }
}
