//! From points to heights: medians per node, holes filled but counted as holes, smoothing by how much is known.

use fieldlab_base::{ConfigError, check};

use super::chart::Chart;
use super::grid::Grid;
use super::model::Surface;
use crate::error::DrawError;
use crate::math::{Vec3, dot, sub};

/// How a cloud becomes a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FuseConfig {
    /// Extent along `u`, metres.
    pub width_m: f64,
    /// Extent along `v`, metres.
    pub height_m: f64,
    /// Distance between nodes that is aimed at, metres.
    pub cell_m: f64,
    /// Standard deviation of the smoothing, metres; 0 for none.
    pub smooth_m: f64,
    /// Fewest samples that make a node known.
    pub min_count: usize,
    /// Largest spread between cameras that makes a node known, metres.
    pub max_disagreement_m: f64,
}

impl Default for FuseConfig {
    fn default() -> Self {
        Self {
            width_m: 0.06,
            height_m: 0.06,
            cell_m: 0.001,
            smooth_m: 0.004,
            min_count: 3,
            max_disagreement_m: 0.002,
        }
    }
}

/// Most nodes of a grid, so that its file stays below what readers take.
const MAX_NODES: f64 = 2_000_000.0;

impl FuseConfig {
    fn size(&self) -> Result<(usize, usize), ConfigError> {
        let width = check::positive("width_m", self.width_m)?;
        let height = check::positive("height_m", self.height_m)?;
        let cell = check::positive("cell_m", self.cell_m)?;
        check::within("smooth_m", self.smooth_m, 0.0, 0.1)?;
        check::positive("max_disagreement_m", self.max_disagreement_m)?;
        let nodes = |extent: f64| ((extent / cell).round_ties_even() + 1.0).max(2.0);
        let (cols, rows) = (nodes(width), nodes(height));
        check::within("cell_m: nodes", cols * rows, 4.0, MAX_NODES)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 2 to two million
        Ok((rows as usize, cols as usize))
    }
}

/// Fuses points, each with the number of its camera, over `chart`.
///
/// A point's height is measured at its own foot and counted at the nearest node. A node's height is the weighted mean of the
/// cameras' medians; a node with fewer samples than asked, or whose cameras disagree, is a hole: its height is filled in from its
/// neighbours and its count is 0.
///
/// # Errors
/// A configuration out of range; no node with enough samples; heights that fold the surface over.
pub fn fuse(chart: &Chart, points: &[(Vec3, u8)], config: &FuseConfig) -> Result<Surface, DrawError> {
    let (rows, cols) = config.size()?;
    let mut cells: Vec<Vec<(u8, f64)>> = vec![Vec::new(); rows * cols];
    #[allow(clippy::cast_precision_loss)] // at most two million nodes
    let (last_col, last_row) = ((cols - 1) as f64, (rows - 1) as f64);
    for &(point, source) in points {
        let [u, v] = chart.inverse(point);
        let col = ((u / config.width_m + 0.5) * last_col).round_ties_even();
        let row = ((v / config.height_m + 0.5) * last_row).round_ties_even();
        if !(0.0..=last_col).contains(&col) || !(0.0..=last_row).contains(&row) {
            continue;
        }
        let height = dot(sub(point, chart.point(u, v)), chart.normal(u, v));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // inside the grid by the check above
        cells[row as usize * cols + col as usize].push((source, height));
    }
    let mut heights = Grid::filled(rows, cols, f64::NAN);
    let mut counts = Grid::filled(rows, cols, 0);
    let mut residuals = Grid::filled(rows, cols, 0.0);
    let mut sources = Grid::filled(rows, cols, 0);
    let mut disagreement = Grid::filled(rows, cols, 0.0);
    let mut known = false;
    for (index, samples) in cells.iter_mut().enumerate() {
        let Some(node) = Node::of(samples, config) else { continue };
        known = true;
        heights.values_mut()[index] = node.height;
        counts.values_mut()[index] = i32::try_from(samples.len()).unwrap_or(i32::MAX);
        residuals.values_mut()[index] = node.residual;
        sources.values_mut()[index] = node.sources;
        disagreement.values_mut()[index] = node.spread;
    }
    if !known {
        let reason = format!("no node has {} samples", config.min_count);
        return Err(DrawError::Geometry { what: "surface", reason });
    }
    fill_holes(&mut heights);
    let despeckled = median_3x3(&heights, &counts);
    let spacing = [config.width_m / last_col, config.height_m / last_row];
    let smoothed = smooth(&despeckled, &counts, spacing, config.smooth_m);
    let mut surface = Surface::new(*chart, config.width_m, config.height_m, smoothed, counts, residuals)?;
    surface.source_counts = sources;
    surface.disagreement = disagreement;
    surface.validate()?;
    Ok(surface)
}

