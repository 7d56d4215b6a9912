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

use super::hierarchy::{Hierarchical, most_that_fit};
use crate::error::BuildError;
use crate::mesh::hierarchy::{DISK_DENSITY, Heirs, lattice, sample};
use crate::model::Model;
use crate::params::Params;

/// The method for `model`.
pub fn new(model: &Model, params: &Params) -> Result<Hierarchical, BuildError> {
    let hierarchy = &params.hierarchy;
    let along_x = &hierarchy.decision;
    let along_z = hierarchy.decision_z.as_ref().unwrap_or(along_x);
    let coarsest = hierarchy.coarsest as usize;
    // As many levels as all differ, at most `most`: columns and rows of each.
    let counts = |[nx, nz]: [usize; 2], most: usize| -> Vec<[usize; 2]> {
        let differ = |levels: usize| {
            let (x, z) = (along_x.counts(nx, levels, coarsest), along_z.counts(nz, levels, coarsest));
            let counts: Vec<[usize; 2]> = x.into_iter().zip(z).map(|(x, z)| [x, z]).collect();
            let finer = std::iter::once([nx, nz]).chain(counts.iter().copied());
            finer.zip(&counts).all(|(finer, coarser)| finer != *coarser).then_some(counts)
        };
        (1..=most.min(nx.max(nz))).rev().find_map(differ).unwrap_or_default()
    };
    let listed = along_x.levels().or(along_z.levels());
    let wanted = hierarchy.levels.map(|levels| levels as usize).or(listed);
    Hierarchical::new(model, params, wanted, Heirs::Finest, &|sheet, cloth, most| match &cloth.grid {
        Some(grid) => lattice(sheet, grid, &counts([grid.columns(), grid.rows()], most)),
        None => {
            let side = (sheet.rest.len() as f32).sqrt();
            let radius =
                |&[x, z]: &[usize; 2]| sheet.spacing() * side * (DISK_DENSITY / (x * z) as f32).sqrt();
            most_that_fit(most.min(side as usize), |levels| {
                let radii: Vec<f32> = counts([side as usize; 2], levels).iter().map(radius).collect();
                // Narrower disks than the spacing leave all vertices.
                let fit = radii.first().is_some_and(|&first| first >= sheet.spacing());
                sample(sheet, radii.into_iter().filter(|_| fit), hierarchy.seed, Heirs::Finest)
            })
        }
    })
}
