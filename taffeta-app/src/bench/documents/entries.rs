//! What the documents published, and how to measure the same with this program. Nothing here is a result of ours.
//!
//! The documents are those that docs/laboratory.md names: S1 to S5. Settings are fields of `simulation`, by their last names,
//! or whole paths of a scene.

/// A run of a scene that something is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setup {
    pub scene: &'static str,
    pub method: &'static str,
    /// `FIELD=VALUE`, as a method carries them in `compare`, or `PATH=VALUE` of the scene.
    pub sets: &'static [&'static str],
    pub threads: u32,
    /// How many frames; 0 for all of the scene's.
    pub frames: u32,
}

/// What is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Frames per second of computing.
    Fps,
    /// Time of a frame, ms.
    Frame,
    /// Time of all frames, ms.
    Total,
    /// Mean |l − l₀|/l₀ at the end, %.
    ChangeRate,
}

impl Quantity {
    /// Its unit, as tables show it.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Fps => "fps",
            Quantity::Frame | Quantity::Total => "ms",
            Quantity::ChangeRate => "%",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Quantity::Fps
    }
}

/// One published figure.
pub struct Entry {
    pub document: &'static str,
    /// The table or figure.
    pub place: &'static str,
    /// Its row and column there.
    pub row: &'static str,
    pub setup: Setup,
    pub quantity: Quantity,
    pub published: f64,
    /// What it was measured on.
    pub hardware: &'static str,
}

const S1_GPU: &str = "NVIDIA GeForce MX250 (GPU)";
const S3_CPU: &str = "Intel Core i7-4790, 3.6 GHz, one thread";
const S3_GPU: &str = "NVIDIA GTX 745 (GPU)";
const S4_CPU: &str = "Intel Core i7-6700K";
const S4_PEER: &str = "Intel Core i7-6700K, Marvelous Designer";
const S5_CPU: &str = "Intel Core i7-4710MQ, one thread, with drawing";

/// Frames of a row that only asks for speed.
const BRIEF: u32 = 60;

const fn setup(scene: &'static str, method: &'static str, sets: &'static [&'static str]) -> Setup {
    Setup { scene, method, sets, threads: 1, frames: BRIEF }
}

const fn speed(
    document: &'static str,
    place: &'static str,
    row: &'static str,
    setup: Setup,
    published: f64,
    hardware: &'static str,
) -> Entry {
    Entry { document, place, row, setup, quantity: Quantity::Fps, published, hardware }
}

const fn s1(row: &'static str, method: &'static str, sets: &'static [&'static str], fps: f64) -> Entry {
    speed("S1", "table 4.1", row, setup("hang-iterations", method, sets), fps, S1_GPU)
}

const fn s3(place: &'static str, row: &'static str, setup: Setup, fps: f64, hardware: &'static str) -> Entry {
    speed("S3", place, row, setup, fps, hardware)
}

const fn s4(
    place: &'static str,
    row: &'static str,
    scene: &'static str,
    threads: u32,
    quantity: Quantity,
    published: f64,
    hardware: &'static str,
) -> Entry {
    let setup = Setup { scene, method: "xpbd", sets: &[], threads, frames: 200 };
    Entry { document: "S4", place, row, setup, quantity, published, hardware }
}

const fn s5(
    place: &'static str,
    row: &'static str,
    method: &'static str,
    sets: &'static [&'static str],
    quantity: Quantity,
    published: f64,
) -> Entry {
    let setup = Setup { scene: "free-fall", method, sets, threads: 1, frames: 0 };
    Entry { document: "S5", place, row, setup, quantity, published, hardware: S5_CPU }
}

const DYN_30: Setup =
    setup("modules-dynamics", "verlet", &["cloth.0.resolution=30", "simulation.iterations=1"]);
const DYN_50: Setup =
    setup("modules-dynamics", "verlet", &["cloth.0.resolution=50", "simulation.iterations=2"]);
const DYN_100: Setup =
    setup("modules-dynamics", "verlet", &["cloth.0.resolution=100", "simulation.iterations=5"]);
const PBD_30: Setup = setup("modules-pbd", "pbd-gs", &["cloth.0.resolution=30", "simulation.iterations=2"]);
const PBD_50: Setup = setup("modules-pbd", "pbd-gs", &["cloth.0.resolution=50", "simulation.iterations=2"]);
const PBD_100: Setup =
    setup("modules-pbd", "pbd-gs", &["cloth.0.resolution=100", "simulation.iterations=10"]);

const TABLE_1: &str = "table 1, dynamics";
const TABLE_2: &str = "table 2, PBD";
const SHAPE: &str = "table 3, spring change rate";
const COST: &str = "section 4.2, time of a frame";
const ONE: &[&str] = &["levels=1"];
const THREE: &[&str] = &["levels=3"];
const FIVE: &[&str] = &["levels=5"];

use Quantity::{ChangeRate, Fps, Frame, Total};

