//! The description of a scene: plain data, as a scene file has it.

use std::sync::Arc;

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::collide::Surface;
use crate::material::{Fabric, PRESETS, preset};
use crate::mesh::TriMesh;
use crate::motion::{Motion, turn_about};
use crate::params::Params;

pub use crate::force::wind::{Wind, WindKind};
pub use crate::mesh::generate::{Generate, GeneratedShape};

/// Everything that is simulated together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// One line about the scene.
    pub title: String,
    /// Where it is from and what it shows.
    pub about: String,
    /// How it is simulated.
    pub simulation: Params,
    /// The cloths.
    pub cloth: Vec<Cloth>,
    /// The solid things they meet.
    pub collider: Vec<Collider>,
    /// The air around them; none if not given.
    pub wind: Option<Wind>,
}

/// One piece of cloth: a regular grid, or any triangle mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Cloth {
    /// A name for messages and outputs.
    pub name: String,
    /// Size of the grid along its x (warp) and z (weft), m.
    pub size: Pair<f32>,
    /// Quads of the grid along x and z.
    pub resolution: Pair<u32>,
    /// A mesh file (OBJ, PLY, glTF) instead of a grid, relative to the scene file.
    pub mesh: Option<String>,
    /// The mesh itself; filled from `mesh` by whoever reads files.
    #[serde(skip)]
    pub shape: Option<TriMesh>,
    /// A mesh made by code instead of a grid.
    pub generate: Option<Generate>,
    /// Scale of the mesh.
    pub scale: f32,
    /// Where its origin is put, m. A grid is level and centred on its origin.
    pub position: [f32; 3],
    /// Turned about x, then y, then z, degrees.
    pub rotation: [f32; 3],
    /// Velocity at the start, m/s.
    pub velocity: [f32; 3],
    /// Direction of the warp in the mesh's own frame.
    pub warp: [f32; 3],
    /// What it is made of: a preset's name, or a table of figures over a preset.
    pub fabric: FabricChoice,
    /// How it resists stretch and shear.
    pub membrane: Membrane,
    /// How it resists bending.
    pub bending: Bending,
    /// Keeps every vertex within reach of the nearest pins.
    pub tethers: Option<Tethers>,
    /// Greatest stretch of edges and diagonals, taken back after each substep: 0.1 is 10 %.
    pub strain_limit: Option<f32>,
    /// Distance kept from colliders, m; half of the thickness if not given.
    pub margin: Option<f32>,
    /// Held vertices.
    pub pin: Vec<Pin>,
    /// Vertices that start with a velocity of their own.
    pub kick: Vec<Kick>,
    /// Constant forces.
    pub load: Vec<Load>,
}

impl Default for Cloth {
    fn default() -> Self {
        Cloth {
            name: String::new(),
            size: Pair([1.0, 1.0]),
            resolution: Pair([32, 32]),
            mesh: None,
            shape: None,
            generate: None,
            scale: 1.0,
            position: [0.0; 3],
            rotation: [0.0; 3],
            velocity: [0.0; 3],
            warp: [1.0, 0.0, 0.0],
            fabric: FabricChoice::default(),
            membrane: Membrane::default(),
            bending: Bending::default(),
            tethers: None,
            strain_limit: None,
            margin: None,
            pin: Vec::new(),
            kick: Vec::new(),
            load: Vec::new(),
        }
    }
}

/// How a cloth resists stretch and shear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Membrane {
    /// Springs along edges, and on a grid along both diagonals: the fastest.
    #[default]
    Springs,
    /// Saint Venant–Kirchhoff triangles: warp, weft, shear and Poisson's ratio exactly, on any mesh.
    Stvk,
}

