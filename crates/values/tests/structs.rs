//! Struct schemas: layouts as WPILib's specification has them, values there and back, hostile schemas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use fieldlab_values::schema::{
    Kind, MAX_DEPTH, MAX_SCHEMAS, MAX_SIZE, Registry, SchemaError, State, StructLayout, Tree, parse,
};
use fieldlab_values::{
    ChassisSpeeds, DataType, Pose2d, Pose3d, Publish, Publisher, Quaternion, Root, Rotation2d, Rotation3d,
    SwerveModulePosition, SwerveModuleState, TopicSpec, Transform2d, Transform3d, Translation2d,
    Translation3d, Twist2d, Twist3d, ValueRef, WpiStruct,
};
use proptest::prelude::*;

fn layout(text: &str) -> StructLayout {
    let mut registry = Registry::default();
    registry.add("S", text).unwrap();
    registry.get("S").unwrap().as_ref().clone()
}

/// (offset, unit bytes, shift) of every field, and the size.
fn places(text: &str) -> (Vec<(usize, usize, u8)>, usize) {
    let layout = layout(text);
    let places = layout.fields.iter().map(|f| match f.bits {
        Some(bits) => (f.offset, usize::from(bits.unit_bytes), bits.shift),
        None => (f.offset, f.kind.size(), 0),
    });
    (places.collect(), layout.size)
}

// The rules of "Bit-field Packing" in WPILib's struct specification 1.0, one case each.
#[test]
fn bit_fields_share_a_unit_as_the_specification_says() {
    assert_eq!(places("int8 a:4;int8 b:4"), (vec![(0, 1, 0), (0, 1, 4)], 1));
    assert_eq!(places("int8 a:4;int8 b:5"), (vec![(0, 1, 0), (1, 1, 0)], 2));
    assert_eq!(places("int8 a:4;int16 b:4"), (vec![(0, 1, 0), (1, 2, 0)], 3));
    assert_eq!(places("uint16 a:4;int16 b:12"), (vec![(0, 2, 0), (0, 2, 4)], 2));
    assert_eq!(places("int32 a:4;bool b:1;int32 c:27"), (vec![(0, 4, 0), (0, 4, 4), (0, 4, 5)], 4));
    assert_eq!(places("int8 a:8;bool b:1"), (vec![(0, 1, 0), (1, 1, 0)], 2));
    assert_eq!(places("int16 a:16;bool b:1;bool c:1"), (vec![(0, 2, 0), (2, 1, 0), (2, 1, 1)], 3));
    assert_eq!(places("bool a:1;bool b:1;int8 c:6"), (vec![(0, 1, 0), (0, 1, 1), (0, 1, 2)], 1));
    assert_eq!(places("bool a:1;int16 b:2"), (vec![(0, 1, 0), (1, 2, 0)], 3));
    assert_eq!(places("int8 a:4;int8 x;int8 b:4"), (vec![(0, 1, 0), (1, 1, 0), (2, 1, 0)], 3));
    assert_eq!(places("int64 a:40;int64 b:24;double x"), (vec![(0, 8, 0), (0, 8, 40), (8, 8, 0)], 16));
}

#[test]
fn a_nested_struct_closes_the_unit_and_arrays_take_their_places() {
    let mut registry = Registry::default();
    registry.add("In", "uint8 a;double b").unwrap();
    registry.add("Out", "uint8 f:3;In one;In two[2];uint8 g:3;char name[5]").unwrap();
    let out = registry.get("Out").unwrap();
    assert_eq!(out.fields.iter().map(|f| f.offset).collect::<Vec<_>>(), [0, 1, 10, 28, 29]);
    assert_eq!(out.size, 34);
    let paths: Vec<String> = out.leaves().unwrap().into_iter().map(|leaf| leaf.path).collect();
    assert_eq!(paths, ["f", "one/a", "one/b", "two/0/a", "two/0/b", "two/1/a", "two/1/b", "g"]);
    for leaf in out.leaves().unwrap() {
        assert_eq!(out.leaf(&leaf.path), Some(leaf));
    }
    assert_eq!(out.leaf("two/2/a"), None);
    assert_eq!(out.leaf("two"), None);
    assert_eq!(out.leaf("name"), None);
}

