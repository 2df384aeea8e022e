//! Any bytes as an archive: refused, or read, written and read the same; and as a surface or a capture likewise.
use fieldlab_draw::capture::Capture;
use fieldlab_draw::npz::Archive;
use fieldlab_draw::surface::Surface;

/// One input.
pub(crate) fn run(data: &[u8]) {
    let Ok(archive) = Archive::parse(data) else { return };
    let bytes = archive.to_bytes(true).expect("what was read can be written");
    let again = Archive::parse(&bytes).expect("our own archive");
    for name in archive.names() {
        // By bytes: NaN must come back too.
        let bits = |archive: &Archive| archive.get(name).map(|array| array.to_bytes());
        assert_eq!(bits(&archive), bits(&again));
    }
    if let Ok(surface) = Surface::parse(data) {
        assert_eq!(
            Surface::parse(&surface.to_bytes().expect("a surface")).expect("our own surface"),
            surface
        );
        let [w, h] = surface.extent_m();
        for uv in [[0.0, 0.0], [w, h], [-w / 2.0, h / 2.0], [f64::NAN, f64::INFINITY]] {
            let frame = surface.frame(uv);
            let _foot = surface.project(frame.point_m);
            let _hole = surface.is_hole(uv);
        }
    }
    if let Ok(capture) = Capture::parse(data) {
        drop(capture.to_bytes().map(|bytes| Capture::parse(&bytes).expect("our own capture")));
        for view in &capture.views {
            drop(view.points(&fieldlab_draw::capture::CloudConfig::default()));
        }
    }
}
