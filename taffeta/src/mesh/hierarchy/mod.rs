//! Coarse levels of a cloth, for hierarchical methods.
//!
//! A level is a choice of the cloth's vertices with springs between them, and for every vertex below it the parents whose
//! corrections it takes over: Δᵢ = Σⱼ wᵢⱼ Δⱼ with wᵢⱼ ≥ 0 and Σⱼ wᵢⱼ = 1. There are three ways to choose:
//! [`collapse`] (Müller 2008), [`sample`] (blue noise) and [`lattice`] (rows and columns of a grid).

mod collapse;
mod decision;
mod lattice;
mod sample;

use glam::Vec3;

use super::Grid;

pub use collapse::collapse;
pub use decision::Decision;
pub use lattice::lattice;
pub use sample::{DISK_DENSITY, sample};

/// A cloth that is to be made coarser, its vertices numbered from 0.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    /// Rest shape, m.
    pub rest: &'a [Vec3],
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// What is next to what: edges, and on a grid both diagonals.
    pub springs: Vec<[u32; 2]>,
    /// Vertices that must be in every level.
    pub held: Vec<bool>,
}

/// A coarse level.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its vertices, by their numbers in the cloth.
    pub vertices: Vec<u32>,
    /// Springs between them, by their places in `vertices`, with rest lengths in m.
    pub springs: Vec<([u32; 2], f32)>,
    /// If its first vertices, row by row, are a grid: which.
    pub grid: Option<Grid>,
    /// Where the vertices of the next finer level, or of the cloth, take their corrections from: places in `vertices`.
    pub parents: Parents,
}

/// For each vertex below a level its parents and their weights.
#[derive(Clone, Debug, Default)]
pub struct Parents {
    /// Those of vertex i are `links[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    links: Vec<(u32, f32)>,
}

impl Parents {
    fn new(lists: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Self {
        let mut parents = Parents { start: vec![0], links: Vec::new() };
        for list in lists {
            parents.links.extend(list);
            parents.start.push(parents.links.len() as u32);
        }
        parents
    }

    /// How many vertices have parents.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parents of vertex `i`, with their weights.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[(u32, f32)] {
        &self.links[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// What each of `count` parents stands for if its children weigh so much: Mⱼ = Σᵢ wᵢⱼ mᵢ. With these masses a
    /// correction that keeps the level's momentum keeps that of the cloth, since Σᵢ mᵢ Δᵢ = Σⱼ Mⱼ Δⱼ.
    pub fn gather(&self, children: &[f64], count: usize) -> Vec<f64> {
        let mut sums = vec![0.0; count];
        for (i, mass) in children.iter().enumerate() {
            for &(parent, weight) in self.of(i) {
                sums[parent as usize] += weight as f64 * mass;
            }
        }
        sums
    }
}

/// Added to relative distances, so that a parent in the same place gets nearly all of the weight.
const EPSILON: f32 = 1e-3;

/// Weights by inverse distance: ŵⱼ = 1/(dⱼ/max d + ε), wⱼ = ŵⱼ/Σ ŵ (Müller 2008, section 4.3).
fn inverse_distance(parents: &[(u32, f32)]) -> Vec<(u32, f32)> {
    let most = parents.iter().map(|p| p.1).fold(f32::MIN_POSITIVE, f32::max);
    let raw = |d: f32| 1.0 / (d / most + EPSILON);
    let sum: f32 = parents.iter().map(|p| raw(p.1)).sum();
    parents.iter().map(|&(parent, d)| (parent, raw(d) / sum)).collect()
}

/// Barycentric coordinates of `p`, projected into the plane of the triangle. None if it has no area.
fn barycentric(p: Vec3, [a, b, c]: [Vec3; 3]) -> Option<[f32; 3]> {
    let (u, v, q) = (b - a, c - a, p - a);
    let (uu, uv, vv, qu, qv) = (u.dot(u), u.dot(v), v.dot(v), q.dot(u), q.dot(v));
    let area = uu * vv - uv * uv;
    if area <= 1e-8 * uu * vv {
        return None;
    }
    let (s, t) = ((qu * vv - qv * uv) / area, (qv * uu - qu * uv) / area);
    Some([1.0 - s - t, s, t])
}

/// Who takes over the corrections of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heirs {
    /// The vertices of the next finer level.
    Finer,
    /// All vertices of the cloth.
    Finest,
}

impl Sheet<'_> {
    /// The spacing of the vertices, m: the root of the area that each has.
    pub fn spacing(&self) -> f32 {
        let at = |v: u32| self.rest[v as usize];
        let doubled = |t: &[u32; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).length();
        let area = 0.5 * self.triangles.iter().map(doubled).sum::<f32>();
        (area / self.rest.len().max(1) as f32).sqrt()
    }