/// How a cloth resists bending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Bending {
    /// Isometric hinges: linear and cheap; the rest shape must be flat.
    #[default]
    Isometric,
    /// Dihedral angles: any rest shape.
    Dihedral,
    /// The distance of a vertex from the middle of its neighbours (grids only): cheap, without resistance to twist.
    Triangle,
    /// Springs that skip a vertex (grids only), as stiff as the cloth stretches: an old model without a rigidity in N·m,
    /// kept for comparison.
    Springs,
    /// None.
    None,
}

/// Long-range attachments to pins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tethers {
    /// How far a vertex may go, as a multiple of its distance along the cloth at rest.
    pub stretch: f32,
    /// To how many of the nearest pins each vertex is tethered.
    pub nearest: u32,
}

impl Default for Tethers {
    fn default() -> Self {
        Tethers { stretch: 1.2, nearest: 1 }
    }
}

/// Which vertices of a cloth. What is given is joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Select {
    /// Corners of a grid (or of the mesh's bounds), by their side of x and z: `x-z-`, `x+z-`, `x-z+`, `x+z+`.
    pub corners: Vec<Corner>,
    /// Sides of a grid (or of the mesh's bounds): `x-`, `x+`, `z-`, `z+`.
    pub edges: Vec<Side>,
    /// Everything within a box, in the cloth's own frame, m.
    #[serde(rename = "box")]
    pub within: Option<Bounds>,
    /// Vertex indices.
    pub vertices: Vec<u32>,
    /// The vertex nearest to the middle of the cloth.
    pub center: bool,
}

/// A corner of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
pub enum Corner {
    #[serde(rename = "x-z-")]
    LowLow,
    #[serde(rename = "x+z-")]
    HighLow,
    #[serde(rename = "x-z+")]
    LowHigh,
    #[serde(rename = "x+z+")]
    HighHigh,
}

/// A side of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
pub enum Side {
    #[serde(rename = "x-")]
    LowX,
    #[serde(rename = "x+")]
    HighX,
    #[serde(rename = "z-")]
    LowZ,
    #[serde(rename = "z+")]
    HighZ,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Lowest corner, m.
    pub min: [f32; 3],
    /// Highest corner, m.
    pub max: [f32; 3],
}

/// Vertices that are held, still or moving.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Pin {
    /// Which ones.
    pub select: Select,
    /// How they move.
    pub motion: Motion,
    /// The name of a collider that they move along with, as if sewn to it.
    pub follow: Option<String>,
    /// When they are let go, s.
    pub until: Option<f32>,
}

/// Vertices that start with a velocity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Kick {
    /// Which ones.
    pub select: Select,
    /// Their velocity, m/s.
    pub velocity: [f32; 3],
}

/// A constant force, spread over vertices in proportion to the length or area they stand for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// Which ones.
    pub select: Select,
    /// The total force, N.
    pub force: [f32; 3],
}

/// A solid thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Collider {
    /// A name for messages.
    pub name: String,
    /// What it is.
    pub shape: ColliderShape,
    /// Radius of a sphere or capsule, m.
    pub radius: f32,
    /// Side lengths of a box, m.
    pub size: [f32; 3],
    /// Length of a capsule's inner segment, along its y, m.
    pub length: f32,
    /// A mesh file (OBJ, PLY, glTF) for `shape = "mesh"`, relative to the scene file. With `%d` or `%04d` for a number in its name it is
    /// a sequence of files, one for each frame of an animation. A glTF file with a skin moves as its animation says.
    pub mesh: Option<String>,
    /// The mesh itself; filled from `mesh` by whoever reads files.
    #[serde(skip)]
    pub surface: Option<Arc<Surface>>,
    /// A point cache (`.pc2`, `.mdd`) with the positions of the mesh's vertices in each frame of an animation.
    pub cache: Option<String>,
    /// A mesh made by code, for `shape = "mesh"`.
    pub generate: Option<Generate>,
    /// Frames a second of a sequence of files or a point cache without times, 1/s.
    pub rate: f32,
    /// The animation of a glTF file by its name; the first if not given.
    pub animation: Option<String>,
    /// Starts the animation again after its end. Otherwise the last shape is kept.
    pub repeat: bool,
    /// Scale of the mesh.
    pub scale: f32,
    /// Bakes a mesh that keeps its shape to a grid of distances.
    pub sdf: Option<Bake>,
    /// Where its origin is, m. A plane's surface goes through it.
    pub position: [f32; 3],
    /// Turned about x, then y, then z, degrees. A plane faces its y.
    pub rotation: [f32; 3],
    /// Coulomb friction coefficient; the fabric's if not given.
    pub friction: Option<f32>,
    /// How it moves.
    pub motion: Motion,
}

