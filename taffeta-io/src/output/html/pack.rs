//! A recording as packed scripts in a page, in memory that does not grow with its length.

use base64::prelude::{BASE64_STANDARD, Engine};
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};
use taffeta::collide::Shape;

use super::super::{Clip, Frame, Part};
use super::coding::{self, Encoder};

/// A packed block is closed once it holds this many bytes before deflating.
const BLOCK: usize = 4 << 20;
/// Deflate effort, 0 to 10.
const EFFORT: u8 = 6;

/// Packs frames as they come.
pub(super) struct Packer {
    clip: Clip,
    encoder: Option<Encoder>,
    step: f32,
    block: Vec<u8>,
    pub frames: usize,
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

impl Packer {
    /// Of a recording without frames yet.
    pub fn new(clip: &Clip) -> Packer {
        Packer {
            clip: clip.clone(),
            encoder: None,
            step: 0.0,
            block: Vec::new(),
            frames: 0,
            metrics: Vec::new(),
            boxes: Vec::new(),
            stretch: 1,
            travel: vec![Extent::EMPTY; clip.colliders.len()],
        }
    }

    /// Whether a frame has as many vertices and colliders as the recording.
    pub fn fits(&self, frame: &Frame<'_>) -> bool {
        frame.positions.len() == self.clip.vertices && frame.colliders.len() == self.clip.colliders.len()
    }

    /// Takes the next frame; scripts that are complete are added to `out`.
    pub fn frame(&mut self, frame: &Frame<'_>, out: &mut String) {
        let mut encoder = match self.encoder.take() {
            Some(encoder) => encoder,
            None => self.begin(frame, out),
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
            self.flush(out);
        }
    }

    /// The last scripts: what is left, and what is known only now.
    pub fn finish(&mut self, out: &mut String) {
        self.flush(out);
        let about = self.about().to_string().replace('<', "\\u003c");
        out.push_str(&format!("<script type=\"application/json\" id=\"about\">{about}</script>\n"));
    }

    /// Writes the mesh and prepares the coding, which needs the first frame if there are no edges.
    fn begin(&mut self, frame: &Frame<'_>, out: &mut String) -> Encoder {
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
        put_block(out, "mesh", &mesh);
        Encoder::new(self.step, table)
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

    fn flush(&mut self, out: &mut String) {
        if !self.block.is_empty() {
            put_block(out, "frames", &self.block);
            self.block.clear();
        }
    }

    fn about(&self) -> Value {
        let clip = &self.clip;
        let part = |p: &Part, solid: bool| json!({ "name": p.name, "triangles": [p.triangles.start, p.triangles.end], "solid": solid });
        let mut parts: Vec<Value> = clip.cloths.iter().map(|p| part(p, false)).collect();
        parts.extend(clip.bodies.iter().map(|p| part(p, true)));
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

/// Adds deflated bytes as a script of a kind no browser runs.
fn put_block(out: &mut String, class: &str, bytes: &[u8]) {
    out.push_str(&format!("<script type=\"text/plain\" class=\"{class}\">"));
    BASE64_STANDARD.encode_string(compress_to_vec_zlib(bytes, EFFORT), out);
    out.push_str("</script>\n");
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
        Shape::Mesh => json!({ "kind": "mesh" }),
    }
}
