//! Elements of the objective whose Hessians are dense: hinges by their angle, membrane triangles, triangle bending.

use glam::{DMat3, DVec3};

use super::objective::Wanted;
use crate::constraint::{Energy, dihedral, isometric, lanes64, outer, stvk, triangle_bend};
use crate::model::Model;

/// One element: its particles and figures.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// A hinge: rest angle (rad) and stiffness (N·m/rad).
    Dihedral([u32; 4], f64, f64),
    /// Triangle bending: rest height (m) and stiffness (N/m).
    TriangleBend([u32; 3], f64, f64),
    /// A membrane triangle: the figures of its row.
    Stvk([u32; 3], [f64; stvk::PARAMS]),
}

/// Energy and gradient of an element; with three particles the fourth place is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response {
    /// J.
    pub energy: f64,
    /// N.
    pub gradient: [DVec3; 4],
}

/// The Hessian of an element, N/m; with three particles the fourth row and column are zero.
pub type Blocks = [[DMat3; 4]; 4];

/// Of no element.
pub const NO_BLOCKS: Blocks = [[DMat3::ZERO; 4]; 4];

impl Response {
    /// Puts the Hessian aside.
    fn of<const N: usize>(energy: &Energy<N>, hessian: &mut Blocks) -> Self {
        let mut response = Response { energy: energy.value, ..Self::default() };
        for i in 0..N {
            response.gradient[i] = energy.gradient[i];
            hessian[i][..N].copy_from_slice(&energy.hessian[i]);
        }
        response
    }
}

impl Element {
    /// All such elements of a model.
    pub fn all(model: &Model) -> Vec<Element> {
        let mut elements = Vec::new();
        for row in &model.dihedral {
            let [compliance, rest] = row.params.map(f64::from);
            elements.push(Element::Dihedral(row.particles, rest, 1.0 / compliance));
        }
        for row in &model.triangle_bend {
            let [compliance, rest] = row.params.map(f64::from);
            elements.push(Element::TriangleBend(row.particles, rest, 1.0 / compliance));
        }
        for row in &model.stvk {
            elements.push(Element::Stvk(row.particles, row.params.map(f64::from)));
        }
        elements
    }

    /// Its particles.
    pub fn particles(&self) -> &[u32] {
        match self {
            Element::Dihedral(particles, ..) => particles,
            Element::TriangleBend(particles, ..) | Element::Stvk(particles, ..) => particles,
        }
    }

    /// Its energy and gradient at `x` (m); its Hessian is put into `hessian` if it is wanted, else what is there means nothing.
    pub fn respond(&self, x: &[DVec3], wanted: Wanted, hessian: &mut Blocks) -> Response {
        let at = |i: u32| x[i as usize];
        let project = wanted == Wanted::Projected;
        match self {
            Element::Dihedral(particles, rest, k) if wanted == Wanted::Nothing => {
                let (c, grad) = dihedral::value_grad(&lanes64(&particles.map(at)), *rest);
                let gradient = grad.map(|g| DVec3::new(g.x, g.y, g.z) * (k * c));
                Response { energy: 0.5 * k * c * c, gradient }
            }
            Element::Dihedral(particles, rest, k) => {
                Response::of(&dihedral::energy(&particles.map(at), *rest, *k, project), hessian)
            }
            Element::TriangleBend(particles, rest, k) => {
                let x = particles.map(at);
                let response = Response::of(&triangle_bend::energy(&x, *rest, *k), hessian);
                if project {
                    project_triangle_bend(hessian, &x, *rest, *k);
                }
                response
            }
            Element::Stvk(particles, params) => {
                let x = particles.map(at);
                let response = Response::of(&stvk::energy(&x, params), hessian);
                if project {
                    project_stvk(hessian, &x, params);
                }
                response
            }
        }
    }
}

/// For each constraint but tethers its particles, the weights K with which their positions are measured, and a stiffness k
/// (N/m) such that k KᵀK is its Hessian or a little more; exactly so for springs, isometric hinges and triangle bending.
pub fn proxies(model: &Model, mut add: impl FnMut(&[u32], &[f64], f64)) {
    for row in &model.distance {
        add(&row.particles, &[1.0, -1.0], 1.0 / row.params[0] as f64);
    }
    for row in &model.isometric {
        let [compliance, k1, k2, k3] = row.params.map(f64::from);
        add(&row.particles, &[-(k1 + k2 + k3), k1, k2, k3], 1.0 / compliance);
    }
    for row in &model.triangle_bend {
        add(&row.particles, &[-1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0], 1.0 / row.params[0] as f64);
    }
    for row in &model.dihedral {
        // An isometric hinge measures the angle times the length of its edge.
        let x = row.particles.map(|i| model.start[i as usize].as_dvec3());
        let [k1, k2, k3] = isometric::weights(&x);
        let stiffness = 1.0 / (row.params[0] as f64 * (x[1] - x[0]).length_squared());
        add(&row.particles, &[-(k1 + k2 + k3), k1, k2, k3], stiffness);
    }
    for row in &model.stvk {
        let [inverse_area, m0, m1, m2, m3, s @ ..] = row.params.map(f64::from);
        let [c11, c12, c22, c33] = stvk::tensor(s);
        // Each direction by itself; shear has both directions in it.
        let couple = c12.abs() + 2.0 * c33;
        add(&row.particles, &[m0, m2, -m0 - m2], (c11 + couple) / inverse_area);
        add(&row.particles, &[m1, m3, -m1 - m3], (c22 + couple) / inverse_area);
    }
}

