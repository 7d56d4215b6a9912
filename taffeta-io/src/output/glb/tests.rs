//! What is written, read by an independent reader and by our own.

use std::fs;

use super::super::open;
use super::super::tests::{clip, feed, positions, record};
use super::*;
use crate::mesh_file::read_mesh;

#[test]
fn the_file_is_valid_and_moves_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    record(&path, 3);
    // The reader validates the document as well.
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&fs::read(&path).unwrap()).unwrap();
    let blob = blob.unwrap();
    assert_eq!(document.meshes().len(), 2);
    for (number, mesh) in document.meshes().enumerate() {
        assert_eq!(mesh.name(), Some(["left", "right hand"][number]));
        let primitive = mesh.primitives().next().unwrap();
        assert!(primitive.material().double_sided());
        let reader = primitive.reader(|_| Some(&blob));
        let base: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
        let vertices = 4 * number..4 * number + 4;
        assert_eq!(base, positions(0)[vertices.clone()]);
        assert_eq!(primitive.bounding_box().max[2], 1.1);
        let corners: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
        assert_eq!(corners, [0, 1, 2, 2, 1, 3]);
        for normal in reader.read_normals().unwrap() {
            assert_eq!(normal, [0.0, -1.0, 0.0]);
        }
        let targets: Vec<_> = reader.read_morph_targets().collect();
        assert_eq!(targets.len(), 2);
        for (target, (moved, turned, _)) in targets.into_iter().enumerate() {
            let moved: Vec<[f32; 3]> = moved.unwrap().collect();
            let expected = positions(target as u32 + 1);
            for ((moved, base), expected) in moved.iter().zip(&base).zip(&expected[vertices.clone()]) {
                assert_eq!(base[1] + moved[1], expected[1]);
            }
            assert!(turned.unwrap().all(|turned| turned == [0.0; 3]));
        }
        assert_eq!(mesh.weights(), Some(&[0.0, 0.0][..]));
    }
    let animation = document.animations().next().unwrap();
    assert_eq!(animation.channels().count(), 2);
    let channel = animation.channels().next().unwrap();
    let reader = channel.reader(|_| Some(&blob));
    let times: Vec<f32> = reader.read_inputs().unwrap().collect();
    assert_eq!(times, [0.0, 1.0 / 60.0, 2.0 / 60.0]);
    let Some(gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) = reader.read_outputs() else {
        panic!("no weights");
    };
    assert_eq!(weights.into_f32().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    for accessor in document.accessors() {
        let view = accessor.view().unwrap();
        assert_eq!((accessor.offset() + view.offset()) % 4, 0);
    }
}

#[test]
fn it_reads_back_as_the_first_frame() {
    let folder = tempfile::tempdir().unwrap();
    for frames in [1, 2] {
        let path = folder.path().join("a.glb");
        record(&path, frames);
        let mesh = read_mesh(&path).unwrap();
        assert_eq!(mesh.positions, positions(0));
        assert_eq!(mesh.triangles, clip().triangles);
    }
}

#[test]
fn it_stays_bounded_however_long_the_recording_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    record(&path, 1000);
    let document = gltf::Gltf::from_slice(&fs::read(&path).unwrap()).unwrap();
    let primitive = document.meshes().next().unwrap().primitives().next().unwrap();
    let targets = primitive.morph_targets().count();
    assert!((120..=240).contains(&targets), "{targets}");
}

#[test]
fn it_refuses_what_is_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    let mut sink = open(&path, &clip()).unwrap();
    feed(&mut *sink, 0).unwrap();
    let mut broken = positions(1);
    broken[5][1] = f32::NAN;
    let frame = Frame { index: 1, time: 0.1, positions: &broken, colliders: &[], metrics: &[] };
    let text = sink.frame(&frame).unwrap_err().to_string();
    assert!(text.contains("frame 1") && text.contains("vertex 5"), "{text}");
    assert_eq!(sink.finish().unwrap(), [path]);
}
