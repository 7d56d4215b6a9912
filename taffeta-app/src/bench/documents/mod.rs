//! Every table and figure of the documents beside our own figures.

mod claims;
mod entries;
mod runs;

use serde_json::{Value, json};
use taffeta_io::plot::significant;

use super::{Options, table};
use crate::fault::Fault;
use crate::hardware;
use claims::{CLAIMS, Claim};
use entries::{ENTRIES, Entry, Quantity};
use runs::{Missing, Run, Runs};

const HEADER: [&str; 9] = [
    "document",
    "where",
    "what",
    "published",
    "ours",
    "better by",
    "scene and method",
    "published on",
    "ours on",
];

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let wanted = |words: [&str; 3]| {
        let all = words.join(" ").to_lowercase();
        options.only.as_ref().is_none_or(|only| all.contains(&only.to_lowercase()))
    };
    let entries: Vec<&Entry> = ENTRIES.iter().filter(|e| wanted([e.document, e.place, e.row])).collect();
    let claims: Vec<&Claim> = CLAIMS.iter().filter(|c| wanted([c.document, c.place, c.statement])).collect();
    if entries.is_empty() && claims.is_empty() {
        let only = options.only.as_deref().unwrap_or_default();
        return Err(Fault::Input(format!(
            "--only {only}: no row has these words; try a document (S1 to S5), a table or a method"
        )));
    }
    let mut runs = Runs::default();
    let (mut rows, mut results, mut counts) = (Vec::new(), Vec::new(), Counts::default());
    let machine = hardware::processor();
    for entry in entries {
        let found = runs.get(&entry.setup).map(|run| ours(entry.quantity, run));
        counts.add(&found);
        let (row, result) = report_entry(entry, &found, &machine);
        rows.push(row);
        results.push(result);
    }
    for claim in claims {
        let found = judge(claim, &mut runs);
        counts.add(&found);
        let (row, result) = report_claim(claim, &found, &machine);
        rows.push(row);
        results.push(result);
    }
    let notes = [
        counts.text(),
        format!(
            "Ours: {}; the mean frame, or all frames where a document has a total; processor time of one thread unless the row says otherwise, then wall clock.",
            hardware::describe()
        ),
        "“better by”: how many times as fast as published, or how many times less stretched.".into(),
        "Published speeds of S1 are of Jacobi iterations on a GPU, ours of coloured Gauss–Seidel with the five substeps of our \
         scene; those of S1, S3 and S5 include drawing, ours do not."
            .into(),
    ];
    table::report_as(options, "documents", &HEADER, &rows, &results, &notes, &text(&rows))
}

/// The rows for a terminal: what they share stands above them.
fn text(rows: &[[String; 9]]) -> String {
    let mut text = String::new();
    let shared = |row: &[String; 9]| [0, 1, 6, 7].map(|c| row[c].clone());
    for group in rows.chunk_by(|a, b| shared(a) == shared(b)) {
        let [document, place, scene, hardware] = shared(&group[0]);
        text += &format!("{document}, {place}: {scene}");
        text += &if hardware == "–" { "\n".into() } else { format!("; published on {hardware}\n") };
        let head = ["  what", "published", "ours", "better by"];
        let cells =
            |row: &[String; 9]| [format!("  {}", row[2]), row[3].clone(), row[4].clone(), row[5].clone()];
        if hardware == "–" {
            for row in group {
                text += &format!("  {}\n  {}: {}\n", row[2], row[5], row[4]);
            }
        } else {
            text += &table::text(&head, &group.iter().map(cells).collect::<Vec<_>>());
        }
        text.push('\n');
    }
    text.trim_end().to_string() + "\n"
}

/// Our figure for what a document measured.
fn ours(quantity: Quantity, run: &Run) -> f64 {
    match quantity {
        Quantity::Fps => 1e3 / run.ms,
        Quantity::Frame => run.ms,
        Quantity::Total => run.total_ms,
        Quantity::ChangeRate => 100.0 * run.strain_mean,
    }
}

/// How many times better ours is.
fn ratio(quantity: Quantity, published: f64, ours: f64) -> f64 {
    if quantity.more_is_better() { ours / published } else { published / ours }
}

/// Whether a claim holds for our runs, and the figures that say so.
fn judge(claim: &Claim, runs: &mut Runs) -> Result<(bool, String), Missing> {
    for setup in claim.setups {
        runs.get(setup)?;
    }
    let all = claim.setups.iter().map(|setup| runs.found(setup)).collect::<Option<Vec<_>>>();
    let all = all.ok_or_else(|| Missing::Failed("a run is missing".into()))?;
    Ok((claim.judge)(&all))
}

