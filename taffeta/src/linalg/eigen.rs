//! Eigenvalues of small dense symmetric matrices.

/// The largest size.
pub const MAX: usize = 12;

/// A small dense matrix; only the first rows and columns are used.
pub type Small = [[f64; MAX]; MAX];

/// Eigenvalues (on the diagonal of the first) and eigenvectors (rows of the second) of the symmetric `a` of size `n`, by
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
                let between = a[p][q];
                // Smaller ones would not change what is on the diagonal.
                if between * between <= 1e-34 * size {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * between);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let [low, high] = [a[p][p] - t * between, a[q][q] + t * between];
                turn(&mut a, p, q, c, s);
                turn(&mut v, p, q, c, s);
                (a[p][p], a[q][q], a[p][q], a[q][p]) = (low, high, 0.0, 0.0);
                for k in (0..n).filter(|&k| k != p && k != q) {
                    (a[k][p], a[k][q]) = (a[p][k], a[q][k]);
                }
            }
        }
    }
    (a, v)
}

/// Turns two rows against each other, the first before the second.
#[inline(always)]
fn turn(m: &mut Small, p: usize, q: usize, c: f64, s: f64) {
    let (first, second) = m.split_at_mut(q);
    for (x, y) in first[p].iter_mut().zip(&mut second[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
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
                    let product: f64 = (0..n).map(|j| a[i][j] * v[k][j]).sum();
                    assert!((product - values[k][k] * v[k][i]).abs() < 1e-10);
                }
            }
        }
    }
}
