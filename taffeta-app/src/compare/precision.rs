//! Work against precision: what a method's error is for the processor time it takes.
//!
//! Two errors, both relative to the size of the cloth, over the first frames of the scene:
//!
//! - The *solver* error is the distance from the reference with the same substeps. Both then have the same equations to solve
//!   (implicit Euler's), and only how well they are solved differs; a method gets better with more iterations.
//! - The *total* error is the distance from the reference with very many substeps, which stands for the true motion. It
//!   has the error of the time step in it, and a method gets better with more substeps.
//!
//! How sure the fine reference is of itself is measured too: by its distance from the reference with half of its substeps.

use std::collections::BTreeMap;

use taffeta::metrics::Gap;

use super::entrant::Entrant;
use super::race::{Path, distance, sprint};
use crate::fault::{Fault, mention};
use crate::interrupt;

/// Iterations at the scene's substeps, for the solver error.
const ITERATIONS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Substeps at the scene's iterations, for the total error.
const SUBSTEPS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// A method that takes longer than this over the first frames is not made to work still harder, s.
const LIMIT: f64 = 10.0;
const REPEATS: u32 = 3;

/// One setting of a method and what it gives.
pub struct Point {
    pub substeps: u32,
    pub iterations: u32,
    /// Processor time of a frame, ms.
    pub ms: f64,
    /// Distance from the reference over the size of the cloth.
    pub error: Gap,
}

/// A method as its counts vary.
pub struct Line {
    pub name: String,
    /// More and more iterations: the solver error.
    pub solver: Vec<Point>,
    /// More and more substeps: the total error.
    pub total: Vec<Point>,
    /// Settings that exploded or were refused, and why.
    pub failures: Vec<String>,
}

/// How the scene is run.
pub struct Course<'a> {
    pub scene: &'a str,
    pub sets: Vec<String>,
    pub substeps: u32,
    pub iterations: u32,
    pub threads: u32,
    pub horizon: u32,
    pub quiet: bool,
}

impl Course<'_> {
    fn say(&self, text: &str) {
        if !self.quiet {
            mention(text);
        }
    }

    fn sprint(
        &self,
        entrant: &Entrant,
        substeps: u32,
        iterations: Option<u32>,
        repeats: u32,
    ) -> Result<Result<(Path, f64), String>, Fault> {
        let mut last = vec![format!("simulation.substeps={substeps}")];
        last.extend(iterations.map(|n| format!("simulation.iterations={n}")));
        let loaded = entrant.load(self.scene, &self.sets, &last)?;
        let run = sprint(&loaded, self.threads, self.horizon, repeats);
        // What was stopped on the way says nothing about the method.
        if interrupt::stopped() { Err(Fault::Interrupted("stopped".into())) } else { Ok(run) }
    }
}

/// What errors are measured against.
pub struct Reference {
    pub name: String,
    entrant: Entrant,
    /// The reference's frames by its substeps, or why there are none.
    runs: BTreeMap<u32, Result<Path, String>>,
    /// Size of the cloth, m.
    pub size: f64,
    pub fine: u32,
}

impl Reference {
    pub fn new(entrant: Entrant, size: f64, fine: u32) -> Reference {
        Reference { name: entrant.name.clone(), entrant, runs: BTreeMap::new(), size, fine }
    }

    /// Runs the reference with so many substeps, unless it was.
    pub fn prepare(&mut self, course: &Course<'_>, substeps: u32) -> Result<(), Fault> {
        if !self.runs.contains_key(&substeps) {
            course.say(&format!("reference {} with {substeps} substeps", self.name));
            let run = course.sprint(&self.entrant, substeps, None, 1)?;
            self.runs.insert(substeps, run.map(|(path, _)| path));
        }
        Ok(())
    }

    /// The error of a path against the reference with so many substeps.
    pub fn error(&self, path: &Path, substeps: u32) -> Option<Gap> {
        let reference = self.runs.get(&substeps)?.as_ref().ok()?;
        let Gap { rms, max } = distance(path, reference)?;
        Some(Gap { rms: rms / self.size, max: max / self.size })
    }

    /// How sure the fine reference is of itself: its own error against half of its substeps.
    pub fn uncertainty(&self) -> Option<Gap> {
        self.error(self.runs.get(&(self.fine / 2))?.as_ref().ok()?, self.fine)
    }

    /// Why there is no reference, where there is none.
    pub fn failures(&self) -> Vec<String> {
        let why = |(substeps, run): (&u32, &Result<Path, String>)| {
            Some(format!("{} with {substeps} substeps: {}", self.name, run.as_ref().err()?))
        };
        self.runs.iter().filter_map(why).collect()
    }
}

/// Draws the lines of all methods that differ in more than their counts. If it is stopped, those that are complete are there.
pub fn draw(
    course: &Course<'_>,
    entrants: &[Entrant],
    reference: &mut Reference,
    lines: &mut Vec<Line>,
) -> Result<(), Fault> {
    for substeps in [course.substeps, reference.fine, reference.fine / 2] {
        reference.prepare(course, substeps)?;
    }
    let mut variants: Vec<Entrant> = Vec::new();
    for variant in entrants.iter().map(Entrant::variant) {
        if !variants.iter().any(|v| v.name == variant.name) {
            variants.push(variant);
        }
    }
    for variant in &variants {
        lines.push(line(course, variant, reference)?);
    }
    Ok(())
}

fn line(course: &Course<'_>, variant: &Entrant, reference: &Reference) -> Result<Line, Fault> {
    course.say(&format!("{}: work and precision", variant.name));
    // The scene's own substeps too, where they are not on the ladder.
    let mut substeps = SUBSTEPS.to_vec();
    if !substeps.contains(&course.substeps) && course.substeps < reference.fine / 2 {
        substeps.push(course.substeps);
        substeps.sort_unstable();
    }
    let mut failures = Vec::new();
    let mut climb = |ladder: &mut dyn Iterator<Item = (u32, u32)>, against: u32| {
        let mut points = Vec::new();
        let mut before = Path::new();
        for (substeps, iterations) in ladder {
            match course.sprint(variant, substeps, Some(iterations), REPEATS)? {
                // A method that stops by itself does not heed its iterations: the next points would be the same.
                Ok((path, _)) if path == before => break,
                Ok((path, ms)) => {
                    let point = |error| Point { substeps, iterations, ms, error };
                    points.extend(reference.error(&path, against).map(point));
                    if ms * course.horizon as f64 > 1e3 * LIMIT {
                        break;
                    }
                    before = path;
                }
                Err(why) => failures.push(format!("{substeps} × {iterations}: {why}")),
            }
        }
        Ok(points)
    };
    let solver = climb(&mut ITERATIONS.into_iter().map(|n| (course.substeps, n)), course.substeps)?;
    let total = climb(&mut substeps.into_iter().map(|n| (n, course.iterations)), reference.fine)?;
    Ok(Line { name: variant.name.clone(), solver, total, failures })
}
