//! The skin and the animation of a glTF: what moves each vertex of the mesh that was read.
//!
//! Every node becomes a joint, for the meshes that hang on it as they are, and every joint of a skin one more with its own inverse bind matrix.

use std::collections::HashMap;

use glam::{Affine3A, Mat4, Quat, Vec3};
use gltf_json::animation::{Interpolation, Property, Sampler};
use gltf_json::validation::Checked;
use taffeta::collide::surface::{Influence, Joint, MOST_JOINTS, Skin, Track};

use super::accessor::Numbers;
use super::{Fault, Reader, excerpt, local};

/// Keys that a curved piece between two keys becomes.
const PIECES: usize = 8;

/// Where a vertex of the result is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The node whose mesh it belongs to.
    pub node: usize,
    /// Accessors of its joints and weights, if the node has a skin.
    pub skinned: Option<[usize; 2]>,
    /// Its number within the accessors.
    pub vertex: u32,
}

impl Reader<'_> {
    /// The skin of all that was read, or none if nothing in the file moves.
    pub(super) fn skin(&mut self, animation: Option<&str>, repeat: bool) -> Result<Option<Skin>, Fault> {
        let root = self.root;
        let chosen = match animation {
            None => root.animations.first(),
            Some(name) => {
                let found = root.animations.iter().find(|a| a.name.as_deref() == Some(name));
                let names: Vec<&str> = root.animations.iter().filter_map(|a| a.name.as_deref()).collect();
                let hint = taffeta::error::suggestion(name, &names);
                found.map(Some).ok_or_else(|| {
                    Fault::element("animations", format!("there is none named '{}'; {hint}", excerpt(name)))
                })?
            }
        };
        let skinned = self.origins.iter().any(|origin| origin.skinned.is_some());
        if (chosen.is_none() && !skinned) || root.nodes.is_empty() {
            return Ok(None);
        }
        let order = self.parents_first()?;
        let mut joint_of = vec![0u32; root.nodes.len()];
        let mut joints: Vec<Joint> = Vec::new();
        let mut worlds: Vec<Mat4> = Vec::new();
        for (number, &(node, parent)) in order.iter().enumerate() {
            joint_of[node] = number as u32;
            let own = local(&root.nodes[node]);
            let world = parent.map_or(own, |p| worlds[joint_of[p] as usize] * own);
            worlds.push(world);
            let (scale, rotation, translation) = own.to_scale_rotation_translation();
            joints.push(Joint {
                parent: parent.map(|p| joint_of[p]),
                inverse_bind: Affine3A::from_mat4(world.inverse()),
                translation: Track::fixed(translation),
                rotation: Track::fixed(rotation),
                scale: Track::fixed(scale),
            });
        }
        let mut duration = 0.0f32;
        for (index, channel) in chosen.iter().flat_map(|a| a.channels.iter()).enumerate() {
            let name = format!("animation channel {index}");
            let samplers = chosen.map_or(&[][..], |a| &a.samplers[..]);
            let node = channel.target.node.value();
            let (Some(sampler), true) = (samplers.get(channel.sampler.value()), node < joint_of.len()) else {
                return Err(Fault::element(name, "its sampler or its node does not exist"));
            };
            let joint = &mut joints[joint_of[node] as usize];
            let track =
                |width, reader: &mut Self| reader.keys(sampler, width).map_err(|p| Fault::element(&name, p));
            let times = match channel.target.path {
                Checked::Valid(Property::Translation) => {
                    joint.translation = vectors(track(3, self)?);
                    &joint.translation.times
                }
                Checked::Valid(Property::Scale) => {
                    joint.scale = vectors(track(3, self)?);
                    &joint.scale.times
                }
                Checked::Valid(Property::Rotation) => {
                    joint.rotation = turns(track(4, self)?);
                    &joint.rotation.times
                }
                // Morph targets are not read.
                _ => continue,
            };
            duration = duration.max(times.last().copied().unwrap_or(0.0));
        }
        let first_of_skin = self.add_skins(&joint_of, &mut joints)?;
        if joints.len() > MOST_JOINTS {
            return Err(Fault::element(
                "nodes",
                format!(
                    "nodes and joints are {} in all; at most {MOST_JOINTS} can move a mesh",
                    joints.len()
                ),
            ));
        }
        let influences = self.influences(&joint_of, &first_of_skin)?;
        Ok(Some(Skin { joints, influences, duration, repeat }))
    }

    /// All nodes and their parents, a parent before its children.
    fn parents_first(&self) -> Result<Vec<(usize, Option<usize>)>, Fault> {
        let nodes = &self.root.nodes;
        let mut parent = vec![None; nodes.len()];
        for (number, node) in nodes.iter().enumerate() {
            for child in node.children.iter().flatten() {
                match parent.get_mut(child.value()) {
                    Some(of) => *of = Some(number),
                    None => {
                        return Err(Fault::element(
                            format!("node {number}"),
                            "it has a child that does not exist",
                        ));
                    }
                }
            }
        }
        let mut order: Vec<(usize, Option<usize>)> =
            (0..nodes.len()).filter(|&n| parent[n].is_none()).map(|n| (n, None)).collect();
        let mut next = 0;
        while let Some(&(node, _)) = order.get(next) {
            next += 1;
            let children = nodes[node].children.iter().flatten().map(|child| (child.value(), Some(node)));
            order.extend(children.filter(|&(child, _)| parent[child] == Some(node)));
            if order.len() > nodes.len() {
                break;
            }
        }
        if order.len() != nodes.len() {
            return Err(Fault::element("nodes", "they must form a tree"));
        }
        Ok(order)
    }

    /// One joint more for each joint of each skin, and where those of each skin begin.
    fn add_skins(&mut self, joint_of: &[u32], joints: &mut Vec<Joint>) -> Result<Vec<(usize, usize)>, Fault> {
        let root = self.root;
        let mut firsts = Vec::new();
        for (number, skin) in root.skins.iter().enumerate() {
            let wrong = |problem: String| Fault::element(format!("skin {number}"), problem);
            firsts.push((joints.len(), skin.joints.len()));
            let matrices = match &skin.inverse_bind_matrices {
                Some(accessor) => {
                    Numbers::new(root, &mut self.buffers, accessor.value(), 16).map_err(wrong)?.values
                }
                None => Mat4::IDENTITY.to_cols_array().repeat(skin.joints.len()),
            };
            for (k, joint) in skin.joints.iter().enumerate() {
                let (Some(&parent), Some(matrix)) =
                    (joint_of.get(joint.value()), matrices.as_chunks::<16>().0.get(k))
                else {
                    return Err(wrong(format!("joint {k} has no node or no inverse bind matrix")));
                };
                joints.push(Joint {
                    parent: Some(parent),
                    inverse_bind: Affine3A::from_mat4(Mat4::from_cols_array(matrix)),
                    translation: Track::fixed(Vec3::ZERO),
                    rotation: Track::fixed(Quat::IDENTITY),
                    scale: Track::fixed(Vec3::ONE),
                });
            }
        }
        Ok(firsts)
    }

    fn influences(&mut self, joint_of: &[u32], skins: &[(usize, usize)]) -> Result<Vec<Influence>, Fault> {
        let root = self.root;
        let mut read: HashMap<usize, Numbers> = HashMap::new();
        let mut influences = Vec::with_capacity(self.origins.len());
        for origin in &self.origins {
            let Some(accessors) = origin.skinned else {
                let joint = joint_of[origin.node] as u16;
                influences.push(Influence { joints: [joint; 4], weights: [1.0, 0.0, 0.0, 0.0] });
                continue;
            };
            let wrong = |problem: String| Fault::element(format!("node {}", origin.node), problem);
            for accessor in accessors {
                if let std::collections::hash_map::Entry::Vacant(place) = read.entry(accessor) {
                    place.insert(Numbers::new(root, &mut self.buffers, accessor, 4).map_err(wrong)?);
                }
            }
            let skin = root.nodes[origin.node].skin.map_or(0, |skin| skin.value());
            let Some(&(first, count)) = skins.get(skin) else {
                return Err(wrong(format!("skin {skin} does not exist")));
            };
            let [numbers, weights] = accessors.map(|accessor| {
                read[&accessor].values.as_chunks::<4>().0.get(origin.vertex as usize).copied()
            });
            let (Some(numbers), Some(weights)) = (numbers, weights) else {
                return Err(wrong(format!("vertex {} has no joints or no weights", origin.vertex)));
            };
            let sum: f32 = weights.iter().sum();
            if !(sum > 0.0 && sum.is_finite()) {
                return Err(wrong(format!(
                    "the weights of vertex {} sum to {sum}; must be 1",
                    origin.vertex
                )));
            }
            if numbers.iter().zip(weights).any(|(&n, w)| w != 0.0 && n >= count as f32) {
                return Err(wrong(format!(
                    "vertex {} hangs on a joint that skin {skin} has not",
                    origin.vertex
                )));
            }
            let joints = numbers.map(|n| (first + (n as usize).min(count.max(1) - 1)) as u16);
            influences.push(Influence { joints, weights: weights.map(|w| w / sum) });
        }
        Ok(influences)
    }

    /// Times and values of a sampler, `width` numbers each, joined by straight lines.
    fn keys(&mut self, sampler: &Sampler, width: usize) -> Result<(Vec<f32>, Vec<Vec<f32>>), String> {
        let times = Numbers::new(self.root, &mut self.buffers, sampler.input.value(), 1)?.values;
        let values = Numbers::new(self.root, &mut self.buffers, sampler.output.value(), width)?.values;
        let values: Vec<Vec<f32>> = values.chunks_exact(width).map(<[f32]>::to_vec).collect();
        let curved = matches!(sampler.interpolation, Checked::Valid(Interpolation::CubicSpline));
        let needed = if curved { 3 * times.len() } else { times.len() };
        if times.is_empty() || values.len() != needed {
            return Err(format!("it has {} values for {} times", values.len(), times.len()));
        }
        if !times.iter().all(|t| t.is_finite()) || times.windows(2).any(|t| t[0] >= t[1]) {
            return Err("its times do not increase".into());
        }
        if values.iter().flatten().any(|v| !v.is_finite()) {
            return Err("a value is not a finite number".into());
        }
        Ok(match sampler.interpolation {
            Checked::Valid(Interpolation::Step) => stepped(&times, &values),
            Checked::Valid(Interpolation::CubicSpline) => curve(&times, &values),
            _ => (times, values),
        })
    }
}

