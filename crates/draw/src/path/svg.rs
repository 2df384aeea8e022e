//! Designs from SVG.

use roxmltree::{Document, Node, ParsingOptions};

use super::curves::{Words, path};
use super::design::{Collector, MAX_BYTES, Polyline, refuse};
use super::transform::Affine;
use crate::error::DrawError;
use crate::samples::strict_number;

/// Elements whose insides are not drawn where they stand.
const ELSEWHERE: [&str; 7] = ["defs", "symbol", "clipPath", "mask", "pattern", "marker", "metadata"];

/// Reads the strokes of an SVG: `path`, `polyline`, `polygon`, `line`, `rect`, `circle` and `ellipse`, in document order, with their
/// transforms. User units are millimetres times `mm_per_unit`; SVG's y points down and is turned up. Fills, texts and images are no
/// strokes, and what is not displayed is not drawn.
///
/// # Errors
/// Not SVG; a transform, length or path command that is not read; an element drawn by reference or by a style sheet's transform: what
/// would be drawn wrongly is refused.
///
/// ```
/// use fieldlab_draw::path::from_svg;
/// let design = from_svg("<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h10v-5'/></svg>", 0.1)?;
/// assert_eq!(design[0].points_mm, [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5]]);
/// # Ok::<(), fieldlab_draw::DrawError>(())
/// ```
pub fn from_svg(text: &str, mm_per_unit: f64) -> Result<Vec<Polyline>, DrawError> {
    if text.len() > MAX_BYTES {
        return Err(refuse(format!("{} bytes, at most {MAX_BYTES} are read", text.len())));
    }
    if !(mm_per_unit.is_finite() && mm_per_unit > 0.0) {
        return Err(refuse(format!("{mm_per_unit} mm per unit is not above zero")));
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 100_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| refuse(error.to_string()))?;
    if document.root_element().tag_name().name() != "svg" {
        return Err(refuse("the file is not an SVG"));
    }
    let mut collector = Collector::default();
    let page = Affine([mm_per_unit, 0.0, 0.0, -mm_per_unit, 0.0, 0.0]);
    let mut open = vec![(document.root_element(), page)];
    while let Some((node, outer)) = open.pop() {
        let name = node.tag_name().name();
        let style = node.attribute("style").unwrap_or_default();
        let hidden = node.attribute("display") == Some("none")
            || style.split(';').any(|rule| rule.split_whitespace().collect::<String>() == "display:none");
        if hidden || ELSEWHERE.contains(&name) {
            continue;
        }
        if name == "use" || (name == "svg" && node != document.root_element()) {
            return Err(refuse(format!("<{name}> draws by reference; resolve it before exporting")));
        }
        if style.contains("transform") {
            return Err(refuse(format!("<{name}> is moved by its style; use the attribute `transform`")));
        }
        let to_mm = match node.attribute("transform") {
            Some(transform) => outer.then(&Affine::parse(transform)?),
            None => outer,
        };
        element(node, &to_mm, &mut collector)?;
        // The first child must come off the stack first.
        let children: Vec<_> = node.children().filter(Node::is_element).collect();
        open.extend(children.into_iter().rev().map(|child| (child, to_mm)));
    }
    collector.finish()
}

