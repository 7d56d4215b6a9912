//! Scenes of contact: they start clean, and what is held and moved goes where it is told.

mod common;

use common::{run, scene};
use glam::Vec3;
use taffeta::Simulation;
use taffeta_io::scene_file::BUILT_IN;

#[test]
fn all_scenes_start_clean() {
    for built_in in BUILT_IN {
        let sim = scene(built_in.name, &[]);
        assert_eq!(sim.intersecting_pairs(), 0, "{}: something crosses at the start", built_in.name);
        assert_eq!(sim.penetrating_vertices(), 0, "{}: something starts inside a collider", built_in.name);
    }
}

#[test]
fn the_catalogue_has_the_sizes_it_says() {
    for (name, vertices, body) in [
        ("self-collision", 61 * 61, 0),
        ("multiple-objects", 3 * 65 * 65, 386),
        ("mannequin", 1202, 1202),
        ("sphere-drape", 2704, 2562),
        ("tower", 10 * 33 * 33, 0),
    ] {
        let sim = scene(name, &[]);
        let points: usize = sim.bodies().iter().map(|b| b.points().len()).sum();
        assert_eq!((sim.positions().len(), points), (vertices, body), "{name}");
    }
}

/// a − μ g of the plate, or none at all.
#[test]
fn plate_carries_the_cloth_along_or_slides_away_under_it() {
    let lag = |friction: f32| {
        let mut sim = scene("plate", &[&format!("collider.0.friction={friction}")]);
        let before = sim.positions()[40][0];
        run(&mut sim, 60);
        let plate = sim.bodies()[0].pose.position.x;
        assert!((plate - 1.5).abs() < 1e-4, "{plate}");
        plate - (sim.positions()[40][0] - before)
    };
    assert!(lag(0.5).abs() < 0.01, "{} m", lag(0.5));
    let expected = 0.5 * (3.0 - 0.1 * 9.81);
    assert!((lag(0.1) / expected - 1.0).abs() < 0.02, "{} m, not {expected} m", lag(0.1));
}

#[test]
fn twist_turns_the_ends_against_each_other() {
    let mut sim = scene("twist", &["cloth.0.generate.vertices=600"]);
    let start = sim.positions().to_vec();
    let ends: Vec<usize> = (0..start.len()).filter(|&v| start[v][0].abs() > 0.599).collect();
    run(&mut sim, 60);
    for v in ends {
        let (from, to) = (Vec3::from(start[v]), Vec3::from(sim.positions()[v]));
        let side = from.x.signum();
        // A quarter of a turn in a second, and 1/8 of the 25 cm.
        assert!((to.x - (from.x - side * 0.03125)).abs() < 1e-4, "{from} {to}");
        let (a, b) = (Vec3::new(0.0, from.y - 1.0, from.z), Vec3::new(0.0, to.y - 1.0, to.z));
        assert!(a.dot(b).abs() < 1e-3 * a.length_squared() && (a.length() - b.length()).abs() < 1e-4);
        assert!(a.cross(b).x * side < 0.0, "the ends turn opposite ways");
    }
}

#[test]
fn body_walks_and_its_skirt_is_sewn_to_it() {
    let mut sim = scene("body", &["cloth.0.generate.vertices=500", "collider.0.generate.vertices=1200"]);
    let waist: Vec<usize> =
        (0..sim.positions().len()).filter(|&v| (sim.positions()[v][1] - 1.08).abs() < 1e-4).collect();
    assert!(waist.len() > 10);
    let gaps = |sim: &Simulation| -> Vec<f32> {
        let solid = sim.bodies()[0].solid().unwrap();
        waist.iter().map(|&v| solid.closest(sim.positions()[v].into(), 1.0).unwrap().distance).collect()
    };
    let (before, start) = (gaps(&sim), sim.positions().to_vec());
    assert!(before.iter().all(|gap| (0.005..0.12).contains(gap)), "{before:?}");
    let (mut farthest, mut stride) = (0.0f32, 0.0f32);
    for _ in 0..36 {
        run(&mut sim, 1);
        for (gap, now) in before.iter().zip(gaps(&sim)) {
            assert!((gap - now).abs() < 0.01, "{gap} m, then {now} m");
        }
        for &v in &waist {
            farthest = farthest.max(Vec3::from(start[v]).distance(sim.positions()[v].into()));
        }
        let z = sim.bodies()[0].points().iter().filter(|p| p.y < 0.15).map(|p| p.z);
        stride = stride.max(z.clone().fold(f32::MIN, f32::max) - z.fold(f32::MAX, f32::min));
    }
    assert!(farthest > 0.005, "the waist moves by {farthest} m");
    assert!(stride > 0.5, "a stride of {stride} m");
}

