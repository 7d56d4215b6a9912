//! The Hessians of all elements added up, row by row.
//!
//! A vertex of a mesh has a part in some twelve hinges with four blocks each in its row, but has no more than nineteen neighbours in all of them: multiplying with the sum takes a third
//! of the time.

use glam::{DMat3, DVec3};

use super::elements::{Blocks, Element};
use crate::linalg::Rows;
use crate::par::Team;

/// Blocks handed to a thread at a time.
const GRAIN: usize = 64;

/// Block (row, column) of the Hessian of an element.
type Source = (u32, [u8; 2]);

/// A sparse matrix of 3 × 3 blocks.
pub struct Assembly {
    /// The columns of each row, in order.
    columns: Rows<u32>,
    /// A block for each of them, N/m, and what it is the sum of.
    blocks: Vec<DMat3>,
    sources: Rows<Source>,
}

impl Assembly {
    /// For `n` particles.
    pub fn new(n: usize, elements: &[Element]) -> Self {
        let mut entries = Vec::new();
        for (e, element) in elements.iter().enumerate() {
            for (a, &row) in element.particles().iter().enumerate() {
                for (b, &column) in element.particles().iter().enumerate() {
                    entries.push((row, column, (e as u32, [a as u8, b as u8])));
                }
            }
        }
        // The sort is stable: equal places are added in the order of elements.
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let (mut columns, mut sources) = (Vec::<(u32, u32)>::new(), Vec::new());
        for (row, column, source) in entries {
            if columns.last() != Some(&(row, column)) {
                columns.push((row, column));
            }
            sources.push((columns.len() as u32 - 1, source));
        }
        Assembly {
            blocks: vec![DMat3::ZERO; columns.len()],
            sources: Rows::new(columns.len(), &sources),
            columns: Rows::new(n, &columns),
        }
    }

    /// Adds up the Hessians of all elements.
    pub fn add_up(&mut self, team: &mut Team, hessians: &[Blocks]) {
        let sources = &self.sources;
        team.for_each_chunk(&mut self.blocks, GRAIN, |first, blocks| {
            for (k, block) in blocks.iter_mut().enumerate() {
                let all = sources.row(first + k).iter();
                *block = all.map(|&(e, [a, b])| hessians[e as usize][a as usize][b as usize]).sum();
            }
        });
    }

    /// Its product with `p` in one row.
    #[inline(always)]
    pub fn product(&self, row: usize, p: &[DVec3]) -> DVec3 {
        let blocks = &self.blocks[self.columns.range(row)];
        let all = blocks.iter().zip(self.columns.row(row));
        all.fold(DVec3::ZERO, |sum, (block, &column)| sum + *block * p[column as usize])
    }

    /// Its diagonal block in one row, N/m.
    pub fn diagonal(&self, row: usize) -> DMat3 {
        let place = self.columns.row(row).binary_search(&(row as u32));
        place.map_or(DMat3::ZERO, |k| self.blocks[self.columns.range(row)][k])
    }
}
