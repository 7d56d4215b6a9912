//! Every method goes through the one suite.

use taffeta::solver::METHODS;
use taffeta::testing::{CHECKS, promises};

#[test]
fn every_method_keeps_its_promises() {
    let mut failures = Vec::new();
    for method in METHODS {
        for check in CHECKS.iter().filter(|check| (check.applies)(promises(method.name))) {
            let name = format!("{}: {}", method.name, check.name);
            match (check.run)(method.name) {
                Ok(measured) => println!("{name}: {measured}"),
                Err(problem) => failures.push(format!("{name}: {problem}")),
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
