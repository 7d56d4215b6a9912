//! The self-contained player page.

use std::path::{Path, PathBuf};

use super::{Clip, Frame, OutputError, Sink};

/// Writes one `.html` file that plays the recording in any browser without a network.
pub struct HtmlSink;

impl HtmlSink {
    /// Starts the page that will be at `path`.
    pub fn create(_path: &Path, _clip: &Clip) -> Result<HtmlSink, OutputError> {
        Ok(HtmlSink)
    }
}

impl Sink for HtmlSink {
    fn frame(&mut self, _frame: &Frame<'_>) -> Result<(), OutputError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        Ok(Vec::new())
    }
}
