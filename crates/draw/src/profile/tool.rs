//! The tool's datasheet and the palette of ink caps, each a file with its own schema.

use fieldlab_base::{ConfigError, check};

use crate::error::DrawError;
use crate::json::{Fields, Json};
use crate::math::{Vec3, norm, scale, sub};

/// The schema value of a tool datasheet.
pub const TOOL_SCHEMA: &str = "fieldlab.tool/1";
/// The schema value of a palette.
pub const PALETTE_SCHEMA: &str = "fieldlab.palette/1";

/// How a tool takes ink.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DipSheet {
    /// How far below the ink's surface the tip goes, metres.
    pub depth_m: f64,
    /// How long it stays there, seconds.
    pub dwell_secs: f64,
    /// How far above the rim the plunge begins, metres.
    pub hover_m: f64,
    /// How far above the hover the travel ends, metres.
    pub lift_m: f64,
    /// How much line one dip is good for, metres.
    pub line_per_dip_m: f64,
    /// What the body keeps from a cap's wall, metres.
    pub wall_margin_m: f64,
    /// What the tip keeps from a cap's floor, metres.
    pub floor_clearance_m: f64,
}

/// What is printed about a tool: its silhouette, its working point, its tolerances.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name; a measured tip must name the same tool.
    pub id: String,
    /// Pen, needle, laser and so on, for people.
    pub kind: String,
    /// Whether it touches the surface.
    pub contact: bool,
    /// The revolved silhouette: `(z, radius)` in metres, z rising from the mount's bore face to the tip.
    pub silhouette_m: Vec<(f64, f64)>,
    /// The working point on the mount's z axis, metres.
    pub tcp_z_m: f64,
    /// How far a measured tip may be from the nominal one, metres.
    pub tip_tolerance_m: f64,
    /// Dips, for a tool that takes ink.
    pub dip: Option<DipSheet>,
}

impl Tool {
    /// Reads a datasheet from its fields.
    ///
    /// # Errors
    /// Another schema, an unknown field, a silhouette that does not rise, a number outside its range.
    pub fn from_json(json: &Json) -> Result<Self, ConfigError> {
        let mut fields = Fields::new("tool", json)?;
        fields.schema(TOOL_SCHEMA)?;
        let silhouette_m = silhouette(&mut fields)?;
        let body_tip_m = silhouette_m.last().map_or(0.0, |&(z, _)| z);
        let contact = fields.flag_or("contact", true)?;
        let tcp_z_m = fields.optional_number("tcp_z_m")?;
        if contact && tcp_z_m.is_some_and(|z| z.to_bits() != body_tip_m.to_bits()) {
            return Err(fields.refuse("tcp_z_m", "the silhouette's end for a tool that touches", "another"));
        }
        if !contact && tcp_z_m.is_none_or(|z| z < body_tip_m) {
            return Err(fields.refuse("tcp_z_m", "a working point past the body", format!("{tcp_z_m:?}")));
        }
        let dip = fields.optional("dip").map(dip_sheet).transpose()?;
        let tool = Self {
            id: fields.text("tool_id")?.to_owned(),
            kind: fields.text("kind")?.to_owned(),
            contact,
            silhouette_m,
            tcp_z_m: tcp_z_m.unwrap_or(body_tip_m),
            tip_tolerance_m: fields.positive_or("tip_tolerance_m", 0.005)?,
            dip,
        };
        fields.finish()?;
        Ok(tool)
    }

    /// The widest radius of the body up to `above_m` back from its tip, metres: its silhouette is straight between the stated places.
    ///
    /// ```
    /// # use fieldlab_draw::profile::REFERENCE_RIGHT;
    /// // The ballpoint widens from 1 mm at its tip to 16 mm at 35 mm behind it.
    /// let tool = REFERENCE_RIGHT.profile()?.tool;
    /// assert!((tool.widest_m(0.007) - 0.004).abs() < 1e-12);
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    #[must_use]
    pub fn widest_m(&self, above_m: f64) -> f64 {
        let Some(&(end_m, tip_radius_m)) = self.silhouette_m.last() else { return 0.0 };
        let cut_m = end_m - above_m.max(0.0);
        let mut widest = tip_radius_m;
        for pair in self.silhouette_m.windows(2).rev() {
            let [(z0, r0), (z1, r1)] = [pair[0], pair[1]];
            if z1 < cut_m {
                break;
            }
            let from = z0.max(cut_m);
            widest = widest.max(r1).max(r0 + (r1 - r0) * (from - z0) / (z1 - z0));
        }
        widest
    }

