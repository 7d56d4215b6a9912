//! A few vertices that go astray get new balls, around where they are: looking at everything for their sake would cost a hundred times as much.
//!
//! All other vertices stay in their balls, so every pair of such a vertex i that no slab keeps apart is known well enough without measuring anything else: along the direction n between its sides,
//! from the second side to that of i, they are apart by
//!
//! ```text
//! min(n·cᵢ − Rᵢ, min_a n·c_a − b_a) − max_j (n·c_j + b_j)        a: the others on the side of i
//! ```
//!
//! at least, now and, since that is concave in k, until the end of the plan if it is so there. Slabs stay as they are, and the vertex stays behind those it had.

use glam::Vec3;

use super::clamp::OVER;
use super::measure::{Slab, first_side};
use super::{Detector, SEEN};
use crate::collide::proximity::{self, Kind};
use crate::collide::query::Aabb;
use crate::collide::soup::{Soup, keep};
use crate::wide::Particle;

/// More vertices than this are not few.
const FEW: usize = 8;
/// A new ball is no good if it would be left in so many substeps.
const SOON: f32 = 3.0;
/// Nor if it is smaller than this part of the largest.
const SMALL: f32 = 0.25;
/// Part of its distance that a pair keeps at least; with balls of detections it is 0.08.
const SAFE: f32 = 0.04;

/// There is seldom more than this near a vertex.
const USUAL: usize = 1024;

/// What is near a vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby {
    /// What got a new ball since the detection, with the ways that were expected of them; and how far from there they are at most, m.
    renewed: Vec<(usize, Vec3)>,
    far: f32,
    strays: Vec<usize>,
    /// Where each patch is until the end of the plan.
    patches: Vec<Aabb>,
    slabs: Vec<Slab>,
    vertices: Vec<(Aabb, u32)>,
    own_edges: Vec<(Aabb, [u32; 2])>,
    edges: Vec<(Aabb, [u32; 2])>,
    triangles: Vec<(Aabb, [u32; 3])>,
}

impl Nearby {
    /// Makes room for what is usual among so many patches.
    pub fn reserve(&mut self, patches: usize) {
        self.patches.reserve(patches);
        self.renewed.reserve(USUAL);
        self.strays.reserve(FEW + 1);
        self.slabs.reserve(USUAL);
        self.vertices.reserve(USUAL);
        self.own_edges.reserve(USUAL);
        self.edges.reserve(USUAL);
        self.triangles.reserve(USUAL);
    }

    /// For a new detection.
    pub fn forget(&mut self) {
        self.renewed.clear();
        self.far = 0.0;
    }
}

/// Whether two pairs are the same, whichever side is called first.
fn same(kind: Kind, a: [u32; 4], b: [u32; 4]) -> bool {
    a == b || (kind == Kind::SegmentSegment && a == [b[2], b[3], b[0], b[1]])
}

impl Detector {
    /// Gives vertices that leave their balls on the way from `start` to `x` new ones if they are few; says whether all of them have good ones now.
    pub fn renew(&mut self, soup: &Soup, start: &[Particle], x: &[Particle]) -> bool {
        let mut nearby = std::mem::take(&mut self.nearby);
        let good = self.renew_strays(soup, start, x, &mut nearby);
        self.nearby = nearby;
        good
    }

    fn renew_strays(&mut self, soup: &Soup, start: &[Particle], x: &[Particle], nearby: &mut Nearby) -> bool {
        nearby.strays.clear();
        let strays = (0..self.moving_vertices()).filter(|&v| self.has_strayed(v, &x[v]));
        nearby.strays.extend(strays.take(FEW + 1));
        if nearby.strays.len() > FEW {
            return false;
        }
        nearby.slabs.clear();
        if self.around.is_known(&self.findings, self.center.len()) {
            let own = nearby.strays.iter().flat_map(|&v| self.around.slabs(&self.findings, v));
            nearby.slabs.extend(own);
        } else {
            let own = |v: &u32| nearby.strays.contains(&(*v as usize));
            nearby.slabs.extend(self.findings.slabs().filter(|slab| slab.particles.iter().any(own)));
        }
        let ends = self.ends();
        nearby.patches.clear();
        nearby.patches.extend((0..soup.patches()).map(|patch| self.pairs.swept_patch(patch, ends)));
        (0..nearby.strays.len()).all(|k| {
            let v = nearby.strays[k];
            let way = Vec3::from(x[v].p).distance(Vec3::from(start[v].p));
            let least = (SMALL * self.most).max(SOON * way);
            x[v].w > 0.0 && least < self.most && self.renew_one(soup, v, &start[v], least, nearby)
        })
    }

