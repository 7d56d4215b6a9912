//! Files around the taffeta engine: scenes and meshes in, results out.

#![forbid(unsafe_code)]

mod ending;
pub mod mesh_file;
pub mod output;
pub mod plot;
pub mod scene_file;
