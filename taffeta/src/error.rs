//! What can be wrong with a scene.

/// Why a simulation could not be built: the field, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A figure out of range, a selection of nothing, and the like.
    #[error("{field}: {problem}")]
    Field {
        /// The field as a path into the scene, such as `cloth.0.pin.1`.
        field: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A name that does not exist.
    #[error("{field}: there is no {what} '{name}'; {}", suggestion(.name, .known))]
    Unknown {
        /// The field.
        field: String,
        /// What the name should name.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
}

impl BuildError {
    /// A problem with a field.
    pub fn field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        BuildError::Field { field: field.into(), problem: problem.into() }
    }
}

/// "did you mean …?" when a known name is near, else the list of them.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|k| (strsim::osa_distance(&name.to_lowercase(), k), k)).min();
    match nearest {
        Some((d, k)) if d <= 1 + name.chars().count() / 3 => format!("did you mean '{k}'?"),
        _ => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(suggestion("coton", &["silk", "cotton"]), "did you mean 'cotton'?");
        assert_eq!(suggestion("xpdb", &["xpbd", "newton"]), "did you mean 'xpbd'?");
        assert_eq!(suggestion("velvet", &["silk", "cotton"]), "there are silk, cotton");
    }
}
