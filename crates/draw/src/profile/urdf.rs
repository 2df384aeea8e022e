//! URDF, the part that kinematics needs: links, joints, origins, axes, limits, mimics.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node, ParsingOptions};

use crate::error::DrawError;
use crate::math::{Rigid, Vec3, add_scaled, rotation_about, unit};

/// Longest description that is read, bytes.
const MAX_BYTES: usize = 4 << 20;
/// Most XML nodes that are read.
const MAX_NODES: u32 = 100_000;

/// How a joint moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JointKind {
    /// Does not move.
    Fixed,
    /// Turns about its axis between limits.
    Revolute,
    /// Slides along its axis between limits.
    Prismatic,
    /// Turns or moves in a way that this crate does not plan; its pose at zero is still used.
    Other,
}

/// One joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// The link it stands on.
    pub parent: String,
    /// The link it carries.
    pub child: String,
    /// Its frame in the parent link at position zero.
    pub origin: Rigid,
    /// Unit axis in its own frame.
    pub axis: Vec3,
    /// Lower and upper limit, radians or metres, when given.
    pub limits: Option<(f64, f64)>,
    /// Speed limit, rad/s or m/s, when given.
    pub max_velocity: Option<f64>,
    /// `(joint, multiplier, offset)` when it follows another joint.
    pub mimic: Option<(String, f64, f64)>,
}

impl Joint {
    /// The child link's frame in the parent link at `position` (radians or metres).
    #[must_use]
    pub fn transform(&self, position: f64) -> Rigid {
        let mut out = self.origin;
        match self.kind {
            JointKind::Revolute => {
                out = out
                    .then(&Rigid { rotation: rotation_about(self.axis, position), translation_m: [0.0; 3] });
            }
            JointKind::Prismatic => {
                out.translation_m = add_scaled(out.translation_m, self.origin.direction(self.axis), position);
            }
            JointKind::Fixed | JointKind::Other => {}
        }
        out
    }
}

/// A robot description that was accepted: a forest of links.
#[derive(Debug, Clone, PartialEq)]
pub struct Urdf {
    /// The robot's name.
    pub name: String,
    joints: Vec<Joint>,
    links: BTreeSet<String>,
    by_name: BTreeMap<String, usize>,
    by_child: BTreeMap<String, usize>,
}

