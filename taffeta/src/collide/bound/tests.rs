use glam::DVec3;

use super::*;
use crate::collide::proximity;
use crate::collide::random::Random;
use crate::collide::soup::{Part, keep};
use crate::mesh::Grid;
use crate::metrics::intersecting_pairs;

fn soup_of(triangles: &[[u32; 3]], x: &[Particle], radius: f32) -> Soup {
    Soup::new(&[Part::cloth(triangles, 2.0 * radius)], x)
}

fn at(x: &[Particle], v: u32) -> DVec3 {
    Vec3::from(x[v as usize].p).as_dvec3()
}

/// Every stencil of a soup without a common vertex.
fn all_stencils(soup: &Soup) -> Vec<(Kind, [u32; 4])> {
    let mut all = Vec::new();
    for p in 0..soup.vertices() as u32 {
        for &[a, b, c] in &soup.triangles {
            if ![a, b, c].contains(&p) {
                all.push((Kind::PointTriangle, [p, a, b, c]));
            }
        }
    }
    for (i, &[a, b]) in soup.edges.iter().enumerate() {
        for &[c, d] in &soup.edges[i + 1..] {
            if ![c, d].contains(&a) && ![c, d].contains(&b) {
                all.push((Kind::SegmentSegment, [a, b, c, d]));
            }
        }
    }
    all
}

/// Pairs of an edge and a triangle without a common vertex that cross, by solving for the point where they do.
fn crossings(soup: &Soup, x: &[Particle]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (e, edge) in soup.edges.iter().enumerate() {
        for (t, triangle) in soup.triangles.iter().enumerate() {
            if triangle.iter().any(|v| edge.contains(v)) {
                continue;
            }
            let ([p, q], [a, b, c]) = (edge.map(|v| at(x, v)), triangle.map(|v| at(x, v)));
            let (way, ab, ac) = (q - p, b - a, c - a);
            let volume = way.dot(ab.cross(ac));
            if volume == 0.0 {
                continue;
            }
            let s = (a - p).dot(ab.cross(ac)) / volume;
            let (beta, gamma) = (way.dot((p - a).cross(ac)) / volume, way.dot(ab.cross(p - a)) / volume);
            if s > 0.0 && s < 1.0 && beta > 0.0 && gamma > 0.0 && beta + gamma < 1.0 {
                found.push((e as u32, t as u32));
            }
        }
    }
    found
}

/// Whether a stencil crosses on the straight way from `from` to `to`: the four points come into one plane (a cubic equation
/// in time), and there the two sides meet.
fn crosses_on_the_way(kind: Kind, stencil: [u32; 4], from: &[Particle], to: &[Particle]) -> bool {
    let start = stencil.map(|v| at(from, v));
    let way = stencil.map(|v| at(to, v) - at(from, v));
    let det = |u: DVec3, v: DVec3, w: DVec3| u.cross(v).dot(w);
    let (u, v, w) = (start[1] - start[0], start[2] - start[0], start[3] - start[0]);
    let (du, dv, dw) = (way[1] - way[0], way[2] - way[0], way[3] - way[0]);
    let c0 = det(u, v, w);
    let c1 = det(du, v, w) + det(u, dv, w) + det(u, v, dw);
    let c2 = det(du, dv, w) + det(du, v, dw) + det(u, dv, dw);
    let c3 = det(du, dv, dw);
    let volume = |t: f64| ((c3 * t + c2) * t + c1) * t + c0;
    // Between its extremes a cubic has at most one root.
    let mut times = vec![0.0, 1.0];
    let (a, b, c) = (3.0 * c3, 2.0 * c2, c1);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    let q = -0.5 * (b + root.copysign(b));
    times.extend([q / a, c / q].into_iter().filter(|t| *t > 0.0 && *t < 1.0));
    times.sort_by(f64::total_cmp);
    times.windows(2).any(|part| {
        let (mut low, mut high) = (part[0], part[1]);
        if volume(low) * volume(high) >= 0.0 {
            return false;
        }
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            let same = volume(middle) * volume(low) > 0.0;
            if same { low = middle } else { high = middle }
        }
        let x: Vec<DVec3> = (0..4).map(|i| start[i] + way[i] * low).collect();
        match kind {
            Kind::PointTriangle => {
                let n = (x[2] - x[1]).cross(x[3] - x[1]);
                let side = |a: DVec3, b: DVec3| (b - a).cross(x[0] - a).dot(n) > 0.0;
                side(x[1], x[2]) && side(x[2], x[3]) && side(x[3], x[1])
            }
            Kind::SegmentSegment => {
                let (u, v, r) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
                let n = u.cross(v);
                let (s, t, nn) = (v.cross(r).dot(n), u.cross(r).dot(n), n.dot(n));
                s > 0.0 && s < nn && t > 0.0 && t < nn
            }
        }
    })
}

