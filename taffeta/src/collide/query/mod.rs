//! Which boxes are near which: three structures behind one interface.
//!
//! All give the same list in the same order, on any number of threads and whatever they remember of earlier calls, so that one can take
//! the place of another without changing a simulation. They differ in speed alone (`taffeta bench queries`).

mod grid;
mod hash;
mod lbvh;

use std::ops::Range;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::lanes::SimdLevel;
use crate::par::Team;
use crate::wide::Reach;

pub use grid::ThreePhaseGrid;
pub use hash::SpatialHash;
pub use lbvh::{Lbvh, morton};

/// A box with edges along the axes, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lowest corner.
    pub low: Vec3,
    /// Highest corner.
    pub high: Vec3,
}

impl Aabb {
    /// Meets nothing.
    pub const EMPTY: Aabb = Aabb { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// The box around some points.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Aabb::EMPTY, |b, p| Aabb { low: b.low.min(p), high: b.high.max(p) })
    }

    /// The box around both.
    pub fn join(self, other: Aabb) -> Aabb {
        Aabb { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Moves every side out by `margin` (m).
    #[inline(always)]
    pub fn grown(self, margin: f32) -> Aabb {
        Aabb { low: self.low - margin, high: self.high + margin }
    }

    /// Whether they have a point in common.
    #[inline(always)]
    pub fn meets(&self, other: &Aabb) -> bool {
        let apart = (self.low - other.high).max(other.low - self.high);
        apart.x.max(apart.y).max(apart.z) <= 0.0
    }

    /// The middle.
    #[inline(always)]
    pub fn center(&self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    /// Side lengths, m.
    #[inline(always)]
    pub fn size(&self) -> Vec3 {
        self.high - self.low
    }

    fn reach(self, number: f32) -> Reach {
        Reach { low: self.low.into(), high: self.high.into(), number }
    }
}

/// Finds boxes that are near each other.
///
/// Box i is near box j if box i, grown by the margin on all sides, meets box j. All boxes are finite.
pub trait NearPairs: Send + Sync {
    /// Its name in tables and scene files.
    fn name(&self) -> &'static str;

    /// All pairs [i, j] of near boxes with i < j and i < `asked`, sorted.
    fn within(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        boxes: &[Aabb],
        asked: usize,
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    );

    /// All pairs [i, j] in which box i of `a` is near box j of `b`, sorted.
    fn between(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        a: &[Aabb],
        b: &[Aabb],
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    );
}

/// Cells in which boxes are entered, to be asked for one box after the other.
trait Cells: Send + Sync {
    /// See [`NearPairs::name`].
    const NAME: &'static str;

    /// What searches have found.
    fn pieces(&mut self) -> &mut Pieces;

    /// Enters `boxes`; `largest` is the longest side of any box, those that will be asked for among them, m.
    fn build(&mut self, boxes: &[Aabb], largest: f32, margin: f32);

    /// Finds the boxes that meet `q`, numbered from `least` up, and appends [i, number], numbers in ascending order.
    fn search(&self, boxes: &[Aabb], q: Aabb, i: u32, least: u32, found: &mut Vec<[u32; 2]>);

    /// Asks for every query, grown by the margin; for numbers above its own if `above`.
    fn ask(
        &mut self,
        team: &mut Team,
        [queries, boxes]: [&[Aabb]; 2],
        margin: f32,
        above: bool,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let mut pieces = std::mem::take(self.pieces());
        pieces.run(team, queries.len(), pairs, |range, found| {
            for i in range {
                let least = if above { i as u32 + 1 } else { 0 };
                self.search(boxes, queries[i].grown(margin), i as u32, least, found);
            }
        });
        *self.pieces() = pieces;
    }
}

impl<C: Cells> NearPairs for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn within(
        &mut self,
        team: &mut Team,
        _: SimdLevel,
        boxes: &[Aabb],
        asked: usize,
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        self.build(boxes, largest(boxes), margin);
        self.ask(team, [&boxes[..asked], boxes], margin, true, pairs);
    }

    fn between(
        &mut self,
        team: &mut Team,
        _: SimdLevel,
        a: &[Aabb],
        b: &[Aabb],
        margin: f32,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if !b.is_empty() {
            self.build(b, largest(a).max(largest(b)), margin);
            self.ask(team, [a, b], margin, false, pairs);
        }
    }
}

/// The longest side of any box, m.
fn largest(boxes: &[Aabb]) -> f32 {
    boxes.iter().map(|b| b.size().max_element()).fold(0.0, f32::max)
}

/// Which structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Structure {
    /// [`SpatialHash`].
    Hash,
    /// [`ThreePhaseGrid`].
    Grid,
    /// [`Lbvh`].
    #[default]
    Lbvh,
}

impl Structure {
    /// All of them.
    pub const ALL: [Structure; 3] = [Structure::Hash, Structure::Grid, Structure::Lbvh];

    /// An empty one.
    pub fn make(self) -> Box<dyn NearPairs> {
        match self {
            Structure::Hash => Box::<SpatialHash>::default(),
            Structure::Grid => Box::<ThreePhaseGrid>::default(),
            Structure::Lbvh => Box::<Lbvh>::default(),
        }
    }
}

/// Queries in one piece of work. Pieces do not depend on the number of threads; their results are put together in order.
const QUERIES: usize = 64;
/// Room for so many pairs for each query: usually enough.
const FOUND: usize = 48;

/// What the pieces of a search found: one list for each member of the team, and in whose and where each piece is.
#[derive(Clone, Debug, Default)]
struct Pieces {
    found: Vec<Vec<[u32; 2]>>,
    places: Vec<(usize, Range<usize>)>,
}

impl Pieces {
    /// Runs `search(queries, found)` over all pieces of `queries` queries and puts the results together.
    fn run(
        &mut self,
        team: &mut Team,
        queries: usize,
        pairs: &mut Vec<[u32; 2]>,
        search: impl Fn(Range<usize>, &mut Vec<[u32; 2]>) + Sync,
    ) {
        let Pieces { found, places } = self;
        let room = || Vec::with_capacity(FOUND * queries);
        found.resize_with(team.count().max(found.len()), room);
        found.iter_mut().for_each(|found| found.clear());
        places.resize(queries.div_ceil(QUERIES), (0, 0..0));
        team.for_each_block(places, 1, found, |piece, place, member, found| {
            let begin = found.len();
            search(piece * QUERIES..((piece + 1) * QUERIES).min(queries), found);
            place[0] = (member, begin..found.len());
        });
        pairs.clear();
        for (member, range) in places {
            pairs.extend_from_slice(&found[*member][range.clone()]);
        }
    }
}

#[cfg(test)]
mod tests;
