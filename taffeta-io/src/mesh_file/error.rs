//! What can be wrong with a mesh file.

use std::path::{Path, PathBuf};

/// Why a mesh could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file is not there.
    #[error("{}: there is no such file", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file's ending names no format.
    #[error("{}: {problem}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// What is wrong with the ending, the likely meaning and what is accepted.
        problem: String,
    },
    /// A line of a text file is wrong.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// An element of the file is wrong.
    #[error("{}: {element}: {problem}", path.display())]
    Element {
        /// The file.
        path: PathBuf,
        /// Which one: "vertex 12", "mesh 0, primitive 1".
        element: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// There is nothing to make a cloth of.
    #[error(
        "{}: no faces found ({vertices} vertices); a cloth needs triangles or polygons, so export the surface \
         and not only its points or lines",
        path.display()
    )]
    NoFaces {
        /// The file.
        path: PathBuf,
        /// How many vertices it has.
        vertices: usize,
    },
}

/// Where in a file something is wrong.
#[derive(Debug, PartialEq)]
pub(crate) enum Place {
    /// A line, from 1.
    Line(usize),
    /// An element, by name and number.
    Element(String),
}

/// What is wrong, before the file's name is known.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub place: Place,
    pub problem: String,
}

impl Fault {
    /// A fault in line `line`, counted from 1.
    pub fn line(line: usize, problem: impl Into<String>) -> Fault {
        Fault { place: Place::Line(line), problem: problem.into() }
    }

    /// A fault in the named element.
    pub fn element(element: impl Into<String>, problem: impl Into<String>) -> Fault {
        Fault { place: Place::Element(element.into()), problem: problem.into() }
    }

    /// The error for the caller.
    pub fn in_file(self, path: &Path) -> MeshFileError {
        let Fault { place, problem } = self;
        let path = path.to_path_buf();
        match place {
            Place::Line(line) => MeshFileError::Line { path, line, problem },
            Place::Element(element) => MeshFileError::Element { path, element, problem },
        }
    }
}
