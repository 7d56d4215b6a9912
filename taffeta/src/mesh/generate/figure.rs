//! Human figures: one that can walk, a statue, a dressmaker's form.

use std::f64::consts::TAU;

use glam::{Affine3A, Quat, Vec3};

use super::field::{Disc, Field, Limb};
use super::remesh::even_mesh;
use crate::collide::surface::{Influence, Joint, Skin, Track};
use crate::mesh::{Topology, TriMesh};
use crate::motion::turn_about;

/// How widely limbs flow into each other, m.
const BLEND: f32 = 0.045;
/// Keys of a cycle of the walk.
const KEYS: usize = 24;
/// Rounds in which weights are smoothed over the mesh.
const SMOOTHING: usize = 3;

/// Where the joints of a figure are, m. It stands on y = 0 and faces +z. Of pairs, the one at +x comes first.
#[derive(Clone, Copy, Debug)]
struct Pose {
    pelvis: Vec3,
    chest: Vec3,
    neck: Vec3,
    head: Vec3,
    hips: [Vec3; 2],
    knees: [Vec3; 2],
    ankles: [Vec3; 2],
    toes: [Vec3; 2],
    shoulders: [Vec3; 2],
    elbows: [Vec3; 2],
    wrists: [Vec3; 2],
    fingers: [Vec3; 2],
}

impl Pose {
    /// Upright, the arms held a little away.
    fn upright() -> Pose {
        let both = |x: f32, y: f32, z: f32| [Vec3::new(x, y, z), Vec3::new(-x, y, z)];
        Pose {
            pelvis: Vec3::new(0.0, 0.95, 0.0),
            chest: Vec3::new(0.0, 1.26, 0.0),
            neck: Vec3::new(0.0, 1.43, -0.01),
            head: Vec3::new(0.0, 1.60, 0.015),
            hips: both(0.1, 0.89, 0.0),
            knees: both(0.105, 0.49, 0.012),
            ankles: both(0.105, 0.085, -0.025),
            toes: both(0.125, 0.035, 0.12),
            shoulders: both(0.175, 1.375, -0.01),
            elbows: both(0.36, 1.16, -0.02),
            wrists: both(0.53, 0.98, 0.02),
            fingers: both(0.615, 0.88, 0.05),
        }
    }

    fn limbs(&self) -> Vec<Limb> {
        let mut limbs = Vec::new();
        let mut limb =
            |a: Vec3, b: Vec3, ra: f32, rb: f32| limbs.push(Limb { ends: [a, b], radii: [ra, rb] });
        let up = (self.chest - self.pelvis).normalize_or(Vec3::Y);
        let across = (self.shoulders[0] - self.shoulders[1]).normalize_or(Vec3::X);
        let level = (self.hips[0] - self.hips[1]).normalize_or(Vec3::X);
        let waist = self.pelvis.lerp(self.chest, 0.45);
        // The trunk: hips, waist, ribs, shoulders.
        limb(self.pelvis - level * 0.075, self.pelvis + level * 0.075, 0.108, 0.108);
        limb(waist - level * 0.05, waist + level * 0.05, 0.088, 0.088);
        limb(self.chest - across * 0.065, self.chest + across * 0.065, 0.103, 0.103);
        limb(self.shoulders[1], self.shoulders[0], 0.058, 0.058);
        limb(self.pelvis, self.chest + up * 0.08, 0.085, 0.08);
        let top = (self.head - self.neck).normalize_or(Vec3::Y);
        limb(self.neck - top * 0.05, self.neck + top * 0.1, 0.055, 0.047);
        limb(self.head - top * 0.035, self.head + top * 0.035, 0.078, 0.09);
        for side in 0..2 {
            let (hip, knee, ankle, toe) =
                (self.hips[side], self.knees[side], self.ankles[side], self.toes[side]);
            limb(hip, knee, 0.079, 0.052);
            limb(knee, ankle, 0.05, 0.036);
            // The calf.
            let calf = knee.lerp(ankle, 0.3) - Vec3::Z * 0.018;
            limb(calf, knee.lerp(ankle, 0.5) - Vec3::Z * 0.012, 0.05, 0.042);
            limb(ankle + Vec3::new(0.0, -0.04, -0.01), toe, 0.042, 0.032);
            let (shoulder, elbow, wrist, finger) =
                (self.shoulders[side], self.elbows[side], self.wrists[side], self.fingers[side]);
            limb(shoulder, elbow, 0.052, 0.038);
            limb(elbow, wrist, 0.038, 0.029);
            limb(wrist, finger, 0.03, 0.026);
        }
        limbs
    }
}

/// A standing figure 1.7 m high with `vertices` vertices: one closed surface.
pub fn figure(vertices: usize) -> TriMesh {
    even_mesh(&Field { limbs: Pose::upright().limbs(), plinth: None, blend: BLEND }, vertices)
}

