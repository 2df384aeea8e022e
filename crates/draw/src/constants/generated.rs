//! Generated from config/motion_constants.json by `fieldlab draw constants render`.
//! Change that file and render again; an edit made here is found by `fieldlab draw constants --check`.

/// The short digest of the constants file.
pub const SHA: &str = "c36d529c2b43";

/// The whole digest of the constants file.
pub const SHA_FULL: &str = "c36d529c2b4334fb18c79e181c1ffc0b89969c7ca66139c92f078112e5402754";

/// `period_s`.
pub const PERIOD_S: f64 = 0.002_5;

/// `carriage_ik.bias_m`.
pub const CARRIAGE_IK_BIAS_M: f64 = 0.002;

/// `carriage_ik.min_m`.
pub const CARRIAGE_IK_MIN_M: f64 = 0.000_5;

/// `carriage_ik.max_m`.
pub const CARRIAGE_IK_MAX_M: f64 = 0.003_5;

/// `carriage_ik.pen_up_min_m`.
pub const CARRIAGE_IK_PEN_UP_MIN_M: f64 = -0.006;

/// `carriage_ik.pen_up_max_m`.
pub const CARRIAGE_IK_PEN_UP_MAX_M: f64 = 0.034;

/// `planner.joint_limit_margin_rad`.
pub const PLANNER_JOINT_LIMIT_MARGIN_RAD: f64 = 0.033_333_333_333_333_33;

/// `planner.max_joint_velocity_rad_s`.
pub const PLANNER_MAX_JOINT_VELOCITY_RAD_S: f64 = 0.375;

/// `planner.max_joint_velocity_pen_up_rad_s`.
pub const PLANNER_MAX_JOINT_VELOCITY_PEN_UP_RAD_S: f64 = 1.0;

/// `planner.max_model_error_m`.
pub const PLANNER_MAX_MODEL_ERROR_M: f64 = 0.000_150_000_000_000_000_01;

/// `planner.max_model_error_pen_up_m`.
pub const PLANNER_MAX_MODEL_ERROR_PEN_UP_M: f64 = 0.001_5;

/// `planner.max_model_error_draw_m`.
pub const PLANNER_MAX_MODEL_ERROR_DRAW_M: f64 = 0.001_5;

/// `planner.max_orientation_error_rad`.
pub const PLANNER_MAX_ORIENTATION_ERROR_RAD: f64 = 0.005;

/// `planner.dls_damping`.
pub const PLANNER_DLS_DAMPING: f64 = 0.02;

/// `planner.position_error_gain_s`.
pub const PLANNER_POSITION_ERROR_GAIN_S: f64 = 4.0;

/// `planner.orientation_error_gain_s`.
pub const PLANNER_ORIENTATION_ERROR_GAIN_S: f64 = 2.0;

/// `planner.carriage_dls_weight`.
pub const PLANNER_CARRIAGE_DLS_WEIGHT: f64 = 2.0;

/// `planner.carriage_center_gain_s`.
pub const PLANNER_CARRIAGE_CENTER_GAIN_S: f64 = 2.0;

/// `planner.max_carriage_velocity_m_s`.
pub const PLANNER_MAX_CARRIAGE_VELOCITY_M_S: f64 = 0.001;

/// `planner.max_carriage_acceleration_m_s2`.
pub const PLANNER_MAX_CARRIAGE_ACCELERATION_M_S2: f64 = 0.02;

/// `planner.max_ticks`.
pub const PLANNER_MAX_TICKS: i64 = 250_000;

/// `path.lean_budget_deg`.
pub const PATH_LEAN_BUDGET_DEG: f64 = 30.0;

/// `path.lean_deadband_deg`.
pub const PATH_LEAN_DEADBAND_DEG: f64 = 12.0;

/// `path.dip_travel_speed_m_s`.
pub const PATH_DIP_TRAVEL_SPEED_M_S: f64 = 0.08;

/// `path.dip_travel_backoff_m_s`.
pub const PATH_DIP_TRAVEL_BACKOFF_M_S: [f64; 6] = [0.08, 0.06, 0.04, 0.025, 0.015, 0.01];

/// `path.dip_descent_speed_m_s`.
pub const PATH_DIP_DESCENT_SPEED_M_S: f64 = 0.01;

/// `orbit.poses`.
pub const ORBIT_POSES: i64 = 3;

/// `orbit.speed_mm_s`.
pub const ORBIT_SPEED_MM_S: f64 = 100.0;

