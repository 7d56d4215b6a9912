//! `ghpbd`: hierarchical position based dynamics, with levels that are grids.
//!
//! Decision functions say how many columns and rows level l has, f(l) and g(l): any that decrease will do, linear ones
//! f(l) = k l + b, cosines f(l) = k cos(ω l) + b or a list. The rows and columns of a level are spread evenly, and each of its
//! vertices is the nearest vertex of the cloth ([`lattice`]). A vertex of the cloth has the three corners of its triangle on the
//! level as parents, with p = w₁ a + w₂ b + w₃ c, and takes over the corrections of every level directly:
//! they do not go through the levels between. How a substep goes is in `hierarchy.rs`.
//!
//! A cloth that is no grid has no rows. It gets as many vertices on each level as a square grid of as many vertices
//! would, by blue noise as in `shpbd`.
//!
//! Zheng, Wang, Li, *Cloth simulation based on grid-hierarchical dynamic simulation method*, 2017.

use super::hierarchy::Hierarchical;
use crate::error::BuildError;
use crate::mesh::hierarchy::{Heirs, lattice, sample};
use crate::model::Model;
use crate::params::Params;

/// Poisson disks of radius r leave one vertex for an area of about r²/0.7.
const DISK_DENSITY: f32 = 0.7;

/// The method for `model`.
pub fn new(model: &Model, params: &Params) -> Result<Hierarchical, BuildError> {
    let hierarchy = &params.hierarchy;
    let (along_x, along_z) =
        (&hierarchy.decision, hierarchy.decision_z.as_ref().unwrap_or(&hierarchy.decision));
    let coarsest = hierarchy.coarsest as usize;
    Hierarchical::new(model, params, Heirs::Finest, &|sheet, cloth, most| {
        let most = along_x.levels().or(along_z.levels()).unwrap_or(most);
        let counts = |nx: usize, nz: usize, levels: usize| -> Vec<[usize; 2]> {
            let pairs =
                along_x.counts(nx, levels, coarsest).into_iter().zip(along_z.counts(nz, levels, coarsest));
            pairs.map(|(x, z)| [x, z]).collect()
        };
        match &cloth.grid {
            Some(grid) => {
                // As many levels as all differ.
                let size = [grid.columns(), grid.rows()];
                let levels = (1..=most.min(size[0].max(size[1]))).rev().find_map(|levels| {
                    let counts = counts(size[0], size[1], levels);
                    let before = std::iter::once(&size).chain(&counts);
                    before.zip(&counts).all(|(a, b)| b != a).then_some(counts)
                });
                lattice(sheet, grid, &levels.unwrap_or_default())
            }
            None => {
                let side = (sheet.rest.len() as f32).sqrt();
                let counts = counts(side.round() as usize, side.round() as usize, most);
                let radius =
                    |[x, z]: [usize; 2]| sheet.spacing() * side * (DISK_DENSITY / (x * z) as f32).sqrt();
                sample(sheet, counts.into_iter().map(radius), hierarchy.seed, Heirs::Finest)
            }
        }
    })
}
