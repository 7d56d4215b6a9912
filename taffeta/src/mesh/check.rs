//! What is wrong with a mesh, and where.

use std::collections::BTreeMap;

use glam::Vec3;

use super::TriMesh;

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The mesh cannot be simulated.
    Error,
    /// The mesh can be simulated, but this is likely not what was meant.
    Warning,
}

/// One thing that is wrong with a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word for it, such as `degenerate` or `non-manifold`.
    pub kind: &'static str,
    /// The first places, as vertex or triangle indices from 0.
    pub at: Vec<usize>,
    /// How many places there are in all.
    pub count: usize,
    /// What is wrong, where, and what to do.
    pub message: String,
}

/// Places listed by a problem; more are only counted.
const LISTED: usize = 8;

struct Finding {
    severity: Severity,
    kind: &'static str,
    at: Vec<usize>,
    count: usize,
    first: String,
    advice: &'static str,
}

/// Everything that is wrong with `mesh`, errors first.
pub fn check(mesh: &TriMesh) -> Vec<Problem> {
    let n = mesh.positions.len();
    let mut findings: Vec<Finding> = Vec::new();
    let mut report = |severity, kind, at: usize, advice, describe: &dyn Fn() -> String| {
        let finding = match findings.iter_mut().find(|f| f.kind == kind) {
            Some(finding) => finding,
            None => {
                findings.push(Finding {
                    severity,
                    kind,
                    at: Vec::new(),
                    count: 0,
                    first: describe(),
                    advice,
                });
                findings.last_mut().expect("just pushed")
            }
        };
        finding.count += 1;
        if finding.at.len() < LISTED {
            finding.at.push(at);
        }
    };
    use Severity::{Error, Warning};

    if mesh.triangles.is_empty() {
        report(Error, "empty", 0, "give a mesh with at least one triangle", &|| {
            "the mesh has no triangles".into()
        });
    }
    for (v, p) in mesh.positions.iter().enumerate() {
        if !p.iter().all(|c| c.is_finite()) {
            report(Error, "not-finite", v, "every coordinate must be a finite number", &|| {
                format!("vertex {v} is at [{}, {}, {}]", p[0], p[1], p[2])
            });
        }
    }
    // Triangles that are in themselves unusable are left out of the later checks.
    let mut usable = vec![true; mesh.triangles.len()];
    let scale = extent(mesh);
    let mut used = vec![false; n];
    for (t, tri) in mesh.triangles.iter().enumerate() {
        if let Some(&v) = tri.iter().find(|&&v| v as usize >= n) {
            usable[t] = false;
            report(Error, "index-out-of-range", t, "indices must be below the number of vertices", &|| {
                format!("triangle {t} uses vertex {v}, but there are {n} vertices")
            });
            continue;
        }
        tri.iter().for_each(|&v| used[v as usize] = true);
        let [a, b, c] = tri.map(|v| Vec3::from(mesh.positions[v as usize]));
        let (u, w) = (b - a, c - a);
        let area = 0.5 * u.cross(w).length();
        let longest = u.length_squared().max(w.length_squared()).max((c - b).length_squared());
        let repeated = tri[0] == tri[1] || tri[1] == tri[2] || tri[2] == tri[0];
        // 1e-6 of the square of its longest side: a needle a million times longer than wide.
        if repeated || area <= 1e-6 * longest || longest <= 1e-14 * scale * scale {
            usable[t] = false;
            report(Error, "degenerate", t, "remove it, or merge its vertices and collapse it", &|| {
                format!("triangle {t} ({}, {}, {}) has no area", tri[0], tri[1], tri[2])
            });
        }
    }
    let mut seen: BTreeMap<[u32; 3], usize> = BTreeMap::new();
    let mut sides = Vec::with_capacity(3 * mesh.triangles.len());
    for (t, tri) in mesh.triangles.iter().enumerate().filter(|(t, _)| usable[*t]) {
        let mut key = *tri;
        key.sort_unstable();
        if let Some(&first) = seen.get(&key) {
            report(Error, "duplicated", t, "keep only one of them", &|| {
                format!("triangle {t} repeats triangle {first} ({}, {}, {})", tri[0], tri[1], tri[2])
            });
            continue;
        }
        seen.insert(key, t);
        for k in 0..3 {
            let (a, b) = (tri[k], tri[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), t, a < b));
        }
    }
    sides.sort_unstable();
    for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (a, b, t, forward) = group[0];
        if group.len() > 2 {
            report(
                Error,
                "non-manifold",
                group[2].2,
                "an edge may belong to two triangles at most: split the sheet there",
                &|| {
                    format!(
                        "the edge between vertices {a} and {b} belongs to {} triangles ({}, {}, {}, …)",
                        group.len(),
                        t,
                        group[1].2,
                        group[2].2
                    )
                },
            );
        } else if group.len() == 2 && group[1].3 == forward {
            report(
                Warning,
                "flipped",
                group[1].2,
                "turn one of them round, so that the whole sheet faces one way",
                &|| format!("triangles {t} and {} face opposite ways", group[1].2),
            );
        }
    }
    for (v, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
        report(Warning, "unused", v, "it will hang in the air; remove it", &|| {
            format!("vertex {v} belongs to no triangle")
        });
    }

    findings.sort_by_key(|f| f.severity != Error);
    findings
        .into_iter()
        .map(|f| {
            let more = if f.count > 1 { format!(" (and {} more)", f.count - 1) } else { String::new() };
            let message = format!("{}{more}; {}", f.first, f.advice);
            Problem { severity: f.severity, kind: f.kind, at: f.at, count: f.count, message }
        })
        .collect()
}

/// The longest side of the bounding box of the finite vertices, m.
fn extent(mesh: &TriMesh) -> f32 {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in mesh.positions.iter().map(|&p| Vec3::from(p)).filter(|p| p.is_finite()) {
        low = low.min(p);
        high = high.max(p);
    }
    if low.x <= high.x { (high - low).max_element() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<&'static str> {
        let mesh = TriMesh { positions: positions.to_vec(), triangles: triangles.to_vec() };
        check(&mesh).iter().map(|p| p.kind).collect()
    }

    #[test]
    fn each_fault_is_found() {
        let square = [[0., 0., 0.], [1., 0., 0.], [0., 0., 1.], [1., 0., 1.], [0.5, 1., 0.5]];
        assert_eq!(kinds(&square[..4], &[[0, 2, 1], [1, 2, 3]]), [""; 0]);
        assert_eq!(kinds(&square[..4], &[]), ["empty", "unused"]);
        assert_eq!(kinds(&[[0., 0., 0.], [f32::NAN, 0., 0.], [0., 0., 1.]], &[[0, 2, 1]]), ["not-finite"]);
        assert_eq!(kinds(&square[..3], &[[0, 2, 1], [0, 1, 7]]), ["index-out-of-range"]);
        assert_eq!(kinds(&square[..3], &[[0, 2, 1], [0, 1, 1]]), ["degenerate"]);
        assert_eq!(kinds(&[[0., 0., 0.], [1., 0., 0.], [2., 0., 0.]], &[[0, 1, 2]]), ["degenerate"]);
        assert_eq!(kinds(&square[..3], &[[0, 2, 1], [2, 1, 0]]), ["duplicated"]);
        assert_eq!(kinds(&square, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]])[0], "non-manifold");
        assert_eq!(kinds(&square[..4], &[[0, 2, 1], [1, 3, 2]]), ["flipped"]);
        assert_eq!(kinds(&square, &[[0, 2, 1], [1, 2, 3]]), ["unused"]);
    }
}
