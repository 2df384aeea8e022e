//! The floors of ARCHITECTURE.md, checked against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::metadata::Graph;

/// What one crate may build on.
struct Floor {
    name: &'static str,
    floor: u8,
    /// Crates of its own floor that it may use.
    beside: &'static [&'static str],
    /// Crates that it must not even reach through others.
    never: &'static [&'static str],
    /// Crates that it may reach through others but not use itself.
    hands_off: &'static [&'static str],
}

const SOCKETS: &[&str] = &["tokio", "tokio-tungstenite", "hyper", "hyper-util", "axum", "mio", "socket2"];
const SOCKETS_AND_FILES: &[&str] = &[
    "tokio",
    "tokio-tungstenite",
    "hyper",
    "hyper-util",
    "axum",
    "mio",
    "socket2",
    "memmap2",
    "rustix",
    "tempfile",
    "fieldlab-store",
    "fieldlab-wpilog",
    "fieldlab-nt4",
];
/// Only the crates that own sockets name tokio; the others reach it through them.
const TOKIO: &[&str] = &["tokio", "tokio-tungstenite", "hyper", "hyper-util"];
/// Leaves: nobody builds on them.
const LEAF: u8 = 9;

/// The table of ARCHITECTURE.md, the one place where it is code.
const FLOORS: &[Floor] = &[
    Floor { name: "fieldlab-base", floor: 0, beside: &[], never: SOCKETS_AND_FILES, hands_off: &[] },
    Floor { name: "fieldlab-store", floor: 1, beside: &[], never: SOCKETS, hands_off: &[] },
    Floor { name: "fieldlab-values", floor: 1, beside: &[], never: SOCKETS_AND_FILES, hands_off: &[] },
    Floor {
        name: "fieldlab-wpilog",
        floor: 1,
        beside: &["fieldlab-values", "fieldlab-store"],
        never: SOCKETS,
        hands_off: &[],
    },
    Floor {
        name: "fieldlab-nt4",
        floor: 1,
        beside: &["fieldlab-values"],
        never: SOCKETS,
        hands_off: &["memmap2", "rustix"],
    },
    Floor { name: "fieldlab-nt4-net", floor: 2, beside: &[], never: &["axum"], hands_off: &[] },
    Floor { name: "fieldlab-motion", floor: 2, beside: &[], never: SOCKETS_AND_FILES, hands_off: &[] },
    Floor { name: "fieldlab-campaign", floor: 3, beside: &[], never: SOCKETS_AND_FILES, hands_off: &[] },
    Floor { name: "fieldlab-identity", floor: 3, beside: &[], never: SOCKETS_AND_FILES, hands_off: &[] },
    Floor { name: "fieldlab-draw", floor: 3, beside: &[], never: SOCKETS, hands_off: &["rustix"] },
    Floor { name: "fieldlab-robot", floor: 4, beside: &[], never: &["axum"], hands_off: TOKIO },
    Floor {
        name: "fieldlab-sim",
        floor: 4,
        beside: &["fieldlab-robot"],
        never: &["axum", "clap"],
        hands_off: TOKIO,
    },
    Floor {
        name: "fieldlab-analysis",
        floor: 5,
        beside: &[],
        never: &["tokio", "hyper", "maud", "plotters", "clap", "fieldlab-robot", "fieldlab-sim"],
        hands_off: &[],
    },
    Floor {
        name: "fieldlab-report",
        floor: 5,
        beside: &["fieldlab-analysis"],
        never: &["tokio", "hyper", "clap", "fieldlab-robot", "fieldlab-sim"],
        hands_off: &["fieldlab-wpilog", "memmap2"],
    },
    Floor {
        name: "fieldlab-console",
        floor: 6,
        beside: &[],
        never: &["clap", "memmap2", "fieldlab-wpilog", "fieldlab-robot", "fieldlab-sim"],
        hands_off: &["fieldlab-store"],
    },
    Floor {
        name: "fieldlab-cli",
        floor: 6,
        beside: &["fieldlab-console"],
        never: &[],
        hands_off: &["nalgebra", "tokio", "hyper", "axum"],
    },
    Floor {
        name: "fieldlab",
        floor: 6,
        beside: &[],
        never: &["clap", "axum", "fieldlab-analysis"],
        hands_off: TOKIO,
    },
    Floor { name: "fieldlab-draw-capi", floor: LEAF, beside: &[], never: SOCKETS, hands_off: &[] },
    Floor { name: "fieldlab-trials", floor: LEAF, beside: &[], never: &[], hands_off: &[] },
];
/// The chores depend on none of our crates, and none of them on the chores.
const CHORES: &str = "xtask";

