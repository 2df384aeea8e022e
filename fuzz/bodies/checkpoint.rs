//! Any bytes as a checkpoint: refused with a place, or read, written and read the same; and a runner resumes from whatever it
//! was given without a panic, and saves only what it can read itself.

use fieldlab_base::Micros;
use fieldlab_campaign::checkpoint::{Checkpoint, parse};
use fieldlab_campaign::{
    Act, ActReport, ActRequest, BatteryReading, Campaign, CheckpointState, Measure, PreArmFact, Procedure,
    Runner, RunnerConfig, RunnerInput, SaveReport, Start,
};

/// Turns of the loop that a runner is given.
const TURNS: i64 = 120;

/// One input: a file.
pub(crate) fn run(data: &[u8]) {
    let Ok(read) = parse(data) else { return };
    let written = read.to_text();
    assert_eq!(parse(written.as_bytes()).expect("our own text"), read);
    assert!(read.answers.values().all(|answer| answer.value.is_finite()));
    if let Ok(text) = std::str::from_utf8(data) {
        resume(text);
        // Most inputs name another campaign and are set aside; as ours they go further.
        let ours = Checkpoint { campaign: "Field Day".to_owned(), ..read };
        resume(&ours.to_text());
    }
}

fn resume(text: &str) {
    let procedure = |id: &str| {
        Procedure::builder(id, id)
            .needs_battery(12.0)
            .confirm("stand clear")
            .act(Act::new("spin", 4.0, ()))
            .measure(Measure::new("how far", "error-m", "m").range(0.0, 2.0))
            .build()
            .expect("a good procedure")
    };
    let campaign = Campaign::builder("Field Day")
        .add(procedure("wheel-radius"))
        .add(procedure("odometry-drift"))
        .build()
        .expect("a good campaign");
    let unix = Some(Micros(1_789_000_000_000_000));
    let start = Start {
        checkpoint: CheckpointState::Loaded { text: text.to_owned(), from_backup: None },
        ..Start::fresh(Micros::ZERO, unix)
    };
    let mut runner =
        Runner::new(campaign.into_parts().0, RunnerConfig::default(), start).expect("a good plan and config");
    let mut act = ActReport::Idle;
    let mut saved = Vec::new();
    for turn in 1..=TURNS {
        let output = runner.step(&RunnerInput {
            now: Micros(turn * 20_000),
            unix,
            enabled: turn % 40 < 30,
            ended: false,
            battery: Some(BatteryReading { volts: 12.6, age_secs: 0.0 }),
            drive_neutral: true,
            act: &act,
            operator: &[],
            saved: &saved,
            pre_arm: &PreArmFact::ALL_PASS,
        });
        saved.clear();
        act = match output.act {
            ActRequest::Run { attempt, .. } => ActReport::Running { attempt },
            _ => ActReport::Idle,
        };
        if let Some(save) = output.save {
            assert!(parse(&save.bytes).is_ok(), "a runner saved what cannot be read");
            saved.push(SaveReport { seq: save.seq, result: Ok(()) });
        }
    }
}
