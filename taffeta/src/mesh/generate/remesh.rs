//! Even triangles on a smooth solid.
//!
//! Long edges are split, short ones collapsed, edges flipped until about six meet at every vertex, and vertices moved to the middle of their
//! neighbours along the surface (Botsch, Kobbelt, A remeshing approach to multiresolution modeling, 2004). At the end single edges are split
//! or collapsed until the number of vertices is the wanted one.

use std::collections::BTreeSet;

use glam::Vec3;

use super::field::Field;
use crate::mesh::{Edge, Topology, TriMesh};

/// Rounds of splitting, collapsing, flipping and moving for each length of edges.
const ROUNDS: usize = 5;

/// Limbs of this radius or more have edges of full length, m; thinner ones shorter edges, down to this part.
const WIDE: f32 = 0.06;
const FINEST: f32 = 0.5;

struct Net<'a> {
    field: &'a Field,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// The surface of `field` with `vertices` vertices.
pub(super) fn even_mesh(field: &Field, vertices: usize) -> TriMesh {
    let coarse = field.triangles(0.03);
    let mut net = Net {
        field,
        positions: coarse.positions.iter().map(|&p| field.project(p.into())).collect(),
        triangles: coarse.triangles,
    };
    let area: f32 = net.triangles.iter().map(|t| 0.5 * net.normal(*t).length()).sum();
    // An even mesh has twice as many triangles as vertices.
    let mut edge = (area / vertices as f32 * 2.0 / 3f32.sqrt()).sqrt();
    for _ in 0..3 {
        for _ in 0..ROUNDS {
            net.split(4.0 / 3.0 * edge, usize::MAX);
            net.collapse(0.8 * edge, 4.0 / 3.0 * edge, usize::MAX);
            net.flip();
            net.relax();
        }
        edge *= (net.positions.len() as f32 / vertices as f32).sqrt();
    }
    for _ in 0..40 {
        let count = net.positions.len();
        let many = |n: usize| (n / 4).max(1);
        if count < vertices {
            net.split(0.0, many(vertices - count));
        } else if count > vertices {
            net.collapse(f32::INFINITY, f32::INFINITY, many(count - vertices));
        } else {
            break;
        }
    }
    for _ in 0..4 {
        net.flip();
        net.relax();
    }
    TriMesh { positions: net.positions.iter().map(|&p| p.into()).collect(), triangles: net.triangles }
}

