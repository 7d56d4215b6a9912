use glam::Quat;

use super::*;
use crate::collide::bound::{Detector, Settings};
use crate::collide::proximity::{Kind, proximity};
use crate::collide::query::Structure;
use crate::collide::random::Random;
use crate::collide::soup::Part;
use crate::mesh::Grid;
use crate::par::Team;

/// So many that patches, squares of four cells, end in the middle.
const CELLS: [usize; 2] = [16, 11];

fn particle(p: Vec3) -> Particle {
    Particle { p: p.into(), w: 1.0 }
}

/// A sheet that is not along the axes, as it is at rest, and where its vertices are in its own plane.
fn sheet() -> (Soup, Vec<Vec2>) {
    let mesh = Grid { cells_x: CELLS[0], cells_z: CELLS[1], size_x: 1.6, size_z: 1.1 }.mesh();
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.9, -0.3);
    let rest: Vec<Particle> = mesh.positions.iter().map(|p| particle(turn * Vec3::from(*p))).collect();
    let part = Part { sheet: true, ..Part::cloth(&mesh.triangles, 0.001) };
    (Soup::new(&[part], &rest), mesh.positions.iter().map(|p| Vec2::new(p[0], p[2])).collect())
}

/// A sheet that is rolled up with some curvature (1/m) along any line, stretched, and crumpled.
fn crumpled(flat: &[Vec2], random: &mut Random) -> Vec<Particle> {
    let (curvature, angle) = (10.0 * random.next(), 3.0 * random.signed());
    let (stretch, crumple) = (1.0 + 0.2 * random.signed(), 0.02 * random.next());
    let axis = Vec2::from_angle(angle);
    let place = |p: &Vec2| {
        let (s, t) = (axis.dot(*p), axis.perp_dot(*p) * stretch);
        let turned = curvature * s;
        let (x, y) = match curvature < 1e-3 {
            true => (s, 0.0),
            false => (turned.sin() / curvature, (1.0 - turned.cos()) / curvature),
        };
        // Some way along its axis, or it would meet itself.
        particle(Vec3::new(x, y, t + 0.1 * turned) + random.vector() * crumple)
    };
    flat.iter().map(place).collect()
}

/// The least distance of any two primitives of two patches without a common vertex, m.
fn nearest(soup: &Soup, patches: [u32; 2], x: &[Particle]) -> f32 {
    let at = |v: u32| Vec3::from(x[v as usize].p);
    let corners = |patch: u32| soup.patch_triangles(patch as usize).map(|t| soup.triangles[t as usize]);
    let mut least = f32::INFINITY;
    let mut look = |kind: Kind, stencil: [u32; 4], first: usize| {
        if !stencil[..first].iter().any(|v| stencil[first..].contains(v)) {
            least = least.min(proximity(kind, stencil.map(at)).distance);
        }
    };
    for t in corners(patches[0]) {
        for u in corners(patches[1]) {
            for i in 0..3 {
                look(Kind::PointTriangle, [t[i], u[0], u[1], u[2]], 1);
                look(Kind::PointTriangle, [u[i], t[0], t[1], t[2]], 1);
                for k in 0..3 {
                    look(Kind::SegmentSegment, [t[i], t[(i + 1) % 3], u[k], u[(k + 1) % 3]], 2);
                }
            }
        }
    }
    least
}

#[test]
fn patches_of_a_sheet_are_as_far_apart_as_it_says() {
    let (soup, flat) = sheet();
    let sheets = Sheets::new(&soup);
    let altitude = sheets.patches[0].altitude;
    assert!((altitude - 0.1 / 2f32.sqrt()).abs() < 1e-5, "{altitude}");
    let (mut random, mut spread_out, mut tight) = (Random(3), 0, f32::INFINITY);
    for round in 0..60 {
        let x = crumpled(&flat, &mut random);
        // Another shape not far from it, in four substeps.
        let (mut ways, steps) = (crumpled(&flat, &mut random), 4.0);
        let part = if round % 3 == 0 { 0.0 } else { 0.3 * random.next() / steps };
        for (way, x) in ways.iter_mut().zip(&x) {
            *way = particle((Vec3::from(way.p) - Vec3::from(x.p)) * part);
        }
        let level = if round % 2 == 0 { SimdLevel::Scalar } else { SimdLevel::best() };
        let spread = |patch| sheets.spread(level, patch, &x, &ways, steps);
        let spreads: Vec<Spread> = (0..soup.patches()).map(spread).collect();
        for a in 0..soup.patches() as u32 {
            for b in a..soup.patches() as u32 {
                let link = sheets.link_of(a, b);
                let apart = if link == NONE { 0.0 } else { sheets.apart(a as usize, link, &spreads) };
                if apart <= 0.0 {
                    continue;
                }
                spread_out += 1;
                for k in [0.0, 0.5, 1.0] {
                    let moved = |(x, way): (&Particle, &Particle)| {
                        particle(Vec3::from(x.p) + Vec3::from(way.p) * (k * steps))
                    };
                    let at: Vec<Particle> = x.iter().zip(&ways).map(moved).collect();
                    let nearest = nearest(&soup, [a, b], &at);
                    assert!(nearest >= apart, "{a} and {b} are {nearest} m apart, not {apart} m");
                    tight = tight.min(nearest / apart);
                }
            }
        }
    }
    assert!(spread_out > 1000 && tight < 1.1, "{spread_out} were spread out; at best {tight} times as far");
}

