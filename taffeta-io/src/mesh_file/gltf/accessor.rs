//! Numbers in buffers, each reached only after its place was checked.

use std::collections::HashMap;
use std::rc::Rc;

use gltf_json::Root;
use gltf_json::accessor::{ComponentType, Type};
use gltf_json::validation::Checked;

use super::container::Buffers;

/// Equally spaced items within a buffer; all of them lie inside it.
struct Items {
    bytes: Rc<[u8]>,
    start: usize,
    stride: usize,
    count: usize,
    size: usize,
}

impl Items {
    /// `count` items of `size` bytes from `offset` in buffer view `view`.
    fn new(
        root: &Root,
        buffers: &mut Buffers<'_>,
        view: usize,
        offset: u64,
        count: u64,
        size: usize,
    ) -> Result<Items, String> {
        let Some(json) = root.buffer_views.get(view) else {
            let count = root.buffer_views.len();
            return Err(format!("buffer view {view} does not exist; the file has {count}"));
        };
        let bytes = buffers.get(json.buffer.value())?;
        let stride = json.byte_stride.map_or(size, |stride| stride.0);
        if stride < size {
            return Err(format!(
                "buffer view {view} has a stride of {stride} bytes, but its items have {size}"
            ));
        }
        let start = json.byte_offset.map_or(0, |offset| offset.0);
        let end = start.checked_add(json.byte_length.0).filter(|&end| end <= bytes.len() as u64).ok_or_else(
            || {
                format!(
                    "buffer view {view} has {} bytes from {start}, but its buffer ends at {}",
                    json.byte_length.0,
                    bytes.len()
                )
            },
        )?;
        let needed = match count.checked_sub(1) {
            Some(steps) => {
                steps.checked_mul(stride as u64).and_then(|length| length.checked_add(size as u64))
            }
            None => Some(0),
        };
        let first = start.checked_add(offset);
        let last = first.zip(needed).and_then(|(first, needed)| first.checked_add(needed));
        if last.is_none_or(|last| last > end) {
            return Err(format!(
                "{count} items of {size} bytes from {offset} do not fit into buffer view {view} of {} bytes",
                json.byte_length.0
            ));
        }
        // Within a buffer in memory, so all of these fit into usize.
        let start = first.unwrap_or_default() as usize;
        Ok(Items { bytes, start, stride, count: count as usize, size })
    }

    /// The bytes of an item; `index` must be less than the count.
    fn get(&self, index: usize) -> &[u8] {
        let at = self.start + index * self.stride;
        &self.bytes[at..at + self.size]
    }
}

/// A component's size in bytes.
fn size(kind: ComponentType) -> usize {
    match kind {
        ComponentType::I8 | ComponentType::U8 => 1,
        ComponentType::I16 | ComponentType::U16 => 2,
        ComponentType::U32 | ComponentType::F32 => 4,
    }
}

/// Whole numbers.
pub(super) struct Indices {
    items: Items,
}

impl Indices {
    pub fn new(root: &Root, buffers: &mut Buffers<'_>, number: usize) -> Result<Indices, String> {
        let accessor = find(root, number)?;
        let place = |problem: String| format!("its indices, accessor {number}: {problem}");
        let kind = match accessor.component_type {
            Checked::Valid(kind)
                if matches!(kind.0, ComponentType::U8 | ComponentType::U16 | ComponentType::U32) =>
            {
                kind.0
            }
            _ => {
                return Err(place("the component type must be 5121, 5123 or 5125".into()));
            }
        };
        if !matches!(accessor.type_, Checked::Valid(Type::Scalar)) {
            return Err(place("the type must be SCALAR".into()));
        }
        let (Some(view), None) = (accessor.buffer_view, &accessor.sparse) else {
            return Err(place("the values are sparse or compressed, which is not supported here".into()));
        };
        let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
        let items =
            Items::new(root, buffers, view.value(), offset, accessor.count.0, size(kind)).map_err(place)?;
        Ok(Indices { items })
    }

    pub fn len(&self) -> usize {
        self.items.count
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|index| whole(self.items.get(index)))
    }
}

