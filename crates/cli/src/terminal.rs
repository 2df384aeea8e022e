//! The terminal as a driver station: keys in, one status line out.

use std::io::{IsTerminal, Write, stderr, stdin};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;

/// What a person at the driver station can do. None of it can be done over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Select the Field Lab op mode, or none.
    Select,
    /// Enable.
    Enable,
    /// Disable.
    Disable,
    /// Put a full pack in; the robot is off meanwhile.
    SwapPack,
    /// Cut the power, as a breaker does, and boot again.
    CutPower,
    /// End the rehearsal.
    Quit,
}

/// The keys, for people.
pub(crate) const HELP: &str = "keys: s select Field Lab · e or Enter enable · d or space disable · b swap the pack · p cut the power · q quit";

/// The terminal without line editing, until it is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    shown: String,
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// stdin or stderr is none.
    pub(crate) fn open() -> Result<Self> {
        if !stdin().is_terminal() || !stderr().is_terminal() {
            bail!("--human needs a terminal: expected one on stdin and stderr, found a pipe or a file");
        }
        crate::out::say(HELP);
        terminal::enable_raw_mode().context("taking the terminal for keys")?;
        Ok(Self { shown: String::new() })
    }

    /// The next key, if one was pressed within `wait`.
    pub(crate) fn key(&mut self, wait: Duration) -> Result<Option<Key>> {
        if !event::poll(wait).context("reading keys")? {
            return Ok(None);
        }
        Ok(match event::read().context("reading keys")? {
            Event::Key(key) if key.kind != KeyEventKind::Release => meaning(key),
            _ => None,
        })
    }

    /// Shows one line in place of the one before. A line that did not change is not drawn again.
    pub(crate) fn show(&mut self, line: &str) {
        // A terminal that does not know its width says 0.
        let columns = terminal::size().map_or(0, |(columns, _)| usize::from(columns));
        let columns = if columns < 2 { 80 } else { columns };
        let line: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(columns.saturating_sub(1))
            .collect();
        if line != self.shown {
            let mut out = stderr().lock();
            drop(write!(out, "\r\x1b[K{line}").and_then(|()| out.flush()));
            self.shown = line;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(terminal::disable_raw_mode());
        if !self.shown.is_empty() {
            drop(writeln!(stderr().lock()));
        }
    }
}

/// Disable is the easiest key of all, so the space bar does it.
fn meaning(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Key::Quit);
    }
    match key.code {
        KeyCode::Char('s' | 'S') => Some(Key::Select),
        KeyCode::Char('e' | 'E') | KeyCode::Enter => Some(Key::Enable),
        KeyCode::Char('d' | 'D' | ' ') => Some(Key::Disable),
        KeyCode::Char('b' | 'B') => Some(Key::SwapPack),
        KeyCode::Char('p' | 'P') => Some(Key::CutPower),
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Some(Key::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_the_help_says() {
        let plain = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        for (code, expect) in [
            (KeyCode::Char('s'), Some(Key::Select)),
            (KeyCode::Char('e'), Some(Key::Enable)),
            (KeyCode::Enter, Some(Key::Enable)),
            (KeyCode::Char('d'), Some(Key::Disable)),
            (KeyCode::Char(' '), Some(Key::Disable)),
            (KeyCode::Char('b'), Some(Key::SwapPack)),
            (KeyCode::Char('p'), Some(Key::CutPower)),
            (KeyCode::Char('q'), Some(Key::Quit)),
            (KeyCode::Char('x'), None),
        ] {
            assert_eq!(plain(code), expect, "{code:?}");
        }
        let control = |c| meaning(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!(control('c'), Some(Key::Quit));
        assert_eq!(control('e'), None, "control and a letter enables nothing");
    }
}
