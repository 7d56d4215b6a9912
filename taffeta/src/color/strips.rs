//! Lane = strip: the layout in which a regular grid is solved.
//!
//! ```text
//!   columns  0 1 2 | 3 4 5 | 6 7 8 | …        block (row, j) holds column j of every strip:
//!   strip        0 |     1 |     2 | …        lane k is the particle in column k · width + j
//! ```
//!
//! A spring from column c to c + 1 is then the same pair of blocks in every strip: one plain vector operation
//! does eight springs. Where a constraint reaches over the seam into the next strip the block is rotated by
//! one lane. The strips are always eight, whatever the machine, so the order of solving is too.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Row;
use crate::lanes::{LANES, SimdLevel};
use crate::mesh::{Grid, NONE};
use crate::par::Team;
use crate::wide::{Block, BlockIndex, F8, Particle, Strips, Sweep, load_blocks, store_blocks};

/// How the particles of one grid are laid out in strips.
#[derive(Clone, Debug)]
pub struct StripMap {
    /// The grid's particles. Number (row, column) of the strip space is `row · row_stride + column · column_stride` among them.
    range: Range<usize>,
    row_stride: usize,
    column_stride: usize,
    width: usize,
    index: BlockIndex,
}

/// Where the particles of a constraint lie, relative to its first row and column.
type Stencil<const N: usize> = [(u8, u8); N];

/// Bands of rows in which operations are ordered.
const BANDS: usize = 8;

impl StripMap {
    /// The layout for a grid whose particles begin at `first`. The longer side is cut. None if the grid is too
    /// small to be worth it.
    pub fn new(grid: &Grid, first: usize) -> Option<Self> {
        let (nx, nz) = (grid.columns(), grid.rows());
        let (columns, rows, column_stride, row_stride) =
            if nx >= nz { (nx, nz, 1, nx) } else { (nz, nx, nx, 1) };
        // An even width gives all strips the same parity, which alternating diagonals and colours need. At
        // least four columns, so that a constraint reaches into the next strip and no further.
        let width = columns.div_ceil(LANES).next_multiple_of(2).max(4);
        if columns < 2 * LANES {
            return None;
        }
        let mut lanes = Vec::with_capacity(rows * width);
        for row in 0..rows {
            for j in 0..width {
                lanes.push(std::array::from_fn(|lane| {
                    let column = lane * width + j;
                    let particle = row * row_stride + column * column_stride;
                    if column < columns { particle as u32 } else { NONE }
                }));
            }
        }
        let range = first..first + rows * columns;
        Some(StripMap { range, row_stride, column_stride, width, index: BlockIndex::new(lanes) })
    }

    fn coordinates(&self, particle: u32) -> (usize, usize) {
        let i = particle as usize - self.range.start;
        let (row, column) = (i / self.row_stride, i / self.column_stride);
        if self.column_stride == 1 { (row, i % self.row_stride) } else { (i % self.column_stride, column) }
    }

