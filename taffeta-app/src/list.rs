//! What there is: scenes, methods, fabrics, formats.

use std::fmt::Write;

use serde_json::{Value, json};
use taffeta::constraint::Kind;
use taffeta::material::{PRESETS, Preset, Source};
use taffeta::solver::METHODS;
use taffeta_io::output::Format;
use taffeta_io::scene_file::{BUILT_IN, load};

use crate::cli::{ListArgs, Topic};
use crate::fault::{Fault, say};

/// Prints one list, or all.
pub fn list(args: &ListArgs) -> Result<(), Fault> {
    let topics = [Topic::Scenes, Topic::Methods, Topic::Fabrics, Topic::Formats];
    if args.json {
        let value = match args.what {
            Some(topic) => as_json(topic),
            None => topics.iter().map(|&topic| (name(topic).to_string(), as_json(topic))).collect(),
        };
        return say(&format!("{value:#}"));
    }
    let mut text = String::new();
    for topic in topics.into_iter().filter(|&topic| args.what.is_none_or(|wanted| wanted == topic)) {
        if args.what.is_none() {
            let _ = writeln!(text, "{}\n", name(topic).to_uppercase());
        }
        text += &as_text(topic);
        text.push('\n');
    }
    say(text.trim_end())
}

fn name(topic: Topic) -> &'static str {
    match topic {
        Topic::Scenes => "scenes",
        Topic::Methods => "methods",
        Topic::Fabrics => "fabrics",
        Topic::Formats => "formats",
    }
}

fn as_json(topic: Topic) -> Value {
    match topic {
        Topic::Scenes => {
            scenes(|name, scene| json!({ "name": name, "title": scene.title, "about": scene.about })).into()
        }
        Topic::Methods => METHODS
            .iter()
            .map(|m| {
                let kinds: Vec<&str> = m.kinds.iter().map(|&kind| Kind::name(kind)).collect();
                json!({
                    "name": m.name, "about": m.about, "citation": m.citation,
                    "constraints": kinds, "good_for": m.good_for, "stable": m.stable,
                })
            })
            .collect(),
        Topic::Fabrics => PRESETS.iter().map(fabric_json).collect(),
        Topic::Formats => Format::ALL
            .iter()
            .map(|f| json!({ "ending": f.ending(), "name": f.name(), "about": f.description() }))
            .collect(),
    }
}

fn as_text(topic: Topic) -> String {
    let mut text = String::new();
    match topic {
        Topic::Scenes => {
            for line in scenes(|name, scene| format!("{name:<20}{}", scene.about)) {
                let _ = writeln!(text, "{line}");
            }
        }
        Topic::Methods => {
            for m in METHODS {
                let kinds: Vec<&str> = m.kinds.iter().map(|&kind| Kind::name(kind)).collect();
                let _ = writeln!(text, "{:<20}{}", m.name, m.about);
                for (what, value) in [
                    ("good for", m.good_for),
                    ("stable for", m.stable),
                    ("constraints", &kinds.join(", ")),
                    ("from", m.citation),
                ] {
                    let _ = writeln!(text, "  {what:<18}{value}");
                }
            }
        }
        Topic::Fabrics => {
            for preset in &PRESETS {
                fabric_text(preset, &mut text);
            }
            let _ = writeln!(text, "The letters are explained in the documentation of taffeta::material.");
        }
        Topic::Formats => {
            for f in Format::ALL {
                let _ = writeln!(text, ".{:<17}{}: {}", f.ending(), f.name(), f.description());
            }
        }
    }
    text
}

fn scenes<T>(show: impl Fn(&str, &taffeta::Scene) -> T) -> Vec<T> {
    let load = |name| load(name, &[]).expect("built-in scenes are tested").scene;
    BUILT_IN.iter().map(|scene| show(scene.name, &load(scene.name))).collect()
}

/// The figures that have a source: name, unit, values, source.
fn figures(p: &Preset) -> [(&'static str, &'static str, Vec<f32>, Source); 5] {
    let f = &p.fabric;
    [
        ("density", "kg/m²", vec![f.density], p.density),
        ("stretch", "N/m", f.stretch.to_vec(), p.stretch),
        ("shear", "N/m", vec![f.shear], p.shear),
        ("bend", "N·m", f.bend.to_vec(), p.bend),
        ("thickness", "m", vec![f.thickness], p.thickness),
    ]
}

fn fabric_json(p: &Preset) -> Value {
    let mut value = json!({
        "name": p.name, "about": p.about,
        "damping": plain(p.fabric.damping), "friction": plain(p.fabric.friction),
    });
    for (name, unit, values, source) in figures(p) {
        let values: Vec<Value> = values.into_iter().map(plain).collect();
        let figure = if let [one] = &values[..] { one.clone() } else { values.clone().into() };
        value[name] = figure;
        value["sources"][name] = json!({ "unit": unit, "is": source.word(), "note": source.note() });
    }
    value
}

/// A figure with the digits it was written with.
fn plain(value: f32) -> Value {
    json!(value.to_string().parse::<f64>().unwrap_or(value as f64))
}

/// The same for people: small ones with an exponent.
fn short(value: f32) -> String {
    if value.abs() < 1e-3 { format!("{value:e}") } else { value.to_string() }
}

fn fabric_text(p: &Preset, text: &mut String) {
    let _ = writeln!(text, "{:<20}{}", p.name, p.about);
    for (name, unit, values, source) in figures(p) {
        let mut shown: Vec<String> = values.iter().map(|&v| short(v)).collect();
        shown.dedup();
        let figure = format!("{} {unit}", shown.join(" / "));
        let _ = writeln!(text, "  {name:<18}{figure:<28}{:<10} {}", source.word(), source.note());
    }
    let f = &p.fabric;
    let _ = writeln!(text, "  {:<18}{}", "friction", short(f.friction));
    let _ = writeln!(text, "  {:<18}{} 1/s", "damping", short(f.damping));
}
