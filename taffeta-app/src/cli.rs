//! The words of the command line.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use taffeta::error::suggestion;
use taffeta::lanes::SimdLevel;
use taffeta::solver::METHODS;

/// Real-time cloth simulation.
#[derive(Parser)]
#[command(version, about, subcommand_required = false, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  taffeta list scenes
  taffeta run hang --out hang.html
  taffeta run my.toml --frames 200 --out cloth.glb --out metrics.csv
  taffeta check shirt.obj";

#[derive(Subcommand)]
pub enum Command {
    /// Show the scenes, methods, fabrics and formats there are
    #[command(after_help = "\
Examples:
  taffeta list
  taffeta list fabrics
  taffeta list scenes --json")]
    List(ListArgs),
    /// Simulate a scene, and write what was asked for
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Put methods side by side on one scene: curves, work against precision, final shapes
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Say what is wrong with a mesh or a scene, where, and what to do
    #[command(after_help = "\
Examples:
  taffeta check shirt.obj
  taffeta check my.toml --json

Exits with 0 if all is well, 1 if errors were found, 2 if the file cannot be read.")]
    Check(CheckArgs),
    /// Print the JSON schema of scene files
    #[command(after_help = "\
Example:
  taffeta schema > scene.schema.json")]
    Schema,
    /// Measure this machine
    #[command(after_help = "\
Examples:
  taffeta bench
  taffeta bench kernels --json
  taffeta bench documents --only S3 --out documents.html")]
    Bench(BenchArgs),
}

#[derive(Args)]
pub struct ListArgs {
    /// What to list; everything if not given
    pub what: Option<Topic>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    Scenes,
    Methods,
    Fabrics,
    Formats,
}

const RUN_EXAMPLES: &str = "\
Examples:
  taffeta run hang --out hang.html
  taffeta run hang --set cloth.0.resolution=128 --set cloth.0.fabric=silk --out hang.glb
  taffeta run friction --seconds 5 --out frames/cloth_%04d.obj --out metrics.csv
  taffeta run my.toml --substeps 40 --json > result.json

The endings of --out: .html plays in any browser; .glb .pc2 .mdd are animations; .obj .ply hold the last frame, or \
every frame when the name has %04d; .csv holds metrics per frame and .svg their curves. See `taffeta list formats`.

Exits with 0 when done, 2 if something asked for is wrong (then nothing is written), 1 if the simulation or the writing \
failed, 130 after Ctrl-C; what was simulated until then is written.";

/// What is other than the scene says.
#[derive(Args)]
pub struct Changes {
    /// Time of a frame, s [default: the scene's]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = above_zero)]
    pub dt: Option<f32>,
    /// Substeps of a frame [default: the scene's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub substeps: Option<u32>,
    /// Iterations of a substep [default: the scene's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Change any field of the scene, such as cloth.0.resolution=128; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

#[derive(Args)]
pub struct RunArgs {
    /// A name from `taffeta list scenes`, or a .toml file of your own
    pub scene: String,
    /// How to solve; see `taffeta list methods` [default: the scene's]
    #[arg(long, value_name = "NAME", value_parser = method)]
    pub method: Option<String>,
    /// Where to compute
    #[arg(long, value_name = "cpu|gpu", default_value = "cpu", value_parser = backend)]
    pub backend: String,
    /// Threads; 0 lets the scene decide. The result is the same for any number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=512))]
    pub threads: Option<u32>,
    /// Instructions to use: scalar, sse2, …, as far as this machine has them. The result is the same for all
    #[arg(long, value_name = "LEVEL", value_parser = simd)]
    pub simd: Option<SimdLevel>,
    /// How many frames [default: the scene's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// How much simulated time, in place of --frames
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = above_zero, conflicts_with = "frames")]
    pub seconds: Option<f32>,
    #[command(flatten)]
    pub changes: Changes,
    /// Write a file, in the format of its ending; may be repeated
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// No progress and no summary
    #[arg(long, short)]
    pub quiet: bool,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  taffeta compare hang --methods xpbd,xpbd-jacobi,vbd --out hang.html
  taffeta compare horizontal --methods xpbd,xpbd:iterations=40,xpbd-chebyshev:rho=0.9 --out horizontal.html
  taffeta compare my.toml --methods xpbd,pd --frames 120 --set cloth.0.resolution=32 --json

