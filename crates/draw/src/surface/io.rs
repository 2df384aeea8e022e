//! `surface.npz` and its sidecar.

use super::chart::{Chart, Shape};
use super::grid::Grid;
use super::model::{Anchor, Surface};
use crate::constants::generated;
use crate::error::DrawError;
use crate::json::Json;
use crate::npz::{Archive, Array, Data};

/// The schema value of a surface.
pub const SCHEMA: &str = "tatbot.surface/1";

impl Surface {
    /// The bytes of `surface.npz`.
    ///
    /// # Errors
    /// When the grids are larger than an archive may be.
    ///
    /// ```
    /// # use fieldlab_draw::surface::{Chart, Grid, Shape, Surface};
    /// # use fieldlab_draw::math::IDENTITY;
    /// let chart = Chart::new(Shape::Plane, [0.3, 0.0, 0.1], IDENTITY)?;
    /// let flat = Surface::new(chart, 0.1, 0.1, Grid::filled(3, 3, 0.0), Grid::filled(3, 3, 1), Grid::filled(3, 3, 0.0))?;
    /// assert_eq!(Surface::parse(&flat.to_bytes()?)?, flat);
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, DrawError> {
        let shape = [self.heights.rows(), self.heights.cols()];
        let floats = |grid: &Grid<f64>| Array::f64(&shape, grid.values().to_vec());
        let counts = |grid: &Grid<i32>| Array::new(&shape, Data::I32(grid.values().to_vec()));
        let nothing = Anchor { uv_m: [f64::NAN; 2], point_m: [f64::NAN; 3], shift_m: 0.0 };
        let anchor = self.anchor.unwrap_or(nothing);
        let mut archive = Archive::default();
        archive.push("schema", Array::text(SCHEMA));
        archive.push("chart_kind", Array::text(self.chart.kind()));
        archive.push("center", Array::f64(&[3], self.chart.center_m.to_vec())?);
        archive.push("rot", Array::f64(&[3, 3], self.chart.rotation.concat())?);
        archive.push("radius_m", Array::scalar(self.chart.radius_m().unwrap_or(f64::NAN)));
        archive.push("width_m", Array::scalar(self.width_m));
        archive.push("height_m", Array::scalar(self.height_m));
        archive.push("height", floats(&self.heights)?);
        archive.push("count", counts(&self.counts)?);
        archive.push("residual_m", floats(&self.residuals)?);
        archive.push("source_count", counts(&self.source_counts)?);
        archive.push("camera_disagreement_m", floats(&self.disagreement)?);
        archive.push("anchor_uv", Array::f64(&[2], anchor.uv_m.to_vec())?);
        archive.push("anchor_point", Array::f64(&[3], anchor.point_m.to_vec())?);
        archive.push("anchor_shift_m", Array::scalar(anchor.shift_m));
        archive.to_bytes(false)
    }

    /// Reads a `surface.npz`.
    ///
    /// # Errors
    /// Not an acceptable archive, another schema, and everything that [`Surface::new`] refuses; an anchor that is neither whole nor
    /// absent with shift zero.
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        let archive = Archive::parse(bytes)?;
        match archive.text("schema")? {
            SCHEMA => {}
            other => {
                return Err(DrawError::array(
                    "schema",
                    format!("`{SCHEMA}`"),
                    format!("`{}`", other.escape_debug()),
                ));
            }
        }
        let radius_m = archive.f64("radius_m")?;
        let shape = match archive.text("chart_kind")? {
            "plane" => Shape::Plane,
            "cylinder" => Shape::Cylinder { radius_m },
            other => {
                return Err(DrawError::array("chart_kind", "plane or cylinder", other.escape_debug()));
            }
        };
        let size = match archive.require("height")?.shape.as_slice() {
            &[rows, cols] => [rows, cols],
            other => return Err(DrawError::array("height", "two dimensions", format!("{other:?}"))),
        };
        let rot = archive.f64s("rot", &[3, 3])?;
        let center = archive.f64s("center", &[3])?;
        let surface = Self {
            chart: Chart::new(
                shape,
                [center[0], center[1], center[2]],
                [[rot[0], rot[1], rot[2]], [rot[3], rot[4], rot[5]], [rot[6], rot[7], rot[8]]],
            )?,
            width_m: archive.f64("width_m")?,
            height_m: archive.f64("height_m")?,
            heights: floats(&archive, "height", size)?,
            counts: counts(&archive, "count", size)?,
            residuals: floats(&archive, "residual_m", size)?,
            source_counts: match archive.get("source_count") {
                Some(_) => counts(&archive, "source_count", size)?,
                None => Grid::filled(size[0], size[1], 0),
            },
            disagreement: match archive.get("source_count") {
                Some(_) => floats(&archive, "camera_disagreement_m", size)?,
                None => Grid::filled(size[0], size[1], 0.0),
            },
            anchor: anchor(&archive)?,
        };
        surface.validate()?;
        Ok(surface)
    }
}

