//! The little linear algebra that glam does not have.

mod cg;
mod cholesky;
#[cfg(test)]
mod eigen;
mod sparse;

pub use cg::{ConjugateGradients, Operator, Solved, dot};
pub use cholesky::Factor;
#[cfg(test)]
pub use eigen::{MAX, Small, eigen};
pub use sparse::{Entry, Rows};
