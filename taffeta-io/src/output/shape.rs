//! Whether a clip and its frames fit together, and its division into cloths and bodies.

use std::ops::Range;
use std::path::Path;

use super::{Clip, Frame, OutputError, Part};

/// Refuses a clip whose triangles, cloths and vertices contradict each other.
pub(crate) fn check(path: &Path, clip: &Clip) -> Result<(), OutputError> {
    let wrong = |problem: String| Err(OutputError::Clip { path: path.to_path_buf(), problem });
    let mut next = 0;
    for Part { name, vertices, triangles } in &parts(clip) {
        if vertices.end > clip.vertices || vertices.start > vertices.end {
            return wrong(format!(
                "cloth '{name}' has vertices {vertices:?}, but there are {}",
                clip.vertices
            ));
        }
        if triangles.start != next || triangles.end < next || triangles.end > clip.triangles.len() {
            return wrong(format!(
                "cloth '{name}' has triangles {triangles:?}; they must start at {next} and end by {}",
                clip.triangles.len()
            ));
        }
        next = triangles.end;
        if let Some((index, triangle)) = outside(clip, triangles, vertices) {
            return wrong(format!(
                "triangle {index} of cloth '{name}' has corners {triangle:?}, outside its vertices {vertices:?}"
            ));
        }
    }
    if next != clip.triangles.len() {
        return wrong(format!("triangles {next} to {} belong to no cloth", clip.triangles.len()));
    }
    Ok(())
}

/// The first of `triangles` with a corner outside `vertices`.
fn outside(clip: &Clip, triangles: &Range<usize>, vertices: &Range<usize>) -> Option<(usize, [u32; 3])> {
    clip.triangles[triangles.clone()]
        .iter()
        .enumerate()
        .find(|(_, triangle)| triangle.iter().any(|&v| !vertices.contains(&(v as usize))))
        .map(|(offset, &triangle)| (triangles.start + offset, triangle))
}

/// The cloths of the clip, all of it under its title where it names none, and then its bodies.
pub(crate) fn parts(clip: &Clip) -> Vec<Part> {
    let mut parts = clip.cloths.clone();
    if parts.is_empty() {
        let (vertices, triangles) = (0..clip.cloth_vertices(), 0..clip.cloth_triangles());
        parts.push(Part { name: clip.title.clone(), vertices, triangles });
    }
    parts.extend_from_slice(&clip.bodies);
    parts
}

/// Refuses a frame with more or fewer vertices than the clip.
pub(crate) fn check_frame(path: &Path, vertices: usize, frame: &Frame<'_>) -> Result<(), OutputError> {
    if frame.positions.len() == vertices {
        return Ok(());
    }
    Err(OutputError::Frame {
        path: path.to_path_buf(),
        frame: frame.index,
        problem: format!(
            "it has {} vertices; every frame of this recording must have {vertices}",
            frame.positions.len()
        ),
    })
}

/// `count` as the signed 32-bit number some formats store, or an error that says what is counted.
pub(crate) fn as_i32(path: &Path, count: usize, what: &str) -> Result<i32, OutputError> {
    i32::try_from(count).map_err(|_| OutputError::TooLarge {
        path: path.to_path_buf(),
        problem: format!("{count} {what} are more than the {} this format can hold", i32::MAX),
    })
}