/// Every published figure.
pub const ENTRIES: &[Entry] = &[
    s1("PBD, 20 iterations", "pbd-gs", &["iterations=20"], 166.62),
    s1("PBD, 40 iterations", "pbd-gs", &["iterations=40"], 55.52),
    s1("PBD, 80 iterations", "pbd-gs", &["iterations=80"], 22.22),
    s1("PBD, 160 iterations", "pbd-gs", &["iterations=160"], 5.55),
    s1("XPBD, 20 iterations", "xpbd", &["iterations=20"], 157.32),
    s1("XPBD, 40 iterations", "xpbd", &["iterations=40"], 55.85),
    s1("XPBD, 80 iterations", "xpbd", &["iterations=80"], 20.80),
    s1("XPBD, 160 iterations", "xpbd", &["iterations=160"], 5.55),
    s3(TABLE_1, "30 × 30, 1 iteration, CPU", DYN_30, 62.75, S3_CPU),
    s3(TABLE_1, "50 × 50, 2 iterations, CPU", DYN_50, 30.33, S3_CPU),
    s3(TABLE_1, "100 × 100, 5 iterations, CPU", DYN_100, 3.93, S3_CPU),
    s3(TABLE_1, "30 × 30, 1 iteration, GPU", DYN_30, 516.32, S3_GPU),
    s3(TABLE_1, "50 × 50, 2 iterations, GPU", DYN_50, 268.64, S3_GPU),
    s3(TABLE_1, "100 × 100, 5 iterations, GPU", DYN_100, 150.87, S3_GPU),
    s3(TABLE_2, "30 × 30, 2 iterations, CPU", PBD_30, 45.32, S3_CPU),
    s3(TABLE_2, "50 × 50, 2 iterations, CPU", PBD_50, 15.39, S3_CPU),
    s3(TABLE_2, "100 × 100, 10 iterations, CPU", PBD_100, 1.27, S3_CPU),
    s3(TABLE_2, "30 × 30, 2 iterations, GPU", PBD_30, 315.37, S3_GPU),
    s3(TABLE_2, "50 × 50, 2 iterations, GPU", PBD_50, 130.12, S3_GPU),
    s3(TABLE_2, "100 × 100, 10 iterations, GPU", PBD_100, 45.61, S3_GPU),
    s4("table 1", "200 frames, 1 thread", "mannequin", 1, Total, 5396.0, S4_CPU),
    s4("table 1", "200 frames, 2 threads", "mannequin", 2, Total, 4906.0, S4_CPU),
    s4("table 1", "200 frames, 4 threads", "mannequin", 4, Total, 4251.0, S4_CPU),
    s4("table 1", "200 frames, 6 threads", "mannequin", 6, Total, 4259.0, S4_CPU),
    s4("table 1", "200 frames, 8 threads", "mannequin", 8, Total, 4881.0, S4_CPU),
    s4("table 2", "its program, 1 thread", "sphere-drape", 1, Fps, 13.0, S4_CPU),
    s4("table 2", "its program, 2 threads", "sphere-drape", 2, Fps, 20.0, S4_CPU),
    s4("table 2", "its program, 4 threads", "sphere-drape", 4, Fps, 21.0, S4_CPU),
    s4("table 2", "its program, 6 threads", "sphere-drape", 6, Fps, 21.0, S4_CPU),
    s4("table 2", "its program, 8 threads", "sphere-drape", 8, Fps, 21.0, S4_CPU),
    s4("table 2", "Marvelous Designer, 1 thread", "sphere-drape", 1, Fps, 13.0, S4_PEER),
    s4("table 2", "Marvelous Designer, 2 threads", "sphere-drape", 2, Fps, 20.0, S4_PEER),
    s4("table 2", "Marvelous Designer, 4 threads", "sphere-drape", 4, Fps, 27.0, S4_PEER),
    s4("table 2", "Marvelous Designer, 6 threads", "sphere-drape", 6, Fps, 26.0, S4_PEER),
    s4("table 2", "Marvelous Designer, 8 threads", "sphere-drape", 8, Fps, 26.0, S4_PEER),
    s5(SHAPE, "PBD", "pbd-gs", &[], ChangeRate, 67.0),
    s5(SHAPE, "HPBD, 1 level", "hpbd", ONE, ChangeRate, 63.0),
    s5(SHAPE, "HPBD, 3 levels", "hpbd", THREE, ChangeRate, 48.0),
    s5(SHAPE, "HPBD, 5 levels", "hpbd", FIVE, ChangeRate, 41.0),
    s5(SHAPE, "SHPBD, 1 level", "shpbd", ONE, ChangeRate, 46.0),
    s5(SHAPE, "SHPBD, 3 levels", "shpbd", THREE, ChangeRate, 34.0),
    s5(SHAPE, "SHPBD, 5 levels", "shpbd", FIVE, ChangeRate, 26.0),
    s5(SHAPE, "GHPBD, 1 level", "ghpbd", ONE, ChangeRate, 37.0),
    s5(SHAPE, "GHPBD, 3 levels", "ghpbd", THREE, ChangeRate, 23.0),
    s5(SHAPE, "GHPBD, 5 levels", "ghpbd", FIVE, ChangeRate, 19.0),
    s5(COST, "PBD", "pbd-gs", &[], Frame, 97.0),
    s5(COST, "HPBD, 3 levels", "hpbd", THREE, Frame, 34.0),
    s5(COST, "SHPBD, 3 levels", "shpbd", THREE, Frame, 45.0),
    s5(COST, "GHPBD, 3 levels", "ghpbd", THREE, Frame, 42.0),
];
