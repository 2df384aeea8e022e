//! The shipped procedures. Their ids, measure keys, units and ranges are a contract with the report and with other tools;
//! labels, steps and caps are not.
//!
//! Order matters: wheel radius, slip current, feedforward, drift, straight run, vision, sweeps, and the soak last, because
//! it leaves everything hot.
//!
//! ```
//! use fieldlab_campaign::procedures::{self, Drivetrain};
//! use fieldlab_campaign::{Campaign, Routine};
//! let drive = Drivetrain::default();
//! let basics = procedures::drivetrain_basics::<Routine>(&drive)?;
//! let ids: Vec<_> = basics.iter().map(|p| p.plan().id.as_str()).collect();
//! assert_eq!(ids, ["wheel-radius", "slip-current", "drive-ff", "odometry-drift"]);
//! let campaign = Campaign::builder("Field Day").add_all(basics).build()?;
//! # let _ = campaign;
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```

use fieldlab_base::{ConfigError, check};
use serde::Serialize;

use crate::builder::{Act, Measure};
use crate::model::Procedure;
use crate::routine::{
    LapDirection, Routine, SlipCurrentConfig, SpinDirection, SysIdConfig, SysIdTest, WheelRadiusConfig,
};
use crate::text;

/// Both ways round, counter-clockwise first.
const WAYS: [(SpinDirection, &str); 2] =
    [(SpinDirection::CounterClockwise, "CCW"), (SpinDirection::Clockwise, "CW")];
/// Laps each way round: three are what tells a pattern from scatter.
const LAPS: usize = 3;
/// How much longer than its own stop an act may take: for the steering to point ahead, and for the stop.
const MARGIN_SECS: f64 = 5.0;

/// What the shipped procedures need to know of a robot and of its field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drivetrain {
    /// The wheel radius that the robot believes, m.
    pub wheel_radius_m: f64,
    /// From the robot's centre to a module, m.
    pub drive_base_radius_m: f64,
    /// The slip current limit in force, A.
    pub slip_amps: f64,
    /// Free length ahead of the robot, m.
    pub runway_m: f64,
    /// What it needs to stop from its fastest, m; the runway ends this much earlier for a test.
    pub braking_m: f64,
    /// Its fastest, m/s.
    pub max_speed_mps: f64,
    /// Side of the square that a lap drives, m.
    pub lap_side_m: f64,
    /// How fast a lap and a straight run are driven, m/s.
    pub lap_speed_mps: f64,
    /// The step of the dynamic tests, V. Above slip current times motor resistance the wheels spin at the start of the
    /// test, and kA is not the drive's.
    pub step_volts: f64,
}

impl Default for Drivetrain {
    fn default() -> Self {
        Self {
            wheel_radius_m: 0.0508,
            drive_base_radius_m: 0.43,
            slip_amps: 120.0,
            runway_m: 8.0,
            braking_m: 1.5,
            max_speed_mps: 4.5,
            lap_side_m: 2.0,
            lap_speed_mps: 1.5,
            step_volts: 7.0,
        }
    }
}

impl Drivetrain {
    /// Refuses what is not finite, and a runway that braking uses up.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::within("wheel_radius_m", self.wheel_radius_m, 0.01, 0.2)?;
        check::within("drive_base_radius_m", self.drive_base_radius_m, 0.05, 2.0)?;
        check::positive("slip_amps", self.slip_amps)?;
        check::within("runway_m", self.runway_m, 2.0, 100.0)?;
        check::within("braking_m", self.braking_m, 0.0, self.runway_m / 2.0)?;
        check::positive("max_speed_mps", self.max_speed_mps)?;
        check::within("lap_side_m", self.lap_side_m, 0.2, 20.0)?;
        check::positive("lap_speed_mps", self.lap_speed_mps)?;
        check::within("step_volts", self.step_volts, 0.1, 12.0)?;
        Ok(())
    }

    fn checked(&self) -> Result<(), ConfigError> {
        self.check().map_err(|e| e.within("drivetrain"))
    }

    /// The lap that the drift test drives when the team brings no path of its own.
    #[must_use]
    pub const fn lap(&self, direction: LapDirection) -> Routine {
        Routine::Lap {
            direction,
            side_m: self.lap_side_m,
            speed_mps: self.lap_speed_mps,
            wheel_radius_m: self.wheel_radius_m,
        }
    }

    /// How long such a lap takes, s: four sides, and a second at each corner.
    #[must_use]
    pub fn lap_secs(&self) -> f64 {
        4.0 * (self.lap_side_m / self.lap_speed_mps + 1.0)
    }
}

/// `wheel-radius`: spins both ways, then the caliper.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses.
pub fn wheel_radius<A: From<Routine>>(drive: &Drivetrain) -> Result<Procedure<A>, ConfigError> {
    drive.checked()?;
    let mut builder = Procedure::builder("wheel-radius", "Wheel radius")
        .why("every distance that the robot believes is this radius times an angle")
        .needs_battery(12.0)
        .confirm("A 2 m circle is clear; everybody out of it");
    for (direction, way) in WAYS {
        let config = WheelRadiusConfig {
            current_radius_m: drive.wheel_radius_m,
            drive_base_radius_m: drive.drive_base_radius_m,
            direction,
            ..WheelRadiusConfig::default()
        };
        // Four times what perfect tracking needs: the routine's own guards end it sooner, and say why.
        let cap = 4.0 * config.nominal_secs() + MARGIN_SECS;
        let act = Act::new(format!("Wheel radius, {way}"), cap, Routine::WheelRadius(config).into());
        builder = builder.group().act(act.estimate_secs(45.0));
    }
    builder
        .group()
        .measure(
            Measure::new("Diameter of a drive wheel, by caliper", "caliper-diameter-in", "in")
                .range(3.0, 4.5),
        )
        .build()
}

/// `slip-current`: three pushes against a wall, cooling after each.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses.
pub fn slip_current<A: From<Routine>>(drive: &Drivetrain) -> Result<Procedure<A>, ConfigError> {
    drive.checked()?;
    let config = SlipCurrentConfig {
        current_amps: drive.slip_amps,
        wheel_radius_m: drive.wheel_radius_m,
        ..SlipCurrentConfig::default()
    };
    let mut builder = Procedure::builder("slip-current", "Slip current")
        .why("the limit above which current only spins the wheels")
        .needs_battery(12.2)
        .confirm("Bumper square on a wall, wheels straight, nobody behind the robot");
    for i in 1..=3 {
        builder = builder
            .group()
            .act(Act::new(format!("Slip current {i} of 3"), 30.0, Routine::SlipCurrent(config).into()))
            .settle("Motors cool", 20.0);
    }
    builder.build()
}

/// `drive-ff`: the four SysId tests, each stopped by distance, by speed and by time.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses.
pub fn drive_feedforward<A: From<Routine>>(drive: &Drivetrain) -> Result<Procedure<A>, ConfigError> {
    drive.checked()?;
    let quasistatic_secs = (1.5 * drive.runway_m).clamp(6.0, 20.0);
    let dynamic_secs = (0.5 * drive.runway_m).clamp(2.0, 6.0);
    let act = |test: SysIdTest, label: &str| {
        let stop_secs = if test.is_quasistatic() { quasistatic_secs } else { dynamic_secs };
        let config = SysIdConfig {
            ramp_volts_per_sec: 1.0,
            step_volts: drive.step_volts,
            stop_distance_m: drive.runway_m - drive.braking_m,
            stop_speed_mps: drive.max_speed_mps,
            stop_secs,
            wheel_radius_m: drive.wheel_radius_m,
        };
        Act::new(label, stop_secs + MARGIN_SECS, Routine::SysId { test, config }.into())
            .estimate_secs(stop_secs)
    };
    let runway = text::fixed(drive.runway_m, 1);
    Procedure::builder("drive-ff", "Drive feedforward")
        .why("volts for a speed: kS, kV and a first kA")
        .needs_battery(12.3)
        .confirm(format!("Robot at one end, {runway} m clear ahead"))
        .act(act(SysIdTest::QuasistaticForward, "Quasistatic forward"))
        .settle("Standing still", 3.0)
        .group()
        .act(act(SysIdTest::QuasistaticReverse, "Quasistatic reverse"))
        .settle("Standing still", 3.0)
        .group()
        .confirm(format!("Robot back at its end, {runway} m clear ahead"))
        .act(act(SysIdTest::DynamicForward, "Dynamic forward"))
        .settle("Standing still", 3.0)
        .group()
        .act(act(SysIdTest::DynamicReverse, "Dynamic reverse"))
        .build()
}

/// `odometry-drift`: laps both ways round, each from the mark, each taped: the error's length (`lap<i>-error-m`, as in
/// the reference) and its signed parts. Laps 1 to 3 go counter-clockwise, 4 to 6 clockwise.
///
/// `lap_secs` is how long one takes; `lap` makes it.
///
/// # Errors
/// Refuses a time that is not finite and positive.
pub fn odometry_drift<A>(
    lap_secs: f64,
    lap: impl Fn(LapDirection) -> A,
) -> Result<Procedure<A>, ConfigError> {
    check::positive("lap_secs", lap_secs)?;
    let mut builder = Procedure::builder("odometry-drift", "Odometry drift")
        .why("how far the robot is from where it believes, after a lap that ends where it began")
        .needs_battery(12.2)
        .confirm("Mark where the robot stands with tape: its corner and its heading");
    let mut number = 0;
    for (direction, way) in WAYS {
        for _ in 0..LAPS {
            number += 1;
            builder = builder.group();
            if number > 1 {
                builder = builder.confirm("Robot back on the mark, everybody clear");
            }
            builder = builder
                .act(Act::new(format!("Lap {number}, {way}"), lap_secs + MARGIN_SECS, lap(direction)))
                .settle("Standing still", 2.0)
                .measure(
                    Measure::new(
                        format!("Lap {number}: distance from the mark"),
                        format!("lap{number}-error-m"),
                        "m",
                    )
                    .range(0.0, 2.0),
                );
            for (axis, side) in [("x", "ahead of the mark is plus"), ("y", "left of the mark is plus")] {
                let label = format!("Lap {number}: {axis} error, {side}");
                builder = builder.measure(
                    Measure::new(label, format!("lap{number}-{axis}-m"), "m")
                        .range(-2.0, 2.0)
                        .estimate_secs(15.0),
                );
            }
        }
    }
    builder.build()
}

/// The first four, in order: wheel radius, slip current, feedforward, drift with the shipped lap.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses.
pub fn drivetrain_basics<A: From<Routine>>(drive: &Drivetrain) -> Result<Vec<Procedure<A>>, ConfigError> {
    drivetrain_basics_with(drive, drive.lap_secs(), |way| drive.lap(way).into())
}

/// As [`drivetrain_basics`], with the team's own closed path for a lap.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses, and a lap time that is not finite and positive.
pub fn drivetrain_basics_with<A: From<Routine>>(
    drive: &Drivetrain,
    lap_secs: f64,
    lap: impl Fn(LapDirection) -> A,
) -> Result<Vec<Procedure<A>>, ConfigError> {
    Ok(vec![
        wheel_radius(drive)?,
        slip_current(drive)?,
        drive_feedforward(drive)?,
        odometry_drift(lap_secs, lap)?,
    ])
}

/// `straight-run`: straight ahead and straight back, taped: what scale error no closed lap can show. Runs
/// `runway_m - braking_m`, at most 12 m; `forward<i>-m` and `reverse<i>-m` are taped lengths of the way rolled.
///
/// # Errors
/// Refuses a drivetrain that [`Drivetrain::check`] refuses, and no repeats.
pub fn straight_run<A: From<Routine>>(drive: &Drivetrain, repeats: u32) -> Result<Procedure<A>, ConfigError> {
    drive.checked()?;
    check::within("repeats", f64::from(repeats), 1.0, 20.0)?;
    let length = (drive.runway_m - drive.braking_m).min(12.0);
    let speed_mps = drive.lap_speed_mps;
    let secs = length / speed_mps + 2.0;
    let mut builder = Procedure::builder("straight-run", "Straight run")
        .why("the scale of odometry, against a tape")
        .needs_battery(12.2);
    for i in 1..=repeats {
        for (sign, way, clear) in [(1.0, "forward", "ahead of"), (-1.0, "reverse", "behind")] {
            let routine = Routine::Straight {
                distance_m: sign * length,
                speed_mps,
                wheel_radius_m: drive.wheel_radius_m,
            };
            let label = format!("Run {i} {way}, {} m", text::fixed(length, 1));
            builder = builder
                .group()
                .confirm(format!("Mark where the robot stands; clear {clear} it, everybody away"))
                .act(Act::new(label, 2.0 * secs + MARGIN_SECS, routine.into()).estimate_secs(secs))
                .settle("Standing still", 2.0)
                .measure(
                    Measure::new(format!("Run {i} {way}: taped length"), format!("{way}{i}-m"), "m")
                        .range(0.5 * length, 1.5 * length),
                );
        }
    }
    builder.build()
}

/// `vision-pose`: parked on taped poses, the log has what the cameras say, a person types the truth: `pose<i>-x-m`,
/// `pose<i>-y-m`, `pose<i>-heading-deg` in the field's frame. Nothing moves by itself.
///
/// # Errors
/// Refuses no poses.
pub fn vision_pose<A: From<Routine>>(poses: u32) -> Result<Procedure<A>, ConfigError> {
    check::within("poses", f64::from(poses), 1.0, 50.0)?;
    let mut builder = Procedure::builder("vision-pose", "Vision pose")
        .why("what the cameras say of a pose that a tape knows")
        .needs_battery(11.5);
    for i in 1..=poses {
        builder = builder
            .group()
            .confirm(format!("Robot parked on taped pose {i}"))
            .act(
                Act::new(format!("Pose {i}: looking"), 10.0, Routine::Observe { secs: 3.0 }.into())
                    .stands_still(),
            )
            .measure(
                Measure::new(format!("Pose {i}: x in the field"), format!("pose{i}-x-m"), "m")
                    .range(-1.0, 20.0),
            )
            .measure(
                Measure::new(format!("Pose {i}: y in the field"), format!("pose{i}-y-m"), "m")
                    .range(-1.0, 10.0),
            )
            .measure(
                Measure::new(format!("Pose {i}: heading"), format!("pose{i}-heading-deg"), "deg")
                    .range(-180.0, 360.0),
            );
    }
    builder.build()
}

/// `thermal-soak`: works the robot for `minutes` in cycles of `cycle_secs` and asks what is hot.
///
/// # Errors
/// Refuses times that are not finite and positive.
pub fn thermal_soak<A>(
    minutes: f64,
    cycle_secs: f64,
    cycle: impl Fn() -> A,
) -> Result<Procedure<A>, ConfigError> {
    check::within("minutes", minutes, 0.0, 120.0)?;
    check::positive("cycle_secs", cycle_secs)?;
    let rounds = (minutes * 60.0 / cycle_secs.max(1.0)).round().max(1.0) as u32;
    let mut builder = Procedure::builder("thermal-soak", "Thermal soak")
        .why("what gets hot, and how fast, in a match that lasts too long")
        .needs_battery(12.4)
        .confirm(format!("Field clear for {} minutes", text::fixed(minutes, 1)));
    for i in 1..=rounds {
        builder =
            builder.group().act(Act::new(format!("Soak {i} of {rounds}"), cycle_secs + MARGIN_SECS, cycle()));
    }
    builder
        .group()
        .measure(
            Measure::new("How many gearboxes are too hot to touch", "hot-gearboxes", "count").range(0.0, 8.0),
        )
        .confirm("Smells and noises noted")
        .build()
}
