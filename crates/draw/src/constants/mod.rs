//! The motion constants: one JSON file, its digest, and the modules generated from it.
//!
//! The file (`config/motion_constants.json`, schema [`SCHEMA`]) is authoritative. Its short digest stands in every samples
//! file, so that a planner compiled with other numbers refuses the file. [`generated`] is what this library was
//! compiled with; `fieldlab draw constants --check` compares it, the C header and the Python module with the file.

pub mod generated;
mod render;

pub use render::{Artefact, artefacts};

use fieldlab_base::ConfigError;
use sha2::{Digest, Sha256};

use crate::error::DrawError;
use crate::json::Json;

/// The schema value of the constants file.
pub const SCHEMA: &str = "tatbot.draw-constants/1";
/// Where the file stands, from the root of the repository.
pub const PATH: &str = "config/motion_constants.json";

/// A constants file that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    document: Json,
    leaves: Vec<(String, Json)>,
    digest: String,
}

impl Constants {
    /// Reads a constants file.
    ///
    /// The digest is SHA-256 over the canonical JSON ([`Json::canonical`]) of the document without the top-level members
    /// whose names begin with an underscore. An underscore name further inside is refused: it would change the digest
    /// without changing any constant.
    ///
    /// # Errors
    /// Not JSON, a repeated key, another schema, a leaf that is neither a number nor a list of numbers, a name that is no
    /// identifier.
    ///
    /// ```
    /// use fieldlab_draw::constants::Constants;
    ///
    /// let constants = Constants::parse(br#"{"schema": "tatbot.draw-constants/1", "_doc": "why", "path": {"dips": 2}}"#)?;
    /// assert_eq!(constants.get("path.dips").map(|value| value.canonical()), Some("2".to_owned()));
    /// assert_eq!(constants.sha().len(), 12);
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        let Json::Map(members) = Json::parse(bytes)? else {
            return Err(ConfigError::new("", "an object", "something else").into());
        };
        let members: Vec<_> = members.into_iter().filter(|(name, _)| !name.starts_with('_')).collect();
        let document = Json::Map(members);
        match document.get("schema") {
            Some(Json::Text(schema)) if schema == SCHEMA => {}
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), Json::canonical);
                return Err(ConfigError::new("schema", format!("`{SCHEMA}`"), found).into());
            }
        }
        let mut leaves = Vec::new();
        collect("", &document, &mut leaves)?;
        let digest = hex(&Sha256::digest(document.canonical().as_bytes()));
        Ok(Self { document, leaves, digest })
    }

    /// The digest that samples files carry: the first twelve hex digits. It tells files apart, it proves nothing about who
    /// wrote them.
    #[must_use]
    pub fn sha(&self) -> &str {
        &self.digest[..12]
    }

    /// The whole SHA-256, 64 hex digits.
    #[must_use]
    pub fn sha_full(&self) -> &str {
        &self.digest
    }

    /// Every constant by its dotted key, in file order.
    #[must_use]
    pub fn leaves(&self) -> &[(String, Json)] {
        &self.leaves
    }

    /// The constant `key`, or a whole section.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        key.split('.').try_fold(&self.document, |value, part| value.get(part))
    }
}

