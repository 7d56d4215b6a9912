//! From fabric to springs: homogenisation over the mesh.
//!
//! A spring sees only its own direction. Stiffnesses are therefore chosen so that the sheet as a whole, under a
//! uniform strain, is the fabric in warp, weft and bias. On a regular grid that is exact at
//! every resolution; on an irregular mesh it is corrected for how much the network gives way (`relax.rs`).
//!
//! With edge directions t = (cos φ, sin φ) in the warp–weft frame, a spring of stiffness k = A f(φ)/d² (A: the area it
//! stands for, d: its length) under the strain ε has the energy ½ A f (tᵀ ε t)². Summed,
//! D₁₁ = ⟨f c⁴⟩, D₂₂ = ⟨f s⁴⟩, D₁₂ = D₃₃ = ⟨f c² s²⟩: a network of springs has one modulus for shear and
//! for the coupling of warp and weft (Cauchy). A strip with free sides then has D₁₁ − D₁₂²/D₂₂ along the warp.
//! We take f = a₁ c⁴ + a₂ s⁴ + a₃ c² s² and solve for a.

use glam::{Mat3, Vec2, Vec3};

use super::relax::{NetworkRow, relaxation};

/// The three shapes in which stiffness may vary with direction.
fn basis(d: Vec2) -> Vec3 {
    let (c2, s2) = (d.x * d.x, d.y * d.y);
    Vec3::new(c2 * c2, s2 * s2, c2 * s2)
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// An edge for the fit.
#[derive(Clone, Copy, Debug)]
pub struct SheetEdge {
    /// Its vertices.
    pub vertices: [u32; 2],
    /// Direction in the warp–weft frame, a unit vector.
    pub direction: Vec2,
    /// Length, m.
    pub length: f32,
    /// Area of its triangles, m².
    pub area: f32,
}

/// The part of the mesh on which the giving way is computed: the first vertices in the engine's order.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Which vertices can shift: those whose whole neighbourhood lies in the patch. The length is the patch.
    pub free: Vec<bool>,
    /// The area that it stands for, m².
    pub area: f32,
}

/// Rounds of correction; each brings the sheet within a tenth of the last error.
const ROUNDS: usize = 3;

/// The stiffness (N/m) of every edge as a spring.
///
/// Springs along few directions cannot carry stretch in all of them without some shear; where the fabric's shear
/// is out of reach (some spring would have to push), the least that is possible is used.
pub fn fit_springs(edges: &[SheetEdge], patch: &Patch, stretch: [f32; 2], shear: f32) -> Vec<f32> {
    let total: f32 = edges.iter().map(|e| e.area).sum::<f32>() / 3.0;
    let mut goal = moduli(stretch, shear);
    let inside = |e: &&SheetEdge| e.vertices.iter().all(|&v| (v as usize) < patch.free.len());
    let free: Vec<bool> = patch.free.iter().flat_map(|&f| [f, f]).collect();
    let mut springs = Vec::new();
    for round in 0..=ROUNDS {
        let (fit, reached) =
            SpringFit::new(edges.iter().map(|e| (e.direction, e.area)), total, stretch, goal);
        springs = edges.iter().map(|e| fit.stiffness(e.direction) * e.area / (e.length * e.length)).collect();
        if round == ROUNDS || patch.area <= 0.0 {
            break;
        }
        let rows: Vec<NetworkRow> = (edges.iter().zip(&springs))
            .filter(|(e, _)| inside(e))
            .map(|(e, &stiffness)| {
                let ([a, b], t) = (e.vertices, e.direction);
                NetworkRow {
                    unknowns: [2 * a, 2 * a + 1, 2 * b, 2 * b + 1],
                    gain: [-t.x, -t.y, t.x, t.y],
                    mode: Vec3::new(t.x * t.x, t.y * t.y, t.x * t.y) * e.length,
                    stiffness,
                }
            })
            .collect();
        let lost = relaxation(&rows, &free) * (1.0 / patch.area);
        let (lost11, lost22, lost12) = (lost.x_axis.x, lost.y_axis.y, lost.x_axis.y);
        // A strip with free sides: stiffness along warp and weft as the network is, against what is wanted.
        let d = Vec3::new(reached.x - lost11, reached.y - lost22, reached.z - lost12);
        let strip = [d.x - d.z * d.z / d.y, d.y - d.z * d.z / d.x];
        goal.x *= (stretch[0] / strip[0]).clamp(0.8, 1.25);
        goal.y *= (stretch[1] / strip[1]).clamp(0.8, 1.25);
    }
    springs
}

