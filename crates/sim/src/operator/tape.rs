//! The person on the carpet: carries the robot, reads tape and caliper. Everything here is physics, nothing is read from
//! the robot.

use crate::rng::Rng;
use crate::world::World;

/// How well a person measures and places (standard deviations).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TapeConfig {
    /// A tape over the floor, m.
    pub tape_m: f64,
    /// A caliper on a wheel, inches.
    pub caliper_in: f64,
    /// A protractor or a string line, degrees.
    pub angle_deg: f64,
    /// Putting the robot on a mark: metres each way, and radians.
    pub placing: (f64, f64),
}

impl Default for TapeConfig {
    fn default() -> Self {
        Self { tape_m: 0.002, caliper_in: 0.004, angle_deg: 0.3, placing: (0.003, 0.003) }
    }
}

/// A pose in the field: x, y (m), heading (rad).
pub(crate) type Spot = (f64, f64, f64);

/// The poses that are taped on the floor for the cameras.
const TAPED_POSES: [Spot; 4] = [(5.0, 3.0, 0.5), (4.0, 2.0, 0.0), (6.5, 5.5, -0.6), (3.0, 6.0, 1.2)];

/// The person's memory of the floor.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    config: TapeConfig,
    rng: Rng,
    /// Where the robot stood when the mark was taped, and for which procedure.
    mark: Spot,
    marked_for: String,
    shots_seen: usize,
}

/// What the person is about to do next, read off the plan on the dashboard.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ahead {
    /// The procedure's id.
    pub(crate) procedure: String,
    /// The label of the next act.
    pub(crate) act: String,
    /// Where the next shot is to be taken from, m from the hub.
    pub(crate) shot_at: Option<f64>,
    /// The prompt's own text.
    pub(crate) prompt: String,
}

impl Tape {
    pub(crate) fn new(config: TapeConfig, seed: u64) -> Self {
        Self {
            config,
            rng: Rng::stream(seed, "tape"),
            mark: (0.0, 0.0, 0.0),
            marked_for: String::new(),
            shots_seen: 0,
        }
    }

    /// Does what a Confirm asks for: puts the robot where the next motion wants it.
    pub(crate) fn prepare(&mut self, world: &mut World, ahead: &Ahead) {
        if ahead.act.is_empty() {
            // Nothing moves after this: what is asked is only whether something is so.
            return;
        }
        // Laps go from one mark, all of them; everything else is marked anew each time.
        let onto_mark = ahead.procedure == "odometry-drift" && self.marked_for == ahead.procedure;
        let spot = if onto_mark { self.mark } else { self.spot_for(world, ahead) };
        let (metres, radians) = self.config.placing;
        let scale = if ahead.procedure == "slip-current" { 0.0 } else { 1.0 };
        let spot = (
            spot.0 + scale * metres * self.rng.normal(),
            spot.1 + scale * metres * self.rng.normal(),
            spot.2 + scale * radians * self.rng.normal(),
        );
        world.place(spot.0, spot.1, spot.2);
        if !onto_mark {
            self.mark = spot;
            self.marked_for.clone_from(&ahead.procedure);
        }
    }

    fn spot_for(&self, world: &World, ahead: &Ahead) -> Spot {
        let field = world.config().field;
        let (low, high) = (field.walls.x_m, field.walls.y_m);
        let middle_y = 0.5 * (high.0 + high.1);
        let half = world.config().drive.half_size_m.0;
        let backwards =
            ahead.act.to_lowercase().contains("back") || ahead.act.to_lowercase().contains("reverse");
        let start = low.0 + half + 0.8;
        let end = low.1 - half - 0.8;
        if let Some(at) = ahead.shot_at {
            let (x, y) = field.hub_m;
            return (x - at, y, 0.0);
        }
        match ahead.procedure.as_str() {
            "slip-current" => (low.1 - half, middle_y, 0.0),
            "drive-ff" => (if backwards { start + 9.0 } else { start }, middle_y, 0.0),
            "straight-run" => (if backwards { end } else { start }, middle_y, 0.0),
            "odometry-drift" => (low.0 + 6.0, middle_y, 0.0),
            "vision-pose" => {
                TAPED_POSES[numbers(&ahead.prompt).last().map_or(0, |n| *n as usize) % TAPED_POSES.len()]
            }
            _ => (0.5 * (low.0 + low.1), middle_y, 0.0),
        }
    }