/// Separate triangles, some thin, in a box of half a metre, none crossing another.
fn scattered(random: &mut Random, count: usize) -> (Vec<[u32; 3]>, Vec<Particle>) {
    let (mut triangles, mut x): (Vec<[u32; 3]>, Vec<Particle>) = (Vec::new(), Vec::new());
    while triangles.len() < count {
        let middle = random.vector() * 0.25;
        let size = 0.03 + 0.2 * random.next();
        let mut corners = [random.vector(), random.vector(), random.vector()].map(|c| middle + c * size);
        match triangles.len() % 4 {
            // Thin, and with edges parallel to one of the last.
            1 => corners[2] = corners[0].lerp(corners[1], random.next()) + random.vector() * 1e-3,
            2 => {
                let along = at(&x, x.len() as u32 - 1) - at(&x, x.len() as u32 - 2);
                corners[1] = corners[0] + along.as_vec3() + random.vector() * 1e-4;
            }
            _ => {}
        }
        let first = x.len() as u32;
        triangles.push([first, first + 1, first + 2]);
        x.extend(corners.map(|p| Particle { p: p.into(), w: 1.0 }));
        if !crossings(&soup_of(&triangles, &x, 0.0), &x).is_empty() {
            triangles.pop();
            x.truncate(first as usize);
        }
    }
    (triangles, x)
}

/// A crumpled sheet without crossings.
fn sheet(random: &mut Random) -> (Vec<[u32; 3]>, Vec<Particle>) {
    let mesh = Grid { cells_x: 7, cells_z: 7, size_x: 0.5, size_z: 0.5 }.mesh();
    let lift = |p: &[f32; 3]| [p[0], 0.02 * random.signed(), p[2]];
    let x = mesh.positions.iter().map(lift).map(|p| Particle { p, w: 1.0 }).collect();
    (mesh.triangles, x)
}

/// What a storm does to a soup: how many stencils crossed in all, and how many vertices were clamped.
struct Storm {
    crossed: usize,
    clamped: usize,
    lost: usize,
    /// Substeps that went by a plan.
    planned: usize,
    /// Vertices that got new balls.
    renewed: usize,
    nearest: f32,
}

/// Which parts of the bound a storm meets.
#[derive(Clone, Copy)]
struct Held {
    gamma: f32,
    kinds: [bool; 2],
    slabs: bool,
    balls: bool,
    /// Whether new balls are fitted to what is near.
    renewed: bool,
}

const ALL_OF_IT: Held = Held { gamma: 0.45, kinds: [true; 2], slabs: true, balls: true, renewed: true };

/// A few of the vertices that are at the rim of their balls leave them; says which got new ones.
fn stray(
    detector: &mut Detector,
    soup: &Soup,
    from: &[Particle],
    random: &mut Random,
    fitted: bool,
) -> Vec<u32> {
    let mut x = detector.center.clone();
    let mut strays = Vec::new();
    for _ in 0..8 {
        let v = (random.next() * x.len() as f32) as usize % x.len();
        let out = Vec3::from(from[v].p) - Vec3::from(x[v].p);
        if detector.outer[v] == 0.0 || out.length() < 0.9 * detector.outer[v] {
            continue;
        }
        strays.push(v as u32);
        x[v].p = (Vec3::from(from[v].p) + out.normalize_or_zero() * 0.2 * detector.most).into();
        if !fitted {
            let center = from[v].p;
            (detector.base[v].p, detector.center[v].p, detector.ways[v].p) = (center, center, [0.0; 3]);
            (detector.outer[v], detector.inner[v]) = (detector.most, 0.0);
        }
    }
    if fitted && !detector.renew(soup, from, &x) { Vec::new() } else { strays }
}

/// Drives the two sides of every pair that is close against each other, each vertex by `way` (m); which pairs those are does not depend on what
/// the bound looks at.
fn squeeze(stencils: &[(Kind, [u32; 4])], from: &[Particle], x: &mut [Particle], way: f32) {
    let near = |&(kind, s): &(Kind, [u32; 4])| {
        (kind, s, proximity::proximity(kind, s.map(|v| Vec3::from(from[v as usize].p))))
    };
    let pairs: Vec<_> = stencils.iter().map(near).collect();
    let least = pairs.iter().map(|(_, _, near)| near.distance).fold(f32::INFINITY, f32::min);
    for (kind, stencil, near) in pairs.iter().filter(|(_, _, near)| near.distance < 2.0 * least) {
        let first = if *kind == Kind::PointTriangle { 1 } else { 2 };
        for (i, &v) in stencil.iter().enumerate() {
            let towards = if i < first { -near.direction } else { near.direction };
            x[v as usize].p = (Vec3::from(x[v as usize].p) + towards * way).into();
        }
    }
}

