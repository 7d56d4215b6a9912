//! Contact between spheres allocates nothing once its lists have had their full length. Alone in its file: what is counted is the whole
//! program.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::grid_cloth;
use counting::allocations;
use taffeta::collide::particles::{self, ParticleContacts};
use taffeta::collide::swept::{self, SweptSpheres};
use taffeta::model::Model;
use taffeta::par::Team;
use taffeta::scene::Scene;
use taffeta::state::State;

/// A cloth that is folded and flattened again and again.
#[test]
fn spheres_allocate_nothing_once_they_have_seen_the_most() {
    let scene = Scene { cloth: vec![grid_cloth([1.0, 1.0], [30, 30])], ..Scene::default() };
    let model = Model::new(&scene).unwrap();
    let mut team = Team::new(1);
    let mut spheres = ParticleContacts::new(&model, &particles::Settings::default());
    let mut swept = SweptSpheres::new(&model, &swept::Settings::default());
    let mut state = State::new(&model);
    let (mut before, mut touched) = (0, 0);
    for round in 0..3 {
        if round == 1 {
            before = allocations();
        }
        for i in 0..20 {
            let angle = std::f32::consts::PI * (1.0 - (i as f32 - 10.0).abs() / 10.0);
            state.start.copy_from_slice(&state.x);
            for (x, rest) in state.x.iter_mut().zip(&model.start).filter(|(_, rest)| rest.x > 0.0) {
                x.p = [rest.x * angle.cos(), rest.x * angle.sin() + 0.003, rest.z];
            }
            let State { x, start, .. } = &mut state;
            spheres.begin(&mut team, x);
            spheres.project(&mut team, x);
            spheres.friction(&mut team, start, x);
            swept.begin(&mut team, x, start);
            swept.project(&mut team, x);
            swept.friction(&mut team, start, x);
            touched += spheres.count().1 + swept.count().1;
        }
    }
    assert!(touched > 1000);
    assert_eq!(allocations() - before, 0);
}
