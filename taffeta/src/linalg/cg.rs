//! Conjugate gradients.

use glam::{DMat3, DVec3};

use crate::par::Team;

/// Particles handed to a thread at a time.
const GRAIN: usize = 64;

/// A symmetric positive definite matrix that is known by what it does.
pub trait Operator {
    /// q ← A p.
    fn apply(&self, team: &mut Team, p: &[DVec3], q: &mut [DVec3]);
}

/// a·b in an order that depends on the length alone.
pub fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let mut sums = [DVec3::ZERO; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let mut rest = 0.0;
    for (a, b) in a4.remainder().iter().zip(b4.remainder()) {
        rest += a.dot(*b);
    }
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    sum.x + sum.y + sum.z + rest
}

/// How a solution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Iterations made.
    pub iterations: u32,
    /// Whether the matrix turned out to be not positive definite; then the result is as far as it was found by then, and still leads downhill.
    pub indefinite: bool,
}

/// The buffers of a solver.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    r: Vec<DVec3>,
    z: Vec<DVec3>,
    p: Vec<DVec3>,
    q: Vec<DVec3>,
}

impl ConjugateGradients {
    /// For `n` particles.
    pub fn new(n: usize) -> Self {
        let zero = || vec![DVec3::ZERO; n];
        ConjugateGradients { r: zero(), z: zero(), p: zero(), q: zero() }
    }

    /// Solves A x = b from x = 0 until |r| in the norm of the preconditioner has fallen by `reduction`; makes at most
    /// `limit` iterations. `inverse` holds the inverses of A's diagonal blocks (block Jacobi).
    /// Shewchuk, *An introduction to the conjugate gradient method*, 1994, B3.
    pub fn solve(
        &mut self,
        team: &mut Team,
        a: &impl Operator,
        inverse: &[DMat3],
        b: &[DVec3],
        x: &mut [DVec3],
        reduction: f64,
        limit: u32,
    ) -> Solved {
        let ConjugateGradients { r, z, p, q } = self;
        x.fill(DVec3::ZERO);
        r.copy_from_slice(b);
        for i in 0..b.len() {
            z[i] = inverse[i] * r[i];
        }
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let goal = rz * reduction * reduction;
        for iteration in 0..limit {
            if rz <= goal || rz <= 0.0 {
                return Solved { iterations: iteration, indefinite: false };
            }
            a.apply(team, p, q);
            let curvature = dot(p, q);
            if curvature <= 0.0 {
                return Solved { iterations: iteration + 1, indefinite: true };
            }
            let alpha = rz / curvature;
            let (pp, qq) = (&p[..], &q[..]);
            team.for_each_chunk3(x, r, z, GRAIN, |first, x, r, z| {
                for i in 0..x.len() {
                    x[i] += pp[first + i] * alpha;
                    r[i] -= qq[first + i] * alpha;
                    z[i] = inverse[first + i] * r[i];
                }
            });
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            for (p, z) in p.iter_mut().zip(z.iter()) {
                *p = *z + *p * beta;
            }
        }
        Solved { iterations: limit, indefinite: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of springs between walls.
    struct Chain;

    impl Operator for Chain {
        fn apply(&self, _: &mut Team, p: &[DVec3], q: &mut [DVec3]) {
            for i in 0..p.len() {
                q[i] = p[i] * 2.0;
                if i > 0 {
                    q[i] -= p[i - 1];
                }
                if i + 1 < p.len() {
                    q[i] -= p[i + 1];
                }
            }
        }
    }

    #[test]
    fn it_solves_a_chain() {
        let n = 50;
        let mut team = Team::new(1);
        let b: Vec<DVec3> = (0..n).map(|i| DVec3::new(1.0, i as f64, (i * i) as f64 % 5.0)).collect();
        let mut x = vec![DVec3::ZERO; n];
        let inverse = vec![DMat3::IDENTITY * 0.5; n];
        let made = ConjugateGradients::new(n).solve(&mut team, &Chain, &inverse, &b, &mut x, 1e-12, 1000);
        assert!(made.iterations < 1000 && !made.indefinite);
        let mut ax = vec![DVec3::ZERO; n];
        Chain.apply(&mut team, &x, &mut ax);
        for i in 0..n {
            assert!((ax[i] - b[i]).length() < 1e-8, "{i}: {} against {}", ax[i], b[i]);
        }
    }
}
