//! Runs that go well, explode or are stopped.

mod common;

use std::fs;
use std::process::Stdio;

use common::{files, json, pc2, run, stderr, stdout, taffeta};
use serde_json::Value;

const COARSE: &str = "run hang --frames 3 --set cloth.0.resolution=8";

#[test]
fn the_json_has_every_key_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &format!("{COARSE} --threads 1 --json"));
    assert!(output.status.success(), "{}", stderr(&output));
    let value = json(&output);
    let numbers = "threads vertices triangles constraints colors frames dt substeps iterations wall_s fps \
        ms_per_frame.mean ms_per_frame.p50 ms_per_frame.p99 ms_per_frame.max \
        stages_ms.animate stages_ms.predict stages_ms.solve stages_ms.contact stages_ms.friction \
        stages_ms.velocity stages_ms.finish strain.max strain.mean strain.worst spring_change_rate \
        residual.h residual.log_strain energy.kinetic energy.elastic energy.potential \
        contacts layers.detections layers.lost layers.dented penetrating_vertices intersecting_pairs";
    let at = |path: &str| path.split('.').fold(&value, |value, key| &value[key]);
    for path in numbers.split_whitespace() {
        assert!(at(path).is_number(), "{path} is {}", at(path));
    }
    for path in ["scene", "method", "backend", "simd", "state_hash"] {
        assert!(at(path).is_string(), "{path} is {}", at(path));
    }
    assert_eq!((&value["scene"], &value["frames"]), (&"hang".into(), &3.into()));
    assert_eq!(value["vertices"], 81);
    assert!(at("strain.worst").as_f64() >= at("strain.max").as_f64());
    assert_eq!(value["failure"], Value::Null);
}

#[test]
fn threads_instructions_and_measuring_do_not_change_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |options: &str| {
        let output = run(folder.path(), &format!("{COARSE} --json {options}"));
        assert!(output.status.success(), "{}", stderr(&output));
        json(&output)["state_hash"].clone()
    };
    let one = hash("--threads 1");
    for options in ["--threads 2", "--threads 1 --simd scalar", "--threads 1 --out metrics.csv"] {
        assert_eq!(hash(options), one, "{options}");
    }
    assert_ne!(hash("--threads 1 --substeps 49"), one);
}

#[test]
fn every_scene_runs() {
    let folder = tempfile::tempdir().unwrap();
    let list = json(&run(folder.path(), "list scenes --json"));
    for scene in list.as_array().unwrap() {
        let name = scene["name"].as_str().unwrap();
        // Grids of the strips are not square, so the resolution stays; the large ones are made small.
        let large = ["hang", "friction", "high-resolution", "attach", "swirl"].contains(&name);
        let coarse = if large { "--set cloth.0.resolution=12" } else { "" };
        let line = format!("run {name} --frames 3 --threads 1 --json {coarse} --out last.obj");
        let output = run(folder.path(), &line);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let value = json(&output);
        assert!(value["energy"]["kinetic"].as_f64().unwrap() >= 0.0, "{name}");
        let text = fs::read_to_string(folder.path().join("last.obj")).unwrap();
        let vertices: Vec<&str> = text.lines().filter(|line| line.starts_with("v ")).collect();
        // Meshes of colliders come after the cloths.
        assert!(vertices.len() as u64 >= value["vertices"].as_u64().unwrap(), "{name}");
        for number in vertices.iter().flat_map(|line| line.split(' ').skip(1)) {
            assert!(number.parse::<f32>().unwrap().is_finite(), "{name}: {number}");
        }
    }
}

