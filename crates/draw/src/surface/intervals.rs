//! How well the fitted shape is known, when the surface is not quite that shape.
//!
//! A real surface has bumps, and bumps are not noise: neighbouring points share them, so that a thousand points on one bump
//! are one witness and not a thousand. Taking the residuals as independent, or as independent in patches, promises intervals
//! that hold the truth far less often than they say. Here the residuals are a smooth random field (a Gaussian covariance of unknown
//! height and length) plus independent noise. Height and length come from the residuals' cell means by restricted likelihood,
//! which knows that the fit has taken up a part of the bumps; as a patch shows only a few bumps, both stay uncertain, and the interval
//! is that of the mixture over what the likelihood leaves possible. Bumps longer than half the patch cannot be told from the
//! shape: they are the shape. On surfaces drawn by chance the interval holds the truth in 97 to 99 of 100 cases: it errs to the wide
//! side, as it cannot know that bumps shorter than it sees are all that there are.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector, SMatrix, SVector, SymmetricEigen};

/// Ways in which a shape can change: two shifts, two tilts, the radius; a plane uses the first three.
pub(super) const WAYS: usize = 5;
/// A change of the shape, or the slope of a residual by it.
pub(super) type Ways = SVector<f64, WAYS>;

/// What one point says about the shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    /// Where it is on the chart, metres.
    pub(super) uv_m: [f64; 2],
    /// How its residual changes with the shape.
    pub(super) slope: Ways,
    /// Its residual as the fit counts it: weighed down when it is large, metres.
    pub(super) influence_m: f64,
    /// How much of a small shift of the point its influence follows.
    pub(super) follows: f64,
}

/// Smallest side of the cells, metres, and the most cells: more would say the same more slowly.
const CELL_M: f64 = 0.005;
const MOST_CELLS: usize = 220;
/// Correlation lengths that are tried, in sides of a cell.
const LENGTHS: [f64; 6] = [0.8, 1.2, 1.8, 2.7, 4.0, 6.0];
/// Heights of the bumps that are tried: none, then rising by a fifth from a tenth of a cell's standard deviation. Each is as likely
/// beforehand as the next.
const HEIGHTS: usize = 45;
const COVERAGE: f64 = 0.95;

/// Half widths that hold the truth with 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HalfWidths {
    /// The angle between the true and the found axis or normal, radians.
    pub(super) direction_rad: f64,
    /// The radius, metres; meaningless for a plane.
    pub(super) radius_m: f64,
}

/// The half widths; `None` when the points do not carry them. `tilts` names the two ways that turn the direction, `ways` how
/// many ways the shape has.
pub(super) fn half_widths(witnesses: &[Witness], tilts: [usize; 2], ways: usize) -> Option<HalfWidths> {
    let cells = Cells::of(witnesses)?;
    let mut bread = SMatrix::<f64, WAYS, WAYS>::zeros();
    for witness in witnesses {
        bread += witness.slope * witness.slope.transpose();
    }
    for way in ways..WAYS {
        bread[(way, way)] = 1.0;
    }
    let inverse = bread.try_inverse()?;
    let noise = inverse * (cells.noise_m2 / (cells.follows * cells.follows));
    let mut mixture = Vec::new();
    for length in LENGTHS {
        cells.weigh(length * cells.side_m, ways, &inverse, &noise, &mut mixture)?;
    }
    let best = mixture.iter().map(|part| part.log_weight).fold(f64::NEG_INFINITY, f64::max);
    mixture.iter_mut().for_each(|part| part.log_weight = (part.log_weight - best).exp());
    let total: f64 = mixture.iter().map(|part| part.log_weight).sum();
    let share = |of: &dyn Fn(&Part) -> f64| {
        mixture.iter().map(|part| part.log_weight * of(part)).sum::<f64>() / total
    };
    let variances = |part: &Part| {
        let [a, b] = tilts;
        let (p, q, r) = (part.covariance[(a, a)], part.covariance[(b, b)], part.covariance[(a, b)]);
        let (middle, reach) = (0.5 * (p + q), (0.5 * (p - q)).hypot(r));
        [(middle + reach).max(0.0), (middle - reach).max(0.0)]
    };
    let direction_rad = quantile(&|half| share(&|part| within_disc(half, variances(part))))?;
    let radius = WAYS - 1;
    let radius_m = quantile(&|half| share(&|part| within(half, part.covariance[(radius, radius)])))?;
    Some(HalfWidths { direction_rad, radius_m })
}

/// One possible height and length of the bumps.
struct Part {
    /// The logarithm of its likelihood, then its weight.
    log_weight: f64,
    covariance: SMatrix<f64, WAYS, WAYS>,
}

/// What a cell gathers.
#[derive(Clone, Copy, Default)]
struct Cell {
    count: f64,
    influence_m: f64,
    uv_m: [f64; 2],
    slope: Ways,
}

/// Cell means of the residuals.
struct Cells {
    side_m: f64,
    /// Variance of one point's influence, square metres.
    noise_m2: f64,
    follows: f64,
    centers_m: Vec<[f64; 2]>,
    means_m: Vec<f64>,
    counts: Vec<f64>,
    /// Sums of the slopes.
    sums: Vec<Ways>,
}

