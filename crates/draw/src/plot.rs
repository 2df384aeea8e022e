//! Pictures: a path seen on the chart of its surface, and a surface's height map. Plain SVG text, the same bytes every time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::check::Report;
use crate::findings::Place;
use crate::math::{Rigid, norm};
use crate::samples::Row;
use crate::surface::{Projection, Surface};

/// Pixels per metre.
const SCALE: f64 = 10_000.0;
/// Room left and right of the canvas, above and below it, pixels.
const EDGE: f64 = 60.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 110.0;
/// Narrowest page, so that its words fit, pixels.
const LEAST_WIDTH: f64 = 640.0;
/// Fewest pixels between two drawn points of a line.
const LEAST_STEP: f64 = 0.4;
/// Most failing rows that are marked.
const MOST_MARKS: usize = 2000;
/// Colours of heights from low to high: their lightness rises evenly, so that they also read in grey and to the colour-blind.
const HEIGHTS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];
/// Colours of speeds from slow to fast, all dark enough for white paper.
const SPEEDS: [[f64; 3]; 3] = [[30.0, 90.0, 200.0], [140.0, 60.0, 160.0], [225.0, 80.0, 20.0]];

/// The colour at `t` from 0 to 1 between stops that stand evenly.
fn color(stops: &[[f64; 3]], t: f64) -> String {
    #[allow(clippy::cast_precision_loss)] // a handful
    let at = t.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below the count of stops
    let k = (at.floor() as usize).min(stops.len() - 2);
    #[allow(clippy::cast_precision_loss)]
    let part = at - k as f64;
    let [r, g, b] = [0, 1, 2].map(|i| (stops[k][i] + (stops[k + 1][i] - stops[k][i]) * part).round());
    format!("rgb({r},{g},{b})")
}

struct Page<'a> {
    surface: &'a Surface,
    left: f64,
    out: String,
}

impl<'a> Page<'a> {
    /// A page with a heading of two lines.
    fn new(surface: &'a Surface, title: &str, heading: [&str; 2]) -> Self {
        let [w, h] = surface.extent_m();
        let (width, height) = ((w * SCALE + 2.0 * EDGE).max(LEAST_WIDTH), h * SCALE + TOP + BOTTOM);
        let mut out = String::new();
        let _infallible = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.1} {height:.1}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{EDGE}\" y=\"30\" font-size=\"16\" font-weight=\"bold\">{}</text>\n<text x=\"{EDGE}\" y=\"52\">{}</text>",
            heading[0], heading[1]
        );
        Self { surface, left: (width - w * SCALE) / 2.0, out }
    }

    fn place(&self, uv: [f64; 2]) -> (f64, f64) {
        let [w, h] = self.surface.extent_m();
        ((uv[0] + w / 2.0) * SCALE + self.left, (h / 2.0 - uv[1]) * SCALE + TOP)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Canvas, a bar of ten millimetres, the axes' names.
    fn canvas(&mut self) {
        let [w, h] = self.surface.extent_m();
        let (x, y) = self.place([-w / 2.0, h / 2.0]);
        self.line(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#888\"/>",
            w * SCALE,
            h * SCALE
        ));
        let (x, y) = self.place([-w / 2.0, -h / 2.0]);
        self.line(&format!(
            "<path d=\"M{x:.1} {:.1}v6m0-3h{:.1}m0-3v6\" stroke=\"#333\" fill=\"none\"/>",
            y + 12.0,
            0.01 * SCALE
        ));
        self.line(&format!("<text x=\"{:.1}\" y=\"{:.1}\">10 mm</text>", x + 0.01 * SCALE + 8.0, y + 20.0));
        let (x, _) = self.place([w / 2.0, 0.0]);
        self.line(&format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}, u to the right {:.0} mm, v up {:.0} mm</text>",
            y + 20.0,
            self.surface.chart().kind(),
            w * 1e3,
            h * 1e3
        ));
    }

    /// A bar of colours with its two ends, in the row of the legend.
    fn scale(&mut self, stops: &[[f64; 3]], ends: [&str; 2]) -> f64 {
        let y = self.legend_y();
        for k in 0..40 {
            let fill = color(stops, f64::from(k) / 39.0);
            self.line(&format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"3.5\" height=\"12\" fill=\"{fill}\"/>",
                EDGE + 3.0 * f64::from(k),
                y - 10.0
            ));
        }
        self.line(&format!("<text x=\"{EDGE}\" y=\"{:.1}\">{}</text>", y + 18.0, ends[0]));
        self.line(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            EDGE + 120.0,
            y + 18.0,
            ends[1]
        ));
        EDGE + 150.0
    }

    fn legend_y(&self) -> f64 {
        self.surface.extent_m()[1] * SCALE + TOP + 60.0
    }

    /// A sign of the legend with its word; returns where the next begins.
    fn sign(&mut self, x: f64, sign: &str, word: &str) -> f64 {
        let y = self.legend_y();
        self.line(&format!("<g transform=\"translate({x:.1} {:.1})\">{sign}</g>", y - 4.0));
        self.line(&format!("<text x=\"{:.1}\" y=\"{y:.1}\">{word}</text>", x + 32.0));
        #[allow(clippy::cast_precision_loss)] // a word
        let width = 7.0 * word.len() as f64;
        x + 46.0 + width
    }

    /// The cells round the nodes, those of the border cut at the canvas.
    fn cells(&mut self, fill: &dyn Fn(usize, usize) -> Option<String>) {
        let (rows, cols) = (self.surface.heights().rows(), self.surface.heights().cols());
        let [w, h] = self.surface.extent_m();
        #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
        let (du, dv) = (w / (cols - 1) as f64, h / (rows - 1) as f64);
        for row in 0..rows {
            for col in 0..cols {
                let Some(color) = fill(row, col) else { continue };
                #[allow(clippy::cast_precision_loss)]
                let (u, v) = (col as f64 * du - w / 2.0, row as f64 * dv - h / 2.0);
                let (x0, y0) = self.place([(u - du / 2.0).max(-w / 2.0), (v + dv / 2.0).min(h / 2.0)]);
                let (x1, y1) = self.place([(u + du / 2.0).min(w / 2.0), (v - dv / 2.0).max(-h / 2.0)]);
                // A little more, so that no seam shows between cells.
                self.line(&format!(
                    "<rect x=\"{x0:.1}\" y=\"{y0:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
                    x1 - x0 + 0.3,
                    y1 - y0 + 0.3
                ));
            }
        }
    }

    fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

