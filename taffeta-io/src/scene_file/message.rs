//! The deserialiser's messages in the words of a person who writes scene files.

use taffeta::error::suggestion;

/// Rewrites one message.
pub(super) fn humane(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = [("unknown field ", "key"), ("unknown variant ", "word")];
    for (start, what) in unknown {
        if let (true, [found, accepted @ ..]) = (message.starts_with(start), &quoted[..]) {
            return not_among(what, found, accepted);
        }
    }
    if message.starts_with("missing field ") {
        return format!("the key '{}' is missing", quoted.first().unwrap_or(&""));
    }
    let words = [
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected f32", "expected a number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list in brackets"),
        ("an array of length 3", "three numbers in brackets"),
        ("an array of length 4", "four numbers in brackets"),
        ("invalid type: map", "wrong kind of value: a table"),
        ("invalid type: sequence", "wrong kind of value: a list"),
        ("invalid type: ", "wrong kind of value: "),
        (": floating point `", ": number `"),
        ("expected struct ", "expected a table: "),
        ("`", "'"),
    ];
    words.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}

/// What is wrong with a word that is not among the accepted ones.
fn not_among(what: &str, found: &str, accepted: &[&str]) -> String {
    let hint = suggestion(found, accepted);
    let all = accepted.join(", ");
    let list = if hint.contains(&all) { String::new() } else { format!(" (accepted: {all})") };
    format!("unknown {what} '{found}'; {hint}{list}")
}

#[cfg(test)]
mod tests {
    use super::humane;

    #[test]
    fn the_nearest_key_is_offered_and_all_are_named() {
        let text = humane("unknown field `substep`, expected one of `method`, `dt`, `substeps`");
        assert_eq!(text, "unknown key 'substep'; did you mean 'substeps'? (accepted: method, dt, substeps)");
        let text = humane("unknown variant `cube`, expected `plane` or `sphere`");
        assert_eq!(text, "unknown word 'cube'; there are plane, sphere");
        assert_eq!(
            humane("invalid value: integer `-1`, expected u32"),
            "invalid value: integer '-1', expected a whole number, 0 or more"
        );
    }
}
