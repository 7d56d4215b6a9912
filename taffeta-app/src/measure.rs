//! The figures of one frame, by the names they have in tables and plots.

use std::sync::LazyLock;

use taffeta::Simulation;
use taffeta::metrics;
use taffeta::step::{Stage, StepReport};

/// Named figures of a frame; NaN where there is none.
pub type Metrics = Vec<(&'static str, f64)>;

/// Depth in a collider that still counts as outside, m.
const TOLERANCE: f32 = 1e-5;

/// The columns of the stages' times: `ms_` and the stage's name. Made once, and then there for good.
static STAGES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let column = |stage: &Stage| -> &'static str { format!("ms_{}", stage.name()).leak() };
    Stage::ALL.iter().map(column).collect()
});

/// Everything that is measured of the frame that was just made, or of the start if there is no step. Counting the triangles
/// that cross takes as long as a frame of a fast method, so it is left out where nobody will look.
pub fn metrics(sim: &mut Simulation, step: Option<&StepReport>, ms: f64, crossings: bool) -> Metrics {
    let residual = if step.is_some() { sim.residual() } else { None };
    let gradient = step.and_then(|_| sim.gradient_residual());
    let (strain, energies) = (sim.strain(), sim.energies());
    let penetration = metrics::penetration(sim.model(), sim.bodies(), &sim.state().x, TOLERANCE);
    let crossing = if crossings { sim.intersecting_pairs() as f64 } else { f64::NAN };
    let mut figures = vec![
        ("strain_max", strain.max),
        ("strain_mean", strain.mean),
        ("log_strain", strain.log_sum),
        ("residual_h", residual.unwrap_or(f64::NAN)),
        ("kinetic", energies.kinetic),
        ("elastic", energies.elastic),
        ("potential", energies.potential),
        ("contacts", step.map_or(0, |step| step.contacts) as f64),
        ("ms", ms),
        ("total", energies.total()),
        ("spring_change_rate", strain.mean),
        ("penetration_depth", penetration.depth),
        ("penetrating_vertices", penetration.vertices as f64),
        ("intersecting_pairs", crossing),
        ("colors", sim.colors() as f64),
        ("residual_g", gradient.unwrap_or(f64::NAN)),
    ];
    let spent = |k: usize| step.map_or(0.0, |step| step.stages[k].as_secs_f64() * 1e3);
    figures.extend(STAGES.iter().enumerate().map(|(k, column)| (*column, spent(k))));
    figures
}
