//! What can go wrong when writing.

use std::path::PathBuf;

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The operating system refused.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
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
    /// The target is a folder.
    #[error("{}: this is a folder; name a file in it, such as {}", path.display(), path.join("cloth.glb").display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The target's folder is not there.
    #[error("{}: there is no folder {}; create it, or write elsewhere", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// No file can be created in the target's folder.
    #[error("{}: the folder {} is not writable: {source}; choose one that is", path.display(), folder.display())]
    FolderNotWritable {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The place for the frame number in the name is not usable.
    #[error("{}: {problem}", path.display())]
    Pattern {
        /// The file name as given.
        path: PathBuf,
        /// What is wrong and what is accepted.
        problem: String,
    },
    /// The clip contradicts itself, so no file made from it could be right.
    #[error("{}: cannot write this recording: {problem}", path.display())]
    Clip {
        /// The file.
        path: PathBuf,
        /// What does not fit together.
        problem: String,
    },
    /// A frame does not fit the clip or the format.
    #[error("{}: frame {frame}: {problem}", path.display())]
    Frame {
        /// The file.
        path: PathBuf,
        /// Number of the frame.
        frame: u32,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The format cannot hold that much.
    #[error("{}: {problem}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which limit was met, and which format has none.
        problem: String,
    },
}
