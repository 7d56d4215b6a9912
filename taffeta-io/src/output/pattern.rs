//! File names with a place for the frame number.

use std::path::{Path, PathBuf};

use super::{Format, OutputError};

/// The most digits a frame number may be padded to.
const MOST_DIGITS: usize = 9;

/// Where frames go: one file, or one for each.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// All into this file.
    One(PathBuf),
    /// Each into its own; see [`Target::of_frame`].
    Numbered {
        /// The folder and the name as given, for messages.
        path: PathBuf,
        /// The name before the number.
        before: String,
        /// Digits to pad to with zeros.
        digits: usize,
        /// The name after the number.
        after: String,
    },
}

impl Target {
    /// Reads the name of `path`; only `%d` and `%0Nd` stand for the frame number.
    pub fn parse(path: &Path, format: Format) -> Result<Target, OutputError> {
        let wrong = |problem: String| OutputError::Pattern { path: path.to_path_buf(), problem };
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Ok(Target::One(path.to_path_buf()));
        };
        let Some((before, number, after)) = split(name) else {
            return Ok(Target::One(path.to_path_buf()));
        };
        if !format.takes_frame_numbers() {
            return Err(wrong(format!(
                "a .{} file holds all frames, so its name takes no %{number}d; leave it out",
                format.ending()
            )));
        }
        if split(after).is_some() {
            return Err(wrong(
                "the name has two places for the frame number; one is right, such as cloth_%04d.obj".into(),
            ));
        }
        let digits = match number.strip_prefix('0') {
            None if number.is_empty() => Some(1),
            None => None,
            Some("") => Some(1),
            Some(width) => width.parse().ok().filter(|width| (1..=MOST_DIGITS).contains(width)),
        };
        let digits = digits.ok_or_else(|| {
            wrong(format!(
                "%{number}d is not a place for a frame number; write %d, or %04d for four digits (at most %0{MOST_DIGITS}d)"
            ))
        })?;
        Ok(Target::Numbered {
            path: path.to_path_buf(),
            before: before.to_string(),
            digits,
            after: after.to_string(),
        })
    }

    /// The file that frame `index` goes to.
    pub fn of_frame(&self, index: u32) -> PathBuf {
        match self {
            Target::One(path) => path.clone(),
            Target::Numbered { path, before, digits, after } => {
                path.with_file_name(format!("{before}{index:0digits$}{after}"))
            }
        }
    }
}

/// Finds the first `%`, digits, `d` in a name: what is before, the digits, what is after.
fn split(name: &str) -> Option<(&str, &str, &str)> {
    name.match_indices('%').find_map(|(at, _)| {
        let rest = &name[at + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = rest[digits..].strip_prefix('d')?;
        Some((&name[..at], &rest[..digits], after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Result<Target, String> {
        let path = Path::new(name);
        Target::parse(path, Format::of(path).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_are_padded() {
        let target = parse("50%d/a_%04d_b.obj").unwrap();
        assert_eq!(target.of_frame(7), Path::new("50%d/a_0007_b.obj"));
        assert_eq!(target.of_frame(123456), Path::new("50%d/a_123456_b.obj"));
        assert_eq!(parse("%d.ply").unwrap().of_frame(12), Path::new("12.ply"));
        assert_eq!(parse("%03d.ply").unwrap().of_frame(0), Path::new("000.ply"));
    }

    #[test]
    fn a_percent_sign_alone_is_a_percent_sign() {
        assert_eq!(parse("100%.obj").unwrap(), Target::One("100%.obj".into()));
        assert_eq!(parse("5%off.glb").unwrap(), Target::One("5%off.glb".into()));
    }

    #[test]
    fn what_cannot_be_numbered_is_refused_with_the_right_form() {
        assert!(parse("a%4d.obj").unwrap_err().contains("%04d"));
        assert!(parse("a%0999999999999d.obj").unwrap_err().contains("%09d"));
        assert!(parse("a%d_%d.obj").unwrap_err().contains("two places"));
        assert!(parse("a%04d.glb").unwrap_err().contains("holds all frames"));
    }
}
