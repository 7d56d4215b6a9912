use super::*;
use crate::output::{self, Clip, Frame};
use serde_json::json;
use taffeta::mesh::generate::ball;

const PACE: Pace<'_> = Pace { rate: 10.0, repeat: false, animation: None };

fn at(surface: &Surface, t: f64) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; surface.vertices()];
    surface.deform(t, &mut out);
    out
}

/// Writes three frames of a ball that moves along x, in the format of the file's ending.
fn write(path: &Path, mesh: &TriMesh) {
    let clip = Clip {
        vertices: mesh.positions.len(),
        triangles: mesh.triangles.clone(),
        fps: 10.0,
        ..Clip::default()
    };
    let mut sink = output::open(path, &clip).unwrap();
    for index in 0..3u32 {
        let positions: Vec<[f32; 3]> =
            mesh.positions.iter().map(|p| [p[0] + index as f32, p[1], p[2]]).collect();
        let time = 0.1 * index as f64;
        sink.frame(&Frame { index, time, positions: &positions, colliders: &[], metrics: &[] }).unwrap();
    }
    sink.finish().unwrap();
}

#[test]
fn what_was_written_is_read_and_moves() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = ball(0.5, 42);
    let place = |name: &str| folder.path().join(name);
    for name in ["ball.obj", "walk_%04d.ply", "ball.pc2", "ball.mdd"] {
        write(&place(name), &mesh);
    }
    // The last frame of the .obj is the rest shape; a cache has positions of its own.
    let still = read_surface(&place("ball.obj"), None, PACE).unwrap();
    assert!(!still.deforms() && still.closed());
    let sequence = read_surface(&place("walk_%04d.ply"), None, PACE).unwrap();
    let pc2 = read_surface(&place("ball.obj"), Some(&place("ball.pc2")), PACE).unwrap();
    let mdd = read_surface(&place("ball.obj"), Some(&place("ball.mdd")), PACE).unwrap();
    for (name, surface) in [("sequence", sequence), ("pc2", pc2), ("mdd", mdd)] {
        for (t, x) in [(0.0, 0.0), (0.15, 1.5), (0.2, 2.0), (9.0, 2.0)] {
            let moved = at(&surface, t)[7].x - mesh.positions[7][0];
            assert!((moved - x).abs() < 1e-5, "{name} at {t} s: {moved}");
        }
    }
}

#[test]
fn animations_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (mesh, other) = (ball(0.5, 42), ball(0.5, 162));
    write(&place("ball.obj"), &mesh);
    write(&place("other.pc2"), &other);
    write(&place("other.mdd"), &other);
    let over =
        |cache: &str| read_surface(&place("ball.obj"), Some(&place(cache)), PACE).unwrap_err().to_string();
    for name in ["other.pc2", "other.mdd"] {
        let text = over(name);
        assert!(text.contains("162 points, but the mesh has 42") && text.contains(name), "{text}");
    }
    fs::write(place("short.pc2"), &fs::read(place("other.pc2")).unwrap()[..20]).unwrap();
    assert!(over("short.pc2").contains("cut off"));
    write(&place("cut.mdd"), &mesh);
    let whole = fs::read(place("cut.mdd")).unwrap();
    fs::write(place("cut.mdd"), &whole[..whole.len() - 4]).unwrap();
    assert!(over("cut.mdd").contains("do not fit"));
    fs::write(place("no.pc2"), "nothing").unwrap();
    assert!(over("no.pc2").contains("POINTCACHE2"));
    assert!(over("cache.abc").contains(".pc2"));

    let sequence = |name: &str| read_surface(&place(name), None, PACE).unwrap_err().to_string();
    assert!(sequence("none_%d.obj").contains("no file of that name"));
    write(&place("gap_%d.obj"), &mesh);
    fs::remove_file(place("gap_1.obj")).unwrap();
    assert!(sequence("gap_%d.obj").contains("frame 1: it is missing, but there is frame 2"));
    write(&place("grow_%d.obj"), &mesh);
    fs::copy(place("gap_0.obj"), place("grow_1.obj")).unwrap();
    let text = fs::read_to_string(place("grow_1.obj")).unwrap();
    fs::write(place("grow_1.obj"), format!("v 0 0 0\n{text}")).unwrap();
    assert!(sequence("grow_%d.obj").contains("frame 1: it has 43 vertices, but the first frame has 42"));
    let lines: Vec<&str> = text.lines().collect();
    fs::write(place("grow_1.obj"), lines[..lines.len() - 1].join("\n")).unwrap();
    assert!(sequence("grow_%d.obj").contains("only positions may change"));
}

