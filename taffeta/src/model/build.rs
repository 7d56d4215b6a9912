//! From a scene to a model.

use glam::{Vec2, Vec3};

use super::{Attachment, ClothPart, Model, Tether, select::select};
use crate::color::Row;
use crate::constraint::{dihedral, isometric};
use crate::error::BuildError;
use crate::material::{Fabric, HingeFit, HingeShape, SpringFit, hinge_response};
use crate::mesh::{self, Grid, Hinge, NONE, Severity, Topology, TriMesh, distances_from, locality_order};
use crate::scene::{Bending, Cloth, Scene};

/// Beyond so many pins a vertex is tethered to its nearest alone: finding more would take a search from each.
const PINS_SEARCHED: usize = 32;
/// A hinge that is less bent than this at rest counts as flat, rad.
const FLAT: f64 = 1e-2;

impl Model {
    /// Builds the model of a scene.
    pub fn new(scene: &Scene) -> Result<Self, BuildError> {
        if scene.cloth.is_empty() {
            return Err(BuildError::field("cloth", "the scene has no cloth; add a [[cloth]]"));
        }
        let mut model = Model::default();
        for (index, cloth) in scene.cloth.iter().enumerate() {
            model.add_cloth(index, cloth, scene.simulation.damping)?;
        }
        Ok(model)
    }

    fn add_cloth(&mut self, index: usize, cloth: &Cloth, damping: f32) -> Result<(), BuildError> {
        let field = |name: &str| format!("cloth.{index}.{name}");
        let fabric = fabric_of(index, cloth)?;
        let (grid, raw) = shape_of(index, cloth)?;

        // Irregular meshes are renumbered for locality; grids are in order already.
        let order: Vec<u32> = match grid {
            Some(_) => (0..raw.positions.len() as u32).collect(),
            None => locality_order(&raw.positions),
        };
        let mut engine_number = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(i, &v)| engine_number[v as usize] = i as u32);
        let rest: Vec<Vec3> =
            order.iter().map(|&v| Vec3::from(raw.positions[v as usize]) * cloth.scale).collect();
        let mut triangles: Vec<[u32; 3]> =
            raw.triangles.iter().map(|t| t.map(|v| engine_number[v as usize])).collect();
        let caller_rest: Vec<Vec3> = raw.positions.iter().map(|&p| Vec3::from(p) * cloth.scale).collect();
        let first = self.particles();
        let offset = first as u32;
        self.caller_triangles.extend(raw.triangles.iter().map(|t| t.map(|v| v + offset)));
        if grid.is_none() {
            triangles.sort_unstable_by_key(|t| t.iter().copied().min());
        }

        let topology = Topology::new(rest.len(), &triangles);
        let sheet = Sheet::new(&rest, &triangles, &topology, cloth.warp.into());
        let starts = [
            self.edges.len(),
            self.distance.len(),
            self.dihedral.len(),
            self.isometric.len(),
            self.tethers.len(),
        ];
        let triangles_before = self.triangles.len();

        for edge in &topology.edges {
            let [a, b] = edge.vertices;
            let length = (rest[a as usize] - rest[b as usize]).length();
            self.edges.push((edge.vertices.map(|v| v + offset), length));
        }
        self.distance.extend(match &grid {
            Some(grid) => grid_springs(grid, &fabric, cloth.bending == Bending::Springs, offset),
            None => sheet.springs(&fabric, offset),
        });
        match cloth.bending {
            Bending::None => {}
            Bending::Springs if grid.is_some() => {}
            Bending::Springs => {
                return Err(BuildError::field(
                    field("bending"),
                    "'springs' skip a vertex of a grid, but this cloth is a mesh; use 'isometric' or 'dihedral'",
                ));
            }
            Bending::Isometric | Bending::Dihedral => {
                let fit = match &grid {
                    Some(grid) => HingeFit::grid(grid.spacing()),
                    None => sheet.hinge_fit(),
                };
                self.add_hinges(index, cloth.bending, &sheet, &fabric, &fit, offset)?;
            }
        }