/// A little-endian number of up to four bytes.
fn whole(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

/// Positions in the mesh's own frame, m.
pub(super) struct Positions {
    items: Items,
    kind: ComponentType,
    normalized: bool,
    /// Vertices that have other positions than those in `items`.
    replaced: HashMap<usize, [f32; 3]>,
}

impl Positions {
    pub fn new(root: &Root, buffers: &mut Buffers<'_>, number: usize) -> Result<Positions, String> {
        let accessor = find(root, number)?;
        let place = |problem: String| format!("its POSITION, accessor {number}: {problem}");
        let kind = match accessor.component_type {
            Checked::Valid(kind) if kind.0 != ComponentType::U32 => kind.0,
            _ => {
                return Err(place(
                    "the component type must be 5126, or 5120 to 5123 for quantized positions".into(),
                ));
            }
        };
        if !matches!(accessor.type_, Checked::Valid(Type::Vec3)) {
            return Err(place("the type must be VEC3".into()));
        }
        let Some(view) = accessor.buffer_view else {
            return Err(place("it has no buffer view; export without compression".into()));
        };
        let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
        let width = 3 * size(kind);
        let items =
            Items::new(root, buffers, view.value(), offset, accessor.count.0, width).map_err(place)?;
        let mut positions =
            Positions { items, kind, normalized: accessor.normalized, replaced: HashMap::new() };
        if let Some(sparse) = &accessor.sparse {
            let index_size = match sparse.indices.component_type {
                Checked::Valid(kind) => size(kind.0),
                Checked::Invalid => {
                    return Err(place("the component type of its sparse indices is unknown".into()));
                }
            };
            let (view, offset) = (sparse.indices.buffer_view.value(), sparse.indices.byte_offset.0);
            let indices =
                Items::new(root, buffers, view, offset, sparse.count.0, index_size).map_err(place)?;
            let (view, offset) = (sparse.values.buffer_view.value(), sparse.values.byte_offset.0);
            let values = Items::new(root, buffers, view, offset, sparse.count.0, width).map_err(place)?;
            for index in 0..indices.count {
                let value = positions.decode(values.get(index));
                positions.replaced.insert(whole(indices.get(index)) as usize, value);
            }
        }
        Ok(positions)
    }

    pub fn len(&self) -> usize {
        self.items.count
    }

    /// How many positions were read besides.
    pub fn replaced(&self) -> usize {
        self.replaced.len()
    }

    /// The position of a vertex; `index` must be less than the length.
    pub fn get(&self, index: usize) -> [f32; 3] {
        match self.replaced.get(&index) {
            Some(&position) => position,
            None => self.decode(self.items.get(index)),
        }
    }

    fn decode(&self, bytes: &[u8]) -> [f32; 3] {
        let width = size(self.kind);
        [0, 1, 2].map(|axis| self.component(&bytes[axis * width..(axis + 1) * width]))
    }

    fn component(&self, bytes: &[u8]) -> f32 {
        component(self.kind, self.normalized, bytes)
    }
}

fn component(kind: ComponentType, normalized: bool, bytes: &[u8]) -> f32 {
    let bits = whole(bytes);
    let (value, largest) = match kind {
        ComponentType::I8 => (f32::from(bits as u8 as i8), 127.0),
        ComponentType::U8 => (f32::from(bits as u8), 255.0),
        ComponentType::I16 => (f32::from(bits as u16 as i16), 32767.0),
        ComponentType::U16 => (f32::from(bits as u16), 65535.0),
        ComponentType::U32 | ComponentType::F32 => return f32::from_bits(bits),
    };
    if normalized { (value / largest).max(-1.0) } else { value }
}

/// Numbers of any accessor but one of 32-bit whole numbers, item after item.
pub(super) struct Numbers {
    pub values: Vec<f32>,
}

impl Numbers {
    /// Items of `width` numbers each.
    pub fn new(
        root: &Root,
        buffers: &mut Buffers<'_>,
        number: usize,
        width: usize,
    ) -> Result<Numbers, String> {
        let accessor = find(root, number)?;
        let place = |problem: String| format!("accessor {number}: {problem}");
        let kind = match accessor.component_type {
            Checked::Valid(kind) if kind.0 != ComponentType::U32 => kind.0,
            _ => return Err(place("the component type must be 5126, or 5120 to 5123".into())),
        };
        let right = match accessor.type_ {
            Checked::Valid(kind) => kind.multiplicity() == width,
            Checked::Invalid => false,
        };
        if !right {
            return Err(place(format!("its items must have {width} numbers")));
        }
        let (Some(view), None) = (accessor.buffer_view, &accessor.sparse) else {
            return Err(place("the values are sparse or compressed, which is not supported here".into()));
        };
        let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
        let bytes = size(kind);
        let items = Items::new(root, buffers, view.value(), offset, accessor.count.0, width * bytes)
            .map_err(place)?;
        let mut values = Vec::new();
        for index in 0..items.count {
            let item = items.get(index);
            values.extend(item.chunks_exact(bytes).map(|b| component(kind, accessor.normalized, b)));
        }
        Ok(Numbers { values })
    }
}

fn find(root: &Root, number: usize) -> Result<&gltf_json::Accessor, String> {
    root.accessors
        .get(number)
        .ok_or_else(|| format!("accessor {number} does not exist; the file has {}", root.accessors.len()))
}
