//! Server and client joined by real sockets on this machine.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fieldlab_base::Micros;
use fieldlab_nt4::client::{Event, PublishOptions};
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_nt4::{Limits, Properties, SubscribeOptions};
use fieldlab_nt4_net::{Clock, Hub, NetClient, NetClientConfig, NetServer, NetServerConfig};
use fieldlab_values::{DataType, Value, ValueRef};

const PATIENCE: Duration = Duration::from_secs(10);

fn clock(offset: i64) -> Clock {
    let start = Instant::now();
    Arc::new(move || Micros(offset + i64::try_from(start.elapsed().as_micros()).unwrap()))
}

fn serve() -> (Hub, NetServer) {
    let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock(5_000_000))).unwrap();
    (hub, server)
}

fn client(server: &NetServer, name: &str) -> NetClient {
    NetClient::start(NetClientConfig::new(server.local_addr().to_string(), name, clock(0))).unwrap()
}

/// The first event for which `pick` answers something.
fn wait_for<T>(client: &NetClient, mut pick: impl FnMut(Event) -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while let Some(event) = client.next_event(until.saturating_duration_since(Instant::now())) {
        if let Some(found) = pick(event) {
            return found;
        }
    }
    panic!("not seen in time; {:?}", client.state());
}

fn value_of(name: &'static str) -> impl FnMut(Event) -> Option<(Micros, Value)> {
    move |event| match event {
        Event::Value { name: of, time, value, .. } if of.as_ref() == name => Some((time, value)),
        _ => None,
    }
}

fn http(server: &NetServer, request: &str) -> String {
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn values_go_both_ways_with_the_servers_time() {
    let (hub, server) = serve();
    let robot = hub.with(|s| s.publish_local("/robot", &DataType::Double, &Properties::new())).unwrap();
    let one = client(&server, "one");
    let two = client(&server, "two with space");
    one.with(|c| c.subscribe(&["/"], SubscribeOptions::prefix())).unwrap();
    hub.with(|s| s.set_local(robot, Micros(7), ValueRef::Double(1.5)));
    assert_eq!(wait_for(&one, value_of("/robot")), (Micros(7), Value::Double(1.5)));
    let topic = two.with(|c| c.publish("/from two", &DataType::String, PublishOptions::default())).unwrap();
    two.with(|c| c.set(topic, Micros(1_000), ValueRef::String("hello")));
    let (time, value) = wait_for(&one, value_of("/from two"));
    assert_eq!(value, Value::String("hello".into()));
    // Both clocks started within moments of each other, the server's 5 s ahead.
    assert!((time.0 - 5_001_000).abs() < 1_000_000, "{time}");
    assert_eq!(hub.with(|s| s.client_names().count()), 2);
    assert!(hub.with(|s| s.client_names().any(|n| n == "two with space@2" || n == "two with space@1")));
}

#[test]
fn frames_of_the_robot_reach_a_socket() {
    let (hub, server) = serve();
    let mut frames = hub.publisher();
    let topic = frames.declare("/tick".into(), DataType::Int, Properties::new());
    assert!(frames.send());
    let watcher = client(&server, "w");
    watcher.with(|c| c.subscribe(&["/tick"], SubscribeOptions::default().all())).unwrap();
    wait_for(&watcher, |e| matches!(e, Event::Announced(_)).then_some(()));
    frames.put(topic, Micros(1), ValueRef::Int(42));
    assert!(frames.send());
    assert_eq!(wait_for(&watcher, value_of("/tick")), (Micros(1), Value::Int(42)));
}

#[test]
fn a_client_comes_back_to_a_server_that_was_away() {
    let (_hub, server) = serve();
    let addr = server.local_addr();
    let one = client(&server, "one");
    let topic = one.with(|c| c.publish("/kept", &DataType::Int, PublishOptions::default())).unwrap();
    one.with(|c| c.set(topic, Micros(1), ValueRef::Int(9)));
    wait_for(&one, |e| matches!(e, Event::Clock { .. }).then_some(()));
    drop(server);
    wait_for(&one, |e| matches!(e, Event::Disconnected).then_some(()));
    assert!(one.state().last_problem.unwrap().contains("1001 server stops"));
    let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
    let _again = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock(0))).unwrap();
    wait_for(&one, |e| matches!(e, Event::Clock { .. }).then_some(()));
    let until = Instant::now() + PATIENCE;
    while hub.with(|s| s.value("/kept")).is_none() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(hub.with(|s| s.value("/kept")).map(|v| v.1), Some(Value::Int(9)));
    assert_eq!(one.state().connections, 2);
}

