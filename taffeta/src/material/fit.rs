//! From fabric to springs and hinges: homogenisation over the mesh.
//!
//! A spring or a hinge sees only its own direction. Their stiffnesses are therefore chosen so that the *average* over
//! the mesh, under a uniform strain or curvature, is that of the fabric in warp, weft and bias. On a regular grid
//! that is exact at every resolution; on an irregular mesh it is exact on average.
//!
//! With edge directions t = (cos φ, sin φ) in the warp–weft frame, a spring of stiffness k = A f(φ)/d² (A: the area it
//! stands for, d: its length) under the strain ε has the energy ½ A f (tᵀ ε t)². Summed,
//! D₁₁ = ⟨f c⁴⟩, D₂₂ = ⟨f s⁴⟩, D₁₂ = D₃₃ = ⟨f c² s²⟩: a network of springs has one modulus for shear and
//! for the coupling of warp and weft (Cauchy). A strip with free sides then has D₁₁ − D₁₂²/D₂₂ along the warp.
//! We take f = a₁ c⁴ + a₂ s⁴ + a₃ c² s² and solve for a.

use glam::{Mat3, Vec3};

/// The three shapes in which stiffness may vary with direction.
fn basis(c: f32, s: f32) -> Vec3 {
    let (c2, s2) = (c * c, s * s);
    Vec3::new(c2 * c2, s2 * s2, c2 * s2)
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Stiffness of springs by direction.
#[derive(Clone, Copy, Debug)]
pub struct SpringFit {
    coefficients: Vec3,
    /// The shear stiffness that springs on this mesh can have, N/m: the fabric's, unless the mesh has no edges for it.
    pub shear: f32,
}

impl SpringFit {
    /// Fits to springs given as (cos φ, sin φ, area), for a fabric with these stiffnesses (N/m).
    ///
    /// Springs along two directions cannot carry stretch in both without some shear; if the fabric's is out of reach
    /// (some spring would have to push), the least that is possible is used.
    pub fn new(springs: &[(f32, f32, f32)], area: f32, stretch: [f32; 2], shear: f32) -> Self {
        let mut moments = Mat3::ZERO;
        for &(c, s, a) in springs {
            let phi = basis(c, s);
            moments += outer(phi, phi) * (a / area);
        }
        // A mesh whose edges all run one way leaves a direction undetermined: keep the system solvable.
        let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
        for k in 0..3 {
            moments.col_mut(k)[k] += 1e-6 * trace;
        }
        let inverse = moments.inverse();
        let mean = (stretch[0] * stretch[1]).sqrt();
        let floor = 0.02 * stretch[0].min(stretch[1]).min(shear.max(0.05 * mean));
        let mut shear = shear;
        loop {
            let coefficients = inverse * moduli(stretch, shear);
            let least =
                springs.iter().map(|&(c, s, _)| coefficients.dot(basis(c, s))).fold(f32::MAX, f32::min);
            if least >= floor || shear > mean {
                return SpringFit { coefficients, shear };
            }
            shear = shear * 1.02 + 1e-3 * mean;
        }
    }

    /// f(φ), N/m: the spring's stiffness is f A/d².
    pub fn stiffness(&self, c: f32, s: f32) -> f32 {
        self.coefficients.dot(basis(c, s)).max(1e-6 * self.coefficients.abs().max_element())
    }
}

/// D₁₁, D₂₂, D₁₂ with D₁₂ = G for which a free strip has K₁ along the warp and K₂ along the weft:
/// D₁₁ = K₁ t, D₂₂ = K₂ t, K₁ K₂ (t² − t) = G².
fn moduli([k1, k2]: [f32; 2], g: f32) -> Vec3 {
    let t = 0.5 * (1.0 + (1.0 + 4.0 * g * g / (k1 * k2)).sqrt());
    Vec3::new(k1 * t, k2 * t, g)
}

/// Stiffness of hinges by direction.
///
/// For the curvature κ the fold of a hinge is θ = q·(κ₁₁, κ₂₂, κ₁₂), where q follows from its rest shape: it is the jump
/// of the slope of the surface ½ xᵀκx, interpolated at the four vertices. A hinge gets the stiffness B f(φ) l²/(A₁ + A₂);
/// f is fitted so that cylinders along warp, weft and both diagonals have the energy ½ B κ² for each area. For
/// equilateral triangles f = 1; for a square grid the fit gives 1 on the sides and ½ on the diagonals.
/// (With the factor 3 that is often printed, and which belongs to the mean curvature of closed surfaces, cloth
/// would be three times too stiff: see the cantilever test.)
#[derive(Clone, Copy, Debug)]
pub struct HingeFit {
    coefficients: Vec3,
}

/// One hinge for the fit: its direction, how it answers to curvature, and the area that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct HingeShape {
    /// cos φ and sin φ of the direction *across* the edge.
    pub across: (f32, f32),
    /// q: fold for each unit of κ₁₁, κ₂₂, κ₁₂, m.
    pub response: Vec3,
    /// l²/(A₁ + A₂).
    pub shape: f32,
}

