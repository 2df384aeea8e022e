//! The licence of every dependency against an allow-list.

use anyhow::{Result, bail};

use crate::metadata::Graph;

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

pub(crate) fn run() -> Result<()> {
    let graph = Graph::load()?;
    let mut faults = Vec::new();
    for package in graph.packages.values() {
        match &package.licence {
            None => faults.push(format!("{}: states no licence", package.label)),
            Some(text) => match permitted(text) {
                Ok(true) => {}
                Ok(false) => faults.push(format!("{}: `{text}` is not on the allow-list", package.label)),
                Err(reason) => faults.push(format!("{}: `{text}`: {reason}", package.label)),
            },
        }
    }
    if !faults.is_empty() {
        bail!("{} crates with a licence that nobody has allowed:\n  {}", faults.len(), faults.join("\n  "));
    }
    println!("licences: {} packages, all on the allow-list", graph.packages.len());
    Ok(())
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
    use super::permitted;

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
