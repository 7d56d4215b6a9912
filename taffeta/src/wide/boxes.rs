//! Eight boxes against one, and the searches that are made of it.

use fearless_simd::{Level, f32x8, prelude::*};

use super::F8;
use crate::lanes::{LANES, SimdLevel};

/// Eight boxes with edges along the axes. The fourth axis is free for a number that must reach a threshold.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Boxes8 {
    /// Lowest corners, m, axis by axis.
    pub low: [F8; 3],
    /// Highest corners, m, and the number.
    pub high: [F8; 4],
}

impl Boxes8 {
    /// Eight boxes that nothing meets.
    pub const EMPTY: Boxes8 =
        Boxes8 { low: [F8([f32::INFINITY; LANES]); 3], high: [F8([f32::NEG_INFINITY; LANES]); 4] };

    /// Sets one box and its number.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, low: [f32; 3], high: [f32; 3], number: f32) {
        for axis in 0..3 {
            self.low[axis].0[lane] = low[axis];
            self.high[axis].0[lane] = high[axis];
        }
        self.high[3].0[lane] = number;
    }

    /// One of the boxes.
    #[inline(always)]
    pub fn one(&self, lane: usize) -> Reach {
        let (l, h) = (&self.low, &self.high);
        Reach {
            low: [l[0].0[lane], l[1].0[lane], l[2].0[lane]],
            high: [h[0].0[lane], h[1].0[lane], h[2].0[lane]],
            number: f32::NEG_INFINITY,
        }
    }

    /// The box around all eight, and the largest number.
    pub fn hull(&self) -> ([f32; 3], [f32; 3], f32) {
        let least = |v: &F8| v.0.iter().copied().fold(f32::INFINITY, f32::min);
        let most = |v: &F8| v.0.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let low = [least(&self.low[0]), least(&self.low[1]), least(&self.low[2])];
        let high = [most(&self.high[0]), most(&self.high[1]), most(&self.high[2])];
        (low, high, most(&self.high[3]))
    }
}

/// A box that is looked for, and the least number that counts.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Lowest corner, m.
    pub low: [f32; 3],
    /// Highest corner, m.
    pub high: [f32; 3],
    /// Boxes with a lower number are passed over.
    pub number: f32,
}

impl Reach {
    #[inline(always)]
    fn grown(&self, more: f32) -> Reach {
        let ([a, b, c], [d, e, f]) = (self.low, self.high);
        Reach {
            low: [a - more, b - more, c - more],
            high: [d + more, e + more, f + more],
            number: self.number,
        }
    }
}

/// Which of eight boxes meet another: one bit each.
trait Hits: Copy {
    /// By the three axes.
    fn meets(self, boxes: &Boxes8, q: &Reach) -> u32;
    /// By the three axes and the number.
    fn hits(self, boxes: &Boxes8, q: &Reach) -> u32;
}

#[derive(Clone, Copy)]
struct Wide<S>(S);

impl<S: Simd> Hits for Wide<S> {
    #[inline(always)]
    fn meets(self, boxes: &Boxes8, q: &Reach) -> u32 {
        let simd = self.0;
        let mut all =
            simd.simd_le_f32x8(f32x8::simd_from(simd, boxes.low[0].0), f32x8::splat(simd, q.high[0]));
        let to = simd.simd_le_f32x8(f32x8::splat(simd, q.low[0]), f32x8::simd_from(simd, boxes.high[0].0));
        all = simd.and_mask32x8(all, to);
        for axis in 1..3 {
            let low = f32x8::simd_from(simd, boxes.low[axis].0);
            let high = f32x8::simd_from(simd, boxes.high[axis].0);
            let from = simd.simd_le_f32x8(low, f32x8::splat(simd, q.high[axis]));
            let to = simd.simd_le_f32x8(f32x8::splat(simd, q.low[axis]), high);
            all = simd.and_mask32x8(all, simd.and_mask32x8(from, to));
        }
        simd.to_bitmask_mask32x8(all) as u32
    }

