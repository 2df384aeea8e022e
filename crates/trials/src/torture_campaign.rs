//! `torture campaign`, part (a): a two-procedure campaign on a disk that loses power, cut at every single step that it
//! ever asks of that disk, and at moments spread over motion, prompts and idling.
//!
//! After each cut every state in which the model allows the disk to be found is booted and run to the end by the same
//! operator in the same world. Judged from outside, as a person would: what `LastCommit` echoed must be there and must
//! not be asked for again; what the last successful save held as banked must not be run again; the checkpoint must be
//! readable; and the campaign must end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use fieldlab_base::{ClientId, Micros, OperatorSample, OperatorValue};
use fieldlab_campaign::checkpoint::{self, Checkpoint};
use fieldlab_campaign::inputs::{self, Role};
use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
use fieldlab_campaign::{
    Act, ActId, ActReport, ActRequest, BatteryReading, Campaign, CheckpointState, Measure, Plan, PreArmFact,
    Procedure, Runner, RunnerConfig, RunnerInput, SaveReport, Start, State, StepKind, StepOutcome,
};
use fieldlab_robot::field_lab::find_checkpoint;
use fieldlab_robot::storage::{InlineStorage, Job, Storage};
use fieldlab_store::FileLayer;
use fieldlab_store::crash::{CrashDisk, Step, StepKind as DiskStep};

use crate::figures::{Aim, Figures};
use crate::options::Options;

const TICK: Micros = Micros::from_millis(20);
const CHECKPOINT: &str = "lab/fieldlab-checkpoint.json";
/// A campaign of less than a minute that has not ended after this is stuck.
const STUCK: Micros = Micros::from_millis(600_000);
/// How many cuts each phase must have seen.
const ENOUGH: f64 = 20.0;

/// Runs the enumeration.
///
/// # Errors
/// A campaign that cannot be built, or that does not end.
pub fn run(options: &Options) -> Result<Figures> {
    enumerate(if options.quick { ENOUGH as usize } else { 40 }, true, usize::MAX)
}

/// `moments` cuts each in motion, prompts and idling; `honest` is a disk whose syncs do what they say; `most` is how many
/// of the disk's steps are cut.
fn enumerate(moments: usize, honest: bool, most: usize) -> Result<Figures> {
    let plan = plan()?;
    let disk = || Shared { disk: Rc::new(RefCell::new(CrashDisk::new())), honest };
    let whole = Life::boot(&plan, disk(), World::default(), Micros::ZERO)?.lived_to_the_end(None)?;
    let steps = whole.disk.disk.borrow().steps().len();
    let mut tally = Tally::default();
    for cut in 0..=steps.min(most) {
        tally.at_step(&plan, disk(), cut)?;
    }
    for (moment, ticks) in whole.moments() {
        for tick in spread(&ticks, moments) {
            tally.at_tick(&plan, disk(), moment, tick)?;
        }
    }
    let mut figures = tally.figures();
    figures.attached(format!(
        "(a) a crash model: every one of {steps} steps that the campaign asks of the disk is cut"
    ));
    Ok(figures)
}

/// At most `wanted` of `ticks`, evenly.
fn spread(ticks: &[usize], wanted: usize) -> Vec<usize> {
    let stride = (ticks.len() / wanted.max(1)).max(1);
    ticks.iter().copied().step_by(stride).take(wanted).collect()
}

fn plan() -> Result<Plan> {
    let mut laps = Procedure::builder("laps", "Laps").needs_battery(12.0).confirm("on the mark, clear");
    for lap in 1..=2 {
        laps = laps.group();
        if lap > 1 {
            laps = laps.confirm("back on the mark, clear");
        }
        laps = laps.act(Act::new(format!("lap {lap}"), 5.0, ())).settle("still", 0.5).measure(
            Measure::new(format!("lap {lap} error"), format!("lap{lap}-error-m"), "m").range(0.0, 2.0),
        );
    }
    let shots = Sweep::new("shots", "Shots")
        .axis(Axis::new("hood", "deg", 0.0, 60.0))
        .setpoint(Setpoint::at(2.0).set("hood", 40.0))
        .setpoint(Setpoint::at(3.0).set("hood", 35.0))
        .repeats(2)
        .build(|_| (), |_| ())?;
    let campaign: Campaign<()> = Campaign::builder("Torture").add(laps.build()?).add(shots).build()?;
    Ok(campaign.plan().clone())
}

