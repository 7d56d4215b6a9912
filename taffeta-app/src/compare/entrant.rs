//! A method as the command line names it: `xpbd`, `xpbd:iterations=40`, `xpbd-chebyshev:rho=0.9:substeps=4`.

use serde_json::Value;
use taffeta::error::suggestion;
use taffeta::solver::METHODS;
use taffeta_io::scene_file::{LoadedScene, SceneFileError, load, schema};

use crate::fault::Fault;

/// A method with settings of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// As it was written, and as it is called in the report.
    pub name: String,
    /// The method.
    pub method: String,
    /// Fields of `simulation` and their values.
    pub settings: Vec<(String, String)>,
}

/// Fields of `simulation` that a work–precision plot varies itself.
const COUNTS: [&str; 2] = ["substeps", "iterations"];

impl Entrant {
    /// Reads one method with its settings; `option` is where it was written.
    pub fn parse(text: &str, option: &str) -> Result<Entrant, Fault> {
        let mut parts = split(text, ':').into_iter().map(str::trim);
        let method = parts.next().unwrap_or_default().to_string();
        let known: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        if method.is_empty() {
            return Err(Fault::Input(format!(
                "{option} '{text}': a method's name is missing; write names separated by commas, such as xpbd,xpbd:iterations=40"
            )));
        }
        if !known.contains(&method.as_str()) {
            let hint = suggestion(&method, &known);
            return Err(Fault::Input(format!(
                "{option} {text}: there is no method '{method}' in this build; {hint} (see `taffeta list methods`)"
            )));
        }
        let mut settings = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(Fault::Input(format!(
                    "{option} {text}: '{part}' has no '='; write settings after colons, such as {method}:iterations=40"
                )));
            };
            settings.push((field(key.trim()), value.trim().to_string()));
        }
        Ok(Entrant { name: text.trim().into(), method, settings })
    }

    /// Reads a list of them.
    pub fn parse_list(text: &str) -> Result<Vec<Entrant>, Fault> {
        let all: Vec<Entrant> = split(text, ',')
            .into_iter()
            .map(|one| Entrant::parse(one, "--methods"))
            .collect::<Result<_, _>>()?;
        for (i, one) in all.iter().enumerate() {
            if all[..i].iter().any(|other| other.method == one.method && other.settings == one.settings) {
                return Err(Fault::Input(format!(
                    "--methods: '{}' is listed twice; give one of them other settings, such as {}:iterations=40",
                    one.name, one.method
                )));
            }
        }
        Ok(all)
    }

    /// The scene as this method is to solve it. `sets` come first, so that the settings of the method win, and `last` after
    /// them.
    pub fn load(&self, scene: &str, sets: &[String], last: &[String]) -> Result<LoadedScene, Fault> {
        let own = (self.settings.iter()).map(|(field, value)| format!("simulation.{field}={value}"));
        let own: Vec<String> =
            [format!("simulation.method={}", self.method)].into_iter().chain(own).collect();
        let all: Vec<String> = sets.iter().chain(&own).chain(last).cloned().collect();
        load(scene, &all).map_err(|error| match error {
            SceneFileError::Set { argument, problem } if own.contains(&argument) => {
                Fault::Input(format!("--methods {}: {problem}", self.name))
            }
            other => Fault::input(other),
        })
    }

    /// The same method without the counts that a work–precision plot varies.
    pub fn variant(&self) -> Entrant {
        let settings: Vec<_> =
            self.settings.iter().filter(|(field, _)| !COUNTS.contains(&field.as_str())).cloned().collect();
        let shown = settings
            .iter()
            .map(|(field, value)| format!(":{}={value}", field.rsplit('.').next().unwrap_or(field)));
        let name = self.method.clone() + &shown.collect::<String>();
        Entrant { name, method: self.method.clone(), settings }
    }
}

/// Parts of a text between separators that stand outside of brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ if c == separator && depth == 0 => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// The path below `simulation` of a field that may be given by its last name alone: `rho` for `chebyshev.rho`.
pub fn field(key: &str) -> String {
    let fields = fields();
    if fields.iter().any(|f| f == key) {
        return key.into();
    }
    let ending = format!(".{key}");
    let mut found = fields.iter().filter(|f| f.ends_with(&ending));
    match (found.next(), found.next()) {
        (Some(one), None) => one.clone(),
        // What is unknown or ambiguous is explained when the scene is loaded.
        _ => key.into(),
    }
}

/// Every field below `simulation`, as a dotted path.
fn fields() -> Vec<String> {
    let schema = schema();
    let mut found = Vec::new();
    walk(&schema, &schema["properties"]["simulation"], "", &mut found);
    found
}

fn walk(root: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(target) = schema["$ref"].as_str()
        && let Some(target) = root.pointer(target.trim_start_matches('#'))
    {
        walk(root, target, path, found);
    }
    for one in [&schema["anyOf"], &schema["oneOf"], &schema["allOf"]]
        .into_iter()
        .filter_map(Value::as_array)
        .flatten()
    {
        walk(root, one, path, found);
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        walk(root, inner, &path, found);
        found.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_carry_settings() {
        let list = Entrant::parse_list("xpbd, xpbd:substeps=4:iterations=10,xpbd:gravity=[0,-1,0]").unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(list[0], Entrant { name: "xpbd".into(), method: "xpbd".into(), settings: vec![] });
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(list[1].settings, [pair("substeps", "4"), pair("iterations", "10")]);
        assert_eq!(list[2].settings, [pair("gravity", "[0,-1,0]")]);
        assert_eq!(list[1].variant().name, "xpbd");
        assert_eq!(list[2].variant().name, "xpbd:gravity=[0,-1,0]");
    }

    #[test]
    fn own_settings_win_and_the_last_word_is_kept() {
        let one = Entrant::parse("xpbd:substeps=4", "--methods").unwrap();
        let sets = ["simulation.substeps=9".to_string(), "simulation.iterations=7".to_string()];
        let params = one.load("hang", &sets, &[]).unwrap().scene.simulation;
        assert_eq!((params.substeps, params.iterations), (4, 7));
        let params = one.load("hang", &sets, &["simulation.substeps=3".into()]).unwrap().scene.simulation;
        assert_eq!(params.substeps, 3);
    }

    #[test]
    fn every_field_of_the_simulation_is_known() {
        let fields = fields();
        for name in ["method", "dt", "substeps", "iterations", "gravity", "damping"] {
            assert!(fields.iter().any(|f| f == name), "{name} in {fields:?}");
        }
    }
}
