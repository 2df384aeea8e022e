//! Pictures: a path seen on the chart of its surface, and a surface's height map. Plain SVG text, the same bytes every time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::check::Report;
use crate::findings::Place;
use crate::math::{Rigid, norm};
use crate::samples::Row;
use crate::surface::Surface;

/// Pixels per metre.
const SCALE: f64 = 10_000.0;
/// Room round the canvas, pixels.
const EDGE: f64 = 60.0;
/// Fewest pixels between two drawn points of a line.
const LEAST_STEP: f64 = 0.4;
/// Most failing rows that are marked.
const MOST_MARKS: usize = 2000;

struct Page<'a> {
    surface: &'a Surface,
    out: String,
}

impl<'a> Page<'a> {
    fn new(surface: &'a Surface, title: &str) -> Self {
        let [w, h] = surface.extent_m();
        let (width, height) = (w * SCALE + 2.0 * EDGE, h * SCALE + 2.0 * EDGE);
        let mut out = String::new();
        let _infallible = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" font-family=\"sans-serif\" font-size=\"14\">\n\
             <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
        );
        Self { surface, out }
    }

    fn place(&self, uv: [f64; 2]) -> (f64, f64) {
        let [w, h] = self.surface.extent_m();
        ((uv[0] + w / 2.0) * SCALE + EDGE, (h / 2.0 - uv[1]) * SCALE + EDGE)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Canvas, holes and axes' names.
    fn canvas(&mut self) {
        let [w, h] = self.surface.extent_m();
        let (x, y) = self.place([-w / 2.0, h / 2.0]);
        self.line(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#888\"/>",
            w * SCALE,
            h * SCALE
        ));
        let (x, y) = self.place([0.0, -h / 2.0]);
        self.line(&format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">u, {:.0} mm; v up, {:.0} mm; {}</text>",
            y + 24.0,
            w * 1e3,
            h * 1e3,
            self.surface.chart().kind()
        ));
    }

    fn cells(&mut self, fill: &dyn Fn(usize, usize) -> Option<String>) {
        let (rows, cols) = (self.surface.heights().rows(), self.surface.heights().cols());
        let [w, h] = self.surface.extent_m();
        #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
        let (du, dv) = (w / (cols - 1) as f64, h / (rows - 1) as f64);
        for row in 0..rows {
            for col in 0..cols {
                let Some(color) = fill(row, col) else { continue };
                #[allow(clippy::cast_precision_loss)]
                let uv = [col as f64 * du - w / 2.0 - du / 2.0, row as f64 * dv - h / 2.0 + dv / 2.0];
                let (x, y) = self.place(uv);
                self.line(&format!(
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
                    du * SCALE + 0.2,
                    dv * SCALE + 0.2
                ));
            }
        }
    }

    fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

/// A surface's heights as colours from blue (low) to red (high), holes grey, with the scale below.
#[must_use]
pub fn height_map(surface: &Surface) -> String {
    let mut page = Page::new(surface, "height map");
    let heights = surface.heights();
    let (low, high) = heights
        .values()
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &h| (low.min(h), high.max(h)));
    let span = (high - low).max(1e-9);
    page.cells(&|row, col| {
        if surface.counts().at(row, col) == 0 {
            return Some("#bbb".to_owned());
        }
        let t = (heights.at(row, col) - low) / span;
        let part = |value: f64| (value.clamp(0.0, 1.0) * 255.0).round();
        Some(format!(
            "rgb({},{},{})",
            part(1.5 * t - 0.25),
            part(1.0 - (2.0 * t - 1.0).abs()),
            part(1.25 - 1.5 * t)
        ))
    });
    page.canvas();
    page.line(&format!(
        "<text x=\"{EDGE}\" y=\"30\">heights {:.3} to {:.3} mm, {} holes of {} nodes</text>",
        low * 1e3,
        high * 1e3,
        surface.holes(),
        heights.values().len()
    ));
    page.finish()
}

/// A path on its surface: pen-down lines coloured by speed, pen-up dashed, dips as rings, failing rows as crosses, holes grey.
///
/// Rows are in the base frame; `base_in_root` takes them to the surface's. Rows that do not project are left out and counted below.
#[must_use]
pub fn path(surface: &Surface, rows: &[Row], base_in_root: &Rigid, report: &Report) -> String {
    let mut page = Page::new(surface, "path");
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
    let fastest = rows.iter().filter(|row| row.pen).map(|row| norm(row.v_m_s)).fold(0.0, f64::max);
    let (mut marks, mut lost) = (String::new(), 0usize);
    let mut line: Option<Line> = None;
    for (index, row) in rows.iter().enumerate() {
        // A pen-up row far from the surface has its foot off the canvas, or none: the line is broken there.
        let foot = surface.project(base_in_root.point(row.p_m)).filter(|foot| surface.contains(foot.uv_m));
        let Some(foot) = foot else {
            lost += 1;
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
    let verdict = if report.accepted() { "accepted" } else { "refused" };
    page.line(&format!(
        "<text x=\"{EDGE}\" y=\"30\">{verdict}: {} rows, {} pen down, {} violations, pen-down speed up to {:.2} mm/s, {lost} rows off the canvas</text>",
        rows.len(),
        report.counts.pen_down,
        report.findings.total(),
        fastest * 1e3
    ));
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
                let red = 25 * u16::from(tenths);
                format!("stroke=\"rgb({red},60,{})\" stroke-width=\"2.5\"", 250 - red)
            }
        };
        format!("<polyline points=\"{}\" fill=\"none\" {look}/>", self.points)
    }
}
