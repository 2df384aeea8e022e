//! Grids of numbers and smooth values between them.

/// A rectangle of numbers, rows first.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid<T> {
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

impl<T: Copy> Grid<T> {
    /// A grid from values, rows first; `None` when their number is not `rows * cols`.
    #[must_use]
    pub fn new(rows: usize, cols: usize, values: Vec<T>) -> Option<Self> {
        (rows.checked_mul(cols) == Some(values.len())).then_some(Self { rows, cols, values })
    }

    /// A grid of equal values.
    #[must_use]
    pub fn filled(rows: usize, cols: usize, value: T) -> Self {
        Self { rows, cols, values: vec![value; rows * cols] }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All values, rows first.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The value in `row` and `col`; indices past the border read the border.
    #[must_use]
    pub fn at(&self, row: usize, col: usize) -> T {
        self.values[row.min(self.rows - 1) * self.cols + col.min(self.cols - 1)]
    }

    /// Puts `value` in `row` and `col`; nothing happens outside.
    pub fn set(&mut self, row: usize, col: usize, value: T) {
        if row < self.rows && col < self.cols {
            self.values[row * self.cols + col] = value;
        }
    }
}

/// Catmull-Rom's value and derivative between the middle two of four equidistant values, at `t` from 0 to 1.
///
/// ```
/// use fieldlab_draw::surface::catmull_rom;
/// assert_eq!(catmull_rom([0.0, 1.0, 3.0, 2.0], 0.5), (2.125, 2.5));
/// ```
#[must_use]
pub fn catmull_rom(p: [f64; 4], t: f64) -> (f64, f64) {
    let a = 2.0 * p[1];
    let b = p[2] - p[0];
    let c = 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3];
    let d = -p[0] + 3.0 * p[1] - 3.0 * p[2] + p[3];
    ((a + b * t + c * t * t + d * t * t * t) / 2.0, (b + 2.0 * c * t + 3.0 * d * t * t) / 2.0)
}

impl Grid<f64> {
    /// Value and derivatives by column and row at fractional indices, clamped to the grid.
    pub(super) fn sample(&self, col: f64, row: f64) -> (f64, f64, f64) {
        let (i, t) = split(col, self.cols);
        let (j, s) = split(row, self.rows);
        let mut values = [0.0; 4];
        let mut slopes = [0.0; 4];
        for k in 0..4 {
            let row = (j + k).saturating_sub(1);
            let four = [0, 1, 2, 3].map(|m: usize| self.at(row, (i + m).saturating_sub(1)));
            (values[k], slopes[k]) = catmull_rom(four, t);
        }
        let (value, by_row) = catmull_rom(values, s);
        (value, catmull_rom(slopes, s).0, by_row)
    }
}

/// Index and fraction; what is not a number reads the first node.
fn split(at: f64, count: usize) -> (usize, f64) {
    #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
    let at = at.max(0.0).min((count - 1) as f64);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped above
    let index = at as usize;
    (index, at.fract())
}