// As C++, AdvantageScope and ntcore-ts read them: the storage type's width gives the sign, the field's does not.
#[test]
fn a_signed_bit_field_is_never_sign_extended() {
    let narrow = layout("int8 a:4;int8 b:4");
    let tree = narrow.unpack(&[0xf1]).unwrap();
    assert_eq!(tree, Tree::Struct(vec![("a".into(), Tree::Int(1)), ("b".into(), Tree::Int(15))]));
    let full = layout("int8 a:8");
    assert_eq!(full.unpack(&[0xff]).unwrap().at("a"), Some(&Tree::Int(-1)));
    assert_eq!(full.leaf("a").unwrap().read(&[0xff]), Some(-1.0));
}

// ntcore-ts takes a wrong value from bit-fields of more than 31 bits.
#[test]
fn wide_bit_fields_keep_all_their_bits() {
    let wide = layout("uint64 a:1;uint64 b:63");
    let tree = Tree::Struct(vec![("a".into(), Tree::UInt(1)), ("b".into(), Tree::UInt((1 << 63) - 2))]);
    let bytes = wide.pack(&tree).unwrap();
    assert_eq!(bytes, (u64::MAX - 2).to_le_bytes());
    assert_eq!(wide.unpack(&bytes).unwrap(), tree);
}

#[test]
fn texts_lose_their_padding_and_a_cut_character() {
    let text = |bytes: &[u8]| {
        let tree = layout(&format!("char t[{}]", bytes.len())).unpack(bytes).unwrap();
        match tree.at("t") {
            Some(Tree::Text(text)) => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(text(b"abc\0\0"), "abc");
    assert_eq!(text(b"a\0c\0"), "a\0c");
    assert_eq!(text(b"\0\0"), "");
    assert_eq!(text("aé".as_bytes()), "aé");
    assert_eq!(text(&"aé".as_bytes()[..2]), "a");
    assert_eq!(text(&"a€".as_bytes()[..3]), "a");
    assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
    assert_eq!(text(b"a\xffb\xe2\x82"), "a\u{fffd}b");
    let packed =
        layout("char t[3]").pack(&Tree::Struct(vec![("t".into(), Tree::Text("aaé".into()))])).unwrap();
    assert_eq!(packed, b"aa\0");
}

#[test]
fn any_order_of_registration_gives_the_same_layouts() {
    let schemas = [("A", "B b;C c[2]"), ("B", "C c;double x"), ("C", "int16 v"), ("D", "A a;B b")];
    let mut orders = vec![vec![]];
    for _ in 0..schemas.len() {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let left: Vec<usize> = (0..schemas.len()).filter(|i| !order.contains(i)).collect();
                left.into_iter().map(move |i| [order.clone(), vec![i]].concat())
            })
            .collect();
    }
    assert_eq!(orders.len(), 24);
    for order in orders {
        let mut registry = Registry::default();
        for i in order {
            registry.add(schemas[i].0, schemas[i].1).unwrap();
        }
        let sizes: Vec<_> = ["A", "B", "C", "D"].iter().map(|n| registry.get(n).unwrap().size).collect();
        assert_eq!(sizes, [14, 10, 2, 24]);
    }
}

#[test]
fn what_is_missing_is_named_and_a_late_schema_completes_it() {
    let mut registry = Registry::default();
    registry.add("Pose", "Point p;Angle a").unwrap();
    assert_eq!(registry.state("Pose"), State::Waiting { missing: vec!["Angle".into(), "Point".into()] });
    assert_eq!(registry.state("Point"), State::Unknown);
    registry.add("Point", "double x").unwrap();
    registry.add("Angle", "double v").unwrap();
    assert!(matches!(registry.state("Pose"), State::Ready(layout) if layout.size == 16));
}