/// Throws the vertices about, far beyond what the bound allows, clamps them, and looks for crossings on the way and at the end.
fn storm(seed: u64, held: Held, connected: bool) -> Storm {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let (triangles, mut x) = if connected { sheet(&mut random) } else { scattered(&mut random, 16) };
    if seed % 3 == 2 {
        x.iter_mut().for_each(|x| x.p = (Vec3::from(x.p) + 20.0).into());
    }
    // Of separate triangles, some are now and then a collider that stands still: then the others may use the whole distance.
    let still = if !connected && seed % 5 == 4 { 6 } else { 0 };
    let (collider, cloth) = triangles.split_at(still);
    let mut soup = match still {
        0 => soup_of(&triangles, &x, 0.0),
        _ => Soup::new(&[Part::collider(collider), Part::cloth(cloth, 0.0)], &x),
    };
    (0..still.min(1)).for_each(|part| soup.set_still(part, true));
    let moves = |v: usize| v >= 3 * still;
    let stencils: Vec<_> =
        all_stencils(&soup).into_iter().filter(|(_, s)| s.iter().any(|&v| moves(v as usize))).collect();
    let middle: Vec3 = x.iter().map(|x| Vec3::from(x.p)).sum::<Vec3>() / x.len() as f32;
    let reach = [0.01, 0.05, 0.4][seed as usize % 3];
    // All pairs by slabs, some, or none.
    let early = [reach, 0.3 * reach, f32::NEG_INFINITY][seed as usize / 3 % 3];
    let settings = Settings { reach, margin: 0.3 * reach, gamma: held.gamma, early, ..Settings::default() };
    let mut detector = Detector::new(Structure::default(), false);
    detector.pairs.kinds = held.kinds;
    let mut team = Team::new(1);
    let (mut seen, mut lost_before) =
        (Storm { crossed: 0, clamped: 0, lost: 0, planned: 0, renewed: 0, nearest: reach }, 0);
    for round in 0..ROUNDS {
        // Every other time they are expected to go somewhere, all of them or each its own way, and for several substeps.
        let settings = Settings { steps: 1 + round as u32 % 4, ..settings };
        let (common, own) = (random.vector() * 0.1, reach * random.next());
        let mut plan: Vec<Particle> = Vec::new();
        if round % 2 == 1 {
            let mut way = |v: usize| if v < 3 * still { Vec3::ZERO } else { common + random.vector() * own };
            plan.extend((0..x.len()).map(|v| Particle { p: way(v).into(), w: 0.0 }));
        }
        let (level, clock) = (SimdLevel::best(), &mut Stopwatch::start());
        let found = detector.detect_planned(&mut team, level, clock, &soup, &x, &plan, &settings);
        seen.nearest = seen.nearest.min(found.nearest);
        if !held.slabs {
            detector.findings.drop_slabs();
        }
        if !held.balls {
            detector.outer.fill(f32::INFINITY);
        }
        for step in 0..found.steps.min(settings.steps) {
            let from = x.clone();
            if step > 0 || round % 3 > 0 {
                detector.advance();
            }
            let strays = match round % 4 {
                0 => Vec::new(),
                _ => stray(&mut detector, &soup, &from, &mut random, held.renewed),
            };
            seen.renewed += strays.len();
            // Two goals: the way between them does not matter, only where the vertices end.
            for _ in 0..2 {
                // All to the middle, each its own way, or whole triangles to and fro; at last every pair that is close is squeezed.
                let (pull, own, gust) = (random.next(), random.next(), random.vector());
                for (v, x) in x.iter_mut().enumerate() {
                    let p = Vec3::from(x.p);
                    let wave = if v / 3 % 2 == 0 { gust } else { -gust };
                    let step = (middle - p) * 2.0 * pull + random.vector() * own + wave;
                    let step = if round > ROUNDS / 2 { Vec3::ZERO } else { step * 0.5 };
                    let planned = plan.get(v).map_or(Vec3::ZERO, |u| Vec3::from(u.p));
                    x.p = (p + planned + step).into();
                }
                if round > ROUNDS / 2 {
                    squeeze(&stencils, &from, &mut x, reach);
                }
                for v in &strays {
                    let own: Vec<_> = stencils.iter().filter(|(_, s)| s.contains(v)).copied().collect();
                    squeeze(&own, &from, &mut x, reach);
                }
                // Some are exactly where they are expected, and others come to them.
                for v in (0..x.len()).filter(|v| v % 4 == round % 4) {
                    x[v] = detector.center()[v];
                }
                x[..3 * still].copy_from_slice(&from[..3 * still]);
                let clamped = detector.clamp(&mut team, &from, &mut x, None, |_| None);
                seen.clamped += clamped.outside;
                seen.lost += clamped.lost;
                if clamped.lost > 0 {
                    break;
                }
            }
            if seen.lost > lost_before {
                // As the simulation does: back, and without a plan.
                lost_before = seen.lost;
                x.copy_from_slice(&from);
                break;
            }
            seen.planned += !plan.is_empty() as usize;
            let way = |&(kind, s): &(Kind, [u32; 4])| crosses_on_the_way(kind, s, &from, &x);
            seen.crossed += stencils.iter().filter(|s| way(s)).count() + crossings(&soup, &x).len();
        }
    }
    seen
}

const SEEDS: u64 = 60;
const ROUNDS: usize = 24;

