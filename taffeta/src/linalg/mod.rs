//! The little linear algebra that glam does not have.

mod dual;

pub use dual::Dual;