    #[inline(always)]
    fn hits(self, boxes: &Boxes8, q: &Reach) -> u32 {
        let simd = self.0;
        let number = f32x8::simd_from(simd, boxes.high[3].0);
        let counts = simd.simd_le_f32x8(f32x8::splat(simd, q.number), number);
        self.meets(boxes, q) & simd.to_bitmask_mask32x8(counts) as u32
    }
}

#[derive(Clone, Copy)]
struct OneByOne;

impl Hits for OneByOne {
    #[inline(always)]
    fn meets(self, boxes: &Boxes8, q: &Reach) -> u32 {
        let mut bits = 0;
        for lane in 0..LANES {
            let mut hit = true;
            for axis in 0..3 {
                hit &= boxes.low[axis].0[lane] <= q.high[axis] && q.low[axis] <= boxes.high[axis].0[lane];
            }
            bits |= (hit as u32) << lane;
        }
        bits
    }

    #[inline(always)]
    fn hits(self, boxes: &Boxes8, q: &Reach) -> u32 {
        let mut bits = self.meets(boxes, q);
        for lane in 0..LANES {
            if q.number > boxes.high[3].0[lane] {
                bits &= !(1 << lane);
            }
        }
        bits
    }
}

/// A tree in which node i of a level holds the boxes of nodes 8 i to 8 i + 7 of the level below.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// All nodes, level by level, the lowest first.
    pub nodes: &'a [Boxes8],
    /// Where each level begins in `nodes`.
    pub levels: &'a [u32],
    /// What the lanes of the lowest level stand for.
    pub items: &'a [u32],
}

/// Levels at most: eight hold 2²⁴ items, beyond which a number would not fit the fourth axis.
pub const LEVELS: usize = 8;

impl Tree<'_> {
    /// Finds all items whose box meets that of query `first + k`, for each k, and appends [query, item], items in ascending order.
    pub fn search(&self, level: SimdLevel, queries: &[Reach], first: u32, found: &mut Vec<[u32; 2]>) {
        match level {
            SimdLevel::Scalar => self.run(OneByOne, queries, first, found),
            SimdLevel::Wide(level) => on_level!(
                level,
                simd => self.run(Wide(simd), queries, first, found),
                otherwise self.run(OneByOne, queries, first, found)
            ),
        }
    }

    #[inline(always)]
    fn run<H: Hits>(&self, machine: H, queries: &[Reach], first: u32, found: &mut Vec<[u32; 2]>) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [(0u32, 0u32); LANES * LEVELS];
        for k in 0..queries.len() {
            let q = &queries[k];
            let row = found.len();
            let mut depth = 1;
            stack[0] = (self.levels.len() as u32 - 1, 0);
            while depth > 0 {
                depth -= 1;
                let (level, node) = stack[depth];
                let mut hits = machine.hits(&self.nodes[(self.levels[level as usize] + node) as usize], q);
                while hits != 0 {
                    let child = node * LANES as u32 + hits.trailing_zeros();
                    hits &= hits - 1;
                    if level == 0 {
                        found.push([first + k as u32, self.items[child as usize]]);
                    } else {
                        stack[depth] = (level - 1, child);
                        depth += 1;
                    }
                }
            }
            sort_row(&mut found[row..]);
        }
    }
}

/// Sorts a short row by its second numbers.
#[inline(always)]
pub fn sort_row(row: &mut [[u32; 2]]) {
    for i in 1..row.len() {
        let item = row[i];
        let mut k = i;
        while k > 0 && row[k - 1][1] > item[1] {
            row[k] = row[k - 1];
            k -= 1;
        }
        row[k] = item;
    }
}

