//! Meshes in: Wavefront `.obj`, Stanford `.ply`, and glTF 2.0 as `.gltf` or `.glb`.
//!
//! Files are taken to be in metres, y up. Their numbers are read as they stand, infinite ones and NaN included:
//! whether a mesh is fit to be a cloth is the engine's to say. Whatever the bytes are, reading ends in a mesh whose
//! indices are in range or in an error that says where and what; memory stays in proportion to the file.

use std::fs;
use std::io;
use std::path::Path;

use taffeta::mesh::TriMesh;

use crate::ending;

mod animation;
mod error;
mod gltf;
mod obj;
mod ply;

#[cfg(test)]
mod hostile;

pub use animation::{Pace, read_surface};
pub use error::MeshFileError;

use error::Fault;

/// The endings [`read_mesh`] accepts, in lower case and without the point.
pub const ENDINGS: [&str; 4] = ["obj", "ply", "gltf", "glb"];

/// Reads the mesh in `path`, in the format of its ending. Polygons become fans of triangles.
///
/// `.obj` and `.ply` keep every vertex in the order of the file; several objects become one mesh. glTF repeats
/// vertices along seams of texture coordinates and normals, which would cut the cloth there; so the vertices of
/// one mesh at exactly the same position become one, in the order of the file, and those in no triangle are left
/// out. Of a glTF file, everything in the default scene is read, in place, without morph targets and animation;
/// a skinned mesh is read in its bind pose.
pub fn read_mesh(path: &Path) -> Result<TriMesh, MeshFileError> {
    let found = ending::of(path);
    if !ENDINGS.contains(&found.as_str()) {
        return Err(MeshFileError::Ending {
            path: path.to_path_buf(),
            problem: ending::explain(&found, &ENDINGS),
        });
    }
    let bytes = fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => MeshFileError::NotFound { path: path.to_path_buf() },
        _ => MeshFileError::Read { path: path.to_path_buf(), source },
    })?;
    let parsed = match found.as_str() {
        "obj" => obj::parse(&bytes),
        "ply" => ply::parse(&bytes),
        _ => gltf::parse(&bytes, path.parent()),
    };
    let mesh = parsed.map_err(|fault| fault.in_file(path))?;
    if mesh.triangles.is_empty() {
        return Err(MeshFileError::NoFaces { path: path.to_path_buf(), vertices: mesh.positions.len() });
    }
    Ok(mesh)
}

/// Appends a polygon as triangles about its first corner.
fn fan(corners: &[u32], triangles: &mut Vec<[u32; 3]>) {
    for pair in corners.windows(2).skip(1) {
        triangles.push([corners[0], pair[0], pair[1]]);
    }
}

/// What stands in a file, cut to a length that fits a message.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut cut: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_file_and_what_is_right() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| read_mesh(&folder.path().join(name)).unwrap_err().to_string();
        assert!(text("shirt.obj").contains("no such file"));
        let unknown = text("shirt.gtlf");
        assert!(unknown.contains("did you mean .gltf?") && unknown.contains(".ply"), "{unknown}");
        assert!(text("shirt").contains("no ending"));

        fs::write(folder.path().join("points.obj"), "v 0 0 0\nv 1 0 0\n").unwrap();
        let points = text("points.obj");
        assert!(points.contains("no faces") && points.contains("2 vertices"), "{points}");

        fs::write(folder.path().join("bad.obj"), "v 0 0 0\nv 1 x 0\n").unwrap();
        assert!(text("bad.obj").contains("bad.obj:2: "), "{}", text("bad.obj"));
        fs::create_dir(folder.path().join("folder.ply")).unwrap();
        assert!(text("folder.ply").contains("cannot read"));
    }

    #[test]
    fn long_excerpts_are_cut() {
        assert_eq!(excerpt("a\tb"), "a\\tb");
        assert_eq!(excerpt(&"x".repeat(1000)).chars().count(), 41);
    }
}