impl Default for Collider {
    fn default() -> Self {
        Collider {
            name: String::new(),
            shape: ColliderShape::Sphere,
            radius: 0.5,
            size: [1.0; 3],
            length: 1.0,
            mesh: None,
            surface: None,
            cache: None,
            generate: None,
            rate: 24.0,
            animation: None,
            repeat: false,
            scale: 1.0,
            sdf: None,
            position: [0.0; 3],
            rotation: [0.0; 3],
            friction: None,
            motion: Motion::default(),
        }
    }
}

/// The shape of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ColliderShape {
    /// A half-space.
    Plane,
    /// A ball.
    Sphere,
    /// A box.
    Box,
    /// A rounded rod.
    Capsule,
    /// A triangle mesh.
    Mesh,
}

/// How a mesh is baked to distances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bake {
    /// Side length of a cell, m.
    pub cell: f32,
}

/// Degrees about x, then y, then z, as a rotation.
pub fn rotation(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    turn_about([0.0, 0.0, 1.0], z as f64)
        * turn_about([0.0, 1.0, 0.0], y as f64)
        * turn_about([1.0, 0.0, 0.0], x as f64)
}

/// One value for both directions, or one for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<T>(pub [T; 2]);

/// A fabric by name, or as a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FabricChoice(pub FabricTable);

/// Figures of a fabric; what is not given comes from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FabricTable {
    /// The preset to start from; `cotton` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Mass of a square metre, kg/m².
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f32>,
    /// Tensile stiffness, N/m; one figure, or warp and weft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Pair<f32>>,
    /// Shear stiffness, N/m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<f32>,
    /// Poisson's ratio of the weave, 0 to 0.9; for `membrane = "stvk"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f32>,
    /// Bending rigidity, N·m; one figure, or warp and weft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend: Option<Pair<f32>>,
    /// Decay of velocities, 1/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f32>,
    /// Coulomb friction coefficient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f32>,
    /// Thickness, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f32>,
}

impl FabricTable {
    /// The fabric, or the name of the preset that does not exist.
    pub fn resolve(&self) -> Result<Fabric, String> {
        let name = self.preset.as_deref().unwrap_or(PRESETS[0].name);
        let base = preset(name).ok_or_else(|| name.to_string())?.fabric;
        Ok(Fabric {
            density: self.density.unwrap_or(base.density),
            stretch: self.stretch.map_or(base.stretch, |p| p.0),
            shear: self.shear.unwrap_or(base.shear),
            poisson: self.poisson.unwrap_or(base.poisson),
            bend: self.bend.map_or(base.bend, |p| p.0),
            damping: self.damping.unwrap_or(base.damping),
            friction: self.friction.unwrap_or(base.friction),
            thickness: self.thickness.unwrap_or(base.thickness),
        })
    }
}

impl Cloth {
    /// From the cloth's own frame to the world.
    pub fn place(&self, p: Vec3) -> Vec3 {
        rotation(self.rotation) * (p * self.scale) + Vec3::from(self.position)
    }
}

mod flexible {
    //! Fields that may be written in a short or a long form, with errors as good as serde's own.

    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{
        Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
    };
    use serde::{Deserialize, Serialize, Serializer};

    use super::{FabricChoice, FabricTable, Pair};

