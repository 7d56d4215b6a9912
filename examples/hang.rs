//! A cloth that hangs from two corners, from nothing to figures: `cargo run --release -p taffeta --example hang`.
//!
//! Shows how a scene is made of plain structs, how it is stepped, and how to ask what it looks like: how far the cloth
//! sags between its pins, how much it stretches, and whether it has come to rest.

use taffeta::Simulation;
use taffeta::scene::{Cloth, Corner, FabricChoice, FabricTable, Pair, Pin, Scene, Select, Tethers};

const CELLS: usize = 32;

fn main() -> Result<(), taffeta::BuildError> {
    let corners = vec![Corner::LowLow, Corner::HighLow];
    let cloth = Cloth {
        size: Pair([1.0, 1.0]),
        resolution: Pair([CELLS as u32; 2]),
        fabric: FabricChoice(FabricTable { preset: Some("cotton".into()), ..FabricTable::default() }),
        // Without tethers a sheet that hangs from two points needs many more substeps to carry its own weight.
        tethers: Some(Tethers { stretch: 1.01, nearest: 2 }),
        pin: vec![Pin { select: Select { corners, ..Select::default() }, ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.substeps = 30;

    let mut sim = Simulation::new(&scene)?;
    println!("{} vertices, {} constraints", sim.positions().len(), sim.model().constraints());
    println!("time s   sag of the upper edge m   lowest point m   strain max %   kinetic energy J");
    for frame in 1..=300 {
        let report = sim.step(scene.simulation.dt);
        if let Some(failure) = report.failure {
            panic!("{failure}");
        }
        if frame % 60 == 0 {
            // Row 0 of the grid is the side with the pins; its middle hangs lowest.
            let sag = -sim.positions()[CELLS / 2][1];
            let lowest = sim.positions().iter().map(|p| p[1]).fold(f32::MAX, f32::min);
            let (strain, energy) = (100.0 * sim.strain().max, sim.energies().kinetic);
            println!(
                "{:>6.2}   {sag:>23.3}   {lowest:>14.3}   {strain:>12.2}   {energy:>16.5}",
                frame as f32 / 60.0
            );
        }
    }
    Ok(())
}
