//! Edge colouring with at most Δ + 1 colours.
//!
//! Misra and Gries, *A constructive proof of Vizing's theorem*, Information Processing Letters 41, 1992. Most edges
//! take the emptiest colour that is free at both ends; where none of the Δ + 1 is, a fan is rotated.

/// Nothing yet.
const BARE: u32 = u32::MAX;

struct Coloring<'a> {
    edges: &'a [[u32; 2]],
    color: Vec<u32>,
    /// Edges at each vertex: `around[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    around: Vec<u32>,
    /// `marks[c] == stamp` means that colour c was seen in the present search.
    marks: Vec<u32>,
    stamp: u32,
}

/// A colour for every edge. No two edges at a vertex have the same; there are at most Δ + 1 colours, where Δ
/// is the largest number of edges at a vertex. Colours are balanced in size. Edges must be distinct.
pub fn edge_colors(vertices: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut start = vec![0u32; vertices + 1];
    for edge in edges {
        edge.iter().for_each(|&v| start[v as usize + 1] += 1);
    }
    let most = start.iter().copied().max().unwrap_or(0);
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    let mut next = start.clone();
    let mut around = vec![0; 2 * edges.len()];
    for (e, edge) in edges.iter().enumerate() {
        for &v in edge {
            around[next[v as usize] as usize] = e as u32;
            next[v as usize] += 1;
        }
    }
    let colors = most as usize + 1;
    let mut coloring =
        Coloring { edges, color: vec![BARE; edges.len()], start, around, marks: vec![0; colors], stamp: 0 };
    let mut sizes = vec![0u32; colors];
    for e in 0..edges.len() {
        let [u, v] = edges[e];
        coloring.mark(&[u, v]);
        let free = (0..colors).filter(|&c| !coloring.marked(c));
        match free.min_by_key(|&c| (sizes[c], c)) {
            Some(c) => {
                coloring.color[e] = c as u32;
                sizes[c] += 1;
            }
            None => {
                coloring.rotate_fan(e as u32);
                sizes.fill(0);
                coloring.color[..=e].iter().for_each(|&c| sizes[c as usize] += 1);
            }
        }
    }
    coloring.balance(&mut sizes);
    coloring.color
}

