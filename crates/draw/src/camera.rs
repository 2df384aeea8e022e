//! A wrist camera that is not there: depth pictures of a known surface, with noise, gaps and outliers, from known extrinsics.
//!
//! With it the chain from orbit to path runs with a truth to compare, on any machine. The same seed gives the same picture.

use crate::capture::{RawDepth, View};
use crate::error::DrawError;
use crate::math::{Rigid, Vec3, add_scaled, dot, sub};
use crate::profile::Camera;
use crate::surface::{Grid, Surface};

/// What is wrong with the pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flaws {
    /// Standard deviation of the depth, metres.
    pub noise_m: f64,
    /// Share of pixels without depth.
    pub missing_share: f64,
    /// Share of pixels whose depth is far off.
    pub outlier_share: f64,
    /// How far off they are, metres, either way.
    pub outlier_m: [f64; 2],
    /// Frames that the picture claims to be the median of, 1 to 255.
    pub frames: u8,
    /// Pixels of the camera per pixel of the picture, along each side: 1 for all, 2 for a quarter of them.
    pub binning: usize,
}

impl Default for Flaws {
    fn default() -> Self {
        Self {
            noise_m: 0.001,
            missing_share: 0.02,
            outlier_share: 0.05,
            outlier_m: [0.005, 0.05],
            frames: 8,
            binning: 1,
        }
    }
}

/// A generator of chance whose seed is known and printed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// A generator for this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to 1.
    pub fn uniform(&mut self) -> f64 {
        #[allow(clippy::cast_precision_loss)] // 53 bits
        let fraction = (self.bits() >> 11) as f64;
        fraction / 9_007_199_254_740_992.0
    }

    /// A number from `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The picture of `surface` by `camera` standing at `camera_in_root`. What lies off the surface's canvas has no depth.
#[must_use]
pub fn picture(
    surface: &Surface,
    camera: &Camera,
    camera_in_root: &Rigid,
    flaws: &Flaws,
    chance: &mut Chance,
) -> View {
    let binning = flaws.binning.max(1);
    #[allow(clippy::cast_precision_loss)] // small
    let bin = binning as f64;
    let [cols, rows] = camera.optics.size_px.map(|size| (size / binning).max(1));
    let [fx, fy, ppx, ppy] = camera.optics.intrinsics_px.map(|value| value / bin);
    let units_m = camera.optics.units_m;
    let mut depth = Grid::filled(rows, cols, 0u16);
    let mut valid = Grid::filled(rows, cols, 0u8);
    let mut mad = Grid::filled(rows, cols, 0f32);
    let [near, far] = camera.optics.range_m;
    let mut guess = None;
    for row in 0..rows {
        for col in 0..cols {
            #[allow(clippy::cast_precision_loss)] // pixels
            let place = [(col as f64 - ppx) / fx, (row as f64 - ppy) / fy];
            let [x, y] = camera.optics.lens.map_or(place, |lens| lens.undistorted(place));
            let ray = [x, y, 1.0];
            let ray = Ray { from: camera_in_root.translation_m, along: camera_in_root.direction(ray) };
            // The pixel before is a good guess; where it fails, from near: outside a convex surface Newton does not overshoot.
            let hit = guess.and_then(|z| ray.depth(surface, z)).or_else(|| ray.depth(surface, near));
            guess = hit.or(guess);
            // Chance is drawn for every pixel, so that a seed means the same flaws whatever is seen.
            let (missing, wrong) =
                (chance.uniform() < flaws.missing_share, chance.uniform() < flaws.outlier_share);
            let sign = if chance.uniform() < 0.5 { -1.0 } else { 1.0 };
            let (noise, off) = (
                chance.normal() * flaws.noise_m,
                sign * chance.between(flaws.outlier_m[0], flaws.outlier_m[1]),
            );
            let Some(z) = hit.filter(|z| !missing && (near..=far).contains(z)) else { continue };
            let raw = ((z + if wrong { off } else { noise }) / units_m).round();
            if (1.0..65_535.0).contains(&raw) {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 65534
                depth.set(row, col, raw as u16);
                valid.set(row, col, flaws.frames);
                #[allow(clippy::cast_possible_truncation)] // metres
                mad.set(row, col, (0.6745 * flaws.noise_m) as f32);
            }
        }
    }
    View {
        role: camera.role.clone(),
        depth,
        valid,
        mad_m: Some(mad),
        frames: Some(u64::from(flaws.frames)),
        units_m,
        intrinsics_px: [fx, fy, ppx, ppy],
        lens: camera.optics.lens,
        raw: None,
        color: None,
    }
}