#[test]
fn a_flat_sheet_is_spread_out_and_a_folded_one_is_not_where_it_is_folded() {
    let (soup, flat) = sheet();
    let sheets = Sheets::new(&soup);
    let still = vec![particle(Vec3::ZERO); flat.len()];
    let apart = |x: &[Particle]| {
        let spread = |patch| sheets.spread(SimdLevel::best(), patch, x, &still, 1.0);
        let spreads: Vec<Spread> = (0..soup.patches()).map(spread).collect();
        let links = (0..soup.patches() as u32).flat_map(|a| (a..soup.patches() as u32).map(move |b| [a, b]));
        let linked = links.map(|[a, b]| (a, b, sheets.link_of(a, b))).filter(|link| link.2 != NONE);
        linked.map(|(a, b, link)| (a, b, sheets.apart(a as usize, link, &spreads))).collect::<Vec<_>>()
    };
    let altitude = sheets.patches[0].altitude;
    let all = apart(&soup.rest);
    assert!(all.len() > 3 * soup.patches() && all.iter().all(|(.., d)| *d > 0.98 * altitude));
    // Folded in the middle, where patches end that are flat themselves, a hair's breadth from itself.
    let folded = flat.iter().map(|p| particle(Vec3::new(p.x.abs(), if p.x < 0.0 { 1e-3 } else { 0.0 }, p.y)));
    let folded: Vec<Particle> = folded.collect();
    let mut close = 0;
    for (a, b, d) in apart(&folded) {
        let nearest = nearest(&soup, [a, b], &folded);
        assert!(nearest >= d, "{a} and {b} are {nearest} m apart, not {d} m");
        close += (nearest < 0.002) as usize;
    }
    assert!(close > 5, "{close}");
}

#[test]
fn what_is_no_rectangle_at_rest_has_no_links() {
    let (soup, flat) = sheet();
    let none = |soup: &Soup| Sheets::new(soup).links.is_empty();
    assert!(!none(&soup));
    let triangles = &soup.triangles[..];
    assert!(none(&Soup::new(&[Part::cloth(triangles, 0.001)], &soup.rest)));
    let rolled: Vec<Particle> = flat.iter().map(|p| particle(Vec3::new(p.x.sin(), p.x.cos(), p.y))).collect();
    assert!(none(&Soup::new(&[Part { sheet: true, ..Part::cloth(triangles, 0.001) }], &rolled)));
}

/// What is kept of a sheet that was spread out must not be believed for too long.
#[test]
fn a_sheet_that_is_pressed_together_is_looked_at_as_if_for_the_first_time() {
    let (soup, flat) = sheet();
    let settings = Settings { reach: 0.03, margin: 0.01, ..Settings::default() };
    let (mut team, level) = (Team::new(1), SimdLevel::best());
    let mut kept = Detector::new(Structure::default(), false);
    let mut near = 0;
    for step in 0..120 {
        // Pressed together along one side until it is a zigzag whose sides nearly touch.
        let steepness = step as f32 / 120.0 * 1.52;
        let place = |p: &Vec2| {
            let cell = p.x / 0.1;
            let up = (cell - 2.0 * (cell / 2.0).round()).abs();
            particle(Vec3::new(p.x * steepness.cos(), 0.1 * up * steepness.sin(), p.y))
        };
        let x: Vec<Particle> = flat.iter().map(place).collect();
        kept.detect(&mut team, level, &soup, &x, &settings);
        let mut new = Detector::new(Structure::default(), false);
        near = new.detect(&mut team, level, &soup, &x, &settings).near;
        assert_eq!(kept.bounds(), new.bounds(), "step {step}");
    }
    assert!(near > 100, "it ends with {near} near pairs");
}
