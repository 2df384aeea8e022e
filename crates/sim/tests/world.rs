//! The world as hardware: sag, sensors, brownout, placing, and the same seed twice.

use fieldlab_base::Micros;
use fieldlab_robot::hw::{DriveCommand, Inputs, MechanismCommand, Outputs, RobotIo};
use fieldlab_sim::{BatteryConfig, SensorConfig, SensorFault, SensorId, World, WorldConfig};

/// Runs 20 ms turns with one command; answers the last snapshot.
fn turns(world: &mut World, outputs: &Outputs, count: usize) -> Inputs {
    let mut inputs = Inputs::NONE;
    for _ in 0..count {
        let now = world.now() + Micros::from_millis(20);
        inputs.now = now;
        inputs.dt_secs = 0.02;
        world.read(now, &mut inputs);
        world.apply(now, outputs);
    }
    inputs
}

fn volts(v: f64) -> Outputs {
    Outputs { drive: DriveCommand::straight_volts(v, 0.0), ..Outputs::NEUTRAL }
}

fn chassis(vx: f64, vy: f64, omega: f64) -> Outputs {
    let drive = DriveCommand::Chassis { vx_mps: vx, vy_mps: vy, omega_rad_per_sec: omega };
    Outputs { drive, ..Outputs::NEUTRAL }
}

fn perfect() -> WorldConfig {
    WorldConfig { sensors: SensorConfig::perfect(), ..WorldConfig::standard() }
}

#[test]
fn the_pack_sags_by_current_times_resistance() {
    let mut world = World::new(perfect(), 1).unwrap();
    world.place(2.0, 4.0, 0.0);
    let rested = turns(&mut world, &Outputs::NEUTRAL, 5).battery_volts.unwrap().value;
    assert!((rested - (12.9 - 0.018 * 2.0)).abs() < 1e-3, "{rested}");
    let mut checked = 0;
    for _ in 0..30 {
        let read = turns(&mut world, &volts(4.0), 1).battery_volts.unwrap().value;
        let (_, amps) = world.bus();
        let (open, ohms) = world.battery().source();
        assert!((read - (open - ohms * amps)).abs() < 5e-3, "{read} V at {amps} A");
        checked += usize::from(amps > 20.0);
    }
    assert!(checked > 2, "the start drew current");
}

#[test]
fn the_robot_follows_chassis_speeds_in_its_own_wheels_measure() {
    let mut world = World::new(perfect(), 1).unwrap();
    world.place(4.0, 4.0, 0.0);
    turns(&mut world, &chassis(0.0, 1.0, 0.0), 50);
    let (x, y) = (world.body().x_m, world.body().y_m);
    turns(&mut world, &chassis(0.0, 1.0, 0.0), 50);
    assert!((world.body().y_m - y - 1.0).abs() < 0.03, "{:?}", world.body());
    assert!((world.body().x_m - x).abs() < 0.01);
    let end = turns(&mut world, &Outputs::NEUTRAL, 100);
    assert!(end.modules[0].unwrap().value.velocity_rad_per_sec.unwrap().abs() < 1e-9);
}

#[test]
fn a_wall_stops_the_robot_and_the_wheels_spin() {
    let mut world = World::new(perfect(), 1).unwrap();
    world.place(15.0, 4.0, 0.0);
    let read = turns(&mut world, &volts(6.0), 200);
    assert!((world.body().x_m - (16.0 - 0.45)).abs() < 2e-3, "{:?}", world.body());
    assert!(world.body().slipping.iter().all(|s| *s));
    assert!(read.modules[0].unwrap().value.velocity_rad_per_sec.unwrap() > 6.0);
}

#[test]
fn a_brownout_cuts_the_outputs_until_the_pack_is_back() {
    let mut world = World::new(perfect(), 1).unwrap();
    world.place(3.0, 4.0, 0.0);
    turns(&mut world, &volts(3.0), 60);
    let before = world.body().vx_mps;
    world.dip(8.0, 0.5);
    turns(&mut world, &volts(3.0), 20);
    assert!(world.is_browned_out());
    assert!(world.body().vx_mps < 0.5 * before);
    turns(&mut world, &volts(3.0), 60);
    assert!(!world.is_browned_out());
    assert!((world.body().vx_mps - before).abs() < 0.02 * before);
}

#[test]
fn failed_sensors_say_nan_or_nothing_or_grow_old() {
    let mut world = World::new(WorldConfig::standard(), 1).unwrap();
    turns(&mut world, &Outputs::NEUTRAL, 5);
    world.set_fault(SensorId::Gyro, Some(SensorFault::Nan));
    world.set_fault(SensorId::Module(2), Some(SensorFault::Stale));
    world.set_fault(SensorId::Battery, Some(SensorFault::Silent));
    let read = turns(&mut world, &Outputs::NEUTRAL, 50);
    assert!(read.gyro.unwrap().value.yaw_rad.is_nan());
    assert!(read.modules[2].unwrap().age_secs(read.now) > 0.9);
    assert!(read.modules[1].unwrap().age_secs(read.now) < 0.06);
    assert_eq!(read.battery_volts, None);
    world.set_fault(SensorId::Gyro, None);
    assert!(turns(&mut world, &Outputs::NEUTRAL, 1).gyro.unwrap().value.yaw_rad.is_finite());
}