    /// The tip in the mount's frame: the measured one when there is one, else the nominal one of this same tool.
    ///
    /// A tool that does not touch is measured at the end of its body; the working point lies further along the same direction.
    ///
    /// # Errors
    /// [`DrawError::Refused`] with code `tip` when the measured tip is farther from the nominal one than the tolerance.
    pub fn tip_in_mount_m(&self, measured_m: Option<Vec3>) -> Result<Vec3, DrawError> {
        let body_z_m = self.silhouette_m.last().map_or(self.tcp_z_m, |&(z, _)| z);
        let Some(measured_m) = measured_m else { return Ok([0.0, 0.0, self.tcp_z_m]) };
        let gap_m = norm(sub(measured_m, [0.0, 0.0, body_z_m]));
        // A gap that is not a number is refused too.
        if gap_m.is_nan() || gap_m > self.tip_tolerance_m {
            return Err(DrawError::Refused {
                code: "tip",
                reason: format!(
                    "the measured tip of `{}` is {gap_m:.6} m from nominal, at most {} m is accepted",
                    self.id, self.tip_tolerance_m
                ),
            });
        }
        if self.contact {
            return Ok(measured_m);
        }
        let length_m = norm(measured_m).max(1e-9);
        Ok(scale(measured_m, 1.0 + (self.tcp_z_m - body_z_m) / length_m))
    }
}

fn silhouette(fields: &mut Fields<'_>) -> Result<Vec<(f64, f64)>, ConfigError> {
    let items = fields.optional_list("silhouette_m")?.unwrap_or_default();
    let mut out: Vec<(f64, f64)> = Vec::new();
    for item in items.iter().take(1000) {
        let pair = match item {
            Json::List(pair) if pair.len() == 2 => pair[0].as_f64().zip(pair[1].as_f64()),
            _ => None,
        };
        let (z, radius) =
            pair.ok_or_else(|| fields.refuse("silhouette_m", "pairs of z and radius", item.kind()))?;
        let rises = out.last().is_none_or(|&(before, _)| z > before);
        if !(rises && radius > 0.0 && z.is_finite() && radius.is_finite()) {
            return Err(fields.refuse(
                "silhouette_m",
                "rising z and radii above 0",
                format!("{z}, {radius}"),
            ));
        }
        out.push((z, radius));
    }
    if out.last().is_none_or(|&(z, _)| z <= 0.0) {
        return Err(fields.refuse("silhouette_m", "a body that ends past the mount", "none"));
    }
    Ok(out)
}

fn dip_sheet(json: &Json) -> Result<DipSheet, ConfigError> {
    let mut fields = Fields::new("tool.dip", json)?;
    let sheet = DipSheet {
        depth_m: check::within("tool.dip.depth_m", fields.number("depth_m")?, 0.0, 0.05)?,
        dwell_secs: check::within("tool.dip.dwell_secs", fields.number("dwell_secs")?, 0.0, 60.0)?,
        hover_m: check::within("tool.dip.hover_m", fields.number("hover_m")?, 0.0, 0.2)?,
        lift_m: check::within("tool.dip.lift_m", fields.number("lift_m")?, 0.0, 0.5)?,
        line_per_dip_m: check::positive("tool.dip.line_per_dip_m", fields.number("line_per_dip_m")?)?,
        wall_margin_m: fields.optional_number("wall_margin_m")?.unwrap_or(0.001_5),
        floor_clearance_m: fields.optional_number("floor_clearance_m")?.unwrap_or(0.000_5),
    };
    fields.finish()?;
    check::within("tool.dip.wall_margin_m", sheet.wall_margin_m, 0.0, 0.05)?;
    check::within("tool.dip.floor_clearance_m", sheet.floor_clearance_m, 0.0, 0.05)?;
    Ok(sheet)
}

/// One cap of ink in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Cap {
    /// Its name.
    pub name: String,
    /// The centre of its rim in the palette's frame, metres; the palette's +z points out of the cap.
    pub rim_in_palette_m: Vec3,
    /// Radius of the bore, metres.
    pub bore_radius_m: f64,
    /// Depth from the rim to the floor inside, metres.
    pub inner_depth_m: f64,
    /// Ink in it, cubic metres; `None` when not known.
    pub fill_m3: Option<f64>,
}

impl Cap {
    /// How far below the rim the tip goes for a dip of `depth_m` below the ink's surface, metres. A cap whose fill is not
    /// known counts as full.
    ///
    /// ```
    /// # use fieldlab_draw::profile::Cap;
    /// let cap = Cap {
    ///     name: "large".into(), rim_in_palette_m: [0.0; 3], bore_radius_m: 0.007, inner_depth_m: 0.0135, fill_m3: Some(1e-6),
    /// };
    /// assert!((cap.plunge_m(0.003) - 0.010004).abs() < 1e-6);
    /// ```
    #[must_use]
    pub fn plunge_m(&self, depth_m: f64) -> f64 {
        let area_m2 = std::f64::consts::PI * self.bore_radius_m * self.bore_radius_m;
        let surface_m = self.fill_m3.map_or(0.0, |fill_m3| (self.inner_depth_m - fill_m3 / area_m2).max(0.0));
        self.inner_depth_m.min(surface_m + depth_m)
    }
}

