//! Bringing vertices back that went further than they may.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::Vec3;

use super::{Detector, Slab};
use crate::collide::proximity::Kind;
use crate::par::Team;
use crate::wide::Particle;

/// Vertices handed to a thread at a time.
const GRAIN: usize = 64;
/// Marks a vertex that went as far as it may without being in contact.
pub const FREE: f32 = 1.0;
/// Marks a vertex that was stopped by a contact.
pub const STOPPED: f32 = 2.0;
/// How often the walls around a vertex are gone through.
const SLIDES: u32 = 4;
/// A little less than all, so that rounding does not leave a vertex outside.
const ALMOST: f32 = 1.0 - 8.0 * f32::EPSILON;

impl Detector {
    /// Whether any vertex is so far from where it was at the detection that it may have contacts which are not known.
    pub fn strayed(&self, team: &mut Team, x: &[Particle]) -> bool {
        let count = AtomicUsize::new(0);
        let (center, outer) = (&self.center[..], &self.outer[..]);
        let x = &x[..center.len()];
        team.run(|worker| {
            let range = worker.share(x.len(), GRAIN);
            let all = x[range.clone()].iter().zip(&center[range.clone()]).zip(&outer[range]);
            let mut here = 0u32;
            for ((x, c), &b) in all {
                here += (square(x, c) > b * b) as u32;
            }
            count.fetch_add(here as usize, Ordering::Relaxed);
        });
        count.into_inner() > 0
    }

    /// Brings vertices back that went further than they may, and says how many.
    /// Where they wanted to go is kept in `wanted`, with [`FREE`] or [`STOPPED`] as w, and 0 for all others.
    pub fn clamp(&mut self, team: &mut Team, x: &mut [Particle], wanted: &mut [Particle]) -> usize {
        let n = self.center.len();
        let (x, wanted) = (&mut x[..n], &mut wanted[..n]);
        self.beyond.resize(n, false);
        let (center, inner, outer) = (&self.center[..], &self.inner[..], &self.outer[..]);
        // Those within the inner ball cannot break any bound; of the others some may go on along their slabs.
        let count = AtomicUsize::new(0);
        team.for_each_chunk2(&mut self.beyond, wanted, GRAIN, |first, beyond, wanted| {
            let range = first..first + beyond.len();
            let all = x[range.clone()].iter().zip(&center[range.clone()]).zip(&inner[range]);
            let mut here = 0;
            for ((beyond, wanted), ((x, c), &inner)) in beyond.iter_mut().zip(wanted).zip(all) {
                wanted.w = 0.0;
                *beyond = square(x, c) > inner * inner;
                here += *beyond as usize;
            }
            count.fetch_add(here, Ordering::Relaxed);
        });
        if count.into_inner() == 0 {
            return 0;
        }
        // What stops them, vertex by vertex, in an order that does not depend on threads.
        let beyond = &self.beyond[..];
        team.for_each_item(&mut self.batches, |_, batch| {
            batch.walls.clear();
            for slab in &batch.slabs {
                slab.walls(beyond, &mut batch.walls);
            }
        });
        self.walls.clear();
        self.batches.iter().for_each(|batch| self.walls.extend_from_slice(&batch.walls));
        self.walls.sort_unstable_by_key(|wall| wall.vertex);
        let (walls, count) = (&self.walls[..], AtomicUsize::new(0));
        team.for_each_chunk2(x, wanted, GRAIN, |first, x, wanted| {
            let mut walls = &walls[walls.partition_point(|wall| (wall.vertex as usize) < first)..];
            let mut here = 0;
            for (i, (x, wanted)) in x.iter_mut().zip(wanted).enumerate().filter(|(i, _)| beyond[first + i]) {
                let v = first + i;
                walls = &walls[walls.iter().take_while(|wall| (wall.vertex as usize) < v).count()..];
                let own = &walls[..walls.iter().take_while(|wall| wall.vertex as usize == v).count()];
                let c = Vec3::from(center[v].p);
                let way = Vec3::from(x.p) - c;
                let (went, stopped) = along(way, own, outer[v]);
                if went != way {
                    *wanted = Particle { p: x.p, w: if stopped { STOPPED } else { FREE } };
                    x.p = (c + went * ALMOST).into();
                    here += 1;
                }
            }
            count.fetch_add(here, Ordering::Relaxed);
        });
        count.into_inner()
    }
}

/// A vertex goes no further than `room` (m) against the direction `inward`; if that is below zero, it stays, or goes inward by as much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    vertex: u32,
    inward: Vec3,
    room: f32,
}

/// The part of a way (m) that walls and a ball of `radius` (m) allow, and whether a wall had a part in it. Along a wall it goes on; where
/// there is no way past several, it is cut short.
fn along(way: Vec3, walls: &[Wall], radius: f32) -> (Vec3, bool) {
    let (mut went, mut stopped) = (way, false);
    for _ in 0..SLIDES {
        let mut moved = false;
        for wall in walls {
            let beyond = -wall.inward.dot(went) - wall.room;
            if beyond > 0.0 {
                went += wall.inward * beyond;
                moved = true;
            }
        }
        stopped |= moved;
        if !moved {
            break;
        }
    }
    let length = went.length();
    if length > radius {
        went *= radius / length;
    }
    let mut part = 1.0f32;
    for wall in walls {
        // Below zero: a way out that is not long enough to be sure of is none.
        if wall.room < 0.0 && -wall.inward.dot(went) > 0.5 * wall.room {
            return (Vec3::ZERO, true);
        }
        let towards = -wall.inward.dot(went);
        if towards > wall.room {
            part = part.min(wall.room.max(0.0) / towards.max(f32::MIN_POSITIVE));
        }
    }
    (went * part, stopped)
}

impl Slab {
    /// What it is to its vertices that are beyond their inner ball.
    #[inline]
    fn walls(&self, beyond: &[bool], walls: &mut Vec<Wall>) {
        let first = if self.kind == Kind::PointTriangle { 1 } else { 2 };
        for (i, &vertex) in self.particles.iter().enumerate() {
            if !beyond[vertex as usize] {
                continue;
            }
            let normal = Vec3::from(self.normal);
            walls.push(Wall { vertex, inward: if i < first { normal } else { -normal }, room: self.room });
        }
    }
}

/// |x − c|², m².
#[inline(always)]
fn square(x: &Particle, c: &Particle) -> f32 {
    let (x, c) = (x.to_array(), c.to_array());
    let (dx, dy, dz) = (x[0] - c[0], x[1] - c[1], x[2] - c[2]);
    dx * dx + dy * dy + dz * dz
}
