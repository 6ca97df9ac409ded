//! The results of a survey: cases as JSON lines, and tables sorted by distance.

use crate::ceilings::{Ceilings, Pass};
use serde_json::json;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;

/// One operation in one dtype on one layout.
pub struct Case {
    pub op: &'static str,
    pub dtype: String,
    pub letter: char,
    pub place: String,
    pub sizes: Vec<usize>,
    /// Seconds of our fastest call.
    pub ours: f64,
    /// Seconds of PyTorch's fastest call.
    pub theirs: Option<f64>,
    /// Bytes of all operands and the result.
    pub moved: usize,
    pub threads: usize,
    /// Processor cycles per element of the operands.
    pub cycles: f64,
    /// Why PyTorch was not measured, or how its result differs.
    pub note: String,
}

/// With fewer bytes the time is that of the call, not of the memory.
const LEAST_BYTES: usize = 1 << 17;
/// If memory accounts for less than this part of the time, the rest is computing.
const COMPUTED: f64 = 0.5;

impl Case {
    /// PyTorch's time divided by ours.
    fn ratio(&self) -> Option<f64> {
        self.theirs.map(|theirs| theirs / self.ours)
    }

    /// The time that memory bandwidth allows, divided by ours.
    fn of_ceiling(&self, ceilings: &Ceilings) -> Option<f64> {
        let rate = ceilings.bandwidth(Pass::Copy, self.moved);
        (self.moved >= LEAST_BYTES).then(|| self.moved as f64 / rate / (self.ours * 1e9))
    }

    fn row(&self, ceilings: &Ceilings) -> String {
        let micros = |seconds: f64| format!("{:.1}", seconds * 1e6);
        let part = |part: Option<f64>| part.map_or("-".to_owned(), |part| format!("{part:.2}"));
        let theirs = self.theirs.map_or("-".to_owned(), micros);
        format!(
            "{:<34} {:<9} {:<24} {:>11} {:>11} {:>7} {:>7} {:>7.1}",
            self.op,
            self.dtype,
            self.place,
            micros(self.ours),
            theirs,
            part(self.ratio()),
            part(self.of_ceiling(ceilings)),
            self.cycles
        )
    }
}

const HEAD: &str = "operation                          dtype     operands                     ours us    torch us   ratio ceiling  cycles\n";

/// The tables: by layout, furthest from PyTorch, furthest from memory, most cycles per element.
pub fn text(cases: &[Case], ceilings: &Ceilings, rows: usize) -> String {
    let mut text = String::new();
    let mut by_ratio: Vec<(f64, &Case)> = cases.iter().filter_map(|case| Some((case.ratio()?, case))).collect();
    by_ratio.sort_by(|one, other| one.0.total_cmp(&other.0));
    let _ = writeln!(text, "layout              cases  geometric mean  below 0.9  below 0.5");
    let mut letters: Vec<char> = cases.iter().map(|case| case.letter).collect();
    letters.dedup();
    for letter in letters {
        let of: Vec<&(f64, &Case)> = by_ratio.iter().filter(|(_, case)| case.letter == letter).collect();
        let Some((_, first)) = of.first() else { continue };
        let name = first.place.split('[').next().unwrap_or_default();
        let mean = (of.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / of.len() as f64).exp();
        let below = |bound: f64| of.iter().filter(|(ratio, _)| *ratio < bound).count();
        let _ = writeln!(text, "{name:<18} {:>6} {mean:>15.2} {:>10} {:>10}", of.len(), below(0.9), below(0.5));
    }
    let _ = write!(text, "\nfurthest from PyTorch (its time over ours)\n{HEAD}");
    for (_, case) in by_ratio.iter().take(rows) {
        let _ = writeln!(text, "{}", case.row(ceilings));
    }
    let mut by_ceiling: Vec<(f64, &Case)> =
        cases.iter().filter_map(|case| Some((case.of_ceiling(ceilings)?, case))).collect();
    by_ceiling.sort_by(|one, other| one.0.total_cmp(&other.0));
    let _ = write!(text, "\nfurthest from memory (the time of moving operands and result once, over ours)\n{HEAD}");
    for (_, case) in by_ceiling.iter().take(rows) {
        let _ = writeln!(text, "{}", case.row(ceilings));
    }
    let is_computed = |case: &&Case| case.of_ceiling(ceilings).is_some_and(|part| part < COMPUTED);
    let mut by_cycles: Vec<&Case> = cases.iter().filter(is_computed).collect();
    by_cycles.sort_by(|one, other| other.cycles.total_cmp(&one.cycles));
    let _ = write!(text, "\nmost cycles per element, where computing takes longer than moving\n{HEAD}");
    for case in by_cycles.iter().take(rows) {
        let _ = writeln!(text, "{}", case.row(ceilings));
    }
    let untimed = cases.iter().filter(|case| case.theirs.is_none() && !case.note.is_empty()).count();
    let differing = cases.iter().filter(|case| case.theirs.is_some() && !case.note.is_empty()).count();
    let _ =
        writeln!(text, "\n{} cases; PyTorch refused {untimed}; its result is another one in {differing}", cases.len());
    text
}

/// Appends the cases to a file.
pub fn write(path: &str, cases: &[Case], ceilings: &Ceilings) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    for case in cases {
        let line = json!({
            "op": case.op, "dtype": case.dtype, "letter": case.letter.to_string(), "place": case.place, "sizes": case.sizes,
            "threads": case.threads, "ours": case.ours, "torch": case.theirs, "ratio": case.ratio(),
            "moved": case.moved, "ceiling": case.of_ceiling(ceilings), "cycles": case.cycles, "note": case.note,
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}
