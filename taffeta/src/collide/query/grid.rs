//! A uniform grid with three phases of rejection.
//!
//! Each box is entered once, in the cell of its middle. A cell is as large as the largest box and the margin together, so whatever is near a box is in its cell
//! or the 26 around it: everything else is rejected without a look. Of what is left, the spheres around the boxes are compared, and of those that meet, the boxes.
//!
//! Zhou et al., cloth simulation with uniform grids (2016), section 5.1; their third phase tests triangles, ours leaves that to whoever asks.

use glam::Vec3;

use super::{Aabb, Cells, Pieces};
use crate::wide::sort_row;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ThreePhaseGrid {
    cell: f32,
    origin: Vec3,
    /// Cells along each axis.
    cells: [usize; 3],
    /// Middle, radius of the sphere and number of each box, cell by cell.
    entries: Vec<Entry>,
    /// Where each cell begins, and the end.
    starts: Vec<u32>,
    cell_of_box: Vec<u32>,
    pieces: Pieces,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    center: Vec3,
    radius: f32,
    number: u32,
}

/// The grid has at most so many cells for each box, or this many; beyond that cells grow.
const CELLS_PER_BOX: usize = 8;
const CELLS_AT_LEAST: usize = 4096;

impl ThreePhaseGrid {
    fn coordinates(&self, p: Vec3) -> [isize; 3] {
        // Far outside is as good as just outside; conversion saturates.
        ((p - self.origin) / self.cell).to_array().map(|c| c.floor().clamp(-2.0, 1e9) as isize)
    }
}

impl Cells for ThreePhaseGrid {
    const NAME: &'static str = "grid";

    fn pieces(&mut self) -> &mut Pieces {
        &mut self.pieces
    }

    fn build(&mut self, boxes: &[Aabb], largest: f32, margin: f32) {
        let hull = boxes.iter().fold(Aabb::EMPTY, |h, b| h.join(Aabb { low: b.center(), high: b.center() }));
        let hull = if boxes.is_empty() { Aabb { low: Vec3::ZERO, high: Vec3::ZERO } } else { hull };
        self.origin = hull.low;
        // A little more than needed, for rounding in the cell numbers.
        self.cell = ((largest + margin) * 1.0001).max(1e-6 * hull.size().max_element()).max(1e-30);
        let limit = (CELLS_PER_BOX * boxes.len()).max(CELLS_AT_LEAST);
        loop {
            let count = (hull.size() / self.cell).to_array().map(|c| c as usize + 1);
            if count.iter().fold(1usize, |n, &c| n.saturating_mul(c)) <= limit {
                self.cells = count;
                break;
            }
            self.cell *= 1.25;
        }
        let total = self.cells.iter().product::<usize>();
        self.starts.clear();
        self.starts.resize(total + 1, 0);
        self.cell_of_box.clear();
        for b in boxes {
            let at = self.coordinates(b.center());
            let at: [usize; 3] = std::array::from_fn(|k| (at[k].max(0) as usize).min(self.cells[k] - 1));
            let cell = (at[0] * self.cells[1] + at[1]) * self.cells[2] + at[2];
            self.cell_of_box.push(cell as u32);
            self.starts[cell + 1] += 1;
        }
        for k in 0..total {
            self.starts[k + 1] += self.starts[k];
        }
        self.entries.clear();
        self.entries.resize(boxes.len(), Entry::default());
        for (i, b) in boxes.iter().enumerate() {
            let place = &mut self.starts[self.cell_of_box[i] as usize];
            self.entries[*place as usize] =
                Entry { center: b.center(), radius: 0.5 * b.size().length(), number: i as u32 };
            *place += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
        self.starts[total] = boxes.len() as u32;
    }

    #[inline]
    fn search(&self, boxes: &[Aabb], q: Aabb, i: u32, least: u32, found: &mut Vec<[u32; 2]>) {
        let (row, center) = (found.len(), q.center());
        // The radius of the grown box: it holds the margin as boxes count it, along each axis.
        let radius = 0.5001 * q.size().length();
        let at = self.coordinates(center);
        // Entirely outside the grid along an axis: nothing is near.
        if (0..3).any(|k| at[k] < -1 || at[k] > self.cells[k] as isize) {
            return;
        }
        let range =
            |k: usize| (at[k] - 1).max(0) as usize..=(at[k] + 1).min(self.cells[k] as isize - 1) as usize;
        for x in range(0) {
            for y in range(1) {
                let line = (x * self.cells[1] + y) * self.cells[2];
                let z = range(2);
                // Cells along z follow each other, and so do their lists.
                let list = self.starts[line + z.start()] as usize..self.starts[line + z.end() + 1] as usize;
                for entry in &self.entries[list] {
                    let reach = radius + entry.radius;
                    if entry.number >= least
                        && (entry.center - center).length_squared() <= reach * reach * 1.0001
                        && q.meets(&boxes[entry.number as usize])
                    {
                        found.push([i, entry.number]);
                    }
                }
            }
        }
        sort_row(&mut found[row..]);
    }
}
