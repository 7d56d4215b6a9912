//! File endings, which choose the format both when reading and when writing.

use std::path::Path;

/// The ending of `path` in lower case, without the point; empty where there is none.
pub(crate) fn of(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A sentence about an ending that is not among `accepted`: what is wrong, what is meant perhaps, what is right.
pub(crate) fn explain(found: &str, accepted: &[&str]) -> String {
    let wrong = if found.is_empty() {
        "the name has no ending, so the format is unknown".to_string()
    } else {
        format!("the ending .{found} is not a known format")
    };
    let guess = nearest(found, accepted).map(|near| format!("; did you mean .{near}?")).unwrap_or_default();
    format!("{wrong}{guess} (accepted: .{})", accepted.join(", ."))
}

/// The accepted ending most like `found`, if one is alike enough to be worth suggesting.
fn nearest<'a>(found: &str, accepted: &[&'a str]) -> Option<&'a str> {
    // One slip of the finger is always a candidate, even where a short word leaves little in common.
    let likeness = |word: &str| match strsim::damerau_levenshtein(found, word) {
        0 | 1 => 1.0,
        _ => strsim::jaro_winkler(found, word),
    };
    accepted
        .iter()
        .map(|&word| (likeness(word), word))
        .filter(|&(score, _)| score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTED: &[&str] = &["obj", "ply", "glb", "csv"];

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        assert_eq!(nearest("gltf", ACCEPTED), Some("glb"));
        assert_eq!(nearest("cvs", ACCEPTED), Some("csv"));
        assert_eq!(nearest("ob", ACCEPTED), Some("obj"));
        assert_eq!(nearest("docx", ACCEPTED), None);
    }

    #[test]
    fn the_sentence_names_what_is_accepted() {
        let text = explain("", ACCEPTED);
        assert!(text.contains("no ending") && text.contains(".obj, .ply"), "{text}");
        assert!(explain("pyl", ACCEPTED).contains("did you mean .ply?"));
    }

    #[test]
    fn case_does_not_matter() {
        assert_eq!(of(Path::new("a/Shirt.OBJ")), "obj");
    }
}
