//! Results out: one [`Sink`] per file, chosen by the file's ending.
//!
//! Every sink writes to a temporary name beside its target and renames it in [`Sink::finish`], so an
//! existing file stays whole until the new one is.

use std::path::PathBuf;

use taffeta::collide::{Pose, Shape};

mod error;
mod html;

pub use error::OutputError;
pub use html::HtmlSink;

/// What stays the same through a recording.
#[derive(Clone, Debug, Default)]
pub struct Clip {
    /// The name of the scene.
    pub title: String,
    /// One line about how it was made: method, sizes, time step.
    pub subtitle: String,
    /// Frames per second of simulated time.
    pub fps: f32,
    /// The number of vertices of every frame.
    pub vertices: usize,
    /// Triangles of all cloths, in the caller's vertex order.
    pub triangles: Vec<[u32; 3]>,
    /// The edges strain is shown on: the two vertices and the rest length in metres.
    pub edges: Vec<([u32; 2], f32)>,
    /// The cloths, each a range of vertices and of triangles.
    pub cloths: Vec<Part>,
    /// The colliders' shapes; their poses come with each frame.
    pub colliders: Vec<Shape>,
}

/// One cloth of a [`Clip`].
#[derive(Clone, Debug)]
pub struct Part {
    /// The cloth's name in the scene.
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
    /// Positions of all vertices in the caller's order, m.
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
    /// Completes the file under its real name and says what was written.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, OutputError>;
}
