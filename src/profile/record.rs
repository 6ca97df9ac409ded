//! The calls that a thread makes while it is profiled.

use super::clock::{Clock, Mark};
use crate::device::Backend;
use crate::device::call::{Call, Given, Outcome};
use crate::dtype::DType;
use crate::error::Result;
use core::cell::{Cell, RefCell};

/// A call to a device: which operation, on what, and what it cost.
#[derive(Clone, Debug)]
pub struct Record {
    pub(super) name: String,
    pub(super) device: String,
    pub(super) operands: Vec<(DType, Vec<usize>)>,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) start: f64,
    pub(super) time: f64,
    pub(super) own_time: f64,
}

impl Record {
    /// The operation of the call, `add`, `sum`, `matmul`; where it is a part of an operation, what the part does: `squared_difference`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The device as PyTorch prints it.
    pub fn device(&self) -> &str {
        &self.device
    }
    /// Dtype and sizes of each operand.
    pub fn operands(&self) -> &[(DType, Vec<usize>)] {
        &self.operands
    }
    /// Bytes of the operands' elements; one that is broadcast counts once.
    pub fn bytes_read(&self) -> u64 {
        self.read
    }
    /// Bytes of the results.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }
    /// Seconds from the beginning of the profile until the call.
    pub fn start(&self) -> f64 {
        self.start
    }
    /// Seconds that the call took.
    pub fn time(&self) -> f64 {
        self.time
    }
    /// The same without the calls that it made itself.
    pub fn own_time(&self) -> f64 {
        self.own_time
    }
}

/// What the operations of a function cost: see [`profile`](super::profile).
#[derive(Clone, Debug)]
pub struct Profile {
    pub(super) records: Vec<Record>,
    pub(super) seconds: f64,
}

impl Profile {
    /// The calls, in the order in which they began.
    pub fn records(&self) -> &[Record] {
        &self.records
    }
    /// Seconds that the function took on the host.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// What is known of a call before it runs.
#[derive(Default)]
pub(crate) struct About {
    operands: Vec<(DType, Vec<usize>)>,
    read: u64,
    written: u64,
}

impl About {
    /// An operand that is read, or written where it is.
    pub(crate) fn operand(&mut self, dtype: DType, sizes: &[usize], strides: &[usize], is_written: bool) {
        let axes = sizes.iter().zip(strides).filter(|&(_, &stride)| stride != 0);
        let count = axes.fold(1_u64, |count, (&size, _)| count.saturating_mul(size as u64));
        let count = if sizes.contains(&0) { 0 } else { count };
        let bytes = count.saturating_mul(dtype.itemsize() as u64);
        if is_written {
            self.written = self.written.saturating_add(bytes);
        } else {
            self.read = self.read.saturating_add(bytes);
        }
        self.operands.push((dtype, sizes.to_vec()));
    }

    /// [`operand`](Self::operand), for each that a call has.
    fn seeing(&mut self) -> impl FnMut(DType, &[usize], &[usize], bool) {
        |dtype, sizes, strides, is_written| self.operand(dtype, sizes, strides, is_written)
    }

    /// What is updated is read as well.
    fn updated(mut self, is_update: bool) -> About {
        if is_update {
            self.read = self.read.saturating_add(self.written);
        }
        self
    }

    /// A fresh result.
    #[cfg(feature = "any")]
    pub(crate) fn result(&mut self, dtype: DType, sizes: &[usize]) {
        let count = sizes.iter().fold(1_u64, |count, &size| count.saturating_mul(size as u64));
        self.written = self.written.saturating_add(count.saturating_mul(dtype.itemsize() as u64));
    }
}

/// A call that was begun.
struct Begun {
    name: String,
    device: String,
    about: About,
    /// The call that made it.
    within: Option<usize>,
    start: Mark,
    end: Option<Mark>,
}

struct Calls {
    begun: Vec<Begun>,
    current: Option<usize>,
    host: Mark,
    gpus: Vec<(usize, Mark, f64)>,
}

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    /// Of profiles that run one in another the innermost records.
    static CALLS: RefCell<Vec<Calls>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread is profiled.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.get()
}

/// A profile that is being recorded; dropped, as by a panic, it is forgotten.
pub(super) struct Recording {
    depth: usize,
}

impl Recording {
    pub(super) fn begin() -> Recording {
        let calls = Calls { begun: Vec::new(), current: None, host: Clock::HOST.mark(), gpus: Vec::new() };
        let depth = CALLS.with_borrow_mut(|all| {
            all.push(calls);
            all.len()
        });
        IS_ON.set(true);
        Recording { depth }
    }

    pub(super) fn end(self) -> Profile {
        let calls = CALLS.with_borrow_mut(|all| {
            all.truncate(self.depth);
            all.pop()
        });
        drop(self);
        let Some(calls) = calls else { return Profile { records: Vec::new(), seconds: 0.0 } };
        calls.resolved()
    }
}
impl Drop for Recording {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(|all| {
            all.truncate(self.depth - 1);
            IS_ON.set(!all.is_empty());
        });
    }
}

