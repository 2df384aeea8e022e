//! What a trial measured, beside what it aims at.

use std::fmt;

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// Met by this or less.
    AtMost(f64),
    /// Met by this or more.
    AtLeast(f64),
    /// No aim: printed for the reader.
    Shown,
}

impl Aim {
    /// Whether the figure meets it. A figure that is not finite meets no aim.
    #[must_use]
    pub fn met_by(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured.is_finite() && measured <= limit,
            Self::AtLeast(limit) => measured.is_finite() && measured >= limit,
            Self::Shown => true,
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "≤ {}", number(*limit)),
            Self::AtLeast(limit) => write!(f, "≥ {}", number(*limit)),
            Self::Shown => f.write_str("-"),
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// The figure.
    pub measured: f64,
    /// Its unit, as printed.
    pub unit: &'static str,
    /// What it should be.
    pub aim: Aim,
}

/// The table that a trial prints last.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    title: String,
    attached: Vec<String>,
    rows: Vec<Row>,
}

impl Figures {
    /// An empty table.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), attached: Vec::new(), rows: Vec::new() }
    }

    /// Names something that was running while the figures were taken: topics, sinks, clients, the seed.
    pub fn attached(&mut self, what: impl Into<String>) {
        self.attached.push(what.into());
    }

    /// Adds a figure.
    pub fn row(&mut self, name: impl Into<String>, measured: f64, unit: &'static str, aim: Aim) {
        self.rows.push(Row { name: name.into(), measured, unit, aim });
    }

    /// Adds the lines of another table below these.
    pub fn append(&mut self, other: Self) {
        self.attached.extend(other.attached);
        self.rows.extend(other.rows);
    }

    /// The lines so far.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// True when every aim was met. A table without a line met nothing.
    #[must_use]
    pub fn met(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.aim.met_by(row.measured))
    }

    /// The table, then one line of JSON for machines.
    #[must_use]
    pub fn render(&self) -> String {
        let cells: Vec<[String; 4]> = self
            .rows
            .iter()
            .map(|row| {
                let outcome = match row.aim {
                    Aim::Shown => "",
                    aim if aim.met_by(row.measured) => "met",
                    _ => "MISSED",
                };
                [
                    row.name.clone(),
                    format!("{} {}", number(row.measured), row.unit),
                    row.aim.to_string(),
                    outcome.to_owned(),
                ]
            })
            .collect();
        let head = ["figure", "measured", "aim", ""].map(str::to_owned);
        let width = |column: usize| {
            cells.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2), width(3)];
        let mut text = format!("{}\n", self.title);
        for what in &self.attached {
            text.push_str(&format!("  with {what}\n"));
        }
        for row in [&head].into_iter().chain(&cells) {
            let line = format!(
                "{:<a$}  {:>b$}  {:>c$}  {}",
                row[0],
                row[1].trim_end(),
                row[2],
                row[3],
                a = widths[0],
                b = widths[1],
                c = widths[2]
            );
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push_str(&self.machine_line());
        text.push('\n');
        text
    }

    /// One JSON object on one line: the title, whether every aim was met, and the figures. Not finite is null.
    #[must_use]
    pub fn machine_line(&self) -> String {
        let rows: Vec<serde_json::Value> = self
            .rows
            .iter()
            .map(|row| {
                let (at_most, at_least) = match row.aim {
                    Aim::AtMost(limit) => (Some(limit), None),
                    Aim::AtLeast(limit) => (None, Some(limit)),
                    Aim::Shown => (None, None),
                };
                serde_json::json!({
                    "name": row.name, "measured": row.measured, "unit": row.unit,
                    "at_most": at_most, "at_least": at_least, "met": row.aim.met_by(row.measured),
                })
            })
            .collect();
        serde_json::json!({ "figures": self.title, "met": self.met(), "with": self.attached, "rows": rows })
            .to_string()
    }
}

/// Four significant digits without an exponent, and whole numbers whole.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "none".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = 3 - value.abs().log10().floor() as i64;
    format!("{value:.*}", usize::try_from(digits.clamp(0, 9)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_is_met_at_its_limit_and_never_by_nan() {
        for (aim, measured, expect) in [
            (Aim::AtMost(50.0), 50.0, true),
            (Aim::AtMost(50.0), 50.1, false),
            (Aim::AtLeast(1.0), 1.0, true),
            (Aim::AtLeast(1.0), 0.99, false),
            (Aim::AtMost(50.0), f64::NAN, false),
            (Aim::AtLeast(1.0), f64::INFINITY, false),
            (Aim::Shown, f64::NAN, true),
        ] {
            assert_eq!(aim.met_by(measured), expect, "{aim:?} {measured}");
        }
    }

    #[test]
    fn one_missed_aim_is_a_missed_table_and_an_empty_table_met_nothing() {
        let mut figures = Figures::new("wire");
        assert!(!figures.met());
        figures.row("index beside its scan", 0.62, "×", Aim::AtMost(0.7));
        assert!(figures.met());
        figures.row("messages", 0.9, "×", Aim::AtLeast(1.0));
        assert!(!figures.met());
        let text = figures.render();
        assert!(text.contains("≤ 0.7000"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("messages") && line.ends_with("MISSED")), "{text}");
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or("")).unwrap();
        assert_eq!(last["met"], false);
        assert_eq!(last["rows"][0]["at_most"], 0.7);
    }

    #[test]
    fn numbers_keep_four_digits() {
        for (value, expect) in
            [(50.0, "50"), (0.61234, "0.6123"), (12.3456, "12.35"), (123456.7, "123457"), (f64::NAN, "none")]
        {
            assert_eq!(number(value), expect);
        }
    }
}
