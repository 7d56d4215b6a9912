//! A real-time cloth simulation engine.

pub mod collide;
pub mod color;
pub mod constraint;
pub mod error;
pub mod lanes;
pub mod linalg;
pub mod material;
pub mod mesh;
pub mod metrics;
pub mod model;
pub mod motion;
pub mod par;
pub mod params;
pub mod scene;
pub mod solver;
pub mod state;
pub mod step;
pub mod transpose;
pub mod wide;

pub use error::BuildError;
pub use scene::Scene;
pub use step::Simulation;
