//! glTF 2.0, as text with buffers around it (`.gltf`) or in one piece (`.glb`).
//!
//! The document's types come from `gltf-json`. Containers, buffers and accessors are read here, because every
//! index, offset and count in them may be wrong and each must end in a message.

mod accessor;
mod container;
mod skin;

use std::collections::HashMap;
use std::path::Path;

use glam::{Mat4, Quat, Vec3};
use gltf_json::mesh::{Mode, Primitive, Semantic};
use gltf_json::validation::Checked;
use gltf_json::{Index, Root, Scene};
use taffeta::collide::surface::Skin;
use taffeta::mesh::TriMesh;

use super::{Fault, excerpt};
use accessor::{Indices, Positions};
use container::Buffers;
use skin::Origin;

/// Corners of triangles that may be read beyond one for each byte of the file and its buffers. A few bytes can
/// place the same mesh many times over, so that without a limit a small file could fill the memory.
const FREE_CORNERS: usize = 3 << 22;

/// Beginnings of the names of extensions that leave the shape of a mesh alone. Any other that a file requires is
/// refused, but for quantized positions, which are read.
const HARMLESS: [&str; 6] = [
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_",
    "KHR_animation_",
    "KHR_mesh_quantization",
];

/// Reads the bytes of a file; buffers in files of their own are looked for from `folder`.
pub(super) fn parse(bytes: &[u8], folder: Option<&Path>) -> Result<TriMesh, Fault> {
    parse_within(FREE_CORNERS, bytes, folder)
}

fn parse_within(free_corners: usize, bytes: &[u8], folder: Option<&Path>) -> Result<TriMesh, Fault> {
    read(free_corners, bytes, folder, |_| Ok(())).map(|(mesh, ())| mesh)
}

/// The same, with what moves it: its skin and the animation of that name, or the first. A skinned mesh is read as it was bound.
pub(super) fn parse_moving(
    bytes: &[u8],
    folder: Option<&Path>,
    animation: Option<&str>,
    repeat: bool,
) -> Result<(TriMesh, Option<Skin>), Fault> {
    read(FREE_CORNERS, bytes, folder, |reader| reader.skin(animation, repeat))
}

/// Reads the mesh, and what `more` reads after it.
fn read<T>(
    free_corners: usize,
    bytes: &[u8],
    folder: Option<&Path>,
    more: impl FnOnce(&mut Reader<'_>) -> Result<T, Fault>,
) -> Result<(TriMesh, T), Fault> {
    let (json, binary) = container::split(bytes)?;
    let root: Root = gltf_json::deserialize::from_slice(json).map_err(|error| match binary {
        None if error.line() > 0 => Fault::line(error.line(), format!("not a glTF document: {error}")),
        _ => Fault::element("JSON chunk", format!("not a glTF document: {error}")),
    })?;
    if let Some(name) = root
        .extensions_required
        .iter()
        .find(|name| !HARMLESS.iter().any(|harmless| name.starts_with(harmless)))
    {
        return Err(Fault::element(
            "extensionsRequired",
            format!(
                "{} is not supported; export without it (without compression, for instance)",
                excerpt(name)
            ),
        ));
    }
    let mut reader = Reader {
        buffers: Buffers::new(&root, binary, folder),
        root: &root,
        mesh: TriMesh::default(),
        origins: Vec::new(),
        node: 0,
        corners: 0,
        most_corners: free_corners.saturating_add(bytes.len()),
    };
    reader.scene()?;
    let more = more(&mut reader)?;
    Ok((reader.mesh, more))
}

struct Reader<'a> {
    root: &'a Root,
    buffers: Buffers<'a>,
    mesh: TriMesh,
    /// Where each vertex of the mesh is from.
    origins: Vec<Origin>,
    /// The node whose mesh is being read.
    node: usize,
    /// Corners read so far.
    corners: usize,
    /// Where reading ends, not counting the buffers in other files.
    most_corners: usize,
}

