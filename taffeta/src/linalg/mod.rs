//! The little linear algebra that glam does not have.

mod cg;
mod cholesky;
mod dual;
mod eigen;
mod sparse;

pub use cg::{ConjugateGradients, Operator, Solved, dot};
pub use cholesky::Factor;
pub use dual::Dual;
pub use eigen::{MAX, Small, eigen};
pub use sparse::{Entry, Rows};
