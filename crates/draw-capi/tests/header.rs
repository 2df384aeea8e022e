//! The header against the source: the same functions, with the same parameters and types, and a C and a C++ compiler take it.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The C type of a Rust type at the border.
fn c_type(rust: &str) -> String {
    if let Some(inner) = rust.strip_prefix("*const ") {
        return format!("const {}*", c_type(inner));
    }
    if let Some(inner) = rust.strip_prefix("*mut ") {
        return format!("{}*", c_type(inner));
    }
    match rust {
        "c_char" => "char ",
        "u8" => "uint8_t ",
        "i32" => "int32_t ",
        "u32" => "uint32_t ",
        "f64" => "double ",
        "usize" => "size_t ",
        "Rig" => "fieldlab_draw_rig ",
        "Check" => "fieldlab_draw_check ",
        "Verdict" => "fieldlab_draw_verdict ",
        other => panic!("the type `{other}` has no C name"),
    }
    .to_owned()
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" *", "*").replace("* ", "*")
}

/// Every exported function as a C prototype, by name.
fn exported() -> BTreeMap<String, String> {
    let source = read("src/border.rs");
    let mut out = BTreeMap::new();
    for part in source.split("#[unsafe(no_mangle)]").skip(1) {
        let (_, rest) = part.split_once("fn ").unwrap();
        let (name, rest) = rest.split_once('(').unwrap();
        let (parameters, rest) = rest.split_once(')').unwrap();
        let (result, _) = rest.split_once('{').unwrap();
        let result = result.trim().strip_prefix("->").map_or("void ".to_owned(), |r| c_type(r.trim()));
        let parameters: Vec<String> = parameters
            .split(',')
            .map(str::trim)
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| {
                let (name, kind) = parameter.split_once(':').unwrap();
                format!("{}{name}", c_type(kind.trim()))
            })
            .collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        out.insert(name.to_owned(), squeeze(&format!("{result}{name}({parameters});")));
    }
    out
}

#[test]
fn the_header_declares_exactly_what_is_exported() {
    let header = read("include/fieldlab_draw.h");
    let mut bare = header.clone();
    while let Some((front, rest)) = bare.split_once("/*") {
        bare = format!("{front}{}", rest.split_once("*/").unwrap().1);
    }
    let declared: BTreeMap<String, String> = bare
        .lines()
        .filter(|line| line.ends_with(");"))
        .map(|line| {
            let name = line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap();
            (name.to_owned(), squeeze(line))
        })
        .collect();
    assert_eq!(declared, exported());
    assert_eq!(declared.len(), 16);
    assert!(
        header.contains("#define FIELDLAB_DRAW_ABI 1\n") && header.contains("#define FIELDLAB_DRAW_AXES 7\n")
    );
    assert_eq!(fieldlab_draw::profile::AXES, 7);
}

#[test]
fn a_c_and_a_cpp_compiler_take_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    for (compiler, standard, name) in [("gcc", "-std=c99", "use.c"), ("g++", "-std=c++11", "use.cpp")] {
        let source = folder.path().join(name);
        std::fs::write(&source, "#include \"fieldlab_draw.h\"\n#include \"fieldlab_draw.h\"\n").unwrap();
        let output = Command::new(compiler)
            .args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"])
            .args([&include, &source])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