#[test]
fn files_are_written_and_named_in_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{COARSE} --threads 1 --out a.pc2 --out m.csv --out m.svg --out f_%02d.ply");
    let output = run(folder.path(), &line);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).is_empty(), "no progress without a terminal: {}", stderr(&output));
    for word in ["solve", "strain", "kinetic", "a.pc2", "m.csv", "f_03.ply", "81 vertices"] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    // The start is frame 0.
    assert_eq!(pc2(&folder.path().join("a.pc2")), (81, 4));
    let table = fs::read_to_string(folder.path().join("m.csv")).unwrap();
    let head = "frame,time,strain_max,strain_mean,log_strain,residual_h,kinetic,elastic,potential,contacts,ms,total,\
        spring_change_rate,penetration_depth,penetrating_vertices,intersecting_pairs,colors,residual_g,\
        ms_animate,ms_predict,ms_tree,ms_candidates,ms_check,ms_color,ms_solve,ms_contact,ms_friction,ms_bound,\
        ms_velocity,ms_finish";
    assert_eq!(table.lines().next(), Some(head));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5);
    // The start has no residuals: two empty cells, and the only ones.
    assert_eq!(rows.iter().flatten().filter(|cell| cell.is_empty()).count(), 2);
    let at = |row: usize, name: &str| -> f64 {
        let column = rows[0].iter().position(|n| *n == name).unwrap();
        rows[row][column].parse().unwrap()
    };
    for row in 2..5 {
        let sum = at(row, "kinetic") + at(row, "elastic") + at(row, "potential");
        assert!((at(row, "total") - sum).abs() < 1e-9 && at(row, "residual_h") > 0.0);
        let stages: f64 = rows[0].iter().filter(|n| n.starts_with("ms_")).map(|n| at(row, n)).sum();
        assert!(stages <= at(row, "ms"), "the stages take {stages} of {} ms", at(row, "ms"));
    }
    let plot = fs::read_to_string(folder.path().join("m.svg")).unwrap();
    for word in ["Constraint residual", "spring change rate", "frame", "kinetic", "wall clock, ms", "</svg>"]
    {
        assert!(plot.contains(word), "no {word} in the plot");
    }
    assert_eq!(files(folder.path()).len(), 7);

    let quiet = run(folder.path(), &format!("{COARSE} --quiet"));
    assert!(quiet.status.success() && quiet.stdout.is_empty() && quiet.stderr.is_empty());
}

#[test]
fn seconds_are_frames_by_dt() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run hang --set cloth.0.resolution=4 --threads 1 --json --seconds 0.1 --dt 0.01";
    assert_eq!(json(&run(folder.path(), line))["frames"], 10);
}

#[test]
fn an_explosion_is_reported_and_the_frames_before_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run hang-iterations --threads 1 --dt 1 --set simulation.gravity=[0,-1e9,0] --set cloth.0.resolution=8 \
        --out a.pc2 --out a.csv --out a.html";
    let output = run(folder.path(), line);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("in frame 1 at vertex ") && message.contains("a.pc2"), "{message}");
    assert!(output.stdout.is_empty());
    assert_eq!(pc2(&folder.path().join("a.pc2")), (81, 1));
    assert_eq!(fs::read_to_string(folder.path().join("a.csv")).unwrap().lines().count(), 2);

    let page = fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.trim_end().ends_with("</html>"));

    let output = run(folder.path(), &format!("{line} --json"));
    assert_eq!(output.status.code(), Some(1));
    let value = json(&output);
    assert_eq!((&value["failure"]["frame"], &value["frames"]), (&1.into(), &0.into()));
}

#[test]
fn tethers_do_not_hide_an_explosion() {
    let folder = tempfile::tempdir().unwrap();
    for scene in ["attach", "hang"] {
        let output = run(
            folder.path(),
            // Without contact: what cannot cross anything is held back, and may take many frames to fly apart.
            &format!(
                "run {scene} --threads 1 --frames 5 --dt 1 --set simulation.gravity=[0,-1e9,0] --set simulation.contact.mode=none"
            ),
        );
        assert_eq!(output.status.code(), Some(1), "{scene}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("the simulation exploded in frame "),
            "{scene}: {}",
            stderr(&output)
        );
    }
}

/// Starts a long run that writes `a.pc2` and interrupts it once `then` has been done; exit code and message.
#[cfg(unix)]
fn interrupted(folder: &std::path::Path, then: impl FnOnce()) -> (Option<i32>, String) {
    let mut child = taffeta(folder)
        .args("run hang --threads 1 --frames 1000000 --set cloth.0.resolution=4 --out a.pc2".split(' '))
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The file under its temporary name shows that the run has begun.
    while files(folder).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    then();
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let code = child.wait().unwrap().code();
    (code, std::io::read_to_string(child.stderr.take().unwrap()).unwrap())
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let (code, message) = interrupted(folder.path(), || ());
    assert_eq!(code, Some(130), "{message}");
    assert!(message.contains("stopped after") && message.contains("a.pc2"), "{message}");
    assert_eq!(pc2(&folder.path().join("a.pc2")).0, 25);
    assert_eq!(files(folder.path()).len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_completed_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = || fs::create_dir_all(folder.path().join("a.pc2/full")).unwrap();
    let (code, message) = interrupted(folder.path(), in_the_way);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("a.pc2: cannot write"), "{message}");
    assert_eq!(files(folder.path()).len(), 1, "the temporary file is gone");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["schema", "list", "run hang --frames 1 --set cloth.0.resolution=4 --threads 1"] {
        let mut child = taffeta(folder.path())
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success(), "{line}");
        let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert!(message.is_empty(), "{message}");
    }
}
