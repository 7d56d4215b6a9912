//! Feeding a renderer: positions and normals side by side in one buffer, refilled every frame.
//! `cargo run --release -p taffeta --example vertex_buffer`
//!
//! The layout is the common one, six floats of 4 bytes for each vertex: position at byte 0, normal at byte 12, stride 24,
//! and an index buffer of `u32` that never changes. Vertices keep the caller's order, so texture coordinates and skin
//! weights of the original mesh stay valid. Nothing is allocated after the first frame.

use taffeta::Simulation;
use taffeta::scene::{Cloth, Corner, Pin, Scene, Select};

/// Floats of one vertex.
const STRIDE: usize = 6;

/// What a renderer would upload.
struct VertexBuffer {
    /// `[x, y, z, nx, ny, nz]` of every vertex, m.
    floats: Vec<f32>,
    /// Three for each triangle, counter-clockwise seen from the front.
    indices: Vec<u32>,
    normals: Vec<[f32; 3]>,
    /// The same floats as little-endian bytes, as most graphics interfaces take them.
    bytes: Vec<u8>,
}

impl VertexBuffer {
    fn new(sim: &Simulation) -> Self {
        let vertices = sim.positions().len();
        VertexBuffer {
            floats: vec![0.0; STRIDE * vertices],
            indices: sim.triangles().iter().flatten().copied().collect(),
            normals: vec![[0.0; 3]; vertices],
            bytes: vec![0; 4 * STRIDE * vertices],
        }
    }

    fn fill(&mut self, sim: &Simulation) {
        sim.normals(&mut self.normals);
        let vertices = self.floats.chunks_exact_mut(STRIDE);
        for ((vertex, position), normal) in vertices.zip(sim.positions()).zip(&self.normals) {
            vertex[..3].copy_from_slice(position);
            vertex[3..].copy_from_slice(normal);
        }
        for (bytes, float) in self.bytes.chunks_exact_mut(4).zip(&self.floats) {
            bytes.copy_from_slice(&float.to_le_bytes());
        }
    }
}

fn main() -> Result<(), taffeta::BuildError> {
    let corners = vec![Corner::LowLow, Corner::HighLow];
    let pin = Pin { select: Select { corners, ..Select::default() }, ..Pin::default() };
    let scene = Scene { cloth: vec![Cloth { pin: vec![pin], ..Cloth::default() }], ..Scene::default() };
    let mut sim = Simulation::new(&scene)?;
    let mut buffer = VertexBuffer::new(&sim);
    println!("{} vertices of {} bytes, {} indices", sim.positions().len(), 4 * STRIDE, buffer.indices.len());

    for frame in 1..=120 {
        sim.step(scene.simulation.dt);
        buffer.fill(&sim);
        if frame % 30 == 0 {
            // The sheet begins level, its normals upright; while it swings down they turn to the side.
            let upright = buffer.floats.chunks_exact(STRIDE).map(|v| v[4]).sum::<f32>();
            let upright = upright / sim.positions().len() as f32;
            println!("frame {frame:>3}: {} bytes, mean y of the normals {upright:>6.3}", buffer.bytes.len());
        }
    }
    Ok(())
}
