//! Who does which operations of a colour, so that members of a team hardly ever wait for each other.
//!
//! Two members get in each other's way only through cells that both of them touch in some colour. A member does the operations
//! with such cells first, its *border*, says that it has arrived, and does the rest, which is its *own*, while the news travel
//! to the others. Between two cores that takes as long as a few hundred springs do.

use std::ops::Range;

use super::Layout;

/// What one member does of one colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub all: Range<usize>,
    /// Where what the first of them remembers is kept; that of the others follows.
    memory: usize,
    /// Operations whose cells no other member touches in any colour.
    pub own: Range<usize>,
    /// Of how many colours all others must have done their borders before this one can be begun.
    pub after: usize,
}

impl Share {
    pub fn new(all: Range<usize>) -> Self {
        Share { own: all.clone(), memory: all.start, all, after: 0 }
    }

    /// Where what they remember is kept.
    #[inline(always)]
    pub fn memory(&self) -> Range<usize> {
        self.memory..self.memory + self.all.len()
    }

    /// Those that others may have to wait for.
    pub fn border(&self) -> [Range<usize>; 2] {
        [self.all.start..self.own.start, self.own.end..self.all.end]
    }
}

/// The shares of all members in all colours.
#[derive(Clone, Debug, Default)]
pub(super) struct Division {
    members: usize,
    /// Colour by colour.
    shares: Vec<Share>,
    /// Where each cell and each operation is, from 0 to 1 along the order in which a colour goes through them; of cells
    /// that are not known yet, [`UNKNOWN`].
    cells: Vec<f32>,
    places: Vec<f32>,
    /// Whether somebody said where operations are: then a member has those that are in its part of 0 to 1.
    placed: bool,
    sorted: Vec<f32>,
    /// Who touches each cell: nobody, a member (counted from 1), or [`SEVERAL`].
    who: Vec<u16>,
    /// Who touched each cell last.
    last: Vec<Touch>,
}

/// Who touched a cell last.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    member: u32,
    /// How many colours are done when it has.
    after: u32,
    /// The same of the last one else.
    before: u32,
}

const UNKNOWN: f32 = -1.0;
/// Operations between what two members remember: more than a pair of lines of the cache.
const APART: usize = 8;
const SEVERAL: u16 = u16::MAX;

impl Division {
    /// Among how many members operations are divided; 0 if they are not yet.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Forgets the shares, since operations have changed.
    pub fn forget(&mut self) {
        self.members = 0;
        self.placed = false;
    }

    /// Says where operations are.
    pub fn place(&mut self, places: impl Iterator<Item = f32>) {
        self.forget();
        self.placed = true;
        self.places.clear();
        self.places.extend(places);
    }

    /// Of how many operations it is known.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Makes room.
    pub fn reserve(&mut self, ops: usize, shares: usize, cells: usize) {
        self.shares.reserve(shares);
        self.cells.reserve(cells);
        self.places.reserve(ops);
        self.sorted.reserve(ops);
        self.who.reserve(cells);
        self.last.reserve(cells);
    }

    /// Divides the operations of every colour among so many members, unless that is done. With `apart`, what they remember is kept apart for each member; says how much room there has
    /// to be for it.
    pub fn divide<O: Layout<N>, const N: usize>(
        &mut self,
        members: usize,
        ops: &[O],
        colors: &[usize],
        cells: usize,
        apart: bool,
    ) -> usize {
        let spread = members > 1 && apart;
        let room = ops.len() + if spread { members * APART } else { 0 };
        if self.members == members {
            return room;
        }
        self.members = members;
        self.shares.clear();
        if members == 1 {
            let share = |color: &[usize]| Share::new(color[0]..color[1]);
            self.shares.extend(colors.windows(2).map(share));
            return room;
        }
        if !self.placed {
            self.find(ops, colors, cells);
        }
        self.cut(colors);
        self.own(ops, cells);
        self.order(ops, cells);
        if spread {
            self.keep_apart();
        }
        room
    }

    /// Gives each member a place of its own for what its operations remember, colour after colour: else two of them would write to one line of the cache wherever one ends and the next begins, and
    /// wait for it each time.
    fn keep_apart(&mut self) {
        let mut next = 0;
        for member in 0..self.members {
            for share in self.shares.iter_mut().skip(member).step_by(self.members) {
                share.memory = next;
                next += share.all.len();
            }
            next += APART;
        }
    }

    /// All shares, colour by colour and in each member by member, which is the order of operations; none before they are divided.
    pub fn shares(&self) -> &[Share] {
        &self.shares[..if self.members > 0 { self.shares.len() } else { 0 }]
    }

    /// Finds where operations are. Every colour goes through the cloth in about the same order, but not all of them
    /// everywhere: what the first colours touch tells where those of later ones are.
    fn find<O: Layout<N>, const N: usize>(&mut self, ops: &[O], colors: &[usize], cells: usize) {
        let Division { cells: known, places, .. } = self;
        known.clear();
        known.resize(cells, UNKNOWN);
        places.clear();
        for color in colors.windows(2) {
            let rate = 1.0 / (color[1] - color[0]) as f32;
            for (i, op) in ops[color[0]..color[1]].iter().enumerate() {
                let (mut sum, mut count) = (0.0, 0.0);
                op.each_cell(|cell| {
                    if known[cell] != UNKNOWN {
                        (sum, count) = (sum + known[cell], count + 1.0);
                    }
                });
                let place = if count > 0.0 { sum / count } else { (i as f32 + 0.5) * rate };
                op.each_cell(|cell| {
                    if known[cell] == UNKNOWN {
                        known[cell] = place;
                    }
                });
                places.push(place);
            }
        }
    }

