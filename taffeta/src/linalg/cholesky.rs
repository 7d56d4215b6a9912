//! Sparse LDLᵀ factorisation of symmetric positive definite matrices.
//!
//! Up-looking, row by row along the elimination tree: Davis, *Algorithm 849: a concise sparse Cholesky factorization
//! package*, 2005. The order of elimination is nested dissection (George, *Nested dissection of a regular finite element
//! mesh*, 1973) by where the vertices are: across its longest side each part is cut in two halves. Serial and in a fixed order, so the bits are the same
//! everywhere.

use glam::{DVec3, Vec3};

use super::sparse::{Entry, Rows};

/// Parts of so few vertices are not divided further.
const LEAF: usize = 24;
const NONE: u32 = u32::MAX;

/// The pattern of a factor, and its numbers once [`Factor::compute`] has run.
#[derive(Clone, Debug)]
pub struct Factor {
    /// `order[k]` is the row that is eliminated k-th; `place` is the inverse.
    order: Vec<u32>,
    place: Vec<u32>,
    parent: Vec<u32>,
    /// L by columns, without its diagonal of ones.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    /// Buffers.
    filled: Vec<u32>,
    dense: Vec<f64>,
    flag: Vec<u32>,
    pattern: Vec<u32>,
    permuted: Vec<DVec3>,
}

impl Factor {
    /// The pattern of the factor of matrices with the entries of `a`, of which both triangles must be there. The
    /// vertices are at `points`, which matters only for the speed.
    pub fn new(a: &Rows<Entry>, points: &[Vec3]) -> Self {
        let n = a.rows();
        let order = nested_dissection(a, points);
        let mut place = vec![0u32; n];
        order.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
        // Elimination tree, and the number of entries in each column.
        let (mut parent, mut flag, mut counts) = (vec![NONE; n], vec![NONE; n], vec![0u32; n]);
        for k in 0..n {
            flag[k] = k as u32;
            for entry in a.row(order[k] as usize) {
                let mut i = place[entry.column as usize] as usize;
                while i < k && flag[i] != k as u32 {
                    if parent[i] == NONE {
                        parent[i] = k as u32;
                    }
                    counts[i] += 1;
                    flag[i] = k as u32;
                    i = parent[i] as usize;
                }
            }
        }
        let mut starts = vec![0u32; n + 1];
        for k in 0..n {
            starts[k + 1] = starts[k] + counts[k];
        }
        let entries = starts[n] as usize;
        Factor {
            order,
            place,
            parent,
            starts,
            rows: vec![0; entries],
            values: vec![0.0; entries],
            inverse_diagonal: vec![0.0; n],
            filled: vec![0; n],
            dense: vec![0.0; n],
            flag,
            pattern: vec![0; n],
            permuted: vec![DVec3::ZERO; n],
        }
    }

    /// Entries of L below its diagonal.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether L is diagonal.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Factors a matrix with the pattern given to [`Factor::new`]; false if it is not positive definite.
    pub fn compute(&mut self, a: &Rows<Entry>) -> bool {
        let n = self.order.len();
        self.filled.fill(0);
        self.flag.fill(NONE);
        for k in 0..n {
            // The pattern of row k of L, in topological order at the end of `pattern`.
            let mut top = n;
            let mut diagonal = 0.0;
            self.flag[k] = k as u32;
            for entry in a.row(self.order[k] as usize) {
                let mut i = self.place[entry.column as usize] as usize;
                if i == k {
                    diagonal += entry.value;
                }
                if i >= k {
                    continue;
                }
                self.dense[i] += entry.value;
                let mut length = 0;
                while self.flag[i] != k as u32 {
                    self.pattern[length] = i as u32;
                    length += 1;
                    self.flag[i] = k as u32;
                    i = self.parent[i] as usize;
                }
                while length > 0 {
                    top -= 1;
                    length -= 1;
                    self.pattern[top] = self.pattern[length];
                }
            }
            for t in top..n {
                let i = self.pattern[t] as usize;
                let y = std::mem::take(&mut self.dense[i]);
                let column = self.starts[i] as usize..(self.starts[i] + self.filled[i]) as usize;
                for (&row, value) in self.rows[column.clone()].iter().zip(&self.values[column.clone()]) {
                    self.dense[row as usize] -= value * y;
                }
                let l = y * self.inverse_diagonal[i];
                diagonal -= l * y;
                self.rows[column.end] = k as u32;
                self.values[column.end] = l;
                self.filled[i] += 1;
            }
            if diagonal <= 0.0 || diagonal.is_nan() {
                self.dense.fill(0.0);
                return false;
            }
            self.inverse_diagonal[k] = 1.0 / diagonal;
        }
        true
    }

