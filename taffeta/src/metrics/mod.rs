//! What is measured of a simulation.

mod crossings;
mod exact;

use glam::{DVec3, Vec3};

use crate::collide::{Body, Solid};
use crate::constraint::{dihedral, distance, isometric, stvk, triangle_bend};
use crate::model::Model;
use crate::wide::Particle;

pub(crate) use crossings::crossing_pairs;
pub use crossings::{Crossing, Part, crossings, crossings_with_bodies, intersecting_pairs};
pub(crate) use exact::{segment_meets_triangle, side_of_plane};

/// Stretch of the mesh edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strain {
    /// Largest |l − l₀|/l₀.
    pub max: f64,
    /// Largest of those that are longer than at rest, or 0: what a strain limit is about.
    pub stretch: f64,
    /// Mean |l − l₀|/l₀: the spring change rate.
    pub mean: f64,
    /// log₁₀ Σ (l − l₀)², l in m.
    pub log_sum: f64,
}

/// Energies, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ Σ m v².
    pub kinetic: f64,
    /// Of springs and hinges.
    pub elastic: f64,
    /// −Σ m g·x, zero at the origin.
    pub potential: f64,
}

impl Energies {
    /// The sum, J.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.potential
    }
}

/// How far cloth is inside colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// The deepest vertex, m.
    pub depth: f64,
    /// How many vertices are deeper than the tolerance.
    pub vertices: usize,
}

/// How far two states of the same cloth are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// Root of the mean square distance of a vertex in one from the same vertex in the other, m.
    pub rms: f64,
    /// The largest such distance, m.
    pub max: f64,
}

fn at(x: &[Particle], i: u32) -> DVec3 {
    let [a, b, c] = x[i as usize].p;
    DVec3::new(a as f64, b as f64, c as f64)
}

/// The strain of all mesh edges.
pub fn strain(model: &Model, x: &[Particle]) -> Strain {
    let (mut max, mut stretch, mut sum, mut squares) = (0.0f64, 0.0f64, 0.0, 0.0);
    for &([a, b], rest) in &model.edges {
        let longer = (at(x, a) - at(x, b)).length() - rest as f64;
        let change = longer.abs();
        stretch = stretch.max(longer / rest as f64);
        max = max.max(change / rest as f64);
        sum += change / rest as f64;
        squares += change * change;
    }
    let count = model.edges.len().max(1) as f64;
    Strain { max, stretch, mean: sum / count, log_sum: libm::log10(squares.max(1e-300)) }
}

/// The energies of a state. Held particles have no kinetic energy of their own.
pub fn energies(model: &Model, x: &[Particle], v: &[[f32; 4]], gravity: [f32; 3]) -> Energies {
    let mut energies = Energies::default();
    let g = DVec3::from(gravity.map(|c| c as f64));
    for i in 0..model.particles() {
        let w = model.inverse_mass[i] as f64;
        if w > 0.0 {
            let v = DVec3::new(v[i][0] as f64, v[i][1] as f64, v[i][2] as f64);
            let free = if x[i].w > 0.0 { 1.0 } else { 0.0 };
            energies.kinetic += free * 0.5 * v.length_squared() / w;
            energies.potential -= g.dot(at(x, i as u32)) / w;
        }
    }
    for row in &model.distance {
        let [compliance, rest] = row.params.map(|p| p as f64);
        energies.elastic += distance::energy(&row.particles.map(|i| at(x, i)), rest, 1.0 / compliance).value;
    }
    for row in &model.dihedral {
        let [compliance, rest] = row.params.map(|p| p as f64);
        let c = dihedral::angle(&row.particles.map(|i| at(x, i))) - rest;
        energies.elastic += 0.5 * c * c / compliance;
    }
    for row in &model.isometric {
        let [compliance, k @ ..] = row.params.map(|p| p as f64);
        energies.elastic += isometric::energy(&row.particles.map(|i| at(x, i)), &k, 1.0 / compliance).value;
    }
    for row in &model.triangle_bend {
        let [compliance, rest] = row.params.map(|p| p as f64);
        let x = row.particles.map(|i| at(x, i));
        energies.elastic += triangle_bend::energy(&x, rest, 1.0 / compliance).value;
    }
    for row in &model.stvk {
        let params = row.params.map(|p| p as f64);
        energies.elastic += stvk::energy(&row.particles.map(|i| at(x, i)), &params).value;
    }
    energies
}

/// How deep vertices are in colliders; those within `tolerance` (m) of the surface are outside.
pub fn penetration(model: &Model, bodies: &[Body], x: &[Particle], tolerance: f32) -> Penetration {
    let mut found = Penetration::default();
    // A mesh that was baked counts as what cloth meets.
    let solids: Vec<Solid> =
        bodies.iter().filter(|body| !body.triangles().is_empty()).filter_map(Body::solid).collect();
    for x in &x[..model.particles()] {
        let p = Vec3::from(x.p);
        let in_shapes = bodies.iter().filter_map(|body| body.near(p, -tolerance)).map(|(d, _)| -d);
        let in_meshes = solids.iter().filter_map(|solid| solid.depth(p)).filter(|depth| *depth > tolerance);
        if let Some(depth) = in_shapes.chain(in_meshes).reduce(f32::max) {
            found.vertices += 1;
            found.depth = found.depth.max(depth as f64);
        }
    }
    found
}

