//! Comparisons of methods, and the documents' figures beside ours.

mod common;

use std::fs;

#[cfg(unix)]
use common::taffeta;
use common::{files, json, run, stderr, stdout};
use serde_json::Value;

const COARSE: &str = "compare hang --set cloth.0.resolution=8 --substeps 4 --frames 20 --horizon 6 --fine 16 \
    --reference xpbd:iterations=300";

#[test]
fn a_report_says_what_was_compared_and_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{COARSE} --methods xpbd,xpbd:iterations=20 --out report.html --json");
    let output = run(folder.path(), &line);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("work and precision") && stderr(&output).contains("report.html"));
    let value = json(&output);

    let methods = value["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 2);
    let number = |value: &Value, path: &str| {
        path.split('.').fold(value, |v, key| &v[key]).as_f64().unwrap_or_else(|| panic!("{path} in {value}"))
    };
    for method in methods {
        assert_eq!(method["frames"], 20);
        assert_eq!(method["curves"]["residual_h"].as_array().unwrap().len(), 21);
        for path in ["ms_per_frame", "us_per_iteration", "strain.max", "residual.h", "error.total.rms"] {
            assert!(number(method, path) > 0.0, "{path}");
        }
        assert_eq!(method["failure"], Value::Null);
    }
    // More iterations come nearer to the reference with the same substeps.
    let solver = |k: usize| number(&methods[k], "error.solver.rms");
    assert!(solver(1) < 0.3 * solver(0), "{} and {}", solver(0), solver(1));
    // Both differ in their iterations only, so they are one line, with both ladders.
    let lines = value["work_precision"].as_array().unwrap();
    assert_eq!(lines.len(), 1);
    let errors: Vec<f64> =
        lines[0]["solver"].as_array().unwrap().iter().map(|point| number(point, "rms")).collect();
    assert_eq!(errors.len(), 8);
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    let total = lines[0]["total"].as_array().unwrap();
    assert_eq!(
        total.iter().map(|p| p["substeps"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 4, 8, 16, 32]
    );
    assert!(number(&value, "reference.uncertainty.rms") > 0.0);
    assert!((number(&value, "size") - 2f64.sqrt()).abs() < 1e-5);

    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.trim_end().ends_with("</html>") && !page.contains("{{"), "the template is filled");
    for word in [
        "Solver error",
        "Total error",
        "Residual strain",
        "Spring change rate",
        "processor time of a frame, ms",
        "xpbd:iterations=20",
        "data-shape=\"1\"",
        "id=\"about\"",
    ] {
        assert!(page.contains(word), "no {word}");
    }
    // Nothing from elsewhere.
    for word in ["src=", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    well_formed(&page);
    assert_eq!(files(folder.path()).len(), 1);
}

/// Every element outside of scripts is closed by its own name.
fn well_formed(page: &str) {
    const VOID: [&str; 3] = ["meta", "link", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "<{tag}>");
        } else if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("a script ends") + close.len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
}

#[test]
fn one_that_explodes_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let line = "compare hang-iterations --set cloth.0.resolution=8 --frames 4 --horizon 3 --fine 4 --reference xpbd \
        --methods xpbd,xpbd:gravity=[0,-1e9,0] --out report.html";
    let output = run(folder.path(), line);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for word in ["to the end", "exploded in frame 1", "at vertex "] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("exploded in frame 1") && page.contains("class=\"failed\""));
    well_formed(&page);
}

/// Starts a comparison and interrupts it at the moment it mentions `when`; exit code, standard output and the last words.
#[cfg(unix)]
fn interrupted(folder: &std::path::Path, line: &str, when: &str) -> (Option<i32>, String, String) {
    use std::io::{BufRead, BufReader, read_to_string};
    use std::process::{Command, Stdio};
    let mut child = taffeta(folder)
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap());
    let mut mentioned = String::new();
    while !mentioned.contains(when) {
        mentioned.clear();
        assert_ne!(words.read_line(&mut mentioned).unwrap(), 0, "it ended before '{when}'");
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let out = read_to_string(child.stdout.take().unwrap()).unwrap();
    let last = read_to_string(words).unwrap();
    (child.wait().unwrap().code(), out, last)
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_what_was_compared_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let page = || fs::read_to_string(folder.path().join("report.html")).unwrap();
    let small = "compare hang --set cloth.0.resolution=4 --substeps 2 --methods xpbd,pbd-gs --reference xpbd --out report.html";

    let (code, out, last) =
        interrupted(folder.path(), &format!("{small} --frames 1000000"), "xpbd: 1000000 frames");
    assert_eq!(code, Some(130), "{last}");
    assert!(last.contains("stopped after 0 of 2 methods") && last.contains("report.html"), "{last}");
    assert!(out.contains("stopped after frame ") && !out.contains("pbd-gs"), "{out}");
    assert!(page().contains("stopped after frame "));
    well_formed(&page());

    let line = format!("{small} --frames 6 --horizon 6 --fine 1000000 --json");
    let (code, out, last) = interrupted(folder.path(), &line, "with 1000000 substeps");
    assert_eq!(code, Some(130), "{last}");
    assert!(last.contains("stopped after 2 of 2 methods and 0 of their lines"), "{last}");
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&value["interrupted"], value["methods"].as_array().unwrap().len()), (&true.into(), 2));
    for method in value["methods"].as_array().unwrap() {
        assert_eq!((&method["frames"], &method["failure"]), (&6.into(), &Value::Null));
    }
    well_formed(&page());
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn the_documents_are_listed_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "bench documents --only Marvelous --json --out documents.html");
    assert!(output.status.success(), "{}", stderr(&output));
    let value = json(&output);
    let rows = value["results"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert_eq!((&row["document"], &row["unit"]), (&"S4".into(), &"fps".into()));
        assert!(row["published"].as_f64().unwrap() >= 13.0);
        assert!(row["published_on"].as_str().unwrap().contains("i7-6700K"));
        // Either measured, with a ratio, or with the reason why not.
        assert_eq!(row["status"] == "measured", row["better_by"].is_number(), "{row}");
        assert_eq!(row["status"] == "measured", row["why"].is_null(), "{row}");
    }
    assert!(value["machine"]["processor"].is_string());
    well_formed(&fs::read_to_string(folder.path().join("documents.html")).unwrap());
}
