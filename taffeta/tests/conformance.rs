//! Every method goes through the one suite.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use taffeta::solver::METHODS;
use taffeta::testing::{CHECKS, promises};

#[test]
fn every_method_keeps_its_promises() {
    let pairs = METHODS.iter().flat_map(|method| CHECKS.iter().map(move |check| (method.name, check)));
    let work: Vec<_> = pairs.filter(|(method, check)| (check.applies)(promises(method))).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Each check runs on one thread, so as many as there are cores run at once.
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((method, check)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = format!("{method}: {}", check.name);
                    match (check.run)(method) {
                        Ok(measured) => println!("{name}: {measured}"),
                        Err(problem) => failures.lock().unwrap().push(format!("{name}: {problem}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
