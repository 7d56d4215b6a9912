//! A uniform spatial hash.
//!
//! Space is cut into cubes; every box is entered in all cubes it meets, and cubes go by a hash into a table of lists. A search visits the cubes of the grown box.
//! Two boxes may share several cubes; the pair counts in the one that holds the lowest corner of what they have in common.

use glam::Vec3;

use super::{Aabb, Cells, Pieces};
use crate::wide::sort_row;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct SpatialHash {
    cell: f32,
    origin: Vec3,
    /// Cube and box of each entry, list by list.
    entries: Vec<(u64, u32)>,
    /// Where each list begins, and the end.
    starts: Vec<u32>,
    raw: Vec<(u64, u32)>,
    pieces: Pieces,
}

/// The largest box covers at most so many cubes along an axis.
const CELLS_OF_LARGEST: f32 = 32.0;
/// A key has 21 bits for each axis.
const AXIS: f32 = 2_097_151.0;

impl SpatialHash {
    fn cell_of(&self, p: Vec3) -> [u64; 3] {
        ((p - self.origin) / self.cell).to_array().map(|c| c.clamp(0.0, AXIS) as u64)
    }

    fn list_of(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits of a product with 2⁶⁴/φ are well mixed. The table's size is a power of two.
        let bits = (self.starts.len() - 1).trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }
}

impl Cells for SpatialHash {
    const NAME: &'static str = "hash";

    fn pieces(&mut self) -> &mut Pieces {
        &mut self.pieces
    }

    fn build(&mut self, boxes: &[Aabb], _: f32, margin: f32) {
        let (mut hull, mut sum, mut largest) = (Aabb::EMPTY, 0.0f64, 0.0f32);
        for b in boxes {
            hull = hull.join(*b);
            let size = b.size().max_element();
            sum += size as f64;
            largest = largest.max(size);
        }
        let mean = (sum / boxes.len().max(1) as f64) as f32;
        let spread = if boxes.is_empty() { 0.0 } else { hull.size().max_element() };
        self.cell = (mean + margin).max(largest / CELLS_OF_LARGEST).max(spread / AXIS).max(f32::MIN_POSITIVE);
        self.origin = if boxes.is_empty() { Vec3::ZERO } else { hull.low };
        let lists = (2 * boxes.len()).next_power_of_two().max(2);
        self.starts.clear();
        self.starts.resize(lists + 1, 0);
        self.raw.clear();
        for (i, b) in boxes.iter().enumerate() {
            let (from, to) = (self.cell_of(b.low), self.cell_of(b.high));
            for_cells(from, to, |key| self.raw.push((key, i as u32)));
        }
        for k in 0..self.raw.len() {
            let list = self.list_of(self.raw[k].0);
            self.starts[list + 1] += 1;
        }
        for k in 0..lists {
            self.starts[k + 1] += self.starts[k];
        }
        self.entries.clear();
        self.entries.resize(self.raw.len(), (0, 0));
        // Filling moves each beginning to the end of its list, which is the beginning of the next.
        for k in 0..self.raw.len() {
            let list = self.list_of(self.raw[k].0);
            self.entries[self.starts[list] as usize] = self.raw[k];
            self.starts[list] += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
        self.starts[lists] = self.raw.len() as u32;
    }

    #[inline]
    fn search(&self, boxes: &[Aabb], q: Aabb, i: u32, least: u32, found: &mut Vec<[u32; 2]>) {
        let row = found.len();
        for_cells(self.cell_of(q.low), self.cell_of(q.high), |key| {
            let list = self.list_of(key);
            for &(at, j) in &self.entries[self.starts[list] as usize..self.starts[list + 1] as usize] {
                if at != key || j < least {
                    continue;
                }
                let b = &boxes[j as usize];
                if q.meets(b) && key_of(self.cell_of(q.low.max(b.low))) == key {
                    found.push([i, j]);
                }
            }
        });
        sort_row(&mut found[row..]);
    }
}

fn key_of([x, y, z]: [u64; 3]) -> u64 {
    x << 42 | y << 21 | z
}

fn for_cells(from: [u64; 3], to: [u64; 3], mut visit: impl FnMut(u64)) {
    for x in from[0]..=to[0] {
        for y in from[1]..=to[1] {
            for z in from[2]..=to[2] {
                visit(key_of([x, y, z]));
            }
        }
    }
}
