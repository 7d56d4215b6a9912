//! The scenes that come with the crate.

/// A scene that is part of the crate.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        /// Every built-in scene, in the order to list them in.
        pub const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../scenes/", $name, ".toml")),
        }),*];
    };
}

scenes![
    "hang",
    "attach",
    "sdf-collision",
    "self-collision",
    "friction",
    "multiple-objects",
    "high-resolution",
    "swirl",
    "hang-iterations",
    "horizontal",
    "unity-lab",
    "modules-dynamics",
    "modules-pbd",
    "time-step",
    "curtain",
    "free-fall",
    "pendulum-wind",
    "cantilever",
    "strip",
    "incline",
    "pendulum",
    "flag",
    "ball-and-wind",
    "statue",
    "mannequin",
    "sphere-drape",
    "drop",
    "tower",
    "twist",
    "funnel",
    "plate",
    "body",
];
