//! `shpbd`: hierarchical position based dynamics, with levels by blue-noise sampling.
//!
//! Level l has Poisson disks of radius 2ˡ s, where s is the spacing of the cloth's vertices, and the triangles that are
//! dual to their cells ([`sample`]). A vertex has the corners of the triangle around it as parents, with its
//! barycentric coordinates as weights, and takes over their corrections, level by level. How a substep goes is in
//! `hierarchy.rs`.
//!
//! Wang, Zheng, Qian, Li, *Sampling hierarchical position-based dynamics simulation*, 2017.

use super::hierarchy::Hierarchical;
use crate::error::BuildError;
use crate::mesh::hierarchy::{Heirs, sample};
use crate::model::Model;
use crate::params::Params;

/// The method for `model`.
pub fn new(model: &Model, params: &Params) -> Result<Hierarchical, BuildError> {
    let seed = params.hierarchy.seed;
    let coarsest = params.hierarchy.coarsest as f32;
    Hierarchical::new(model, params, Heirs::Finer, &|sheet, _, most| {
        let side = (sheet.rest.len() as f32).sqrt();
        let ratio = (0.7f32.sqrt() * side / (coarsest - 1.0)).max(1.4);
        let radii = (1..=most).map(|level| sheet.spacing() * libm::powf(ratio, level as f32 / most as f32));
        sample(sheet, radii, seed, Heirs::Finer)
    })
}
