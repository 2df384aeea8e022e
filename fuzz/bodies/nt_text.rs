//! Any text as control messages: at most its sender is closed, and the robot's topics stand.

#[path = "nt.rs"]
mod nt;

/// One input: a message a line.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut stage = nt::Stage::new();
    for line in text.lines().take(16) {
        if !stage.text(line) {
            break;
        }
        stage.pump();
    }
    stage.check();
    let mut stage = nt::Stage::new();
    for line in text.lines().take(16) {
        if stage.watcher().receive_text(line).is_err() {
            break;
        }
    }
}