fn element(node: Node<'_, '_>, to_mm: &Affine, out: &mut Collector) -> Result<(), DrawError> {
    let name = node.tag_name().name();
    let attribute = |key: &str| node.attribute(key).unwrap_or_default();
    let length = |key: &str| match node.attribute(key) {
        None => Ok(0.0),
        Some(text) => strict_number(text.trim().as_bytes())
            .ok_or_else(|| refuse(format!("<{name}>: `{key}` is `{}`, no number", text.escape_debug()))),
    };
    match name {
        "path" => path(attribute("d"), to_mm, out),
        "polyline" | "polygon" => {
            let numbers = Words::new(attribute("points")).all()?;
            if numbers.len() % 2 == 1 {
                return Err(refuse(format!("<{name}> has an odd number of coordinates")));
            }
            let points: Vec<[f64; 2]> = numbers.chunks(2).map(|pair| to_mm.at(pair[0], pair[1])).collect();
            for &point in points.iter().chain(points.first().filter(|_| name == "polygon")) {
                out.to(point)?;
            }
            out.lift()
        }
        "line" => {
            for (x, y) in [("x1", "y1"), ("x2", "y2")] {
                out.to(to_mm.at(length(x)?, length(y)?))?;
            }
            out.lift()
        }
        "circle" | "ellipse" => {
            let (rx, ry) = if name == "circle" { ("r", "r") } else { ("rx", "ry") };
            let (x, y, rx, ry) = (length("cx")?, length("cy")?, length(rx)?, length(ry)?);
            if !(rx > 0.0 && ry > 0.0) {
                return Err(refuse(format!("<{name}> without a radius")));
            }
            // As the standard draws it: from three o'clock through the quarters.
            let (east, west) = (x + rx, x - rx);
            path(&format!("M{east} {y}A{rx} {ry} 0 0 1 {west} {y}A{rx} {ry} 0 0 1 {east} {y}Z"), to_mm, out)
        }
        "rect" => {
            let (x, y, w, h) = (length("x")?, length("y")?, length("width")?, length("height")?);
            if length("rx")? != 0.0 || length("ry")? != 0.0 {
                return Err(refuse("<rect> with round corners; convert it to a path before exporting"));
            }
            if !(w > 0.0 && h > 0.0) {
                return Err(refuse("<rect> without a size"));
            }
            path(&format!("M{x} {y}h{w}v{h}h-{w}Z"), to_mm, out)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(body: &str) -> Result<Vec<Polyline>, DrawError> {
        from_svg(&format!("<svg xmlns='http://www.w3.org/2000/svg'>{body}</svg>"), 1.0)
    }

    fn points(body: &str) -> Vec<Vec<[f64; 2]>> {
        svg(body).unwrap().into_iter().map(|stroke| stroke.points_mm).collect()
    }

    #[test]
    fn paths_polylines_and_lines_become_strokes_in_document_order() {
        assert_eq!(
            points(
                "<path d='M0 0l10,0 0-5z M20 0 H25 V5'/><g><polyline points='0,0 1,1'/></g><line x1='1' y1='2' x2='3' y2='4'/>"
            ),
            [
                vec![[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 0.0]],
                vec![[20.0, 0.0], [25.0, 0.0], [25.0, -5.0]],
                vec![[0.0, 0.0], [1.0, -1.0]],
                vec![[1.0, -2.0], [3.0, -4.0]],
            ]
        );
        assert_eq!(points("<rect x='1' y='2' width='3' height='4'/>")[0].len(), 5);
        // What follows a closed stroke begins where that one began.
        assert_eq!(points("<path d='M1 0h1v1z l0 5'/>")[1], [[1.0, 0.0], [1.0, -5.0]]);
    }

    #[test]
    fn transforms_are_applied_from_the_inside_out() {
        let body = "<g transform='translate(10,0)'><g transform='scale(2)'><path transform='rotate(90)' d='M0 0L1 0'/></g></g>";
        let found = points(body);
        for (found, wanted) in found[0].iter().zip([[10.0, 0.0], [10.0, -2.0]]) {
            assert!((found[0] - wanted[0]).hypot(found[1] - wanted[1]) < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn curves_are_flattened_within_a_hundredth_of_a_millimetre() {
        // The usual four-cubic circle of radius 4 is itself within 1.1e-3 of it.
        let k = 4.0 * 0.552_284_749_8;
        let d = format!("M4 0C4 {k} {k} 4 0 4S-4 {k} -4 0");
        let circles = [
            format!("<path d='{d}'/>"),
            "<circle r='4'/>".to_owned(),
            "<path d='M4 0A4 4 0 0 1-4 0A4,4,0,01,4,0'/>".to_owned(),
            "<ellipse rx='2' ry='4' transform='scale(2 1)'/>".to_owned(),
        ];
        for body in circles {
            for window in points(&body)[0].windows(2) {
                let middle = [(window[0][0] + window[1][0]) / 2.0, (window[0][1] + window[1][1]) / 2.0];
                assert!((middle[0].hypot(middle[1]) - 4.0).abs() < 0.0125, "{body}: {middle:?}");
                assert!((window[0][0].hypot(window[0][1]) - 4.0).abs() < 0.0012, "{body}");
            }
        }
    }

    /// Two ellipses of 100 by 50 pass through both ends, about (0, 0) and (100, 50); the flags choose among their four arcs.
    #[test]
    fn an_arc_s_flags_choose_its_side_and_its_length() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        // The middle of each arc, in millimetres with y up.
        for (flags, center, side) in [
            ("0 1", [0.0, 0.0], 1.0),
            ("1 0", [0.0, 0.0], -1.0),
            ("0 0", [100.0, 50.0], -1.0),
            ("1 1", [100.0, 50.0], 1.0),
        ] {
            let stroke = points(&format!("<path d='M0-50A100 50 0 {flags} 100 0'/>")).remove(0);
            for [x, y] in &stroke {
                let on = ((x - center[0]) / 100.0).hypot((y - center[1]) / 50.0);
                assert!((on - 1.0).abs() < 1e-5, "{flags}: {x} {y}");
            }
            let nearest = |side: f64| {
                let wanted = [center[0] + side * 100.0 * half, center[1] + side * 50.0 * half];
                stroke
                    .iter()
                    .map(|p| (p[0] - wanted[0]).hypot(p[1] - wanted[1]))
                    .fold(f64::INFINITY, f64::min)
            };
            assert!(
                nearest(side) < 5.0 && nearest(-side) > 40.0,
                "{flags}: {} {}",
                nearest(side),
                nearest(-side)
            );
        }
        // Radii that cannot reach are scaled up until they do: half a circle, here over the line between the ends.
        let stroke = points("<path d='M0 0A1 1 0 0 1 20 0'/>").remove(0);
        assert!(stroke.iter().all(|[x, y]| ((x - 10.0).hypot(*y) - 10.0).abs() < 1e-4 && *y > -1e-9));
    }

    #[test]
    fn a_smooth_curve_goes_on_only_from_one_of_its_own_degree() {
        // After a quadratic an S begins at the point itself: the curve is then the cubic with its first handle there.
        let ends = |d: &str| points(&format!("<path d='{d}'/>")).remove(0);
        assert_eq!(ends("M0 0Q5 5 10 0S20 5 25 0"), ends("M0 0Q5 5 10 0C10 0 20 5 25 0"));
        assert_eq!(ends("M0 0C0 5 5 5 10 0T20 0"), ends("M0 0C0 5 5 5 10 0Q10 0 20 0"));
        assert_eq!(ends("M0 0Q5 5 10 0T20 0"), ends("M0 0Q5 5 10 0Q15-5 20 0"));
    }

    #[test]
    fn what_is_not_displayed_or_not_drawn_there_is_left_out() {
        let body = "<defs><path d='M0 0L9 9'/></defs><g style='display: none'><path d='M0 0L8 8'/></g>\
                    <g display='none'><path d='M0 0L7 7'/></g><path d='M0 0L1 1'/>";
        assert_eq!(points(body).len(), 1);
    }

    #[test]
    fn what_would_be_drawn_wrongly_is_refused() {
        for body in [
            "<g transform='turn(2)'><path d='M0 0L1 1'/></g>",
            "<g style='transform:scale(2)'><path d='M0 0L1 1'/></g>",
            "<path id='p' d='M0 0L1 1'/><use href='#p'/>",
            "<svg x='5'><path d='M0 0L1 1'/></svg>",
            "<path d='M0 0A5 5 0 2 1 10 0'/>",
            "<path d='M0 0A5 5 0 0 1 10'/>",
            "<path d='M0 0L1'/>",
            "<path d='0 0L1 1'/>",
            "<path d='M0 0L1 1 R3 3'/>",
            "<path d='M0 0L1e9 1'/>",
            "<polyline points='0,0 1'/>",
            "<line x1='5%' x2='4'/>",
            "<circle r='0'/>",
            "<rect width='4' height='4' rx='1'/>",
            "<text>no strokes</text>",
        ] {
            assert!(svg(body).is_err(), "{body}");
        }
        assert!(from_svg("<svg/>", f64::NAN).is_err() && from_svg("<html/>", 1.0).is_err());
    }
}
