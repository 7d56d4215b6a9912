//! Valid files in every encoding, and faults with their places.

use super::super::error::Place;
use super::*;

const ASCII: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float z\nproperty uchar red\n\
    property double x\nproperty float y\nelement face 1\nproperty list uchar int vertex_indices\nproperty int flags\n\
    element edge 1\nproperty int a\nproperty int b\nend_header\n";

const ROWS: &str = "0 9 0 0\n0 9 1 0\n0 9 1 1\n0.5 9 0 1\n4 0 1 2 3 7\n0 1\n";

fn fault(text: &str) -> String {
    let Fault { place, problem } = parse(text.as_bytes()).unwrap_err();
    match place {
        Place::Line(line) => format!("{line}: {problem}"),
        Place::Element(element) => format!("{element}: {problem}"),
    }
}

fn expect_square(mesh: &TriMesh) {
    assert_eq!(mesh.positions, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.5]]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

/// The square of `ROWS` in binary.
pub(in super::super) fn binary(big: bool) -> Vec<u8> {
    let name = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = ASCII.replace("ascii", name).into_bytes();
    let mut put = |mut little: Vec<u8>| {
        if big {
            little.reverse();
        }
        bytes.extend(little);
    };
    for [x, y, z] in [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.5]] {
        put(z.to_le_bytes().into());
        put(vec![9]);
        put(f64::from(x).to_le_bytes().into());
        put(y.to_le_bytes().into());
    }
    put(vec![4]);
    for value in [0i32, 1, 2, 3, 7, 0, 1] {
        put(value.to_le_bytes().into());
    }
    bytes
}

pub(in super::super) fn ascii() -> Vec<u8> {
    format!("{ASCII}{ROWS}").into_bytes()
}

#[test]
fn every_encoding_is_read() {
    expect_square(&parse(&ascii()).unwrap());
    expect_square(&parse(format!("{ASCII}{ROWS}").replace('\n', "\r\n").as_bytes()).unwrap());
    expect_square(&parse(&binary(false)).unwrap());
    expect_square(&parse(&binary(true)).unwrap());
}

#[test]
fn strips_turn_every_second_triangle() {
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 3 2 1\n";
    assert_eq!(parse(text.as_bytes()).unwrap().triangles, [[0, 1, 2], [2, 1, 3], [3, 2, 1]]);
}

#[test]
fn faults_in_the_header_name_the_line() {
    assert!(fault("solid cube\n").starts_with("1: this is not a PLY"));
    assert!(fault("").contains("ends before the line end_header"));
    assert!(fault("ply\nformat ascii 1.0\n").contains("ends before the line end_header"));
    assert!(fault("ply\nformat utf8 1.0\n").starts_with("2: the format 'utf8' is unknown (accepted: ascii"));
    assert!(fault("ply\nproperty float x\n").starts_with("2: a property needs an element"));
    assert!(fault("ply\nelement vertex many\n").contains("whole number"));
    assert!(
        fault("ply\nelement vertex 1\nproperty real x\n").contains("'real' is not a type (accepted: char")
    );
    assert!(fault("ply\nelement a 1\nproperty list float int b\n").contains("not a float"));
    assert!(fault("ply\nelement a 1\nelement a 1\n").starts_with("3: "));
    assert!(fault("ply\nend_header\n").contains("no format line"));
    assert!(fault("ply\nvertices 3\n").contains("'vertices' does not belong"));
    let no_z = ASCII.replace("float z", "float w") + ROWS;
    assert!(fault(&no_z).starts_with("4: the element vertex needs a property z"), "{}", fault(&no_z));
    assert!(
        fault(&(ASCII.replace("vertex_indices", "corners") + ROWS)).contains("needs a list of its corners")
    );
}

#[test]
fn faults_in_the_text_name_line_and_element() {
    let with = |from: &str, to: &str| fault(&format!("{ASCII}{}", ROWS.replacen(from, to, 1)));
    assert_eq!(with("1 1\n", "1\n"), "18: vertex 2 (of 4): the line ends before the value of y");
    assert_eq!(with("0.5", "x"), "19: vertex 3 (of 4): the value 'x' of z is not a number");
    assert_eq!(with("3 7", "4 7"), "20: face 0 (of 1): the corner 4 is not a vertex; the file has 0 to 3");
    assert!(with("3 7", "-1 7").contains("the corner -1"));
    assert!(with("3 7", "1.5 7").contains("the corner 1.5"));
    assert!(with("4 0 1 2 3 7", "2 0 1 7").contains("at least 3 corners, this has 2"));
    assert!(with("4 0 1", "-4 0 1").contains("has -4 values"));
    assert!(with("3 7", "3 7 8").contains("'8' is one value more"));
    assert!(with("0 1\n", "").contains("line ends") || with("\n0 1\n", "\n").contains("file ends"));
}

#[test]
fn what_is_cut_off_is_told_by_the_element() {
    for encoding in [binary(false), binary(true)] {
        for length in ASCII.len()..encoding.len() {
            if let Ok(mesh) = parse(&encoding[..length]) {
                panic!("{length} bytes gave {mesh:?}");
            }
        }
        let Fault { place, problem } = parse(&encoding[..encoding.len() - 8 - 10]).unwrap_err();
        assert_eq!(place, Place::Element("face 0 (of 1)".into()));
        assert!(problem.contains("cut off"));
    }
}

#[test]
fn claims_cost_nothing() {
    let vertices = "ply\nformat binary_little_endian 1.0\nelement vertex 4294967295\nproperty float x\nproperty float y\n\
        property float z\nend_header\n0123";
    assert!(fault(vertices).starts_with("vertex 0 (of 4294967295): the file ends"));
    let nothing = "ply\nformat ascii 1.0\nelement air 18446744073709551615\nend_header\n";
    assert_eq!(parse(nothing.as_bytes()).unwrap(), TriMesh::default());
    let mut list =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uint int vertex_index\nend_header\n"
            .to_vec();
    list.extend([0; 12]);
    list.extend([0xff; 4]);
    assert!(parse(&list).unwrap_err().problem.contains("file ends"));
}
