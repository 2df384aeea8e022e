//! What a robot can say: value types, their names in NetworkTables and in .wpilog files, struct schemas.
//!
//! ```
//! use fieldlab_values::{DataType, Value};
//!
//! let kind = DataType::from_nt("int");
//! assert_eq!(kind.log_name(), "int64");
//! assert_eq!(Value::from(4).data_type(), DataType::Int);
//! ```
//!
//! Promises: hostile bytes neither panic nor allocate more than a constant factor of their own length.
//! Knows nothing of files, sockets or clocks.

mod geometry;
mod publish;
pub mod schema;
mod types;
mod value;
mod wpistruct;

pub use geometry::{
    ChassisSpeeds, Pose2d, Pose3d, Quaternion, Rotation2d, Rotation3d, SwerveModulePosition,
    SwerveModuleState, Transform2d, Transform3d, Translation2d, Translation3d, Twist2d, Twist3d,
};
pub use publish::{Publish, Published, Publisher, Root, TopicSpec};
pub use types::{DataType, Family};
pub use value::{Value, ValueRef};
pub use wpistruct::WpiStruct;
