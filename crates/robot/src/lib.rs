//! The robot side: the 20 ms loop, op modes, hardware traits, and the one door through which numbers leave.
pub mod actions;
pub mod acts;
pub mod clock;
pub mod driver_station;
pub mod field_lab;
pub mod hw;
pub mod network;
pub mod operator;
pub mod opmode;
pub mod robot_loop;
pub mod site;
pub mod storage;
pub mod telemetry;
pub mod utility;
