//! The storage thread: checkpoints out of the loop, durable, and word of it back.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_campaign::{Finish, Save, SaveReport};
use fieldlab_store::{FileLayer, Lock, clear, save, set_aside};

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// A checkpoint.
    Save(Save),
    /// The end of a campaign: marker first, then the checkpoint goes.
    Finish(Finish),
}

impl Job {
    const fn seq(&self) -> u64 {
        match self {
            Self::Save(save) => save.seq,
            Self::Finish(finish) => finish.seq,
        }
    }
}

/// Stores jobs in the order in which they were submitted.
pub trait Storage {
    /// Takes a job. Never waits for the disk, but for an inline storage, which is its disk. A job that finds the queue
    /// full is reported as failed.
    fn submit(&mut self, job: Job);
    /// Moves the reports that have come in to the end of `into`.
    fn poll(&mut self, into: &mut Vec<SaveReport>);
    /// Bytes that may still be written beside the logs, as of about a second ago; `None` when it is not known.
    fn free_bytes(&mut self, now: Micros) -> Option<u64>;
}

/// How many jobs may wait. A runner hands out one at a time; the rest is for one that was rebuilt.
const QUEUE: usize = 4;
const NOT_KNOWN: u64 = u64::MAX;

fn run(layer: &mut dyn FileLayer, path: &Path, job: &Job) -> SaveReport {
    let result = match job {
        Job::Save(job) => {
            let aside = if job.set_aside_first { set_aside(layer, path).map(drop) } else { Ok(()) };
            aside.and_then(|()| save(layer, path, &job.bytes))
        }
        Job::Finish(job) => clear(layer, path, &job.marker),
    };
    SaveReport { seq: job.seq(), result: result.map_err(|e| e.to_string()) }
}

fn free_space(layer: &mut dyn FileLayer, dir: &Path) -> Option<u64> {
    layer.free_space(dir).ok()
}

/// A storage that does its work where it is called: for a virtual clock, where every run must be the same.
pub struct InlineStorage {
    layer: Box<dyn FileLayer>,
    checkpoint: PathBuf,
    log_dir: PathBuf,
    done: Vec<SaveReport>,
    free: Option<(Micros, Option<u64>)>,
    /// Held for as long as this may write.
    _only: Option<Lock>,
}

impl InlineStorage {
    /// A storage of the file `checkpoint`, that watches the volume of `log_dir`. It gives `only` up when it is dropped.
    #[must_use]
    pub fn new(layer: Box<dyn FileLayer>, checkpoint: PathBuf, log_dir: PathBuf, only: Option<Lock>) -> Self {
        Self { layer, checkpoint, log_dir, done: Vec::new(), free: None, _only: only }
    }
}

impl Storage for InlineStorage {
    fn submit(&mut self, job: Job) {
        self.done.push(run(&mut *self.layer, &self.checkpoint, &job));
    }

    fn poll(&mut self, into: &mut Vec<SaveReport>) {
        into.append(&mut self.done);
    }

    fn free_bytes(&mut self, now: Micros) -> Option<u64> {
        match self.free {
            Some((at, free)) if now.since(at) < Micros::from_millis(1000) => free,
            _ => {
                let free = free_space(&mut *self.layer, &self.log_dir);
                self.free = Some((now, free));
                free
            }
        }
    }
}

impl std::fmt::Debug for InlineStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InlineStorage({})", self.checkpoint.display())
    }
}

/// Storage threads whose owners are gone, and which finish what was submitted to them. Dropping it waits for them.
#[derive(Debug, Default)]
pub struct Retired {
    threads: RefCell<Vec<JoinHandle<()>>>,
    /// Jobs of all threads that are not done, whether their owners are gone or not.
    waiting: Arc<AtomicUsize>,
}

impl Retired {
    /// How many jobs were submitted to a thread and are not done.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Whether any of them is still at work; until it is not, the file is not what was saved last, and its lock is held.
    #[must_use]
    pub fn at_work(&self) -> bool {
        let mut threads = self.threads.borrow_mut();
        threads.retain(|thread| !thread.is_finished());
        !threads.is_empty()
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        for thread in self.threads.take() {
            // A panic on that thread has shown itself as a missing report.
            thread.join().ok();
        }
    }
}

/// A storage on a thread of its own. Dropping it does not wait: the thread finishes what was submitted, gives up the lock
/// and ends, among the [`Retired`].
#[derive(Debug)]
pub struct StorageThread {
    jobs: Option<SyncSender<Job>>,
    reports: Receiver<SaveReport>,
    refused: Vec<SaveReport>,
    /// Jobs whose report has not come; while there is none, nobody asks.
    in_flight: usize,
    free: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
    retired: Rc<Retired>,
}

impl StorageThread {
    /// Starts the thread, which holds `only` until it has done everything that it was given.
    ///
    /// # Errors
    /// When the operating system has no thread to give.
    pub fn start(
        layer: Box<dyn FileLayer + Send>,
        checkpoint: PathBuf,
        log_dir: PathBuf,
        only: Option<Lock>,
        retired: Rc<Retired>,
    ) -> Result<Self, std::io::Error> {
        let (jobs, inbox) = sync_channel(QUEUE);
        // Reports never find it full: there is one for each job, and room for all jobs that can be in flight.
        let (outbox, reports) = sync_channel(2 * QUEUE);
        let free = Arc::new(AtomicU64::new(NOT_KNOWN));
        let shared = Arc::clone(&free);
        let waiting = Arc::clone(&retired.waiting);
        let thread = std::thread::Builder::new().name("fieldlab-storage".into()).spawn(move || {
            work(layer, &checkpoint, &log_dir, &inbox, &outbox, (&shared, &waiting));
            drop(only);
        })?;
        let (refused, in_flight, thread) = (Vec::new(), 0, Some(thread));
        Ok(Self { jobs: Some(jobs), reports, refused, in_flight, free, thread, retired })
    }
}

