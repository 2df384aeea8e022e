//! Who may ask: the rules for `Host` and `Origin`.
//!
//! A page of a stranger that a person happens to have open can send requests to this listener, and by a name of its own that
//! it lets point here (DNS rebinding) it can even read the answers. So the name that was asked for must be one that belongs
//! here, and a request that a page sends must come from our own page.

use std::net::{IpAddr, SocketAddr};

/// The rules of one listener.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    listening: IpAddr,
    /// Names given besides, in lower case.
    names: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(listening: SocketAddr, names: &[String]) -> Self {
        Self {
            listening: listening.ip(),
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        }
    }

    /// Judges a request by its two headers.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), &'static str> {
        let host = host.ok_or("a Host is expected")?.to_ascii_lowercase();
        if !self.is_ours(name_of(&host)) {
            return Err("this Host is not one that the console was told to answer to");
        }
        match origin {
            Some(origin) if origin.to_ascii_lowercase() != format!("http://{host}") => {
                Err("only the console's own page may ask")
            }
            _ => Ok(()),
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        if name == "localhost" || self.names.iter().any(|known| known == name) {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        // A bare address cannot be made to point elsewhere; which of ours it is does not matter when all listen.
        bare.parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_loopback() || ip == self.listening || self.listening.is_unspecified())
    }
}

/// The name in front of the port; brackets stay.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listening: &str, names: &[&str]) -> Hosts {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        Hosts::new(listening.parse().unwrap(), &names)
    }

    #[test]
    fn names_of_strangers_are_refused_whatever_they_point_to() {
        let local = hosts("127.0.0.1:5800", &["Pit.example"]);
        for host in
            ["localhost", "LOCALHOST:5800", "127.0.0.1:5800", "127.0.0.2", "[::1]:5800", "pit.example:5800"]
        {
            assert_eq!(local.check(Some(host), None), Ok(()), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "10.0.0.1:5800", "", ":5800", "127.0.0.1.evil.example"]
        {
            assert!(local.check(Some(host), None).is_err(), "{host}");
        }
        assert!(local.check(None, None).is_err());
        assert!(hosts("10.12.34.5:5800", &[]).check(Some("10.12.34.5:5800"), None).is_ok());
        assert!(hosts("0.0.0.0:5800", &[]).check(Some("10.12.34.5:5800"), None).is_ok());
        assert!(hosts("0.0.0.0:5800", &[]).check(Some("laptop.local:5800"), None).is_err());
    }

    #[test]
    fn an_origin_must_be_the_hosts_own() {
        let local = hosts("127.0.0.1:5800", &[]);
        let host = Some("127.0.0.1:5800");
        assert!(local.check(host, Some("http://127.0.0.1:5800")).is_ok());
        for origin in [
            "null",
            "",
            "https://127.0.0.1:5800",
            "http://127.0.0.1",
            "http://127.0.0.1:58000",
            "http://localhost:5800",
            "http://evil.example",
        ] {
            assert!(local.check(host, Some(origin)).is_err(), "{origin}");
        }
    }
}