impl Cells {
    fn of(witnesses: &[Witness]) -> Option<Self> {
        #[allow(clippy::cast_precision_loss)] // at most 20 000
        let count = witnesses.len() as f64;
        let follows = witnesses.iter().map(|witness| witness.follows).sum::<f64>() / count;
        let noise_m2 = witnesses.iter().map(|witness| witness.influence_m.powi(2)).sum::<f64>() / count;
        if !(follows > 0.05 && noise_m2 > 0.0 && noise_m2.is_finite()) {
            return None;
        }
        let mut side_m = CELL_M;
        let cells = loop {
            let mut cells: BTreeMap<[i64; 2], Cell> = BTreeMap::new();
            for witness in witnesses {
                #[allow(clippy::cast_possible_truncation)] // saturates
                let at = witness.uv_m.map(|x| (x / side_m).floor() as i64);
                let cell = cells.entry(at).or_default();
                cell.count += 1.0;
                cell.influence_m += witness.influence_m;
                cell.uv_m = [cell.uv_m[0] + witness.uv_m[0], cell.uv_m[1] + witness.uv_m[1]];
                cell.slope += witness.slope;
            }
            if cells.len() <= MOST_CELLS {
                break cells;
            }
            side_m *= 1.25;
            if !side_m.is_finite() {
                return None;
            }
        };
        let cells: Vec<Cell> = cells.into_values().collect();
        Some(Self {
            side_m,
            noise_m2,
            follows,
            centers_m: cells.iter().map(|cell| cell.uv_m.map(|sum| sum / cell.count)).collect(),
            means_m: cells.iter().map(|cell| cell.influence_m / (follows * cell.count)).collect(),
            counts: cells.iter().map(|cell| cell.count).collect(),
            sums: cells.iter().map(|cell| cell.slope).collect(),
        })
    }

    /// Adds the possible heights of bumps of this length, each with its restricted likelihood and the shape's covariance.
    fn weigh(
        &self,
        length_m: f64,
        ways: usize,
        inverse: &SMatrix<f64, WAYS, WAYS>,
        noise: &SMatrix<f64, WAYS, WAYS>,
        out: &mut Vec<Part>,
    ) -> Option<()> {
        let size = self.centers_m.len();
        if size < ways + 3 {
            return None;
        }
        let alike = |i: usize, j: usize| {
            let ([a, b], [c, d]) = (self.centers_m[i], self.centers_m[j]);
            (-0.5 * ((a - c).powi(2) + (b - d).powi(2)) / (length_m * length_m)).exp()
        };
        // What a unit of bump variance does to the shape.
        let mut push = SMatrix::<f64, WAYS, WAYS>::zeros();
        for i in 0..size {
            let mut row = Ways::zeros();
            for j in 0..size {
                row += self.sums[j] * alike(i, j);
            }
            push += self.sums[i] * row.transpose();
        }
        let push = inverse * push * inverse;
        // Whitened by the noise of the cells, then in the axes of the correlation: every height is then a diagonal.
        let deviation: Vec<f64> =
            self.counts.iter().map(|n| (self.noise_m2 / n).sqrt() / self.follows).collect();
        let correlation = DMatrix::from_fn(size, size, |i, j| alike(i, j) / (deviation[i] * deviation[j]));
        let eigen = SymmetricEigen::new(correlation);
        let means = DVector::from_fn(size, |i, _| self.means_m[i] / deviation[i]);
        let design =
            DMatrix::from_fn(size, ways, |i, way| self.sums[i][way] / (self.counts[i] * deviation[i]));
        let axes = eigen.eigenvectors.transpose();
        let (means, design) = (&axes * means, axes * design);
        let scale_m = deviation.iter().sum::<f64>() / deviation.len().max(1) as f64;
        for step in 0..HEIGHTS {
            #[allow(clippy::cast_precision_loss)] // 45
            let height_m = if step == 0 { 0.0 } else { 0.1 * scale_m * 1.2f64.powi(step as i32) };
            let variances: Vec<f64> =
                eigen.eigenvalues.iter().map(|value| 1.0 + height_m * height_m * value.max(0.0)).collect();
            let weighted = |column: usize, other: &dyn Fn(usize) -> f64| -> f64 {
                (0..size).map(|i| design[(i, column)] * other(i) / variances[i]).sum()
            };
            let normal = DMatrix::from_fn(ways, ways, |a, b| weighted(a, &|i| design[(i, b)]));
            let right = DVector::from_fn(ways, |a, _| weighted(a, &|i| means[i]));
            let solver = normal.cholesky()?;
            let taken = right.dot(&solver.solve(&right));
            let square: f64 = means.iter().zip(&variances).map(|(y, v)| y * y / v).sum();
            let log_determinant = variances.iter().map(|v| v.ln()).sum::<f64>()
                + 2.0 * solver.l().diagonal().iter().map(|d| d.ln()).sum::<f64>();
            out.push(Part {
                log_weight: -0.5 * (log_determinant + square - taken),
                covariance: noise + push * (height_m * height_m),
            });
        }
        Some(())
    }
}

