//! All that may touch: vertices, edges and triangles of every cloth, and of collider meshes.
//!
//! Each vertex and each edge is owned by one *representative* triangle that it belongs to, so that a search over triangles meets every
//! pair of primitives once (Curtis, Tamstorf, Manocha 2008). Eight neighbouring triangles and what they own are a *patch*: boxes of patches
//! are what the broad phase sees, and eight is what a vector instruction compares at once.

use std::ops::Range;

use glam::Vec3;

use super::proximity::Kind;
use super::query::{Aabb, morton};
use crate::lanes::LANES;
use crate::mesh::{NONE, Topology};
use crate::model::Model;
use crate::par::Team;
use crate::wide::{Boxes8, Particle, Patches, Reach};

/// Part of their distance at rest that a pair of one part keeps, where that is less than the thickness.
const REST: f32 = 0.9;

/// Part of the thickness that two edges keep. Where layers lie on each other, vertices hold them apart; edges have to where they meet
/// at an angle, and are otherwise three times as many contacts for nothing.
const EDGES: f32 = 0.7;

/// Triangles that belong together: a cloth or a body.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its triangles, by particle.
    pub triangles: &'a [[u32; 3]],
    /// Half the distance that it keeps from other cloth and itself, m.
    pub radius: f32,
    /// The distance that cloth keeps from colliders, m; of no use for a collider.
    pub margin: f32,
    /// Whether it moves by itself and is never pushed: a collider. Two such parts are not tested against each other.
    pub kinematic: bool,
    /// Whether it is a rectangle without holes at rest.
    pub sheet: bool,
}

impl<'a> Part<'a> {
    /// A cloth of a thickness (m), which keeps half of that from colliders.
    pub fn cloth(triangles: &'a [[u32; 3]], thickness: f32) -> Self {
        Part { triangles, radius: 0.5 * thickness, margin: 0.5 * thickness, kinematic: false, sheet: false }
    }

    /// A collider.
    pub fn collider(triangles: &'a [[u32; 3]]) -> Self {
        Part { triangles, radius: 0.0, margin: 0.0, kinematic: true, sheet: false }
    }
}

/// What is known of a part once it is in the soup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Half the distance it keeps from other cloth and itself, m.
    pub radius: f32,
    /// The distance it keeps from colliders, m.
    pub margin: f32,
    /// Whether it is a collider.
    pub kinematic: bool,
    /// Whether it is a rectangle without holes at rest.
    pub sheet: bool,
    /// Whether it is a collider that does not move for now; what touches it may then use the whole distance.
    pub still: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Soup {
    /// Where everything is at rest; distances there say which pairs may be close at all times.
    pub rest: Vec<Particle>,
    /// Corners of the triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Ends of the edges.
    pub edges: Vec<[u32; 2]>,
    /// The parts.
    pub groups: Vec<Group>,
    /// The part of each vertex; [`NONE`] where it has no triangle.
    pub vertex_group: Vec<u32>,
    /// The triangle that owns each vertex; [`NONE`] where it has none.
    pub vertex_owner: Vec<u32>,
    /// The triangle that owns each edge.
    pub edge_owner: Vec<u32>,
    /// Runs of vertices that have a triangle.
    pub spans: Vec<Range<usize>>,
    /// The longest edge at rest, m.
    longest: f32,
    /// The triangle across each side ab, bc, ca of every triangle; [`NONE`] on the border.
    across: Vec<[u32; 3]>,
    /// Triangles around each vertex, one after another, and where those of each begin.
    around: Vec<u32>,
    around_starts: Vec<u32>,
    any_still: bool,
    /// Vertices of the triangles of each patch, each once, and where those of each begin.
    corners: Vec<u32>,
    corner_starts: Vec<u32>,
    /// The part of each patch.
    pub patch_group: Vec<u32>,
    triangle_ids: Vec<[u32; LANES]>,
    vertex_starts: Vec<u32>,
    vertex_ids: Vec<[u32; LANES]>,
    edge_starts: Vec<u32>,
    edge_ids: Vec<[u32; LANES]>,
    /// The patch of each eight of vertices and edges.
    vertex_patch: Vec<u32>,
    edge_patch: Vec<u32>,
}

