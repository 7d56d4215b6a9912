//! PointCache2 `.pc2`: little-endian positions of every frame, streamed.
//!
//! ```text
//! "POINTCACHE2\0"  i32 version = 1  i32 points  f32 start frame  f32 frames per sample  i32 samples
//! then samples × points × f32[3]
//! ```

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::{Clip, Frame, OutputError, Sink, shape};

const HEADER: u64 = 32;

/// Streams positions to disk; the header is completed at the end.
pub(crate) struct Pc2Sink {
    draft: Draft,
    /// Vertices of a frame, with those of bodies.
    all: usize,
    vertices: usize,
    points: i32,
    first: u32,
    frames: usize,
}

impl Pc2Sink {
    /// Starts the cache that will be at `path`.
    pub fn create(path: &Path, clip: &Clip) -> Result<Pc2Sink, OutputError> {
        let points = shape::as_i32(path, clip.cloth_vertices(), "vertices")?;
        let mut draft = Draft::create(path)?;
        draft.with(|file| file.write_all(&[0; HEADER as usize]))?;
        Ok(Pc2Sink {
            draft,
            all: clip.vertices,
            vertices: clip.cloth_vertices(),
            points,
            first: 0,
            frames: 0,
        })
    }
}

impl Sink for Pc2Sink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        shape::check_frame(self.draft.target(), self.all, frame)?;
        if self.frames == 0 {
            self.first = frame.index;
        }
        let vertices = self.vertices;
        self.draft.with(|file| {
            for value in frame.positions[..vertices].as_flattened() {
                file.write_all(&value.to_le_bytes())?;
            }
            Ok(())
        })?;
        self.frames += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.frames == 0 {
            return Ok(Vec::new());
        }
        let samples = shape::as_i32(self.draft.target(), self.frames, "frames")?;
        let mut header = Vec::from(b"POINTCACHE2\0");
        header.extend(1i32.to_le_bytes());
        header.extend(self.points.to_le_bytes());
        header.extend((self.first as f32).to_le_bytes());
        header.extend(1f32.to_le_bytes());
        header.extend(samples.to_le_bytes());
        let length = HEADER + self.frames as u64 * self.vertices as u64 * 12;
        self.draft.with(|file| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.flush()?;
            // A frame that failed half-way, on a full disk perhaps, is not part of the file.
            file.get_ref().set_len(length)
        })?;
        Ok(vec![self.draft.commit()?])
    }
}
