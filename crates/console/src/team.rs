//! Where a team's robot may be.

use fieldlab_base::ConfigError;

/// The port of a robot's NetworkTables server.
const PORT: u16 = 5810;
/// Team numbers fit `10.TE.AM.2` up to here.
const LAST_TEAM: u32 = 25_599;

/// The addresses at which the ecosystem's dashboards look for a team's robot, in their order: a simulation on this machine, a
/// Systemcore by name and on its own networks, a roboRIO by name, on the robot's network and on USB.
///
/// # Errors
/// A number that is no team's: 1 to 25599.
pub fn team_addresses(team: u32) -> Result<Vec<String>, ConfigError> {
    if team == 0 || team > LAST_TEAM {
        return Err(ConfigError::new("team", "a number from 1 to 25599", team));
    }
    let hosts = [
        "127.0.0.1".to_owned(),
        "robot.local".to_owned(),
        "172.26.0.1".to_owned(),
        "172.27.0.1".to_owned(),
        "172.30.0.1".to_owned(),
        format!("roborio-{team}-frc.local"),
        format!("10.{}.{}.2", team / 100, team % 100),
        "172.22.11.2".to_owned(),
    ];
    Ok(hosts.map(|host| format!("{host}:{PORT}")).to_vec())
}

/// `host`, `host:port` or an IPv6 address as somebody types it, with the usual port when none is given.
///
/// # Errors
/// An empty host, or something else than a port after the colon.
pub fn robot_address(typed: &str) -> Result<String, ConfigError> {
    let bad = || ConfigError::new("robot", "HOST or HOST:PORT", typed);
    if typed.is_empty() || typed.contains(['/', ' ', '@']) {
        return Err(bad());
    }
    if typed.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(format!("[{typed}]:{PORT}"));
    }
    if typed.ends_with(']') {
        return Ok(format!("{typed}:{PORT}"));
    }
    match typed.rsplit_once(':') {
        None => Ok(format!("{typed}:{PORT}")),
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) => {
            Ok(typed.to_owned())
        }
        Some(_) => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_is_looked_for_where_dashboards_look() {
        let addresses = team_addresses(1234).unwrap();
        assert_eq!(addresses[0], "127.0.0.1:5810");
        assert!(addresses.contains(&"roborio-1234-frc.local:5810".to_owned()));
        assert!(addresses.contains(&"10.12.34.2:5810".to_owned()));
        assert!(team_addresses(9).unwrap().contains(&"10.0.9.2:5810".to_owned()));
        assert!(team_addresses(0).is_err() && team_addresses(25_600).is_err());
    }

    #[test]
    fn a_robot_as_typed() {
        for (typed, expect) in [
            ("robot.local", Some("robot.local:5810")),
            ("10.12.34.2:6810", Some("10.12.34.2:6810")),
            ("::1", Some("[::1]:5810")),
            ("[::1]", Some("[::1]:5810")),
            ("[::1]:7", Some("[::1]:7")),
            ("", None),
            (":5810", None),
            ("robot:", None),
            ("robot:0", None),
            ("robot:x", None),
            ("http://robot", None),
        ] {
            assert_eq!(robot_address(typed).ok().as_deref(), expect, "{typed}");
        }
    }
}
