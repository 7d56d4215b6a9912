use std::path::PathBuf;

use miniz_oxide::inflate::decompress_to_vec_zlib;
use taffeta::collide::{Pose, Shape};

use super::super::{Clip, Frame, Part, Sink};
use super::coding::tests::{Decoder, grid};
use base64::prelude::{BASE64_STANDARD, Engine};

use super::{HtmlSink, coding};

const SIDE: u32 = 12;

fn clip() -> Clip {
    let triangles = grid(SIDE);
    Clip {
        title: "A </script> & <b>title</b>".into(),
        subtitle: "how it was made".into(),
        fps: 60.0,
        vertices: (SIDE * SIDE) as usize,
        edges: triangles.iter().map(|t| ([t[0], t[1]], 0.1)).collect(),
        cloths: vec![Part {
            name: "sheet".into(),
            vertices: 0..(SIDE * SIDE) as usize,
            triangles: 0..triangles.len(),
        }],
        triangles,
        bodies: Vec::new(),
        colliders: vec![Shape::Plane, Shape::Sphere { radius: 0.5 }],
    }
}

fn positions(f: usize) -> Vec<[f32; 3]> {
    let t = f as f32 / 60.0;
    let place = |v: u32| {
        let (x, z) = ((v % SIDE) as f32 * 0.1, (v / SIDE) as f32 * 0.1);
        [x, 1.0 - 4.9 * t * t + 0.1 * (3.0 * x + 8.0 * t).sin(), z]
    };
    (0..SIDE * SIDE).map(place).collect()
}

fn push(sink: &mut HtmlSink, f: usize) {
    let rest = Pose { position: Default::default(), rotation: Default::default() };
    let frame = Frame {
        index: f as u32,
        time: f as f64 / 60.0,
        positions: &positions(f),
        colliders: &[rest, rest],
        metrics: &[("energy_j", f as f64)],
    };
    sink.frame(&frame).unwrap();
}

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("taffeta-html-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn page(name: &str, frames: usize) -> String {
    let folder = Folder::new(name);
    let path = folder.0.join("out.html");
    let mut sink = HtmlSink::create(&path, &clip()).unwrap();
    (0..frames).for_each(|f| push(&mut sink, f));
    let written = Box::new(sink).finish().unwrap();
    assert_eq!(written, std::slice::from_ref(&path));
    assert_eq!(folder.files(), ["out.html"]);
    std::fs::read_to_string(path).unwrap()
}

/// The unpacked contents of the scripts of a class.
fn blocks(page: &str, class: &str) -> Vec<Vec<u8>> {
    let mark = format!("class=\"{class}\">");
    let texts = page.split(&mark).skip(1).map(|s| s.split('<').next().unwrap());
    texts.map(|t| decompress_to_vec_zlib(&BASE64_STANDARD.decode(t).unwrap()).unwrap()).collect()
}

#[test]
fn the_frames_in_the_page_are_those_written() {
    let page = page("frames", 30);
    let table = coding::predictors(clip().vertices, &clip().triangles);
    let step = coding::step_for(0.1);
    let mut decoder = Decoder::new(step, table);
    let bytes = blocks(&page, "frames").concat();
    let (mut at, mut f) = (0, 0);
    while at < bytes.len() {
        let (decoded, used) = decoder.frame(&bytes[at..]);
        at += used;
        for (p, q) in positions(f).iter().zip(&decoded) {
            for c in 0..3 {
                assert!((p[c] - q[c]).abs() <= step * 0.5 + 2e-7, "frame {f}: {p:?} {q:?}");
            }
        }
        // Time, two poses, one figure.
        let time = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(time, f as f32 / 60.0);
        at += 4 * (1 + 2 * 7 + 1);
        f += 1;
    }
    assert_eq!(f, 30);
    assert!(page.contains("\"frames\":30"));
    assert!(page.contains("\"metrics\":[\"energy_j\"]"));
}

#[test]
fn one_frame_is_a_whole_page() {
    let page = page("one", 1);
    assert!(page.trim_end().ends_with("</html>"));
    assert_eq!(blocks(&page, "frames").len(), 1);
    assert_eq!(blocks(&page, "mesh").len(), 1);
}

#[test]
fn the_page_needs_no_network() {
    let page = page("network", 2);
    let code = page.replace("http-equiv", "");
    for bad in ["http:", "https:", "//cdn", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("]
    {
        assert!(!code.contains(bad), "{bad} in the page");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("{{"), "a mark was not replaced");
}

#[test]
fn a_title_cannot_break_the_page() {
    let page = page("title", 2);
    assert!(page.contains("<title>A &lt;/script&gt; &amp; &lt;b&gt;title&lt;/b&gt;</title>"));
    assert!(page.contains("A \\u003c/script> & \\u003cb>title"));
}

#[test]
fn dropping_leaves_the_target_alone() {
    let folder = Folder::new("drop");
    let path = folder.0.join("out.html");
    std::fs::write(&path, "before").unwrap();
    let mut sink = HtmlSink::create(&path, &clip()).unwrap();
    push(&mut sink, 0);
    assert_eq!(folder.files().len(), 2);
    drop(sink);
    assert_eq!(folder.files(), ["out.html"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
}

#[test]
fn nothing_to_show_leaves_no_file() {
    let folder = Folder::new("empty");
    let path = folder.0.join("out.html");
    let sink = HtmlSink::create(&path, &clip()).unwrap();
    assert!(Box::new(sink).finish().unwrap().is_empty());
    let mut broken = clip();
    broken.triangles[3][1] = SIDE * SIDE;
    assert!(HtmlSink::create(&path, &broken).is_err());
    assert!(HtmlSink::create(&folder.0.join("no/such/out.html"), &clip()).is_err());
    assert!(folder.files().is_empty());
}

#[test]
fn a_frame_of_another_size_is_an_error() {
    let folder = Folder::new("size");
    let mut sink = HtmlSink::create(&folder.0.join("out.html"), &clip()).unwrap();
    let frame = Frame { index: 0, time: 0.0, positions: &[[0.0; 3]], colliders: &[], metrics: &[] };
    assert!(sink.frame(&frame).is_err());
}
