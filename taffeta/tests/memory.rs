//! What a vertex costs in memory is what docs/notation.md says.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{grid_cloth, irregular_sheet};
use counting::live;
use taffeta::Simulation;
use taffeta::scene::{Cloth, Scene};

fn bytes_per_vertex(cloth: Cloth) -> f64 {
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let before = live();
    let sim = Simulation::new(&scene).unwrap();
    (live() - before) as f64 / sim.positions().len() as f64
}

/// A figure of the table of memory: the row that begins so, and the column.
fn documented(row: &str, column: usize) -> f64 {
    let page = include_str!("../../docs/notation.md");
    let found = page.lines().find(|line| line.starts_with(row)).expect("the table has this row");
    let cell = found.split('|').nth(column + 2).expect("the table has two columns of figures");
    cell.trim().trim_matches('*').parse().expect("the figure is a number")
}

#[test]
fn memory_per_vertex_is_as_documented() {
    // 127 cells: the columns fill all strips.
    let grid = bytes_per_vertex(grid_cloth([1.0, 1.0], [127, 127]));
    let irregular = bytes_per_vertex(irregular_sheet([1.0, 1.0], [60, 60], 1));
    println!("grid {grid:.0}, irregular {irregular:.0} bytes per vertex");
    for (column, (name, measured)) in [("grid", grid), ("irregular mesh", irregular)].into_iter().enumerate()
    {
        let sum = documented("| **sum**", column);
        let allocated = documented("| **as allocated**", column);
        assert!(
            (measured / allocated - 1.0).abs() < 0.05 && measured > 0.95 * sum,
            "{name}: {measured:.0} bytes per vertex; docs/notation.md says {allocated}, {sum} of it in use"
        );
    }
}