    /// x ← A⁻¹ x, for three right-hand sides at once.
    pub fn solve(&mut self, x: &mut [DVec3]) {
        let n = self.order.len();
        let b = &mut self.permuted;
        for k in 0..n {
            b[k] = x[self.order[k] as usize];
        }
        for k in 0..n {
            let own = b[k];
            let column = self.starts[k] as usize..self.starts[k + 1] as usize;
            for (&row, &value) in self.rows[column.clone()].iter().zip(&self.values[column]) {
                b[row as usize] -= own * value;
            }
        }
        for k in (0..n).rev() {
            let mut own = b[k] * self.inverse_diagonal[k];
            let column = self.starts[k] as usize..self.starts[k + 1] as usize;
            for (&row, &value) in self.rows[column.clone()].iter().zip(&self.values[column]) {
                own -= b[row as usize] * value;
            }
            b[k] = own;
        }
        for k in 0..n {
            x[self.order[k] as usize] = b[k];
        }
    }
}

/// An order of elimination with little fill: what separates the two halves of a part comes after both.
fn nested_dissection(a: &Rows<Entry>, points: &[Vec3]) -> Vec<u32> {
    let n = a.rows();
    // Made from the back: the whole sheet's separator first.
    let mut order = Vec::with_capacity(n);
    let mut second_half = vec![false; n];
    let mut stack: Vec<Vec<u32>> = vec![(0..n as u32).collect()];
    while let Some(mut part) = stack.pop() {
        if part.len() <= LEAF {
            order.extend(part);
            continue;
        }
        let at = |v: u32| points[v as usize];
        let (mut low, mut high) = (at(part[0]), at(part[0]));
        for &v in &part {
            (low, high) = (low.min(at(v)), high.max(at(v)));
        }
        let axis = (high - low).max_position();
        part.sort_by(|&v, &w| at(v)[axis].total_cmp(&at(w)[axis]).then(v.cmp(&w)));
        let second = part.split_off(part.len() / 2);
        second.iter().for_each(|&v| second_half[v as usize] = true);
        let near = |v: &u32| a.row(*v as usize).iter().any(|entry| second_half[entry.column as usize]);
        let (separator, first): (Vec<u32>, Vec<u32>) = part.into_iter().partition(near);
        second.iter().for_each(|&v| second_half[v as usize] = false);
        order.extend(separator);
        stack.extend([first, second]);
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(side: usize) -> Vec<Vec3> {
        (0..side * side).map(|i| Vec3::new((i % side) as f32, 0.0, (i / side) as f32)).collect()
    }

    /// The Laplacian of a grid with both diagonals, plus the identity.
    fn grid(side: usize) -> Rows<Entry> {
        let mut entries = Vec::new();
        let at = |x: usize, y: usize| (y * side + x) as u32;
        for y in 0..side {
            for x in 0..side {
                entries.push((at(x, y), at(x, y), 1.0));
                for (dx, dy) in [(1i32, 0i32), (0, 1), (1, 1), (-1, 1)] {
                    let (u, v) = (x as i32 + dx, y as i32 + dy);
                    if u >= 0 && (u as usize) < side && (v as usize) < side {
                        let (a, b) = (at(x, y), at(u as usize, v as usize));
                        let k = 1.0 + (a % 3) as f64;
                        entries.extend([(a, a, k), (b, b, k), (a, b, -k), (b, a, -k)]);
                    }
                }
            }
        }
        Rows::matrix(side * side, entries)
    }

    #[test]
    fn it_solves_what_it_factored() {
        let a = grid(20);
        let mut factor = Factor::new(&a, &points(20));
        assert!(factor.compute(&a));
        let b: Vec<DVec3> = (0..400).map(|i| DVec3::new(i as f64, (i % 7) as f64, 1.0)).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        for i in 0..400 {
            let ax: DVec3 = a.row(i).iter().map(|e| x[e.column as usize] * e.value).sum();
            assert!((ax - b[i]).length() < 1e-9 * b[i].length(), "{i}");
        }
    }

    #[test]
    fn every_row_is_eliminated_once_and_fill_is_modest() {
        let a = grid(40);
        let mut order = nested_dissection(&a, &points(40));
        order.sort();
        assert!(order.into_iter().eq(0..1600));
        // Row by row, the band would hold 1600 × 41 entries.
        let factor = Factor::new(&a, &points(40));
        assert!(factor.len() < 1600 * 41 * 6 / 10, "{} entries", factor.len());
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let a = Rows::matrix(2, vec![(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]);
        assert!(!Factor::new(&a, &[Vec3::ZERO; 2]).compute(&a));
    }
}
