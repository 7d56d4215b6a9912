use super::*;
use crate::motion::turn_about;
use glam::{Affine3A, Quat};

/// A cube of side 2 about the origin.
pub fn cube() -> TriMesh {
    let positions = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|b| 2.0 * b as f32 - 1.0)).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
        .map(|q: [u32; 4]| q);
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh { positions, triangles }
}

fn at(surface: &Surface, t: f64) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; surface.vertices()];
    surface.deform(t, &mut out);
    out
}

#[test]
fn triangles_are_turned_outwards() {
    let right = Surface::rigid(&cube());
    assert!(right.closed() && right.turned() == 0 && !right.deforms());
    let mut inside_out = cube();
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert_eq!(Surface::rigid(&inside_out).turned(), 12);
    let mut mixed = cube();
    for t in [0, 3, 4, 9] {
        mixed.triangles[t].swap(1, 2);
    }
    let mended = Surface::rigid(&mixed);
    assert_eq!((mended.turned(), mended.triangles.clone()), (4, right.triangles));
    let mut open = cube();
    open.triangles.pop();
    assert!(!Surface::rigid(&open).closed());
}

#[test]
fn frames_are_joined_by_straight_lines() {
    let mesh = cube();
    let frame = |x: f32| mesh.positions.iter().map(|&p| Vec3::from(p) + Vec3::X * x).collect::<Vec<_>>();
    let frames = |repeat| Frames::at_rate(10.0, vec![frame(0.0), frame(1.0), frame(4.0)], repeat);
    let shift = |surface: &Surface, t| at(surface, t)[0].x + 1.0;
    let held = Surface::animated(&mesh, frames(false)).unwrap();
    let looped = Surface::animated(&mesh, frames(true)).unwrap();
    assert!(held.deforms());
    for (t, held_at, looped_at) in
        [(0.0, 0.0, 0.0), (0.05, 0.5, 0.5), (0.15, 2.5, 2.5), (0.25, 4.0, 2.0), (0.35, 4.0, 0.5)]
    {
        assert!((shift(&held, t) - held_at).abs() < 1e-5, "{t}: {}", shift(&held, t));
        assert!((shift(&looped, t) - looped_at).abs() < 1e-5, "{t}: {}", shift(&looped, t));
    }
    assert!((shift(&held.scaled(2.0), 0.05) - 0.0).abs() < 1e-5, "−2 + 1 of the shift and + 1");
    let problem = Surface::animated(&mesh, Frames::at_rate(1.0, vec![vec![Vec3::ZERO; 7]], false));
    assert!(problem.unwrap_err().contains("7 vertices, but the mesh has 8"));
}

/// An upper arm along x from the origin, a forearm from x = 1 that turns up to a right angle.
fn arm(repeat: bool) -> (TriMesh, Skin) {
    let mesh = TriMesh {
        positions: vec![[0.5, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.1, 0.0]],
        triangles: vec![[0, 1, 2]],
    };
    let fixed = |parent, at: Vec3| Joint {
        parent,
        inverse_bind: Affine3A::IDENTITY,
        translation: Track::fixed(at),
        rotation: Track::fixed(Quat::IDENTITY),
        scale: Track::fixed(Vec3::ONE),
    };
    let mut joints = vec![fixed(None, Vec3::ZERO), fixed(Some(0), Vec3::X)];
    joints[1].inverse_bind = Affine3A::from_translation(-Vec3::X);
    let up = turn_about([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    joints[1].rotation = Track { times: vec![0.0, 1.0], values: vec![Quat::IDENTITY, up] };
    let on = |joints, weights| Influence { joints, weights };
    let influences = vec![
        on([0, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
        on([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
        on([0, 1, 0, 0], [0.5, 0.5, 0.0, 0.0]),
    ];
    (mesh, Skin { joints, influences, duration: 1.0, repeat })
}

#[test]
fn a_forearm_turns_at_the_elbow() {
    let (mesh, skin) = arm(false);
    let surface = Surface::skinned(&mesh, skin.clone()).unwrap();
    let near = |a: Vec3, b: [f32; 3]| assert!((a - Vec3::from(b)).length() < 1e-5, "{a} is not {b:?}");
    let rest = at(&surface, 0.0);
    for (v, p) in rest.iter().enumerate() {
        near(*p, mesh.positions[v]);
    }
    let half = at(&surface, 0.5);
    let r = std::f32::consts::FRAC_1_SQRT_2;
    near(half[0], [0.5, 0.0, 0.0]);
    near(half[1], [1.0 + r, r, 0.0]);
    near(half[2], [0.5 * (1.0 + 1.0 - 0.1 * r), 0.5 * (0.1 + 0.1 * r), 0.0]);
    near(at(&surface, 7.0)[1], [1.0, 1.0, 0.0]);
    near(at(&surface.scaled(3.0), 0.5)[1], [3.0 * (1.0 + r), 3.0 * r, 0.0]);
    let (_, looped) = arm(true);
    near(at(&Surface::skinned(&mesh, looped).unwrap(), 3.5)[1], [1.0 + r, r, 0.0]);

    let wrong = |change: &dyn Fn(&mut Skin)| {
        let mut skin = skin.clone();
        change(&mut skin);
        Surface::skinned(&mesh, skin).unwrap_err()
    };
    assert!(wrong(&|s| s.joints.clear()).contains("0 joints"));
    assert!(wrong(&|s| s.joints[0].parent = Some(1)).contains("before its parent"));
    assert!(wrong(&|s| s.influences[2].joints[1] = 9).contains("joint 9"));
    assert!(wrong(&|s| s.influences[2].weights[1] = 0.2).contains("sum to 0.7"));
    assert!(wrong(&|s| s.influences.truncate(1)).contains("must hold each"));
    assert!(wrong(&|s| s.joints[1].rotation.times[1] = 0.0).contains("joint 1"));
}
