//! Which way crossed surfaces are pushed.

use std::collections::BTreeMap;

use glam::Vec3;

use super::contours::{Contour, Flood, Node, Region, Web};
use crate::collide::proximity::{Kind, proximity};
use crate::mesh::NONE;
use crate::wide::Particle;

/// What is asked of every vertex, gathered before anything moves.
pub struct Moves {
    pub sum: Vec<Vec3>,
    pub count: Vec<u32>,
    /// Vertices that were asked, once each.
    pub asked: Vec<u32>,
}

impl Moves {
    pub fn new(vertices: usize) -> Self {
        Moves { sum: vec![Vec3::ZERO; vertices], count: vec![0; vertices], asked: Vec::new() }
    }

    fn ask(&mut self, v: u32, by: Vec3) {
        if self.count[v as usize] == 0 {
            self.asked.push(v);
        }
        self.count[v as usize] += 1;
        self.sum[v as usize] += by;
    }

    /// Moves Σ wᵢ xᵢ by `by`, with as little motion of the particles as possible; held ones stay.
    fn shift(&mut self, x: &[Particle], particles: &[u32], weights: &[f32], by: Vec3) {
        let free = |v: u32| x[v as usize].w != 0.0;
        let total: f32 = particles.iter().zip(weights).filter(|p| free(*p.0)).map(|(_, w)| w * w).sum();
        if total > 1e-6 {
            for (&v, &w) in particles.iter().zip(weights).filter(|p| free(*p.0)) {
                self.ask(v, by * (w / total));
            }
        }
    }
}

fn at(x: &[Particle], v: u32) -> Vec3 {
    Vec3::from(x[v as usize].p)
}

fn normal(web: &Web, x: &[Particle], face: u32) -> Vec3 {
    let [a, b, c] = web.triangles[face as usize].map(|v| at(x, v));
    (b - a).cross(c - a).normalize_or_zero()
}

/// What a vertex of a region comes back through.
#[derive(Clone, Copy)]
struct Way {
    /// A face of the surface that cut it off.
    face: u32,
    /// On which side of it the rest is, ±1.
    side: f32,
    /// Of which surface of the contour the vertex is.
    surface: usize,
    /// The vertex from which the surface was followed.
    from: u32,
}

/// Brings a region back through the surface that cut it off: every vertex of it to the side of the surface on which the rest is (Baraff, Witkin, Kass 2003).
/// The surface is followed from the contour, vertex by vertex, so that no other layer is taken for it. Says how many were pushed.
pub fn region(
    web: &Web,
    x: &[Particle],
    (region, flood): (&Region, &Flood),
    (gap, most): (f32, f32),
    moves: &mut Moves,
) -> usize {
    let mut ways: BTreeMap<u32, Way> = BTreeMap::new();
    let mut queue = Vec::new();
    for &(v, Node { edge, face }, surface) in &region.gates {
        // The rest is where the other end of the edge is.
        let side = normal(web, x, face).dot(at(x, web.across(edge, v)) - at(x, v)).signum();
        ways.entry(v).or_insert_with(|| {
            queue.push(v);
            Way { face, side, surface, from: v }
        });
    }
    let mut next = 0;
    while let Some(&v) = queue.get(next) {
        next += 1;
        let way = Way { from: v, ..ways[&v] };
        for &edge in web.edges_at(v).iter().filter(|&&e| !flood.is_cut(web, e)) {
            ways.entry(web.across(edge, v)).or_insert_with_key(|&other| {
                queue.push(other);
                way
            });
        }
    }
    let mut pushed = 0;
    for v in queue {
        let Way { side, surface, from, .. } = ways[&v];
        let own = |face: u32| {
            let of = |corner: &u32| ways.get(corner).is_some_and(|way| way.surface == surface);
            web.triangles[face as usize].iter().any(of)
        };
        let face = nearest(web, x, v, ways[&from].face, own);
        ways.insert(v, Way { face, side, surface, from });
        let [a, b, c] = web.triangles[face as usize];
        if [a, b, c].contains(&v) {
            continue;
        }
        let particles = [v, a, b, c];
        let near = proximity(Kind::PointTriangle, particles.map(|v| at(x, v)));
        let n = normal(web, x, face) * side;
        let height = n.dot(near.direction) * near.distance;
        // Beyond the border of the surface there is nothing to come back through.
        let beside = near.weights[1..].contains(&0.0) && height.abs() < 0.5 * near.distance;
        if height < gap && !beside {
            moves.shift(x, &particles, &near.weights, n * (gap - height).min(most));
            pushed += 1;
        }
    }
    pushed
}

