//! A numbering of vertices in which neighbours are near each other in memory.

use glam::Vec3;

/// Vertices along a Morton curve through the rest shape: `order[k]` is the vertex that comes k-th.
pub fn locality_order(positions: &[[f32; 3]]) -> Vec<u32> {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &p in positions {
        low = low.min(Vec3::from(p));
        high = high.max(Vec3::from(p));
    }
    let size = (high - low).max_element().max(f32::MIN_POSITIVE);
    let mut keyed: Vec<(u64, u32)> = positions
        .iter()
        .enumerate()
        .map(|(v, &p)| {
            let q = (Vec3::from(p) - low) / size * 2_097_151.0;
            (spread(q.x as u64) | spread(q.y as u64) << 1 | spread(q.z as u64) << 2, v as u32)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, v)| v).collect()
}

/// Puts two zero bits after each of the lower 21 bits.
fn spread(v: u64) -> u64 {
    let mut v = v & 0x1f_ffff;
    v = (v | v << 32) & 0x001f_0000_0000_ffff;
    v = (v | v << 16) & 0x001f_0000_ff00_00ff;
    v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
    v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_permutation_that_keeps_neighbours_together() {
        let grid: Vec<[f32; 3]> =
            (0..1024).map(|i| [(i * 37 % 1024 / 32) as f32, 0.0, (i * 37 % 1024 % 32) as f32]).collect();
        let order = locality_order(&grid);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &v)| i as u32 == v));
        let hop = |list: &[u32]| -> f32 {
            list.windows(2)
                .map(|w| (Vec3::from(grid[w[0] as usize]) - Vec3::from(grid[w[1] as usize])).length())
                .sum::<f32>()
        };
        assert!(hop(&order) < 0.3 * hop(&(0..1024).collect::<Vec<_>>()));
    }
}