/// The model disk, shared between the storage and whoever cuts its power.
#[derive(Debug, Clone)]
struct Shared {
    disk: Rc<RefCell<CrashDisk>>,
    /// Whether a sync does what it says.
    honest: bool,
}

impl FileLayer for Shared {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.disk.borrow_mut().create_dir_all(dir)
    }
    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        self.disk.borrow_mut().create_new(path)
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.disk.borrow_mut().write(path, bytes)
    }
    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        if self.honest { self.disk.borrow_mut().fsync(path) } else { Ok(()) }
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.borrow_mut().rename(from, to)
    }
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        if self.honest { self.disk.borrow_mut().fsync_dir(dir) } else { Ok(()) }
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.disk.borrow_mut().remove(path)
    }
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.borrow_mut().read(path)
    }
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.disk.borrow_mut().list(dir)
    }
    fn free_space(&mut self, dir: &Path) -> io::Result<u64> {
        self.disk.borrow_mut().free_space(dir)
    }
}

/// What outlives a power cut: what the robot did, and what a person saw on the dashboard.
#[derive(Debug, Clone, Default)]
struct World {
    /// Completed runs, by act.
    done: BTreeMap<ActId, u32>,
    /// Answers that `LastCommit` echoed.
    echoed: BTreeMap<String, f64>,
    /// The last checkpoint whose save was reported as durable.
    banked: Option<Checkpoint>,
    /// The finish was reported.
    finished: bool,
    boots: u64,
}

/// What was going on at a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Motion,
    Prompt,
    Idle,
}

/// One boot of the robot.
struct Life {
    runner: Runner,
    storage: InlineStorage,
    disk: Shared,
    world: World,
    found: CheckpointState,
    now: Micros,
    booted: Micros,
    ticks: Vec<Moment>,
    act: Option<(ActId, u32, Micros)>,
    report: ActReport,
    reports: Vec<SaveReport>,
    /// The save that is being stored, to be believed once it is reported.
    saving: Option<(u64, Checkpoint)>,
    finishing: Option<u64>,
    operator: Operator,
    /// Questions asked and acts started in this boot.
    asked: BTreeSet<String>,
    started: Vec<ActId>,
}

/// A person who answers each prompt once it has stood for a while.
#[derive(Debug, Default)]
struct Operator {
    seq: i64,
    since: Micros,
    typed: bool,
    pressed: bool,
    arrival: u64,
    toggle: bool,
}

impl Life {
    fn boot(plan: &Plan, disk: Shared, mut world: World, now: Micros) -> Result<Self> {
        let path = PathBuf::from(CHECKPOINT);
        let (found, finished) = find_checkpoint(&mut disk.clone(), &path);
        let unix = Some(Micros::from_secs(1_789_000_000.0) + now);
        let mut start = Start::fresh(now, unix);
        start.checkpoint = found.clone();
        start.finished = finished;
        let runner = Runner::new(plan.clone(), RunnerConfig::default(), start)
            .context("the runner refused its plan")?;
        let storage = InlineStorage::new(Box::new(disk.clone()), path, PathBuf::from("out"), None);
        world.boots += 1;
        Ok(Self {
            runner,
            storage,
            disk,
            world,
            found,
            now,
            booted: now,
            ticks: Vec::new(),
            act: None,
            report: ActReport::Idle,
            reports: Vec::new(),
            saving: None,
            finishing: None,
            operator: Operator::default(),
            asked: BTreeSet::new(),
            started: Vec::new(),
        })
    }

