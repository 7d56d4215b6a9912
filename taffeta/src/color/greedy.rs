//! Greedy colouring for constraints over any number of particles.

/// A colour for every constraint: the emptiest of those in use that is free at all its particles, else a
/// new one. `particles` is the number of particles.
pub fn greedy_colors<const N: usize>(particles: usize, constraints: &[[u32; N]]) -> Vec<u32> {
    // One bit for each colour at each particle, 64 to a word; words are added when colours run out.
    let mut words: Vec<Vec<u64>> = Vec::new();
    let mut sizes: Vec<u32> = Vec::new();
    constraints
        .iter()
        .map(|constraint| {
            let mut best = None;
            for (w, used) in words.iter().enumerate() {
                let mut free = !constraint.iter().fold(0, |bits, &v| bits | used[v as usize]);
                while free != 0 {
                    let c = w * 64 + free.trailing_zeros() as usize;
                    free &= free - 1;
                    if c >= sizes.len() {
                        break;
                    }
                    if best.is_none_or(|b: usize| sizes[c] < sizes[b]) {
                        best = Some(c);
                    }
                }
            }
            let c = best.unwrap_or_else(|| {
                sizes.push(0);
                if sizes.len() > words.len() * 64 {
                    words.push(vec![0; particles]);
                }
                sizes.len() - 1
            });
            sizes[c] += 1;
            constraint.iter().for_each(|&v| words[c / 64][v as usize] |= 1 << (c % 64));
            c as u32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::is_proper;
    use crate::mesh::{Grid, Topology};

    #[test]
    fn hinges_of_a_grid_are_coloured_properly_and_evenly() {
        let mesh = Grid { cells_x: 20, cells_z: 20, size_x: 1.0, size_z: 1.0 }.mesh();
        let hinges: Vec<_> = Topology::new(mesh.positions.len(), &mesh.triangles).hinges().collect();
        let colors = greedy_colors(mesh.positions.len(), &hinges);
        assert!(is_proper(&hinges, &colors, mesh.positions.len()));
        let count = *colors.iter().max().unwrap() + 1;
        // 16 hinges meet at every other vertex of such a grid: 8 edges and the 8 opposite ones.
        assert!((16..=24).contains(&count), "{count}");
    }

    #[test]
    fn more_than_64_constraints_at_one_particle() {
        let star: Vec<[u32; 2]> = (1..150).map(|v| [0, v]).collect();
        let colors = greedy_colors(150, &star);
        assert!(is_proper(&star, &colors, 150));
        assert_eq!(*colors.iter().max().unwrap(), 148);
    }
}
