//! Layouts, schemas and bytes as WPILib's own code has them.

#![allow(clippy::unwrap_used, reason = "a test's own file")]

use fieldlab_values::schema::{Registry, Tree};
use fieldlab_values::{
    ChassisSpeeds, Pose2d, Pose3d, Quaternion, Rotation2d, Rotation3d, SwerveModulePosition,
    SwerveModuleState, Transform2d, Transform3d, Translation2d, Translation3d, Twist2d, Twist3d, WpiStruct,
};

fn show(tree: &Tree, out: &mut String) {
    match tree {
        Tree::Bool(v) => out.push_str(&format!(" {}", u8::from(*v))),
        Tree::Int(v) => out.push_str(&format!(" {v}")),
        Tree::UInt(v) => out.push_str(&format!(" {v}")),
        Tree::Float(v) => out.push_str(&format!(" f:{:08x}", v.to_bits())),
        Tree::Double(v) => out.push_str(&format!(" d:{:016x}", v.to_bits())),
        Tree::Text(v) => out.push_str(&format!(" t:{v}")),
        Tree::Array(items) => items.iter().for_each(|item| show(item, out)),
        Tree::Struct(fields) => fields.iter().for_each(|(_, field)| show(field, out)),
    }
}

#[test]
fn sizes_and_values_are_those_of_the_official_reader() {
    let mut checked = 0;
    for line in include_str!("golden/structs.txt").lines().filter(|line| !line.starts_with('#')) {
        let [schema, size, hex, values] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut registry = Registry::default();
        registry.add("Out", schema).unwrap();
        registry.add("In", "int16 a;uint8 b:3;bool c:1").unwrap();
        let layout = registry.get("Out").unwrap();
        assert_eq!(layout.size.to_string(), size, "{schema}");
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        let tree = layout.unpack(&bytes).unwrap();
        let mut shown = String::new();
        show(&tree, &mut shown);
        assert_eq!(shown, values, "{schema}");
        checked += 1;
    }
    assert_eq!(checked, 120);
}

fn line<T: WpiStruct>(value: T) -> String {
    let mut bytes = vec![0; T::SIZE];
    value.pack(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}|{}|{}|{hex}", T::NAME, T::SCHEMA, T::SIZE)
}

#[test]
fn ready_types_have_the_schemas_and_bytes_of_wpimath() {
    let angle = Rotation2d::new(0.75);
    let q = Quaternion { w: 0.5, x: 0.5, y: -0.5, z: 0.5 };
    let rotation = Rotation3d { q };
    let t3 = Translation3d { x_m: 1.0, y_m: 2.0, z_m: 3.0 };
    let ours = [
        line(Translation2d::new(1.0, -2.0)),
        line(t3),
        line(angle),
        line(q),
        line(rotation),
        line(Pose2d::new(1.0, 2.0, 0.75)),
        line(Pose3d { translation: t3, rotation }),
        line(Transform2d { translation: Translation2d::new(1.0, 2.0), rotation: angle }),
        line(Transform3d { translation: t3, rotation }),
        line(Twist2d { dx_m: 1.0, dy_m: 2.0, dtheta_rad: 3.0 }),
        line(Twist3d { dx_m: 1.0, dy_m: 2.0, dz_m: 3.0, rx_rad: 4.0, ry_rad: 5.0, rz_rad: 6.0 }),
        line(ChassisSpeeds::new(1.0, 2.0, 3.0)),
        line(SwerveModuleState { speed_mps: 1.0, angle }),
        line(SwerveModulePosition { distance_m: 1.0, angle }),
    ];
    let golden: Vec<&str> =
        include_str!("golden/geometry.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(ours.as_slice(), golden);
}
