//! The values of a `.ply`, row by row.

use super::header::{Element, Encoding, Header, Property, Scalar};
use super::{Fault, excerpt};

/// Where the row being read stands, for messages.
pub(super) struct Row<'a> {
    element: &'a str,
    /// From 0.
    index: u64,
    count: u64,
    /// From 1, in text files.
    line: Option<usize>,
}

impl Row<'_> {
    /// A fault in this row.
    pub fn fault(&self, problem: impl Into<String>) -> Fault {
        let element = format!("{} {} (of {})", excerpt(self.element), self.index, self.count);
        match self.line {
            Some(line) => Fault::line(line, format!("{element}: {}", problem.into())),
            None => Fault::element(element, problem),
        }
    }
}

/// What follows the header.
pub(super) struct Body<'a> {
    encoding: Encoding,
    /// What is not read yet.
    rest: &'a [u8],
    /// The number of lines read.
    line: usize,
}

impl<'a> Body<'a> {
    /// The part of `bytes` after the header.
    pub fn new(bytes: &'a [u8], header: &Header) -> Body<'a> {
        Body { encoding: header.encoding, rest: &bytes[header.length..], line: header.lines }
    }

    /// Reads every row of `element`: `take` gets the number of a property and its values, `end` closes the row.
    ///
    /// Values come as f64, which holds each of the eight types exactly.
    pub fn rows(
        &mut self,
        element: &Element,
        mut take: impl FnMut(&Row<'_>, usize, &[f64]) -> Result<(), Fault>,
        mut end: impl FnMut(&Row<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        // Without properties a row has no length, and the header could claim any number of them.
        if element.properties.is_empty() {
            return Ok(());
        }
        let mut values = Vec::new();
        for index in 0..element.count {
            let mut row = Row { element: &element.name, index, count: element.count, line: None };
            let mut words = match self.encoding {
                Encoding::Ascii => Some(self.words(&mut row)?),
                _ => None,
            };
            for (number, property) in element.properties.iter().enumerate() {
                values.clear();
                let mut next = |scalar: Scalar| match &mut words {
                    Some(words) => word_value(&row, property, scalar, words.next()),
                    None => binary_value(&row, self.encoding, scalar, &mut self.rest),
                };
                let count = match property.list {
                    None => 1,
                    Some(scalar) => {
                        let count = next(scalar)?;
                        if !(count >= 0.0 && count.fract() == 0.0) {
                            let name = excerpt(&property.name);
                            return Err(row.fault(format!(
                                "the list {name} has {count} values; 0 or more are possible"
                            )));
                        }
                        count as u64
                    }
                };
                // Grows with what is read, never with what is claimed.
                for _ in 0..count {
                    values.push(next(property.scalar)?);
                }
                take(&row, number, &values)?;
            }
            if let Some(extra) = words.and_then(|mut words| words.next()) {
                let extra = excerpt(extra);
                return Err(row.fault(format!("'{extra}' is one value more than the header declares")));
            }
            end(&row)?;
        }
        Ok(())
    }

    /// The words of the next line that has any.
    fn words(&mut self, row: &mut Row<'_>) -> Result<std::str::SplitAsciiWhitespace<'a>, Fault> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n');
            let (line, rest) = self.rest.split_at(end.map_or(self.rest.len(), |end| end + 1));
            self.rest = rest;
            self.line += 1;
            row.line = Some(self.line);
            let text = std::str::from_utf8(line)
                .map_err(|_| row.fault("this is not text; the format line says ascii"))?;
            if !text.trim_ascii().is_empty() {
                return Ok(text.split_ascii_whitespace());
            }
        }
        row.line = None;
        Err(row.fault("the file ends before it; it is cut off, or the header claims too many"))
    }
}

fn word_value(row: &Row<'_>, property: &Property, scalar: Scalar, word: Option<&str>) -> Result<f64, Fault> {
    let name = || excerpt(&property.name);
    let Some(word) = word else {
        return Err(row.fault(format!("the line ends before the value of {}", name())));
    };
    // Straight to the declared type: rounding twice could miss the nearest f32.
    let value = match scalar {
        Scalar::F32 => word.parse::<f32>().map(f64::from),
        _ => word.parse::<f64>(),
    };
    value.map_err(|_| row.fault(format!("the value '{}' of {} is not a number", excerpt(word), name())))
}

fn binary_value(row: &Row<'_>, encoding: Encoding, scalar: Scalar, rest: &mut &[u8]) -> Result<f64, Fault> {
    let Some((bytes, after)) = rest.split_at_checked(scalar.size()) else {
        return Err(row.fault("the file ends within it; it is cut off, or the header claims too many"));
    };
    *rest = after;
    let mut word = [0; 8];
    // Little-endian, whatever the file's order is.
    for (index, &byte) in bytes.iter().enumerate() {
        let at = if encoding == Encoding::BigEndian { bytes.len() - 1 - index } else { index };
        word[at] = byte;
    }
    let [a, b, c, d, ..] = word;
    Ok(match scalar {
        Scalar::I8 => f64::from(a as i8),
        Scalar::U8 => f64::from(a),
        Scalar::I16 => f64::from(i16::from_le_bytes([a, b])),
        Scalar::U16 => f64::from(u16::from_le_bytes([a, b])),
        Scalar::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
        Scalar::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
        Scalar::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
        Scalar::F64 => f64::from_le_bytes(word),
    })
}
