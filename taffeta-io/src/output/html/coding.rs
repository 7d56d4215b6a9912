//! How a recording is packed into the page.
//!
//! Positions become whole multiples of a step far smaller than the mesh's edges. Each frame is
//! predicted from the frames before it (nothing, the last frame, or the last two extrapolated), and
//! what remains of each vertex from the remainders of its neighbours (nothing, one neighbour, or the
//! parallelogram across an edge). The cheapest pair is chosen frame by frame. The integers left over
//! are zigzag coded and laid out by significance, so that deflate sees runs of like bytes.
//!
//! `player/data.js` is the reading side.

use std::collections::HashMap;

/// Ways of predicting in time: nothing, the last frame, the last two frames extrapolated.
pub(super) const TIME_MODES: u8 = 3;
/// Ways of predicting along the mesh: nothing, one neighbour, a parallelogram.
pub(super) const SPACE_MODES: u8 = 3;

/// The three vertices each vertex is predicted from as `a + b − c`.
///
/// Only earlier vertices are used. The vertex count stands for "none", whose value is zero.
pub(super) fn predictors(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let none = vertices as u32;
    let key = |a: u32, b: u32| if a < b { (a, b) } else { (b, a) };
    let mut across: HashMap<(u32, u32), [u32; 2]> = HashMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b, opposite) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            across.entry(key(a, b)).or_insert([opposite, none])[1] = opposite;
        }
    }
    let mut table = vec![[none; 3]; vertices];
    for t in triangles {
        for k in 0..3 {
            let (v, a, b) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            let entry = &mut table[v as usize];
            if entry[2] != none {
                continue;
            }
            if let Some(pair) = across.get(&key(a, b))
                && a < v
                && b < v
                && let Some(&c) = pair.iter().find(|&&c| c < v)
            {
                *entry = [a.max(b), a.min(b), c];
                continue;
            }
            for n in [a, b] {
                if n < v && (entry[0] == none || n > entry[0]) {
                    *entry = [n, none, none];
                }
            }
        }
    }
    table
}

/// The quantisation step for a mesh whose typical edge is `edge` metres long: a power of two, between
/// 1/1024 and 1/2048 of it. Both the shading and the strain of an edge are then good to a thousandth.
pub(super) fn step_for(edge: f32) -> f32 {
    if edge.is_finite() && edge > 1e-9 { (edge / 1024.0).log2().floor().exp2() } else { (-18.0f32).exp2() }
}

/// Maps signed to unsigned so that small magnitudes stay small.
fn zigzag(v: i32) -> u32 {
    ((v << 1) ^ (v >> 31)) as u32
}

/// Packs integers: differences from one to the next, as four planes of bytes.
pub(super) fn put_ints(out: &mut Vec<u8>, values: impl Iterator<Item = u32>) {
    let mut last = 0u32;
    let coded: Vec<u32> = values
        .map(|v| {
            let d = v.wrapping_sub(last) as i32;
            last = v;
            zigzag(d)
        })
        .collect();
    for plane in 0..4 {
        out.extend(coded.iter().map(|z| (z >> (8 * plane)) as u8));
    }
}

/// Turns frames of positions into bytes.
pub(super) struct Encoder {
    step: f32,
    table: Vec<[u32; 3]>,
    /// Quantised positions of this frame and of the two before it, newest first.
    history: [Vec<[i32; 3]>; 3],
    seen: u32,
    /// Remainders after predicting in time, with a zero at the end for "none".
    rest: Vec<[i32; 3]>,
    coded: Vec<[u32; 3]>,
}

impl Encoder {
    /// For a mesh with this table of [`predictors`].
    pub(super) fn new(step: f32, table: Vec<[u32; 3]>) -> Encoder {
        let n = table.len();
        Encoder {
            step,
            table,
            history: std::array::from_fn(|_| vec![[0; 3]; n]),
            seen: 0,
            rest: vec![[0; 3]; n + 1],
            coded: vec![[0; 3]; n],
        }
    }

