//! Documents made here, in every way glTF offers to store the same square.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::error::Place;
use super::*;

/// Two triangles that do not share their vertices along the seam: six positions, six indices of 16 bits.
fn data() -> Vec<u8> {
    let mut bytes = Vec::new();
    for position in [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0]] {
        for value in position {
            bytes.extend((value as f32).to_le_bytes());
        }
    }
    for index in 0u16..6 {
        bytes.extend(index.to_le_bytes());
    }
    bytes
}

fn document() -> Value {
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "name": "square", "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 6, "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 6 },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 72 },
            { "buffer": 0, "byteOffset": 72, "byteLength": 12 },
        ],
        "buffers": [{ "byteLength": 84 }],
    })
}

fn text(mut document: Value, bytes: &[u8]) -> Vec<u8> {
    if document["buffers"][0].get("uri").is_none() {
        document["buffers"][0]["uri"] =
            format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes)).into();
    }
    document.to_string().into_bytes()
}

fn glb(document: &Value, bytes: &[u8]) -> Vec<u8> {
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + json.len() as u32 + bytes.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json[..]), (b"BIN\0", bytes)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// The square as one `.glb` and one `.gltf`, for other tests to damage.
pub(in super::super) fn samples() -> [Vec<u8>; 2] {
    [glb(&document(), &data()), text(document(), &data())]
}

/// Reads the document after a change to it.
fn read(change: impl FnOnce(&mut Value)) -> Result<TriMesh, String> {
    let mut document = document();
    change(&mut document);
    parse(&text(document, &data()), None).map_err(|Fault { place, problem }| match place {
        Place::Line(line) => format!("{line}: {problem}"),
        Place::Element(element) => format!("{element}: {problem}"),
    })
}

fn fault(change: impl FnOnce(&mut Value)) -> String {
    read(change).unwrap_err()
}

