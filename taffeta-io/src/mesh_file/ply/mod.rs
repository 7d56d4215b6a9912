//! Stanford `.ply`: text or binary, in either byte order.
//!
//! The reader is our own because the one at hand trusts the counts in the header. Here nothing is allocated for
//! what the file does not contain.

mod body;
mod header;

use taffeta::mesh::TriMesh;

use super::{Fault, excerpt, fan};
use body::Body;
use header::{Element, Header, Property};

/// Names for the list of corners of a face.
const CORNERS: [&str; 2] = ["vertex_indices", "vertex_index"];

/// Reads the bytes of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let header = Header::parse(bytes)?;
    let vertices = header.elements.iter().find(|element| element.name == "vertex");
    let vertices = vertices.map_or(0, |element| element.count);
    let mut body = Body::new(bytes, &header);
    let mut mesh = TriMesh::default();
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(&mut body, element, &mut mesh)?,
            "face" | "tristrips" => read_faces(&mut body, element, vertices, &mut mesh)?,
            _ => body.rows(element, |_, _, _| Ok(()), |_| Ok(()))?,
        }
    }
    Ok(mesh)
}

fn read_vertices(body: &mut Body<'_>, element: &Element, mesh: &mut TriMesh) -> Result<(), Fault> {
    let mut axes = [0; 3];
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let scalar = |property: &Property| property.list.is_none() && property.name == name;
        axes[axis] = element.properties.iter().position(scalar).ok_or_else(|| {
            Fault::line(
                element.line,
                format!("the element vertex needs a property {name}, such as 'property float {name}'"),
            )
        })?;
    }
    let position = std::cell::Cell::new([0.0; 3]);
    body.rows(
        element,
        |_, property, values| {
            let mut p = position.get();
            for axis in 0..3 {
                if axes[axis] == property {
                    p[axis] = values[0] as f32;
                }
            }
            position.set(p);
            Ok(())
        },
        |_| {
            mesh.positions.push(position.get());
            Ok(())
        },
    )
}

fn read_faces(
    body: &mut Body<'_>,
    element: &Element,
    vertices: u64,
    mesh: &mut TriMesh,
) -> Result<(), Fault> {
    let strips = element.name == "tristrips";
    let is_corners =
        |property: &Property| property.list.is_some() && CORNERS.contains(&property.name.as_str());
    let Some(corners_at) = element.properties.iter().position(is_corners) else {
        return Err(Fault::line(
            element.line,
            format!(
                "the element {} needs a list of its corners, such as 'property list uchar int vertex_indices'",
                element.name
            ),
        ));
    };
    let mut corners: Vec<u32> = Vec::new();
    body.rows(
        element,
        |row, property, values| {
            if property != corners_at {
                return Ok(());
            }
            corners.clear();
            for &value in values {
                // In strips, -1 begins a new one.
                if strips && value == -1.0 {
                    strip(&corners, &mut mesh.triangles);
                    corners.clear();
                    continue;
                }
                if !(value >= 0.0
                    && value < vertices as f64
                    && value.fract() == 0.0
                    && value <= f64::from(u32::MAX))
                {
                    return Err(row.fault(match vertices {
                        0 => format!("the corner {value} is not a vertex; the file has none"),
                        _ => {
                            format!("the corner {value} is not a vertex; the file has 0 to {}", vertices - 1)
                        }
                    }));
                }
                corners.push(value as u32);
            }
            if strips {
                strip(&corners, &mut mesh.triangles);
            } else if corners.len() < 3 {
                return Err(row.fault(format!("a face needs at least 3 corners, this has {}", corners.len())));
            } else {
                fan(&corners, &mut mesh.triangles);
            }
            Ok(())
        },
        |_| Ok(()),
    )
}

/// Appends a strip, in which every second triangle is turned; those without area only steer it.
fn strip(corners: &[u32], triangles: &mut Vec<[u32; 3]>) {
    for (index, corner) in corners.windows(3).enumerate() {
        let [a, b, c] = [corner[0], corner[1], corner[2]];
        if a != b && b != c && c != a {
            triangles.push(if index % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
