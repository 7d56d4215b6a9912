//! Where surfaces cross: contours, and what they cut off.

use glam::Vec3;

use crate::mesh::{Edge, NONE, Topology};
use crate::metrics::{segment_meets_triangle, side_of_plane};

/// What is next to what.
pub struct Web {
    pub triangles: Vec<[u32; 3]>,
    pub edges: Vec<Edge>,
    /// The edges ab, bc, ca of every triangle.
    sides: Vec<[u32; 3]>,
    /// Edges and triangles around each vertex, one after another, and where those of each begin.
    spokes: (Vec<u32>, Vec<u32>),
    around: (Vec<u32>, Vec<u32>),
}

/// Lists by vertex, from (vertex, item) pairs.
fn lists(vertices: usize, mut pairs: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    let mut starts = vec![0; vertices + 1];
    pairs.iter().for_each(|&(v, _)| starts[v as usize + 1] += 1);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    (starts, pairs.into_iter().map(|(_, item)| item).collect())
}

fn list(of: &(Vec<u32>, Vec<u32>), v: u32) -> &[u32] {
    &of.1[of.0[v as usize] as usize..of.0[v as usize + 1] as usize]
}

impl Web {
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let edges = Topology::new(vertices, triangles).edges;
        let find = |a: u32, b: u32| {
            let key = [a.min(b), a.max(b)];
            edges.binary_search_by_key(&key, |e| e.vertices).expect("a side of a triangle is an edge") as u32
        };
        let sides = triangles.iter().map(|&[a, b, c]| [find(a, b), find(b, c), find(c, a)]).collect();
        let ends = |(e, edge): (usize, &Edge)| edge.vertices.map(|v| (v, e as u32));
        let corners = |(t, corners): (usize, &[u32; 3])| corners.map(|v| (v, t as u32));
        Web {
            spokes: lists(vertices, edges.iter().enumerate().flat_map(ends).collect()),
            around: lists(vertices, triangles.iter().enumerate().flat_map(corners).collect()),
            triangles: triangles.to_vec(),
            edges,
            sides,
        }
    }

    /// Edges that end at a vertex.
    pub fn edges_at(&self, v: u32) -> &[u32] {
        list(&self.spokes, v)
    }

    /// Triangles that have a vertex.
    pub fn triangles_at(&self, v: u32) -> &[u32] {
        list(&self.around, v)
    }

    /// The other end of an edge.
    pub fn across(&self, edge: u32, v: u32) -> u32 {
        let [a, b] = self.edges[edge as usize].vertices;
        if a == v { b } else { a }
    }
}

/// An edge that goes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub edge: u32,
    pub face: u32,
}

/// A curve along which two surfaces, or two places of one, cross. Where it meets an edge of the first it goes through a face of the second, or the other way round.
#[derive(Clone, Debug, Default)]
pub struct Contour {
    /// Nodes with edges of the first surface, and of the second.
    pub traces: [Vec<Node>; 2],
    /// Vertices where it ends because the two surfaces are one and meet there: the tips of folds.
    pub tips: Vec<u32>,
}

