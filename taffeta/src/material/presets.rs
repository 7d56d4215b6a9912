//! Fabrics by name, each figure with where it comes from.
//!
//! Sources:
//! * (a) Matsudaira, Masuda, Wada, Yokura, J. Textile Engineering 61(6), 2015, tables 1–2: weight, thickness, KES bending.
//! * (b) Kumari, Khurana, J. Textiles 4614168, 2016, table 5: denims, KES tensile, shear, bending.
//! * (c) Wang, O'Brien, Ramamoorthi, *Data-driven elastic models for cloth*, 2011: denim and interlock knit.
//! * (d) Tadesse, Materials 11:2466, 2018: woven cotton, tensile.
//! * (e) Fan, Yu, Hunter, *Clothing appearance and fit*, 2004, table 1.12: wool suiting.
//! * (f) Memon, Materials 14:4553, 2021: sheep leather, thickness and tensile.
//! * (w) the ClothDrapeTester data set (SIGGRAPH Asia 2022): median bending rigidity of 251 fabrics by weight.
//!
//! No single specimen has everything, so a preset joins figures of similar fabrics and says so for each.

use super::Fabric;

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Measured on a specimen of this fabric, in these units.
    Measured(&'static str),
    /// Measured, but in other units or at another strain; the conversion is named.
    Converted(&'static str),
    /// No measurement was found; the reason for the value is named.
    Estimated(&'static str),
}

impl Source {
    /// `measured`, `converted` or `estimated`.
    pub fn word(self) -> &'static str {
        match self {
            Source::Measured(_) => "measured",
            Source::Converted(_) => "converted",
            Source::Estimated(_) => "estimated",
        }
    }

    /// The citation or the reason.
    pub fn note(self) -> &'static str {
        match self {
            Source::Measured(note) | Source::Converted(note) | Source::Estimated(note) => note,
        }
    }
}

/// A named fabric and the provenance of its figures.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name in scene files.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The figures.
    pub fabric: Fabric,
    /// Where the density comes from.
    pub density: Source,
    /// Where the stretch stiffnesses come from.
    pub stretch: Source,
    /// Where the shear stiffness comes from.
    pub shear: Source,
    /// Where the bending rigidities come from.
    pub bend: Source,
    /// Where the thickness comes from.
    pub thickness: Source,
}

use Source::{Converted, Estimated, Measured};

/// Friction between cloth and other things was not measured in any of the sources; damping stands for air and for what bending to and fro takes.
const FRICTION: f32 = 0.4;
const DAMPING: f32 = 1.5;
/// Nor was Poisson's ratio; crimp passing from one yarn system to the other gives wovens about 0.2 at small strains.
const POISSON: f32 = 0.2;

const KES_B: &str = "(a) KES B, 1 gf·cm²/cm = 9.80665e-5 N·m";
const BY_WEIGHT: &str = "(w) median for this weight";

