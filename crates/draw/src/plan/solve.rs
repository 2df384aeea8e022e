//! Six equations in six unknowns.

/// Solves `a x = b` by Gaussian elimination with partial pivoting; `None` when a pivot is below 1e-12 or not finite.
#[allow(clippy::needless_range_loop)] // the indices are the algorithm
pub(super) fn solve6(mut a: [[f64; 6]; 6], mut b: [f64; 6]) -> Option<[f64; 6]> {
    for column in 0..6 {
        let mut pivot = column;
        for row in column + 1..6 {
            if a[row][column].abs() > a[pivot][column].abs() {
                pivot = row;
            }
        }
        // Also false for a pivot that is not a number.
        if a[pivot][column].abs() < 1e-12 || !a[pivot][column].is_finite() {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in column + 1..6 {
            let factor = a[row][column] / a[column][column];
            for k in column + 1..6 {
                a[row][k] -= factor * a[column][k];
            }
            b[row] -= factor * b[column];
        }
    }
    for row in (0..6).rev() {
        let mut value = b[row];
        for k in row + 1..6 {
            value -= a[row][k] * b[k];
        }
        b[row] = value / a[row][row];
    }
    Some(b)
}

/// Cholesky's factor of a symmetric matrix.
pub(super) struct Factor {
    lower: [[f64; 6]; 6],
}

#[allow(clippy::needless_range_loop)] // the indices are the algorithm
impl Factor {
    /// The factor; `None` when the matrix is not positive to rounding.
    pub(super) fn of(a: &[[f64; 6]; 6]) -> Option<Self> {
        let mut lower = [[0.0; 6]; 6];
        for row in 0..6 {
            for column in 0..=row {
                let mut value = a[row][column];
                for k in 0..column {
                    value -= lower[row][k] * lower[column][k];
                }
                if row == column {
                    // Also false for what is not a number.
                    if !(value > 1e-14 && value.is_finite()) {
                        return None;
                    }
                    lower[row][row] = value.sqrt();
                } else {
                    lower[row][column] = value / lower[column][column];
                }
            }
        }
        Some(Self { lower })
    }

    /// The solution for the right side `b`.
    pub(super) fn solve(&self, mut b: [f64; 6]) -> [f64; 6] {
        for row in 0..6 {
            for k in 0..row {
                b[row] -= self.lower[row][k] * b[k];
            }
            b[row] /= self.lower[row][row];
        }
        for row in (0..6).rev() {
            for k in row + 1..6 {
                b[row] -= self.lower[k][row] * b[k];
            }
            b[row] /= self.lower[row][row];
        }
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_system_is_solved_and_a_singular_one_refused() {
        let mut a = [[0.0; 6]; 6];
        let x = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
        let mut b = [0.0; 6];
        for (row, line) in a.iter_mut().enumerate() {
            for (column, value) in line.iter_mut().enumerate() {
                // Hilbert's matrix with a zero on the first pivot, so that rows must change places.
                *value = if row == 0 && column == 0 { 0.0 } else { 1.0 / (row + column + 1) as f64 };
                b[row] += *value * x[column];
            }
        }
        let found = solve6(a, b).unwrap();
        for (found, wanted) in found.iter().zip(x) {
            assert!((found - wanted).abs() < 1e-8, "{found} against {wanted}");
        }
        a[5] = a[4];
        assert_eq!(solve6(a, b), None);
    }
}
