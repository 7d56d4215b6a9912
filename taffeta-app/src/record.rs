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
}

impl Recorder {
    /// Starts them.
    pub fn open(paths: &[PathBuf], clip: &Clip) -> Result<Recorder, OutputError> {
        let sinks = paths.iter().map(|path| output::open(path, clip)).collect::<Result<_, _>>()?;
        Ok(Recorder { sinks, poses: Vec::new() })
    }

    /// Adds the state of `sim` to each.
    pub fn frame(&mut self, sim: &Simulation, metrics: &Metrics) -> Result<(), OutputError> {
        if self.sinks.is_empty() {
            return Ok(());
        }
        self.poses.clear();
        self.poses.extend(sim.bodies().iter().map(|body| body.pose));
        let frame = Frame {
            index: sim.state().frame,
            time: sim.state().time,
            positions: sim.positions(),
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

/// What stays the same through the recording of `sim`.
pub fn clip(sim: &Simulation, title: &str, subtitle: String) -> Clip {
    let model = sim.model();
    let caller = |v: u32| model.caller[v as usize];
    Clip {
        title: title.into(),
        subtitle,
        fps: 1.0 / sim.params().dt,
        vertices: model.particles(),
        triangles: sim.triangles().to_vec(),
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
