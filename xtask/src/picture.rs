//! `cargo xtask picture`: the README's picture, which is what a rehearsal printed, set as SVG.

use std::fs;

use anyhow::{Context, Result};

use crate::metadata::Graph;
use crate::run::{cargo, output, root};

/// Where the README looks for it.
const PICTURE: &str = "docs/rehearsal.svg";
const COLUMNS: usize = 118;
const LINES: usize = 64;
const LINE_PX: usize = 17;
const CHAR_PX: f64 = 7.83;

pub(crate) fn run() -> Result<()> {
    let out = Graph::load()?.target.join("picture");
    let printed = output(
        cargo(&["run", "--quiet", "--release", "--locked", "--", "rehearse", "--nt-port", "0", "--out"])
            .arg(&out),
    )?;
    let text = String::from_utf8(printed).context("a rehearsal printed something else than text")?;
    let path = root().join(PICTURE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, draw("$ cargo run --release -- rehearse", &excerpt(&text)))
        .with_context(|| format!("writing {PICTURE}"))?;
    println!("picture: wrote {PICTURE}");
    Ok(())
}

/// The sections that a picture has room for, each as it was printed: up to the constants, and the comparison with the truth.
fn excerpt(text: &str) -> String {
    let mut kept = String::new();
    let mut keep = true;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let wanted = title == "Constants" || title.starts_with("Beside the simulator");
            if keep && !wanted {
                kept.push_str("…\n\n");
            }
            keep = wanted;
        }
        if keep {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A terminal's window with the text in it; long lines are cut, and so is a long text, with a mark that says so.
fn draw(command: &str, text: &str) -> String {
    let mut lines: Vec<String> = std::iter::once(command).chain(text.lines()).map(cut).collect();
    if lines.len() > LINES {
        lines.truncate(LINES - 1);
        lines.push("…".to_owned());
    }
    let width = (COLUMNS as f64 * CHAR_PX).ceil() as usize + 32;
    let height = lines.len() * LINE_PX + 36;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>What a rehearsal prints</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#14181d\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        if !line.trim().is_empty() {
            let y = 28 + row * LINE_PX;
            svg.push_str(&format!(
                "<text x=\"16\" y=\"{y}\" fill=\"{}\">{}</text>\n",
                ink(line),
                escape(line)
            ));
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn ink(line: &str) -> &'static str {
    if line.starts_with('$') {
        "#8fb8ff"
    } else if line.starts_with('#') {
        "#ffd479"
    } else {
        "#d6dde5"
    }
}

fn cut(line: &str) -> String {
    if line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    line.chars().take(COLUMNS - 1).chain(['…']).collect()
}

/// Spaces become ones that do not collapse: browsers differ in what keeps the others inside an SVG text.
fn escape(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_keeps_the_head_the_constants_and_the_truth() {
        let text = "# T\na\n## Constants\nb\n## The afternoon\nc\n## Beside the simulator's own truth\nd\n## Files\ne\n";
        assert_eq!(
            excerpt(text),
            "# T\na\n## Constants\nb\n…\n\n## Beside the simulator's own truth\nd\n…\n\n"
        );
    }

    #[test]
    fn a_picture_is_well_formed_and_bounded() {
        let long = "a <b> & c ".repeat(40);
        let svg = draw("$ x", &format!("{long}\n").repeat(200));
        assert_eq!(svg.matches("<text").count(), LINES);
        assert!(
            svg.contains("a\u{a0}&lt;b&gt;\u{a0}&amp;\u{a0}c")
                && svg.contains('…')
                && svg.ends_with("</svg>\n")
        );
    }
}
