//! Measurements of this machine, in suites.

mod coloring;
mod contact;
mod documents;
mod kernels;
mod methods;
mod queries;
mod start;
mod table;

use std::path::PathBuf;

use taffeta::error::suggestion;

use crate::cli::BenchArgs;
use crate::fault::Fault;

pub use table::text as text_table;

/// How the results are to be given.
pub struct Options {
    /// As JSON on standard output.
    pub json: bool,
    /// Also to this file.
    pub out: Option<PathBuf>,
    /// Only rows with these words, of a suite that has them.
    pub only: Option<String>,
}

struct Suite {
    name: &'static str,
    run: fn(&Options) -> Result<(), Fault>,
}

const SUITES: &[Suite] = &[
    Suite { name: "kernels", run: kernels::run },
    Suite { name: "methods", run: methods::run },
    Suite { name: "coloring", run: coloring::run },
    Suite { name: "queries", run: queries::run },
    Suite { name: "contact", run: contact::run },
    Suite { name: "start", run: start::run },
    Suite { name: "documents", run: documents::run },
];

/// Runs one suite, or all.
pub fn bench(args: &BenchArgs) -> Result<(), Fault> {
    let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    if let Some(name) = &args.suite
        && !names.contains(&name.as_str())
    {
        let hint = suggestion(name, &names);
        let all = names.join(", ");
        return Err(Fault::Input(format!("there is no suite '{name}'; {hint} (suites: {all})")));
    }
    let chooses = matches!(args.suite.as_deref(), Some("documents" | "contact"));
    if let (Some(words), false) = (&args.only, chooses) {
        let message = format!(
            "--only {words}: only the suites 'documents' and 'contact' have rows to choose from; write taffeta bench documents --only {words}"
        );
        return Err(Fault::Input(message));
    }
    if let Some(path) = &args.out {
        table::check(path)?;
    }
    let options = Options { json: args.json, out: args.out.clone(), only: args.only.clone() };
    let wanted = |suite: &&Suite| args.suite.as_deref().is_none_or(|name| name == suite.name);
    SUITES.iter().filter(wanted).try_for_each(|suite| (suite.run)(&options))
}
