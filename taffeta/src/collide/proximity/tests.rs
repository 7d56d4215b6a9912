use super::*;
use crate::collide::random::Random;

const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// The distance by looking at a fine net of points on both sides, refined three times about the best.
fn sampled(kind: Kind, x: [DVec3; 4]) -> f64 {
    let point = |s: f64, t: f64| match kind {
        Kind::PointTriangle => x[0] - (x[1] + (x[2] - x[1]) * s + (x[3] - x[1]) * t),
        Kind::SegmentSegment => x[0] + (x[1] - x[0]) * s - (x[2] + (x[3] - x[2]) * t),
    };
    let (mut s0, mut t0, mut width, mut best) = (0.5, 0.5, 0.5, f64::INFINITY);
    for _ in 0..12 {
        let (mid_s, mid_t) = (s0, t0);
        for i in -20..=20 {
            for j in -20..=20 {
                let (s, t) = (mid_s + width * i as f64 / 20.0, mid_t + width * j as f64 / 20.0);
                let (s, mut t) = (s.clamp(0.0, 1.0), t.clamp(0.0, 1.0));
                if kind == Kind::PointTriangle {
                    t = t.min(1.0 - s);
                }
                let d = point(s, t).length();
                if d < best {
                    (best, s0, t0) = (d, s, t);
                }
            }
        }
        width *= 0.25;
    }
    best
}

/// Stencils of all sorts: plain, thin, nearly parallel, degenerate, touching, large and far away.
fn stencils(random: &mut Random, sort: usize) -> [Vec3; 4] {
    let mut x = [random.vector(), random.vector(), random.vector(), random.vector()];
    match sort {
        0 => {}
        // Nearly parallel segments that pass each other; a sliver with the point above it.
        1 => {
            let along = random.vector();
            let tilt = 10f32.powf(-6.0 * random.next());
            x[1] = x[0] + along;
            x[2] = x[0] + along * random.signed() + random.vector() * 0.01;
            x[3] = x[2] + along * (0.5 + random.next()) + random.vector() * tilt;
        }
        2 => {
            let thin = 10f32.powf(-6.0 * random.next());
            x[3] = x[1].lerp(x[2], random.next()) + random.vector() * thin;
            x[0] = x[1].lerp(x[2], random.next()) + random.vector() * 0.02;
        }
        // Very near: almost in the plane, almost crossing.
        3 => {
            let near = random.vector() * 10f32.powf(-1.0 - 5.0 * random.next());
            x[0] = x[1] * 0.3 + x[2] * 0.3 + x[3] * 0.4 + near;
        }
        4 => {
            let near = random.vector() * 10f32.powf(-1.0 - 5.0 * random.next());
            let (a, b) = (x[0].lerp(x[1], 0.4), x[2].lerp(x[3], 0.7));
            x[2] += a - b + near;
            x[3] += a - b + near;
        }
        // Points and lines.
        5 => x[3] = x[2],
        6 => (x[2], x[3]) = (x[1], x[1]),
        7 => x = [x[0], x[0], x[1], x[1]],
        8 => x = [x[0]; 4],
        _ => {
            let (along, across) = (random.vector(), random.vector() * 1e-3);
            x = [x[0], x[0] + along, x[0] + across, x[0] + across + along];
        }
    }
    x
}

