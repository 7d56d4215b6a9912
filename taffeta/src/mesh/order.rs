//! A numbering of vertices in which neighbours are near each other in memory.

use super::Topology;

/// Vertices in breadth-first order from the rim (Cuthill and McKee 1969): `order[k]` is the vertex that comes k-th.
///
/// A colour is swept from the first constraint to the last. In this order all its particles lie in a narrow window that
/// moves steadily through memory, which caches and prefetchers like better than a space-filling curve.
pub fn locality_order(topology: &Topology) -> Vec<u32> {
    let n = topology.vertices;
    let mut start = vec![0u32; n + 1];
    for edge in &topology.edges {
        edge.vertices.iter().for_each(|&v| start[v as usize + 1] += 1);
    }
    (0..n).for_each(|v| start[v + 1] += start[v]);
    let mut next = start.clone();
    let mut around = vec![0u32; 2 * topology.edges.len()];
    for edge in &topology.edges {
        let [a, b] = edge.vertices;
        for (v, other) in [(a, b), (b, a)] {
            around[next[v as usize] as usize] = other;
            next[v as usize] += 1;
        }
    }
    let neighbours = |v: u32| &around[start[v as usize] as usize..start[v as usize + 1] as usize];

    let (mut order, mut seen) = (Vec::with_capacity(n), vec![0u8; n]);
    // Breadth-first from `root` over vertices whose mark is below `mark`.
    let walk = |root: u32, mark: u8, order: &mut Vec<u32>, seen: &mut [u8]| {
        let first = order.len();
        order.push(root);
        seen[root as usize] = mark;
        let mut head = first;
        while head < order.len() {
            for &v in neighbours(order[head]) {
                if seen[v as usize] < mark {
                    seen[v as usize] = mark;
                    order.push(v);
                }
            }
            head += 1;
        }
    };
    for v in 0..n as u32 {
        if seen[v as usize] == 0 {
            // The last vertex reached lies on the far rim; starting again from there makes the front narrow.
            let first = order.len();
            walk(v, 1, &mut order, &mut seen);
            let rim = order[order.len() - 1];
            order.truncate(first);
            walk(rim, 2, &mut order, &mut seen);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::irregular_sheet;

    #[test]
    fn it_is_a_permutation_that_keeps_neighbours_together() {
        let mesh = irregular_sheet([1.0, 1.0], [40, 40], 3);
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
        let order = locality_order(&topology);
        let mut place = vec![u32::MAX; order.len()];
        order.iter().enumerate().for_each(|(i, &v)| place[v as usize] = i as u32);
        assert!(place.iter().all(|&i| i != u32::MAX));
        let widest = topology
            .edges
            .iter()
            .map(|e| place[e.vertices[0] as usize].abs_diff(place[e.vertices[1] as usize]));
        assert!(widest.max().unwrap() < 200, "a front of a sheet of 41 × 41 is narrow");
    }
}
