//! A real-time cloth simulation engine.

pub mod collide;
pub mod mesh;
