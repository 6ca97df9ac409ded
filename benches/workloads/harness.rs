//! Timing: what is run, how often, and where the measurement is written. The method and the JSON lines are the same as in the programs that
//! measure other libraries on these workloads.

use super::ceilings::{Ceilings, Pass};
use super::report;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The least that a workload must move or compute, with which its time is compared.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Bytes, each operand read once and the result written once, in passes of this kind.
    Bytes(Pass, usize),
    /// Operations on `f32`.
    Flops32(usize),
    /// Operations on `f64`.
    Flops64(usize),
    /// Negligible: the time is that of the calls.
    Calls,
}

/// Options from the command line and the environment.
pub struct Settings {
    pub letters: Vec<char>,
    pub table: bool,
    pub threads: usize,
    peer: String,
    budget: f64,
    filter: Option<String>,
    json: Option<String>,
}

impl Settings {
    pub fn read() -> Self {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
        let mut settings = Settings {
            letters: Vec::new(),
            table: false,
            threads: number("THREADS").map_or(1, |threads| threads as usize).max(1),
            peer: std::env::var("PEER").unwrap_or_else(|_| "castiron".to_owned()),
            budget: number("BENCH_MS").unwrap_or(200.0) / 1e3,
            filter: std::env::var("FILTER").ok(),
            json: std::env::var("OUT").ok(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => settings.table = true,
                "--json" => settings.json = arguments.next(),
                // cargo's own flags
                flag if flag.starts_with('-') => {}
                letters => settings.letters.extend(letters.chars()),
            }
        }
        settings
    }
}

/// Measures workloads, prints the table and writes the lines.
pub struct Bench {
    settings: Settings,
    ceilings: Option<Ceilings>,
    json: Option<File>,
}

impl Bench {
    pub fn new(settings: Settings, ceilings: Option<Ceilings>) -> Self {
        let open = |path: &String| OpenOptions::new().create(true).append(true).open(path);
        let json = settings.json.as_ref().map(|path| open(path).unwrap_or_else(|error| panic!("{path}: {error}")));
        let mut bench = Bench { settings, ceilings, json };
        let Some(ceilings) = &bench.ceilings else { return bench };
        if bench.settings.table {
            println!("{}\n", report::ceilings(ceilings));
            if bench.settings.letters != ['k'] {
                println!("{}", report::HEAD);
            }
        }
        for line in report::ceilings_json(ceilings) {
            bench.write(&line);
        }
        bench
    }

    /// Writes a line to the file, or to standard output if there is neither a file nor a table.
    fn write(&mut self, line: &str) {
        match &mut self.json {
            Some(file) => writeln!(file, "{line}").expect("the JSON file can be written"),
            None if self.settings.table => {}
            None => println!("{line}"),
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.settings.filter.as_ref().is_none_or(|part| name.contains(part))
    }

    /// Notes why a workload has no measurement.
    fn note_as(&mut self, variant: &str, name: &str, error: &str) {
        if !self.wants(name) {
            return;
        }
        if self.settings.table {
            println!("{}", report::note(&report::label(name, variant), error));
        }
        let (peer, threads) = (report::label_of_peer(&self.settings.peer, variant), self.settings.threads);
        let error = error.replace('"', "'").replace('\n', " ");
        self.write(&format!(r#"{{"peer":"{peer}","threads":{threads},"name":"{name}","err":"{error}"}}"#));
    }

    /// Measures a workload. What it returns is dropped within the measured time: allocating and freeing count.
    pub fn run<R>(&mut self, name: &str, work: Work, workload: impl FnMut() -> R) {
        self.run_as("", name, work, workload);
    }

    /// Measures the same workload written another way; the peer in its lines is `castiron-variant`.
    pub fn run_as<R>(&mut self, variant: &str, name: &str, work: Work, workload: impl FnMut() -> R) {
        self.timed(variant, name, work, workload);
    }

    /// As [`run_as`](Self::run_as); gives the median in nanoseconds if the workload was measured.
    pub fn timed<R>(&mut self, variant: &str, name: &str, work: Work, mut workload: impl FnMut() -> R) -> Option<f64> {
        if !self.wants(name) {
            return None;
        }
        let mut repeat = |times: u64| {
            for _ in 0..times {
                black_box(workload());
            }
        };
        match catch_unwind(AssertUnwindSafe(|| samples(self.settings.budget, &mut repeat))) {
            Ok(samples) => {
                self.measured(variant, name, work, &samples);
                Some(samples[(samples.len() - 1) / 2] * 1e9)
            }
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
                self.note_as(variant, name, &text.chars().take(120).collect::<String>());
                None
            }
        }
    }

    fn measured(&mut self, variant: &str, name: &str, work: Work, samples: &[f64]) {
        let quantile = |part: f64| samples[((samples.len() - 1) as f64 * part) as usize] * 1e9;
        let [median, min, p10, p90] = [0.5, 0.0, 0.1, 0.9].map(quantile);
        if self.settings.table {
            let ceilings = self.ceilings.as_ref().expect("the ceilings are measured for a table");
            println!("{}", report::row(&report::label(name, variant), [median, p10, p90], work, ceilings));
        }
        let (peer, threads) = (report::label_of_peer(&self.settings.peer, variant), self.settings.threads);
        self.write(&format!(
            r#"{{"peer":"{peer}","threads":{threads},"name":"{name}","ns":{median:.2},"min":{min:.2},"p10":{p10:.2},"p90":{p90:.2},"n":{}}}"#,
            samples.len()
        ));
    }
}

/// Seconds per run, sorted. There are at least two runs and 25 ms of warm-up, then up to 400 samples of at least 60 us each within the
/// budget; five if one run takes longer.
fn samples(budget: f64, repeat: &mut dyn FnMut(u64)) -> Vec<f64> {
    let (start, mut runs) = (Instant::now(), 0);
    while runs < 2 || start.elapsed() < Duration::from_millis(25) {
        repeat(1);
        runs += 1;
        if start.elapsed().as_secs_f64() > 1.5 {
            break;
        }
    }
    let mut time = |times: u64| {
        let start = Instant::now();
        repeat(times);
        start.elapsed().as_secs_f64() / times as f64
    };
    let estimate = time(if start.elapsed().as_secs_f64() / (runs as f64) < 1e-5 { 1000 } else { 1 });
    let times = ((60e-6 / estimate.max(1e-10)).ceil() as u64).max(1);
    let count = ((budget / (estimate * times as f64)) as usize).clamp(5, 400);
    let start = Instant::now();
    let mut samples = Vec::with_capacity(count);
    for index in 0..count {
        samples.push(time(times));
        if index >= 3 && start.elapsed().as_secs_f64() > budget * 4.0 {
            break;
        }
    }
    samples.sort_by(f64::total_cmp);
    samples
}
