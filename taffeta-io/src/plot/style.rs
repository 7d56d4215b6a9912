//! How curves are told apart: by colour, by dashes and by markers, so that no reader needs all three.

/// Colours that readers of any colour vision can tell apart, after Okabe and Ito, *Color universal design*, 2008, without
/// their yellow, which is not seen on white.
const COLORS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"];
/// Lengths of strokes and gaps.
const DASHES: [&str; 5] = ["", "7 3", "2 2.5", "9 3 2 3", "5 2 2 2 2 2"];

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
    Down,
    Ring,
}

const MARKERS: [Marker; 8] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::Plus,
    Marker::Down,
    Marker::Ring,
];

/// The look of one curve, by its number. Numbers up to 280 all look different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(pub usize);

impl Style {
    /// The colour, as CSS has it.
    pub fn color(self) -> &'static str {
        COLORS[self.0 % COLORS.len()]
    }

    /// The dashes, as SVG has them; nothing for a full line.
    pub fn dashes(self) -> &'static str {
        DASHES[self.0 % DASHES.len()]
    }

    /// The marker as an SVG element about `x`, `y`, without its end, so that a title can go into it.
    pub(super) fn marker(self, x: f64, y: f64, size: f64) -> String {
        let color = self.color();
        let filled = format!("fill=\"{color}\" stroke=\"#fff\" stroke-width=\"0.7\"");
        let hollow = format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.7\"");
        let polygon = |points: &[[f64; 2]], paint: &str| {
            let points: Vec<String> =
                points.iter().map(|[u, v]| format!("{:.1},{:.1}", x + u * size, y + v * size)).collect();
            format!("<polygon points=\"{}\" {paint}", points.join(" "))
        };
        let strokes = |lines: [[f64; 4]; 2]| {
            let d: String = (lines.iter())
                .map(|[a, b, c, d]| {
                    let at = |u: f64, v: f64| format!("{:.1},{:.1}", x + u * size, y + v * size);
                    format!("M{}L{}", at(*a, *b), at(*c, *d))
                })
                .collect();
            format!("<path d=\"{d}\" {hollow}")
        };
        match MARKERS[self.0 % MARKERS.len()] {
            Marker::Circle => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\" {filled}"),
            Marker::Ring => {
                let paint = hollow.replace("none", "#fff");
                format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" {paint}", 0.9 * size)
            }
            Marker::Square => polygon(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], &filled),
            Marker::Diamond => polygon(&[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]], &filled),
            Marker::Triangle => polygon(&[[0.0, -1.2], [1.15, 0.85], [-1.15, 0.85]], &filled),
            Marker::Down => polygon(&[[0.0, 1.2], [1.15, -0.85], [-1.15, -0.85]], &filled),
            Marker::Cross => strokes([[-0.9, -0.9, 0.9, 0.9], [-0.9, 0.9, 0.9, -0.9]]),
            Marker::Plus => strokes([[-1.1, 0.0, 1.1, 0.0], [0.0, -1.1, 0.0, 1.1]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_curves_look_alike() {
        let look = |k: usize| (Style(k).color(), Style(k).dashes(), Style(k).marker(0.0, 0.0, 3.0));
        for a in 0..280 {
            for b in 0..a {
                assert_ne!(look(a), look(b), "{a} and {b}");
            }
        }
    }
}
