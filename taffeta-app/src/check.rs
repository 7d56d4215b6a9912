//! `taffeta check`: what is wrong with a mesh or a scene, where, and what to do.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use taffeta::Simulation;
use taffeta::mesh::{self, NONE, Problem, Severity, Topology, TriMesh};
use taffeta::metrics::{Crossing, Part, crossings, intersecting_pairs};
use taffeta::model::ClothPart;
use taffeta::scene::Collider;
use taffeta_io::mesh_file::{ENDINGS, read_mesh};
use taffeta_io::scene_file::load;

use crate::cli::CheckArgs;
use crate::fault::{Fault, say};

/// What was found, in words and for machines.
struct Findings {
    /// One line on what was looked at.
    about: String,
    /// The same for machines, with more figures.
    figures: Value,
    problems: Vec<Problem>,
}

/// Checks a file and says what was found.
pub fn check(args: &CheckArgs) -> Result<(), Fault> {
    let path = Path::new(&args.what);
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let findings =
        if ENDINGS.contains(&ending.as_str()) { check_mesh(path)? } else { check_scene(&args.what)? };
    let wrong = findings.problems.iter().any(|p| p.severity == Severity::Error);
    if args.json {
        say(&findings.json(!wrong).to_string())?;
    } else {
        say(&findings.text())?;
    }
    if wrong { Err(Fault::Found) } else { Ok(()) }
}

impl Findings {
    fn json(&self, ok: bool) -> Value {
        let mut value = self.figures.clone();
        value["ok"] = ok.into();
        value["problems"] = self
            .problems
            .iter()
            .map(|p| {
                json!({
                    "severity": word(p.severity), "kind": p.kind, "count": p.count,
                    "at": p.at, "message": p.message,
                })
            })
            .collect();
        value
    }

    fn text(&self) -> String {
        let mut text = self.about.clone();
        for p in &self.problems {
            let _ = write!(text, "\n{:<8} {:<12} {}", word(p.severity), p.kind, p.message);
        }
        if self.problems.is_empty() {
            text += "\nno problems found";
        }
        text
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn check_mesh(path: &Path) -> Result<Findings, Fault> {
    let mesh = read_mesh(path).map_err(Fault::input)?;
    let mut problems = mesh::check(&mesh);
    let (mut about, mut figures) = describe(&mesh);
    // Only where every triangle has its vertices.
    if !problems.iter().any(|p| p.kind == "index-out-of-range") {
        let part = Part { positions: &mesh.positions, triangles: &mesh.triangles, collider: false };
        problems.extend(crossing(&[part], &[String::new()], &mut figures));
    }
    about = format!("{}: {about}", path.display());
    figures["file"] = json!(path);
    figures["kind"] = "mesh".into();
    Ok(Findings { about, figures, problems })
}

fn check_scene(name: &str) -> Result<Findings, Fault> {
    let loaded = load(name, &[]).map_err(Fault::input)?;
    let mut problems = Vec::new();
    // Errors of meshes are among those of building; what is only odd about them is not.
    for (i, cloth) in loaded.scene.cloth.iter().enumerate() {
        for mut problem in cloth.shape.iter().flat_map(mesh::check) {
            problem.message = format!("cloth.{i}.mesh: {}", problem.message);
            problems.push(problem);
        }
    }
    problems.extend(loaded.scene.collider.iter().enumerate().flat_map(|(i, c)| collider_mesh(i, c)));
    let mut figures = json!({ "kind": "scene", "scene": loaded.name, "cloths": loaded.scene.cloth.len() });
    let about = match Simulation::new(&loaded.scene) {
        Ok(sim) => {
            let model = sim.model();
            let part = |cloth: &ClothPart| Part {
                positions: sim.positions(),
                triangles: &sim.triangles()[cloth.triangles.clone()],
                collider: false,
            };
            let mut parts: Vec<Part> = model.cloths.iter().map(part).collect();
            let points: Vec<Vec<[f32; 3]>> = sim
                .bodies()
                .iter()
                .map(|body| body.points().iter().map(|p| p.to_array()).collect())
                .collect();
            for (body, positions) in sim.bodies().iter().zip(&points) {
                parts.push(Part { positions, triangles: body.triangles(), collider: true });
            }
            let title = |(i, cloth): (usize, &ClothPart)| match cloth.name.as_str() {
                "" => format!("cloth.{i}"),
                name => name.to_string(),
            };
            let mut names: Vec<String> = model.cloths.iter().enumerate().map(title).collect();
            names.extend(sim.bodies().iter().map(|body| body.name.clone()));
            problems.extend(crossing(&parts, &names, &mut figures));
            problems.extend(inside_colliders(&sim));
            let (vertices, triangles) = (model.particles(), model.triangles.len());
            figures["vertices"] = vertices.into();
            figures["triangles"] = triangles.into();
            figures["constraints"] = model.constraints().into();
            figures["colors"] = sim.colors().into();
            figures["colliders"] = sim.bodies().len().into();
            format!(
                "{name}: {} with {vertices} vertices, {triangles} triangles, {} constraints in {} colours; {}",
                counted(model.cloths.len(), "cloth"),
                model.constraints(),
                sim.colors(),
                counted(sim.bodies().len(), "collider")
            )
        }
        Err(error) => {
            let message = loaded.explain(&error).to_string();
            // A mesh's own report says more than the first of its errors.
            if !problems.iter().any(|p| p.severity == Severity::Error) {
                let severity = Severity::Error;
                problems.insert(0, Problem { severity, kind: "scene", at: Vec::new(), count: 1, message });
            }
            format!("{name}: cannot be simulated")
        }
    };
    Ok(Findings { about, figures, problems })
}

/// Counts, size, components and boundary.
fn describe(mesh: &TriMesh) -> (String, Value) {
    let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
    let boundary = topology.edges.iter().filter(|edge| edge.triangles[1] == NONE).count();
    let (_, components) = topology.components();
    let size: Vec<f32> = (0..3)
        .map(|axis| {
            let values = mesh.positions.iter().map(|p| p[axis]).filter(|c| c.is_finite());
            let (low, high) =
                values.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)));
            (high - low).max(0.0)
        })
        .collect();
    let (vertices, triangles, edges) = (mesh.positions.len(), mesh.triangles.len(), topology.edges.len());
    let about = format!(
        "{vertices} vertices, {triangles} triangles, {edges} edges ({boundary} on the boundary), {}, {:.3} × {:.3} × {:.3} m",
        counted(components, "component"),
        size[0],
        size[1],
        size[2]
    );
    let figures = json!({
        "vertices": vertices, "triangles": triangles, "edges": edges, "boundary_edges": boundary,
        "components": components, "size": size,
    });
    (about, figures)
}