impl Urdf {
    /// Reads a description.
    ///
    /// Document type declarations are refused, so that no entity can grow; 4 MiB and 100 000 nodes bound the rest.
    ///
    /// # Errors
    /// Not XML, no `<robot>`, a joint without parent or child, a link with two parents, a loop, numbers that are not
    /// finite, an axis without length, a mimic of an unknown joint or in a circle.
    ///
    /// ```
    /// use fieldlab_draw::profile::Urdf;
    ///
    /// let urdf = Urdf::parse(r#"<robot name="r"><link name="a"/><link name="b"/>
    ///   <joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>"#)?;
    /// assert_eq!(urdf.between("a", "b", &|_| 0.25)?.translation_m, [0.0, 0.25, 0.0]);
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, DrawError> {
        if text.len() > MAX_BYTES {
            return Err(refuse("file", format!("at most {MAX_BYTES} bytes"), text.len()));
        }
        let options =
            ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options)
            .map_err(|error| refuse("file", "well-formed XML without a DTD", error))?;
        let root = document.root_element();
        if root.tag_name().name() != "robot" {
            return Err(refuse("file", "<robot>", format!("<{}>", root.tag_name().name())));
        }
        let mut links = BTreeSet::new();
        for node in root.children().filter(|node| node.has_tag_name("link")) {
            let name = attribute("link", node, "name")?;
            if !links.insert(name.to_owned()) {
                return Err(refuse(format!("link `{name}`"), "one link of this name", "two"));
            }
        }
        let mut urdf = Self {
            name: root.attribute("name").unwrap_or_default().to_owned(),
            joints: Vec::new(),
            links,
            by_name: BTreeMap::new(),
            by_child: BTreeMap::new(),
        };
        for node in root.children().filter(|node| node.has_tag_name("joint")) {
            urdf.push(joint(node)?)?;
        }
        urdf.refuse_circles()?;
        Ok(urdf)
    }

    fn push(&mut self, joint: Joint) -> Result<(), DrawError> {
        let place = format!("joint `{}`", joint.name);
        for link in [&joint.parent, &joint.child] {
            if !self.links.contains(link) {
                return Err(refuse(place, "links that are declared", format!("`{link}`")));
            }
        }
        let index = self.joints.len();
        if self.by_name.insert(joint.name.clone(), index).is_some() {
            return Err(refuse(place, "one joint of this name", "two"));
        }
        if self.by_child.insert(joint.child.clone(), index).is_some() {
            return Err(refuse(
                place,
                "a child without another parent",
                format!("`{}` has two", joint.child),
            ));
        }
        self.joints.push(joint);
        Ok(())
    }

    fn refuse_circles(&self) -> Result<(), DrawError> {
        for joint in &self.joints {
            let mut at = joint;
            for _ in 0..=self.joints.len() {
                match self.parent_of(&at.parent) {
                    Some(above) if above.name == joint.name => {
                        return Err(refuse(
                            format!("joint `{}`", joint.name),
                            "a tree",
                            "a circle of joints",
                        ));
                    }
                    Some(above) => at = above,
                    None => break,
                }
            }
            self.position(joint, &|_| 0.0)?;
        }
        Ok(())
    }

    /// The joint of this name.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<&Joint> {
        self.by_name.get(name).map(|&index| &self.joints[index])
    }

    /// Whether the description has a link of this name.
    #[must_use]
    pub fn has_link(&self, name: &str) -> bool {
        self.links.contains(name)
    }

    /// The joint that carries this link.
    #[must_use]
    pub fn parent_of(&self, link: &str) -> Option<&Joint> {
        self.by_child.get(link).map(|&index| &self.joints[index])
    }

    /// The joints from link `from` down to link `to`, outermost first.
    ///
    /// # Errors
    /// When `to` does not hang below `from`.
    pub fn chain(&self, from: &str, to: &str) -> Result<Vec<&Joint>, DrawError> {
        let mut out = Vec::new();
        let mut at = to;
        while at != from {
            let joint = self.parent_of(at).filter(|_| out.len() <= self.joints.len()).ok_or_else(|| {
                refuse(format!("link `{to}`"), format!("a link below `{from}`"), "another branch")
            })?;
            out.push(joint);
            at = &joint.parent;
        }
        out.reverse();
        Ok(out)
    }

    /// The pose of link `to` in link `from`, joints standing where `position` (by name) says.
    ///
    /// # Errors
    /// When `to` does not hang below `from`.
    pub fn between(&self, from: &str, to: &str, position: &dyn Fn(&str) -> f64) -> Result<Rigid, DrawError> {
        self.chain(from, to)?.into_iter().try_fold(Rigid::IDENTITY, |pose, joint| {
            Ok(pose.then(&joint.transform(self.position(joint, position)?)))
        })
    }

    fn position(&self, joint: &Joint, position: &dyn Fn(&str) -> f64) -> Result<f64, DrawError> {
        let place = format!("joint `{}`", joint.name);
        let (mut at, mut factor, mut offset) = (joint, 1.0, 0.0);
        for _ in 0..=self.joints.len() {
            let Some((leader, multiplier, shift)) = &at.mimic else {
                return Ok(factor * position(&at.name) + offset);
            };
            offset += factor * shift;
            factor *= multiplier;
            at = self.joint(leader).ok_or_else(|| {
                refuse(place.clone(), "a mimic of a joint that exists", format!("`{leader}`"))
            })?;
        }
        Err(refuse(place, "a mimic that ends", "a circle of mimics"))
    }
}

