//! `fieldlab console` from outside.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use common::outcome;

#[test]
fn it_prints_its_address_first_serves_the_page_and_ends_when_asked() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fieldlab"))
        .args(["console", "--port", "0", "--robot", "127.0.0.1:9"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let addr = url.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).unwrap().to_owned();
    let mut stream = TcpStream::connect(&addr).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    // It says what it watches once it would notice a signal.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("127.0.0.1:9"), "{said}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_busy_port_is_an_error_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, stdout, stderr) = outcome(&["console", "--port", &port]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains(&format!("127.0.0.1:{port}")) && stderr.contains("--port"), "{stderr}");
}

#[test]
fn robots_that_cannot_be_are_wrong_words() {
    for words in [["--robot", "a b"], ["--team", "0"], ["--team", "30000"]] {
        let (code, _, stderr) = outcome(&["console", "--port", "0", words[0], words[1]]);
        assert_eq!(code, 2, "{stderr}");
    }
    assert_eq!(outcome(&["console", "--robot", "a", "--team", "1"]).0, 2);
}
