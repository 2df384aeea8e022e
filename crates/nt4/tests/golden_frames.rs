//! Frames recorded from an official server, read by the client core. The console's page reads the same file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

use std::fmt::Write as _;

use fieldlab_base::Micros;
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig};
use fieldlab_nt4::server::Version;
use fieldlab_values::Value;
use serde_json::{Value as Json, json};

const GOLDEN: &str = include_str!("golden/ntcore_frames.json");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn number(value: f64) -> Json {
    match value {
        v if v.is_nan() => json!("nan"),
        v if v.is_infinite() => json!("inf"),
        v if v == 0.0 && v.is_sign_negative() => json!("-0"),
        v => json!(v),
    }
}

fn whole(value: i64) -> Json {
    if value.unsigned_abs() < 1 << 53 { json!(value) } else { json!(value.to_string()) }
}

fn written(value: &Value) -> Json {
    match value {
        Value::Boolean(v) => json!(v),
        Value::Int(v) => whole(*v),
        Value::Float(v) => number(f64::from(*v)),
        Value::Double(v) => number(*v),
        Value::String(v) => json!(&**v),
        Value::Raw(v) => json!(hex(v)),
        Value::BooleanArray(v) => json!(v.to_vec()),
        Value::IntArray(v) => v.iter().map(|v| whole(*v)).collect(),
        Value::FloatArray(v) => v.iter().map(|v| number(f64::from(*v))).collect(),
        Value::DoubleArray(v) => v.iter().map(|v| number(*v)).collect(),
        Value::StringArray(v) => json!(v.iter().map(|v| &**v).collect::<Vec<_>>()),
    }
}

/// JSON does not tell 3 from 3.0.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

#[test]
fn every_value_of_the_official_server_is_what_was_set() {
    let golden: Json = serde_json::from_str(GOLDEN).unwrap();
    let mut client = Client::new(ClientConfig::default()).unwrap();
    client.connected(Version::V41);
    client.subscribe(&["/golden/"], SubscribeOptions::prefix()).unwrap();
    for frame in golden["frames"].as_array().unwrap() {
        match (frame["text"].as_str(), frame["binary"].as_str()) {
            (Some(text), _) => client.receive_text(text).unwrap(),
            (_, Some(binary)) => client.receive_binary(&bytes(binary), Micros(1)).unwrap(),
            _ => panic!("a frame is text or binary: {frame}"),
        }
    }
    let expected = golden["expected"].as_array().unwrap();
    assert_eq!(expected.len(), 34);
    for row in expected {
        let name = row["name"].as_str().unwrap();
        let (_, value) = client.value(name).unwrap_or_else(|| panic!("{name} has no value"));
        assert_eq!(client.topic(name).unwrap().data_type.nt_name(), row["type"], "{name}");
        assert!(same(&written(value), &row["value"]), "{name}: {value:?} is not {}", row["value"]);
    }
}