impl Calls {
    /// The times, which are waited for.
    fn resolved(self) -> Profile {
        let seconds = Clock::HOST.mark().since(&self.host);
        let mut records: Vec<Record> = Vec::with_capacity(self.begun.len());
        let mut inside = vec![0.0; self.begun.len()];
        for begun in self.begun {
            let time = begun.end.as_ref().map_or(0.0, |end| end.since(&begun.start));
            if let Some(caller) = begun.within {
                inside[caller] += time;
            }
            let start = match &begun.start {
                Mark::Host(_) => begun.start.since(&self.host),
                Mark::Gpu(event) => {
                    let gpu = self.gpus.iter().find(|(ordinal, ..)| *ordinal == event.ordinal());
                    gpu.map_or(0.0, |(_, base, offset)| begun.start.since(base) + offset)
                }
            };
            let About { operands, read, written } = begun.about;
            let (name, device) = (begun.name, begun.device);
            records.push(Record { name, device, operands, read, written, start, time, own_time: time });
        }
        for (record, inside) in records.iter_mut().zip(inside) {
            record.own_time = (record.time - inside).max(0.0);
        }
        Profile { records, seconds }
    }
}

/// A call that runs; it ends when this is dropped.
struct Running {
    at: usize,
    depth: usize,
    clock: Clock,
    caller: Option<usize>,
}

fn begin(name: String, clock: Clock, device: String, about: About) -> Option<Running> {
    CALLS.with_borrow_mut(|all| {
        let depth = all.len();
        let calls = all.last_mut()?;
        if let Some(gpu) = clock.ordinal()
            && !calls.gpus.iter().any(|(ordinal, ..)| *ordinal == gpu)
        {
            let offset = Clock::HOST.mark().since(&calls.host);
            calls.gpus.push((gpu, clock.mark(), offset));
        }
        let (at, caller) = (calls.begun.len(), calls.current);
        calls.current = Some(at);
        let start = clock.mark();
        calls.begun.push(Begun { name, device, about, within: caller, start, end: None });
        Some(Running { at, depth, clock, caller })
    })
}
impl Running {
    fn end(self, written: u64) {
        CALLS.with_borrow_mut(|all| {
            let Some(calls) = all.get_mut(self.depth - 1) else { return };
            calls.current = self.caller;
            if let Some(begun) = calls.begun.get_mut(self.at) {
                begun.end = Some(self.clock.mark());
                begun.about.written = begun.about.written.saturating_add(written);
            }
        });
    }
}

/// A call to a device, recorded. (It is compiled for every type of call: what does not depend on the type is in functions of its own.)
#[cold]
pub(crate) fn timed<D: Backend, C: Call>(call: C::Of<'_, D::Storage>) -> Result<Given<C, D::Storage>> {
    let (mut about, place) = (About::default(), C::place(&call));
    C::each(&call, &mut about.seeing());
    let name = name_of(C::IS_NAMED_BY_KERNEL, core::any::type_name::<C>(), C::NAME);
    let running = begin(name, D::clock(place), D::called(place), about.updated(C::Out::UPDATES));
    let given = D::run::<C>(call);
    let mut written = 0;
    if let Ok(given) = &given {
        C::Out::each(given, &mut room::<D>(&mut written));
    }
    finish(running, written);
    given
}

/// Adds up the bytes of results.
fn room<D: Backend>(written: &mut u64) -> impl FnMut(&D::Storage) {
    |storage| *written = written.saturating_add(D::room::<u8>(storage).unwrap_or(0) as u64)
}

fn finish(running: Option<Running>, written: u64) {
    if let Some(running) = running {
        running.end(written);
    }
}

/// Work that is no call, recorded, with the bytes that it wrote beside what `about` knows of.
#[inline]
pub(crate) fn span<T>(
    name: &'static str,
    about: impl FnOnce() -> (Clock, String, About),
    run: impl FnOnce() -> T,
    written: impl FnOnce(&T) -> u64,
) -> T {
    if !is_on() {
        return run();
    }
    let (clock, device, about) = about();
    let running = begin(name.to_owned(), clock, device, about);
    let result = run();
    finish(running, written(&result));
    result
}

/// What a call of this type is named after: its kernel, or its kind.
fn name_of(is_named_by_kernel: bool, call: &str, kind: &str) -> String {
    let kernel = if is_named_by_kernel { kernel_name(call) } else { None };
    kernel.unwrap_or_else(|| kind.to_owned())
}

/// The name in the type of a call's kernel: its first parameter that is an operation, which is written in lower case, or else its innermost
/// type, in snake case.
fn kernel_name(call: &str) -> Option<String> {
    // `castiron::device::call::Unary<(), f32, f32, castiron::ops::kernel::Applied<castiron::ops::exp>>`
    let (_, arguments) = call.split_once('<')?;
    let paths = arguments.split(|sign: char| !(sign.is_alphanumeric() || "_:".contains(sign)));
    let paths = paths.filter(|path| path.starts_with("castiron::") && !path.contains("::dtype::"));
    let names: Vec<&str> = paths.filter_map(|path| path.rsplit("::").next()).collect();
    let is_operation = |name: &&&str| name.starts_with(|sign: char| sign.is_ascii_lowercase());
    let name = names.iter().find(is_operation).or(names.last())?;
    let mut snake = String::new();
    for (at, sign) in name.chars().enumerate() {
        if sign.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(sign.to_ascii_lowercase());
    }
    Some(snake)
}
