//! Any text as a profile over the reference rig's files, as a tool's datasheet, as a palette and as a design.
use fieldlab_draw::json::Json;
use fieldlab_draw::path::{from_csv, from_svg};
use fieldlab_draw::profile::{Palette, Profile, REFERENCE_RIGHT, Tool};

/// One input.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(profile) = Profile::parse(text, &|name| REFERENCE_RIGHT.file(name)) {
        assert_eq!(profile.sha().len(), 12);
        let posture = profile.chain.posture(&[0.1; 6], 0.001);
        assert!(posture.tip_m.iter().all(|value| value.is_finite()));
    }
    if let Ok(json) = Json::parse_toml(text) {
        if let Ok(tool) = Tool::from_json(&json) {
            drop(tool.tip_in_mount_m(Some([0.0, 0.0, tool.tcp_z_m])));
            drop(tool.tip_in_mount_m(None));
        }
        drop(Palette::from_json(&json));
    }
    drop((from_csv(text), from_svg(text, 1.0)));
}
