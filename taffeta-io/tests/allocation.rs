//! Scenes of the catalogue allocate nothing once they have begun, while cloth hangs, falls on bodies, folds and piles up with contact as it is by
//! default. Alone in its file: what is counted is the whole program.

mod common;
#[path = "../../taffeta/tests/common/counting.rs"]
mod counting;

use common::{run, scene};
use counting::allocations;

#[test]
fn scenes_with_contact_allocate_nothing_after_the_first_frames() {
    for (name, frames) in [
        ("hang", 150),
        ("drop", 150),
        ("sphere-drape", 150),
        ("mannequin", 150),
        ("tower", 60),
        ("funnel", 60),
    ] {
        let mut sim = scene(name, &[]);
        sim.set_threads(2);
        run(&mut sim, 5);
        let before = allocations();
        run(&mut sim, frames);
        assert_eq!(allocations() - before, 0, "{name}");
    }
}
