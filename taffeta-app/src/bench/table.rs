//! Results of a suite in the terminal, as JSON, and in a file.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use taffeta::lanes::SimdLevel;
use taffeta_io::output;

use super::Options;
use crate::fault::{Fault, say};
use crate::hardware;
use crate::html::escaped;

/// Prints a table and notes, or JSON, and writes the file that was asked for: `.html` or `.csv`.
pub fn report<const N: usize>(
    options: &Options,
    suite: &str,
    header: &[&str; N],
    rows: &[[String; N]],
    entries: &impl Serialize,
    notes: &[String],
) -> Result<(), Fault> {
    report_as(options, suite, header, rows, entries, notes, &text(header, rows))
}

/// The same with a text of its own for the terminal.
pub fn report_as<const N: usize>(
    options: &Options,
    suite: &str,
    header: &[&str; N],
    rows: &[[String; N]],
    entries: &impl Serialize,
    notes: &[String],
    table: &str,
) -> Result<(), Fault> {
    if let Some(path) = &options.out {
        let text = match ending(path)? {
            Ending::Html => html(suite, header, rows, notes),
            Ending::Csv => csv(header, rows),
        };
        output::write_text(path, &text).map_err(Fault::failed)?;
    }
    if options.json {
        let json = serde_json::json!({
            "suite": suite,
            "machine": {
                "processor": hardware::processor(),
                "arch": std::env::consts::ARCH, "os": std::env::consts::OS, "simd": SimdLevel::best().name(),
            },
            "results": entries,
            "notes": notes,
        });
        say(&json.to_string())
    } else {
        say(&format!("{table}\n{}", notes.join("\n")))
    }
}

enum Ending {
    Html,
    Csv,
}

fn ending(path: &Path) -> Result<Ending, Fault> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("html") => Ok(Ending::Html),
        Some("csv") => Ok(Ending::Csv),
        _ => Err(Fault::Input(format!("{}: a report ends in .html or .csv", path.display()))),
    }
}

/// Checks a report's name before anything is measured.
pub fn check(path: &Path) -> Result<(), Fault> {
    ending(path)?;
    output::check(path).map_err(Fault::input)
}

/// A table for the terminal.
pub fn text<const N: usize>(header: &[&str; N], rows: &[[String; N]]) -> String {
    let width = |c: usize| {
        rows.iter().map(|r| r[c].chars().count()).chain([header[c].chars().count()]).max().unwrap_or(0)
    };
    let line = |cells: [&str; N]| {
        let mut line = String::new();
        for (c, cell) in cells.iter().enumerate() {
            let pad = width(c) - cell.chars().count() + 2;
            let _ = write!(line, "{cell}{}", " ".repeat(pad));
        }
        line.trim_end().to_string() + "\n"
    };
    let mut out = line(*header);
    rows.iter().for_each(|row| out += &line(std::array::from_fn(|c| row[c].as_str())));
    out
}

fn csv<const N: usize>(header: &[&str; N], rows: &[[String; N]]) -> String {
    // A cell with a comma is quoted (RFC 4180).
    let cell = |text: &str| {
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
    };
    let line = |cells: &[&str]| cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(",") + "\n";
    let mut out = line(header);
    rows.iter().for_each(|row| out += &line(&row.each_ref().map(String::as_str)));
    out
}

fn html<const N: usize>(suite: &str, header: &[&str; N], rows: &[[String; N]], notes: &[String]) -> String {
    let line = |tag: &str, cells: &[&str]| {
        let cells: String = cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = line("th", header);
    let body: String =
        rows.iter().map(|row| line("td", &std::array::from_fn::<&str, N, _>(|c| row[c].as_str()))).collect();
    let notes: String = notes.iter().map(|n| format!("<p>{}</p>\n", escaped(n))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>taffeta bench {suite}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style></head>\n<body><h1>taffeta bench {suite}</h1>\n\
         {notes}<table>\n{head}{body}</table>\n</body></html>\n"
    )
}

const STYLE: &str = "body{font:14px/1.45 system-ui,sans-serif;max-width:86em;margin:2em auto;padding:0 1.5em;color:#22262b}\
    h1{font:500 28px Palatino,Georgia,serif}p{max-width:90ch;color:#5d646c}\
    table{border-collapse:collapse;border-top:1.5px solid;border-bottom:1.5px solid;font-variant-numeric:tabular-nums}\
    th{text-align:left;border-bottom:1px solid}td,th{padding:.3em .8em;vertical-align:top}\
    tr+tr td{border-top:1px solid #e4e6e9}tr:hover td{background:#f6f7f8}";
