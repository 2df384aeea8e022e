//! The commit that a folder stands at, and which files tell when that changes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What git says about a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The commit, seven hex digits or as many as are needed.
    pub(crate) sha: String,
    /// Whether files that git knows differ from that commit.
    pub(crate) dirty: bool,
    /// When it was committed, ISO 8601.
    pub(crate) commit_time: String,
}

/// A stamp and what it was made from.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Absent without a repository of the folder's own, without a commit in it, and without git.
    pub(crate) stamp: Option<Stamp>,
    /// While none of these changes, neither does the stamp.
    pub(crate) watch: Vec<PathBuf>,
}

/// Looks at the folder by way of the program `git`.
///
/// The folder must be the top of its repository: a copy of the library inside a team's repository is not built from a
/// commit of the library, and the team's commit is none of its own.
///
/// In a clean folder every file that git knows is watched, so that the first change makes the next build a dirty one. In
/// a dirty one only git's own files are, so that further changes do not cost a build each; every way back to clean goes
/// through git's index or its log.
pub(crate) fn look(folder: &Path, git: &str) -> Looked {
    let Ok(folder) = folder.canonicalize() else { return Looked::default() };
    let ask = |words: &[&str]| ask(git, &folder, words);
    let top = ask(&["rev-parse", "--show-toplevel"]).and_then(|top| Path::new(&top).canonicalize().ok());
    if top.as_ref() != Some(&folder) {
        return Looked::default();
    }
    let mut watch = Vec::new();
    let git_dir = ask(&["rev-parse", "--absolute-git-dir"]).map(PathBuf::from);
    let shared = ask(&["rev-parse", "--git-common-dir"]).map(|dir| folder.join(dir));
    let branch = ask(&["symbolic-ref", "-q", "HEAD"]);
    watch.extend(git_dir.iter().flat_map(|dir| [dir.join("HEAD"), dir.join("logs/HEAD")]));
    watch.extend(shared.iter().map(|dir| dir.join("packed-refs")));
    watch.extend(shared.iter().zip(&branch).map(|(dir, branch)| dir.join(branch)));
    let stamp = stamp(&ask);
    match &stamp {
        Some(Stamp { dirty: false, .. }) => {
            let known = ask(&["ls-files", "-z"]).unwrap_or_default();
            watch.extend(known.split('\0').filter(|name| !name.is_empty()).map(|name| folder.join(name)));
        }
        _ => watch.extend(git_dir.iter().map(|dir| dir.join("index"))),
    }
    // Cargo takes a watched file that is not there for one that changed, every time.
    watch.retain(|path| path.exists());
    Looked { stamp, watch }
}

fn stamp(ask: &impl Fn(&[&str]) -> Option<String>) -> Option<Stamp> {
    let sha = ask(&["rev-parse", "--short=7", "HEAD"])?;
    let commit_time = ask(&["log", "-1", "--format=%cI"])?;
    // Without optional locks, so that looking does not write the index that is watched.
    let changed = ask(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"])?;
    Some(Stamp { sha, dirty: !changed.is_empty(), commit_time })
}

/// The answer, without the newline; absent when git is not there or says no.
fn ask(git: &str, folder: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new(git);
    command.arg("-C").arg(folder).args(words);
    // A build started by a hook of another repository must not be led there.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end_matches('\n').to_owned())
}
