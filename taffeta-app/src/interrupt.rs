//! Ctrl-C: the first ends the work at the next frame, so that what there is can be written; a second does not wait.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Takes note of Ctrl-C from here on. Without a handler files are lost on Ctrl-C, but the work is not.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Whether the person wants it to end.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}
