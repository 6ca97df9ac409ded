//! Times every operation by name (`any::ops`), in its dtypes and on every layout, against PyTorch and against memory bandwidth, sorted by
//! distance.
//!
//! `cargo bench --features any --bench survey` surveys everything (about an hour); `-- ah` two letters:
//!
//! | letter | operands |
//! |---|---|
//! | a, b | contiguous, 1M and 16M elements |
//! | c | the first one transposed |
//! | d | `channels_last` with 3 channels |
//! | e | every second element of the rows |
//! | f, g | the second one a row, a column |
//! | h | each axis of a cube, and two axes that are not adjacent |
//! | i | 1,000 rows of 16 |
//! | j | 64 elements |
//! | k | floats between -30 and 30 |
//!
//! | | |
//! |---|---|
//! | `TORCH` | a Python that has PyTorch; without it its columns stay empty |
//! | `THREADS` | the number of threads both compute with, 1 by default |
//! | `FILTER` | only operations whose names contain one of these words, separated by commas |
//! | `BENCH_MS` | milliseconds per case and side, 15 by default |
//! | `OUT` | the cases of each layout are appended to this file, one JSON object per line |
//! | `ROWS` | the number of rows in the tables, 60 by default |
//! | `WAY=back` | times the way back instead (feature `grad`): the gradients by all operands, of a graph that is kept |
//!
//! The tables show what is furthest from PyTorch, furthest from memory bandwidth, and takes the most cycles per element.
//!
//! There is no list of calls: the program calls each operation on small tensors, adds the arguments that it says are missing
//! (`arguments.rs`), and measures the calls that succeed. PyTorch is called with the same arguments, in turn.

mod arguments;
mod back;
#[path = "../workloads/ceilings.rs"]
#[allow(dead_code)]
mod ceilings;
mod layouts;
mod report;
mod tensors;
mod torch;

use arguments::{Choice, Given};
use back::Way;
use castiron::AnyTensor;
use castiron::any::{Args, NamedOp, Value, call, ops};
use layouts::{LAYOUTS, Layout, Setting};
use report::Case;
use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use tensors::Tensors;
use torch::{Answer, Torch};

/// Results with more elements are not made: the next smaller scale is used.
const MOST_ELEMENTS: usize = 1 << 25;

/// An operation that takes longer than this on 1M elements, in seconds, is not surveyed on 16M.
const LONG: f64 = 0.04;

struct Survey {
    torch: Option<Torch>,
    tensors: Tensors,
    budget: f64,
    threads: usize,
    way: Way,
    /// The processor's clock, in cycles per second.
    hertz: f64,
    /// The seconds that an operation took on 1M contiguous elements of a dtype.
    contiguous: HashMap<(&'static str, String), f64>,
    cases: Vec<Case>,
}

/// The number of elements of a result, over all its tensors.
fn elements(value: &Value) -> usize {
    match value {
        Value::Array(x) => x.numel(),
        Value::List(items) => items.iter().map(elements).sum(),
        _ => 0,
    }
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::Array(x) => x.numel() * x.dtype().itemsize(),
        Value::List(items) => items.iter().map(bytes).sum(),
        _ => 0,
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Array(x) => format!("{}{:?}", x.dtype(), x.shape()),
        Value::List(items) => format!("({})", items.iter().map(described).collect::<Vec<_>>().join(", ")),
        _ => "a value".to_owned(),
    }
}

/// Cycles per second, from a chain of rotations and exclusive ors, each of which takes one cycle and needs the one before.
fn hertz() -> f64 {
    const STEPS: u32 = 10_000_000;
    let mut chain = || {
        let number = (0..STEPS).fold(black_box(1_u64), |number, _| number.rotate_left(5) ^ 0x9E37);
        black_box(number);
    };
    f64::from(2 * STEPS) / fastest(&mut chain, 0.1)
}

/// The seconds of the fastest call.
fn fastest(call: &mut dyn FnMut(), budget: f64) -> f64 {
    let time = |call: &mut dyn FnMut(), times: usize| {
        let start = Instant::now();
        (0..times).for_each(|_| call());
        start.elapsed().as_secs_f64() / times as f64
    };
    let mut best = time(call, 1);
    if best < budget {
        best = time(call, 1);
    }
    let times = ((60e-6 / best.max(1e-8)) as usize).max(1);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < budget {
        best = best.min(time(call, times));
    }
    best
}

