//! The words that name a rig and a start.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fieldlab_draw::plan::Start;
use fieldlab_draw::profile::{JOINTS, Profile, Shipped};

use crate::exit::Failure;

/// Which rig is meant.
#[derive(Debug, Args)]
pub(crate) struct Rig {
    /// The rig's profile (TOML, schema fieldlab.rig/1)
    #[arg(long, value_name = "FILE", conflicts_with = "rig")]
    profile: Option<PathBuf>,
    /// A rig that comes with the program: reference, reference-left or six-joint
    #[arg(long, value_name = "NAME")]
    rig: Option<String>,
}

impl Rig {
    /// The profile, if one was named.
    pub(crate) fn optional(&self) -> Result<Option<Profile>, Failure> {
        match (&self.profile, &self.rig) {
            (Some(path), _) => Ok(Some(open(path)?)),
            (None, Some(name)) => {
                let rig = Shipped::named(name).ok_or_else(|| {
                    let known: Vec<&str> = Shipped::all().iter().map(|rig| rig.name).collect();
                    Failure::input(anyhow::anyhow!(
                        "no rig is called `{name}`; there are {}",
                        known.join(", ")
                    ))
                })?;
                Ok(Some(rig.profile()?))
            }
            (None, None) => Ok(None),
        }
    }

    /// The profile, which must be named.
    pub(crate) fn required(&self) -> Result<Profile, Failure> {
        self.optional()?.ok_or_else(|| Failure::input(anyhow::anyhow!("give --profile FILE or --rig NAME")))
    }
}

fn open(path: &Path) -> Result<Profile, Failure> {
    Profile::open(path).with_context(|| format!("{} is refused", path.display())).map_err(Failure::input)
}

/// Where the arm stands.
#[derive(Debug, Args)]
pub(crate) struct Stand {
    /// The six joints, radians, with commas between them
    #[arg(long, value_name = "J0,…,J5", value_delimiter = ',', allow_hyphen_values = true)]
    joints: Vec<f64>,
    /// The carriage, metres
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, default_value_t = 0.0)]
    carriage: f64,
}

impl Stand {
    /// The start, if joints were given.
    pub(crate) fn optional(&self) -> Result<Option<Start>, Failure> {
        if self.joints.is_empty() {
            return Ok(None);
        }
        let joints_rad: [f64; JOINTS] = self.joints.as_slice().try_into().map_err(|_| {
            Failure::input(anyhow::anyhow!(
                "--joints: expected {JOINTS} numbers, found {}",
                self.joints.len()
            ))
        })?;
        Ok(Some(Start { joints_rad, carriage_m: self.carriage }))
    }
}
