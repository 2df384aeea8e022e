//! Any bytes as the constants file: refused, or one digest whatever the blanks, and modules that can be rendered.
use fieldlab_draw::constants::{Constants, artefacts};
use fieldlab_draw::json::Json;

/// One input.
pub(crate) fn run(data: &[u8]) {
    if let Ok(json) = Json::parse(data) {
        let canonical = json.canonical();
        assert_eq!(Json::parse(canonical.as_bytes()).expect("our own JSON").canonical(), canonical);
        drop((json.line(), json.pretty()));
    }
    let Ok(constants) = Constants::parse(data) else { return };
    assert_eq!(constants.sha_full().len(), 64);
    for artefact in artefacts(&constants) {
        assert!(artefact.text.contains(constants.sha()));
    }
    for (key, value) in constants.leaves() {
        assert_eq!(constants.get(key), Some(value));
    }
}
