//! Running the real program in a folder of its own.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, to be run in `folder`.
pub fn taffeta(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taffeta"));
    command.current_dir(folder);
    command
}

/// Runs the program with the words of `line`.
pub fn run(folder: &Path, line: &str) -> Output {
    taffeta(folder).args(line.split_whitespace()).output().expect("the program starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The JSON object on standard output, which must be all there is.
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", stdout(output), stderr(output)))
}

/// Number of vertices and frames of a `.pc2` file that is as long as its header says.
pub fn pc2(path: &Path) -> (usize, usize) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (points, frames) = (number(16), number(28));
    assert_eq!(bytes.len(), 32 + points * frames * 12);
    (points, frames)
}

/// Everything in a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
