//! Plots as SVG: figures of small panels with axes, units, ticks and a legend, fit to be printed.
//!
//! ```
//! use taffeta_io::plot::{Axis, Curve, Figure, Panel, Style};
//! let sag = Curve::line("sag", Style(0), vec![[0.0, 0.0], [1.0, 0.2], [2.0, 0.25]]);
//! let panel = Panel::new("Sag", Axis::linear("time, s"), Axis::linear("sag, m"), vec![sag]);
//! let svg = Figure { panels: vec![panel], ..Figure::default() }.svg();
//! assert!(svg.starts_with("<svg") && svg.contains("time, s"));
//! ```

mod draw;
mod run;
mod scale;
mod style;

pub use run::{QUANTITIES, Quantity, run_figure};
pub use scale::{Scale, Tick, number, significant};
pub use style::Style;

/// Several panels side by side and below each other.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Above all panels; may be empty.
    pub title: String,
    /// Below the title; may be empty.
    pub subtitle: String,
    /// What is shown.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side.
    pub columns: usize,
    /// The curves that all panels share, named once for the figure. Without any, each panel with several curves names its
    /// own.
    pub legend: Vec<(String, Style)>,
    /// Width of the whole figure, px.
    pub width: f64,
    /// Height of the plotted part of a panel, px.
    pub height: f64,
}

impl Default for Figure {
    fn default() -> Self {
        Figure {
            title: String::new(),
            subtitle: String::new(),
            panels: Vec::new(),
            columns: 1,
            legend: Vec::new(),
            width: 520.0,
            height: 190.0,
        }
    }
}

/// One plot.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above the plot.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is plotted.
    pub curves: Vec<Curve>,
    /// A figure below which the plot means nothing, and why: that part is shaded.
    pub floor: Option<(f64, String)>,
}

impl Panel {
    /// A panel without a floor.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, curves: Vec<Curve>) -> Panel {
        Panel { title: title.into(), x, y, curves, floor: None }
    }
}

/// What an axis says.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity and its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Whether zero must be on it.
    pub zero: bool,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false, zero: false }
    }

    /// A linear axis with zero on it.
    pub fn from_zero(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false, zero: true }
    }

    /// A logarithmic axis; figures that are not above zero are left out.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true, zero: false }
    }

    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        for v in values.filter(|v| v.is_finite() && (!self.log || *v > 0.0)) {
            range = [range[0].min(v), range[1].max(v)];
        }
        if self.zero && range[0].is_finite() {
            range = [range[0].min(0.0), range[1].max(0.0)];
        }
        if self.log { Scale::log(range[0], range[1]) } else { Scale::linear(range[0], range[1]) }
    }
}

/// Points joined in their order. Where a figure is missing (NaN), the line has a gap.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its look.
    pub style: Style,
    /// The points, in the figures of the axes.
    pub points: Vec<[f64; 2]>,
    /// What each point says when it is pointed at; then every point has a marker. Otherwise a few have.
    pub tips: Vec<String>,
}

impl Curve {
    /// A curve over many points, with a few markers.
    pub fn line(name: impl Into<String>, style: Style, points: Vec<[f64; 2]>) -> Curve {
        Curve { name: name.into(), style, points, tips: Vec::new() }
    }
}
