//! How hard contacts pushed, to be found again by their particles when contacts are listed anew.

use super::rows::{MEMORY, PARAMS};
use crate::color::{Group, Row};
use crate::lanes::LANES;
use crate::mesh::NONE;
use crate::par::Team;
use crate::wide::F8;

/// λ and τ of the contacts that were there before: a table with open addresses.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// The particles of a contact and its number in the list; [`NONE`] where nothing is.
    table: Vec<([u32; 4], u32)>,
    list: Vec<[f32; 4]>,
    /// Of each row that wants its own, the number in the list.
    found: Vec<u32>,
    /// Where the memory of each operation is.
    places: Vec<usize>,
}

/// Rows that a thread looks for at a time.
const GRAIN: usize = 64;

/// Which numbers of the memory of an operation they are.
const NUMBERS: [usize; 4] = [0, 4, 5, 6];

/// Calls `each` with the number of every row, its operation and its lane.
fn each_row(groups: &[Group], mut each: impl FnMut(usize, usize, usize)) {
    let mut first = 0;
    for Group { rows, .. } in groups {
        rows.clone().enumerate().for_each(|(k, row)| each(row, first + k / LANES, k % LANES));
        first += rows.len().div_ceil(LANES);
    }
}

impl Pushes {
    /// Makes room for so many contacts.
    pub fn reserve(&mut self, contacts: usize) {
        self.table.reserve(table_for(contacts));
        self.list.reserve(contacts);
        self.found.reserve(contacts);
        self.places.reserve(contacts);
    }

    /// Where the memory of each operation is: to be filled before anything is taken or given.
    pub fn places(&mut self) -> &mut Vec<usize> {
        &mut self.places
    }

    /// Forgets all.
    pub fn forget(&mut self) {
        self.list.clear();
    }

    /// Remembers those of all rows that push.
    pub fn take(&mut self, rows: &[Row<4, PARAMS>], groups: &[Group], memory: &[[F8; MEMORY]]) {
        self.forget();
        self.table.clear();
        self.table.resize(table_for(rows.len()), ([0; 4], NONE));
        each_row(groups, |row, op, lane| {
            let push = NUMBERS.map(|number| memory[self.places[op]][number].0[lane]);
            if push[0] > 0.0 {
                let particles = rows[row].particles;
                let place = self.place(&particles);
                self.table[place] = (particles, self.list.len() as u32);
                self.list.push(push);
            }
        });
    }

    /// Gives the rows that were there before theirs.
    pub fn give(
        &mut self,
        team: &mut Team,
        rows: &[Row<4, PARAMS>],
        groups: &[Group],
        memory: &mut [[F8; MEMORY]],
    ) {
        if self.list.is_empty() {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.resize(rows.len(), NONE);
        team.for_each_chunk(&mut found, GRAIN, |first, found| {
            for (number, row) in found.iter_mut().zip(&rows[first..]) {
                *number = self.table[self.place(&row.particles)].1;
            }
        });
        self.found = found;
        each_row(groups, |row, op, lane| {
            let found = self.found[row];
            if found != NONE {
                for (number, value) in NUMBERS.into_iter().zip(self.list[found as usize]) {
                    memory[self.places[op]][number].0[lane] = value;
                }
            }
        });
    }

    /// Where a contact is in the table, or would be.
    fn place(&self, particles: &[u32; 4]) -> usize {
        let mixed = particles.iter().fold(0u64, |mixed, &particle| {
            let mixed = (mixed ^ particle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        });
        let mask = self.table.len() - 1;
        let mut place = mixed as usize & mask;
        while self.table[place].1 != NONE && self.table[place].0 != *particles {
            place = (place + 1) & mask;
        }
        place
    }
}

/// At most half of the table is full.
fn table_for(contacts: usize) -> usize {
    (2 * contacts).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(i: u32) -> Row<4, PARAMS> {
        Row { particles: [i, i + 7, 3 * i, 100 + i], params: [0.0; PARAMS] }
    }

    #[test]
    fn contacts_find_their_push_again_in_another_order() {
        let rows: Vec<_> = (0..21).map(row).collect();
        let group = |rows| Group { rows, ..Group::default() };
        let groups = [group(0..10), group(10..21)];
        // Memory is in another order than operations.
        let (places, after_places) = ([2, 0, 3, 1], [1, 2, 0]);
        let mut memory = vec![[F8([0.0; LANES]); MEMORY]; 4];
        each_row(&groups, |row, op, lane| {
            let numbers = NUMBERS.iter().enumerate();
            numbers.for_each(|(k, &n)| memory[places[op]][n].0[lane] = (10 * row + k) as f32);
        });
        let mut pushes = Pushes::default();
        pushes.places().extend(places);
        pushes.take(&rows, &groups, &memory);
        pushes.places().clear();
        pushes.places().extend(after_places);
        // The last one is new.
        let after: Vec<_> = (0..22).rev().map(row).collect();
        let mut found = vec![[F8([0.0; LANES]); MEMORY]; 3];
        pushes.give(&mut Team::new(2), &after, &[group(0..22)], &mut found);
        each_row(&[group(0..22)], |k, op, lane| {
            let before = 21 - k;
            // The first did not push.
            let known = !matches!(before, 0 | 21);
            for (i, number) in NUMBERS.into_iter().enumerate() {
                let expected = if known { (10 * before + i) as f32 } else { 0.0 };
                assert_eq!(found[after_places[op]][number].0[lane], expected, "{before}");
            }
        });
    }
}
