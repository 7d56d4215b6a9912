use super::*;
use crate::collide::random::Random;
use crate::mesh::{Grid, irregular_sheet};

/// A counter of its own: every pair, in whole numbers, by separating planes and by cones instead of edges that pierce.
mod brute {
    pub type Whole = [i128; 3];

    pub fn minus(a: Whole, b: Whole) -> Whole {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }
    pub fn cross(a: Whole, b: Whole) -> Whole {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }
    pub fn dot(a: Whole, b: Whole) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }
    fn volume(a: Whole, b: Whole, c: Whole) -> i128 {
        dot(cross(a, b), c)
    }

    /// The faces of the difference of two triangles are across n₁, n₂ and eᵢ × fⱼ; if that is flat, its sides are across n × eᵢ and n × fⱼ.
    fn apart(p: [Whole; 3], q: [Whole; 3]) -> bool {
        let edges = |x: [Whole; 3]| [0, 1, 2].map(|k| minus(x[(k + 1) % 3], x[k]));
        let (e, f) = (edges(p), edges(q));
        let (m, n) = (cross(e[0], e[1]), cross(f[0], f[1]));
        let mut axes = vec![m, n];
        for k in 0..3 {
            axes.extend([cross(m, e[k]), cross(n, f[k])]);
            axes.extend(f.map(|f| cross(e[k], f)));
        }
        axes.iter().any(|&axis| {
            let range = |x: [Whole; 3]| {
                let along = x.map(|x| dot(x, axis));
                (*along.iter().min().unwrap(), *along.iter().max().unwrap())
            };
            let (p, q) = (range(p), range(q));
            p.1 < q.0 || q.1 < p.0
        })
    }

    /// Whether the cones of a, b and of c, d have more than their tip in common: some α a + β b = γ c + δ d, not all zero. If there is one,
    /// there is one with independent vectors but one (Carathéodory): two parallel, three in a plane, or all four.
    fn cones_meet(a: Whole, b: Whole, c: Whole, d: Whole) -> bool {
        let parallel = |u, v| cross(u, v) == [0; 3] && dot(u, v) > 0;
        let between = |u, v, x| {
            let n = cross(u, v);
            dot(n, x) == 0 && dot(cross(u, x), n) >= 0 && dot(cross(x, v), n) >= 0
        };
        let four = [volume(b, c, d), -volume(a, c, d), -volume(a, b, d), volume(a, b, c)];
        let same = four.iter().all(|v| *v > 0) || four.iter().all(|v| *v < 0);
        [(a, c), (a, d), (b, c), (b, d)].iter().any(|&(u, v)| parallel(u, v))
            || between(a, b, c)
            || between(a, b, d)
            || between(c, d, a)
            || between(c, d, b)
            || same
    }

    pub fn pairs(at: &[[i64; 3]], triangles: &[[u32; 3]], colliders: &[bool]) -> Vec<[u32; 2]> {
        let mut found = Vec::new();
        let corners = |t: usize| triangles[t].map(|v| at[v as usize].map(i128::from));
        let area = |t: usize| {
            let [a, b, c] = corners(t);
            cross(minus(b, a), minus(c, a)) != [0; 3]
        };
        for t in 0..triangles.len() {
            for u in t + 1..triangles.len() {
                if colliders[t] && colliders[u] || !area(t) || !area(u) {
                    continue;
                }
                let (p, q) = (triangles[t], triangles[u]);
                let point = |v: &u32| at[*v as usize].map(i128::from);
                let common: Vec<u32> = p.iter().copied().filter(|v| q.contains(v)).collect();
                let rest = |t: [u32; 3]| -> Vec<Whole> {
                    let others = t.iter().filter(|v| !common.contains(v));
                    others.map(|v| minus(point(v), point(&common[0]))).collect()
                };
                let meet = match common.len() {
                    0 => !apart(corners(t), corners(u)),
                    1 => cones_meet(rest(p)[0], rest(p)[1], rest(q)[0], rest(q)[1]),
                    2 => {
                        let edge = minus(point(&common[1]), point(&common[0]));
                        let (m, n) = (cross(edge, rest(p)[0]), cross(edge, rest(q)[0]));
                        cross(m, n) == [0; 3] && dot(m, n) > 0
                    }
                    _ => true,
                };
                if meet {
                    found.push([t as u32, u as u32]);
                }
            }
        }
        found
    }
}

