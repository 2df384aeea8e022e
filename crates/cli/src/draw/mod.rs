//! `fieldlab draw`: surfaces, samples, captures and constants of robots that draw.

mod capture;
mod check;
mod constants;
mod make;
mod rehearse;
mod rig;
mod surface;

use clap::{Args, Subcommand};

use crate::exit::{End, Failure};

/// The words of `draw`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Wrist captures: fake one, check one, turn one into points
    Capture(capture::CaptureWords),
    /// Judge a samples file, and plan it when a rig and its joints are given; exit with 3 when it is refused
    Check(check::Words),
    /// The motion constants: render the generated files, check them, look values up
    Constants(constants::Words),
    /// An orbit round the touched point, with a capture at each view
    Orbit(make::OrbitWords),
    /// A path that draws a design on a surface; refused whole when it cannot be drawn
    Path(make::PathWords),
    /// The reference's offline planner: its arguments, its report, its exit codes
    PathPlanCheck(check::ReferenceWords),
    /// A picture of a path on its surface: pen, speed, dips and the rows that fail
    Plot(make::PlotWords),
    /// The whole chain from orbit to checked path against a known truth
    Rehearse(rehearse::RehearseWords),
    /// Surfaces: fit one from captures, look at one
    Surface(surface::SurfaceWords),
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    match &words.command {
        Command::Capture(words) => capture::run_capture(words),
        Command::Check(words) => check::run(words),
        Command::Constants(words) => constants::run(words),
        Command::Orbit(words) => make::run_orbit(words),
        Command::Path(words) => make::run_path(words),
        Command::PathPlanCheck(words) => check::path_plan_check(words),
        Command::Plot(words) => make::run_plot(words),
        Command::Rehearse(words) => rehearse::run_rehearse(words),
        Command::Surface(words) => surface::run_surface(words),
    }
}