A method may carry settings of its own after colons: substeps, iterations, or any other field of `simulation` in a scene \
file. The error of a method is the distance of its vertices from those of the reference at the same times, over the first \
frames only (--horizon): later, small differences grow by themselves and say little about the method.

A method that cannot do the scene, or explodes, is reported as such and does not stop the others. Exits with 0 when done, \
2 if something asked for is wrong (then nothing is written), 1 if the report cannot be written.";

#[derive(Args)]
pub struct CompareArgs {
    /// A name from `taffeta list scenes`, or a .toml file of your own
    pub scene: String,
    /// The methods, separated by commas, each with settings of its own if need be: xpbd,xpbd:iterations=40
    #[arg(long, value_name = "A,B,…")]
    pub methods: String,
    /// What errors are measured against: a method, with settings if need be
    #[arg(long, value_name = "NAME", default_value = "newton")]
    pub reference: String,
    /// Frames over which errors are measured; not more than the curves have
    #[arg(long, value_name = "N", default_value_t = 12, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub horizon: u32,
    /// Substeps of the finest reference, which stands for the true motion; an even number
    #[arg(long, value_name = "N", default_value_t = 128, allow_negative_numbers = true, value_parser = even)]
    pub fine: u32,
    /// Threads; times are told apart best on one
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub threads: u32,
    /// How many frames the curves have [default: the scene's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// How much simulated time the curves have, in place of --frames
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = above_zero, conflicts_with = "frames")]
    pub seconds: Option<f32>,
    #[command(flatten)]
    pub changes: Changes,
    /// Write the report, a page that needs no network: a name that ends in .html
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct CheckArgs {
    /// A mesh (.obj, .ply, .gltf, .glb), a scene's .toml, or the name of a scene
    pub what: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Which measurements; all if not given
    pub suite: Option<String>,
    /// Of `documents`, only rows with these words in them, such as S3
    #[arg(long, value_name = "WORDS")]
    pub only: Option<String>,
    /// Write the tables to a file that ends in .html or .csv; without a suite, each to one with the suite's name at its end
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads the command line; ends the program if it is wrong.
pub fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let name = match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(name)) if error.kind() == ErrorKind::InvalidSubcommand => name,
            _ => error.exit(),
        };
        let command = Cli::command();
        let known: Vec<&str> = command.get_subcommands().map(|c| c.get_name()).collect();
        let (hint, all) = (suggestion(name, &known), known.join(", "));
        let message = format!("there is no command '{name}'; {hint} (commands: {all})");
        Cli::command().error(ErrorKind::InvalidSubcommand, message).exit()
    })
}

fn method(name: &str) -> Result<String, String> {
    let known: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
    if known.contains(&name) {
        return Ok(name.into());
    }
    Err(format!("there is no such method; {} (see `taffeta list methods`)", suggestion(name, &known)))
}

fn backend(name: &str) -> Result<String, String> {
    match name {
        "cpu" => Ok(name.into()),
        "gpu" => Err("the GPU is not in this build; use cpu".into()),
        _ => Err(suggestion(name, &["cpu", "gpu"])),
    }
}

fn simd(name: &str) -> Result<SimdLevel, String> {
    let levels = SimdLevel::all();
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    let found = levels.iter().find(|level| level.name() == name);
    found.copied().ok_or_else(|| format!("this machine has {}", names.join(", ")))
}

fn even(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(value @ 2..) if value % 2 == 0 => Ok(value),
        _ => Err("must be an even number of substeps, 2 or more, such as 128".into()),
    }
}

fn above_zero(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "must be a number of seconds".to_string())?;
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err("must be above 0 s".into()) }
}