#[test]
fn cycles_are_refused_with_the_way_round() {
    let mut registry = Registry::default();
    assert!(matches!(registry.add("S", "S s"), Err(SchemaError::Cycle { .. })));
    registry.add("A", "B b").unwrap();
    registry.add("B", "int8 x;C c").unwrap();
    let error = registry.add("C", "A a").unwrap_err();
    assert_eq!(error.to_string(), "struct C: expected no struct inside itself, found C <- B <- A <- C");
    assert_eq!(registry.add("C", "A a"), Err(error.clone()));
    assert_eq!(registry.state("C"), State::Refused(error));
    assert!(registry.get("A").is_none());
    // What has no part in it goes on working.
    registry.add("D", "int8 x").unwrap();
    assert!(registry.get("D").is_some());
}

#[test]
fn senseless_declarations_are_refused_with_the_field() {
    let check = |text: &str, expect: &str| {
        let error = Registry::default().add("S", text).unwrap_err();
        assert_eq!(error.to_string(), expect, "{text}");
    };
    check("int8 a;int16 a", "field a: expected each name once, found a second declaration");
    check("float a:3", "field a: expected an integer or bool type for a bit-field, found float");
    check("char a:3", "field a: expected an integer or bool type for a bit-field, found char");
    check("T a:3", "field a: expected an integer or bool type for a bit-field, found T");
    check("bool a:2", "field a: expected 1 bit for a bool, found 2");
    check("int8 a:9", "field a: expected no more bits than its type has, found 9");
    check("enum {a=1} double x", "field x: expected an integer type after an enum, found double");
}

#[test]
fn a_second_text_for_a_name_changes_nothing() {
    let mut registry = Registry::default();
    registry.add("S", "int8 a").unwrap();
    registry.add("S", "int8 a").unwrap();
    assert!(matches!(registry.add("S", "int8 b"), Err(SchemaError::Conflict { .. })));
    assert_eq!(registry.get("S").unwrap().fields[0].name, "a");
}

#[test]
fn limits_hold_at_and_above() {
    let size = |bytes: usize| Registry::default().add("S", &format!("uint8 a[{bytes}]"));
    assert_eq!(size(MAX_SIZE), Ok(()));
    assert!(matches!(size(MAX_SIZE + 1), Err(SchemaError::TooLarge { .. })));
    for huge in [u64::from(u32::MAX), u64::MAX] {
        let refused = Registry::default().add("S", &format!("double a[{huge}]"));
        assert!(matches!(refused, Err(SchemaError::TooLarge { .. })));
    }
    let mut registry = Registry::default();
    registry.add("S0", "int8 a").unwrap();
    for level in 1..MAX_DEPTH {
        registry.add(&format!("S{level}"), &format!("S{} s", level - 1)).unwrap();
    }
    let deeper = registry.add("Deeper", &format!("S{} s", MAX_DEPTH - 1));
    assert!(matches!(deeper, Err(SchemaError::TooLarge { what: "levels", .. })));
    let mut registry = Registry::default();
    for i in 0..MAX_SCHEMAS {
        registry.add(&format!("S{i}"), "int8 a").unwrap();
    }
    assert!(matches!(registry.add("One more", "int8 a"), Err(SchemaError::TooLarge { .. })));
    // A long chain that arrives outermost first is refused at the limit and does not recurse.
    let mut registry = Registry::default();
    for level in (1..1000).rev() {
        registry.add(&format!("S{level}"), &format!("S{} s", level - 1)).unwrap();
    }
    registry.add("S0", "int8 a").unwrap();
    assert!(registry.get("S31").is_some() && registry.get("S32").is_none());
}

#[test]
fn an_empty_struct_is_fine_but_not_in_an_array() {
    let mut registry = Registry::default();
    registry.add("Empty", "").unwrap();
    assert_eq!(registry.get("Empty").unwrap().size, 0);
    registry.add("One", "Empty e;int8 a").unwrap();
    assert_eq!(registry.get("One").unwrap().size, 1);
    assert!(registry.add("Many", "Empty e[4000000000]").is_err());
    assert!(registry.get("Empty").unwrap().unpack_array(&[1, 2]).is_err());
}

#[test]
fn too_few_bytes_are_refused_and_a_short_tail_of_an_array_is_counted() {
    let two = layout("int16 a");
    assert!(matches!(two.unpack(&[1]), Err(SchemaError::Short { expected: 2, found: 1, .. })));
    let (values, rest) = two.unpack_array(&[1, 0, 2, 0, 3]).unwrap();
    assert_eq!((values.len(), rest), (2, 1));
    assert_eq!(two.leaf("a").unwrap().read(&[1]), None);
}

