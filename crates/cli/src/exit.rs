//! What the command line says to the shell.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// 0: complete.
    Complete,
    /// 3: finished, but with loss, or something asked for is missing or refused.
    Partial,
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        match end {
            End::Complete => Self::SUCCESS,
            End::Partial => Self::from(3),
        }
    }
}

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// 2: wrong words, or an input that cannot be read.
    Input(anyhow::Error),
    /// 1: everything else.
    Work(anyhow::Error),
}

impl Failure {
    /// An input's error, told with its chain.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::Input(error.into())
    }

    /// The exit code, after the chain of causes was printed once. Whoever closed stdout has what it wanted.
    pub(crate) fn tell(self) -> ExitCode {
        let (code, error) = match self {
            Self::Input(error) => (2, error),
            Self::Work(error) if is_broken_pipe(&error) => return ExitCode::SUCCESS,
            Self::Work(error) => (1, error),
        };
        crate::out::say(&format!("fieldlab: {error:#}"));
        ExitCode::from(code)
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Work(error.into())
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