#[test]
fn nothing_crosses_whatever_is_thrown_at_it() {
    for connected in [false, true] {
        let (mut clamped, mut planned, mut renewed, mut nearest) = (0, 0, 0, 1.0f32);
        for seed in 0..if connected { SEEDS / 3 } else { SEEDS } {
            let storm = storm(seed, ALL_OF_IT, connected);
            assert_eq!(storm.crossed, 0, "seed {seed}");
            clamped += storm.clamped;
            planned += storm.planned;
            renewed += storm.renewed;
            nearest = nearest.min(storm.nearest);
        }
        assert!(clamped > 10_000, "the bound was put to the test: {clamped}");
        assert!(planned > 100, "most plans could be followed: {planned}");
        assert!(renewed > 50, "vertices left their balls: {renewed}");
        assert!(nearest < 2e-6, "and some came as near as they can: {nearest}");
    }
}

/// The storm is strong enough to tell: with a γ above one half, or with any part of the bound left out, things cross.
#[test]
fn without_any_part_of_the_bound_things_cross() {
    let total = |held| -> usize { (0..10).map(|seed| storm(seed, held, false).crossed).sum() };
    assert_eq!(total(ALL_OF_IT), 0);
    assert!(total(Held { gamma: 0.6, ..ALL_OF_IT }) > 0, "γ = 0.6");
    assert!(total(Held { kinds: [true, false], ..ALL_OF_IT }) > 0, "without edges");
    assert!(total(Held { kinds: [false, true], ..ALL_OF_IT }) > 0, "without vertices and triangles");
    assert!(total(Held { slabs: false, ..ALL_OF_IT }) > 0, "without slabs");
    assert!(total(Held { balls: false, ..ALL_OF_IT }) > 0, "without balls");
    assert!(total(Held { renewed: false, ..ALL_OF_IT }) > 0, "with new balls that are not fitted");
}

#[test]
fn the_path_test_sees_a_crossing_and_a_miss() {
    let p = |x, y, z| Particle { p: [x, y, z], w: 1.0 };
    let from = [p(0.2, 1.0, 0.2), p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 0.0, 1.0)];
    let mut to = from;
    to[0] = p(0.3, -1.0, 0.3);
    assert!(crosses_on_the_way(Kind::PointTriangle, [0, 1, 2, 3], &from, &to));
    to[0] = p(3.3, -1.0, 0.3);
    assert!(!crosses_on_the_way(Kind::PointTriangle, [0, 1, 2, 3], &from, &to));
    let from = [p(-1.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, -1.0), p(0.0, 1.0, 1.0)];
    let mut to = from;
    (to[2], to[3]) = (p(0.0, -1.0, -1.0), p(0.0, -1.0, 1.0));
    assert!(crosses_on_the_way(Kind::SegmentSegment, [0, 1, 2, 3], &from, &to));
    (to[2], to[3]) = (p(0.0, -1.0, 4.0), p(0.0, -1.0, 6.0));
    assert!(!crosses_on_the_way(Kind::SegmentSegment, [0, 1, 2, 3], &from, &to));
}

