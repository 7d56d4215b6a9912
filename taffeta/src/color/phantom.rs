//! Phantom vertices: a cap on the number of colours.
//!
//! ```text
//!      \ | /                 \ |      | /
//!     ── o ──     n = 4     ── o      o' ──        o and o' are one vertex: their mean after each iteration
//!      / | \                 / |      | \
//! ```
//!
//! Where more than n constraints meet, the particle is replaced by several, which share its constraints and its mass;
//! after each iteration all of them are put at their mean. With c copies of inverse mass c w each, a correction
//! c w ∇C Δλ of one copy moves the mean by w ∇C Δλ: linear momentum is kept, and where the iteration comes to rest,
//! M (x − y) = ∇Cᵀ λ and C + α̃ λ = 0 hold as without phantoms. On the way there a correction is diluted by its copies, so
//! more iterations are needed. Kuprin, *Parallel tissue simulation on a CPU by a position-based method*, 2023, section 2.5;
//! copies with shared mass, and copies wherever they are needed instead of at cliques found by Bron and Kerbosch, are ours.

use super::{PADDING, Row};
use crate::par::Team;
use crate::wide::Particle;

const GRAIN: usize = 64;

/// Divides constraints among copies of their particles.
pub struct Splitting {
    colors: usize,
    /// How many copies of each particle are needed beyond itself.
    extra: Vec<u32>,
}

/// The constraints of one kind, divided.
pub struct Divided<const N: usize> {
    /// The colour of each constraint.
    pub colors: Vec<u32>,
    /// Which copy of each of its particles it acts on.
    copies: Vec<[u32; N]>,
}

impl Splitting {
    /// Nothing divided yet; each kind of constraint gets at most `colors` colours.
    pub fn new(particles: usize, colors: usize) -> Self {
        assert!(colors > 0);
        Splitting { colors, extra: vec![0; particles] }
    }

    /// Gives each constraint the colour in which the fewest constraints meet it so far, the emptiest of those; where some
    /// do, it acts on the next copy.
    pub fn divide<const N: usize, const P: usize>(&mut self, rows: &[Row<N, P>]) -> Divided<N> {
        let colors = self.colors;
        // How many constraints of each colour there are at each particle, and in all.
        let mut used = vec![0u32; self.extra.len() * colors];
        let mut sizes = vec![0u32; colors];
        let mut divided = Divided { colors: Vec::new(), copies: Vec::new() };
        for row in rows {
            let at = |color: usize, p: u32| used[p as usize * colors + color];
            let met = |color: usize| row.particles.iter().map(|&p| at(color, p)).sum::<u32>();
            let color = (0..colors).min_by_key(|&c| (met(c), sizes[c], c)).expect("one colour at least");
            divided.copies.push(row.particles.map(|p| at(color, p)));
            divided.colors.push(color as u32);
            sizes[color] += 1;
            for &p in &row.particles {
                let extra = &mut self.extra[p as usize];
                *extra = (*extra).max(used[p as usize * colors + color]);
                used[p as usize * colors + color] += 1;
            }
        }
        divided
    }

    /// Numbers the copies, behind the real particles.
    pub fn finish(self) -> Phantoms {
        let particles = self.extra.len();
        let mut first = vec![particles as u32];
        let mut owner = Vec::new();
        for (i, &extra) in self.extra.iter().enumerate() {
            owner.resize(owner.len() + extra as usize, i as u32);
            first.push((particles + owner.len()) as u32);
        }
        let x = vec![Particle::default(); particles + owner.len() + PADDING];
        Phantoms { first, owner, x }
    }
}

/// Particles and their phantoms.
pub struct Phantoms {
    /// The phantoms of particle i are `first[i]..first[i + 1]`.
    first: Vec<u32>,
    /// Whose phantom each is.
    owner: Vec<u32>,
    /// Real particles, phantoms, padding.
    pub x: Vec<Particle>,
}

impl Phantoms {
    /// The number of particles and phantoms.
    pub fn particles(&self) -> usize {
        self.x.len() - PADDING
    }

    /// The number of phantoms.
    pub fn phantoms(&self) -> usize {
        self.owner.len()
    }

    /// Rows that act on the copies.
    pub fn rows<const N: usize, const P: usize>(
        &self,
        rows: &[Row<N, P>],
        divided: &Divided<N>,
    ) -> Vec<Row<N, P>> {
        let copy = |p: u32, k: u32| if k == 0 { p } else { self.first[p as usize] + k - 1 };
        (rows.iter().zip(&divided.copies))
            .map(|(row, copies)| Row {
                particles: std::array::from_fn(|n| copy(row.particles[n], copies[n])),
                params: row.params,
            })
            .collect()
    }