/// Caps in the frame of the palette's root link.
#[derive(Debug, Clone, PartialEq)]
pub struct Palette {
    /// The caps, in file order.
    pub caps: Vec<Cap>,
}

impl Palette {
    /// Reads a palette from its fields.
    ///
    /// # Errors
    /// Another schema, an unknown field, a slot of an unknown size, a rim outside 0 to 50 mm above the floor, a declared
    /// capacity that is more than 5 % from the bore's volume.
    pub fn from_json(json: &Json) -> Result<Self, ConfigError> {
        let mut fields = Fields::new("palette", json)?;
        fields.schema(PALETTE_SCHEMA)?;
        let mut sizes = Vec::new();
        for (index, item) in fields.optional_list("sizes")?.unwrap_or_default().iter().take(100).enumerate() {
            sizes.push(Size::from_json(&format!("palette.sizes[{index}]"), item)?);
        }
        let mut caps: Vec<Cap> = Vec::new();
        for (index, item) in fields.optional_list("caps")?.unwrap_or_default().iter().take(1000).enumerate() {
            let cap = cap(&format!("palette.caps[{index}]"), item, &sizes)?;
            if caps.iter().any(|other| other.name == cap.name) {
                return Err(fields.refuse(
                    "caps",
                    "caps with names of their own",
                    format!("`{}` twice", cap.name),
                ));
            }
            caps.push(cap);
        }
        fields.finish()?;
        Ok(Self { caps })
    }
}

struct Size {
    name: String,
    height_m: f64,
    bore_radius_m: f64,
    inner_depth_m: f64,
}

impl Size {
    fn from_json(path: &str, json: &Json) -> Result<Self, ConfigError> {
        let mut fields = Fields::new(path, json)?;
        let diameter_m = check::within(path, fields.number("diameter_m")?, 1e-3, 0.2)?;
        let height_m = check::within(path, fields.number("height_m")?, 1e-3, 0.2)?;
        let wall_m = check::within(path, fields.number("wall_m")?, 1e-5, 0.02)?;
        let bore_radius_m = diameter_m / 2.0 - wall_m;
        let inner_depth_m = height_m - wall_m;
        if bore_radius_m <= 0.0 || inner_depth_m <= 0.0 {
            return Err(fields.refuse("wall_m", "a wall thinner than the cap", wall_m));
        }
        if let Some(declared_ul) = fields.optional_number("capacity_ul")? {
            let volume_ul = std::f64::consts::PI * bore_radius_m * bore_radius_m * inner_depth_m * 1e9;
            if (declared_ul / volume_ul - 1.0).abs() > 0.05 {
                let expected = format!("{volume_ul:.1} µl within 5 %");
                return Err(fields.refuse("capacity_ul", expected, declared_ul));
            }
        }
        let size = Self { name: fields.text("name")?.to_owned(), height_m, bore_radius_m, inner_depth_m };
        fields.finish()?;
        Ok(size)
    }
}

fn cap(path: &str, json: &Json, sizes: &[Size]) -> Result<Cap, ConfigError> {
    let mut fields = Fields::new(path, json)?;
    let name = fields.text("name")?.to_owned();
    let wanted = fields.text("size")?;
    let size = sizes
        .iter()
        .find(|size| size.name == wanted)
        .ok_or_else(|| fields.refuse("size", "a size of this palette", format!("`{wanted}`")))?;
    let floor_m: [f64; 3] = fields.numbers("floor_m")?;
    let rim_z_m = fields.optional_number("rim_z_m")?.unwrap_or(floor_m[2] + size.height_m);
    if !(rim_z_m > floor_m[2] && rim_z_m < floor_m[2] + 0.05) {
        return Err(fields.refuse("rim_z_m", "a rim 0 to 50 mm above the floor", rim_z_m));
    }
    let fill_m3 = fields.optional_number("fill_ul")?.map(|fill_ul| fill_ul * 1e-9);
    if fill_m3.is_some_and(|fill| fill < 0.0) {
        return Err(fields.refuse("fill_ul", "0 or more", "a negative fill"));
    }
    fields.finish()?;
    Ok(Cap {
        name,
        rim_in_palette_m: [floor_m[0], floor_m[1], rim_z_m],
        bore_radius_m: size.bore_radius_m,
        inner_depth_m: size.inner_depth_m,
        fill_m3,
    })
}