/// Patches of a surface as [`Patches::cull`] sees them: what each owns, and the boxes of all that, grown by half the distance that is looked for.
#[derive(Clone, Copy)]
pub struct Patches<'a> {
    /// Triangles of each patch; [`NONE`](crate::mesh::NONE) where there are fewer than eight.
    pub triangle_ids: &'a [[u32; LANES]],
    /// Their boxes.
    pub triangle_boxes: &'a [Boxes8],
    /// Where the vertices of each patch begin in `vertex_ids`, in eights, and the end.
    pub vertex_starts: &'a [u32],
    /// Vertices that patches own.
    pub vertex_ids: &'a [[u32; LANES]],
    /// Their boxes.
    pub vertex_boxes: &'a [Boxes8],
    /// Where the edges of each patch begin in `edge_ids`, in eights, and the end.
    pub edge_starts: &'a [u32],
    /// Edges that patches own.
    pub edge_ids: &'a [[u32; LANES]],
    /// Their boxes.
    pub edge_boxes: &'a [Boxes8],
    /// The box around each whole patch.
    pub hulls: &'a [Reach],
    /// Corners of all triangles.
    pub triangles: &'a [[u32; 3]],
    /// Ends of all edges.
    pub edges: &'a [[u32; 2]],
}

impl Patches<'_> {
    /// Finds the stencils (point and triangle, two edges) of two patches that share no vertex, and whose boxes are not further apart than `more`, m.
    pub fn cull(
        &self,
        level: SimdLevel,
        patches: [u32; 2],
        more: f32,
        points: &mut Vec<[u32; 4]>,
        segments: &mut Vec<[u32; 4]>,
    ) {
        match level {
            SimdLevel::Scalar => self.run(OneByOne, patches, more, points, segments),
            SimdLevel::Wide(level) => on_level!(
                level,
                simd => self.run(Wide(simd), patches, more, points, segments),
                otherwise self.run(OneByOne, patches, more, points, segments)
            ),
        }
    }

    #[inline(always)]
    fn run<H: Hits>(
        &self,
        machine: H,
        [g, h]: [u32; 2],
        more: f32,
        points: &mut Vec<[u32; 4]>,
        segments: &mut Vec<[u32; 4]>,
    ) {
        self.points(machine, g as usize, h as usize, more, points);
        if g != h {
            self.points(machine, h as usize, g as usize, more, points);
        }
        self.segments(machine, g as usize, h as usize, more, segments);
    }

    /// The vertices of patch g against the triangles of patch h.
    #[inline(always)]
    fn points<H: Hits>(&self, machine: H, g: usize, h: usize, more: f32, found: &mut Vec<[u32; 4]>) {
        let hull = &self.hulls[h].grown(more);
        for block in self.vertex_starts[g] as usize..self.vertex_starts[g + 1] as usize {
            let mut near = machine.meets(&self.vertex_boxes[block], hull);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let p = self.vertex_ids[block][lane];
                let around = self.vertex_boxes[block].one(lane).grown(more);
                let mut hits = machine.meets(&self.triangle_boxes[h], &around);
                while hits != 0 {
                    let t = self.triangle_ids[h][hits.trailing_zeros() as usize];
                    hits &= hits - 1;
                    let [a, b, c] = self.triangles[t as usize];
                    if (p != a) & (p != b) & (p != c) {
                        found.push([p, a, b, c]);
                    }
                }
            }
        }
    }

    /// The edges of patch g against those of patch h, each pair once.
    #[inline(always)]
    fn segments<H: Hits>(&self, machine: H, g: usize, h: usize, more: f32, found: &mut Vec<[u32; 4]>) {
        let hull = &self.hulls[h].grown(more);
        let others = self.edge_starts[h] as usize..self.edge_starts[h + 1] as usize;
        for block in self.edge_starts[g] as usize..self.edge_starts[g + 1] as usize {
            let mut near = machine.meets(&self.edge_boxes[block], hull);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let [a0, a1] = self.edges[self.edge_ids[block][lane] as usize];
                let around = self.edge_boxes[block].one(lane).grown(more);
                // Within a patch, only those that come after.
                let from = if g == h { block } else { others.start };
                for other in from..others.end {
                    let mut hits = machine.meets(&self.edge_boxes[other], &around);
                    if other == block {
                        hits &= !0u32 << (lane + 1);
                    }
                    while hits != 0 {
                        let e = self.edge_ids[other][hits.trailing_zeros() as usize];
                        hits &= hits - 1;
                        let [b0, b1] = self.edges[e as usize];
                        if (a0 != b0) & (a0 != b1) & (a1 != b0) & (a1 != b1) {
                            found.push([a0, a1, b0, b1]);
                        }
                    }
                }
            }
        }
    }
}
