//! What each format writes, read back.

use std::fs;
use std::path::Path;

use super::*;
use crate::mesh_file::read_mesh;

/// Two squares, "left" and "right hand", of four vertices each.
pub(super) fn clip() -> Clip {
    let square = |name: &str, first: usize| Part {
        name: name.into(),
        vertices: 4 * first..4 * first + 4,
        triangles: 2 * first..2 * first + 2,
    };
    Clip {
        title: "two\nsquares".into(),
        subtitle: "by hand".into(),
        fps: 60.0,
        vertices: 8,
        triangles: vec![[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]],
        cloths: vec![square("left", 0), square("right hand", 1)],
        ..Clip::default()
    }
}

/// The squares, lower the later the frame; with numbers that need all their digits.
pub(super) fn positions(frame: u32) -> Vec<[f32; 3]> {
    let y = -(frame as f32) / 3.0;
    let corner = |v: usize| [(v % 2) as f32, y, ((v / 2) % 2) as f32 * 1.1];
    (0..8)
        .map(|v| {
            let [x, y, z] = corner(v);
            [x + 2.5 * (v / 4) as f32, y, z]
        })
        .collect()
}

pub(super) fn feed(sink: &mut dyn Sink, index: u32) -> Result<(), OutputError> {
    sink.frame(&Frame {
        index,
        time: f64::from(index) / 60.0,
        positions: &positions(index),
        colliders: &[],
        metrics: &[("energy", f64::from(index) * 0.1), ("strain, max", 1e-9)],
    })
}

/// Writes `frames` frames to `path` and returns what was written.
pub(super) fn record(path: &Path, frames: u32) -> Vec<PathBuf> {
    let mut sink = open(path, &clip()).unwrap();
    for index in 0..frames {
        feed(&mut *sink, index).unwrap();
    }
    sink.finish().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entry = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(entry).collect();
    names.sort();
    names
}

#[test]
fn stills_hold_the_last_frame_and_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.obj", "a.ply"] {
        let path = folder.path().join(name);
        let written = record(&path, 3);
        let mesh = read_mesh(&path).unwrap();
        assert_eq!(written, [path]);
        assert_eq!(mesh.positions, positions(2), "{name}");
        assert_eq!(mesh.triangles, clip().triangles, "{name}");
    }
    let text = fs::read_to_string(folder.path().join("a.obj")).unwrap();
    assert!(text.starts_with("# two squares\n# by hand\n"), "{text}");
    assert!(text.contains("\no right_hand\n"), "{text}");
}

#[test]
fn a_place_for_the_number_gives_every_frame_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let written = record(&folder.path().join("a_%03d.ply"), 3);
    assert_eq!(names(folder.path()), ["a_000.ply", "a_001.ply", "a_002.ply"]);
    assert_eq!(written.len(), 3);
    assert_eq!(read_mesh(&written[1]).unwrap().positions, positions(1));
}

#[test]
fn numbered_frames_are_there_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(&folder.path().join("%d.obj"), &clip()).unwrap();
    feed(&mut *sink, 0).unwrap();
    drop(sink);
    assert_eq!(names(folder.path()), ["0.obj"]);
}

#[test]
fn pc2_has_the_count_of_frames_there_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pc2");
    record(&path, 2);
    let bytes = fs::read(&path).unwrap();
    let mut expected = b"POINTCACHE2\0".to_vec();
    expected.extend([1, 0, 0, 0, 8, 0, 0, 0]);
    expected.extend([0, 0, 0, 0, 0, 0, 0x80, 0x3f]);
    expected.extend([2, 0, 0, 0]);
    for value in [positions(0), positions(1)].concat().as_flattened() {
        expected.extend(value.to_le_bytes());
    }
    assert_eq!(bytes, expected);
}

#[test]
fn mdd_has_the_times_before_the_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mdd");
    record(&path, 2);
    let mut expected = vec![0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0];
    expected.extend((1.0f32 / 60.0).to_be_bytes());
    for value in [positions(0), positions(1)].concat().as_flattened() {
        expected.extend(value.to_be_bytes());
    }
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(names(folder.path()), ["a.mdd"]);
}

#[test]
fn csv_has_a_row_per_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    record(&path, 2);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "frame,time,energy,\"strain, max\"\n0,0,0,1e-9\n1,0.016666666666666666,0.1,1e-9\n"
    );
}

#[test]
fn csv_refuses_other_columns() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(&folder.path().join("a.csv"), &clip()).unwrap();
    feed(&mut *sink, 0).unwrap();
    let frame = Frame { index: 1, time: 0.1, positions: &[], colliders: &[], metrics: &[("heat", 1.0)] };
    let text = sink.frame(&frame).unwrap_err().to_string();
    assert!(text.contains("frame 1") && text.contains("heat") && text.contains("energy"), "{text}");
}

#[test]
fn what_is_dropped_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.obj", "a.ply", "a.glb", "a.pc2", "a.mdd", "a.csv", "a.svg"] {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        let mut sink = open(&path, &clip()).unwrap();
        feed(&mut *sink, 0).unwrap();
        drop(sink);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "{name}");
    }
    assert_eq!(names(folder.path()).len(), 7);
}

#[test]
fn a_recording_without_frames_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.obj", "a_%d.ply", "a.glb", "a.pc2", "a.mdd", "a.csv", "a.svg"] {
        let path = folder.path().join(name);
        assert!(open(&path, &clip()).unwrap().finish().unwrap().is_empty(), "{name}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_wrong_frame_is_an_error_and_the_good_ones_can_be_finished() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.obj", "a.ply", "a.glb", "a.pc2", "a.mdd"] {
        let path = folder.path().join(name);
        let mut sink = open(&path, &clip()).unwrap();
        feed(&mut *sink, 0).unwrap();
        let frame = Frame { index: 7, time: 0.1, positions: &[[0.0; 3]], colliders: &[], metrics: &[] };
        let text = sink.frame(&frame).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("frame 7") && text.contains('8'), "{text}");
        assert_eq!(sink.finish().unwrap(), [path]);
    }
}

#[test]
fn a_clip_that_contradicts_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let refused = |change: fn(&mut Clip)| {
        let mut clip = clip();
        change(&mut clip);
        match open(&path, &clip) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    assert!(refused(|clip| clip.triangles[3][0] = 2).contains("triangle 3 of cloth 'right hand'"));
    assert!(refused(|clip| clip.vertices = 7).contains("there are 7"));
    assert!(refused(|clip| clip.cloths.truncate(1)).contains("belong to no cloth"));
    assert!(refused(|clip| clip.cloths[1].triangles = 2..9).contains("end by 4"));
    assert!(refused(|clip| clip.cloths.swap(0, 1)).contains("must start at 0"));
}

#[test]
fn check_finds_what_would_fail_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    fs::write(&path, "old").unwrap();
    check(&path).unwrap();
    check(&folder.path().join("new_%04d.obj")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["a.glb"]);

    let text = |path: &Path| check(path).unwrap_err().to_string();
    assert!(text(folder.path()).contains("this is a folder"));
    assert!(text(&folder.path().join("none/a.glb")).contains("there is no folder"));
    assert!(text(&folder.path().join("a.gbl")).contains("did you mean .glb?"));
    assert!(text(&folder.path().join("a%d.glb")).contains("holds all frames"));
    assert!(text(&path.join("inside.obj")).contains("there is no folder"));
}
