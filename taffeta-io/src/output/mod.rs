//! Results out: one [`Sink`] per file, chosen by the file's ending.
//!
//! Every sink writes to a temporary name beside its target and renames it in [`Sink::finish`], so an
//! existing file stays whole until the new one is.
//!
//! Positions are written as the engine has them: metres, y up, in the caller's vertex order.

use std::path::{Path, PathBuf};

use taffeta::collide::{Pose, Shape};

mod csv;
mod draft;
mod error;
mod format;
mod glb;
mod html;
mod keys;
mod mdd;
mod number;
mod obj;
pub(crate) mod pattern;
mod pc2;
mod ply;
mod shape;
mod still;
mod svg;

#[cfg(test)]
mod tests;

pub use error::OutputError;
pub use format::Format;
pub use html::{HtmlSink, shapes};

use pattern::Target;

/// Writes a whole text file under a temporary name and then gives it its own, so that an old one stays until the new one is.
pub fn write_text(path: &Path, text: &str) -> Result<PathBuf, OutputError> {
    let mut draft = draft::Draft::create(path)?;
    draft.with(|file| std::io::Write::write_all(file, text.as_bytes()))?;
    draft.commit()
}

/// What stays the same through a recording.
#[derive(Clone, Debug, Default)]
pub struct Clip {
    /// The name of the scene.
    pub title: String,
    /// One line about how it was made: method, sizes, time step.
    pub subtitle: String,
    /// Frames per second of simulated time.
    pub fps: f32,
    /// The number of vertices of every frame: of all cloths, then of all [`bodies`](Self::bodies).
    pub vertices: usize,
    /// Triangles of all cloths, in the caller's vertex order, then those of the bodies.
    pub triangles: Vec<[u32; 3]>,
    /// The edges strain is shown on: the two vertices and the rest length in metres.
    pub edges: Vec<([u32; 2], f32)>,
    /// The cloths, each a range of vertices and of triangles.
    pub cloths: Vec<Part>,
    /// The meshes of colliders, each a range of vertices and of triangles after those of the cloths. Formats of several objects show them;
    /// point caches and `.ply` hold the cloths alone.
    pub bodies: Vec<Part>,
    /// The colliders' shapes; their poses come with each frame.
    pub colliders: Vec<Shape>,
}

impl Clip {
    /// Vertices of the cloths, which come first.
    pub fn cloth_vertices(&self) -> usize {
        self.bodies.first().map_or(self.vertices, |body| body.vertices.start)
    }

    /// Triangles of the cloths, which come first.
    pub fn cloth_triangles(&self) -> usize {
        self.bodies.first().map_or(self.triangles.len(), |body| body.triangles.start)
    }
}

/// One cloth of a [`Clip`], or the mesh of a collider.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name in the scene.
    pub name: String,
    /// Its vertices.
    pub vertices: std::ops::Range<usize>,
    /// Its triangles.
    pub triangles: std::ops::Range<usize>,
}

/// What changes from frame to frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the frame; 0 is the start.
    pub index: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Positions of all vertices in the caller's order, m; those of bodies last.
    pub positions: &'a [[f32; 3]],
    /// Poses of the colliders, in the order of [`Clip::colliders`].
    pub colliders: &'a [Pose],
    /// Named figures of this frame, the same names in the same order every time.
    pub metrics: &'a [(&'static str, f64)],
}

/// A file being written, frame by frame.
pub trait Sink {
    /// Takes the next frame.
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError>;
    /// Completes the file under its real name and says what was written: nothing if there was no frame.
    ///
    /// The file is whole however few frames there were, so an interrupted run can finish what it has.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, OutputError>;
}

/// Says before a long run whether [`open`] will be able to write `path`: the ending is known, the folder is there
/// and a file can be created in it (which is tried). What exists is left alone.
pub fn check(path: &Path) -> Result<(), OutputError> {
    if path.is_dir() {
        return Err(OutputError::IsFolder { path: path.to_path_buf() });
    }
    Target::parse(path, Format::of(path)?)?;
    let folder = draft::folder(path);
    if !folder.is_dir() {
        return Err(OutputError::NoFolder { path: path.to_path_buf(), folder: folder.to_path_buf() });
    }
    draft::probe(path).map_err(|source| OutputError::FolderNotWritable {
        path: path.to_path_buf(),
        folder: folder.to_path_buf(),
        source,
    })
}

/// Starts the file `path` in the format of its ending.
pub fn open(path: &Path, clip: &Clip) -> Result<Box<dyn Sink>, OutputError> {
    let format = Format::of(path)?;
    let target = Target::parse(path, format)?;
    shape::check(path, clip)?;
    Ok(match format {
        Format::Html => Box::new(HtmlSink::create(path, clip)?),
        Format::Glb => Box::new(glb::GlbSink::create(path, clip)?),
        Format::Pc2 => Box::new(pc2::Pc2Sink::create(path, clip)?),
        Format::Mdd => Box::new(mdd::MddSink::create(path, clip)?),
        Format::Obj => Box::new(still::StillSink::new(target, clip, obj::write)),
        Format::Ply => Box::new(still::StillSink::new(target, clip, ply::write)),
        Format::Csv => Box::new(csv::CsvSink::create(path)?),
        Format::Svg => Box::new(svg::SvgSink::create(path, clip)?),
    })
}