/// Keys that hold their value until just before the next.
fn stepped(times: &[f32], values: &[Vec<f32>]) -> (Vec<f32>, Vec<Vec<f32>>) {
    let (mut out_times, mut out) = (Vec::new(), Vec::new());
    for (k, (&time, value)) in times.iter().zip(values).enumerate() {
        out_times.push(time);
        out.push(value.clone());
        if let Some(&next) = times.get(k + 1) {
            let before = next.next_down();
            if before > time {
                out_times.push(before);
                out.push(value.clone());
            }
        }
    }
    (out_times, out)
}

/// Cubic Hermite pieces (in-tangent, value, out-tangent for each time) cut into straight ones.
fn curve(times: &[f32], values: &[Vec<f32>]) -> (Vec<f32>, Vec<Vec<f32>>) {
    let (mut out_times, mut out) = (Vec::new(), Vec::new());
    for k in 0..times.len() - 1 {
        let span = times[k + 1] - times[k];
        let (v0, m0, v1, m1) =
            (&values[3 * k + 1], &values[3 * k + 2], &values[3 * k + 4], &values[3 * k + 3]);
        for piece in 0..PIECES {
            let t = piece as f32 / PIECES as f32;
            let (t2, t3) = (t * t, t * t * t);
            let at = |c: usize| {
                (2.0 * t3 - 3.0 * t2 + 1.0) * v0[c]
                    + span * (t3 - 2.0 * t2 + t) * m0[c]
                    + (3.0 * t2 - 2.0 * t3) * v1[c]
                    + span * (t3 - t2) * m1[c]
            };
            out_times.push(times[k] + span * t);
            out.push((0..v0.len()).map(at).collect());
        }
    }
    out_times.push(times[times.len() - 1]);
    out.push(values[values.len() - 2].clone());
    (out_times, out)
}

fn vectors((times, values): (Vec<f32>, Vec<Vec<f32>>)) -> Track<Vec3> {
    Track { times, values: values.iter().map(|v| Vec3::new(v[0], v[1], v[2])).collect() }
}

fn turns((times, values): (Vec<f32>, Vec<Vec<f32>>)) -> Track<Quat> {
    let turn = |v: &Vec<f32>| {
        let turn = Quat::from_xyzw(v[0], v[1], v[2], v[3]);
        if turn.length() > 0.0 { turn.normalize() } else { Quat::IDENTITY }
    };
    Track { times, values: values.iter().map(turn).collect() }
}