    /// Gives vertex v a ball around `center`, if it can be larger than `least` (m).
    fn renew_one(
        &mut self,
        soup: &Soup,
        v: usize,
        center: &Particle,
        least: f32,
        nearby: &mut Nearby,
    ) -> bool {
        let radius = self.room_around(soup, v, center.p.into(), least, nearby);
        if radius < least {
            return false;
        }
        let way = match nearby.renewed.iter().find(|(renewed, _)| *renewed == v) {
            Some((_, way)) => *way,
            None => self.ways[v].p.into(),
        };
        let off = |k: f32| (Vec3::from(self.origin[v].p) + way * k).distance(center.p.into());
        nearby.far = self.ends().map(off).into_iter().fold(nearby.far, f32::max);
        nearby.renewed.push((v, way));
        self.base[v].p = center.p;
        self.center[v].p = center.p;
        self.ways[v].p = [0.0; 3];
        self.outer[v] = radius;
        self.inner[v] = self.free_of_slabs(v, &nearby.slabs).min(radius);
        true
    }

    /// The substeps of the plan that are done before this one, and those at its end.
    fn ends(&self) -> [f32; 2] {
        if self.moving() { [self.done.saturating_sub(1), self.steps].map(|k| k as f32) } else { [0.0; 2] }
    }

    /// How far a vertex is at least from the slabs it is kept behind, around the middle of its ball, m.
    fn free_of_slabs(&self, v: usize, slabs: &[Slab]) -> f32 {
        let y = Vec3::from(self.center[v].p) - Vec3::from(self.origin[v].p);
        let mut least = f32::INFINITY;
        for slab in slabs {
            for i in (0..4).filter(|&i| slab.particles[i] as usize == v) {
                let sign = if i < first_side(slab.kind) { 1.0 } else { -1.0 };
                for k in self.ends() {
                    let room = sign * (Vec3::from(slab.normal).dot(y) - k * slab.speed) + slab.room;
                    least = least.min(if slab.room > 0.0 { room } else { 0.0 });
                }
            }
        }
        least.max(0.0)
    }

    /// The largest ball around `center` that vertex i may have, m; less than `least` if that is too little.
    fn room_around(&self, soup: &Soup, i: usize, center: Vec3, least: f32, nearby: &mut Nearby) -> f32 {
        let ends = self.ends();
        let mut ball = Ball { detector: self, soup, i: i as u32, center, radius: self.most, ends };
        let i = i as u32;
        let around = soup.triangles_at(i);
        let star =
            around.iter().map(|&t| ball.around(&soup.triangles[t as usize])).fold(Aabb::EMPTY, Aabb::join);
        // What was renewed is that much further from where its patch was looked for.
        let seen = SEEN * soup.thickest() + self.epsilon;
        let grow = self.most * (1.0 + OVER) + nearby.far + self.epsilon;
        let star = star.grown(seen);
        let far = star.grown(grow);
        let Nearby { slabs, patches, vertices, own_edges, edges, triangles, .. } = nearby;
        vertices.clear();
        own_edges.clear();
        edges.clear();
        triangles.clear();
        let near = |around: &Aabb| around.meets(&star);
        for (patch, _) in patches.iter().enumerate().filter(|(_, around)| around.meets(&far)) {
            let points = soup.patch_points(patch).filter(|&v| v != i).map(|v| (ball.around(&[v]), v));
            vertices.extend(points.filter(|(around, _)| near(around)));
            for edge in soup.patch_edges(patch).map(|e| soup.edges[e as usize]) {
                let around = ball.around(&edge);
                if near(&around) {
                    if edge.contains(&i) { &mut *own_edges } else { &mut *edges }.push((around, edge));
                }
            }
            let all = soup.patch_triangles(patch).map(|t| soup.triangles[t as usize]);
            let all = all.filter(|t| !t.contains(&i)).map(|t| (ball.around(&t), t));
            triangles.extend(all.filter(|(around, _)| near(around)));
        }
        let own = ball.around(&[i]).grown(seen);
        for &(_, [a, b, c]) in triangles.iter().filter(|(around, _)| around.meets(&own)) {
            ball.keep_apart(Kind::PointTriangle, [i, a, b, c], slabs);
        }
        for [a, b, c] in around.iter().map(|&t| soup.triangles[t as usize]) {
            let own = ball.around(&[a, b, c]).grown(seen);
            for &(_, p) in vertices.iter().filter(|(around, p)| ![a, b, c].contains(p) && around.meets(&own))
            {
                ball.keep_apart(Kind::PointTriangle, [p, a, b, c], slabs);
            }
        }
        for (own, [a, b]) in own_edges.iter() {
            let own = own.grown(seen);
            let apart = |e: &[u32; 2]| !e.contains(a) && !e.contains(b);
            for &(_, [c, d]) in edges.iter().filter(|(around, e)| apart(e) && around.meets(&own)) {
                if ball.radius < least {
                    return 0.0;
                }
                ball.keep_apart(Kind::SegmentSegment, [*a, *b, c, d], slabs);
            }
        }
        ball.radius
    }
}

