//! The part of `cargo metadata` that the chores read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::{cargo, output};

/// One package of the resolved graph.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    /// `name version`, as shown to people.
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) licence: Option<String>,
    /// True for the crates of this repository.
    pub(crate) ours: bool,
    /// Ids of normal and build dependencies. Dev-dependencies are no arrows: a test may look from above.
    pub(crate) uses: BTreeSet<String>,
    /// `(name, source file)` of each integration test target.
    pub(crate) tests: Vec<(String, PathBuf)>,
}

/// The whole graph by package id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) packages: BTreeMap<String, Package>,
    pub(crate) target: PathBuf,
}

impl Graph {
    /// Asks cargo, with the lock file as it is.
    pub(crate) fn load() -> Result<Self> {
        let bytes = output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
        let json: Value = serde_json::from_slice(&bytes).context("cargo metadata is no JSON")?;
        Self::read(&json)
    }

    fn read(json: &Value) -> Result<Self> {
        let mut packages = BTreeMap::new();
        for package in list(json, "packages")? {
            let name = text(package, "name")?;
            let tests = list(package, "targets")?
                .iter()
                .filter(|target| {
                    target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == "test"))
                })
                .map(|target| Ok((text(target, "name")?, PathBuf::from(text(target, "src_path")?))))
                .collect::<Result<_>>()?;
            packages.insert(
                text(package, "id")?,
                Package {
                    label: format!("{name} {}", text(package, "version")?),
                    name,
                    licence: package["license"].as_str().map(str::to_owned),
                    ours: package["source"].is_null(),
                    uses: BTreeSet::new(),
                    tests,
                },
            );
        }
        for node in list(&json["resolve"], "nodes")? {
            let uses = list(node, "deps")?
                .iter()
                .filter(|dep| {
                    dep["dep_kinds"]
                        .as_array()
                        .is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
                })
                .map(|dep| text(dep, "pkg"))
                .collect::<Result<_>>()?;
            let id = text(node, "id")?;
            packages.get_mut(&id).with_context(|| format!("{id} is resolved but not described"))?.uses = uses;
        }
        Ok(Self { packages, target: PathBuf::from(text(json, "target_directory")?) })
    }

    /// Names of everything that `id` builds on, at any depth.
    pub(crate) fn reach(&self, id: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        let mut names = BTreeSet::new();
        while let Some(next) = open.pop() {
            for used in self.packages.get(next).into_iter().flat_map(|package| &package.uses) {
                if seen.insert(used.as_str()) {
                    open.push(used);
                    names.extend(self.packages.get(used).map(|package| package.name.as_str()));
                }
            }
        }
        names
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata: `{key}` is no list"))
}

fn text(value: &Value, key: &str) -> Result<String> {
    Ok(value[key].as_str().with_context(|| format!("cargo metadata: `{key}` is no text"))?.to_owned())
}
