//! Where a cloth is spread out, nothing of it is near anything else of it, and pairs need not be looked for.
//!
//! A *sheet* is flat and rectangular at rest. Where it is now is f, linear in every triangle, with a gradient F of 3 × 2. If with some frame R of two
//! orthonormal vectors sym(RᵀF) ≥ c in all triangles between two points p and q of it, then along the straight line from one to the other, which is in the sheet since that is
//! convex,
//!
//! ```text
//! |f(p) − f(q)| |p − q| ≥ (p − q)·Rᵀ(f(p) − f(q)) = ∫ (p − q)·RᵀF (p − q) ≥ c |p − q|²
//! ```
//!
//! Two primitives without a common vertex are a apart at rest, the least altitude of any triangle: the line from a vertex to anything that does not have it leaves the
//! triangles around the vertex by the side opposite to it, and of two edges that do not cross an end of one is as near to the other as anything. So now they are
//! c a apart, or more. As sym(RᵀF) is linear in the positions, c holds all the way between two moments if it does at both.
//!
//! Every patch Q has a frame R_Q, and c_Q and the largest |F| for it. For two patches all that have a part in the rectangle around both at rest count, in the frame of the
//! first: c = min c_Q − |R − R_Q| |F_Q|.

use glam::{Vec2, Vec3};

use crate::collide::soup::{Soup, sheet_axes};
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::mesh::NONE;
use crate::wide::{Particle, StencilKernel, eight_stencils};

/// What rounding leaves of a distance.
const SURE: f32 = 0.99;
/// Rectangles that overlap by less than this part of the least altitude only touch.
const TOUCH: f32 = 1e-3;
/// Triangles of a sheet have normals with this cosine at least.
const FLAT: f32 = 1.0 - 1e-6;

/// How a patch is spread out, now and at the end of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    frame: [Vec3; 2],
    /// c.
    least: f32,
    /// |F|.
    most: f32,
}

/// Two patches of one sheet that touch at rest.
#[derive(Clone, Copy, Debug)]
struct Link {
    other: u32,
    /// Where the patches in the rectangle around both end in the list; they begin where those of the link before end.
    end: u32,
}

/// A patch of a sheet.
#[derive(Clone, Copy, Debug, Default)]
struct Patch {
    /// Of its triangles the corners, the first of them twice, and the inverse of the two edges from there, 1/m.
    corners: [[u32; 4]; LANES],
    inverse: [[f32; 4]; LANES],
    /// The same of a triangle of vertices that are far from each other.
    whole: ([u32; 3], [f32; 4]),
    /// The least altitude of any triangle in the sheet, m; zero if it is of none.
    altitude: f32,
}

/// All sheets of a soup, as they are at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheets {
    patches: Vec<Patch>,
    /// Links of each patch with itself and those of higher numbers, in order, and where they begin.
    starts: Vec<u32>,
    links: Vec<Link>,
    between: Vec<u32>,
}

/// A rectangle at rest, m.
#[derive(Clone, Copy, Debug)]
struct Rectangle {
    low: Vec2,
    high: Vec2,
}

