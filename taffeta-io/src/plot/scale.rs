//! From figures to places on an axis, and the ticks that let a reader go back.

/// A linear or logarithmic axis over a range of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Between the labelled ticks of a linear scale.
    step: f64,
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, in the axis's own figures.
    pub value: f64,
    /// What is written there; nothing at minor ticks.
    pub label: String,
}

/// At most so many steps between labelled ticks fit on an axis.
const STEPS: f64 = 7.0;
/// More decades than this are not all labelled.
const DECADES: i32 = 7;

impl Scale {
    /// A linear scale that holds `low` to `high` and begins and ends at round figures.
    pub fn linear(low: f64, high: f64) -> Scale {
        // One figure alone, or none, still needs an axis with a length.
        let (low, high) = match (low, high) {
            _ if !(low.is_finite() && high.is_finite()) => (0.0, 1.0),
            _ if high - low > 1e-9 * low.abs().max(high.abs()) => (low, high),
            _ if low == 0.0 => (0.0, 1.0),
            _ => (low - 0.1 * low.abs(), high + 0.1 * high.abs()),
        };
        let step = round_up((high - low) / STEPS);
        // A little slack, so that rounding does not add a step at either end.
        let (first, last) = ((low / step + 1e-6).floor(), (high / step - 1e-6).ceil());
        Scale { log: false, low: first * step, high: last * step, step }
    }

    /// A logarithmic scale that holds `low` to `high`, both above 0.
    pub fn log(low: f64, high: f64) -> Scale {
        let (low, high) = if low > 0.0 && high.is_finite() && high >= low { (low, high) } else { (0.1, 1.0) };
        let (low, high) = (round_down(low * (1.0 + 1e-9)), round_up(high * (1.0 - 1e-9)));
        let high = if high > low { high } else { 10.0 * low };
        Scale { log: true, low, high, step: 0.0 }
    }

    /// Where a figure is on the axis: 0 at its beginning, 1 at its end. Not a number where there is no place for it.
    pub fn place(&self, value: f64) -> f64 {
        if self.log {
            let place = (value / self.low).log10() / (self.high / self.low).log10();
            if value > 0.0 { place } else { f64::NAN }
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The figures at both ends.
    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The ticks from the lowest to the highest; minor ones have no label.
    pub fn ticks(&self) -> Vec<Tick> {
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let (first, last) = ((self.low / self.step).round() as i64, (self.high / self.step).round() as i64);
        (first..=last)
            .map(|k| Tick { value: k as f64 * self.step, label: number(k as f64 * self.step, self.step) })
            .collect()
    }

    fn log_ticks(&self) -> Vec<Tick> {
        let slack = 1.0 + 1e-9;
        let inside = |v: f64| v * slack >= self.low && v <= self.high * slack;
        let (first, last) = (exponent(self.low), exponent(self.high));
        let decades = (first..=last).filter(|&e| inside(power(e))).count() as i32;
        let every = (decades + DECADES - 1) / DECADES.max(1);
        let mut ticks = Vec::new();
        for e in first..=last {
            for digit in 1..10 {
                let value = digit as f64 * power(e);
                if !inside(value) || (digit > 1 && decades > DECADES) {
                    continue;
                }
                // Less than two decades would leave an axis with one label.
                let labelled = if digit == 1 {
                    e.rem_euclid(every.max(1)) == 0
                } else {
                    decades < 2 && [2, 5].contains(&digit)
                };
                let label = if labelled { power_label(digit, e) } else { String::new() };
                ticks.push(Tick { value, label });
            }
        }
        ticks
    }
}

/// 10ᵉ.
fn power(e: i32) -> f64 {
    10f64.powi(e)
}

/// The e for which 10ᵉ ≤ value < 10ᵉ⁺¹, whatever rounding does to logarithms.
fn exponent(value: f64) -> i32 {
    let e = value.log10().floor() as i32;
    if value * (1.0 + 1e-9) >= power(e + 1) { e + 1 } else { e }
}

/// The least of 1, 2, 5 × 10ᵉ that is not below `value`.
fn round_up(value: f64) -> f64 {
    let unit = power(exponent(value));
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * unit);
    steps.into_iter().find(|&s| s >= value * (1.0 - 1e-9)).unwrap_or(10.0 * unit)
}

/// The greatest of 1, 2, 5 × 10ᵉ that is not above `value`.
fn round_down(value: f64) -> f64 {
    let unit = power(exponent(value));
    [5.0, 2.0, 1.0].map(|m| m * unit).into_iter().find(|&s| s <= value * (1.0 + 1e-9)).unwrap_or(unit)
}

/// A figure as people write it, to the precision of `step`.
pub fn number(value: f64, step: f64) -> String {
    let size = value.abs().max(step.abs());
    if value == 0.0 && step < 1e-4 {
        return "0".into();
    }
    if value != 0.0 && !(1e-4..1e5).contains(&size) {
        let e = exponent(size);
        let digits = (e - exponent(step)).clamp(0, 12) as usize;
        let mantissa = format!("{:.digits$}", value / power(e));
        return minus(format!("{mantissa}·10{}", superscript(e)));
    }
    let digits = (-exponent(step)).clamp(0, 12) as usize;
    minus(format!("{value:.digits$}"))
}

/// A figure with `digits` significant digits, or all of its whole ones.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let step = if value == 0.0 { 1.0 } else { power((exponent(value.abs()) - digits + 1).min(0)) };
    // Rounding may carry into the next digit: 9.99 is 10, not 10.0.
    let rounded = (value / step).round() * step;
    let step = if rounded == 0.0 { step } else { power((exponent(rounded.abs()) - digits + 1).min(0)) };
    number(rounded, step)
}

