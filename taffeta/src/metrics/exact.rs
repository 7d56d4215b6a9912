//! Which side, decided without error.
//!
//! A sign is first computed in double precision with a bound on its error. Where the bound does not decide it, the determinant is written
//! as a sum of products of coordinates. These are numbers of single precision, so each product is one or two doubles without rounding, and the doubles
//! are added without error as an *expansion*: numbers that do not overlap, the largest of which has the sign of the sum.
//!
//! Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates (1997).

use glam::{DVec3, Vec3};

/// Half a unit in the last place of 1.
const ROUNDING: f64 = 0.5 * f64::EPSILON;

/// A sum of at most 48 doubles without error, its smallest part first.
struct Expansion {
    parts: [f64; 48],
    count: usize,
}

impl Expansion {
    fn new() -> Self {
        Expansion { parts: [0.0; 48], count: 0 }
    }

    fn add(&mut self, term: f64) {
        let (mut sum, mut kept) = (term, 0);
        for k in 0..self.count {
            let part = self.parts[k];
            // Knuth's sum of two: rounded, and what the rounding left.
            let total = sum + part;
            let taken = total - sum;
            let rest = (sum - (total - taken)) + (part - taken);
            sum = total;
            if rest != 0.0 {
                self.parts[kept] = rest;
                kept += 1;
            }
        }
        if sum != 0.0 {
            self.parts[kept] = sum;
            kept += 1;
        }
        self.count = kept;
    }

    /// Adds u v w, each a number of single precision.
    fn add_product(&mut self, u: f64, v: f64, w: f64) {
        // u v has 48 bits. In two halves of at most 26 bits (Veltkamp), each times the 24 of w is a double.
        let product = u * v;
        let scaled = product * 134_217_729.0;
        let high = scaled - (scaled - product);
        self.add(high * w);
        self.add((product - high) * w);
    }

    fn sign(&self) -> i32 {
        if self.count == 0 { 0 } else { sign(self.parts[self.count - 1]) }
    }
}

fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// The sign of (b − a) × (c − a) · (d − a): on which side of the plane through a, b, c the point d is; 0 in it.
pub fn side_of_plane(points: [Vec3; 4]) -> i32 {
    let [a, b, c, d] = points.map(|p| p.as_dvec3());
    let (u, v, w) = (b - a, c - a, d - a);
    let minors = u.cross(v);
    let largest = DVec3::new(
        (u.y * v.z).abs() + (u.z * v.y).abs(),
        (u.z * v.x).abs() + (u.x * v.z).abs(),
        (u.x * v.y).abs() + (u.y * v.x).abs(),
    );
    let volume = minors.dot(w);
    // Shewchuk's bound has 7 ε and a little.
    if volume.abs() > 8.0 * ROUNDING * largest.dot(w.abs()) {
        return sign(volume);
    }
    let flat = |axis: usize| points.iter().all(|p| p[axis] == points[0][axis]);
    if flat(0) || flat(1) || flat(2) {
        return 0;
    }
    let mut sum = Expansion::new();
    for (u, v, w, s) in [(b, c, d, 1.0), (a, c, d, -1.0), (a, b, d, 1.0), (a, b, c, -1.0)] {
        for (x, y, z) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            sum.add_product(v[y], w[z], s * u[x]);
            sum.add_product(v[z], w[y], -s * u[x]);
        }
    }
    sum.sign()
}

/// The sign of the area of a, b, c, seen along `axis`: on which side of the line through a and b the point c is; 0 on it.
pub fn side_of_line(points: [Vec3; 3], axis: usize) -> i32 {
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let [a, b, c] = points.map(|p| [p[i] as f64, p[j] as f64]);
    let (left, right) = ((b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0]));
    if (left - right).abs() > 4.0 * ROUNDING * (left.abs() + right.abs()) {
        return sign(left - right);
    }
    let mut sum = Expansion::new();
    for (p, q) in [(a, b), (b, c), (c, a)] {
        sum.add(p[0] * q[1]);
        sum.add(-p[1] * q[0]);
    }
    sum.sign()
}

/// An axis along which the triangle has an area; none if its corners are on a line.
pub fn axis_with_area(triangle: [Vec3; 3]) -> Option<usize> {
    let [a, b, c] = triangle.map(|p| p.as_dvec3());
    let n = (b - a).cross(c - a).abs();
    // The largest first, because it is decided soonest.
    let first = if n.x >= n.y && n.x >= n.z {
        0
    } else if n.y >= n.z {
        1
    } else {
        2
    };
    [first, (first + 1) % 3, (first + 2) % 3].into_iter().find(|&axis| side_of_line(triangle, axis) != 0)
}

/// Whether the segment from a to b has a point in common with the triangle, its border included. The triangle has an area.
pub fn segment_meets_triangle(a: Vec3, b: Vec3, triangle: [Vec3; 3]) -> bool {
    let [p, q, r] = triangle;
    let (side_a, side_b) = (side_of_plane([p, q, r, a]), side_of_plane([p, q, r, b]));
    if side_a * side_b > 0 {
        return false;
    }
    if side_a == 0 && side_b == 0 {
        return segment_meets_triangle_in_plane(a, b, triangle);
    }
    let sides = [side_of_plane([a, b, p, q]), side_of_plane([a, b, q, r]), side_of_plane([a, b, r, p])];
    sides.iter().all(|&s| s >= 0) || sides.iter().all(|&s| s <= 0)
}

