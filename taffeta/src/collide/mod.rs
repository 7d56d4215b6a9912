//! Colliders and contact.

mod body;
mod contact;
mod sdf;

pub use body::{Body, Pose};
pub use contact::{Contact, Contacts};
pub use sdf::Shape;
