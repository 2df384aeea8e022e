//! The world, the person, and the hand that pulls the plug.

use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use fieldlab_base::Micros;
use fieldlab_campaign::Plan;
use fieldlab_nt4::client::Client;
use fieldlab_nt4::server::{Frame, Version};
use fieldlab_robot::driver_station::{DriverPanel, OpModeId};
use fieldlab_robot::hw::{Inputs, Outputs, RobotIo};
use fieldlab_robot::site::{CHECKPOINT_FILE, Saves};
use fieldlab_sim::operator::{OperatorConfig, ScriptedOperator};
use fieldlab_sim::rehearsal::{self, Scope};
use fieldlab_sim::{SharedWorld, World, WorldConfig};
use fieldlab_values::{Value, ValueRef};
use tempfile::TempDir;

use super::ledger::{Ledger, Person, Seen};
use super::wire::{FilePhase, FromChild, NtFrame, TICK, TickIn, TickOut, write_frame};
use super::{Phase, Target, child};

/// How a turn ended.
pub(super) enum Turn {
    /// The code goes on.
    Lived,
    /// It was cut in this phase.
    Cut(Phase),
    /// The campaign is done.
    Done,
}

/// Everything but the code.
pub(super) struct Bench {
    seed: u64,
    campaign: u64,
    dir: TempDir,
    plan: Plan,
    world: SharedWorld,
    operator: ScriptedOperator,
    panel: DriverPanel,
    now: Micros,
    boots: u64,
    running: Option<Running>,
    connected: bool,
    moving: bool,
    ledger: Ledger,
}

struct Running {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    io: SharedWorld,
    booted_at: Micros,
    before: Micros,
    open: Option<FilePhase>,
}

const PERIOD: Micros = Micros::from_millis(20);
const UNIX: Micros = Micros(1_789_000_000_000_000);
/// The only op mode here; the child knows its own number for it.
const FIELD_LAB: OpModeId = OpModeId(0);

impl Bench {
    pub(super) fn start(seed: u64) -> Result<Self> {
        Self::with(seed, 0, Ledger::default())
    }

    fn with(seed: u64, campaign: u64, ledger: Ledger) -> Result<Self> {
        let world = SharedWorld::new(World::new(WorldConfig::seeded(seed), seed.wrapping_add(campaign))?);
        let config =
            OperatorConfig { think_secs: (0.5, 1.5), mistake_rate: 0.1, ..OperatorConfig::default() };
        let mut bench = Self {
            seed,
            campaign,
            dir: tempfile::tempdir()?,
            plan: rehearsal::campaign(Scope::Short)?.plan().clone(),
            world,
            operator: ScriptedOperator::new(config, seed.wrapping_add(campaign))?,
            panel: DriverPanel::new(),
            now: Micros::ZERO,
            boots: 0,
            running: None,
            connected: false,
            moving: false,
            ledger,
        };
        bench.boot()?;
        Ok(bench)
    }

    /// The campaign is done: the same again, in another folder.
    pub(super) fn next_campaign(mut self) -> Result<Self> {
        self.send_home()?;
        Self::with(self.seed, self.campaign + 1, std::mem::take(&mut self.ledger).next_campaign())
    }

    pub(super) fn finish(mut self) -> Result<Ledger> {
        self.send_home()?;
        Ok(std::mem::take(&mut self.ledger))
    }

    /// Lets the child end by itself: its input ends.
    fn send_home(&mut self) -> Result<()> {
        if let Some(Running { mut process, stdin, .. }) = self.running.take() {
            drop(stdin);
            process.wait()?;
        }
        Ok(())
    }

