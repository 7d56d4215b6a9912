//! Which contacts are solved together: by how likely they are to press, by where they are, and by colour.

use super::bound::ContactRow;
use crate::color::{Group, Nested, level_of, level_start};

/// Sides that are no further apart than this times their gap are likely to press.
const LIKELY: f32 = 1.1;
/// Contacts seldom have more groups.
pub(super) const USUAL_GROUPS: usize = 1024;
/// Stages, in which contacts are painted apart from all others.
const STAGES: usize = 16;
const NONE: u32 = u32::MAX;

/// Groups of contacts, in the order of solving: first those that are likely to press, and of them first those that are on both sides of a [cut](Nested).
#[derive(Debug, Default)]
pub(super) struct Painter {
    nested: Nested,
    /// Contacts stage by stage.
    order: Vec<u32>,
    /// Colours that each particle has already, as bits.
    taken: Vec<u64>,
    /// Of each contact, the group.
    group: Vec<u32>,
    groups: Vec<Group>,
    counts: Vec<usize>,
    likely: usize,
    /// Of each contact, the side of a cut it is on, or [`BOTH`]; and how many of each group are on the first side, and on both. Empty if there is no cut.
    sides: Vec<u8>,
    halves: Vec<[usize; 2]>,
    sample: Vec<u32>,
}

/// Of a contact that has a particle in common with one on the other side.
const BOTH: u8 = 1;
const SIDES: [u8; 3] = [0, BOTH, 2];
/// Of so many contacts one is asked where the middle is.
const SAMPLE: usize = 8;

impl Painter {
    /// For contacts among `items` particles.
    pub fn new(items: usize) -> Self {
        Painter { taken: vec![0; items], ..Painter::default() }
    }

    /// Makes room for so many contacts.
    pub fn reserve(&mut self, contacts: usize) {
        self.nested.reserve(contacts);
        self.order.reserve(contacts);
        self.group.reserve(contacts);
        self.groups.reserve(USUAL_GROUPS);
        self.counts.reserve(USUAL_GROUPS);
        self.sides.reserve(contacts);
        self.halves.reserve(USUAL_GROUPS);
        self.sample.reserve(contacts.div_ceil(SAMPLE));
    }

    /// The groups, by colour and node.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Exchanges the groups for others: the next contacts will be put there.
    pub fn swap(&mut self, groups: &mut Vec<Group>) {
        std::mem::swap(&mut self.groups, groups);
    }

    /// How many colours those have that are likely to press; they come first.
    pub fn likely(&self) -> usize {
        self.likely
    }

    /// Puts every contact into a group; `place(k, contact)` is called for each, with its place in the order of groups. Unless they are `piled`, colours are all that tells them apart.
    /// With `halves`, those of a colour are in such an order that two threads have little to do with each other: that changes nothing else.
    pub fn paint(
        &mut self,
        rows: &[ContactRow],
        piled: bool,
        halves: bool,
        mut place: impl FnMut(usize, &ContactRow),
    ) {
        match piled {
            true => self.nested.sort(rows.iter().map(|row| row.particles)),
            false => self.nested.join(rows.len()),
        }
        let levels = self.nested.levels() as usize;
        let ends = self.sort(rows, levels, piled);
        self.group.clear();
        self.group.resize(rows.len(), NONE);
        self.groups.clear();
        self.counts.clear();
        for stage in 0..2 * levels {
            if stage == levels {
                self.likely = self.colors();
            }
            let begin = if stage == 0 { 0 } else { ends[stage - 1] };
            self.paint_stage(rows, begin..ends[stage], (stage % levels) as u32);
        }
        let mut begin = 0;
        for (group, count) in self.groups.iter_mut().zip(&self.counts) {
            group.rows = begin..begin;
            begin += count;
        }
        self.halves.clear();
        self.sides.clear();
        if halves {
            self.halve(rows);
        }
        for side in SIDES.into_iter().take(if halves { SIDES.len() } else { 1 }) {
            for (i, (row, &group)) in rows.iter().zip(&self.group).enumerate() {
                if halves && self.sides[i] != side {
                    continue;
                }
                let rows = &mut self.groups[group as usize].rows;
                place(rows.end, row);
                rows.end += 1;
            }
        }
    }

    /// Cuts the particles in two, by the first of each contact, and finds on which side contacts are.
    fn halve(&mut self, rows: &[ContactRow]) {
        let first = |row: &ContactRow| row.particles.into_iter().fold(u32::MAX, u32::min);
        self.sample.clear();
        self.sample.extend(rows.iter().step_by(SAMPLE).map(first));
        let middle = self.sample.len() / 2;
        let cut = if self.sample.is_empty() { 0 } else { *self.sample.select_nth_unstable(middle).1 };
        let taken = &mut self.taken;
        rows.iter().flat_map(|row| row.particles).for_each(|p| taken[p as usize] = 0);
        for row in rows {
            let side = 1 << (first(row) >= cut) as u64;
            row.particles.iter().for_each(|&p| taken[p as usize] |= side);
        }
        self.halves.resize(self.groups.len(), [0; 2]);
        for (row, &group) in rows.iter().zip(&self.group) {
            let touched = row.particles.iter().fold(0, |touched, &p| touched | taken[p as usize]);
            let side = [0, 0, 2, BOTH][touched as usize];
            self.sides.push(side);
            if let Some(count) = self.halves[group as usize].get_mut(side as usize) {
                *count += 1;
            }
        }
    }