    /// A number as TOML has it: whole or not.
    pub trait Number: Copy + fmt::Display {
        const WHAT: &'static str;
        fn new(v: f64) -> Option<Self>;
    }

    impl Number for f32 {
        const WHAT: &'static str = "a number, or two in brackets";
        fn new(v: f64) -> Option<Self> {
            Some(v as f32)
        }
    }

    impl Number for u32 {
        const WHAT: &'static str = "a whole number, or two in brackets";
        fn new(v: f64) -> Option<Self> {
            (v >= 0.0 && v <= u32::MAX as f64 && v.fract() == 0.0).then_some(v as u32)
        }
    }

    struct PairVisitor<T>(PhantomData<T>);

    impl<'de, T: Number> Visitor<'de> for PairVisitor<T> {
        type Value = Pair<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::WHAT)
        }
        fn visit_f64<E: Error>(self, v: f64) -> Result<Pair<T>, E> {
            T::new(v).map(|v| Pair([v; 2])).ok_or_else(|| E::custom(format!("{v}: expected {}", T::WHAT)))
        }
        fn visit_i64<E: Error>(self, v: i64) -> Result<Pair<T>, E> {
            self.visit_f64(v as f64)
        }
        fn visit_u64<E: Error>(self, v: u64) -> Result<Pair<T>, E> {
            self.visit_f64(v as f64)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Pair<T>, A::Error> {
            let mut next = || -> Result<T, A::Error> {
                let v: f64 =
                    seq.next_element()?.ok_or_else(|| A::Error::custom(format!("expected {}", T::WHAT)))?;
                T::new(v).ok_or_else(|| A::Error::custom(format!("{v}: expected {}", T::WHAT)))
            };
            let pair = Pair([next()?, next()?]);
            match seq.next_element::<IgnoredAny>()? {
                None => Ok(pair),
                Some(_) => Err(A::Error::custom(format!("expected {}", T::WHAT))),
            }
        }
    }

    impl<'de, T: Number> Deserialize<'de> for Pair<T> {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_any(PairVisitor(PhantomData))
        }
    }

    impl<T: Serialize> Serialize for Pair<T> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(s)
        }
    }

    struct FabricVisitor;

    impl<'de> Visitor<'de> for FabricVisitor {
        type Value = FabricChoice;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of a fabric, or a table of its figures")
        }
        fn visit_str<E: Error>(self, name: &str) -> Result<FabricChoice, E> {
            Ok(FabricChoice(FabricTable { preset: Some(name.into()), ..FabricTable::default() }))
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FabricChoice, A::Error> {
            FabricTable::deserialize(MapAccessDeserializer::new(map)).map(FabricChoice)
        }
    }

    impl<'de> Deserialize<'de> for FabricChoice {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_any(FabricVisitor)
        }
    }

    impl Serialize for FabricChoice {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(s)
        }
    }

    #[cfg(feature = "schema")]
    mod schema {
        use super::super::{FabricChoice, FabricTable, Pair};
        use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
        use std::borrow::Cow;

        impl<T: JsonSchema> JsonSchema for Pair<T> {
            fn schema_name() -> Cow<'static, str> {
                format!("PairOf_{}", T::schema_name()).into()
            }
            fn json_schema(g: &mut SchemaGenerator) -> Schema {
                let one = g.subschema_for::<T>();
                json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 2, "maxItems": 2 }] })
            }
        }

        impl JsonSchema for FabricChoice {
            fn schema_name() -> Cow<'static, str> {
                "Fabric".into()
            }
            fn json_schema(g: &mut SchemaGenerator) -> Schema {
                let table = g.subschema_for::<FabricTable>();
                let names: Vec<_> = crate::material::PRESETS.iter().map(|p| p.name).collect();
                json_schema!({ "anyOf": [{ "type": "string", "enum": names }, table] })
            }
        }
    }
}