impl Element {
    /// The gradient by the particle at `place` (N) and a positive estimate of its second derivative (N/m): what vertex
    /// block descent needs, several times cheaper than all of it.
    pub fn local(&self, x: &[DVec3], place: usize) -> (DVec3, DMat3) {
        let at = |i: u32| x[i as usize];
        match self {
            Element::Dihedral(particles, rest, k) => {
                // Gauss–Newton: the curvature of the angle itself is left out.
                let (c, grad) = dihedral::value_grad(&lanes64(&particles.map(at)), *rest);
                let g = DVec3::new(grad[place].x, grad[place].y, grad[place].z);
                (g * (k * c), outer(g, g) * *k)
            }
            Element::TriangleBend(particles, rest, k) => {
                let x = particles.map(at);
                let share = if place == 2 { 2.0 / 3.0 } else { -1.0 / 3.0 };
                let height = (x[2] * 2.0 - x[0] - x[1]) / 3.0;
                let length = height.length().max(1e-15);
                let n = height * (1.0 / length);
                let across = (1.0 - rest / length).max(0.0);
                let block = outer(n, n) * (1.0 - across) + DMat3::from_diagonal(DVec3::splat(across));
                (n * (k * share * (length - rest)), block * (k * share * share))
            }
            Element::Stvk(particles, params) => {
                let [inverse_area, m0, m1, m2, m3, s @ ..] = *params;
                let [c11, c12, c22, c33] = stvk::tensor(s);
                let (e, grad) = stvk::value_grad(&lanes64(&particles.map(at)), &[m0, m1, m2, m3]);
                let g = grad.map(|g| DVec3::new(g[place].x, g[place].y, g[place].z));
                let t = [c11 * e[0] + c12 * e[1], c12 * e[0] + c22 * e[1], c33 * e[2]];
                let (a, b) = ([m0, m2, -m0 - m2][place], [m1, m3, -m1 - m3][place]);
                let stress = (t[0] * a * a + t[1] * b * b + 2.0 * t[2] * a * b).max(0.0);
                let block = outer(g[0], g[0] * c11 + g[1] * c12)
                    + outer(g[1], g[0] * c12 + g[1] * c22)
                    + outer(g[2], g[2] * c33)
                    + DMat3::from_diagonal(DVec3::splat(stress));
                let area = 1.0 / inverse_area;
                ((g[0] * t[0] + g[1] * t[1] + g[2] * t[2]) * area, block * area)
            }
        }
    }
}

/// Like a spring: k n nᵀ + k (1 − h₀/l) (I − n nᵀ) in the height, the second term left out while it is too short.
fn project_triangle_bend(hessian: &mut Blocks, x: &[DVec3; 3], rest: f64, k: f64) {
    let (sides, tip) = (-1.0 / 3.0, 2.0 / 3.0);
    let height = (x[2] * 2.0 - x[0] - x[1]) / 3.0;
    let length = height.length();
    if length < rest {
        let n = height * (1.0 / length.max(1e-15));
        let share = [sides, sides, tip];
        for i in 0..3 {
            for j in 0..3 {
                hessian[i][j] = outer(n, n) * (k * share[i] * share[j]);
            }
        }
    }
}