fn report_entry(entry: &Entry, found: &Result<f64, Missing>, machine: &str) -> ([String; 9], Value) {
    let Entry { document, place, row, setup, quantity, published, hardware } = entry;
    let unit = quantity.unit();
    let better = found.as_ref().ok().map(|ours| ratio(*quantity, *published, *ours));
    let row = [
        document.to_string(),
        place.to_string(),
        row.to_string(),
        format!("{published} {unit}"),
        found.as_ref().map_or_else(shown, |v| format!("{} {unit}", significant(*v, 3))),
        better.map_or("–".into(), |r| format!("{} ×", significant(r, 3))),
        format!("{}, {}", setup.scene, setup.method),
        hardware.to_string(),
        if found.is_ok() { machine.into() } else { "–".into() },
    ];
    let result = json!({
        "document": document, "where": place, "what": row[2], "unit": unit,
        "published": published, "published_on": hardware,
        "ours": found.as_ref().ok(), "ours_on": found.as_ref().ok().map(|_| machine), "better_by": better,
        "scene": setup.scene, "method": setup.method, "settings": setup.sets, "threads": setup.threads,
        "status": status(found), "why": found.as_ref().err().map(Missing::text),
    });
    (row, result)
}

fn report_claim(
    claim: &Claim,
    found: &Result<(bool, String), Missing>,
    machine: &str,
) -> ([String; 9], Value) {
    let mut methods: Vec<&str> = claim.setups.iter().map(|setup| setup.method).collect();
    methods.dedup();
    let scene = claim.setups[0].scene;
    let verdict = found.as_ref().ok().map(|(holds, _)| if *holds { "holds" } else { "does not hold" });
    let row = [
        claim.document.into(),
        claim.place.into(),
        claim.statement.into(),
        "shown".into(),
        found.as_ref().map_or_else(shown, |(_, text)| text.clone()),
        verdict.unwrap_or("not known").into(),
        format!("{scene}, {}", methods.join(" ")),
        "–".into(),
        if found.is_ok() { machine.into() } else { "–".into() },
    ];
    let result = json!({
        "document": claim.document, "where": claim.place, "what": claim.statement,
        "ours": found.as_ref().ok().map(|(_, text)| text), "holds": found.as_ref().ok().map(|(holds, _)| holds),
        "ours_on": found.as_ref().ok().map(|_| machine),
        "scene": scene, "methods": methods,
        "status": status(found), "why": found.as_ref().err().map(Missing::text),
    });
    (row, result)
}

/// What stands in place of a figure.
fn shown(missing: &Missing) -> String {
    match missing {
        Missing::NotBuilt(_) => "not in this build".into(),
        Missing::TooFewCores(why) | Missing::Failed(why) => why.clone(),
    }
}

fn status<T>(found: &Result<T, Missing>) -> &'static str {
    match found {
        Ok(_) => "measured",
        Err(Missing::NotBuilt(_)) => "not in this build",
        Err(Missing::TooFewCores(_)) => "too few cores",
        Err(Missing::Failed(_)) => "failed",
    }
}

/// How many figures are which.
#[derive(Default)]
struct Counts {
    measured: usize,
    all: usize,
    failed: usize,
}

impl Counts {
    fn add<T>(&mut self, found: &Result<T, Missing>) {
        self.all += 1;
        self.measured += usize::from(found.is_ok());
        self.failed += usize::from(matches!(found, Err(Missing::Failed(_))));
    }

    fn text(&self) -> String {
        let Counts { measured, all, failed } = self;
        let rest = all - measured - failed;
        format!(
            "{measured} of {all} measured; {failed} failed; {rest} cannot be measured with this build and machine."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_asked_for() {
        for entry in ENTRIES {
            assert!(entry.published > 0.0 && !entry.hardware.is_empty(), "{}", entry.row);
            assert!(entry.setup.sets.iter().all(|set| set.contains('=')), "{}", entry.row);
        }
        for claim in CLAIMS {
            assert!(
                !claim.setups.is_empty() && claim.setups.iter().all(|s| s.scene == claim.setups[0].scene)
            );
        }
        let places = |document| ENTRIES.iter().filter(|e| e.document == document).count();
        assert_eq!([places("S1"), places("S3"), places("S4"), places("S5")], [8, 12, 15, 14]);
    }

    #[test]
    fn the_ratio_says_how_many_times_better() {
        assert_eq!(ratio(Quantity::Fps, 10.0, 50.0), 5.0);
        assert_eq!(ratio(Quantity::Frame, 50.0, 10.0), 5.0);
        assert_eq!(ratio(Quantity::ChangeRate, 60.0, 20.0), 3.0);
    }
}