/// A triangle on two joints, the second of which turns by 90° about z in a second and back.
fn skinned() -> serde_json::Value {
    let mut bytes: Vec<u8> = Vec::new();
    let mut views = Vec::new();
    let mut put = |data: Vec<u8>| {
        views.push(json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len() }));
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    };
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    put(floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]));
    put(vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    put(vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0]);
    let mut back = glam::Mat4::IDENTITY;
    back.w_axis.x = -1.0;
    put(floats(&[glam::Mat4::IDENTITY.to_cols_array(), back.to_cols_array()].concat()));
    put(floats(&[0.0, 1.0, 2.0]));
    let r = std::f32::consts::FRAC_1_SQRT_2;
    put(floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, r, r, 0.0, 0.0, 0.0, 1.0]));
    let accessor = |view: usize, kind: u32, form: &str, count: usize| json!({ "bufferView": view, "componentType": kind, "type": form, "count": count });
    let mut weights = accessor(2, 5121, "VEC4", 3);
    weights["normalized"] = true.into();
    use base64::Engine;
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    json!({
        "asset": { "version": "2.0" },
        "scene": 0, "scenes": [{ "nodes": [0, 1] }],
        "nodes": [
            { "mesh": 0, "skin": 0, "translation": [50, 0, 0] },
            { "children": [2], "translation": [0, 3, 0] },
            { "translation": [1, 0, 0] },
        ],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 } }] }],
        "skins": [{ "joints": [1, 2], "inverseBindMatrices": 3 }],
        "animations": [{
            "name": "wave",
            "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }],
            "samplers": [{ "input": 4, "output": 5 }],
        }],
        "accessors": [
            accessor(0, 5126, "VEC3", 3), accessor(1, 5121, "VEC4", 3), weights,
            accessor(3, 5126, "MAT4", 2), accessor(4, 5126, "SCALAR", 3), accessor(5, 5126, "VEC4", 3),
        ],
        "bufferViews": views,
        "buffers": [{ "byteLength": bytes.len(), "uri": format!("data:application/octet-stream;base64,{uri}") }],
    })
}

#[test]
fn a_skinned_gltf_moves_as_its_animation_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.gltf");
    let read = |document: &serde_json::Value, pace: Pace<'_>| {
        fs::write(&path, document.to_string()).unwrap();
        read_surface(&path, None, pace).map_err(|error| error.to_string())
    };
    let near = |a: Vec3, b: [f32; 3]| assert!((a - Vec3::from(b)).length() < 1e-5, "{a} is not {b:?}");
    // The skin's own node does not move it.
    let surface = read(&skinned(), PACE).unwrap();
    near(at(&surface, 0.0)[1], [2.0, 3.0, 0.0]);
    let r = std::f32::consts::FRAC_1_SQRT_2;
    near(at(&surface, 0.5)[1], [1.0 + r, 3.0 + r, 0.0]);
    near(at(&surface, 1.0)[1], [1.0, 4.0, 0.0]);
    near(at(&surface, 1.0)[2], [0.0, 4.0, 0.0]);
    near(at(&surface, 3.0)[1], [2.0, 3.0, 0.0]);
    near(at(&read(&skinned(), Pace { repeat: true, ..PACE }).unwrap(), 3.0)[1], [1.0, 4.0, 0.0]);

    let mut stepped = skinned();
    stepped["animations"][0]["samplers"][0]["interpolation"] = "STEP".into();
    near(at(&read(&stepped, PACE).unwrap(), 1.5)[1], [1.0, 4.0, 0.0]);
    let error = read(&skinned(), Pace { animation: Some("wavy"), ..PACE }).unwrap_err();
    assert!(error.contains("'wavy'; did you mean 'wave'?"), "{error}");
    let broken = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut document = skinned();
        change(&mut document);
        read(&document, PACE).unwrap_err()
    };
    assert!(broken(&|d| d["skins"][0]["joints"] = json!([1])).contains("joint that skin 0 has not"));
    assert!(broken(&|d| d["accessors"][5]["count"] = 2.into()).contains("2 values for 3 times"));
    assert!(broken(&|d| d["accessors"][4]["type"] = "VEC2".into()).contains("accessor 4"));
    assert!(broken(&|d| d["nodes"][2]["children"] = json!([1])).contains("tree"));
}
