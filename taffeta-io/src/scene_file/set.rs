//! Single fields of a scene changed by `PATH=VALUE`.

use taffeta::Scene;
use toml::Value;

use super::SceneFileError;
use super::message::humane;
use super::text::{dotted, named};

/// One `PATH=VALUE`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    argument: String,
    path: String,
    value: Value,
}

impl Setting {
    /// Takes an argument apart. What is not a TOML value is a string.
    pub fn parse(argument: &str) -> Result<Setting, SceneFileError> {
        let wrong =
            |problem: &str| SceneFileError::Set { argument: argument.into(), problem: problem.into() };
        let example = "write PATH=VALUE, such as cloth.0.resolution=64";
        let Some((path, value)) = argument.split_once('=') else {
            return Err(wrong(&format!("there is no '='; {example}")));
        };
        let (path, value) = (path.trim(), value.trim());
        if path.split('.').any(str::is_empty) {
            return Err(wrong(&format!("the path before '=' is not complete; {example}")));
        }
        let parsed = toml::from_str::<toml::Table>(&format!("value = {}", value.replace('\n', " ")));
        let value = match parsed.map(|mut table| table.remove("value")) {
            Ok(Some(value)) => value,
            _ if value.is_empty() => return Err(wrong(&format!("there is no value; {example}"))),
            _ if value.starts_with(['[', '{', '"', '\'']) => {
                return Err(wrong(
                    "the value is not complete; a list is written [0, -9.81, 0], a table {a = 1}",
                ));
            }
            // Rust reads more forms of numbers than TOML: `.5`, `5.`
            _ => value.parse().map_or_else(|_| Value::String(value.into()), Value::Float),
        };
        Ok(Setting { argument: argument.into(), path: path.into(), value })
    }

    /// An error of this setting.
    pub fn wrong(&self, field: Option<&str>, problem: String) -> SceneFileError {
        let field = field.filter(|field| *field != self.path).unwrap_or("");
        SceneFileError::Set { argument: self.argument.clone(), problem: named(field, problem) }
    }

    /// Puts the value into the tree. Tables that are not there yet are made.
    fn put(&self, tree: &mut Value) -> Result<(), SceneFileError> {
        let mut at = tree;
        let mut done = String::new();
        for step in self.path.split('.') {
            at = match at {
                Value::Table(table) => table.entry(step).or_insert_with(|| Value::Table(toml::Table::new())),
                Value::Array(items) => {
                    let count = items.len();
                    let item = step.parse().ok().and_then(|i: usize| items.get_mut(i));
                    item.ok_or_else(|| {
                        let there = match count {
                            0 => "the list is empty".into(),
                            1 => "there is only item 0".into(),
                            _ => format!("there are items 0 to {}", count - 1),
                        };
                        self.wrong(None, format!("{done} has no item '{step}'; {there}"))
                    })?
                }
                _ => {
                    let problem = format!("{done} is a single value and has no '{step}' in it");
                    return Err(self.wrong(None, problem));
                }
            };
            done = if done.is_empty() { step.into() } else { format!("{done}.{step}") };
        }
        *at = self.value.clone();
        Ok(())
    }
}

/// The scene with all settings applied, in order.
pub(super) fn apply(scene: &Scene, settings: &[Setting]) -> Result<Scene, SceneFileError> {
    let mut tree = Value::try_from(scene).expect("a scene has only what TOML can hold");
    for setting in settings {
        with_fabric_tables(&mut tree);
        setting.put(&mut tree)?;
    }
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = dotted(error.path());
        let inner = error.into_inner();
        let problem = humane(inner.message());
        match responsible(settings, &path).or(settings.last()) {
            Some(setting) => setting.wrong(Some(&path), problem),
            None => SceneFileError::Set { argument: String::new(), problem },
        }
    })
}

/// A fabric given by its name becomes a table, so that single figures of it can be set.
fn with_fabric_tables(tree: &mut Value) {
    let cloths = tree.get_mut("cloth").and_then(Value::as_array_mut);
    for fabric in cloths.into_iter().flatten().filter_map(|cloth| cloth.get_mut("fabric")) {
        if fabric.is_str() {
            *fabric = Value::Table(toml::Table::from_iter([("preset".to_string(), fabric.clone())]));
        }
    }
}

/// The last setting that gave `field`, a part of it, or what it is part of.
pub(super) fn responsible<'a>(settings: &'a [Setting], field: &str) -> Option<&'a Setting> {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    settings.iter().rev().find(|s| within(field, &s.path) || (!field.is_empty() && within(&s.path, field)))
}
