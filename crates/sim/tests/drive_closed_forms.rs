//! The drive against what can be written down: kS, kV, kA, slip current, rest, spin.

use fieldlab_sim::{Drive, DriveConfig, ModuleCommand, Walls};

const OPEN: Walls = Walls { x_m: (-1e3, 1e3), y_m: (-1e3, 1e3) };

fn uneven() -> DriveConfig {
    DriveConfig {
        wheel_radius_m: [0.0495, 0.0497, 0.0494, 0.0496],
        load_n: [140.0, 132.0, 136.0, 131.366],
        ..DriveConfig::standard()
    }
}

fn run(drive: &mut Drive, volts: f64, bus: f64, steps: usize) {
    drive.command([ModuleCommand::Duty { duty: volts / bus, azimuth_rad: Some(0.0) }; 4]);
    for _ in 0..steps {
        drive.step(bus, &[0.0; 4], &OPEN);
    }
}

#[test]
fn steady_speed_is_volts_less_ks_over_kv() {
    for config in [DriveConfig::standard(), uneven()] {
        let truth = config.truth();
        for volts in [1.0, 3.0, -4.0] {
            let mut drive = Drive::new(config.clone(), 25.0);
            run(&mut drive, volts, 12.0, 4000);
            let expect = volts.signum() * (volts.abs() - truth.ks_volts) / truth.kv_volts_per_mps;
            let found = drive.body().vx_mps;
            assert!((found / expect - 1.0).abs() < 2e-5, "{volts} V: {found} m/s, expected {expect}");
            // Unlike wheels pull to one side, by millimetres over metres.
            assert!(drive.body().y_m.abs() < 0.05, "{:?}", drive.body());
        }
    }
}

#[test]
fn speed_grows_with_the_time_constant_ka_over_kv() {
    for config in [DriveConfig::standard(), uneven()] {
        let truth = config.truth();
        let tau = truth.ka_volts_per_mps2 / truth.kv_volts_per_mps;
        let mut drive = Drive::new(config, 25.0);
        let settled = (3.0 - truth.ks_volts) / truth.kv_volts_per_mps;
        for ms in 1..=400 {
            run(&mut drive, 3.0, 12.0, 1);
            let expect = settled * (1.0 - (-f64::from(ms) * 0.001 / tau).exp());
            let found = drive.body().vx_mps;
            assert!((found - expect).abs() < 2e-3 * settled, "{ms} ms: {found} m/s, expected {expect}");
        }
    }
}

#[test]
fn nothing_moves_below_ks_and_the_robot_moves_above() {
    let truth = DriveConfig::standard().truth();
    let mut drive = Drive::new(DriveConfig::standard(), 25.0);
    run(&mut drive, 0.98 * truth.ks_volts, 12.0, 500);
    assert!(drive.body().x_m.abs() < 1e-6, "{:?}", drive.body());
    run(&mut drive, 1.05 * truth.ks_volts, 12.0, 500);
    assert!(drive.body().x_m > 1e-4);
}

#[test]
fn the_weakest_wheel_lets_go_at_the_slip_current() {
    let config = uneven();
    let truth = config.truth();
    let half = config.half_size_m.0;
    let mut drive = Drive::new(config, 25.0);
    let walls = Walls { x_m: (-10.0, half), y_m: (-10.0, 10.0) };
    let mut last = 0.0;
    for ms in 0..12_000 {
        let volts = 0.5 * f64::from(ms) * 0.001;
        drive.command([ModuleCommand::Duty { duty: volts / 12.0, azimuth_rad: Some(0.0) }; 4]);
        drive.step(12.0, &[0.0; 4], &walls);
        if let Some(i) = drive.body().slipping.iter().position(|s| *s) {
            assert_eq!(i, 3, "wheel 3 carries the least times its radius");
            assert!((last / truth.slip_current_a - 1.0).abs() < 3e-3, "{last} A, expected {truth:?}");
            return;
        }
        last = drive.amps()[3];
        assert!(drive.body().x_m.abs() < 1e-4, "the wall holds: {:?}", drive.body());
    }
    panic!("no wheel slipped");
}

