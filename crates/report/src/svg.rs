//! Small plots as inline SVG. Colours are classes, so that one picture serves a dark and a light page; text is escaped;
//! the same numbers give the same bytes.

const WIDTH: f64 = 720.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 42.0;

/// A plot being drawn: data coordinates in, SVG out.
pub(crate) struct Plot {
    body: String,
    words: String,
    levels: Vec<f64>,
    legend: Vec<(usize, String)>,
    height: f64,
    x: Axis,
    y: Axis,
}

/// One axis: a range in data units and a label.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    label: String,
    /// Ticks as minutes and seconds.
    clock: bool,
    ticked: bool,
}

impl Axis {
    /// Covers all finite values with a little air; `None` when there is no value.
    pub(crate) fn over(label: &str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return None;
        }
        let air = if high > low { 0.04 * (high - low) } else { (0.05 * high.abs()).max(1e-3) };
        Some(Self { low: low - air, high: high + air, label: label.to_owned(), clock: false, ticked: true })
    }

    /// The given range.
    pub(crate) fn range(label: &str, low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, label: label.to_owned(), clock: false, ticked: true }
    }

    /// With ticks as minutes and seconds.
    pub(crate) fn in_minutes(mut self) -> Self {
        self.clock = true;
        self
    }

    /// Without ticks, for rows and names.
    pub(crate) fn unticked(mut self) -> Self {
        self.ticked = false;
        self
    }

    fn ticks(&self) -> Vec<f64> {
        if !self.ticked {
            return Vec::new();
        }
        let step = self.step();
        let first = (self.low / step).ceil() as i64;
        (first..first + 30).map(|i| i as f64 * step).take_while(|t| *t <= self.high).collect()
    }

    /// Round distance between ticks.
    fn step(&self) -> f64 {
        let rough = (self.high - self.low) / 6.0;
        let steps: &[f64] = if self.clock {
            &[1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0]
        } else {
            &[]
        };
        steps.iter().copied().find(|s| *s >= rough).unwrap_or_else(|| {
            let scale = 10f64.powf(rough.log10().floor());
            [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * scale).find(|s| *s >= rough).unwrap_or(rough)
        })
    }

    fn tick_text(&self, value: f64) -> String {
        if self.clock {
            return crate::text::clock(value);
        }
        let decimals = (-self.step().log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.decimals$}");
        if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { "0".to_owned() } else { text }
    }
}

impl Plot {
    /// An empty plot of that height in pixels.
    pub(crate) fn new(height: f64, x: Axis, y: Axis) -> Self {
        let mut plot = Self {
            body: String::new(),
            words: String::new(),
            levels: Vec::new(),
            legend: Vec::new(),
            height,
            x,
            y,
        };
        plot.frame();
        plot
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + (x - self.x.low) / (self.x.high - self.x.low) * (WIDTH - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - (y - self.y.low) / (self.y.high - self.y.low) * (bottom - TOP)
    }

    fn frame(&mut self) {
        let (x, y) = (self.x.clone(), self.y.clone());
        let bottom = self.height - BOTTOM;
        for tick in x.ticks() {
            let at = self.px(tick);
            self.put(format_args!(
                "<line class=\"g\" x1=\"{at:.1}\" y1=\"{TOP:.1}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/><text class=\"t\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                x.tick_text(tick)
            ));
        }
        for tick in y.ticks() {
            let at = self.py(tick);
            self.put(format_args!(
                "<line class=\"g\" x1=\"{LEFT:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/><text class=\"t\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                y.tick_text(tick)
            ));
        }
        self.put(format_args!(
            "<text class=\"l\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            self.height - 8.0,
            escape(&x.label)
        ));
        self.put(format_args!(
            "<text class=\"l\" x=\"13\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 13 {:.1})\">{}</text>",
            (TOP + bottom) / 2.0,
            (TOP + bottom) / 2.0,
            escape(&y.label)
        ));
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.body.push_str(&std::fmt::format(text));
    }

    /// Names a colour for the legend.
    pub(crate) fn name(&mut self, colour: usize, label: &str) {
        self.legend.push((colour, label.to_owned()));
    }

    /// A line through points; points that are not finite break it.
    pub(crate) fn line(&mut self, colour: usize, points: &[(f64, f64)], dashed: bool) {
        let mut path = String::new();
        let mut pen_up = true;
        for (x, y) in points {
            if !(x.is_finite() && y.is_finite()) {
                pen_up = true;
                continue;
            }
            let (px, py) = (self.px(*x), self.py(*y));
            path.push_str(&format!("{}{px:.1} {py:.1}", if pen_up { "M" } else { "L" }));
            pen_up = false;
        }
        if !path.is_empty() {
            let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            self.put(format_args!("<path class=\"c{} n\" d=\"{path}\"{dash}/>", colour % 6));
        }
    }

    /// Dots. The shape changes with the colour, so that colour is never the only sign.
    pub(crate) fn dots(&mut self, colour: usize, points: &[(f64, f64)], radius: f64) {
        let class = colour % 6;
        for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let (cx, cy, r) = (self.px(*x), self.py(*y), radius);
            match class {
                1 => self.put(format_args!(
                    "<rect class=\"c1 f\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    cx - r,
                    cy - r,
                    2.0 * r,
                    2.0 * r
                )),
                2 => self.put(format_args!(
                    "<path class=\"c2 f\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
                    cx,
                    cy - 1.2 * r,
                    cx + 1.2 * r,
                    cy + r,
                    cx - 1.2 * r,
                    cy + r
                )),
                3 => self.put(format_args!(
                    "<path class=\"c3 f\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
                    cx,
                    cy - 1.3 * r,
                    cx + 1.3 * r,
                    cy,
                    cx,
                    cy + 1.3 * r,
                    cx - 1.3 * r,
                    cy
                )),
                c => self.put(format_args!(
                    "<circle class=\"c{c} f\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{r:.1}\"/>"
                )),
            }
        }
    }

