//! Metrics as `.csv`: a row of names, then one row per frame. A cell is empty where there is no figure.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::number::shortest;
use super::{Frame, OutputError, Sink};

/// Streams rows to disk.
pub(crate) struct CsvSink {
    draft: Draft,
    /// The metrics of the first frame, which are the columns.
    columns: Option<Vec<&'static str>>,
}

impl CsvSink {
    /// Starts the table that will be at `path`.
    pub fn create(path: &Path) -> Result<CsvSink, OutputError> {
        Ok(CsvSink { draft: Draft::create(path)?, columns: None })
    }

    fn columns(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        let names: Vec<&'static str> = frame.metrics.iter().map(|&(name, _)| name).collect();
        match &self.columns {
            Some(columns) if *columns == names => Ok(()),
            Some(columns) => Err(OutputError::Frame {
                path: self.draft.target().to_path_buf(),
                frame: frame.index,
                problem: format!(
                    "its metrics are {}; the columns are {}",
                    names.join(", "),
                    columns.join(", ")
                ),
            }),
            None => {
                let mut row = "frame,time".to_string();
                for name in &names {
                    row.push(',');
                    row.push_str(&quoted(name));
                }
                self.draft.with(|file| writeln!(file, "{row}"))?;
                self.columns = Some(names);
                Ok(())
            }
        }
    }
}

impl Sink for CsvSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        self.columns(frame)?;
        let mut row = format!("{},{}", frame.index, shortest(frame.time));
        for &(_, value) in frame.metrics {
            row.push(',');
            if !value.is_nan() {
                row.push_str(&shortest(value));
            }
        }
        self.draft.with(|file| writeln!(file, "{row}"))
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.columns.is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![self.draft.commit()?])
    }
}

/// A name as one field (RFC 4180).
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
