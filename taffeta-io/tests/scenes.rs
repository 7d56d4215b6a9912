//! Every built-in scene checks itself: it runs as it is and does what it says.

mod common;

use common::{run, scene};
use taffeta::Simulation;
use taffeta_io::scene_file::BUILT_IN;

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt()
}

/// The greatest stretch of an edge; compression, which a strain limit leaves alone, does not count.
fn stretch(sim: &Simulation) -> f32 {
    sim.strain().stretch as f32
}

/// Those with a check below or in contact_scenes.rs. A new scene must get one.
const CHECKED: [&str; 32] = [
    "self-collision",
    "multiple-objects",
    "ball-and-wind",
    "statue",
    "mannequin",
    "sphere-drape",
    "drop",
    "tower",
    "twist",
    "funnel",
    "plate",
    "body",
    "hang",
    "attach",
    "sdf-collision",
    "friction",
    "high-resolution",
    "swirl",
    "hang-iterations",
    "horizontal",
    "free-fall",
    "pendulum-wind",
    "cantilever",
    "strip",
    "incline",
    "pendulum",
    "flag",
    "unity-lab",
    "modules-dynamics",
    "modules-pbd",
    "time-step",
    "curtain",
];

#[test]
fn every_scene_has_a_check() {
    for scene in BUILT_IN {
        assert!(CHECKED.contains(&scene.name), "{} has no check", scene.name);
    }
}

#[test]
fn hang_hardly_stretches() {
    let mut sim = scene("hang", &[]);
    let pinned = sim.positions()[0];
    run(&mut sim, 600);
    let strain = sim.strain();
    assert!(strain.max <= 0.03, "maximum strain {:.2} %", 100.0 * strain.max);
    assert!(sim.positions()[64 * 65 + 32][1] < pinned[1] - 0.95, "it hangs down");
    assert_eq!(sim.positions()[0], pinned);
}

#[test]
fn attach_rests_on_the_ball() {
    let mut sim = scene("attach", &[]);
    assert_eq!(sim.positions().len(), 1681);
    assert_eq!(sim.model().distance.len(), 6480);
    run(&mut sim, 300);
    assert_eq!(sim.penetrating_vertices(), 0);
    let middle = sim.positions()[20 * 41 + 20];
    assert!(
        (middle[1] - 1.02).abs() < 0.005,
        "the middle lies one margin over the ball's top: {}",
        middle[1]
    );
    for corner in [0, 40, 1640, 1680] {
        assert_eq!(sim.positions()[corner][1], 1.15, "corners are exactly at their pins");
    }
}

#[test]
fn sdf_collision_pushes_the_cloth_about() {
    let mut sim = scene("sdf-collision", &[]);
    let mut reached: f32 = 0.0;
    for _ in 0..20 {
        run(&mut sim, 10);
        assert_eq!(sim.penetrating_vertices(), 0, "in frame {}", sim.state().frame);
        reached = sim.positions().iter().map(|p| p[2]).fold(reached, f32::max);
    }
    assert!(reached > 0.3, "the ball carries the cloth along: {reached} m");
}

/// Friction is no more than μ times what the ball really pushes, however few the iterations are.
#[test]
fn sdf_collision_slides_over_the_ball_by_descent() {
    let worst = |method: &str, sets: &[&str]| {
        let method = format!("simulation.method={method}");
        // The ball alone: where the cloth folds onto itself, methods differ by more than by friction.
        let mut sim =
            scene("sdf-collision", &[&[method.as_str(), "simulation.contact.mode=none"], sets].concat());
        (0..240).fold(0.0f32, |worst, _| {
            run(&mut sim, 1);
            worst.max(stretch(&sim))
        })
    };
    let converged = worst("newton", &[]);
    for method in ["implicit", "implicit-chebyshev"] {
        let (rough, smooth) = (worst(method, &[]), worst(method, &["collider.0.friction=0"]));
        let many = worst(method, &["simulation.iterations=64"]);
        println!(
            "{method}: {rough} with friction, {smooth} without, {many} with 64 iterations, newton {converged}"
        );
        // Four iterations let the cloth stretch where the ball hits it; friction of 0.1 must not add much to that.
        assert!(rough < 1.2 * smooth + 0.1, "{method}: {rough} with friction, {smooth} without");
        // Sixty-four come near to what is converged; a push that is overstated leaves them at 0.45.
        assert!(many < converged + 0.1, "{method}: {many} with 64 iterations, newton {converged}");
    }
}

