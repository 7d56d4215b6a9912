//! Numbers as text: the fewest digits that read back as the same number.

use std::fmt::{Display, LowerExp};

/// `value` in the shortest form that reads back the same.
///
/// Rust's plain form is exact but never has an exponent, so a value of 1e-30 would take thirty zeros.
pub(crate) fn shortest<T: Display + LowerExp>(value: T) -> String {
    let plain = value.to_string();
    if plain.len() <= 8 {
        return plain;
    }
    let with_exponent = format!("{value:e}");
    if with_exponent.len() < plain.len() { with_exponent } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_the_same_and_are_short() {
        assert_eq!(shortest(0.1f32), "0.1");
        assert_eq!(shortest(-2.0f32), "-2");
        assert_eq!(shortest(0.0f64), "0");
        assert_eq!(shortest(1e-30f64), "1e-30");
        for value in [f32::MIN_POSITIVE, f32::MAX, 1.0 / 3.0, -1.17e-7, 16_777_217.0] {
            let text = shortest(value);
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits(), "{text}");
            assert!(text.len() <= 15, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_stays_readable() {
        assert_eq!(shortest(f64::NAN), "NaN");
        assert_eq!(shortest(f32::NEG_INFINITY), "-inf");
    }
}
