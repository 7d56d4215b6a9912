//! Halves of halves: constraints that no thread has to wait for.
//!
//! Colours of a tangle of contacts are many and small, and threads that wait for each other at every one of them gain nothing. So the particles are cut in two,
//! by their numbers, where that leaves about as many constraints on either side. What is on both sides is solved first, by one thread; then the halves, which have
//! nothing to do with each other. These are cut again in the same way.
//!
//! ```text
//!                0                 both halves
//!          1           2           both quarters of one half
//!       3     4     5     6
//! ```
//!
//! Where the cuts are depends on the constraints alone, so the order of solving does not depend on how many threads there are.

/// How often particles are cut in two, at most.
const DEPTH: u32 = 2;
/// Nodes of the tree.
pub const NODES: usize = (1 << (DEPTH + 1)) - 1;
/// Constraints that a half should have.
const ENOUGH: usize = 1500;
/// Of so many constraints one is asked where the middle is.
const SAMPLE: usize = 8;

/// The node of each constraint.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    nodes: Vec<u8>,
    depth: u32,
    sample: Vec<u32>,
}

impl Nested {
    /// Makes room for so many constraints.
    pub fn reserve(&mut self, constraints: usize) {
        self.nodes.reserve(constraints);
        self.sample.reserve(constraints.div_ceil(SAMPLE));
    }

    /// Takes so many constraints that are all to stay together.
    pub fn join(&mut self, constraints: usize) {
        self.nodes.clear();
        self.nodes.resize(constraints, 0);
        self.depth = 0;
    }

    /// Takes constraints, each by the particles it has.
    pub fn sort<const N: usize>(&mut self, constraints: impl ExactSizeIterator<Item = [u32; N]> + Clone) {
        self.join(constraints.len());
        self.depth = (0..DEPTH).take_while(|level| constraints.len() >> (level + 1) >= ENOUGH).count() as u32;
        for level in 0..self.depth {
            let mut cuts = [0; NODES];
            for node in level_start(level)..level_start(level + 1) {
                cuts[node] = self.middle(node, constraints.clone());
            }
            for (node, particles) in self.nodes.iter_mut().zip(constraints.clone()) {
                let [low, high] = ends(particles);
                let cut = cuts[*node as usize];
                if level_of(*node as usize) < level {
                    continue;
                } else if high < cut {
                    *node = 2 * *node + 1;
                } else if low >= cut {
                    *node = 2 * *node + 2;
                }
            }
        }
    }

    /// The particle in the middle of the constraints that are in a node.
    fn middle<const N: usize>(&mut self, node: usize, constraints: impl Iterator<Item = [u32; N]>) -> u32 {
        let sample = constraints.zip(&self.nodes).step_by(SAMPLE).filter(|(_, of)| **of as usize == node);
        self.sample.clear();
        self.sample.extend(sample.map(|(particles, _)| {
            let [low, high] = ends(particles);
            low + (high - low).div_ceil(2)
        }));
        match self.sample.len() {
            0 => 0,
            len => *self.sample.select_nth_unstable(len / 2).1,
        }
    }

    /// The node of every constraint.
    pub fn nodes(&self) -> &[u8] {
        &self.nodes
    }

    /// How many levels have constraints, at most.
    pub fn levels(&self) -> u32 {
        self.depth + 1
    }
}

/// The first node of a level; levels are counted from 0.
pub fn level_start(level: u32) -> usize {
    (1 << level) - 1
}

/// The level of a node.
pub fn level_of(node: usize) -> u32 {
    (node + 1).ilog2()
}

/// Where a node is among all constraints, from 0 to 1. What is on both sides of a cut goes to those who have the first half: the colours are so small that to share them would take
/// longer.
pub fn place(node: usize) -> f32 {
    let level = level_of(node);
    (node - level_start(level)) as f32 / (1 << level) as f32
}

/// The first and the last of some particles.
fn ends<const N: usize>(particles: [u32; N]) -> [u32; 2] {
    [particles.into_iter().fold(u32::MAX, u32::min), particles.into_iter().fold(0, u32::max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_no_particle_in_common() {
        let mut random = crate::collide::random::Random(5);
        let mut near = |i: u32| (i + (random.next() * 40.0) as u32).min(9_999);
        let rows: Vec<[u32; 4]> = (0..10_000).map(|i| [i, near(i), near(i), near(i)]).collect();
        let mut nested = Nested::default();
        nested.sort(rows.iter().copied());
        assert_eq!(nested.levels(), DEPTH + 1);
        let mut counts = [0; NODES];
        let mut owner = [[None; 10_000]; DEPTH as usize + 1];
        for (row, &node) in rows.iter().zip(nested.nodes()) {
            counts[node as usize] += 1;
            for &particle in row {
                let known = owner[level_of(node as usize) as usize][particle as usize].get_or_insert(node);
                assert_eq!(*known, node);
            }
        }
        // Few are on both sides of a cut, and quarters are as large as each other.
        assert!(counts[..3].iter().all(|&n| n < 100), "{counts:?}");
        assert!(counts[3..].iter().all(|&n| (2_300..2_700).contains(&n)), "{counts:?}");
    }

    #[test]
    fn few_constraints_stay_together() {
        let mut nested = Nested::default();
        nested.sort((0..1_000).map(|i| [i, i + 1]));
        assert!(nested.levels() == 1 && nested.nodes().iter().all(|&node| node == 0));
    }
}
