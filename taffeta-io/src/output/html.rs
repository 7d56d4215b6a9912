//! The self-contained player page.
//!
//! The page is written from top to bottom while the frames come in: head and mesh first, then packed
//! frames as base64, and at the end the numbers known only then and the player. Memory use does not
//! grow with the length of the recording.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::{Clip, Frame, OutputError, Sink};

mod coding;
mod pack;
mod shapes;

use pack::Packer;
pub use shapes::shapes;

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
/// What draws a recording; the page then needs one more script that decides what is drawn.
const SCRIPTS: [&str; 5] = [
    include_str!("../../player/math.js"),
    include_str!("../../player/data.js"),
    include_str!("../../player/camera.js"),
    include_str!("../../player/scene.js"),
    include_str!("../../player/render.js"),
];
const PLAYER: &str = include_str!("../../player/ui.js");

/// Writes one `.html` file that plays the recording in any browser without a network.
pub struct HtmlSink {
    out: Page,
    packer: Packer,
}

impl HtmlSink {
    /// Starts a page for `clip` that will be at `path` once finished.
    pub fn create(path: &Path, clip: &Clip) -> Result<HtmlSink, OutputError> {
        let mut out = Page(Draft::create(path)?);
        if let Some(what) = mistake(clip) {
            return Err(out.fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let head = before(PAGE, "{{data}}")
            .replace("{{title}}", &escaped(&clip.title))
            .replace("{{subtitle}}", &escaped(&clip.subtitle))
            .replace("{{style}}", STYLE)
            .replace("{{shaders}}", &shaders());
        out.put(&head)?;
        Ok(HtmlSink { out, packer: Packer::new(clip) })
    }
}

impl Sink for HtmlSink {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), OutputError> {
        if !self.packer.fits(frame) {
            let what = "a frame has another number of vertices or colliders than its recording";
            return Err(self.out.fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let mut text = String::new();
        self.packer.frame(frame, &mut text);
        self.out.put(&text)
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, OutputError> {
        if self.packer.frames == 0 {
            return Ok(Vec::new());
        }
        let mut text = String::new();
        self.packer.finish(&mut text);
        self.out.put(&text)?;
        let script = SCRIPTS.concat() + PLAYER;
        self.out.put(&after(PAGE, "{{data}}").replace("{{script}}", &script))?;
        let HtmlSink { out, .. } = *self;
        Ok(vec![out.0.commit()?])
    }
}

/// The shaders as scripts that the drawing finds by their ids.
fn shaders() -> String {
    let tag = |(id, text): &(&str, &str)| format!("<script type=\"x-shader\" id=\"{id}\">{text}</script>\n");
    SHADERS.iter().map(tag).collect()
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
    } else if clip
        .cloths
        .iter()
        .chain(&clip.bodies)
        .any(|p| p.triangles.start > p.triangles.end || p.triangles.end > count)
    {
        Some("a cloth names triangles that do not exist")
    } else {
        None
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

    fn put(&mut self, text: &str) -> Result<(), OutputError> {
        self.0.with(|file| file.write_all(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
