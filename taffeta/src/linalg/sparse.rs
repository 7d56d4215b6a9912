//! Sparse tables by rows.

use std::ops::Range;

/// For each row a list of items, all in one array.
#[derive(Clone, Debug, Default)]
pub struct Rows<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Rows<T> {
    /// Sorts `entries` of (row, item) into `rows` rows; within a row they keep their order.
    pub fn new(rows: usize, entries: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for &(row, _) in entries {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut order = vec![0u32; entries.len()];
        for (i, &(row, _)) in entries.iter().enumerate() {
            order[next[row as usize] as usize] = i as u32;
            next[row as usize] += 1;
        }
        let items = order.iter().map(|&i| entries[i as usize].1).collect();
        Rows { starts, items }
    }

    /// The items of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[T] {
        &self.items[self.range(row)]
    }

    /// Where the items of a row are among those of all.
    #[inline(always)]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The items of a row, to change.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        let range = self.range(row);
        &mut self.items[range]
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of items of all rows.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no row has an item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// An entry of a sparse matrix within its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its column.
    pub column: u32,
    /// Its value.
    pub value: f64,
}

impl Rows<Entry> {
    /// A square matrix from (row, column, value); equal places are added up. Columns rise within a row.
    pub fn matrix(rows: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        // The sort is stable, so equal places are added in the order they came in.
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let mut joined: Vec<(u32, Entry)> = Vec::with_capacity(entries.len());
        for (row, column, value) in entries {
            match joined.last_mut() {
                Some((r, entry)) if *r == row && entry.column == column => entry.value += value,
                _ => joined.push((row, Entry { column, value })),
            }
        }
        Rows::new(rows, &joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_items() {
        let rows = Rows::new(3, &[(2, 'a'), (0, 'b'), (2, 'c'), (2, 'd')]);
        assert_eq!(rows.row(0), ['b']);
        assert_eq!(rows.row(1), []);
        assert_eq!(rows.row(2), ['a', 'c', 'd']);
    }

    #[test]
    fn equal_places_of_a_matrix_are_added() {
        let m = Rows::matrix(2, vec![(1, 1, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)]);
        assert_eq!(m.row(1), [Entry { column: 0, value: 1.0 }, Entry { column: 1, value: 5.0 }]);
        assert_eq!(m.len(), 3);
    }
}
