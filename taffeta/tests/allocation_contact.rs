//! Finding contacts allocates nothing once its lists have had their full length. Alone in its file: what is counted is the whole
//! program.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::grid_cloth;
use counting::allocations;
use taffeta::collide::bound::{Detector, Settings};
use taffeta::collide::query::Structure;
use taffeta::collide::soup::Soup;
use taffeta::lanes::SimdLevel;
use taffeta::model::Model;
use taffeta::par::Team;
use taffeta::scene::Scene;
use taffeta::wide::Particle;

/// A cloth that is folded and flattened again and again: all lists have had their full length after the first time.
#[test]
fn detection_allocates_nothing_once_it_has_seen_the_most() {
    let scene = Scene { cloth: vec![grid_cloth([1.0, 1.0], [30, 30])], ..Scene::default() };
    let soup = Soup::of_model(&Model::new(&scene).unwrap(), Some(0.004));
    let settings = Settings { reach: 0.01, margin: 0.004, early: 0.002, ..Settings::default() };
    let fold = |x: &mut [Particle], t: f32| {
        for (x, rest) in x.iter_mut().zip(&soup.rest) {
            let [u, _, v] = rest.p;
            let angle = t * std::f32::consts::PI * f32::from(u > 0.0);
            x.p = [u * angle.cos(), u * angle.sin() + 0.003 * t * f32::from(u > 0.0), v];
        }
    };
    for structure in Structure::ALL {
        let (mut detector, mut team, mut x) =
            (Detector::new(structure, false), Team::new(1), soup.rest.clone());
        let (mut before, start) = (0, x.clone());
        for round in 0..3 {
            if round == 1 {
                before = allocations();
            }
            for i in 0..20 {
                fold(&mut x, 1.0 - (i as f32 - 10.0).abs() / 10.0);
                detector.detect(&mut team, SimdLevel::best(), &soup, &x, &settings);
                detector.clamp(&mut team, &start, &mut x, None, |_| None);
            }
        }
        assert_eq!(allocations() - before, 0, "{structure:?}");
    }
}