struct Node {
    height: f64,
    residual: f64,
    sources: i32,
    spread: f64,
}

impl Node {
    fn of(samples: &mut [(u8, f64)], config: &FuseConfig) -> Option<Self> {
        if samples.len() < config.min_count.max(1) {
            return None;
        }
        samples.sort_by_key(|sample| sample.0);
        let (mut weights, mut sum, mut sources) = (0.0, 0.0, 0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for camera in samples.chunk_by(|a, b| a.0 == b.0) {
            let mut values: Vec<f64> = camera.iter().map(|sample| sample.1).collect();
            let (middle, mad) = median_and_mad(&mut values);
            let weight = mad.max(0.000_5).powi(-2);
            weights += weight;
            sum += weight * middle;
            sources += 1;
            low = low.min(middle);
            high = high.max(middle);
        }
        let mut all: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
        let (_, residual) = median_and_mad(&mut all);
        let spread = high - low;
        (spread <= config.max_disagreement_m).then_some(Self {
            height: sum / weights,
            residual,
            sources,
            spread,
        })
    }
}

/// Median and median absolute deviation; `values` are reordered.
pub(super) fn median_and_mad(values: &mut [f64]) -> (f64, f64) {
    let middle = median(values);
    values.iter_mut().for_each(|value| *value = (*value - middle).abs());
    (middle, median(values))
}

/// The median, the mean of the middle two for an even number; NaN for none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    let (lower, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *middle;
    if odd {
        return upper;
    }
    let below = lower.iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
    0.5 * (upper + below)
}

/// Holes take the mean of their known neighbours, ring by ring, then relax toward a membrane.
fn fill_holes(heights: &mut Grid<f64>) {
    let (rows, cols) = (heights.rows(), heights.cols());
    let holes: Vec<(usize, usize)> = (0..rows)
        .flat_map(|row| (0..cols).map(move |col| (row, col)))
        .filter(|&(row, col)| heights.at(row, col).is_nan())
        .collect();
    let mut open = holes.clone();
    while !open.is_empty() {
        let before = heights.clone();
        open.retain(|&(row, col)| {
            let around = neighbours(row, col, rows, cols, true);
            let known: Vec<f64> =
                around.map(|(r, c)| before.at(r, c)).filter(|height| !height.is_nan()).collect();
            if known.is_empty() {
                return true;
            }
            #[allow(clippy::cast_precision_loss)] // at most 8
            heights.set(row, col, known.iter().sum::<f64>() / known.len() as f64);
            false
        });
    }
    for _ in 0..200 {
        let before = heights.clone();
        for &(row, col) in &holes {
            // A neighbour past the border is the cell itself: a hole on the border must not decay toward zero.
            let around: Vec<f64> =
                neighbours(row, col, rows, cols, false).map(|(r, c)| before.at(r, c)).collect();
            #[allow(clippy::cast_precision_loss)] // at most 4
            let missing = (4 - around.len()) as f64 * before.at(row, col);
            heights.set(row, col, (around.iter().sum::<f64>() + missing) / 4.0);
        }
    }
}

fn neighbours(
    row: usize,
    col: usize,
    rows: usize,
    cols: usize,
    diagonal: bool,
) -> impl Iterator<Item = (usize, usize)> {
    let (from_row, to_row) = (row.saturating_sub(1), (row + 1).min(rows - 1));
    let (from_col, to_col) = (col.saturating_sub(1), (col + 1).min(cols - 1));
    (from_row..=to_row)
        .flat_map(move |r| (from_col..=to_col).map(move |c| (r, c)))
        .filter(move |&(r, c)| (r, c) != (row, col) && (diagonal || r == row || c == col))
}

fn median_3x3(heights: &Grid<f64>, counts: &Grid<i32>) -> Grid<f64> {
    let (rows, cols) = (heights.rows(), heights.cols());
    let mut out = heights.clone();
    for row in 0..rows {
        for col in 0..cols {
            if counts.at(row, col) > 0 {
                let mut values: Vec<f64> = neighbours(row, col, rows, cols, true)
                    .chain([(row, col)])
                    .filter(|&(r, c)| counts.at(r, c) > 0)
                    .map(|(r, c)| heights.at(r, c))
                    .collect();
                out.set(row, col, median(&mut values));
            }
        }
    }
    out
}