    /// The grid's particles.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.index.len()
    }

    /// Copies the grid's particles into blocks; `x` has no others.
    pub fn load(&self, team: &mut Team, level: SimdLevel, x: &[Particle], blocks: &mut [Block]) {
        team.for_each_chunk(blocks, self.width, |start, part| {
            load_blocks(level, x, self.index.part(start..start + part.len()), part);
        });
    }

    /// Copies the blocks' positions back; `x` has the grid's particles and no others.
    pub fn store(&self, team: &mut Team, level: SimdLevel, blocks: &[Block], x: &mut [Particle]) {
        store_blocks(team, level, blocks, &self.index, x);
    }

    /// Arranges constraints as operations on blocks.
    pub fn sweep<const N: usize, const P: usize, const R: usize>(
        &self,
        rows: &[Row<N, P>],
    ) -> Sweep<Strips<N>, N, P, R> {
        let idle: [F8; P] = std::array::from_fn(|p| F8([if p == 0 { f32::INFINITY } else { 0.0 }; LANES]));
        type Ops<const N: usize, const P: usize> = BTreeMap<(usize, usize), (Strips<N>, [F8; P])>;
        let mut families: BTreeMap<Stencil<N>, Vec<Ops<N, P>>> = BTreeMap::new();
        for constraint in rows {
            let at = constraint.particles.map(|p| self.coordinates(p));
            let row = at.iter().map(|a| a.0).min().expect("a constraint has particles");
            let column = at.iter().map(|a| a.1).min().expect("a constraint has particles");
            let stencil = at.map(|a| ((a.0 - row) as u8, (a.1 - column) as u8));
            let (lane, j) = (column / self.width, column % self.width);
            let mut op = Strips { block: [0; N], next: 0 };
            for n in 0..N {
                let local = j + stencil[n].1 as usize;
                op.block[n] = ((at[n].0) * self.width + local % self.width) as u32;
                op.next |= ((local >= self.width) as u8) << n;
            }
            // Several constraints may lie on the same stencil (two tethers of one particle): one layer each.
            let layers = families.entry(stencil).or_default();
            let taken = |ops: &Ops<N, P>| ops.get(&(row, j)).is_some_and(|op| op.1[0].0[lane].is_finite());
            let layer = layers.iter().position(|ops| !taken(ops)).unwrap_or_else(|| {
                layers.push(BTreeMap::new());
                layers.len() - 1
            });
            let (_, params) = layers[layer].entry((row, j)).or_insert((op, idle));
            for p in 0..P {
                params[p].0[lane] = constraint.params[p];
            }
        }
        let mut colors = Vec::new();
        for ops in families.into_values().flatten() {
            colors.extend(self.first_fit(ops.into_values()));
        }
        Sweep::new(colors, self.blocks())
    }

    /// Colours the operations of one stencil, row by row. On a grid this finds the periodic optimum: two colours
    /// for each direction of springs, so eight for the grid with both diagonals.
    fn first_fit<const N: usize, const P: usize>(
        &self,
        ops: impl Iterator<Item = (Strips<N>, [F8; P])>,
    ) -> Vec<Vec<(Strips<N>, [F8; P])>> {
        let mut used = vec![0u64; self.blocks()];
        let mut colors: Vec<Vec<_>> = Vec::new();
        for (op, params) in ops {
            let taken = op.block.iter().fold(0, |bits, &b| bits | used[b as usize]);
            let color = (!taken).trailing_zeros() as usize;
            op.block.iter().for_each(|&b| used[b as usize] |= 1 << color);
            if color >= colors.len() {
                colors.resize_with(color + 1, Vec::new);
            }
            colors[color].push((op, params));
        }
        // Operations across a seam take another path through the processor: they are kept together, in each of some bands of
        // rows, which are what threads share out among them.
        let band = |op: &Strips<N>| op.block[0] as usize * BANDS / self.blocks();
        for color in &mut colors {
            color.sort_by_key(|(op, _)| (band(op), op.next));
        }
        colors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn springs(grid: &Grid, steps: &[(i32, i32)]) -> Vec<Row<2, 2>> {
        let mut rows = Vec::new();
        for z in 0..grid.rows() as i32 {
            for x in 0..grid.columns() as i32 {
                for (dx, dz) in steps {
                    let (x2, z2) = (x + dx, z + dz);
                    if x2 >= 0 && x2 < grid.columns() as i32 && z2 < grid.rows() as i32 {
                        let pair = [(x, z), (x2, z2)].map(|(x, z)| grid.vertex(x as usize, z as usize));
                        rows.push(Row { particles: pair, params: [1e-6, 0.1] });
                    }
                }
            }
        }
        rows
    }

    #[test]
    fn a_grid_with_both_diagonals_needs_eight_colours() {
        for (cells_x, cells_z) in [(64, 64), (40, 16), (16, 40), (200, 200), (33, 70)] {
            let grid = Grid { cells_x, cells_z, size_x: 1.0, size_z: 1.0 };
            let map = StripMap::new(&grid, 0).unwrap();
            let rows = springs(&grid, &[(1, 0), (0, 1), (1, 1), (-1, 1)]);
            let sweep: Sweep<_, 2, 2, 1> = map.sweep(&rows);
            assert_eq!(sweep.colors(), 8, "{cells_x} × {cells_z}");
            assert_eq!(sweep.constraints(), rows.len());
        }
    }

    #[test]
    fn particles_go_to_blocks_and_come_back() {
        for level in SimdLevel::all() {
            for (cells_x, cells_z) in [(20, 5), (5, 20), (64, 64)] {
                let grid = Grid { cells_x, cells_z, size_x: 1.0, size_z: 1.0 };
                let map = StripMap::new(&grid, 3).unwrap();
                let n = grid.columns() * grid.rows() + 3;
                let before: Vec<Particle> = (0..n)
                    .map(|i| Particle { p: [i as f32, 2.0 * i as f32, 3.0 * i as f32], w: 0.5 + i as f32 })
                    .collect();
                let mut team = Team::new(2);
                let mut blocks = vec![Block::default(); map.blocks()];
                map.load(&mut team, level, &before[3..], &mut blocks);
                let mut after = before.clone();
                after.iter_mut().skip(3).for_each(|p| p.p = [-1.0; 3]);
                map.store(&mut team, level, &blocks, &mut after[3..]);
                assert_eq!(before, after);
            }
        }
    }
}