#[test]
fn friction_carries_the_cloth_along() {
    // With friction the cloth follows the ball; without it slides off to the ground.
    let height = |sets: &[&str]| {
        let mut sim = scene("friction", sets);
        run(&mut sim, 240);
        assert_eq!(sim.penetrating_vertices(), 0);
        sim.positions().iter().map(|p| p[1]).fold(0.0, f32::max)
    };
    let coarse = "cloth.0.resolution=32";
    let (with, without) = (height(&[coarse]), height(&[coarse, "collider.0.friction=0"]));
    assert!(with > 0.9, "held: {with} m");
    assert!(without < with - 0.2, "slipped: {without} m against {with} m");
}

#[test]
fn high_resolution_lies_on_the_ball() {
    let mut sim = scene("high-resolution", &[]);
    assert_eq!(sim.positions().len(), 40_401);
    run(&mut sim, 2);
    let mut sim = scene("high-resolution", &["cloth.0.resolution=80"]);
    run(&mut sim, 60);
    assert_eq!(sim.penetrating_vertices(), 0);
    assert!(sim.strain().max < 0.5, "{}", sim.strain().max);
}

#[test]
fn swirl_follows_its_corner() {
    let mut sim = scene("swirl", &[]);
    for _ in 0..10 {
        run(&mut sim, 20);
        let angle = 3.0 * sim.state().time;
        let corner = sim.positions()[0].map(f64::from);
        let expected = [-angle.cos(), 2.5, -1.0 + angle.sin()];
        let off = (0..3).map(|c| (corner[c] - expected[c]).powi(2)).sum::<f64>().sqrt();
        assert!(off < 1e-5, "the corner is {off} m from its circle");
    }
    assert!(sim.strain().max < 0.5, "{}", sim.strain().max);
}

#[test]
fn hang_iterations_agree() {
    let shape = |iterations: u32| {
        let mut sim = scene("hang-iterations", &[&format!("simulation.iterations={iterations}")]);
        assert_eq!(sim.model().distance.len(), 16_512);
        run(&mut sim, 150);
        sim.positions().to_vec()
    };
    let first = shape(20);
    for iterations in [40, 80, 160] {
        let other = shape(iterations);
        let most = first.iter().zip(&other).map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max);
        assert!(most < 0.02 * 2.0, "20 and {iterations} iterations are {most} m apart");
    }
}

/// Position based dynamics gets stiffer with every iteration, XPBD has the stiffness of its fabric.
#[test]
fn hang_iterations_matter_to_pbd_and_not_to_xpbd() {
    let shape = |method: &str, iterations: u32| {
        let sets = [
            "cloth.0.resolution=32".into(),
            format!("simulation.method={method}"),
            format!("simulation.iterations={iterations}"),
        ];
        let mut sim = scene("hang-iterations", &sets.each_ref().map(String::as_str));
        run(&mut sim, 150);
        sim.positions().to_vec()
    };
    let change = |method: &str| {
        let (few, many) = (shape(method, 20), shape(method, 160));
        few.iter().zip(&many).map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max) / 2.0
    };
    let [pbd, jacobi, xpbd] = ["pbd-gs", "pbd-jacobi", "xpbd"].map(change);
    println!(
        "20 to 160 iterations move pbd-gs by {pbd:.1e}, pbd-jacobi by {jacobi:.1e}, xpbd by {xpbd:.1e} sizes"
    );
    assert!(xpbd < 0.002, "xpbd changes by {xpbd} of the cloth's size");
    assert!(pbd > 10.0 * xpbd && jacobi > 10.0 * xpbd, "pbd-gs changes by {pbd}, pbd-jacobi by {jacobi}");
}

