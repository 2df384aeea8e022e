//! The archive of one capture.

use super::frames::RawDepth;
use super::lens::Lens;
use crate::constants::generated;
use crate::error::DrawError;
use crate::json::Json;
use crate::npz::{Archive, Array, Data};
use crate::profile::JOINTS;
use crate::surface::Grid;

/// The schema value that our captures carry; those of older tools carry none.
pub const SCHEMA: &str = "tatbot.capture/1";
/// Most pixels of a picture.
const MAX_PIXELS: usize = 4096 * 4096;
/// Most frames behind a picture: the validity counts are bytes.
pub(super) const MAX_FRAMES: u64 = 255;

/// What one camera saw.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The camera's role.
    pub role: String,
    /// Depth in raw units, rows first; 0 is no depth.
    pub depth: Grid<u16>,
    /// How many frames had depth at each pixel.
    pub valid: Grid<u8>,
    /// Median absolute deviation over the frames, metres, when stored.
    pub mad_m: Option<Grid<f32>>,
    /// Frames behind the picture, when stored.
    pub frames: Option<u64>,
    /// Metres per raw unit.
    pub units_m: f64,
    /// fx, fy, ppx, ppy in pixels of the depth stream.
    pub intrinsics_px: [f64; 4],
    /// The lens, when it is stored; without it the pictures count as free of distortion.
    pub lens: Option<Lens>,
    /// Every frame, when stored; the picture is then their median.
    pub raw: Option<RawDepth>,
    /// One colour frame, rows × columns × RGB, when stored.
    pub color: Option<(usize, usize, Vec<u8>)>,
}

/// One capture of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// Its number, from 1.
    pub k: u32,
    /// The joints that were measured, radians.
    pub joints_rad: [f64; JOINTS],
    /// The carriage that was measured, metres.
    pub carriage_m: f64,
    /// Unix seconds; the caller gives it, this library has no clock.
    pub t_wall_secs: f64,
    /// The cameras, in the order of the roles.
    pub views: Vec<View>,
    /// The digest of the profile, when stored.
    pub profile_sha: Option<String>,
    /// Whether the file carries no schema: an older tool wrote it.
    pub legacy: bool,
}

impl Capture {
    /// The bytes of the archive, deflated, with schema and digests.
    ///
    /// # Errors
    /// Roles that repeat or cannot stand in a name; numbers that are not finite; more than 255 frames; grids of different sizes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DrawError> {
        self.validate()?;
        let roles = Json::List(self.views.iter().map(|view| Json::text(&view.role)).collect());
        let mut archive = Archive::default();
        archive.push("schema", Array::text(SCHEMA));
        archive.push("constants_sha", Array::text(generated::SHA));
        if let Some(sha) = &self.profile_sha {
            archive.push("profile_sha", Array::text(sha));
        }
        archive.push("camera_roles", Array::text(&roles.line()));
        archive.push("joints", Array::f64(&[JOINTS], self.joints_rad.to_vec())?);
        archive.push("carriage_m", Array::scalar(self.carriage_m));
        archive.push("k", Array::integer(i64::from(self.k)));
        archive.push("t_wall", Array::scalar(self.t_wall_secs));
        for view in &self.views {
            let role = &view.role;
            let (rows, cols) = (view.depth.rows(), view.depth.cols());
            let mut push = |name: &str, array: Array| archive.push(format!("{name}_{role}"), array);
            push("depth", Array::new(&[rows, cols], Data::U16(view.depth.values().to_vec()))?);
            push("valid", Array::new(&[rows, cols], Data::U8(view.valid.values().to_vec()))?);
            if let Some(mad) = &view.mad_m {
                push("temporal_mad_m", Array::new(&[rows, cols], Data::F32(mad.values().to_vec()))?);
            }
            if let Some(frames) = view.frames {
                push("frames", Array::integer(i64::try_from(frames).unwrap_or(i64::MAX)));
            }
            push("units_m", Array::scalar(view.units_m));
            let [fx, fy, ppx, ppy] = view.intrinsics_px;
            #[allow(clippy::cast_precision_loss)] // at most 4096
            push("intrinsics", Array::f64(&[6], vec![fx, fy, ppx, ppy, cols as f64, rows as f64])?);
            if let Some(lens) = view.lens {
                push("distortion", Array::f64(&[5], lens.coefficients.to_vec())?);
            }
            if let Some(raw) = &view.raw {
                let values = raw.frames().iter().flat_map(|frame| frame.values().iter().copied()).collect();
                push("raw_depth", Array::new(&[raw.frames().len(), rows, cols], Data::U16(values))?);
            }
            if let Some((rows, cols, pixels)) = &view.color {
                push("color", Array::new(&[*rows, *cols, 3], Data::U8(pixels.clone()))?);
            }
        }
        archive.to_bytes(true)
    }

    /// Reads a capture.
    ///
    /// # Errors
    /// Not an acceptable archive; an unknown schema; roles that are not those of the depth pictures; a member of another type or shape;
    /// joints, units or intrinsics that are not usable numbers.
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        let archive = Archive::parse(bytes)?;
        let legacy = match archive.get("schema") {
            None => true,
            Some(_) => match archive.text("schema")? {
                SCHEMA => false,
                other => {
                    return Err(DrawError::array("schema", format!("`{SCHEMA}`"), other.escape_debug()));
                }
            },
        };
        let joints = archive.f64s("joints", &[JOINTS])?;
        let k = integer(&archive, "k")?;
        let capture = Self {
            k: u32::try_from(k).map_err(|_| DrawError::array("k", "a capture's number", k))?,
            joints_rad: [joints[0], joints[1], joints[2], joints[3], joints[4], joints[5]],
            carriage_m: archive.f64("carriage_m")?,
            t_wall_secs: archive.f64("t_wall")?,
            views: roles(&archive)?.into_iter().map(|role| view(&archive, role)).collect::<Result<_, _>>()?,
            profile_sha: archive
                .get("profile_sha")
                .map(|_| archive.text("profile_sha").map(str::to_owned))
                .transpose()?,
            legacy,
        };
        capture.validate()?;
        Ok(capture)
    }

    fn validate(&self) -> Result<(), DrawError> {
        let finite = self
            .joints_rad
            .iter()
            .chain([&self.carriage_m, &self.t_wall_secs])
            .all(|value| value.is_finite());
        if !finite || self.k == 0 {
            return Err(DrawError::array(
                "capture",
                "finite joints, carriage and time, k from 1",
                "other numbers",
            ));
        }
        if self.views.is_empty() {
            return Err(DrawError::array("camera_roles", "at least one camera", "none"));
        }
        for (index, view) in self.views.iter().enumerate() {
            if !is_role(&view.role) || self.views[..index].iter().any(|other| other.role == view.role) {
                return Err(DrawError::array("camera_roles", "roles of their own", view.role.escape_debug()));
            }
            view.validate()?;
        }
        Ok(())
    }
}

