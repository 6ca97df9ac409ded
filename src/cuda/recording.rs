//! A thread's work, recorded as a graph of CUDA instead of begun, and replayed.
//!
//! While a thread records, its work goes to a stream of its own, which captures; other threads go on. The graph contains the addresses of its
//! operands, so it keeps their memory: memory from before, and memory that was allocated for results and temporaries. A temporary that is
//! dropped while the graph is recorded lends its memory to later ones. No memory is given back while the graph exists.

use super::bindings::cu;
use super::buffer::{CudaBuffer, Memory};
use super::device::CudaDevice;
use crate::error::{Result, invalid};
use core::cell::{Cell, RefCell};
use core::ptr;
use std::collections::HashMap;
use std::sync::Arc;

thread_local! {
    /// The ordinal of the device and the stream that captures.
    static STREAM: Cell<Option<(usize, cu::CUstream)>> = const { Cell::new(None) };
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// The memory of a graph, by address.
#[derive(Default)]
struct Kept {
    /// Allocated while it was recorded.
    own: HashMap<u64, Arc<Memory>>,
    /// Of these, what nobody uses any more.
    free: Vec<Arc<Memory>>,
    /// Allocated before.
    used: HashMap<u64, Arc<Memory>>,
    flags: Vec<Flag>,
}

/// A number that work sets where an index is out of range, and the operation.
type Flag = (CudaBuffer, &'static str);

/// Whether this thread records.
pub(crate) fn is_on() -> bool {
    stream().is_some()
}

/// The ordinal of the device that this thread records, and the stream. (A thread that ends records nothing.)
#[inline]
pub(super) fn stream() -> Option<(usize, cu::CUstream)> {
    STREAM.try_with(Cell::get).ok().flatten()
}

/// What can't be recorded, while this thread records.
///
/// # Errors
/// If it does.
pub(crate) fn expect_off(op: &'static str, why: &str) -> Result<()> {
    if is_on() {
        invalid(op, format!("a graph is recorded, which replays work of the GPU alone, and {why}"))
    } else {
        Ok(())
    }
}

fn with_kept<T>(work: impl FnOnce(&mut Kept) -> Option<T>) -> Option<T> {
    if !is_on() {
        return None;
    }
    KEPT.with_borrow_mut(|kept| kept.as_mut().and_then(work))
}

/// The graph needs this memory.
#[inline]
pub(super) fn used(memory: &Arc<Memory>) {
    if is_on() {
        with_kept(|kept| {
            if memory.bytes > 0 && !kept.own.contains_key(&memory.address) {
                kept.used.entry(memory.address).or_insert_with(|| Arc::clone(memory));
            }
            Some(())
        });
    }
}

/// The graph allocated this memory.
pub(super) fn made(memory: &Arc<Memory>) {
    with_kept(|kept| kept.own.insert(memory.address, Arc::clone(memory)));
}

/// A tensor's memory that is dropped: later work of the graph may use it again.
#[inline]
pub(super) fn dropped(memory: &Arc<Memory>) {
    if is_on() {
        with_kept(|kept| {
            let own = kept.own.get(&memory.address)?;
            kept.free.push(Arc::clone(own));
            Some(())
        });
    }
}

/// Memory of this many bytes that earlier work of the graph has done with.
pub(super) fn reused(bytes: usize) -> Option<Arc<Memory>> {
    with_kept(|kept| {
        let at = kept.free.iter().position(|memory| memory.bytes == bytes)?;
        Some(kept.free.swap_remove(at))
    })
}

/// While this thread records: a flag is read after each replay, and not now. The work must be harmless where it is set.
pub(crate) fn reads_later(op: &'static str, flag: &CudaBuffer) -> bool {
    let flag = flag.lent();
    with_kept(|kept| {
        kept.flags.push((flag, op));
        Some(())
    })
    .is_some()
}

/// A recording under way; dropped before its end, as by a panic, it is given up.
struct Running {
    device: &'static CudaDevice,
    stream: cu::CUstream,
}

impl Running {
    fn begin(op: &'static str, device: &'static CudaDevice) -> Result<Self> {
        expect_off(op, "another graph is recorded in it")?;
        device.enter(op)?;
        let mut stream = ptr::null_mut();
        let kind = cu::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: it writes the stream.
        device.check(op, unsafe { (device.driver.cuStreamCreate)(&mut stream, kind) })?;
        // Relaxed: memory is allocated and kernels are loaded meanwhile, beside the stream.
        let mode = cu::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream was just made.
        let begun = device.check(op, unsafe { (device.driver.cuStreamBeginCapture_v2)(stream, mode) });
        if let Err(error) = begun {
            // SAFETY: nothing uses the stream.
            unsafe { (device.driver.cuStreamDestroy_v2)(stream) };
            return Err(error);
        }
        KEPT.set(Some(Kept::default()));
        STREAM.set(Some((device.ordinal, stream)));
        Ok(Running { device, stream })
    }

    /// Ends the capture: the graph, or why there is none, and its memory.
    fn end(&mut self, op: &'static str) -> (Result<cu::CUgraph>, Kept) {
        // (The work may have made another context current, and a device may be lost.)
        let entered = self.device.enter(op);
        STREAM.set(None);
        let stream = core::mem::replace(&mut self.stream, ptr::null_mut());
        let captured = entered.and_then(|()| {
            let (mut graph, driver) = (ptr::null_mut(), self.device.driver);
            // SAFETY: the stream captures, and is used by nobody else.
            let code = unsafe {
                let code = (driver.cuStreamEndCapture)(stream, &mut graph);
                (driver.cuStreamDestroy_v2)(stream);
                code
            };
            self.device.check(op, code).map(|()| graph)
        });
        (captured, KEPT.take().unwrap_or_default())
    }
}
impl Drop for Running {
    fn drop(&mut self) {
        if !self.stream.is_null()
            && let (Ok(graph), _) = self.end("capture")
        {
            // SAFETY: the graph was just made.
            unsafe { (self.device.driver.cuGraphDestroy)(graph) };
        }
    }
}

/// Work that was recorded.
pub(crate) struct Graph {
    device: &'static CudaDevice,
    graph: cu::CUgraphExec,
    own: Vec<Arc<Memory>>,
    flags: Vec<Flag>,
    /// Never read: it keeps what the graph has addresses of.
    _used: Vec<Arc<Memory>>,
}

// SAFETY: a graph may be launched by any thread with the context current, one at a time: `launch` has it exclusively.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Records what a function begins on a device.
    ///
    /// # Errors
    /// Those of the function; if another graph is recorded; if the driver does not take a part of the work.
    pub(crate) fn record<T>(
        op: &'static str,
        device: &'static CudaDevice,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Graph)> {
        let mut running = Running::begin(op, device)?;
        let given = work();
        let (captured, kept) = running.end(op);
        let made = captured.and_then(|captured| {
            let (mut graph, driver) = (ptr::null_mut(), device.driver);
            // SAFETY: the graph was just made, and is not needed by the executable one, which is written.
            let code = unsafe {
                let code = (driver.cuGraphInstantiateWithFlags)(&mut graph, captured, 0);
                (driver.cuGraphDestroy)(captured);
                code
            };
            device.check(op, code).map(|()| graph)
        });
        let graph = made.map(|graph| Graph {
            device,
            graph,
            own: kept.own.into_values().collect(),
            flags: kept.flags,
            _used: kept.used.into_values().collect(),
        });
        // (The function's own error says more.)
        let given = given?;
        Ok((given, graph?))
    }

    /// Begins the recorded work, after what was begun before; waits for it if it has indices, which may be out of range.
    ///
    /// # Errors
    /// If the device was lost, or an index is out of range.
    pub(crate) fn launch(&mut self, op: &'static str) -> Result<()> {
        expect_off(op, "another graph is replayed in it")?;
        self.device.enter(op)?;
        // SAFETY: the graph exists, with all memory that it has addresses of, and is launched by one thread at a time.
        self.device.check(op, unsafe { (self.device.driver.cuGraphLaunch)(self.graph, self.device.stream) })?;
        for (flag, of) in &self.flags {
            // SAFETY: any bytes are a valid number.
            if unsafe { flag.elements::<u32>(0, 1)? }.first() != Some(&0) {
                return invalid(op, format!("an index of the recorded `{of}` is out of range"));
            }
        }
        if self.device.waits() { self.device.wait(op) } else { Ok(()) }
    }

    /// The addresses of memory that was allocated for it and that a tensor still has.
    pub(crate) fn held(&self) -> impl Iterator<Item = u64> {
        let is_flag = |address: u64| self.flags.iter().any(|(flag, _)| flag.handles().1 == address);
        let held = self.own.iter().filter(|memory| Arc::strong_count(memory) > 1).map(|memory| memory.address);
        held.filter(move |&address| !is_flag(address))
    }
}
impl Drop for Graph {
    fn drop(&mut self) {
        if self.device.enter("capture").is_ok() {
            // SAFETY: nobody launches it any more; the driver waits for launches that run.
            unsafe { (self.device.driver.cuGraphExecDestroy)(self.graph) };
        }
    }
}