    /// Runs until the campaign is done, the power is cut, or `until` ticks have passed.
    fn lived_to_the_end(mut self, until: Option<usize>) -> Result<Self> {
        loop {
            let over = self.runner.board().state == State::Done || self.asks_for_a_new_session();
            if over || self.disk.disk.borrow().is_cut() || until.is_some_and(|n| self.ticks.len() >= n) {
                return Ok(self);
            }
            if self.now.since(self.booted) > STUCK {
                let b = self.runner.board();
                bail!("stuck in {} at {:?}: {:?}", b.state.token(), b.step.as_str(), b.prompt.as_str());
            }
            self.tick();
        }
    }

    fn asks_for_a_new_session(&self) -> bool {
        self.runner.board().prompt.as_str().contains("start a new session")
    }

    fn tick(&mut self) {
        self.now += TICK;
        let operator = self.operate();
        let reports = std::mem::take(&mut self.reports);
        for report in reports.iter().filter(|r| r.result.is_ok()) {
            if let Some((_, durable)) = self.saving.take_if(|(seq, _)| *seq == report.seq) {
                self.world.banked = Some(durable);
            }
            self.world.finished |= self.finishing == Some(report.seq);
        }
        if let Some((act, attempt, since)) = self.act
            && self.now.since(since) >= Micros::from_millis(300)
            && matches!(self.report, ActReport::Running { .. })
        {
            *self.world.done.entry(act).or_default() += 1;
            self.report = ActReport::Completed { attempt, results: Vec::new() };
        }
        let out = self.runner.step(&RunnerInput {
            now: self.now,
            unix: None,
            enabled: true,
            ended: false,
            battery: Some(BatteryReading { volts: 12.8, age_secs: 0.0 }),
            drive_neutral: self.act.is_none(),
            act: &self.report,
            operator: &operator,
            saved: &reports,
            pre_arm: &PreArmFact::ALL_PASS,
        });
        match out.act {
            ActRequest::None => (self.act, self.report) = (None, ActReport::Idle),
            ActRequest::Run { act, attempt } if self.act.is_none_or(|(_, of, _)| of != attempt) => {
                self.act = Some((act, attempt, self.now));
                self.report = ActReport::Running { attempt };
                self.started.push(act);
            }
            ActRequest::Run { .. } => {}
        }
        if let Some(save) = out.save {
            // Our own text: it parses, or the readability judged below fails.
            self.saving = checkpoint::parse(&save.bytes).ok().map(|c| (save.seq, c));
            self.storage.submit(Job::Save(save));
        }
        if let Some(finish) = out.finish {
            self.finishing = Some(finish.seq);
            self.storage.submit(Job::Finish(finish));
        }
        // A process whose power went hears nothing more and shows nothing more.
        if !self.disk.disk.borrow().is_cut() {
            self.storage.poll(&mut self.reports);
            self.look();
        }
        self.ticks.push(match (self.act, self.runner.board().state) {
            (Some(_), _) => Moment::Motion,
            (None, State::AwaitingOperator) => Moment::Prompt,
            _ => Moment::Idle,
        });
    }

    /// What a person reads off the dashboard.
    fn look(&mut self) {
        let board = self.runner.board();
        if let Some((key, rest)) = board.last_commit.as_str().split_once(" = ")
            && let Some(value) = rest.split(' ').next().and_then(|v| v.parse().ok())
        {
            self.world.echoed.insert(key.to_owned(), value);
        }
        if board.state == State::AwaitingOperator && !board.prompt_key.as_str().is_empty() {
            self.asked.insert(board.prompt_key.as_str().to_owned());
        }
    }