impl Soup {
    /// Takes parts whose particles are at `rest` when nothing pulls on them. No vertex may belong to two parts.
    pub fn new(parts: &[Part<'_>], rest: &[Particle]) -> Self {
        let n = rest.len();
        let mut soup = Soup {
            rest: rest.to_vec(),
            vertex_group: vec![NONE; n],
            vertex_owner: vec![NONE; n],
            vertex_starts: vec![0],
            edge_starts: vec![0],
            corner_starts: vec![0],
            ..Soup::default()
        };
        for part in parts {
            soup.add(part);
        }
        let mut corners: Vec<(u32, u32)> =
            (soup.triangles.iter().zip(0u32..)).flat_map(|(corners, t)| corners.map(|v| (v, t))).collect();
        corners.sort_unstable();
        soup.around_starts = vec![0; n + 1];
        corners.iter().for_each(|&(v, _)| soup.around_starts[v as usize + 1] += 1);
        for v in 0..n {
            soup.around_starts[v + 1] += soup.around_starts[v];
        }
        soup.around = corners.into_iter().map(|(_, t)| t).collect();
        for v in (0..n).filter(|&v| soup.vertex_group[v] != NONE) {
            match soup.spans.last_mut() {
                Some(span) if span.end == v => span.end += 1,
                _ => soup.spans.push(v..v + 1),
            }
        }
        soup
    }

    /// All cloths and collider meshes of a model, as they start; `thickness` (m), if given, is that of every cloth.
    pub fn of_model(model: &Model, thickness: Option<f32>) -> Self {
        let mut rest: Vec<Particle> =
            model.start.iter().map(|p| Particle { p: (*p).into(), w: 1.0 }).collect();
        rest.resize(model.items(), Particle::default());
        let mut parts: Vec<Part<'_>> = Vec::new();
        for cloth in &model.cloths {
            let triangles = &model.triangles[cloth.triangles.clone()];
            let part = Part::cloth(triangles, thickness.unwrap_or(cloth.thickness));
            parts.push(Part { margin: cloth.margin.max(part.radius), sheet: cloth.grid.is_some(), ..part });
        }
        for mesh in &model.collider_meshes {
            for (place, p) in rest[mesh.vertices.clone()].iter_mut().zip(&mesh.start) {
                place.p = (*p).into();
            }
            parts.push(Part::collider(&mesh.triangles));
        }
        Soup::new(&parts, &rest)
    }

    fn add(&mut self, part: &Part<'_>) {
        let group = self.groups.len() as u32;
        self.groups.push(Group {
            radius: part.radius,
            margin: part.margin,
            kinematic: part.kinematic,
            sheet: part.sheet,
            still: false,
        });
        let first = self.triangles.len() as u32;
        self.triangles.extend_from_slice(part.triangles);
        self.across.resize(self.triangles.len(), [NONE; 3]);
        for &v in part.triangles.iter().flatten() {
            let of = &mut self.vertex_group[v as usize];
            assert!(*of == NONE || *of == group, "vertex {v} belongs to two parts");
            *of = group;
        }
        // Neighbours come together along a Morton curve through the rest shape. Cloth does not stretch much, so they stay together.
        let at = |v: u32| Vec3::from(self.rest[v as usize].p);
        let axes =
            if part.sheet { sheet_axes(part.triangles[0].map(at)) } else { [Vec3::X, Vec3::Y, Vec3::Z] };
        let turned = |p: Vec3| Vec3::from(axes.map(|axis| axis.dot(p)));
        let middle = |t: &[u32; 3]| turned(t.map(at).iter().sum::<Vec3>() / 3.0);
        let hull = match part.sheet {
            true => Aabb::around(part.triangles.iter().flatten().map(|&v| turned(at(v)))),
            false => Aabb::around(part.triangles.iter().map(middle)),
        };
        let mut size = hull.size().max_element().max(f32::MIN_POSITIVE);
        if part.sheet {
            // The curve divides by two: so that it does not cut cells of the grid.
            let [a, b, c] = part.triangles[0].map(|v| turned(at(v)));
            let cell = (b - a).length().min((c - b).length()).min((a - c).length());
            size = cell * ((size / cell).ceil() as u32).next_power_of_two() as f32;
        }
        let mut order: Vec<(u64, u32)> = (part.triangles.iter().enumerate())
            .map(|(t, corners)| (morton((middle(corners) - hull.low) / size), t as u32))
            .collect();
        order.sort_unstable();
        let mut place = vec![0; order.len()];
        for (k, &(_, t)) in order.iter().enumerate() {
            place[t as usize] = k as u32;
        }
        // The first triangle along the curve owns what several share.
        let patches = order.len().div_ceil(LANES);
        let mut vertices: Vec<Vec<u32>> = vec![Vec::new(); patches];
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); patches];
        for (k, &(_, t)) in order.iter().enumerate() {
            for v in part.triangles[t as usize] {
                if self.vertex_owner[v as usize] == NONE {
                    self.vertex_owner[v as usize] = first + t;
                    vertices[k / LANES].push(v);
                }
            }
        }
        for edge in Topology::new(self.rest.len(), part.triangles).edges {
            let sides = edge.triangles.iter().filter(|&&t| t != NONE);
            let owner = *sides.min_by_key(|&&t| place[t as usize]).expect("an edge belongs to a triangle");
            edges[place[owner as usize] as usize / LANES].push(self.edges.len() as u32);
            self.edges.push(edge.vertices);
            let [a, b] = edge.vertices.map(|v| Vec3::from(self.rest[v as usize].p));
            self.longest = self.longest.max((a - b).length());
            let [t, u] = edge.triangles;
            if u != NONE {
                for (t, u) in [(t, u), (u, t)] {
                    let side = opposite(part.triangles[t as usize], edge.vertices);
                    self.across[(first + t) as usize][(side + 1) % 3] = first + u;
                }
            }
            self.edge_owner.push(first + owner);
        }
        for patch in 0..patches {
            let mut ids = [NONE; LANES];
            for (lane, &(_, t)) in order[patch * LANES..].iter().take(LANES).enumerate() {
                ids[lane] = first + t;
            }
            let mut corners: Vec<u32> = order[patch * LANES..]
                .iter()
                .take(LANES)
                .flat_map(|&(_, t)| part.triangles[t as usize])
                .collect();
            corners.sort_unstable();
            corners.dedup();
            self.corners.extend(corners);
            self.corner_starts.push(self.corners.len() as u32);
            self.triangle_ids.push(ids);
            self.patch_group.push(group);
            push_eights(&vertices[patch], &mut self.vertex_ids, &mut self.vertex_starts);
            push_eights(&edges[patch], &mut self.edge_ids, &mut self.edge_starts);
            let number = self.patch_group.len() as u32 - 1;
            self.vertex_patch.resize(self.vertex_ids.len(), number);
            self.edge_patch.resize(self.edge_ids.len(), number);
        }
    }

    /// How many vertices there are, those without a triangle among them.
    pub fn vertices(&self) -> usize {
        self.vertex_group.len()
    }

    /// How many patches there are.
    pub fn patches(&self) -> usize {
        self.triangle_ids.len()
    }

    /// Whether the two sides of a stencil belong to one part.
    #[inline]
    pub fn same_group(&self, stencil: &[u32; 4]) -> bool {
        self.groups.len() == 1
            || self.vertex_group[stencil[0] as usize] == self.vertex_group[stencil[3] as usize]
    }

    /// The vertices of the triangles of a patch.
    #[inline]
    pub fn patch_vertices(&self, patch: usize) -> &[u32] {
        &self.corners[self.corner_starts[patch] as usize..self.corner_starts[patch + 1] as usize]
    }

    /// From where to where a patch goes along a direction, m.
    #[inline]
    fn along(&self, n: Vec3, patch: usize, x: &[Particle]) -> [f32; 2] {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for &v in self.patch_vertices(patch) {
            let at = n.dot(x[v as usize].p.into());
            (low, high) = (low.min(at), high.max(at));
        }
        [low, high]
    }

    /// The triangles of a patch.
    pub fn patch_triangles(&self, patch: usize) -> impl Iterator<Item = u32> {
        self.triangle_ids[patch].into_iter().filter(|&t| t != NONE)
    }

    /// The vertices that a patch owns.
    pub fn patch_points(&self, patch: usize) -> impl Iterator<Item = u32> {
        owned(&self.vertex_ids, &self.vertex_starts, patch)
    }

    /// The edges that a patch owns.
    pub fn patch_edges(&self, patch: usize) -> impl Iterator<Item = u32> {
        owned(&self.edge_ids, &self.edge_starts, patch)
    }

    /// The box around a patch.
    #[inline]
    fn around_patch(&self, patch: usize, x: &[Particle]) -> Aabb {
        let (mut low, mut high) = ([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]);
        for &v in self.patch_vertices(patch) {
            let x = x[v as usize].to_array();
            for c in 0..4 {
                low[c] = if x[c] < low[c] { x[c] } else { low[c] };
                high[c] = if x[c] > high[c] { x[c] } else { high[c] };
            }
        }
        Aabb { low: Vec3::new(low[0], low[1], low[2]), high: Vec3::new(high[0], high[1], high[2]) }
    }

    /// The mean normal of a patch, of unit length, or zero.
    fn patch_normal(&self, patch: usize, x: &[Particle]) -> Vec3 {
        let at = |v: u32| Vec3::from(x[v as usize].p);
        let areas = self.patch_triangles(patch).map(|t| {
            let [a, b, c] = self.triangles[t as usize].map(at);
            (b - a).cross(c - a)
        });
        areas.sum::<Vec3>().normalize_or_zero()
    }

    /// Says which colliders stand still, part by part.
    pub fn set_still(&mut self, part: usize, still: bool) {
        self.groups[part].still = still && self.groups[part].kinematic;
        self.any_still = self.groups.iter().any(|group| group.still);
    }

    /// The vertices of colliders that stand still.
    pub fn still(&self) -> impl Iterator<Item = usize> {
        let still = |group: u32| self.groups.get(group as usize).is_some_and(|group| group.still);
        let vertices = self.vertex_group.iter().enumerate().filter(|_| self.any_still);
        vertices.filter(move |(_, group)| still(**group)).map(|(v, _)| v)
    }

    /// Whether a vertex is one of a collider.
    #[inline]
    pub fn is_collider(&self, v: u32) -> bool {
        self.groups[self.vertex_group[v as usize] as usize].kinematic
    }

    /// Whether a vertex is one of a collider that moves.
    #[inline]
    pub fn is_driven(&self, v: u32) -> bool {
        let group = &self.groups[self.vertex_group[v as usize] as usize];
        group.kinematic && !group.still
    }

    /// The distance that the two sides of a stencil keep, m.
    #[inline]
    pub fn thickness(&self, stencil: &[u32; 4]) -> f32 {
        if let [one] = self.groups[..] {
            return 2.0 * one.radius;
        }
        let group = |v: u32| self.vertex_group[v as usize];
        self.thickness_between(group(stencil[0]), group(stencil[3]))
    }

    /// The distance that two parts keep, or one from itself, m.
    #[inline]
    pub fn thickness_between(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (&self.groups[a as usize], &self.groups[b as usize]);
        // A collider has none of either.
        if a.kinematic || b.kinematic { a.margin + b.margin } else { a.radius + b.radius }
    }

    /// The largest distance that any two sides keep, m.
    pub fn thickest(&self) -> f32 {
        let meshes = self.groups.iter().any(|group| group.kinematic);
        let gap = |g: &Group| if meshes { g.margin.max(2.0 * g.radius) } else { 2.0 * g.radius };
        self.groups.iter().map(gap).fold(0.0, f32::max)
    }

    /// The distance that the two sides of a stencil should keep, m, and whether it may have to be less because they are close at rest: see [`keep`].
    #[inline]
    pub fn gap(&self, kind: Kind, stencil: &[u32; 4]) -> (f32, bool) {
        let part = if kind == Kind::SegmentSegment { EDGES } else { 1.0 };
        let thickness = part * self.thickness(stencil);
        if !self.same_group(stencil) {
            return (thickness, false);
        }
        let at = |v: u32| Vec3::from(self.rest[v as usize].p);
        let far = thickness / REST + 2.0 * self.longest;
        (thickness, (at(stencil[0]) - at(stencil[3])).length_squared() <= far * far)
    }

    /// Triangles that have a vertex.
    pub fn triangles_at(&self, v: u32) -> &[u32] {
        let [from, to] = [v, v + 1].map(|v| self.around_starts[v as usize] as usize);
        &self.around[from..to]
    }

    /// Whether the point of a stencil really touches the surface there, and this triangle is the one to say so.
    ///
    /// Where the closest point is on a side or a corner, the triangles beyond have something to say as well. If the point is nearer to the inside of one of them, only that
    /// one counts; a row from here would push aslant. If it is not, all of them report the same contact, and one is enough.
    /// `weights` are those of the corners in the closest point; those that do not count are zero.
    pub fn reports(&self, stencil: &[u32; 4], weights: [f32; 3], x: &[Particle]) -> bool {
        let corners = [stencil[1], stencil[2], stencil[3]];
        if weights.iter().all(|&w| w != 0.0) {
            return true;
        }
        let at = |v: u32| Vec3::from(x[v as usize].p);
        let q: Vec3 =
            (0..3).map(|k| (at(corners[k]) - at(corners[0])) * weights[k]).sum::<Vec3>() + at(corners[0]);
        let away = at(stencil[0]) - q;
        // Behind the plane through q across `away`, but for rounding.
        let behind = |v: u32| {
            let side = at(v) - q;
            let along = away.dot(side);
            along <= 0.0 || along * along <= 1e-6 * away.length_squared() * side.length_squared()
        };
        if let Some(k) = (0..3).find(|&k| weights[k] != 0.0 && weights[(k + 1) % 3] != 0.0) {
            let same = |&&t: &&u32| self.triangles[t as usize] == corners;
            let t = *self.triangles_at(corners[0]).iter().find(same).expect("the triangle of a stencil");
            let other = self.across[t as usize][k];
            if other == NONE {
                return true;
            }
            let beyond = opposite(self.triangles[other as usize], [corners[k], corners[(k + 1) % 3]]);
            return t < other && behind(self.triangles[other as usize][beyond]);
        }
        let corner = (0..3).find(|&k| weights[k] != 0.0).map_or(corners[0], |k| corners[k]);
        let owner = self.vertex_owner[corner as usize] as usize;
        let ring = self.triangles_at(corner).iter().flat_map(|&t| self.triangles[t as usize]);
        self.triangles[owner] == corners && ring.filter(|&v| v != corner).all(behind)
    }
}