impl View {
    fn validate(&self) -> Result<(), DrawError> {
        let place = |name: &str| format!("{name}_{}", self.role);
        let size = (self.depth.rows(), self.depth.cols());
        let other = (self.valid.rows(), self.valid.cols());
        let mad = self.mad_m.as_ref().map_or(size, |mad| (mad.rows(), mad.cols()));
        if size != other || size != mad || size.0 == 0 || size.1 == 0 {
            return Err(DrawError::array(
                place("valid"),
                format!("{size:?} as the depth"),
                format!("{other:?} {mad:?}"),
            ));
        }
        if !(1e-6..=0.01).contains(&self.units_m) {
            return Err(DrawError::array(place("units_m"), "1e-6 to 0.01 m per unit", self.units_m));
        }
        let [fx, fy, ppx, ppy] = self.intrinsics_px;
        let usable = fx > 0.0 && fy > 0.0 && [fx, fy, ppx, ppy].iter().all(|value| value.is_finite());
        if !usable {
            return Err(DrawError::array(
                place("intrinsics"),
                "focal lengths above 0",
                format!("{:?}", self.intrinsics_px),
            ));
        }
        if self.lens.is_some_and(|lens| !lens.is_usable()) {
            return Err(DrawError::array(place("distortion"), "five numbers of at most 1", "others"));
        }
        if let Some(raw) = &self.raw {
            let merged = raw.merged(self.units_m);
            let frames = raw.frames().len() as u64;
            if self.frames.is_some_and(|stated| stated != frames) {
                return Err(DrawError::array(
                    place("frames"),
                    format!("the {frames} raw frames"),
                    "another count",
                ));
            }
            if merged.depth != self.depth || merged.valid != self.valid {
                return Err(DrawError::array(
                    place("depth"),
                    "the median of its raw frames",
                    "another picture",
                ));
            }
        }
        if let Some(frames) = self.frames.filter(|&frames| frames == 0 || frames > MAX_FRAMES) {
            return Err(DrawError::array(place("frames"), format!("1 to {MAX_FRAMES}"), frames));
        }
        Ok(())
    }
}

