//! Meshes made by code: bodies and garments for scenes that need no files.

mod round;

pub use round::{ball, torus};
