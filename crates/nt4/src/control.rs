//! Control messages: JSON objects in an array, each read by itself so that a bad one costs only itself.

use std::fmt;

use fieldlab_base::Micros;
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value as Json;

/// Properties of a topic.
pub type Properties = serde_json::Map<String, Json>;

/// What a subscriber asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct SubscribeOptions {
    /// How often values are sent, at most.
    pub period: Micros,
    /// Every value, not only the newest of each period.
    pub all: bool,
    /// Announcements without values.
    pub topics_only: bool,
    /// The patterns are prefixes of names.
    pub prefix: bool,
    /// Options that this crate does not know; kept and shown in metatopics.
    pub others: Properties,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self {
            period: Micros::from_millis(100),
            all: false,
            topics_only: false,
            prefix: false,
            others: Properties::new(),
        }
    }
}

impl SubscribeOptions {
    /// The newest value of every topic that begins with the pattern.
    #[must_use]
    pub fn prefix() -> Self {
        Self { prefix: true, ..Self::default() }
    }

    /// Every value.
    #[must_use]
    pub fn all(mut self) -> Self {
        self.all = true;
        self
    }

    /// Values at most this often.
    #[must_use]
    pub fn every(mut self, period: Micros) -> Self {
        self.period = period;
        self
    }

    /// Announcements only.
    #[must_use]
    pub fn topics_only(mut self) -> Self {
        self.topics_only = true;
        self
    }

    /// The wire form; options at their defaults are left out.
    pub(crate) fn to_json(&self) -> Properties {
        let mut map = self.others.clone();
        let mut flag = |name: &str, on: bool| {
            if on {
                map.insert(name.to_owned(), Json::Bool(true));
            }
        };
        flag("all", self.all);
        flag("topicsonly", self.topics_only);
        flag("prefix", self.prefix);
        if self.period != Self::default().period {
            map.insert("periodic".to_owned(), self.period.as_secs().into());
        }
        map
    }

    fn parse(json: Option<&Json>) -> Result<Self, &'static str> {
        let mut options = Self::default();
        let map = match json {
            None | Some(Json::Null) => return Ok(options),
            Some(Json::Object(map)) => map,
            Some(_) => return Err("options that are no object"),
        };
        for (key, value) in map {
            let flag = || value.as_bool().ok_or("an option that is no boolean");
            match key.as_str() {
                "all" => options.all = flag()?,
                "topicsonly" => options.topics_only = flag()?,
                "prefix" => options.prefix = flag()?,
                "periodic" => {
                    let secs = value.as_f64().ok_or("a period that is no number")?;
                    if secs.is_nan() || secs * 1000.0 >= f64::from(u32::MAX) {
                        return Err("a period above 2^32 ms");
                    }
                    options.period = Micros::from_secs(secs);
                }
                _ => {
                    options.others.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(options)
    }
}

/// What a client asks of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientMessage {
    /// It will set values of a topic.
    Publish {
        /// The topic.
        name: String,
        /// Its type, as the wire names it.
        type_name: String,
        /// The client's number for this publisher, which its values carry.
        pubuid: i32,
        /// Properties, should this publisher create the topic.
        properties: Properties,
    },
    /// It will not set them any more.
    Unpublish {
        /// The publisher.
        pubuid: i32,
    },
    /// It wants properties of a topic changed; null deletes a key.
    SetProperties {
        /// The topic.
        name: String,
        /// The change.
        update: Properties,
    },
    /// It wants to see topics.
    Subscribe {
        /// Names, or prefixes of names when the options say so.
        topics: Vec<String>,
        /// The client's number for this subscription.
        subuid: i32,
        /// How.
        options: SubscribeOptions,
    },
    /// It does not want to see them any more.
    Unsubscribe {
        /// The subscription.
        subuid: i32,
    },
}

impl ClientMessage {
    pub(crate) fn parse(item: &Json) -> Result<Self, &'static str> {
        let (method, params) = parts(item)?;
        Ok(match method {
            "publish" => Self::Publish {
                name: text(params, "name")?,
                type_name: text(params, "type")?,
                pubuid: uid(params, "pubuid")?,
                properties: object(params, "properties")?,
            },
            "unpublish" => Self::Unpublish { pubuid: uid(params, "pubuid")? },
            "setproperties" => {
                Self::SetProperties { name: text(params, "name")?, update: object(params, "update")? }
            }
            "subscribe" => {
                let Some(Json::Array(list)) = params.get("topics") else {
                    return Err("topics that are no array");
                };
                let topics: Option<Vec<String>> =
                    list.iter().map(|t| t.as_str().map(str::to_owned)).collect();
                Self::Subscribe {
                    topics: topics.ok_or("a topic that is no text")?,
                    subuid: uid(params, "subuid")?,
                    options: SubscribeOptions::parse(params.get("options"))?,
                }
            }
            "unsubscribe" => Self::Unsubscribe { subuid: uid(params, "subuid")? },
            _ => return Err("an unknown method"),
        })
    }

