//! What is measured of a simulation.

mod crossings;

use glam::DVec3;

use crate::constraint::{dihedral, distance, isometric, stvk, triangle_bend};
use crate::model::Model;
use crate::wide::Particle;

pub use crossings::intersecting_pairs;

/// Stretch of the mesh edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strain {
    /// Largest |l − l₀|/l₀.
    pub max: f64,
    /// Mean |l − l₀|/l₀: the spring change rate.
    pub mean: f64,
    /// log₁₀ Σ (l − l₀)², l in m.
    pub log_sum: f64,
}

/// Energies, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ Σ m v².
    pub kinetic: f64,
    /// Of springs and hinges.
    pub elastic: f64,
    /// −Σ m g·x, zero at the origin.
    pub potential: f64,
}

fn at(x: &[Particle], i: u32) -> DVec3 {
    let [a, b, c] = x[i as usize].p;
    DVec3::new(a as f64, b as f64, c as f64)
}

/// The strain of all mesh edges.
pub fn strain(model: &Model, x: &[Particle]) -> Strain {
    let (mut max, mut sum, mut squares) = (0.0f64, 0.0, 0.0);
    for &([a, b], rest) in &model.edges {
        let change = ((at(x, a) - at(x, b)).length() - rest as f64).abs();
        max = max.max(change / rest as f64);
        sum += change / rest as f64;
        squares += change * change;
    }
    let count = model.edges.len().max(1) as f64;
    Strain { max, mean: sum / count, log_sum: libm::log10(squares.max(1e-300)) }
}

/// The energies of a state. Held particles have no kinetic energy of their own.
pub fn energies(model: &Model, x: &[Particle], v: &[[f32; 4]], gravity: [f32; 3]) -> Energies {
    let mut energies = Energies::default();
    let g = DVec3::from(gravity.map(|c| c as f64));
    for i in 0..model.particles() {
        let w = model.inverse_mass[i] as f64;
        if w > 0.0 {
            let v = DVec3::new(v[i][0] as f64, v[i][1] as f64, v[i][2] as f64);
            let free = if x[i].w > 0.0 { 1.0 } else { 0.0 };
            energies.kinetic += free * 0.5 * v.length_squared() / w;
            energies.potential -= g.dot(at(x, i as u32)) / w;
        }
    }
    for row in &model.distance {
        let [compliance, rest] = row.params.map(|p| p as f64);
        energies.elastic += distance::energy(&row.particles.map(|i| at(x, i)), rest, 1.0 / compliance).value;
    }
    for row in &model.dihedral {
        let [compliance, rest] = row.params.map(|p| p as f64);
        let c = dihedral::angle(&row.particles.map(|i| at(x, i))) - rest;
        energies.elastic += 0.5 * c * c / compliance;
    }
    for row in &model.isometric {
        let [compliance, k @ ..] = row.params.map(|p| p as f64);
        energies.elastic += isometric::energy(&row.particles.map(|i| at(x, i)), &k, 1.0 / compliance).value;
    }
    for row in &model.triangle_bend {
        let [compliance, rest] = row.params.map(|p| p as f64);
        let x = row.particles.map(|i| at(x, i));
        energies.elastic += triangle_bend::energy(&x, rest, 1.0 / compliance).value;
    }
    for row in &model.stvk {
        let params = row.params.map(|p| p as f64);
        energies.elastic += stvk::energy(&row.particles.map(|i| at(x, i)), &params).value;
    }
    energies
}

/// A hash (64-bit FNV-1a) of the bits of positions in the caller's order.
pub fn state_hash(positions: &[[f32; 3]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in positions.iter().flatten().flat_map(|c| c.to_bits().to_le_bytes()) {
        hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}
