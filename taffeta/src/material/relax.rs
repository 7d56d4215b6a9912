//! How much a network gives way: the difference between a uniform strain and the true response.
//!
//! The springs of an irregular mesh are not in balance under a uniform strain. Their vertices shift a little, and the
//! sheet is softer than the average of its parts: by 5–10 % on a Delaunay mesh. Here the shift is computed, in the
//! linear approximation, on a patch of the mesh.
//!
//! Every spring is a row r with energy ½ k_r (b_r·m + a_r·u)², where m are the three uniform strains and u the shifts. Minimising over u leaves ½ mᵀ (B − FᵀH⁻¹F) m with B = Σ k b bᵀ,
//! F = Σ k a bᵀ, H = Σ k a aᵀ.

use glam::{Mat3, Vec3};

/// One spring.
#[derive(Clone, Copy, Debug)]
pub struct NetworkRow {
    /// The shifts it feels: unknowns, and how strongly.
    pub unknowns: [u32; 4],
    /// Elongation for each unit of shift.
    pub gain: [f32; 4],
    /// Elongation for each unit of the three modes.
    pub mode: Vec3,
    /// Stiffness.
    pub stiffness: f32,
}

/// Conjugate gradient steps; the shifts are local, so few are needed.
const STEPS: usize = 40;

/// FᵀH⁻¹F: twice the energy that shifts take away, by modes. Only `free` unknowns shift.
pub fn relaxation(rows: &[NetworkRow], free: &[bool]) -> Mat3 {
    let n = free.len();
    let mut diagonal = vec![0.0f32; n];
    for row in rows {
        for (&i, g) in row.unknowns.iter().zip(row.gain) {
            diagonal[i as usize] += row.stiffness * g * g;
        }
    }
    let inverse: Vec<f32> =
        (0..n).map(|i| if free[i] && diagonal[i] > 0.0 { 1.0 / diagonal[i] } else { 0.0 }).collect();
    let force = |mode: usize| {
        let mut f = vec![0.0f32; n];
        for row in rows {
            for (&i, g) in row.unknowns.iter().zip(row.gain) {
                f[i as usize] += row.stiffness * g * row.mode[mode];
            }
        }
        (0..n).for_each(|i| f[i] = if free[i] { f[i] } else { 0.0 });
        f
    };
    let multiply = |u: &[f32], out: &mut [f32]| {
        out.fill(0.0);
        for row in rows {
            let stretch: f32 = row.unknowns.iter().zip(row.gain).map(|(&i, g)| g * u[i as usize]).sum();
            for (&i, g) in row.unknowns.iter().zip(row.gain) {
                out[i as usize] += row.stiffness * g * stretch;
            }
        }
        (0..n).for_each(|i| out[i] = if free[i] { out[i] } else { 0.0 });
    };
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| *x as f64 * *y as f64).sum::<f64>();

    let forces = [force(0), force(1), force(2)];
    let mut product = Mat3::ZERO;
    for mode in 0..3 {
        // H u = f by conjugate gradients with the diagonal as preconditioner.
        let (mut u, mut r) = (vec![0.0f32; n], forces[mode].clone());
        let mut z: Vec<f32> = r.iter().zip(&inverse).map(|(r, d)| r * d).collect();
        let (mut p, mut hp) = (z.clone(), vec![0.0f32; n]);
        let mut rz = dot(&r, &z);
        let goal = 1e-8 * rz;
        for _ in 0..STEPS {
            if rz <= goal || rz <= 0.0 {
                break;
            }
            multiply(&p, &mut hp);
            let alpha = (rz / dot(&p, &hp).max(1e-300)) as f32;
            for i in 0..n {
                u[i] += alpha * p[i];
                r[i] -= alpha * hp[i];
                z[i] = r[i] * inverse[i];
            }
            let next = dot(&r, &z);
            let beta = (next / rz) as f32;
            (0..n).for_each(|i| p[i] = z[i] + beta * p[i]);
            rz = next;
        }
        for other in 0..3 {
            product.col_mut(mode)[other] = dot(&forces[other], &u) as f32;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_springs_in_series_share_their_stretch() {
        // Ends fixed, the middle free: 1/k = 1/k1 + 1/k2 once the middle has shifted.
        let spring = |from: u32, to: u32, k: f32| NetworkRow {
            unknowns: [from, to, from, to],
            gain: [-1.0, 1.0, 0.0, 0.0],
            mode: Vec3::new(1.0, 0.0, 0.0),
            stiffness: k,
        };
        let rows = [spring(0, 1, 1.0), spring(1, 2, 3.0)];
        let given_away = relaxation(&rows, &[false, true, false]).x_axis.x;
        // Both stretched by 1: 4 before; after, 2²·(3/4) = 3.
        assert!((given_away - 1.0).abs() < 1e-5, "{given_away}");
    }
}