/// The Hessian is Σ C ∇E ∇E, which has no negative eigenvalue, and the stress in its own directions, of which what is
/// negative (compression) is taken away.
fn project_stvk(hessian: &mut Blocks, x: &[DVec3; 3], params: &[f64; stvk::PARAMS]) {
    let [inverse_area, m0, m1, m2, m3, s @ ..] = *params;
    let [c11, c12, c22, c33] = stvk::tensor(s);
    let (e, _) = stvk::value_grad(&lanes64(x), &[m0, m1, m2, m3]);
    let [t11, t22, t12] = [c11 * e[0] + c12 * e[1], c12 * e[0] + c22 * e[1], c33 * e[2]];
    // Eigenvalues mean ± radius of the stress; each projector is (T − other)/(value − other).
    let (mean, half) = (0.5 * (t11 + t22), 0.5 * (t11 - t22));
    let radius = (half * half + t12 * t12).sqrt();
    let (high, low) = (mean + radius, mean - radius);
    // What must be added to T.
    let [d11, d22, d12] = if low >= 0.0 {
        return;
    } else if high <= 0.0 {
        [-t11, -t22, -t12]
    } else {
        let scale = -low / (low - high);
        [(t11 - high) * scale, (t22 - high) * scale, t12 * scale]
    };
    let (a, b) = ([m0, m2, -m0 - m2], [m1, m3, -m1 - m3]);
    for i in 0..3 {
        for j in 0..3 {
            let add = d11 * a[i] * a[j] + d22 * b[i] * b[j] + d12 * (a[i] * b[j] + b[i] * a[j]);
            hessian[i][j] += DMat3::from_diagonal(DVec3::splat(add / inverse_area));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{MAX, Small, eigen};

    fn dense(hessian: &Blocks) -> Small {
        let mut small = [[0.0; MAX]; MAX];
        for i in 0..MAX {
            for j in 0..MAX {
                small[i][j] = hessian[i / 3][j / 3].col(j % 3)[i % 3];
            }
        }
        small
    }

    fn respond(element: &Element, x: &[DVec3], wanted: Wanted) -> (Response, Blocks) {
        let mut hessian = NO_BLOCKS;
        (element.respond(x, wanted, &mut hessian), hessian)
    }

    #[test]
    fn the_local_form_is_a_part_of_the_whole() {
        let m = stvk::inverse_shape([0.4, 0.0], [0.0, 0.4]);
        let params = [12.5, m[0], m[1], m[2], m[3], 1.0 / 300.0, -0.2 / 250.0, 1.0 / 200.0, 1.0 / 40.0];
        let shape = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.4, 0.2, 1.0], [0.6, 0.5, -0.9]];
        let x = shape.map(DVec3::from_array);
        for element in [
            Element::Dihedral([0, 1, 2, 3], 0.5, 2.0),
            Element::TriangleBend([0, 1, 2], 0.1, 7.0),
            Element::Stvk([1, 2, 0], params),
        ] {
            let (whole, hessian) = respond(&element, &x, Wanted::Exact);
            for place in 0..element.particles().len() {
                let (gradient, block) = element.local(&x, place);
                assert!((gradient - whole.gradient[place]).length() < 1e-9 * (1.0 + gradient.length()));
                // A hinge's is an estimate.
                if !matches!(element, Element::Dihedral(..)) {
                    let off = (block - hessian[place][place]).to_cols_array();
                    assert!(
                        off.iter().all(|v| v.abs() < 1e-9 * block.determinant().abs().cbrt()),
                        "{element:?} {off:?}"
                    );
                }
            }
        }
    }

    /// Elements that push, so that their own Hessians are not positive.
    #[test]
    fn projected_hessians_have_no_negative_eigenvalue_and_others_are_exact() {
        let m = stvk::inverse_shape([0.4, 0.0], [0.0, 0.4]);
        let params = [12.5, m[0], m[1], m[2], m[3], 1.0 / 300.0, -0.2 / 250.0, 1.0 / 200.0, 1.0 / 40.0];
        let elements = [
            Element::Dihedral([0, 1, 2, 3], 1.5, 2.0),
            Element::TriangleBend([0, 1, 2], 0.9, 7.0),
            Element::Stvk([1, 2, 0], params),
        ];
        let pushed = |scale: f64| {
            let shape = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.4, 0.2, 1.0], [0.6, 0.5, -0.9]];
            shape.map(|p| DVec3::from_array(p) * scale)
        };
        for element in &elements {
            let x = pushed(0.3);
            let [exact, projected] =
                [Wanted::Exact, Wanted::Projected].map(|wanted| dense(&respond(element, &x, wanted).1));
            let mut added = projected;
            added.as_flattened_mut().iter_mut().zip(exact.as_flattened()).for_each(|(a, e)| *a -= e);
            let spectrum = |matrix: Small| {
                let (values, _) = eigen(matrix, MAX);
                let mut values: Vec<f64> = (0..MAX).map(|i| values[i][i]).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let [exact, projected, added] = [exact, projected, added].map(spectrum);
            let (least, most) = (exact[0], exact[MAX - 1].max(projected[MAX - 1]));
            assert!(least < -1e-3, "the test needs a negative eigenvalue in {element:?}: {least}");
            assert!(projected[0] > -1e-12 * most, "{element:?} {projected:?}");
            assert!(added[0] > -1e-12 * most, "nothing is taken from {element:?}: {added:?}");
            // The least that has to be added is what is negative.
            let [negative, added]: [f64; 2] =
                [exact.iter().map(|value| -value.min(0.0)).sum(), added.iter().sum()];
            assert!(added < 2.0 * negative, "{element:?}: {added} is added where {negative} would do");
        }
        // Pulled apart, a triangle needs no projection.
        let x = pushed(2.0);
        let [exact, projected] =
            [Wanted::Exact, Wanted::Projected].map(|e| dense(&respond(&elements[2], &x, e).1));
        assert_eq!(exact, projected);
    }
}
