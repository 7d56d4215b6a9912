//! Which triangles cross each other, whatever the contact method believes.
//!
//! Two triangles cross if they have a point in common, be it that they only touch. A point that they have in common by their
//! vertices does not count:
//!
//! - Without a common vertex: an edge of one meets the other, its border included, or they overlap in one plane.
//! - One common vertex: the side of one opposite that vertex meets the other. Points of both triangles lie on rays from the common vertex; the ray leaves
//!   one of the two first, there through its opposite side.
//! - A common edge: they are folded flat onto each other, exactly in one plane and on the same side of the edge.
//! - Three common vertices: always.
//!
//! So no crossing means that all distances are above zero, which is what contact that cannot leak starts from and keeps.
//! All is decided by exact signs ([`super::exact`]); sums in double precision only leave out pairs that are surely apart. Triangles without any area and those with
//! a coordinate that is not finite are left out: the first are covered by the edges of their neighbours.

use glam::{DVec3, Vec3};

use super::exact::{axis_with_area, segment_meets_triangle, side_of_line, side_of_plane};
use crate::collide::Body;
use crate::collide::query::{Aabb, Lbvh, NearPairs};
use crate::lanes::SimdLevel;
use crate::par::Team;

/// A cloth or the mesh of a collider.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Where its vertices are, m.
    pub positions: &'a [[f32; 3]],
    /// Its triangles.
    pub triangles: &'a [[u32; 3]],
    /// Whether it is a collider. What crosses within colliders, or between two of them, does not count.
    pub collider: bool,
}

/// Two triangles that cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The parts they belong to.
    pub parts: [u32; 2],
    /// Their numbers within those parts.
    pub triangles: [u32; 2],
    /// A point where they cross, m.
    pub point: [f32; 3],
}