/// The picture that comes of `frames` pictures with chances of their own, each kept: the median of those that saw.
///
/// # Errors
/// No frames, or more than 255.
pub fn merged_picture(
    surface: &Surface,
    camera: &Camera,
    camera_in_root: &Rigid,
    flaws: &Flaws,
    frames: usize,
    chance: &mut Chance,
) -> Result<View, DrawError> {
    let mut last = None;
    let mut raws = Vec::new();
    for _ in 0..frames.min(256) {
        let view = picture(surface, camera, camera_in_root, flaws, chance);
        raws.push(view.depth.clone());
        last = Some(view);
    }
    let raw = RawDepth::new(raws)?;
    let view = last.ok_or_else(|| DrawError::array("raw_depth", "1 to 255 frames", "none"))?;
    let merged = raw.merged(view.units_m);
    Ok(View {
        depth: merged.depth,
        valid: merged.valid,
        mad_m: Some(merged.mad_m),
        frames: Some(raw.frames().len() as u64),
        raw: Some(raw),
        ..view
    })
}

struct Ray {
    from: Vec3,
    along: Vec3,
}

impl Ray {
    /// The depth at which the ray meets the canvas from outside, by Newton's steps from `guess`.
    fn depth(&self, surface: &Surface, guess: f64) -> Option<f64> {
        let chart = surface.chart();
        let mut z = guess;
        for _ in 0..25 {
            let point = add_scaled(self.from, self.along, z);
            let uv = chart.inverse(point);
            let normal = chart.normal(uv[0], uv[1]);
            let above = dot(sub(point, chart.point(uv[0], uv[1])), normal) - surface.frame(uv).height_m;
            if above.abs() < 1e-7 {
                // From outside, and not past the border.
                return (surface.contains(uv) && dot(self.along, normal) < -0.05 && z > 0.0).then_some(z);
            }
            let closing = dot(self.along, normal);
            if closing > -0.02 {
                return None;
            }
            z -= (above / closing).clamp(-0.2, 0.2);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{IDENTITY, rotation_about};
    use crate::profile::Optics;
    use crate::surface::{Chart, Shape};

    /// A flat surface facing a camera that looks down on it from `height` metres.
    fn view(shape: Shape, flaws: &Flaws) -> View {
        let chart = Chart::new(shape, [0.0; 3], IDENTITY).unwrap();
        let canvas = if shape == Shape::Plane { 1.0 } else { 0.1 };
        let surface = Surface::new(
            chart,
            canvas,
            canvas,
            Grid::filled(3, 3, 0.0),
            Grid::filled(3, 3, 1),
            Grid::filled(3, 3, 0.0),
        )
        .unwrap();
        let optics = Optics {
            intrinsics_px: [385.0, 385.0, 320.0, 240.0],
            size_px: [640, 480],
            units_m: 0.0001,
            range_m: [0.07, 0.5],
            lens: None,
        };
        let camera = Camera { role: "eye".to_owned(), in_final: Rigid::IDENTITY, optics };
        let down = Rigid {
            rotation: rotation_about([1.0, 0.0, 0.0], std::f64::consts::PI),
            translation_m: [0.0, 0.0, 0.15],
        };
        picture(&surface, &camera, &down, flaws, &mut Chance::new(1))
    }

    const CLEAN: Flaws = Flaws {
        noise_m: 0.0,
        missing_share: 0.0,
        outlier_share: 0.0,
        outlier_m: [0.0, 0.0],
        frames: 8,
        binning: 2,
    };

    #[test]
    fn a_clean_picture_of_a_plane_is_flat_and_of_a_cylinder_round() {
        let flat = view(Shape::Plane, &CLEAN);
        assert!(flat.depth.values().iter().all(|&raw| raw == 1500));
        let round = view(Shape::Cylinder { radius_m: 0.04 }, &CLEAN);
        assert_eq!(round.depth.at(120, 160), 1500);
        // A ray 20 degrees off the axis plane meets the circle where its quadratic says.
        let slope: f64 = 20.0 / 192.5;
        let (a, b, c) = (1.0 + slope * slope, -2.0 * 0.19, 0.19 * 0.19 - 0.04 * 0.04);
        let z = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
        let raw = f64::from(round.depth.at(140, 160));
        assert!((raw * 0.0001 - z).abs() < 0.00006, "{raw} against {z}");
    }

    #[test]
    fn frames_are_merged_by_their_median_and_a_lens_is_undone() {
        let chart = Chart::new(Shape::Plane, [0.0; 3], IDENTITY).unwrap();
        let flat = || Grid::filled(3, 3, 0.0);
        let surface = Surface::new(chart, 1.0, 1.0, flat(), Grid::filled(3, 3, 1), flat()).unwrap();
        let lens = Some(crate::capture::Lens { coefficients: [-0.055, 0.066, 0.0003, 0.0008, -0.021] });
        let optics = Optics {
            intrinsics_px: [60.0, 60.0, 40.0, 30.0],
            size_px: [80, 60],
            units_m: 0.0001,
            range_m: [0.07, 0.5],
            lens,
        };
        let camera = Camera { role: "eye".to_owned(), in_final: Rigid::IDENTITY, optics };
        let turn = rotation_about([1.0, 0.0, 0.0], std::f64::consts::PI - 0.2);
        let place = Rigid { rotation: turn, translation_m: [0.0, 0.0, 0.15] };
        let flaws = Flaws { outlier_share: 0.0, ..Flaws::default() };
        let view = merged_picture(&surface, &camera, &place, &flaws, 9, &mut Chance::new(3)).unwrap();
        assert_eq!((view.frames, view.raw.as_ref().unwrap().frames().len()), (Some(9), 9));
        // The points lie on the plane although its picture was bent: a tenth of a millimetre of rounding, 0.42 mm for the
        // median of nine with 1 mm of noise.
        let mut squares = Vec::new();
        for row in 0..60 {
            for col in 0..80 {
                let point = view.point(row, col, [0.07, 0.5]).map(|point| place.point(point));
                squares.extend(point.map(|point| (point[2] / 0.9f64).powi(2)));
            }
        }
        let rms = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        assert!(squares.len() > 4700 && (0.0003..0.0005).contains(&rms), "{} {rms}", squares.len());
        assert!(merged_picture(&surface, &camera, &place, &flaws, 0, &mut Chance::new(3)).is_err());
        assert!(merged_picture(&surface, &camera, &place, &flaws, 300, &mut Chance::new(3)).is_err());
    }

    #[test]
    fn flaws_come_in_the_shares_that_were_asked_for() {
        let flawed = view(Shape::Plane, &Flaws { binning: 2, ..Flaws::default() });
        let count = |wanted: &dyn Fn(u16) -> bool| {
            flawed.depth.values().iter().filter(|&&raw| wanted(raw)).count() as f64
                / flawed.depth.values().len() as f64
        };
        assert!((count(&|raw| raw == 0) - 0.02).abs() < 0.004);
        assert!((count(&|raw| raw > 0 && raw.abs_diff(1500) >= 50) - 0.049).abs() < 0.005);
        let inner: Vec<f64> = flawed
            .depth
            .values()
            .iter()
            .filter(|raw| raw.abs_diff(1500) < 45)
            .map(|&raw| f64::from(raw) - 1500.0)
            .collect();
        let deviation = (inner.iter().map(|d| d * d).sum::<f64>() / inner.len() as f64).sqrt();
        assert!((deviation - 10.0).abs() < 0.2, "{deviation}");
    }
}
