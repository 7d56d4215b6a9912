//! A linear bounding volume hierarchy.
//!
//! Boxes are sorted along a Morton curve through their middles. Where others then derive a binary tree from the codes (Karras 2012), here every eight
//! boxes in a row are a node, every eight nodes a node of the next level, and so on: there is no structure to store, levels are refitted one after
//! another with all nodes of a level at once, and a step of a search compares one box with eight.
//!
//! Sorting need not follow every motion: boxes are sorted again every [`RESORT`] calls, or when their number changes. Results do not depend on it.

use glam::Vec3;

use super::{Aabb, NearPairs, Pieces};
use crate::lanes::{LANES, SimdLevel};
use crate::par::Team;
use crate::wide::{Boxes8, LEVELS, Reach, Tree};

/// Calls after which boxes are sorted again.
pub const RESORT: u32 = 32;
/// Pieces that are sorted on their own, then merged two by two.
const RUNS: usize = 8;
/// Below this many boxes one thread sorts them all.
const SORT_TOGETHER: usize = 4096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Lbvh {
    /// Morton code and number of each box, and room for merging.
    keys: [Vec<(u64, u32)>; 2],
    /// Numbers of the boxes in the order of the curve, filled up to whole nodes.
    items: Vec<u32>,
    nodes: Vec<Boxes8>,
    levels: Vec<u32>,
    boxes: usize,
    calls: u32,
    reaches: Vec<Reach>,
    pieces: Pieces,
}

