//! Which vertices a selection means.

use glam::Vec3;

use crate::mesh::Grid;
use crate::scene::{Corner, Select, Side};

/// The vertices of `select`, sorted and each once, or what is wrong with it.
pub fn select(select: &Select, rest: &[Vec3], grid: Option<&Grid>) -> Result<Vec<u32>, String> {
    let mut chosen = Vec::new();
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in rest {
        low = low.min(*p);
        high = high.max(*p);
    }
    let middle = (low + high) * 0.5;
    for corner in &select.corners {
        let (x_high, z_high) = match corner {
            Corner::LowLow => (false, false),
            Corner::HighLow => (true, false),
            Corner::LowHigh => (false, true),
            Corner::HighHigh => (true, true),
        };
        let x = if x_high { high.x } else { low.x };
        let z = if z_high { high.z } else { low.z };
        chosen.push(match grid {
            Some(grid) => {
                grid.vertex(if x_high { grid.cells_x } else { 0 }, if z_high { grid.cells_z } else { 0 })
            }
            None => nearest(rest, Vec3::new(x, middle.y, z)),
        });
    }
    for side in &select.edges {
        // Within a thousandth of the size: meshes from files are not exact.
        let near = 1e-3 * (high - low).max_element();
        let on_side = |p: &Vec3| match side {
            Side::LowX => p.x - low.x <= near,
            Side::HighX => high.x - p.x <= near,
            Side::LowZ => p.z - low.z <= near,
            Side::HighZ => high.z - p.z <= near,
        };
        chosen.extend((0..rest.len() as u32).filter(|&v| on_side(&rest[v as usize])));
    }
    if let Some(bounds) = &select.within {
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        if !min.cmple(max).all() {
            return Err(format!("box: min {:?} must not be above max {:?}", bounds.min, bounds.max));
        }
        let inside: Vec<u32> = (0..rest.len() as u32)
            .filter(|&v| min.cmple(rest[v as usize]).all() && rest[v as usize].cmple(max).all())
            .collect();
        if inside.is_empty() {
            return Err(format!(
                "box: no vertex lies in {:?} … {:?}; the cloth (in its own frame) reaches from {:?} to {:?}",
                bounds.min,
                bounds.max,
                low.to_array(),
                high.to_array()
            ));
        }
        chosen.extend(inside);
    }
    for &v in &select.vertices {
        if v as usize >= rest.len() {
            return Err(format!("vertices: there is no vertex {v}; the cloth has 0 to {}", rest.len() - 1));
        }
        chosen.push(v);
    }
    if select.center {
        chosen.push(nearest(rest, middle));
    }
    if chosen.is_empty() {
        return Err("selects nothing; give corners, edges, box, vertices or center".into());
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn nearest(rest: &[Vec3], to: Vec3) -> u32 {
    let mut best = (f32::INFINITY, 0);
    for (v, p) in rest.iter().enumerate() {
        let d = (*p - to).length_squared();
        if d < best.0 {
            best = (d, v as u32);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Bounds;

    #[test]
    fn every_way_to_select_finds_its_vertices() {
        let grid = Grid { cells_x: 4, cells_z: 2, size_x: 4.0, size_z: 2.0 };
        let rest: Vec<Vec3> = grid.mesh().positions.iter().map(|&p| p.into()).collect();
        let find = |s: Select| select(&s, &rest, Some(&grid));
        let corners = vec![Corner::LowLow, Corner::HighHigh];
        assert_eq!(find(Select { corners: corners.clone(), ..Select::default() }).unwrap(), [0, 14]);
        assert_eq!(select(&Select { corners, ..Select::default() }, &rest, None).unwrap(), [0, 14]);
        assert_eq!(find(Select { edges: vec![Side::LowZ], ..Select::default() }).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(find(Select { center: true, ..Select::default() }).unwrap(), [7]);
        let within = Some(Bounds { min: [-3.0, -1.0, -3.0], max: [-1.5, 1.0, 0.5] });
        assert_eq!(find(Select { within, ..Select::default() }).unwrap(), [0, 5]);
        assert!(find(Select { vertices: vec![15], ..Select::default() }).unwrap_err().contains("0 to 14"));
        assert!(find(Select::default()).unwrap_err().contains("selects nothing"));
    }
}
