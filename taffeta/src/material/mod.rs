//! Fabrics in SI units, and what they mean for a mesh.

mod fit;
mod presets;
mod relax;

pub use fit::{Patch, SheetEdge, fit_springs, grid_springs};
pub use presets::{PRESETS, Preset, Source, preset};

/// A fabric. Every figure is physical, so it does not depend on the mesh, the time step or the iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mass of a square metre, kg/m².
    pub density: f32,
    /// Tensile stiffness along warp and weft, N/m: force per width and strain of a strip with free sides.
    pub stretch: [f32; 2],
    /// Shear stiffness, N/m: shear force per width and radian.
    pub shear: f32,
    /// Poisson's ratio: how much narrower a strip gets as it gets longer, the geometric mean of both directions.
    pub poisson: f32,
    /// Bending rigidity along warp and weft, N·m: moment per width and curvature.
    pub bend: [f32; 2],
    /// Rate at which velocities decay, 1/s.
    pub damping: f32,
    /// Coulomb friction coefficient against other things.
    pub friction: f32,
    /// Thickness, m.
    pub thickness: f32,
}

impl Default for Fabric {
    /// Plain cotton.
    fn default() -> Self {
        PRESETS[0].fabric
    }
}
