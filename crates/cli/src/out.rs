//! stdout carries the result and nothing else; stderr carries the conversation.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use fieldlab_store::{Disk, replace};
use indicatif::{ProgressBar, ProgressStyle};

/// Writes a result to stdout. A text gets its last newline if it has none.
pub(crate) fn result(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") })?;
    out.flush()?;
    Ok(())
}

/// Writes a result to stdout, or to a file whole or not at all, and then says where.
pub(crate) fn result_or_file(text: &str, file: Option<&Path>) -> Result<()> {
    let Some(path) = file else { return result(text) };
    let mut bytes = text.as_bytes().to_vec();
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        bail!("writing {}: the folder {} does not exist", path.display(), folder.display());
    }
    replace(&mut Disk::new(), path, &bytes)?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}

/// One line of conversation. That stderr is gone is no reason to stop.
pub(crate) fn say(line: &str) {
    drop(writeln!(stderr().lock(), "{line}"));
}

/// Whether headings on stdout may stand out: it is a terminal that can, and nobody asked for plain text.
pub(crate) fn stdout_takes_colour() -> bool {
    let says_no = |name: &str, no: &dyn Fn(&str) -> bool| std::env::var(name).is_ok_and(|value| no(&value));
    stdout().is_terminal()
        && !says_no("NO_COLOR", &|value| !value.is_empty())
        && !says_no("TERM", &|value| value == "dumb")
}

/// A text from outside may hold anything; a terminal must not be driven by it.
pub(crate) fn printable(text: &str) -> String {
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text.to_owned() }
}

/// A bar for long work, drawn only when stderr is a terminal.
pub(crate) fn bar(what: &str, total: u64) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3}% {elapsed_precise}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Columns padded to the widest cell; numbers (the columns named in `right`) to the right.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|cell| cell.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut row = String::new();
        for (column, cell) in cells.enumerate() {
            let pad = widths.get(column).copied().unwrap_or(0);
            if column > 0 {
                row.push_str("  ");
            }
            row.push_str(&if right.contains(&column) {
                format!("{cell:>pad$}")
            } else {
                format!("{cell:<pad$}")
            });
        }
        text.push_str(row.trim_end());
        text.push('\n');
    };
    line(&mut head.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let rows = vec![vec!["a".to_owned(), "10".to_owned()], vec!["longer".to_owned(), "7".to_owned()]];
        assert_eq!(table(&["name", "count"], &rows, &[1]), "name    count\na          10\nlonger      7\n");
    }

    #[test]
    fn a_file_is_written_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        result_or_file("old", Some(&path)).unwrap();
        result_or_file("new", Some(&path)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = result_or_file("new", Some(&folder.path().join("absent/report.md"))).unwrap_err();
        assert!(error.to_string().contains("absent does not exist"), "{error}");
    }
}