#[test]
fn the_fast_counter_of_crossings_agrees_with_this_one() {
    for seed in 0..6 {
        let mut random = Random(seed + 100);
        let (triangles, mut x) = sheet(&mut random);
        x.iter_mut().for_each(|x| x.p = (Vec3::from(x.p) * 0.3 + random.vector() * 0.05).into());
        let soup = soup_of(&triangles, &x, 0.0);
        // An edge crosses for each triangle that it belongs to.
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (e, t) in crossings(&soup, &x) {
            for (u, corners) in triangles.iter().enumerate() {
                let common = corners.iter().any(|v| triangles[t as usize].contains(v));
                if soup.edges[e as usize].iter().all(|v| corners.contains(v)) && !common {
                    pairs.push([t.min(u as u32), t.max(u as u32)]);
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let positions: Vec<[f32; 3]> = x.iter().map(|x| x.p).collect();
        assert!(pairs.len() > 20);
        // That one also counts triangles with a common vertex.
        let strangers =
            |p: &[u32; 2]| !triangles[p[0] as usize].iter().any(|v| triangles[p[1] as usize].contains(v));
        let mut found = intersecting_pairs(&positions, &triangles);
        found.retain(strangers);
        assert_eq!(found, pairs);
    }
}

/// A sheet folded over twice, so that three layers lie on each other, a few millimetres apart.
fn folded(cells: usize) -> (Vec<[u32; 3]>, Vec<Particle>) {
    let mesh = Grid { cells_x: cells, cells_z: cells, size_x: 1.0, size_z: 1.0 }.mesh();
    let fold = |p: &[f32; 3]| {
        let u = (p[0] + 0.5) * 3.0;
        let (layer, along) = (u.floor().min(2.0), u - u.floor().min(2.0));
        let x = if layer == 1.0 { 1.0 - along } else { along };
        let wave = 0.01 * (17.0 * x + 5.0 * p[2]).sin();
        [x / 3.0, wave + 0.004 * (layer + 0.2 * (along - 0.5)), p[2] + 0.001 * layer]
    };
    (mesh.triangles, mesh.positions.iter().map(fold).map(|p| Particle { p, w: 1.0 }).collect())
}

/// The least and the greatest room of a pair at distance d (m), if that is found a little too small: γ d of contacts, and of others what keeps
/// them from becoming one, min(γ d, ½ (d − gap)). And whether it is a contact, if that is certain.
fn room(settings: &Settings, d: f32, gap: f32) -> (f32, f32, Option<bool>) {
    let (gamma, edge) = (settings.gamma, NEAR * gap + settings.early);
    let (contact, other) = (|d: f32| gamma * d, |d: f32| (gamma * d).min(0.5 * (d - SEEN * gap)));
    let low = 0.93 * d - 1e-5;
    match (low < edge, d < edge) {
        (true, true) => (contact(low), contact(d), Some(true)),
        (false, false) => (other(low), other(d), Some(false)),
        _ => (contact(low).min(other(edge)), contact(edge).max(other(d)), None),
    }
}

#[test]
fn bounds_are_those_of_brute_force() {
    let (triangles, x) = folded(12);
    let soup = soup_of(&triangles, &x, 0.001);
    for early in [0.001, 0.01] {
        let settings = Settings { reach: 0.02, margin: 0.003, early, ..Settings::default() };
        let mut detector = Detector::new(Structure::default(), false);
        detector.detect(&mut Team::new(1), SimdLevel::best(), &soup, &x, &settings);
        let cap = settings.gamma * settings.reach;
        // The inner balls of all pairs, and the outer ones of those that are no contacts.
        let mut rooms = [vec![(cap - 1e-5, cap); x.len()], vec![(cap - 1e-5, cap); x.len()]];
        for (kind, stencil) in all_stencils(&soup) {
            let d = proximity::proximity(kind, stencil.map(|v| Vec3::from(x[v as usize].p))).distance;
            if d >= settings.reach {
                continue;
            }
            let at_rest = proximity::proximity(kind, stencil.map(|v| Vec3::from(soup.rest[v as usize].p)));
            let (gap, less) = soup.gap(kind, &stencil);
            let gap = if less { keep(gap, at_rest.distance) } else { gap };
            let (low, high, contact) = room(&settings, d, gap);
            for v in stencil {
                let [inner, outer] = rooms.each_mut().map(|rooms| &mut rooms[v as usize]);
                *inner = (inner.0.min(low), inner.1.min(high));
                match contact {
                    Some(true) => {}
                    Some(false) => *outer = (outer.0.min(low), outer.1.min(high)),
                    None => outer.0 = outer.0.min(low),
                }
            }
        }
        let mut near = [0; 2];
        for (i, found) in [detector.bounds(), &detector.outer].into_iter().enumerate() {
            for (&b, &(low, high)) in found.iter().zip(&rooms[i]) {
                assert!(b >= low && b <= high, "{b} m, not {low} m to {high} m ({i}, early {early})");
                near[i] += (high < cap) as usize;
            }
        }
        assert!(near[0] > x.len() / 2 && near[1] <= near[0], "{near:?}");
        assert!(early > 0.005 || near[1] > 0, "{near:?}");
    }
}

/// Bits of all that a detector says.
fn bits(detector: &Detector) -> (Vec<u32>, Vec<ContactRow>) {
    (detector.bounds().iter().map(|b| b.to_bits()).collect(), detector.rows().to_vec())
}

#[test]
fn the_same_bits_on_any_threads_instructions_and_structure() {
    let (triangles, x) = folded(20);
    let soup = soup_of(&triangles, &x, 0.002);
    let settings = Settings { reach: 0.012, margin: 0.004, ..Settings::default() };
    let mut moved = x.clone();
    let mut random = Random(1);
    moved.iter_mut().for_each(|x| x.p = (Vec3::from(x.p) + random.vector() * 5e-4).into());
    let run = |structure: Structure, threads, level| {
        let (mut detector, mut team) = (Detector::new(structure, false), Team::new(threads));
        detector.detect(&mut team, level, &soup, &x, &settings);
        let first = bits(&detector);
        assert!(!detector.detect(&mut team, level, &soup, &moved, &settings).collected);
        (first, bits(&detector))
    };
    let expected = run(Structure::Lbvh, 1, SimdLevel::Scalar);
    assert!(expected.0.1.len() > 300, "{} contacts", expected.0.1.len());
    for structure in Structure::ALL {
        for threads in [1, 2, 3] {
            for level in SimdLevel::all() {
                assert!(
                    run(structure, threads, level) == expected,
                    "{structure:?}, {threads}, {}",
                    level.name()
                );
            }
        }
    }
}

#[test]
fn kept_pairs_give_the_same_bounds_as_new_ones() {
    let (triangles, mut x) = folded(16);
    let soup = soup_of(&triangles, &x, 0.002);
    let settings = Settings { reach: 0.01, margin: 0.004, ..Settings::default() };
    let (mut kept, mut team, mut random) =
        (Detector::new(Structure::default(), false), Team::new(1), Random(8));
    let (mut reused, level) = (0, SimdLevel::best());
    for _ in 0..30 {
        let found = kept.detect(&mut team, level, &soup, &x, &settings);
        reused += !found.collected as usize;
        let mut fresh = Detector::new(Structure::default(), false);
        let all = fresh.detect(&mut team, level, &soup, &x, &settings);
        assert_eq!(bits(&kept).0, bits(&fresh).0);
        assert!(found.nearest == all.nearest && kept.rows().len() == fresh.rows().len());
        // A motion of all does not use up the margin.
        x.iter_mut().for_each(|x| x.p = (Vec3::from(x.p) + random.vector() * 4e-4 + 0.0078125).into());
    }
    assert!(reused > 15, "{reused}");
}

#[test]
fn contacts_are_rows_on_the_right_side() {
    let (triangles, x) = folded(20);
    let soup = soup_of(&triangles, &x, 0.002);
    let settings = Settings { reach: 0.01, early: 0.002, ..Settings::default() };
    let mut detector = Detector::new(Structure::default(), false);
    detector.detect(&mut Team::new(1), SimdLevel::best(), &soup, &x, &settings);
    for row in detector.rows() {
        let near = proximity::proximity(row.kind, row.particles.map(|v| Vec3::from(x[v as usize].p)));
        assert!(
            (row.distance - near.distance).abs() < 1e-6
                && row.distance < NEAR * row.gap + settings.early + 1e-5
        );
        assert!(Vec3::from(row.normal).dot(near.direction) > 0.999);
        assert!((row.value(&x) - (near.distance - row.gap)).abs() < 1e-6);
        assert!(row.gap > 0.0 && row.gap <= 0.004);
    }
    // At rest, nothing is in contact: pairs that are close there keep less.
    let mesh = Grid { cells_x: 20, cells_z: 20, size_x: 1.0, size_z: 1.0 }.mesh();
    let flat: Vec<Particle> = mesh.positions.iter().map(|&p| Particle { p, w: 1.0 }).collect();
    let thick = soup_of(&mesh.triangles, &flat, 0.06);
    let settings = Settings { reach: 0.13, early: 0.0, ..settings };
    detector.forget();
    let found = detector.detect(&mut Team::new(1), SimdLevel::best(), &thick, &flat, &settings);
    assert!(detector.rows().is_empty() && found.nearest < 0.04, "{found:?}");
}

/// Rows of the first particle, which stands alone above the rest; the second and third are far above.
fn rows_above(surface: &[[f32; 3]], triangles: &[[u32; 3]], point: [f32; 3]) -> Vec<ContactRow> {
    let above = [point, [point[0], 5.0, point[2]], [point[0] + 1.0, 5.0, point[2]]];
    let x: Vec<Particle> = above.iter().chain(surface).map(|&p| Particle { p, w: 1.0 }).collect();
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v + 3)).collect();
    let part = |triangles| Part::cloth(triangles, 0.02);
    let soup = Soup::new(&[part(&[[0, 1, 2]]), part(&triangles)], &x);
    let settings = Settings { reach: 0.3, early: 0.2, ..Settings::default() };
    let mut detector = Detector::new(Structure::default(), false);
    detector.detect(&mut Team::new(1), SimdLevel::best(), &soup, &x, &settings);
    detector
        .rows()
        .iter()
        .filter(|row| row.kind == Kind::PointTriangle && row.particles[0] == 0)
        .copied()
        .collect()
}

#[test]
fn a_vertex_touches_a_surface_once() {
    // Over the inside, a side and a corner of level triangles: one row, straight up.
    let sheet = Grid { cells_x: 8, cells_z: 8, size_x: 1.0, size_z: 1.0 }.mesh();
    for [x, z] in [[0.03, 0.01], [0.0625, 0.0], [0.0, 0.0], [0.07, 0.05], [0.499, 0.1]] {
        let rows = rows_above(&sheet.positions, &sheet.triangles, [x, 0.1, z]);
        assert_eq!(rows.len(), 1, "over {x}, {z}: {rows:?}");
        assert!(rows[0].normal[1] > 0.999);
    }
    // Beyond the border, aslant.
    let rows = rows_above(&sheet.positions, &sheet.triangles, [0.55, 0.05, 0.03]);
    assert!(rows.len() == 1 && rows[0].normal[0] > 0.5, "{rows:?}");
    // Over the ridge of a roof and the top of a pyramid.
    let roof = [[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [0.0, 0.5, -1.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.0]];
    let rows = rows_above(&roof, &[[0, 1, 2], [2, 1, 3], [2, 3, 4]], [0.0, 0.6, 0.1]);
    assert!(
        rows.len() == 1 && rows[0].normal[1] > 0.999 && (rows[0].distance - 0.1).abs() < 1e-6,
        "{rows:?}"
    );
    let pyramid = [[0.0, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
    let rows = rows_above(&pyramid, &[[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4]], [0.01, 0.6, 0.0]);
    assert!(rows.len() == 1 && (rows[0].distance - 0.1).abs() < 1e-3, "{rows:?}");
}

#[test]
fn clamping_brings_all_back_and_remembers_where_they_wanted_to_go() {
    let (triangles, mut x) = folded(6);
    x[0].w = 0.0;
    let soup = soup_of(&triangles, &x, 0.001);
    let (mut detector, mut team) = (Detector::new(Structure::default(), false), Team::new(2));
    detector.detect(&mut team, SimdLevel::best(), &soup, &x, &Settings::default());
    let mut far = x.clone();
    far.iter_mut().for_each(|x| x.p[1] += 0.1);
    assert!(detector.strayed(&mut team, &far) == x.len() && detector.strayed(&mut team, &x) == 0);
    let all = Clamped { outside: x.len(), lost: 0, inside: 0 };
    assert_eq!(detector.clamp(&mut team, &x, &mut far, None, |_| None), all);
    assert_eq!(detector.strayed(&mut team, &far), 0);
    assert!(detector.wanted().iter().zip(&x).all(|(w, x)| w.w == 1.0 && w.p[1] == x.p[1] + 0.1));
    assert_eq!(detector.clamp(&mut team, &x, &mut far, None, |_| None), Clamped::default());
    assert!(detector.wanted().iter().all(|w| w.w == 0.0));
}

#[test]
fn cloth_may_use_the_whole_distance_to_a_collider_that_stands_still() {
    // A level triangle of cloth 8 mm above one of a collider.
    let p = |x, y, z| Particle { p: [x, y, z], w: 1.0 };
    let x = [
        [p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 0.0, 1.0)],
        [p(0.1, 0.008, 0.1), p(0.3, 0.008, 0.1), p(0.1, 0.008, 0.3)],
    ]
    .concat();
    let parts = [Part::collider(&[[0, 1, 2]]), Part { margin: 0.003, ..Part::cloth(&[[3, 4, 5]], 0.004) }];
    let mut soup = Soup::new(&parts, &x);
    let (mut detector, mut team) = (Detector::new(Structure::default(), false), Team::new(1));
    for (still, early, expected) in
        [(false, 0.01, 0.0036), (true, 0.01, 0.0072), (false, 0.001, 0.00325), (true, 0.001, 0.0065)]
    {
        soup.set_still(0, still);
        // Far enough that the cap does not matter.
        let settings = Settings { reach: 0.03, early, ..Settings::default() };
        detector.detect(&mut team, SimdLevel::best(), &soup, &x, &settings);
        let b = detector.bounds()[3];
        assert!((b - expected).abs() < 1e-5, "{b} m, not {expected} m");
        if early < 0.005 {
            assert!(detector.rows().is_empty());
            continue;
        }
        let points = |row: &&ContactRow| row.kind == Kind::PointTriangle;
        assert!(detector.rows().iter().filter(points).all(|row| row.gap == 0.003));
        assert!(!detector.rows().is_empty());
    }
}

/// How far pairs are looked for depends on the distance that their parts keep and on whether one stands still; at no distance is one missed that leaves less room than others do, or is a contact.
#[test]
fn no_pair_that_matters_is_beyond_the_reach_of_its_parts() {
    let p = |x, y, z| Particle { p: [x, y, z], w: 1.0 };
    let (reach, early, thickness) = (0.012, 0.0004, 0.008);
    let settings = Settings { reach, early, ..Settings::default() };
    let least = |d: f32, gap: f32| (0.45 * d).min(0.5 * (d - SEEN * gap));
    let most = least(reach, thickness);
    let (mut team, mut limited) = (Team::new(1), 0);
    for (margin, still, height) in
        [0.004, 0.008, 0.012].into_iter().flat_map(|margin| [(margin, false), (margin, true)]).flat_map(
            |(margin, still)| (1..=120).map(move |step| (margin, still, 0.0001 * step as f32 - 0.00003)),
        )
    {
        let x = [
            [p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 0.0, 1.0)],
            [p(0.1, height, 0.1), p(0.3, height, 0.1), p(0.1, height, 0.3)],
        ]
        .concat();
        let parts = [Part::collider(&[[0, 1, 2]]), Part { margin, ..Part::cloth(&[[3, 4, 5]], thickness) }];
        let mut soup = Soup::new(&parts, &x);
        soup.set_still(0, still);
        let mut detector = Detector::new(Structure::default(), false);
        detector.detect(&mut team, SimdLevel::best(), &soup, &x, &settings);
        let most = if margin > thickness { least(reach, margin) } else { most };
        let contact = height < NEAR * margin + early;
        let whole = if still { 2.0 } else { 1.0 };
        let expected = most.min(whole * if contact { 0.45 * height } else { least(height, margin) });
        let b = detector.bounds()[3];
        assert!((b - expected).abs() < 2e-5, "{b} m, not {expected} m, at {height} m ({margin} m, {still})");
        assert_eq!(detector.rows().is_empty(), !contact, "at {height} m ({margin} m, {still})");
        limited += (b < 0.99 * most) as usize;
    }
    assert!(limited > 100, "{limited}");
}

#[test]
fn what_would_hit_hard_is_expected_to_be_stopped() {
    // A level triangle of cloth falls on one of a collider, 4 mm below, by 2 cm in a substep.
    let p = |x, y, z, w| Particle { p: [x, y, z], w };
    let x = [
        [p(0.0, 0.0, 0.0, 0.0), p(1.0, 0.0, 0.0, 0.0), p(0.0, 0.0, 1.0, 0.0)],
        [p(0.1, 0.004, 0.1, 1.0), p(0.3, 0.004, 0.1, 1.0), p(0.1, 0.004, 0.3, 1.0)],
    ]
    .concat();
    let parts = [Part::collider(&[[0, 1, 2]]), Part { margin: 0.003, ..Part::cloth(&[[3, 4, 5]], 0.004) }];
    let soup = Soup::new(&parts, &x);
    let fall = |v: usize| p(0.0, if v < 3 { 0.0 } else { -0.02 }, 0.0, 0.0);
    let plan: Vec<Particle> = (0..x.len()).map(fall).collect();
    let (mut detector, mut team) = (Detector::new(Structure::default(), false), Team::new(1));
    let settings = Settings { reach: 0.03, ..Settings::default() };
    let clock = &mut Stopwatch::start();
    detector.detect_planned(&mut team, SimdLevel::best(), clock, &soup, &x, &plan, &settings);
    detector.advance();
    let mut fallen: Vec<Particle> =
        x.iter().zip(&plan).map(|(x, u)| p(x.p[0], x.p[1] + u.p[1], x.p[2], x.w)).collect();
    let clamped = detector.clamp(&mut team, &x, &mut fallen, None, |_| None);
    // Otherwise the ball around where it is expected would be behind the slab, and there would be no place for it.
    assert_eq!(clamped, Clamped { outside: 3, lost: 0, inside: 0 });
    assert!(fallen[3..].iter().all(|x| x.p[1] > 0.0 && x.p[1] < 0.003), "{fallen:?}");
}

/// How far the sides of a stencil are apart if all vertices went as far as their balls allow, now and at the end of the plan, along the direction between where they are expected or an axis, m.
fn left_between(detector: &Detector, kind: Kind, stencil: [u32; 4], ends: [f32; 2]) -> f32 {
    let expected = |v: u32, k: f32| {
        let v = v as usize;
        Vec3::from(detector.base[v].p) + Vec3::from(detector.ways[v].p) * k
    };
    let n = proximity::proximity(kind, stencil.map(|v| expected(v, ends[0]))).direction;
    let (first, second) = stencil.split_at(measure::first_side(kind));
    let apart = |n: Vec3, k: f32| {
        let low = |&v: &u32| n.dot(expected(v, k)) - detector.outer[v as usize];
        let high = |&v: &u32| n.dot(expected(v, k)) + detector.outer[v as usize];
        first.iter().map(low).fold(f32::INFINITY, f32::min) - second.iter().map(high).fold(f32::MIN, f32::max)
    };
    let axes = [n, Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    axes.into_iter().map(|n| apart(n, ends[0]).min(apart(n, ends[1]))).fold(f32::MIN, f32::max)
}

#[test]
fn a_new_ball_is_apart_from_all_that_may_come_near() {
    let (mut renewed, mut larger) = (0, 0);
    for seed in 0..120 {
        let mut random = Random(seed * 77 + 5);
        let (triangles, x) = if seed % 2 == 0 { scattered(&mut random, 16) } else { sheet(&mut random) };
        let soup = soup_of(&triangles, &x, 0.0);
        let stencils = all_stencils(&soup);
        // Without contacts there are no slabs.
        let settings = Settings {
            reach: 0.1,
            early: f32::NEG_INFINITY,
            steps: 1 + seed as u32 % 3,
            ..Settings::default()
        };
        let (mut detector, mut team) = (Detector::new(Structure::default(), false), Team::new(1));
        for v in 0..x.len() {
            let way = |_| Particle { p: (random.vector() * 2e-3).into(), w: 0.0 };
            let plan: Vec<Particle> = (0..if seed % 4 < 2 { 0 } else { x.len() }).map(way).collect();
            let (level, clock) = (SimdLevel::best(), &mut Stopwatch::start());
            let found = detector.detect_planned(&mut team, level, clock, &soup, &x, &plan, &settings);
            detector.advance();
            let ends = if detector.moving() { [0.0, found.steps as f32] } else { [0.0; 2] };
            let kept_apart = |s: [u32; 4]| detector.findings.slabs().any(|slab| slab.particles == s);
            let with_slabs: Vec<_> = stencils.iter().filter(|(_, s)| kept_apart(*s)).copied().collect();
            // It is at the rim of its ball, and goes on.
            let (mut start, mut ahead) = (x.clone(), detector.center().to_vec());
            let out = random.vector().normalize_or_zero();
            start[v].p = (Vec3::from(x[v].p) + out * (0.95 * detector.outer[v])).into();
            ahead[v].p = (Vec3::from(ahead[v].p) + out * (detector.outer[v] + 0.05 * detector.most)).into();
            let before = detector.outer[v];
            if !detector.renew(&soup, &start, &ahead) {
                continue;
            }
            renewed += 1;
            larger += (detector.outer[v] > before) as usize;
            let own = stencils.iter().filter(|(_, s)| s.contains(&(v as u32)));
            for &(kind, stencil) in own.filter(|pair| !with_slabs.contains(pair)) {
                let left = left_between(&detector, kind, stencil, ends);
                assert!(left > 0.0, "seed {seed}, vertex {v}, {kind:?} {stencil:?}: {left} m");
            }
        }
    }
    assert!(renewed > 100 && larger > 20, "{renewed} got new balls, {larger} larger ones");
}
