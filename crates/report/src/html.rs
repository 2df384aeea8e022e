//! One HTML page that needs nothing beside it: style and pictures inline, no script, dark and light by the reader's
//! choice, readable on a phone.

use fieldlab_analysis::findings::Findings;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use crate::document::{Block, Cell, Table, Tone};
use crate::sections;

const STYLE: &str = include_str!("style.css");

/// The report as one HTML page.
#[must_use]
pub fn html(findings: &Findings) -> String {
    let blocks = sections::all(findings);
    let title = match blocks.first() {
        Some(Block::Heading(_, words)) => words.clone(),
        _ => "Field Lab report".to_owned(),
    };
    page(&title, &blocks).into_string()
}

fn page(title: &str, blocks: &[Block]) -> Markup {
    let anchors: Vec<(usize, &String)> = blocks
        .iter()
        .enumerate()
        .filter_map(|(i, b)| match b {
            Block::Heading(2, words) => Some((i, words)),
            _ => None,
        })
        .collect();
    markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @for (i, block) in blocks.iter().enumerate() {
                        (one(i, block))
                        @if i == 0 && !anchors.is_empty() {
                            nav { @for (at, words) in &anchors { a href={ "#s" (at) } { (words) } } }
                        }
                    }
                }
            }
        }
    }
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
    }
}

fn one(i: usize, block: &Block) -> Markup {
    markup! {
        @match block {
            Block::Heading(1, words) => h1 { (words) },
            Block::Heading(2, words) => h2 id={ "s" (i) } { (words) },
            Block::Heading(_, words) => h3 { (words) },
            Block::Text(words) => p { (words) },
            Block::Alert(t, words) => p class={ "a " (tone(*t)) } { (words) },
            Block::List(items) => ul { @for item in items { li { (item) } } },
            Block::Table(t) => (table(t)),
            // The pictures are made here and escape what they are given; nothing else goes in unescaped.
            Block::Figure(f) => figure { (PreEscaped(&f.svg)) figcaption { (f.caption) } },
        }
    }
}

fn table(t: &Table) -> Markup {
    let numeric = |i: usize| t.rows.iter().any(|r| matches!(r.get(i), Some(Cell::Number(_))));
    let facts = t.head.iter().all(|h| h.is_empty());
    markup! {
        div class="wide" {
            table class=[facts.then_some("facts")] {
                @if !facts {
                    thead { tr {
                        @for (i, h) in t.head.iter().enumerate() { th class=[numeric(i).then_some("n")] { (h) } }
                    } }
                }
                tbody {
                    @for row in &t.rows {
                        tr { @for cell in row {
                            @match cell {
                                Cell::Text(s) => td { (s) },
                                Cell::Number(s) => td class="n" { (s) },
                                Cell::Chip(t, s) => td { span class={ "chip " (tone(*t)) } { (s) } },
                            }
                        } }
                    }
                }
            }
        }
    }
}
