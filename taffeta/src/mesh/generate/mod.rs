//! Meshes made by code: bodies and garments for scenes that need no files.

mod cuboid;
mod field;
mod figure;
mod remesh;
mod round;
mod tube;

use serde::{Deserialize, Serialize};

use super::TriMesh;
use crate::collide::Surface;

pub use cuboid::cuboid;
pub use figure::{figure, form, statue, walking_figure};
pub use round::{ball, torus};
pub use tube::Tube;

/// A mesh that is made by code. Lengths that are not given have a default for each shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// What it is.
    pub shape: GeneratedShape,
    /// About how many vertices; figures have exactly so many.
    #[serde(default)]
    pub vertices: Option<u32>,
    /// Sides of a box along x, y and z, m.
    #[serde(default)]
    pub size: Option<[f32; 3]>,
    /// Radius of a ball, of the middle circle of a torus, or of a tube, m.
    #[serde(default)]
    pub radius: Option<f32>,
    /// Radius of a torus' own tube, m.
    #[serde(default)]
    pub tube: Option<f32>,
    /// Radius of a skirt at its upper end, m.
    #[serde(default)]
    pub top: Option<f32>,
    /// Radius of a skirt at its lower end, m.
    #[serde(default)]
    pub bottom: Option<f32>,
    /// Height of a tube or skirt, m.
    #[serde(default)]
    pub length: Option<f32>,
    /// How deep (along z) a tube or skirt is, as a part of its width (along x).
    #[serde(default)]
    pub depth: Option<f32>,
    /// Of a figure that is a collider: it walks in place, two steps in so many seconds.
    #[serde(default)]
    pub walk: Option<f32>,
}

/// What a generated mesh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GeneratedShape {
    /// A ball about the origin.
    Ball,
    /// A box about the origin.
    Box,
    /// A ring about the y axis.
    Torus,
    /// A tube about the y axis, open at both ends.
    Tube,
    /// A tube that widens downwards.
    Skirt,
    /// A person 1.7 m high who stands on y = 0 and faces +z.
    Figure,
    /// A figure with a raised arm on a plinth, 2.2 m high, that stands on y = 0.
    Statue,
    /// A dressmaker's form, the trunk of a figure, about its middle.
    Form,
}

