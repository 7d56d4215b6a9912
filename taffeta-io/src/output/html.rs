//! The self-contained player page.
//!
//! The page is written from top to bottom while the frames come in: head and mesh first, then packed
//! frames as base64, and at the end the numbers known only then and the player. Memory use does not
//! grow with the length of the recording.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine};
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};
use taffeta::collide::Shape;

use super::draft::Draft;
use super::{Clip, Frame, OutputError, Sink};

mod coding;

use coding::Encoder;

const PAGE: &str = include_str!("../../player/page.html");
const STYLE: &str = include_str!("../../player/style.css");
/// Shaders, each under the id the player asks for.
const SHADERS: [(&str, &str); 11] = [
    ("common", include_str!("../../player/shaders/common.glsl")),
    ("light", include_str!("../../player/shaders/light.glsl")),
    ("cloth.vert", include_str!("../../player/shaders/cloth.vert")),
    ("cloth.frag", include_str!("../../player/shaders/cloth.frag")),
    ("solid.vert", include_str!("../../player/shaders/solid.vert")),
    ("solid.frag", include_str!("../../player/shaders/solid.frag")),
    ("floor.frag", include_str!("../../player/shaders/floor.frag")),
    ("screen.vert", include_str!("../../player/shaders/screen.vert")),
    ("screen.frag", include_str!("../../player/shaders/screen.frag")),
    ("flat.frag", include_str!("../../player/shaders/flat.frag")),
    ("wire.frag", include_str!("../../player/shaders/wire.frag")),
];
const SCRIPTS: [&str; 6] = [
    include_str!("../../player/math.js"),
    include_str!("../../player/data.js"),
    include_str!("../../player/camera.js"),
    include_str!("../../player/scene.js"),
    include_str!("../../player/render.js"),
    include_str!("../../player/ui.js"),
];

/// A packed block is closed once it holds this many bytes before deflating.
const BLOCK: usize = 4 << 20;
/// Deflate effort, 0 to 10.
const EFFORT: u8 = 6;

/// Writes one `.html` file that plays the recording in any browser without a network.
pub struct HtmlSink {
    out: Page,
    clip: Clip,
    encoder: Option<Encoder>,
    step: f32,
    block: Vec<u8>,
    frames: usize,
    metrics: Vec<&'static str>,
    /// Where the cloths have been, in [`BOXES`] stretches of time at most.
    boxes: Vec<Extent>,
    /// How many frames go into one box.
    stretch: usize,
    /// Where the origin of each collider has been.
    travel: Vec<Extent>,
}

/// At most this many boxes tell the player where the cloths have been.
const BOXES: usize = 64;

/// An axis-aligned box around points.
#[derive(Clone, Copy)]
struct Extent {
    low: [f32; 3],
    high: [f32; 3],
}

