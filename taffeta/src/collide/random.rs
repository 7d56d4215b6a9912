//! Numbers for tests, the same for the same seed.

use glam::Vec3;

pub struct Random(pub u64);

impl Random {
    /// In [0, 1).
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// In [−1, 1).
    pub fn signed(&mut self) -> f32 {
        2.0 * self.next() - 1.0
    }

    /// In the cube [−1, 1)³.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }
}