/// A figure that raises an arm, on a round plinth, 2.2 m high: one closed surface.
pub fn statue(vertices: usize) -> TriMesh {
    let mut pose = Pose::upright();
    // The weight is on one leg: hips and shoulders lean against each other.
    pose.pelvis += Vec3::new(0.03, 0.0, 0.0);
    pose.hips = [Vec3::new(0.13, 0.91, 0.0), Vec3::new(-0.07, 0.87, 0.01)];
    pose.knees = [Vec3::new(0.115, 0.49, 0.0), Vec3::new(-0.12, 0.49, 0.1)];
    pose.ankles = [Vec3::new(0.1, 0.085, -0.03), Vec3::new(-0.14, 0.1, -0.03)];
    pose.toes = [Vec3::new(0.13, 0.035, 0.11), Vec3::new(-0.2, 0.035, 0.1)];
    pose.chest = Vec3::new(-0.005, 1.26, 0.0);
    pose.shoulders = [Vec3::new(0.165, 1.36, -0.01), Vec3::new(-0.185, 1.4, 0.0)];
    pose.elbows = [Vec3::new(0.33, 1.15, -0.06), Vec3::new(-0.36, 1.62, 0.05)];
    pose.wrists = [Vec3::new(0.38, 0.92, 0.07), Vec3::new(-0.4, 1.87, 0.1)];
    pose.fingers = [Vec3::new(0.37, 0.83, 0.13), Vec3::new(-0.42, 1.97, 0.12)];
    pose.neck = Vec3::new(-0.005, 1.44, 0.0);
    pose.head = Vec3::new(-0.015, 1.61, 0.035);
    let center = Vec3::new(0.0, -0.08, 0.03);
    let plinth = Some(Disc { center, radius: 0.3, half_height: 0.09, rim: 0.03 });
    let mut mesh = even_mesh(&Field { limbs: pose.limbs(), plinth, blend: BLEND }, vertices);
    mesh.positions.iter_mut().for_each(|p| p[1] += 0.17);
    mesh
}

/// A dressmaker's form: the trunk of a figure from the hips to the neck, about the middle of its height. From there all of it can be seen, so
/// that a larger copy holds it.
pub fn form(vertices: usize) -> TriMesh {
    let limb =
        |a: [f32; 3], b: [f32; 3], ra: f32, rb: f32| Limb { ends: [a.into(), b.into()], radii: [ra, rb] };
    let limbs = vec![
        limb([-0.07, -0.26, 0.0], [0.07, -0.26, 0.0], 0.115, 0.115),
        limb([-0.06, -0.15, 0.0], [0.06, -0.15, 0.0], 0.105, 0.105),
        limb([-0.05, 0.0, 0.0], [0.05, 0.0, 0.0], 0.095, 0.095),
        limb([-0.07, 0.16, 0.01], [0.07, 0.16, 0.01], 0.105, 0.105),
        limb([-0.13, 0.25, -0.005], [0.13, 0.25, -0.005], 0.065, 0.065),
        limb([0.0, -0.25, 0.0], [0.0, 0.2, 0.0], 0.1, 0.09),
        limb([0.0, 0.28, 0.0], [0.0, 0.37, 0.0], 0.055, 0.05),
    ];
    even_mesh(&Field { limbs, plinth: None, blend: 0.09 }, vertices)
}

/// The walking figure, with `vertices` vertices: it walks in place, one cycle (two steps) in `period` seconds, for ever.
pub fn walking_figure(vertices: usize, period: f32) -> (TriMesh, Skin) {
    let mesh = figure(vertices);
    let bones = bones(&Pose::upright());
    let influences = influences(&mesh, &bones);
    let times: Vec<f32> = (0..=KEYS).map(|k| period * k as f32 / KEYS as f32).collect();
    let joints = bones
        .iter()
        .map(|bone| {
            let offset = bone.from - bone.parent.map_or(Vec3::ZERO, |p| bones[p as usize].from);
            let phases = || (0..=KEYS).map(|k| TAU * (k % KEYS) as f64 / KEYS as f64);
            Joint {
                parent: bone.parent,
                inverse_bind: Affine3A::from_translation(-bone.from),
                translation: match bone.parent {
                    // The body is highest when one leg passes the other.
                    None => Track {
                        times: times.clone(),
                        values: phases()
                            .map(|a| offset + Vec3::Y * 0.012 * libm::cos(2.0 * a) as f32)
                            .collect(),
                    },
                    Some(_) => Track::fixed(offset),
                },
                rotation: Track { times: times.clone(), values: phases().map(|a| bone.turn(a)).collect() },
                scale: Track::fixed(Vec3::ONE),
            }
        })
        .collect();
    (mesh, Skin { joints, influences, duration: period, repeat: true })
}