/// S1, figures 4.4 and 4.5, as means of log h and of log Σ (|pᵢ − pⱼ| − d)² over the frames.
#[test]
fn horizontal_converges_in_the_order_of_the_methods() {
    let curve = |sets: &[&str]| {
        let mut sim = scene("horizontal", sets);
        sim.measure_residual(true);
        let (frames, mut sums) = (200, [0.0; 2]);
        for _ in 0..frames {
            run(&mut sim, 1);
            let x = &sim.state().x;
            let strain = |row: &taffeta::color::Row<2, 2>| {
                let [a, b] = row.particles.map(|i| x[i as usize].p);
                ((distance(a, b) - row.params[1]) as f64).powi(2)
            };
            sums[1] += sim.model().distance.iter().map(strain).sum::<f64>().log10() / frames as f64;
            sums[0] += sim.residual().expect("it was measured").log10() / frames as f64;
        }
        println!("{sets:?}: log h {:.3}, log residual strain {:.3}", sums[0], sums[1]);
        sums
    };
    let rho = |rho: f32| {
        let set = format!("simulation.chebyshev.rho={rho}");
        curve(&["simulation.method=xpbd-chebyshev", &set])
    };
    let coloured = curve(&[]);
    let jacobi = curve(&["simulation.method=xpbd-jacobi"]);
    let estimated = curve(&["simulation.method=xpbd-chebyshev"]);
    let fixed = [0.6, 0.7, 0.8, 0.9, 0.95].map(rho);
    for i in 0..2 {
        assert!(coloured[i] < estimated[i].min(jacobi[i]), "coloured XPBD converges fastest");
        assert!(fixed.iter().all(|f| coloured[i] < f[i]), "coloured XPBD converges fastest");
        let gain = |curve: [f64; 2]| jacobi[i] - curve[i];
        assert!(gain(fixed[3]) > 0.2, "ρ = 0.9 beats Jacobi");
        assert!(gain(fixed[0]) < 0.35 * gain(fixed[3]), "ρ = 0.6 hardly helps");
        assert!(fixed.iter().all(|f| estimated[i] <= f[i]), "the estimate is as good as any of these");
    }
    for extreme in [0.3, 0.98, 0.99, 0.999] {
        let curve = rho(extreme);
        assert!(curve[0] < jacobi[0] + 0.01 && curve[1] < jacobi[1] + 0.01, "ρ = {extreme} does not diverge");
    }
}

/// A soft cloth, whose iteration has a spectral radius of 0.94: to ask for more must not put energy into it.
#[test]
fn hang_iterations_stand_any_spectral_radius() {
    let most = |sets: &[&str]| {
        let mut sim = scene("hang-iterations", sets);
        let mut most: f64 = 0.0;
        for _ in 0..60 {
            run(&mut sim, 1);
            most = most.max(sim.energies().kinetic);
        }
        most
    };
    let plain = most(&[]);
    for rho in [0.95, 0.976, 0.99, 0.999] {
        let set = format!("simulation.chebyshev.rho={rho}");
        let most = most(&["simulation.method=xpbd-chebyshev", &set]);
        println!("ρ = {rho}: {most:.3} J, coloured {plain:.3} J");
        assert!(most < 1.2 * plain, "ρ = {rho}: {most} J, coloured {plain} J");
    }
}

#[test]
fn horizontal_comes_to_rest() {
    let mut sim = scene("horizontal", &[]);
    let start = sim.positions().to_vec();
    run(&mut sim, 20);
    let early = sim.energies();
    run(&mut sim, 580);
    let late = sim.energies();
    assert!(late.kinetic < 1e-3 * early.kinetic, "{} J after {} J", late.kinetic, early.kinetic);
    let most = start.iter().zip(sim.positions()).map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max);
    assert!(most < 0.1, "{most} m from level");
}