impl HingeFit {
    /// All hinges alike, with f = 1.
    pub const UNIFORM: HingeFit = HingeFit { coefficients: Vec3::new(1.0, 1.0, 2.0) };

    /// A regular grid with alternating diagonals and this spacing (m), exactly: 1 on the sides, and 2 c² s² on the
    /// diagonals, which alone see twist.
    pub fn grid([dx, dz]: [f32; 2]) -> Self {
        let (x2, z2) = (dx * dx, dz * dz);
        let bias = 2.0 - (x2 * x2 + z2 * z2) / (x2 * z2);
        HingeFit { coefficients: Vec3::new(1.0, 1.0, bias) }
    }

    /// Fits to the hinges around interior vertices (each counted half at either end), which stand for `area` (m²).
    pub fn new(hinges: &[HingeShape], area: f32) -> Self {
        // Cylinders: along x, along z, and the mean of both diagonals, with unit curvature.
        let cylinders = [
            (Vec3::X, 1.0),
            (Vec3::Y, 1.0),
            (Vec3::new(0.5, 0.5, 0.5), 0.5),
            (Vec3::new(0.5, 0.5, -0.5), 0.5),
        ];
        let rows = [0, 1, 2, 2];
        let mut system = Mat3::ZERO;
        for hinge in hinges {
            let phi = basis(hinge.across.0, hinge.across.1);
            for (&(kappa, weight), row) in cylinders.iter().zip(rows) {
                let fold = hinge.response.dot(kappa);
                let gain = weight * hinge.shape * fold * fold / area;
                for k in 0..3 {
                    system.col_mut(k)[row] += gain * phi[k];
                }
            }
        }
        if hinges.is_empty() || system.determinant().abs() < 1e-6 {
            return Self::UNIFORM;
        }
        let coefficients = system.inverse() * Vec3::ONE;
        let fit = HingeFit { coefficients };
        let sound = hinges.iter().all(|h| fit.factor(h.across.0, h.across.1) > 0.05);
        if sound { fit } else { Self::UNIFORM }
    }

    /// f(φ) for a hinge with this direction across its edge.
    pub fn factor(&self, c: f32, s: f32) -> f32 {
        self.coefficients.dot(basis(c, s))
    }
}

/// The response q of a hinge: plane coordinates (in the warp–weft frame) of the edge's ends, then the opposite vertices.
pub fn hinge_response(p: [glam::Vec2; 4]) -> Vec3 {
    let edge = p[1] - p[0];
    let across = glam::Vec2::new(-edge.y, edge.x) / edge.length();
    let quadratic = |x: glam::Vec2| Vec3::new(0.5 * x.x * x.x, 0.5 * x.y * x.y, x.x * x.y);
    // Slope across the edge of the plane through the edge and the opposite vertex.
    let slope = |opposite: glam::Vec2| {
        let height = (opposite - p[0]).dot(across);
        let along = (opposite - p[0]).dot(edge) / edge.length_squared();
        let on_edge = quadratic(p[0]) * (1.0 - along) + quadratic(p[1]) * along;
        (quadratic(opposite) - on_edge) / height
    };
    slope(p[2]) - slope(p[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn a_square_grid_with_both_diagonals_is_exact() {
        // One cell: a warp, a weft and two diagonal springs, each standing for the cell.
        let d = std::f32::consts::FRAC_1_SQRT_2;
        let springs = [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (d, d, 1.0), (d, -d, 1.0)];
        let (k1, k2, g) = (1000.0, 400.0, 50.0);
        let fit = SpringFit::new(&springs, 1.0, [k1, k2], g);
        let mut moduli = Vec3::ZERO;
        for (c, s, a) in springs {
            moduli += basis(c, s) * (a * fit.stiffness(c, s));
        }
        assert!((moduli.z - g).abs() < 0.1, "{moduli}");
        assert!((moduli.x - moduli.z * moduli.z / moduli.y - k1).abs() < 1.0, "{moduli}");
        assert!((moduli.y - moduli.z * moduli.z / moduli.x - k2).abs() < 0.5, "{moduli}");
    }

    #[test]
    fn equilateral_triangles_need_no_correction() {
        // The three hinges of an equilateral lattice with side 1.
        let hinges: Vec<_> = (0..3)
            .map(|i| {
                let phi = i as f32 * std::f32::consts::FRAC_PI_3;
                let (t, m) = (Vec2::new(phi.cos(), phi.sin()), Vec2::new(-phi.sin(), phi.cos()));
                let h = 0.75f32.sqrt();
                let p = [t * -0.5, t * 0.5, m * h, m * -h];
                HingeShape { across: (m.x, m.y), response: hinge_response(p), shape: 1.0 / h }
            })
            .collect();
        let fit = HingeFit::new(&hinges, 0.75f32.sqrt());
        for phi in [0.0f32, 0.5, 1.0, 2.0] {
            assert!((fit.factor(phi.cos(), phi.sin()) - 1.0).abs() < 1e-3);
        }
    }
}
