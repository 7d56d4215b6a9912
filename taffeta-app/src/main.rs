//! The program `taffeta`: simulate, bake, measure and check cloth.

#![forbid(unsafe_code)]

mod bench;
mod check;
mod cli;
mod compare;
mod fault;
mod hardware;
mod html;
mod interrupt;
mod list;
mod measure;
mod record;
mod report;
mod run;

use std::process::ExitCode;

use cli::Command;
use fault::{Fault, say};

fn main() -> ExitCode {
    let result = match cli::parse().command {
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Schema) => schema(),
        Some(Command::Bench(args)) => bench::bench(&args),
        None => welcome(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}

fn welcome() -> Result<(), Fault> {
    say(concat!(
        "taffeta simulates cloth. This build has no viewer yet; make a page that plays in any browser instead:\n\n",
        "  taffeta run hang --out hang.html\n\n",
        "`taffeta list` names all scenes, and `taffeta --help` all commands.",
    ))
}

fn schema() -> Result<(), Fault> {
    say(&format!("{:#}", taffeta_io::scene_file::schema()))
}
