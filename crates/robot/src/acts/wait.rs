//! Standing still while the log fills.

use fieldlab_base::{Action, Micros, Progress, Tick};

pub(super) struct Wait {
    secs: f64,
    since: Option<Micros>,
}

impl Wait {
    pub(super) const fn new(secs: f64) -> Self {
        Self { secs, since: None }
    }
}

impl Action for Wait {
    fn step(&mut self, tick: Tick) -> Progress {
        let since = *self.since.get_or_insert(tick.now);
        if tick.now.since(since).as_secs() >= self.secs { Progress::Done } else { Progress::Running }
    }
}