fn floats(archive: &Archive, name: &str, size: [usize; 2]) -> Result<Grid<f64>, DrawError> {
    let values = archive.f64s(name, &size)?.to_vec();
    Grid::new(size[0], size[1], values).ok_or_else(|| DrawError::array(name, "a full grid", "another size"))
}

/// Counts as numpy's integers of either width; what does not fit 31 bits is refused, not cut.
fn counts(archive: &Archive, name: &str, size: [usize; 2]) -> Result<Grid<i32>, DrawError> {
    let array = archive.require(name)?;
    let wrong = || DrawError::array(name, format!("integers of shape {size:?}"), array.describe());
    if array.shape != size {
        return Err(wrong());
    }
    let values = match &array.data {
        Data::I32(values) => values.clone(),
        Data::I64(values) => values
            .iter()
            .map(|&value| i32::try_from(value).map_err(|_| DrawError::array(name, "0 to 2147483647", value)))
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong()),
    };
    Grid::new(size[0], size[1], values).ok_or_else(wrong)
}

fn anchor(archive: &Archive) -> Result<Option<Anchor>, DrawError> {
    let uv = archive.f64s("anchor_uv", &[2])?;
    let point = archive.f64s("anchor_point", &[3])?;
    let shift_m = archive.f64("anchor_shift_m")?;
    let all = || uv.iter().chain(point);
    if all().all(|value| value.is_nan()) && shift_m == 0.0 {
        return Ok(None);
    }
    if all().all(|value| value.is_finite()) && shift_m.is_finite() {
        let point_m = [point[0], point[1], point[2]];
        return Ok(Some(Anchor { uv_m: [uv[0], uv[1]], point_m, shift_m }));
    }
    Err(DrawError::array(
        "anchor",
        "all finite, or all NaN and shift 0",
        format!("{uv:?} {point:?} {shift_m}"),
    ))
}

/// The text of `surface.json`: provenance for people, from which no reader takes a number. `extras` stand beside the fixed members.
#[must_use]
pub fn sidecar(surface: &Surface, profile_sha: Option<&str>, extras: Vec<(String, Json)>) -> String {
    let chart = surface.chart();
    let list = |values: &[f64]| Json::List(values.iter().map(|&v| Json::number_or_null(Some(v))).collect());
    let anchor = surface.anchor();
    let rotation = Json::List(chart.rotation.iter().map(|row| list(row)).collect());
    let mut members = vec![
        ("schema".to_owned(), Json::text(SCHEMA)),
        (
            "chart".to_owned(),
            Json::map([
                ("chart_kind", Json::text(chart.kind())),
                ("center", list(&chart.center_m)),
                ("rot", rotation),
                ("radius_m", Json::number_or_null(chart.radius_m())),
            ]),
        ),
        ("width_m".to_owned(), Json::Float(surface.width_m)),
        ("height_m".to_owned(), Json::Float(surface.height_m)),
        ("rows".to_owned(), Json::count(surface.heights.rows())),
        ("cols".to_owned(), Json::count(surface.heights.cols())),
        ("holes".to_owned(), Json::count(surface.holes())),
        ("anchor_uv".to_owned(), anchor.map_or(Json::Null, |anchor| list(&anchor.uv_m))),
        ("anchor_point".to_owned(), anchor.map_or(Json::Null, |anchor| list(&anchor.point_m))),
        ("anchor_shift_m".to_owned(), Json::Float(anchor.map_or(0.0, |anchor| anchor.shift_m))),
        ("constants_sha".to_owned(), Json::text(generated::SHA)),
        ("profile_sha".to_owned(), profile_sha.map_or(Json::Null, Json::text)),
    ];
    for (key, value) in extras {
        if !members.iter().any(|(known, _)| *known == key) {
            members.push((key, value));
        }
    }
    Json::Map(members).pretty()
}
