//! LightWave `.mdd`: big-endian positions of every frame with its time.
//!
//! ```text
//! i32 frames  i32 points  frames × f32 time [s]
//! then frames × points × f32[3]
//! ```

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::{Clip, Frame, OutputError, Sink, shape};

/// Streams positions to disk.
///
/// The times precede the positions and their number is known only at the end; so positions go to a draft of
/// their own, which is copied behind the header when that can be written.
pub(crate) struct MddSink {
    positions: Draft,
    /// Vertices of a frame, with those of bodies.
    all: usize,
    vertices: usize,
    points: i32,
    times: Vec<f32>,
}

impl MddSink {
    /// Starts the cache that will be at `path`.
    pub fn create(path: &Path, clip: &Clip) -> Result<MddSink, OutputError> {
        Ok(MddSink {
            points: shape::as_i32(path, clip.cloth_vertices(), "vertices")?,
            positions: Draft::create(path)?,
            all: clip.vertices,
            vertices: clip.cloth_vertices(),
            times: Vec::new(),
        })
    }
}

impl Sink for MddSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        shape::check_frame(self.positions.target(), self.all, frame)?;
        let vertices = self.vertices;
        self.positions.with(|file| {
            for value in frame.positions[..vertices].as_flattened() {
                file.write_all(&value.to_be_bytes())?;
            }
            Ok(())
        })?;
        self.times.push(frame.time as f32);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.times.is_empty() {
            return Ok(Vec::new());
        }
        let frames = shape::as_i32(self.positions.target(), self.times.len(), "frames")?;
        // A frame that failed half-way, on a full disk perhaps, is not part of the file.
        let length = self.times.len() as u64 * self.vertices as u64 * 12;
        let mut positions = self.positions.read_back()?.take(length);
        let mut whole = Draft::create(self.positions.target())?;
        whole.with(|file| {
            file.write_all(&frames.to_be_bytes())?;
            file.write_all(&self.points.to_be_bytes())?;
            for time in &self.times {
                file.write_all(&time.to_be_bytes())?;
            }
            let copied = io::copy(&mut positions, file)?;
            if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        })?;
        Ok(vec![whole.commit()?])
    }
}