impl Coloring<'_> {
    fn at(&self, v: u32) -> &[u32] {
        &self.around[self.start[v as usize] as usize..self.start[v as usize + 1] as usize]
    }

    fn other(&self, e: u32, v: u32) -> u32 {
        let [a, b] = self.edges[e as usize];
        if a == v { b } else { a }
    }

    /// Marks the colours in use at these vertices.
    fn mark(&mut self, vertices: &[u32]) {
        self.stamp += 1;
        for &v in vertices {
            for i in self.start[v as usize]..self.start[v as usize + 1] {
                let c = self.color[self.around[i as usize] as usize];
                if c != BARE {
                    self.marks[c as usize] = self.stamp;
                }
            }
        }
    }

    fn marked(&self, c: usize) -> bool {
        self.marks[c] == self.stamp
    }

    fn free_color(&mut self, v: u32) -> u32 {
        self.mark(&[v]);
        // A vertex has at most Δ edges, so one of Δ + 1 colours is free.
        (0..self.marks.len()).find(|&c| !self.marked(c)).expect("one colour is free at every vertex") as u32
    }

    /// The edge of colour `c` at `v`.
    fn edge_of(&self, v: u32, c: u32) -> Option<u32> {
        self.at(v).iter().copied().find(|&e| self.color[e as usize] == c)
    }

    /// Colours edge `e`, for which no colour is free at both ends.
    fn rotate_fan(&mut self, e: u32) {
        let [u, v] = self.edges[e as usize];
        // The maximal fan of u from v: each edge's colour is free at the end of the one before.
        let mut fan = vec![e];
        let mut last = v;
        loop {
            self.mark(&[last]);
            let next = self.at(u).iter().copied().find(|f| {
                let c = self.color[*f as usize];
                c != BARE && !self.marked(c as usize) && !fan.contains(f)
            });
            let Some(next) = next else { break };
            fan.push(next);
            last = self.other(next, u);
        }
        let c = self.free_color(u);
        let d = self.free_color(last);
        self.invert_path(u, c, d);
        // Now d is free at u. Rotate the shortest prefix that is still a fan and whose end has d free.
        let mut end = 0;
        for i in 0..fan.len() {
            if i > 0 {
                let before = self.other(fan[i - 1], u);
                if self.edge_of(before, self.color[fan[i] as usize]).is_some() {
                    break;
                }
            }
            if self.edge_of(self.other(fan[i], u), d).is_none() {
                end = i;
                break;
            }
        }
        for i in 0..end {
            self.color[fan[i] as usize] = self.color[fan[i + 1] as usize];
        }
        self.color[fan[end] as usize] = d;
    }

    /// Swaps colours c and d along the path of such edges that begins at u, where c is free.
    fn invert_path(&mut self, u: u32, c: u32, d: u32) {
        let (mut path, mut v, mut want) = (Vec::new(), u, d);
        while let Some(e) = self.edge_of(v, want).filter(|e| path.last() != Some(e)) {
            path.push(e);
            v = self.other(e, v);
            want = if want == d { c } else { d };
        }
        for e in path {
            let color = &mut self.color[e as usize];
            *color = if *color == d { c } else { d };
        }
    }

    /// Moves edges from colours that are too large to ones that are too small, where both ends allow it.
    fn balance(&mut self, sizes: &mut [u32]) {
        let goal = (self.edges.len() / sizes.len().max(1)) as u32;
        for e in 0..self.edges.len() {
            let from = self.color[e] as usize;
            if sizes[from] <= goal {
                continue;
            }
            self.mark(&self.edges[e].clone());
            let to = (0..sizes.len()).filter(|&c| !self.marked(c)).min_by_key(|&c| (sizes[c], c));
            if let Some(to) = to.filter(|&to| sizes[to] < goal) {
                self.color[e] = to as u32;
                sizes[from] -= 1;
                sizes[to] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::is_proper;
    use crate::mesh::{Grid, Topology};

    fn degree(vertices: usize, edges: &[[u32; 2]]) -> u32 {
        let mut degree = vec![0; vertices];
        edges.iter().flatten().for_each(|&v| degree[v as usize] += 1);
        degree.into_iter().max().unwrap()
    }

    #[test]
    fn meshes_need_at_most_one_colour_more_than_the_largest_degree() {
        let grid = Grid { cells_x: 30, cells_z: 20, size_x: 1.0, size_z: 1.0 };
        let mesh = grid.mesh();
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
        let edges: Vec<_> = topology.edges.iter().map(|e| e.vertices).collect();
        let colors = edge_colors(mesh.positions.len(), &edges);
        assert!(is_proper(&edges, &colors, mesh.positions.len()));
        assert!(*colors.iter().max().unwrap() <= degree(mesh.positions.len(), &edges));
        // Balanced: the smallest colour has at least half of the average.
        let mut sizes = vec![0; *colors.iter().max().unwrap() as usize + 1];
        colors.iter().for_each(|&c| sizes[c as usize] += 1);
        assert!(*sizes.iter().min().unwrap() * sizes.len() >= edges.len() / 2, "{sizes:?}");
    }

    #[test]
    fn dense_graphs_force_fans_to_rotate() {
        // Complete graphs of odd order need Δ + 1 colours exactly: first-fit alone fails on them.
        for n in [5u32, 7, 9, 15] {
            let edges: Vec<_> = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).collect();
            let colors = edge_colors(n as usize, &edges);
            assert!(is_proper(&edges, &colors, n as usize));
            assert!(*colors.iter().max().unwrap() < n);
        }
    }

    #[test]
    fn random_graphs_stay_within_the_bound() {
        let mut seed = 1u32;
        let mut random = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % n
        };
        for _ in 0..50 {
            let n = 5 + random(20);
            let mut edges: Vec<[u32; 2]> = (0..n * 4)
                .map(|_| [random(n), random(n)])
                .filter(|e| e[0] != e[1])
                .map(|e| [e[0].min(e[1]), e[0].max(e[1])])
                .collect();
            edges.sort_unstable();
            edges.dedup();
            let colors = edge_colors(n as usize, &edges);
            assert!(is_proper(&edges, &colors, n as usize));
            assert!(*colors.iter().max().unwrap() <= degree(n as usize, &edges));
        }
    }
}