/// Axes along the shortest side of a triangle, across it in its plane, and across that: those of a regular grid, for one of its triangles.
pub fn sheet_axes([a, b, c]: [Vec3; 3]) -> [Vec3; 3] {
    let sides = [b - a, c - b, a - c];
    let shortest = sides.into_iter().min_by(|p, q| p.length_squared().total_cmp(&q.length_squared()));
    let along = shortest.map_or(Vec3::X, Vec3::normalize_or_zero);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    [along, normal.cross(along), normal]
}

/// What two sides with such a gap keep of it if they are so far apart at rest, m.
#[inline]
pub fn keep(gap: f32, at_rest: f32) -> f32 {
    gap.min(REST * at_rest)
}

/// Which corner of a triangle is not on an edge of it.
fn opposite(corners: [u32; 3], edge: [u32; 2]) -> usize {
    (0..3).find(|&k| !edge.contains(&corners[k])).expect("a triangle has a corner off each of its edges")
}

/// Those of a patch.
fn owned(ids: &[[u32; LANES]], starts: &[u32], patch: usize) -> impl Iterator<Item = u32> {
    let [from, to] = [patch, patch + 1].map(|patch| starts[patch] as usize);
    ids[from..to].iter().flatten().copied().filter(|&id| id != NONE)
}

