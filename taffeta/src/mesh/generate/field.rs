//! Smooth solids: rounded cones that flow into each other, and their surface as triangles.

use std::collections::BTreeMap;

use glam::Vec3;

use crate::collide::query::Aabb;
use crate::mesh::TriMesh;

/// All points within a radius of a segment; the radius changes evenly from end to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limb {
    pub ends: [Vec3; 2],
    pub radii: [f32; 2],
}

/// A cylinder about a vertical axis with a rounded rim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disc {
    pub center: Vec3,
    pub radius: f32,
    pub half_height: f32,
    pub rim: f32,
}

/// Limbs that flow into each other, and into what they stand on.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub limbs: Vec<Limb>,
    pub plinth: Option<Disc>,
    /// Over what difference of distances two limbs are blended, m.
    pub blend: f32,
}

impl Limb {
    /// The place on the segment nearest to `p`, 0 to 1.
    pub fn nearest(&self, p: Vec3) -> f32 {
        let along = self.ends[1] - self.ends[0];
        ((p - self.ends[0]).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0)
    }

    /// About the distance of `p` from its surface, m, negative inside, and the direction in which it grows.
    fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let t = self.nearest(p);
        let from_axis = p - (self.ends[0] + (self.ends[1] - self.ends[0]) * t);
        let length = from_axis.length();
        (length - (self.radii[0] + (self.radii[1] - self.radii[0]) * t), from_axis / length.max(1e-9))
    }
}

impl Disc {
    /// As for a limb.
    fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let from = p - self.center;
        let level = Vec3::new(from.x, 0.0, from.z);
        let outwards = level / level.length().max(1e-9);
        let upwards = Vec3::Y * if from.y < 0.0 { -1.0 } else { 1.0 };
        let side = level.length() - (self.radius - self.rim);
        let top = from.y.abs() - (self.half_height - self.rim);
        if side > 0.0 && top > 0.0 {
            let length = (side * side + top * top).sqrt();
            return (length - self.rim, (outwards * side + upwards * top) / length);
        }
        if side > top { (side - self.rim, outwards) } else { (top - self.rim, upwards) }
    }
}

