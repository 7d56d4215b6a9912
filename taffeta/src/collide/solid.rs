//! How deep a point is in a triangle mesh.
//!
//! The distance is that of the nearest triangle. The side is told by the generalised winding number, the part of all directions in which
//! the mesh is seen from the point: 1 inside, 0 outside, and hardly disturbed by a crossing or a small hole. Far parts of the mesh are
//! seen as one small plate, Σ A n · r/(4π |r|³).
//!
//! Jacobson, Kavan, Sorkine-Hornung (2013); Barill, Dickson, Schmidt, Levin, Jacobson, Fast winding numbers (2018).

use glam::{DVec3, Vec3};

use super::proximity::{Kind, proximity};
use super::query::Aabb;

/// Triangles of a leaf.
const LEAF: usize = 4;
/// A part is far if its distance is more than so many times its radius.
const FAR: f64 = 2.0;
/// Levels of the tree at most.
const DEPTH: usize = 64;

/// A mesh at one moment, ready for queries.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    corners: Vec<[Vec3; 3]>,
    /// The number of each triangle in the mesh.
    numbers: Vec<u32>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    first: u32,
    /// Of the second child; the first follows its parent. None for a leaf.
    second: Option<u32>,
    count: u32,
    /// Middle of the triangles by area, and no point of them further from it than the radius.
    middle: DVec3,
    radius: f64,
    /// Σ A n.
    area: DVec3,
}

/// The nearest point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// How far it is, m.
    pub distance: f32,
    /// On which triangle.
    pub triangle: u32,
    /// Where on it: weights of its corners.
    pub weights: [f32; 3],
    /// Unit vector from it to the point; the triangle's normal where they coincide.
    pub direction: Vec3,
}

impl Solid {
    /// Sorts the triangles into a tree.
    pub fn new(points: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let corners: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(|v| points[v as usize])).collect();
        let mut numbers: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut solid = Solid::default();
        if !numbers.is_empty() {
            solid.nodes.reserve(2 * triangles.len() / LEAF + 1);
            solid.build(&corners, &mut numbers, 0);
        }
        solid.corners = numbers.iter().map(|&t| corners[t as usize]).collect();
        solid.numbers = numbers;
        solid
    }

    fn build(&mut self, corners: &[[Vec3; 3]], numbers: &mut [u32], first: u32) {
        let node = self.nodes.len();
        self.nodes.push(plate(corners, numbers, first));
        if numbers.len() <= LEAF {
            return;
        }
        let center = |t: &u32| corners[*t as usize].iter().copied().sum::<Vec3>();
        let size = Aabb::around(numbers.iter().map(center)).size();
        let axis = if size.x >= size.y.max(size.z) {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let half = numbers.len() / 2;
        numbers
            .select_nth_unstable_by(half, |a, b| center(a)[axis].total_cmp(&center(b)[axis]).then(a.cmp(b)));
        let (low, high) = numbers.split_at_mut(half);
        self.build(corners, low, first);
        self.nodes[node].second = Some(self.nodes.len() as u32);
        self.build(corners, high, first + half as u32);
    }

    /// The box around all of it.
    pub fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |n| n.bounds)
    }

    /// The nearest point of the mesh, if there is one within `reach` (m).
    pub fn closest(&self, p: Vec3, reach: f32) -> Option<Closest> {
        let mut best: Option<Closest> = None;
        let mut limit = reach;
        let mut stack = [(0.0f32, 0u32); DEPTH];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let (distance, index) = stack[top];
            if distance > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            let Some(second) = node.second else {
                for i in node.first..node.first + node.count {
                    let [a, b, c] = self.corners[i as usize];
                    let found = proximity(Kind::PointTriangle, [p, a, b, c]);
                    if found.distance < limit || (best.is_none() && found.distance <= limit) {
                        limit = found.distance;
                        let [_, wa, wb, wc] = found.weights;
                        best = Some(Closest {
                            distance: found.distance,
                            triangle: self.numbers[i as usize],
                            weights: [-wa, -wb, -wc],
                            direction: found.direction,
                        });
                    }
                }
                continue;
            };
            let mut children = [index + 1, second].map(|n| (apart(&self.nodes[n as usize].bounds, p), n));
            // The nearer one is looked at first, so it goes on the stack last.
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            stack[top..top + 2].copy_from_slice(&children);
            top += 2;
        }
        best
    }

    /// How often the mesh winds round `p`: 1 inside a closed mesh that faces outwards, 0 outside.
    pub fn winding(&self, p: Vec3) -> f64 {
        let p = p.as_dvec3();
        let mut sum = 0.0;
        let mut stack = [0u32; DEPTH];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            let r = node.middle - p;
            let square = r.length_squared();
            if square > (FAR * node.radius) * (FAR * node.radius) {
                sum += node.area.dot(r) / (square * square.sqrt());
            } else if let Some(second) = node.second {
                stack[top..top + 2].copy_from_slice(&[second, index + 1]);
                top += 2;
            } else {
                for i in node.first..node.first + node.count {
                    sum += solid_angle(self.corners[i as usize].map(|c| c.as_dvec3() - p));
                }
            }
        }
        sum / (4.0 * std::f64::consts::PI)
    }

    /// Whether `p` is inside.
    pub fn contains(&self, p: Vec3) -> bool {
        let bounds = self.bounds();
        bounds.low.cmple(p).all() && p.cmple(bounds.high).all() && self.winding(p) > 0.5
    }

    /// How deep `p` is inside, m; none outside.
    pub fn depth(&self, p: Vec3) -> Option<f32> {
        if self.contains(p) { self.closest(p, f32::INFINITY).map(|c| c.distance) } else { None }
    }
}