/// Stiffness of springs by direction.
#[derive(Clone, Copy, Debug)]
struct SpringFit {
    coefficients: Vec3,
}

impl SpringFit {
    /// Fits to springs given as direction and area; also returns the moduli D₁₁, D₂₂, D₁₂ reached.
    fn new(
        springs: impl Iterator<Item = (Vec2, f32)> + Clone,
        area: f32,
        stretch: [f32; 2],
        mut goal: Vec3,
    ) -> (Self, Vec3) {
        let mut moments = Mat3::ZERO;
        for (direction, a) in springs.clone() {
            let phi = basis(direction);
            moments += outer(phi, phi) * (a / area);
        }
        // A mesh whose edges all run one way leaves a direction undetermined: keep the system solvable.
        let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
        for k in 0..3 {
            moments.col_mut(k)[k] += 1e-6 * trace;
        }
        let inverse = moments.inverse();
        let mean = (stretch[0] * stretch[1]).sqrt();
        // Below that the network has floppy modes, and only prestress would hold it.
        let floor = 0.25 * stretch[0].min(stretch[1]);
        loop {
            let fit = SpringFit { coefficients: inverse * goal };
            let raw = |d: Vec2| fit.coefficients.dot(basis(d));
            let least = springs.clone().map(|(d, _)| raw(d)).fold(f32::MAX, f32::min);
            if least >= floor || goal.z > mean {
                return (fit, goal);
            }
            // More shear couples warp and weft more: what a free strip feels must stay the same.
            let strip = [goal.x - goal.z * goal.z / goal.y, goal.y - goal.z * goal.z / goal.x];
            goal = moduli(strip, goal.z * 1.02 + 1e-3 * mean);
        }
    }

    /// f(φ), N/m: the spring's stiffness is f A/d².
    fn stiffness(&self, direction: Vec2) -> f32 {
        self.coefficients.dot(basis(direction)).max(1e-6 * self.coefficients.abs().max_element())
    }
}

/// f (N/m) of the springs of a grid with this spacing (m): along x, along z, along the diagonals.
///
/// Each stands for one cell, so D₁₂ = 2 f_d c² s², D₁₁ = f_x + 2 f_d c⁴, D₂₂ = f_z + 2 f_d s⁴: exact. Only a fabric that is
/// stiffer in shear than in stretch is out of reach; it keeps a little of its springs along x and z.
pub fn grid_springs([dx, dz]: [f32; 2], stretch: [f32; 2], shear: f32) -> [f32; 3] {
    let d = Vec2::new(dx, dz).normalize();
    let (c2, s2) = (d.x * d.x, d.y * d.y);
    let modulus = moduli(stretch, shear);
    let diagonal = shear / (2.0 * c2 * s2);
    let along_x = modulus.x - 2.0 * diagonal * c2 * c2;
    let along_z = modulus.y - 2.0 * diagonal * s2 * s2;
    [along_x.max(0.01 * stretch[0]), along_z.max(0.01 * stretch[1]), diagonal]
}

/// D₁₁, D₂₂, D₁₂ with D₁₂ = G for which a free strip has K₁ along the warp and K₂ along the weft:
/// D₁₁ = K₁ t, D₂₂ = K₂ t, K₁ K₂ (t² − t) = G².
fn moduli([k1, k2]: [f32; 2], g: f32) -> Vec3 {
    let t = 0.5 * (1.0 + (1.0 + 4.0 * g * g / (k1 * k2)).sqrt());
    Vec3::new(k1 * t, k2 * t, g)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_grid_with_both_diagonals_is_exact() {
        // Cotton among them: four hundred times softer in shear than in stretch.
        for [k1, k2, g] in [[1000.0, 400.0, 50.0], [21_400.0, 21_400.0, 50.0], [100.0, 200.0, 90.0]] {
            let [fx, fz, fd] = grid_springs([0.1, 0.1], [k1, k2], g);
            // Each spring stands for one cell; the diagonals have c² = s² = ½.
            let d = Vec3::new(fx + 0.5 * fd, fz + 0.5 * fd, 0.5 * fd);
            assert!((d.z / g - 1.0).abs() < 1e-4, "{d}");
            assert!(((d.x - d.z * d.z / d.y) / k1 - 1.0).abs() < 1e-4, "{d}");
            assert!(((d.y - d.z * d.z / d.x) / k2 - 1.0).abs() < 1e-4, "{d}");
        }
    }
}