fn segment_meets_triangle_in_plane(a: Vec3, b: Vec3, triangle: [Vec3; 3]) -> bool {
    let Some(axis) = axis_with_area(triangle) else { return false };
    let [p, q, r] = triangle;
    let inside = |x: Vec3| {
        let sides =
            [side_of_line([p, q, x], axis), side_of_line([q, r, x], axis), side_of_line([r, p, x], axis)];
        sides.iter().all(|&s| s >= 0) || sides.iter().all(|&s| s <= 0)
    };
    inside(a) || [(p, q), (q, r), (r, p)].iter().any(|&(c, d)| segments_meet([a, b, c, d], axis))
}

/// Whether the segments ab and cd of one plane, seen along `axis`, have a point in common.
fn segments_meet([a, b, c, d]: [Vec3; 4], axis: usize) -> bool {
    let (of_a, of_b) = (side_of_line([c, d, a], axis), side_of_line([c, d, b], axis));
    let (of_c, of_d) = (side_of_line([a, b, c], axis), side_of_line([a, b, d], axis));
    if [of_a, of_b, of_c, of_d] == [0; 4] {
        // On one line: they meet where their boxes do.
        return a.min(b).cmple(c.max(d)).all() && c.min(d).cmple(a.max(b)).all();
    }
    of_a * of_b <= 0 && of_c * of_d <= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::random::Random;

    /// The same by whole numbers, which have no rounding at all.
    fn volume(points: [[i64; 3]; 4]) -> i32 {
        let [u, v, w] = [1, 2, 3].map(|k| [0, 1, 2].map(|c| (points[k][c] - points[0][c]) as i128));
        let minor = |i: usize, j: usize| u[i] * v[j] - u[j] * v[i];
        (minor(1, 2) * w[0] + minor(2, 0) * w[1] + minor(0, 1) * w[2]).signum() as i32
    }

    #[test]
    fn signs_are_those_of_whole_numbers() {
        let mut random = Random(1);
        let (mut zeros, mut close) = (0, 0);
        for round in 0..20_000 {
            // Corners of single precision as they are: 24 bits, here of different sizes; the fourth in or near the plane of the others.
            let whole = |r: &mut Random, bits: i32| {
                [0; 3].map(|_| (r.signed() * (1 << 23) as f32) as i64 >> (23 - bits))
            };
            let bits = [4, 12, 23][round % 3];
            let mut points = [0; 4].map(|_| whole(&mut random, bits));
            if round % 2 == 0 {
                let at = |c: usize| points[1][c] + points[2][c] - points[0][c];
                points[3] = [at(0), at(1), at(2)];
                if round % 4 == 0 {
                    points[3][round / 4 % 3] += 1;
                }
            }
            if points.iter().flatten().any(|c| c.abs() >= 1 << 24) {
                continue;
            }
            // Exact powers of two change no sign; tiny and large ones leave what naive arithmetic can hold.
            let scale = [1.0, 2f32.powi(-120), 2f32.powi(90)][round / 7 % 3];
            let given = points.map(|p| Vec3::from_array(p.map(|c| c as f32 * scale)));
            let expected = volume(points);
            assert_eq!(side_of_plane(given), expected, "{points:?}");
            zeros += usize::from(expected == 0);
            close += usize::from(bits == 23 && round % 4 == 0 && expected != 0);
            let flat = |axis: usize| {
                let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
                let of = |k: usize, c: usize| (points[k][c] - points[0][c]) as i128;
                (of(1, i) * of(2, j) - of(1, j) * of(2, i)).signum() as i32
            };
            for axis in 0..3 {
                assert_eq!(side_of_line([given[0], given[1], given[2]], axis), flat(axis));
            }
        }
        assert!(zeros > 3000 && close > 500, "{zeros} {close}");
    }

    #[test]
    fn a_difference_in_the_last_place_is_seen_among_large_numbers() {
        // 1 + 2⁻²³ against 10⁻³⁰: the difference is lost in double precision.
        let p = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        let (one, tiny) = (1.0 + f32::EPSILON, 1e-30);
        let plane = [p(0.0, 0.0, 0.0), p(one, one, 1.0), p(one, one, 2.0)];
        let side = |x: Vec3| side_of_plane([plane[0], plane[1], plane[2], x]);
        assert_eq!(side(p(3.0, 3.0, 1.0)), 0);
        assert_eq!(side(p(3.0, 3.0, tiny)), 0);
        assert_ne!(side(p(3.0 * f32::EPSILON, tiny, 1.0)), 0);
        assert_eq!(side(p(tiny, 0.0, 1.0)), -side(p(0.0, tiny, 1.0)));
        assert_ne!(side(p(tiny, 0.0, 1.0)), 0);
    }
}