/// Normalised Gaussian convolution, weighted by the counts, the border repeated; where nothing is known the heights are smoothed
/// without weights.
fn smooth(heights: &Grid<f64>, counts: &Grid<i32>, spacing_m: [f64; 2], smooth_m: f64) -> Grid<f64> {
    if smooth_m <= 0.0 {
        return heights.clone();
    }
    let (rows, cols) = (heights.rows(), heights.cols());
    let weights: Vec<f64> = counts.values().iter().map(|&count| f64::from(count)).collect();
    let products: Vec<f64> = heights.values().iter().zip(&weights).map(|(h, w)| h * w).collect();
    let blur = |values: Vec<f64>| {
        let by_col = convolve(&values, rows, cols, smooth_m / spacing_m[0], true);
        convolve(&by_col, rows, cols, smooth_m / spacing_m[1], false)
    };
    let (products, weights) = (blur(products), blur(weights));
    let plain = blur(heights.values().to_vec());
    let values =
        products.iter().zip(&weights).zip(&plain).map(|((p, w), h)| if *w > 1e-9 { p / w } else { *h });
    Grid::new(rows, cols, values.collect()).unwrap_or_else(|| heights.clone())
}

fn convolve(values: &[f64], rows: usize, cols: usize, sigma: f64, along_cols: bool) -> Vec<f64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the grid
    let radius = ((3.0 * sigma).ceil() as usize).min(if along_cols { cols } else { rows });
    #[allow(clippy::cast_precision_loss)] // small
    let kernel: Vec<f64> = (0..=radius).map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp()).collect();
    let total = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    let mut out = vec![0.0; values.len()];
    for row in 0..rows {
        for col in 0..cols {
            let at = |shift: usize, up: bool| {
                let moved = |index: usize, count: usize| {
                    if up { (index + shift).min(count - 1) } else { index.saturating_sub(shift) }
                };
                if along_cols {
                    values[row * cols + moved(col, cols)]
                } else {
                    values[moved(row, rows) * cols + col]
                }
            };
            let mut sum = kernel[0] * at(0, true);
            for (shift, weight) in kernel.iter().enumerate().skip(1) {
                sum += weight * (at(shift, true) + at(shift, false));
            }
            out[row * cols + col] = sum / total;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::IDENTITY;
    use crate::surface::Shape;

    fn plateau(hole: impl Fn(usize, usize) -> bool) -> Vec<(Vec3, u8)> {
        let mut points = Vec::new();
        for row in 0..21 {
            for col in 0..21 {
                if !hole(row, col) {
                    let place = [col as f64 * 0.001 - 0.01, row as f64 * 0.001 - 0.01, 0.004];
                    points.extend([(place, 0), (place, 0), (place, 1)]);
                }
            }
        }
        points
    }

    fn config(smooth_m: f64) -> FuseConfig {
        FuseConfig { width_m: 0.02, height_m: 0.02, smooth_m, ..FuseConfig::default() }
    }

    #[test]
    fn d19_a_hole_on_the_border_takes_its_neighbours_height() {
        let chart = Chart::new(Shape::Plane, [0.0; 3], IDENTITY).unwrap();
        let points = plateau(|row, col| row < 3 && col < 4);
        for smooth_m in [0.0, 0.004] {
            let surface = fuse(&chart, &points, &config(smooth_m)).unwrap();
            assert_eq!(surface.holes(), 12);
            for height in surface.heights().values() {
                assert!((height - 0.004).abs() < 1e-12, "{height}");
            }
            assert!(surface.is_hole([-0.01, -0.01]));
            assert!(!surface.is_hole([0.0, 0.0]));
        }
    }

    #[test]
    fn cameras_that_disagree_make_a_hole() {
        let chart = Chart::new(Shape::Plane, [0.0; 3], IDENTITY).unwrap();
        let mut points = plateau(|_, _| false);
        for (point, source) in &mut points {
            if *source == 1 && point[0] > 0.005 {
                point[2] += 0.003;
            }
        }
        let surface = fuse(&chart, &points, &config(0.0)).unwrap();
        assert_eq!(surface.holes(), 5 * 21);
    }

    #[test]
    fn nothing_seen_is_refused() {
        let chart = Chart::new(Shape::Plane, [0.0; 3], IDENTITY).unwrap();
        assert!(fuse(&chart, &[([f64::NAN; 3], 0)], &config(0.0)).is_err());
        assert!(fuse(&chart, &[], &FuseConfig { cell_m: 1e-9, ..config(0.0) }).is_err());
    }
}