fn square() -> TriMesh {
    TriMesh {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

#[test]
fn seams_are_closed_wherever_the_buffer_is() {
    for sample in samples() {
        assert_eq!(parse(&sample, None).unwrap(), square());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("my data.bin"), data()).unwrap();
    let mut external = document();
    external["buffers"][0]["uri"] = "my%20data.bin".into();
    assert_eq!(parse(&text(external, &[]), Some(folder.path())).unwrap(), square());
}

#[test]
fn nodes_place_the_mesh() {
    let mesh = read(|document| {
        document["nodes"] = json!([
            { "children": [1], "translation": [0, 0, 5] },
            { "mesh": 0, "scale": [-2, 2, 2] },
            { "mesh": 0 },
        ]);
    })
    .unwrap();
    assert_eq!(mesh.positions[2], [-2.0, 2.0, 5.0]);
    // A mirror turns the triangles, so that they still face the same side.
    assert_eq!(mesh.triangles, [[0, 2, 1], [0, 3, 2]]);

    let turned = read(|document| document["nodes"][0]["rotation"] = json!([0, 0, 2, 2])).unwrap();
    assert!((Vec3::from(turned.positions[1]) - Vec3::Y).length() < 1e-6);
    let matrix = json!([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 8, 9, 1]);
    assert_eq!(
        read(|document| document["nodes"][0]["matrix"] = matrix).unwrap().positions[0],
        [7.0, 8.0, 9.0]
    );
}

#[test]
fn the_same_mesh_twice_is_two_cloths() {
    let mesh = read(|document| {
        document["scenes"][0]["nodes"] = json!([0, 1]);
        document["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0 }]);
    })
    .unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (8, 4));
}

#[test]
fn without_a_scene_all_is_read() {
    let remove = |names: &'static [&'static str]| {
        read(move |document| {
            names.iter().for_each(|&name| _ = document.as_object_mut().unwrap().remove(name))
        })
    };
    assert_eq!(remove(&["scene"]).unwrap(), square());
    assert_eq!(remove(&["scene", "scenes"]).unwrap(), square());
    assert_eq!(remove(&["scene", "scenes", "nodes"]).unwrap(), square());
}

#[test]
fn strips_fans_and_what_is_no_surface() {
    let with = |mode: u32| {
        read(|document| {
            document["meshes"][0]["primitives"][0]["mode"] = mode.into();
            document["meshes"][0]["primitives"][0].as_object_mut().unwrap().remove("indices");
        })
        .unwrap()
    };
    assert_eq!(with(4), square());
    // Corners 0 1 2 0 2 3 once merged: the strip's 2 0 2 vanishes, and still counts in the turning.
    assert_eq!(with(5).triangles, [[0, 1, 2], [1, 0, 2], [0, 3, 2]]);
    assert_eq!(with(6).triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(with(1), TriMesh::default());
}

#[test]
fn quantized_and_sparse_positions() {
    let mut bytes = vec![0, 0, 0, 127, 0, 0, 127, 127, 0x80];
    bytes.extend([2, 0]);
    bytes.extend([0, 127, 0]);
    let mut document = document();
    document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    document["meshes"][0]["primitives"][0].as_object_mut().unwrap().remove("indices");
    document["buffers"] = json!([{ "byteLength": 14 }]);
    document["bufferViews"] = json!([
        { "buffer": 0, "byteLength": 9 },
        { "buffer": 0, "byteOffset": 9, "byteLength": 2 },
        { "buffer": 0, "byteOffset": 11, "byteLength": 3 },
    ]);
    document["accessors"] =
        json!([{ "bufferView": 0, "componentType": 5120, "normalized": true, "type": "VEC3", "count": 3 }]);
    let plain = parse(&text(document.clone(), &bytes), None).unwrap();
    assert_eq!(plain.positions, [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, -1.0]]);
    document["accessors"][0]["sparse"] = json!({
        "count": 1,
        "indices": { "bufferView": 1, "componentType": 5123 },
        "values": { "bufferView": 2 },
    });
    let sparse = parse(&text(document, &bytes), None).unwrap();
    assert_eq!(sparse.positions[2], [0.0, 1.0, 0.0]);
}

#[test]
fn faults_name_the_element_and_what_is_right() {
    let cut = fault(|document| document["accessors"][0]["count"] = 7.into());
    assert!(
        cut.starts_with("mesh 0 'square', primitive 0: its POSITION, accessor 0: 7 items of 12 bytes"),
        "{cut}"
    );
    assert!(fault(|document| document["accessors"][1]["count"] = 5.into()).contains("a multiple of 3"));
    assert!(
        fault(|document| document["accessors"][0]["count"] = 5.into())
            .contains("index 5 is vertex 5, but there are 5")
    );
    assert!(fault(|document| document["accessors"][0]["type"] = "VEC2".into()).contains("must be VEC3"));
    assert!(fault(|document| document["accessors"][0]["componentType"] = 1.into()).contains("must be 5126"));
    assert!(
        fault(|document| document["bufferViews"][1]["byteLength"] = 99.into())
            .contains("its buffer ends at 84")
    );
    assert!(
        fault(|document| document["bufferViews"][1]["buffer"] = 3.into())
            .contains("buffer 3: it does not exist")
    );
    assert!(
        fault(|document| document["buffers"][0]["byteLength"] = 85.into())
            .contains("should have 85 bytes, but has 84")
    );
    assert!(
        fault(|document| document["nodes"][0]["mesh"] = 1.into()).starts_with("mesh 1: it does not exist")
    );
    assert!(fault(|document| document["scene"] = 2.into()).contains("scene 2 does not exist"));
    assert!(fault(|document| document["nodes"][0]["children"] = json!([0])).contains("must form a tree"));
    let draco = |document: &mut Value| document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    assert!(fault(draco).contains("KHR_draco_mesh_compression is not supported"));
    assert!(
        fault(|document| _ = document.as_object_mut().unwrap().remove("asset"))
            .starts_with("1: not a glTF document")
    );
}

#[test]
fn buffers_elsewhere_must_be_near_and_whole() {
    let uri = |uri: &str| fault(|document| document["buffers"][0]["uri"] = uri.into());
    assert!(uri("https://example.org/a.bin").contains("relative"));
    assert!(uri("/dev/zero").contains("relative"));
    assert!(uri("no such file.bin").contains("cannot read"));
    assert!(uri(".").contains("is not a file"));
}

#[test]
fn claims_cost_nothing() {
    for count in [u64::from(u32::MAX), u64::MAX] {
        assert!(fault(|document| document["accessors"][0]["count"] = count.into()).contains("do not fit"));
        assert!(fault(|document| document["accessors"][1]["count"] = count.into()).contains("do not fit"));
        assert!(
            fault(|document| document["bufferViews"][0]["byteOffset"] = count.into())
                .contains("its buffer ends")
        );
        assert!(
            fault(|document| document["accessors"][0]["byteOffset"] = count.into()).contains("do not fit")
        );
        assert!(fault(|document| document["buffers"][0]["byteLength"] = count.into()).contains("but has 84"));
    }
    // A stride of zero would make the count free of charge.
    assert!(fault(|document| document["bufferViews"][0]["byteStride"] = 0.into()).contains("stride of 0"));
}

#[test]
fn the_same_mesh_many_times_over_comes_to_an_end() {
    let mut document = document();
    document["scenes"][0]["nodes"] = json!((0..100).collect::<Vec<_>>());
    document["nodes"] = json!(vec![json!({ "mesh": 0 }); 100]);
    document["accessors"][1] =
        json!({ "bufferView": 0, "componentType": 5121, "type": "SCALAR", "count": 72 });
    // Seventy-two indices that are all 0, placed a hundred times by fewer than 3000 bytes.
    let bytes = text(document, &[0; 84]);
    assert_eq!(parse(&bytes, None).unwrap().positions.len(), 100);
    let fault = parse_within(0, &bytes, None).unwrap_err();
    assert!(fault.problem.contains("the most that is read"), "{fault:?}");
}