#[test]
fn plain_http_on_the_same_port() {
    let (_hub, server) = serve();
    let get =
        |path: &str| http(&server, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    for (path, status) in [("/", "200"), ("/nt/persistent.json", "200"), ("/x", "404"), ("/nt/a", "404")] {
        let answer = get(path);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
        assert!(answer.to_lowercase().contains("access-control-allow-origin: *"), "{answer}");
    }
    assert!(get("/nt/persistent.json").ends_with("\r\n\r\n[]\n"));
}

fn upgrade(server: &NetServer, path: &str, host: &str, protocols: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let protocols =
        if protocols.is_empty() { String::new() } else { format!("Sec-WebSocket-Protocol: {protocols}\r\n") };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost:{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{protocols}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap() == 0 {
            break;
        }
        head.push(byte[0]);
    }
    (stream, String::from_utf8(head).unwrap().to_lowercase())
}

#[test]
fn row_17_a_bad_path_is_404_before_the_upgrade() {
    let (_hub, server) = serve();
    let (_s, head) = upgrade(&server, "/other/x", " h", "networktables.first.wpi.edu");
    assert!(head.starts_with("http/1.1 404"), "{head}");
}

#[test]
fn row_11_protocols_by_our_preference_and_bogus_ones_refused() {
    let (_hub, server) = serve();
    let both = "networktables.first.wpi.edu, v4.1.networktables.first.wpi.edu";
    let (_s, head) = upgrade(&server, "/nt/elastic", " h", both);
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("sec-websocket-protocol: v4.1.networktables.first.wpi.edu"), "{head}");
    // The accept value is the worked example of RFC 6455, section 1.3.
    assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
    assert!(head.contains("connection: upgrade\r\n"), "{head}");
    let (_s, head) = upgrade(&server, "/nt/x", " h", "chat");
    assert!(head.starts_with("http/1.1 400"), "{head}");
    let (_s, head) = upgrade(&server, "/nt/x", " h", "");
    assert!(head.starts_with("http/1.1 101") && !head.contains("sec-websocket-protocol"), "{head}");
    let (_s, head) = upgrade(&server, "/nt/a+b", "", "v4.1.networktables.first.wpi.edu");
    assert!(head.starts_with("http/1.1 101"), "an empty Host: {head}");
    assert!(!head.contains("sec-websocket-extensions"));
}

/// One masked frame with a zero mask.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x80 | opcode];
    match payload.len() {
        n @ 0..=125 => out.push(0x80 | n as u8),
        n @ 126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        n => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
    out
}

/// Reads server frames until one has `opcode`.
fn next(stream: &mut TcpStream, opcode: u8) -> Vec<u8> {
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head).unwrap();
        let len = match head[1] {
            126 => {
                let mut long = [0; 2];
                stream.read_exact(&mut long).unwrap();
                usize::from(u16::from_be_bytes(long))
            }
            n => usize::from(n),
        };
        let mut payload = vec![0; len];
        stream.read_exact(&mut payload).unwrap();
        if head[0] & 15 == opcode {
            return payload;
        }
    }
}