/// Fields and what they were given.
type Lengths = Vec<(&'static str, Option<f32>)>;

/// A mesh of more vertices is surely a mistake.
const MOST_VERTICES: u32 = 1_000_000;

impl Generate {
    /// The mesh, or the field that is wrong with it and why.
    pub fn mesh(&self) -> Result<TriMesh, (&'static str, String)> {
        let (used, vertices) = self.check()?;
        let length = |field: &str, default: f32| {
            let given = used.iter().find(|(name, _)| *name == field).and_then(|(_, value)| *value);
            given.unwrap_or(default)
        };
        let tube = |top: f32, bottom: f32, high: f32| {
            Tube { top, bottom, length: length("length", high), depth: length("depth", 1.0), vertices }.mesh()
        };
        Ok(match self.shape {
            GeneratedShape::Ball => ball(length("radius", 0.5), vertices),
            GeneratedShape::Box => cuboid(self.size.unwrap_or([1.0; 3]), vertices),
            GeneratedShape::Torus => {
                let (radius, tube) = (length("radius", 0.4), length("tube", 0.05));
                if tube >= radius {
                    return Err(("tube", format!("is {tube}; must be below the radius, {radius} m")));
                }
                torus(radius, tube, vertices)
            }
            GeneratedShape::Tube => tube(length("radius", 0.25), length("radius", 0.25), 1.0),
            GeneratedShape::Skirt => tube(length("top", 0.16), length("bottom", 0.4), 0.5),
            GeneratedShape::Figure => figure(vertices),
            GeneratedShape::Statue => statue(vertices),
            GeneratedShape::Form => form(vertices),
        })
    }

    /// The surface of a collider.
    pub fn surface(&self) -> Result<Surface, (&'static str, String)> {
        match self.walk {
            Some(period) => {
                let (_, vertices) = self.check()?;
                let (mesh, skin) = walking_figure(vertices, period);
                Surface::skinned(&mesh, skin).map_err(|problem| ("shape", problem))
            }
            None => self.mesh().map(|mesh| Surface::rigid(&mesh)),
        }
    }

    /// The lengths that belong to the shape, and the number of vertices.
    fn check(&self) -> Result<(Lengths, usize), (&'static str, String)> {
        use GeneratedShape::{Ball, Box, Figure, Form, Skirt, Statue, Torus, Tube};
        let [x, y, z] = [0, 1, 2].map(|axis| self.size.map(|size| size[axis]));
        let lengths = [
            ("size", x, &[Box][..]),
            ("size", y, &[Box]),
            ("size", z, &[Box]),
            ("radius", self.radius, &[Ball, Torus, Tube]),
            ("tube", self.tube, &[Torus]),
            ("top", self.top, &[Skirt]),
            ("bottom", self.bottom, &[Skirt]),
            ("length", self.length, &[Tube, Skirt]),
            ("depth", self.depth, &[Tube, Skirt]),
            ("walk", self.walk, &[Figure]),
        ];
        for (field, value, shapes) in lengths {
            let Some(value) = value else { continue };
            if !shapes.contains(&self.shape) {
                let names: Vec<String> = shapes.iter().map(|s| format!("{s:?}").to_lowercase()).collect();
                return Err((
                    field,
                    format!("is not for this shape, but for {}; leave it out", names.join(", ")),
                ));
            }
            if !(value > 0.0 && value.is_finite()) {
                return Err((field, format!("is {value}; must be above 0")));
            }
        }
        let (least, default) = match self.shape {
            Ball => (12, 2500),
            Box => (8, 386),
            Torus => (24, 1500),
            Tube | Skirt => (8, 2000),
            Figure => (800, 1200),
            Statue => (1500, 3000),
            Form => (300, 1202),
        };
        let vertices = self.vertices.unwrap_or(default);
        if !(least..=MOST_VERTICES).contains(&vertices) {
            return Err(("vertices", format!("is {vertices}; must be {least} to {MOST_VERTICES}")));
        }
        Ok((lengths.iter().map(|(field, value, _)| (*field, *value)).collect(), vertices as usize))
    }
}

/// The two triangles of a quad a b / c d; the diagonal is that from a to d, or from b to c.
fn quad([a, b, c, d]: [u32; 4], from_a: bool) -> [[u32; 3]; 2] {
    if from_a { [[a, c, d], [a, d, b]] } else { [[a, c, b], [b, c, d]] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(text: &str) -> Result<TriMesh, (&'static str, String)> {
        let shape = |word: &str| match word {
            "ball" => GeneratedShape::Ball,
            "box" => GeneratedShape::Box,
            "torus" => GeneratedShape::Torus,
            _ => GeneratedShape::Skirt,
        };
        let mut words = text.split(' ');
        let mut generate = Generate {
            shape: shape(words.next().unwrap()),
            vertices: None,
            size: None,
            radius: None,
            tube: None,
            top: None,
            bottom: None,
            length: None,
            depth: None,
            walk: None,
        };
        for word in words {
            let (field, value) = word.split_once('=').unwrap();
            let value: f32 = value.parse().unwrap();
            match field {
                "vertices" => generate.vertices = Some(value as u32),
                "size" => generate.size = Some([1.0, value, 1.0]),
                "radius" => generate.radius = Some(value),
                "tube" => generate.tube = Some(value),
                _ => generate.walk = Some(value),
            }
        }
        generate.mesh()
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        assert_eq!(generate("ball radius=0.2 vertices=600").unwrap().positions.len(), 642);
        for (text, field, words) in [
            ("ball radius=0", "radius", "above 0"),
            ("ball tube=0.1", "tube", "for torus"),
            ("ball vertices=3", "vertices", "12 to 1000000"),
            ("box size=0", "size", "above 0"),
            ("ball size=2", "size", "for box"),
            ("torus radius=0.1 tube=0.2", "tube", "below the radius, 0.1 m"),
            ("skirt walk=1", "walk", "for figure"),
        ] {
            let (found, problem) = generate(text).unwrap_err();
            assert!(found == field && problem.contains(words), "{text}: {found} {problem}");
        }
    }
}
