//! The strain limit of every method: after it has solved a substep, what is stretched too far is shortened.
//!
//! Springs longer than (1 + ε) times their rest length are brought back to that length, one colour after another, for a
//! few passes. Provot, *Deformation constraints in a mass–spring model to describe rigid cloth behavior*, 1995;
//! in colours, so that no two corrections of one vertex meet, after Zhou et al. 2016, section 4.3.

use super::Substep;
use super::palette::Palette;
use crate::color::{Row, StripMap, gathered_sweep};
use crate::constraint::strain_limit::Project;
use crate::error::BuildError;
use crate::model::Model;
use crate::params::{Coloring, Params};
use crate::step::Stage;
use crate::wide::{Block, Gathered, Keep, Strips, Sweep};

/// The limits of a model.
pub struct Limits {
    grids: Vec<GridLimits>,
    rest: Sweep<Gathered<2>, 2, 2, 1>,
    passes: u32,
}

struct GridLimits {
    map: StripMap,
    blocks: Vec<Block>,
    sweep: Sweep<Strips<2>, 2, 2, 1>,
}

impl Limits {
    /// Arranges the limits of `model`.
    pub fn new(model: &Model, params: &Params) -> Result<Self, BuildError> {
        let in_strips = matches!(params.coloring, Coloring::Best | Coloring::Phantom);
        let (mut grids, mut rest): (_, Vec<Row<2, 2>>) = (Vec::new(), Vec::new());
        for cloth in model.cloths.iter().filter(|cloth| !cloth.strain_limit.is_empty()) {
            let rows = &model.strain_limit[cloth.strain_limit.clone()];
            let map = cloth.grid.and_then(|grid| StripMap::new(&grid, cloth.vertices.start));
            match map.filter(|_| in_strips) {
                Some(map) => {
                    let blocks = vec![Block::default(); map.blocks()];
                    grids.push(GridLimits { blocks, sweep: map.sweep(rows), map });
                }
                None => rest.extend(rows),
            }
        }
        let palette = if rest.is_empty() { Palette::Best } else { Palette::new(model, params.coloring)? };
        let colors = palette.pair_colors(model.particles(), &rest);
        Ok(Limits {
            grids,
            rest: gathered_sweep(&rest, &colors, model.particles()),
            passes: params.strain_passes.unwrap_or(params.iterations),
        })
    }

    /// Shortens what is too long, then pushes out of the colliders what was pulled into them.
    pub fn enforce(&mut self, substep: &mut Substep<'_>) {
        if self.grids.is_empty() && self.rest.constraints() == 0 {
            return;
        }
        let (team, level) = (&mut *substep.team, substep.level);
        for grid in &mut self.grids {
            grid.map.load(team, level, &substep.x[grid.map.range()], &mut grid.blocks);
            for _ in 0..self.passes {
                grid.sweep.run(team, level, &mut grid.blocks, Project, Keep::NOTHING);
            }
            grid.map.store(team, level, &grid.blocks, &mut substep.x[grid.map.range()]);
        }
        for _ in 0..self.passes {
            self.rest.run(team, level, substep.x, Project, Keep::NOTHING);
        }
        substep.clock.lap(Stage::Solve);
        if substep.touching() {
            substep.collide();
        }
    }
}