#[test]
fn a_message_above_two_mebibytes_closes_1009() {
    let (_hub, server) = serve();
    let (mut stream, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    let big = frame(2, &vec![0; (2 << 20) + 1]);
    // The server may close before it has read all of it.
    drop(stream.write_all(&big));
    assert_eq!(next(&mut stream, 8)[..2], 1009_u16.to_be_bytes());
}

#[test]
fn an_unmasked_frame_closes_1002_and_lost_framing_1001() {
    let (_hub, server) = serve();
    let (mut stream, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    stream.write_all(&[0x82, 1, 0]).unwrap();
    assert_eq!(next(&mut stream, 8)[..2], 1002_u16.to_be_bytes());
    let (mut stream, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    stream.write_all(&frame(2, &[0x94, 1])).unwrap();
    let close = next(&mut stream, 8);
    assert_eq!(close[..2], 1001_u16.to_be_bytes());
    assert_eq!(&close[2..], b"binary decode error: truncated");
}

#[test]
fn a_fragmented_message_with_a_ping_inside_is_one_message() {
    let (_hub, server) = serve();
    let (mut stream, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    // [-1, 0, 2, 7] in two fragments.
    let mut first = frame(2, &[0x94, 0xff]);
    first[0] = 0x02;
    let rest = frame(0, &[0, 2, 7]);
    stream.write_all(&[first, frame(9, b"hi"), rest].concat()).unwrap();
    let answer = next(&mut stream, 2);
    assert_eq!(
        (answer[0], answer[1], answer[answer.len() - 2], answer[answer.len() - 1]),
        (0x94, 0xff, 2, 7)
    );
}

#[test]
fn report_8_a_time_socket_is_served_beside_a_main_socket_that_does_not_read() {
    let (hub, server) = serve();
    let topic = hub.with(|s| s.publish_local("/big", &DataType::Raw, &Properties::new())).unwrap();
    let (mut main, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    let subscribe = br#"[{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"prefix":true,"all":true}}}]"#;
    main.write_all(&frame(1, subscribe)).unwrap();
    let bytes = vec![7; 1 << 20];
    for i in 0..40 {
        hub.with(|s| s.set_local(topic, Micros(i), ValueRef::Raw(&bytes)));
    }
    let (mut time, _) = upgrade(&server, "/nt/x", " h", "rtt.networktables.first.wpi.edu");
    for i in 0..20 {
        let asked = Instant::now();
        time.write_all(&frame(2, &[0x94, 0xff, 0, 2, i])).unwrap();
        let answer = next(&mut time, 2);
        assert_eq!(answer.last(), Some(&i));
        assert!(asked.elapsed() < Duration::from_millis(500));
        hub.with(|s| s.set_local(topic, Micros(100 + i64::from(i)), ValueRef::Raw(&bytes)));
    }
    assert_eq!(hub.with(|s| s.client_names().count()), 1, "a time socket is no client");
}

#[test]
fn report_3_a_silent_4_1_client_is_gone_after_a_second_and_pings_come_from_the_open() {
    let (_hub, server) = serve();
    let (mut stream, _) = upgrade(&server, "/nt/x", " h", "v4.1.networktables.first.wpi.edu");
    let open = Instant::now();
    next(&mut stream, 9);
    assert!(open.elapsed() < Duration::from_millis(900));
    let close = next(&mut stream, 8);
    assert_eq!(&close[2..], b"connection timed out");
    assert!(open.elapsed() > Duration::from_millis(700), "{:?}", open.elapsed());
}

#[test]
fn a_value_that_the_server_will_not_take_is_told_and_not_sent_for_ever() {
    let limits = Limits { message_bytes: 10_000, ..Limits::default() };
    let hub = Hub::new(Server::new(ServerConfig { limits, ..ServerConfig::default() }).unwrap());
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock(0))).unwrap();
    let one = client(&server, "one");
    let big = one.with(|c| c.publish("/big", &DataType::Raw, PublishOptions::default())).unwrap();
    let small = one.with(|c| c.publish("/small", &DataType::Int, PublishOptions::default())).unwrap();
    one.with(|c| {
        c.set(small, Micros(1), ValueRef::Int(1));
        c.set(big, Micros(1), ValueRef::Raw(&[0; 20_000]));
    });
    wait_for(&one, |e| matches!(e, Event::Disconnected).then_some(()));
    let words = one.state().last_problem.unwrap();
    assert!(words.contains("1009 message too large") && words.contains("/big"), "{words}");
    let until = Instant::now() + PATIENCE;
    while hub.with(|s| s.value("/small")).is_none() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(hub.with(|s| s.value("/small")).map(|v| v.1), Some(Value::Int(1)));
    assert_eq!(one.state().connections, 2);
}

#[test]
fn a_busy_port_is_an_error_that_names_it() {
    let (hub, server) = serve();
    let refused = NetServer::bind(hub, NetServerConfig::new(server.local_addr(), clock(0))).unwrap_err();
    assert!(refused.to_string().contains(&server.local_addr().to_string()), "{refused}");
}

#[test]
fn report_16_persistent_topics_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("networktables.json");
    let start = || {
        let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
        let mut config = NetServerConfig::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), clock(5_000_000));
        config.persistent = Some(path.clone());
        (hub.clone(), NetServer::bind(hub, config).unwrap())
    };
    let (hub, server) = start();
    assert_eq!(server.restored().topics, 0);
    let one = client(&server, "one");
    let mut options = PublishOptions::default();
    options.properties.insert("persistent".into(), true.into());
    let topic = one.with(|c| c.publish("/Preferences/kP", &DataType::Double, options)).unwrap();
    one.with(|c| c.set(topic, Micros(1), ValueRef::Double(f64::INFINITY)));
    let until = Instant::now() + PATIENCE;
    while hub.with(|s| s.value("/Preferences/kP")).is_none() && Instant::now() < until {
        std::thread::yield_now();
    }
    let answer = http(&server, "GET /nt/persistent.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("\"/Preferences/kP\""), "{answer}");
    drop(one);
    drop(server);
    let (hub, server) = start();
    assert_eq!((server.restored().topics, server.save_error()), (1, None));
    assert_eq!(hub.with(|s| s.value("/Preferences/kP")).map(|v| v.1), Some(Value::Double(f64::INFINITY)));
    // A file that cannot be read is put aside; the version before it counts.
    drop(server);
    std::fs::write(&path, "[{\"name\"").unwrap();
    let (_hub, server) = start();
    assert!(
        server.restored().set_aside.as_ref().is_some_and(|aside| aside.exists()),
        "{:?}",
        server.restored()
    );
}

#[test]
fn connections_above_the_limit_are_dropped_and_the_others_stay() {
    let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
    let mut config = NetServerConfig::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), clock(0));
    config.connections = 2;
    let server = NetServer::bind(hub, config).unwrap();
    let (mut one, _) = upgrade(&server, "/nt/1", " h", "v4.1.networktables.first.wpi.edu");
    let (_two, _) = upgrade(&server, "/nt/2", " h", "networktables.first.wpi.edu");
    let mut third = TcpStream::connect(server.local_addr()).unwrap();
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(matches!(third.read(&mut [0]), Ok(0) | Err(_)));
    one.write_all(&frame(2, &[0x94, 0xff, 0, 2, 9])).unwrap();
    assert_eq!(next(&mut one, 2).last(), Some(&9));
}