/// Meshes whose vertices are on a lattice of whole numbers: the fewer there are, the more touches, overlaps and flat folds.
fn on_lattice(triangles: &[[u32; 3]], vertices: usize, range: f32, seed: u64) -> Vec<[i64; 3]> {
    let mut random = Random(seed);
    assert!(triangles.iter().flatten().all(|&v| (v as usize) < vertices));
    (0..vertices).map(|_| (random.vector() * range).round().to_array().map(|c| c as i64)).collect()
}

#[test]
fn agrees_with_brute_force_on_crumpled_meshes() {
    let meshes = [
        Grid { cells_x: 7, cells_z: 7, size_x: 1.0, size_z: 1.0 }.mesh(),
        irregular_sheet([1.0, 1.0], [6, 7], 3),
    ];
    let mut kinds = [0; 4];
    for seed in 0..48 {
        let mesh = &meshes[seed % 2];
        let range = [1.0, 2.0, 4.0, 8.0, 100.0, 3000.0][seed / 2 % 6];
        // Far from the origin too, and as fractions: differences are what counts.
        let (offset, scale) = ([0, 70_001][seed / 12 % 2], [1.0, 0.125, 1e-6][seed % 3]);
        let mut at = on_lattice(&mesh.triangles, mesh.positions.len(), range, seed as u64);
        at.iter_mut().for_each(|p| p[1] += offset);
        // Half of them crumpled, half with neighbours that stay neighbours.
        if seed % 4 < 2 {
            for (at, p) in at.iter_mut().zip(&mesh.positions) {
                at[0] = at[0] / 4 + (p[0] * 2.0 * range) as i64;
                at[2] = at[2] / 4 + (p[2] * 2.0 * range) as i64;
            }
        }
        let scale = f32::exp2((scale as f32).log2().round());
        let positions: Vec<[f32; 3]> = at.iter().map(|p| p.map(|c| c as f32 * scale)).collect();
        let none = vec![false; mesh.triangles.len()];
        let fast = intersecting_pairs(&positions, &mesh.triangles);
        assert_eq!(fast, brute::pairs(&at, &mesh.triangles, &none), "seed {seed}");
        for [t, u] in fast {
            let (t, u) = (mesh.triangles[t as usize], mesh.triangles[u as usize]);
            kinds[t.iter().filter(|v| u.contains(v)).count()] += 1;
        }
    }
    // All kinds of pairs were among them.
    assert!(kinds[0] > 1000 && kinds[1] > 1000 && kinds[2] > 100, "{kinds:?}");
}

#[test]
fn colliders_count_against_cloth_alone() {
    let mesh = Grid { cells_x: 4, cells_z: 4, size_x: 1.0, size_z: 1.0 }.mesh();
    let n = mesh.positions.len();
    for seed in 0..12 {
        let parts: Vec<_> = (0..3).map(|k| on_lattice(&mesh.triangles, n, 20.0, 3 * seed + k)).collect();
        let given: Vec<Vec<[f32; 3]>> =
            parts.iter().map(|at| at.iter().map(|p| p.map(|c| c as f32)).collect()).collect();
        let colliders = [seed % 2 == 0, false, true];
        let part =
            |k: usize| Part { positions: &given[k], triangles: &mesh.triangles, collider: colliders[k] };
        let found = crossings(&[part(0), part(1), part(2)]);
        let all: Vec<[i64; 3]> = parts.concat();
        let triangles: Vec<[u32; 3]> =
            (0..3).flat_map(|k| mesh.triangles.iter().map(move |t| t.map(|v| v + (k * n) as u32))).collect();
        let flags: Vec<bool> = colliders.iter().flat_map(|&c| vec![c; mesh.triangles.len()]).collect();
        let whole = |c: &Crossing| [0, 1].map(|k| c.parts[k] * mesh.triangles.len() as u32 + c.triangles[k]);
        assert_eq!(found.iter().map(whole).collect::<Vec<_>>(), brute::pairs(&all, &triangles, &flags));
        assert!(found.len() > 100);
        // The point is in both boxes.
        for c in &found {
            for k in 0..2 {
                let t = mesh.triangles[c.triangles[k] as usize];
                let b = Aabb::around(t.map(|v| Vec3::from(given[c.parts[k] as usize][v as usize])));
                assert!(b.grown(1e-4).meets(&Aabb::around([Vec3::from(c.point)])), "{c:?}");
            }
        }
    }
}

