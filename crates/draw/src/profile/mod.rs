//! A rig in one declarative file: which arm, which tool, where everything stands, what it may do.
//!
//! A profile (schema [`SCHEMA`], TOML) names its URDF, its tool's datasheet and perhaps a palette, all beside it. Nothing is
//! filled in from another rig: what is missing is refused, except a measured tip, which falls back to the nominal tip of the
//! same tool. The digest covers the profile and every file it names, and stands beside the constants' digest in what we write.

mod body;
mod chain;
mod rig;
mod tool;
mod urdf;

pub use body::{Body, Capsule};
pub use chain::{AXES, Chain, ChainJoint, JOINTS, Posture};
pub use rig::{REFERENCE_LEFT, REFERENCE_RIGHT, SIX_JOINT, Shipped};
pub use tool::{Cap, DipSheet, PALETTE_SCHEMA, Palette, TOOL_SCHEMA, Tool};
pub use urdf::{Joint, JointKind, Urdf};

use std::path::Path;

use fieldlab_base::{ConfigError, check};
use sha2::{Digest, Sha256};

use crate::capture::Lens;
use crate::constants::{generated, hex};
use crate::error::DrawError;
use crate::json::{Fields, Json};
use crate::math::{Rigid, Vec3, column, norm, rotation_faults, scale, sub};

/// The schema value of a profile.
pub const SCHEMA: &str = "fieldlab.rig/1";

/// The depth optics of a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optics {
    /// fx, fy, ppx, ppy in pixels.
    pub intrinsics_px: [f64; 4],
    /// Columns and rows.
    pub size_px: [usize; 2],
    /// Metres per raw unit.
    pub units_m: f64,
    /// Nearest and farthest depth that is trusted, metres.
    pub range_m: [f64; 2],
    /// The lens, when the profile describes it.
    pub lens: Option<Lens>,
}

/// One depth camera that moves with the final link.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Its role: letters, digits, `_` and `-`.
    pub role: String,
    /// Its optical frame (z forward, x right, y down) in the final link.
    pub in_final: Rigid,
    /// Its optics; a capture's own stored values are used when reading one.
    pub optics: Optics,
}

/// What a path may do on this rig, beside the motion constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest gap between the first sample and the arm, metres; at most 5 mm.
    pub start_tolerance_m: f64,
    /// Largest angle between the first sample and the arm, radians.
    pub start_tolerance_rad: f64,
    /// Largest tip speed with the pen down, m/s.
    pub tip_speed_pen_down_m_s: f64,
    /// Largest tip speed with the pen up, m/s.
    pub tip_speed_pen_up_m_s: f64,
    /// Largest turn of the target between two rows, radians.
    pub rotation_step_rad: f64,
    /// Largest joint acceleration, rad/s²; not checked when absent.
    pub joint_acceleration_rad_s2: Option<f64>,
    /// Largest model error that 95 % of the pen-down rows keep, metres; not checked when absent.
    pub model_error_p95_m: Option<f64>,
    /// Smallest singular value of the Jacobian; not checked when absent.
    pub min_singular_value: Option<f64>,
    /// What every link and the tip keep from the walls of the workspace box, metres.
    pub workspace_clearance_m: f64,
}

/// A box in the root frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workspace {
    /// Lowest corner, metres.
    pub min_m: Vec3,
    /// Highest corner, metres.
    pub max_m: Vec3,
}

impl Workspace {
    /// How far `point_m` is inside the nearest wall, metres; below zero outside.
    #[must_use]
    pub fn clearance_m(&self, point_m: Vec3) -> f64 {
        (0..3).fold(f64::INFINITY, |least, i| {
            least.min(point_m[i] - self.min_m[i]).min(self.max_m[i] - point_m[i])
        })
    }
}

