//! Which constraints may be solved at the same time: those of one colour share no particle.

mod edges;
mod greedy;
mod modules;
mod nested;
mod phantom;
mod strips;

use std::ops::Range;

use crate::lanes::LANES;
use crate::wide::{F8, Gathered, Marks, Sweep};

pub use edges::edge_colors;
pub use greedy::greedy_colors;
pub use modules::{PlacedGrid, module_colors};
pub use nested::{NODES, Nested, level_of, level_start};
pub use phantom::{Divided, Phantoms, Splitting};
pub use strips::StripMap;

/// A constraint as plain data: its particles and its parameters, the compliance first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<const N: usize, const P: usize> {
    /// Particle indices.
    pub particles: [u32; N],
    /// Compliance (inverse stiffness, in the kind's unit), then what else the kind needs.
    pub params: [f32; P],
}

/// Particles for the idle lanes of an operation.
const IDLE: usize = 4 * LANES;
/// Particles that a state has beyond the real ones, for idle lanes to work on: some for every [node](Nested), since those are solved side by side.
pub const PADDING: usize = NODES * IDLE;

/// A sweep over any mesh with `particles` real particles: one colour for each row, then by order of memory.
pub fn gathered_sweep<const N: usize, const P: usize, const R: usize>(
    rows: &[Row<N, P>],
    colors: &[u32],
    particles: usize,
) -> Sweep<Gathered<N>, N, P, R> {
    let count = colors.iter().max().map_or(0, |&c| c as usize + 1);
    let mut lists: Vec<Vec<Row<N, P>>> = vec![Vec::new(); count];
    for (row, &color) in rows.iter().zip(colors) {
        lists[color as usize].push(*row);
    }
    let ops = lists.into_iter().map(|mut list| {
        list.sort_by_key(|row| row.particles.iter().copied().min());
        list.chunks(LANES).map(|chunk| operation(chunk, particles)).collect()
    });
    Sweep::new(ops.collect(), particles + PADDING)
}

/// Constraints of one colour and one [node](Nested).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The colour.
    pub color: u32,
    /// The node.
    pub node: u32,
    /// Which rows they are.
    pub rows: Range<usize>,
}

/// Replaces the constraints of a sweep by rows in groups, which are sorted by colour and node.
pub fn refill_gathered<const N: usize, const P: usize, const R: usize>(
    sweep: &mut Sweep<Gathered<N>, N, P, R>,
    marks: &mut Marks,
    rows: &[Row<N, P>],
    groups: &[Group],
    particles: usize,
) {
    let ops = |group: &Group| {
        let idle = particles + group.node as usize * IDLE;
        rows[group.rows.clone()].chunks(LANES).map(move |chunk| operation(chunk, idle))
    };
    let colors = groups.chunk_by(|a, b| a.color == b.color);
    sweep.refill(marks, colors.map(|color| color.iter().flat_map(ops)));
    if groups.iter().any(|group| group.node > 0) {
        let places = groups.iter().flat_map(|group| {
            let count = group.rows.len().div_ceil(LANES);
            std::iter::repeat_n(nested::place(group.node as usize), count)
        });
        sweep.place(places);
    }
}

/// Up to eight rows as one operation; idle lanes get the particles from `first_idle` on and infinite compliance.
fn operation<const N: usize, const P: usize>(
    rows: &[Row<N, P>],
    first_idle: usize,
) -> (Gathered<N>, [F8; P]) {
    let mut index = [[0; LANES]; N];
    let mut params = [F8([0.0; LANES]); P];
    for lane in 0..LANES {
        let row = rows.get(lane);
        for n in 0..N {
            let idle = (first_idle + n * LANES + lane) as u32;
            index[n][lane] = row.map_or(idle, |row| row.particles[n]);
        }
        for p in 0..P {
            params[p].0[lane] = row.map_or(if p == 0 { f32::INFINITY } else { 0.0 }, |row| row.params[p]);
        }
    }
    (Gathered::new(index), params)
}

/// Whether no two constraints of one colour share a particle.
#[cfg(test)]
pub(crate) fn is_proper<const N: usize>(constraints: &[[u32; N]], colors: &[u32], particles: usize) -> bool {
    let count = colors.iter().max().map_or(0, |&c| c as usize + 1);
    let mut used = vec![false; count * particles];
    constraints.iter().zip(colors).all(|(constraint, &color)| {
        constraint
            .iter()
            .all(|&v| !std::mem::replace(&mut used[color as usize * particles + v as usize], true))
    })
}
