//! A real-time cloth simulation engine.
//!
//! Describe a [`Scene`], build a [`Simulation`] from it, and call [`Simulation::step`] once a frame:
//!
//! ```
//! use taffeta::scene::{Cloth, Corner, Pin, Scene, Select};
//! use taffeta::Simulation;
//!
//! let corners = vec![Corner::LowLow, Corner::HighLow];
//! let pin = Pin { select: Select { corners, ..Select::default() }, ..Pin::default() };
//! let cloth = Cloth { position: [0.0, 2.0, 0.0], pin: vec![pin], ..Cloth::default() };
//! let scene = Scene { cloth: vec![cloth], ..Scene::default() };
//!
//! let mut sim = Simulation::new(&scene)?;
//! for _ in 0..120 {
//!     sim.step(1.0 / 60.0);
//! }
//! let lowest = sim.positions().iter().map(|p| p[1]).fold(f32::MAX, f32::min);
//! assert!(lowest < 1.5, "after two seconds it hangs down");
//! # Ok::<(), taffeta::BuildError>(())
//! ```
//!
//! Lengths are in metres, masses in kilograms, times in seconds; y points up. Fabrics are given by physical figures, so
//! the same cloth behaves alike at any resolution. The result has the same bits on any number of threads and with any
//! instruction set.
//!
//! Where to look: [`step`] is the frame from top to bottom; [`model`] is what is fixed and [`state`] what moves;
//! [`constraint`] has one file for each kind of constraint and [`solver`] one for each method; [`force`] is the wind; [`wide`] is the only SIMD
//! and [`par`] the only threads. `docs/step.md` and `docs/notation.md` in the repository have the equations and units.

pub mod collide;
pub mod color;
pub mod constraint;
pub mod error;
pub mod force;
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
#[doc(hidden)]
pub mod testing;
pub mod wide;

pub use error::BuildError;
pub use scene::Scene;
pub use step::Simulation;
