//! How stiff a model is at each particle: what decides on stable steps.

use glam::DVec3;

use super::Model;
use crate::constraint::{dihedral, stvk};

impl Model {
    /// A bound (N/m) on the second derivative of the elastic energy at each particle, at the start and without tethers.
    ///
    /// With d its entries, the Hessian is at most the diagonal matrix of d (Gershgorin): each constraint of stiffness k adds
    /// k |∇ᵢC| Σⱼ |∇ⱼC| at particle i, 2 k for a spring. Compression and large rotations of triangles can exceed it a little.
    pub fn stiffness(&self) -> Vec<f64> {
        let mut bound = vec![0.0; self.particles()];
        let at = |i: u32| self.start[i as usize].as_dvec3();
        let mut add = |particles: &[u32], stiffness: f64, sizes: &[f64]| {
            let sum: f64 = sizes.iter().sum();
            for (&i, size) in particles.iter().zip(sizes) {
                bound[i as usize] += stiffness * size * sum;
            }
        };
        for row in &self.distance {
            add(&row.particles, 1.0 / row.params[0] as f64, &[1.0; 2]);
        }
        for row in &self.dihedral {
            // The angle of the start does not matter: only how long the levers are.
            let gradient = dihedral::energy(&row.particles.map(at), 0.0, 1.0, false);
            let sizes: [f64; 4] = std::array::from_fn(|i| {
                // For C ≠ 0 the gradient is C ∇C; the Hessian's own block has |∇ᵢC|² in it at any angle.
                gradient.hessian[i][i].to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt().sqrt()
            });
            add(&row.particles, 1.0 / row.params[0] as f64, &sizes);
        }
        for row in &self.isometric {
            let [compliance, k1, k2, k3] = row.params.map(f64::from);
            add(&row.particles, 1.0 / compliance, &[k1 + k2 + k3, k1, k2, k3].map(f64::abs));
        }
        for row in &self.triangle_bend {
            add(&row.particles, 1.0 / row.params[0] as f64, &[1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
        }
        for row in &self.stvk {
            let [inverse_area, m0, m1, m2, m3, s @ ..] = row.params.map(f64::from);
            let [c11, c12, c22, c33] = stvk::tensor(s);
            let (a, b) = ([m0, m2, -m0 - m2], [m1, m3, -m1 - m3]);
            let membrane = (c11.max(c22) + c12.abs()).max(c33);
            let sizes: [f64; 3] = std::array::from_fn(|i| DVec3::new(a[i], b[i], 0.0).length());
            add(&row.particles, membrane / inverse_area, &sizes);
        }
        bound
    }
}