    fn boot(&mut self) -> Result<()> {
        self.boots += 1;
        let mut process = Command::new(std::env::current_exe()?)
            .arg(child::WORD)
            .arg(self.dir.path())
            .args([self.seed.to_string(), self.boots.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the robot's code")?;
        let stdin = process.stdin.take().context("the child's standard input")?;
        let mut stdout = BufReader::new(process.stdout.take().context("the child's standard output")?);
        match FromChild::read(&mut stdout).context("the robot's code did not come up")? {
            FromChild::Ready => {}
            other => bail!("expected a child that is ready, found {other:?}"),
        }
        let io = self.world.rebooted(self.now);
        self.running = Some(Running {
            process,
            stdin,
            stdout,
            io,
            booted_at: self.now,
            before: Micros::ZERO,
            open: None,
        });
        Ok(())
    }

    /// One turn of the loop; the plug is pulled when the target's moment comes.
    pub(super) fn turn(&mut self, target: &mut Target) -> Result<Turn> {
        self.now += PERIOD;
        let Some(running) = &mut self.running else { bail!("no child runs") };
        let clock = self.now.since(running.booted_at);
        let mut inputs = Inputs { now: clock, dt_secs: PERIOD.as_secs(), ..Inputs::NONE };
        running.io.read(clock, &mut inputs);
        if !self.connected {
            self.connected = true;
            self.operator.client().connected(Version::V41);
        }
        self.operator.step(self.now, clock, &mut self.world.world().borrow_mut(), &self.panel, FIELD_LAB);
        if self.operator.state() == "DONE" {
            return Ok(Turn::Done);
        }
        let station = self.panel.state();
        let tick = TickIn {
            now: clock,
            unix: UNIX + self.now,
            enabled: station.enabled,
            selected: station.selected.is_some(),
            connected: true,
            inputs,
            up: said(self.operator.client(), clock),
        };
        running.before = clock;
        write_frame(&mut running.stdin, TICK, &tick.encode()).context("the robot's code is gone")?;
        let phase = self.phase();
        if phase == target.phase && passes(target) {
            spin(target.micros);
            return self.cut(phase);
        }
        loop {
            let Some(running) = &mut self.running else { bail!("no child runs") };
            match FromChild::read(&mut running.stdout).context("the robot's code ended by itself")? {
                FromChild::Turn(turn) => {
                    self.take(&turn)?;
                    return Ok(Turn::Lived);
                }
                FromChild::Begins(step) => {
                    running.open = Some(step);
                    if target.phase == Phase::File(step) && passes(target) {
                        spin(target.micros);
                        return self.cut(phase);
                    }
                }
                FromChild::Ends(_) => running.open = None,
                FromChild::Ready => bail!("expected a turn, found a child that came up twice"),
            }
        }
    }

    /// Who saves in the boot that runs, or was cut last.
    pub(super) const fn saves(&self) -> Saves {
        child::saves(self.boots)
    }

    /// What the code is at between saves.
    fn phase(&self) -> Phase {
        if self.moving {
            Phase::Motion
        } else if self.operator.state() == "AWAITING_OPERATOR" {
            Phase::Prompt
        } else {
            Phase::Idle
        }
    }

    /// SIGKILL. What the child had said before still counts: the person may have read it.
    fn cut(&mut self, between: Phase) -> Result<Turn> {
        let Some(mut running) = self.running.take() else { bail!("no child runs") };
        running.process.kill().context("killing the child")?;
        running.process.wait()?;
        while let Ok(said) = FromChild::read(&mut running.stdout) {
            match said {
                FromChild::Begins(step) => running.open = Some(step),
                FromChild::Ends(_) => running.open = None,
                FromChild::Turn(turn) => self.hear(&turn, running.before)?,
                FromChild::Ready => {}
            }
        }
        Ok(Turn::Cut(running.open.map_or(between, Phase::File)))
    }

    fn take(&mut self, turn: &TickOut) -> Result<()> {
        let Some(running) = &mut self.running else { bail!("no child runs") };
        let clock = running.before;
        running.io.apply(clock, &turn.outputs);
        self.moving = turn.outputs != Outputs::NEUTRAL;
        self.hear(turn, clock)?;
        let redos = self.operator.tally().redos;
        let client = self.operator.client();
        let text = |key: &str| text(client.value(&format!("/Catalyst/FieldLab/{key}")).map(|(_, v)| v));
        let int = |key: &str| {
            client
                .value(&format!("/Catalyst/FieldLab/{key}"))
                .and_then(|(_, v)| v.as_number())
                .map(|n| n as i64)
        };
        self.ledger.look(&Seen {
            last_commit: text("LastCommit"),
            prompt: text("Prompt"),
            prompt_key: text("PromptKey"),
            prompt_seq: int("PromptSeq"),
            procedure: text("ProcedureId"),
            step: int("StepIndex").and_then(|i| usize::try_from(i).ok()),
            step_kind: text("StepKind"),
            moving: self.moving,
            redos,
        });
        Ok(())
    }

    fn hear(&mut self, turn: &TickOut, clock: Micros) -> Result<()> {
        let client = self.operator.client();
        for frame in &turn.down {
            match frame {
                NtFrame::Text(text) => client.receive_text(text),
                NtFrame::Binary(bytes) => client.receive_binary(bytes, clock),
            }
            .map_err(|refused| anyhow!("the dashboard refused a message: {refused:?}"))?;
        }
        Ok(())
    }

    /// The power is back: checks what is on the disk, and starts the code again. Answers whether the campaign was over.
    pub(super) fn after_cut(&mut self) -> Result<bool> {
        self.operator.client().disconnected();
        self.connected = false;
        self.moving = false;
        self.panel.set_enabled(false);
        let clock = self.now;
        self.operator.step(clock, clock, &mut self.world.world().borrow_mut(), &self.panel, FIELD_LAB);
        let session = self.operator.session().to_owned();
        let checkpoint = self.dir.path().join(CHECKPOINT_FILE);
        let operator = &self.operator;
        let person = Person { redos: operator.tally().redos, paper: &|key| operator.noted(key) };
        if self.ledger.after_cut(&checkpoint, &self.plan, &session, person)? {
            return Ok(true);
        }
        self.world.world().borrow_mut().go_neutral();
        self.now += Micros::from_millis(1000);
        self.world.world().borrow_mut().advance_to(self.now);
        self.boot()?;
        Ok(false)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // A child whose parent failed; it may be gone already.
            running.process.kill().ok();
            running.process.wait().ok();
        }
    }
}

fn said(client: &mut Client, now: Micros) -> Vec<NtFrame> {
    let mut up = Vec::new();
    client.transmit(now, |frame| {
        up.push(match frame {
            Frame::Text(text) => NtFrame::Text(text.to_owned()),
            Frame::Binary(bytes) => NtFrame::Binary(bytes.to_vec()),
        });
    });
    up
}

fn text(value: Option<&Value>) -> &str {
    match value.map(Value::as_ref) {
        Some(ValueRef::String(text)) => text,
        _ => "",
    }
}

/// Whether this chance is the one.
const fn passes(target: &mut Target) -> bool {
    if target.chances == 0 {
        return true;
    }
    target.chances -= 1;
    false
}

/// Waits without giving the processor away: a sleep is much longer than a step of the file system.
fn spin(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}
