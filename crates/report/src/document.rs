//! The report as blocks: what Markdown and HTML both print.

use std::borrow::Cow;

/// One block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// A heading of level 1, 2 or 3.
    Heading(u8, String),
    /// A paragraph.
    Text(String),
    /// A paragraph that must not be missed.
    Alert(Tone, String),
    /// Lines with bullets.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// A picture: which one, and what it shows in words. Markdown leaves it out.
    Figure(Figure),
}

/// How a chip or an alert is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Plain,
    Warn,
    Bad,
}

/// A table: a head, and rows of as many cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    pub(crate) head: Vec<Cow<'static, str>>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// With a head that is known in advance, and no rows.
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.iter().map(|h| Cow::Borrowed(*h)).collect(), rows: Vec::new() }
    }

    pub(crate) fn with(head: &[&'static str], rows: Vec<Vec<Cell>>) -> Self {
        Self { rows, ..Self::new(head) }
    }
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number, to the right.
    Number(String),
    /// A word with a tone.
    Chip(Tone, String),
}

impl Cell {
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Text(s) | Self::Number(s) | Self::Chip(_, s) => s,
        }
    }
}

/// A picture and its caption.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) svg: String,
    pub(crate) caption: String,
}

pub(crate) fn text(s: impl Into<String>) -> Cell {
    Cell::Text(s.into())
}

pub(crate) fn num(s: impl Into<String>) -> Cell {
    Cell::Number(s.into())
}
