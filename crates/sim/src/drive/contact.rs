//! Rigid chassis, four wheels, carpet and walls: one time step of contact with friction.
//!
//! The wheels' contacts, the Coulomb friction of their gears and the walls are velocity constraints with bounded
//! impulses, solved by projected Gauss-Seidel with the last step's impulses as the first guess (Catto 2005). A gripping
//! wheel therefore rolls without creep, and a resting robot rests: what makes kS and the slip current exact. Sideways a
//! rolling tyre yields with its slip angle, as tyres do.

use super::config::DriveConfig;

/// Where the robot is and how everything on it moves.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyState {
    /// Centre of the robot in the field, metres.
    pub x_m: f64,
    /// As `x_m`.
    pub y_m: f64,
    /// Heading in the field, radians counter-clockwise, unwrapped.
    pub heading_rad: f64,
    /// Forward in the robot's frame, m/s.
    pub vx_mps: f64,
    /// Left in the robot's frame, m/s.
    pub vy_mps: f64,
    /// rad/s counter-clockwise.
    pub omega_rad_per_sec: f64,
    /// Wheel speeds after the gearbox, rad/s.
    pub wheel_rad_per_sec: [f64; 4],
    /// Wheel angles after the gearbox, radians, unwrapped.
    pub wheel_rad: [f64; 4],
    /// True azimuth of each module in the robot's frame, radians.
    pub azimuth_rad: [f64; 4],
    /// Which wheels slip on the carpet now.
    pub slipping: [bool; 4],
}

/// The rectangle in which the robot may be: its walls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walls {
    /// Lowest and highest x, metres.
    pub x_m: (f64, f64),
    /// Lowest and highest y, metres.
    pub y_m: (f64, f64),
}

const ROUNDS: usize = 24;
/// Impulses that change by less than this (N·s) are solved. A resting wheel carries about 0.1 N·s a step.
const SETTLED: f64 = 1e-9;
/// A rolling tyre takes all its grip sideways at this slip angle, rad; below it the force grows with the angle. Without it
/// wheels that are a third of a degree out of line would scrub at full force against each other.
const FULL_SLIP_ANGLE_RAD: f64 = 0.12;
/// A tyre that rolls slower than this yields sideways as if it rolled so fast, m/s.
const CREEP_SPEED: f64 = 0.05;
/// Below this speed over the carpet a wheel that has room below its friction limit grips again, m/s.
const GRIP_SPEED: f64 = 0.01;

/// The solver with its memory of the last step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contact {
    friction: [f64; 4],
    along: [f64; 4],
    across: [f64; 4],
    walls: [f64; 8],
}

/// The body's velocities during a step.
struct Velocity {
    vx: f64,
    vy: f64,
    omega: f64,
    wheel: [f64; 4],
}

struct WallRow {
    nx: f64,
    ny: f64,
    arm: f64,
    mass: f64,
    gap_speed: f64,
}

impl WallRow {
    fn push(&self, v: &mut Velocity, impulse: f64, inv_m: f64, inv_i: f64) {
        v.vx += impulse * self.nx * inv_m;
        v.vy += impulse * self.ny * inv_m;
        v.omega += impulse * self.arm * inv_i;
    }
}

impl Contact {
    pub(crate) const fn new() -> Self {
        Self { friction: [0.0; 4], along: [0.0; 4], across: [0.0; 4], walls: [0.0; 8] }
    }