/// While the rim swings around the ball, it is as fast with few substeps as with many: vertices that find no place are stopped, and not the whole cloth with them.
#[test]
fn cloth_is_not_held_up_in_the_air() {
    let kinetic = |substeps: u32| {
        let steps = format!("simulation.substeps={substeps}");
        let iterations = format!("simulation.iterations={}", 30 / substeps);
        let mut sim = scene("sphere-drape", &[&steps, &iterations]);
        run(&mut sim, 28);
        sim.energies().kinetic
    };
    let [few, many] = [3, 15].map(kinetic);
    assert!((few / many - 1.0).abs() < 0.2, "{few} J and {many} J");
}

/// Seen from above, the rim of the cloth folds inwards twice on each side; its corners, where it hangs lowest, are no folds.
#[test]
fn sphere_drape_hangs_in_eight_folds() {
    let mut sim = scene("sphere-drape", &[]);
    run(&mut sim, 200);
    let side = 51;
    let at = |i: usize| match (i / side, i % side) {
        (0, k) => k,
        (1, k) => side + k * (side + 1),
        (2, k) => side * (side + 1) + side - k,
        (_, k) => (side - k) * (side + 1),
    };
    let rim: Vec<Vec3> = (0..4 * side).map(|i| Vec3::from(sim.positions()[at(i)])).collect();
    for corner in 0..4 {
        let lowest = (0..side).min_by(|&a, &b| {
            let height = |k: usize| rim[(corner * side + 4 * side + k - side / 2) % (4 * side)].y;
            height(a).total_cmp(&height(b))
        });
        assert!(lowest.unwrap().abs_diff(side / 2) <= 2, "corner {corner}: lowest at {lowest:?}");
    }
    let folds = valleys(&rim.iter().map(|p| p.x.hypot(p.z)).collect::<Vec<_>>(), 0.005);
    let mut on_side = [0; 4];
    for fold in folds.into_iter().filter(|fold| (6..=side - 6).contains(&(fold % side))) {
        on_side[fold / side] += 1;
    }
    assert_eq!(on_side, [2; 4], "folds on each side");

    // After five seconds it rests.
    run(&mut sim, 300);
    let speeds = sim.state().v[..sim.model().particles()].iter();
    let fastest = speeds.map(|&[x, y, z, _]| Vec3::new(x, y, z).length()).fold(0.0, f32::max);
    assert!(fastest < 0.005, "{fastest} m/s");
}

/// Where a closed curve has its minima, if it rises by more than `by` on both sides of each.
fn valleys(curve: &[f32], by: f32) -> Vec<usize> {
    let n = curve.len();
    let top = (0..n).max_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap();
    let (mut found, mut turn, mut down) = (Vec::new(), top, true);
    for i in (top..=top + n).map(|i| i % n) {
        let beyond = if down { curve[turn] - curve[i] } else { curve[i] - curve[turn] };
        if beyond >= 0.0 {
            turn = i;
        } else if -beyond > by {
            if down {
                found.push(turn);
            }
            (turn, down) = (i, !down);
        }
    }
    found
}

/// Layers that press on each other come to rest: hardly any vertex goes to and fro from frame to frame. Now and then a fold slips on, and for a few frames twenty or thirty do: so it is the
/// mean of many frames, and of two towers.
#[test]
fn a_tower_of_ten_layers_does_not_tremble() {
    let turned = [0.95, 0.951].map(turning_back);
    // Of 10,890 vertices in a frame.
    let mean = 0.5 * (turned[0] + turned[1]);
    assert!(mean < 10.0, "{turned:?} vertices turn back at more than 5 mm/s in each frame");
}

/// How many vertices of a tower turn back in a frame at more than 5 mm/s, between its frames 200 and 300, if the lowest layer starts at a height, m.
fn turning_back(height: f32) -> f32 {
    let mut sim = scene("tower", &[&format!("cloth.0.position=[0,{height},0]")]);
    run(&mut sim, 200);
    let dt = sim.params().dt;
    let (mut before, mut last) = (sim.positions().to_vec(), Vec::<Vec3>::new());
    let mut turned = 0;
    for _ in 0..100 {
        run(&mut sim, 1);
        let speed = |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*b) - Vec3::from(*a)) / dt;
        let speeds: Vec<Vec3> = before.iter().zip(sim.positions()).map(speed).collect();
        let fast = |v: Vec3| v.length() > 5e-3;
        turned +=
            last.iter().zip(&speeds).filter(|(a, b)| fast(**a) && fast(**b) && a.dot(**b) < 0.0).count();
        before.copy_from_slice(sim.positions());
        last = speeds;
    }
    assert_eq!((sim.intersecting_pairs(), sim.penetrating_vertices()), (0, 0));
    turned as f32 / 99.0
}
