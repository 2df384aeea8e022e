//! The robot's code as a process of its own: everything but the world, driven over its standard input.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::server::{ConnectInfo, Frame, Version};
use fieldlab_nt4_net::Hub;
use fieldlab_robot::driver_station::{DriverPanel, OpModeId};
use fieldlab_robot::hw::{Inputs, Outputs, RobotDescription, RobotIo};
use fieldlab_robot::network::{NtOperator, hub};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{CHECKPOINT_FILE, Pace, Saves, Site};
use fieldlab_robot::telemetry::{Door, NtSink};
use fieldlab_sim::rehearsal::{self, FIELD_LAB};
use fieldlab_sim::{World, WorldConfig};
use fieldlab_store::{Disk, FileLayer};

use super::wire::{FilePhase, FromChild, NtFrame, TICK, TickIn, TickOut, read_frame};

/// The child's own words on the command line.
pub const WORD: &str = "torture-child";

/// Who saves in a boot, by its number: every other one does it on the storage thread, as a robot does. The rest saves where
/// it is asked to, which holds the turn up and so makes the short steps of a save easier to hit.
pub(super) const fn saves(boot: u64) -> Saves {
    if boot.is_multiple_of(2) { Saves::Thread } else { Saves::Inline }
}

type Pipe = Arc<Mutex<Stdout>>;

