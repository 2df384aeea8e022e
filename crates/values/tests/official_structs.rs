//! Layouts and values as WPILib's own DynamicStruct has them.

#![allow(clippy::unwrap_used, reason = "a test's own file")]

use fieldlab_values::schema::{Registry, Tree};

fn show(tree: &Tree, out: &mut String) {
    match tree {
        Tree::Bool(v) => out.push_str(&format!(" {}", u8::from(*v))),
        Tree::Int(v) => out.push_str(&format!(" {v}")),
        Tree::UInt(v) => out.push_str(&format!(" {v}")),
        Tree::Float(v) => out.push_str(&format!(" f:{:08x}", v.to_bits())),
        Tree::Double(v) => out.push_str(&format!(" d:{:016x}", v.to_bits())),
        Tree::Text(v) => out.push_str(&format!(" t:{v}")),
        Tree::Array(items) => items.iter().for_each(|item| show(item, out)),
        Tree::Struct(fields) => fields.iter().for_each(|(_, field)| show(field, out)),
    }
}

#[test]
fn sizes_and_values_are_those_of_the_official_reader() {
    let mut checked = 0;
    for line in include_str!("golden/structs.txt").lines().filter(|line| !line.starts_with('#')) {
        let [schema, size, hex, values] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut registry = Registry::default();
        registry.add("Out", schema).unwrap();
        registry.add("In", "int16 a;uint8 b:3;bool c:1").unwrap();
        let layout = registry.get("Out").unwrap();
        assert_eq!(layout.size.to_string(), size, "{schema}");
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        let tree = layout.unpack(&bytes).unwrap();
        let mut shown = String::new();
        show(&tree, &mut shown);
        assert_eq!(shown, values, "{schema}");
        checked += 1;
    }
    assert_eq!(checked, 120);
}