    fn operate(&mut self) -> Vec<OperatorSample> {
        let board = self.runner.board();
        if board.prompt_seq != self.operator.seq {
            let seq = board.prompt_seq;
            self.operator = Operator {
                seq,
                since: self.now,
                arrival: self.operator.arrival,
                toggle: self.operator.toggle,
                ..Operator::default()
            };
        }
        let listens = self.now.since(self.booted) > Micros::from_millis(3_100);
        if board.state != State::AwaitingOperator || !listens || self.asks_for_a_new_session() {
            return Vec::new();
        }
        let stood = self.now.since(self.operator.since);
        let key = board.prompt_key.as_str().to_owned();
        let mut samples = Vec::new();
        if !key.is_empty() && !self.operator.typed && stood >= Micros::from_millis(320) {
            self.operator.typed = true;
            let value = answer_to(&key);
            samples.extend(self.sample(Role::Value, value));
        }
        let ready = if key.is_empty() { 320 } else { 700 };
        if !self.operator.pressed && stood >= Micros::from_millis(ready) {
            self.operator.pressed = true;
            self.operator.toggle = !self.operator.toggle;
            let value = if self.operator.toggle { 1.0 } else { 0.0 };
            samples.extend(self.sample(Role::Advance, value));
        }
        // A press that came too early is made again.
        if self.operator.pressed && stood >= Micros::from_millis(2_000) {
            self.operator.since = self.now;
            (self.operator.typed, self.operator.pressed) = (false, false);
        }
        samples
    }

    fn sample(&mut self, role: Role, value: f64) -> Option<OperatorSample> {
        let index = self.runner.inputs().iter().position(|i| i.role == role)?;
        self.operator.arrival += 1;
        Some(OperatorSample {
            input: inputs::id(index),
            value: OperatorValue::Number(value),
            arrival: self.operator.arrival,
            received: self.now,
            client: ClientId(self.world.boots),
            connected_at: self.booted,
        })
    }

    /// The ticks of each kind of moment.
    fn moments(&self) -> BTreeMap<Moment, Vec<usize>> {
        let mut moments: BTreeMap<Moment, Vec<usize>> = BTreeMap::new();
        for (tick, moment) in self.ticks.iter().enumerate() {
            moments.entry(*moment).or_default().push(tick + 1);
        }
        moments
    }
}

/// A different answer to every question, so that a mix-up shows.
fn answer_to(key: &str) -> f64 {
    let sum: u32 = key.bytes().map(u32::from).sum();
    f64::from(sum % 100) / 100.0
}