/// Appends a list in eights, the last filled up with [`NONE`].
fn push_eights(list: &[u32], ids: &mut Vec<[u32; LANES]>, starts: &mut Vec<u32>) {
    for chunk in list.chunks(LANES) {
        let mut eight = [NONE; LANES];
        eight[..chunk.len()].copy_from_slice(chunk);
        ids.push(eight);
    }
    starts.push(ids.len() as u32);
}

/// Boxes of all primitives of a soup at some moment.
#[derive(Clone, Debug, Default)]
pub struct PatchBoxes {
    triangles: Vec<Boxes8>,
    vertices: Vec<Boxes8>,
    edges: Vec<Boxes8>,
    hulls: Vec<Reach>,
    /// The mean normal of each patch, and from where to where it goes along that, m.
    normals: Vec<(Vec3, [f32; 2])>,
    /// The box of each whole patch, grown too.
    pub patches: Vec<Aabb>,
}

impl PatchBoxes {
    /// Forgets the soup.
    pub fn clear(&mut self) {
        self.triangles.clear();
        self.vertices.clear();
        self.edges.clear();
    }

    /// Makes room for the boxes of a soup.
    pub fn resize(&mut self, soup: &Soup) {
        self.triangles.resize(soup.triangle_ids.len(), Boxes8::EMPTY);
        self.vertices.resize(soup.vertex_ids.len(), Boxes8::EMPTY);
        self.edges.resize(soup.edge_ids.len(), Boxes8::EMPTY);
        self.hulls.resize(soup.patches(), Reach { low: [0.0; 3], high: [0.0; 3], number: f32::NEG_INFINITY });
        self.normals.resize(soup.patches(), (Vec3::ZERO, [0.0; 2]));
    }