/// `orbit.no_scan_lift_mm`.
pub const ORBIT_NO_SCAN_LIFT_MM: f64 = 10.0;

/// `orbit.capture_settled_rad_s`.
pub const ORBIT_CAPTURE_SETTLED_RAD_S: f64 = 0.075;

/// `orbit.capture_settled_s`.
pub const ORBIT_CAPTURE_SETTLED_S: f64 = 0.15;

/// `orbit.capture_settle_max_s`.
pub const ORBIT_CAPTURE_SETTLE_MAX_S: f64 = 4.5;

/// `audio_servo.rate_m_s`.
pub const AUDIO_SERVO_RATE_M_S: f64 = 0.000_5;

/// `audio_servo.up_m`.
pub const AUDIO_SERVO_UP_M: f64 = 0.004;

/// `audio_servo.stale_s`.
pub const AUDIO_SERVO_STALE_S: f64 = 1.0;

/// `audio_servo.stall_s`.
pub const AUDIO_SERVO_STALL_S: f64 = 5.0;

/// `touchoff.fast_m_s`.
pub const TOUCHOFF_FAST_M_S: f64 = 0.01;

/// `touchoff.slow_m_s`.
pub const TOUCHOFF_SLOW_M_S: f64 = 0.000_5;

/// `touchoff.slow_above_m`.
pub const TOUCHOFF_SLOW_ABOVE_M: f64 = 0.004;

/// `touchoff.below_m`.
pub const TOUCHOFF_BELOW_M: f64 = 0.003;

/// `touchoff.lag_m`.
pub const TOUCHOFF_LAG_M: f64 = 0.000_8;

/// `touchoff.lag_arm_s`.
pub const TOUCHOFF_LAG_ARM_S: f64 = 0.5;

/// `touchoff.lag_hold_s`.
pub const TOUCHOFF_LAG_HOLD_S: f64 = 0.15;

/// `touchoff.effort_stop_n`.
pub const TOUCHOFF_EFFORT_STOP_N: f64 = 12.0;

/// `touchoff.effort_hold_s`.
pub const TOUCHOFF_EFFORT_HOLD_S: f64 = 0.25;

/// `touchoff.cover_m`.
pub const TOUCHOFF_COVER_M: f64 = 0.025;

/// `touchoff.cover_max_m`.
pub const TOUCHOFF_COVER_MAX_M: f64 = 0.04;

/// `touchoff.prior_tilt_deg`.
pub const TOUCHOFF_PRIOR_TILT_DEG: f64 = 8.0;

/// `touchoff.wiggle_m`.
pub const TOUCHOFF_WIGGLE_M: f64 = 0.000_75;

/// `touchoff.wiggle_hz`.
pub const TOUCHOFF_WIGGLE_HZ: f64 = 0.5;

/// `touchoff.return_m_s`.
pub const TOUCHOFF_RETURN_M_S: f64 = 0.015;

/// `touchoff.hover_wait_s`.
pub const TOUCHOFF_HOVER_WAIT_S: f64 = 1.0;

/// `touchoff.hover_timeout_s`.
pub const TOUCHOFF_HOVER_TIMEOUT_S: f64 = 10.0;

/// `touchoff.settle_s`.
pub const TOUCHOFF_SETTLE_S: f64 = 0.5;

/// `audio_rule.rms_drop_db`.
pub const AUDIO_RULE_RMS_DROP_DB: f64 = 10.0;

/// `audio_rule.rms_hyst_db`.
pub const AUDIO_RULE_RMS_HYST_DB: f64 = 3.0;

/// `audio_rule.latch_rows`.
pub const AUDIO_RULE_LATCH_ROWS: i64 = 3;

/// `design.radius_tolerance_fraction`.
pub const DESIGN_RADIUS_TOLERANCE_FRACTION: f64 = 0.25;

/// `registration.rescan_max_translation_m`.
pub const REGISTRATION_RESCAN_MAX_TRANSLATION_M: f64 = 0.008;

/// `registration.rescan_max_rotation_rad`.
pub const REGISTRATION_RESCAN_MAX_ROTATION_RAD: f64 = 0.1;

/// `registration.rescan_max_radius_delta_m`.
pub const REGISTRATION_RESCAN_MAX_RADIUS_DELTA_M: f64 = 0.005;

/// `registration.camera_max_disagreement_m`.
pub const REGISTRATION_CAMERA_MAX_DISAGREEMENT_M: f64 = 0.03;
