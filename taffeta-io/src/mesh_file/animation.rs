//! Meshes that move: sequences of files, point caches, glTF with a skin.

use std::fs;
use std::io;
use std::path::Path;

use glam::Vec3;
use taffeta::collide::Surface;
use taffeta::collide::surface::Frames;
use taffeta::mesh::TriMesh;

use super::{MeshFileError, gltf, read_mesh};
use crate::ending;
use crate::output::Format;
use crate::output::pattern::Target;

/// The endings of point caches.
const CACHES: [&str; 2] = ["pc2", "mdd"];

/// How the frames of an animation follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Pace<'a> {
    /// Frames a second, 1/s, where the file does not say.
    pub rate: f32,
    /// Starts again after the end.
    pub repeat: bool,
    /// The animation of a glTF by its name; the first if not given.
    pub animation: Option<&'a str>,
}

/// Reads the surface of a collider from `path`: a mesh that keeps its shape; a sequence of meshes if the name has a place for a number
/// (`%d`, `%04d`); a glTF with a skin or an animation, which moves. With `cache`, the mesh moves as that point cache says.
pub fn read_surface(path: &Path, cache: Option<&Path>, pace: Pace<'_>) -> Result<Surface, MeshFileError> {
    if let Some(cache) = cache {
        return over_cache(&read_mesh(path)?, cache, pace);
    }
    let numbered = Format::of(path).ok().and_then(|format| Target::parse(path, format).ok());
    if let Some(Target::Numbered { before, after, .. }) = numbered {
        return sequence(path, &before, &after, pace);
    }
    if !matches!(ending::of(path).as_str(), "gltf" | "glb") {
        return Ok(Surface::rigid(&read_mesh(path)?));
    }
    // Refuses what is no mesh at all in the same words as everywhere.
    let mesh = read_mesh(path)?;
    let bytes = read(path)?;
    let (skinned, skin) = gltf::parse_moving(&bytes, path.parent(), pace.animation, pace.repeat)
        .map_err(|f| f.in_file(path))?;
    match skin {
        Some(skin) => Surface::skinned(&skinned, skin).map_err(|problem| wrong(path, "skin", problem)),
        None => Ok(Surface::rigid(&mesh)),
    }
}

fn wrong(path: &Path, element: impl Into<String>, problem: impl Into<String>) -> MeshFileError {
    MeshFileError::Element { path: path.to_path_buf(), element: element.into(), problem: problem.into() }
}

fn read(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => MeshFileError::NotFound { path: path.to_path_buf() },
        _ => MeshFileError::Read { path: path.to_path_buf(), source },
    })
}

/// All files of a numbered name, from the lowest number there is; none may be missing.
fn sequence(path: &Path, before: &str, after: &str, pace: Pace<'_>) -> Result<Surface, MeshFileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries =
        fs::read_dir(folder).map_err(|source| MeshFileError::Read { path: folder.to_path_buf(), source })?;
    let mut files: Vec<(u32, std::path::PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let digits = name.strip_prefix(before)?.strip_suffix(after)?;
            let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
            Some((number, path.with_file_name(name)))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(wrong(path, "sequence", "there is no file of that name with a number in it"));
    }
    for pair in files.windows(2) {
        let (first, second) = (pair[0].0, pair[1].0);
        if first == second {
            return Err(wrong(
                path,
                format!("frame {first}"),
                "there are two files with this number; keep one",
            ));
        }
        if second != first + 1 {
            let missing = first + 1;
            let problem = format!("it is missing, but there is frame {second}; the numbers must have no gap");
            return Err(wrong(path, format!("frame {missing}"), problem));
        }
    }
    let mesh = read_mesh(&files[0].1)?;
    let mut frames = Vec::new();
    for (number, file) in &files {
        let frame = read_mesh(file)?;
        if frame.positions.len() != mesh.positions.len() {
            return Err(wrong(
                file,
                format!("frame {number}"),
                format!(
                    "it has {} vertices, but the first frame has {}; all must be the same mesh",
                    frame.positions.len(),
                    mesh.positions.len()
                ),
            ));
        }
        if frame.triangles != mesh.triangles {
            return Err(wrong(
                file,
                format!("frame {number}"),
                "its triangles are not those of the first frame; only positions may change",
            ));
        }
        frames.push(frame.positions.iter().map(|&p| p.into()).collect());
    }
    let frames = Frames::at_rate(pace.rate, frames, pace.repeat);
    Surface::animated(&mesh, frames).map_err(|problem| wrong(path, "sequence", problem))
}