/// The spring change rate at the end of `free-fall`, by method and number of levels.
fn change_rate(method: &str, levels: u32, seed: u32) -> f64 {
    let method = format!("simulation.method={method}");
    let (levels, seed) =
        (format!("simulation.hierarchy.levels={levels}"), format!("simulation.hierarchy.seed={seed}"));
    let mut sim = scene("free-fall", &[&method, &levels, &seed]);
    let pinned = sim.positions()[0];
    run(&mut sim, 180);
    assert_eq!(sim.positions()[0], pinned);
    sim.strain().mean
}

#[test]
fn free_fall_stretches_less_with_better_levels_and_with_more() {
    // S5, table 3, has 67 % for PBD, 63, 48, 41 % for HPBD with 1, 3, 5 levels, 46, 34, 26 % for SHPBD and
    // 37, 23, 19 % for GHPBD. The same order, row by row and column by column.
    let mut before = vec![change_rate("pbd-gs", 1, 1); 3];
    for method in ["hpbd", "shpbd", "ghpbd"] {
        let rates: Vec<f64> = [1, 3, 5].map(|levels| change_rate(method, levels, 1)).to_vec();
        println!("{method}: {rates:.4?} after {before:.4?}");
        assert!(rates[0] > rates[1] && rates[1] > rates[2], "{method} with 1, 3, 5 levels: {rates:?}");
        for (rate, before) in rates.iter().zip(&before) {
            assert!(*rate < 0.85 * before, "{method}: {rates:?} after {before:?}");
        }
        before = rates;
    }
    // However the samples fall, they lie between.
    let [collapsed, regular] = ["hpbd", "ghpbd"].map(|method| change_rate(method, 3, 1));
    for seed in 2..=4 {
        let sampled = change_rate("shpbd", 3, seed);
        assert!(regular < sampled && sampled < collapsed, "seed {seed}: {sampled}");
    }
}

#[test]
fn pendulum_wind_swings_the_cloth_to_both_sides() {
    let swing = |method: &str| {
        let mut sim = scene("pendulum-wind", &[&format!("simulation.method={method}")]);
        let (mut forth, mut back, mut stretch) = (0.0f32, 0.0f32, 0.0);
        for _ in 0..40 {
            run(&mut sim, 10);
            let hem = sim.positions()[32 * 33 + 16];
            (forth, back) = (forth.max(hem[2]), back.min(hem[2]));
            stretch += sim.strain().mean / 40.0;
        }
        assert!(forth > 0.3 && back < -0.3, "{method}: {back} to {forth} m");
        stretch
    };
    let [plain, collapsed, regular] = ["pbd-gs", "hpbd", "ghpbd"].map(swing);
    println!("{plain} {collapsed} {regular}");
    // S5, figure 7: the collapsed levels leave the cloth further from its length than the regular ones.
    assert!(regular < collapsed && collapsed < plain, "{regular}, {collapsed}, {plain}");
}

#[test]
fn cantilever_drops_as_the_elastica() {
    for bending in ["isometric", "dihedral"] {
        let mut sim = scene("cantilever", &[&format!("cloth.0.bending={bending}")]);
        run(&mut sim, 150);
        let drop = -sim.positions()[26 + 25][1] / 0.2;
        assert!((drop / 0.7002 - 1.0).abs() < 0.03, "{bending}: {drop}");
    }
}

#[test]
fn strip_stretches_by_one_per_cent() {
    let mut sim = scene("strip", &[]);
    run(&mut sim, 150);
    let (high, low) = (sim.positions()[4 * 33 + 8][1], sim.positions()[4 * 33 + 24][1]);
    let strain = (high - low) / 0.4 - 1.0;
    assert!((strain / 0.01 - 1.0).abs() < 0.02, "{:.3} %", 100.0 * strain);
}