fn power_label(digit: i32, e: i32) -> String {
    match (digit, e) {
        (_, -2..=3) => number(digit as f64 * power(e), power(e)),
        (1, _) => format!("10{}", superscript(e)),
        _ => format!("{digit}·10{}", superscript(e)),
    }
}

fn superscript(e: i32) -> String {
    let small = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    e.to_string().chars().map(small).collect()
}

/// With a real minus sign; zero has none.
fn minus(text: String) -> String {
    let zero = text.chars().all(|c| "-0.".contains(c));
    if zero { text.trim_start_matches('-').into() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|t| t.label).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_the_data() {
        assert_eq!(labels(Scale::linear(0.0, 100.0)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(Scale::linear(-0.3, 0.71)), ["−0.4", "−0.2", "0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(
            labels(Scale::linear(0.0, 3e-6)),
            ["0", "5·10⁻⁷", "1.0·10⁻⁶", "1.5·10⁻⁶", "2.0·10⁻⁶", "2.5·10⁻⁶", "3.0·10⁻⁶"]
        );
        for (low, high) in [(0.0, 1.0), (-7.3, 1234.5), (1e-9, 3e-9), (0.1 + 0.2, 0.6), (-5.0, -4.99)] {
            let scale = Scale::linear(low, high);
            let ticks = scale.ticks();
            assert!((3..=12).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            let places: Vec<f64> = [low, high].map(|v| scale.place(v)).to_vec();
            assert!(places.iter().all(|p| (-1e-9..=1.0 + 1e-9).contains(p)), "{low} to {high}: {places:?}");
            // Not more than a step is left empty at either end.
            let step = 1.0 / (ticks.len() - 1) as f64;
            assert!(places[0] < step + 1e-6 && places[1] > 1.0 - step - 1e-6, "{low} to {high}: {places:?}");
        }
    }

    #[test]
    fn a_single_figure_or_none_has_an_axis_too() {
        for scale in [
            Scale::linear(3.0, 3.0),
            Scale::linear(0.0, 0.0),
            Scale::linear(f64::INFINITY, f64::NEG_INFINITY),
            Scale::log(2.0, 2.0),
            Scale::log(f64::INFINITY, f64::NEG_INFINITY),
            Scale::log(1e-3, 1e-3),
        ] {
            let [low, high] = scale.ends();
            assert!(low < high && scale.ticks().len() >= 2, "{scale:?}");
        }
    }

    #[test]
    fn log_ticks_are_decades_with_minor_ones_between() {
        let scale = Scale::log(3e-4, 0.7);
        assert_eq!(scale.ends(), [2e-4, 1.0]);
        assert_eq!(labels(scale), ["10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(scale.ticks().len(), 8 + 9 + 9 + 9 + 1);
        assert!((scale.place(2e-4)).abs() < 1e-12 && (scale.place(1.0) - 1.0).abs() < 1e-12);
        let middle = (2e-4f64 * 1.0).sqrt();
        assert!((scale.place(middle) - 0.5).abs() < 1e-12);
        assert!(scale.place(0.0).is_nan() && scale.place(-1.0).is_nan());
    }

    #[test]
    fn a_short_log_axis_has_labels_between_decades_and_a_long_one_not_at_all_of_them() {
        assert_eq!(labels(Scale::log(3.0, 40.0)), ["2", "5", "10", "20", "50"]);
        let long = labels(Scale::log(1e-20, 1.0));
        assert!((4..=8).contains(&long.len()), "{long:?}");
        assert!(Scale::log(1e-20, 1.0).ticks().len() < 25);
    }

    #[test]
    fn figures_keep_the_digits_that_were_asked_for() {
        assert_eq!(significant(0.0123456, 3), "0.0123");
        assert_eq!(significant(9.999, 3), "10.0");
        assert_eq!(significant(1234.6, 3), "1235");
        assert_eq!(significant(-4.2e-9, 2), "−4.2·10⁻⁹");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(f64::NAN, 3), "–");
    }
}
