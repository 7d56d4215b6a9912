//! Which slabs each vertex has a part in.

use super::USUAL_SLABS;
use super::measure::{Findings, Slab, SlabPlace};

/// Which slabs each vertex has a part in. Many detections serve for one substep alone, in which it is faster to go through all slabs: so that is found when one is asked for a second time.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    asked: bool,
    known: bool,
    /// Where those of each vertex begin, and the end.
    starts: Vec<u32>,
    places: Vec<SlabPlace>,
}

impl Around {
    /// Makes room for what `vertices` vertices usually have.
    pub fn reserve(&mut self, vertices: usize) {
        self.starts.reserve(vertices + 2);
        self.places.reserve(4 * USUAL_SLABS * vertices);
    }

    /// For a new detection.
    pub fn forget(&mut self) {
        (self.asked, self.known) = (false, false);
    }

    /// Says whether it is known, for `vertices` vertices.
    pub fn is_known(&mut self, findings: &Findings, vertices: usize) -> bool {
        if !std::mem::replace(&mut self.asked, true) {
            return false;
        }
        if !std::mem::replace(&mut self.known, true) {
            self.find(findings, vertices);
        }
        true
    }

    fn find(&mut self, findings: &Findings, vertices: usize) {
        let Around { starts, places, .. } = self;
        starts.clear();
        starts.resize(vertices + 2, 0);
        findings.slabs().flat_map(|slab| slab.particles).for_each(|v| starts[v as usize + 2] += 1);
        for v in 2..vertices + 2 {
            starts[v] += starts[v - 1];
        }
        places.clear();
        places.resize(starts[vertices + 1] as usize, SlabPlace::default());
        for (place, slab) in findings.places().zip(findings.slabs()) {
            for v in slab.particles {
                // Once all are in their places, each of these is one further on.
                let next = &mut starts[v as usize + 1];
                places[*next as usize] = place;
                *next += 1;
            }
        }
    }

    /// Those of vertex v, in the order of all, if it [`is_known`](Self::is_known).
    pub fn slabs<'a>(&'a self, findings: &'a Findings, v: usize) -> impl Iterator<Item = &'a Slab> {
        debug_assert!(self.known);
        let range = self.starts[v] as usize..self.starts[v + 1] as usize;
        self.places[range].iter().map(|&place| findings.slab(place))
    }
}
