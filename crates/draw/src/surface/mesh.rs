//! A surface as triangles.

use std::fmt::Write as _;

use super::model::Surface;
use crate::error::DrawError;
use crate::json::twelve_digits;

/// Most vertices of a mesh.
const MAX_VERTICES: f64 = 1e6;

/// The surface as a Wavefront OBJ: vertices in the root frame, metres, about `step_m` apart, with their normals; two triangles per
/// cell, counter-clockwise seen from outside. A cell with a hole at a corner has no triangles: what was not measured is not shown.
///
/// # Errors
/// A step that is not above zero, or one that makes more than a million vertices.
pub fn obj(surface: &Surface, step_m: f64) -> Result<String, DrawError> {
    let [w, h] = surface.extent_m();
    let refuse = |reason: String| DrawError::Geometry { what: "mesh", reason };
    if !(step_m.is_finite() && step_m > 0.0) {
        return Err(refuse(format!("a step of {step_m} m")));
    }
    let (across, along) = ((w / step_m).round().max(1.0), (h / step_m).round().max(1.0));
    if (across + 1.0) * (along + 1.0) > MAX_VERTICES {
        return Err(refuse(format!("{} x {} vertices, at most {MAX_VERTICES}", across + 1.0, along + 1.0)));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below a million
    let (cols, rows) = (across as usize + 1, along as usize + 1);
    let mut out = format!("# {cols} x {rows} vertices, metres, robot root frame\n");
    let mut known = vec![false; rows * cols];
    for row in 0..rows {
        for col in 0..cols {
            #[allow(clippy::cast_precision_loss)] // below a million
            let uv = [w * (col as f64 / across - 0.5), h * (row as f64 / along - 0.5)];
            let frame = surface.frame(uv);
            known[row * cols + col] = !surface.is_hole(uv);
            for (name, [x, y, z]) in [("v", frame.point_m), ("vn", frame.normal)] {
                let _infallible =
                    writeln!(out, "{name} {} {} {}", twelve_digits(x), twelve_digits(y), twelve_digits(z));
            }
        }
    }
    for row in 1..rows {
        for col in 1..cols {
            let corners = [(row - 1, col - 1), (row - 1, col), (row, col), (row, col - 1)];
            let corners = corners.map(|(row, col)| row * cols + col);
            if corners.iter().all(|&corner| known[corner]) {
                let [a, b, c, d] = corners.map(|corner| corner + 1);
                let _infallible = writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}\nf {a}//{a} {c}//{c} {d}//{d}");
            }
        }
    }
    Ok(out)
}
