//! SystemCheck: a list of tests, one after the other, each with a verdict on its own topic.

use fieldlab_base::{ConfigError, Micros, check};
use fieldlab_values::{Publish, Publisher};

/// One loop's input.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemCheckInput {
    /// The loop's clock.
    pub now: Micros,
    /// How the test that was asked for ended, when it did.
    pub verdict: Option<Result<(), String>>,
}

/// The machine: asks for one test at a time and keeps the report.
///
/// ```
/// use fieldlab_base::Micros;
/// use fieldlab_campaign::calibration::{SystemCheck, SystemCheckInput};
/// let mut check = SystemCheck::new(&["gyro", "hood"], 2.0)?;
/// let say = |verdict| SystemCheckInput { now: Micros::ZERO, verdict };
/// assert_eq!(check.step(&say(None)), Some(0));
/// assert_eq!(check.step(&say(Some(Ok(())))), Some(1));
/// assert_eq!(check.step(&say(Some(Err("did not move".into())))), None);
/// assert_eq!(check.report(), "PASS  gyro\nFAIL  hood: did not move");
/// # Ok::<(), fieldlab_base::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SystemCheck {
    tests: Vec<String>,
    timeout: Micros,
    at: usize,
    since: Option<Micros>,
    verdicts: Vec<String>,
    report: String,
    over: bool,
}

impl SystemCheck {
    /// A machine at its start; a test that says nothing for `timeout_secs` has failed.
    ///
    /// # Errors
    /// Refuses names that are empty, used twice or taken by a topic, and a timeout that is not positive.
    pub fn new(tests: &[&str], timeout_secs: f64) -> Result<Self, ConfigError> {
        check::positive("system_check.timeout_secs", timeout_secs)?;
        for (i, test) in tests.iter().enumerate() {
            let taken = matches!(*test, "Ready" | "Report") || tests.iter().take(i).any(|t| t == test);
            if test.is_empty() || test.contains('/') || taken {
                let path = format!("system_check.tests[{i}]");
                return Err(ConfigError::new(path, "a name of its own without '/'", format!("{test:?}")));
            }
        }
        Ok(Self {
            tests: tests.iter().map(|t| (*t).to_owned()).collect(),
            timeout: Micros::from_secs(timeout_secs),
            at: 0,
            since: None,
            verdicts: vec![String::new(); tests.len()],
            report: "running".into(),
            over: tests.is_empty(),
        })
    }

    /// One loop: which test shall run; `None` when all are over.
    pub fn step(&mut self, input: &SystemCheckInput) -> Option<usize> {
        if self.over {
            return None;
        }
        let since = *self.since.get_or_insert(input.now);
        let verdict = match &input.verdict {
            Some(verdict) => Some(verdict.clone()),
            None if input.now.since(since) >= self.timeout => {
                Some(Err(format!("no answer in {:.1} s", self.timeout.as_secs())))
            }
            None => None,
        };
        if let Some(verdict) = verdict {
            if let Some(slot) = self.verdicts.get_mut(self.at) {
                *slot = verdict.map_or_else(|reason| format!("FAIL: {reason}"), |()| "PASS".into());
            }
            self.at += 1;
            self.since = None;
            self.over = self.at == self.tests.len();
            if self.over {
                self.report = self.lines();
            }
        }
        (!self.over).then_some(self.at)
    }

    fn lines(&self) -> String {
        let line = |(test, verdict): (&String, &String)| match verdict.strip_prefix("FAIL: ") {
            Some(reason) => format!("FAIL  {test}: {reason}"),
            None => format!("PASS  {test}"),
        };
        self.tests.iter().zip(&self.verdicts).map(line).collect::<Vec<_>>().join("\n")
    }

    /// Every test is over and passed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.over && self.verdicts.iter().all(|v| v == "PASS")
    }

    /// The report: `running`, then a line per test.
    #[must_use]
    pub fn report(&self) -> &str {
        &self.report
    }
}

/// The topics under `/Catalyst/SystemCheck/<name>/`.
#[derive(Debug)]
pub struct SystemCheckTopics {
    ready: Publisher<bool>,
    report: Publisher<str>,
    tests: Vec<Publisher<str>>,
}

impl SystemCheckTopics {
    /// Declares them for the check called `name`.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(name: &str, of: &SystemCheck, to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let root = format!("SystemCheck/{name}");
        Ok(Self {
            ready: Publisher::catalyst(to, &format!("{root}/Ready"))?,
            report: Publisher::catalyst(to, &format!("{root}/Report"))?,
            tests: of
                .tests
                .iter()
                .map(|test| Publisher::catalyst(to, &format!("{root}/{test}")))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Writes what the machine shows.
    pub fn publish(&self, of: &SystemCheck, to: &mut dyn Publish) {
        self.ready.set(to, &of.is_ready());
        self.report.set(to, &of.report);
        for (topic, verdict) in self.tests.iter().zip(&of.verdicts) {
            topic.set(to, verdict.as_str());
        }
    }
}
