//! The knobs of a simulation, with units.

use serde::{Deserialize, Serialize};

/// How a scene is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The method that solves the cloth; see `taffeta list methods`.
    pub method: String,
    /// Time of one frame, s.
    pub dt: f32,
    /// How many frames to run by default.
    pub frames: u32,
    /// Substeps of a frame.
    pub substeps: u32,
    /// Iterations of a substep.
    pub iterations: u32,
    /// Gravity, m/s².
    pub gravity: [f32; 3],
    /// Rate at which all velocities decay, 1/s; added to the fabric's.
    pub damping: f32,
    /// Threads; 0 takes one for each core. Small scenes use fewer.
    pub threads: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            method: "xpbd".into(),
            dt: 1.0 / 60.0,
            frames: 300,
            substeps: 20,
            iterations: 1,
            gravity: [0.0, -9.81, 0.0],
            damping: 0.0,
            threads: 0,
        }
    }
}