    /// The number that the tape, the caliper or the eye gives for a question; `None` when a person could not answer it.
    pub(crate) fn read(&mut self, world: &World, procedure: &str, key: &str, unit: &str) -> Option<f64> {
        let body = world.body();
        let (mx, my, mh) = self.mark;
        let (dx, dy) = (body.x_m - mx, body.y_m - my);
        let (sin, cos) = mh.sin_cos();
        let (along, across) = (dx * cos + dy * sin, dy * cos - dx * sin);
        let turned = body.heading_rad - mh;
        let tape = self.config.tape_m * self.rng.normal();
        let angle = self.config.angle_deg * self.rng.normal();
        let read = match (procedure, unit) {
            (_, "in") => {
                let mean = world.config().drive.wheel_radius_m.iter().sum::<f64>() / 4.0;
                2.0 * mean / 0.0254 + self.config.caliper_in * self.rng.normal()
            }
            (_, "count") => f64::from(
                u8::try_from((0..4).filter(|i| world.motor_celsius(*i) > 60.0).count()).unwrap_or(0),
            ),
            (_, "score") => self.last_shot(world).map_or(0.0, |s| s.score),
            (p, "m") if p.contains("shot") || p.contains("carry") || key.starts_with("at-") => {
                self.last_shot(world)?.carry_m? + 10.0 * tape
            }
            ("vision-pose", "m") if is_axis(key, 'x') => body.x_m + tape,
            ("vision-pose", "m") if is_axis(key, 'y') => body.y_m + tape,
            ("vision-pose", "deg") => wrap(body.heading_rad).to_degrees() + angle,
            ("vision-pose", "rad") => wrap(body.heading_rad) + angle.to_radians(),
            (_, "m") if is_axis(key, 'x') => along + tape,
            (_, "m") if is_axis(key, 'y') => across + tape,
            ("odometry-drift", "m") => (along + tape).hypot(across),
            (_, "m") => along.abs() + tape,
            (_, "deg") => wrap(turned).to_degrees() + angle,
            (_, "rad") => wrap(turned) + angle.to_radians(),
            _ => return None,
        };
        Some(rounded(read, unit))
    }

    fn last_shot(&mut self, world: &World) -> Option<crate::shooter::Shot> {
        let new = world.shots().len() > self.shots_seen;
        self.shots_seen = world.shots().len();
        world.shots().last().copied().filter(|_| new || self.shots_seen > 0)
    }
}

fn wrap(angle: f64) -> f64 {
    angle.sin().atan2(angle.cos())
}

/// Whether `key` asks for one coordinate: `x-m`, `lap2-x-m`, `pose1-x`.
fn is_axis(key: &str, axis: char) -> bool {
    key.split(['-', '_', '.']).any(|part| part.chars().eq([axis]))
}

/// To the last digit that a person types.
fn rounded(value: f64, unit: &str) -> f64 {
    let digits = match unit {
        "m" | "rad" => 3,
        "deg" => 1,
        _ => 2,
    };
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// The decimal numbers in a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter_map(|word| word.trim_end_matches('.').parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::WorldConfig;

    fn exact() -> Tape {
        let config = TapeConfig { tape_m: 0.0, caliper_in: 0.0, angle_deg: 0.0, placing: (0.0, 0.0) };
        Tape::new(config, 1)
    }

    #[test]
    fn a_tape_reads_the_true_way_from_the_mark() {
        let mut world = World::new(WorldConfig::standard(), 1).unwrap();
        let mut tape = exact();
        tape.mark = (5.0, 4.0, std::f64::consts::FRAC_PI_2);
        world.place(4.9, 4.3, std::f64::consts::FRAC_PI_2);
        assert_eq!(tape.read(&world, "odometry-drift", "lap1-error-m", "m"), Some(0.316));
        assert_eq!(tape.read(&world, "odometry-drift", "lap1-x-m", "m"), Some(0.3));
        assert_eq!(tape.read(&world, "odometry-drift", "lap1-y-m", "m"), Some(0.1));
        assert_eq!(tape.read(&world, "vision-pose", "pose1-x-m", "m"), Some(4.9));
        assert_eq!(tape.read(&world, "wheel-radius", "caliper-diameter-in", "in"), Some(4.0));
        assert_eq!(tape.read(&world, "x", "y", "furlong"), None);
    }

    #[test]
    fn the_robot_is_put_where_the_motion_wants_it() {
        let mut world = World::new(WorldConfig::standard(), 1).unwrap();
        let mut tape = exact();
        let ahead = |procedure: &str, prompt: &str| Ahead {
            procedure: procedure.into(),
            prompt: prompt.into(),
            act: "something".into(),
            shot_at: None,
        };
        tape.prepare(&mut world, &ahead("slip-current", ""));
        assert!((world.body().x_m - (16.0 - 0.45)).abs() < 1e-12);
        tape.prepare(&mut world, &ahead("vision-pose", "Robot parked on taped pose 2"));
        assert_eq!((world.body().x_m, world.body().y_m), (6.5, 5.5));
        tape.prepare(&mut world, &Ahead { shot_at: Some(3.0), ..ahead("shot-map", "") });
        assert!((world.hub_distance_m() - 3.0).abs() < 1e-12);
        tape.prepare(&mut world, &Ahead { act: String::new(), ..ahead("thermal-soak", "Smells noted") });
        assert!((world.hub_distance_m() - 3.0).abs() < 1e-12, "nothing moves after it, nobody carries");
    }
}
