//! Markdown. Every word from a log is escaped: a label cannot break a table, open a link or start a heading.

use fieldlab_analysis::findings::Findings;

use crate::document::{Block, Cell, Table};
use crate::sections;

/// The report as Markdown with a final newline.
#[must_use]
pub fn markdown(findings: &Findings) -> String {
    render(&sections::all(findings))
}

pub(crate) fn render(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, s) => {
                out.push_str(&format!("{} {}\n\n", "#".repeat(usize::from(*level)), escape(s)));
            }
            Block::Text(s) => out.push_str(&format!("{}\n\n", escape(s))),
            Block::Alert(_, s) => out.push_str(&format!("> {}\n\n", escape(s))),
            Block::List(items) => {
                for item in items {
                    out.push_str(&format!("- {}\n", escape(item)));
                }
                out.push('\n');
            }
            Block::Table(t) => table(t, &mut out),
            Block::Figure(_) => {}
        }
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    out.push('\n');
    out
}

/// Cells wider than this are not waited for by the others of their column.
const WIDEST: usize = 44;

/// A table whose columns line up in a terminal too; the last is left ragged, since nothing stands behind it.
fn table(table: &Table, out: &mut String) {
    let numeric = |i: usize| {
        table.rows.iter().any(|r| matches!(r.get(i), Some(Cell::Number(_))))
            && table.rows.iter().all(|r| !matches!(r.get(i), Some(Cell::Chip(..))))
    };
    let head: Vec<String> = table.head.iter().map(|h| cell(h)).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|r| r.iter().map(|c| cell(c.words())).collect()).collect();
    let width = |i: usize| {
        let cells = std::iter::once(&head).chain(&rows).filter_map(|r| r.get(i));
        cells.map(|c| c.chars().count()).filter(|w| *w <= WIDEST).max().unwrap_or(0).max(4)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: &[String]| {
        for (i, cell) in cells.iter().enumerate() {
            let wide = if i + 1 == cells.len() { 0 } else { widths.get(i).copied().unwrap_or(0) };
            let padded = if numeric(i) { format!("| {cell:>wide$} ") } else { format!("| {cell:<wide$} ") };
            out.push_str(&padded);
        }
        out.push_str("|\n");
    };
    line(&head);
    let rule = |i: usize| {
        let wide = if i + 1 == head.len() { 4 } else { widths.get(i).copied().unwrap_or(4) };
        if numeric(i) { format!("{}:", "-".repeat(wide - 1)) } else { "-".repeat(wide) }
    };
    line(&(0..head.len()).map(rule).collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
    out.push('\n');
}

/// T18: makes any text safe inside a cell, a paragraph or a list item. Line breaks become spaces; characters that
/// Markdown or the HTML inside it could act on are written as entities or with a backslash.
#[must_use]
fn cell(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let chars: Vec<char> = s.chars().collect();
    for (i, c) in chars.iter().copied().enumerate() {
        // An underscore inside a word is only an underscore.
        let inside = |i: usize| {
            let side = |j: Option<usize>| j.and_then(|j| chars.get(j)).is_some_and(|c| c.is_alphanumeric());
            side(i.checked_sub(1)) && side(i.checked_add(1))
        };
        match c {
            '_' if inside(i) => out.push(c),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// As [`cell`], for a text that may stand at the start of a line, where a sign could begin a list or a heading.
fn escape(s: &str) -> String {
    let safe = cell(s);
    let number = safe.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if safe.starts_with(['#', '+', '-', '=']) && safe.len() > 1 && !number {
        format!("\\{safe}")
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t18_cells_are_escaped() {
        for (raw, safe) in [
            ("a|b", "a\\|b"),
            ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
            ("two\nlines", "two lines"),
            ("# head", "\\# head"),
            ("-1.5", "-1.5"),
            ("- item", "\\- item"),
            ("[a](b)", "\\[a\\](b)"),
            ("\u{1b}[2J", "\u{fffd}\\[2J"),
            ("-", "-"),
            ("", ""),
            ("snake_case _x_", "snake_case \\_x\\_"),
        ] {
            assert_eq!(escape(raw), safe, "{raw:?}");
        }
    }
}
