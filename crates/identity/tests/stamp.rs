//! The stamp of a build, looked up in repositories made for the purpose.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

#[path = "../build/stamp.rs"]
mod stamp;

use std::path::{Path, PathBuf};
use std::process::Command;

use stamp::look;

/// An empty folder of this test's own, outside of every repository: the search upwards ends at its parent.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fieldlab-stamp-{}-{name}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"])
        .args(words)
        .env("GIT_COMMITTER_DATE", "2026-11-30T09:00:00+01:00")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository(name: &str) -> PathBuf {
    let folder = folder(name);
    git(&folder, &["init", "-q"]);
    std::fs::write(folder.join("lib.rs"), "one").unwrap();
    git(&folder, &["add", "lib.rs"]);
    git(&folder, &["commit", "-q", "-m", "one"]);
    folder
}

/// Whether a change of one of these would be noticed.
fn watches(folder: &Path, name: &str) -> bool {
    let path = folder.canonicalize().unwrap().join(name);
    look(folder, "git").watch.contains(&path)
}

#[test]
fn a_commit_is_stamped_and_its_files_are_watched_until_one_changes() {
    let folder = repository("clean");
    let found = look(&folder, "git").stamp.unwrap();
    assert!(found.sha.len() >= 7 && found.sha.bytes().all(|b| b.is_ascii_hexdigit()), "{}", found.sha);
    assert_eq!((found.dirty, found.commit_time.as_str()), (false, "2026-11-30T09:00:00+01:00"));
    assert!(
        watches(&folder, "lib.rs") && watches(&folder, ".git/logs/HEAD") && !watches(&folder, ".git/index")
    );

    std::fs::write(folder.join("lib.rs"), "two").unwrap();
    assert!(look(&folder, "git").stamp.unwrap().dirty);
    assert!(!watches(&folder, "lib.rs") && watches(&folder, ".git/index"), "further changes cost no build");

    git(&folder, &["commit", "-q", "-a", "-m", "two"]);
    let next = look(&folder, "git").stamp.unwrap();
    assert!(!next.dirty && next.sha != found.sha);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_git_does_not_know_is_no_change() {
    let folder = repository("untracked");
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    assert!(!look(&folder, "git").stamp.unwrap().dirty);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn looking_changes_nothing_that_is_watched() {
    let folder = repository("looking");
    std::fs::write(folder.join("lib.rs"), "two").unwrap();
    let state = || {
        let watched = look(&folder, "git").watch;
        watched.iter().map(|path| std::fs::metadata(path).unwrap().modified().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(state(), state());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn no_repository_no_commit_no_git_and_somebody_elses_repository_are_no_stamp() {
    let archive = folder("archive");
    assert!(look(&archive, "git").stamp.is_none());
    git(&archive, &["init", "-q"]);
    assert!(look(&archive, "git").stamp.is_none(), "no commit yet");
    std::fs::remove_dir_all(archive).unwrap();

    let team = repository("team");
    let inside = team.join("vendor/fieldlab");
    std::fs::create_dir_all(&inside).unwrap();
    assert!(look(&inside, "git").stamp.is_none(), "the team's commit is not the library's");
    assert!(look(&team, "there-is-no-such-git").stamp.is_none());
    assert!(look(&team.join("absent"), "git").stamp.is_none());
    std::fs::remove_dir_all(team).unwrap();
}

#[test]
fn a_worktree_beside_its_repository_is_stamped_as_well() {
    let folder = repository("main");
    let beside = self::folder("beside");
    std::fs::remove_dir_all(&beside).unwrap();
    git(&folder, &["worktree", "add", "-q", "-b", "other", beside.to_str().unwrap()]);
    let found = look(&beside, "git");
    assert_eq!(found.stamp, look(&folder, "git").stamp);
    assert!(found.watch.iter().all(|path| path.exists()) && found.watch.len() >= 3, "{:?}", found.watch);
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_dir_all(beside).unwrap();
}