/// How far `a` and `b`, positions of the same vertices, are apart.
pub fn gap(a: &[[f32; 3]], b: &[[f32; 3]]) -> Gap {
    let (mut sum, mut max) = (0.0, 0.0f64);
    for (a, b) in a.iter().zip(b) {
        let square: f64 = (0..3).map(|c| (a[c] as f64 - b[c] as f64).powi(2)).sum();
        sum += square;
        max = max.max(square);
    }
    Gap { rms: (sum / a.len().max(1) as f64).sqrt(), max: max.sqrt() }
}

/// The size of the largest cloth as it starts, m: twice the distance from its middle to its furthest vertex, the
/// diagonal of a flat rectangle. It does not depend on how the cloth is turned.
pub fn size(model: &Model) -> f64 {
    let of = |start: &[Vec3]| {
        let sum: DVec3 = start.iter().map(|p| p.as_dvec3()).sum();
        let middle = sum / start.len().max(1) as f64;
        start.iter().map(|p| p.as_dvec3().distance(middle)).fold(0.0, f64::max)
    };
    model.cloths.iter().map(|cloth| 2.0 * of(&model.start[cloth.vertices.clone()])).fold(0.0, f64::max)
}

/// A hash (64-bit FNV-1a) of the bits of positions in the caller's order.
pub fn state_hash(positions: &[[f32; 3]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in positions.iter().flatten().flat_map(|c| c.to_bits().to_le_bytes()) {
        hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;
    use crate::collide::Surface;
    use crate::scene::{self, Cloth, Collider, Pair, Scene};

    fn sheet(rotation: [f32; 3], height: f32) -> Simulation {
        let resolution = Pair([6, 8]);
        let size = Pair([0.3, 0.4]);
        let cloth = Cloth { size, resolution, rotation, position: [0.0, height, 0.0], ..Cloth::default() };
        let ball = Collider { radius: 0.5, ..Collider::default() };
        Simulation::new(&Scene { cloth: vec![cloth], collider: vec![ball], ..Scene::default() }).unwrap()
    }

    #[test]
    fn the_size_of_a_rectangle_is_its_diagonal_however_it_is_turned() {
        for rotation in [[0.0; 3], [20.0, 35.0, -70.0]] {
            let size = size(sheet(rotation, 1.0).model());
            assert!((size - 0.5).abs() < 1e-6, "{size}");
        }
    }

    #[test]
    fn the_gap_is_measured_vertex_by_vertex() {
        let a = [[0.0; 3], [1.0, 0.0, 0.0], [0.0; 3], [5.0; 3]];
        let b = [[3.0, 4.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [5.0; 3]];
        assert_eq!(gap(&a, &b), Gap { rms: 2.5, max: 5.0 });
        assert_eq!(gap(&a, &a), Gap::default());
    }

    #[test]
    fn a_mesh_is_met_like_the_shape_it_has() {
        let measure = |height: f32, rotation: [f32; 3], mesh: bool, sdf: Option<scene::Bake>| {
            let cloth = Cloth {
                position: [0.0, height, 0.0],
                rotation,
                resolution: Pair([12, 12]),
                ..Cloth::default()
            };
            let surface = Surface::rigid(&crate::mesh::generate::ball(0.25, 4000));
            let mut ball = Collider { radius: 0.5, ..Collider::default() };
            if mesh {
                ball.shape = scene::ColliderShape::Mesh;
                (ball.surface, ball.scale, ball.sdf) = (Some(std::sync::Arc::new(surface)), 2.0, sdf);
            }
            ball.position = [0.1, 0.0, 0.0];
            ball.rotation = [10.0, 20.0, 30.0];
            let scene = Scene { cloth: vec![cloth], collider: vec![ball], ..Scene::default() };
            let sim = Simulation::new(&scene).unwrap();
            (penetration(sim.model(), sim.bodies(), &sim.state().x, 2e-3), sim.intersecting_pairs())
        };
        for (height, rotation) in [(0.51, [0.0; 3]), (0.2, [0.0; 3]), (0.1, [50.0, 0.0, 20.0])] {
            let (shape, _) = measure(height, rotation, false, None);
            let (mesh, crossings) = measure(height, rotation, true, None);
            let (baked, none) = measure(height, rotation, true, Some(scene::Bake { cell: 0.05 }));
            // Some vertices are within a millimetre of the tolerance.
            let close = |found: usize| found.abs_diff(shape.vertices) <= shape.vertices / 20;
            assert!(close(mesh.vertices) && close(baked.vertices), "{height}: {mesh:?} {baked:?} {shape:?}");
            assert!((mesh.depth - shape.depth).abs() < 1e-3 && (baked.depth - shape.depth).abs() < 5e-3);
            assert_eq!((crossings > 0, none), (shape.vertices > 0, 0), "{height}: {crossings}");
        }
    }

    #[test]
    fn penetration_is_depth_and_count() {
        let measure = |height| {
            let sim = sheet([0.0; 3], height);
            penetration(sim.model(), sim.bodies(), &sim.state().x, 1e-5)
        };
        assert_eq!(measure(0.51), Penetration::default());
        // Level at 0.49 m, only the middle and those nearer than 0.1 m to it are inside the ball.
        let found = measure(0.49);
        assert!((found.depth - 0.01).abs() < 1e-6, "{found:?}");
        let inside = |k: i32, l: i32| ((k * k + l * l) as f32).sqrt() * 0.05 < (0.25f32 - 0.2401).sqrt();
        let count =
            (-3..=3).flat_map(|k| (-4..=4).map(move |l| (k, l))).filter(|&(k, l)| inside(k, l)).count();
        assert_eq!(found.vertices, count);
    }
}
