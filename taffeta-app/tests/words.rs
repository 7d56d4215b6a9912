//! What is there to read: help, lists, the schema, checks.

mod common;

use std::fs;

use common::{json, run, stderr, stdout};

#[test]
fn every_command_has_help_with_examples() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["", "run", "compare", "list", "check", "schema", "bench"] {
        let output = run(folder.path(), &format!("{command} --help"));
        assert!(output.status.success() && stdout(&output).contains("Example"), "{command}");
    }
    let plain = run(folder.path(), "");
    assert!(plain.status.success() && stdout(&plain).contains("taffeta run"), "{}", stderr(&plain));
}

#[test]
fn lists_are_the_same_in_words_and_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    for (topic, key) in [("scenes", "name"), ("methods", "name"), ("fabrics", "name"), ("formats", "ending")]
    {
        let text = stdout(&run(folder.path(), &format!("list {topic}")));
        let all = stdout(&run(folder.path(), "list"));
        let value = json(&run(folder.path(), &format!("list {topic} --json")));
        assert!(!value.as_array().unwrap().is_empty());
        for item in value.as_array().unwrap() {
            let word = item[key].as_str().unwrap();
            assert!(text.contains(word) && all.contains(word), "{topic}: {word}");
        }
        assert_eq!(json(&run(folder.path(), "list --json"))[topic], value);
    }
    let fabrics = stdout(&run(folder.path(), "list fabrics"));
    for word in ["measured", "converted", "estimated", "kg/m²", "N·m"] {
        assert!(fabrics.contains(word), "{word}");
    }
}

#[test]
fn the_schema_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    assert!(json(&run(folder.path(), "schema"))["properties"]["cloth"].is_object());
}

#[test]
fn checks_find_what_is_wrong_and_say_where() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("good.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 3 2\nf 2 3 4\n");
    write("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 2 0 0\nf 1 3 2\nf 1 2 4\n");
    write("crossing.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv .2 -1 .2\nv .3 1 .2\nv .2 1 .3\nf 1 2 3\nf 4 5 6\n");
    write("bad.toml", "[[cloth]]\n[[cloth.pin]]\nselect.vertices = [5000]\n");
    write("mesh.toml", "[[cloth]]\nmesh = 'bad.obj'\n");
    let sheet = |name: &str, turned: &str| {
        format!(
            "[[cloth]]\nname = '{name}'\nsize = 1.0\nresolution = 4\nposition = [0.01, 1.0, 0.02]\n{turned}\n"
        )
    };
    let crossed = [sheet("level", ""), sheet("upright", "rotation = [80.0, 10.0, 0.0]")];
    write("crossed.toml", &crossed.concat());

    let cases = [
        ("good.obj", 0, "no problems"),
        ("bad.obj", 1, "triangle 1"),
        ("crossing.obj", 1, "triangles 0 and 1 cross"),
        ("crossed.toml", 1, "of 'upright' cross at ("),
        ("hang", 0, "no problems"),
        ("bad.toml", 1, "bad.toml:3:1"),
        ("mesh.toml", 1, "cloth.0.mesh: triangle 1"),
    ];
    for (what, code, words) in cases {
        let output = run(folder, &format!("check {what}"));
        assert_eq!(output.status.code(), Some(code), "{what}: {}", stdout(&output));
        assert!(stdout(&output).contains(words), "{what}: {}", stdout(&output));
        let value = json(&run(folder, &format!("check {what} --json")));
        assert_eq!(value["ok"], code == 0, "{what}");
        assert_eq!(value["problems"].as_array().unwrap().is_empty(), code == 0, "{what}");
    }
    let value = json(&run(folder, "check crossed.toml --json"));
    let pairs = value["intersecting_pairs"].as_u64().unwrap();
    assert!(pairs >= 4 && value["problems"][0]["count"] == pairs, "{value}");
    let first = &value["crossings"][0];
    assert_eq!(first["parts"], serde_json::json!(["level", "upright"]));
    // Where it says they cross, the level one is.
    assert!((first["position"][1].as_f64().unwrap() - 1.0).abs() < 1e-6, "{first}");
    let value = json(&run(folder, "check good.obj --json"));
    assert_eq!((&value["vertices"], &value["boundary_edges"]), (&4.into(), &4.into()));
    assert_eq!((&value["components"], &value["edges"]), (&1.into(), &5.into()));
}