/// Follows the crossings of `pairs` of triangles to contours. Pairs that overlap in one plane are no part of a contour and given apart.
pub fn contours(web: &Web, corners: &[[Vec3; 3]], pairs: &[[u32; 2]]) -> (Vec<Contour>, Vec<[u32; 2]>) {
    let mut flat = Vec::new();
    let mut hits: Vec<(Node, u32)> = Vec::new();
    for (pair, &[t, u]) in pairs.iter().enumerate() {
        let [a, b, c] = corners[t as usize];
        if corners[u as usize].iter().all(|&x| side_of_plane([a, b, c, x]) == 0) {
            flat.push([t, u]);
            continue;
        }
        for (t, face) in [(t, u), (u, t)] {
            for (k, &edge) in web.sides[t as usize].iter().enumerate() {
                let ends = web.edges[edge as usize].vertices;
                let strange = !ends.iter().any(|v| web.triangles[face as usize].contains(v));
                let of = corners[t as usize];
                if strange && segment_meets_triangle(of[k], of[(k + 1) % 3], corners[face as usize]) {
                    hits.push((Node { edge, face }, pair as u32));
                }
            }
        }
    }
    hits.sort_unstable();
    let nodes: Vec<&[(Node, u32)]> = hits.chunk_by(|a, b| a.0 == b.0).collect();
    let mut of_pair: Vec<Vec<u32>> = vec![Vec::new(); pairs.len()];
    for (n, hits) in nodes.iter().enumerate() {
        hits.iter().for_each(|hit| of_pair[hit.1 as usize].push(n as u32));
    }
    // Which triangle of each pair is of the first surface. The pairs at a node have its face in common, which is of the same surface in both.
    let mut first: Vec<u32> = vec![NONE; pairs.len()];
    let mut seen = vec![false; nodes.len()];
    let mut found = Vec::new();
    for begin in 0..pairs.len() {
        if first[begin] != NONE || of_pair[begin].is_empty() {
            continue;
        }
        first[begin] = pairs[begin][0];
        let (mut queue, mut next) = (vec![begin as u32], 0);
        let mut contour = Contour::default();
        while let Some(&pair) = queue.get(next) {
            next += 1;
            // Of two triangles with a common vertex one end of the contour is in a node and the other in the vertex.
            let [t, u] = pairs[pair as usize].map(|t| web.triangles[t as usize]);
            let common = t.into_iter().find(|v| u.contains(v));
            contour.tips.extend(common.filter(|_| of_pair[pair as usize].len() == 1));
            for &n in &of_pair[pair as usize] {
                if std::mem::replace(&mut seen[n as usize], true) {
                    continue;
                }
                let node = nodes[n as usize][0].0;
                let face_is_first = node.face == first[pair as usize];
                contour.traces[usize::from(face_is_first)].push(node);
                for &(_, other) in nodes[n as usize] {
                    if first[other as usize] == NONE {
                        let [t, u] = pairs[other as usize];
                        first[other as usize] = if (t == node.face) == face_is_first { t } else { u };
                        queue.push(other);
                    }
                }
            }
        }
        found.push(contour);
    }
    (found, flat)
}

/// A contour that ends inside a face is prolonged over at most so many of them.
const PROLONG: usize = 12;

/// Prolongs a contour where it ends: at the border of one surface, in a face of the other. If the border of the other is not far either, as where a cloth
/// is folded edge on edge, the contour all but divides it. Nodes of the way there, by surface; each has the last triangle of the one that ended for its face.
pub fn prolonged(web: &Web, corners: &[[Vec3; 3]], contour: &Contour) -> [Vec<Node>; 2] {
    let mut more = [Vec::new(), Vec::new()];
    for (surface, trace) in contour.traces.iter().enumerate() {
        for node in trace {
            let edge = &web.edges[node.edge as usize];
            if edge.triangles[1] != NONE {
                continue;
            }
            let last = edge.triangles[0];
            let [a, b, c] = corners[last as usize];
            let normal = (b - a).cross(c - a);
            let side = |k: usize| corners[last as usize][k];
            let k =
                (0..3).find(|&k| web.sides[last as usize][k] == node.edge).expect("an edge of its triangle");
            let (p, along, opposite) = (side(k), side((k + 1) % 3) - side(k), side((k + 2) % 3));
            let out = along.cross(normal);
            let out = if out.dot(opposite - p) > 0.0 { -out } else { out };
            let (mut face, mut from, mut way) = (node.face, NONE, Vec::new());
            for _ in 0..PROLONG {
                // The plane of the last triangle leaves the face through another edge, away from the triangle.
                let exit = (0..3).find(|&k| {
                    let (u, v) = (corners[face as usize][k], corners[face as usize][(k + 1) % 3]);
                    let (low, high) = (normal.dot(u - a), normal.dot(v - a));
                    let ahead = || out.dot(u.lerp(v, low / (low - high)) - p) > 0.0;
                    web.sides[face as usize][k] != from && low * high < 0.0 && ahead()
                });
                let Some(k) = exit else { break };
                from = web.sides[face as usize][k];
                way.push(Node { edge: from, face: last });
                let [t, u] = web.edges[from as usize].triangles;
                if u == NONE {
                    more[1 - surface].append(&mut way);
                    break;
                }
                face = if t == face { u } else { t };
            }
        }
    }
    more
}

