//! The stage on which a rehearsal is watched: a server for dashboards, a pace, and a terminal or a bar.

use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use fieldlab_base::Micros;
use fieldlab_console::{Console, ConsoleConfig, ConsoleError};
use fieldlab_nt4_net::{Clock, Hub, NetServer, NetServerConfig};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_sim::rehearsal::{Deed, Progress, Stage};
use indicatif::ProgressBar;

use crate::out;
use crate::terminal::{Key, Terminal};

/// Where the page is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    /// Its port on the loopback address.
    pub(super) port: u16,
    /// It was asked for: without it the rehearsal is not held.
    pub(super) asked: bool,
}

/// A rehearsal with a server on a port.
pub(super) struct Watched {
    addr: SocketAddr,
    announced: bool,
    realtime: bool,
    /// When the world's clock showed zero.
    started: Instant,
    /// The world's clock, microseconds.
    world: Arc<AtomicI64>,
    panel: DriverPanel,
    terminal: Option<Terminal>,
    bar: ProgressBar,
    page: Option<Page>,
    console: Option<Console>,
}

impl Watched {
    /// A stage that listens on `addr` as long as the robot's code runs, and shows it on a page as long as it is watched.
    pub(super) fn new(
        addr: SocketAddr,
        page: Option<Page>,
        realtime: bool,
        panel: DriverPanel,
        terminal: Option<Terminal>,
    ) -> Self {
        let bar = if terminal.is_some() { ProgressBar::hidden() } else { out::bar("rehearsing", 1000) };
        Self {
            addr,
            announced: false,
            realtime,
            started: Instant::now(),
            world: Arc::new(AtomicI64::new(0)),
            panel,
            terminal,
            bar,
            page,
            console: None,
        }
    }

    /// Gives the terminal and the page's port back.
    pub(super) fn close(&mut self) {
        self.terminal = None;
        self.console = None;
        self.bar.finish_and_clear();
    }

    /// The robot's clock of a boot at this instant: its zero is now.
    fn clock(&self) -> Clock {
        let zero = self.world.load(Ordering::SeqCst);
        if self.realtime {
            // Between two turns the clock goes on, or every round trip would look like a turn.
            let booted = self.started + Duration::from_micros(u64::try_from(zero).unwrap_or(0));
            return Arc::new(move || Micros(i64::try_from(booted.elapsed().as_micros()).unwrap_or(i64::MAX)));
        }
        let world = Arc::clone(&self.world);
        Arc::new(move || Micros(world.load(Ordering::SeqCst).saturating_sub(zero)))
    }

    /// The page outlives the robot's boots, as it does on a field.
    fn open_page(&mut self) -> Result<(), String> {
        let Some(page) = self.page.take() else { return Ok(()) };
        let started = self.started;
        let clock: Clock =
            Arc::new(move || Micros(i64::try_from(started.elapsed().as_micros()).unwrap_or(i64::MAX)));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, page.port));
        match Console::start(ConsoleConfig::new(listen, vec![self.addr.to_string()], clock)) {
            Ok(console) => {
                out::say(&format!("console on {}", console.url()));
                self.console = Some(console);
                Ok(())
            }
            Err(error @ ConsoleError::Bind { .. }) if !page.asked => {
                out::say(&format!("{error}; no page this time, --console-port takes another port"));
                Ok(())
            }
            Err(error) => Err(format!("{error}; --console-port takes another port, 0 any free one")),
        }
    }

    fn line(&self, progress: &Progress) -> String {
        let robot = match (progress.running, progress.enabled) {
            (false, _) => "down",
            (true, true) => "ENABLED",
            (true, false) => "disabled",
        };
        // What has to be answered comes first: a narrow terminal cuts the rest.
        let asks = match (progress.prompt.as_str(), progress.hint) {
            ("", _) => String::new(),
            (prompt, None) => format!("asks: {prompt}"),
            (prompt, Some(hint)) => format!("asks: {prompt} (the tape says {hint:.3})"),
        };
        let step = if progress.step == progress.prompt { "" } else { &progress.step };
        let parts =
            [&format!("{:.1} V", progress.battery_volts), &progress.state, &asks, &progress.procedure, step];
        let said: String =
            parts.iter().filter(|part| !part.is_empty()).map(|part| format!(" · {part}")).collect();
        format!("{robot}{said} · {:.0} %", progress.done * 100.0)
    }

    /// Keys that the panel takes are done here; the rest is for the world.
    fn press(&self, key: Key) -> Option<Deed> {
        match key {
            Key::Enable => self.panel.set_enabled(true),
            Key::Disable => self.panel.set_enabled(false),
            Key::Select => return Some(Deed::Select),
            Key::SwapPack => return Some(Deed::SwapPack),
            Key::CutPower => return Some(Deed::CutPower),
            Key::Quit => return Some(Deed::Quit),
        }
        None
    }
}

impl Stage for Watched {
    fn booted(&mut self, hub: &Hub) -> Result<Option<Box<dyn Any>>, String> {
        let server =
            NetServer::bind(hub.clone(), NetServerConfig::new(self.addr, self.clock())).map_err(|error| {
                format!("NetworkTables server: {error}; --nt-port takes another port, 0 any free one")
            })?;
        // The port stays the same over reboots, as a robot's does.
        self.addr = server.local_addr();
        if !self.announced {
            self.announced = true;
            out::say(&format!("NetworkTables on {}", self.addr));
            self.open_page()?;
        }
        Ok(Some(Box::new(server)))
    }

    fn wait_until(&mut self, at: Micros) {
        self.world.store(at.0, Ordering::SeqCst);
        if self.realtime {
            let due = self.started + Duration::from_micros(u64::try_from(at.0).unwrap_or(0));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }

    fn progress(&mut self, progress: &Progress) -> Vec<Deed> {
        self.bar.set_position((progress.done.clamp(0.0, 1.0) * 1000.0) as u64);
        if !progress.procedure.is_empty() {
            self.bar.set_message(progress.procedure.clone());
        }
        let line = self.line(progress);
        let Some(terminal) = &mut self.terminal else { return Vec::new() };
        terminal.show(&line);
        loop {
            let Some(terminal) = &mut self.terminal else { return Vec::new() };
            match terminal.key(Duration::ZERO) {
                // Keys are done in the order in which they were pressed: what follows a deed waits until it is done.
                Ok(Some(key)) => {
                    if let Some(deed) = self.press(key) {
                        return vec![deed];
                    }
                }
                Ok(None) => return Vec::new(),
                // A terminal that is gone leaves nobody at the driver station.
                Err(_) => {
                    self.panel.set_enabled(false);
                    return vec![Deed::Quit];
                }
            }
        }
    }
}