/// What a bone does when the figure walks.
#[derive(Clone, Copy, Debug)]
enum Walk {
    Still,
    Pelvis,
    Chest,
    Thigh,
    Shin,
    Foot,
    Arm,
    Forearm,
}

#[derive(Clone, Copy, Debug)]
struct Bone {
    parent: Option<u32>,
    from: Vec3,
    to: Vec3,
    walk: Walk,
    /// 1 for the side of +x, −1 for the other.
    side: f64,
}

impl Bone {
    /// How it is turned in its parent's frame at phase `a` of the walk (rad).
    fn turn(&self, a: f64) -> Quat {
        // The two sides are half a cycle apart.
        let a = if self.side < 0.0 { a + 0.5 * TAU } else { a };
        let swing = libm::sin(a);
        let passing = libm::cos(a + 0.35).max(0.0);
        let degrees = |axis: [f32; 3], angle: f64| turn_about(axis, angle.to_radians());
        let (x, y) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        // A turn about +x takes a hanging limb back.
        match self.walk {
            Walk::Still => Quat::IDENTITY,
            Walk::Pelvis => degrees(y, -4.0 * swing),
            Walk::Chest => degrees(y, 7.0 * swing),
            Walk::Thigh => degrees(x, -3.0 - 21.0 * swing),
            Walk::Shin => degrees(x, 6.0 + 44.0 * passing * passing),
            Walk::Foot => degrees(x, -4.0 + 12.0 * libm::sin(a + 0.6)),
            Walk::Arm => degrees(x, 14.0 * swing),
            Walk::Forearm => degrees(x, -10.0 + 6.0 * swing),
        }
    }
}

fn bones(pose: &Pose) -> Vec<Bone> {
    let bone = |parent, from, to, walk, side| Bone { parent, from, to, walk, side };
    let mut bones = vec![
        bone(None, pose.pelvis, pose.pelvis + Vec3::Y * 0.1, Walk::Pelvis, 1.0),
        bone(Some(0), pose.pelvis.lerp(pose.chest, 0.4), pose.neck, Walk::Chest, 1.0),
        bone(Some(1), pose.neck, pose.head, Walk::Still, 1.0),
    ];
    for k in 0..2 {
        let side = if k == 0 { 1.0 } else { -1.0 };
        let first = bones.len() as u32;
        bones.extend([
            bone(Some(0), pose.hips[k], pose.knees[k], Walk::Thigh, side),
            bone(Some(first), pose.knees[k], pose.ankles[k], Walk::Shin, side),
            bone(Some(first + 1), pose.ankles[k], pose.toes[k], Walk::Foot, side),
            bone(Some(1), pose.shoulders[k], pose.elbows[k], Walk::Arm, side),
            bone(Some(first + 3), pose.elbows[k], pose.fingers[k], Walk::Forearm, side),
        ]);
    }
    bones
}