#[test]
fn incline_slides_with_the_right_acceleration_or_holds() {
    let slide = |method: &str, friction: f32| {
        let sets = [format!("simulation.method={method}"), format!("collider.0.friction={friction}")];
        let mut sim = scene("incline", &sets.each_ref().map(String::as_str));
        let before = sim.positions()[40];
        run(&mut sim, 60);
        distance(before, sim.positions()[40])
    };
    let (sin, cos) = 20f32.to_radians().sin_cos();
    let expected = 0.5 * 9.81 * (sin - 0.3 * cos);
    for method in ["xpbd", "implicit", "implicit-chebyshev"] {
        let (slides, holds) = (slide(method, 0.3), slide(method, 0.37));
        assert!((slides / expected - 1.0).abs() < 0.02, "{method}: {slides} m, not {expected} m");
        assert!(holds < 1e-4, "{method}: {holds} m");
    }
}

#[test]
fn pendulum_keeps_its_period() {
    let mut sim = scene("pendulum", &[]);
    let (mut crossings, mut before) = (Vec::new(), sim.positions()[20][0]);
    for frame in 1..=300 {
        run(&mut sim, 1);
        let now = sim.positions()[20][0];
        if before * now <= 0.0 {
            crossings.push((frame as f32 - now / (now - before)) / 60.0);
        }
        before = now;
    }
    let period = 2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f32;
    assert!((period / 1.160 - 1.0).abs() < 0.01, "{period} s");
}

#[test]
fn flag_flies_and_hardly_stretches() {
    let mut sim = scene("flag", &[]);
    let hoist: Vec<[f32; 3]> = sim.positions().iter().step_by(49).copied().collect();
    // The middle of the fly, 1.5 m from the hoist at rest.
    let fly = |sim: &Simulation| sim.positions()[16 * 49 + 48];
    let (mut low, mut high, mut downwind) = (f32::MAX, f32::MIN, 0.0);
    for _ in 0..60 {
        run(&mut sim, 5);
        let strain = sim.strain().max;
        assert!(strain < 0.1, "{:.1} % in frame {}", 100.0 * strain, sim.state().frame);
        if sim.state().frame > 120 {
            let [x, _, z] = fly(&sim);
            (low, high) = (low.min(z), high.max(z));
            downwind += (x + 0.75) / 36.0;
        }
    }
    assert!(sim.positions().iter().step_by(49).eq(&hoist), "the hoist is held");
    assert!(high - low > 0.2, "the fly flutters by {} m", high - low);
    let mut calm = scene("flag", &["wind.until=2", "cloth.0.resolution=[24,16]"]);
    run(&mut calm, 360);
    // Where it comes to hang depends on how it folded, between 0.3 m upwind and 0.8 m downwind of the hoist; but it is below.
    let drop = hoist[16][1] - calm.positions()[8 * 25 + 24][1];
    assert!(downwind > 1.0 && drop > 0.5, "{downwind} m downwind; {drop} m down in the calm afterwards");
}

/// The greatest stretch of any edge of `flag` in any of its first frames, by the method of S3.
fn worst_of_flag(sets: &[&str], frames: u32) -> f32 {
    let mut sim = scene("flag", &[&["simulation.method=verlet"], sets].concat());
    let mut worst: f32 = 0.0;
    for _ in 0..frames {
        run(&mut sim, 1);
        worst = worst.max(stretch(&sim));
    }
    worst
}

/// S3, figure 11, with all settings of the scene: the jerk at the start is what stretches it most. With the thousand substeps that `verlet` needs,
/// its springs are stiff enough to stay under 10 % by themselves; that it is the correction which keeps the limit is seen with a lower one.
#[test]
fn provot_keeps_the_flag_under_ten_per_cent() {
    let worst = |limit: f32| worst_of_flag(&[&format!("simulation.verlet.strain_limit={limit}")], 75);
    let (usual, free, limited) = (worst_of_flag(&[], 75), worst(0.0), worst(0.01));
    println!(
        "{:.1} %, {:.1} % without a limit, {:.1} % with one of 1 %",
        100.0 * usual,
        100.0 * free,
        100.0 * limited
    );
    assert!(usual < 0.1, "{:.1} %", 100.0 * usual);
    // A few passes leave a little over the limit.
    assert!(
        limited < 0.02 && free > 0.03,
        "{:.1} % without a limit, {:.1} % with one of 1 %",
        100.0 * free,
        100.0 * limited
    );
}