        // Pins, kicks and loads name vertices in the caller's numbering.
        let find = |name: String, s: &crate::scene::Select| {
            select(s, &caller_rest, grid.as_ref())
                .map(|list| list.into_iter().map(|v| engine_number[v as usize]).collect::<Vec<u32>>())
                .map_err(|problem| BuildError::field(format!("cloth.{index}.{name}.select"), problem))
        };
        let mut pinned = vec![false; rest.len()];
        for (i, pin) in cloth.pin.iter().enumerate() {
            if let Some((part, problem)) = pin.motion.problem() {
                return Err(BuildError::field(field(&format!("pin.{i}.motion.{part}")), problem));
            }
            let motion = self.motions.len() as u32;
            self.motions.push(pin.motion.clone());
            for v in find(format!("pin.{i}"), &pin.select)? {
                if !std::mem::replace(&mut pinned[v as usize], true) {
                    let until = pin.until.unwrap_or(f32::INFINITY);
                    self.attachments.push(Attachment { particle: v + offset, motion, until });
                }
            }
        }
        if let Some(tethers) = cloth.tethers {
            if !(tethers.stretch >= 1.0 && tethers.stretch.is_finite()) {
                return Err(BuildError::field(
                    field("tethers.stretch"),
                    format!("is {}; must be 1 or more", tethers.stretch),
                ));
            }
            let pins: Vec<u32> = (0..rest.len() as u32).filter(|&v| pinned[v as usize]).collect();
            let nearest = tethers.nearest.max(1) as usize;
            self.tethers.extend(find_tethers(&pins, nearest, tethers.stretch, &rest, &triangles, offset));
        }

        let mut mass = vec![0.0f32; rest.len()];
        for (tri, area) in triangles.iter().zip(&sheet.areas) {
            tri.iter().for_each(|&v| mass[v as usize] += fabric.density * area / 3.0);
        }
        self.inverse_mass.extend(mass.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }));
        self.start.extend(order.iter().map(|&v| cloth.place(Vec3::from(raw.positions[v as usize]))));
        self.start_velocity.extend(rest.iter().map(|_| Vec3::from(cloth.velocity)));
        for (i, kick) in cloth.kick.iter().enumerate() {
            for v in find(format!("kick.{i}"), &kick.select)? {
                self.start_velocity[first + v as usize] = kick.velocity.into();
            }
        }
        for (i, load) in cloth.load.iter().enumerate() {
            let chosen = find(format!("load.{i}"), &load.select)?;
            let shares = load_shares(&chosen, &topology, &rest, &mass);
            let force = Vec3::from(load.force);
            self.loads.extend(chosen.iter().zip(shares).map(|(&v, share)| (v + offset, force * share)));
        }
        self.triangles.extend(triangles.iter().map(|t| t.map(|v| v + offset)));
        self.caller.extend(order.iter().map(|&v| v + offset));

        let name = if cloth.name.is_empty() { format!("cloth {index}") } else { cloth.name.clone() };
        self.cloths.push(ClothPart {
            name,
            vertices: first..self.particles(),
            triangles: triangles_before..self.triangles.len(),
            edges: starts[0]..self.edges.len(),
            distance: starts[1]..self.distance.len(),
            dihedral: starts[2]..self.dihedral.len(),
            isometric: starts[3]..self.isometric.len(),
            tethers: starts[4]..self.tethers.len(),
            grid,
            margin: cloth.margin.unwrap_or(0.5 * fabric.thickness),
            friction: fabric.friction,
            damping: fabric.damping + damping,
        });
        Ok(())
    }

    fn add_hinges(
        &mut self,
        index: usize,
        bending: Bending,
        sheet: &Sheet<'_>,
        fabric: &Fabric,
        fit: &HingeFit,
        offset: u32,
    ) -> Result<(), BuildError> {
        for hinge in sheet.topology.hinges() {
            let x = hinge.map(|v| sheet.rest[v as usize].as_dvec3());
            let shape = sheet.hinge_shape(hinge);
            let (c, s) = shape.across;
            let rigidity = fabric.bend[0] * c * c + fabric.bend[1] * s * s;
            // N·m/rad.
            let stiffness = rigidity * fit.factor(c, s) * shape.shape;
            if stiffness <= 0.0 {
                continue;
            }
            let particles = hinge.map(|v| v + offset);
            let rest_angle = dihedral::angle(&x);
            if bending == Bending::Dihedral {
                self.dihedral.push(Row { particles, params: [1.0 / stiffness, rest_angle as f32] });
            } else {
                if rest_angle.abs() > FLAT {
                    return Err(BuildError::field(
                        format!("cloth.{index}.bending"),
                        format!(
                            "'isometric' needs a flat rest shape, but the triangles at vertices {} and {} meet at {:.1}°; use 'dihedral'",
                            hinge[0],
                            hinge[1],
                            rest_angle.to_degrees()
                        ),
                    ));
                }
                // |C| = l θ, so ½ |C|²/α = ½ k θ² with α = l²/k.
                let length2 = (x[1] - x[0]).length_squared() as f32;
                let k = isometric::weights(&x).map(|k| k as f32);
                let params = [length2 / stiffness, k[0], k[1], k[2], k[3]];
                self.isometric.push(Row { particles, params });
            }
        }
        Ok(())
    }
}