    /// Takes over the particles; copies share the mass.
    pub fn load(&mut self, team: &mut Team, x: &[Particle]) {
        let Phantoms { first, owner, x: all } = self;
        let (real, phantoms) = all.split_at_mut(first.len() - 1);
        team.for_each_chunk(real, GRAIN, |start, real| {
            for (i, (real, x)) in real.iter_mut().zip(&x[start..]).enumerate() {
                let copies = 1 + first[start + i + 1] - first[start + i];
                *real = Particle { p: x.p, w: x.w * copies as f32 };
            }
        });
        let phantoms = &mut phantoms[..owner.len()];
        team.for_each_chunk(phantoms, GRAIN, |start, part| {
            part.iter_mut().zip(&owner[start..]).for_each(|(p, &o)| *p = real[o as usize]);
        });
    }

    /// Puts all copies at their mean.
    pub fn average(&mut self, team: &mut Team) {
        let Phantoms { first, owner, x } = self;
        let (real, phantoms) = x.split_at_mut(first.len() - 1);
        let begin = first[0] as usize;
        team.for_each_chunk(real, GRAIN, |start, real| {
            for (i, real) in real.iter_mut().enumerate() {
                let range = first[start + i] as usize - begin..first[start + i + 1] as usize - begin;
                if range.is_empty() {
                    continue;
                }
                // As a difference from the first, so that copies which did not move give exactly that.
                let share = 1.0 / (1 + range.len()) as f32;
                let mut shift = [0.0; 3];
                for phantom in &phantoms[range] {
                    for c in 0..3 {
                        shift[c] += phantom.p[c] - real.p[c];
                    }
                }
                for c in 0..3 {
                    real.p[c] += shift[c] * share;
                }
            }
        });
        let phantoms = &mut phantoms[..owner.len()];
        team.for_each_chunk(phantoms, GRAIN, |start, part| {
            part.iter_mut().zip(&owner[start..]).for_each(|(p, &o)| p.p = real[o as usize].p);
        });
    }

    /// Gives the positions back.
    pub fn store(&self, team: &mut Team, x: &mut [Particle]) {
        let particles = self.first.len() - 1;
        team.for_each_chunk(&mut x[..particles], GRAIN, |start, part| {
            part.iter_mut().zip(&self.x[start..]).for_each(|(x, copy)| x.p = copy.p);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::is_proper;

    #[test]
    fn a_star_gets_as_many_copies_as_its_arms_need() {
        let star: Vec<Row<2, 1>> = (1..=10).map(|v| Row { particles: [0, v], params: [0.0] }).collect();
        for colors in [1, 2, 3, 4, 10, 12] {
            let mut splitting = Splitting::new(11, colors);
            let divided = splitting.divide(&star);
            let phantoms = splitting.finish();
            assert_eq!(phantoms.phantoms(), 10usize.div_ceil(colors) - 1, "{colors} colours");
            let rows: Vec<_> = phantoms.rows(&star, &divided).iter().map(|r| r.particles).collect();
            assert!(is_proper(&rows, &divided.colors, phantoms.particles()));
            assert!(divided.colors.iter().all(|&c| (c as usize) < colors));
        }
    }

    #[test]
    fn the_mean_keeps_the_centre_of_mass_and_pins() {
        let rows = [Row { particles: [0, 1], params: [0.0] }, Row { particles: [1, 2], params: [0.0] }];
        let mut splitting = Splitting::new(3, 1);
        splitting.divide(&rows);
        let mut phantoms = splitting.finish();
        let mut team = Team::new(2);
        let mut x = vec![Particle { p: [0.1, 0.2, 0.3], w: 2.0 }; 3 + PADDING];
        x[2].w = 0.0;
        phantoms.load(&mut team, &x);
        assert_eq!([phantoms.phantoms(), phantoms.particles()], [1, 4]);
        assert_eq!([phantoms.x[1].w, phantoms.x[3].w, phantoms.x[0].w], [4.0, 4.0, 2.0]);
        let before = x.clone();
        phantoms.average(&mut team);
        phantoms.store(&mut team, &mut x);
        assert_eq!(x, before, "nothing moved, to the bit");
        phantoms.x[3].p[0] += 0.5;
        phantoms.average(&mut team);
        phantoms.store(&mut team, &mut x);
        assert!((x[1].p[0] - 0.35).abs() < 1e-7 && phantoms.x[3] == phantoms.x[1]);
    }
}