/// The face nearest to a vertex, going downhill from `from`. The vertex's own surface does not count.
fn nearest(web: &Web, x: &[Particle], v: u32, from: u32, own: impl Fn(u32) -> bool) -> u32 {
    let distance = |face: u32| {
        let [a, b, c] = web.triangles[face as usize];
        proximity(Kind::PointTriangle, [v, a, b, c].map(|v| at(x, v))).distance
    };
    let (mut best, mut least) = (from, distance(from));
    loop {
        let around = web.triangles[best as usize].iter().flat_map(|&corner| web.triangles_at(corner));
        let before = best;
        for &face in around {
            if face == best || own(face) {
                continue;
            }
            let d = distance(face);
            if d < least {
                (best, least) = (face, d);
            }
        }
        if best == before {
            return best;
        }
    }
}

/// Shortens a contour that goes round nothing (Volino, Magnenat-Thalmann 2006).
///
/// The contour leaves the point where an edge of direction e goes through a face with the normal N along the unit vectors Rᵢ, one in each triangle of the edge. If the edge moves
/// by δ against the face, the point moves by δ − e (N·δ)/(N·e), and the length of the contour by −Σ Rᵢ times that: it becomes
/// shorter fastest along
///
/// ```text
/// G = Σ (Rᵢ − N (Rᵢ·e)/(N·e))
/// ```
pub fn shorten(web: &Web, x: &[Particle], contour: &Contour, most: f32, moves: &mut Moves) {
    for &Node { edge, face } in contour.traces.iter().flatten() {
        let edge = &web.edges[edge as usize];
        let [p, q] = edge.vertices.map(|v| at(x, v));
        let e = (q - p).normalize_or_zero();
        let n = normal(web, x, face);
        let slope = n.dot(e);
        // Nearly in the face, a point runs far along the edge: it counts less.
        let inverse = slope / (slope * slope + 0.01);
        let mut gradient = Vec3::ZERO;
        for (&t, &opposite) in edge.triangles.iter().zip(&edge.opposite).filter(|(t, _)| **t != NONE) {
            let away = at(x, opposite) - p;
            let along = normal(web, x, t).cross(n).normalize_or_zero();
            let into = (away - e * away.dot(e)).dot(along).signum();
            let r = along * into;
            gradient += r - n * (r.dot(e) * inverse);
        }
        let by = gradient * (most / (1.0 + gradient.length_squared()).sqrt());
        // Where they cross, along the edge and in the face.
        let corners = web.triangles[face as usize];
        let height = |v: u32| n.dot(at(x, v) - at(x, corners[0]));
        let [low, high] = edge.vertices.map(height);
        let t = if low == high { 0.5 } else { (low / (low - high)).clamp(0.0, 1.0) };
        let [a, b, c] = corners.map(|v| at(x, v));
        let point = p.lerp(q, t);
        let area = (b - a).cross(c - a);
        let total = area.length_squared().max(f32::MIN_POSITIVE);
        let beta = ((point - a).cross(c - a).dot(area) / total).clamp(0.0, 1.0);
        let gamma = ((b - a).cross(point - a).dot(area) / total).clamp(0.0, 1.0);
        let particles = [edge.vertices[0], edge.vertices[1], corners[0], corners[1], corners[2]];
        moves.shift(x, &particles, &[1.0 - t, t, beta + gamma - 1.0, -beta, -gamma], by);
    }
}

/// Lifts a triangle off another with which it overlaps in one plane: along the normal of the first, the second up.
pub fn lift(web: &Web, x: &[Particle], [t, u]: [u32; 2], by: f32, moves: &mut Moves) {
    let n = normal(web, x, t);
    let (under, over) = (web.triangles[t as usize], web.triangles[u as usize]);
    for (own, other, by) in [(under, over, -n * by), (over, under, n * by)] {
        for v in own.into_iter().filter(|v| !other.contains(v)) {
            moves.shift(x, &[v], &[1.0], by);
        }
    }
}
