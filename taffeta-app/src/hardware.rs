//! The machine that measures.

use std::time::Duration;

use taffeta::lanes::SimdLevel;

/// The processor by its own name where the system tells it, its cores and its instructions.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let plural = if cores == 1 { "" } else { "s" };
    format!("{}, {cores} core{plural}, {}", processor(), SimdLevel::best().name())
}

/// The name of the processor.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_name(&text).unwrap_or_else(|| format!("{} on {}", std::env::consts::ARCH, std::env::consts::OS))
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let value = |line: &str| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_string());
    cpuinfo.lines().find_map(value).filter(|name| !name.is_empty())
}

/// Processor time that this program has used on all its threads, where the system counts it; else the time of day.
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    if let Ok(time) = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID) {
        return time.into();
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_as_the_system_names_it() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmodel\t\t: 1\nmodel name\t: other\n";
        assert_eq!(model_name(text).as_deref(), Some("Some CPU @ 2.00GHz"));
        assert_eq!(model_name("Hardware : a board\n"), None);
    }

    #[test]
    fn processor_time_goes_on_with_work() {
        let before = cpu_time();
        let work: f64 = (1..2_000_000).map(|k| std::hint::black_box(k as f64).sqrt()).sum();
        assert!(work > 0.0 && cpu_time() > before);
    }
}