fn fabric_of(index: usize, cloth: &Cloth) -> Result<Fabric, BuildError> {
    let field = |name: &str| format!("cloth.{index}.fabric.{name}");
    let fabric = cloth.fabric.0.resolve().map_err(|name| BuildError::Unknown {
        field: format!("cloth.{index}.fabric"),
        what: "fabric",
        name,
        known: crate::material::PRESETS.iter().map(|p| p.name).collect(),
    })?;
    let above_zero = [("density", fabric.density), ("stretch", fabric.stretch[0].min(fabric.stretch[1]))];
    for (name, value) in above_zero {
        if !(value > 0.0 && value.is_finite()) {
            return Err(BuildError::field(field(name), format!("is {value}; must be above 0")));
        }
    }
    let not_negative = [
        ("shear", fabric.shear),
        ("bend", fabric.bend[0].min(fabric.bend[1])),
        ("damping", fabric.damping),
        ("friction", fabric.friction),
        ("thickness", fabric.thickness),
    ];
    for (name, value) in not_negative {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(BuildError::field(field(name), format!("is {value}; must be 0 or more")));
        }
    }
    Ok(fabric)
}

fn shape_of(index: usize, cloth: &Cloth) -> Result<(Option<Grid>, TriMesh), BuildError> {
    let field = |name: &str| format!("cloth.{index}.{name}");
    let finite = |v: [f32; 3]| v.iter().all(|c| c.is_finite());
    for (name, value) in
        [("position", cloth.position), ("rotation", cloth.rotation), ("velocity", cloth.velocity)]
    {
        if !finite(value) {
            return Err(BuildError::field(field(name), "must be finite numbers"));
        }
    }
    if !(cloth.scale > 0.0 && cloth.scale.is_finite()) {
        return Err(BuildError::field(field("scale"), format!("is {}; must be above 0", cloth.scale)));
    }
    if cloth.margin.is_some_and(|m| !(m >= 0.0 && m.is_finite())) {
        return Err(BuildError::field(field("margin"), "must be 0 m or more"));
    }
    if let Some(mesh) = &cloth.shape {
        if let Some(problem) = mesh::check(mesh).into_iter().find(|p| p.severity == Severity::Error) {
            return Err(BuildError::field(field("mesh"), problem.message));
        }
        return Ok((None, mesh.clone()));
    }
    if let Some(path) = &cloth.mesh {
        return Err(BuildError::field(field("mesh"), format!("'{path}' has not been read")));
    }
    let ([size_x, size_z], [cells_x, cells_z]) = (cloth.size.0, cloth.resolution.0);
    if !(size_x > 0.0 && size_z > 0.0 && size_x.is_finite() && size_z.is_finite()) {
        return Err(BuildError::field(field("size"), format!("is {size_x} × {size_z}; must be above 0 m")));
    }
    if cells_x == 0 || cells_z == 0 || cells_x as u64 * cells_z as u64 > 100_000_000 {
        return Err(BuildError::field(
            field("resolution"),
            format!("is {cells_x} × {cells_z}; must be 1 × 1 to a hundred million quads"),
        ));
    }
    let grid = Grid { cells_x: cells_x as usize, cells_z: cells_z as usize, size_x, size_z };
    Ok((Some(grid), grid.mesh()))
}