    pub(crate) fn write(&self, out: &mut String) {
        let item = match self {
            Self::Publish { name, type_name, pubuid, properties } => serde_json::json!({
                "method": "publish",
                "params": {"name": name, "type": type_name, "pubuid": pubuid, "properties": properties},
            }),
            Self::Unpublish { pubuid } => {
                serde_json::json!({"method": "unpublish", "params": {"pubuid": pubuid}})
            }
            Self::SetProperties { name, update } => {
                serde_json::json!({"method": "setproperties", "params": {"name": name, "update": update}})
            }
            Self::Subscribe { topics, subuid, options } => serde_json::json!({
                "method": "subscribe",
                "params": {"topics": topics, "subuid": subuid, "options": options.to_json()},
            }),
            Self::Unsubscribe { subuid } => {
                serde_json::json!({"method": "unsubscribe", "params": {"subuid": subuid}})
            }
        };
        out.push_str(&item.to_string());
    }
}

/// What a server tells a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerMessage {
    Announce { name: String, id: i64, type_name: String, properties: Properties, pubuid: Option<i32> },
    Unannounce { name: String, id: i64 },
    Properties { name: String, update: Properties, ack: bool },
}

impl ServerMessage {
    pub(crate) fn parse(item: &Json) -> Result<Self, &'static str> {
        let (method, params) = parts(item)?;
        Ok(match method {
            "announce" => Self::Announce {
                name: text(params, "name")?,
                id: integer(params, "id")?,
                type_name: text(params, "type")?,
                properties: object(params, "properties")?,
                pubuid: if params.contains_key("pubuid") { Some(uid(params, "pubuid")?) } else { None },
            },
            "unannounce" => Self::Unannounce { name: text(params, "name")?, id: integer(params, "id")? },
            "properties" => Self::Properties {
                name: text(params, "name")?,
                update: object(params, "update")?,
                ack: params.get("ack").and_then(Json::as_bool).unwrap_or(false),
            },
            _ => return Err("an unknown method"),
        })
    }
}

#[derive(Serialize)]
struct Envelope<P> {
    method: &'static str,
    params: P,
}

#[derive(Serialize)]
struct AnnounceParams<'a> {
    id: u32,
    name: &'a str,
    properties: &'a Properties,
    #[serde(skip_serializing_if = "Option::is_none")]
    pubuid: Option<i32>,
    r#type: &'a str,
}

/// Serialising plain texts, numbers and JSON cannot fail; a failure would yield an empty message, which peers ignore.
fn encode<P: Serialize>(method: &'static str, params: P) -> String {
    serde_json::to_string(&Envelope { method, params }).unwrap_or_default()
}

pub(crate) fn announce(
    name: &str,
    id: u32,
    type_name: &str,
    properties: &Properties,
    pubuid: Option<i32>,
) -> String {
    encode("announce", AnnounceParams { id, name, properties, pubuid, r#type: type_name })
}

pub(crate) fn unannounce(name: &str, id: u32) -> String {
    #[derive(Serialize)]
    struct Params<'a> {
        id: u32,
        name: &'a str,
    }
    encode("unannounce", Params { id, name })
}

pub(crate) fn properties(name: &str, update: &Properties, ack: bool) -> String {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        ack: bool,
        name: &'a str,
        update: &'a Properties,
    }
    encode("properties", Params { ack, name, update })
}

fn parts(item: &Json) -> Result<(&str, &Properties), &'static str> {
    let map = item.as_object().ok_or("an item that is no object")?;
    let method = map.get("method").and_then(Json::as_str).ok_or("no method")?;
    let params = map.get("params").and_then(Json::as_object).ok_or("params that are no object")?;
    Ok((method, params))
}

fn text(params: &Properties, key: &str) -> Result<String, &'static str> {
    params.get(key).and_then(Json::as_str).map(str::to_owned).ok_or("a name or type that is no text")
}

/// Whole numbers also when written as `1.0`.
fn integer(params: &Properties, key: &str) -> Result<i64, &'static str> {
    let found = params.get(key).ok_or("no id")?;
    found
        .as_i64()
        .or_else(|| found.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9.0e15).map(|f| f as i64))
        .ok_or("an id that is no whole number")
}

fn uid(params: &Properties, key: &str) -> Result<i32, &'static str> {
    integer(params, key)?.try_into().map_err(|_| "a uid outside 32 bits")
}