fn joint(node: Node<'_, '_>) -> Result<Joint, DrawError> {
    let name = attribute("joint", node, "name")?.to_owned();
    let place = format!("joint `{name}`");
    let child = |tag: &str| node.children().find(|child| child.has_tag_name(tag));
    let link = |tag: &str| {
        let element = child(tag).ok_or_else(|| refuse(place.clone(), format!("<{tag}>"), "nothing"))?;
        attribute(&place, element, "link").map(str::to_owned)
    };
    let origin = match child("origin") {
        None => Rigid::IDENTITY,
        Some(origin) => Rigid::from_xyz_rpy(
            triple(&place, origin, "xyz")?.unwrap_or_default(),
            triple(&place, origin, "rpy")?.unwrap_or_default(),
        ),
    };
    let axis = match child("axis") {
        None => [1.0, 0.0, 0.0],
        Some(axis) => triple(&place, axis, "xyz")?.unwrap_or([1.0, 0.0, 0.0]),
    };
    let kind = match attribute(&place, node, "type")? {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute,
        "prismatic" => JointKind::Prismatic,
        _ => JointKind::Other,
    };
    let axis =
        unit(axis).ok_or_else(|| refuse(place.clone(), "an axis with a length", format!("{axis:?}")))?;
    let limit = child("limit");
    let value = |attribute: &str| limit.map_or(Ok(None), |limit| number(&place, limit, attribute));
    let limits = match (value("lower")?, value("upper")?) {
        (None, None) => None,
        (lower, upper) => {
            let (lower, upper) = (lower.unwrap_or(0.0), upper.unwrap_or(0.0));
            if lower > upper {
                return Err(refuse(place, "a lower limit below the upper", format!("{lower} and {upper}")));
            }
            Some((lower, upper))
        }
    };
    let mimic = match child("mimic") {
        None => None,
        Some(mimic) => Some((
            attribute(&place, mimic, "joint")?.to_owned(),
            number(&place, mimic, "multiplier")?.unwrap_or(1.0),
            number(&place, mimic, "offset")?.unwrap_or(0.0),
        )),
    };
    Ok(Joint {
        kind,
        parent: link("parent")?,
        child: link("child")?,
        origin,
        axis,
        limits,
        max_velocity: value("velocity")?,
        mimic,
        name,
    })
}

fn attribute<'a>(place: &str, node: Node<'a, '_>, name: &str) -> Result<&'a str, DrawError> {
    node.attribute(name).ok_or_else(|| refuse(place, format!("the attribute `{name}`"), "nothing"))
}

fn number(place: &str, node: Node<'_, '_>, name: &str) -> Result<Option<f64>, DrawError> {
    let Some(text) = node.attribute(name) else { return Ok(None) };
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        _ => Err(refuse(place, format!("a finite number in `{name}`"), format!("`{text}`"))),
    }
}

fn triple(place: &str, node: Node<'_, '_>, name: &str) -> Result<Option<Vec3>, DrawError> {
    let Some(text) = node.attribute(name) else { return Ok(None) };
    let mut out = [0.0; 3];
    let mut words = text.split_ascii_whitespace();
    for slot in &mut out {
        *slot = words
            .next()
            .and_then(|word| word.parse::<f64>().ok())
            .filter(|value| value.is_finite())
            .ok_or_else(|| refuse(place, format!("three finite numbers in `{name}`"), format!("`{text}`")))?;
    }
    if words.next().is_some() {
        return Err(refuse(place, format!("three numbers in `{name}`"), format!("`{text}`")));
    }
    Ok(Some(out))
}

fn refuse(place: impl Into<String>, expected: impl Into<String>, found: impl std::fmt::Display) -> DrawError {
    DrawError::Urdf { place: place.into(), expected: expected.into(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        let text = format!(r#"<robot name="r"><link name="a"/><link name="b"/>{body}</robot>"#);
        Urdf::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_description_is_refused_with_its_place() {
        let joint = |inner: &str| {
            format!(r#"<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{inner}</joint>"#)
        };
        assert!(refused(&joint(r#"<axis xyz="0 0 0"/>"#)).contains("an axis with a length"));
        assert!(refused(&joint(r#"<axis xyz="0 nan 1"/>"#)).contains("three finite numbers"));
        assert!(refused(&joint(r#"<origin xyz="0 0"/>"#)).contains("three finite numbers"));
        assert!(refused(&joint(r#"<limit lower="2" upper="1"/>"#)).contains("below the upper"));
        assert!(refused(&joint(r#"<mimic joint="j"/>"#)).contains("a circle of mimics"));
        assert!(refused(&joint(r#"<mimic joint="k"/>"#)).contains("a joint that exists"));
        assert!(refused(&(joint("") + &joint(""))).contains("one joint of this name"));
        assert!(refused(r#"<joint name="j" type="fixed"><parent link="a"/></joint>"#).contains("<child>"));
        let circle = r#"<joint name="i" type="fixed"><parent link="a"/><child link="b"/></joint>
            <joint name="j" type="fixed"><parent link="b"/><child link="a"/></joint>"#;
        assert!(refused(circle).contains("a circle of joints"));
        let bomb = r#"<!DOCTYPE r [<!ENTITY a "aaaa">]><robot name="&a;"/>"#;
        assert!(Urdf::parse(bomb).is_err());
        let deep = "<a>".repeat(200_000);
        assert!(Urdf::parse(&deep).is_err());
    }
}
