//! Measurements of this machine, in suites.

mod coloring;
mod contact;
mod documents;
mod kernels;
mod methods;
mod queries;
mod start;
mod table;

use std::path::{Path, PathBuf};

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
    let wanted = |suite: &&Suite| args.suite.as_deref().is_none_or(|name| name == suite.name);
    let out = |suite: &Suite| {
        args.out
            .as_ref()
            .map(|path| if args.suite.is_some() { path.clone() } else { named(path, suite.name) })
    };
    if let Some(path) = &args.out {
        table::check(path)?;
    }
    for path in SUITES.iter().filter(wanted).filter_map(out) {
        table::check(&path)?;
    }
    SUITES.iter().filter(wanted).try_for_each(|suite| {
        (suite.run)(&Options { json: args.json, out: out(suite), only: args.only.clone() })
    })
}

/// The file of one suite where there are several: `bench.html` becomes `bench-kernels.html`.
fn named(path: &Path, suite: &str) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}-{suite}.{}", part(path.file_stem()), part(path.extension())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_has_a_file_of_its_own() {
        let mut names: Vec<PathBuf> =
            SUITES.iter().map(|suite| named(Path::new("out/my.bench.html"), suite.name)).collect();
        assert_eq!(names[0], Path::new("out/my.bench-kernels.html"));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), SUITES.len());
    }
}