/// Structural and both shear springs of a grid, and bend springs if wanted.
fn grid_springs(grid: &Grid, fabric: &Fabric, bend: bool, offset: u32) -> Vec<Row<2, 2>> {
    let [dx, dz] = grid.spacing();
    let cell = dx * dz;
    let diagonal = (dx * dx + dz * dz).sqrt();
    let (c, s) = (dx / diagonal, dz / diagonal);
    let per_cell = [(1.0, 0.0, cell), (0.0, 1.0, cell), (c, s, cell), (c, -s, cell)];
    let fit = SpringFit::new(&per_cell, cell, fabric.stretch, fabric.shear);
    let mut rows = Vec::new();
    let mut spring = |a: (usize, usize), b: (usize, usize), area: f32, (c, s): (f32, f32), length: f32| {
        let particles = [grid.vertex(a.0, a.1) + offset, grid.vertex(b.0, b.1) + offset];
        let stiffness = fit.stiffness(c, s) * area / (length * length);
        rows.push(Row { particles, params: [1.0 / stiffness, length] });
    };
    for z in 0..grid.rows() {
        // A boundary row stands for half a row of cells.
        let share = if z == 0 || z == grid.cells_z { 0.5 } else { 1.0 };
        for x in 0..grid.cells_x {
            spring((x, z), (x + 1, z), share * cell, (1.0, 0.0), dx);
        }
        for x in 0..grid.cells_x.saturating_sub(1) * bend as usize {
            spring((x, z), (x + 2, z), share * cell, (1.0, 0.0), 2.0 * dx);
        }
    }
    for z in 0..grid.cells_z {
        for x in 0..grid.columns() {
            let share = if x == 0 || x == grid.cells_x { 0.5 } else { 1.0 };
            spring((x, z), (x, z + 1), share * cell, (0.0, 1.0), dz);
            if bend && z + 2 < grid.rows() {
                spring((x, z), (x, z + 2), share * cell, (0.0, 1.0), 2.0 * dz);
            }
        }
        for x in 0..grid.cells_x {
            spring((x, z), (x + 1, z + 1), cell, (c, s), diagonal);
            spring((x + 1, z), (x, z + 1), cell, (c, -s), diagonal);
        }
    }
    rows
}

/// A mesh with what its springs and hinges need to know.
struct Sheet<'a> {
    rest: &'a [Vec3],
    topology: &'a Topology,
    areas: Vec<f32>,
    /// Warp and weft directions in each triangle.
    frames: Vec<[Vec3; 2]>,
}

impl<'a> Sheet<'a> {
    fn new(rest: &'a [Vec3], triangles: &[[u32; 3]], topology: &'a Topology, warp: Vec3) -> Self {
        let (mut areas, mut frames) = (Vec::new(), Vec::new());
        for tri in triangles {
            let [a, b, c] = tri.map(|v| rest[v as usize]);
            let cross = (b - a).cross(c - a);
            areas.push(0.5 * cross.length());
            let normal = cross.normalize_or(Vec3::Y);
            let flat = |v: Vec3| v - normal * v.dot(normal);
            // Where the warp stands on the triangle, any direction within it will do.
            let mut first = flat(warp.normalize_or(Vec3::X));
            if first.length() < 0.1 {
                first = flat(if normal.x.abs() < 0.7 { Vec3::X } else { Vec3::Z });
            }
            let first = first.normalize();
            frames.push([first, normal.cross(first)]);
        }
        Sheet { rest, topology, areas, frames }
    }

    /// cos and sin of the angle from the warp to `d` in triangle `t`.
    fn direction(&self, t: u32, d: Vec3) -> (f32, f32) {
        let [warp, weft] = self.frames[t as usize];
        let flat = Vec2::new(d.dot(warp), d.dot(weft)).normalize_or(Vec2::X);
        (flat.x, flat.y)
    }

    fn springs(&self, fabric: &Fabric, offset: u32) -> Vec<Row<2, 2>> {
        let total: f32 = self.areas.iter().sum();
        let shapes: Vec<(f32, f32, f32)> = (self.topology.edges.iter())
            .map(|edge| {
                let [a, b] = edge.vertices.map(|v| self.rest[v as usize]);
                let (c, s) = self.direction(edge.triangles[0], b - a);
                let area =
                    edge.triangles.iter().filter(|&&t| t != NONE).map(|&t| self.areas[t as usize]).sum();
                (c, s, area)
            })
            .collect();
        let fit = SpringFit::new(&shapes, total, fabric.stretch, fabric.shear);
        (self.topology.edges.iter().zip(shapes))
            .map(|(edge, (c, s, area))| {
                let [a, b] = edge.vertices.map(|v| self.rest[v as usize]);
                let length = (b - a).length();
                let stiffness = fit.stiffness(c, s) * area / (length * length);
                Row { particles: edge.vertices.map(|v| v + offset), params: [1.0 / stiffness, length] }
            })
            .collect()
    }