fn say(pipe: &Pipe, word: &FromChild) -> io::Result<()> {
    word.write(&mut *pipe.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs the code until its standard input ends.
///
/// # Errors
/// Whatever keeps the code from coming up, and a frame that no parent writes.
pub fn run(out: &Path, seed: u64, boot: u64) -> Result<()> {
    let pipe: Pipe = Arc::new(Mutex::new(io::stdout()));
    let mut code = Code::boot(out, seed, boot, &pipe)?;
    say(&pipe, &FromChild::Ready)?;
    let mut stdin = io::stdin().lock();
    loop {
        match read_frame(&mut stdin) {
            Ok((TICK, payload)) => {
                let turn = code.turn(&TickIn::decode(&payload)?)?;
                say(&pipe, &FromChild::Turn(Box::new(turn)))?;
            }
            Ok((tag, _)) => bail!("expected a turn, found tag {tag}"),
            // The parent went home.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error).context("standard input"),
        }
    }
}

struct Code {
    robot: RobotLoop,
    panel: DriverPanel,
    field_lab: OpModeId,
    hub: Hub,
    far: Rc<RefCell<Far>>,
    client: Option<ClientId>,
}

/// What the hardware on the other side of the pipe said last, and is asked.
struct Far {
    inputs: Inputs,
    outputs: Outputs,
}

struct FarIo {
    far: Rc<RefCell<Far>>,
    description: RobotDescription,
}

impl RobotIo for FarIo {
    fn description(&self) -> RobotDescription {
        self.description.clone()
    }

    fn read(&mut self, _now: Micros, inputs: &mut Inputs) {
        let far = self.far.borrow();
        let (now, dt_secs, enabled) = (inputs.now, inputs.dt_secs, inputs.enabled);
        *inputs = Inputs { now, dt_secs, enabled, odometry: None, ..far.inputs };
    }

    fn apply(&mut self, _now: Micros, outputs: &Outputs) {
        self.far.borrow_mut().outputs = *outputs;
    }
}

impl Code {
    fn boot(out: &Path, seed: u64, boot: u64, pipe: &Pipe) -> Result<Self> {
        let mut site = Site::new(out, Pace::Virtual, seed ^ boot);
        site.checkpoint = out.join(CHECKPOINT_FILE);
        site.needed_bytes = 32 << 20;
        site.saves = Some(saves(boot));
        let watched: (Pipe, PathBuf) = (Arc::clone(pipe), site.checkpoint.clone());
        site.layers = Rc::new(move || Box::new(AnnouncingDisk::new(Arc::clone(&watched.0), &watched.1)));
        let (hub, door, panel) = (hub()?, Door::new(), DriverPanel::new());
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let far = Rc::new(RefCell::new(Far { inputs: Inputs::NONE, outputs: Outputs::NEUTRAL }));
        let description = World::new(WorldConfig::seeded(seed), seed)?.description();
        let robot = RobotLoop::new(
            LoopConfig::default(),
            LoopParts {
                io: Box::new(FarIo { far: Rc::clone(&far), description }),
                station: Box::new(panel.clone()),
                operator: Box::new(NtOperator::direct(hub.clone())),
                door,
                site,
                op_modes: vec![rehearsal::entry(rehearsal::Scope::Short)?],
            },
        )?;
        let field_lab = robot.find(FIELD_LAB).context("no op mode is called Field Lab")?;
        Ok(Self { robot, panel, field_lab, hub, far, client: None })
    }

    fn turn(&mut self, tick: &TickIn) -> Result<TickOut> {
        self.panel.select(tick.selected.then_some(self.field_lab));
        self.panel.set_enabled(tick.enabled);
        self.far.borrow_mut().inputs = tick.inputs;
        self.receive(tick)?;
        self.robot.tick(tick.now, Some(tick.unix));
        if let Some(fault) = self.robot.fault() {
            bail!("Field Lab does not run: {fault}");
        }
        let mut down = Vec::new();
        if let Some(client) = self.client {
            self.hub.with(|server| {
                server.transmit(client, tick.now, usize::MAX, |frame| {
                    down.push(match frame {
                        Frame::Text(text) => NtFrame::Text(text.to_owned()),
                        Frame::Binary(bytes) => NtFrame::Binary(bytes.to_vec()),
                    });
                })
            });
        }
        Ok(TickOut { outputs: self.far.borrow().outputs, down })
    }

    fn receive(&mut self, tick: &TickIn) -> Result<()> {
        if !tick.connected {
            if let Some(client) = self.client.take() {
                self.hub.with(|server| server.disconnect(client, tick.now));
            }
            return Ok(());
        }
        let client = match self.client {
            Some(client) => client,
            None => {
                let info = ConnectInfo {
                    name: "fieldlab-page".to_owned(),
                    address: "pipe".to_owned(),
                    version: Version::V41,
                    immediate: true,
                };
                let client = self.hub.with(|server| server.connect(&info, tick.now));
                *self
                    .client
                    .insert(client.map_err(|refused| anyhow!("the dashboard was refused: {refused}"))?)
            }
        };
        self.hub.with(|server| {
            for frame in &tick.up {
                let taken = match frame {
                    NtFrame::Text(text) => server.receive_text(client, text, tick.now),
                    NtFrame::Binary(bytes) => server.receive_binary(client, bytes, tick.now),
                };
                taken.map_err(|refused| anyhow!("the server refused a message: {refused:?}"))?;
            }
            Ok(())
        })
    }
}

/// The real disk; says before and after each step on the checkpoint which one it is.
struct AnnouncingDisk {
    inner: Disk,
    pipe: Pipe,
    name: OsString,
    folder: PathBuf,
}

impl AnnouncingDisk {
    fn new(pipe: Pipe, checkpoint: &Path) -> Self {
        Self {
            inner: Disk::new(),
            pipe,
            name: checkpoint.file_name().unwrap_or_default().to_owned(),
            folder: checkpoint.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    fn is_checkpoint(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(&*self.name.to_string_lossy()) && !name.ends_with("lock")
    }

    fn step<R>(
        &mut self,
        phase: FilePhase,
        counts: bool,
        step: impl FnOnce(&mut Disk) -> io::Result<R>,
    ) -> io::Result<R> {
        if counts {
            say(&self.pipe, &FromChild::Begins(phase))?;
        }
        let done = step(&mut self.inner);
        if counts {
            say(&self.pipe, &FromChild::Ends(phase))?;
        }
        done
    }
}

impl FileLayer for AnnouncingDisk {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.inner.create_dir_all(dir)
    }
    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        let counts = self.is_checkpoint(path);
        self.step(FilePhase::Temp, counts, |disk| disk.create_new(path))
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let counts = self.is_checkpoint(path);
        self.step(FilePhase::Temp, counts, |disk| disk.write(path, bytes))
    }
    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        let counts = self.is_checkpoint(path);
        self.step(FilePhase::Fsync, counts, |disk| disk.fsync(path))
    }
    fn fsync_data(&mut self, path: &Path) -> io::Result<()> {
        self.inner.fsync_data(path)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let counts = self.is_checkpoint(to);
        self.step(FilePhase::Rename, counts, |disk| disk.rename(from, to))
    }
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        let counts = dir == self.folder;
        self.step(FilePhase::Folder, counts, |disk| disk.fsync_dir(dir))
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner.read(path)
    }
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.inner.list(dir)
    }
    fn free_space(&mut self, dir: &Path) -> io::Result<u64> {
        self.inner.free_space(dir)
    }
}
