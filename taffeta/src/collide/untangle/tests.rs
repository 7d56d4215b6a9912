use super::*;
use crate::collide::random::Random;
use crate::collide::soup::Part;
use crate::mesh::{Grid, TriMesh};
use crate::metrics::intersecting_pairs;

/// Parts put together.
struct Tangle {
    soup: Soup,
    edges: Vec<([u32; 2], f32)>,
    x: Vec<Particle>,
}

/// Each part is a mesh at rest, where its vertices are, and whether it is a collider.
fn tangle(parts: &[(TriMesh, Vec<Vec3>, bool)]) -> Tangle {
    let (mut rest, mut x, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for (mesh, at, _) in parts {
        let first = rest.len() as u32;
        lists.push(mesh.triangles.iter().map(|t| t.map(|v| v + first)).collect::<Vec<_>>());
        rest.extend(mesh.positions.iter().map(|&p| Particle { p, w: 1.0 }));
        x.extend(at.iter().map(|&p| Particle { p: p.into(), w: 1.0 }));
    }
    let parts: Vec<Part> = (lists.iter().zip(parts))
        .map(|(triangles, part)| Part { kinematic: part.2, margin: 0.0, ..Part::cloth(triangles, 0.002) })
        .collect();
    let soup = Soup::new(&parts, &rest);
    let length = |&[a, b]: &[u32; 2]| {
        ([a, b], (Vec3::from(rest[a as usize].p) - Vec3::from(rest[b as usize].p)).length())
    };
    Tangle { edges: soup.edges.iter().map(length).collect(), soup, x }
}

fn sheet(size: f32, cells: usize) -> TriMesh {
    Grid { cells_x: cells, cells_z: cells, size_x: size, size_z: size }.mesh()
}

fn placed(mesh: &TriMesh, place: impl FnMut(Vec3) -> Vec3) -> Vec<Vec3> {
    mesh.positions.iter().map(|&p| Vec3::from(p)).map(place).collect()
}

impl Tangle {
    fn crossings(&self) -> usize {
        let positions: Vec<[f32; 3]> = self.x.iter().map(|x| x.p).collect();
        intersecting_pairs(&positions, &self.soup.triangles).len()
    }

    /// Untangles, and says what came of it; nothing may cross then, and no edge be strained more than `strain`.
    fn check(&mut self, name: &str, strain: f32) -> Report {
        let before = self.crossings();
        assert!(before > 3, "{name}: {before}");
        let report = untangle(&mut Team::new(1), &self.soup, &self.edges, &mut self.x, &Settings::default());
        assert_eq!((report.before, report.remaining, self.crossings()), (before, 0, 0), "{name}: {report:?}");
        assert!(report.strain < strain, "{name}: {report:?}");
        report
    }
}

/// A level sheet of one metre and one that stands across it, turned, its lowest point at `depth` below.
fn standing(turned: f32, depth: f32) -> Tangle {
    let (level, upright) = (sheet(1.0, 20), sheet(0.4, 9));
    let turn = glam::Quat::from_rotation_y(0.3)
        * glam::Quat::from_rotation_z(turned)
        * glam::Quat::from_rotation_x(1.5);
    let lowest = placed(&upright, |p| turn * p).iter().map(|p| p.y).fold(f32::MAX, f32::min);
    let at = placed(&upright, |p| turn * p + Vec3::new(0.013, -lowest - depth, 0.021));
    let flat = placed(&level, |p| p);
    tangle(&[(level, flat, false), (upright, at, false)])
}

#[test]
fn a_sheet_whose_edge_went_through_another_comes_back() {
    standing(0.05, 0.07).check("edge", 0.05);
}

#[test]
fn a_corner_that_went_through_comes_back() {
    let report = standing(0.7, 0.1).check("corner", 0.06);
    assert!(report.farthest < 0.15, "{report:?}");
}

/// Rolled back over itself, the loose end below the lower layer.
#[test]
fn a_cloth_folded_through_itself_comes_apart() {
    for noise in [1e-4, 0.0] {
        let mesh = sheet(1.0, 24);
        let (radius, mut random) = (0.06, Random(4));
        let bend = |p: Vec3| {
            let along = p.x + 0.5;
            let turn = std::f32::consts::PI * radius;
            let (x, y) = if along < 0.5 {
                (along, 0.0)
            } else if along < 0.5 + turn {
                let angle = (along - 0.5) / radius;
                (0.5 + radius * angle.sin(), radius - radius * angle.cos())
            } else {
                let (rest, slope) = (along - 0.5 - turn, 0.54f32);
                (0.5 - rest * slope.cos(), 2.0 * radius - rest * slope.sin())
            };
            Vec3::new(x, y, p.z) + random.vector() * noise
        };
        let at = placed(&mesh, bend);
        tangle(&[(mesh, at, false)]).check(&format!("folded, noise {noise}"), 0.02);
    }
}

/// Two layers, of which the lower bulges through the upper over a patch.
#[test]
fn layers_exchanged_over_a_patch_change_back() {
    let (below, above) = (sheet(1.0, 21), sheet(1.0, 20));
    let bulge = |p: Vec3| p + Vec3::Y * 0.03 * (-(p.x * p.x + p.z * p.z) / 0.03).exp();
    let (low, high) = (placed(&below, bulge), placed(&above, |p| p + Vec3::Y * 0.01));
    let mut tangle = tangle(&[(below, low, false), (above, high, false)]);
    let before = tangle.x.clone();
    let report = tangle.check("patch", 0.02);
    assert!(report.farthest < 0.03, "{report:?}");
    // Far from the patch nothing moved.
    for (x, before) in tangle.x.iter().zip(&before).filter(|(_, b)| b.p[0].abs() > 0.45) {
        assert!((Vec3::from(x.p) - Vec3::from(before.p)).length() < 1e-3);
    }
}

/// Two cloths that start in the same place, exactly or almost.
#[test]
fn coincident_layers_come_apart() {
    for noise in [0.0, 1e-4] {
        let (one, other) = (sheet(0.3, 6), sheet(0.3, 6));
        let mut random = Random(2);
        let at = placed(&one, |p| p);
        let close = placed(&other, |p| p + random.vector() * noise);
        tangle(&[(one, at, false), (other, close, false)]).check(&format!("coincident, noise {noise}"), 0.02);
    }
}

#[test]
fn held_vertices_and_colliders_stay() {
    let mut tangle = standing(0.7, 0.1);
    let count = tangle.x.len() - 100;
    // The level sheet is a collider now, and the upright one is held at its upper end.
    tangle.soup.groups[0].kinematic = true;
    let high = tangle.x[count..].iter().map(|x| x.p[1]).fold(f32::MIN, f32::max);
    tangle.x[count..].iter_mut().filter(|x| x.p[1] > high - 0.08).for_each(|x| x.w = 0.0);
    let before = tangle.x.clone();
    tangle.check("held", 0.15);
    let held = |i: usize| i < count || before[i].w == 0.0;
    assert!((0..tangle.x.len()).all(|i| !held(i) || tangle.x[i] == before[i]));
    assert!((0..tangle.x.len()).all(|i| tangle.x[i].w == before[i].w));
}

/// Random heaps, folded sharply, with pockets at the fold that are inside out.
#[test]
fn crumpled_sheets_come_apart() {
    for seed in 0..6 {
        let mesh = sheet(1.0, 16);
        let mut random = Random(seed);
        let waves: Vec<(Vec3, Vec3, f32)> =
            (0..3).map(|_| (random.vector(), random.vector() * 12.0, 6.0 * random.next())).collect();
        let crumple = |p: Vec3| {
            let wave = |&(way, rate, phase): &(Vec3, Vec3, f32)| way * 0.06 * (rate.dot(p) + phase).sin();
            let folded = Vec3::new(p.x.abs() * 0.9, 0.012 * p.x.signum(), p.z);
            folded + waves.iter().map(wave).sum::<Vec3>() * Vec3::new(0.3, p.x.signum(), 0.3)
        };
        let at = placed(&mesh, crumple);
        let mut tangle = tangle(&[(mesh, at, false)]);
        let mut again = tangle.x.clone();
        tangle.check(&format!("heap {seed}"), 0.06);
        if seed == 0 {
            untangle(&mut Team::new(2), &tangle.soup, &tangle.edges, &mut again, &Settings::default());
            assert!(again == tangle.x, "the same on two threads");
        }
    }
}

#[test]
fn clean_cloth_is_left_alone() {
    let mut tangle = standing(0.7, -0.01);
    let before = tangle.x.clone();
    let report =
        untangle(&mut Team::new(1), &tangle.soup, &tangle.edges, &mut tangle.x, &Settings::default());
    assert_eq!(report, Report::default());
    assert!(tangle.x == before);
}
