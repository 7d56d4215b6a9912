//! Takes cloth that starts crossed to a state without crossings.
//!
//! Contact can keep surfaces from crossing, but cannot tell which side is right once they do. This pass looks at the whole *contour* along which two surfaces
//! cross:
//!
//! - A contour that divides a surface cuts off a region. The smaller one is on the wrong side, and is brought back through the surface that cut it off, both
//!   giving way (Baraff, Witkin, Kass 2003).
//! - One that divides neither is shortened until it is gone (Volino, Magnenat-Thalmann 2006).
//! - Triangles that overlap in one plane are lifted off each other.
//!
//! No vertex goes further than part of an edge at a time, and in between the edges around what has moved are brought back to their lengths. When nothing crosses any
//! more they are relaxed further, under the bound of contact, so that nothing can cross again ([`bound`]). Held vertices and colliders do not
//! move. It is done once, before a simulation, on one thread for the most part.

mod contours;
mod push;

use glam::Vec3;

use super::bound::{self, Detector};
use super::query::Structure;
use super::soup::Soup;
use crate::lanes::SimdLevel;
use crate::metrics::crossing_pairs;
use crate::par::Team;
use crate::wide::Particle;
use contours::{Contour, Flood, Node, Web, contours, prolonged};
use push::Moves;

/// How cloth is untangled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Distance at which layers that were crossed are left, m; less where the mesh is finer.
    pub gap: f32,
    /// Rounds of pushing at most.
    pub rounds: u32,
    /// Rounds of relaxing edges once nothing crosses.
    pub relax: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { gap: 1e-3, rounds: 300, relax: 60 }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Pairs of triangles that crossed before.
    pub before: usize,
    /// Pairs that still do.
    pub remaining: usize,
    /// Rounds of pushing.
    pub rounds: u32,
    /// How many vertices were moved.
    pub moved: usize,
    /// How far the farthest went, m.
    pub farthest: f32,
    /// Largest |l − l₀|/l₀ of the edges that were moved.
    pub strain: f32,
}

/// Farthest that a vertex goes in a round, in mean edge lengths.
const STEP: f32 = 0.3;
/// The gap is no more than this part of the mean edge length.
const FINEST: f32 = 0.1;
/// Sweeps over the edges in a round.
const SWEEPS: usize = 4;
/// A vertex that moved by this part of the mean edge length takes its neighbours along.
const TAKES_ALONG: f32 = 1e-3;
/// Rounds without fewer crossings after which the best state so far is as good as it gets.
const PATIENCE: u32 = 80;

/// With no more pairs left than this, it is looked whether they were gone before edges were brought back.
const LAST: usize = 32;
/// Rounds without fewer crossings after which everything is shaken.
const STUCK: u32 = 20;
/// How far vertices are shaken, in mean edge lengths.
const SHAKE: f32 = 1e-3;

