//! Edges, hinges, boundary and components of a triangle mesh.

/// Stands for "no triangle" on the open side of a boundary edge.
pub const NONE: u32 = u32::MAX;

/// An edge and what lies on its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its two vertices, the lower first.
    pub vertices: [u32; 2],
    /// Its triangles; the second is [`NONE`] on the boundary.
    pub triangles: [u32; 2],
    /// The vertices opposite to it in those triangles; [`NONE`] likewise.
    pub opposite: [u32; 2],
}

/// Two triangles that meet at an edge: the edge's two vertices, then the opposite ones.
pub type Hinge = [u32; 4];

/// What connects to what.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Every edge once, sorted by its vertices.
    pub edges: Vec<Edge>,
    /// The number of vertices.
    pub vertices: usize,
}

impl Topology {
    /// Finds the edges. The mesh has been checked: at most two triangles meet at an edge.
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        // (lower vertex, higher vertex, triangle, opposite vertex): sorting brings the two sides together.
        let mut halves = Vec::with_capacity(3 * triangles.len());
        for (t, tri) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b, c) = (tri[k], tri[(k + 1) % 3], tri[(k + 2) % 3]);
                halves.push((a.min(b), a.max(b), t as u32, c));
            }
        }
        halves.sort_unstable();
        let mut edges = Vec::with_capacity(halves.len() * 2 / 3 + 1);
        for group in halves.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (a, b, t, c) = group[0];
            let (t2, c2) = group.get(1).map_or((NONE, NONE), |h| (h.2, h.3));
            edges.push(Edge { vertices: [a, b], triangles: [t, t2], opposite: [c, c2] });
        }
        Topology { edges, vertices }
    }

    /// The interior edges with their opposite vertices.
    pub fn hinges(&self) -> impl Iterator<Item = Hinge> + '_ {
        self.edges
            .iter()
            .filter(|e| e.triangles[1] != NONE)
            .map(|e| [e.vertices[0], e.vertices[1], e.opposite[0], e.opposite[1]])
    }

    /// For every vertex, whether it lies on the boundary.
    pub fn boundary(&self) -> Vec<bool> {
        let mut boundary = vec![false; self.vertices];
        for edge in self.edges.iter().filter(|e| e.triangles[1] == NONE) {
            for v in edge.vertices {
                boundary[v as usize] = true;
            }
        }
        boundary
    }

    /// The connected component of every vertex, numbered by first vertex, and how many there are.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut parent: Vec<u32> = (0..self.vertices as u32).collect();
        fn root(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                parent[v as usize] = parent[parent[v as usize] as usize];
                v = parent[v as usize];
            }
            v
        }
        for edge in &self.edges {
            let [a, b] = edge.vertices.map(|v| root(&mut parent, v));
            parent[a.max(b) as usize] = a.min(b);
        }
        let (mut label, mut count) = (vec![NONE; self.vertices], 0);
        let mut component = vec![0; self.vertices];
        for v in 0..self.vertices as u32 {
            let r = root(&mut parent, v) as usize;
            if label[r] == NONE {
                label[r] = count;
                count += 1;
            }
            component[v as usize] = label[r];
        }
        (component, count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_share_one_hinge() {
        let topology = Topology::new(5, &[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(topology.edges.len(), 5);
        assert_eq!(topology.hinges().collect::<Vec<_>>(), [[1, 2, 0, 3]]);
        assert_eq!(topology.boundary(), [true, true, true, true, false]);
        assert_eq!(topology.components(), (vec![0, 0, 0, 0, 1], 2));
    }
}
