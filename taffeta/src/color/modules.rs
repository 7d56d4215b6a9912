//! Modules: a regular grid's constraints divided level by level, rows and columns.
//!
//! ```text
//!   along rows  ┬ even columns  o─o o─o o        a direction is halved by the parity of the column or
//!               └ odd columns   o o─o o─o        row (or of their halves, quarters) until no two of a part touch
//!   along columns ┬ even rows  …
//! ```
//!
//! First by direction, then each direction in halves, until the members of a module share no particle: structural
//! springs give four modules, both diagonals four more. Modules of a direction have the same size, up to the borders, and
//! are known without colouring anything. Zhou et al., *GPU-accelerated cloth animation based on module division*, 2016; there
//! a rectangle is first cut into squares, which the parity of rows and columns makes unnecessary.

use std::collections::BTreeMap;

use crate::mesh::Grid;

/// Bits of a row or column number by which modules are told apart: enough for constraints of five particles in a row.
const BITS: u32 = 3;

/// A grid within a model.
#[derive(Clone, Copy, Debug)]
pub struct PlacedGrid {
    /// The grid.
    pub grid: Grid,
    /// Its first particle.
    pub first: usize,
}

/// Where the particles of a constraint lie, relative to its first row and column.
type Direction<const N: usize> = [(usize, usize); N];

/// A colour for every constraint on `grids`, which are in order of their first particles. Constraints lie within one grid.
pub fn module_colors<const N: usize>(grids: &[PlacedGrid], constraints: &[[u32; N]]) -> Vec<u32> {
    // Several constraints may lie on the same particles (two tethers of one vertex): one layer each.
    let mut layers: BTreeMap<(usize, usize, usize, Direction<N>), usize> = BTreeMap::new();
    let keys: Vec<_> = constraints
        .iter()
        .map(|constraint| {
            let which = grids.partition_point(|g| g.first <= constraint[0] as usize) - 1;
            let PlacedGrid { grid, first } = grids[which];
            let at = constraint.map(|p| {
                let i = p as usize - first;
                (i / grid.columns(), i % grid.columns())
            });
            let row = at.iter().map(|a| a.0).min().expect("a constraint has particles");
            let column = at.iter().map(|a| a.1).min().expect("a constraint has particles");
            let mut direction = at.map(|a| (a.0 - row, a.1 - column));
            direction.sort_unstable();
            let layer = layers.entry((which, row, column, direction)).or_insert(0);
            *layer += 1;
            (direction, *layer, row, column)
        })
        .collect();
    let mut first_color: BTreeMap<(Direction<N>, usize), (u32, Division)> = BTreeMap::new();
    keys.iter().for_each(|&(direction, layer, ..)| {
        first_color.entry((direction, layer)).or_insert_with(|| (0, Division::of(&direction)));
    });
    let mut colors = 0;
    for (first, division) in first_color.values_mut() {
        *first = colors;
        colors += division.modules();
    }
    keys.iter()
        .map(|(direction, layer, row, column)| {
            let (first, division) = first_color[&(*direction, *layer)];
            first + division.module(*row, *column)
        })
        .collect()
}

/// Which bits of the row and the column number divide a direction into modules.
#[derive(Clone, Copy, Debug)]
struct Division {
    rows: usize,
    columns: usize,
}

impl Division {
    /// The one with the fewest modules.
    fn of<const N: usize>(direction: &Direction<N>) -> Self {
        let all = 1 << BITS;
        let mut divisions: Vec<Division> = (0..all * all)
            .map(|i| Division { rows: i / all, columns: i % all })
            .filter(|d| d.separates(direction))
            .collect();
        divisions.sort_by_key(|d| d.modules());
        *divisions.first().expect("constraints of a grid reach over few rows and columns")
    }

    fn modules(&self) -> u32 {
        1 << (self.rows.count_ones() + self.columns.count_ones())
    }

    /// The chosen bits, moved together.
    fn module(&self, row: usize, column: usize) -> u32 {
        let mut module = 0;
        for (number, chosen) in [(row, self.rows), (column, self.columns)] {
            for bit in (0..BITS).filter(|bit| chosen >> bit & 1 == 1) {
                module = module << 1 | (number >> bit & 1) as u32;
            }
        }
        module
    }

    /// Whether two constraints of one module never share a particle: they would have to be shifted by a difference of two
    /// particles of the direction.
    fn separates<const N: usize>(&self, direction: &Direction<N>) -> bool {
        let all = 1usize << BITS;
        let shifts = direction.iter().flat_map(|a| direction.iter().map(move |b| (a, b)));
        shifts.filter(|(a, b)| a != b).all(|(a, b)| {
            (0..all * all).all(|i| {
                let (row, column) = (i / all, i % all);
                self.module(row + a.0, column + a.1) != self.module(row + b.0, column + b.1)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::is_proper;
    use crate::model::{ClothPart, Model};
    use crate::scene::{Bending, Cloth, Membrane, Pair, Scene};

    fn model(membrane: Membrane, bending: Bending) -> Model {
        let cloth = |cells| Cloth { resolution: Pair(cells), membrane, bending, ..Cloth::default() };
        Model::new(&Scene { cloth: vec![cloth([13, 21]), cloth([30, 9])], ..Scene::default() }).unwrap()
    }

    fn check<const N: usize>(model: &Model, constraints: Vec<[u32; N]>) -> u32 {
        let placed = |c: &ClothPart| PlacedGrid { grid: c.grid.unwrap(), first: c.vertices.start };
        let grids: Vec<_> = model.cloths.iter().map(placed).collect();
        let colors = module_colors(&grids, &constraints);
        assert!(!constraints.is_empty() && is_proper(&constraints, &colors, model.particles()));
        colors.iter().max().unwrap() + 1
    }

    #[test]
    fn modules_of_every_kind_share_no_particle() {
        let springs = model(Membrane::Springs, Bending::None);
        let members = |m: &Model| m.distance.iter().map(|r| r.particles).collect::<Vec<_>>();
        assert_eq!(check(&springs, members(&springs)), 8, "four directions in two halves each");
        let springs = model(Membrane::Springs, Bending::Springs);
        assert_eq!(check(&springs, members(&springs)), 12);
        let hinges = model(Membrane::Stvk, Bending::Isometric);
        check(&hinges, hinges.isometric.iter().map(|r| r.particles).collect());
        check(&hinges, hinges.stvk.iter().map(|r| r.particles).collect());
        let triples = model(Membrane::Springs, Bending::Triangle);
        check(&triples, triples.triangle_bend.iter().map(|r| r.particles).collect());
    }

    #[test]
    fn modules_of_a_direction_are_of_equal_size() {
        let grid = Grid { cells_x: 16, cells_z: 5, size_x: 1.0, size_z: 1.0 };
        let along: Vec<[u32; 2]> =
            (0..6).flat_map(|z| (0..16).map(move |x| [grid.vertex(x, z), grid.vertex(x + 1, z)])).collect();
        let colors = module_colors(&[PlacedGrid { grid, first: 0 }], &along);
        let size = |c: u32| colors.iter().filter(|&&d| d == c).count();
        assert_eq!([size(0), size(1)], [48, 48]);
    }
}