/// Every preset. The first is the default.
pub const PRESETS: [Preset; 10] = [
    Preset {
        name: "cotton",
        about: "plain-weave cotton broadcloth, as in shirts",
        fabric: Fabric {
            density: 0.1238,
            stretch: [21_400.0, 21_400.0],
            shear: 50.0,
            poisson: POISSON,
            bend: [11.57e-6, 11.57e-6],
            damping: DAMPING,
            friction: FRICTION,
            thickness: 0.497e-3,
        },
        density: Measured("(a)"),
        stretch: Converted("(d) another plain cotton of 0.158 kg/m²: secant at 2.3 % strain"),
        shear: Estimated("between wool suiting (e) and denim (c)"),
        bend: Converted(KES_B),
        thickness: Measured("(a)"),
    },
    Preset {
        name: "silk",
        about: "light plain silk of about 16 momme",
        fabric: Fabric {
            density: 0.07,
            stretch: [8_000.0, 8_000.0],
            shear: 25.0,
            poisson: POISSON,
            bend: [3.0e-6, 2.9e-6],
            damping: DAMPING,
            friction: 0.3,
            thickness: 0.2e-3,
        },
        density: Converted("16 momme, 1 momme = 4.34 g/m²"),
        stretch: Estimated("a light woven: a third of cotton's stiffness at over half its weight"),
        shear: Estimated("below wool suiting (e)"),
        bend: Estimated(BY_WEIGHT),
        thickness: Estimated("near polyester faille (a), 0.226 mm"),
    },
    Preset {
        name: "denim",
        about: "11 oz denim, as in jeans",
        fabric: Fabric {
            density: 0.324,
            stretch: [9_500.0, 9_500.0],
            shear: 53.0,
            poisson: POISSON,
            bend: [64.0e-6, 97.0e-6],
            damping: DAMPING,
            friction: 0.5,
            thickness: 0.9e-3,
        },
        density: Measured("(c)"),
        stretch: Converted("(b) middle of six denims: 490.33/(EMT/100), secant at about 5 %"),
        shear: Measured("(c)"),
        bend: Measured("(c)"),
        thickness: Measured("(b) within 0.80–1.19 mm"),
    },
    Preset {
        name: "wool",
        about: "tropical plain wool, as in summer suits",
        fabric: Fabric {
            density: 0.1629,
            stretch: [10_500.0, 4_600.0],
            shear: 32.0,
            poisson: POISSON,
            bend: [6.57e-6, 6.57e-6],
            damping: DAMPING,
            friction: FRICTION,
            thickness: 0.407e-3,
        },
        density: Measured("(a)"),
        stretch: Converted("(e) middle of the range of suitings, from KES EMT"),
        shear: Converted("(e) FAST G = 123/EB5"),
        bend: Converted(KES_B),
        thickness: Measured("(a)"),
    },
    Preset {
        name: "jersey",
        about: "interlock cotton knit, as in T-shirts",
        fabric: Fabric {
            density: 0.187,
            stretch: [90.0, 300.0],
            shear: 37.0,
            poisson: POISSON,
            bend: [23.0e-6, 14.0e-6],
            damping: DAMPING,
            friction: FRICTION,
            thickness: 0.8e-3,
        },
        density: Measured("(c)"),
        stretch: Measured("(c) at 16.7 % strain; a fifth of it near zero"),
        shear: Measured("(c)"),
        bend: Measured("(c)"),
        thickness: Estimated("a medium knit"),
    },
    Preset {
        name: "leather",
        about: "sheep garment leather",
        fabric: Fabric {
            density: 0.45,
            stretch: [58_000.0, 58_000.0],
            shear: 5_000.0,
            poisson: POISSON,
            bend: [53.0e-6, 31.0e-6],
            damping: DAMPING,
            friction: 0.6,
            thickness: 0.8e-3,
        },
        density: Estimated("the middle of 0.3–0.6 kg/m² given as guidance"),
        stretch: Converted("(f) modulus times thickness"),
        shear: Estimated("a felt-like sheet without yarns to turn: a tenth of stretch"),
        bend: Estimated(BY_WEIGHT),
        thickness: Measured("(f) middle of 0.64–0.96 mm"),
    },
    Preset {
        name: "canvas",
        about: "heavy plain-weave cotton, as in tents and sails",
        fabric: Fabric {
            density: 0.35,
            stretch: [30_000.0, 30_000.0],
            shear: 150.0,
            poisson: POISSON,
            bend: [41.0e-6, 28.0e-6],
            damping: DAMPING,
            friction: 0.5,
            thickness: 0.7e-3,
        },
        density: Estimated("a 10 oz duck"),
        stretch: Estimated("cotton (d) with more yarn"),
        shear: Estimated("the upper end of denims (b), 84–191"),
        bend: Estimated(BY_WEIGHT),
        thickness: Estimated("a 10 oz duck"),
    },
    Preset {
        name: "chiffon",
        about: "sheer plain weave of crepe yarns, as in scarves",
        fabric: Fabric {
            density: 0.04,
            stretch: [4_000.0, 4_000.0],
            shear: 15.0,
            poisson: POISSON,
            bend: [1.3e-6, 1.0e-6],
            damping: DAMPING,
            friction: 0.3,
            thickness: 0.15e-3,
        },
        density: Estimated("an 8–10 momme chiffon"),
        stretch: Estimated("the lightest woven here"),
        shear: Estimated("an open weave turns easily"),
        bend: Estimated(BY_WEIGHT),
        thickness: Estimated("the lightest woven here"),
    },
    Preset {
        name: "polyester",
        about: "tropical plain polyester",
        fabric: Fabric {
            density: 0.1165,
            stretch: [12_000.0, 12_000.0],
            shear: 40.0,
            poisson: POISSON,
            bend: [7.55e-6, 7.55e-6],
            damping: DAMPING,
            friction: FRICTION,
            thickness: 0.340e-3,
        },
        density: Measured("(a)"),
        stretch: Estimated("between wool (e) and cotton (d)"),
        shear: Estimated("near wool suiting (e)"),
        bend: Converted(KES_B),
        thickness: Measured("(a)"),
    },
    Preset {
        name: "satin",
        about: "light polyester faille, near a light satin",
        fabric: Fabric {
            density: 0.1043,
            stretch: [10_000.0, 10_000.0],
            shear: 30.0,
            poisson: POISSON,
            bend: [1.86e-6, 1.86e-6],
            damping: DAMPING,
            friction: 0.3,
            thickness: 0.226e-3,
        },
        density: Measured("(a)"),
        stretch: Estimated("a little below polyester"),
        shear: Estimated("near wool suiting (e)"),
        bend: Converted(KES_B),
        thickness: Measured("(a)"),
    },
];

/// The preset of that name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bending_lengths_rank_the_measured_fabrics_as_published() {
        // c = (B/(ρ g))^(1/3): 1.22, 1.60, 1.88, 2.12 cm in source (a).
        let length = |name: &str| {
            let f = preset(name).unwrap().fabric;
            100.0 * (f.bend[0] / (f.density * 9.81)).cbrt()
        };
        for (name, published) in [("satin", 1.22), ("wool", 1.60), ("polyester", 1.88), ("cotton", 2.12)] {
            assert!((length(name) - published).abs() < 0.01, "{name}: {}", length(name));
        }
    }

    #[test]
    fn names_are_unique_and_figures_positive() {
        for (i, p) in PRESETS.iter().enumerate() {
            assert!(PRESETS[..i].iter().all(|q| q.name != p.name));
            let f = p.fabric;
            let all = [f.density, f.stretch[0], f.stretch[1], f.shear, f.bend[0], f.bend[1], f.thickness];
            assert!(all.iter().all(|&v| v > 0.0), "{}", p.name);
        }
    }
}