    /// Cuts every colour in about the same places, which give each member as much to do.
    fn cut(&mut self, colors: &[usize]) {
        let Division { members, shares, places, placed, sorted, .. } = self;
        sorted.clear();
        if !*placed {
            sorted.extend_from_slice(places);
            sorted.sort_unstable_by(f32::total_cmp);
        }
        for color in colors.windows(2) {
            let mut begin = color[0];
            for member in 1..=*members {
                let limit = match *placed {
                    _ if member == *members => None,
                    true => Some(member as f32 / *members as f32),
                    false => sorted.get(sorted.len() * member / *members).copied(),
                };
                let end = match limit {
                    Some(limit) => begin + partition(&places[begin..color[1]], limit),
                    None => color[1],
                };
                shares.push(Share::new(begin..end));
                begin = end;
            }
        }
    }

    /// Finds what is nobody else's business.
    fn own<O: Layout<N>, const N: usize>(&mut self, ops: &[O], cells: usize) {
        let Division { members, shares, who, .. } = self;
        who.clear();
        who.resize(cells, 0);
        for (k, share) in shares.iter().enumerate() {
            let member = (k % *members + 1) as u16;
            for op in &ops[share.all.clone()] {
                op.each_cell(|cell| {
                    who[cell] = if who[cell] == 0 || who[cell] == member { member } else { SEVERAL };
                });
            }
        }
        for share in shares {
            let (mut own, mut begin) = (share.all.start..share.all.start, share.all.start);
            for i in share.all.clone() {
                let mut shared = false;
                ops[i].each_cell(|cell| shared |= who[cell] == SEVERAL);
                if shared {
                    begin = i + 1;
                } else if i + 1 - begin > own.len() {
                    own = begin..i + 1;
                }
            }
            share.own = own;
        }
    }

    /// Finds what has to be waited for.
    fn order<O: Layout<N>, const N: usize>(&mut self, ops: &[O], cells: usize) {
        let Division { members, shares, last, .. } = self;
        last.clear();
        last.resize(cells, Touch::default());
        for (color, shares) in shares.chunks_mut(*members).enumerate() {
            for (member, share) in shares.iter_mut().enumerate() {
                for i in share.border().into_iter().flatten() {
                    ops[i].each_cell(|cell| {
                        let Touch { member: by, after, before } = last[cell];
                        let (other, known) =
                            if by == member as u32 { (before, before) } else { (after, after) };
                        share.after = share.after.max(other as usize);
                        last[cell] = Touch { member: member as u32, after: color as u32 + 1, before: known };
                    });
                }
            }
        }
    }
}

/// How many of the first to separate, so that as few as possible are on the wrong side of the limit.
fn partition(places: &[f32], limit: f32) -> usize {
    // What would be gained by putting all up to here on the lower side.
    let (mut gain, mut most, mut best) = (0i32, 0, 0);
    for (i, &place) in places.iter().enumerate() {
        gain += if place < limit { 1 } else { -1 };
        if gain > most {
            (most, best) = (gain, i + 1);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Strips;

    /// A chain of cells, each joined to the next, in two colours.
    fn chain(cells: usize) -> (Vec<Strips<2>>, Vec<usize>) {
        let op = |i: usize| Strips { block: [i as u32, i as u32 + 1], next: 0 };
        let mut ops: Vec<_> = (0..cells - 1).step_by(2).map(op).collect();
        let first = ops.len();
        ops.extend((1..cells - 1).step_by(2).map(op));
        let ends = vec![0, first, ops.len()];
        (ops, ends)
    }

    #[test]
    fn members_share_only_what_is_at_their_borders() {
        let (ops, colors) = chain(1000);
        for members in [1, 2, 3, 8] {
            let mut division = Division::default();
            assert_eq!(division.divide(members, &ops, &colors, 1000, false), ops.len());
            assert_eq!(division.shares.len(), 2 * members);
            let mut seen = vec![0; ops.len()];
            for share in &division.shares {
                share.all.clone().for_each(|i| seen[i] += 1);
                let [before, after] = share.border();
                assert_eq!(before.len() + share.own.len() + after.len(), share.all.len());
                assert!(before.len() + after.len() <= 2, "{members}: {share:?}");
                assert!(share.all.len().abs_diff(500 / members) <= 2, "{members}: {share:?}");
            }
            assert!(seen.iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn members_remember_in_places_of_their_own() {
        let (ops, colors) = chain(1000);
        for members in [1, 2, 3] {
            let mut division = Division::default();
            let room = division.divide(members, &ops, &colors, 1000, true);
            let mut who = vec![None; room];
            for (k, share) in division.shares().iter().enumerate() {
                for i in share.memory() {
                    assert_eq!(who[i].replace(k % members), None, "two operations remember in one place");
                }
            }
            assert_eq!(who.iter().flatten().count(), ops.len());
            let taken: Vec<_> = who.iter().enumerate().filter_map(|(i, who)| Some((i, (*who)?))).collect();
            assert!(taken.windows(2).all(|two| two[0].1 == two[1].1 || two[1].0 - two[0].0 > APART));
        }
    }

    #[test]
    fn nobody_else_touches_what_is_own() {
        let (ops, colors) = chain(101);
        let mut division = Division::default();
        division.divide(3, &ops, &colors, 101, false);
        let mut owner = [None; 101];
        for (k, share) in division.shares.iter().enumerate() {
            for op in &ops[share.own.clone()] {
                op.each_cell(|cell| owner[cell] = Some(k % 3));
            }
        }
        for (k, share) in division.shares.iter().enumerate() {
            for op in &ops[share.all.clone()] {
                op.each_cell(|cell| assert!(owner[cell].is_none_or(|owner| owner == k % 3)));
            }
        }
    }
}
