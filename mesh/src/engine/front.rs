//! What tensors call: operations of a line over slices of elements.

use super::combine::{Lowered, combine, lower, narrow, widen};
use super::described::{Described, expect_same};
use super::wire::{self, Memory, Wire};
use super::{Call, Collective, Engine, InFlight, Line, Reduce, blank, room};
use crate::error::{Error, Result};
use crate::mesh::{Mesh, Shared};
use crate::place::MeshAxes;
use castiron::DType;
use core::marker::PhantomData;
use core::panic::Location;
use std::rc::Rc;

type At = &'static Location<'static>;

impl<X: MeshAxes> Mesh<X> {
    /// What the ranks' elements give together, place by place; each rank has as many.
    #[track_caller]
    pub(crate) fn reduce_in_place<E: Wire>(
        &self,
        line: Line,
        what: &'static str,
        elements: &mut [E],
        reduce: Reduce,
    ) -> Result<()> {
        self.reduce_at(line, what, elements, reduce, Location::caller())
    }

    /// [`reduce_in_place`](Self::reduce_in_place) for a line of the program that is known.
    pub(crate) fn reduce_at<E: Wire>(
        &self,
        line: Line,
        what: &'static str,
        elements: &mut [E],
        reduce: Reduce,
        at: At,
    ) -> Result<()> {
        wire::write(elements, |bytes| self.shared().reduce(line, what, E::DTYPE, bytes, reduce, at))
    }

    /// If calls are compared: that elements which are said to be the same on all ranks are, bit by bit.
    #[track_caller]
    pub(crate) fn compare_same<E: Wire>(&self, what: &'static str, own: impl FnOnce() -> Result<Vec<E>>) -> Result<()> {
        if !self.shared().limits.compare || self.ranks() == 1 {
            return Ok(());
        }
        let (own, at) = (own()?, Location::caller());
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = wire::bytes(&own).iter().fold(0xcbf2_9ce4_8422_2325, step);
        let mut both = [hash, !hash];
        self.reduce_at(self.all(), what, &mut both, Reduce::Min, at)?;
        if both[0] == !both[1] {
            return Ok(());
        }
        Err(Error::Mismatch(format!("{what}: the elements are not the same on all ranks, at {at}")))
    }

    /// The blocks of all ranks, in their order; `counts` says how many elements each has.
    #[track_caller]
    pub(crate) fn gather<E: Wire>(&self, line: Line, own: &[E], counts: &[usize]) -> Result<Vec<E>> {
        let collective = Collective::Gather(counts.to_vec());
        self.shared().moved(line, "all_gather", own, collective, Location::caller())
    }

    /// The rank's own of the blocks of what the ranks' elements give together; `counts` says how many elements each gets.
    #[track_caller]
    pub(crate) fn scatter_reduced<E: Wire>(
        &self,
        line: Line,
        all: &[E],
        counts: &[usize],
        reduce: Reduce,
    ) -> Result<Vec<E>> {
        let (at, what) = (Location::caller(), "reduce_scatter");
        let shared = self.shared();
        expect_counts(what, line, "all", all.len(), counts, at)?;
        let mut own = blank::<E>(counts[line.rank])?;
        wire::write(&mut own, |own| {
            shared.scatter_reduced(line, what, E::DTYPE, wire::bytes(all), own, counts, reduce, at)
        })?;
        Ok(own)
    }

    /// A block for each rank, `out_counts` long, for one from each, `in_counts` long.
    #[track_caller]
    pub(crate) fn exchange<E: Wire>(
        &self,
        line: Line,
        own: &[E],
        out_counts: &[usize],
        in_counts: &[usize],
    ) -> Result<Vec<E>> {
        let collective = Collective::Exchange(out_counts.to_vec(), in_counts.to_vec());
        self.shared().moved(line, "all_to_all", own, collective, Location::caller())
    }

