//! Any bytes as a script of faults: refused with a place, or played so that each fault begins once at most.

use fieldlab_sim::faults::{MAX_FAULTS, Place, Player, Trigger, parse};

/// One input: a script.
pub(crate) fn run(data: &[u8]) {
    let script = match parse(data) {
        Ok(script) => script,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(script.faults.len() <= MAX_FAULTS);
    for fault in &script.faults {
        assert!(fault.for_secs.is_finite() && fault.for_secs >= 0.0);
        assert!(fault.within_secs.is_finite() && fault.within_secs >= 0.0);
        if let Trigger::At(at) = fault.trigger {
            assert!(at.is_finite());
        }
    }
    let mut player = Player::new(&script, 7);
    let mut begun = 0;
    let places: Vec<Place> = script
        .faults
        .iter()
        .filter_map(|fault| match &fault.trigger {
            Trigger::Step { procedure, step, step_kind, .. } => Some(Place {
                procedure: procedure.clone(),
                step: step.unwrap_or(0),
                step_kind: step_kind.clone().unwrap_or_default(),
            }),
            Trigger::At(_) => None,
        })
        .collect();
    for (turn, place) in std::iter::once(None).chain(places.iter().map(Some)).enumerate() {
        for later in [0.0, 1e9] {
            begun += player.due(turn as f64 * 2e9 + later, place).len();
        }
    }
    assert_eq!(begun + player.waiting(), script.faults.len());
}
