//! Three-vectors, rotations and rigid transforms as plain arrays: row-major matrices, metres and radians.
//!
//! The planner runs a quarter of a million ticks per file, and golden vectors pin it to the last digits; arrays keep both the
//! order of the operations and their cost in sight.

/// A vector or point, components x, y, z.
pub type Vec3 = [f64; 3];
/// A 3 × 3 matrix, rows first.
pub type Mat3 = [[f64; 3]; 3];

/// The identity rotation.
pub const IDENTITY: Mat3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// `a + b`.
#[must_use]
pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`.
#[must_use]
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a * s`.
#[must_use]
pub fn scale(a: Vec3, s: f64) -> Vec3 {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// `a + b * s`.
#[must_use]
pub fn add_scaled(a: Vec3, b: Vec3, s: f64) -> Vec3 {
    [a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s]
}

/// The scalar product.
#[must_use]
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product, right-handed.
#[must_use]
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The Euclidean length.
#[must_use]
pub fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// `a` at length one; `None` below a length of 1e-12 or when anything is not finite.
#[must_use]
pub fn unit(a: Vec3) -> Option<Vec3> {
    let length = norm(a);
    (length.is_finite() && length > 1e-12).then(|| scale(a, 1.0 / length))
}

/// Whether every component is finite.
#[must_use]
pub fn finite(a: Vec3) -> bool {
    a.iter().all(|value| value.is_finite())
}

/// `m * v`.
#[must_use]
pub fn apply(m: &Mat3, v: Vec3) -> Vec3 {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// `a * b`.
#[must_use]
pub fn mul(a: &Mat3, b: &Mat3) -> Mat3 {
    let mut out = [[0.0; 3]; 3];
    for (row, a) in out.iter_mut().zip(a) {
        for (column, value) in row.iter_mut().enumerate() {
            *value = a[0] * b[0][column] + a[1] * b[1][column] + a[2] * b[2][column];
        }
    }
    out
}

/// The transpose; of a rotation, its inverse.
#[must_use]
pub fn transpose(m: &Mat3) -> Mat3 {
    [column(m, 0), column(m, 1), column(m, 2)]
}

/// Column `index` of `m`.
#[must_use]
pub fn column(m: &Mat3, index: usize) -> Vec3 {
    [m[0][index], m[1][index], m[2][index]]
}

/// The matrix with these columns.
#[must_use]
pub fn from_columns(x: Vec3, y: Vec3, z: Vec3) -> Mat3 {
    transpose(&[x, y, z])
}

/// The determinant.
#[must_use]
pub fn determinant(m: &Mat3) -> f64 {
    dot(m[0], cross(m[1], m[2]))
}

/// The rotation by `angle_rad` about the unit vector `axis` (Rodrigues).
#[must_use]
pub fn rotation_about(axis: Vec3, angle_rad: f64) -> Mat3 {
    let (s, c) = angle_rad.sin_cos();
    let t = 1.0 - c;
    let [x, y, z] = axis;
    [
        [c + t * x * x, t * x * y - s * z, t * x * z + s * y],
        [t * x * y + s * z, c + t * y * y, t * y * z - s * x],
        [t * x * z - s * y, t * y * z + s * x, c + t * z * z],
    ]
}

/// The rotation of URDF's fixed-axis roll, pitch, yaw: `Rz(yaw) * Ry(pitch) * Rx(roll)`.
#[must_use]
pub fn rotation_from_rpy(rpy_rad: Vec3) -> Mat3 {
    let turn = |axis: Vec3, angle: f64| rotation_about(axis, angle);
    let yaw_pitch = mul(&turn([0.0, 0.0, 1.0], rpy_rad[2]), &turn([0.0, 1.0, 0.0], rpy_rad[1]));
    mul(&yaw_pitch, &turn([1.0, 0.0, 0.0], rpy_rad[0]))
}

/// The rotation vector of `r` (axis times angle in radians, angle in 0 to π), right also for half a turn.
#[must_use]
pub fn rotation_vector(r: &Mat3) -> Vec3 {
    let vee = scale([r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]], 0.5);
    let sine = norm(vee);
    let cosine = (r[0][0] + r[1][1] + r[2][2] - 1.0) / 2.0;
    let angle = sine.atan2(cosine);
    if cosine > -0.999_999 {
        let factor = if sine > 1e-9 { angle / sine } else { 1.0 };
        return scale(vee, factor);
    }
    // Near half a turn the antisymmetric part vanishes; the axis stands in (R + Rᵀ)/2 - cos I = (1 - cos) a aᵀ.
    let largest = (0..3).fold(0, |best, i| if r[i][i] > r[best][best] { i } else { best });
    let mut axis = scale(add(column(r, largest), r[largest]), 0.5);
    axis[largest] -= cosine;
    let axis = unit(axis).unwrap_or([1.0, 0.0, 0.0]);
    let signed = if dot(axis, vee) < 0.0 { -angle } else { angle };
    scale(axis, signed)
}

/// The true angle between two rotations, radians, 0 to π.
#[must_use]
pub fn angle_between(a: &Mat3, b: &Mat3) -> f64 {
    let r = mul(a, &transpose(b));
    let vee = scale([r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]], 0.5);
    norm(vee).atan2((r[0][0] + r[1][1] + r[2][2] - 1.0) / 2.0)
}