impl Net<'_> {
    /// Twice the area along the normal.
    fn normal(&self, t: [u32; 3]) -> Vec3 {
        let [a, b, c] = t.map(|v| self.positions[v as usize]);
        (b - a).cross(c - a)
    }

    /// The length of an edge; on thin limbs, which need finer triangles to be round, it counts more.
    fn length(&self, [a, b]: [u32; 2]) -> f32 {
        let [a, b] = [a, b].map(|v| self.positions[v as usize]);
        a.distance(b) / self.size((a + b) * 0.5)
    }

    /// How large edges may be at `p`, as a part of what they are on the trunk.
    fn size(&self, p: Vec3) -> f32 {
        (self.field.radius(p) / WIDE).clamp(FINEST, 1.0)
    }

    /// The edges of a wanted length, the shortest first.
    fn measured(&self, topology: &Topology, wanted: impl Fn(f32) -> bool) -> Vec<(f32, Edge)> {
        let lengths = topology.edges.iter().map(|edge| (self.length(edge.vertices), *edge));
        let mut edges: Vec<(f32, Edge)> = lengths.filter(|(length, _)| wanted(*length)).collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        edges
    }

    /// Splits edges above `longest` (m), the longest first, at most `most` of them.
    fn split(&mut self, longest: f32, most: usize) {
        let mut left = most;
        for _ in 0..8 {
            let topology = Topology::new(self.positions.len(), &self.triangles);
            let mut edges = self.measured(&topology, |length| length > longest);
            edges.reverse();
            let mut touched = vec![false; self.triangles.len()];
            let before = self.positions.len();
            for (_, edge) in edges {
                let [t, u] = edge.triangles.map(|t| t as usize);
                if touched[t] || touched[u] || left == 0 {
                    continue;
                }
                left -= 1;
                (touched[t], touched[u]) = (true, true);
                let [a, b] = edge.vertices;
                let middle =
                    self.field.project((self.positions[a as usize] + self.positions[b as usize]) * 0.5);
                let m = self.positions.len() as u32;
                self.positions.push(middle);
                for t in [t, u] {
                    let other = self.triangles[t];
                    let with = |from: u32| other.map(|v| if v == from { m } else { v });
                    let (first, second) = (with(b), with(a));
                    self.triangles[t] = first;
                    self.triangles.push(second);
                }
            }
            if self.positions.len() == before || left == 0 {
                return;
            }
        }
    }

    /// Collapses edges below `shortest` (m), the shortest first, at most `most` of them, where nothing becomes longer than `longest`.
    fn collapse(&mut self, shortest: f32, longest: f32, most: usize) {
        let mut left = most;
        for _ in 0..8 {
            let topology = Topology::new(self.positions.len(), &self.triangles);
            let mut around: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
            for (t, tri) in self.triangles.iter().enumerate() {
                tri.iter().for_each(|&v| around[v as usize].push(t as u32));
            }
            let edges = self.measured(&topology, |length| length < shortest);
            let (mut touched, mut dead) =
                (vec![false; self.positions.len()], vec![false; self.triangles.len()]);
            let mut gone = vec![false; self.positions.len()];
            for (_, edge) in edges {
                let [a, b] = edge.vertices;
                let ring = |v: u32| -> BTreeSet<u32> {
                    let corners = around[v as usize].iter().flat_map(|&t| self.triangles[t as usize]);
                    corners.filter(|&w| w != v).collect()
                };
                let (near_a, near_b) = (ring(a), ring(b));
                if left == 0 || near_a.union(&near_b).any(|&v| touched[v as usize]) {
                    continue;
                }
                // Only the two triangles at the edge may join both ends, or the sheet would fold onto itself.
                let common: Vec<u32> = near_a.intersection(&near_b).copied().collect();
                let lean = |v: &u32| around[*v as usize].len() <= 4;
                if common.len() != 2 || common.iter().any(lean) {
                    continue;
                }
                let middle =
                    self.field.project((self.positions[a as usize] + self.positions[b as usize]) * 0.5);
                let far =
                    |v: &u32| self.positions[*v as usize].distance(middle) > longest * self.size(middle);
                let turns = |v: u32, other: u32| {
                    around[v as usize].iter().map(|&t| self.triangles[t as usize]).any(|tri| {
                        if tri.contains(&other) {
                            return false;
                        }
                        let [p, q, r] = tri.map(|w| if w == v { middle } else { self.positions[w as usize] });
                        let (now, then) = (self.normal(tri), (q - p).cross(r - p));
                        now.dot(then) < 0.5 * now.length() * then.length()
                    })
                };
                if near_a.union(&near_b).any(far) || turns(a, b) || turns(b, a) {
                    continue;
                }
                left -= 1;
                near_a.union(&near_b).for_each(|&v| touched[v as usize] = true);
                self.positions[a as usize] = middle;
                gone[b as usize] = true;
                for &t in &around[b as usize] {
                    let tri = &mut self.triangles[t as usize];
                    dead[t as usize] |= tri.contains(&a);
                    tri.iter_mut().filter(|v| **v == b).for_each(|v| *v = a);
                }
            }
            if !gone.contains(&true) {
                return;
            }
            self.compact(&gone, &dead);
            if left == 0 {
                return;
            }
        }
    }

    fn compact(&mut self, gone: &[bool], dead: &[bool]) {
        let mut number = Vec::with_capacity(gone.len());
        let mut next = 0;
        for &gone in gone {
            number.push(next);
            next += u32::from(!gone);
        }
        let mut v = 0;
        self.positions.retain(|_| {
            v += 1;
            !gone[v - 1]
        });
        let mut t = 0;
        self.triangles.retain(|_| {
            t += 1;
            !dead[t - 1]
        });
        self.triangles.iter_mut().flatten().for_each(|v| *v = number[*v as usize]);
    }

    /// Flips edges where that brings the number of edges at four vertices nearer to six.
    fn flip(&mut self) {
        let topology = Topology::new(self.positions.len(), &self.triangles);
        let mut degree = vec![0i32; self.positions.len()];
        topology.edges.iter().flat_map(|e| e.vertices).for_each(|v| degree[v as usize] += 1);
        let mut known: BTreeSet<[u32; 2]> = topology.edges.iter().map(|e| e.vertices).collect();
        let mut touched = vec![false; self.triangles.len()];
        for edge in &topology.edges {
            let ([a, b], [c, d], [t, u]) = (edge.vertices, edge.opposite, edge.triangles.map(|t| t as usize));
            let off = |v: u32, change: i32| (degree[v as usize] + change - 6).pow(2);
            let before = off(a, 0) + off(b, 0) + off(c, 0) + off(d, 0);
            let after = off(a, -1) + off(b, -1) + off(c, 1) + off(d, 1);
            let flipped = [c.min(d), c.max(d)];
            if touched[t] || touched[u] || after >= before || known.contains(&flipped) {
                continue;
            }
            let swapped = |tri: [u32; 3], from: u32, to: u32| tri.map(|v| if v == from { to } else { v });
            // (a b c) and (b a d) become (a d c) and (b c d), whichever way round they are.
            let (first, second) = (swapped(self.triangles[t], b, d), swapped(self.triangles[u], a, c));
            let facing =
                (self.normal(self.triangles[t]) + self.normal(self.triangles[u])).normalize_or_zero();
            let flat = |tri| self.normal(tri).dot(facing) > 0.5 * self.normal(tri).length();
            // Not into needles.
            let wide = |tri: [u32; 3]| {
                let longest = (0..3).map(|k| self.length([tri[k], tri[(k + 1) % 3]])).fold(0.0, f32::max);
                self.normal(tri).length() > 0.25 * longest * longest
            };
            if flat(first) && flat(second) && wide(first) && wide(second) {
                (self.triangles[t], self.triangles[u]) = (first, second);
                (touched[t], touched[u]) = (true, true);
                known.remove(&edge.vertices);
                known.insert(flipped);
                for (v, change) in [(a, -1), (b, -1), (c, 1), (d, 1)] {
                    degree[v as usize] += change;
                }
            }
        }
    }

    /// Moves vertices along the surface towards the middle of their neighbours.
    fn relax(&mut self) {
        let topology = Topology::new(self.positions.len(), &self.triangles);
        let mut sums = vec![(Vec3::ZERO, 0.0); self.positions.len()];
        for [a, b] in topology.edges.iter().map(|e| e.vertices) {
            for (v, w) in [(a, b), (b, a)] {
                sums[v as usize].0 += self.positions[w as usize];
                sums[v as usize].1 += 1.0;
            }
        }
        for (p, (sum, count)) in self.positions.iter_mut().zip(sums) {
            let way = (sum / count - *p) * 0.6;
            let normal = self.field.normal(*p);
            *p = self.field.project(*p + way - normal * way.dot(normal));
        }
    }
}
