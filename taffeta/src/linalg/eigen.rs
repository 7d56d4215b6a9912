//! Eigenvalues of small dense symmetric matrices, and the nearest one without negative ones.

/// The largest size.
pub const MAX: usize = 12;

/// A small dense matrix; only the first rows and columns are used.
pub type Small = [[f64; MAX]; MAX];

/// Eigenvalues (on the diagonal of the first) and eigenvectors (columns of the second) of the symmetric `a` of size `n`, by
/// cyclic Jacobi rotations (Golub, Van Loan, *Matrix computations*, 8.5): not the fastest way, but exact to
/// rounding and the same on every machine.
pub fn eigen(mut a: Small, n: usize) -> (Small, Small) {
    let mut v = [[0.0; MAX]; MAX];
    (0..n).for_each(|i| v[i][i] = 1.0);
    let size: f64 = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
    for _ in 0..30 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-28 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k][p], v[k][q]);
                    (v[k][p], v[k][q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (a, v)
}

/// The symmetric matrix nearest to `a` (size `n`) that has no negative eigenvalue (Higham 1988): negative ones are set to
/// zero.
pub fn project(a: &Small, n: usize) -> Small {
    let (values, v) = eigen(*a, n);
    // What must be added; usually the fewer terms.
    let mut out = *a;
    for k in (0..n).filter(|&k| values[k][k] < 0.0) {
        for i in 0..n {
            for j in 0..n {
                out[i][j] -= values[k][k] * (v[i][k] * v[j][k]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize) -> Small {
        let mut a = [[0.0; MAX]; MAX];
        for i in 0..n {
            for j in 0..n {
                a[i][j] = ((i * j + 3 * (i + j)) % 7) as f64 - 3.0;
            }
        }
        a
    }

    #[test]
    fn eigenvectors_are_stretched_by_their_values() {
        for n in [2, 9, 12] {
            let a = sample(n);
            let (values, v) = eigen(a, n);
            for k in 0..n {
                for i in 0..n {
                    let product: f64 = (0..n).map(|j| a[i][j] * v[j][k]).sum();
                    assert!((product - values[k][k] * v[i][k]).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn a_projection_has_no_negative_eigenvalue_and_changes_no_other() {
        let a = sample(9);
        let (before, _) = eigen(a, 9);
        let (after, _) = eigen(project(&a, 9), 9);
        let sorted = |m: &Small, floor: f64| {
            let mut d: Vec<f64> = (0..9).map(|i| m[i][i].max(floor)).collect();
            d.sort_by(f64::total_cmp);
            d
        };
        assert!((0..9).any(|i| before[i][i] < -1.0) && (0..9).any(|i| before[i][i] > 1.0));
        for (x, y) in sorted(&before, 0.0).iter().zip(sorted(&after, f64::MIN)) {
            assert!((x - y).abs() < 1e-10, "{x} {y}");
        }
    }
}
