//! The taffeta program.
fn main() {}
