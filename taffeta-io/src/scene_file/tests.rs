use std::fs;

use serde_json::Value;

use super::*;

fn problem(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    load("attach", &sets).unwrap_err().to_string()
}

#[test]
fn the_list_is_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let mut files: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(String::from))
        .collect();
    files.sort();
    let mut names: Vec<&str> = BUILT_IN.iter().map(|scene| scene.name).collect();
    names.sort();
    assert_eq!(names, files);
}

#[test]
fn every_scene_says_what_it_is() {
    for built_in in BUILT_IN {
        let scene = load(built_in.name, &[]).unwrap().scene;
        assert!(!scene.title.is_empty() && !scene.about.is_empty(), "{}", built_in.name);
    }
}

#[test]
fn fields_are_set_by_path() {
    let sets = [
        "cloth.0.resolution=12",
        "simulation.gravity=[0,-1,0]",
        "simulation.gravity.0=.5",
        "cloth.0.fabric=silk",
        "cloth.0.fabric.density=0.3",
        "cloth.0.tethers.stretch=1.1",
        "cloth.0.pin.0.until = 2",
        "wind.speed=4",
        "title=two words",
    ];
    let scene = load("attach", &sets.map(String::from)).unwrap().scene;
    let cloth = &scene.cloth[0];
    assert_eq!(cloth.resolution.0, [12, 12]);
    assert_eq!(scene.simulation.gravity, [0.5, -1.0, 0.0]);
    assert_eq!(cloth.fabric.0.preset.as_deref(), Some("silk"));
    assert_eq!((cloth.fabric.0.density, cloth.fabric.0.shear), (Some(0.3), None));
    assert_eq!(cloth.tethers.unwrap().stretch, 1.1);
    assert_eq!(cloth.pin[0].until, Some(2.0));
    assert_eq!(scene.wind, Some(taffeta::scene::Wind { speed: 4.0, ..Default::default() }));
    assert_eq!(scene.title, "two words");
}

#[test]
fn setting_nothing_of_note_changes_nothing() {
    for built_in in BUILT_IN {
        let plain = load(built_in.name, &[]).unwrap().scene;
        let title = format!("title={}", plain.title);
        assert_eq!(load(built_in.name, &[title]).unwrap().scene, plain, "{}", built_in.name);
    }
}

#[test]
fn a_wrong_setting_is_named_with_what_is_right() {
    let cases = [
        ("simulation.substep=3", "did you mean 'substeps'?"),
        ("clth.0.resolution=3", "did you mean 'cloth'?"),
        ("cloth.7.resolution=3", "there is only item 0"),
        ("collider.2.radius=3", "there are items 0 to 1"),
        ("cloth.0.kick.0.velocity=[0,0,0]", "the list is empty"),
        ("cloth.x.resolution=3", "no item 'x'"),
        ("cloth.0.resolution=many", "a whole number"),
        ("cloth.0.resolution=-3", "a whole number"),
        ("cloth.0.bending=isometrik", "did you mean 'isometric'?"),
        ("wind.kind=gust", "did you mean 'gusts'?"),
        ("wind.speeed=4", "did you mean 'speed'?"),
        ("simulation.dt.x=1", "single value"),
        ("simulation.gravity=[0,1", "not complete"),
        ("simulation.gravity=[0,1]", "three numbers"),
        ("simulation.gravity", "no '='"),
        ("simulation.dt=", "no value"),
        ("..=1", "not complete"),
        ("collider.0.motion.spin={axis=[0,1,0]}", "'speed' is missing"),
    ];
    for (set, words) in cases {
        let text = problem(&[set]);
        assert!(text.starts_with(&format!("--set {set}: ")) && text.contains(words), "{text}");
    }
    // Of several, the one at fault.
    let text = problem(&["cloth.0.scale=x", "simulation.dt=0.1"]);
    assert!(text.starts_with("--set cloth.0.scale=x: "), "{text}");
}

#[test]
fn a_wrong_file_is_named_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let path = path.to_str().unwrap();
    let cases = [
        (
            "title = \"x\"\n[simulation]\nsubstep = 3\n",
            ":3:1: simulation.substep: ",
            "did you mean 'substeps'?",
        ),
        ("title = \"x\"\n[[cloth]]\nbending = \"isometrc\"\n", ":3:11: cloth.0.bending: ", "'isometric'"),
        ("title = \"x\n", ":1:", ""),
        ("title = 'x'\ntitle = 'y'\n", ":2:1", "duplicate"),
        ("[[cloth]]\nresolution = [1, 2.5]\n", ":2:14: cloth.0.resolution", "whole number"),
        ("[[cloth]]\n[[cloth.pin]]\nselect.corners = ['x-y-']\n", ":3:19: ", "x-z-"),
        ("[[cloth]]\nfabric = { densiti = 1 }\n", ":2:12: cloth.0.fabric", "did you mean 'density'?"),
        ("[[cloth]]\nmesh = 'shirt.obj'\n", ":2:8: cloth.0.mesh: ", "no such file"),
    ];
    for (text, place, words) in cases {
        fs::write(path, text).unwrap();
        let message = load(path, &[]).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{path}{place}")) && message.contains(words), "{message}");
    }
}