/// The ball that a vertex is to have.
struct Ball<'a> {
    detector: &'a Detector,
    soup: &'a Soup,
    i: u32,
    center: Vec3,
    /// What is left of it, m.
    radius: f32,
    ends: [f32; 2],
}

impl Ball<'_> {
    /// Where a vertex is expected after k substeps.
    #[inline]
    fn at(&self, v: u32, k: f32) -> Vec3 {
        match v == self.i {
            true => self.center,
            false => {
                let Detector { base, ways, .. } = self.detector;
                Vec3::from(base[v as usize].p) + Vec3::from(ways[v as usize].p) * k
            }
        }
    }

    /// How far a vertex may be from there, m.
    #[inline]
    fn room(&self, v: u32) -> f32 {
        (1.0 + OVER) * if v == self.i { self.radius } else { self.detector.outer[v as usize] }
    }

    /// Where some vertices may be until the end of the plan.
    #[inline]
    fn around(&self, side: &[u32]) -> Aabb {
        let around = |&v: &u32| Aabb::around(self.ends.map(|k| self.at(v, k))).grown(self.room(v));
        side.iter().map(around).fold(Aabb::EMPTY, Aabb::join)
    }

    /// The distance that the sides of a pair should keep, m.
    fn gap(&self, kind: Kind, stencil: [u32; 4]) -> f32 {
        let (gap, less) = self.soup.gap(kind, &stencil);
        let at_rest = || stencil.map(|v| Vec3::from(self.soup.rest[v as usize].p));
        if less { keep(gap, proximity::proximity(kind, at_rest()).distance) } else { gap }
    }

    /// Makes the ball so small that a pair cannot meet, nor become a contact that is not known; but for those that `slabs` keep apart.
    fn keep_apart(&mut self, kind: Kind, stencil: [u32; 4], slabs: &[Slab]) {
        if slabs.iter().any(|slab| slab.kind == kind && same(kind, slab.particles, stencil)) {
            return;
        }
        if self.detector.pairs.meshes_only && stencil.iter().all(|&v| !self.soup.is_collider(v)) {
            return;
        }
        let (first, second) = stencil.split_at(first_side(kind));
        let epsilon = self.detector.epsilon;
        let near = proximity::proximity(kind, stencil.map(|v| self.at(v, self.ends[0])));
        let (own, others, n) = match first.contains(&self.i) {
            true => (first, second, near.direction),
            false => (second, first, -near.direction),
        };
        let least = SAFE * near.distance + epsilon;
        let seen = least.max(SEEN * self.gap(kind, stencil) + epsilon);
        for k in self.ends {
            let along = |v: u32| n.dot(self.at(v, k) - self.center);
            let most = others.iter().map(|&v| along(v) + self.room(v)).fold(f32::NEG_INFINITY, f32::max);
            let kept = |v: u32| along(v) - self.room(v) - most >= least;
            if own.iter().any(|&v| v != self.i && !kept(v)) {
                self.radius = 0.0;
                return;
            }
            self.radius = self.radius.min((-most - seen) / (1.0 + OVER)).max(0.0);
        }
    }
}