/// A surface's heights as colours, lighter is higher, holes grey, with the scale below.
#[must_use]
pub fn height_map(surface: &Surface) -> String {
    let heights = surface.heights();
    let (low, high) = heights
        .values()
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &h| (low.min(h), high.max(h)));
    let span = (high - low).max(1e-9);
    let count = format!("{} holes of {} nodes", surface.holes(), heights.values().len());
    let words =
        format!("heights {:.3} to {:.3} mm over the {}", low * 1e3, high * 1e3, surface.chart().kind());
    let mut page = Page::new(surface, "height map", [&words, &count]);
    page.cells(&|row, col| {
        if surface.counts().at(row, col) == 0 {
            return Some("#ccc".to_owned());
        }
        Some(color(&HEIGHTS, (heights.at(row, col) - low) / span))
    });
    page.canvas();
    let ends = [format!("{:.2} mm", low * 1e3), format!("{:.2} mm", high * 1e3)];
    let x = page.scale(&HEIGHTS, [&ends[0], &ends[1]]);
    page.sign(x, "<rect width=\"22\" height=\"10\" y=\"-5\" fill=\"#ccc\"/>", "not measured");
    page.finish()
}

/// A path on its surface: pen-down lines coloured by speed, pen-up dashed, dips as rings, failing rows as crosses, holes grey.
///
/// Rows are in the base frame; `base_in_root` takes them to the surface's. Rows that do not project are left out and counted below.
#[must_use]
pub fn path(surface: &Surface, rows: &[Row], base_in_root: &Rigid, report: &Report) -> String {
    let verdict = if report.accepted() { "accepted" } else { "refused" };
    let counts = &report.counts;
    let heading = format!("{verdict}, {} violations", report.findings.total());
    let fastest = rows.iter().filter(|row| row.pen).map(|row| norm(row.v_m_s)).fold(0.0, f64::max);
    #[allow(clippy::cast_precision_loss)] // at most 250 000
    let secs = rows.len() as f64 * crate::constants::generated::PERIOD_S;
    // A pen-up row far from the surface has its foot off the canvas, or none: the line is broken there.
    let foot =
        |row: &Row| surface.project(base_in_root.point(row.p_m)).filter(|foot| surface.contains(foot.uv_m));
    let feet: Vec<Option<Projection>> = rows.iter().map(foot).collect();
    let lost = feet.iter().filter(|foot| foot.is_none()).count();
    let words = format!(
        "{} rows, {secs:.1} s, {} pen down, {} dips, {} captures, {lost} rows off the canvas",
        rows.len(),
        counts.pen_down,
        counts.dips,
        counts.captures
    );
    let mut page = Page::new(surface, "path", [&heading, &words]);
    page.cells(&|row, col| (surface.counts().at(row, col) == 0).then(|| "#ddd".to_owned()));
    page.canvas();
    let failing: BTreeSet<u64> = report
        .findings
        .listed()
        .iter()
        .filter_map(|finding| match finding.place {
            Place::Row(row) => Some(row),
            _ => None,
        })
        .take(MOST_MARKS)
        .collect();
    let mut marks = String::new();
    let mut line: Option<Line> = None;
    for (index, (row, foot)) in rows.iter().zip(feet).enumerate() {
        let Some(foot) = foot else {
            if let Some(line) = line.take() {
                page.line(&line.svg());
            }
            continue;
        };
        let at = page.place(foot.uv_m);
        let share = if fastest > 0.0 { norm(row.v_m_s) / fastest } else { 0.0 };
        let style = Style::of(row.pen, share);
        match &mut line {
            Some(open) if open.style == style => open.to(at),
            _ => {
                let from = line.take().map(|done| {
                    page.line(&done.svg());
                    done.last
                });
                let mut next = Line::new(style, from.unwrap_or(at));
                next.to(at);
                line = Some(next);
            }
        }
        let (x, y) = at;
        if row.dip > 0 {
            let _infallible = writeln!(
                marks,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" fill=\"none\" stroke=\"#06c\"><title>dip {}</title></circle>",
                row.dip
            );
        }
        if row.capture > 0 {
            let _infallible = writeln!(
                marks,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"none\" stroke=\"#090\"><title>capture {}</title></rect>",
                x - 5.0,
                y - 5.0,
                row.capture
            );
        }
        if failing.contains(&(index as u64)) {
            let _infallible = writeln!(
                marks,
                "<path d=\"M{:.1} {:.1}l10 10m0 -10l-10 10\" stroke=\"#d00\" stroke-width=\"2\"><title>row {index} is refused</title></path>",
                x - 5.0,
                y - 5.0
            );
        }
    }
    if let Some(line) = line {
        page.line(&line.svg());
    }
    page.line(marks.trim_end());
    let x = page.scale(&SPEEDS, ["0", &format!("{:.1} mm/s", fastest * 1e3)]);
    let x = page.sign(x, "<path d=\"M0 0h26\" stroke=\"#999\" stroke-dasharray=\"6 4\"/>", "pen up");
    let x = page.sign(x, "<circle cx=\"14\" r=\"8\" fill=\"none\" stroke=\"#06c\"/>", "dip");
    let x = page.sign(
        x,
        "<rect x=\"9\" y=\"-5\" width=\"10\" height=\"10\" fill=\"none\" stroke=\"#090\"/>",
        "capture",
    );
    let x =
        page.sign(x, "<path d=\"M9 -5l10 10m0 -10l-10 10\" stroke=\"#d00\" stroke-width=\"2\"/>", "refused");
    page.sign(x, "<rect width=\"22\" height=\"10\" y=\"-5\" fill=\"#ddd\"/>", "hole");
    page.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Up,
    /// Speed in tenths of the fastest.
    Down(u8),
}

impl Style {
    fn of(pen: bool, share: f64) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 10
        if pen { Self::Down((share * 10.0).round().clamp(0.0, 10.0) as u8) } else { Self::Up }
    }
}

struct Line {
    style: Style,
    points: String,
    last: (f64, f64),
}

impl Line {
    fn new(style: Style, from: (f64, f64)) -> Self {
        Self { style, points: format!("{:.1},{:.1}", from.0, from.1), last: from }
    }

    fn to(&mut self, at: (f64, f64)) {
        if (at.0 - self.last.0).hypot(at.1 - self.last.1) >= LEAST_STEP {
            let _infallible = write!(self.points, " {:.1},{:.1}", at.0, at.1);
            self.last = at;
        }
    }

    fn svg(&self) -> String {
        let look = match self.style {
            Style::Up => "stroke=\"#999\" stroke-dasharray=\"6 4\"".to_owned(),
            Style::Down(tenths) => {
                let stroke = color(&SPEEDS, f64::from(tenths) / 10.0);
                format!("stroke=\"{stroke}\" stroke-width=\"2.5\" stroke-linecap=\"round\"")
            }
        };
        format!("<polyline points=\"{}\" fill=\"none\" {look}/>", self.points)
    }
}