/// Absent is empty: some dashboards leave properties out.
fn object(params: &Properties, key: &str) -> Result<Properties, &'static str> {
    match params.get(key) {
        None | Some(Json::Null) => Ok(Properties::new()),
        Some(Json::Object(map)) => Ok(map.clone()),
        Some(_) => Err("properties that are no object"),
    }
}

/// Hands each item of a text frame to `each` until it says stop; items are held one at a time.
///
/// The frame is checked whole first, so that a frame with a syntax error has no effect at all.
///
/// # Errors
/// The parser's words when the frame is not one JSON array.
pub(crate) fn items(text: &str, mut each: impl FnMut(Json) -> bool) -> Result<(), String> {
    let mut check = serde_json::Deserializer::from_str(text);
    let whole: Result<Vec<IgnoredAny>, _> = serde::Deserialize::deserialize(&mut check);
    whole.and_then(|_| check.end()).map_err(|e| e.to_string())?;
    let mut again = serde_json::Deserializer::from_str(text);
    // An item nested too deeply for the parser ends the walk; what stood before it has been handled.
    Items(&mut each).deserialize(&mut again).map_err(|e| e.to_string())
}

struct Items<'f, F>(&'f mut F);

impl<'de, F: FnMut(Json) -> bool> DeserializeSeed<'de> for Items<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Json) -> bool> Visitor<'de> for Items<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut more = true;
        while more {
            match seq.next_element::<Json>()? {
                Some(item) => more = (self.0)(item),
                None => return Ok(()),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(text: &str) -> usize {
        let mut good = 0;
        let _frame = items(text, |item| {
            good += usize::from(ClientMessage::parse(&item).is_ok());
            true
        });
        good
    }

    #[test]
    fn a_bad_item_costs_that_item() {
        let fine = r#"{"method":"unpublish","params":{"pubuid":1}}"#;
        assert_eq!(good(&format!("[{fine},{fine}]")), 2);
        for bad in [
            "7",
            "null",
            "[]",
            "{}",
            r#"{"method":"unpublish"}"#,
            r#"{"method":"dance","params":{}}"#,
            r#"{"method":"unpublish","params":{"pubuid":"1"}}"#,
            r#"{"method":"unpublish","params":{"pubuid":1.5}}"#,
            r#"{"method":"unpublish","params":{"pubuid":9999999999}}"#,
            r#"{"method":"subscribe","params":{"topics":["a",1],"subuid":1}}"#,
            r#"{"method":"subscribe","params":{"topics":["a"],"subuid":1,"options":{"periodic":1e300}}}"#,
            r#"{"method":"publish","params":{"name":"a","pubuid":1}}"#,
        ] {
            assert_eq!(good(&format!("[{fine},{bad},{fine}]")), 2, "{bad}");
        }
    }

    #[test]
    fn a_frame_that_is_no_array_has_no_effect() {
        let fine = r#"{"method":"unpublish","params":{"pubuid":1}}"#;
        for bad in [fine, "", "[", &format!("[{fine}"), &format!("[{fine},]"), &format!("[{fine}] x")] {
            assert_eq!(good(bad), 0, "{bad}");
        }
        assert_eq!(good(&"[".repeat(1_000_000)), 0);
    }

    #[test]
    fn tolerated_spellings() {
        for fine in [
            r#"{"method":"publish","params":{"name":"a","type":"double","pubuid":1}}"#,
            r#"{"method":"publish","params":{"name":"a","type":"double","pubuid":-2147483648,"properties":null}}"#,
            r#"{"method":"unsubscribe","params":{"subuid":3.0}}"#,
            r#"{"method":"unpublish","params":{"pubuid":1,"name":"a"}}"#,
            r#"{"method":"subscribe","params":{"topics":[],"subuid":-1}}"#,
        ] {
            assert_eq!(good(&format!("[{fine}]")), 1, "{fine}");
        }
    }

    #[test]
    fn what_a_client_writes_is_what_a_server_reads() {
        let options = SubscribeOptions::prefix().all().every(Micros::from_millis(20));
        let sent = [
            ClientMessage::Publish {
                name: "/a \"quoted\" \u{1F916}".into(),
                type_name: "double".into(),
                pubuid: -7,
                properties: Properties::new(),
            },
            ClientMessage::Subscribe { topics: vec![String::new(), "$".into()], subuid: 3, options },
            ClientMessage::Unsubscribe { subuid: 3 },
        ];
        for message in sent {
            let mut text = String::new();
            message.write(&mut text);
            let item: Json = serde_json::from_str(&text).unwrap();
            assert_eq!(ClientMessage::parse(&item), Ok(message));
        }
    }
}