#[test]
fn touching_counts_and_a_hair_s_breadth_does_not() {
    let floor = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let count = |above: [[f32; 3]; 3]| {
        let positions = [floor, above].concat();
        intersecting_pairs(&positions, &[[0, 1, 2], [3, 4, 5]]).len()
    };
    let lifted = |h: f32| [[0.2, h, 0.2], [0.3, 1.0, 0.2], [0.2, 1.0, 0.3]];
    assert_eq!([count(lifted(-0.1)), count(lifted(0.0)), count(lifted(1e-30))], [1, 1, 0]);
    // Overlapping in one plane, touching with a side, and beside each other.
    let beside = |x: f32| [[x, 0.0, 0.0], [x, 0.0, 1.0], [x + 1.0, 0.0, 0.0]];
    assert_eq!([count(beside(0.5)), count(beside(1.0)), count(beside(1.0 + f32::EPSILON))], [1, 1, 0]);
    // The same place, but other vertices.
    assert_eq!(count(floor), 1);
    // No area, and not a number.
    assert_eq!(count([[0.2, -1.0, 0.2], [0.2, 0.0, 0.2], [0.2, 1.0, 0.2]]), 0);
    assert_eq!(count([[f32::NAN, 0.0, 0.0], [0.2, 0.0, 0.2], [0.2, 1.0, 0.2]]), 0);
}

#[test]
fn flat_cloth_does_not_cross_itself_however_it_lies() {
    let mesh = Grid { cells_x: 40, cells_z: 30, size_x: 1.0, size_z: 0.7 }.mesh();
    for (angle, offset) in [(0.0, 0.0), (0.3, 0.0), (1.1, 10.0), (2.5, 1000.0)] {
        let turn = glam::Quat::from_euler(glam::EulerRot::XYZ, angle, 0.7 * angle, -0.4 * angle);
        let turned: Vec<[f32; 3]> =
            mesh.positions.iter().map(|&p| (turn * Vec3::from(p) + offset).into()).collect();
        assert_eq!(intersecting_pairs(&turned, &mesh.triangles), [[0u32; 2]; 0], "{angle} {offset}");
    }
}

/// A cloth of 100,000 triangles, flat and crumpled as a run would end with: what is found does not depend on the order of the triangles. Prints how long it takes.
#[test]
fn a_hundred_thousand_triangles_cross_the_same_in_any_order() {
    let mesh = Grid { cells_x: 224, cells_z: 224, size_x: 1.0, size_z: 1.0 }.mesh();
    let mut random = Random(5);
    let crumpled: Vec<[f32; 3]> = (mesh.positions.iter())
        .map(|&[x, _, z]| {
            let fold = |u: f32| 0.1 * (40.0 * u).sin();
            [0.3 * x + fold(x), fold(0.8 * x) + fold(0.7 * z) + 3e-3 * random.signed(), 0.3 * z]
        })
        .collect();
    let backwards: Vec<[u32; 3]> = mesh.triangles.iter().rev().copied().collect();
    for (name, positions, crosses) in [("flat", &mesh.positions, false), ("crumpled", &crumpled, true)] {
        let clock = std::time::Instant::now();
        let pairs = intersecting_pairs(positions, &mesh.triangles).len();
        println!("{name}: {} triangles, {pairs} pairs, {:?}", mesh.triangles.len(), clock.elapsed());
        assert_eq!(pairs > 0, crosses, "{name}");
        assert_eq!(pairs, intersecting_pairs(positions, &backwards).len(), "{name}");
    }
}