/// Weights of each vertex: by the distance from the nearest bone and those joined to it, then smoothed over the mesh.
fn influences(mesh: &TriMesh, bones: &[Bone]) -> Vec<Influence> {
    let distance = |bone: &Bone, p: Vec3| {
        let limb = Limb { ends: [bone.from, bone.to], radii: [0.0; 2] };
        p.distance(bone.from.lerp(bone.to, limb.nearest(p)))
    };
    let mut weights: Vec<Vec<f32>> = mesh
        .positions
        .iter()
        .map(|&p| {
            let distances: Vec<f32> = bones.iter().map(|b| distance(b, p.into())).collect();
            let nearest =
                (0..bones.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
            let joined = |b: usize| {
                b == nearest
                    || bones[b].parent == Some(nearest as u32)
                    || bones[nearest].parent == Some(b as u32)
            };
            let weight = |b: usize| {
                let ratio = distances[nearest] / distances[b];
                let cube = ratio * ratio * ratio;
                if joined(b) { cube * cube } else { 0.0 }
            };
            (0..bones.len()).map(weight).collect()
        })
        .collect();
    let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
    for _ in 0..SMOOTHING {
        let before = weights.clone();
        for [a, b] in topology.edges.iter().map(|e| e.vertices.map(|v| v as usize)) {
            for j in 0..bones.len() {
                weights[a][j] += 0.25 * before[b][j];
                weights[b][j] += 0.25 * before[a][j];
            }
        }
        for w in &mut weights {
            let sum: f32 = w.iter().sum();
            w.iter_mut().for_each(|w| *w /= sum);
        }
    }
    weights
        .iter()
        .map(|w| {
            let mut order: Vec<usize> = (0..w.len()).collect();
            order.sort_by(|&a, &b| w[b].total_cmp(&w[a]).then(a.cmp(&b)));
            let sum: f32 = order[..4].iter().map(|&j| w[j]).sum();
            let mut influence = Influence::default();
            for (k, &j) in order[..4].iter().enumerate() {
                influence.joints[k] = j as u16;
                influence.weights[k] = w[j] / sum;
            }
            influence
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::{Solid, Surface};
    use crate::mesh::check;
    use crate::metrics::intersecting_pairs;

    /// Least angle of all triangles, degrees.
    fn sharpest(mesh: &TriMesh) -> f32 {
        let at = |v: u32| Vec3::from(mesh.positions[v as usize]);
        let angle = |t: [u32; 3], k: usize| {
            let [p, q, r] = [k, (k + 1) % 3, (k + 2) % 3].map(|k| at(t[k]));
            (q - p).angle_between(r - p).to_degrees()
        };
        mesh.triangles.iter().flat_map(|t| [0, 1, 2].map(|k| angle(*t, k))).fold(180.0, f32::min)
    }

    #[test]
    fn figures_are_whole_and_even_and_have_the_vertices_asked_for() {
        type Maker = fn(usize) -> TriMesh;
        let shapes: [(&str, Maker, usize); 5] = [
            ("figure", figure, 1200),
            ("figure", figure, 4000),
            ("statue", statue, 3000),
            ("form", form, 1202),
            ("form", form, 400),
        ];
        for (name, make, vertices) in shapes {
            let mesh = make(vertices);
            assert_eq!(mesh.positions.len(), vertices, "{name}");
            assert_eq!(check(&mesh), [], "{name}");
            let surface = Surface::rigid(&mesh);
            assert!(surface.closed() && surface.turned() == 0, "{name}");
            let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
            assert_eq!(topology.components().1, 1, "{name}");
            // A ball's: no handle, no hole. The legs of the statue and its plinth are a handle.
            let euler = vertices + mesh.triangles.len() - topology.edges.len();
            assert_eq!(euler, if name == "statue" { 0 } else { 2 }, "{name} {vertices}");
            assert_eq!(
                intersecting_pairs(&mesh.positions, &mesh.triangles),
                [[0; 2]; 0],
                "{name} {vertices}"
            );
            let sharpest = sharpest(&mesh);
            assert!(sharpest > 12.0, "{name} with {vertices}: {sharpest}°");
        }
    }

    #[test]
    fn a_larger_form_holds_the_form() {
        let mesh = form(1202);
        let points: Vec<Vec3> = mesh.positions.iter().map(|&p| Vec3::from(p) * 1.2).collect();
        let solid = Solid::new(&points, &mesh.triangles);
        let depth = mesh.positions.iter().map(|&p| solid.depth(p.into()).unwrap_or(-1.0)).fold(1.0, f32::min);
        assert!(depth > 0.01, "{depth} m");
    }

    #[test]
    fn the_figure_walks_in_place() {
        let (mesh, skin) = walking_figure(1200, 1.2);
        let surface = Surface::skinned(&mesh, skin).unwrap();
        let at = |t: f64| {
            let mut out = vec![Vec3::ZERO; surface.vertices()];
            surface.deform(t, &mut out);
            out
        };
        let start = at(0.0);
        let moved = |t: f64| start.iter().zip(&at(t)).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(moved(1.2) < 1e-5 && moved(1.2e3) < 1e-3, "it repeats");
        assert!(moved(0.3) > 0.15, "{}", moved(0.3));
        let toe = |side: f32| {
            let mut best = (0.0, 0);
            for (v, p) in mesh.positions.iter().enumerate().filter(|(_, p)| p[1] < 0.1 && p[0] * side > 0.0) {
                if p[2] > best.0 {
                    best = (p[2], v);
                }
            }
            best.1
        };
        let (left, right) = (toe(1.0), toe(-1.0));
        let ahead = |t: f64| at(t)[left].z - at(t)[right].z;
        assert!(ahead(0.3) > 0.3 && ahead(0.9) < -0.3, "{} {}", ahead(0.3), ahead(0.9));
        for k in 0..12 {
            let now = at(k as f64 * 0.1);
            // Nothing tears: no edge is much longer than at rest.
            for t in &mesh.triangles {
                for k in 0..3 {
                    let [a, b] = [t[k], t[(k + 1) % 3]].map(|v| v as usize);
                    let rest = Vec3::from(mesh.positions[a]).distance(mesh.positions[b].into());
                    assert!(now[a].distance(now[b]) < 2.2 * rest, "{a} {b}");
                }
            }
            let lowest = now.iter().map(|p| p.y).fold(1.0, f32::min);
            assert!((-0.05..0.1).contains(&lowest), "{lowest} m");
            assert!(now.iter().all(|p| p.x.abs() < 0.75));
        }
    }
}