#[test]
fn distances_agree_with_sampling() {
    let mut random = Random(11);
    for i in 0..400 {
        let x = stencils(&mut random, i % 10).map(|p| p * 0.05);
        for kind in KINDS {
            let expected = sampled(kind, x.map(|p| p.as_dvec3()));
            let got = proximity(kind, x);
            let error = got.distance as f64 - expected;
            // Sampling itself may miss the closest points of a sliver.
            let plain = matches!(i % 10, 0 | 3 | 4);
            assert!(error < 1e-7 && (!plain || error > -2e-6), "{kind:?} {i}: {error:e} beside {expected}");
            // The weights lead to that distance, each side is a convex combination, and the direction is along it.
            let split = if kind == Kind::PointTriangle { 1 } else { 2 };
            let between: DVec3 = (0..4).map(|k| x[k].as_dvec3() * got.weights[k] as f64).sum();
            assert!((between.length() - got.distance as f64).abs() < 1e-7, "{kind:?} {i}");
            let side = |w: &[f32]| w.iter().sum::<f32>();
            assert!((side(&got.weights[..split]) - 1.0).abs() < 1e-5);
            assert!((side(&got.weights[split..]) + 1.0).abs() < 1e-5);
            assert!(got.weights[..split].iter().all(|&w| (-1e-5..=1.00001).contains(&w)));
            assert!(got.weights[split..].iter().all(|&w| (-1.00001..=1e-5).contains(&w)));
            if got.distance > 1e-4 {
                let direction = got.direction.as_dvec3();
                assert!(
                    (direction.length() - 1.0).abs() < 1e-5
                        && direction.dot(between) > 0.999 * got.distance as f64
                );
            }
        }
    }
}

#[test]
fn known_distances() {
    let v = Vec3::new;
    let triangle = [v(0.0, 0.0, 0.0), v(2.0, 0.0, 0.0), v(0.0, 0.0, 2.0)];
    let point = |p: Vec3| {
        let near = proximity(Kind::PointTriangle, [p, triangle[0], triangle[1], triangle[2]]);
        (near.distance, near.direction)
    };
    assert_eq!(point(v(0.5, 3.0, 0.5)), (3.0, Vec3::Y));
    assert_eq!(point(v(0.5, -0.25, 0.5)), (0.25, -Vec3::Y));
    assert_eq!(point(v(-3.0, 4.0, 0.0)), (5.0, v(-0.6, 0.8, 0.0)));
    assert_eq!(point(v(1.0, 0.0, -2.0)), (2.0, -Vec3::Z));
    assert_eq!(point(v(0.5, 0.0, 0.5)).0, 0.0);
    let segments = |x: [Vec3; 4]| proximity(Kind::SegmentSegment, x);
    let cross = segments([v(-1.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, -2.0, -1.0), v(0.0, -2.0, 1.0)]);
    assert_eq!((cross.distance, cross.direction, cross.weights), (2.0, Vec3::Y, [0.5, 0.5, -0.5, -0.5]));
    let parallel = segments([v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.5, 0.0, 3.0), v(1.5, 0.0, 3.0)]);
    assert_eq!(parallel.distance, 3.0);
    let ends = segments([v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(4.0, 4.0, 0.0), v(5.0, 9.0, 0.0)]);
    assert_eq!((ends.distance, ends.weights), (5.0, [0.0, 1.0, -1.0, 0.0]));
    let touching = segments([v(-1.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 0.0, -1.0), v(0.0, 0.0, 1.0)]);
    assert!(
        touching.distance == 0.0 && touching.direction.y.abs() == 1.0,
        "the normal of both where they touch"
    );
}

/// What the bound rests on: less doubt, a distance is never above the true one, in single precision too.
#[test]
fn a_distance_is_never_over_estimated() {
    let mut random = Random(5);
    let mut most = 0.0f64;
    for i in 0..200_000 {
        let size = 10f32.powf(-3.0 * random.next());
        let shift = if i % 3 == 0 { Vec3::splat(3.0) } else { Vec3::ZERO };
        let x = stencils(&mut random, i % 10).map(|p| p * size + shift);
        for kind in KINDS {
            let exact = double(kind, x.map(|p| p.as_dvec3()));
            let exact = exact.squared.sqrt();
            let single = near(kind, &x.map(|p| V3 { x: p.x, y: p.y, z: p.z }), f32::EPSILON);
            let (distance, doubt) = (single.squared.sqrt() as f64, single.doubt_squared.sqrt() as f64);
            assert!(
                distance - doubt <= exact,
                "{kind:?} {i}: {distance:e} − {doubt:e} is above {exact:e} for {x:?}"
            );
            if doubt > 0.0 {
                most = most.max((distance - exact) / doubt);
            }
            assert!(lower_distance(kind, x) as f64 <= exact);
        }
    }
    assert!(most > 0.02, "the doubt is needed, and not absurdly large: {most}");
}
