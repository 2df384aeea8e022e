//! Which names a subscription means.

/// Whether `pattern` means `name`. Names that begin with `$` are metatopics: only a pattern that itself begins with
/// `$` means them.
pub(crate) fn matches(pattern: &str, prefix: bool, name: &str) -> bool {
    if name.starts_with('$') && !pattern.starts_with('$') {
        return false;
    }
    if prefix { name.starts_with(pattern) } else { name == pattern }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_prefix_hides_metatopics() {
        assert!(matches("", true, "/a"));
        assert!(!matches("", true, "$clients"));
        assert!(matches("$", true, "$clients"));
        assert!(matches("$clients", false, "$clients"));
        assert!(!matches("/a", false, "/a/b"));
        assert!(matches("/a", true, "/a/b"));
        assert!(!matches("", false, "/a"));
    }
}