#[test]
fn a_spin_shows_radius_over_drive_base() {
    let config = uneven();
    let mut drive = Drive::new(config.clone(), 25.0);
    let omega = 0.6;
    let azimuth = [135.0_f64, 45.0, -135.0, -45.0].map(f64::to_radians);
    let base = 0.3 * std::f64::consts::SQRT_2;
    drive.command(std::array::from_fn(|i| ModuleCommand::Duty { duty: 0.0, azimuth_rad: Some(azimuth[i]) }));
    for _ in 0..1500 {
        drive.step(12.0, &[0.0; 4], &OPEN);
    }
    let (start, wheels) = (drive.body().heading_rad, drive.body().wheel_rad);
    drive.command(std::array::from_fn(|i| ModuleCommand::Velocity {
        wheel_rad_per_sec: omega * base / 0.05,
        azimuth_rad: azimuth[i],
    }));
    for _ in 0..10_000 {
        drive.step(12.0, &[0.0; 4], &OPEN);
    }
    let turned = drive.body().heading_rad - start;
    assert!(turned > 5.5, "{turned}");
    for (i, wheel) in wheels.iter().enumerate() {
        let radius = base * turned / (drive.body().wheel_rad[i] - wheel);
        assert!((radius / config.wheel_radius_m[i] - 1.0).abs() < 1e-3, "wheel {i}: {radius}");
    }
}

#[test]
fn a_hard_start_spins_the_wheels_and_grips_again() {
    let truth = DriveConfig::standard().truth();
    let mut drive = Drive::new(DriveConfig::standard(), 25.0);
    run(&mut drive, 9.0, 12.0, 30);
    assert_eq!(drive.body().slipping, [true; 4]);
    // Sliding tyres push with sliding_grip x weight, less the rolling resistance that acts at the wheel, not on the mass.
    let push = 0.7 * 9.806_65;
    assert!((drive.body().vx_mps / (0.030 * push) - 1.0).abs() < 0.05, "{:?}", drive.body());
    run(&mut drive, 9.0, 12.0, 3000);
    assert_eq!(drive.body().slipping, [false; 4]);
    let settled = (9.0 - truth.ks_volts) / truth.kv_volts_per_mps;
    assert!((drive.body().vx_mps / settled - 1.0).abs() < 1e-4);
}

#[test]
fn wheels_a_third_of_a_degree_out_of_line_do_not_scrub_the_speed_away() {
    let config = DriveConfig { azimuth_offset_rad: [0.005, -0.006, 0.0, 0.004], ..DriveConfig::standard() };
    let truth = config.truth();
    let mut drive = Drive::new(config, 25.0);
    let tau = truth.ka_volts_per_mps2 / truth.kv_volts_per_mps;
    let settled = (3.5 - truth.ks_volts) / truth.kv_volts_per_mps;
    for ms in 1..=500 {
        run(&mut drive, 3.5, 12.0, 1);
        let expect = settled * (1.0 - (-f64::from(ms) * 0.001 / tau).exp());
        assert!((drive.body().vx_mps - expect).abs() < 2e-3 * settled, "{ms} ms: {:?}", drive.body());
        assert_eq!(drive.body().slipping, [false; 4], "{ms} ms");
    }
}

#[test]
fn a_braked_robot_comes_to_exact_rest() {
    let mut drive = Drive::new(DriveConfig::standard(), 25.0);
    run(&mut drive, 5.0, 12.0, 500);
    drive.command([ModuleCommand::Brake; 4]);
    for _ in 0..3000 {
        drive.step(12.0, &[0.0; 4], &OPEN);
    }
    assert!(drive.is_resting(), "{:?}", drive.body());
}

#[test]
fn a_non_finite_command_brakes() {
    let mut drive = Drive::new(DriveConfig::standard(), 25.0);
    drive.command([ModuleCommand::Duty { duty: f64::NAN, azimuth_rad: Some(0.0) }; 4]);
    for _ in 0..50 {
        drive.step(12.0, &[0.0; 4], &OPEN);
    }
    assert!(drive.is_resting());
}
