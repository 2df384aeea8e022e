//! `fieldlab draw` as a process: exit codes, stdout, files.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fieldlab(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldlab")).arg("draw").args(words).output().unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn the_constants_are_found_checked_and_rendered() {
    let root = root();
    let root = root.to_str().unwrap();
    let check = fieldlab(&["constants", "--check", "--root", root]);
    assert_eq!((check.status.code(), stdout(&check)), (Some(0), "c36d529c2b43\n"));
    let get = fieldlab(&["constants", "get", "planner.dls_damping", "--root", root]);
    assert_eq!(stdout(&get), "0.02\n");
    assert_eq!(fieldlab(&["constants", "get", "planner.nothing", "--root", root]).status.code(), Some(2));
    let sha = fieldlab(&["constants", "sha", "--full", "--root", root]);
    assert_eq!(stdout(&sha).trim_end().len(), 64);
    let list = fieldlab(&["constants", "list", "--root", root]);
    assert!(stdout(&list).contains("planner.max_ticks"));

    let copy = tempfile::tempdir().unwrap();
    for folder in ["config", "crates/draw/src/constants", "crates/draw/include", "interop/draw"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
    }
    let text = std::fs::read_to_string(Path::new(root).join("config/motion_constants.json")).unwrap();
    let changed = text.replace("\"dls_damping\": 0.02", "\"dls_damping\": 0.03");
    std::fs::write(copy.path().join("config/motion_constants.json"), changed).unwrap();
    let place = copy.path().to_str().unwrap();
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(3));
    assert_eq!(fieldlab(&["constants", "render", "--root", place]).status.code(), Some(0));
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(0));
    std::fs::remove_file(copy.path().join("config/motion_constants.json")).unwrap();
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(2));
}

/// Rows at rest at the reference arm's witness pose.
fn resting_file(rows: usize) -> String {
    use fieldlab_draw::profile::REFERENCE_RIGHT;
    use fieldlab_draw::samples::{Kind, Meta, Row, write};
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let posture = profile.chain.posture(&JOINTS, 0.002);
    let row = |k: usize| Row {
        t_s: 0.0025 * (k + 1) as f64,
        p_m: posture.tip_m,
        v_m_s: [0.0; 3],
        r: posture.rotation,
        pen: false,
        capture: 0,
        dip: 0,
    };
    write(&Meta::for_profile(&profile, Kind::Path, false), &(0..rows).map(row).collect::<Vec<_>>()).unwrap()
}

const JOINTS: [f64; 6] = [
    0.173_762_112_856,
    1.544_403_791_428,
    0.826_848_268_509,
    -0.061_226_826_161,
    0.121_118_485_928,
    1.642_061_471_939,
];
const STAND: &str =
    "0.173762112856,1.544403791428,0.826848268509,-0.061226826161,0.121118485928,1.642061471939";

