//! `shpbd`: hierarchical position based dynamics, with levels by blue-noise sampling.
//!
//! Level l of L has Poisson disks of radius s (R/s)^{l/L}, where s is the spacing of the cloth's vertices and R that which leaves about
//! `coarsest` vertices along a side of the coarsest level, and the triangles that are dual to their cells ([`sample`]). A
//! vertex has the corners of the triangle around it as parents, with its barycentric coordinates as weights, and takes
//! over their corrections, level by level. How a substep goes is in `hierarchy.rs`.
//!
//! Wang, Zheng, Qian, Li, *Sampling hierarchical position-based dynamics simulation*, 2017.

use super::hierarchy::{Hierarchical, most_that_fit};
use crate::error::BuildError;
use crate::mesh::hierarchy::{DISK_DENSITY, Heirs, sample};
use crate::model::Model;
use crate::params::Params;

/// The radius grows by this factor at least from level to level; levels nearer to each other would be much the same.
const LEAST_RATIO: f32 = std::f32::consts::SQRT_2;

/// The method for `model`.
pub fn new(model: &Model, params: &Params) -> Result<Hierarchical, BuildError> {
    let hierarchy = &params.hierarchy;
    let wanted = hierarchy.levels.map(|levels| levels as usize);
    Hierarchical::new(model, params, wanted, Heirs::Finer, &|sheet, _, most| {
        let side = (sheet.rest.len() as f32).sqrt();
        let widest = DISK_DENSITY.sqrt() * side / (hierarchy.coarsest - 1) as f32;
        let room = (libm::logf(widest) / libm::logf(LEAST_RATIO)).max(0.0) as usize;
        most_that_fit(most.min(room), |levels| {
            let radius = |level: usize| sheet.spacing() * libm::powf(widest, level as f32 / levels as f32);
            sample(sheet, (1..=levels).map(radius), hierarchy.seed, Heirs::Finer)
        })
    })
}