#[test]
fn a_tree_of_another_shape_is_refused_with_the_place() {
    let mut registry = Registry::default();
    registry.add("In", "uint8 a:3").unwrap();
    registry.add("Out", "In in[2]").unwrap();
    let out = registry.get("Out").unwrap();
    let tree = |a: Tree| {
        let one = Tree::Struct(vec![("a".into(), Tree::UInt(7))]);
        let two = Tree::Struct(vec![("a".into(), a)]);
        Tree::Struct(vec![("in".into(), Tree::Array(vec![one, two]))])
    };
    assert_eq!(out.pack(&tree(Tree::UInt(1))).unwrap(), [7, 1]);
    let error = out.pack(&tree(Tree::UInt(8))).unwrap_err();
    assert_eq!(error.to_string(), "in/1/a: expected an integer that 3 bits hold, found 8");
    let error = out.pack(&tree(Tree::Double(1.0))).unwrap_err();
    assert_eq!(error.to_string(), "in/1/a: expected an unsigned integer, found a double");
}

/// A ready type's own pack and unpack agree with its schema text read by the parser.
fn agrees<T: WpiStruct + PartialEq + std::fmt::Debug>(value: T, numbers: &[f64]) {
    let mut registry = Registry::default();
    let mut told = Vec::new();
    T::schemas(&mut |name, text| {
        told.push(name);
        registry.add(name, text).unwrap();
    });
    assert_eq!(told.last(), Some(&T::NAME));
    let layout = registry.get(T::NAME).unwrap();
    assert_eq!(layout.size, T::SIZE);
    let mut bytes = vec![0; T::SIZE];
    value.pack(&mut bytes);
    let read: Vec<f64> = layout.leaves().unwrap().iter().map(|leaf| leaf.read(&bytes).unwrap()).collect();
    assert_eq!(read, numbers, "{}", T::NAME);
    assert!(layout.fields.iter().all(|f| matches!(f.kind, Kind::Double | Kind::Struct(_))));
    assert_eq!(T::unpack(&bytes), Some(value));
    assert_eq!(T::unpack(&bytes[..T::SIZE - 1]), None);
}

#[test]
fn ready_types_agree_with_their_schemas() {
    let q = Quaternion { w: 0.5, x: 0.6, y: 0.7, z: 0.8 };
    let t3 = Translation3d { x_m: 1.0, y_m: 2.0, z_m: 3.0 };
    let rotation = Rotation2d::new(3.0);
    agrees(Translation2d::new(1.0, -2.0), &[1.0, -2.0]);
    agrees(t3, &[1.0, 2.0, 3.0]);
    agrees(rotation, &[3.0]);
    agrees(q, &[0.5, 0.6, 0.7, 0.8]);
    agrees(Rotation3d { q }, &[0.5, 0.6, 0.7, 0.8]);
    agrees(Pose2d::new(1.0, 2.0, 3.0), &[1.0, 2.0, 3.0]);
    agrees(Pose3d { translation: t3, rotation: Rotation3d { q } }, &[1.0, 2.0, 3.0, 0.5, 0.6, 0.7, 0.8]);
    agrees(Transform2d { translation: Translation2d::new(1.0, 2.0), rotation }, &[1.0, 2.0, 3.0]);
    agrees(Transform3d { translation: t3, rotation: Rotation3d { q } }, &[1.0, 2.0, 3.0, 0.5, 0.6, 0.7, 0.8]);
    agrees(Twist2d { dx_m: 1.0, dy_m: 2.0, dtheta_rad: 3.0 }, &[1.0, 2.0, 3.0]);
    let twist = Twist3d { dx_m: 1.0, dy_m: 2.0, dz_m: 3.0, rx_rad: 4.0, ry_rad: 5.0, rz_rad: 6.0 };
    agrees(twist, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    agrees(ChassisSpeeds::new(1.0, 2.0, 3.0), &[1.0, 2.0, 3.0]);
    agrees(SwerveModuleState { speed_mps: 1.0, angle: rotation }, &[1.0, 3.0]);
    agrees(SwerveModulePosition { distance_m: 1.0, angle: rotation }, &[1.0, 3.0]);
}

#[derive(Default)]
struct Sink {
    types: Vec<DataType>,
    schemas: Vec<String>,
    puts: Vec<(u32, Vec<u8>)>,
}

impl Publish for Sink {
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, fieldlab_base::ConfigError> {
        self.types.push(spec.data_type.clone());
        Ok(self.types.len() as u32 - 1)
    }
    fn schema(&mut self, name: &str, text: &str) {
        self.schemas.push(format!("{name}: {text}"));
    }
    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        let ValueRef::Raw(bytes) = value else { panic!("{value:?}") };
        self.puts.push((index, bytes.to_vec()));
    }
    fn retract(&mut self, index: u32) {
        panic!("nothing here retracts {index}");
    }
}