    /// Where each operation of `lanes` contacts is, from 0 to 1, in the order of groups; if they were put into halves.
    pub fn places(&self, lanes: usize) -> Option<impl Iterator<Item = f32>> {
        let place = move |(group, &[first, both]): (&Group, &[usize; 2])| {
            (0..group.rows.len().div_ceil(lanes)).map(move |op| match (op * lanes, (op + 1) * lanes) {
                (_, end) if end <= first => 0.0,
                (begin, _) if begin >= first + both => 1.0,
                // Each has half of what is on both sides.
                (begin, _) if begin < first + both / 2 => 0.4,
                _ => 0.6,
            })
        };
        (!self.halves.is_empty()).then(|| self.groups.iter().zip(&self.halves).flat_map(place))
    }

    fn colors(&self) -> usize {
        self.groups.last().map_or(0, |group| group.color as usize + 1)
    }

    /// Puts the contacts in order of stages; says where each ends.
    fn sort(&mut self, rows: &[ContactRow], levels: usize, piled: bool) -> [usize; STAGES] {
        let stage = |(row, &node): (&ContactRow, &u8)| {
            let likely = !piled || row.distance < LIKELY * row.gap;
            level_of(node as usize) as usize + if likely { 0 } else { levels }
        };
        let mut ends = [0; STAGES];
        rows.iter().zip(self.nested.nodes()).for_each(|row| ends[stage(row) + 1] += 1);
        for k in 1..STAGES {
            ends[k] += ends[k - 1];
        }
        self.order.clear();
        self.order.resize(rows.len(), 0);
        for (i, row) in rows.iter().zip(self.nested.nodes()).enumerate() {
            let end = &mut ends[stage(row)];
            self.order[*end] = i as u32;
            *end += 1;
        }
        ends
    }

    /// Gives each contact of a stage the first colour that none of its four particles has in it; sixty-four at a time.
    fn paint_stage(&mut self, rows: &[ContactRow], range: std::ops::Range<usize>, level: u32) {
        let (first, width) = (level_start(level), 1 << level);
        let nodes = self.nested.nodes();
        let mut left = range.len();
        while left > 0 {
            for &i in &self.order[range.clone()] {
                rows[i as usize].particles.iter().for_each(|&p| self.taken[p as usize] = 0);
            }
            let (base, color) = (self.counts.len(), self.colors());
            self.counts.resize(base + 64 * width, 0);
            let mut used = 0;
            for &i in &self.order[range.clone()] {
                let (i, particles) = (i as usize, &rows[i as usize].particles);
                let taken = particles.iter().fold(0, |taken, &p| taken | self.taken[p as usize]);
                let free = taken.trailing_ones() as usize;
                if free == 64 || self.group[i] != NONE {
                    continue;
                }
                particles.iter().for_each(|&p| self.taken[p as usize] |= 1 << free);
                let group = base + free * width + (nodes[i] as usize - first);
                self.group[i] = group as u32;
                self.counts[group] += 1;
                used = used.max(free + 1);
                left -= 1;
            }
            self.counts.truncate(base + used * width);
            self.groups.extend((0..used * width).map(|k| Group {
                color: (color + k / width) as u32,
                node: (first + k % width) as u32,
                rows: 0..0,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::proximity::Kind;
    use crate::collide::random::Random;

    /// Halves change only the order of contacts in a colour; and what is on one side of the cut alone has nothing to do with the other.
    #[test]
    fn halves_have_no_particle_in_common_and_colors_stay() {
        let mut random = Random(3);
        let mut near = |i: u32| (i + 1 + (random.next() * 30.0) as u32) % 1000;
        let row = |i: u32, particles| ContactRow {
            particles,
            weights: [1.0, -0.5, -0.25, -0.25],
            normal: [0.0, 1.0, 0.0],
            gap: i as f32,
            distance: 0.0,
            kind: Kind::PointTriangle,
        };
        let rows: Vec<_> = (0..1000).map(|i| row(i, [i, near(i), near(i), near(i)])).collect();
        let mut painter = Painter::new(1000);
        let mut paint = |halves: bool| {
            let mut order = vec![usize::MAX; rows.len()];
            painter.paint(&rows, false, halves, |place, row| order[place] = row.gap as usize);
            let colors: Vec<Vec<usize>> = (painter.groups().iter())
                .map(|group| {
                    let mut all = order[group.rows.clone()].to_vec();
                    all.sort_unstable();
                    all
                })
                .collect();
            (colors, order, painter.places(1).map(|places| places.collect::<Vec<f32>>()))
        };
        let (plain, _, none) = paint(false);
        let (colors, order, places) = paint(true);
        assert!(plain == colors && none.is_none());
        let places = places.unwrap();
        let mut touched = [[false; 1000]; 2];
        let mut counts = [0; 3];
        for (&i, place) in order.iter().zip(&places) {
            let side = if *place == 0.0 { 0 } else { 1 + (*place == 1.0) as usize };
            counts[side] += 1;
            if side != 1 {
                rows[i].particles.iter().for_each(|&p| touched[side / 2][p as usize] = true);
            }
        }
        assert!((0..1000).all(|p| !(touched[0][p] && touched[1][p])));
        assert!(counts[0] > 300 && counts[2] > 300 && counts[1] > 0, "{counts:?}");
    }
}
