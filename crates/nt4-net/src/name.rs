//! What stands in a request's path and headers.

use fieldlab_nt4::server::Version;

const V41: &str = "v4.1.networktables.first.wpi.edu";
const V40: &str = "networktables.first.wpi.edu";
const RTT: &str = "rtt.networktables.first.wpi.edu";

/// What a WebSocket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Topics and values.
    Topics(Version),
    /// Time synchronisation only.
    Rtt,
}

impl Protocol {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Topics(Version::V41) => V41,
            Self::Topics(Version::V40) => V40,
            Self::Rtt => RTT,
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Topics(Version::V41), Self::Topics(Version::V40), Self::Rtt]
            .into_iter()
            .find(|p| p.name() == name)
    }

    /// Our choice among the comma-separated `offered`, by our order: 4.1, 4.0, time only.
    pub(crate) fn choose<'a>(offered: impl Iterator<Item = &'a str>) -> Option<Self> {
        let offered: Vec<&str> = offered.flat_map(|list| list.split(',')).map(str::trim).collect();
        [Self::Topics(Version::V41), Self::Topics(Version::V40), Self::Rtt]
            .into_iter()
            .find(|p| offered.contains(&p.name()))
    }
}

/// The client name in a path `/nt/<name>`: percent-encoded, with `+` for a space.
pub(crate) fn client_name(path: &str) -> Option<String> {
    let coded = path.strip_prefix("/nt/")?.as_bytes();
    let mut name = Vec::with_capacity(coded.len());
    let mut at = 0;
    while let Some(byte) = coded.get(at) {
        let hex = coded.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        let decoded = hex.filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        match (byte, decoded.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(decoded)) => {
                name.push(decoded);
                at += 3;
                continue;
            }
            (b'+', _) => name.push(b' '),
            _ => name.push(*byte),
        }
        at += 1;
    }
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// A client name as part of a path; every byte that is not a letter, digit or one of `-_.~` is percent-encoded.
pub(crate) fn encode_name(name: &str) -> String {
    let mut coded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            coded.push(char::from(byte));
        } else {
            coded.push('%');
            coded.extend([byte >> 4, byte & 15].map(|d| char::from_digit(u32::from(d), 16).unwrap_or('0')));
        }
    }
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths() {
        for (path, name) in [
            ("/nt/a", Some("a")),
            ("/nt/a+b%20c%2Bd", Some("a b c+d")),
            ("/nt/x/y@3", Some("x/y@3")),
            ("/nt/%C3%A9%", Some("é%")),
            ("/nt/%+1", Some("% 1")),
            ("/nt/%ff", Some("\u{fffd}")),
            ("/nt/", Some("")),
            ("/nt", None),
            ("/other/a", None),
        ] {
            assert_eq!(client_name(path).as_deref(), name, "{path}");
        }
        for name in ["", "plain", "with space+plus", "ü/@%"] {
            assert_eq!(client_name(&format!("/nt/{}", encode_name(name))).as_deref(), Some(name));
        }
    }

    #[test]
    fn row_11_our_preference_counts_and_bogus_is_none() {
        let both = "networktables.first.wpi.edu, v4.1.networktables.first.wpi.edu";
        assert_eq!(Protocol::choose([both].into_iter()), Some(Protocol::Topics(Version::V41)));
        assert_eq!(Protocol::choose([V40].into_iter()), Some(Protocol::Topics(Version::V40)));
        assert_eq!(Protocol::choose([RTT].into_iter()), Some(Protocol::Rtt));
        assert_eq!(Protocol::choose(["chat", "superchat"].into_iter()), None);
    }
}
