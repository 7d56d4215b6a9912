//! `xpbd-chebyshev`: `xpbd-jacobi` with Chebyshev acceleration.
//!
//! With Δx and Δλ of a Jacobi iteration, positions and multipliers go
//!
//! xᵏ⁺¹ = xᵏ⁻¹ + ωₖ₊₁ (γ Δx + xᵏ − xᵏ⁻¹),   ω₁ … ω_S = 1,   ω_{S+1} = 2/(2 − ρ²),   ωₖ₊₁ = 4/(4 − ρ² ωₖ),
//!
//! where ρ is the spectral radius of the Jacobi iteration. After k of them an error of eigenvalue μ is left with the factor
//! T_k(μ/ρ)/T_k(1/ρ), T_k(cosh t) = cosh k t being the Chebyshev polynomial: the least that k iterations can leave of all
//! |μ| ≤ ρ. Wang, *A Chebyshev semi-iterative approach for accelerating projective and position-based dynamics*, 2015.
//!
//! Four things keep it from diverging for any ρ that is asked for:
//!
//! * ρ is never more than that of the Jacobi iteration. A = ∇C M⁻¹ ∇Cᵀ + α̃ is at least α̃, and there are more constraints than
//!   directions to move in, so some error sees nothing but α̃: ρ = R/(1 + R) with R = Σ nᵢ wᵢ |∇ᵢC|²/α̃. A larger ρ gains
//!   nothing and makes the iterations swing, which turns gradients and puts energy into a soft cloth.
//! * ρ is never more than k iterations can use. They leave a ripple of ±1/T_k(1/ρ). A stiff error of which the part p is left in
//!   each substep obeys xₙ₊₁ = p (2xₙ − xₙ₋₁), which is stable for −1/3 < p < 1 only; so T_k(1/ρ) must exceed 3. Beyond that
//!   every substep converges and the motion explodes all the same.
//! * Where the corrections point against the motion on the whole, Δx · (xᵏ − xᵏ⁻¹) < 0, the polynomial begins anew (O'Donoghue,
//!   Candès, *Adaptive restart for accelerated gradient schemes*, 2015): a long polynomial lets slow parts of the error swing far
//!   before it catches them, and gradients turn meanwhile.
//! * Where corrections grow nevertheless, the rest of the substep is plain.
//!
//! Without a given ρ it is estimated. If ‖Δx‖ fell to the part B in k iterations, the slowest part of the error has
//! T_k(μ/ρ) = B T_k(1/ρ), and this μ is the next substep's ρ (Hageman, Young, *Applied iterative methods*, 1981, ch. 5; where μ is
//! below ρ the same equation lowers it). The eigenvalues of Jacobi with split masses are between 0 and ρ (see `jacobi.rs`), so γ
//! is then 2/(2 − ρ) times what is asked for, which brings them between ±ρ/(2 − ρ), where the polynomial is at its
//! best.

use super::jacobi::{Jacobi, Progress};
use super::sweeps::{Compliance, Compliant};
use super::xpbd_jacobi::{SplitCompliant, Stiffness};
use super::{Method, Substep};
use crate::model::Model;
use crate::params::{Chebyshev, Params};
use crate::wide::{Blend, Keep, Particle};

/// The least T_k(1/ρ): 3, twice over for what is not linear.
const LEAST_REDUCTION: f64 = 6.0;
/// How many times larger than at first a correction may become.
const GROWTH: f64 = 2.0;

/// The method.
pub struct XpbdChebyshev {
    jacobi: Jacobi,
    stiffness: Stiffness,
    params: Chebyshev,
    /// The estimate of ρ.
    estimate: f64,
}

impl XpbdChebyshev {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, params: &Params) -> Self {
        XpbdChebyshev {
            jacobi: Jacobi::new(model, Compliance::Fabric),
            stiffness: Stiffness::new(model),
            params: params.chebyshev.clone(),
            estimate: 1.0,
        }
    }
}

impl Method for XpbdChebyshev {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = SplitCompliant::new(&self.stiffness, substep.h);
        let given = self.params.rho.map(f64::from);
        let rho = given.unwrap_or(self.estimate).min(self.stiffness.spectral_radius(substep.h) as f64);
        let mut pace = Pace::new(&self.params, rho, substep.iterations);
        self.jacobi.begin(substep, family.share);
        while pace.left > 0 {
            let made = substep.iterations - pace.left;
            let keep = Keep::within(made, substep.iterations, substep.measure);
            let blend = Blend { keep, ..pace.next() };
            let progress = self.jacobi.iterate(substep, family, blend, pace.left == 0);
            pace.saw(&progress);
        }
        self.jacobi.end(substep);
        self.estimate = pace.slowest().unwrap_or(self.estimate);
    }

    fn colors(&self) -> usize {
        self.jacobi.constraints.colors()
    }

    fn residual(&mut self, x: &mut [Particle], h: f32) -> Option<f64> {
        Some(self.jacobi.constraints.residual(x, Compliant { inv_h2: 1.0 / (h * h) }))
    }
}

