//! Still shapes of the same cloth, side by side, for pages that compare.

use super::super::{Clip, Frame, OutputError};
use super::{Packer, SCRIPTS, shaders};

const VIEWS: &str = include_str!("../../../player/shapes.js");

/// The scripts of a page that show one shape for each of `frames`: frame k in the page's canvas `data-shape="k"`. All canvases
/// share one camera; turning one turns all. An element `shapes-message` takes what goes wrong.
pub fn shapes(clip: &Clip, frames: &[Frame<'_>]) -> Result<String, OutputError> {
    let mut text = shaders();
    let mut packer = Packer::new(clip);
    for frame in frames {
        if !packer.fits(frame) {
            return Err(OutputError::Frame {
                path: clip.title.clone().into(),
                frame: frame.index,
                problem: "it has another number of vertices or colliders than the others".into(),
            });
        }
        packer.frame(frame, &mut text);
    }
    packer.finish(&mut text);
    Ok(text + "<script>\n" + &SCRIPTS.concat() + VIEWS + "</script>\n")
}