/// A rig that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name, for people.
    pub name: String,
    /// The prefix of the arm's frames; `<prefix>/base_link` is the samples' frame.
    pub arm_prefix: String,
    /// The arm's base in the root frame.
    pub base_in_root: Rigid,
    /// The kinematics, guarded limits included.
    pub chain: Chain,
    /// The names of the turning joints, base first.
    pub joint_names: Vec<String>,
    /// The carriage joint's name, if the arm has one.
    pub carriage_name: Option<String>,
    /// The tool.
    pub tool: Tool,
    /// The wrist cameras.
    pub cameras: Vec<Camera>,
    /// Ink, if the rig has it: the palette and its frame in the base.
    pub palette: Option<(Palette, Rigid)>,
    /// The box that the arm may be in.
    pub workspace: Workspace,
    /// What a path may do.
    pub limits: Limits,
    /// What the arm can hit itself with, when the profile describes it.
    pub body: Option<Body>,
    /// Joints (radians) and carriage (metres) in which the arm rests over its work, when stated: where a rehearsal touches.
    pub rest: Option<([f64; JOINTS], f64)>,
    digest: String,
}

impl Profile {
    /// Reads the profile at `path` and the files it names beside it.
    ///
    /// # Errors
    /// As [`Profile::parse`], and [`DrawError::File`].
    pub fn open(path: &Path) -> Result<Self, DrawError> {
        let read = |path: &Path| {
            let refuse = |reason: String| DrawError::File { path: path.to_owned(), reason };
            let size = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
            if size > 16 << 20 {
                return Err(refuse(format!("{size} bytes, at most 16 MiB are read")));
            }
            std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&read(path)?, &|name| read(&folder.join(name)))
    }

    /// Reads a profile; `beside` gives the text of a file that it names.
    ///
    /// # Errors
    /// Another schema; an unknown field; a chain that is not six turning joints; limits outside the URDF's; a base transform
    /// that contradicts the URDF; a camera without a fixed way to the final link; a measured tip of another tool or beyond
    /// the tolerance.
    ///
    /// ```
    /// use fieldlab_draw::profile::REFERENCE_RIGHT;
    ///
    /// let profile = REFERENCE_RIGHT.profile()?;
    /// assert_eq!(profile.arm_prefix, "right");
    /// assert_eq!(profile.frame(), "right/base_link");
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    pub fn parse(text: &str, beside: &dyn Fn(&str) -> Result<String, DrawError>) -> Result<Self, DrawError> {
        let document = Json::parse_toml(text)?;
        let mut fields = Fields::new("", &document)?;
        fields.schema(SCHEMA)?;
        let urdf_text = beside(file_name("urdf", fields.text("urdf")?)?)?;
        let urdf = Urdf::parse(&urdf_text)?;
        let tool_json = Json::parse_toml(&beside(file_name("tool.datasheet", datasheet(&document)?)?)?)?;
        let tool = Tool::from_json(&tool_json)?;
        let arm_prefix = prefix(fields.text("arm_prefix")?)?.to_owned();
        let base_link = format!("{arm_prefix}/base_link");
        let base_in_root = base(&mut fields, &urdf, &base_link)?;
        let final_link = fields.text("final_link")?;
        let joints = Joints::read(&mut fields, &urdf, &base_link, final_link)?;
        let tip = tip(fields.required("tool")?, &urdf, final_link, joints.carriage.as_deref(), &tool)?;
        let palette_json = fields.optional("palette");
        let (palette, palette_digest) = match palette_json {
            None => (None, Json::Null),
            Some(json) => {
                let (palette, frame, digest) = palette(json, &urdf, &base_link, &base_in_root, beside)?;
                (Some((palette, frame)), digest)
            }
        };
        let mut cameras: Vec<Camera> = Vec::new();
        for (index, item) in fields.optional_list("cameras")?.unwrap_or_default().iter().take(16).enumerate()
        {
            let camera = camera(&format!("cameras[{index}]"), item, &urdf, final_link)?;
            if cameras.iter().any(|other| other.role == camera.role) {
                return Err(fields.refuse("cameras", "roles of their own", &camera.role).into());
            }
            cameras.push(camera);
        }
        let profile = Self {
            name: fields.text("name")?.to_owned(),
            arm_prefix,
            base_in_root,
            chain: Chain {
                joints: joints.chain,
                final_in_last: joints.final_in_last,
                tip_in_final_m: tip.tip_m,
                carriage_axis: tip.carriage_axis,
                tool_axis: tip.axis,
            },
            joint_names: joints.names,
            carriage_name: joints.carriage,
            tool,
            cameras,
            palette,
            workspace: workspace(fields.required("workspace")?)?,
            limits: limits(fields.optional("limits"))?,
            body: fields.optional("body").map(|json| Body::from_json(json, &urdf, &base_link)).transpose()?,
            rest: fields.optional("rest").map(rest).transpose()?,
            digest: String::new(),
        };
        fields.finish()?;
        if let (Some(body), Some((joints_rad, _))) = (&profile.body, &profile.rest) {
            let (gap_m, [a, b]) = body.least_m(&profile.chain, joints_rad);
            if gap_m < body.clearance_m {
                let found = format!("{gap_m:.4} m at rest between capsules {a} and {b}");
                return Err(ConfigError::new("body.clearance_m", "capsules apart at rest", found).into());
            }
        }
        let sources = Json::map([
            ("palette", palette_digest),
            ("profile", document),
            ("tool", tool_json),
            ("urdf_sha256", Json::text(hex(&Sha256::digest(urdf_text.as_bytes())))),
        ]);
        Ok(Self { digest: hex(&Sha256::digest(sources.canonical().as_bytes())), ..profile })
    }