/// Acts whose result the checkpoint holds: completed, and not only a preparation whose act is still to come.
fn banked_acts(plan: &Plan, checkpoint: &Checkpoint) -> BTreeSet<ActId> {
    let mut acts = BTreeSet::new();
    for procedure in &plan.procedures {
        let records = checkpoint.outcomes.get(procedure.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let completed =
            |step: usize| records.iter().any(|r| r.step == step && r.outcome == StepOutcome::Completed);
        for (i, step) in procedure.steps.iter().enumerate() {
            if let StepKind::Act { act, prepares, .. } = step.kind
                && completed(i)
                && (!prepares || completed(i + 1))
            {
                acts.insert(act);
            }
        }
    }
    acts
}

#[derive(Debug, Default)]
struct Tally {
    cuts: BTreeMap<&'static str, u64>,
    survivors: u64,
    lost: u64,
    asked_again: u64,
    run_again: u64,
    procedures_again: u64,
    unreadable: u64,
    resumed_a_finished_run: u64,
}

impl Tally {
    /// The power goes after the disk's step number `cut`.
    fn at_step(&mut self, plan: &Plan, disk: Shared, cut: usize) -> Result<()> {
        disk.disk.borrow_mut().cut_after(cut);
        let life = Life::boot(plan, disk, World::default(), Micros::ZERO)?.lived_to_the_end(None)?;
        let phase = match life.disk.disk.borrow().steps().last() {
            None => "before the first step",
            Some(Step { kind: DiskStep::Create | DiskStep::Write, .. }) => "temp",
            Some(Step { kind: DiskStep::Fsync, .. }) => "fsync",
            Some(Step { kind: DiskStep::Rename, .. }) => "rename",
            Some(Step { kind: DiskStep::FsyncDir, .. }) => "folder",
            Some(Step { kind: DiskStep::Remove, .. }) => "remove",
        };
        self.judge(plan, life, phase)
    }

    /// The power goes at a tick.
    fn at_tick(&mut self, plan: &Plan, disk: Shared, moment: Moment, tick: usize) -> Result<()> {
        let life = Life::boot(plan, disk, World::default(), Micros::ZERO)?.lived_to_the_end(Some(tick))?;
        let phase = match moment {
            Moment::Motion => "motion",
            Moment::Prompt => "prompt",
            Moment::Idle => "idle",
        };
        self.judge(plan, life, phase)
    }

    fn judge(&mut self, plan: &Plan, life: Life, phase: &'static str) -> Result<()> {
        *self.cuts.entry(phase).or_default() += 1;
        let before = life.world;
        let banked = before.banked.clone().unwrap_or_default();
        let acts = banked_acts(plan, &banked);
        let survivors = life.disk.disk.borrow().survivors();
        for disk in survivors {
            self.survivors += 1;
            let disk = Shared { disk: Rc::new(RefCell::new(disk)), honest: true };
            let next = Life::boot(plan, disk, before.clone(), life.now + Micros::from_secs(60.0))?;
            let nothing_saved = before.banked.is_none();
            self.unreadable += u64::from(match &next.found {
                CheckpointState::Unreadable { .. } => true,
                // Gone is right when nothing had been saved, and when the finish had begun to clear up.
                CheckpointState::Fresh => !nothing_saved && life.finishing.is_none(),
                CheckpointState::Loaded { .. } => false,
            });
            let next = next.lived_to_the_end(None).with_context(|| format!("after a cut in {phase}"))?;
            let memory = next.runner.memory();
            // After the marker the old session is over, and what is in memory belongs to the next.
            if !next.asks_for_a_new_session() {
                self.lost +=
                    before.echoed.iter().filter(|(k, v)| memory.answer(k) != Some(**v)).count() as u64;
            }
            self.asked_again += before.echoed.keys().filter(|k| next.asked.contains(*k)).count() as u64;
            self.run_again += next.started.iter().filter(|act| acts.contains(act)).count() as u64;
            for procedure in plan.procedures.iter().filter(|p| banked.completed.contains(&p.id)) {
                let own = |act: &ActId| {
                    procedure
                        .steps
                        .iter()
                        .any(|s| matches!(&s.kind, StepKind::Act { act: a, .. } if a == act))
                };
                self.procedures_again += u64::from(next.started.iter().any(own));
            }
            let all_banked = plan.procedures.iter().all(|p| banked.completed.contains(&p.id));
            self.resumed_a_finished_run += u64::from(
                (all_banked || before.finished) && (!next.started.is_empty() || !next.asked.is_empty()),
            );
        }
        Ok(())
    }

    fn figures(&self) -> Figures {
        let mut figures = Figures::new("torture campaign (a)");
        for phase in ["temp", "fsync", "rename", "folder", "motion", "prompt", "idle"] {
            let cuts = self.cuts.get(phase).copied().unwrap_or(0);
            figures.row(format!("(a) cuts in {phase}"), cuts as f64, "", Aim::AtLeast(ENOUGH));
        }
        for phase in ["remove", "before the first step"] {
            let cuts = self.cuts.get(phase).copied().unwrap_or(0);
            figures.row(format!("(a) cuts in {phase}"), cuts as f64, "", Aim::Shown);
        }
        figures.row("(a) states of the disk booted after them", self.survivors as f64, "", Aim::Shown);
        for (name, count) in [
            ("(a) echoed answers lost", self.lost),
            ("(a) echoed answers asked again", self.asked_again),
            ("(a) banked acts and shots run again", self.run_again),
            ("(a) banked procedures run again", self.procedures_again),
            ("(a) checkpoints unreadable or gone", self.unreadable),
            ("(a) finished runs resumed", self.resumed_a_finished_run),
        ] {
            figures.row(name, count as f64, "", Aim::AtMost(0.0));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cut_loses_anything() {
        let figures = enumerate(20, true, usize::MAX).unwrap();
        assert!(figures.met(), "{}", figures.render());
    }

    #[test]
    fn a_disk_whose_syncs_do_nothing_is_found_out() {
        // A few steps only: with nothing ever durable the states to be found multiply without end.
        let figures = enumerate(0, false, 12).unwrap();
        let unreadable = figures.rows().iter().find(|r| r.name.contains("unreadable")).unwrap();
        assert!(unreadable.measured > 0.0, "{}", figures.render());
    }
}