/// What a contour cuts off.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Its vertices; none if the contour does not go round anything.
    pub vertices: Vec<u32>,
    /// Edges that the contour cuts, from a vertex inside, and of which surface they are.
    pub gates: Vec<(u32, Node, usize)>,
}

/// Room for flood fills.
pub struct Flood {
    /// Last fill that came to each vertex, and from which side.
    seen: Vec<(u32, bool)>,
    cut: Vec<u32>,
    /// Last fill for which each vertex was a wall.
    wall: Vec<u32>,
    fill: u32,
}

impl Flood {
    pub fn new(vertices: usize, edges: usize) -> Self {
        Flood { seen: vec![(0, false); vertices], cut: vec![0; edges], wall: vec![0; vertices], fill: 0 }
    }

    /// Whether a vertex is in the last region.
    fn inside(&self, v: u32) -> bool {
        self.seen[v as usize] == (self.fill, true)
    }

    /// Whether an edge was cut by the last contour, or ends in its tip.
    pub fn is_cut(&self, web: &Web, edge: u32) -> bool {
        let tip = web.edges[edge as usize].vertices.iter().any(|&v| self.is_wall(v));
        tip || self.cut[edge as usize] == self.fill
    }

    fn is_wall(&self, v: u32) -> bool {
        self.wall[v as usize] == self.fill
    }

    /// The smaller side of the mesh along a trace that goes through `tips`, if it divides the mesh. Every node comes with its surface.
    pub fn region(&mut self, web: &Web, mut trace: Vec<(Node, usize)>, tips: &[u32]) -> Region {
        self.fill += 1;
        tips.iter().for_each(|&v| self.wall[v as usize] = self.fill);
        trace.sort_unstable();
        // An edge that goes through twice ends on the side where it began.
        let odd = trace.chunk_by(|a, b| a.0.edge == b.0.edge).filter(|nodes| nodes.len() % 2 == 1);
        let cuts: Vec<(Node, usize)> = odd.map(|nodes| nodes[0]).collect();
        cuts.iter().for_each(|cut| self.cut[cut.0.edge as usize] = self.fill);
        let mut region = Region::default();
        for (cut, _) in &cuts {
            let ends = web.edges[cut.edge as usize].vertices;
            if ends.iter().any(|&v| self.inside(v) || self.is_wall(v)) {
                continue;
            }
            let Some(part) = self.smaller_side(web, ends) else { return Region::default() };
            part.iter().for_each(|&v| self.seen[v as usize] = (self.fill, true));
            region.vertices.extend(part);
        }
        for &(cut, surface) in &cuts {
            let [a, b] = web.edges[cut.edge as usize].vertices;
            match (self.inside(a), self.inside(b)) {
                (true, false) => region.gates.push((a, cut, surface)),
                (false, true) => region.gates.push((b, cut, surface)),
                _ => {}
            }
        }
        region
    }

    /// Spreads from both ends of a cut edge, a vertex here and a vertex there: whichever has no more to go to is the smaller.
    /// None if they meet.
    fn smaller_side(&self, web: &Web, ends: [u32; 2]) -> Option<Vec<u32>> {
        let mut side = std::collections::BTreeMap::from([(ends[0], 0), (ends[1], 1)]);
        let mut queues = [vec![ends[0]], vec![ends[1]]];
        for next in 0.. {
            for s in 0..2 {
                let Some(&v) = queues[s].get(next) else { return Some(std::mem::take(&mut queues[s])) };
                for &edge in web.edges_at(v).iter().filter(|&&e| !self.is_cut(web, e)) {
                    let other = web.across(edge, v);
                    match side.get(&other) {
                        None => {
                            side.insert(other, s);
                            queues[s].push(other);
                        }
                        Some(&of) if of != s => return None,
                        _ => {}
                    }
                }
            }
        }
        None
    }
}