    /// The first twelve hex digits of [`Profile::sha_full`].
    #[must_use]
    pub fn sha(&self) -> &str {
        &self.digest[..12]
    }

    /// SHA-256 over the canonical JSON of the profile, its tool and its palette, and over the URDF's bytes.
    #[must_use]
    pub fn sha_full(&self) -> &str {
        &self.digest
    }

    /// The frame that samples for this rig are in.
    #[must_use]
    pub fn frame(&self) -> String {
        format!("{}/base_link", self.arm_prefix)
    }

    /// The camera of this role.
    #[must_use]
    pub fn camera(&self, role: &str) -> Option<&Camera> {
        self.cameras.iter().find(|camera| camera.role == role)
    }
}

/// Whether `text` may be an arm's prefix: a letter, then up to 63 letters, digits, `_` or `-`.
#[must_use]
pub fn is_prefix(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn prefix(text: &str) -> Result<&str, ConfigError> {
    if is_prefix(text) {
        Ok(text)
    } else {
        Err(ConfigError::new("arm_prefix", "a letter, then at most 63 letters, digits, _ or -", text))
    }
}

/// A profile names files beside itself only.
fn file_name<'a>(path: &str, name: &'a str) -> Result<&'a str, ConfigError> {
    let plain = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    if plain { Ok(name) } else { Err(ConfigError::new(path, "the name of a file beside the profile", name)) }
}

fn datasheet(document: &Json) -> Result<&str, ConfigError> {
    match document.get("tool").and_then(|tool| tool.get("datasheet")) {
        Some(Json::Text(name)) => Ok(name),
        _ => Err(ConfigError::new("tool.datasheet", "a file name", "nothing")),
    }
}

fn rigid(fields: &mut Fields<'_>) -> Result<Rigid, ConfigError> {
    Ok(Rigid::from_xyz_rpy(fields.numbers("xyz_m")?, fields.numbers("rpy_rad")?))
}

fn base(fields: &mut Fields<'_>, urdf: &Urdf, base_link: &str) -> Result<Rigid, DrawError> {
    let mut inner = Fields::new("base_in_root", fields.required("base_in_root")?)?;
    let root = inner.optional_text("root_link")?;
    let stated = rigid(&mut inner)?;
    if let Some(root) = root {
        let chain = urdf.chain(root, base_link)?;
        if let Some(joint) = chain.iter().find(|joint| joint.kind != JointKind::Fixed) {
            return Err(inner.refuse("root_link", "a base that is fixed to it", &joint.name).into());
        }
        let described = urdf.between(root, base_link, &|_| 0.0)?;
        let turn = crate::math::angle_between(&described.rotation, &stated.rotation);
        let shift = norm(sub(described.translation_m, stated.translation_m));
        if !(turn <= 1e-9 && shift <= 1e-9) {
            let found = format!("{shift:e} m and {turn:e} rad away");
            return Err(inner.refuse("xyz_m", "what the URDF says", found).into());
        }
    }
    inner.finish()?;
    Ok(stated)
}

