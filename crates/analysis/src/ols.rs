//! Ordinary least squares on scaled columns, with the condition number that decides whether the answer means anything.

use nalgebra::{DMatrix, DVector};

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ols {
    /// Coefficients, one per column.
    pub(crate) beta: Vec<f64>,
    /// Standard error of each coefficient for independent residuals.
    pub(crate) se: Vec<f64>,
    /// Adjusted R² with a centred total sum of squares, as WPILib SysId shows it.
    pub(crate) adjusted_r2: f64,
    /// Condition number of the columns after each was scaled to unit length: free of units.
    pub(crate) condition: f64,
    /// y − Xβ.
    pub(crate) residuals: Vec<f64>,
}

/// Solves y ≈ Xβ, X given row by row. `None` when there are no more rows than columns, when a column is all zero, or
/// when anything is not finite.
pub(crate) fn solve(rows: &[Vec<f64>], y: &[f64]) -> Option<Ols> {
    let (n, p) = (rows.len(), rows.first()?.len());
    if n != y.len() || n < p || p == 0 || rows.iter().any(|r| r.len() != p) {
        return None;
    }
    if rows.iter().flatten().chain(y).any(|x| !x.is_finite()) {
        return None;
    }
    let mut x = DMatrix::from_fn(n, p, |i, j| rows[i][j]);
    let mut lengths = Vec::with_capacity(p);
    for j in 0..p {
        let length = x.column(j).norm();
        if length <= 0.0 || !length.is_finite() {
            return None;
        }
        x.column_mut(j).scale_mut(1.0 / length);
        lengths.push(length);
    }
    let y_vec = DVector::from_column_slice(y);
    let svd = x.clone().svd(true, true);
    let largest = svd.singular_values.max();
    let smallest = svd.singular_values.min();
    if smallest <= largest * 1e-13 {
        return None;
    }
    let scaled = svd.solve(&y_vec, 0.0).ok()?;
    let residual = &y_vec - &x * &scaled;
    let sse = residual.norm_squared();
    let centre = y_vec.mean();
    let ssto: f64 = y.iter().map(|v| (v - centre).powi(2)).sum();
    let r2 = 1.0 - sse / ssto;
    let free = n as f64 - p as f64;
    // SysId counts the model's columns as predictors beside an intercept that the model does not have.
    let adjusted_r2 = 1.0 - (1.0 - r2) * (n as f64 - 1.0) / (n as f64 - p as f64 - 1.0);
    let s2 = if free > 0.0 { sse / free } else { f64::NAN };
    let v_t = svd.v_t?;
    let se = (0..p)
        .map(|j| {
            let var: f64 = (0..p).map(|k| (v_t[(k, j)] / svd.singular_values[k]).powi(2)).sum::<f64>() * s2;
            var.sqrt() / lengths[j]
        })
        .collect();
    Some(Ols {
        beta: scaled.iter().zip(&lengths).map(|(b, l)| b / l).collect(),
        se,
        adjusted_r2,
        condition: largest / smallest,
        residuals: residual.iter().copied().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> Ols {
        let rows: Vec<Vec<f64>> = points.iter().map(|(x, _)| vec![1.0, *x]).collect();
        let y: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
        solve(&rows, &y).unwrap()
    }

    /// The two cases of WPILib SysId's own test of its least squares (allwpilib caf0fb2).
    #[test]
    fn two_points_and_five_points_of_sysids_own_test() {
        let two = line(&[(1.0, 3.0), (2.0, 5.0)]);
        assert!((two.beta[0] - 1.0).abs() < 1e-12 && (two.beta[1] - 2.0).abs() < 1e-12);
        let five = line(&[(2.0, 4.0), (3.0, 5.0), (5.0, 7.0), (7.0, 10.0), (9.0, 15.0)]);
        assert!((five.beta[0] - 0.304_878_048_780_487_74).abs() < 1e-12);
        assert!((five.beta[1] - 1.518_292_682_926_829_3).abs() < 1e-12);
        assert!((five.adjusted_r2 - 0.919_060_294_663_860_2).abs() < 1e-12, "{}", five.adjusted_r2);
    }

    #[test]
    fn refuses_what_cannot_be_solved() {
        assert!(solve(&[vec![1.0], vec![2.0]], &[1.0]).is_none(), "row counts differ");
        assert!(solve(&[vec![1.0, 0.0], vec![2.0, 0.0]], &[1.0, 2.0]).is_none(), "a column of zeros");
        assert!(solve(&[vec![1.0, 2.0], vec![2.0, 4.0]], &[1.0, 2.0]).is_none(), "columns are parallel");
        assert!(solve(&[vec![f64::NAN], vec![1.0]], &[1.0, 2.0]).is_none(), "NaN");
        assert!(solve(&[], &[]).is_none());
    }
}
