//! Whole afternoons on the virtual clock: the same seed twice, three dashboards, and everything that goes wrong.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fieldlab_identity::{ReadSheet, Whole};
use fieldlab_sim::faults;
use fieldlab_sim::operator::Habit;
use fieldlab_sim::rehearsal::{Rehearsal, RehearsalConfig, Scope, run};
use fieldlab_wpilog::Log;

fn short(seed: u64, out: &Path) -> RehearsalConfig {
    let mut config = RehearsalConfig::new(seed, out);
    config.scope = Scope::Short;
    config.reboot = false;
    config.operator.mistake_rate = 0.0;
    config.operator.think_secs = (0.5, 1.5);
    config.most_secs = 1800.0;
    config
}

fn held(config: &RehearsalConfig) -> Rehearsal {
    let done = run(config).unwrap();
    assert_eq!((done.state.as_str(), &done.fault), ("DONE", &None), "seed {}: {done:#?}", config.seed);
    let ids: Vec<&str> = done.procedures.iter().map(|p| p.id.as_str()).collect();
    assert_eq!(ids, ["straight-run", "shot-map"], "seed {}", config.seed);
    done
}

/// Every file below `dir`, with its bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn files_of(dir: &Path) -> Vec<PathBuf> {
    let all = files(dir).into_keys().map(|name| dir.join(name));
    all.filter(|path| path.extension().is_some_and(|e| e == "wpilog")).collect()
}

/// Whether the last sheet in a log is whole.
fn whole_sheet(path: &Path) -> Whole {
    let log = Log::open(path).unwrap();
    let mut sheet = ReadSheet::default();
    for entry in log.entries() {
        if let Some(value) = log.values(entry).values.last() {
            sheet.take(&entry.name, &entry.data_type, value);
        }
    }
    assert_eq!(sheet.text("Identity/Name"), Some("Nowhere"));
    sheet.whole()
}

#[test]
fn the_same_seed_leaves_the_same_bytes_and_another_seed_others() {
    let runs: Vec<(u64, tempfile::TempDir)> =
        [(3, "a"), (3, "b"), (4, "c")].map(|(seed, _)| (seed, tempfile::tempdir().unwrap())).into();
    for (seed, dir) in &runs {
        let mut config = short(*seed, dir.path());
        config.reboot = true;
        config.operator.mistake_rate = 0.3;
        let done = held(&config);
        assert_eq!((done.reboots, done.files.len()), (1, 2));
    }
    for file in files_of(runs[0].1.path()) {
        assert_eq!(whole_sheet(&file), Whole::Yes, "{}: the robot says who it is", file.display());
    }
    let [a, b, c] = [0, 1, 2].map(|i| files(runs[i].1.path()));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{name} differs between two runs of one seed");
    }
    assert_ne!(a, c);
}

#[test]
fn every_dashboard_s_habit_answers_a_whole_campaign_of_nine_and_the_same_one_twice_leaves_the_same_bytes() {
    let mut left = Vec::new();
    for habit in [Habit::Page, Habit::Page, Habit::Console, Habit::Tab] {
        let dir = tempfile::tempdir().unwrap();
        let mut config = RehearsalConfig::new(5, dir.path());
        config.advantage_kit = habit == Habit::Page;
        config.operator.habit = habit;
        config.operator.mistake_rate = 0.25;
        let unhurried = habit == Habit::Page;
        if !unhurried {
            config.operator.think_secs = (0.5, 1.5);
        }
        let done = run(&config).unwrap();
        assert_eq!((done.state.as_str(), done.reboots), ("DONE", 1), "{habit:?}: {done:#?}");
        let expected = [
            "wheel-radius",
            "slip-current",
            "drive-ff",
            "odometry-drift",
            "straight-run",
            "vision-pose",
            "shot-map",
            "carry",
            "thermal-soak",
        ];
        let ids: Vec<&str> = done.procedures.iter().map(|p| p.id.as_str()).collect();
        assert_eq!(ids, expected, "{habit:?}");
        assert!(done.procedures.iter().all(|p| p.outcome == "good"), "{habit:?}: {:?}", done.procedures);
        assert_eq!(done.operator.redos, done.operator.mistakes, "{habit:?}: {:?}", done.operator);
        // A person who takes the usual time sees two packs go flat.
        assert!(!unhurried || done.swaps == 2, "{habit:?}: {} swaps", done.swaps);
        if unhurried {
            left.push(files(dir.path()));
        }
    }
    let [a, b] = left.as_slice() else { panic!("two runs of one habit") };
    assert!(a.keys().filter(|name| name.ends_with("_akit.wpilog")).count() == 2, "{:?}", a.keys());
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in a {
        assert!(b[name] == *bytes, "{name} differs between two runs of one seed");
    }
}

#[test]
fn whatever_goes_wrong_the_campaign_ends_and_asks_nothing_twice() {
    let kinds = [
        "kind = \"disable\"\nfor_secs = 30.0",
        "kind = \"reboot\"\nfor_secs = 5.0",
        "kind = \"kill\"\nfor_secs = 5.0",
        "kind = \"nt-drop\"\nfor_secs = 7.0",
        "kind = \"brownout\"\nvolts = 8.0\nfor_secs = 0.4",
        "kind = \"sensor\"\nsensor = \"gyro\"\nmode = \"nan\"\nfor_secs = 1.0",
        "kind = \"sensor\"\nsensor = \"module-1\"\nmode = \"stale\"\nfor_secs = 1.0",
        "kind = \"sensor\"\nsensor = \"battery\"\nmode = \"silent\"\nfor_secs = 3.0",
        "kind = \"disk-full\"\nfor_secs = 3.0",
    ];
    for (i, kind) in kinds.iter().enumerate() {
        for place in [
            "procedure = \"straight-run\"\nstep_kind = \"act\"\nafter_secs = 0.7",
            "procedure = \"shot-map\"\nstep_kind = \"measure\"\nafter_secs = 1.0",
        ] {
            let text = format!("schema = \"fieldlab.faults/1\"\n[[fault]]\n{kind}\n{place}\n");
            let dir = tempfile::tempdir().unwrap();
            let mut config = short(10 + i as u64, dir.path());
            config.faults = faults::parse(text.as_bytes()).unwrap();
            let done = held(&config);
            // Two taped runs and six shots, each asked once: nobody mistypes here.
            assert_eq!(done.operator.answers, 8, "{text}: {:?}", done.operator);
        }
    }
}
