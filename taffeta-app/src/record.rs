//! The files a run writes.

use std::fs;
use std::path::{Path, PathBuf};

use taffeta::Simulation;
use taffeta::collide::Pose;
use taffeta_io::output::{self, Clip, Format, Frame, OutputError, Part, Sink};

use crate::fault::Fault;
use crate::measure::Metrics;

/// Says whether all of `paths` can be written, before anything is simulated.
pub fn check(paths: &[PathBuf]) -> Result<(), Fault> {
    for (i, path) in paths.iter().enumerate() {
        output::check(path).map_err(|error| Fault::Input(format!("--out {error}")))?;
        if paths[..i].iter().any(|other| real(other) == real(path)) {
            let name = path.display();
            return Err(Fault::Input(format!(
                "--out {name}: this file is asked for twice; give each its own name"
            )));
        }
    }
    Ok(())
}

/// The path with its folder made absolute and free of links.
fn real(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    folder.join(path.file_name().unwrap_or_default())
}

/// Whether any of the files shows metrics.
pub fn wants_metrics(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| matches!(Format::of(path), Ok(Format::Csv | Format::Html | Format::Svg)))
}

/// All files of a run.
pub struct Recorder {
    sinks: Vec<Box<dyn Sink>>,
    poses: Vec<Pose>,
    positions: Vec<[f32; 3]>,
}

impl Recorder {
    /// Starts them.
    pub fn open(paths: &[PathBuf], clip: &Clip) -> Result<Recorder, OutputError> {
        let sinks = paths.iter().map(|path| output::open(path, clip)).collect::<Result<_, _>>()?;
        Ok(Recorder { sinks, poses: Vec::new(), positions: Vec::new() })
    }

    /// Adds the state of `sim` to each.
    pub fn frame(&mut self, sim: &Simulation, metrics: &Metrics) -> Result<(), OutputError> {
        if self.sinks.is_empty() {
            return Ok(());
        }
        self.poses.clear();
        self.poses.extend(sim.bodies().iter().map(|body| body.pose));
        positions(sim, &mut self.positions);
        let frame = Frame {
            index: sim.state().frame,
            time: sim.state().time,
            positions: &self.positions,
            colliders: &self.poses,
            metrics,
        };
        self.sinks.iter_mut().try_for_each(|sink| sink.frame(&frame))
    }

    /// Completes all of them, also after a failure of one; what was written, and the first failure.
    pub fn finish(self) -> (Vec<PathBuf>, Option<OutputError>) {
        let (mut written, mut failure) = (Vec::new(), None);
        for sink in self.sinks {
            match sink.finish() {
                Ok(files) => written.extend(files),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        (written, failure)
    }
}

/// All vertices that are shown: those of the cloths, then those of colliders' meshes.
pub fn positions(sim: &Simulation, positions: &mut Vec<[f32; 3]>) {
    positions.clear();
    positions.extend_from_slice(sim.positions());
    positions.extend(sim.bodies().iter().flat_map(|body| body.points()).map(|p| p.to_array()));
}

/// What stays the same through the recording of `sim`.
pub fn clip(sim: &Simulation, title: &str, subtitle: String) -> Clip {
    let model = sim.model();
    let caller = |v: u32| model.caller[v as usize];
    let (mut vertices, mut triangles) = (model.particles(), sim.triangles().to_vec());
    let mut bodies = Vec::new();
    for body in sim.bodies() {
        let Some(surface) = &body.surface else { continue };
        let first = (vertices, triangles.len());
        triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first.0 as u32)));
        vertices += surface.vertices();
        let (name, triangles) = (body.name.clone(), first.1..triangles.len());
        bodies.push(Part { name, vertices: first.0..vertices, triangles });
    }
    Clip {
        bodies,
        title: title.into(),
        subtitle,
        fps: 1.0 / sim.params().dt,
        vertices,
        triangles,
        edges: model.edges.iter().map(|&(edge, rest)| (edge.map(caller), rest)).collect(),
        cloths: (model.cloths.iter())
            .map(|cloth| Part {
                name: cloth.name.clone(),
                vertices: cloth.vertices.clone(),
                triangles: cloth.triangles.clone(),
            })
            .collect(),
        colliders: sim.bodies().iter().map(|body| body.shape).collect(),
    }
}
