//! The licence of every dependency against an allow-list: of crates, and of npm packages by their lock files.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use crate::metadata::Graph;
use crate::run::root;

/// Licences that a team may take into its robot code without asking anyone.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Licences of npm packages that build and test the page and of which nothing is in it.
const TOOLS: &[&str] = &["MPL-2.0"];
const LOCKS: [&str; 2] = ["crates/console/web/package-lock.json", "interop/nt4/package-lock.json"];

pub(crate) fn run() -> Result<()> {
    let graph = Graph::load()?;
    let mut faults: Vec<String> =
        graph.packages.values().filter_map(|p| fault(&p.label, p.licence.as_deref(), &[])).collect();
    let mut npm = 0;
    for lock in LOCKS {
        let text = fs::read(root().join(lock)).with_context(|| format!("reading {lock}"))?;
        let text: Json = serde_json::from_slice(&text).with_context(|| format!("reading {lock}"))?;
        let packages = npm_packages(&text).with_context(|| format!("{lock} has no `packages`"))?;
        npm += packages.len();
        faults.extend(packages.into_iter().filter_map(|(name, licence, tool)| {
            fault(&format!("{lock}: {name}"), licence, if tool { TOOLS } else { &[] })
        }));
    }
    if !faults.is_empty() {
        bail!("{} packages with a licence that nobody has allowed:\n  {}", faults.len(), faults.join("\n  "));
    }
    println!("licences: {} crates and {npm} npm packages, all on the allow-list", graph.packages.len());
    Ok(())
}

/// What is wrong with a package's licence.
fn fault(label: &str, licence: Option<&str>, besides: &[&str]) -> Option<String> {
    let Some(text) = licence else { return Some(format!("{label}: states no licence")) };
    if besides.contains(&text) {
        return None;
    }
    match permitted(text) {
        Ok(true) => None,
        Ok(false) => Some(format!("{label}: `{text}` is not on the allow-list")),
        Err(reason) => Some(format!("{label}: `{text}`: {reason}")),
    }
}

/// Name, licence, and whether it is a tool only, of every package of a lock file.
fn npm_packages(lock: &Json) -> Option<Vec<(&str, Option<&str>, bool)>> {
    let packages = lock.get("packages")?.as_object()?;
    // The one without a name is the project itself.
    let others = packages.iter().filter(|(name, _)| !name.is_empty());
    Some(
        others
            .map(|(name, package)| {
                let tool = package.get("dev").and_then(Json::as_bool).unwrap_or(false);
                (name.as_str(), package.get("license").and_then(Json::as_str), tool)
            })
            .collect(),
    )
}

/// Whether some choice that the SPDX expression offers is allowed. `/` is the old spelling of `OR`.
fn permitted(expression: &str) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let answer = either(&mut rest)?;
    match rest {
        [] => Ok(answer),
        [word, ..] => bail!("unexpected `{word}`"),
    }
}

fn either(words: &mut &[&str]) -> Result<bool> {
    let mut answer = both(words)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        answer |= both(words)?;
    }
    Ok(answer)
}

fn both(words: &mut &[&str]) -> Result<bool> {
    let mut answer = one(words)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        answer &= one(words)?;
    }
    Ok(answer)
}

fn one(words: &mut &[&str]) -> Result<bool> {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let answer = either(words)?;
            let [")", rest @ ..] = *words else { bail!("a parenthesis is not closed") };
            *words = rest;
            Ok(answer)
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            Ok(ALLOWED.contains(&format!("{name} WITH {exception}").as_str()))
        }
        [name, rest @ ..] if !matches!(*name, "OR" | "AND" | "WITH" | ")") => {
            *words = rest;
            Ok(ALLOWED.contains(name))
        }
        _ => bail!("a licence is missing"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{TOOLS, fault, npm_packages, permitted};

    #[test]
    fn what_is_in_the_page_is_judged_more_strictly_than_what_builds_it() {
        let lock = json!({ "packages": {
            "": { "license": "none of anybody's business" },
            "node_modules/plot": { "license": "MPL-2.0" },
            "node_modules/build": { "license": "MPL-2.0", "dev": true },
            "node_modules/silent": { "dev": true },
        }});
        let judged: Vec<_> = npm_packages(&lock)
            .unwrap()
            .into_iter()
            .filter_map(|(name, licence, tool)| fault(name, licence, if tool { TOOLS } else { &[] }))
            .collect();
        assert_eq!(
            judged,
            [
                "node_modules/plot: `MPL-2.0` is not on the allow-list",
                "node_modules/silent: states no licence"
            ]
        );
        assert!(npm_packages(&json!({})).is_none());
    }

    #[test]
    fn expressions_are_read_as_spdx_reads_them() {
        for (expression, expect) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("MPL-2.0", false),
            ("MPL-2.0 OR MIT", true),
            ("MPL-2.0 AND MIT", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND NCSA", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("MIT OR GPL-3.0 AND MPL-2.0", true),
        ] {
            assert_eq!(permitted(expression).ok(), Some(expect), "{expression}");
        }
    }

    #[test]
    fn a_broken_expression_is_an_error_and_not_a_pass() {
        for expression in ["", "MIT OR", "(MIT", "MIT MIT", "MIT)", "AND MIT"] {
            assert!(permitted(expression).is_err(), "{expression}");
        }
    }
}
