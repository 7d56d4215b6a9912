//! A step allocates nothing once it has begun.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{grid_cloth, irregular_sheet, pin_corner};
use taffeta::Simulation;
use taffeta::scene::{Collider, Scene, Tethers, Wind, WindKind};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn no_allocation_after_the_first_frames() {
    let mut grid = grid_cloth([1.0, 1.0], [40, 40]);
    grid.pin.push(pin_corner());
    grid.tethers = Some(Tethers::default());
    let mesh = irregular_sheet([1.0, 1.0], [30, 30], 2);
    let collider = Collider { position: [0.0, -0.6, 0.0], ..Collider::default() };
    let still = Scene { cloth: vec![grid, mesh], collider: vec![collider], ..Scene::default() };
    let windy = [Some(WindKind::Gusts), Some(WindKind::Noise)].map(|kind| ("xpbd", kind));
    let hierarchical = ["hpbd", "shpbd", "ghpbd"].map(|method| (method, None));
    for (method, kind) in [("xpbd", None)].into_iter().chain(windy).chain(hierarchical) {
        let wind = kind.map(|kind| Wind { kind, ..Wind::default() });
        let mut scene = Scene { wind, ..still.clone() };
        scene.simulation.method = method.into();
        let mut sim = Simulation::new(&scene).unwrap();
        sim.set_threads(2);
        for _ in 0..3 {
            sim.step(1.0 / 60.0);
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..30 {
            assert!(sim.step(1.0 / 60.0).failure.is_none());
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{method}, {kind:?}");
    }
}
