//! What can be wrong with a scene.

use std::path::PathBuf;

/// Why a scene could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneFileError {
    /// There is no scene of that name.
    #[error("there is no scene '{name}'; {hint} (a scene of your own is a file that ends in .toml)")]
    UnknownScene {
        /// The name given.
        name: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// The file is not there.
    #[error("{}: there is no such file", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused, or the file is not text.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in the file is wrong.
    #[error("{file}:{line}:{column}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The field, what is wrong and what would be right.
        problem: String,
    },
    /// A field that the file does not give is wrong, or missing.
    #[error("{file}: {problem}")]
    Field {
        /// The file.
        file: String,
        /// The field, what is wrong and what would be right.
        problem: String,
    },
    /// A `PATH=VALUE` is wrong.
    #[error("--set {argument}: {problem}")]
    Set {
        /// The argument.
        argument: String,
        /// The field, what is wrong and what would be right.
        problem: String,
    },
}