    /// Elements for the rank before and the one after, and what these send here: from the one before, and from the one after. `periodic` says
    /// that the first and the last are neighbours; if they are not, nothing is sent at an end, and nothing comes there, whatever is given.
    #[track_caller]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn neighbours<E: Wire>(
        &self,
        line: Line,
        for_before: &[E],
        for_after: &[E],
        from_before_len: usize,
        from_after_len: usize,
        periodic: bool,
    ) -> Result<[Vec<E>; 2]> {
        let at = Location::caller();
        let is_first = !periodic && line.rank == 0;
        let is_last = !periodic && line.rank + 1 == line.size;
        let for_before = if is_first { &[] } else { for_before };
        let for_after = if is_last { &[] } else { for_after };
        let received = [if is_first { 0 } else { from_before_len }, if is_last { 0 } else { from_after_len }];
        let mut own = room(for_before.len() + for_after.len())?;
        own.extend_from_slice(for_before);
        own.extend_from_slice(for_after);
        let sent = [for_before.len(), for_after.len()];
        if line.size == 1 {
            if sent != [received[1], received[0]] {
                return Err(Error::Arguments(format!(
                    "halo: one rank around sends itself {sent:?} elements and is to get {received:?}, at {at}"
                )));
            }
            return Ok([for_after.to_vec(), for_before.to_vec()]);
        }
        let collective = Collective::Neighbours { sent, received, periodic };
        let mut from_before = self.shared().moved(line, "halo", &own, collective, at)?;
        let from_after = from_before.split_off(received[0]);
        Ok([from_before, from_after])
    }

    /// The elements of the rank at the position `from` of the line, for all; each has as many.
    #[track_caller]
    pub(crate) fn broadcast<E: Wire>(&self, line: Line, elements: &mut [E], from: usize) -> Result<()> {
        let at = Location::caller();
        wire::write(elements, |bytes| self.shared().broadcast(line, E::DTYPE, bytes, from, at))
    }

    /// Begins what [`reduce_in_place`](Self::reduce_in_place) does.
    #[track_caller]
    pub(crate) fn begin_reduce<E: Wire>(
        &self,
        line: Line,
        what: &'static str,
        elements: Vec<E>,
        reduce: Reduce,
    ) -> Result<Request<E>> {
        let at = Location::caller();
        let shared = self.shared();
        let lowered = lower(what, E::DTYPE, reduce)?;
        if line.size == 1 {
            return Ok(Request::new(shared, State::Ready(elements)));
        }
        let memory: Box<dyn Memory> =
            if lowered.wide { Box::new(widen(E::DTYPE, wire::bytes(&elements))?) } else { Box::new(elements) };
        let bytes = memory.bytes().len();
        let call = shared.call(line, what, &lowered, bytes, Collective::Reduce(lowered.reduce), at);
        let begun = shared.begin(call, bytes, Box::new(Vec::<u8>::new()), memory)?;
        Ok(Request::new(shared, State::Begun(begun, lowered.wide)))
    }

    /// Begins what [`gather`](Self::gather) does.
    #[track_caller]
    pub(crate) fn begin_gather<E: Wire>(&self, line: Line, own: Vec<E>, counts: &[usize]) -> Result<Request<E>> {
        let (at, what) = (Location::caller(), "all_gather");
        let shared = self.shared();
        let collective = Collective::Gather(counts.to_vec());
        let len = expect_lengths(what, line, own.len(), &collective, at)?;
        if line.size == 1 {
            return Ok(Request::new(shared, State::Ready(own)));
        }
        let into = Box::new(blank::<E>(len)?);
        let call = shared.plain(line, what, E::DTYPE, own.len(), collective, at);
        let begun = shared.begin(call, size_of_val(&*own), Box::new(own), into)?;
        Ok(Request::new(shared, State::Begun(begun, false)))
    }
}

/// Adds the elements of another list, as ranks add them.
pub(crate) fn add<E: Wire>(into: &mut [E], from: &[E]) -> Result<()> {
    let lowered = lower("sum", E::DTYPE, Reduce::Sum)?;
    let sum = combine(lowered.dtype, lowered.reduce).expect("`lower` gives reductions that there are");
    if !lowered.wide {
        wire::write(into, |into| sum(into, wire::bytes(from)));
        return Ok(());
    }
    let (mut wide, other) = (widen(E::DTYPE, wire::bytes(into))?, widen(E::DTYPE, wire::bytes(from))?);
    wire::write(&mut wide, |wide| sum(wide, wire::bytes(&other)));
    wire::write(into, |into| narrow(E::DTYPE, wide, into))
}

/// An operation that goes on while the program does something else. It must be waited for; dropped, it waits.
#[must_use = "elements that are under way are had by `wait`"]
pub(crate) struct Request<E> {
    state: Option<State<E>>,
    // What carries the elements is there as long as they are under way.
    shared: Rc<Shared>,
    elements: PhantomData<E>,
}

enum State<E> {
    Ready(Vec<E>),
    /// And whether the elements travel as `f32`.
    Begun(Box<dyn InFlight>, bool),
}

impl<E: Wire> Request<E> {
    fn new(shared: &Rc<Shared>, state: State<E>) -> Self {
        Request { state: Some(state), shared: shared.clone(), elements: PhantomData }
    }