#[test]
fn structs_and_slices_of_them_are_published_with_their_schemas() {
    let mut sink = Sink::default();
    let pose = Publisher::<Pose2d>::declare(&mut sink, Root::Catalyst, "Odometry/Pose", "").unwrap();
    let states = Publisher::<[SwerveModuleState]>::catalyst(&mut sink, "States").unwrap();
    assert_eq!(sink.types, [DataType::structure("Pose2d"), DataType::structure_array("SwerveModuleState")]);
    assert_eq!(
        sink.schemas[..3],
        [
            "Translation2d: double x;double y",
            "Rotation2d: double value",
            "Pose2d: Translation2d translation;Rotation2d rotation"
        ]
    );
    pose.set(&mut sink, &Pose2d::new(1.0, 2.0, 3.0));
    states.set(&mut sink, &[SwerveModuleState::default(); 4]);
    states.set(&mut sink, &[]);
    let expected: Vec<u8> = [1.0_f64, 2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(sink.puts, [(0, expected), (1, vec![0; 64]), (1, vec![])]);
}

/// Fields of every plain type but `char` (text that is not UTF-8 does not come back as it was), with names and bits drawn at random, and bytes for them.
fn schema_and_bytes() -> impl Strategy<Value = (String, Vec<u8>)> {
    let field = prop_oneof![
        (0_usize..11, prop::option::of(1_usize..4)).prop_map(|(kind, count)| {
            let name = [
                "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float",
                "double",
            ][kind];
            (name, count.map_or_else(String::new, |n| format!("[{n}]")))
        }),
        (0_usize..8, 1_u32..=64).prop_map(|(kind, bits)| {
            let (name, width) = [
                ("int8", 8),
                ("int16", 16),
                ("int32", 32),
                ("int64", 64),
                ("uint8", 8),
                ("uint16", 16),
                ("uint32", 32),
                ("uint64", 64),
            ][kind];
            (name, format!(":{}", (bits - 1) % width + 1))
        }),
        Just(("bool", ":1".to_owned())),
    ];
    (prop::collection::vec(field, 1..12), prop::collection::vec(any::<u8>(), 12 * 32)).prop_map(
        |(fields, bytes)| {
            let fields = fields.iter().enumerate();
            (
                fields.map(|(i, (kind, rest))| format!("{kind} f{i}{rest}")).collect::<Vec<_>>().join(";"),
                bytes,
            )
        },
    )
}

proptest! {
    #[test]
    fn what_is_unpacked_packs_to_the_same_tree((text, bytes) in schema_and_bytes()) {
        let layout = layout(&text);
        let tree = layout.unpack(&bytes).unwrap();
        let packed = layout.pack(&tree).unwrap();
        let again = layout.unpack(&packed).unwrap();
        // Debug text compares NaNs as equal.
        prop_assert_eq!(format!("{tree:?}"), format!("{again:?}"));
        for leaf in layout.leaves().unwrap() {
            let number = tree.at(&leaf.path).unwrap().as_number().unwrap();
            let read = leaf.read(&bytes).unwrap();
            prop_assert!(number == read || (number.is_nan() && read.is_nan()), "{}", leaf.path);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~é\n]{0,80}", loose in "[enum{}=,;:\\[\\]0-9a-c -]{0,60}") {
        drop(parse(&text));
        drop(Registry::default().add("S", &loose));
    }
}