    /// `dt_secs` under `torque_nm` at the wheels.
    pub(crate) fn step(
        &mut self,
        config: &DriveConfig,
        body: &mut BodyState,
        torque_nm: &[f64; 4],
        walls: &Walls,
        dt_secs: f64,
    ) {
        let (inv_m, inv_i, inv_j) =
            (1.0 / config.mass_kg, 1.0 / config.moi_kg_m2, 1.0 / config.wheel_inertia_kg_m2);
        let mut v = Velocity {
            vx: body.vx_mps,
            vy: body.vy_mps,
            omega: body.omega_rad_per_sec,
            wheel: body.wheel_rad_per_sec,
        };
        let mut rows = [Row::default(); 4];
        for i in 0..4 {
            v.wheel[i] += torque_nm[i] * inv_j * dt_secs;
            let grip = if body.slipping[i] { config.sliding_grip } else { config.grip };
            let rolling = body.wheel_rad_per_sec[i] * config.wheel_radius_m[i];
            rows[i] = Row::new(config, body.azimuth_rad[i], i, grip * config.load_n[i] * dt_secs, rolling);
            self.apply(
                &rows[i],
                i,
                &mut v,
                [self.friction[i], self.along[i], self.across[i]],
                [inv_m, inv_i, inv_j],
            );
        }
        let wall_rows = wall_rows(config, body, walls, dt_secs, inv_m, inv_i);
        for (impulse, row) in self.walls.iter_mut().zip(&wall_rows) {
            match row {
                Some(row) => row.push(&mut v, *impulse, inv_m, inv_i),
                None => *impulse = 0.0,
            }
        }
        for _ in 0..ROUNDS {
            let mut moved = 0.0_f64;
            for (impulse, row) in self.walls.iter_mut().zip(&wall_rows) {
                let Some(row) = row else { continue };
                let speed = v.vx * row.nx + v.vy * row.ny + v.omega * row.arm;
                let next = (*impulse - (speed + row.gap_speed) * row.mass).max(0.0);
                row.push(&mut v, next - *impulse, inv_m, inv_i);
                moved = moved.max((next - *impulse).abs());
                *impulse = next;
            }
            for (i, row) in rows.iter().enumerate() {
                moved = moved.max(self.relax(config, row, i, &mut v, dt_secs, [inv_m, inv_i, inv_j]));
            }
            if moved < SETTLED {
                break;
            }
        }
        for (i, row) in rows.iter().enumerate() {
            let (along, across) = row.speeds(&v, i);
            let limit = row.limit;
            let loaded = self.along[i].hypot(self.across[i]);
            let speed = along.hypot(across);
            body.slipping[i] =
                loaded >= 0.9999 * limit && speed > 1e-4 || body.slipping[i] && speed > GRIP_SPEED;
            body.wheel_rad[i] += v.wheel[i] * dt_secs;
        }
        body.wheel_rad_per_sec = v.wheel;
        advance(body, &v, dt_secs);
    }

    fn apply(&self, row: &Row, i: usize, v: &mut Velocity, impulse: [f64; 3], inv: [f64; 3]) {
        let [friction, along, across] = impulse;
        v.wheel[i] += (friction - row.radius * along) * inv[2];
        v.vx += (along * row.cos - across * row.sin) * inv[0];
        v.vy += (along * row.sin + across * row.cos) * inv[0];
        v.omega += (along * row.arm_along + across * row.arm_across) * inv[1];
    }

    /// One Gauss-Seidel pass over wheel `i`; answers the largest change of impulse.
    fn relax(
        &mut self,
        config: &DriveConfig,
        row: &Row,
        i: usize,
        v: &mut Velocity,
        dt: f64,
        inv: [f64; 3],
    ) -> f64 {
        let bound = config.rolling_torque_nm(i) * dt;
        let friction = (self.friction[i] - v.wheel[i] / inv[2]).clamp(-bound, bound);
        let d_friction = friction - self.friction[i];
        self.friction[i] = friction;
        v.wheel[i] += d_friction * inv[2];

        let (slip_along, slip_across) = row.speeds(v, i);
        let along_mass = inv[0] + row.arm_along * row.arm_along * inv[1] + row.radius * row.radius * inv[2];
        let across_mass = inv[0] + row.arm_across * row.arm_across * inv[1];
        let mut along = self.along[i] - slip_along / along_mass;
        let mut across = self.across[i]
            - (slip_across + row.yield_per_ns * self.across[i]) / (across_mass + row.yield_per_ns);
        let size = along.hypot(across);
        if size > row.limit {
            along *= row.limit / size;
            across *= row.limit / size;
        }
        let (d_along, d_across) = (along - self.along[i], across - self.across[i]);
        self.along[i] = along;
        self.across[i] = across;
        self.apply(row, i, v, [0.0, d_along, d_across], inv);
        (d_friction / row.radius).abs().max(d_along.abs()).max(d_across.abs())
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    cos: f64,
    sin: f64,
    arm_along: f64,
    arm_across: f64,
    radius: f64,
    limit: f64,
    /// Sideways speed that the tyre yields for each N·s of sideways impulse in this step.
    yield_per_ns: f64,
}

impl Row {
    fn new(config: &DriveConfig, azimuth: f64, i: usize, limit: f64, rolling_mps: f64) -> Self {
        let (sin, cos) = azimuth.sin_cos();
        let (x, y) = config.module_m[i];
        Self {
            cos,
            sin,
            arm_along: x * sin - y * cos,
            arm_across: x * cos + y * sin,
            radius: config.wheel_radius_m[i],
            limit,
            yield_per_ns: FULL_SLIP_ANGLE_RAD * rolling_mps.abs().max(CREEP_SPEED) / limit,
        }
    }

