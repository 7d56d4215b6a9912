//! The self-contained player page.

/// Writes one `.html` file that plays the recording in any browser without a network.
pub struct HtmlSink;
