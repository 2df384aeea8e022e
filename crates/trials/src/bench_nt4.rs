//! `bench wire`, the NetworkTables half: our server beside the official one, in one run and under one load.
//!
//! Relay: one client publishes doubles on 100 topics at a steady pace, four clients subscribe to all of them, and what the
//! server's process spent on processors is read from `/proc`. Round trip: one time request at a time, the two servers in
//! turn, so that whatever else the machine does meets both. The load is made by this process, with sockets and frames of
//! its own, and is not counted.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fieldlab_base::Micros;
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_nt4_net::{Hub, NetServer, NetServerConfig};

use crate::figures::{Aim, Figures};
use crate::options::Options;

/// The hidden word that makes this program a server of ours, in a process whose processor time is its own.
pub const SERVE: &str = "serve-nt4";

const TOPICS: usize = 100;
const SUBSCRIBERS: usize = 4;
const BURST: usize = 1000;
const BURST_PERIOD: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(10);
const OFFICIAL: &str = "import ntcore, sys\n\
    ntcore.NetworkTableInstance.getDefault().startServer('', '127.0.0.1', 0, int(sys.argv[1]))\n\
    print(sys.argv[1], flush=True)\n\
    sys.stdin.read()\n";

/// Measures and compares.
///
/// # Errors
/// A peer that is not installed or does not start; a connection that breaks.
pub fn run(options: &Options) -> Result<Figures> {
    let (values, rounds, asks) = if options.quick { (20_000, 1, 500) } else { (200_000, 3, 5000) };
    let mut figures = Figures::new("nt4");
    figures.attached(format!(
        "relay: {TOPICS} topics of double, {SUBSCRIBERS} subscribers to every value at 20 ms, {values} values in bursts of \
         {BURST} every {} ms, best of {rounds}",
        BURST_PERIOD.as_millis()
    ));
    let (mut ours, mut theirs) = (Relayed::default(), Relayed::default());
    for _ in 0..rounds {
        ours.keep_better(relay(&Process::ours()?, values)?);
        theirs.keep_better(relay(&Process::official()?, values)?);
    }
    figures.row("relay, ours", ours.per_cpu_second, "messages per CPU s", Aim::Shown);
    figures.row("relay, ntcore", theirs.per_cpu_second, "messages per CPU s", Aim::Shown);
    figures.row("relay beside ntcore", ours.per_cpu_second / theirs.per_cpu_second, "×", Aim::AtLeast(1.0));
    figures.row("relayed of those sent, ours", ours.delivered, "", Aim::AtLeast(1.0));
    figures.row("relayed of those sent, ntcore", theirs.delivered, "", Aim::Shown);
    let (ours, theirs) = round_trips(asks)?;
    figures.attached(format!("round trip: {asks} time requests, one at a time, servers in turn"));
    for (name, at) in [("p50", 0.5), ("p99", 0.99)] {
        let (own, other) = (percentile(&ours, at), percentile(&theirs, at));
        figures.row(format!("round trip {name}, ours"), own, "µs", Aim::Shown);
        figures.row(format!("round trip {name}, ntcore"), other, "µs", Aim::Shown);
        let aim = if name == "p99" { Aim::AtMost(1.5) } else { Aim::Shown };
        figures.row(format!("round trip {name} beside ntcore"), own / other, "×", aim);
    }
    Ok(figures)
}

/// Serves until standard input ends; the port is the first line of standard output.
///
/// # Errors
/// No free port.
pub fn serve() -> Result<()> {
    let hub = Hub::new(Server::new(ServerConfig::default()).context("the default is a good configuration")?);
    let start = Instant::now();
    let clock = Arc::new(move || Micros(i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX)));
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = NetServer::bind(hub, NetServerConfig::new(addr, clock))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.local_addr().port())?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A server in a process of its own.
struct Process {
    child: Child,
    port: u16,
}

impl Process {
    fn ours() -> Result<Self> {
        Self::start(Command::new(std::env::current_exe()?).arg(SERVE))
    }

    fn official() -> Result<Self> {
        let peers = std::env::var_os("FIELDLAB_PEERS").map(PathBuf::from);
        let python = peers.context("FIELDLAB_PEERS: expected the folder of peers")?.join("venv/bin/python");
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        Self::start(Command::new(&python).arg("-c").arg(OFFICIAL).arg(free.to_string()))
            .with_context(|| format!("starting {}", python.display()))
    }

    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().parse().with_context(|| format!("expected a port, found {line:?}"))?;
        Ok(Self { child, port })
    }

    /// Seconds on a processor so far, over all threads, from the scheduler's own count.
    fn cpu_secs(&self) -> Result<f64> {
        let mut nanos = 0_u64;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += text.split_whitespace().next().context("empty schedstat")?.parse::<u64>()?;
        }
        Ok(nanos as f64 / 1e9)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Default)]
