//! What the documents' figures show without numbers, as statements that our own runs can bear out or not.

use taffeta::metrics::gap;
use taffeta_io::plot::significant;

use super::entries::Setup;
use super::runs::Run;

/// A statement, the runs it is about, and how they are judged.
pub struct Claim {
    pub document: &'static str,
    pub place: &'static str,
    pub statement: &'static str,
    pub setups: &'static [Setup],
    /// Whether it holds for the runs, which all went to their end, and the figures that say so.
    pub judge: fn(&[&Run]) -> (bool, String),
}

const fn run(scene: &'static str, method: &'static str, sets: &'static [&'static str], frames: u32) -> Setup {
    Setup { scene, method, sets, threads: 1, frames }
}

const HORIZONTAL: &[Setup] = &[
    run("horizontal", "xpbd", &[], 100),
    run("horizontal", "xpbd-chebyshev", &["rho=0.9"], 100),
    run("horizontal", "xpbd-chebyshev", &["rho=0.6"], 100),
    run("horizontal", "xpbd-jacobi", &[], 100),
];
const TIME_STEP: &str = "time-step";
/// 0.5 s of each, whatever the frame.
const STEPS: &[Setup] = &[
    run(TIME_STEP, "xpbd", &["iterations=40", "dt=0.001"], 500),
    run(TIME_STEP, "xpbd", &["iterations=40", "dt=0.002"], 250),
    run(TIME_STEP, "xpbd", &["iterations=40", "dt=0.01"], 50),
    run(TIME_STEP, "xpbd", &["iterations=40", "dt=0.02"], 25),
];
const COUNTS: &[Setup] = &[
    run(TIME_STEP, "xpbd", &["iterations=160", "dt=0.01"], 50),
    run(TIME_STEP, "xpbd", &["iterations=80", "dt=0.01"], 50),
    run(TIME_STEP, "xpbd", &["iterations=40", "dt=0.01"], 50),
    run(TIME_STEP, "xpbd", &["iterations=20", "dt=0.01"], 50),
];
const UNITY: &[Setup] = &[
    run("unity-lab", "explicit", &[], 120),
    run("unity-lab", "pbd-gs", &[], 120),
    run("unity-lab", "pbd-jacobi", &[], 120),
    run("unity-lab", "pbd-sor", &[], 120),
    run("unity-lab", "xpbd", &[], 120),
    run("unity-lab", "implicit", &[], 120),
    run("unity-lab", "implicit-chebyshev", &[], 120),
];

/// Every statement.
pub const CLAIMS: &[Claim] = &[
    Claim {
        document: "S1",
        place: "figure 4.1",
        statement: "from 20 to 160 iterations the shape changes for PBD, and not for XPBD",
        setups: &[
            run("hang-iterations", "pbd-gs", &["iterations=20"], 0),
            run("hang-iterations", "pbd-gs", &["iterations=160"], 0),
            run("hang-iterations", "xpbd", &["iterations=20"], 0),
            run("hang-iterations", "xpbd", &["iterations=160"], 0),
        ],
        judge: |runs| {
            let (pbd, xpbd) = (apart(runs[0], runs[1]), apart(runs[2], runs[3]));
            (
                pbd > 3.0 * xpbd,
                format!("changes by {} % of the cloth's size, and {} %", short(pbd), short(xpbd)),
            )
        },
    },
    Claim {
        document: "S1",
        place: "figure 4.4",
        statement: "h after 100 frames: coloured XPBD < Chebyshev ρ = 0.9 < Jacobi, and ρ = 0.6 hardly helps",
        setups: HORIZONTAL,
        judge: |runs| order(runs, |run| run.residual_h),
    },
    Claim {
        document: "S1",
        place: "figure 4.5",
        statement: "residual strain after 100 frames: coloured XPBD < Chebyshev ρ = 0.9 < Jacobi, and ρ = 0.6 hardly helps",
        setups: HORIZONTAL,
        judge: |runs| order(runs, |run| 10f64.powf(run.log_strain)),
    },
    Claim {
        document: "S2",
        place: "section 3",
        statement: "all seven solvers run",
        setups: UNITY,
        judge: |runs| {
            let worst = runs.iter().map(|run| run.strain_max).fold(0.0, f64::max);
            (true, format!("all seven do; the largest strain at the end is {} %", short(worst)))
        },
    },
    Claim {
        document: "S3",
        place: "figure 11",
        statement: "over-stretch is corrected: no edge of the flag is stretched by more than 10 %",
        setups: &[run("flag", "verlet", &[], 0)],
        judge: |runs| {
            let worst = runs[0].stretch_worst;
            (worst <= 0.10, format!("largest stretch of the run {} %", short(worst)))
        },
    },
    Claim {
        document: "S4",
        place: "figure 5",
        statement: "20, 40, 80, 160 iterations give nearly the same shape",
        setups: COUNTS,
        judge: same,
    },
    Claim {
        document: "S4",
        place: "figure 6",
        statement: "frames of 0.001, 0.002, 0.01, 0.02 s give nearly the same shape",
        setups: STEPS,
        judge: same,
    },
];

/// Distance of the final shapes over the size of the cloth.
fn apart(a: &Run, b: &Run) -> f64 {
    gap(&a.shape, &b.shape).rms / a.size
}

fn short(part: f64) -> String {
    significant(100.0 * part, 2)
}

/// All within 5 % of the first.
fn same(runs: &[&Run]) -> (bool, String) {
    let worst = runs[1..].iter().map(|run| apart(runs[0], run)).fold(0.0, f64::max);
    (worst < 0.05, format!("at most {} % of the cloth's size apart", short(worst)))
}

/// Coloured < ρ = 0.9 < Jacobi; ρ = 0.6 gets less than half of the way, in decades, that ρ = 0.9 gets.
fn order(runs: &[&Run], of: fn(&Run) -> f64) -> (bool, String) {
    let [colored, high, low, jacobi] = [0, 1, 2, 3].map(|k| of(runs[k]));
    let gain = |x: f64| (jacobi / x).ln();
    let holds = colored < high && high < jacobi && gain(low) < 0.5 * gain(high);
    let [a, b, c, d] = [colored, high, low, jacobi].map(|x| significant(x, 2));
    (holds, format!("coloured {a}, ρ = 0.9 {b}, ρ = 0.6 {c}, Jacobi {d}"))
}