/// The angle between two directions, radians, 0 to π.
#[must_use]
pub fn angle_of_vectors(a: Vec3, b: Vec3) -> f64 {
    norm(cross(a, b)).atan2(dot(a, b))
}

/// The smallest rotation that takes the unit vector `from` to the unit vector `to`; `None` when they are opposite, where the
/// axis is not defined.
#[must_use]
pub fn minimal_rotation(from: Vec3, to: Vec3) -> Option<Mat3> {
    let v = cross(from, to);
    let c = dot(from, to);
    if c <= -1.0 + 1e-9 || !c.is_finite() {
        return None;
    }
    let k = 1.0 / (1.0 + c);
    let [x, y, z] = v;
    Some([
        [1.0 - k * (y * y + z * z), -z + k * x * y, y + k * x * z],
        [z + k * x * y, 1.0 - k * (x * x + z * z), -x + k * y * z],
        [-y + k * x * z, x + k * y * z, 1.0 - k * (x * x + y * y)],
    ])
}

/// How far `m` is from a rotation: the largest entry of `|mᵀm - I|`, and `|det m - 1|`.
#[must_use]
pub fn rotation_faults(m: &Mat3) -> (f64, f64) {
    let gram = mul(&transpose(m), m);
    let mut worst = 0.0f64;
    for (row, line) in gram.iter().enumerate() {
        for (col, value) in line.iter().enumerate() {
            worst = worst.max((value - if row == col { 1.0 } else { 0.0 }).abs());
        }
    }
    (worst, (determinant(m) - 1.0).abs())
}

/// A rigid transform: `point_in_parent = rotation * point_in_child + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rigid {
    /// Child axes as columns, in the parent.
    pub rotation: Mat3,
    /// The child's origin in the parent, metres.
    pub translation_m: Vec3,
}

impl Rigid {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { rotation: IDENTITY, translation_m: [0.0; 3] };

    /// From URDF's `xyz` (metres) and fixed-axis `rpy` (radians).
    #[must_use]
    pub fn from_xyz_rpy(xyz_m: Vec3, rpy_rad: Vec3) -> Self {
        let rotation = if rpy_rad == [0.0; 3] { IDENTITY } else { rotation_from_rpy(rpy_rad) };
        Self { rotation, translation_m: xyz_m }
    }

    /// `self` followed by `inner`: the transform of a child's child.
    #[must_use]
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            rotation: mul(&self.rotation, &inner.rotation),
            translation_m: add(apply(&self.rotation, inner.translation_m), self.translation_m),
        }
    }

    /// A point of the child, in the parent.
    #[must_use]
    pub fn point(&self, point: Vec3) -> Vec3 {
        add(apply(&self.rotation, point), self.translation_m)
    }

    /// A direction of the child, in the parent.
    #[must_use]
    pub fn direction(&self, direction: Vec3) -> Vec3 {
        apply(&self.rotation, direction)
    }

    /// The transform back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = transpose(&self.rotation);
        Self { rotation, translation_m: scale(apply(&rotation, self.translation_m), -1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_vector_survives_the_round_trip_even_near_half_a_turn() {
        for angle in [1e-12, 1e-4, 1.0, 2.0, 3.0, 3.1, std::f64::consts::PI] {
            let axis = unit([0.3, -0.5, 0.8]).unwrap();
            let back = rotation_vector(&rotation_about(axis, angle));
            let gap = norm(sub(back, scale(axis, angle)));
            assert!(gap < 1e-7 || norm(add(back, scale(axis, angle))) < 1e-7, "angle {angle}: {back:?}");
        }
    }

    #[test]
    fn d3_half_a_turn_is_an_angle_of_pi_not_zero() {
        let flipped = rotation_about([0.0, 1.0, 0.0], std::f64::consts::PI);
        assert!((angle_between(&flipped, &IDENTITY) - std::f64::consts::PI).abs() < 1e-12);
    }

    #[test]
    fn d27_the_minimal_rotation_refuses_opposite_normals() {
        assert_eq!(minimal_rotation([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]), None);
        let to = unit([0.1, -0.2, 0.9]).unwrap();
        let turn = minimal_rotation([0.0, 0.0, 1.0], to).unwrap();
        assert!(norm(sub(apply(&turn, [0.0, 0.0, 1.0]), to)) < 1e-15);
    }

    #[test]
    fn a_camera_chain_composes_to_the_published_extrinsic() {
        use std::f64::consts::FRAC_PI_2;
        let chain = Rigid::from_xyz_rpy([0.012, 0.0, 0.0], [0.0; 3])
            .then(&Rigid::from_xyz_rpy(
                [0.029_272_078_01, 0.0, 0.038_249_511_97],
                [0.0, 0.349_065_850_398_865_9, 0.0],
            ))
            .then(&Rigid::from_xyz_rpy([0.010_85, 0.009, 0.021], [0.0; 3]))
            .then(&Rigid::from_xyz_rpy([0.0; 3], [-FRAC_PI_2, 0.0, -FRAC_PI_2]));
        // Composite of the same chain computed with numpy, 2026-08.
        let expected = [0.058_650_165_955_366_15, 0.009, 0.054_272_138_451_420_565];
        assert!(norm(sub(chain.translation_m, expected)) < 1e-15);
        let z = [0.939_692_620_785_908_4, 0.0, -0.342_020_143_325_668_7];
        assert!(norm(sub(column(&chain.rotation, 2), z)) < 1e-15);
    }
}