/// The largest ρ that k iterations can use.
fn usable_rho(k: u32) -> f64 {
    if k == 0 { 0.0 } else { 1.0 / libm::cosh(libm::acosh(LEAST_REDUCTION) / k as f64) }
}

/// The iterations of a substep.
struct Pace {
    /// Iterations to go.
    left: u32,
    /// Plain iterations to go before the acceleration. The last with ω = 1 is the first of the polynomial.
    pause: u32,
    /// Whether γ is to bring the eigenvalues from between 0 and ρ to between ±ρ.
    centred: bool,
    /// ρ and γ that are wanted.
    wanted: (f64, f64),
    /// ρ and γ of the present polynomial, its k and ω.
    rho: f64,
    gamma: f64,
    degree: u32,
    omega: f64,
    /// Whether the acceleration was given up.
    plain: bool,
    /// ‖Δx‖ (m) before the first step of the polynomial, at the last, and what it must not exceed.
    first: f64,
    last: f64,
    most: f64,
}

impl Pace {
    fn new(params: &Chebyshev, rho: f64, iterations: u32) -> Self {
        let centred = params.rho.is_none();
        let wanted = (if centred { rho / (2.0 - rho) } else { rho }, params.gamma as f64);
        let pause = params.delay.max(1) - 1;
        let mut pace = Pace {
            left: iterations,
            pause,
            centred,
            wanted,
            rho: 0.0,
            gamma: 1.0,
            degree: 0,
            omega: 1.0,
            plain: false,
            first: 0.0,
            last: 0.0,
            most: 0.0,
        };
        pace.begin(iterations.saturating_sub(pause));
        pace
    }

    /// Begins a polynomial of `k` iterations.
    fn begin(&mut self, k: u32) {
        self.degree = 0;
        self.rho = self.wanted.0.min(usable_rho(k));
        self.gamma = self.wanted.1 * if self.centred { 1.0 + self.rho } else { 1.0 };
    }

    /// How the next iteration is blended with the last.
    fn next(&mut self) -> Blend {
        self.left -= 1;
        if self.plain || self.pause > 0 {
            self.pause = self.pause.saturating_sub(1);
            return Blend { rate: self.wanted.1 as f32, recall: true, ..Blend::PLAIN };
        }
        self.degree += 1;
        self.omega = match self.degree {
            1 => 1.0,
            2 => 2.0 / (2.0 - self.rho * self.rho),
            _ => 4.0 / (4.0 - self.rho * self.rho * self.omega),
        };
        let (rate, momentum) = ((self.omega * self.gamma) as f32, (self.omega - 1.0) as f32);
        Blend { rate, momentum, recall: true, ..Blend::PLAIN }
    }

    /// Takes note of an iteration.
    fn saw(&mut self, progress: &Progress) {
        self.last = progress.correction;
        if self.degree <= 1 {
            self.first = self.last;
            self.most = self.most.max(GROWTH * self.last);
        } else if progress.along < 0.0 && self.left > 0 {
            self.begin(self.left);
        }
        self.plain |= self.last > self.most || self.last.is_nan();
    }