/// Probability that a normal number of this variance is within `half` of zero.
fn within(half: f64, variance: f64) -> f64 {
    if variance <= 0.0 { 1.0 } else { error_function(half / (2.0 * variance).sqrt()) }
}

/// Probability that a normal vector with these variances along its axes is within `half` of zero.
fn within_disc(half: f64, variances: [f64; 2]) -> f64 {
    const POINTS: u32 = 48;
    let mean = (0..POINTS).map(|k| {
        let (sin, cos) = (std::f64::consts::PI * (f64::from(k) + 0.5) / f64::from(POINTS)).sin_cos();
        let variance = variances[0] * cos * cos + variances[1] * sin * sin;
        if variance <= 0.0 { 1.0 } else { 1.0 - (-0.5 * half * half / variance).exp() }
    });
    mean.sum::<f64>() / f64::from(POINTS)
}

/// The error function, within 1.2e-7 (Numerical Recipes' Chebyshev fit of its complement).
fn error_function(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let coefficients = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let sum = coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let complement = t * (sum - x * x).exp();
    if x >= 0.0 { 1.0 - complement } else { complement - 1.0 }
}

/// Where a rising probability reaches 95 %, by bisection; `None` when it never does.
fn quantile(probability: &dyn Fn(f64) -> f64) -> Option<f64> {
    let mut high = 1e-9;
    while probability(high) < COVERAGE {
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if probability(middle) < COVERAGE { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distributions_are_the_tabulated_ones() {
        // erf(1) and erf(0.5) from tables; 1.959964 and, for two dimensions, sqrt(-2 ln 0.05) hold 95 %.
        assert!((error_function(1.0) - 0.842_700_792_9).abs() < 2e-7);
        assert!((error_function(-0.5) + 0.520_499_877_8).abs() < 2e-7);
        let half = quantile(&|half| within(half, 4.0)).unwrap();
        assert!((half - 2.0 * 1.959_964).abs() < 1e-5, "{half}");
        let half = quantile(&|half| within_disc(half, [4.0, 4.0])).unwrap();
        assert!((half - 2.0 * (-2.0 * 0.05f64.ln()).sqrt()).abs() < 1e-9, "{half}");
        // One direction alone is the line again.
        let half = quantile(&|half| within_disc(half, [4.0, 0.0])).unwrap();
        assert!((half - 2.0 * 1.959_964).abs() < 0.03, "{half}");
        assert_eq!(quantile(&|_| 0.5), None);
    }

    /// Points of a plane, 30 mm round; `bump` is what it has besides noise of 1 mm.
    fn plane(bump: &dyn Fn(f64, f64) -> f64) -> Vec<Witness> {
        let mut state = 5u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24)
        };
        (0..10_000)
            .map(|_| {
                let (r, angle) = (0.03 * uniform().sqrt(), std::f64::consts::TAU * uniform());
                let [u, v] = [r * angle.cos(), r * angle.sin()];
                let gauss: f64 = (0..12).map(|_| uniform() - 0.5).sum();
                let slope = Ways::from([-1.0, -u, -v, 0.0, 0.0]);
                Witness { uv_m: [u, v], slope, influence_m: 0.001 * gauss + bump(u, v), follows: 1.0 }
            })
            .collect()
    }

    #[test]
    fn noise_alone_gives_its_own_interval_and_bumps_a_wider_one() {
        let flat = half_widths(&plane(&|_, _| 0.0), [1, 2], 3).unwrap().direction_rad;
        // sigma / (15 mm sqrt(n)) each way; nothing rules out bumps that are too small to see.
        let least = 0.001 / (0.015 * 100.0) * (-2.0 * 0.05f64.ln()).sqrt();
        assert!((0.95 * least..2.5 * least).contains(&flat), "{flat} {least}");
        // Bumps of 0.1 mm and 30 mm from crest to crest: some ten of them stand for the whole patch.
        let wavy = |u: f64, v: f64| 0.000_14 * ((210.0 * u).sin() + (210.0 * v + 1.0).sin()) / 2f64.sqrt();
        let wide = half_widths(&plane(&wavy), [1, 2], 3).unwrap().direction_rad;
        assert!(wide > 1.5 * flat, "{wide} {flat}");
    }

    #[test]
    fn points_that_carry_no_shape_give_no_interval() {
        assert_eq!(half_widths(&[], [1, 2], 3), None);
        let mut few = plane(&|_, _| 0.0);
        few.iter_mut().for_each(|witness| witness.uv_m = [0.0; 2]);
        assert_eq!(half_widths(&few, [1, 2], 3), None, "one cell");
        few.iter_mut().for_each(|witness| witness.influence_m = f64::NAN);
        assert_eq!(half_widths(&few, [1, 2], 3), None);
        let mut far = plane(&|_, _| 0.0);
        far[0].uv_m = [1e300, f64::INFINITY];
        assert!(half_widths(&far, [1, 2], 3).is_none_or(|half| half.direction_rad > 0.0));
    }
}