struct Relayed {
    per_cpu_second: f64,
    delivered: f64,
}

impl Relayed {
    fn keep_better(&mut self, other: Self) {
        if other.per_cpu_second > self.per_cpu_second {
            *self = other;
        }
    }
}

fn relay(server: &Process, values: usize) -> Result<Relayed> {
    let mut publisher = Peer::connect(server.port, "publisher")?;
    let publish: Vec<String> = (0..TOPICS)
        .map(|n| {
            format!(
                r#"{{"method":"publish","params":{{"name":"/bench/{n}","type":"double","pubuid":{n},"properties":{{}}}}}}"#
            )
        })
        .collect();
    publisher.send(1, format!("[{}]", publish.join(",")).as_bytes())?;
    // The official server does not answer a client that only publishes; the subscribers see the topics.
    let last = values as i64;
    let mut threads = Vec::new();
    for n in 0..SUBSCRIBERS {
        let mut peer = Peer::connect(server.port, &format!("subscriber {n}"))?;
        peer.send(
            1,
            br#"[{"method":"subscribe","params":{"topics":["/bench/"],"subuid":1,"options":{"prefix":true,"all":true,"periodic":0.02}}}]"#,
        )?;
        let mut announced = 0;
        while announced < TOPICS {
            let (opcode, payload) = peer.read()?;
            if opcode == 1 {
                announced += std::str::from_utf8(payload)?.matches("\"announce\"").count();
            }
        }
        threads.push(std::thread::spawn(move || count(&mut peer, last)));
    }
    let mut reading = publisher.also()?;
    std::thread::spawn(move || while reading.read().is_ok() {});
    let before = server.cpu_secs()?;
    let began = Instant::now();
    let mut frame = Vec::new();
    let mut payload = Vec::new();
    let mut sent = 0;
    while sent < values {
        frame.clear();
        let end = (sent + BURST).min(values);
        while sent < end {
            payload.clear();
            while sent < end && payload.len() < 1380 {
                sent += 1;
                payload.extend_from_slice(&[0x94, (sent % TOPICS) as u8, 0xce]);
                payload.extend_from_slice(&(sent as u32).to_be_bytes());
                payload.extend_from_slice(&[1, 0xcb]);
                payload.extend_from_slice(&(sent as f64 + 0.5).to_be_bytes());
            }
            put_frame(&mut frame, 2, &payload);
        }
        publisher.stream.write_all(&frame)?;
        let due = BURST_PERIOD * u32::try_from(sent / BURST)?;
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let mut received = 0;
    for thread in threads {
        let Ok(counted) = thread.join() else { bail!("a subscriber ended early") };
        received += counted?;
    }
    let cpu = server.cpu_secs()? - before;
    Ok(Relayed {
        per_cpu_second: received as f64 / cpu,
        delivered: received as f64 / (values * SUBSCRIBERS) as f64,
    })
}

/// Values received until the last one has been.
fn count(peer: &mut Peer, last: i64) -> Result<usize> {
    let mut received = 0;
    loop {
        let (opcode, payload) = peer.read()?;
        if opcode != 2 {
            continue;
        }
        let mut at = 0;
        while at < payload.len() {
            // [id, time, 1, float64]: both integers in any unsigned form.
            at += 1;
            let (_, next) = uint(payload, at)?;
            let (time, next) = uint(payload, next)?;
            at = next + 10;
            received += 1;
            if time == last {
                return Ok(received);
            }
        }
    }
}

fn uint(bytes: &[u8], at: usize) -> Result<(i64, usize)> {
    let len = match bytes.get(at).context("a cut message")? {
        small @ 0..=0x7f => return Ok((i64::from(*small), at + 1)),
        0xcc => 1,
        0xcd => 2,
        0xce => 4,
        0xcf => 8,
        other => bail!("expected an unsigned integer, found {other:#x}"),
    };
    let digits = bytes.get(at + 1..at + 1 + len).context("a cut integer")?;
    Ok((digits.iter().fold(0, |n, d| (n << 8) | i64::from(*d)), at + 1 + len))
}

/// Sorted round trips in microseconds, ours and the official server's.
fn round_trips(asks: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let (ours, theirs) = (Process::ours()?, Process::official()?);
    let mut peers = [Peer::connect(ours.port, "asks")?, Peer::connect(theirs.port, "asks")?];
    let mut found = [Vec::with_capacity(asks), Vec::with_capacity(asks)];
    for n in 0..asks + 50 {
        for (peer, found) in peers.iter_mut().zip(&mut found) {
            let mut ask = vec![0x94, 0xff, 0, 2, 0xce];
            ask.extend_from_slice(&(n as u32 | 1 << 31).to_be_bytes());
            let began = Instant::now();
            peer.send(2, &ask)?;
            while peer.read()?.0 != 2 {}
            // The first ones warm both up.
            if n >= 50 {
                found.push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    for list in &mut found {
        list.sort_by(f64::total_cmp);
    }
    let [ours, theirs] = found;
    Ok((ours, theirs))
}

fn percentile(sorted: &[f64], at: f64) -> f64 {
    let index = (sorted.len() as f64 * at) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// A WebSocket client with no more than the load needs. Answers pings while it reads.
struct Peer {
    stream: TcpStream,
    buffer: Vec<u8>,
    start: usize,
}

impl Peer {
    fn connect(port: u16, name: &str) -> Result<Self> {
        let began = Instant::now();
        // The official server listens some time after it was told to.
        let mut stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > PATIENCE => return Err(error).context("connecting"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let name = name.replace(' ', "%20");
        write!(
            stream,
            "GET /nt/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: v4.1.networktables.first.wpi.edu\r\n\r\n"
        )?;
        let mut peer = Self { stream, buffer: Vec::new(), start: 0 };
        loop {
            if let Some(end) = peer.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                peer.start = end + 4;
                return Ok(peer);
            }
            peer.fill()?;
        }
    }

    /// The same connection for another thread to read.
    fn also(&self) -> Result<Self> {
        Ok(Self { stream: self.stream.try_clone()?, buffer: self.buffer.clone(), start: self.start })
    }

    fn fill(&mut self) -> Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let held = self.buffer.len();
        self.buffer.resize(held + (64 << 10), 0);
        let read = self.stream.read(&mut self.buffer[held..])?;
        self.buffer.truncate(held + read);
        if read == 0 { bail!("the server closed the connection") } else { Ok(()) }
    }

    fn send(&mut self, opcode: u8, payload: &[u8]) -> Result<()> {
        let mut frame = Vec::with_capacity(payload.len() + 14);
        put_frame(&mut frame, opcode, payload);
        self.stream.write_all(&frame)?;
        Ok(())
    }

    /// The next message that is no ping, with its opcode.
    fn read(&mut self) -> Result<(u8, &[u8])> {
        loop {
            let have = &self.buffer[self.start..];
            let header = match have.get(1) {
                Some(126) => have.get(2..4).map(|b| (4, usize::from(u16::from_be_bytes([b[0], b[1]])))),
                Some(127) => {
                    have.get(2..10).map(|b| (10, b.iter().fold(0, |n, d| (n << 8) | usize::from(*d))))
                }
                Some(short) => Some((2, usize::from(*short))),
                None => None,
            };
            match header {
                Some((head, len)) if have.len() >= head + len => {
                    let opcode = have[0] & 15;
                    let payload = self.start + head..self.start + head + len;
                    self.start = payload.end;
                    match opcode {
                        8 => bail!("closed: {:?}", String::from_utf8_lossy(&self.buffer[payload])),
                        9 => {
                            let echo = self.buffer[payload].to_vec();
                            self.send(10, &echo)?;
                        }
                        _ => return Ok((opcode, &self.buffer[payload])),
                    }
                }
                _ => self.fill()?,
            }
        }
    }
}

/// One masked frame; the mask is zero, which a server undoes at the same cost as any other.
fn put_frame(out: &mut Vec<u8>, opcode: u8, payload: &[u8]) {
    out.push(0x80 | opcode);
    match payload.len() {
        short @ 0..=125 => out.push(0x80 | short as u8),
        long @ 126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(long as u16).to_be_bytes());
        }
        longer => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(longer as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_server_relays_every_value_to_every_subscriber() {
        let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
        let start = Instant::now();
        let clock = Arc::new(move || Micros(start.elapsed().as_micros() as i64));
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = NetServer::bind(hub, NetServerConfig::new(addr, clock)).unwrap();
        // The process whose time is read is any; here it only has to be there.
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process { child, port: server.local_addr().port() };
        assert_eq!(relay(&process, 3000).unwrap().delivered, 1.0);
    }
}
