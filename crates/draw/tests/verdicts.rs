//! The public set of files in `conformance/` and the first code that refuses each, written by hand: any other
//! reader can be held to it.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;

use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::json::Json;
use fieldlab_draw::path_plan_check::Request;
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::profile::REFERENCE_RIGHT;

/// The first code that refuses the file, or nothing.
fn verdict(config: CheckConfig, bytes: &[u8]) -> Json {
    let mut checker = Checker::new(config).unwrap();
    checker.push(bytes);
    let report = checker.finish();
    report.findings.listed().first().map_or(Json::Null, |finding| Json::text(finding.code.name()))
}

#[test]
fn every_file_has_the_verdict_that_is_written_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let document = Json::parse(&std::fs::read(folder.join("verdicts.json")).unwrap()).unwrap();
    let Some(Json::List(joints)) = document.get("joints_rad") else { panic!("no joints") };
    let joints_rad = [0, 1, 2, 3, 4, 5].map(|k: usize| joints[k].as_f64().unwrap());
    let carriage_m = document.get("carriage_m").unwrap().as_f64().unwrap();
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let Some(Json::Map(verdicts)) = document.get("verdicts") else { panic!("no verdicts") };
    let mut words = vec!["x.csv".to_owned(), "0.0025".to_owned()];
    words.extend(joints_rad.iter().chain([&carriage_m]).map(|value| format!("{value:?}")));
    for (file, wanted) in verdicts {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let plan = PlanConfig::strict(&profile, Start { joints_rad, carriage_m }).unwrap();
        let strict = verdict(CheckConfig::for_profile(&profile, Some(plan)), &bytes);
        let reference = verdict(Request::parse(&words).unwrap().config().unwrap(), &bytes);
        for (mode, found) in [("strict", strict), ("reference", reference)] {
            assert_eq!(Some(&found), wanted.get(mode), "{file}, {mode}");
        }
    }
    let listed: BTreeSet<String> = verdicts.iter().map(|(file, _)| file.clone()).collect();
    let present: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".csv"))
        .collect();
    assert_eq!(listed, present);
    assert_eq!(listed.len(), 22);
}
