//! `hpbd`: hierarchical position based dynamics, with levels of collapsed vertices.
//!
//! A level keeps some vertices of the one below: every vertex that is left out has at least k = 2 neighbours among them.
//! It is collapsed into the nearest, and its springs with it ([`collapse`]). Its parents are all of these neighbours, with
//! weights by inverse distance,
//!
//! ŵᵢⱼ = 1/(dᵢⱼ/max d + ε),   wᵢⱼ = ŵᵢⱼ/Σⱼ ŵᵢⱼ,
//!
//! and it takes over their corrections, level by level. How a substep goes is in `hierarchy.rs`.
//!
//! Müller, *Hierarchical position based dynamics*, 2008.

use super::hierarchy::Hierarchical;
use crate::error::BuildError;
use crate::mesh::hierarchy::{Heirs, collapse};
use crate::model::Model;
use crate::params::Params;

/// The method for `model`.
pub fn new(model: &Model, params: &Params) -> Result<Hierarchical, BuildError> {
    let wanted = params.hierarchy.levels.map(|levels| levels as usize);
    Hierarchical::new(model, params, wanted, Heirs::Finer, &|sheet, _, most| collapse(sheet, most))
}
