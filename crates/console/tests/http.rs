//! The port for browsers: what is served, to whom, and with which headers.
#![allow(clippy::unwrap_used, reason = "a failed step is the test's failure")]

mod common;

use common::{Robot, Stage, V41, Viewer};

fn stage() -> (Robot, Stage) {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    (robot, stage)
}

fn get(stage: &Stage, path: &str, headers: &str) -> String {
    let host = stage.addr();
    stage.http(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"))
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

#[test]
fn the_page_and_its_files_with_their_headers_and_nothing_else() {
    let (_robot, stage) = stage();
    let page = get(&stage, "/", "");
    assert_eq!(status(&page), "200");
    assert_eq!(header(&page, "content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(header(&page, "cache-control"), Some("no-cache"));
    let policy = header(&page, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'self'; connect-src 'self' ws:; frame-ancestors 'none'"),
        "{policy}"
    );
    assert_eq!(header(&page, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&page, "referrer-policy"), Some("no-referrer"));
    let tag = header(&page, "etag").unwrap();
    let known = get(&stage, "/", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(status(&known), "304");
    // Every file that the page names is there, and may be kept for ever.
    for path in page.split('"').filter(|part| part.starts_with("/assets/") || part.starts_with("./assets/")) {
        let path = path.trim_start_matches('.');
        let asset = get(&stage, path, "");
        assert_eq!(status(&asset), "200", "{path}");
        assert_eq!(header(&asset, "cache-control"), Some("public, max-age=31536000, immutable"));
    }
    for path in
        ["/index.html", "/assets/none.js", "/assets/../Cargo.toml", "/assets/%2e%2e/index.html", "/nt", "/x"]
    {
        assert_eq!(status(&get(&stage, path, "")), "404", "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let host = stage.addr();
        let answer = stage.http(&format!(
            "{method} / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ));
        assert_eq!(status(&answer), "405", "{method}");
    }
}

#[test]
fn strangers_names_and_strangers_pages_are_refused() {
    let (_robot, stage) = stage();
    for host in ["evil.example", "evil.example:5800", "127.0.0.1.evil.example"] {
        let answer = stage.http(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        assert_eq!(status(&answer), "403", "{host}");
        assert!(header(&answer, "content-security-policy").is_some(), "refusals carry the headers too");
    }
    assert_eq!(status(&stage.http("GET / HTTP/1.0\r\n\r\n")), "403");
    assert_eq!(status(&get(&stage, "/", "Origin: http://evil.example\r\n")), "403");
    let ours = format!("http://{}", stage.addr());
    assert_eq!(status(&get(&stage, "/", &format!("Origin: {ours}\r\n"))), "200");
    assert!(Viewer::try_connect(stage.addr(), "page", Some(V41), Some(&ours)).is_ok());
    for origin in ["http://evil.example", "null", "http://127.0.0.1"] {
        let refused = Viewer::try_connect(stage.addr(), "page", Some(V41), Some(origin));
        assert!(refused.is_err_and(|why| why.contains("403")), "{origin}");
    }
}

#[test]
fn a_name_that_was_given_is_answered_to() {
    let robot = Robot::new();
    let stage = Stage::with(robot.addr, |config| config.host_names = vec!["pit.example".to_owned()]);
    let answer = stage.http("GET / HTTP/1.1\r\nHost: pit.example:5800\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&answer), "200");
}

#[test]
fn only_the_three_subprotocols_are_spoken() {
    let (_robot, stage) = stage();
    for protocol in [V41, "networktables.first.wpi.edu", "rtt.networktables.first.wpi.edu"] {
        let mut viewer = Viewer::try_connect(stage.addr(), "page", Some(protocol), None).unwrap();
        viewer.barrier();
    }
    for protocol in [None, Some("chat")] {
        let refused = Viewer::try_connect(stage.addr(), "page", protocol, None);
        assert!(refused.is_err_and(|why| why.contains("400")), "{protocol:?}");
    }
}

#[test]
fn viewers_above_the_limit_are_told_and_room_comes_back() {
    let (_robot, stage) = stage();
    let mut viewers: Vec<Viewer> = (0..32).map(|n| Viewer::connect(stage.addr(), &format!("v{n}"))).collect();
    for viewer in &mut viewers {
        viewer.barrier();
    }
    let mut one_more = Viewer::connect(stage.addr(), "late");
    assert_eq!(one_more.read_to_end(), Some(1013));
    drop(viewers);
    common::until("room", || {
        let mut again = Viewer::connect(stage.addr(), "again");
        again.text("[]");
        let mut probe = vec![0x94, 0xff, 0, 2, 5];
        probe.truncate(5);
        again.binary(&probe);
        again.is_alive().then_some(())
    });
}