    /// Puts the boxes of whole patches where the particles are, grown by `grow` (m) on all sides.
    pub fn refit(&mut self, team: &mut Team, soup: &Soup, x: &[Particle], grow: f32) {
        self.patches.resize(soup.patches(), Aabb::EMPTY);
        team.for_each_chunk(&mut self.patches, LANES, |first, patches| {
            for (i, patch) in patches.iter_mut().enumerate() {
                *patch = soup.around_patch(first + i, x).grown(grow);
            }
        });
    }

    /// Puts the boxes of all primitives of some patches where the particles are, grown by `grow` (m) on all sides. The soup is the same as the last time, or
    /// [`clear`](Self::clear) was called.
    pub fn refit_some(
        &mut self,
        team: &mut Team,
        soup: &Soup,
        x: &[Particle],
        grow: f32,
        some: impl Fn(usize) -> bool + Sync,
    ) {
        self.resize(soup);
        fit(team, &mut self.triangles, &soup.triangle_ids, &some, |t| soup.triangles[t as usize], x, grow);
        let of_vertices = |k: usize| some(soup.vertex_patch[k] as usize);
        fit(team, &mut self.vertices, &soup.vertex_ids, of_vertices, |v| [v], x, grow);
        let of_edges = |k: usize| some(soup.edge_patch[k] as usize);
        fit(team, &mut self.edges, &soup.edge_ids, of_edges, |e| soup.edges[e as usize], x, grow);
        let triangles = &self.triangles[..];
        team.for_each_chunk2(&mut self.hulls, &mut self.normals, LANES, |first, hulls, normals| {
            for (i, (hull, normal)) in
                hulls.iter_mut().zip(normals).enumerate().filter(|(i, _)| some(first + i))
            {
                let (low, high, _) = triangles[first + i].hull();
                *hull = Reach { low, high, number: f32::NEG_INFINITY };
                let n = soup.patch_normal(first + i, x);
                *normal = (n, soup.along(n, first + i, x));
            }
        });
    }