    fn hinge_shape(&self, hinge: Hinge) -> HingeShape {
        let edge = self.topology.edges.binary_search_by_key(&[hinge[0], hinge[1]], |e| e.vertices);
        let edge = &self.topology.edges[edge.expect("a hinge is an edge")];
        let [p0, p1, p2, p3] = hinge.map(|v| self.rest[v as usize]);
        let (along, length) = ((p1 - p0).normalize(), (p1 - p0).length());
        let (c, s) = self.direction(edge.triangles[0], along);
        let (t, m) = (Vec2::new(c, s), Vec2::new(-s, c));
        // Unfolded into the plane, the edge along t from the origin, one triangle on either side.
        let corner = |p: Vec3, side: f32| {
            let x = (p - p0).dot(along);
            t * x + m * (side * (p - p0 - along * x).length())
        };
        let flat = [Vec2::ZERO, t * length, corner(p2, 1.0), corner(p3, -1.0)];
        let area: f32 = edge.triangles.iter().map(|&t| self.areas[t as usize]).sum();
        HingeShape { across: (m.x, m.y), response: hinge_response(flat), shape: length * length / area }
    }

    fn hinge_fit(&self) -> HingeFit {
        let boundary = self.topology.boundary();
        let mut dual = vec![0.0; self.rest.len()];
        for edge in &self.topology.edges {
            for (&t, &v) in edge.triangles.iter().zip(&edge.opposite).filter(|(t, _)| **t != NONE) {
                dual[v as usize] += self.areas[t as usize] / 3.0;
            }
        }
        let interior = |v: u32| !boundary[v as usize];
        let area: f32 = (0..self.rest.len() as u32).filter(|&v| interior(v)).map(|v| dual[v as usize]).sum();
        let mut shapes = Vec::new();
        for hinge in self.topology.hinges() {
            let ends = hinge[..2].iter().filter(|&&v| interior(v)).count();
            if ends > 0 {
                let shape = self.hinge_shape(hinge);
                shapes.push(HingeShape { shape: shape.shape * 0.5 * ends as f32, ..shape });
            }
        }
        HingeFit::new(&shapes, area)
    }
}

fn find_tethers(
    pins: &[u32],
    nearest: usize,
    stretch: f32,
    rest: &[Vec3],
    triangles: &[[u32; 3]],
    offset: u32,
) -> Vec<Tether> {
    let mut found: Vec<Vec<(f32, u32)>> = vec![Vec::new(); rest.len()];
    let searches: Vec<&[u32]> = if nearest > 1 && pins.len() <= PINS_SEARCHED {
        pins.chunks(1).collect()
    } else if pins.is_empty() {
        Vec::new()
    } else {
        vec![pins]
    };
    for sources in searches {
        for (v, reach) in distances_from(sources, rest, triangles).into_iter().enumerate() {
            if reach.0.is_finite() && reach.0 > 0.0 {
                found[v].push(reach);
            }
        }
    }
    let mut tethers = Vec::new();
    for (v, mut list) in found.into_iter().enumerate() {
        if pins.binary_search(&(v as u32)).is_ok() {
            continue;
        }
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        tethers.extend(list.iter().take(nearest).map(|&(distance, pin)| Tether {
            particle: v as u32 + offset,
            anchor: pin + offset,
            reach: distance * stretch,
        }));
    }
    tethers
}

/// How a load is shared: by the length of selected edges at each vertex, or by mass where there are none.
fn load_shares(chosen: &[u32], topology: &Topology, rest: &[Vec3], mass: &[f32]) -> Vec<f32> {
    let mut shares = vec![0.0f32; chosen.len()];
    let mut place: Vec<(u32, usize)> = chosen.iter().enumerate().map(|(i, &v)| (v, i)).collect();
    place.sort_unstable();
    let find = |v: u32| place.binary_search_by_key(&v, |p| p.0).ok().map(|k| place[k].1);
    for edge in &topology.edges {
        let [a, b] = edge.vertices;
        if let (Some(i), Some(j)) = (find(a), find(b)) {
            let half = 0.5 * (rest[a as usize] - rest[b as usize]).length();
            shares[i] += half;
            shares[j] += half;
        }
    }
    if shares.iter().sum::<f32>() == 0.0 {
        shares = chosen.iter().map(|&v| mass[v as usize]).collect();
    }
    let total: f32 = shares.iter().sum();
    shares.iter().map(|share| share / total.max(f32::MIN_POSITIVE)).collect()
}
