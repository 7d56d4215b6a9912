//! Formats that hold one frame: the last one is written, or each to a file of its own.

use std::io::{self, Write};
use std::path::PathBuf;

use super::draft::Draft;
use super::pattern::Target;
use super::{Clip, Frame, OutputError, Sink, shape};

/// Writes one mesh: the clip and the positions of its vertices, m.
pub(crate) type Encoder = fn(&mut dyn Write, &Clip, &[[f32; 3]]) -> io::Result<()>;

/// Meshes without motion.
pub(crate) struct StillSink {
    target: Target,
    clip: Clip,
    encode: Encoder,
    /// Number and positions of the latest frame, kept where only the last one is written.
    last: Option<(u32, Vec<[f32; 3]>)>,
    written: Vec<PathBuf>,
}

impl StillSink {
    /// Starts with no frame.
    pub fn new(target: Target, clip: &Clip, encode: Encoder) -> StillSink {
        StillSink { target, clip: clip.clone(), encode, last: None, written: Vec::new() }
    }

    fn write(&mut self, index: u32, positions: &[[f32; 3]]) -> Result<(), OutputError> {
        let mut draft = Draft::create(&self.target.of_frame(index))?;
        draft.with(|file| (self.encode)(file, &self.clip, positions))?;
        self.written.push(draft.commit()?);
        Ok(())
    }
}

impl Sink for StillSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        let path = self.target.of_frame(frame.index);
        shape::check_frame(&path, self.clip.vertices, frame)?;
        if let Target::Numbered { .. } = self.target {
            return self.write(frame.index, frame.positions);
        }
        let (index, positions) = self.last.get_or_insert_default();
        *index = frame.index;
        positions.clear();
        positions.extend_from_slice(frame.positions);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if let Some((index, positions)) = self.last.take() {
            self.write(index, &positions)?;
        }
        Ok(self.written)
    }
}

/// `text` on one line, for comments in headers.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