/// A node of all these triangles.
fn plate(corners: &[[Vec3; 3]], numbers: &[u32], first: u32) -> Node {
    let all = || numbers.iter().map(|&t| corners[t as usize]);
    let (mut area, mut middle, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for t in all() {
        let [a, b, c] = t.map(|p| p.as_dvec3());
        let normal = 0.5 * (b - a).cross(c - a);
        let size = normal.length();
        area += normal;
        total += size;
        middle += (a + b + c) * (size / 3.0);
    }
    let bounds = Aabb::around(all().flatten());
    let middle = if total > 0.0 { middle / total } else { bounds.center().as_dvec3() };
    let radius = all().flatten().map(|p| p.as_dvec3().distance(middle)).fold(0.0, f64::max);
    Node { bounds, first, second: None, count: numbers.len() as u32, middle, radius, area }
}

/// How far `p` is from a box, m.
fn apart(bounds: &Aabb, p: Vec3) -> f32 {
    (bounds.low - p).max(p - bounds.high).max(Vec3::ZERO).length()
}

/// The solid angle at which a triangle is seen from the origin, positive from behind (van Oosterom, Strackee 1983).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let [la, lb, lc] = [a, b, c].map(DVec3::length);
    let volume = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * libm::atan2(volume, denominator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Surface;
    use crate::collide::random::Random;
    use crate::mesh::generate::{ball, torus};

    fn solid(surface: &Surface) -> Solid {
        let mut points = vec![Vec3::ZERO; surface.vertices()];
        surface.deform(0.0, &mut points);
        Solid::new(&points, &surface.triangles)
    }

    #[test]
    fn a_ball_is_as_deep_as_its_radius() {
        let solid = solid(&Surface::rigid(&ball(0.5, 2500)));
        let mut random = Random(7);
        let mut inside = 0;
        for _ in 0..4000 {
            let p = random.vector() * 0.7;
            // The flat triangles lie up to 0.6 mm under the sphere.
            let expected = 0.5 - p.length();
            match solid.depth(p) {
                Some(depth) => {
                    inside += 1;
                    assert!(
                        (depth - expected).abs() < 7e-4 && expected > 0.0,
                        "{p}: {depth}, not {expected}"
                    );
                }
                None => assert!(expected < 7e-4, "{p} is {expected} m deep"),
            }
            // Far parts are seen as plates, which is good enough to tell 0 from 1.
            let w = solid.winding(p);
            assert!((w - w.round()).abs() < 0.1, "{p}: {w}");
        }
        assert!(inside > 500, "{inside}");
    }

    #[test]
    fn the_nearest_point_is_that_of_all_triangles() {
        let surface = Surface::rigid(&torus(0.4, 0.1, 300));
        let solid = solid(&surface);
        let mesh = surface.mesh();
        let mut random = Random(3);
        for _ in 0..300 {
            let p = random.vector();
            let found = solid.closest(p, f32::INFINITY).unwrap();
            let distance = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| Vec3::from(mesh.positions[v as usize]));
                proximity(Kind::PointTriangle, [p, a, b, c]).distance
            };
            let least = surface.triangles.iter().map(distance).fold(f32::INFINITY, f32::min);
            assert_eq!(found.distance, least);
            let corners =
                surface.triangles[found.triangle as usize].map(|v| Vec3::from(mesh.positions[v as usize]));
            let at: Vec3 = corners.iter().zip(found.weights).map(|(&c, w)| c * w).sum();
            assert!((at + found.direction * found.distance - p).length() < 1e-5);
            assert!(solid.closest(p, 0.9 * least).is_none());
        }
        assert!(!solid.contains(Vec3::ZERO) && solid.contains(Vec3::new(0.4, 0.0, 0.0)));
    }

    #[test]
    fn a_mesh_that_crosses_itself_still_has_an_inside() {
        let mut mesh = ball(0.5, 500);
        let n = mesh.positions.len() as u32;
        let second = ball(0.5, 500);
        mesh.positions.extend(second.positions.iter().map(|p| [p[0] + 0.4, p[1], p[2]]));
        mesh.triangles.extend(second.triangles.iter().map(|t| t.map(|v| v + n)));
        let solid = solid(&Surface::rigid(&mesh));
        for (x, inside) in [(-0.55, false), (-0.3, true), (0.2, true), (0.7, true), (0.95, false)] {
            assert_eq!(solid.contains(Vec3::new(x, 0.01, 0.02)), inside, "{x}");
        }
    }
}