#[test]
fn a_file_is_accepted_refused_or_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("path.csv");
    let name = path.to_str().unwrap();
    std::fs::write(&path, resting_file(100)).unwrap();
    let stand = ["--rig", "reference", "--joints", STAND, "--carriage", "0.002"];
    let words = |more: &[&'static str]| [&["check", name], &stand[..], more].concat();

    let good = fieldlab(&words(&[]));
    assert_eq!(good.status.code(), Some(0), "{}", stdout(&good));
    assert!(stdout(&good).starts_with("status,accepted\nhardware_authority,false\n"));
    let json = fieldlab(&words(&["--json"]));
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["accepted"], true);
    assert_eq!(report["hardware_authority"], false);
    assert_eq!(report["constants_sha"], "c36d529c2b43");

    let ros = folder.path().join("plan.json");
    let export = [&words(&[])[..], &["--ros", ros.to_str().unwrap()]].concat();
    assert_eq!(fieldlab(&export).status.code(), Some(0));
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(&ros).unwrap()).unwrap();
    assert_eq!(plan["joint_names"].as_array().unwrap().len(), 7);
    let nanos: Vec<u64> = plan["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| {
            let time = &point["time_from_start"];
            time["sec"].as_u64().unwrap() * 1_000_000_000 + time["nanosec"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(nanos.len(), 25);
    assert!(nanos.windows(2).all(|pair| pair[0] < pair[1]));

    std::fs::write(&path, resting_file(100).replace("tatbot.draw-samples/1", "tatbot.draw-samples/9"))
        .unwrap();
    let refused = fieldlab(&words(&[]));
    assert_eq!(refused.status.code(), Some(3));
    assert!(stdout(&refused).contains("schema"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(fieldlab(&words(&[])).status.code(), Some(2));
    assert_eq!(fieldlab(&["check", name, "--joints", STAND]).status.code(), Some(2));
    assert_eq!(fieldlab(&["check", name, "--rig", "nobody"]).status.code(), Some(2));
}

#[test]
fn the_reference_command_takes_its_arguments_and_gives_its_codes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("path.csv");
    let name = path.to_str().unwrap();
    std::fs::write(&path, resting_file(100)).unwrap();
    let seed: Vec<&str> = STAND.split(',').collect();
    let words = |period: &'static str, more: &[&'static str]| {
        [&["path-plan-check", name, period][..], &seed, &["0.002"], more].concat()
    };
    let good = fieldlab(&words("0.0025", &[]));
    assert_eq!(good.status.code(), Some(0));
    let keys: Vec<&str> = stdout(&good).lines().map(|line| line.split(',').next().unwrap()).collect();
    let expected = "status kind sample_count capture_count carriage_ik path_length_mm model_max_error_mm \
                    model_max_orientation_error_rad plan_max_joint_velocity_rad_s plan_max_joint_acceleration_rad_s2 \
                    plan_max_cartesian_velocity_mm_s plan_min_carriage_mm plan_max_carriage_mm \
                    plan_max_carriage_velocity_mm_s plan_max_carriage_acceleration_mm_s2";
    assert_eq!(keys, expected.split_ascii_whitespace().collect::<Vec<_>>());

    let json = fieldlab(&words("0.0025", &["--json"]));
    let plan: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(plan["schema"], "tatbot.joint-plan/1");
    assert_eq!(plan["hardware_authority"], false);
    assert_eq!(plan["positions"].as_array().unwrap().len(), 100);
    assert_eq!(plan["seed"].as_array().unwrap().len(), 7);
    assert_eq!(plan["tool_model"]["source"], "compiled-default");

    let refused = fieldlab(&words("0.0026", &[]));
    assert_eq!(refused.status.code(), Some(3));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.starts_with("status,refused\nreason,"), "{stderr}");
    assert_eq!(fieldlab(&words("zero", &[])).status.code(), Some(3));
    assert_eq!(fieldlab(&words("0.0025", &["--what"])).status.code(), Some(2));
    assert_eq!(fieldlab(&words("0.0025", &["--arm-prefix", ""])).status.code(), Some(2));
    assert_eq!(fieldlab(&words("0.0025", &["--arm-prefix", "left"])).status.code(), Some(3));
    assert_eq!(fieldlab(&["path-plan-check", name, "0.0025"]).status.code(), Some(2));
}

