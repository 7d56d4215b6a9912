//! The documentation names what there is.

use std::fs;
use std::path::Path;

use taffeta::constraint::Kind;
use taffeta::solver::METHODS;
use taffeta::step::Stage;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_stage_is_a_heading_of_step_md_in_order() {
    let text = page("step.md");
    let headings: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("## ")).map(str::trim).collect();
    let found: Vec<&str> = headings
        .into_iter()
        .filter(|heading| Stage::ALL.iter().any(|stage| stage.name() == *heading))
        .collect();
    assert_eq!(found, Stage::ALL.map(Stage::name), "docs/step.md has a section for each stage, in order");
}

#[test]
fn every_kind_and_method_is_explained() {
    let text = page("step.md") + &page("notation.md");
    let kinds = Kind::ALL.iter().map(|kind| kind.name());
    for name in kinds.chain(METHODS.iter().map(|method| method.name)) {
        assert!(
            text.contains(&format!("`{name}`")),
            "docs/step.md or docs/notation.md should explain `{name}`"
        );
    }
}

/// The crate's own documentation is compiled and run; the README shows the same.
#[test]
fn the_readme_shows_the_tested_example() {
    let readme = include_str!("../../README.md");
    let shown =
        readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a Rust example");
    let tested: String = include_str!("../src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .skip_while(|line| *line != "```")
        .skip(1)
        .take_while(|line| *line != "```")
        .filter(|line| !line.starts_with("# "))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(shown, tested);
}