impl Field {
    /// The distances of all parts, as of a limb.
    fn parts(&self, p: Vec3) -> impl Iterator<Item = (f32, Vec3)> + '_ {
        let plinth = self.plinth.iter().map(move |disc| disc.distance(p));
        self.limbs.iter().map(move |limb| limb.distance(p)).chain(plinth)
    }

    /// About the distance of `p` from the surface, m, negative inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        self.gradient(p).0
    }

    /// The same, and its gradient.
    fn gradient(&self, p: Vec3) -> (f32, Vec3) {
        let (mut sum, mut way) = (f32::INFINITY, Vec3::ZERO);
        for (d, n) in self.parts(p) {
            // A minimum without an edge (Quilez): lowered by a quarter of the blend where both are the same.
            let h = (1.0 - (sum - d).abs() / self.blend).max(0.0);
            way = if d < sum { n + (way - n) * (0.5 * h) } else { way + (n - way) * (0.5 * h) };
            sum = sum.min(d) - 0.25 * self.blend * h * h;
        }
        (sum, way)
    }

    /// The radius of the limb or plinth that `p` is nearest to, m.
    pub fn radius(&self, p: Vec3) -> f32 {
        let mut nearest = self.plinth.map_or((f32::INFINITY, 0.0), |disc| (disc.distance(p).0, disc.radius));
        for limb in &self.limbs {
            let (d, _) = limb.distance(p);
            if d < nearest.0 {
                nearest = (d, limb.radii[0] + (limb.radii[1] - limb.radii[0]) * limb.nearest(p));
            }
        }
        nearest.1
    }

    /// The outward direction at `p`.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        self.gradient(p).1.normalize_or(Vec3::Y)
    }

    /// A point of the surface near `p`.
    pub fn project(&self, mut p: Vec3) -> Vec3 {
        for _ in 0..4 {
            let (distance, way) = self.gradient(p);
            p -= way * (distance / way.length_squared().max(0.1));
        }
        p
    }

    fn bounds(&self) -> Aabb {
        let limbs = self.limbs.iter().flat_map(|l| [0, 1].map(|k| (l.ends[k], Vec3::splat(l.radii[k]))));
        let plinth = self.plinth.iter().map(|d| (d.center, Vec3::new(d.radius, d.half_height, d.radius)));
        limbs.chain(plinth).fold(Aabb::EMPTY, |b, (p, r)| b.join(Aabb { low: p - r, high: p + r }))
    }

    /// The surface as triangles that face outwards, from cells of `cell` metres cut into six tetrahedra each: closed and without
    /// branches, whatever the shape, but with triangles of any form.
    pub fn triangles(&self, cell: f32) -> TriMesh {
        let bounds = self.bounds().grown(2.5 * cell);
        let size = (bounds.size() / cell).to_array().map(|c| c as usize + 2);
        let index = |v: [usize; 3]| (v[2] * size[1] + v[1]) * size[0] + v[0];
        let at = |v: [usize; 3]| bounds.low + Vec3::from(v.map(|c| c as f32)) * cell;
        let mut values = vec![0.0; size.iter().product()];
        for z in 0..size[2] {
            for y in 0..size[1] {
                for x in 0..size[0] {
                    values[index([x, y, z])] = self.distance(at([x, y, z]));
                }
            }
        }
        let mut mesh = TriMesh::default();
        let mut numbers: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let paths = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for z in 0..size[2] - 1 {
            for y in 0..size[1] - 1 {
                for x in 0..size[0] - 1 {
                    for path in paths {
                        // From the lowest corner of the cell to the highest, along the axes in turn.
                        let mut corners = [[x, y, z]; 4];
                        for k in 0..3 {
                            corners[k + 1] = corners[k];
                            corners[k + 1][path[k]] += 1;
                        }
                        let inside = corners.map(|c| values[index(c)] < 0.0);
                        let count = inside.iter().filter(|i| **i).count();
                        if count == 0 || count == 4 {
                            continue;
                        }
                        let mut vertex = |a: [usize; 3], b: [usize; 3]| {
                            let key = (index(a).min(index(b)), index(a).max(index(b)));
                            *numbers.entry(key).or_insert_with(|| {
                                let (da, db) = (values[index(a)], values[index(b)]);
                                // Not too near the ends, where triangles would have no area.
                                let t = (da / (da - db)).clamp(0.1, 0.9);
                                mesh.positions.push(at(a).lerp(at(b), t).into());
                                mesh.positions.len() as u32 - 1
                            })
                        };
                        let (ins, outs): (Vec<_>, Vec<_>) = (0..4).partition(|&k| inside[k]);
                        let mut cut = |i: usize, o: usize| vertex(corners[i], corners[o]);
                        let faces: Vec<[u32; 3]> = match (&ins[..], &outs[..]) {
                            (&[i], &[a, b, c]) | (&[a, b, c], &[i]) => {
                                let mut cut = |k| if inside[i] { cut(i, k) } else { cut(k, i) };
                                vec![[cut(a), cut(b), cut(c)]]
                            }
                            (&[i, j], &[a, b]) => {
                                let quad = [cut(i, a), cut(i, b), cut(j, b), cut(j, a)];
                                vec![[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
                            }
                            _ => Vec::new(),
                        };
                        let mean = |list: &[usize]| {
                            list.iter().map(|&k| at(corners[k])).sum::<Vec3>() / list.len() as f32
                        };
                        let outward = mean(&outs) - mean(&ins);
                        for face in faces {
                            let [a, b, c] = face.map(|v| Vec3::from(mesh.positions[v as usize]));
                            let right = (b - a).cross(c - a).dot(outward) > 0.0;
                            mesh.triangles.push(if right { face } else { [face[0], face[2], face[1]] });
                        }
                    }
                }
            }
        }
        mesh
    }
}