    /// Waits until the elements are here.
    pub(crate) fn wait<X: MeshAxes>(mut self, _: &Mesh<X>) -> Result<Vec<E>> {
        match self.state.take() {
            None => Err(Error::Arguments("waited for twice".to_owned())),
            Some(State::Ready(elements)) => Ok(elements),
            Some(State::Begun(begun, wide)) => {
                let memory = begun.finish()?.into_any();
                if !wide {
                    return Ok(*memory.downcast::<Vec<E>>().expect("the memory that was given"));
                }
                let wide = memory.downcast::<Vec<f32>>().expect("the memory that was given");
                let mut elements = blank::<E>(wide.len() * 2 / size_of::<E>())?;
                wire::write(&mut elements, |bytes| narrow(E::DTYPE, *wide, bytes))?;
                Ok(elements)
            }
        }
    }
}

impl<E> Drop for Request<E> {
    fn drop(&mut self) {
        if self.state.is_some() && std::thread::panicking() {
            // Nobody waits for a rank that has panicked.
            self.shared.panicking();
        }
    }
}

/// That lengths are what was said; how many elements come.
fn expect_lengths(what: &str, line: Line, own: usize, collective: &Collective, at: At) -> Result<usize> {
    match collective {
        Collective::Gather(counts) => {
            let all = total(what, line, counts, at)?;
            if counts[line.rank] != own {
                let said = counts[line.rank];
                return Err(Error::Arguments(format!(
                    "{what}: this rank has {own} elements, and {said} are said to be its own, at {at}"
                )));
            }
            Ok(all)
        }
        Collective::Exchange(to, from) => {
            expect_counts(what, line, "own", own, to, at)?;
            if to[line.rank] != from.get(line.rank).copied().unwrap_or(0) {
                return Err(Error::Arguments(format!(
                    "{what}: this rank sends itself {} elements and is to get others ({from:?}), at {at}",
                    to[line.rank]
                )));
            }
            total(what, line, from, at)
        }
        Collective::Neighbours { received, .. } => total_of(what, received, at),
        _ => Ok(own),
    }
}

/// That counts, one for each rank, add up to what there is.
fn expect_counts(what: &str, line: Line, whose: &str, len: usize, counts: &[usize], at: At) -> Result<()> {
    let all = total(what, line, counts, at)?;
    if all == len {
        return Ok(());
    }
    Err(Error::Arguments(format!("{what}: {whose} elements are {len}, and counts {counts:?} are {all}, at {at}")))
}

fn total(what: &str, line: Line, counts: &[usize], at: At) -> Result<usize> {
    if counts.len() != line.size {
        let (given, ranks) = (counts.len(), line.size);
        return Err(Error::Arguments(format!("{what}: {given} counts for {ranks} ranks, at {at}")));
    }
    total_of(what, counts, at)
}

fn total_of(what: &str, counts: &[usize], at: At) -> Result<usize> {
    counts
        .iter()
        .try_fold(0_usize, |sum, count| sum.checked_add(*count))
        .ok_or_else(|| Error::Arguments(format!("{what}: counts {counts:?} are more than can be counted, at {at}")))
}

/// The same for bytes.
impl Shared {
    fn plain(&self, line: Line, what: &'static str, dtype: DType, len: usize, collective: Collective, at: At) -> Call {
        Call { what, line, dtype, len, collective, at, number: self.calls() + 1 }
    }
    fn call(
        &self,
        line: Line,
        what: &'static str,
        low: &Lowered,
        bytes: usize,
        collective: Collective,
        at: At,
    ) -> Call {
        self.plain(line, what, low.dtype, bytes / low.dtype.itemsize(), collective, at)
    }

    /// What only moves elements, of another number than it gets.
    fn moved<E: Wire>(
        &self,
        line: Line,
        what: &'static str,
        own: &[E],
        collective: Collective,
        at: At,
    ) -> Result<Vec<E>> {
        let len = expect_lengths(what, line, own.len(), &collective, at)?;
        if line.size == 1 {
            let mut copy = room(own.len())?;
            copy.extend_from_slice(own);
            return Ok(copy);
        }
        let mut into = blank::<E>(len)?;
        let call = self.plain(line, what, E::DTYPE, own.len(), collective, at);
        wire::write(&mut into, |into| self.run(call, wire::bytes(own), into))?;
        Ok(into)
    }