fn is_role(role: &str) -> bool {
    !role.is_empty()
        && role.len() <= 64
        && role.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The declared roles, which must be exactly those of the depth pictures; files without a declaration mean their pictures.
fn roles(archive: &Archive) -> Result<Vec<String>, DrawError> {
    let mut pictured: Vec<&str> = archive.names().filter_map(|name| name.strip_prefix("depth_")).collect();
    let declared: Vec<String> = match archive.get("camera_roles") {
        None => pictured.iter().map(|&role| role.to_owned()).collect(),
        Some(_) => match Json::parse(archive.text("camera_roles")?.as_bytes())? {
            Json::List(items) => items
                .into_iter()
                .map(|item| match item {
                    Json::Text(role) => Ok(role),
                    other => Err(DrawError::array("camera_roles", "a list of names", other.kind())),
                })
                .collect::<Result<_, _>>()?,
            other => return Err(DrawError::array("camera_roles", "a list of names", other.kind())),
        },
    };
    let mut sorted: Vec<&str> = declared.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    pictured.sort_unstable();
    if sorted != pictured {
        return Err(DrawError::array(
            "camera_roles",
            format!("{pictured:?}, the depth pictures"),
            format!("{sorted:?}"),
        ));
    }
    Ok(declared)
}

fn integer(archive: &Archive, name: &str) -> Result<i64, DrawError> {
    let array = archive.require(name)?;
    match &array.data {
        Data::I64(values) if array.shape.is_empty() => Ok(values.first().copied().unwrap_or(0)),
        _ => Err(DrawError::array(name, "one int64", array.describe())),
    }
}

fn view(archive: &Archive, role: String) -> Result<View, DrawError> {
    let named = |name: &str| format!("{name}_{role}");
    let depth = archive.require(&named("depth"))?;
    let (rows, cols) = match (depth.shape.as_slice(), &depth.data) {
        (&[rows, cols], Data::U16(_)) if rows > 0 && cols > 0 && rows.saturating_mul(cols) <= MAX_PIXELS => {
            (rows, cols)
        }
        _ => return Err(DrawError::array(named("depth"), "uint16 in two dimensions", depth.describe())),
    };
    let wrong = |name: String, kind: &str, array: &Array| {
        DrawError::array(name, format!("{kind} of shape [{rows}, {cols}]"), array.describe())
    };
    let depth = match &depth.data {
        Data::U16(values) => Grid::new(rows, cols, values.clone()),
        _ => None,
    };
    let valid = archive.require(&named("valid"))?;
    let valid = match &valid.data {
        Data::U8(values) if valid.shape == [rows, cols] => Grid::new(rows, cols, values.clone()),
        _ => return Err(wrong(named("valid"), "uint8", valid)),
    };
    let mad_m = match archive.get(&named("temporal_mad_m")) {
        None => None,
        Some(array) => match &array.data {
            Data::F32(values) if array.shape == [rows, cols] => Grid::new(rows, cols, values.clone()),
            _ => return Err(wrong(named("temporal_mad_m"), "float32", array)),
        },
    };
    let color = match archive.get(&named("color")) {
        None => None,
        Some(array) => match (array.shape.as_slice(), &array.data) {
            (&[rows, cols, 3], Data::U8(pixels)) => Some((rows, cols, pixels.clone())),
            _ => return Err(DrawError::array(named("color"), "uint8 rows × columns × 3", array.describe())),
        },
    };
    let frames = match archive.get(&named("frames")) {
        None => None,
        Some(_) => {
            let frames = integer(archive, &named("frames"))?;
            Some(u64::try_from(frames).map_err(|_| DrawError::array(named("frames"), "a count", frames))?)
        }
    };
    let intrinsics = archive.f64s(&named("intrinsics"), &[6])?;
    #[allow(clippy::cast_precision_loss, clippy::float_cmp)] // whole numbers of pixels
    let sized = intrinsics[4] == cols as f64 && intrinsics[5] == rows as f64;
    if !sized {
        let found = format!("{} x {}", intrinsics[4], intrinsics[5]);
        return Err(DrawError::array(
            named("intrinsics"),
            format!("{cols} x {rows}, the picture's size"),
            found,
        ));
    }
    let lens = match archive.get(&named("distortion")) {
        None => None,
        Some(_) => {
            let c = archive.f64s(&named("distortion"), &[5])?;
            Some(Lens { coefficients: [c[0], c[1], c[2], c[3], c[4]] })
        }
    };
    let raw = match archive.get(&named("raw_depth")) {
        None => None,
        Some(array) => Some(raw_depth(array, [rows, cols]).ok_or_else(|| {
            let expected = format!("uint16 of shape [frames, {rows}, {cols}]");
            DrawError::array(named("raw_depth"), expected, array.describe())
        })?),
    };
    let missing = || DrawError::array(named("depth"), "a full grid", "another size");
    Ok(View {
        depth: depth.ok_or_else(missing)?,
        valid: valid.ok_or_else(missing)?,
        mad_m,
        frames,
        units_m: archive.f64(&named("units_m"))?,
        intrinsics_px: [intrinsics[0], intrinsics[1], intrinsics[2], intrinsics[3]],
        lens,
        raw,
        color,
        role,
    })
}

fn raw_depth(array: &Array, [rows, cols]: [usize; 2]) -> Option<RawDepth> {
    match (array.shape.as_slice(), &array.data) {
        (&[_, r, c], Data::U16(values)) if [r, c] == [rows, cols] => {
            let frames = values.chunks(rows * cols).map(|frame| Grid::new(rows, cols, frame.to_vec()));
            RawDepth::new(frames.collect::<Option<_>>()?).ok()
        }
        _ => None,
    }
}