/// Untangles the cloths of a soup. `edges` have their rest lengths (m). What cannot be undone is left and reported.
pub fn untangle(
    team: &mut Team,
    soup: &Soup,
    edges: &[([u32; 2], f32)],
    x: &mut [Particle],
    settings: &Settings,
) -> Report {
    let held: Vec<bool> = (soup.vertex_group.iter().zip(x.iter()))
        .map(|(&g, x)| x.w == 0.0 || soup.groups.get(g as usize).is_some_and(|group| group.kinematic))
        .collect();
    let kinematic: Vec<bool> = (soup.triangles.iter())
        .map(|t| soup.groups[soup.vertex_group[t[0] as usize] as usize].kinematic)
        .collect();
    let crossing = |team: &mut Team, x: &[Particle]| {
        let corners: Vec<_> = soup.triangles.iter().map(|t| t.map(|v| Vec3::from(x[v as usize].p))).collect();
        let pairs = crossing_pairs(team, &corners, &soup.triangles, &kinematic);
        (corners, pairs)
    };
    let (mut corners, mut pairs) = crossing(team, x);
    let mut report = Report { before: pairs.len(), remaining: pairs.len(), ..Report::default() };
    if pairs.is_empty() {
        return report;
    }
    let before = x.to_vec();
    let web = Web::new(soup.vertices(), &soup.triangles);
    let sum: f64 = edges.iter().map(|e| e.1 as f64).sum();
    let mean = (sum / edges.len().max(1) as f64) as f32;
    let (gap, most) = (settings.gap.min(FINEST * mean), STEP * mean);
    // Colliders are held for as long as this takes.
    let weights: Vec<f32> = x.iter().map(|x| x.w).collect();
    x.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(x, _)| x.w = 0.0);

    let mut flood = Flood::new(soup.vertices(), web.edges.len());
    let mut moves = Moves::new(soup.vertices());
    let mut springs = Springs { edges, mean, active: vec![false; soup.vertices()], from: x.to_vec() };
    let (mut best, mut patience, mut regular) = (x.to_vec(), PATIENCE, true);
    while report.rounds < settings.rounds && patience > 0 {
        report.rounds += 1;
        let (mut curves, mut flat) = contours(&web, &corners, &pairs);
        if flat.is_empty() && (std::mem::take(&mut regular) || patience % STUCK == 0) {
            shake(x, &soup.triangles, &pairs, SHAKE * mean, report.rounds);
            (corners, pairs) = crossing(team, x);
            (curves, flat) = contours(&web, &corners, &pairs);
        }
        for contour in &curves {
            let mut pushed = 0;
            for traces in divisions(&web, &corners, contour) {
                for trace in traces {
                    let region = flood.region(&web, trace, &contour.tips);
                    pushed += push::region(&web, x, (&region, &flood), (gap, most), &mut moves);
                }
                if pushed > 0 {
                    break;
                }
            }
            if pushed == 0 {
                push::shorten(&web, x, contour, most, &mut moves);
            }
        }
        flat.iter().for_each(|&pair| push::lift(&web, x, pair, gap, &mut moves));
        springs.from.copy_from_slice(x);
        for v in moves.asked.drain(..) {
            let i = v as usize;
            let by = moves.sum[i] / moves.count[i] as f32;
            x[i].p = (Vec3::from(x[i].p) + by.clamp_length_max(most)).into();
            (moves.sum[i], moves.count[i]) = (Vec3::ZERO, 0);
            springs.active[i] = true;
        }
        let pushed = x.to_vec();
        springs.relax(x, SWEEPS);
        springs.spread(&web, x);
        (corners, pairs) = crossing(team, x);
        if !pairs.is_empty() && pairs.len() <= LAST {
            // Edges that pull the last crossings closed again have to wait for the bound.
            let (at, found) = crossing(team, &pushed);
            if found.is_empty() {
                x.copy_from_slice(&pushed);
                (corners, pairs) = (at, found);
            }
        }
        patience -= 1;
        if pairs.len() < report.remaining {
            (report.remaining, patience) = (pairs.len(), PATIENCE);
            best.copy_from_slice(x);
        }
        if pairs.is_empty() {
            break;
        }
    }
    if report.remaining > 0 {
        x.copy_from_slice(&best);
    } else {
        springs.relax_under_bound(team, soup, &web, x, settings.relax);
        report.remaining = crossing(team, x).1.len();
    }
    for (x, w) in x.iter_mut().zip(weights) {
        x.w = w;
    }
    let way = |i: usize| (Vec3::from(x[i].p) - Vec3::from(before[i].p)).length();
    report.moved = (0..x.len()).filter(|&i| way(i) > 0.0).count();
    report.farthest = (0..x.len()).map(way).fold(0.0, f32::max);
    for &([a, b], rest) in edges.iter().filter(|e| e.0.iter().any(|&v| way(v as usize) > 0.0)) {
        let length = (Vec3::from(x[a as usize].p) - Vec3::from(x[b as usize].p)).length();
        report.strain = report.strain.max((length - rest).abs() / rest);
    }
    report
}

/// What a contour might divide, the likeliest first: either surface by its own trace; the same with the trace prolonged to the border; or, where both surfaces are one
/// and the contour begins and ends at a fold, a pocket at the fold by both together.
fn divisions(web: &Web, corners: &[[Vec3; 3]], contour: &Contour) -> [Vec<Vec<(Node, usize)>>; 3] {
    let of = |surface: usize, nodes: &[Node]| nodes.iter().map(|&n| (n, surface)).collect::<Vec<_>>();
    let own: Vec<_> = (0..2).map(|k| of(k, &contour.traces[k])).collect();
    let more = prolonged(web, corners, contour);
    let whole: Vec<_> = (0..2).map(|k| [&own[k][..], &of(k, &more[k])].concat()).collect();
    let both = whole.concat();
    [own, whole, vec![both]]
}