/// What is odd about the mesh of a collider that was read from a file; it is used all the same.
fn collider_mesh(index: usize, collider: &Collider) -> Vec<Problem> {
    let Some(surface) = &collider.surface else { return Vec::new() };
    let mesh = surface.mesh();
    let mut problems = Vec::new();
    let mut warn = |kind, count, message: String| {
        let message = format!("collider.{index}.mesh: {message}");
        problems.push(Problem { severity: Severity::Warning, kind, at: Vec::new(), count, message });
    };
    if !surface.closed() {
        warn("open", 1, "it is open: its surface is solid from both sides, but it has no inside".into());
    }
    if surface.turned() > 0 {
        let (turned, all) = (surface.turned(), surface.triangles.len());
        warn(
            "inside-out",
            turned,
            format!("{turned} of {all} triangles faced inwards and were turned round"),
        );
    }
    let pairs = intersecting_pairs(&mesh.positions, &mesh.triangles);
    if let Some([a, b]) = pairs.first() {
        let message = format!("it crosses itself (triangles {a} and {b} first); cloth may be caught there");
        warn("self-crossing", pairs.len(), message);
    }
    problems
}

/// Crossings that are named one by one; more are only counted.
const NAMED: usize = 4;

/// Triangles that cross: contact keeps cloth from crossing, but cannot know which side is the right one. The figures get all counts and the first places.
fn crossing(parts: &[Part], names: &[String], figures: &mut Value) -> Option<Problem> {
    let found = crossings(parts);
    let of = |c: &Crossing, k: usize| names[c.parts[k] as usize].as_str();
    figures["intersecting_pairs"] = found.len().into();
    figures["crossings"] = found
        .iter()
        .take(8)
        .map(|c| json!({ "parts": [of(c, 0), of(c, 1)], "triangles": c.triangles, "position": c.point }))
        .collect();
    let place = |c: &Crossing| {
        let [a, b] = c.triangles;
        let [x, y, z] = c.point;
        let pair = match (of(c, 0), of(c, 1)) {
            ("", "") => format!("triangles {a} and {b}"),
            (one, other) if one == other => format!("triangles {a} and {b} of '{one}'"),
            (one, other) => format!("triangle {a} of '{one}' and {b} of '{other}'"),
        };
        (pair, format!("at ({x:.4}, {y:.4}, {z:.4}) m"))
    };
    let (pair, at) = place(found.first()?);
    let mut message = format!("{pair} cross {at}");
    for c in found.iter().take(NAMED).skip(1) {
        let (pair, at) = place(c);
        let _ = write!(message, ", {pair} {at}");
    }
    if found.len() > NAMED {
        let _ = write!(message, " (and {} pairs more)", found.len() - NAMED);
    }
    message += "; move the layers apart, contact cannot tell which side is right";
    Some(Problem {
        severity: Severity::Error,
        kind: "intersecting",
        at: found.iter().take(8).map(|c| c.triangles[0] as usize).collect(),
        count: found.len(),
        message,
    })
}

fn inside_colliders(sim: &Simulation) -> Option<Problem> {
    let count = sim.penetrating_vertices();
    let message = format!(
        "{count} vertices start inside a collider; they will be pushed out at once: move the cloth or the collider"
    );
    let severity = Severity::Warning;
    (count > 0).then_some(Problem { severity, kind: "penetrating", at: Vec::new(), count, message })
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