impl Rectangle {
    fn join(self, other: Self) -> Self {
        Rectangle { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn overlaps(&self, other: &Self, by: f32) -> bool {
        let common = self.high.min(other.high) - self.low.max(other.low);
        common.min_element() > by
    }
}

impl Sheets {
    pub fn new(soup: &Soup) -> Self {
        let mut sheets = Sheets { starts: vec![0], ..Sheets::default() };
        let mut first = 0;
        for (group, part) in soup.groups.iter().enumerate() {
            let count = soup.patch_group[first..].iter().take_while(|&&g| g as usize == group).count();
            let patches = first..first + count;
            if !(part.sheet && sheets.add(soup, patches.clone())) {
                let last = *sheets.starts.last().expect("it begins with one");
                sheets.starts.resize(patches.end + 1, last);
                sheets.patches.resize(patches.end, Patch::default());
            }
            first = patches.end;
        }
        sheets
    }

    /// Adds a sheet with its patches; false, and nothing is added, if it is not flat.
    fn add(&mut self, soup: &Soup, patches: std::ops::Range<usize>) -> bool {
        let rest = |v: u32| Vec3::from(soup.rest[v as usize].p);
        let corners = |t: u32| soup.triangles[t as usize].map(rest);
        let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(c - a).normalize_or_zero();
        let all = || patches.clone().flat_map(|patch| soup.patch_triangles(patch));
        let Some(first) = all().next().map(corners) else { return false };
        let [along, across, n] = sheet_axes(first);
        if !all().all(|t| normal(corners(t)).dot(n) > FLAT) {
            return false;
        }
        let flat = |p: Vec3| Vec2::new(along.dot(p - first[0]), across.dot(p - first[0]));
        let mut altitude = f32::INFINITY;
        let mut rectangles = Vec::with_capacity(patches.len());
        let inverse = |[a, b, c]: [Vec2; 3]| {
            let (u, v) = (b - a, c - a);
            [v.y, -v.x, -u.y, u.x].map(|entry| entry / u.perp_dot(v))
        };
        for number in patches.clone() {
            let mut patch = Patch::default();
            for (lane, t) in soup.patch_triangles(number).enumerate() {
                let [a, b, c] = corners(t).map(flat);
                let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
                altitude = altitude.min((b - a).perp_dot(c - a) / longest);
                let [i, j, k] = soup.triangles[t as usize];
                // Lanes without a triangle repeat the last.
                patch.corners[lane..].fill([i, j, k, i]);
                patch.inverse[lane..].fill(inverse([a, b, c]));
            }
            let vertices = soup.patch_vertices(number);
            let place = |v: u32| flat(rest(v));
            let farthest = |far: &dyn Fn(Vec2) -> f32| {
                let all = vertices.iter().copied();
                all.max_by(|&a, &b| far(place(a)).total_cmp(&far(place(b)))).expect("a patch has vertices")
            };
            let a = farthest(&|p| -p.x - p.y);
            let b = farthest(&|p| p.distance(place(a)));
            let c = farthest(&|p| (p - place(a)).perp_dot(place(b) - place(a)).abs());
            patch.whole = ([a, b, c], inverse([a, b, c].map(place)));
            self.patches.push(patch);
            let points = vertices.iter().map(|&v| Rectangle { low: place(v), high: place(v) });
            rectangles.push(points.reduce(Rectangle::join).expect("a patch has vertices"));
        }
        self.patches[patches.clone()].iter_mut().for_each(|patch| patch.altitude = altitude);
        self.link(patches.start as u32, &rectangles, TOUCH * altitude);
        true
    }

    /// Finds which patches touch, and which are between them; the first has the number `first`.
    fn link(&mut self, first: u32, rectangles: &[Rectangle], touch: f32) {
        let cells = Cells::new(rectangles);
        let (mut near, mut between) = (Vec::new(), Vec::new());
        for (g, own) in rectangles.iter().enumerate() {
            cells.overlapping(rectangles, own, -touch, &mut near);
            for &h in near.iter().filter(|&&h| h as usize >= g) {
                cells.overlapping(rectangles, &own.join(rectangles[h as usize]), touch, &mut between);
                self.between.extend(between.iter().map(|q| first + q));
                self.links.push(Link { other: first + h, end: self.between.len() as u32 });
            }
            self.starts.push(self.links.len() as u32);
        }
    }

    /// The link of two patches, or [`NONE`]; the second has the higher number, or the same.
    pub fn link_of(&self, a: u32, b: u32) -> u32 {
        let [begin, end] = [a, a + 1].map(|patch| self.starts[patch as usize]);
        let links = &self.links[begin as usize..end as usize];
        links.binary_search_by_key(&b, |link| link.other).map_or(NONE, |k| begin + k as u32)
    }

    /// The patches that have a part in what is between two.
    pub fn between(&self, link: u32) -> &[u32] {
        let begin = link.checked_sub(1).map_or(0, |before| self.links[before as usize].end);
        &self.between[begin as usize..self.links[link as usize].end as usize]
    }

    /// How a patch is spread out at `x`, and after so many substeps in which its vertices go by `ways`, m.
    pub fn spread(
        &self,
        level: SimdLevel,
        patch: usize,
        x: &[Particle],
        ways: &[Particle],
        steps: f32,
    ) -> Spread {
        let patch = &self.patches[patch];
        let (corners, [a, b, c, d]) = patch.whole;
        let at = corners.map(|v| Vec3::from(x[v as usize].p));
        let (u, v) = (at[1] - at[0], at[2] - at[0]);
        let first = (u * a + v * c).normalize_or_zero();
        let second = u * b + v * d;
        let second = (second - first * first.dot(second)).normalize_or_zero();
        let stretch = Stretch { frame: [first, second], steps };
        let [least, most] = eight_stencils(level, stretch, [x, ways], &patch.corners, &patch.inverse);
        let least = least.0.into_iter().fold(f32::INFINITY, f32::min);
        let most = most.0.into_iter().fold(0.0, f32::max);
        Spread { frame: [first, second], least, most: most.sqrt() }
    }

    /// How far all pairs of two patches, of which `patch` is the first, are apart at least, m.
    pub fn apart(&self, patch: usize, link: u32, spreads: &[Spread]) -> f32 {
        let [u, v] = spreads[patch].frame;
        let least = self.between(link).iter().fold(f32::INFINITY, |least, &q| {
            let Spread { frame, least: own, most } = spreads[q as usize];
            let turned = (u.distance_squared(frame[0]) + v.distance_squared(frame[1])).sqrt();
            least.min(own - turned * most)
        });
        SURE * least * self.patches[patch].altitude
    }
}

/// The least eigenvalue of sym(RᵀF), and |F|² by Frobenius, the worse of now and the end of a plan. The terms are the inverse of the edges at rest.
#[derive(Clone, Copy)]
struct Stretch {
    frame: [Vec3; 2],
    steps: f32,
}

impl StencilKernel<2, 2> for Stretch {
    #[inline(always)]
    fn apply<L: Lane>(&self, [x, ways]: &[[V3<L>; 4]; 2], [a, b, c, d]: [L; 4], like: L) -> [L; 2] {
        let [first, second] =
            self.frame.map(|p| V3 { x: like.like(p.x), y: like.like(p.y), z: like.like(p.z) });
        let (half, steps) = (like.like(0.5), like.like(self.steps));
        let (mut least, mut most) = (like.like(f32::MAX), like.like(0.0));
        let (u, v) = (x[1] - x[0], x[2] - x[0]);
        let (du, dv) = ((ways[1] - ways[0]) * steps, (ways[2] - ways[0]) * steps);
        for (u, v) in [(u, v), (u + du, v + dv)] {
            let (f, g) = (u * a + v * c, u * b + v * d);
            let (p, q) = (first.dot(f), second.dot(g));
            let (shear, apart) = ((first.dot(g) + second.dot(f)) * half, (p - q) * half);
            least = least.min((p + q) * half - (apart * apart + shear * shear).sqrt());
            most = most.max(f.length_squared() + g.length_squared());
        }
        [least, most]
    }
}

/// Which rectangles are in each cell of a regular grid as wide as the largest of them.
struct Cells {
    low: Vec2,
    width: f32,
    count: [usize; 2],
    /// One after another, and where those of each cell begin.
    members: Vec<u32>,
    starts: Vec<u32>,
}

impl Cells {
    fn new(rectangles: &[Rectangle]) -> Self {
        let hull = rectangles.iter().copied().reduce(Rectangle::join).expect("a sheet has a patch");
        let width = rectangles.iter().map(|r| (r.high - r.low).max_element()).fold(0.0, f32::max);
        let size = (hull.high - hull.low) / width;
        let count = [size.x, size.y].map(|n| n as usize + 1);
        let mut cells = Cells { low: hull.low, width, count, members: Vec::new(), starts: vec![0] };
        let mut lists = vec![Vec::new(); count[0] * count[1]];
        for (k, rectangle) in rectangles.iter().enumerate() {
            cells.range(rectangle).for_each(|cell| lists[cell].push(k as u32));
        }
        for list in lists {
            cells.members.extend(list);
            cells.starts.push(cells.members.len() as u32);
        }
        cells
    }

    /// The cells that a rectangle is in.
    fn range(&self, rectangle: &Rectangle) -> impl Iterator<Item = usize> + use<> {
        let [columns, rows] = self.count;
        let cell = |p: Vec2| {
            let at = (p - self.low) / self.width;
            [(at.x.max(0.0) as usize).min(columns - 1), (at.y.max(0.0) as usize).min(rows - 1)]
        };
        let margin = Vec2::splat(1e-2 * self.width);
        let ([a, b], [c, d]) = (cell(rectangle.low - margin), cell(rectangle.high + margin));
        (b..=d).flat_map(move |row| (a..=c).map(move |column| row * columns + column))
    }

    /// All that overlap with a rectangle by more than `by`, m, in order.
    fn overlapping(&self, all: &[Rectangle], with: &Rectangle, by: f32, found: &mut Vec<u32>) {
        found.clear();
        for cell in self.range(with) {
            let members = &self.members[self.starts[cell] as usize..self.starts[cell + 1] as usize];
            found.extend(members.iter().filter(|&&k| all[k as usize].overlaps(with, by)));
        }
        found.sort_unstable();
        found.dedup();
    }
}

#[cfg(test)]
mod tests;