    fn straight(&self, a: u32, b: u32) -> f32 {
        (self.rest[a as usize] - self.rest[b as usize]).length()
    }

    /// Whether the rest shape lies in a plane; the straight way between two vertices is then the shortest along the cloth.
    fn is_flat(&self) -> bool {
        let at = |v: u32| self.rest[v as usize];
        let count = self.rest.len().max(1) as f32;
        let middle = self.rest.iter().copied().sum::<Vec3>() / count;
        let size = self.rest.iter().map(|p| (*p - middle).length()).fold(0.0, f32::max);
        let normal: Vec3 =
            self.triangles.iter().map(|t| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]))).sum();
        let normal = normal.normalize_or_zero();
        normal != Vec3::ZERO && self.rest.iter().all(|p| (*p - middle).dot(normal).abs() <= 1e-4 * size)
    }
}

/// Lists of neighbours, each in ascending order without repeats.
fn neighbours(vertices: usize, springs: impl Iterator<Item = [u32; 2]>) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); vertices];
    for [a, b] in springs {
        around[a as usize].push(b);
        around[b as usize].push(a);
    }
    for list in &mut around {
        list.sort_unstable();
        list.dedup();
    }
    around
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::mesh::{Topology, TriMesh};

    pub struct Cloth {
        pub rest: Vec<Vec3>,
        pub mesh: TriMesh,
    }

    impl Cloth {
        pub fn new(mesh: TriMesh) -> Self {
            Cloth { rest: mesh.positions.iter().map(|&p| p.into()).collect(), mesh }
        }

        pub fn sheet(&self, held: &[usize]) -> Sheet<'_> {
            let topology = Topology::new(self.rest.len(), &self.mesh.triangles);
            Sheet {
                rest: &self.rest,
                triangles: self.mesh.triangles.clone(),
                springs: topology.edges.iter().map(|e| e.vertices).collect(),
                held: (0..self.rest.len()).map(|v| held.contains(&v)).collect(),
            }
        }
    }

    /// What every hierarchy promises.
    pub fn check(sheet: &Sheet<'_>, levels: &[Level], to_finest: bool) {
        let all: Vec<u32> = (0..sheet.rest.len() as u32).collect();
        let mut below = &all;
        for level in levels {
            assert!(level.vertices.len() < below.len(), "coarser");
            assert!(level.vertices.iter().all(|v| below.contains(v) || to_finest), "nested");
            let mut seen = level.vertices.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), level.vertices.len(), "no vertex twice");
            for (v, _) in sheet.held.iter().enumerate().filter(|h| *h.1) {
                assert!(level.vertices.contains(&(v as u32)), "held vertex {v} is missing");
            }
            let children = if to_finest { &all } else { below };
            assert_eq!(level.parents.len(), children.len());
            for (i, child) in children.iter().enumerate() {
                let links = level.parents.of(i);
                let sum: f32 = links.iter().map(|l| l.1).sum();
                assert!((sum - 1.0).abs() < 1e-5, "weights of {child} sum to {sum}");
                assert!(links.iter().all(|l| l.1 >= 0.0));
                if let Some(own) = level.vertices.iter().position(|v| v == child) {
                    assert_eq!(links, [(own as u32, 1.0)], "a vertex of the level is its own parent");
                }
            }
            let mut ends: Vec<[u32; 2]> = level.springs.iter().map(|s| s.0).collect();
            ends.sort_unstable();
            ends.dedup();
            assert_eq!(ends.len(), level.springs.len(), "no spring twice");
            for &([a, b], rest) in &level.springs {
                assert!(a < b, "ends in order, not the same");
                let straight = sheet.straight(level.vertices[a as usize], level.vertices[b as usize]);
                assert!(rest >= straight * 0.9999, "a spring is no shorter than the straight way");
            }
            below = &level.vertices;
        }
    }

    #[test]
    fn barycentric_coordinates_reproduce_the_point() {
        let [a, b, c] = [Vec3::new(0.0, 1.0, 0.0), Vec3::new(1.0, 0.0, 0.5), Vec3::new(0.2, 0.3, 2.0)];
        let p = a * 0.2 + b * 0.5 + c * 0.3;
        let w = barycentric(p, [a, b, c]).unwrap();
        assert!((a * w[0] + b * w[1] + c * w[2] - p).length() < 1e-6);
        assert_eq!(barycentric(p, [a, b, a]), None);
    }
}
