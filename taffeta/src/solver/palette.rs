//! Which colours the constraints of a gathered sweep get.

use crate::color::{PlacedGrid, Row, edge_colors, greedy_colors, module_colors};
use crate::error::BuildError;
use crate::model::Model;
use crate::params::Coloring;

/// A way to colour.
pub enum Palette {
    /// Edges with at most one colour more than meet at a vertex, the rest greedily.
    Best,
    /// All greedily.
    Greedy,
    /// By rows and columns of these grids.
    Modules(Vec<PlacedGrid>),
}

impl Palette {
    /// The one that is asked for; phantom vertices are no colouring of the constraints as they are, and give the best.
    pub fn new(model: &Model, coloring: Coloring) -> Result<Self, BuildError> {
        match coloring {
            Coloring::Best | Coloring::Phantom => Ok(Palette::Best),
            Coloring::Greedy => Ok(Palette::Greedy),
            Coloring::Modules => {
                let grids = model.cloths.iter().map(|cloth| match cloth.grid {
                    Some(grid) => Ok(PlacedGrid { grid, first: cloth.vertices.start }),
                    None => Err(BuildError::field(
                        "simulation.coloring",
                        format!(
                            "'modules' are rows and columns of a grid, but '{}' is a mesh; use 'best', 'greedy' or 'phantom'",
                            cloth.name
                        ),
                    )),
                });
                Ok(Palette::Modules(grids.collect::<Result<_, _>>()?))
            }
        }
    }

    /// A colour for every constraint over two particles.
    pub fn pair_colors<const P: usize>(&self, particles: usize, rows: &[Row<2, P>]) -> Vec<u32> {
        match self {
            Palette::Best => edge_colors(particles, &members(rows)),
            _ => self.colors(particles, rows),
        }
    }

    /// A colour for every constraint.
    pub fn colors<const N: usize, const P: usize>(&self, particles: usize, rows: &[Row<N, P>]) -> Vec<u32> {
        match self {
            Palette::Best | Palette::Greedy => greedy_colors(particles, &members(rows)),
            Palette::Modules(grids) => module_colors(grids, &members(rows)),
        }
    }
}

fn members<const N: usize, const P: usize>(rows: &[Row<N, P>]) -> Vec<[u32; N]> {
    rows.iter().map(|row| row.particles).collect()
}