/// All pairs of triangles that cross, sorted by parts and triangles.
pub fn crossings(parts: &[Part<'_>]) -> Vec<Crossing> {
    let (mut corners, mut vertices, mut colliders) = (Vec::new(), Vec::new(), Vec::new());
    let (mut starts, mut first) = (vec![0], 0);
    for part in parts {
        for t in part.triangles {
            corners.push(t.map(|v| Vec3::from(part.positions[v as usize])));
            vertices.push(t.map(|v| v + first));
            colliders.push(part.collider);
        }
        first += part.positions.len() as u32;
        starts.push(corners.len() as u32);
    }
    let place = |t: u32| {
        let part = starts.partition_point(|&start| start <= t) as u32 - 1;
        (part, t - starts[part as usize])
    };
    let pairs = crossing_pairs(&mut Team::new(1), &corners, &vertices, &colliders);
    let describe = |&[t, u]: &[u32; 2]| {
        let (p, q) = (place(t), place(u));
        let point = meeting_point(corners[t as usize], corners[u as usize]).into();
        Crossing { parts: [p.0, q.0], triangles: [p.1, q.1], point }
    };
    pairs.iter().map(describe).collect()
}

/// The same for all cloths at once and the meshes of colliders.
pub fn crossings_with_bodies(
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    bodies: &[Body],
) -> Vec<Crossing> {
    let points: Vec<Vec<[f32; 3]>> =
        bodies.iter().map(|body| body.points().iter().map(|p| p.to_array()).collect()).collect();
    let mut parts = vec![Part { positions, triangles, collider: false }];
    for (body, positions) in bodies.iter().zip(&points) {
        parts.push(Part { positions, triangles: body.triangles(), collider: true });
    }
    crossings(&parts)
}

/// Pairs of triangles of one mesh (lower index first, sorted) that cross.
pub fn intersecting_pairs(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let corners: Vec<_> = triangles.iter().map(|t| t.map(|v| Vec3::from(positions[v as usize]))).collect();
    crossing_pairs(&mut Team::new(1), &corners, triangles, &vec![false; triangles.len()])
}

/// The same for triangles given by their corners and the numbers of those; two colliders do not count.
pub(crate) fn crossing_pairs(
    team: &mut Team,
    corners: &[[Vec3; 3]],
    vertices: &[[u32; 3]],
    colliders: &[bool],
) -> Vec<[u32; 2]> {
    let usable = |t: &u32| {
        let corners = corners[*t as usize];
        corners.iter().all(|p| p.is_finite()) && axis_with_area(corners).is_some()
    };
    let (bodies, cloths): (Vec<u32>, Vec<u32>) =
        (0..corners.len() as u32).filter(usable).partition(|&t| colliders[t as usize]);
    let boxes = |of: &[u32]| of.iter().map(|&t| Aabb::around(corners[t as usize])).collect::<Vec<_>>();
    let (cloth_boxes, body_boxes) = (boxes(&cloths), boxes(&bodies));
    let (level, mut tree, mut near, mut found) = (SimdLevel::best(), Lbvh::default(), Vec::new(), Vec::new());
    let mut keep = |near: &[[u32; 2]], first: &[u32], second: &[u32]| {
        for &[i, j] in near {
            let (t, u) = (first[i as usize], second[j as usize]);
            let of = |t: u32| (corners[t as usize], vertices[t as usize]);
            if cross(of(t), of(u)) {
                found.push([t.min(u), t.max(u)]);
            }
        }
    };
    tree.within(team, level, &cloth_boxes, cloth_boxes.len(), 0.0, &mut near);
    keep(&near, &cloths, &cloths);
    if !bodies.is_empty() {
        Lbvh::default().between(team, level, &cloth_boxes, &body_boxes, 0.0, &mut near);
        keep(&near, &cloths, &bodies);
    }
    found.sort_unstable();
    found
}

/// Whether two triangles, each its corners and their numbers, cross.
fn cross(t: ([Vec3; 3], [u32; 3]), u: ([Vec3; 3], [u32; 3])) -> bool {
    // Common vertices first, in the same order.
    let ((mut p, mut v), (mut q, mut w)) = (t, u);
    let mut common = 0;
    for i in 0..3 {
        if let Some(j) = (common..3).find(|&j| w[j] == v[i]) {
            p.swap(common, i);
            v.swap(common, i);
            q.swap(common, j);
            w.swap(common, j);
            common += 1;
        }
    }
    match common {
        0 => {
            !apart(p, q)
                && (0..3).any(|k| {
                    segment_meets_triangle(p[k], p[(k + 1) % 3], q)
                        || segment_meets_triangle(q[k], q[(k + 1) % 3], p)
                })
        }
        1 => {
            !apart_at_vertex(p, q)
                && (segment_meets_triangle(p[1], p[2], q) || segment_meets_triangle(q[1], q[2], p))
        }
        2 => folded_flat([p[0], p[1], p[2], q[2]]),
        _ => true,
    }
}

/// Rounding of a projection in units of ε × |axis| × size, generously.
const DOUBT: f64 = 32.0 * f64::EPSILON;

/// Whether some axis surely separates two triangles: a normal, a normal of an edge, or across two edges.
fn apart(p: [Vec3; 3], q: [Vec3; 3]) -> bool {
    let origin = p[0].as_dvec3();
    let (p, q) = (p.map(|x| x.as_dvec3() - origin), q.map(|x| x.as_dvec3() - origin));
    let size = p.iter().chain(&q).fold(0.0f64, |size, x| size.max(x.abs().max_element()));
    let separates = |axis: DVec3| {
        let (a, b) = (p.map(|x| x.dot(axis)), q.map(|x| x.dot(axis)));
        let doubt = DOUBT * size * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        let low = |x: [f64; 3]| x[0].min(x[1]).min(x[2]);
        let high = |x: [f64; 3]| x[0].max(x[1]).max(x[2]);
        low(a) > high(b) + doubt || low(b) > high(a) + doubt
    };
    let edges = |x: [DVec3; 3]| [x[1] - x[0], x[2] - x[1], x[0] - x[2]];
    let (e, f) = (edges(p), edges(q));
    let (m, n) = (e[0].cross(e[1]), f[0].cross(f[1]));
    separates(m)
        || separates(n)
        || e.iter().any(|&e| separates(m.cross(e)))
        || f.iter().any(|&f| separates(n.cross(f)))
        || e.iter().any(|&e| f.iter().any(|&f| separates(e.cross(f))))
}

/// Whether two triangles whose first corners are the same surely have only that in common: a plane through it has the rest of both on
/// its two sides, or the rest of one is on one side of the other's plane.
fn apart_at_vertex(p: [Vec3; 3], q: [Vec3; 3]) -> bool {
    let from = |x: [Vec3; 3]| [1, 2].map(|k| x[k].as_dvec3() - x[0].as_dvec3());
    let ([a, b], [c, d]) = (from(p), from(q));
    let size = [a, b, c, d].iter().fold(0.0f64, |size, x| size.max(x.abs().max_element()));
    let middle = |a: DVec3, b: DVec3| (a.normalize_or_zero() + b.normalize_or_zero()).normalize_or_zero();
    let axis = middle(a, b) - middle(c, d);
    let doubt = DOUBT * size * (axis.x.abs() + axis.y.abs() + axis.z.abs());
    if a.dot(axis).min(b.dot(axis)) > doubt && c.dot(axis).max(d.dot(axis)) < -doubt {
        return true;
    }
    let side = |t: [Vec3; 3], x: Vec3| side_of_plane([t[0], t[1], t[2], x]);
    side(p, q[1]) * side(p, q[2]) > 0 || side(q, p[1]) * side(q, p[2]) > 0
}

/// Whether the triangles a, b, c and a, b, d are folded flat onto each other.
fn folded_flat([a, b, c, d]: [Vec3; 4]) -> bool {
    // On two sides of the edge, as seen along it, they are surely not.
    let [u, v, w] = [b, c, d].map(|x| x.as_dvec3() - a.as_dvec3());
    let (m, n) = (u.cross(v), u.cross(w));
    if m.dot(n) < -1e-6 * m.length() * n.length() || side_of_plane([a, b, c, d]) != 0 {
        return false;
    }
    axis_with_area([a, b, c])
        .is_some_and(|axis| side_of_line([a, b, c], axis) == side_of_line([a, b, d], axis))
}

/// A point where two triangles cross: the middle of what their edges pierce, or where they overlap in one plane some point near.
fn meeting_point(p: [Vec3; 3], q: [Vec3; 3]) -> Vec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for (p, q) in [(p, q), (q, p)] {
        let plane = q.map(|x| x.as_dvec3());
        let normal = (plane[1] - plane[0]).cross(plane[2] - plane[0]);
        for k in 0..3 {
            let (a, b) = (p[k], p[(k + 1) % 3]);
            if !segment_meets_triangle(a, b, q) {
                continue;
            }
            let (a, b) = (a.as_dvec3(), b.as_dvec3());
            let (height_a, height_b) = ((a - plane[0]).dot(normal), (b - plane[0]).dot(normal));
            let t =
                if height_a == height_b { 0.5 } else { (height_a / (height_a - height_b)).clamp(0.0, 1.0) };
            sum += a.lerp(b, t);
            count += 1.0;
        }
    }
    if count > 0.0 { (sum / count).as_vec3() } else { (p[0] + p[1] + p[2] + q[0] + q[1] + q[2]) / 6.0 }
}

#[cfg(test)]
mod tests;
