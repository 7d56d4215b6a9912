//! glTF 2.0 binary `.glb`: one animated mesh per cloth and per mesh of a collider.
//!
//! glTF has no vertex caches, so motion is a row of morph targets, each the difference of a frame from the first,
//! faded from one to the next by a weights animation. Importers hold every target at once (three.js in the layers
//! of one texture, Blender as shape keys), which bounds their number: at most [`MOST_TARGETS`], and fewer where
//! the file would exceed [`MOST_BYTES`]. A longer recording is thinned to evenly spaced frames with straight
//! motion between; `.pc2` and `.mdd` hold every frame. Colliders of other shapes are left out.

mod layout;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::draft::Draft;
use super::keys::{Key, Keys};
use super::{Clip, Frame, OutputError, Part, Sink, shape};
use layout::Layout;

/// Morph targets per mesh. WebGL 2 promises 256 layers per texture, of which three.js needs one per target.
const MOST_TARGETS: usize = 240;

/// Bytes of positions and normals, beyond which viewers take long to open a file.
const MOST_BYTES: usize = 256 << 20;

/// A position and a normal.
const BYTES_PER_VERTEX: usize = 24;

/// Larger coordinates, m, could overflow in the difference of two frames.
const LARGEST: f32 = f32::MAX / 4.0;

/// Keeps frames in memory and writes them at the end.
pub(crate) struct GlbSink {
    draft: Draft,
    clip: Clip,
    keys: Keys,
}

impl GlbSink {
    /// Starts the file that will be at `path`.
    pub fn create(path: &Path, clip: &Clip) -> Result<GlbSink, OutputError> {
        let affordable = MOST_BYTES / (BYTES_PER_VERTEX * clip.vertices.max(1));
        Ok(GlbSink {
            draft: Draft::create(path)?,
            clip: clip.clone(),
            keys: Keys::new(affordable.saturating_sub(1).min(MOST_TARGETS)),
        })
    }
}

impl Sink for GlbSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        let path = self.draft.target();
        shape::check_frame(path, self.clip.vertices, frame)?;
        let broken = |p: &[f32; 3]| !p.iter().all(|x| x.abs() <= LARGEST);
        if let Some(vertex) = frame.positions.iter().position(broken) {
            return Err(OutputError::Frame {
                path: path.to_path_buf(),
                frame: frame.index,
                problem: format!(
                    "vertex {vertex} is at {:?}, which glTF cannot hold; .pc2 and .ply take any number",
                    frame.positions[vertex]
                ),
            });
        }
        // Key times must rise; a frame repeated at the same time adds nothing.
        if frame.time.is_finite()
            && self.keys.latest_time().is_none_or(|time| (frame.time as f32) > time as f32)
        {
            self.keys.push(frame.index, frame.time, frame.positions);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        let keys = self.keys.into_keys();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let path = self.draft.target().to_path_buf();
        // Accessors of length zero are not allowed.
        let parts: Vec<Part> = shape::parts(&self.clip)
            .into_iter()
            .filter(|part| !part.vertices.is_empty() && !part.triangles.is_empty())
            .collect();
        if parts.is_empty() {
            return Err(OutputError::Clip {
                path,
                problem: "it has no triangles, and a .glb needs at least one".into(),
            });
        }
        let layout = Layout::new(&self.clip, &parts, &keys);
        let mut json = layout.document(&self.clip, &parts, &keys).to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + json.len() + 8 + layout.bytes;
        let length = u32::try_from(length).map_err(|_| OutputError::TooLarge {
            path,
            problem: format!(
                "{length} bytes are more than the 4 GiB a .glb can hold; .pc2 has no such limit"
            ),
        })?;
        self.draft.with(|file| {
            file.write_all(b"glTF")?;
            write_u32s(file, [2, length, json.len() as u32])?;
            file.write_all(b"JSON")?;
            file.write_all(&json)?;
            write_u32s(file, [layout.bytes as u32])?;
            file.write_all(b"BIN\0")?;
            for part in &parts {
                write_part(file, &self.clip, part, &keys)?;
            }
            write_animation(file, &keys)
        })?;
        Ok(vec![self.draft.commit()?])
    }
}

/// The positions of a part in the first key, or how far those of a later key are from them, m.
fn differences<'a>(keys: &'a [Key], key: usize, part: &Part) -> impl Iterator<Item = Vec3> + 'a {
    let now = &keys[key].positions[part.vertices.clone()];
    let base = &keys[0].positions[part.vertices.clone()];
    now.iter().zip(base).map(move |(&now, &base)| {
        let base = if key == 0 { Vec3::ZERO } else { Vec3::from(base) };
        Vec3::from(now) - base
    })
}

/// Unit vertex normals, weighted by triangle area; upwards where there is none.
fn normals(clip: &Clip, part: &Part, positions: &[[f32; 3]]) -> Vec<Vec3> {
    let first = part.vertices.start;
    let mut normals = vec![Vec3::ZERO; part.vertices.len()];
    for triangle in &clip.triangles[part.triangles.clone()] {
        let [a, b, c] = triangle.map(|vertex| Vec3::from(positions[vertex as usize]));
        let area = (b - a).cross(c - a);
        for &vertex in triangle {
            normals[vertex as usize - first] += area;
        }
    }
    for normal in &mut normals {
        *normal = normal.normalize_or(Vec3::Y);
    }
    normals
}

/// Times of the keys from the first one, s.
fn key_times(keys: &[Key]) -> Vec<f32> {
    keys.iter().map(|key| (key.time - keys[0].time) as f32).collect()
}

fn write_part(file: &mut impl Write, clip: &Clip, part: &Part, keys: &[Key]) -> io::Result<()> {
    let first = part.vertices.start as u32;
    for triangle in &clip.triangles[part.triangles.clone()] {
        write_u32s(file, triangle.map(|vertex| vertex - first))?;
    }
    let base = normals(clip, part, &keys[0].positions);
    for key in 0..keys.len() {
        for point in differences(keys, key, part) {
            write_u32s(file, point.to_array().map(f32::to_bits))?;
        }
        let now = normals(clip, part, &keys[key].positions);
        for (now, &base) in now.into_iter().zip(&base) {
            let normal = if key == 0 { now } else { now - base };
            write_u32s(file, normal.to_array().map(f32::to_bits))?;
        }
    }
    Ok(())
}

/// The times, then for each of them one weight per target: all of it on the key's own.
fn write_animation(file: &mut impl Write, keys: &[Key]) -> io::Result<()> {
    if keys.len() < 2 {
        return Ok(());
    }
    for time in key_times(keys) {
        write_u32s(file, [time.to_bits()])?;
    }
    for key in 0..keys.len() {
        for target in 1..keys.len() {
            let weight: f32 = if key == target { 1.0 } else { 0.0 };
            write_u32s(file, [weight.to_bits()])?;
        }
    }
    Ok(())
}

fn write_u32s<const N: usize>(file: &mut impl Write, values: [u32; N]) -> io::Result<()> {
    values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))
}

#[cfg(test)]
mod tests;