struct Joints {
    names: Vec<String>,
    chain: [ChainJoint; JOINTS],
    final_in_last: Rigid,
    carriage: Option<String>,
}

impl Joints {
    fn read(
        fields: &mut Fields<'_>,
        urdf: &Urdf,
        base_link: &str,
        final_link: &str,
    ) -> Result<Self, DrawError> {
        let carriage = fields.optional_text("carriage_joint")?.map(str::to_owned);
        let margin =
            fields.optional_number("limit_margin_rad")?.unwrap_or(generated::PLANNER_JOINT_LIMIT_MARGIN_RAD);
        let stated = fields.required("joints")?;
        let path = urdf.chain(base_link, final_link)?;
        let mut out = Vec::new();
        let mut names = Vec::new();
        let mut pending = Rigid::IDENTITY;
        let described = match stated {
            Json::List(items) => items.iter().take(JOINTS + 1).collect::<Vec<_>>(),
            other => return Err(fields.refuse("joints", "a list", other.kind()).into()),
        };
        for joint in path {
            match joint.kind {
                JointKind::Fixed => pending = pending.then(&joint.origin),
                JointKind::Revolute if joint.mimic.is_none() => {
                    let at = format!("joints[{}]", out.len());
                    let item = described.get(out.len()).ok_or_else(|| {
                        ConfigError::new(
                            at.clone(),
                            format!("the joint `{}` of the URDF", joint.name),
                            "nothing",
                        )
                    })?;
                    let (lower_rad, upper_rad) = guarded(&at, item, joint, margin)?;
                    out.push(ChainJoint {
                        origin: pending.then(&joint.origin),
                        axis: joint.axis,
                        lower_rad,
                        upper_rad,
                    });
                    names.push(joint.name.clone());
                    pending = Rigid::IDENTITY;
                }
                _ => {
                    let expected = "turning and fixed joints up to the final link";
                    return Err(fields.refuse("final_link", expected, &joint.name).into());
                }
            }
        }
        let count = out.len();
        if described.len() != count {
            let found = format!("{} and {count} in the URDF", described.len());
            return Err(fields.refuse("joints", "as many joints as the URDF's chain", found).into());
        }
        let chain: [ChainJoint; JOINTS] =
            out.try_into().map_err(|_| fields.refuse("joints", format!("{JOINTS} turning joints"), count))?;
        Ok(Self { names, chain, final_in_last: pending, carriage })
    }
}

fn guarded(path: &str, json: &Json, joint: &Joint, margin: f64) -> Result<(f64, f64), ConfigError> {
    let mut fields = Fields::new(path, json)?;
    let name = fields.text("name")?;
    if name != joint.name {
        return Err(fields.refuse("name", format!("`{}`, the URDF's order", joint.name), name));
    }
    let (lower, upper) =
        joint.limits.ok_or_else(|| fields.refuse("name", "a joint with limits in the URDF", name))?;
    let guard = [
        fields.optional_number("lower_rad")?.unwrap_or(lower + margin),
        fields.optional_number("upper_rad")?.unwrap_or(upper - margin),
    ];
    fields.finish()?;
    if !(guard[0] >= lower && guard[1] <= upper && guard[0] < guard[1]) {
        let expected = format!("guarded limits inside {lower}..{upper}");
        return Err(ConfigError::new(path, expected, format!("{}..{}", guard[0], guard[1])));
    }
    Ok((guard[0], guard[1]))
}