impl Reader<'_> {
    /// Reads the default scene, else the first, else all nodes that are no other's child, else all meshes.
    fn scene(&mut self) -> Result<(), Fault> {
        let root = self.root;
        let scene = root.scene.map_or(0, |scene: Index<Scene>| scene.value());
        let tops: Vec<usize> = match root.scenes.get(scene) {
            Some(scene) => scene.nodes.iter().map(Index::value).collect(),
            None if root.scene.is_some() => {
                let count = root.scenes.len();
                return Err(Fault::element(
                    "scene",
                    format!("scene {scene} does not exist; the file has {count}"),
                ));
            }
            None => {
                let mut top = vec![true; root.nodes.len()];
                for child in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
                    if let Some(top) = top.get_mut(child.value()) {
                        *top = false;
                    }
                }
                (0..top.len()).filter(|&node| top[node]).collect()
            }
        };
        if root.nodes.is_empty() {
            return (0..root.meshes.len()).try_for_each(|mesh| self.mesh(mesh, Mat4::IDENTITY));
        }
        let mut seen = vec![false; root.nodes.len()];
        let mut waiting: Vec<(usize, Mat4)> = tops.iter().rev().map(|&node| (node, Mat4::IDENTITY)).collect();
        while let Some((number, parent)) = waiting.pop() {
            let name = format!("node {number}");
            let node = root.nodes.get(number).ok_or_else(|| {
                Fault::element(&name, format!("it does not exist; the file has {} nodes", root.nodes.len()))
            })?;
            if std::mem::replace(&mut seen[number], true) {
                return Err(Fault::element(name, "it is reached twice; nodes must form a tree"));
            }
            let world = parent * local(node);
            if let Some(mesh) = node.mesh {
                // A skinned mesh is placed by its joints, not by its node.
                let place = if node.skin.is_some() { Mat4::IDENTITY } else { world };
                self.node = number;
                self.mesh(mesh.value(), place)?;
            }
            let children = node.children.iter().flatten().rev();
            waiting.extend(children.map(|child| (child.value(), world)));
        }
        Ok(())
    }

    /// Adds a mesh once, moved by `place`.
    fn mesh(&mut self, number: usize, place: Mat4) -> Result<(), Fault> {
        let root = self.root;
        let Some(mesh) = root.meshes.get(number) else {
            let count = root.meshes.len();
            return Err(Fault::element(
                format!("mesh {number}"),
                format!("it does not exist; the file has {count}"),
            ));
        };
        let name = mesh.name.as_ref().map(|name| format!(" '{}'", excerpt(name))).unwrap_or_default();
        let mut merged = HashMap::new();
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            self.primitive(primitive, place, &mut merged).map_err(|problem| {
                Fault::element(format!("mesh {number}{name}, primitive {index}"), problem)
            })?;
        }
        Ok(())
    }

    /// Adds the triangles of a primitive. `merged` has the vertex of each position the mesh already used.
    fn primitive(
        &mut self,
        primitive: &Primitive,
        place: Mat4,
        merged: &mut HashMap<[u32; 3], u32>,
    ) -> Result<(), String> {
        let mode = match primitive.mode {
            Checked::Valid(mode) => mode,
            Checked::Invalid => return Err("its mode is unknown; 4, 5 and 6 are triangles".into()),
        };
        if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
            return Ok(());
        }
        let Some(accessor) = primitive.attributes.get(&Checked::Valid(Semantic::Positions)) else {
            return Err("it has no POSITION".into());
        };
        let positions = Positions::new(self.root, &mut self.buffers, accessor.value())?;
        let count =
            u32::try_from(positions.len()).map_err(|_| "it has more vertices than 32 bits can count")?;
        let indices = match primitive.indices {
            Some(accessor) => Some(Indices::new(self.root, &mut self.buffers, accessor.value())?),
            None => None,
        };
        let corners = indices.as_ref().map_or(positions.len(), Indices::len);
        self.corners = self.corners.saturating_add(corners + positions.replaced());
        let most = self.most_corners.saturating_add(self.buffers.external());
        if self.corners > most {
            return Err(format!(
                "with it there are more than {} triangles, the most that is read from a file of this size",
                most / 3
            ));
        }
        let corners: Vec<u32> = match &indices {
            Some(indices) => indices.iter().collect(),
            None => (0..count).collect(),
        };
        if let Some((at, vertex)) = corners.iter().enumerate().find(|&(_, &vertex)| vertex >= count) {
            return Err(format!("index {at} is vertex {vertex}, but there are {count}"));
        }
        if mode == Mode::Triangles && !corners.len().is_multiple_of(3) {
            return Err(format!("it has {} corners; triangles need a multiple of 3", corners.len()));
        }
        let accessor = |semantic| primitive.attributes.get(&Checked::Valid(semantic)).map(|a| a.value());
        let skin = self.root.nodes.get(self.node).and_then(|node| node.skin);
        let skinned = match (skin, accessor(Semantic::Joints(0)), accessor(Semantic::Weights(0))) {
            (Some(_), Some(joints), Some(weights)) => Some([joints, weights]),
            _ => None,
        };
        let vertices = self.vertices(&positions, &corners, place, skinned, merged);
        let flip = place.determinant() < 0.0;
        for triangle in triangles(mode, &corners) {
            let [a, b, c] = triangle.map(|corner| vertices[&corner]);
            // Without area once merged: at the pole of a sphere, or between the rows of a strip.
            if a != b && b != c && c != a {
                self.mesh.triangles.push(if flip { [a, c, b] } else { [a, b, c] });
            }
        }
        Ok(())
    }

    /// The vertex in the result of each vertex that `corners` use, in the order of the file.
    fn vertices(
        &mut self,
        positions: &Positions,
        corners: &[u32],
        place: Mat4,
        skinned: Option<[usize; 2]>,
        merged: &mut HashMap<[u32; 3], u32>,
    ) -> HashMap<u32, u32> {
        let mut used = corners.to_vec();
        used.sort_unstable();
        used.dedup();
        let add = |vertex: u32| {
            let position = positions.get(vertex as usize);
            // Adding zero makes −0 and 0 the same.
            let key = position.map(|x| (x + 0.0).to_bits());
            let result = *merged.entry(key).or_insert_with(|| {
                // Multiplying even by one would turn an infinite coordinate into NaN.
                let moved = if place == Mat4::IDENTITY {
                    position
                } else {
                    place.transform_point3(Vec3::from(position)).to_array()
                };
                self.mesh.positions.push(moved);
                self.origins.push(Origin { node: self.node, skinned, vertex });
                (self.mesh.positions.len() - 1) as u32
            });
            (vertex, result)
        };
        used.into_iter().map(add).collect()
    }
}