    /// The eigenvalue of the slowest part of the error, as seen.
    fn slowest(&self) -> Option<f64> {
        let k = self.degree.checked_sub(1).filter(|&k| k > 0)? as f64;
        if self.plain || self.first <= 0.0 {
            return None;
        }
        let left = self.last / self.first * libm::cosh(k * libm::acosh(1.0 / self.rho));
        let ratio = match left > 1.0 {
            true => libm::cosh(libm::acosh(left) / k),
            false => libm::cos(libm::acos(left) / k),
        };
        // From the eigenvalue with γ to that of the plain iteration.
        Some(1.0 - (1.0 - self.rho * ratio).max(0.0) / self.gamma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor that is left of errors with the eigenvalues `mu` of the Jacobi iteration.
    fn left(params: &Chebyshev, rho: f64, iterations: u32, mu: f64) -> (f64, Option<f64>) {
        let mut pace = Pace::new(params, rho, iterations);
        let (mut error, mut change) = (1.0, 0.0);
        while pace.left > 0 {
            let Blend { rate, momentum, .. } = pace.next();
            let correction = (mu - 1.0) * error;
            let along = correction * change;
            change = rate as f64 * correction + momentum as f64 * change;
            error += change;
            // One eigenvalue alone swings; with many the sum seldom does, and the polynomial is left in peace.
            pace.saw(&Progress { correction: correction.abs(), along: along.abs() });
        }
        (error, pace.slowest())
    }

    #[test]
    fn no_part_of_an_error_is_left_that_would_make_the_motion_unstable() {
        for rho in [None, Some(0.3), Some(0.9), Some(0.99), Some(0.999)] {
            let params = Chebyshev { rho, ..Chebyshev::default() };
            for iterations in [1, 2, 3, 5, 10, 30, 100] {
                for i in 0..=1000 {
                    let mu = i as f64 / 1000.0;
                    let (error, _) = left(&params, rho.map_or(1.0, f64::from), iterations, mu);
                    assert!(
                        (-1.0 / 3.0..=1.0).contains(&error),
                        "ρ {rho:?}, {iterations} iterations: {error} is left of what has the eigenvalue {mu}"
                    );
                }
            }
        }
    }

    #[test]
    fn where_corrections_grow_the_rest_is_plain() {
        let mut pace = Pace::new(&Chebyshev { rho: Some(0.9), ..Chebyshev::default() }, 0.9, 20);
        let mut correction = 1.0;
        for _ in 0..8 {
            pace.next();
            correction *= if pace.degree > 1 { 2.5 } else { 1.0 };
            pace.saw(&Progress { correction, along: 1.0 });
        }
        assert!(pace.plain && pace.next().momentum == 0.0 && pace.slowest().is_none());
        // Nor is anything built on what is no number.
        let mut pace = Pace::new(&Chebyshev { rho: Some(0.9), ..Chebyshev::default() }, 0.9, 20);
        pace.next();
        pace.saw(&Progress { correction: f64::NAN, along: 0.0 });
        assert!(pace.plain);
    }

    #[test]
    fn momentum_begins_anew_where_corrections_point_against_it() {
        let mut pace = Pace::new(&Chebyshev { rho: Some(0.99), delay: 1, ..Chebyshev::default() }, 0.99, 10);
        for along in [1.0, 1.0, 1.0, -1.0] {
            assert!((pace.next().momentum == 0.0) == (pace.degree == 1));
            pace.saw(&Progress { correction: 1.0, along });
        }
        // A polynomial of the six that are left, with a ρ that six can use.
        assert!((pace.rho - usable_rho(6)).abs() < 1e-12, "{}", pace.rho);
        assert_eq!(pace.next().momentum, 0.0);
        pace.saw(&Progress { correction: 1.0, along: 1.0 });
        assert!(pace.next().momentum > 0.0 && !pace.plain);
    }

    /// T_k(z).
    fn chebyshev(k: u32, z: f64) -> f64 {
        match z.abs() > 1.0 {
            true => (k as f64 * z.abs().acosh()).cosh(),
            false => (k as f64 * z.acos()).cos(),
        }
    }

    /// The eigenvalues are between 0 and ρ. An estimated ρ is centred on them, so that both ends are let down alike; a given one is taken
    /// as it is, for −ρ to ρ, half of which nothing needs.
    #[test]
    fn an_estimated_radius_is_centred_and_a_given_one_is_not() {
        let (rho, k) = (0.9, 12);
        let estimated = Chebyshev { rho: None, delay: 1, ..Chebyshev::default() };
        let given = Chebyshev { rho: Some(rho as f32), ..estimated.clone() };
        let least = 1.0 / chebyshev(k, (2.0 - rho) / rho);
        for end in [0.0, rho] {
            let (error, _) = left(&estimated, rho, k, end);
            assert!((error.abs() - least).abs() < 1e-6, "{end}: {error}, not {least}");
        }
        let mut worst: f64 = 0.0;
        for i in 0..=200 {
            let mu = rho * i as f64 / 200.0;
            worst = worst.max(left(&estimated, rho, k, mu).0.abs());
            for mu in [-mu, mu] {
                let expected = chebyshev(k, mu / rho) / chebyshev(k, 1.0 / rho);
                let (error, _) = left(&given, rho, k, mu);
                assert!((error.abs() - expected.abs()).abs() < 1e-5, "{mu}: {error}, not {expected}");
            }
        }
        assert!(worst < 1.0001 * least, "{worst} is left of something between, not {least}");
        assert!(least < 0.2 / chebyshev(k, 1.0 / rho), "centring is worth it: {least}");
    }

    #[test]
    fn it_leaves_what_the_polynomial_says_and_finds_the_eigenvalue() {
        let params = Chebyshev { rho: None, delay: 1, ..Chebyshev::default() };
        let (rho, k) = (0.9, 20);
        for mu in [0.0, 0.5, 0.85, 0.9, 0.95] {
            let (error, slowest) = left(&params, rho, k, mu);
            let expected = chebyshev(k, (2.0 * mu - rho) / rho) / chebyshev(k, (2.0 - rho) / rho);
            assert!((error.abs() - expected.abs()).abs() < 1e-6, "{mu}: {error}, not {expected}");
            if mu >= 0.9 {
                assert!((slowest.unwrap() - mu).abs() < 1e-3, "{mu} was taken for {slowest:?}");
            }
        }
    }
}
