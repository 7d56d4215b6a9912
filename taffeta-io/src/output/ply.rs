//! Stanford `.ply`: binary, little-endian.

use std::io::{self, Write};

use super::Clip;
use super::still::one_line;

/// Writes one frame.
///
/// `uchar int vertex_indices` and `float` are the types and names that every reader knows.
pub(crate) fn write(out: &mut dyn Write, clip: &Clip, positions: &[[f32; 3]]) -> io::Result<()> {
    let positions = &positions[..clip.cloth_vertices()];
    let triangles = &clip.triangles[..clip.cloth_triangles()];
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    for text in [&clip.title, &clip.subtitle] {
        writeln!(out, "comment {}", one_line(text))?;
    }
    writeln!(out, "element vertex {}", positions.len())?;
    for axis in ["x", "y", "z"] {
        writeln!(out, "property float {axis}")?;
    }
    writeln!(out, "element face {}", triangles.len())?;
    writeln!(out, "property list uchar int vertex_indices\nend_header")?;
    for value in positions.as_flattened() {
        out.write_all(&value.to_le_bytes())?;
    }
    for triangle in triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}