/// The transform of a node relative to its parent.
fn local(node: &gltf_json::Node) -> Mat4 {
    if let Some(matrix) = node.matrix {
        return Mat4::from_cols_array(&matrix);
    }
    let translation = Vec3::from(node.translation.unwrap_or([0.0; 3]));
    let rotation = node.rotation.map_or(Quat::IDENTITY, |rotation| Quat::from_array(rotation.0));
    let scale = Vec3::from(node.scale.unwrap_or([1.0; 3]));
    // Written by hand, a quaternion is seldom of unit length.
    let length = rotation.length();
    let rotation = if length > 0.0 { rotation * (1.0 / length) } else { Quat::IDENTITY };
    Mat4::from_scale_rotation_translation(scale, rotation, translation)
}

/// The triangles of a list, strip or fan, wound alike.
fn triangles(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::Triangles => corners.as_chunks().0.to_vec(),
        Mode::TriangleFan => {
            let mut triangles = Vec::new();
            super::fan(corners, &mut triangles);
            triangles
        }
        _ => {
            let turn = |(index, corner): (usize, &[u32])| match index % 2 {
                0 => [corner[0], corner[1], corner[2]],
                _ => [corner[0], corner[2], corner[1]],
            };
            corners.windows(3).enumerate().map(turn).collect()
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