impl Extent {
    const EMPTY: Extent = Extent { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    fn include(&mut self, p: [f32; 3]) {
        if p.iter().all(|x| x.is_finite()) {
            for c in 0..3 {
                self.low[c] = self.low[c].min(p[c]);
                self.high[c] = self.high[c].max(p[c]);
            }
        }
    }

    fn join(mut self, other: Extent) -> Extent {
        self.include(other.low);
        self.include(other.high);
        self
    }

    /// The six numbers, or nothing if there was no point.
    fn numbers(&self) -> Option<[f32; 6]> {
        let ([a, b, c], [d, e, f]) = (self.low, self.high);
        (a <= d).then_some([a, b, c, d, e, f])
    }
}

impl HtmlSink {
    /// Starts a page for `clip` that will be at `path` once finished.
    pub fn create(path: &Path, clip: &Clip) -> Result<HtmlSink, OutputError> {
        let mut out = Page(Draft::create(path)?);
        if let Some(what) = mistake(clip) {
            return Err(out.fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let shaders: String = SHADERS
            .iter()
            .map(|(id, text)| format!("<script type=\"x-shader\" id=\"{id}\">{text}</script>\n"))
            .collect();
        let head = before(PAGE, "{{data}}")
            .replace("{{title}}", &escaped(&clip.title))
            .replace("{{subtitle}}", &escaped(&clip.subtitle))
            .replace("{{style}}", STYLE)
            .replace("{{shaders}}", &shaders);
        out.put(head.as_bytes())?;
        Ok(HtmlSink {
            out,
            clip: clip.clone(),
            encoder: None,
            step: 0.0,
            block: Vec::new(),
            frames: 0,
            metrics: Vec::new(),
            boxes: Vec::new(),
            stretch: 1,
            travel: vec![Extent::EMPTY; clip.colliders.len()],
        })
    }

    /// Writes the mesh and prepares the coding, which needs the first frame if there are no edges.
    fn begin(&mut self, frame: &Frame<'_>) -> Result<Encoder, OutputError> {
        let clip = &self.clip;
        let table = coding::predictors(clip.vertices, &clip.triangles);
        self.step = coding::step_for(typical_edge(clip, frame.positions));
        self.metrics = frame.metrics.iter().map(|&(name, _)| name).collect();
        let mut mesh = Vec::new();
        for k in 0..3 {
            coding::put_ints(&mut mesh, clip.triangles.iter().map(|t| t[k]));
        }
        for k in 0..2 {
            coding::put_ints(&mut mesh, clip.edges.iter().map(|(e, _)| e[k]));
        }
        coding::put_ints(&mut mesh, clip.edges.iter().map(|(_, rest)| rest.to_bits()));
        for k in 0..3 {
            // As distances back, so that a regular mesh gives long runs.
            let back = |(v, e): (usize, &[u32; 3])| (v as u32).wrapping_sub(e[k]);
            coding::put_ints(&mut mesh, table.iter().enumerate().map(back));
        }
        self.out.block("mesh", &mesh)?;
        Ok(Encoder::new(self.step, table))
    }

    /// Notes where things are in this frame.
    fn measure(&mut self, frame: &Frame<'_>) {
        if self.frames == BOXES * self.stretch {
            self.boxes = self.boxes.chunks(2).map(|b| b[0].join(b[b.len() - 1])).collect();
            self.stretch *= 2;
        }
        if self.frames.is_multiple_of(self.stretch) {
            self.boxes.push(Extent::EMPTY);
        }
        if let Some(last) = self.boxes.last_mut() {
            frame.positions.iter().for_each(|&p| last.include(p));
        }
        for (extent, pose) in self.travel.iter_mut().zip(frame.colliders) {
            extent.include(pose.position.to_array());
        }
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        if !self.block.is_empty() {
            self.out.block("frames", &self.block)?;
            self.block.clear();
        }
        Ok(())
    }

    fn about(&self) -> Value {
        let clip = &self.clip;
        let parts: Vec<Value> = clip
            .cloths
            .iter()
            .map(|p| {
                json!({
                    "name": p.name,
                    "triangles": [p.triangles.start, p.triangles.end],
                })
            })
            .collect();
        json!({
            "title": clip.title,
            "subtitle": clip.subtitle,
            "fps": clip.fps,
            "frames": self.frames,
            "vertices": clip.vertices,
            "triangles": clip.triangles.len(),
            "edges": clip.edges.len(),
            "step": self.step,
            "boxes": self.boxes.iter().filter_map(Extent::numbers).collect::<Vec<_>>(),
            "travel": self.travel.iter().map(|e| e.numbers().unwrap_or_default()).collect::<Vec<_>>(),
            "metrics": self.metrics,
            "parts": parts,
            "colliders": clip.colliders.iter().map(shape).collect::<Vec<_>>(),
        })
    }
}

impl Sink for HtmlSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        if frame.positions.len() != self.clip.vertices || frame.colliders.len() != self.clip.colliders.len() {
            let what = "a frame has another number of vertices or colliders than its recording";
            return Err(self.out.fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let mut encoder = match self.encoder.take() {
            Some(encoder) => encoder,
            None => self.begin(frame)?,
        };
        encoder.frame(frame.positions, &mut self.block);
        self.encoder = Some(encoder);
        self.measure(frame);
        let mut number = |x: f32| self.block.extend(x.to_le_bytes());
        number(frame.time as f32);
        for pose in frame.colliders {
            pose.position.to_array().into_iter().for_each(&mut number);
            pose.rotation.to_array().into_iter().for_each(&mut number);
        }
        for k in 0..self.metrics.len() {
            number(frame.metrics.get(k).map_or(f32::NAN, |m| m.1 as f32));
        }
        self.frames += 1;
        if self.block.len() >= BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.frames == 0 {
            return Ok(Vec::new());
        }
        self.flush()?;
        let about = self.about().to_string().replace('<', "\\u003c");
        let tag = format!("<script type=\"application/json\" id=\"about\">{about}</script>\n");
        self.out.put(tag.as_bytes())?;
        let script = SCRIPTS.concat();
        let tail = after(PAGE, "{{data}}").replace("{{script}}", &script);
        self.out.put(tail.as_bytes())?;
        let HtmlSink { out, .. } = *self;
        Ok(vec![out.0.commit()?])
    }
}

/// What makes a clip impossible to show, if anything.
fn mistake(clip: &Clip) -> Option<&'static str> {
    let n = clip.vertices as u64;
    let inside = |i: &u32| u64::from(*i) < n;
    let count = clip.triangles.len();
    if !clip.triangles.iter().flatten().all(inside) {
        Some("a triangle names a vertex that does not exist")
    } else if !clip.edges.iter().flat_map(|(e, _)| e).all(inside) {
        Some("an edge names a vertex that does not exist")
    } else if clip.cloths.iter().any(|p| p.triangles.start > p.triangles.end || p.triangles.end > count) {
        Some("a cloth names triangles that do not exist")
    } else {
        None
    }
}

/// The median length of the edges at rest, or of the triangles' sides where there are none.
fn typical_edge(clip: &Clip, positions: &[[f32; 3]]) -> f32 {
    let mut lengths: Vec<f32> = clip.edges.iter().map(|(_, rest)| *rest).collect();
    if lengths.is_empty() {
        let side = |t: &[u32; 3]| {
            let (a, b) = (positions[t[0] as usize], positions[t[1] as usize]);
            (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt()
        };
        lengths.extend(clip.triangles.iter().map(side));
    }
    lengths.retain(|l| l.is_finite() && *l > 0.0);
    if lengths.is_empty() {
        return f32::NAN;
    }
    let middle = lengths.len() / 2;
    *lengths.select_nth_unstable_by(middle, f32::total_cmp).1
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Plane => json!({ "kind": "plane" }),
        Shape::Sphere { radius } => json!({ "kind": "sphere", "radius": radius }),
        Shape::Cuboid { half } => json!({ "kind": "box", "half": half.to_array() }),
        Shape::Capsule { radius, half_length } => {
            json!({ "kind": "capsule", "radius": radius, "half": half_length })
        }
    }
}

fn before<'a>(page: &'a str, mark: &str) -> &'a str {
    page.split_once(mark).map_or(page, |(head, _)| head)
}

fn after<'a>(page: &'a str, mark: &str) -> &'a str {
    page.split_once(mark).map_or("", |(_, tail)| tail)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The page as it grows.
struct Page(Draft);

impl Page {
    fn fail(&self, source: io::Error) -> OutputError {
        OutputError::Write { path: self.0.target().to_path_buf(), source }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        self.0.with(|file| file.write_all(bytes))
    }

    /// Writes deflated bytes as a script of a kind no browser runs.
    fn block(&mut self, class: &str, bytes: &[u8]) -> Result<(), OutputError> {
        let text = BASE64_STANDARD.encode(compress_to_vec_zlib(bytes, EFFORT));
        self.put(format!("<script type=\"text/plain\" class=\"{class}\">").as_bytes())?;
        self.put(text.as_bytes())?;
        self.put(b"</script>\n")
    }
}

#[cfg(test)]
mod tests;
