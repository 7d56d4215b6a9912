//! Files around the taffeta engine: meshes in, results out.

pub mod output;