    /// Appends one frame: the mode, the number of byte planes, the planes.
    pub(super) fn frame(&mut self, positions: &[[f32; 3]], out: &mut Vec<u8>) {
        self.history.rotate_right(1);
        let inverse = 1.0 / f64::from(self.step);
        let limit = f64::from(1 << 29);
        let [now, before, _] = &mut self.history;
        for (v, p) in positions.iter().enumerate() {
            for c in 0..3 {
                // A broken number keeps the vertex where it was.
                now[v][c] = if p[c].is_finite() {
                    (f64::from(p[c]) * inverse).round().clamp(-limit, limit) as i32
                } else {
                    before[v][c]
                };
            }
        }
        let times = (self.seen + 1).min(u32::from(TIME_MODES)) as u8;
        let modes = (0..times).flat_map(|t| (0..SPACE_MODES).map(move |s| (t, s)));
        let (time, space) = modes.min_by_key(|&(t, s)| self.cost(t, s)).unwrap_or((0, 0));
        let all = self.predict(time, space);
        let planes = (4 - all.leading_zeros() / 8).max(1);
        out.push(time * SPACE_MODES + space);
        out.push(planes as u8);
        for plane in 0..planes {
            for c in 0..3 {
                out.extend(self.coded.iter().map(|z| (z[c] >> (8 * plane)) as u8));
            }
        }
        self.seen += 1;
    }

    /// Roughly how many bits a pair of modes would take, from every few vertices.
    fn cost(&self, time: u8, space: u8) -> u64 {
        let n = self.table.len();
        let rest = |v: u32, c: usize| {
            let v = v as usize;
            if v < n { self.rest_in_time(time, v, c) } else { 0 }
        };
        let stride = (n / 4096).max(1);
        let mut bits = 0;
        for v in (0..n).step_by(stride) {
            let [a, b, d] = self.table[v];
            for c in 0..3 {
                let r = rest(v as u32, c);
                let r = match space {
                    0 => r,
                    1 => r.wrapping_sub(rest(a, c)),
                    _ => r.wrapping_sub(rest(a, c)).wrapping_sub(rest(b, c)).wrapping_add(rest(d, c)),
                };
                bits += u64::from(32 - zigzag(r).leading_zeros());
            }
        }
        bits
    }

    fn rest_in_time(&self, time: u8, v: usize, c: usize) -> i32 {
        let [now, last, older] = &self.history;
        match time {
            0 => now[v][c],
            1 => now[v][c].wrapping_sub(last[v][c]),
            _ => now[v][c].wrapping_sub(last[v][c].wrapping_mul(2)).wrapping_add(older[v][c]),
        }
    }

    /// Fills `coded`; the bits any of them uses are returned.
    fn predict(&mut self, time: u8, space: u8) -> u32 {
        let n = self.table.len();
        for v in 0..n {
            self.rest[v] = std::array::from_fn(|c| self.rest_in_time(time, v, c));
        }
        let mut all = 0;
        for v in 0..n {
            let [a, b, d] = self.table[v].map(|i| self.rest[i as usize]);
            for c in 0..3 {
                let r = self.rest[v][c];
                let r = match space {
                    0 => r,
                    1 => r.wrapping_sub(a[c]),
                    _ => r.wrapping_sub(a[c]).wrapping_sub(b[c]).wrapping_add(d[c]),
                };
                let z = zigzag(r);
                all |= z;
                self.coded[v][c] = z;
            }
        }
        all
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn unzigzag(z: u32) -> i32 {
        (z >> 1) as i32 ^ -((z & 1) as i32)
    }

    /// The reading side in Rust, as `data.js` does it.
    pub(in super::super) struct Decoder {
        step: f32,
        table: Vec<[u32; 3]>,
        last: Vec<[i32; 3]>,
        older: Vec<[i32; 3]>,
    }

    impl Decoder {
        pub(in super::super) fn new(step: f32, table: Vec<[u32; 3]>) -> Decoder {
            let n = table.len();
            Decoder { step, table, last: vec![[0; 3]; n], older: vec![[0; 3]; n] }
        }

        /// Reads one frame and says how many bytes it took.
        pub(in super::super) fn frame(&mut self, bytes: &[u8]) -> (Vec<[f32; 3]>, usize) {
            let n = self.table.len();
            let (time, space) = (bytes[0] / SPACE_MODES, bytes[0] % SPACE_MODES);
            let planes = usize::from(bytes[1]);
            let body = &bytes[2..];
            let mut rest = vec![[0i32; 3]; n + 1];
            let mut now = vec![[0i32; 3]; n];
            for v in 0..n {
                for c in 0..3 {
                    let z =
                        (0..planes).fold(0u32, |z, k| z | u32::from(body[(k * 3 + c) * n + v]) << (8 * k));
                    let [a, b, d] = self.table[v].map(|i| rest[i as usize][c]);
                    rest[v][c] = unzigzag(z).wrapping_add(match space {
                        0 => 0,
                        1 => a,
                        _ => a.wrapping_add(b).wrapping_sub(d),
                    });
                    now[v][c] = rest[v][c].wrapping_add(match time {
                        0 => 0,
                        1 => self.last[v][c],
                        _ => self.last[v][c].wrapping_mul(2).wrapping_sub(self.older[v][c]),
                    });
                }
            }
            self.older = std::mem::replace(&mut self.last, now);
            let positions = self.last.iter().map(|q| q.map(|q| q as f32 * self.step));
            (positions.collect(), 2 + planes * 3 * n)
        }
    }

    pub(in super::super) fn grid(n: u32) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        for j in 0..n - 1 {
            for i in 0..n - 1 {
                let v = j * n + i;
                triangles.push([v, v + n, v + 1]);
                triangles.push([v + 1, v + n, v + n + 1]);
            }
        }
        triangles
    }