#[test]
fn a_scene_that_cannot_be_built_is_explained_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    fs::write(folder.path().join("bad.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").unwrap();
    fs::write(&path, "[[cloth]]\nfabric = 'coton'\n\n[[cloth]]\nmesh = 'bad.obj'\n").unwrap();
    let explain = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
        let loaded = load(path.to_str().unwrap(), &sets).unwrap();
        let error = taffeta::Simulation::new(&loaded.scene).err().unwrap();
        loaded.explain(&error).to_string()
    };
    let text = explain(&[]);
    assert!(
        text.contains("a.toml:2:10: cloth.0.fabric: ") && text.contains("did you mean 'cotton'?"),
        "{text}"
    );
    let text = explain(&["cloth.0.fabric=cotton"]);
    assert!(text.contains("a.toml:5:8: cloth.1.mesh: ") && text.contains("bad.obj: triangle 0"), "{text}");
    let text = explain(&["cloth.0.fabric.density=-1", "cloth.0.fabric.preset=silk"]);
    assert!(text.contains("--set cloth.0.fabric.density=-1: is -1"), "{text}");
}

#[test]
fn an_unknown_scene_gets_the_nearest() {
    let text = load("atach", &[]).unwrap_err().to_string();
    assert!(text.contains("did you mean 'attach'?") && text.contains(".toml"), "{text}");
    let text = load("xyzxyzxyz", &[]).unwrap_err().to_string();
    assert!(text.contains("attach, sdf-collision"), "{text}");
    assert!(load("no/such.toml", &[]).unwrap_err().to_string().contains("no such file"));
}

/// What of `value` the schema does not allow: the part of JSON Schema that the scene's schema uses.
fn violation(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(target) = schema["$ref"].as_str() {
        let target = root.pointer(target.trim_start_matches('#')).expect("the reference exists");
        return violation(root, target, value, at);
    }
    if let Some(alternatives) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let problems: Vec<_> = alternatives.iter().map(|s| violation(root, s, value, at)).collect();
        return if problems.contains(&None) { None } else { problems.into_iter().flatten().last() };
    }
    let wrong = |problem: &str| Some(format!("{at}: {problem}"));
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return wrong("is not one of the words");
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return wrong("is not the word");
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        _ => value.is_null(),
    };
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        return wrong(&format!("is not of type {kinds:?}"));
    }
    let items = value.as_array().into_iter().flatten();
    if let Some(problem) = items.filter_map(|v| violation(root, &schema["items"], v, at)).next() {
        return Some(problem);
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        match schema["properties"].get(key) {
            Some(schema) => {
                if let Some(problem) = violation(root, schema, inner, &at) {
                    return Some(problem);
                }
            }
            None if schema["additionalProperties"] == false => return Some(format!("{at}: unknown")),
            None => {}
        }
    }
    None
}

#[test]
fn every_scene_fits_the_schema() {
    let schema = schema();
    for scene in BUILT_IN {
        let value: Value = toml::from_str(scene.text).unwrap();
        assert_eq!(violation(&schema, &schema, &value, scene.name), None);
    }
    for wrong in
        ["titel = 'x'", "[simulation]\ndt = 'x'", "[[cloth]]\nfabric = 'x'", "[[cloth]]\nbending = 'x'"]
    {
        let value: Value = toml::from_str(wrong).unwrap();
        assert!(violation(&schema, &schema, &value, "").is_some(), "{wrong}");
    }
}

#[test]
fn every_field_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenes.md");
    let text = fs::read_to_string(path).unwrap();
    fn fields<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
        match schema {
            Value::Object(map) => {
                found.extend(
                    schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()),
                );
                map.values().for_each(|inner| fields(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| fields(inner, found)),
            _ => {}
        }
    }
    let schema = schema();
    let mut found = Vec::new();
    fields(&schema, &mut found);
    assert!(found.len() > 50);
    for field in found {
        // In a table of its own, or with the name of its table before it.
        let described = text.contains(&format!("| `{field}` |")) || text.contains(&format!(".{field}` |"));
        assert!(described, "docs/scenes.md does not describe '{field}'");
    }
    for scene in BUILT_IN {
        assert!(text.contains(&format!("`{}`", scene.name)), "docs/scenes.md does not name '{}'", scene.name);
    }
}

#[test]
fn whole_examples_in_the_documentation_are_valid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenes.md");
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    // Others show lines within a table.
    let whole = |block: &&str| {
        ["[simulation]", "[[cloth]]", "[[collider]]", "[wind]"].iter().any(|t| block.starts_with(t))
    };
    let mut count = 0;
    for block in blocks.filter(whole) {
        count += 1;
        Text::new("docs/scenes.md".into(), block.into()).parse().unwrap();
    }
    assert!(count >= 5);
}

#[test]
fn decision_functions_are_words_or_lists() {
    let read = |set: &str| load("free-fall", &[format!("simulation.hierarchy.{set}")]);
    let decision = |set: &str| read(set).unwrap().scene.simulation.hierarchy.decision;
    use taffeta::mesh::hierarchy::Decision;
    assert_eq!(decision("decision=cosine"), Decision::Cosine);
    assert_eq!(decision("decision=[0.5,0.25]"), Decision::Shares(vec![0.5, 0.25]));
    let problem = read("decision=square").unwrap_err().to_string();
    assert!(problem.contains("'square'") && problem.contains("'linear'"), "{problem}");
}
