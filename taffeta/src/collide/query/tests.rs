use super::*;
use crate::collide::random::Random;

/// Boxes of one kind: all alike, of many sizes, all in one plane, all at one point, none, one.
fn sets() -> Vec<(&'static str, Vec<Aabb>)> {
    let mut random = Random(7);
    let mut set = |count: usize, place: Vec3, size: f32, power: i32| -> Vec<Aabb> {
        (0..count)
            .map(|_| {
                let low = random.vector() * place * 0.5;
                let grow = size * random.next().powi(power);
                Aabb { low, high: low + random.vector().abs() * grow }
            })
            .collect()
    };
    vec![
        ("alike", set(700, Vec3::ONE, 0.1, 0)),
        ("of many sizes", set(400, Vec3::ONE, 0.7, 6)),
        ("in a plane", set(500, Vec3::new(1.0, 0.0, 1.0), 0.05, 0)),
        (
            "far away",
            set(300, Vec3::ONE, 0.1, 0)
                .iter()
                .map(|b| Aabb { low: b.low + 1e4, high: b.high + 1e4 })
                .collect(),
        ),
        ("at one point", vec![Aabb { low: Vec3::ONE, high: Vec3::ONE }; 30]),
        ("one", set(1, Vec3::ONE, 0.1, 0)),
        ("none", Vec::new()),
        ("many", set(5000, Vec3::ONE, 0.03, 0)),
    ]
}

fn brute(a: &[Aabb], b: &[Aabb], margin: f32, same: bool) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for i in 0..a.len() {
        for j in if same { i + 1 } else { 0 }..b.len() {
            if a[i].grown(margin).meets(&b[j]) {
                pairs.push([i as u32, j as u32]);
            }
        }
    }
    pairs
}

#[test]
fn all_structures_agree_with_brute_force_to_the_order() {
    for (name, boxes) in sets() {
        for margin in [0.0, 0.02] {
            for structure in Structure::ALL {
                for (threads, level, asked) in [
                    (1, SimdLevel::Scalar, boxes.len()),
                    (1, SimdLevel::best(), boxes.len()),
                    (3, SimdLevel::best(), boxes.len()),
                    (2, SimdLevel::best(), boxes.len() / 3),
                ] {
                    let expected = brute(&boxes[..asked], &boxes, margin, true);
                    let mut query = structure.make();
                    let mut pairs = vec![[9, 9]];
                    let mut team = Team::new(threads);
                    for _ in 0..2 {
                        query.within(&mut team, level, &boxes, asked, margin, &mut pairs);
                        assert!(pairs == expected, "{name}, {margin}, {}, {threads} threads", query.name());
                    }
                }
            }
        }
    }
}

#[test]
fn two_sets_agree_with_brute_force() {
    let sets = sets();
    for (name_a, a) in &sets {
        for (name_b, b) in &sets {
            if a.len() * b.len() > 1_000_000 {
                continue;
            }
            let expected = brute(a, b, 0.01, false);
            for structure in Structure::ALL {
                let mut query = structure.make();
                let mut pairs = Vec::new();
                query.between(&mut Team::new(2), SimdLevel::best(), a, b, 0.01, &mut pairs);
                assert!(pairs == expected, "{name_a} and {name_b}, {}", query.name());
            }
        }
    }
}

#[test]
fn moving_boxes_are_found_with_an_old_order() {
    let mut random = Random(3);
    let mut boxes = sets().swap_remove(0).1;
    let mut query = Lbvh::default();
    let (mut team, mut pairs) = (Team::new(1), Vec::new());
    for _ in 0..lbvh::RESORT + 3 {
        query.within(&mut team, SimdLevel::best(), &boxes, boxes.len(), 0.01, &mut pairs);
        assert!(pairs == brute(&boxes, &boxes, 0.01, true));
        for b in &mut boxes {
            let step = random.vector() * 0.1;
            *b = Aabb { low: b.low + step, high: b.high + step };
        }
    }
}

#[test]
fn morton_codes_interleave_the_axes() {
    assert_eq!(lbvh::morton(Vec3::ONE), (1 << 63) - 1);
    assert_eq!(lbvh::morton(Vec3::new(1.0 / 2_097_151.0, 0.0, 0.0)), 4);
    assert_eq!(lbvh::morton(Vec3::new(0.0, 2.0 / 2_097_151.0, 1.0 / 2_097_151.0)), 0b10001);
}
