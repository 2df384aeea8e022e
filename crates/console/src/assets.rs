//! The page, as the binary carries it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// One file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) bytes: &'static [u8],
    pub(crate) kind: &'static str,
}

/// All files of the page by their path, with the tag that a browser may ask by.
#[derive(Debug)]
pub(crate) struct Page {
    files: BTreeMap<&'static str, (Asset, String)>,
}

impl Page {
    pub(crate) fn new() -> Self {
        let tagged = FILES.iter().map(|(path, bytes)| {
            let digest = Sha256::digest(bytes);
            let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            (*path, (Asset { bytes, kind: kind(path) }, format!("\"{tag}\"")))
        });
        Self { files: tagged.collect() }
    }

    /// A file and its entity tag.
    pub(crate) fn get(&self, path: &str) -> Option<(Asset, &str)> {
        self.files.get(path).map(|(asset, tag)| (*asset, tag.as_str()))
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_tagged_by_its_content() {
        let page = Page::new();
        let (index, tag) = page.get("index.html").unwrap();
        assert_eq!(index.kind, "text/html; charset=utf-8");
        assert!(index.bytes.starts_with(b"<!doctype html>") || index.bytes.starts_with(b"<!DOCTYPE html>"));
        assert_eq!(tag.len(), 34);
        assert!(page.get("../Cargo.toml").is_none() && page.get("/index.html").is_none());
    }
}
