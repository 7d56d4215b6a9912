//! The header of a `.ply`: which elements follow, and what each is made of.

use super::{Fault, excerpt};

/// How the values after the header are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn parse(line: usize, name: &str) -> Result<Scalar, Fault> {
        Ok(match name {
            "char" | "int8" => Scalar::I8,
            "uchar" | "uint8" => Scalar::U8,
            "short" | "int16" => Scalar::I16,
            "ushort" | "uint16" => Scalar::U16,
            "int" | "int32" => Scalar::I32,
            "uint" | "uint32" => Scalar::U32,
            "float" | "float32" => Scalar::F32,
            "double" | "float64" => Scalar::F64,
            _ => {
                return Err(Fault::line(
                    line,
                    format!(
                        "'{}' is not a type (accepted: char, uchar, short, ushort, int, uint, float, double, \
                         and int8 to float64)",
                        excerpt(name)
                    ),
                ));
            }
        })
    }

    /// Bytes in a binary file.
    pub fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }
}

/// One property of an element.
#[derive(Debug, PartialEq)]
pub(super) struct Property {
    pub name: String,
    /// The type of the value, or of the values of a list.
    pub scalar: Scalar,
    /// The type of the count before the values, for a list.
    pub list: Option<Scalar>,
}

/// One kind of element.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    pub name: String,
    /// How many there are, as the header claims.
    pub count: u64,
    pub properties: Vec<Property>,
    /// The line that declares it.
    pub line: usize,
}

#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Where the values begin, bytes.
    pub length: usize,
    /// How many lines the header has.
    pub lines: usize,
}

impl Header {
    /// Reads up to `end_header`.
    pub fn parse(bytes: &[u8]) -> Result<Header, Fault> {
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut length = 0;
        for (index, raw) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let line = index + 1;
            length += raw.len();
            let text = String::from_utf8_lossy(raw);
            let words: Vec<&str> = text.split_whitespace().collect();
            let wrong = |problem: &str| Err(Fault::line(line, problem));
            match words[..] {
                ["ply"] if index == 0 => {}
                _ if index == 0 => {
                    return wrong("this is not a PLY file, whose first line is 'ply'");
                }
                ["format", name, _] => encoding = Some(parse_encoding(line, name)?),
                ["format", ..] => {
                    return wrong("a format line has a name and a version: 'format ascii 1.0'");
                }
                ["element", name, count] => {
                    if elements.iter().any(|element| element.name == name) {
                        return wrong("this element was declared before; each kind is declared once");
                    }
                    let Ok(count) = count.parse() else {
                        return wrong(
                            "the number of elements is not a whole number, as in 'element vertex 8'",
                        );
                    };
                    elements.push(Element { name: name.to_string(), count, properties: Vec::new(), line });
                }
                ["element", ..] => {
                    return wrong("an element line has a name and a number: 'element vertex 8'");
                }
                ["property", ref rest @ ..] => {
                    let property = parse_property(line, rest)?;
                    match elements.last_mut() {
                        Some(element) => element.properties.push(property),
                        None => return wrong("a property needs an element line before it"),
                    }
                }
                ["end_header"] => {
                    let Some(encoding) = encoding else {
                        return wrong("the header has no format line, such as 'format ascii 1.0'");
                    };
                    return Ok(Header { encoding, elements, length, lines: line });
                }
                [] | ["comment" | "obj_info", ..] => {}
                [word, ..] => {
                    let word = excerpt(word);
                    return Err(Fault::line(
                        line,
                        format!(
                            "'{word}' does not belong in a header (accepted: format, element, property, comment, \
                             obj_info, end_header)"
                        ),
                    ));
                }
            }
        }
        Err(Fault::element("header", "the file ends before the line end_header; it is cut off, or not a PLY"))
    }
}

fn parse_encoding(line: usize, name: &str) -> Result<Encoding, Fault> {
    match name {
        "ascii" => Ok(Encoding::Ascii),
        "binary_little_endian" => Ok(Encoding::LittleEndian),
        "binary_big_endian" => Ok(Encoding::BigEndian),
        _ => Err(Fault::line(
            line,
            format!(
                "the format '{}' is unknown (accepted: ascii, binary_little_endian, binary_big_endian)",
                excerpt(name)
            ),
        )),
    }
}

fn parse_property(line: usize, words: &[&str]) -> Result<Property, Fault> {
    let (list, scalar, name) = match *words {
        ["list", count, scalar, name] => (Some(Scalar::parse(line, count)?), scalar, name),
        [scalar, name] if scalar != "list" => (None, scalar, name),
        _ => {
            return Err(Fault::line(
                line,
                "a property line is 'property float x' or 'property list uchar int vertex_indices'",
            ));
        }
    };
    if matches!(list, Some(Scalar::F32 | Scalar::F64)) {
        return Err(Fault::line(line, "the count of a list is a whole number, such as uchar, not a float"));
    }
    Ok(Property { name: name.to_string(), scalar: Scalar::parse(line, scalar)?, list })
}
