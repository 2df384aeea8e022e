//! Any text as a robot description: refused, or a forest in which every chain ends.
use fieldlab_draw::profile::Urdf;

/// One input.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(urdf) = Urdf::parse(text) else { return };
    for link in ["root", "right/base_link", "right/link_6", "right/tool_mount", "a", "b"] {
        for other in ["root", "right/link_6", "right/tool_mount", "a", "b"] {
            let _pose = urdf.between(link, other, &|_| 0.5);
        }
        let _joint = urdf.parent_of(link);
    }
}
