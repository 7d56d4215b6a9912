//! A scene file's text, and where in it each field is.

use std::ops::Range;

use taffeta::Scene;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::SceneFileError;
use super::message::humane;

/// A scene file as it was read.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Its name in messages.
    file: String,
    text: String,
}

impl Text {
    pub fn new(file: String, text: String) -> Self {
        Text { file, text }
    }

    /// The scene it describes.
    pub fn parse(&self) -> Result<Scene, SceneFileError> {
        let tree = DeTable::parse(&self.text)
            .map_err(|error| self.wrong_at(error.span().unwrap_or(0..0), first_line(error.message())))?;
        serde_path_to_error::deserialize(toml::Deserializer::from(tree)).map_err(|error| {
            let path = dotted(error.path());
            let inner = error.into_inner();
            let problem = humane(inner.message());
            match inner.span() {
                Some(span) => self.wrong_at(span, named(&path, problem)),
                None => self.wrong_field(&path, problem),
            }
        })
    }

    /// An error about a field: with its line if the file gives it, or at least something that contains it.
    pub fn wrong_field(&self, field: &str, problem: String) -> SceneFileError {
        let problem = named(field, problem);
        match self.find(field) {
            Some(span) => self.wrong_at(span, problem),
            None => SceneFileError::Field { file: self.file.clone(), problem },
        }
    }

    fn wrong_at(&self, span: Range<usize>, problem: String) -> SceneFileError {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        SceneFileError::Line { file: self.file.clone(), line, column, problem }
    }

    /// Where the file gives `field`, or the innermost thing around it.
    fn find(&self, field: &str) -> Option<Range<usize>> {
        let tree = DeTable::parse(&self.text).ok()?;
        let mut steps = field.split('.');
        let first: &Spanned<DeValue<'_>> = tree.get_ref().get(steps.next()?)?;
        let (mut at, mut span) = (first, first.span());
        for step in steps {
            let next = match at.get_ref() {
                DeValue::Table(table) => table.get(step),
                DeValue::Array(items) => step.parse().ok().and_then(|i: usize| items.get(i)),
                _ => None,
            };
            let Some(next) = next else { break };
            (at, span) = (next, next.span());
        }
        Some(span)
    }
}

/// `problem` with the field in front, unless the field is the whole file.
pub(super) fn named(field: &str, problem: String) -> String {
    if field.is_empty() { problem } else { format!("{field}: {problem}") }
}

/// A path in the form that `--set` takes: `cloth.0.pin.1`.
pub(super) fn dotted(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(step).collect::<Vec<_>>().join(".")
}

fn first_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ")
}
