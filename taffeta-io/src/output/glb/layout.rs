//! The JSON of a `.glb`, and where in the binary chunk its data is.

use glam::Vec3;
use serde_json::{Value, json};

use super::super::{Clip, Part};
use super::{BYTES_PER_VERTEX, Key, differences, key_times};

/// glTF's numbers for component types and for the uses of buffer views.
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Linear base colours, given to the cloths in turn.
const COLORS: [[f32; 4]; 5] = [
    [0.32, 0.08, 0.10, 1.0],
    [0.07, 0.17, 0.34, 1.0],
    [0.45, 0.30, 0.09, 1.0],
    [0.07, 0.24, 0.17, 1.0],
    [0.38, 0.36, 0.33, 1.0],
];

/// The buffer views and accessors, in the order `write_part` and `write_animation` write their data.
pub(super) struct Layout {
    views: Vec<Value>,
    accessors: Vec<Value>,
    /// The length of the data.
    pub bytes: usize,
}

impl Layout {
    pub fn new(clip: &Clip, parts: &[Part], keys: &[Key]) -> Layout {
        let mut layout = Layout { views: Vec::new(), accessors: Vec::new(), bytes: 0 };
        for part in parts {
            layout.part(clip, part, keys);
        }
        if keys.len() > 1 {
            layout.animation(keys);
        }
        layout
    }

    /// Adds a buffer view of `length` bytes and returns its number.
    fn view(&mut self, length: usize, mut view: Value) -> usize {
        view["buffer"] = json!(0);
        view["byteOffset"] = json!(self.bytes);
        view["byteLength"] = json!(length);
        self.bytes += length;
        self.views.push(view);
        self.views.len() - 1
    }

    fn part(&mut self, clip: &Clip, part: &Part, keys: &[Key]) {
        let corners = part.triangles.len() * 3;
        let view = self.view(corners * 4, json!({ "target": ELEMENT_ARRAY_BUFFER }));
        let first = part.vertices.start as u32;
        let used = clip.triangles[part.triangles.clone()].as_flattened();
        let (low, high) = used.iter().fold((u32::MAX, 0), |(low, high), &v| (low.min(v), high.max(v)));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "type": "SCALAR", "count": corners,
            "min": [low - first], "max": [high - first],
        }));
        let count = part.vertices.len();
        let view = self
            .view(count * BYTES_PER_VERTEX * keys.len(), json!({ "target": ARRAY_BUFFER, "byteStride": 12 }));
        for key in 0..keys.len() {
            let (min, max) = bounds(differences(keys, key, part));
            let offset = count * BYTES_PER_VERTEX * key;
            self.accessors.push(json!({
                "bufferView": view, "byteOffset": offset, "componentType": FLOAT, "type": "VEC3", "count": count,
                "min": min, "max": max,
            }));
            self.accessors.push(json!({
                "bufferView": view, "byteOffset": offset + count * 12, "componentType": FLOAT, "type": "VEC3",
                "count": count,
            }));
        }
    }

    fn animation(&mut self, keys: &[Key]) {
        let times = key_times(keys);
        let view = self.view(times.len() * 4, json!({}));
        self.accessors.push(json!({
            "bufferView": view, "componentType": FLOAT, "type": "SCALAR", "count": times.len(),
            "min": [times[0]], "max": [times[times.len() - 1]],
        }));
        let weights = keys.len() * (keys.len() - 1);
        let view = self.view(weights * 4, json!({}));
        self.accessors.push(json!({
            "bufferView": view, "componentType": FLOAT, "type": "SCALAR", "count": weights,
        }));
    }

    /// The whole JSON chunk.
    pub fn document(&self, clip: &Clip, parts: &[Part], keys: &[Key]) -> Value {
        let per_part = 1 + 2 * keys.len();
        let names: Vec<String> = keys[1..].iter().map(|key| format!("frame {}", key.index)).collect();
        let mesh = |number: usize, part: &Part| {
            let indices = number * per_part;
            let attributes = |key: usize| {
                let position = indices + 1 + 2 * key;
                json!({ "POSITION": position, "NORMAL": position + 1 })
            };
            let mut primitive = json!({
                "attributes": attributes(0), "indices": indices, "material": number % COLORS.len(),
            });
            let mut mesh = json!({ "name": part.name });
            if keys.len() > 1 {
                primitive["targets"] = (1..keys.len()).map(attributes).collect();
                mesh["weights"] = json!(vec![0; keys.len() - 1]);
                mesh["extras"] = json!({ "targetNames": names });
            }
            mesh["primitives"] = json!([primitive]);
            mesh
        };
        let meshes: Vec<Value> = parts.iter().enumerate().map(|(number, part)| mesh(number, part)).collect();
        let nodes: Vec<Value> = parts
            .iter()
            .enumerate()
            .map(|(number, part)| json!({ "name": part.name, "mesh": number }))
            .collect();
        // Cloth has two sides to look at.
        let materials: Vec<Value> = COLORS[..parts.len().min(COLORS.len())]
            .iter()
            .map(|color| {
                json!({
                    "doubleSided": true,
                    "pbrMetallicRoughness": { "baseColorFactor": color, "metallicFactor": 0, "roughnessFactor": 0.9 },
                })
            })
            .collect();
        let mut document = json!({
            "asset": {
                "version": "2.0", "generator": "taffeta",
                "extras": { "title": clip.title, "description": clip.subtitle },
            },
            "scene": 0,
            "scenes": [{ "name": clip.title, "nodes": (0..parts.len()).collect::<Vec<_>>() }],
            "nodes": nodes, "meshes": meshes, "materials": materials,
            "buffers": [{ "byteLength": self.bytes }],
            "bufferViews": self.views, "accessors": self.accessors,
        });
        if keys.len() > 1 {
            let input = parts.len() * per_part;
            let channels: Vec<Value> = (0..parts.len())
                .map(|node| json!({ "sampler": 0, "target": { "node": node, "path": "weights" } }))
                .collect();
            document["animations"] = json!([{
                "name": clip.title, "channels": channels,
                "samplers": [{ "input": input, "output": input + 1, "interpolation": "LINEAR" }],
            }]);
        }
        document
    }
}

fn bounds(points: impl Iterator<Item = Vec3>) -> ([f32; 3], [f32; 3]) {
    let (min, max) = points
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), point| (min.min(point), max.max(point)));
    (min.to_array(), max.to_array())
}
