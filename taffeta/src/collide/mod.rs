//! Colliders and contact.

mod bake;
mod barrier;
mod body;
pub mod bound;
mod contact;
mod layers;
mod paint;
pub mod particles;
pub mod proximity;
mod pushes;
pub mod query;
#[cfg(test)]
pub(crate) mod random;
mod rows;
mod sdf;
mod solid;
pub mod soup;
mod spheres;
pub mod surface;
pub mod swept;
pub mod untangle;

pub use bake::DistanceGrid;
pub use barrier::{Barrier, Moment, Work};
pub use body::{Body, Pose};
pub use contact::{Contact, Contacts};
pub use layers::Layers;
pub use sdf::Shape;
pub use solid::{Closest, Solid};
pub use surface::Surface;
