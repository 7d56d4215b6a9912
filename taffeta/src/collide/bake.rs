//! A mesh as a grid of signed distances.
//!
//! Between the samples the distance is trilinear, and the direction its gradient: continuous enough to rest on, rounded where the mesh is
//! sharper than a cell, and as cheap at any number of triangles.

use glam::Vec3;

use super::Solid;

/// Samples at most: 64 MB.
const MOST_SAMPLES: u64 = 1 << 24;
/// Cells around the mesh.
const BORDER: f32 = 3.0;

/// Signed distances (m, negative inside) at the corners of cubic cells.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceGrid {
    low: Vec3,
    cell: f32,
    size: [usize; 3],
    samples: Vec<f32>,
}

impl DistanceGrid {
    /// Samples a closed mesh with cells of `cell` metres; says what would be right if there would be too many.
    pub fn new(solid: &Solid, cell: f32) -> Result<Self, String> {
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(format!("is {cell}; must be above 0 m, for example 0.01"));
        }
        let bounds = solid.bounds().grown(BORDER * cell);
        let cells = (bounds.size() / cell).ceil();
        let count = |cells: Vec3| (cells + 1.0).as_dvec3().element_product();
        if !(count(cells) <= MOST_SAMPLES as f64) {
            let most = bounds.size().as_dvec3();
            let right = libm::cbrt(most.element_product() / MOST_SAMPLES as f64) * 1.05;
            return Err(format!(
                "is {cell}, which would take {:.0} samples; {right:.4} m is fine enough for {MOST_SAMPLES}",
                count(cells)
            ));
        }
        let size = cells.to_array().map(|c| c as usize + 1);
        let mut samples = Vec::with_capacity(size.iter().product());
        for z in 0..size[2] {
            for y in 0..size[1] {
                let mut before: Option<f32> = None;
                for x in 0..size[0] {
                    let p = bounds.low + Vec3::new(x as f32, y as f32, z as f32) * cell;
                    // The distance changes by no more than one goes, and its sign only where it is less than that.
                    let reach = before.map_or(f32::INFINITY, |d| d.abs() + 1.01 * cell);
                    let distance = solid.closest(p, reach).map_or(reach, |c| c.distance);
                    let inside = match before {
                        Some(d) if d.abs() > 1.01 * cell => d < 0.0,
                        _ => solid.contains(p),
                    };
                    let signed = if inside { -distance } else { distance };
                    before = Some(signed);
                    samples.push(signed);
                }
            }
        }
        Ok(DistanceGrid { low: bounds.low, cell, size, samples })
    }

    /// The signed distance of `p` (m) and the unit direction in which it grows.
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let last = self.last();
        let at = (p - self.low) / self.cell;
        let within = at.clamp(Vec3::ZERO, last);
        let corner = within.floor().min(last - 1.0);
        let [fx, fy, fz] = (within - corner).to_array();
        let [x, y, z] = corner.to_array().map(|c| c as usize);
        let (row, layer) = (self.size[0], self.size[0] * self.size[1]);
        let first = z * layer + y * row + x;
        let s = |i: usize| (self.samples[first + i], self.samples[first + i + 1]);
        let ((a, b), (c, d)) = (s(0), s(row));
        let ((e, f), (g, h)) = (s(layer), s(layer + row));
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let bottom = mix(mix(a, b, fx), mix(c, d, fx), fy);
        let top = mix(mix(e, f, fx), mix(g, h, fx), fy);
        let gradient = Vec3::new(
            mix(mix(b - a, d - c, fy), mix(f - e, h - g, fy), fz),
            mix(mix(c - a, d - b, fx), mix(g - e, h - f, fx), fz),
            top - bottom,
        );
        let inner = mix(bottom, top, fz);
        let beyond = (at - within) * self.cell;
        // Outside the grid: on along the way from the nearest point of it.
        let far = beyond.length();
        if far > 0.0 {
            let normal = gradient.normalize_or(Vec3::Y);
            let from_surface = normal * inner + beyond;
            let distance = from_surface.length();
            return (distance, from_surface / distance.max(1e-12));
        }
        (inner, gradient.normalize_or(Vec3::Y))
    }

    /// No point within the grid is further than this from the origin, m.
    pub fn reach(&self) -> f32 {
        let high = self.low + self.last() * self.cell;
        self.low.abs().max(high.abs()).length()
    }

    /// Cells along each axis.
    fn last(&self) -> Vec3 {
        Vec3::from(self.size.map(|n| (n - 1) as f32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::random::Random;
    use crate::mesh::generate::ball;

    fn grid(cell: f32) -> Result<DistanceGrid, String> {
        let mesh = ball(0.5, 2500);
        let points: Vec<Vec3> = mesh.positions.iter().map(|&p| p.into()).collect();
        DistanceGrid::new(&Solid::new(&points, &mesh.triangles), cell)
    }

    #[test]
    fn a_baked_ball_is_a_ball() {
        let grid = grid(0.025).unwrap();
        let mut random = Random(11);
        let (mut worst, mut turned) = (0.0f32, 1.0f32);
        for _ in 0..20_000 {
            let p = random.vector() * 0.8;
            let (d, n) = grid.distance(p);
            let true_distance = p.length() - 0.5;
            if p.abs().max_element() > 0.57 {
                // Beyond the grid it only has to be no less, and not much more.
                assert!(d > true_distance - 1e-3 && d < true_distance + 0.02, "{p}: {d}");
            } else if p.length() > 0.1 {
                // The middle is a cone's tip, which no grid resolves.
                worst = worst.max((d - true_distance).abs());
                turned = turned.min(n.dot(p.normalize()));
            }
        }
        // Trilinear: up to 2 cell²/(8 r) for r = 0.1 m, and the triangles of the ball are 0.6 mm under it.
        assert!(worst < 2.2e-3, "{worst} m");
        assert!(turned > 0.99, "{turned}");
    }

    #[test]
    fn too_fine_a_grid_says_what_is_fine_enough() {
        let message = grid(1e-4).unwrap_err();
        let right: f32 = message.split("; ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(right > 3e-3 && right < 6e-3, "{message}");
        assert!(grid(f32::NAN).unwrap_err().contains("above 0 m"));
    }
}
