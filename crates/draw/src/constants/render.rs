//! The Rust, C and Python modules that are generated from the constants file and committed.

use std::fmt::Write as _;

use super::{Constants, PATH};
use crate::json::{Json, python_float};

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Where it belongs, from the root of the repository.
    pub path: &'static str,
    /// What must stand there.
    pub text: String,
}

/// Every file that is generated from `constants`.
///
/// ```
/// use fieldlab_draw::constants::{Constants, artefacts};
///
/// let constants = Constants::parse(br#"{"schema": "tatbot.draw-constants/1", "path": {"speed_m_s": 1.0}}"#)?;
/// assert!(artefacts(&constants)[0].text.contains("pub const PATH_SPEED_M_S: f64 = 1.0;"));
/// # Ok::<(), fieldlab_draw::DrawError>(())
/// ```
#[must_use]
pub fn artefacts(constants: &Constants) -> Vec<Artefact> {
    vec![
        Artefact { path: "crates/draw/src/constants/generated.rs", text: rust(constants) },
        Artefact { path: "crates/draw/include/motion_constants.h", text: c_header(constants) },
        Artefact { path: "interop/draw/motion_constants.py", text: python(constants) },
    ]
}

fn banner(comment: &str) -> String {
    format!(
        "{comment} Generated from {PATH} by `fieldlab draw constants render`.\n\
         {comment} Change that file and render again; an edit made here is found by `fieldlab draw constants --check`.\n"
    )
}

fn name(key: &str) -> String {
    key.to_ascii_uppercase().replace('.', "_")
}

fn values(value: &Json) -> Vec<f64> {
    match value {
        Json::List(items) => items.iter().filter_map(Json::as_f64).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// A digit group every three digits, as the lints want long literals; the value is the same.
fn rust_float(value: f64) -> String {
    let plain = python_float(value);
    let (mantissa, exponent) = plain.split_once('e').unwrap_or((&plain, ""));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let from_right: Vec<String> = whole
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|digits| digits.iter().copied().map(char::from).collect())
        .collect();
    let from_left: Vec<String> =
        part.as_bytes().chunks(3).map(|digits| digits.iter().copied().map(char::from).collect()).collect();
    let exponent = if exponent.is_empty() { String::new() } else { format!("e{exponent}") };
    format!("{sign}{}.{}{exponent}", from_right.join("_"), from_left.join("_"))
}

fn rust(constants: &Constants) -> String {
    let mut out = banner("//!");
    let mut constant = |doc: &str, name: &str, kind: &str, value: &str| {
        let _infallible = write!(out, "\n/// {doc}.\npub const {name}: {kind} = {value};\n");
    };
    constant("The short digest of the constants file", "SHA", "&str", &format!("\"{}\"", constants.sha()));
    let full = format!("\"{}\"", constants.sha_full());
    constant("The whole digest of the constants file", "SHA_FULL", "&str", &full);
    for (key, value) in constants.leaves() {
        let doc = format!("`{key}`");
        match value {
            Json::Int(number) => constant(&doc, &name(key), "i64", &group(*number)),
            Json::List(items) => {
                let list: Vec<String> = values(value).into_iter().map(rust_float).collect();
                let kind = format!("[f64; {}]", items.len());
                constant(&doc, &name(key), &kind, &format!("[{}]", list.join(", ")));
            }
            other => {
                let number = other.as_f64().unwrap_or(f64::NAN);
                constant(&doc, &name(key), "f64", &rust_float(number));
            }
        }
    }
    out
}

fn group(value: i64) -> String {
    let text = value.unsigned_abs().to_string();
    let groups: Vec<String> = text
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|digits| digits.iter().copied().map(char::from).collect())
        .collect();
    format!("{}{}", if value < 0 { "-" } else { "" }, groups.join("_"))
}

fn c_header(constants: &Constants) -> String {
    let mut out = banner("//");
    out.push_str("#ifndef FIELDLAB_DRAW_MOTION_CONSTANTS_H\n#define FIELDLAB_DRAW_MOTION_CONSTANTS_H\n\n");
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("static const char FIELDLAB_DRAW_SHA[13] = \"{}\";", constants.sha()));
    line(format!("static const char FIELDLAB_DRAW_SHA_FULL[65] = \"{}\";", constants.sha_full()));
    for (key, value) in constants.leaves() {
        let name = format!("FIELDLAB_DRAW_{}", name(key));
        match value {
            Json::Int(number) => line(format!("static const int {name} = {number};")),
            Json::List(items) => {
                let list: Vec<String> = values(value).into_iter().map(python_float).collect();
                line(format!("static const double {name}[{}] = {{{}}};", items.len(), list.join(", ")));
            }
            other => {
                line(format!(
                    "static const double {name} = {};",
                    python_float(other.as_f64().unwrap_or(f64::NAN))
                ));
            }
        }
    }
    out.push_str("\n#endif\n");
    out
}

fn python(constants: &Constants) -> String {
    let mut out = banner("#");
    let _infallible = write!(
        out,
        "\nSHA = \"{}\"\nSHA_FULL = \"{}\"\nVALUES = {{\n",
        constants.sha(),
        constants.sha_full()
    );
    for (key, value) in constants.leaves() {
        let text = match value {
            Json::List(items) => {
                let list: Vec<String> = items.iter().map(Json::canonical).collect();
                format!("({},)", list.join(", "))
            }
            other => other.canonical(),
        };
        let _infallible = writeln!(out, "    \"{key}\": {text},");
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_files_are_those_that_would_be_generated() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let constants = Constants::parse(&std::fs::read(root.join(PATH)).unwrap()).unwrap();
        for artefact in artefacts(&constants) {
            let found = std::fs::read_to_string(root.join(artefact.path)).unwrap();
            assert!(
                found == artefact.text,
                "{} is stale: run `fieldlab draw constants render`",
                artefact.path
            );
        }
    }

    #[test]
    fn long_literals_are_grouped_and_keep_their_value() {
        assert_eq!(rust_float(0.000_150_000_000_000_000_01), "0.000_150_000_000_000_000_01");
        assert_eq!(rust_float(250_000.0), "250_000.0");
        assert_eq!(rust_float(-1e-5), "-1.0e-05");
        assert_eq!(group(-250_000), "-250_000");
    }
}