fn collect(prefix: &str, value: &Json, leaves: &mut Vec<(String, Json)>) -> Result<(), ConfigError> {
    let Json::Map(members) = value else { return Ok(()) };
    for (name, value) in members {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let identifier = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !identifier {
            return Err(ConfigError::new(path, "a name of a-z, 0-9 and _ that begins with a letter", name));
        }
        let number = |value: &Json| matches!(value, Json::Int(_) | Json::Float(_));
        match value {
            Json::Map(_) => collect(&path, value, leaves)?,
            Json::Int(_) | Json::Float(_) => leaves.push((path, value.clone())),
            Json::List(items) if !items.is_empty() && items.iter().all(number) => {
                leaves.push((path, value.clone()));
            }
            Json::Text(_) if path == "schema" => {}
            other => return Err(ConfigError::new(path, "a number or a list of numbers", other.kind())),
        }
    }
    Ok(())
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &[u8] = include_bytes!("../../../../config/motion_constants.json");

    #[test]
    fn the_digest_is_the_published_one() {
        let constants = Constants::parse(FILE).unwrap();
        assert_eq!(constants.sha_full(), "c36d529c2b4334fb18c79e181c1ffc0b89969c7ca66139c92f078112e5402754");
        assert_eq!(constants.document.canonical().len(), 1645);
        assert_eq!(constants.sha(), generated::SHA);
        assert_eq!(constants.sha_full(), generated::SHA_FULL);
    }

    #[test]
    fn each_section_has_the_published_digest() {
        let constants = Constants::parse(FILE).unwrap();
        let published = [
            ("audio_rule", "70644670ada2", 53),
            ("audio_servo", "a09db2effd61", 60),
            ("carriage_ik", "2c2d8a367bcc", 89),
            ("design", "1addd11ceea1", 34),
            ("orbit", "85a77436c94b", 135),
            ("path", "1d3490a57ad8", 165),
            ("period_s", "03631d4380d2", 6),
            ("planner", "cef1e34b9c71", 484),
            ("registration", "b9210190c371", 131),
            ("schema", "b6f4bf1a8196", 25),
            ("touchoff", "83deadbffca8", 330),
        ];
        for (section, sha, bytes) in published {
            let text = constants.get(section).unwrap().canonical();
            assert_eq!(text.len(), bytes, "{section}");
            assert_eq!(&hex(&Sha256::digest(text.as_bytes()))[..12], sha, "{section}");
        }
    }

    fn refused(text: &str) -> String {
        Constants::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn d12_a_nested_underscore_name_is_refused() {
        let text = r#"{"schema":"tatbot.draw-constants/1","path":{"_note":1}}"#;
        assert!(refused(text).starts_with("path._note: expected a name"));
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_field() {
        assert!(refused(r#"{"schema":"tatbot.draw-constants/2"}"#).contains("tatbot.draw-constants/1"));
        assert!(refused(r#"{"period_s":1.0}"#).contains("found nothing"));
        assert!(refused(r#"{"schema":"tatbot.draw-constants/1","a":1,"a":2}"#).contains("stands twice"));
        assert!(
            refused(r#"{"schema":"tatbot.draw-constants/1","a":"x"}"#).starts_with("a: expected a number")
        );
        assert!(refused(r#"{"schema":"tatbot.draw-constants/1","a":[]}"#).starts_with("a: expected"));
        assert!(refused("[]").contains("an object"));
    }

    proptest! {
        /// Blanks, the order of members and the top-level prose do not change the digest; a number does.
        #[test]
        fn the_digest_follows_the_numbers_only(value in any::<f64>().prop_filter("finite", |v| v.is_finite()), note in "[a-z ]{0,20}") {
            let number = crate::json::python_float(value);
            let one = format!(r#"{{"schema":"{SCHEMA}","b":{number},"a":{{"y":2,"x":[1.5]}}}}"#);
            let two = format!("{{\"_doc\" : \"{note}\",\n \"a\":{{\"x\": [1.5], \"y\":2}}, \"b\": {number}, \"schema\":\"{SCHEMA}\"}}");
            let other = format!(r#"{{"schema":"{SCHEMA}","b":{},"a":{{"y":2,"x":[1.5]}}}}"#, crate::json::python_float(f64::from_bits(value.to_bits() ^ 1)));
            let sha = |text: &str| Constants::parse(text.as_bytes()).map(|c| c.sha_full().to_owned());
            prop_assert_eq!(sha(&one).unwrap(), sha(&two).unwrap());
            prop_assert!(sha(&other).map_or(true, |different| different != sha(&one).unwrap()));
        }
    }
}
