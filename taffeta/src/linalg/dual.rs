//! Forward-mode derivatives: a number that carries its gradient.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::lanes::Lane;

/// A value and its derivatives by K variables. A [`Lane`], so that whatever is written over lanes can be
/// differentiated exactly; the Hessian of a constraint is its gradient evaluated on dual numbers.
#[derive(Clone, Copy, Debug)]
pub struct Dual<const K: usize> {
    /// The value.
    pub value: f64,
    /// Its derivative by each variable.
    pub slope: [f64; K],
}

impl<const K: usize> Dual<K> {
    /// A number that depends on nothing.
    pub fn constant(value: f64) -> Self {
        Dual { value, slope: [0.0; K] }
    }

    /// The k-th variable.
    pub fn variable(value: f64, k: usize) -> Self {
        let mut dual = Self::constant(value);
        dual.slope[k] = 1.0;
        dual
    }

    /// `value` with slope `a · self' + b · other'`.
    #[inline]
    fn chain(self, value: f64, a: f64, other: Self, b: f64) -> Self {
        let mut slope = [0.0; K];
        for k in 0..K {
            slope[k] = a * self.slope[k] + b * other.slope[k];
        }
        Dual { value, slope }
    }
}

impl<const K: usize> Add for Dual<K> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        self.chain(self.value + o.value, 1.0, o, 1.0)
    }
}

impl<const K: usize> Sub for Dual<K> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.chain(self.value - o.value, 1.0, o, -1.0)
    }
}

impl<const K: usize> Mul for Dual<K> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        self.chain(self.value * o.value, o.value, o, self.value)
    }
}

impl<const K: usize> Div for Dual<K> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = self.value / o.value;
        self.chain(q, 1.0 / o.value, o, -q / o.value)
    }
}

impl<const K: usize> Neg for Dual<K> {
    type Output = Self;
    fn neg(self) -> Self {
        self.chain(-self.value, -1.0, self, 0.0)
    }
}

impl<const K: usize> Lane for Dual<K> {
    fn like(self, v: f32) -> Self {
        Self::constant(v as f64)
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root, self, 0.0)
    }
    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }
    fn max(self, other: Self) -> Self {
        if self.value > other.value { self } else { other }
    }
    fn min(self, other: Self) -> Self {
        if self.value < other.value { self } else { other }
    }
    fn atan2(self, x: Self) -> Self {
        let r2 = self.value * self.value + x.value * x.value;
        self.chain(libm::atan2(self.value, x.value), x.value / r2, x, -self.value / r2)
    }
    fn select_lt(self, bound: Self, then: Self, otherwise: Self) -> Self {
        if self.value < bound.value { then } else { otherwise }
    }
}
