//! How many rows and columns each level has.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A decreasing function of the level: how many of n lines of a grid are left on level l of L. `f(0) = n`, and the last level has
/// so many as the caller says.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Decision {
    /// The same number less from level to level.
    #[default]
    Linear,
    /// As a quarter of a cosine: few less at first, more and more later.
    Cosine,
    /// The share of lines that is left on each level, from the finest to the coarsest, above 0 and below 1.
    Shares(Vec<f32>),
}

impl Decision {
    /// Lines of each of `levels` levels, the finest first, for a cloth that has `lines`; never fewer than two.
    pub fn counts(&self, lines: usize, levels: usize, coarsest: usize) -> Vec<usize> {
        let (most, least) = (lines as f32, coarsest.min(lines) as f32);
        let count = |l: usize| {
            let way = l as f32 / levels as f32;
            let left = match self {
                Decision::Linear => least + (most - least) * (1.0 - way),
                Decision::Cosine => {
                    least + (most - least) * libm::cosf(0.5 * std::f32::consts::PI * way).max(0.0)
                }
                Decision::Shares(shares) => shares.get(l - 1).map_or(least, |share| share * most),
            };
            (left.round() as usize).clamp(2, lines.max(2))
        };
        (1..=levels).map(count).collect()
    }

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let Decision::Shares(shares) = self else { return None };
        if shares.is_empty() {
            return Some(
                "is an empty list; give the share of rows and columns of each level, as in [0.5, 0.25]"
                    .into(),
            );
        }
        let bad = |s: f32| !(s > 0.0 && s < 1.0);
        if let Some(share) = shares.iter().find(|s| bad(**s)) {
            return Some(format!("has {share}; shares must be above 0 and below 1"));
        }
        let rising = shares.windows(2).find(|w| w[0] <= w[1])?;
        Some(format!("has {} before {}; shares must decrease from level to level", rising[0], rising[1]))
    }

    /// The number of levels, if it says.
    pub fn levels(&self) -> Option<usize> {
        if let Decision::Shares(shares) = self { Some(shares.len()) } else { None }
    }
}

struct DecisionVisitor;

impl<'de> Visitor<'de> for DecisionVisitor {
    type Value = Decision;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'linear', 'cosine', or a list of shares such as [0.5, 0.25]")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<Decision, E> {
        match name {
            "linear" => Ok(Decision::Linear),
            "cosine" => Ok(Decision::Cosine),
            _ => Err(E::custom(format!(
                "'{name}': expected 'linear', 'cosine', or a list of shares such as [0.5, 0.25]"
            ))),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Decision, A::Error> {
        let mut shares = Vec::new();
        while let Some(share) = seq.next_element()? {
            shares.push(share);
        }
        Ok(Decision::Shares(shares))
    }
}

impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(DecisionVisitor)
    }
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Decision::Linear => s.serialize_str("linear"),
            Decision::Cosine => s.serialize_str("cosine"),
            Decision::Shares(shares) => shares.serialize(s),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Decision {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Decision".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string", "enum": ["linear", "cosine"] },
            { "type": "array", "items": { "type": "number" }, "minItems": 1 },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laws_decrease_to_the_coarsest() {
        assert_eq!(Decision::Linear.counts(5, 3, 2), [4, 3, 2]);
        assert_eq!(Decision::Linear.counts(30, 7, 2), [26, 22, 18, 14, 10, 6, 2]);
        assert_eq!(Decision::Linear.counts(65, 1, 2), [2]);
        let cosine = Decision::Cosine.counts(100, 8, 2);
        assert!(cosine[0] >= 97 && cosine[7] == 2 && cosine.windows(2).all(|w| w[0] > w[1]), "{cosine:?}");
        assert_eq!(Decision::Shares(vec![0.5, 0.1]).counts(64, 2, 2), [32, 6]);
        assert_eq!(Decision::Shares(vec![0.5, 0.1]).counts(3, 2, 2), [2, 2]);
    }

    #[test]
    fn lists_must_decrease() {
        assert!(Decision::Shares(vec![0.5, 0.25]).problem().is_none());
        for bad in [vec![], vec![0.5, 0.5], vec![1.0], vec![0.0], vec![f32::NAN]] {
            assert!(Decision::Shares(bad.clone()).problem().is_some(), "{bad:?}");
        }
    }
}
