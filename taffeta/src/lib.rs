//! A real-time cloth simulation engine.

pub mod collide;
pub mod color;
pub mod constraint;
pub mod lanes;
pub mod linalg;
pub mod mesh;
pub mod par;
pub mod wide;