    /// A vertical interval bar with caps.
    pub(crate) fn bar(&mut self, colour: usize, x: f64, low: f64, high: f64) {
        if !(x.is_finite() && low.is_finite() && high.is_finite()) {
            return;
        }
        let (cx, a, b) = (self.px(x), self.py(low), self.py(high));
        self.put(format_args!(
            "<path class=\"c{} n\" d=\"M{cx:.1} {a:.1}L{cx:.1} {b:.1}M{:.1} {a:.1}L{:.1} {a:.1}M{:.1} {b:.1}L{:.1} {b:.1}\"/>",
            colour % 6,
            cx - 5.0,
            cx + 5.0,
            cx - 5.0,
            cx + 5.0
        ));
    }

    /// A horizontal line across the plot with a word at its left end, or at its right end when another level's word
    /// would be under it.
    pub(crate) fn level(&mut self, y: f64, word: &str) {
        if !(self.y.low..=self.y.high).contains(&y) {
            return;
        }
        let at = self.py(y);
        let crowded = self.levels.iter().any(|other| (other - at).abs() < 13.0);
        self.levels.push(at);
        let (x, anchor) = if crowded { (WIDTH - RIGHT - 4.0, "end") } else { (LEFT + 4.0, "start") };
        self.put(format_args!(
            "<line class=\"m\" x1=\"{LEFT:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/>",
            WIDTH - RIGHT
        ));
        // Words lie above whatever is drawn later.
        self.words.push_str(&format!(
            "<text class=\"t k\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at - 4.0,
            escape(word)
        ));
    }

    /// A shaded stretch of x.
    pub(crate) fn shade(&mut self, from: f64, to: f64) {
        let (a, b) = (self.px(from.max(self.x.low)), self.px(to.min(self.x.high)));
        self.put(format_args!(
            "<rect class=\"h\" x=\"{a:.1}\" y=\"{TOP:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            (b - a).max(0.0),
            self.height - BOTTOM - TOP
        ));
    }

    /// A filled box between data coordinates, with a title that shows on hover.
    pub(crate) fn block(&mut self, class: &str, x: (f64, f64), y: (f64, f64), title: &str) {
        let (a, b, top, bottom) = (self.px(x.0), self.px(x.1), self.py(y.1), self.py(y.0));
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{a:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
            (b - a).max(1.5),
            bottom - top,
            escape(title)
        ));
    }

    /// A word at data coordinates.
    pub(crate) fn word(&mut self, x: f64, y: f64, anchor: &str, word: &str) {
        let (px, py) = (self.px(x), self.py(y));
        self.words.push_str(&format!(
            "<text class=\"t k\" x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            py + 4.0,
            escape(word)
        ));
    }

    /// A word under the x axis.
    pub(crate) fn caption_x(&mut self, x: f64, word: &str) {
        let (px, y) = (self.px(x), self.height - BOTTOM + 15.0);
        self.put(format_args!(
            "<text class=\"t\" x=\"{px:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
            escape(word)
        ));
    }

    /// The finished SVG element; `title` is what a screen reader says.
    pub(crate) fn finish(mut self, title: &str) -> String {
        let legend = std::mem::take(&mut self.legend);
        let legend_height = if legend.is_empty() { 0.0 } else { 20.0 };
        let mut at = LEFT;
        let mut names = String::new();
        for (colour, label) in &legend {
            names.push_str(&format!(
                "<rect class=\"c{} f\" x=\"{at:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/><text class=\"t\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                colour % 6,
                self.height + 2.0,
                at + 14.0,
                self.height + 11.0,
                escape(label)
            ));
            at += 26.0 + 8.6 * label.chars().count() as f64;
        }
        format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {:.0}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\"><title>{}</title>{}{}{names}</svg>",
            self.height + legend_height,
            escape(title),
            self.body,
            self.words
        )
    }
}

/// T18: text inside an element or a quoted attribute.
pub(crate) fn escape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::range("x", 0.0, 7.3);
        assert_eq!(axis.ticks(), [0.0, 2.0, 4.0, 6.0]);
        let clock = Axis::range("t", 0.0, 2400.0).in_minutes();
        assert_eq!(clock.ticks(), [0.0, 600.0, 1200.0, 1800.0, 2400.0]);
        assert_eq!(clock.tick_text(600.0), "10:00");
        assert!(Axis::over("x", [f64::NAN].into_iter()).is_none());
        assert!(Axis::over("x", [3.0].into_iter()).is_some_and(|a| a.low < 3.0 && a.high > 3.0));
    }

    #[test]
    fn t18_titles_and_labels_are_escaped_and_nan_draws_nothing() {
        let mut plot = Plot::new(100.0, Axis::range("<x>", 0.0, 1.0), Axis::range("\"y\"", 0.0, 1.0));
        plot.line(0, &[(0.0, 0.0), (f64::NAN, 0.5), (1.0, 1.0)], false);
        plot.dots(1, &[(f64::INFINITY, 0.0)], 2.0);
        let svg = plot.finish("</title><script>");
        assert!(
            !svg.contains("<script>") && !svg.contains("<x>") && !svg.contains("NaN") && !svg.contains("inf")
        );
    }
}
