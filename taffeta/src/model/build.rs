//! From a scene to a model.

use glam::{Vec2, Vec3};

use super::{Attachment, ClothPart, Model, Tether, select::select};
use crate::color::Row;
use crate::constraint::{dihedral, isometric, stvk};
use crate::error::BuildError;
use crate::material::{self, Fabric, Patch, SheetEdge};
use crate::mesh::{
    self, Edge, Grid, Hinge, NONE, Severity, Topology, TriMesh, distances_from, locality_order,
};
use crate::params::Params;
use crate::scene::{Bending, Cloth, Membrane, Scene};

/// Beyond so many pins a vertex is tethered to its nearest alone: finding more would take a search from each.
const PINS_SEARCHED: usize = 32;
/// Vertices of the patch on which the giving way of an irregular mesh is computed.
const PATCH: usize = 10_000;
/// A hinge that is less bent than this at rest counts as flat, rad.
const FLAT: f64 = 1e-2;

/// Layers keep at least this part of the mean edge apart: between layers that are much thinner than their mesh is fine, contacts change
/// too fast to follow.
const COARSE: f32 = 1.0 / 12.0;

impl Model {
    /// Builds the model of a scene.
    pub fn new(scene: &Scene) -> Result<Self, BuildError> {
        if scene.cloth.is_empty() {
            return Err(BuildError::field("cloth", "the scene has no cloth; add a [[cloth]]"));
        }
        let mut model = Model::default();
        for (index, cloth) in scene.cloth.iter().enumerate() {
            model.add_cloth(index, cloth, &scene.simulation)?;
        }
        let stiffness = model.stiffness();
        for cloth in &mut model.cloths {
            // The bound counts each spring twice.
            let sum: f64 = stiffness[cloth.vertices.clone()].iter().sum();
            cloth.tether_stiffness = (0.5 * sum / cloth.vertices.len().max(1) as f64) as f32;
        }
        Ok(model)
    }