/// Spreads the low 21 bits of `v` so that two zeros come between each two.
fn spread(v: u64) -> u64 {
    let v = v & 0x1f_ffff;
    let v = (v | v << 32) & 0x001f_0000_0000_ffff;
    let v = (v | v << 16) & 0x001f_0000_ff00_00ff;
    let v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
    let v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

/// The place of a point along the Morton curve of the unit cube, 21 bits an axis.
pub fn morton(p: Vec3) -> u64 {
    let [x, y, z] = p.to_array().map(|c| spread((c.clamp(0.0, 1.0) * 2_097_151.0) as u64));
    x << 2 | y << 1 | z
}

impl Lbvh {
    /// Sorts the boxes along the curve.
    fn sort(&mut self, team: &mut Team, boxes: &[Aabb]) {
        let hull = boxes.iter().fold(Aabb::EMPTY, |h, b| h.join(*b));
        let scale = 1.0 / hull.size().max_element().max(f32::MIN_POSITIVE);
        let [keys, room] = &mut self.keys;
        keys.clear();
        keys.resize(boxes.len(), (0, 0));
        team.for_each_chunk(keys, LANES, |first, keys| {
            for (k, key) in keys.iter_mut().enumerate() {
                let i = first + k;
                *key = (morton((boxes[i].center() - hull.low) * scale), i as u32);
            }
        });
        // Keys differ at least in the number, so there is one sorted order, however it is found.
        if boxes.len() < SORT_TOGETHER {
            keys.sort_unstable();
        } else {
            room.clear();
            room.resize(boxes.len(), (0, 0));
            let mut run = boxes.len().div_ceil(RUNS);
            for_each_run(team, keys, run, |run| run.sort_unstable());
            let (mut from, mut to) = (keys, room);
            while run < boxes.len() {
                merge_runs(team, from, to, run);
                (from, to) = (to, from);
                run *= 2;
            }
            if RUNS.trailing_zeros() % 2 == 1 {
                self.keys.swap(0, 1);
            }
        }
        self.items.clear();
        self.items.extend(self.keys[0].iter().map(|key| key.1));
        self.items.resize(boxes.len().next_multiple_of(LANES), u32::MAX);
        self.levels.clear();
        let (mut begin, mut count) = (0, boxes.len().div_ceil(LANES));
        loop {
            self.levels.push(begin as u32);
            begin += count;
            if count <= 1 {
                break;
            }
            count = count.div_ceil(LANES);
        }
        assert!(self.levels.len() <= LEVELS, "fewer than 16 million boxes");
        self.nodes.clear();
        self.nodes.resize(begin, Boxes8::EMPTY);
    }

    /// Puts the boxes into the tree, from the leaves up.
    fn refit(&mut self, team: &mut Team, boxes: &[Aabb]) {
        let (mut below, mut rest) = (&[] as &[Boxes8], &mut self.nodes[..]);
        for level in 0..self.levels.len() {
            let end =
                self.levels.get(level + 1).map_or(rest.len(), |&next| (next - self.levels[level]) as usize);
            let (nodes, above) = rest.split_at_mut(end);
            let items = &self.items;
            team.for_each_chunk(nodes, 4, |first, nodes| {
                for (k, node) in nodes.iter_mut().enumerate() {
                    let children = (first + k) * LANES;
                    *node = Boxes8::EMPTY;
                    if level == 0 {
                        for (lane, &i) in items[children..children + LANES].iter().enumerate() {
                            if let Some(b) = boxes.get(i as usize) {
                                node.set(lane, b.low.into(), b.high.into(), i as f32);
                            }
                        }
                    } else {
                        for (lane, child) in below[children..].iter().take(LANES).enumerate() {
                            let (low, high, number) = child.hull();
                            node.set(lane, low, high, number);
                        }
                    }
                }
            });
            (below, rest) = (nodes, above);
        }
    }

    fn update(&mut self, team: &mut Team, boxes: &[Aabb]) {
        if self.boxes != boxes.len() || self.calls.is_multiple_of(RESORT) {
            self.sort(team, boxes);
            (self.boxes, self.calls) = (boxes.len(), 0);
        }
        self.calls += 1;
        self.refit(team, boxes);
    }

    fn search(&mut self, team: &mut Team, level: SimdLevel, pairs: &mut Vec<[u32; 2]>) {
        let tree = Tree { nodes: &self.nodes, levels: &self.levels, items: &self.items };
        let reaches = &self.reaches;
        self.pieces.run(team, reaches.len(), pairs, |queries, found| {
            let first = queries.start as u32;
            tree.search(level, &reaches[queries], first, found);
        });
    }
}

/// Calls `work` for every `run` items in a row.
fn for_each_run<T: Send>(team: &mut Team, items: &mut [T], run: usize, work: impl Fn(&mut [T]) + Sync) {
    let mut runs: [&mut [T]; RUNS] = Default::default();
    let mut count = 0;
    for (k, part) in items.chunks_mut(run).enumerate() {
        runs[k] = part;
        count = k + 1;
    }
    team.for_each_item(&mut runs[..count], |_, part| work(part));
}

/// Merges runs of `run` sorted items two by two.
fn merge_runs(team: &mut Team, from: &[(u64, u32)], to: &mut [(u64, u32)], run: usize) {
    let mut runs: [(usize, &mut [(u64, u32)]); RUNS] = Default::default();
    let mut count = 0;
    for (k, part) in to.chunks_mut(2 * run).enumerate() {
        runs[k] = (2 * run * k, part);
        count = k + 1;
    }
    team.for_each_item(&mut runs[..count], |_, (begin, to)| {
        let from = &from[*begin..*begin + to.len()];
        let (a, b) = from.split_at(run.min(from.len()));
        let (mut i, mut j) = (0, 0);
        for place in to.iter_mut() {
            let first = j >= b.len() || (i < a.len() && a[i] < b[j]);
            *place = if first { a[i] } else { b[j] };
            if first { i += 1 } else { j += 1 }
        }
    });
}

impl NearPairs for Lbvh {
    fn name(&self) -> &'static str {
        "lbvh"
    }

    fn within(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        boxes: &[Aabb],
        asked: usize,
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if boxes.is_empty() {
            return;
        }
        self.update(team, boxes);
        self.reaches.clear();
        // The number of a subtree is its highest box: what only has lower ones than i is passed over.
        let asked = boxes[..asked].iter().enumerate();
        self.reaches.extend(asked.map(|(i, b)| b.grown(margin).reach((i + 1) as f32)));
        self.search(team, level, pairs);
    }

    fn between(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        a: &[Aabb],
        b: &[Aabb],
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if b.is_empty() {
            return;
        }
        self.update(team, b);
        self.reaches.clear();
        self.reaches.extend(a.iter().map(|a| a.grown(margin).reach(0.0)));
        self.search(team, level, pairs);
    }
}