struct Tip {
    tip_m: Vec3,
    axis: Vec3,
    carriage_axis: Option<Vec3>,
}

fn tip(
    json: &Json,
    urdf: &Urdf,
    final_link: &str,
    carriage: Option<&str>,
    tool: &Tool,
) -> Result<Tip, DrawError> {
    let mut fields = Fields::new("tool", json)?;
    fields.text("datasheet")?;
    let mount_link = fields.text("mount_link")?;
    let measured = fields.optional("measured");
    fields.finish()?;
    let (measured_m, carriage_m) = match measured {
        None => (None, 0.0),
        Some(json) => {
            let mut fields = Fields::new("tool.measured", json)?;
            let id = fields.text("tool_id")?;
            if id != tool.id {
                return Err(fields.refuse("tool_id", format!("`{}`, the mounted tool", tool.id), id).into());
            }
            let tip_m = fields.numbers("tip_m")?;
            let carriage_m = fields.optional_number("carriage_m")?.unwrap_or(0.0);
            fields.finish()?;
            (Some(tip_m), carriage_m)
        }
    };
    let at = |position: f64| {
        urdf.between(final_link, mount_link, &|name| if Some(name) == carriage { position } else { 0.0 })
    };
    let carriage_axis = match carriage {
        None => None,
        Some(name) => {
            let prismatic = urdf.joint(name).is_some_and(|joint| joint.kind == JointKind::Prismatic);
            let axis = scale(sub(at(0.01)?.translation_m, at(0.0)?.translation_m), 100.0);
            if !prismatic || (norm(axis) - 1.0).abs() > 1e-9 {
                let expected = "a sliding joint between the final link and the tool";
                return Err(ConfigError::new("carriage_joint", expected, name).into());
            }
            // The joint's own direction; the difference above has lost its last digits.
            let exact = urdf.joint(name).map(|joint| -> Result<Vec3, DrawError> {
                let parent = urdf.between(final_link, &joint.parent, &|_| 0.0)?;
                Ok(parent.direction(joint.origin.direction(joint.axis)))
            });
            exact.transpose()?
        }
    };
    let mount = at(carriage_m)?;
    let tip_m = mount.point(tool.tip_in_mount_m(measured_m)?);
    let tip_m = carriage_axis.map_or(tip_m, |axis| sub(tip_m, scale(axis, carriage_m)));
    Ok(Tip { tip_m, axis: column(&mount.rotation, 2), carriage_axis })
}

fn camera(path: &str, json: &Json, urdf: &Urdf, final_link: &str) -> Result<Camera, DrawError> {
    let mut fields = Fields::new(path, json)?;
    let role = fields.text("role")?;
    let named = !role.is_empty()
        && role.len() <= 64
        && role.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !named {
        return Err(fields.refuse("role", "letters, digits, _ and -", role).into());
    }
    let in_final = match fields.optional_text("frame")? {
        Some(frame) => {
            let chain = urdf.chain(final_link, frame)?;
            if let Some(joint) = chain.iter().find(|joint| joint.kind != JointKind::Fixed) {
                return Err(fields.refuse("frame", "a frame fixed to the final link", &joint.name).into());
            }
            urdf.between(final_link, frame, &|_| 0.0)?
        }
        None => rigid(&mut fields)?,
    };
    let [fx, fy, ppx, ppy, width, height] = fields.numbers("intrinsics_px")?;
    check::positive(&fields.path_of("intrinsics_px"), fx.min(fy))?;
    let size_px = [pixels(&fields, width)?, pixels(&fields, height)?];
    let range_m: [f64; 2] = fields.numbers("range_m")?;
    if !(range_m[0] > 0.0 && range_m[1] > range_m[0]) {
        return Err(fields
            .refuse("range_m", "a near and a farther depth above 0", format!("{range_m:?}"))
            .into());
    }
    let units_m = check::within(&fields.path_of("units_m"), fields.number("units_m")?, 1e-6, 0.01)?;
    let lens = fields.optional_numbers("distortion")?.map(|coefficients| Lens { coefficients });
    if lens.is_some_and(|lens| !lens.is_usable()) {
        return Err(fields.refuse("distortion", "k1, k2, p1, p2, k3 of at most 1", "others").into());
    }
    fields.finish()?;
    let optics = Optics { intrinsics_px: [fx, fy, ppx, ppy], size_px, units_m, range_m, lens };
    Ok(Camera { role: role.to_owned(), in_final, optics })
}