fn over_cache(mesh: &TriMesh, path: &Path, pace: Pace<'_>) -> Result<Surface, MeshFileError> {
    let found = ending::of(path);
    if !CACHES.contains(&found.as_str()) {
        let problem = ending::explain(&found, &CACHES);
        return Err(MeshFileError::Ending { path: path.to_path_buf(), problem });
    }
    let bytes = read(path)?;
    let frames = match found.as_str() {
        "pc2" => pc2(&bytes, mesh.positions.len(), pace),
        _ => mdd(&bytes, mesh.positions.len(), pace),
    };
    let frames = frames.map_err(|problem| wrong(path, "header", problem))?;
    Surface::animated(mesh, frames).map_err(|problem| wrong(path, "frames", problem))
}

/// The four bytes at `at`.
fn word(bytes: &[u8], at: usize) -> Result<[u8; 4], String> {
    let cut = || format!("the file has {} bytes and is cut off", bytes.len());
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or_else(cut)
}

/// `frames` × `points` positions from `at`.
fn positions(
    bytes: &[u8],
    at: usize,
    [frames, points]: [i32; 2],
    vertices: usize,
    number: fn([u8; 4]) -> f32,
) -> Result<Vec<Vec<Vec3>>, String> {
    if usize::try_from(points) != Ok(vertices) {
        return Err(format!(
            "it has {points} points, but the mesh has {vertices} vertices; they must be the same"
        ));
    }
    if frames < 1 {
        return Err(format!("it has {frames} frames; must be 1 or more"));
    }
    let size = vertices * 12;
    let needed = (frames as usize).checked_mul(size).and_then(|length| length.checked_add(at));
    if needed.is_none_or(|needed| needed > bytes.len()) {
        return Err(format!(
            "{frames} frames of {points} points do not fit into {} bytes; it is cut off or damaged",
            bytes.len()
        ));
    }
    let point = |b: &[[u8; 4]; 3]| Vec3::from(b.map(number));
    let frame = |b: &[u8]| b.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(point).collect();
    Ok(bytes[at..].chunks_exact(size).take(frames as usize).map(frame).collect())
}

/// See `output/pc2.rs`.
fn pc2(bytes: &[u8], vertices: usize, pace: Pace<'_>) -> Result<Frames, String> {
    if !bytes.starts_with(b"POINTCACHE2\0") {
        return Err("this is no .pc2 file: it does not begin with POINTCACHE2".into());
    }
    let whole = |at| word(bytes, at).map(i32::from_le_bytes);
    let (points, samples) = (whole(16)?, whole(28)?);
    let step = f32::from_le_bytes(word(bytes, 24)?);
    if !(step > 0.0 && step.is_finite()) {
        return Err(format!("its samples are {step} frames apart; must be above 0"));
    }
    let positions = positions(bytes, 32, [samples, points], vertices, f32::from_le_bytes)?;
    Ok(Frames::at_rate(pace.rate / step, positions, pace.repeat))
}

/// See `output/mdd.rs`.
fn mdd(bytes: &[u8], vertices: usize, pace: Pace<'_>) -> Result<Frames, String> {
    let whole = |at| word(bytes, at).map(i32::from_be_bytes);
    let (frames, points) = (whole(0)?, whole(4)?);
    let count = usize::try_from(frames).unwrap_or(0);
    let times: Vec<f64> = (0..count.min(bytes.len() / 4))
        .map(|i| word(bytes, 8 + 4 * i).map(|b| f32::from_be_bytes(b) as f64))
        .collect::<Result<_, _>>()?;
    let start = count.saturating_mul(4).saturating_add(8);
    let positions = positions(bytes, start, [frames, points], vertices, f32::from_be_bytes)?;
    Ok(Frames { times, positions, repeat: pace.repeat })
}

#[cfg(test)]
mod tests;