impl Survey {
    fn arguments(&mut self, op: &NamedOp, given: &[(&'static str, Given)]) -> Args {
        arguments::args(op, given, &mut |spec| self.tensors.get(spec))
    }

    /// Whether the result is small enough, as far as a call on `meta` can tell.
    fn fits(&mut self, op: &NamedOp, given: &[(&'static str, Given)]) -> bool {
        let meta =
            |spec: &layouts::Spec| AnyTensor::zeros_on(&spec.sizes, spec.dtype, "meta".parse::<castiron::AnyDevice>()?);
        let mut tensor = |spec: &layouts::Spec| meta(spec).unwrap_or_else(|error| panic!("{spec} on meta: {error}"));
        let args = arguments::args(op, given, &mut tensor);
        call(op.name, &args).map_or(true, |result| elements(&result) <= MOST_ELEMENTS)
    }

    fn case(&mut self, op: &NamedOp, choice: &Choice, layout: &'static Layout, setting: &Setting) -> Option<()> {
        for sizes in layout.scales.iter().rev() {
            let setting = Setting { sizes: sizes.to_vec(), ..setting.clone() };
            let given = arguments::arguments(choice, &setting);
            if self.fits(op, &given) {
                self.measure(op, &setting, &given);
                return Some(());
            }
        }
        None
    }

    fn measure(&mut self, op: &NamedOp, setting: &Setting, given: &[(&'static str, Given)]) {
        let call: back::Call = match self.way {
            Way::Forward => {
                let (name, args) = (op.name, self.arguments(op, given));
                Box::new(move || call(name, &args))
            }
            Way::Back => match back::graph(op, given, &mut |spec| self.tensors.get(spec)) {
                Some(call) => call,
                None => return,
            },
        };
        let Ok(result) = call() else { return };
        let read: usize = given
            .iter()
            .flat_map(|(_, given)| given.specs())
            .map(|spec| spec.sizes.iter().product::<usize>() * spec.dtype.itemsize())
            .sum();
        let (moved, about) = (read + bytes(&result), described(&result));
        drop(result);
        let mut repeat = || {
            // The call succeeded before.
            let _ = black_box(call());
        };
        let (mut ours, mut theirs, mut note) = (f64::INFINITY, None::<f64>, String::new());
        for _ in 0..2 {
            ours = ours.min(fastest(&mut repeat, self.budget / 2.0));
            let Some(torch) = self.torch.as_mut().filter(|_| note.is_empty()) else { continue };
            match torch.time(self.way, op.name, op.arguments, given, self.budget / 2.0) {
                Answer::Took(seconds, result) => {
                    theirs = Some(theirs.map_or(seconds, |before| before.min(seconds)));
                    if result != about {
                        note = format!("PyTorch gives {result}, castiron {about}");
                    }
                }
                Answer::Refused(error) => note = error,
            }
        }
        let elements = setting.sizes.iter().product::<usize>().max(1);
        let dims = if setting.dims.is_empty() { String::new() } else { format!("{:?}", setting.dims) };
        let place = format!("{}{dims}", setting.layout.name);
        if setting.layout.letter == 'a' {
            let both = ours.max(theirs.unwrap_or(0.0));
            self.contiguous.insert((op.name, setting.dtype.to_string()), both);
        }
        self.cases.push(Case {
            op: op.name,
            dtype: setting.dtype.to_string(),
            letter: setting.layout.letter,
            place,
            sizes: setting.sizes.clone(),
            cycles: ours * self.hertz * self.threads as f64 / elements as f64,
            ours,
            theirs,
            moved,
            threads: self.threads,
            note,
        });
    }

    fn layout(&mut self, layout: &'static Layout, wanted: &dyn Fn(&str) -> bool) {
        let all_dims: &[&[i64]] = if layout.dims.is_empty() { &[&[]] } else { layout.dims };
        for &dtype in layout.dtypes {
            for op in ops().filter(|op| wanted(op.name)) {
                let known = self.contiguous.get(&(op.name, dtype.to_string()));
                if layout.letter == 'b' && known.is_some_and(|&seconds| seconds > LONG) {
                    continue;
                }
                for dims in all_dims {
                    let setting = Setting { layout, dtype, sizes: layout.tiny.to_vec(), dims };
                    let tensors = &mut self.tensors;
                    let Some(choice) = arguments::found(&op, &setting, &mut |spec| tensors.get(spec)) else { continue };
                    // A row or a column matters only if there is a second operand.
                    let tiny = arguments::arguments(&choice, &setting);
                    let has_second = tiny.iter().any(|(_, given)| *given == Given::Tensor(setting.second()));
                    if layout.other != layouts::Other::Same && !has_second {
                        continue;
                    }
                    self.case(&op, &choice, layout, &setting);
                }
            }
            self.tensors.clear();
            if let Some(torch) = &mut self.torch {
                torch.clear();
            }
            eprintln!("{} {dtype}: {} cases so far", layout.name, self.cases.len());
        }
    }
}

fn main() -> ExitCode {
    let number =
        |name: &str, default: f64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let threads = number("THREADS", 1.0).max(1.0) as usize;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") && arguments.is_empty() {
        eprintln!("`cargo bench` surveys everything; called directly, the program takes letters");
        return ExitCode::SUCCESS;
    }
    let letters: String = arguments.into_iter().filter(|argument| !argument.starts_with('-')).collect();
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        eprintln!("the number of threads stays as it is: {error}");
    }
    let way = match std::env::var("WAY").as_deref() {
        Ok("back") if cfg!(feature = "grad") => Way::Back,
        Ok("back") => {
            eprintln!("`WAY=back` takes the feature `grad`");
            return ExitCode::FAILURE;
        }
        _ => Way::Forward,
    };
    let filter = std::env::var("FILTER").unwrap_or_default();
    let wanted = |name: &str| filter.is_empty() || filter.split(',').any(|part| name.contains(part));
    let ceilings = ceilings::Ceilings::measure(threads);
    let mut survey = Survey {
        torch: std::env::var("TORCH").ok().map(|python| Torch::new(python, threads)),
        tensors: Tensors::default(),
        budget: number("BENCH_MS", 15.0) / 1e3,
        threads,
        way,
        hertz: hertz(),
        contiguous: HashMap::new(),
        cases: Vec::new(),
    };
    let out = std::env::var("OUT").ok();
    for layout in LAYOUTS.iter().filter(|layout| letters.is_empty() || letters.contains(layout.letter)) {
        let before = survey.cases.len();
        survey.layout(layout, &wanted);
        // Written after each layout, so that an interrupted survey keeps its results.
        if let Some(path) = &out
            && let Err(error) = report::write(path, &survey.cases[before..], &ceilings)
        {
            eprintln!("the file of `OUT` cannot be written: {error}");
            return ExitCode::FAILURE;
        }
    }
    print!("{}", report::text(&survey.cases, &ceilings, number("ROWS", 60.0) as usize));
    ExitCode::SUCCESS
}