    fn add_cloth(&mut self, index: usize, cloth: &Cloth, params: &Params) -> Result<(), BuildError> {
        let field = |name: &str| format!("cloth.{index}.{name}");
        let fabric = fabric_of(index, cloth)?;
        let (grid, raw) = shape_of(index, cloth)?;

        // Irregular meshes are renumbered for locality; grids are in order already.
        let order: Vec<u32> = match grid {
            Some(_) => (0..raw.positions.len() as u32).collect(),
            None => locality_order(&Topology::new(raw.positions.len(), &raw.triangles)),
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
            self.triangle_bend.len(),
            self.stvk.len(),
            self.strain_limit.len(),
        ];
        let triangles_before = self.triangles.len();

        for edge in &topology.edges {
            let [a, b] = edge.vertices;
            let length = (rest[a as usize] - rest[b as usize]).length();
            self.edges.push((edge.vertices.map(|v| v + offset), length));
        }
        match (cloth.membrane, &grid) {
            (Membrane::Springs, Some(grid)) => {
                self.distance.extend(grid_springs(grid, &fabric, cloth.bending == Bending::Springs, offset))
            }
            (Membrane::Springs, None) => self.distance.extend(sheet.springs(&fabric, offset)),
            (Membrane::Stvk, _) => self.stvk.extend(sheet.membrane(&triangles, &fabric, offset)),
        }
        match cloth.bending {
            Bending::None => {}
            Bending::Springs if cloth.membrane != Membrane::Springs => {
                return Err(BuildError::field(
                    field("bending"),
                    "'springs' go with membrane = 'springs' only; use 'isometric' or 'dihedral'",
                ));
            }
            Bending::Springs if grid.is_some() => {}
            Bending::Triangle => match &grid {
                Some(grid) => self.triangle_bend.extend(grid_triangle_bends(grid, &fabric, offset)),
                None => {
                    return Err(BuildError::field(
                        field("bending"),
                        "'triangle' needs the rows of a grid, but this cloth is a mesh; use 'isometric' or 'dihedral'",
                    ));
                }
            },
            Bending::Springs => {
                return Err(BuildError::field(
                    field("bending"),
                    "'springs' skip a vertex of a grid, but this cloth is a mesh; use 'isometric' or 'dihedral'",
                ));
            }
            Bending::Isometric | Bending::Dihedral => {
                let hinges = match &grid {
                    Some(grid) => grid_hinges(grid, &fabric),
                    None => sheet.hinges(&fabric),
                };
                self.add_hinges(index, cloth.bending, &rest, &order, &hinges, offset)?;
            }
        }

        if let Some(limit) = strain_limit(index, cloth, params)? {
            let lengths = match &grid {
                Some(grid) => grid_lengths(grid, offset),
                None => self.edges[starts[0]..].to_vec(),
            };
            let row = |(particles, length)| Row { particles, params: [0.0, (1.0 + limit) * length] };
            self.strain_limit.extend(lengths.into_iter().map(row));
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
                    self.attachments.push(Attachment { particle: v + offset, motion, anchor: NONE, until });
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

        let edges = &self.edges[starts[0]..];
        let mean_edge = edges.iter().map(|(_, rest)| rest).sum::<f32>() / edges.len().max(1) as f32;
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
            triangle_bend: starts[5]..self.triangle_bend.len(),
            stvk: starts[6]..self.stvk.len(),
            strain_limit: starts[7]..self.strain_limit.len(),
            tether_stiffness: 0.0,
            grid,
            margin: cloth.margin.unwrap_or(0.5 * fabric.thickness),
            thickness: fabric.thickness.max(COARSE * mean_edge),
            friction: fabric.friction,
            damping: fabric.damping + params.damping,
        });
        Ok(())
    }

    fn add_hinges(
        &mut self,
        index: usize,
        bending: Bending,
        rest: &[Vec3],
        order: &[u32],
        hinges: &[(Hinge, f32)],
        offset: u32,
    ) -> Result<(), BuildError> {
        for &(hinge, stiffness) in hinges.iter().filter(|h| h.1 > 0.0) {
            let x = hinge.map(|v| rest[v as usize].as_dvec3());
            let particles = hinge.map(|v| v + offset);
            let rest_angle = dihedral::angle(&x);
            if bending == Bending::Dihedral {
                self.dihedral.push(Row { particles, params: [1.0 / stiffness, rest_angle as f32] });
                continue;
            }
            if rest_angle.abs() > FLAT {
                // In the numbers of the mesh, not in ours.
                let [a, b] = [hinge[0], hinge[1]].map(|v| order[v as usize]);
                let degrees = rest_angle.to_degrees();
                return Err(BuildError::field(
                    format!("cloth.{index}.bending"),
                    format!(
                        "'isometric' needs a flat rest shape, but two triangles meet at {degrees:.1}° (vertices {a} and {b}); use 'dihedral'"
                    ),
                ));
            }
            // |C| = l θ, so ½ |C|²/α = ½ k θ² with α = l²/k.
            let length2 = (x[1] - x[0]).length_squared() as f32;
            let [k1, k2, k3] = isometric::weights(&x).map(|k| k as f32);
            self.isometric.push(Row { particles, params: [length2 / stiffness, k1, k2, k3] });
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
    if !(0.0..=0.9).contains(&fabric.poisson) {
        return Err(BuildError::field(field("poisson"), format!("is {}; must be 0 to 0.9", fabric.poisson)));
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

/// The strain limit of a cloth: its own, or that of the method `verlet`.
fn strain_limit(index: usize, cloth: &Cloth, params: &Params) -> Result<Option<f32>, BuildError> {
    let of_method =
        (params.method == "verlet" && params.verlet.strain_limit > 0.0).then_some(params.verlet.strain_limit);
    match cloth.strain_limit {
        Some(limit) if !(limit > 0.0 && limit.is_finite()) => Err(BuildError::field(
            format!("cloth.{index}.strain_limit"),
            format!("is {limit}; must be above 0, for example 0.1 for 10 %"),
        )),
        own => Ok(own.or(of_method)),
    }
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
    if let Some(generate) = &cloth.generate {
        if cloth.mesh.is_some() || cloth.shape.is_some() {
            return Err(BuildError::field(field("generate"), "a mesh is given too; leave one of them out"));
        }
        if generate.walk.is_some() {
            return Err(BuildError::field(field("generate.walk"), "is for colliders only; leave it out"));
        }
        let made = generate
            .mesh()
            .map_err(|(part, problem)| BuildError::field(field(&format!("generate.{part}")), problem))?;
        return Ok((None, made));
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
    let [along_x, along_z, bias] = material::grid_springs([dx, dz], fabric.stretch, fabric.shear);
    let mut rows = Vec::new();
    let mut spring = |a: (usize, usize), b: (usize, usize), area: f32, f: f32, length: f32| {
        let particles = [grid.vertex(a.0, a.1) + offset, grid.vertex(b.0, b.1) + offset];
        let stiffness = f * area / (length * length);
        // Without shear stiffness there are no diagonals.
        if stiffness > 0.0 {
            rows.push(Row { particles, params: [1.0 / stiffness, length] });
        }
    };
    for z in 0..grid.rows() {
        // A boundary row stands for half a row of cells.
        let share = if z == 0 || z == grid.cells_z { 0.5 } else { 1.0 };
        for x in 0..grid.cells_x {
            spring((x, z), (x + 1, z), share * cell, along_x, dx);
        }
        for x in 0..grid.cells_x.saturating_sub(1) * bend as usize {
            spring((x, z), (x + 2, z), share * cell, along_x, 2.0 * dx);
        }
    }
    for z in 0..grid.cells_z {
        for x in 0..grid.columns() {
            let share = if x == 0 || x == grid.cells_x { 0.5 } else { 1.0 };
            spring((x, z), (x, z + 1), share * cell, along_z, dz);
            if bend && z + 2 < grid.rows() {
                spring((x, z), (x, z + 2), share * cell, along_z, 2.0 * dz);
            }
        }
        for x in 0..grid.cells_x {
            spring((x, z), (x + 1, z + 1), cell, bias, diagonal);
            spring((x + 1, z), (x, z + 1), cell, bias, diagonal);
        }
    }
    rows
}

/// Edges and both diagonals of the cells of a grid, with their lengths (m).
fn grid_lengths(grid: &Grid, offset: u32) -> Vec<([u32; 2], f32)> {
    let [dx, dz] = grid.spacing();
    let diagonal = (dx * dx + dz * dz).sqrt();
    let steps = [(1, 0, dx), (0, 1, dz), (1, 1, diagonal), (-1, 1, diagonal)];
    let mut lengths = Vec::new();
    for z in 0..grid.rows() {
        for x in 0..grid.columns() {
            for (step_x, step_z, length) in steps {
                let Some(x2) = x.checked_add_signed(step_x).filter(|&x| x < grid.columns()) else { continue };
                if z + step_z < grid.rows() {
                    let pair = [grid.vertex(x, z), grid.vertex(x2, z + step_z)];
                    lengths.push((pair.map(|v| v + offset), length));
                }
            }
        }
    }
    lengths
}

/// Hinges of a grid with their stiffness (N·m/rad), chosen so that the energy is ½ (B₁ κ₁₁² + B₂ κ₂₂² + 2 B₁₂ κ₁₂²) for each
/// area, exactly.
///
/// They are not those of the triangles. With alternating diagonals every other vertex of a row would carry all of the
/// bending and the ones between could kink for nothing; with all diagonals one way, bending would twist. Instead
/// every vertex is the middle of a fold along its row and one along its column, and every cell has one across its
/// diagonal, which sees twist alone. There are just as many.
fn grid_hinges(grid: &Grid, fabric: &Fabric) -> Vec<(Hinge, f32)> {
    let [dx, dz] = grid.spacing();
    let (nx, nz) = (grid.columns(), grid.rows());
    let mut hinges = Vec::new();
    for z in 0..nz {
        let share = if z == 0 || z + 1 == nz { 0.5 } else { 1.0 };
        let beside = if z > 0 { z - 1 } else { 1 };
        for x in 1..nx - 1 {
            let hinge = [(x, z), (x, beside), (x + 1, z), (x - 1, z)].map(|(x, z)| grid.vertex(x, z));
            hinges.push((hinge, fabric.bend[0] * share * dz / dx));
        }
    }
    for z in 1..nz - 1 {
        for x in 0..nx {
            let share = if x == 0 || x + 1 == nx { 0.5 } else { 1.0 };
            let beside = if x > 0 { x - 1 } else { 1 };
            let hinge = [(x, z), (beside, z), (x, z + 1), (x, z - 1)].map(|(x, z)| grid.vertex(x, z));
            hinges.push((hinge, fabric.bend[1] * share * dx / dz));
        }
    }
    let twist = 2.0 * (fabric.bend[0] * fabric.bend[1]).sqrt() * dx * dz / (dx * dx + dz * dz);
    for z in 0..grid.cells_z {
        for x in 0..grid.cells_x {
            let hinge = [(x, z), (x + 1, z + 1), (x + 1, z), (x, z + 1)].map(|(x, z)| grid.vertex(x, z));
            hinges.push((hinge, twist));
        }
    }
    hinges
}

/// Bending of a grid by triples of vertices in a row or column. The measure of a fold, a third of the second difference,
/// is Δx² κ/3; with stiffness 9 B Δz/Δx³ the energy is ½ B κ² for each area. Twist is not resisted.
fn grid_triangle_bends(grid: &Grid, fabric: &Fabric, offset: u32) -> Vec<Row<3, 2>> {
    let [dx, dz] = grid.spacing();
    let (nx, nz) = (grid.columns(), grid.rows());
    let mut rows = Vec::new();
    let mut bend = |triple: [(usize, usize); 3], stiffness: f32| {
        if stiffness > 0.0 {
            let particles = triple.map(|(x, z)| grid.vertex(x, z) + offset);
            rows.push(Row { particles, params: [1.0 / stiffness, 0.0] });
        }
    };
    for z in 0..nz {
        let share = if z == 0 || z + 1 == nz { 0.5 } else { 1.0 };
        for x in 1..nx - 1 {
            bend([(x - 1, z), (x + 1, z), (x, z)], 9.0 * fabric.bend[0] * share * dz / dx.powi(3));
        }
    }
    for z in 1..nz - 1 {
        for x in 0..nx {
            let share = if x == 0 || x + 1 == nx { 0.5 } else { 1.0 };
            bend([(x, z - 1), (x, z + 1), (x, z)], 9.0 * fabric.bend[1] * share * dx / dz.powi(3));
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

    /// A direction in the warp–weft frame of triangle `t`.
    fn direction(&self, t: u32, d: Vec3) -> Vec2 {
        let [warp, weft] = self.frames[t as usize];
        Vec2::new(d.dot(warp), d.dot(weft)).normalize_or(Vec2::X)
    }

    fn area(&self, edge: &Edge) -> f32 {
        edge.triangles.iter().filter(|&&t| t != NONE).map(|&t| self.areas[t as usize]).sum()
    }

    fn springs(&self, fabric: &Fabric, offset: u32) -> Vec<Row<2, 2>> {
        let shape = |edge: &Edge| {
            let [a, b] = edge.vertices.map(|v| self.rest[v as usize]);
            SheetEdge {
                vertices: edge.vertices,
                direction: self.direction(edge.triangles[0], b - a),
                length: (b - a).length(),
                area: self.area(edge),
            }
        };
        let edges: Vec<SheetEdge> = self.topology.edges.iter().map(shape).collect();
        let stiffness = material::fit_springs(&edges, &self.patch(), fabric.stretch, fabric.shear);
        (edges.iter().zip(stiffness))
            .map(|(e, k)| Row { particles: e.vertices.map(|v| v + offset), params: [1.0 / k, e.length] })
            .collect()
    }

    /// Membrane triangles of the fabric.
    fn membrane(
        &self,
        triangles: &[[u32; 3]],
        fabric: &Fabric,
        offset: u32,
    ) -> Vec<Row<3, { stvk::PARAMS }>> {
        let [k1, k2] = fabric.stretch;
        // A sheet without shear stiffness would have no membrane in shear at all: the softest that can be solved.
        let shear = fabric.shear.max(1e-6 * k1.min(k2));
        let compliance = [1.0 / k1, -fabric.poisson / (k1 * k2).sqrt(), 1.0 / k2, 1.0 / shear];
        let row = |(t, tri): (usize, &[u32; 3])| {
            let [a, b, c] = tri.map(|v| self.rest[v as usize]);
            let flat = |d: Vec3| self.frames[t].map(|axis| d.dot(axis) as f64);
            let m = stvk::inverse_shape(flat(a - c), flat(b - c)).map(|m| m as f32);
            let [s11, s12, s22, s33] = compliance;
            let params = [1.0 / self.areas[t], m[0], m[1], m[2], m[3], s11, s12, s22, s33];
            Row { particles: tri.map(|v| v + offset), params }
        };
        triangles.iter().enumerate().map(row).collect()
    }

    /// The hinges with their stiffness, N·m/rad: B l²/(A₁ + A₂), B taken across the edge.
    ///
    /// Under cylindrical bending that sums to ½ B κ² for each area, exactly for equilateral triangles and on average for others.
    /// (With the factor 3 that is often printed, and which belongs to the mean curvature of closed surfaces, cloth would
    /// be three times too stiff: see the cantilever test.)
    fn hinges(&self, fabric: &Fabric) -> Vec<(Hinge, f32)> {
        let stiffness = |edge: &Edge| {
            let [p0, p1] = edge.vertices.map(|v| self.rest[v as usize]);
            let across = self.direction(edge.triangles[0], p1 - p0).perp();
            let rigidity = fabric.bend[0] * across.x * across.x + fabric.bend[1] * across.y * across.y;
            let vertices = [edge.vertices[0], edge.vertices[1], edge.opposite[0], edge.opposite[1]];
            (vertices, rigidity * (p1 - p0).length_squared() / self.area(edge))
        };
        self.topology.edges.iter().filter(|e| e.triangles[1] != NONE).map(stiffness).collect()
    }

    /// The first vertices; free are those that do not lie on the boundary of the mesh or of the patch.
    fn patch(&self) -> Patch {
        let count = self.rest.len().min(PATCH);
        let mut free: Vec<bool> = self.topology.boundary()[..count].iter().map(|on| !on).collect();
        let mut dual = vec![0.0; count];
        for edge in &self.topology.edges {
            for (&t, &v) in edge.triangles.iter().zip(&edge.opposite).filter(|(t, _)| **t != NONE) {
                if let Some(dual) = dual.get_mut(v as usize) {
                    *dual += self.areas[t as usize] / 3.0;
                }
            }
            if edge.vertices.iter().any(|&v| v as usize >= count) {
                edge.vertices.iter().for_each(|&v| {
                    if let Some(f) = free.get_mut(v as usize) {
                        *f = false
                    }
                });
            }
        }
        // On the mesh's own boundary there is nothing to give way to, but at the cut of a patch there is.
        let counts = |i: usize| free[i] || count == self.rest.len();
        let area = (0..count).filter(|&i| counts(i)).map(|i| dual[i]).sum();
        Patch { free, area }
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