#[test]
fn carrying_the_robot_turns_the_gyro_and_not_the_wheels() {
    let mut world = World::new(perfect(), 1).unwrap();
    let before = turns(&mut world, &Outputs::NEUTRAL, 2);
    world.place(2.0, 3.0, std::f64::consts::FRAC_PI_2);
    let after = turns(&mut world, &Outputs::NEUTRAL, 2);
    let yaw = |i: &Inputs| i.gyro.unwrap().value.yaw_rad;
    assert!((yaw(&after) - yaw(&before) - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    assert_eq!(after.modules[0].unwrap().value.position_rad, before.modules[0].unwrap().value.position_rad);
    let seen = after.vision.unwrap().value.robot_in_field;
    assert!((seen.translation.x_m - 2.0).abs() < 1e-9 && (seen.translation.y_m - 3.0).abs() < 1e-9);
}

#[test]
fn a_fresh_pack_stands_higher_and_a_broken_one_is_refused() {
    let flat = BatteryConfig { charge: 0.3, ..BatteryConfig::healthy("flat") };
    let mut world = World::new(WorldConfig { battery: flat, ..perfect() }, 1).unwrap();
    assert!(turns(&mut world, &Outputs::NEUTRAL, 2).battery_volts.unwrap().value < 12.0);
    world.swap_battery(BatteryConfig::healthy("fresh")).unwrap();
    assert!(turns(&mut world, &Outputs::NEUTRAL, 2).battery_volts.unwrap().value > 12.8);
    assert!(world.swap_battery(BatteryConfig { ohms: 0.0, ..BatteryConfig::healthy("x") }).is_err());
    assert_eq!((world.swaps(), &**world.battery().name()), (1, "fresh"));
}

#[test]
fn a_shot_from_the_right_place_at_the_right_speed_scores() {
    let mut world = World::new(perfect(), 3).unwrap();
    let (hub_x, hub_y) = world.config().field.hub_m;
    world.place(hub_x - 3.0, hub_y, 0.0);
    let rpm = world.config().shooter.rpm_for(3.0, 65.0).unwrap();
    let mut outputs = Outputs::NEUTRAL;
    outputs.mechanisms[0] = MechanismCommand::Setpoint(65.0);
    outputs.mechanisms[1] = MechanismCommand::Setpoint(rpm);
    let ready = turns(&mut world, &outputs, 150);
    assert!(ready.mechanisms[0].unwrap().value.at_setpoint && ready.mechanisms[1].unwrap().value.at_setpoint);
    outputs.mechanisms[2] = MechanismCommand::Volts(8.0);
    turns(&mut world, &outputs, 30);
    assert_eq!(world.shots().len(), 1);
    assert_eq!(world.shots()[0].score, 1.0, "{:?}", world.shots());
}

#[test]
fn the_same_seed_is_the_same_robot_and_another_is_another() {
    let run = |seed: u64| {
        let mut world = World::new(WorldConfig::seeded(seed), seed).unwrap();
        world.place(2.0, 4.0, 0.0);
        let read = turns(&mut world, &volts(3.0), 40);
        (world.truth(), read.modules[3].unwrap(), read.battery_volts.unwrap(), world.body().clone())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn the_channels_carry_what_the_bus_gives_and_the_facts_are_the_drives_own() {
    let mut world = World::new(perfect(), 1).unwrap();
    let facts = world.facts();
    facts.check(world.description().drive).unwrap();
    let (drive, power) = (facts.drive.unwrap(), facts.power.unwrap());
    assert_eq!(drive.geometry().wheel_radius_m, world.config().drawn_wheel_radius_m);
    assert_eq!((drive.devices().count(), power.channels), (12, 24));

    world.place(2.0, 4.0, 0.0);
    let inputs = turns(&mut world, &volts(4.0), 6);
    let carried = inputs.power.unwrap();
    assert_eq!(turns(&mut world, &volts(4.0), 1).power, Some(carried), "ten times a second");
    let sum: f64 = carried.value.amps.iter().flatten().sum();
    let (_, bus_amps) = world.bus();
    // The module's steps are an eighth of an ampere, and the last reading is a turn or two old.
    assert!(sum > 4.0 && (sum - bus_amps).abs() < 0.35 * bus_amps + 1.0, "{sum} A of {bus_amps} A");
}
