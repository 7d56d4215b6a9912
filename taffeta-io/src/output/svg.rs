//! Metrics as `.svg`: curves over the frames, in small panels.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::{Clip, Frame, OutputError, Sink};
use crate::plot::run_figure;

/// Keeps the metrics until the end; the axes need all of them.
pub(crate) struct SvgSink {
    draft: Draft,
    title: String,
    subtitle: String,
    names: Vec<&'static str>,
    rows: Vec<(u32, Vec<f64>)>,
}

impl SvgSink {
    /// Starts the figure that will be at `path`.
    pub fn create(path: &Path, clip: &Clip) -> Result<SvgSink, OutputError> {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(SvgSink {
            draft: Draft::create(path)?,
            title: one_line(&clip.title),
            subtitle: one_line(&clip.subtitle),
            names: Vec::new(),
            rows: Vec::new(),
        })
    }
}

impl Sink for SvgSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        if self.rows.is_empty() {
            self.names = frame.metrics.iter().map(|&(name, _)| name).collect();
        }
        let figure =
            |name: &&str| frame.metrics.iter().find(|(n, _)| n == name).map_or(f64::NAN, |&(_, v)| v);
        self.rows.push((frame.index, self.names.iter().map(figure).collect()));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.rows.is_empty() {
            return Ok(Vec::new());
        }
        let svg = run_figure(&self.title, &self.subtitle, &self.names, &self.rows).svg();
        self.draft.with(|file| file.write_all(svg.as_bytes()))?;
        Ok(vec![self.draft.commit()?])
    }
}