    #[test]
    fn frames_come_back_within_half_a_step() {
        let n = 23u32;
        let table = predictors((n * n) as usize, &grid(n));
        let step = step_for(0.05);
        let mut encoder = Encoder::new(step, table.clone());
        let mut bytes = Vec::new();
        let mut frames: Vec<Vec<[f32; 3]>> = Vec::new();
        for f in 0..12 {
            let t = f as f32 * 0.1;
            let mut positions: Vec<[f32; 3]> = (0..n * n)
                .map(|v| {
                    let (x, z) = ((v % n) as f32 * 0.05, (v / n) as f32 * 0.05);
                    [x, (x * 5.0 + t * 3.0).sin() * 0.2 - t * t * 5.0, z + t]
                })
                .collect();
            if f == 5 {
                // A jump far away needs every byte plane.
                positions[7] = [-900.0, 4000.0, 0.125];
            }
            encoder.frame(&positions, &mut bytes);
            frames.push(positions);
        }
        let mut decoder = Decoder::new(step, table);
        let mut at = 0;
        for positions in &frames {
            let (decoded, used) = decoder.frame(&bytes[at..]);
            at += used;
            for (p, q) in positions.iter().zip(&decoded) {
                for c in 0..3 {
                    let bound = step * 0.5 + p[c].abs() * f32::EPSILON;
                    assert!((p[c] - q[c]).abs() <= bound, "{p:?} came back as {q:?}");
                }
            }
        }
        assert_eq!(at, bytes.len());
    }

    #[test]
    fn a_broken_position_stays_where_it_was() {
        let mut encoder = Encoder::new(0.25, predictors(1, &[]));
        let mut bytes = Vec::new();
        encoder.frame(&[[1.0, 2.0, 3.0]], &mut bytes);
        encoder.frame(&[[f32::NAN, f32::INFINITY, 4.0]], &mut bytes);
        let mut decoder = Decoder::new(0.25, predictors(1, &[]));
        let (_, used) = decoder.frame(&bytes);
        assert_eq!(decoder.frame(&bytes[used..]).0, [[1.0, 2.0, 4.0]]);
    }

    #[test]
    fn predictors_only_look_back() {
        let n = 9u32;
        let table = predictors((n * n) as usize, &grid(n));
        let none = n * n;
        for (v, entry) in table.iter().enumerate() {
            assert!(entry.iter().all(|&e| e == none || (e as usize) < v));
        }
        let whole = table.iter().filter(|e| e[2] != none).count();
        assert!(whole >= ((n - 1) * (n - 1)) as usize, "{whole}");
    }

    #[test]
    fn the_step_is_a_thousandth_of_an_edge() {
        for edge in [0.0004f32, 0.005, 0.02, 1.0, 3.7] {
            let step = step_for(edge);
            assert!(step <= edge / 1024.0 && step > edge / 2049.0);
            assert_eq!(step.log2(), step.log2().round());
        }
        assert!(step_for(f32::NAN) > 0.0);
    }
}
