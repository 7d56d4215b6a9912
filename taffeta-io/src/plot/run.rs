//! The figures of a run that are worth a plot, and the figure that shows one run.

use super::{Axis, Curve, Figure, Panel, Style};

/// A metric and how it is plotted.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// The name of the metric, as in the table.
    pub metric: &'static str,
    /// A title for a panel of its own.
    pub title: &'static str,
    /// The axis: quantity and unit.
    pub label: &'static str,
    /// From the metric's unit to the axis's.
    pub factor: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Whether only its change since the start means anything.
    pub from_start: bool,
}

impl Quantity {
    /// Whether the start itself is worth showing. A cloth often starts at rest, where the logarithm of the strain is that
    /// of rounding, which would squeeze all that comes after.
    pub fn shows_start(&self) -> bool {
        shows_start(self.metric)
    }
}

fn shows_start(metric: &str) -> bool {
    metric != "log_strain"
}

const fn quantity(metric: &'static str, title: &'static str, label: &'static str) -> Quantity {
    Quantity { metric, title, label, factor: 1.0, log: false, from_start: false }
}

/// What can be compared between methods, frame by frame, in the order to show it.
pub const QUANTITIES: [Quantity; 7] = [
    Quantity { log: true, ..quantity("residual_h", "Constraint residual", "h = ‖C + α̃ λ‖") },
    Quantity { log: true, ..quantity("residual_g", "Unbalanced force", "‖M (x − y)/h² + ∇E‖, N") },
    quantity("log_strain", "Residual strain", "log₁₀ Σ (l − l₀)², l in m"),
    Quantity { from_start: true, ..quantity("total", "Energy", "total energy since the start, J") },
    Quantity {
        factor: 100.0,
        ..quantity("spring_change_rate", "Spring change rate", "mean |l − l₀| / l₀, %")
    },
    Quantity { factor: 100.0, ..quantity("strain_max", "Maximum strain", "max |l − l₀| / l₀, %") },
    quantity("kinetic", "Motion", "kinetic energy, J"),
];

/// A panel of a run's own figure: its title, its axis, and its metrics with their names, each with the factor to the axis's unit.
struct Group {
    title: &'static str,
    label: &'static str,
    log: bool,
    factor: f64,
    from_start: bool,
    metrics: &'static [(&'static str, &'static str)],
}

const fn group(
    title: &'static str,
    label: &'static str,
    factor: f64,
    metrics: &'static [(&'static str, &'static str)],
) -> Group {
    Group { title, label, log: false, factor, from_start: false, metrics }
}

const GROUPS: [Group; 8] = [
    Group { log: true, ..group("Constraint residual", "h = ‖C + α̃ λ‖", 1.0, &[("residual_h", "h")]) },
    Group {
        log: true,
        ..group("Unbalanced force", "‖M (x − y)/h² + ∇E‖, N", 1.0, &[("residual_g", "force")])
    },
    group("Residual strain", "log₁₀ Σ (l − l₀)², l in m", 1.0, &[("log_strain", "residual strain")]),
    Group {
        from_start: true,
        ..group(
            "Energy",
            "energy since the start, J",
            1.0,
            &[("kinetic", "kinetic"), ("elastic", "elastic"), ("potential", "potential"), ("total", "total")],
        )
    },
    group(
        "Strain",
        "|l − l₀| / l₀, %",
        100.0,
        &[("strain_max", "maximum"), ("spring_change_rate", "mean (spring change rate)")],
    ),
    group("Penetration", "depth in colliders, mm", 1e3, &[("penetration_depth", "depth")]),
    group(
        "Contact",
        "count",
        1.0,
        &[
            ("contacts", "contacts"),
            ("penetrating_vertices", "penetrating"),
            ("intersecting_pairs", "crossing pairs"),
        ],
    ),
    group(
        "Time of a frame",
        "wall clock, ms",
        1.0,
        &[("ms", "frame"), ("ms_solve", "solve"), ("ms_contact", "contact")],
    ),
];

/// The metrics of a run, one row per frame, as a figure of small panels. Metrics that are not there are left out.
pub fn run_figure(title: &str, subtitle: &str, names: &[&str], rows: &[(u32, Vec<f64>)]) -> Figure {
    let column = |name: &str| names.iter().position(|n| *n == name);
    let mut panels = Vec::new();
    for group in &GROUPS {
        let mut curves = Vec::new();
        for (k, (metric, name)) in group.metrics.iter().enumerate() {
            let Some(c) = column(metric) else { continue };
            let start = if group.from_start { rows.first().map_or(0.0, |(_, row)| row[c]) } else { 0.0 };
            let shown = rows.iter().skip(usize::from(!shows_start(metric)));
            let points = shown.map(|(frame, row)| [*frame as f64, (row[c] - start) * group.factor]);
            curves.push(Curve::line(*name, Style(k), points.collect()));
        }
        // Without colliders there is no contact: an empty panel would only take room.
        let lively = |c: &Curve| c.points.iter().any(|p| p[1].is_finite() && p[1] != 0.0);
        if !curves.iter().any(lively) {
            continue;
        }
        let y = match (group.log, group.title) {
            (true, _) => Axis::log(group.label),
            (false, "Residual strain") => Axis::linear(group.label),
            (false, _) => Axis::from_zero(group.label),
        };
        panels.push(Panel::new(group.title, Axis::linear("frame"), y, curves));
    }
    Figure {
        title: title.into(),
        subtitle: subtitle.into(),
        panels,
        columns: 2,
        width: 900.0,
        ..Figure::default()
    }
}