/// On soft springs it is the correction alone that keeps the flag under 10 %. A few passes leave a little over the limit, which is therefore
/// set a little lower.
#[test]
fn provot_keeps_a_soft_flag_under_ten_per_cent() {
    let worst = |limit: &str| {
        let limit = format!("simulation.verlet.strain_limit={limit}");
        let soft = ["cloth.0.fabric.stretch=200", "cloth.0.fabric.shear=60", "cloth.0.tethers.stretch=9"];
        worst_of_flag(&[&["simulation.strain_passes=6", &limit], &soft[..]].concat(), 180)
    };
    let (free, limited) = (worst("0"), worst("0.08"));
    assert!(free > 0.15, "{:.1} % without a limit", 100.0 * free);
    assert!(limited < 0.1, "{:.1} % with one", 100.0 * limited);
}

#[test]
fn unity_lab_runs_with_every_solver_of_its_document() {
    let solvers = ["explicit", "pbd-gs", "pbd-jacobi", "pbd-sor", "xpbd", "implicit", "implicit-chebyshev"];
    for method in solvers {
        let mut sim = scene("unity-lab", &[&format!("simulation.method={method}")]);
        assert_eq!(sim.positions().len(), 441);
        let pins = [sim.positions()[0], sim.positions()[20]];
        run(&mut sim, 300);
        assert_eq!([sim.positions()[0], sim.positions()[20]], pins, "{method}");
        assert_eq!(sim.penetrating_vertices(), 0, "{method}");
        // Ten metres of cloth below pins at ten metres, draped over the ball.
        let low = sim.positions().iter().map(|p| p[1]).fold(f32::MAX, f32::min);
        assert!((-6.0..4.0).contains(&low), "{method}: the hem is at {low} m");
    }
}

#[test]
fn modules_dynamics_keeps_its_stretch_small() {
    let shape = |coloring: &str| {
        let mut sim = scene("modules-dynamics", &[&format!("simulation.coloring={coloring}")]);
        assert_eq!(sim.positions().len(), 31 * 31);
        run(&mut sim, 240);
        let stretch = stretch(&sim);
        assert!(stretch < 0.15, "{coloring}: {:.1} %", 100.0 * stretch);
        let low = sim.positions().iter().map(|p| p[1]).fold(f32::MAX, f32::min);
        assert!((-0.5..0.3).contains(&low), "{coloring}: it hangs down to {low} m");
    };
    shape("best");
    shape("modules");
}

#[test]
fn modules_pbd_hangs() {
    for coloring in ["best", "modules"] {
        let mut sim = scene("modules-pbd", &[&format!("simulation.coloring={coloring}")]);
        run(&mut sim, 240);
        let low = sim.positions().iter().map(|p| p[1]).fold(f32::MAX, f32::min);
        assert!((-1.5..0.3).contains(&low), "{coloring}: it hangs down to {low} m");
    }
}

/// S4, figures 5 and 6: hardly any difference between 20 and 160 iterations, nor between 1 and 10 ms; at 20 ms there is one.
#[test]
fn time_step_and_iterations_hardly_change_the_shape() {
    let shape = |dt: f32, iterations: u32| {
        let sets = [format!("simulation.dt={dt}"), format!("simulation.iterations={iterations}")];
        let mut sim = scene("time-step", &[&sets[0], &sets[1]]);
        assert_eq!(sim.positions().len(), 2500);
        run(&mut sim, (2.5 / dt).round() as u32);
        sim.positions().to_vec()
    };
    let reference = shape(0.01, 40);
    // As parts of the two metres of the cloth.
    let apart = |other: Vec<[f32; 3]>| {
        reference.iter().zip(&other).map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max) / 2.0
    };
    for (iterations, most) in [(20, 0.04), (80, 0.015), (160, 0.015)] {
        let apart = apart(shape(0.01, iterations));
        assert!(apart < most, "{iterations} iterations: {:.1} % apart", 100.0 * apart);
    }
    for (dt, most) in [(0.002, 0.015), (0.02, 0.12)] {
        let apart = apart(shape(dt, 40));
        assert!(apart < most, "{dt} s: {:.1} % apart", 100.0 * apart);
    }
}

