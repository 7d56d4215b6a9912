//! Valid files, damaged at random: reading must end in a sound mesh or in a message.

use taffeta::mesh::TriMesh;

use super::{Fault, gltf, obj, ply};

/// A small generator (xorshift), so that the damage is the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit.max(1)
    }
}

/// Bytes that mean something to one format or another.
const TELLING: &[u8] = b"\0\x01\x7f\x80\xff-0189.e/\\ \n\r\"[]{}:,#fvn";

fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), TELLING[random.below(TELLING.len())]),
            2 if at < bytes.len() => _ = bytes.remove(at),
            3 => {
                let end = (at + random.below(16)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ if at < bytes.len() => bytes[at] = TELLING[random.below(TELLING.len())],
            _ => {}
        }
    }
}

fn torment(name: &str, sample: &[u8], parse: impl Fn(&[u8]) -> Result<TriMesh, Fault>) {
    assert!(!parse(sample).unwrap().triangles.is_empty(), "{name}");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..1500 {
        let mut bytes = sample.to_vec();
        damage(&mut random, &mut bytes);
        match parse(&bytes) {
            Ok(mesh) => {
                let count = mesh.positions.len();
                let sound = mesh.triangles.as_flattened().iter().all(|&v| (v as usize) < count);
                assert!(sound, "{name}, round {round}");
            }
            Err(fault) => {
                assert!(!fault.problem.is_empty() && fault.problem.len() < 1000, "{name}, round {round}")
            }
        }
    }
}

#[test]
fn damaged_files_never_do_harm() {
    torment("obj", b"v 0 0 0\nv 1 0 0.5e-3\r\nv 1 1 0 1\nf 1/1 2//2 \\\n-1\nf 1 2 3 -2 # end\n", obj::parse);
    torment("ply, text", &ply::tests::ascii(), ply::parse);
    for big in [false, true] {
        torment("ply, binary", &ply::tests::binary(big), ply::parse);
    }
    for sample in gltf::tests::samples() {
        torment("gltf", &sample, |bytes| gltf::parse(bytes, None));
    }
}