pub(crate) fn run() -> Result<()> {
    let graph = Graph::load()?;
    let faults = check(&graph);
    if !faults.is_empty() {
        bail!("{} forbidden arrows:\n  {}", faults.len(), faults.join("\n  "));
    }
    let crates = graph.packages.values().filter(|package| package.ours).count();
    println!("arch: {crates} crates, every arrow allowed");
    Ok(())
}

/// Every arrow against the table, as sentences.
fn check(graph: &Graph) -> Vec<String> {
    let floors: BTreeMap<&str, &Floor> = FLOORS.iter().map(|floor| (floor.name, floor)).collect();
    let mut faults = Vec::new();
    for (id, package) in graph.packages.iter().filter(|(_, package)| package.ours) {
        let name = package.name.as_str();
        let direct: BTreeSet<(&str, bool)> = package
            .uses
            .iter()
            .filter_map(|used| graph.packages.get(used))
            .map(|used| (used.name.as_str(), used.ours))
            .collect();
        if name == CHORES {
            let ours = direct.iter().filter(|(_, ours)| *ours);
            faults.extend(
                ours.map(|(used, _)| format!("{name} → {used}: the chores depend on none of our crates")),
            );
            continue;
        }
        let Some(rule) = floors.get(name) else {
            faults.push(format!("{name}: has no row in the table of floors (xtask/src/arch.rs)"));
            continue;
        };
        for (used, _) in direct.iter().filter(|(_, ours)| *ours) {
            match floors.get(used) {
                Some(below) if below.floor < rule.floor => {}
                Some(below) if below.floor == rule.floor && rule.beside.contains(used) => {}
                Some(below) if below.floor == rule.floor => {
                    faults.push(format!(
                        "{name} → {used}: both on floor {} and not named as neighbours",
                        rule.floor
                    ));
                }
                Some(below) => {
                    faults.push(format!(
                        "{name} → {used}: floor {} may not use floor {}",
                        rule.floor, below.floor
                    ));
                }
                None => faults.push(format!("{name} → {used}: not a crate that others may use")),
            }
        }
        let reach = graph.reach(id);
        faults.extend(
            rule.never
                .iter()
                .filter(|banned| reach.contains(*banned))
                .map(|banned| format!("{name} ⇒ {banned}: must never reach it")),
        );
        faults.extend(
            rule.hands_off
                .iter()
                .filter(|banned| direct.iter().any(|(used, _)| used == *banned))
                .map(|banned| format!("{name} → {banned}: must not use it itself")),
        );
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;

    fn graph(arrows: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for (from, to) in arrows {
            for name in [from, to] {
                graph.packages.entry((*name).to_owned()).or_insert_with(|| Package {
                    name: (*name).to_owned(),
                    ours: name.starts_with("fieldlab") || *name == CHORES,
                    ..Package::default()
                });
            }
            if let Some(package) = graph.packages.get_mut(*from) {
                package.uses.insert((*to).to_owned());
            }
        }
        graph
    }

    #[track_caller]
    fn refuses(arrows: &[(&str, &str)], expect: &str) {
        let faults = check(&graph(arrows));
        assert!(faults.iter().any(|fault| fault.contains(expect)), "expected `{expect}`, found {faults:?}");
    }

    #[test]
    fn arrows_downwards_and_to_named_neighbours_pass() {
        let faults = check(&graph(&[
            ("fieldlab-wpilog", "fieldlab-values"),
            ("fieldlab-wpilog", "memmap2"),
            ("fieldlab-robot", "fieldlab-nt4-net"),
            ("fieldlab-nt4-net", "tokio"),
            ("fieldlab-trials", "fieldlab-cli"),
        ]));
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_forbidden_arrow_is_found() {
        refuses(&[("fieldlab-base", "fieldlab-values")], "floor 0 may not use floor 1");
        refuses(&[("fieldlab-values", "fieldlab-wpilog")], "both on floor 1");
        refuses(
            &[("fieldlab-campaign", "fieldlab-motion"), ("fieldlab-motion", "tokio")],
            "fieldlab-campaign ⇒ tokio",
        );
        refuses(&[("fieldlab-robot", "tokio")], "fieldlab-robot → tokio: must not use it itself");
        refuses(&[("fieldlab-novel", "fieldlab-base")], "no row in the table");
        refuses(&[("xtask", "fieldlab-base")], "the chores depend on none");
        refuses(&[("fieldlab-cli", "xtask")], "not a crate that others may use");
        refuses(&[("fieldlab-report", "fieldlab-wpilog")], "must not use it itself");
    }

    #[test]
    fn every_row_is_met_once_and_neighbours_share_a_floor() {
        for row in FLOORS {
            assert_eq!(FLOORS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            for neighbour in row.beside {
                let floor = FLOORS.iter().find(|other| other.name == *neighbour).map(|other| other.floor);
                assert_eq!(floor, Some(row.floor), "{} → {neighbour}", row.name);
            }
        }
    }
}
