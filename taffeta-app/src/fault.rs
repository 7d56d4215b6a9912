//! How a command ends when it does not end well, and how text gets out.

use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command stopped.
#[derive(Debug)]
pub enum Fault {
    /// What was asked for cannot be done: nothing was simulated or written.
    Input(String),
    /// It was tried, and failed.
    Failed(String),
    /// The person stopped it.
    Interrupted(String),
    /// It found problems, and has said which.
    Found,
    /// Nobody reads the output any more.
    Unheard,
}

impl Fault {
    /// What the person asked for is wrong.
    pub fn input(message: impl ToString) -> Fault {
        Fault::Input(message.to_string())
    }

    /// Something went wrong on the way.
    pub fn failed(message: impl ToString) -> Fault {
        Fault::Failed(message.to_string())
    }

    /// Says what is wrong; the code to exit with.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Fault::Input(message) => (format!("error: {message}"), 2),
            Fault::Failed(message) => (format!("error: {message}"), 1),
            Fault::Interrupted(message) => (message, 130),
            Fault::Found => return ExitCode::from(1),
            Fault::Unheard => return ExitCode::SUCCESS,
        };
        mention(&text);
        ExitCode::from(code)
    }
}

/// Writes a line to standard output.
pub fn say(text: &str) -> Result<(), Fault> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Fault::Unheard),
        Err(error) => Err(Fault::failed(format!("cannot write to standard output: {error}"))),
    }
}

/// Writes a line to standard error, if anybody listens.
pub fn mention(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