fn work(
    mut layer: Box<dyn FileLayer + Send>,
    checkpoint: &Path,
    log_dir: &Path,
    inbox: &Receiver<Job>,
    outbox: &SyncSender<SaveReport>,
    (free, waiting): (&AtomicU64, &AtomicUsize),
) {
    loop {
        let now_free = free_space(&mut *layer, log_dir).map_or(NOT_KNOWN, |bytes| bytes.min(NOT_KNOWN - 1));
        free.store(now_free, Ordering::Relaxed);
        match inbox.recv_timeout(Duration::from_secs(1)) {
            Ok(job) => {
                let report = run(&mut *layer, checkpoint, &job);
                // The runner writes the next one into the same memory.
                drop(job);
                // Nobody is left to hear it when the owner was dropped; the file is durable all the same.
                outbox.send(report).ok();
                waiting.fetch_sub(1, Ordering::Release);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Storage for StorageThread {
    fn submit(&mut self, job: Job) {
        let Some(jobs) = &self.jobs else { return };
        // Counted before it is sent: the thread may be done with it at once.
        self.retired.waiting.fetch_add(1, Ordering::Relaxed);
        let (job, reason) = match jobs.try_send(job) {
            Ok(()) => {
                self.in_flight += 1;
                return;
            }
            Err(TrySendError::Full(job)) => (job, "the storage thread is too far behind"),
            Err(TrySendError::Disconnected(job)) => (job, "the storage thread has ended"),
        };
        self.retired.waiting.fetch_sub(1, Ordering::Relaxed);
        self.refused.push(SaveReport { seq: job.seq(), result: Err(reason.into()) });
    }

    fn poll(&mut self, into: &mut Vec<SaveReport>) {
        into.append(&mut self.refused);
        while self.in_flight > 0 {
            match self.reports.try_recv() {
                Ok(report) => {
                    self.in_flight -= 1;
                    into.push(report);
                }
                Err(TryRecvError::Empty) => return,
                // The thread is gone; what it did not report it did not do, as far as anybody can know.
                Err(TryRecvError::Disconnected) => self.in_flight = 0,
            }
        }
    }

    fn free_bytes(&mut self, _now: Micros) -> Option<u64> {
        let free = self.free.load(Ordering::Relaxed);
        (free != NOT_KNOWN).then_some(free)
    }
}

impl Drop for StorageThread {
    fn drop(&mut self) {
        self.jobs = None;
        self.retired.threads.borrow_mut().extend(self.thread.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldlab_store::crash::CrashDisk;
    use fieldlab_store::{Disk, finished_path, lock};

    fn save_job(seq: u64, text: &str) -> Job {
        Job::Save(Save { seq, bytes: Arc::new(text.into()), set_aside_first: false })
    }

    fn ok(seq: u64) -> SaveReport {
        SaveReport { seq, result: Ok(()) }
    }

    #[test]
    fn the_thread_stores_in_order_and_finishes_what_it_has_when_its_owner_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let (only, retired) = (lock(&path).unwrap(), Rc::<Retired>::default());
        let (layer, logs) = (Box::new(Disk::new()), folder.path().to_owned());
        let mut storage =
            StorageThread::start(layer, path.clone(), logs, Some(only), Rc::clone(&retired)).unwrap();
        storage.submit(save_job(1, "one"));
        storage.submit(save_job(2, "two"));
        let mut reports = Vec::new();
        while reports.len() < 2 {
            storage.poll(&mut reports);
            std::thread::yield_now();
        }
        assert_eq!(reports, [ok(1), ok(2)]);
        assert!(storage.free_bytes(Micros::ZERO).is_some());
        storage.submit(save_job(3, "three"));
        assert!(lock(&path).is_err());
        drop(storage);
        while retired.at_work() {
            std::thread::yield_now();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        lock(&path).unwrap();
    }

    #[test]
    fn finish_leaves_the_marker_and_nothing_else() {
        let path = PathBuf::from("lab/c.json");
        let mut storage = InlineStorage::new(Box::new(CrashDisk::new()), path.clone(), "lab".into(), None);
        storage.submit(save_job(1, "one"));
        storage.submit(save_job(2, "two"));
        storage.submit(Job::Finish(Finish { seq: 3, marker: Arc::new(b"done".to_vec()) }));
        let mut reports = Vec::new();
        storage.poll(&mut reports);
        assert_eq!(reports, [ok(1), ok(2), ok(3)]);
        let left = storage.layer.list(Path::new("lab")).unwrap();
        assert_eq!(left, [finished_path(&path).unwrap().file_name().unwrap()]);
    }

    #[test]
    fn a_full_disk_is_reported_with_its_step() {
        let mut disk = CrashDisk::new();
        disk.set_capacity(Some(0));
        let mut storage = InlineStorage::new(Box::new(disk), "lab/c.json".into(), "lab".into(), None);
        storage.submit(save_job(1, "one"));
        let mut reports = Vec::new();
        storage.poll(&mut reports);
        assert!(reports[0].result.as_ref().unwrap_err().contains("could not write"), "{reports:?}");
    }
}
