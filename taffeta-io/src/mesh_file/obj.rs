//! Wavefront `.obj`.
//!
//! Only `v` and `f` matter here; every other statement is passed over, known or not. The parser is our own because
//! those at hand do not say in which line a file is wrong.

use taffeta::mesh::TriMesh;

use super::{Fault, excerpt, fan};

/// Reads the text of a file. Bytes that are not UTF-8 may stand in names and comments.
pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = TriMesh::default();
    let mut corners = Vec::new();
    // A face may come before its vertices, so the upper limit is checked at the end, in the face that reaches
    // highest.
    let mut highest = (0, 0);
    for (line, statement) in Statements::of(&text) {
        let mut words = statement.split_whitespace().take_while(|word| !word.starts_with('#'));
        match words.next() {
            Some("v") => mesh.positions.push(position(line, words)?),
            // `fo` is the old name of `f`.
            Some("f" | "fo") => {
                corners.clear();
                for word in words {
                    corners.push(corner(line, word, mesh.positions.len())?);
                }
                if corners.len() < 3 {
                    let found = corners.len();
                    return Err(Fault::line(
                        line,
                        format!("a face needs at least 3 corners, this has {found}"),
                    ));
                }
                for &corner in &corners {
                    highest = highest.max((corner, line));
                }
                fan(&corners, &mut mesh.triangles);
            }
            _ => {}
        }
    }
    let (vertex, line) = highest;
    if line > 0 && vertex as usize >= mesh.positions.len() {
        return Err(Fault::line(
            line,
            format!(
                "the face uses vertex {}, but the file has {}",
                u64::from(vertex) + 1,
                mesh.positions.len()
            ),
        ));
    }
    Ok(mesh)
}

/// The first three numbers; a weight or a colour may follow.
fn position<'a>(line: usize, mut words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], Fault> {
    let mut position = [0.0; 3];
    for (axis, value) in position.iter_mut().enumerate() {
        let Some(word) = words.next() else {
            return Err(Fault::line(line, format!("a vertex needs 3 coordinates, this has {axis}")));
        };
        *value = word.parse().map_err(|_| {
            let hint = if word.contains(',') { " (write a point, not a comma)" } else { "" };
            Fault::line(
                line,
                format!("the {} coordinate '{}' is not a number{hint}", ["x", "y", "z"][axis], excerpt(word)),
            )
        })?;
    }
    Ok(position)
}

/// The vertex of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`, counted from 0.
fn corner(line: usize, word: &str, vertices: usize) -> Result<u32, Fault> {
    let number = word.split('/').next().unwrap_or_default();
    let wrong = |problem: String| Err(Fault::line(line, problem));
    match number.parse::<i64>() {
        Ok(0) => wrong(format!(
            "the corner '{}' uses vertex 0; the first vertex is 1, the latest is -1",
            excerpt(word)
        )),
        Ok(back) if back < 0 => {
            match vertices.checked_sub(back.unsigned_abs().try_into().unwrap_or(usize::MAX)) {
                Some(vertex) => Ok(vertex as u32),
                None => wrong(format!(
                    "the corner goes {} vertices back, but there are {vertices} so far",
                    back.unsigned_abs()
                )),
            }
        }
        Ok(vertex) if vertex <= i64::from(u32::MAX) => Ok((vertex - 1) as u32),
        Ok(vertex) => {
            wrong(format!("the vertex number {vertex} is too large; at most {} is possible", u32::MAX))
        }
        Err(_) => wrong(format!(
            "the corner '{}' is not a vertex number, such as 7, 7/1, 7//3 or -2",
            excerpt(word)
        )),
    }
}

/// The statements of a text with the number of the line each starts in. A backslash at the end of a line joins the
/// next one to it.
struct Statements<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Statements<'a> {
    fn of(text: &'a str) -> Statements<'a> {
        Statements { lines: text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() }
    }
}

impl<'a> Iterator for Statements<'a> {
    type Item = (usize, std::borrow::Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let (number, first) = self.lines.next()?;
        let Some(head) = first.trim_end().strip_suffix('\\') else {
            return Some((number + 1, first.into()));
        };
        let mut whole = head.to_string();
        for (_, next) in self.lines.by_ref() {
            whole.push(' ');
            match next.trim_end().strip_suffix('\\') {
                Some(middle) => whole.push_str(middle),
                None => {
                    whole.push_str(next);
                    break;
                }
            }
        }
        Some((number + 1, whole.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    fn triangles(faces: &str) -> Vec<[u32; 3]> {
        parse(format!("{SQUARE}{faces}").as_bytes()).unwrap().triangles
    }

    fn fault(text: &str) -> String {
        let Fault { place, problem } = parse(text.as_bytes()).unwrap_err();
        format!("{place:?} {problem}")
    }

    #[test]
    fn polygons_become_fans() {
        assert_eq!(triangles("f 1 2 3 4"), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn corners_in_every_form() {
        assert_eq!(triangles("f 1/1 2//7 3/2/1\nf -4 -2/5 -1 # back"), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn weights_colours_line_ends_and_the_rest_are_no_trouble() {
        let text = "\u{feff}# caf\u{e9}\r\nmtllib a.mtl\r\no first\r\nv 0 0 0 1\r\nv 1 0 0 0.5 0.5 0.5\r\nvt 0 0\r\n\
                    vn 0 0 1\r\ng second\r\nv +1. .1e1 -0\r\n\r\ns off\r\nl 1 2\r\n\tf 1 \\\r\n 2 \\\r\n 3\r\nnonsense";
        let mesh = parse(text.as_bytes()).unwrap();
        assert_eq!(mesh.positions[2], [1.0, 1.0, 0.0]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        assert!(parse(b"o caf\xe9\nv 0 0 0\n").is_ok());
    }

    #[test]
    fn a_face_may_come_first() {
        assert_eq!(parse(format!("f 1 2 3\n{SQUARE}").as_bytes()).unwrap().triangles, [[0, 1, 2]]);
    }

    #[test]
    fn not_a_number_is_read_as_it_stands() {
        let mesh = parse(b"v nan inf 1e99").unwrap();
        assert!(mesh.positions[0][0].is_nan());
        assert_eq!(mesh.positions[0][1..], [f32::INFINITY; 2]);
    }

    #[test]
    fn faults_name_the_line_and_what_is_right() {
        assert_eq!(fault("v 0 0 0\n\nv 1 2"), "Line(3) a vertex needs 3 coordinates, this has 2");
        assert!(fault("v 1,5 0 0").contains("write a point"));
        assert_eq!(fault("v 0 y 0"), "Line(1) the y coordinate 'y' is not a number");
        assert!(
            fault(&format!("{SQUARE}f 1 2 0")).starts_with("Line(5) the corner '0' uses vertex 0; the first")
        );
        assert_eq!(
            fault(&format!("{SQUARE}f 1 2 9\nf 1 2 3")),
            "Line(5) the face uses vertex 9, but the file has 4"
        );
        assert!(fault(&format!("{SQUARE}f 1 2 -5")).contains("5 vertices back, but there are 4"));
        assert!(fault(&format!("{SQUARE}f 1 2 1.5")).contains("not a vertex number"));
        assert!(fault(&format!("{SQUARE}f 1 2")).contains("at least 3 corners, this has 2"));
        assert!(fault(&format!("{SQUARE}f 1 2 99999999999")).contains("too large"));
        assert!(fault(&format!("{SQUARE}f 1 2 -9223372036854775808")).contains("back"));
        // The line of a joined statement is its first.
        assert!(fault("\nv 0 \\\n 0 \\\n z").starts_with("Line(2)"));
    }
}