    /// A distance that the insides of two patches are apart at least, m, but for rounding; below zero if none is known.
    pub fn separation(&self, soup: &Soup, patches: [u32; 2], x: &[Particle]) -> f32 {
        let [g, h] = patches.map(|patch| patch as usize);
        let apart = |own: usize, other: usize| {
            let (n, a) = self.normals[own];
            let b = soup.along(n, other, x);
            (a[0] - b[1]).max(b[0] - a[1])
        };
        apart(g, h).max(apart(h, g))
    }

    /// The soup with these boxes, ready to be searched.
    pub fn view<'a>(&'a self, soup: &'a Soup) -> Patches<'a> {
        Patches {
            triangle_ids: &soup.triangle_ids,
            triangle_boxes: &self.triangles,
            vertex_starts: &soup.vertex_starts,
            vertex_ids: &soup.vertex_ids,
            vertex_boxes: &self.vertices,
            edge_starts: &soup.edge_starts,
            edge_ids: &soup.edge_ids,
            edge_boxes: &self.edges,
            hulls: &self.hulls,
            triangles: &soup.triangles,
            edges: &soup.edges,
        }
    }
}

/// The boxes of primitives with N vertices, of the eights that are chosen.
fn fit<const N: usize>(
    team: &mut Team,
    boxes: &mut [Boxes8],
    ids: &[[u32; LANES]],
    chosen: impl Fn(usize) -> bool + Sync,
    vertices: impl Fn(u32) -> [u32; N] + Sync,
    x: &[Particle],
    grow: f32,
) {
    team.for_each_chunk(boxes, LANES, |first, boxes| {
        for (k, (boxes, ids)) in boxes.iter_mut().zip(&ids[first..]).enumerate() {
            if !chosen(first + k) {
                continue;
            }
            for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != NONE) {
                let vertices = vertices(id);
                let (mut low, mut high) = (x[vertices[0] as usize].p, x[vertices[0] as usize].p);
                for &v in &vertices[1..] {
                    for (axis, &c) in x[v as usize].p.iter().enumerate() {
                        low[axis] = if c < low[axis] { c } else { low[axis] };
                        high[axis] = if c > high[axis] { c } else { high[axis] };
                    }
                }
                boxes.set(lane, low.map(|c| c - grow), high.map(|c| c + grow), 0.0);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Grid, irregular_sheet};

    fn particles(positions: &[[f32; 3]]) -> Vec<Particle> {
        positions.iter().map(|&p| Particle { p, w: 1.0 }).collect()
    }

    #[test]
    fn everything_is_owned_once_by_a_triangle_that_has_it() {
        let sheet = irregular_sheet([1.0, 0.7], [17, 9], 3);
        let grid = Grid { cells_x: 5, cells_z: 4, size_x: 1.0, size_z: 1.0 }.mesh();
        let offset = sheet.positions.len() as u32;
        let second: Vec<[u32; 3]> = grid.triangles.iter().map(|t| t.map(|v| v + offset)).collect();
        let mut positions = sheet.positions.clone();
        positions.extend(&grid.positions);
        positions.push([9.0; 3]);
        let part = |triangles, kinematic| Part { kinematic, ..Part::cloth(triangles, 0.02) };
        let soup = Soup::new(&[part(&sheet.triangles, false), part(&second, true)], &particles(&positions));
        assert_eq!(soup.vertices(), positions.len());
        let mut owned = [vec![0; soup.vertices()], vec![0; soup.edges.len()], vec![0; soup.triangles.len()]];
        for patch in 0..soup.patches() {
            let range = |starts: &[u32]| starts[patch] as usize..starts[patch + 1] as usize;
            let here = soup.triangle_ids[patch];
            for &t in here.iter().filter(|&&t| t != NONE) {
                owned[2][t as usize] += 1;
                assert_eq!(
                    soup.vertex_group[soup.triangles[t as usize][0] as usize],
                    soup.patch_group[patch]
                );
            }
            for &v in soup.vertex_ids[range(&soup.vertex_starts)].iter().flatten().filter(|&&v| v != NONE) {
                owned[0][v as usize] += 1;
                let owner = soup.vertex_owner[v as usize];
                assert!(here.contains(&owner) && soup.triangles[owner as usize].contains(&v));
            }
            for &e in soup.edge_ids[range(&soup.edge_starts)].iter().flatten().filter(|&&e| e != NONE) {
                owned[1][e as usize] += 1;
                let owner = soup.edge_owner[e as usize];
                let corners = soup.triangles[owner as usize];
                assert!(here.contains(&owner) && soup.edges[e as usize].iter().all(|v| corners.contains(v)));
            }
        }
        let lonely = soup.vertices() - 1;
        assert_eq!((owned[0][lonely], soup.vertex_owner[lonely]), (0, NONE));
        owned[0].pop();
        assert!(owned.iter().flatten().all(|&n| n == 1));
        assert!(soup.same_group(&[0, 1, 2, 3]) && !soup.same_group(&[0, 1, 2, offset]));
    }
}