/// Moves the free corners of crossing triangles a little, each its own way. Of regular meshes many edges go exactly through other edges, so that it
/// cannot be said which faces they cross.
fn shake(x: &mut [Particle], triangles: &[[u32; 3]], pairs: &[[u32; 2]], by: f32, round: u32) {
    let mut corners: Vec<u32> = pairs.iter().flatten().flat_map(|&t| triangles[t as usize]).collect();
    corners.sort_unstable();
    corners.dedup();
    for v in corners.into_iter().filter(|&v| x[v as usize].w != 0.0).collect::<Vec<_>>() {
        let mut bits = (v as u64) << 32 | round as u64;
        for c in &mut x[v as usize].p {
            // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
            bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            *c += by * (((mixed ^ mixed >> 31) >> 40) as f32 / (1u64 << 23) as f32 - 1.0);
        }
    }
}

/// Edges around what has moved, as springs.
struct Springs<'a> {
    edges: &'a [([u32; 2], f32)],
    /// Mean edge length, m.
    mean: f32,
    /// Vertices that may move.
    active: Vec<bool>,
    /// Where they were at the start of the round.
    from: Vec<Particle>,
}

impl Springs<'_> {
    /// Brings edges back to their lengths, one after another.
    fn relax(&self, x: &mut [Particle], sweeps: usize) {
        let weight =
            |x: &[Particle], v: u32| f32::from(u8::from(self.active[v as usize] && x[v as usize].w != 0.0));
        for sweep in 0..sweeps {
            for k in 0..self.edges.len() {
                // There and back, so that nothing is carried one way.
                let k = if sweep % 2 == 0 { k } else { self.edges.len() - 1 - k };
                let ([a, b], rest) = self.edges[k];
                let (wa, wb) = (weight(x, a), weight(x, b));
                if wa + wb == 0.0 {
                    continue;
                }
                let (p, q) = (Vec3::from(x[a as usize].p), Vec3::from(x[b as usize].p));
                let length = (q - p).length();
                if length > 0.0 {
                    let by = (q - p) * ((length - rest) / (length * (wa + wb)));
                    x[a as usize].p = (p + by * wa).into();
                    x[b as usize].p = (q - by * wb).into();
                }
            }
        }
    }

    /// Neighbours of what moved in this round may move in the next.
    fn spread(&mut self, web: &Web, x: &[Particle]) {
        let least = TAKES_ALONG * self.mean;
        let moved = |v: usize| (Vec3::from(x[v].p) - Vec3::from(self.from[v].p)).length() > least;
        let far: Vec<u32> = (0..self.active.len()).filter(|&v| moved(v)).map(|v| v as u32).collect();
        for v in far {
            web.edges_at(v).iter().for_each(|&e| self.active[web.across(e, v) as usize] = true);
        }
    }

    /// The same, each round within the bound of a detection: what does not cross will not.
    fn relax_under_bound(
        &mut self,
        team: &mut Team,
        soup: &Soup,
        web: &Web,
        x: &mut [Particle],
        rounds: u32,
    ) {
        let reach = 0.3 * self.mean;
        let looks = bound::Settings {
            reach,
            margin: 0.1 * self.mean,
            early: f32::NEG_INFINITY,
            ..Default::default()
        };
        let mut detector = Detector::new(Structure::Lbvh, false);
        for _ in 0..rounds {
            detector.detect(team, SimdLevel::best(), soup, x, &looks);
            self.from.copy_from_slice(x);
            self.relax(x, SWEEPS);
            for ((x, c), &b) in x.iter_mut().zip(detector.center()).zip(detector.bounds()) {
                let way = Vec3::from(x.p) - Vec3::from(c.p);
                if way.length() > b {
                    x.p = (Vec3::from(c.p) + way * (b / way.length())).into();
                }
            }
            self.spread(web, x);
        }
    }
}

#[cfg(test)]
mod tests;