    fn reduce(
        &self,
        line: Line,
        what: &'static str,
        dtype: DType,
        bytes: &mut [u8],
        reduce: Reduce,
        at: At,
    ) -> Result<()> {
        let lowered = lower(what, dtype, reduce)?;
        if line.size == 1 {
            return Ok(());
        }
        let collective = Collective::Reduce(lowered.reduce);
        if !lowered.wide {
            return self.run(self.call(line, what, &lowered, bytes.len(), collective, at), &[], bytes);
        }
        let mut wide = widen(dtype, bytes)?;
        let call = self.call(line, what, &lowered, size_of_val(&*wide), collective, at);
        wire::write(&mut wide, |wide| self.run(call, &[], wide))?;
        narrow(dtype, wide, bytes)
    }

    #[allow(clippy::too_many_arguments)]
    fn scatter_reduced(
        &self,
        line: Line,
        what: &'static str,
        dtype: DType,
        all: &[u8],
        own: &mut [u8],
        counts: &[usize],
        reduce: Reduce,
        at: At,
    ) -> Result<()> {
        let lowered = lower(what, dtype, reduce)?;
        if line.size == 1 {
            own.copy_from_slice(all);
            return Ok(());
        }
        let counts = counts.iter().map(|count| count * lowered.parts).collect();
        let collective = Collective::ScatterReduced(lowered.reduce, counts);
        if !lowered.wide {
            return self.run(self.call(line, what, &lowered, all.len(), collective, at), all, own);
        }
        let wide = widen(dtype, all)?;
        let mut wide_own = blank::<f32>(own.len() / 2)?;
        let call = self.call(line, what, &lowered, size_of_val(&*wide), collective, at);
        wire::write(&mut wide_own, |wide_own| self.run(call, wire::bytes(&wide), wide_own))?;
        narrow(dtype, wide_own, own)
    }

    fn broadcast(&self, line: Line, dtype: DType, bytes: &mut [u8], from: usize, at: At) -> Result<()> {
        if from >= line.size {
            let ranks = line.size;
            return Err(Error::Arguments(format!("broadcast: there is no rank {from} of {ranks}, at {at}")));
        }
        if line.size == 1 {
            return Ok(());
        }
        let len = bytes.len() / dtype.itemsize();
        self.run(self.plain(line, "broadcast", dtype, len, Collective::Broadcast(from), at), &[], bytes)
    }

    fn run(&self, call: Call, own: &[u8], into: &mut [u8]) -> Result<()> {
        self.count(if call.collective.is_in_place() { into.len() } else { own.len() });
        let engine = self.engine();
        self.compare(engine, &call)?;
        engine.run(&call, own, into)
    }

    fn begin(
        &self,
        call: Call,
        bytes: usize,
        own: Box<dyn Memory>,
        into: Box<dyn Memory>,
    ) -> Result<Box<dyn InFlight>> {
        self.count(bytes);
        let engine = self.engine();
        self.compare(engine, &call)?;
        engine.begin(call, own, into)
    }

    /// That all ranks come to their end, if that is compared.
    pub(crate) fn leave(&self, all: Line) -> Result<()> {
        let Some(engine) = self.engine.as_deref().filter(|_| all.size > 1) else { return Ok(()) };
        let what = "the end of the mesh";
        self.compare(engine, &self.plain(all, what, DType::U8, 0, Collective::Reduce(Reduce::Or), Location::caller()))
    }

    /// That all ranks of the line are about to do the same, if that is asked for: they tell each other what it is.
    fn compare(&self, engine: &dyn Engine, call: &Call) -> Result<()> {
        if !self.limits.compare || engine.compares() {
            return Ok(());
        }
        let own = Described::new(call).to_bytes();
        let size = call.line.size;
        let told = |dtype, counts: Vec<usize>, own: &[u8], into: &mut [u8]| {
            let len = counts[call.line.rank];
            engine.run(&Call { dtype, len, collective: Collective::Gather(counts), ..call.clone() }, own, into)
        };
        let mut lengths = vec![0_u8; 8 * size];
        told(DType::U64, vec![1; size], &(own.len() as u64).to_ne_bytes(), &mut lengths)?;
        let lengths: Vec<usize> =
            lengths.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes) as usize).collect();
        let mut all = blank::<u8>(total_of(call.what, &lengths, call.at)?)?;
        told(DType::U8, lengths.clone(), &own, &mut all)?;
        let mut rest = &all[..];
        let calls: Option<Vec<Described>> = lengths
            .iter()
            .map(|len| {
                let (start, end) = rest.split_at_checked(*len)?;
                rest = end;
                Described::from_bytes(start)
            })
            .collect();
        let calls =
            calls.ok_or_else(|| Error::Mismatch(format!("the ranks run different programs, at {}", call.at)))?;
        expect_same(&calls.iter().collect::<Vec<_>>(), true).map_err(Error::Mismatch)
    }
}
