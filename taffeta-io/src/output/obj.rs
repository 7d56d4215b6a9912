//! Wavefront `.obj`: text, one object per cloth and per mesh of a collider.

use std::io::{self, Write};

use super::number::shortest;
use super::still::one_line;
use super::{Clip, shape};

/// Writes one frame.
///
/// All vertices come first, so that their order in the file is the caller's whatever the cloths' ranges are.
pub(crate) fn write(out: &mut dyn Write, clip: &Clip, positions: &[[f32; 3]]) -> io::Result<()> {
    for text in [&clip.title, &clip.subtitle] {
        writeln!(out, "# {}", one_line(text))?;
    }
    for &[x, y, z] in positions {
        writeln!(out, "v {} {} {}", shortest(x), shortest(y), shortest(z))?;
    }
    for part in shape::parts(clip) {
        // Readers disagree about spaces in names.
        writeln!(out, "o {}\ns 1", one_line(&part.name).replace(' ', "_"))?;
        for &[a, b, c] in &clip.triangles[part.triangles] {
            let [a, b, c] = [a, b, c].map(|vertex| u64::from(vertex) + 1);
            writeln!(out, "f {a} {b} {c}")?;
        }
    }
    Ok(())
}
