//! Files around the taffeta engine: meshes in, results out.

#![forbid(unsafe_code)]

mod ending;
pub mod mesh_file;
pub mod output;
