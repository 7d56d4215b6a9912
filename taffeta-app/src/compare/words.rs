//! A comparison in the terminal and as JSON.

use serde_json::{Value, json};
use taffeta::metrics::Gap;
use taffeta_io::plot::significant;

use super::Comparison;
use super::precision::Point;
use super::race::Race;

/// The columns of the table of methods.
pub const HEADER: [&str; 10] = [
    "method",
    "substeps × iterations",
    "ms per frame",
    "µs per iteration",
    "max strain, %",
    "mean strain, %",
    "h",
    "solver error",
    "total error",
    "went",
];

/// One row of that table.
pub fn row(comparison: &Comparison, race: &Race) -> [String; 10] {
    let reference = &comparison.reference;
    let error = |gap: Option<Gap>| gap.map_or("–".into(), |gap| significant(gap.rms, 2));
    if !race.ran {
        let mut row: [String; 10] = std::array::from_fn(|_| "–".into());
        row[0] = race.name.clone();
        row[9] = "refused".into();
        return row;
    }
    let ms = race.median_ms();
    [
        race.name.clone(),
        format!("{} × {}", race.substeps, race.iterations),
        significant(ms, 3),
        significant(1e3 * ms / (race.substeps * race.iterations) as f64, 3),
        significant(100.0 * race.last("strain_max"), 3),
        significant(100.0 * race.last("strain_mean"), 3),
        significant(race.last("residual_h"), 2),
        error(reference.error(&race.path, race.substeps)),
        error(reference.error(&race.path, reference.fine)),
        match (&race.failure, race.stopped) {
            (Some(_), _) => format!("exploded in frame {}", race.rows.len()),
            (None, true) => format!("stopped after frame {}", race.rows.len() - 1),
            (None, false) => "to the end".into(),
        },
    ]
}

/// What went wrong, in whole sentences.
pub fn troubles(comparison: &Comparison) -> Vec<String> {
    let failed = |race: &Race| Some(format!("{}: {}", race.name, race.failure.as_ref()?));
    let mut all: Vec<String> = comparison.races.iter().filter_map(failed).collect();
    all.extend(comparison.reference.failures().into_iter().map(|why| format!("no reference: {why}")));
    for line in &comparison.lines {
        all.extend(line.failures.iter().map(|why| format!("{}, {why}", line.name)));
    }
    all
}

/// The table for people.
pub fn text(comparison: &Comparison) -> String {
    let rows: Vec<[String; 10]> = comparison.races.iter().map(|race| row(comparison, race)).collect();
    let mut text = crate::bench::text_table(&HEADER, &rows);
    let Comparison { reference, horizon, machine, .. } = comparison;
    let sure = reference.uncertainty().map_or("unknown".into(), |gap| significant(gap.rms, 2));
    text += &format!(
        "\nErrors are RMS distances over the first {horizon} frames from {}, over the cloth's size of {} m: solver error\n\
         with the same substeps, total error with {} (which is sure of itself to {sure}).\n\
         Measured on {machine}; processor time on {} thread{}.",
        reference.name,
        significant(reference.size, 3),
        reference.fine,
        comparison.threads,
        if comparison.threads == 1 { "" } else { "s" },
    );
    for trouble in troubles(comparison) {
        text += &format!("\n{trouble}");
    }
    text
}

/// Everything for machines.
pub fn json(comparison: &Comparison) -> Value {
    let reference = &comparison.reference;
    let gap = |gap: Option<Gap>| gap.map(|g| json!({ "rms": g.rms, "max": g.max }));
    let races: Vec<Value> = comparison
        .races
        .iter()
        .map(|race| {
            let curves: serde_json::Map<String, Value> = (race.names.iter().enumerate())
                .map(|(c, name)| (name.to_string(), race.rows.iter().map(|(_, row)| row[c]).collect()))
                .collect();
            json!({
                "name": race.name,
                "method": race.method,
                "substeps": race.substeps,
                "iterations": race.iterations,
                "colors": race.colors,
                "frames": race.rows.len().saturating_sub(1),
                "ms_per_frame": race.median_ms(),
                "us_per_iteration": 1e3 * race.median_ms() / (race.substeps * race.iterations).max(1) as f64,
                "strain": { "max": race.last("strain_max"), "mean": race.last("strain_mean") },
                "residual": { "h": race.last("residual_h"), "g": race.last("residual_g"), "log_strain": race.last("log_strain") },
                "penetrating_vertices": race.penetrating,
                "intersecting_pairs": race.crossing,
                "error": {
                    "solver": gap(reference.error(&race.path, race.substeps)),
                    "total": gap(reference.error(&race.path, reference.fine)),
                },
                "failure": race.failure,
                "curves": curves,
            })
        })
        .collect();
    let point = |p: &Point| {
        json!({
            "substeps": p.substeps, "iterations": p.iterations, "ms_per_frame": p.ms,
            "rms": p.error.rms, "max": p.error.max,
        })
    };
    let lines: Vec<Value> = (comparison.lines.iter())
        .map(|line| {
            json!({
                "name": line.name,
                "solver": line.solver.iter().map(point).collect::<Vec<_>>(),
                "total": line.total.iter().map(point).collect::<Vec<_>>(),
                "failures": line.failures,
            })
        })
        .collect();
    json!({
        "scene": comparison.scene,
        "machine": comparison.machine,
        "threads": comparison.threads,
        "vertices": comparison.vertices,
        "triangles": comparison.triangles,
        "dt": comparison.dt.to_string().parse::<f64>().ok(),
        "frames": comparison.frames,
        "horizon": comparison.horizon,
        "size": reference.size,
        "reference": {
            "method": reference.name,
            "fine_substeps": reference.fine,
            "uncertainty": gap(reference.uncertainty()),
            "failures": reference.failures(),
        },
        "methods": races,
        "work_precision": lines,
        "interrupted": comparison.interrupted,
    })
}
