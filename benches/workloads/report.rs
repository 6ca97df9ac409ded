//! The printed table, and the JSON lines of the machine's ceilings.

use super::ceilings::Ceilings;
use super::harness::Work;
use std::fmt::Write;

/// The heading of the table.
pub const HEAD: &str = "\
workload                               median      p10 - p90                    rate       of ceiling
-------------------------------------------------------------------------------------------------------";

/// With fewer bytes the time is that of the call, not of the memory.
const LEAST_BYTES: usize = 1 << 17;

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// The name of a row: `a.add_f32_1M (out)`.
pub fn label(name: &str, variant: &str) -> String {
    if variant.is_empty() { name.to_owned() } else { format!("{name} ({variant})") }
}

/// The peer in a JSON line: `castiron-out`.
pub fn label_of_peer(peer: &str, variant: &str) -> String {
    if variant.is_empty() { peer.to_owned() } else { format!("{peer}-{variant}") }
}

/// A row without a measurement.
pub fn note(label: &str, error: &str) -> String {
    format!("{label:<34}{error:>11}")
}

/// A row: `median, p10, p90` in nanoseconds, the amount moved or computed per second, and which part that is of what the machine can do.
pub fn row(label: &str, [median, p10, p90]: [f64; 3], work: Work, ceilings: &Ceilings) -> String {
    let (rate, unit, ceiling) = match work {
        Work::Bytes(pass, bytes) if bytes >= LEAST_BYTES => {
            (bytes as f64 / median, "GB/s", Some(ceilings.bandwidth(pass, bytes)))
        }
        Work::Flops32(flops) => (flops as f64 / median, "GFLOP/s", Some(ceilings.flops32)),
        Work::Flops64(flops) => (flops as f64 / median, "GFLOP/s", Some(ceilings.flops64)),
        Work::Bytes(..) | Work::Calls => (0.0, "", None),
    };
    let mut row = format!("{label:<34}{:>11}   {:>9} - {:<9}", time(median), time(p10), time(p90));
    if let Some(ceiling) = ceiling {
        let _ = write!(row, "{rate:>11.1} {unit:<7} {:>9.0} %", 100.0 * rate / ceiling);
    }
    row.trim_end().to_owned()
}

/// What the machine can do, for the heading of the report.
pub fn ceilings(ceilings: &Ceilings) -> String {
    let threads = ceilings.threads;
    let mut text = format!("ceilings of this machine, {} on {threads} thread", ceilings.instructions);
    text += if threads == 1 { "\n" } else { "s\n" };
    let _ = write!(text, "GB/s      ");
    for size in &ceilings.sizes {
        let _ = write!(text, "{:>8}", size.name);
    }
    for (index, pass) in ceilings.passes().enumerate() {
        let _ = write!(text, "\n{:<10}", pass.name());
        for size in &ceilings.sizes {
            let _ = write!(text, "{:>8.1}", size.rates[index]);
        }
    }
    let _ = write!(text, "\nFMA: {:.0} GFLOP/s in f32, {:.0} in f64", ceilings.flops32, ceilings.flops64);
    text
}

/// The ceilings as JSON lines of the peer `machine`, letter `k`.
pub fn ceilings_json(ceilings: &Ceilings) -> Vec<String> {
    let threads = ceilings.threads;
    let line = |name: String, ns: f64, rate: f64, unit: &str| {
        format!(
            r#"{{"peer":"machine","threads":{threads},"name":"k.{name}","ns":{ns:.1},"rate":{rate:.2},"unit":"{unit}"}}"#
        )
    };
    let mut lines = Vec::new();
    for size in &ceilings.sizes {
        for (pass, &rate) in ceilings.passes().zip(&size.rates) {
            let ns = (pass.bytes() * size.elements) as f64 / rate;
            lines.push(line(format!("{}_{}", pass.name(), size.name), ns, rate, "GB/s"));
        }
    }
    for (name, rate) in [("fma_f32", ceilings.flops32), ("fma_f64", ceilings.flops64)] {
        lines.push(line(name.to_owned(), 1.0 / rate, rate, "GFLOP/s"));
    }
    lines
}
