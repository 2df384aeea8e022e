//! Which build of this library it is: constants that its own build compiled in.

/// The library whose version the Catalyst version keys carry.
pub const LIBRARY: &str = "fieldlab";

/// The version: `0.1.0`.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The short commit that it was built from; absent when the build had no repository of its own, or no git.
#[must_use]
pub const fn git_sha() -> Option<&'static str> {
    option_env!("FIELDLAB_GIT_SHA")
}

/// Whether that build carried changes that were not committed; absent with the commit.
#[must_use]
pub fn git_dirty() -> Option<bool> {
    git_sha().and(option_env!("FIELDLAB_GIT_DIRTY")).map(|dirty| dirty == "true")
}

/// When the commit was made, ISO 8601; absent with the commit.
#[must_use]
pub fn commit_time() -> Option<&'static str> {
    git_sha().and(option_env!("FIELDLAB_COMMIT_TIME"))
}

/// The compiler that built it: `1.95.0`; absent when it did not say.
#[must_use]
pub const fn rust_version() -> Option<&'static str> {
    option_env!("FIELDLAB_RUSTC")
}

/// All of it for a person: `0.1.0 (d604d51, dirty)`, `0.1.0 (d604d51)`, `0.1.0`.
#[must_use]
pub fn describe() -> String {
    describe_as(version(), git_sha(), git_dirty())
}

fn describe_as(version: &str, sha: Option<&str>, dirty: Option<bool>) -> String {
    match (sha, dirty) {
        (Some(sha), Some(true)) => format!("{version} ({sha}, dirty)"),
        (Some(sha), _) => format!("{version} ({sha})"),
        (None, _) => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn described_as_the_page_says() {
        assert_eq!(describe_as("1.11.0", Some("d604d51"), Some(true)), "1.11.0 (d604d51, dirty)");
        assert_eq!(describe_as("1.11.0", Some("d604d51"), Some(false)), "1.11.0 (d604d51)");
        assert_eq!(describe_as("1.11.0", None, None), "1.11.0");
    }

    #[test]
    fn no_stamp_is_no_stamp_at_all() {
        if git_sha().is_none() {
            assert_eq!((git_dirty(), commit_time(), describe()), (None, None, version().to_owned()));
        }
    }
}