    /// The contact point's speed over the carpet, along the wheel and across it.
    fn speeds(&self, v: &Velocity, i: usize) -> (f64, f64) {
        (
            v.vx * self.cos + v.vy * self.sin + v.omega * self.arm_along - self.radius * v.wheel[i],
            -v.vx * self.sin + v.vy * self.cos + v.omega * self.arm_across,
        )
    }
}

/// One row for every bumper corner near a wall.
fn wall_rows(
    config: &DriveConfig,
    body: &BodyState,
    walls: &Walls,
    dt: f64,
    inv_m: f64,
    inv_i: f64,
) -> [Option<WallRow>; 8] {
    let mut rows = [const { None }; 8];
    let (hx, hy) = config.half_size_m;
    let reach = hx.hypot(hy) + 0.05;
    let near = body.x_m - walls.x_m.0 < reach
        || walls.x_m.1 - body.x_m < reach
        || body.y_m - walls.y_m.0 < reach
        || walls.y_m.1 - body.y_m < reach;
    if !near {
        return rows;
    }
    let (sin, cos) = body.heading_rad.sin_cos();
    for (k, (cx, cy)) in [(hx, hy), (hx, -hy), (-hx, hy), (-hx, -hy)].into_iter().enumerate() {
        let (fx, fy) = (body.x_m + cx * cos - cy * sin, body.y_m + cx * sin + cy * cos);
        // (gap, normal in the field pointing away from the wall), nearer wall of each axis.
        let (low, high) = (fx - walls.x_m.0, walls.x_m.1 - fx);
        let along_x = if low < high { (low, 1.0, 0.0) } else { (high, -1.0, 0.0) };
        let (low, high) = (fy - walls.y_m.0, walls.y_m.1 - fy);
        let along_y = if low < high { (low, 0.0, 1.0) } else { (high, 0.0, -1.0) };
        for (j, (gap, wx, wy)) in [along_x, along_y].into_iter().enumerate() {
            if gap > 0.05 {
                continue;
            }
            let (nx, ny) = (wx * cos + wy * sin, -wx * sin + wy * cos);
            let arm = cx * ny - cy * nx;
            // What is inside the wall is pushed out slowly, so that placing a robot badly does not throw it.
            let gap_speed = if gap > 0.0 { gap / dt } else { (gap * 5.0).max(-0.2) };
            rows[2 * k + j] =
                Some(WallRow { nx, ny, arm, mass: 1.0 / (inv_m + arm * arm * inv_i), gap_speed });
        }
    }
    rows
}

/// Moves the body along the arc of constant velocity and turns the velocity into the new frame.
fn advance(body: &mut BodyState, v: &Velocity, dt: f64) {
    let turn = v.omega * dt;
    let (sin, cos) = (body.heading_rad + 0.5 * turn).sin_cos();
    body.x_m += (v.vx * cos - v.vy * sin) * dt;
    body.y_m += (v.vx * sin + v.vy * cos) * dt;
    body.heading_rad += turn;
    // Momentum keeps its direction in the field while the frame turns under it.
    let (s, c) = turn.sin_cos();
    body.vx_mps = v.vx * c + v.vy * s;
    body.vy_mps = v.vy * c - v.vx * s;
    body.omega_rad_per_sec = v.omega;
}