fn pixels(fields: &Fields<'_>, value: f64) -> Result<usize, ConfigError> {
    if value.fract() == 0.0 && (1.0..=4096.0).contains(&value) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number of 1 to 4096
        return Ok(value as usize);
    }
    Err(fields.refuse("intrinsics_px", "a width and a height of 1 to 4096 pixels", value))
}

fn palette(
    json: &Json,
    urdf: &Urdf,
    base_link: &str,
    base_in_root: &Rigid,
    beside: &dyn Fn(&str) -> Result<String, DrawError>,
) -> Result<(Palette, Rigid, Json), DrawError> {
    let mut fields = Fields::new("palette", json)?;
    let file = Json::parse_toml(&beside(file_name("palette.file", fields.text("file")?)?)?)?;
    let palette = Palette::from_json(&file)?;
    let frame = match fields.optional_text("frame")? {
        Some(frame) => urdf.between(base_link, frame, &|_| 0.0)?,
        None => base_in_root.inverse().then(&rigid(&mut fields)?),
    };
    fields.finish()?;
    Ok((palette, frame, file))
}

fn workspace(json: &Json) -> Result<Workspace, ConfigError> {
    let mut fields = Fields::new("workspace", json)?;
    let out = Workspace { min_m: fields.numbers("min_m")?, max_m: fields.numbers("max_m")? };
    fields.finish()?;
    if (0..3).any(|i| out.min_m[i] >= out.max_m[i]) {
        return Err(ConfigError::new("workspace", "min_m below max_m", format!("{out:?}")));
    }
    Ok(out)
}

fn limits(json: Option<&Json>) -> Result<Limits, ConfigError> {
    let empty = Json::Map(Vec::new());
    let mut fields = Fields::new("limits", json.unwrap_or(&empty))?;
    let out = Limits {
        start_tolerance_m: fields.positive_or("start_tolerance_m", 0.001)?,
        start_tolerance_rad: fields.positive_or("start_tolerance_rad", 0.02)?,
        tip_speed_pen_down_m_s: fields.positive_or("tip_speed_pen_down_m_s", 0.020)?,
        tip_speed_pen_up_m_s: fields.positive_or("tip_speed_pen_up_m_s", 0.120)?,
        rotation_step_rad: fields.positive_or("rotation_step_rad", 0.01)?,
        joint_acceleration_rad_s2: fields.optional_positive("joint_acceleration_rad_s2")?,
        model_error_p95_m: fields.optional_positive("model_error_p95_m")?,
        min_singular_value: fields.optional_positive("min_singular_value")?,
        workspace_clearance_m: fields.optional_number("workspace_clearance_m")?.unwrap_or(0.0),
    };
    fields.finish()?;
    check::within("limits.start_tolerance_m", out.start_tolerance_m, f64::MIN_POSITIVE, 0.005)?;
    check::within("limits.workspace_clearance_m", out.workspace_clearance_m, 0.0, 10.0)?;
    Ok(out)
}

fn rest(json: &Json) -> Result<([f64; JOINTS], f64), ConfigError> {
    let mut fields = Fields::new("rest", json)?;
    let out = (fields.numbers("joints_rad")?, fields.optional_number("carriage_m")?.unwrap_or(0.0));
    fields.finish()?;
    Ok(out)
}

/// Whether `rotation` is one, within what twelve printed digits leave.
#[must_use]
pub fn is_rotation(rotation: &crate::math::Mat3, tolerance: f64) -> bool {
    let (gram, determinant) = rotation_faults(rotation);
    gram <= tolerance && determinant < tolerance
}