#[test]
fn the_chain_of_commands_runs_from_rehearsal_to_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let here = folder.path().to_str().unwrap();
    let run = |words: &[&str]| {
        let output = fieldlab(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let json = run(&["rehearse", "--rig", "reference", "--seeds", "1", "--json", "--keep", here]);
    let sum: serde_json::Value = serde_json::from_str(stdout(&json).lines().last().unwrap()).unwrap();
    assert_eq!((&sum["rehearsals"], &sum["failures"]), (&2.into(), &0.into()));
    assert!(sum["height_rms_max_m"].as_f64().unwrap() < 0.0003);
    assert!(sum["radius_interval_coverage"].is_number());

    let stand = ["--rig", "reference", "--joints", STAND, "--carriage", "0.002"];
    let (again, design, new, five, truth) =
        (at("again.npz"), at("design.svg"), at("new.csv"), at("five.csv"), at("truth.npz"));
    for file in ["orbit.csv", "path.csv"] {
        run(&[&["check", &at(file)], &stand[..]].concat());
    }
    assert!(stdout(&run(&["capture", "check", here, "--k", "3"])).contains("proven,true"));
    assert_eq!(fieldlab(&["capture", "check", here, "--k", "9"]).status.code(), Some(3));
    let cloud = run(&["capture", "cloud", here, "--k", "1", "--rig", "reference"]);
    assert!(stdout(&cloud).lines().count() > 10_000);
    run(&["surface", "fit", here, "--rig", "reference", "-o", &again]);
    // The same captures give the same surface, byte for byte.
    assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(at("surface.npz")).unwrap());
    assert!(stdout(&run(&["surface", "info", &again])).contains("radius_m,"));
    assert!(stdout(&run(&["surface", "plot", &again])).starts_with("<svg"));

    std::fs::write(&design, "<svg xmlns='http://www.w3.org/2000/svg'><path d='M-4 0L4 0L0 5Z'/></svg>")
        .unwrap();
    let path = [&["path", &design, "--surface", &again, "-o", &new], &stand[..]].concat();
    run(&path);
    let picture = run(&[&["plot", &new, "--surface", &again], &stand[..]].concat());
    assert!(stdout(&picture).contains("accepted"));
    std::fs::write(&design, "<svg xmlns='http://www.w3.org/2000/svg'><path d='M-400 0L4 0'/></svg>").unwrap();
    std::fs::remove_file(&new).unwrap();
    let refused = fieldlab(&path);
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("girth"));
    assert!(!Path::new(&new).exists(), "nothing is written when a design is refused");
    run(&[&["orbit", "--poses", "5", "-o", &five], &stand[..]].concat());
    let fake =
        [&["capture", "fake", here, "--surface", &truth, "--k", "7", "--frames", "3"], &stand[..]].concat();
    run(&fake);
    assert!(stdout(&run(&["capture", "check", here, "--k", "7", "--wait", "5"])).contains("proven,true"));
    let late = |words: &[&str]| {
        fieldlab(&[&["capture", "check", here, "--k", "9", "--wait"], words].concat()).status.code()
    };
    assert_eq!((late(&["0.06"]), late(&["1e9"]), late(&["nan"])), (Some(3), Some(2), Some(2)));

    // All three captures are there: waiting changes nothing; a fourth never comes.
    let fit = |count: &str| {
        let words =
            ["surface", "fit", here, "--rig", "reference", "--wait", "0.06", "-o", &again, "--count", count];
        fieldlab(&words).status.code()
    };
    assert_eq!((fit("3"), fit("4")), (Some(0), Some(3)));
    assert!(stdout(&run(&["surface", "mesh", &again, "--step", "0.005"])).contains("\nf "));

    let seen = at("seen.csv");
    run(&[&["orbit", "--camera", "-o", &seen], &stand[..]].concat());
    run(&[&["check", &seen], &stand[..]].concat());
    let blind = fieldlab(&[&["orbit", "--camera", "--ring", "0.15"], &stand[..]].concat());
    assert_eq!(blind.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&blind.stderr).contains("orbit_view"));

    // 8 mm and twice 6.4 mm, in parts of 15: the second begins at the corner where the first ended.
    std::fs::write(
        &design,
        "<svg xmlns='http://www.w3.org/2000/svg'><path transform='scale(.5)' d='M-8 0L8 0L0 10Z'/></svg>",
    )
    .unwrap();
    run(&[&path[..], &["--part", "0.015", "--hole-fill", "0.002"]].concat());
    assert!(!Path::new(&new).exists() && Path::new(&at("new-2.csv")).exists());
    run(&[&["check", &at("new-1.csv")], &stand[..]].concat());
    assert_eq!(
        fieldlab(&[&["check", &at("new-2.csv")], &stand[..]].concat()).status.code(),
        Some(3),
        "another start"
    );
}
