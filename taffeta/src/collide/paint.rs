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
}

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
    pub fn paint(&mut self, rows: &[ContactRow], piled: bool, mut place: impl FnMut(usize, &ContactRow)) {
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
        for (row, &group) in rows.iter().zip(&self.group) {
            let rows = &mut self.groups[group as usize].rows;
            place(rows.end, row);
            rows.end += 1;
        }
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