/// Membrane triangles get stiffer as they stretch, here to several times what they are at rest.
#[test]
fn time_step_stands_descent() {
    for method in ["implicit", "implicit-chebyshev"] {
        // Contact is left out: stretched so far, the cloth folds onto itself, and these methods do not count the pushes of layers.
        let sets = [&format!("simulation.method={method}")[..], "simulation.contact.mode=none"];
        let mut sim = scene("time-step", &sets);
        run(&mut sim, 120);
        let strain = sim.strain().max;
        // 1.60 and 1.23 were measured, 3.05 for the first where iterations start from the prediction; without care for
        // stiffening triangles it grows without end.
        assert!(strain < 2.0, "{method}: {:.0} %", 100.0 * strain);
    }
}

/// Five iterations are too few for a cloth of 64 quads a side that falls into its pins: from the prediction, and without a look at the
/// energy that they leave, the corners were ten times as long as at rest in frame 124 and 153.
#[test]
fn free_fall_stands_descent() {
    // 4.29 and 1.65 were measured; started from the prediction the first would reach 8.8.
    for (method, most) in [("implicit", 5.0), ("implicit-chebyshev", 2.0)] {
        let sets = [&format!("simulation.method={method}")[..], "simulation.contact.mode=none"];
        let mut sim = scene("free-fall", &sets);
        let mut worst: f64 = 0.0;
        for _ in 0..18 {
            run(&mut sim, 10);
            worst = worst.max(sim.strain().max);
        }
        println!("{method}: {worst:.2}");
        assert!(worst < most, "{method}: {:.0} %", 100.0 * worst);
    }
}

/// Contacts that a step would make are expected; found one by one, `sdf-collision` takes up to 23 iterations and `attach` 16.
#[test]
fn newton_converges_in_contact() {
    for (name, frames, most) in [("sdf-collision", 60, 16), ("attach", 20, 12)] {
        let mut sim = scene(name, &["simulation.method=newton"]);
        for frame in 1..=frames {
            run(&mut sim, 1);
            let reached = sim.convergence().expect("newton says how far it came");
            assert!(reached.converged, "{name}, frame {frame}: {reached:?}");
            assert!(reached.iterations <= most, "{name}, frame {frame}: {} iterations", reached.iterations);
        }
    }
}

#[test]
fn curtain_is_drawn_and_opened() {
    let mut sim = scene("curtain", &[]);
    let start = sim.positions().to_vec();
    let rings: Vec<usize> = (0..=48).step_by(6).collect();
    let depth = |sim: &Simulation| {
        let z = sim.positions().iter().map(|p| p[2]);
        z.clone().fold(f32::MIN, f32::max) - z.fold(f32::MAX, f32::min)
    };
    run(&mut sim, 240);
    let width = sim.positions()[48][0] - sim.positions()[0][0];
    assert!((width - 0.8).abs() < 1e-4, "drawn to a third: {width} m");
    let folds = depth(&sim);
    assert!(folds > 0.15, "folds of {folds} m");
    assert!(sim.strain().max < 0.1, "{}", sim.strain().max);
    run(&mut sim, 240);
    for &ring in &rings {
        assert_eq!(sim.positions()[ring], start[ring], "ring {ring} is back");
    }
    // Layers that rubbed on each other are not quite flat again.
    assert!(depth(&sim) < folds, "open again: {} m", depth(&sim));
}
