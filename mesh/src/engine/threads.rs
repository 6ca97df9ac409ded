//! Ranks as threads of one process.

use super::combine::combine;
use super::described::{Described, expect_same};
use super::wire::Memory;
use super::{Call, Collective, Engine, InFlight, Limits, Line};
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::place::MeshAxes;
use core::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// Runs code for several ranks as threads of this process, and gives what each of them returns: for tests and examples, without a launcher.
///
/// Each thread has a mesh of its own, of `ranks` ranks and with `sizes` along its axes, as [`Mesh::join`] takes them. Threads share memory and
/// nothing is faster than in one; but what they do together is what processes do, to the order in which ranks are added.
///
/// Calls that do not match are errors on all ranks, and so are calls that some rank never makes: nothing hangs.
///
/// # Panics
/// If a rank panics: the text names the rank, and what the others wait for is an error there. If the sizes do not fit.
///
/// ```
/// use castiron_mesh::{mesh, simulate};
/// mesh! { Ranks: Data }
/// let blocks = simulate::<Ranks, _>(4, &[0], |mesh| mesh.block::<Data>(10));
/// assert_eq!(blocks, [0..2, 2..5, 5..7, 7..10]);
/// ```
#[track_caller]
pub fn simulate<X: MeshAxes, T: Send>(ranks: usize, sizes: &[usize], run: impl Fn(&mut Mesh<X>) -> T + Sync) -> Vec<T> {
    match Limits::read() {
        Ok(limits) => simulate_within(limits, ranks, sizes, run),
        Err(error) => panic!("{error}"),
    }
}

/// The same with other limits than those of the environment.
#[track_caller]
pub(super) fn simulate_within<X: MeshAxes, T: Send>(
    limits: Limits,
    ranks: usize,
    sizes: &[usize],
    run: impl Fn(&mut Mesh<X>) -> T + Sync,
) -> Vec<T> {
    let world = Arc::new(World::new(ranks, limits));
    let sizes = match crate::mesh::resolved(X::NAMES, sizes, ranks) {
        Ok(sizes) => sizes,
        Err(error) => panic!("{error}"),
    };
    let outcomes: Vec<std::thread::Result<T>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let (world, sizes, run) = (&world, &sizes, &run);
                scope.spawn(move || {
                    let ended = Ended { world, rank };
                    let engine = Threads { world: world.clone(), rank, next: RefCell::default() };
                    let mut mesh = Mesh::simulated(Box::new(engine), rank, sizes, world.limits);
                    let value = run(&mut mesh);
                    drop(mesh);
                    drop(ended);
                    value
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    // The first that has panicked, not one that has panicked because of it.
    let first = match world.state().failed {
        Some(Error::Rank { rank, .. }) => rank,
        _ => outcomes.iter().position(|outcome| outcome.is_err()).unwrap_or(0),
    };
    if let Some(Err(panic)) = outcomes.get(first) {
        panic!("rank {first} of {ranks} panicked: {}", text_of(&**panic));
    }
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
}

fn text_of(panic: &(dyn core::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(|text| &**text);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no text)")
}

/// Says that a rank has ended, when it does.
struct Ended<'a> {
    world: &'a World,
    rank: usize,
}
impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut state = self.world.state();
        state.ended[self.rank] = true;
        if std::thread::panicking() && state.failed.is_none() {
            state.failed = Some(Error::Rank { rank: self.rank, text: "it panicked".to_owned() });
        }
        state.expect_no_deadlock();
        self.world.changed.notify_all();
    }
}

/// An operation of a line: its axis, the first of its ranks, and how many it has had.
type Key = (usize, usize, u64);

/// What the threads share.
struct World {
    limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Operations that not all ranks have finished: of each line, by their order on it.
    slots: HashMap<Key, Slot>,
    ended: Vec<bool>,
    /// What each rank waits for.
    waiting: Vec<Option<Key>>,
    /// What ended all of them.
    failed: Option<Error>,
}

struct Slot {
    line: Line,
    brought: Vec<Option<Arc<Brought>>>,
    taken: usize,
}
impl Slot {
    /// The ranks that have not come, as numbers among all.
    fn absent(&self) -> impl Iterator<Item = usize> {
        self.brought.iter().enumerate().filter(|(_, brought)| brought.is_none()).map(|(at, _)| self.line.number(at))
    }
}

/// What a rank brings to an operation.
struct Brought {
    call: Described,
    own: Vec<u8>,
}

impl World {
    fn new(ranks: usize, limits: Limits) -> Self {
        let state =
            State { slots: HashMap::new(), ended: vec![false; ranks], waiting: vec![None; ranks], failed: None };
        World { limits, state: Mutex::new(state), changed: Condvar::new() }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        // (No code of users runs while it is held.)
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    /// Whether a rank can't go on, as long as others don't: who waits for one that has ended is told so, and goes on.
    fn is_stuck(&self, rank: usize) -> bool {
        let slot = self.waiting[rank].and_then(|slot| self.slots.get(&slot));
        slot.is_some_and(|slot| slot.absent().count() > 0 && slot.absent().all(|rank| !self.ended[rank]))
    }
    /// If each rank that goes on waits for another, that is the end of all.
    fn expect_no_deadlock(&mut self) {
        let going_on = |rank: &usize| !self.ended[*rank];
        if self.failed.is_some() || !(0..self.ended.len()).filter(going_on).all(|rank| self.is_stuck(rank)) {
            return;
        }
        let mut lines = Vec::new();
        for (rank, slot) in self.waiting.iter().enumerate() {
            let brought = slot.and_then(|slot| self.slots.get(&slot));
            let own = brought.and_then(|slot| slot.brought.iter().flatten().find(|brought| brought.call.rank == rank));
            if let Some(own) = own.filter(|_| !self.ended[rank]) {
                lines.push(format!("\n  rank {rank}: {}", own.call));
            }
        }
        if !lines.is_empty() {
            self.failed = Some(Error::Mismatch(format!("the ranks wait for each other:{}", lines.concat())));
        }
    }
}

/// One of the threads.
pub(crate) struct Threads {
    world: Arc<World>,
    rank: usize,
    /// How many operations of each line this rank has begun.
    next: RefCell<HashMap<(usize, usize), u64>>,
}

/// What was begun.
struct Begun {
    world: Arc<World>,
    rank: usize,
    slot: Key,
    call: Call,
    /// Until it is waited for.
    into: Option<Box<dyn Memory>>,
}

impl Threads {
    fn bring(&self, call: &Call, own: &[u8]) -> Result<Key> {
        let line = call.line;
        let mut copy = super::room(own.len())?;
        copy.extend_from_slice(own);
        let slot = {
            let mut next = self.next.borrow_mut();
            let next = next.entry((line.axis, line.first)).or_insert(0);
            *next += 1;
            (line.axis, line.first, *next)
        };
        let mut state = self.world.state();
        if let Some(error) = &state.failed {
            // The others wait no longer.
            return Err(error.clone());
        }
        let there = state.slots.entry(slot).or_insert_with(|| Slot { line, brought: vec![None; line.size], taken: 0 });
        there.brought[line.rank] = Some(Arc::new(Brought { call: Described::new(call), own: copy }));
        self.world.changed.notify_all();
        Ok(slot)
    }
}

/// Waits until all have come, and writes what this rank gets.
fn receive(world: &World, rank: usize, slot: Key, call: &Call, into: &mut dyn FnMut(&[Arc<Brought>])) -> Result<()> {
    let all = wait(world, rank, slot, call)?;
    let calls: Vec<&Described> = all.iter().map(|brought| &brought.call).collect();
    expect_same(&calls, world.limits.compare).map_err(Error::Mismatch)?;
    into(&all);
    Ok(())
}

fn wait(world: &World, rank: usize, slot: Key, call: &Call) -> Result<Vec<Arc<Brought>>> {
    let start = Instant::now();
    let line = call.line;
    let mut state = world.state();
    loop {
        let there = state.slots.get_mut(&slot).expect("it is there until all have taken it");
        let absent: Vec<usize> = there.absent().collect();
        if absent.is_empty() {
            let all = there.brought.iter().flatten().cloned().collect();
            there.taken += 1;
            if there.taken == line.size {
                state.slots.remove(&slot);
            }
            state.waiting[rank] = None;
            return Ok(all);
        }
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let said = Described::new(call);
        if let Some(ended) = absent.iter().find(|rank| state.ended[**rank]) {
            return Err(Error::Mismatch(format!("rank {ended} has ended, and rank {rank} waits for it: {said}")));
        }
        let left = world.limits.wait.checked_sub(start.elapsed());
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            let error = Error::Late(late(world.limits, rank, &said, &absent));
            state.failed = Some(error.clone());
            world.changed.notify_all();
            return Err(error);
        };
        if state.waiting[rank] != Some(slot) {
            state.waiting[rank] = Some(slot);
            state.expect_no_deadlock();
            if state.failed.is_some() {
                world.changed.notify_all();
                continue;
            }
        }
        state = world.changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
    }
}

fn late(limits: Limits, rank: usize, said: &Described, absent: &[usize]) -> String {
    let seconds = limits.wait.as_secs_f64();
    format!("rank {rank} waited {seconds} s (CASTIRON_MESH_SECONDS) for ranks {absent:?}: {said}")
}

/// What the rank of this line gets of what all have brought.
fn outcome(call: &Call, all: &[Arc<Brought>], into: &mut [u8]) {
    let Line { rank, size, .. } = call.line;
    let width = call.dtype.itemsize();
    // The elements that a rank has, from one position to another.
    let part = |of: usize, start: usize, len: usize| &all[of].own[start * width..(start + len) * width];
    match &call.collective {
        Collective::Reduce(reduce) => {
            into.copy_from_slice(&all[0].own);
            let combine = combine(call.dtype, *reduce).expect("a reduction that `lower` gave");
            all[1..].iter().for_each(|other| combine(into, &other.own));
        }
        Collective::ScatterReduced(reduce, counts) => {
            let start: usize = counts[..rank].iter().sum();
            let combine = combine(call.dtype, *reduce).expect("a reduction that `lower` gave");
            into.copy_from_slice(part(0, start, counts[rank]));
            (1..size).for_each(|other| combine(into, part(other, start, counts[rank])));
        }
        Collective::Gather(_) => fill(into, all.iter().map(|other| &other.own[..])),
        Collective::Exchange(..) => {
            let parts = all.iter().map(|other| match &other.call.collective {
                Collective::Exchange(to, _) => {
                    &other.own[width * to[..rank].iter().sum::<usize>()..][..width * to[rank]]
                }
                _ => &[],
            });
            fill(into, parts);
        }
        Collective::Broadcast(from) => into.copy_from_slice(&all[*from].own),
        Collective::Neighbours { received, .. } => {
            let sent = |of: usize| match &all[of].call.collective {
                Collective::Neighbours { sent, .. } => sent[0],
                _ => 0,
            };
            let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
            fill(into, [part(before, sent(before), received[0]), part(after, 0, received[1])].into_iter());
        }
    }
}

fn fill<'a>(mut into: &mut [u8], parts: impl Iterator<Item = &'a [u8]>) {
    for part in parts {
        let (start, rest) = into.split_at_mut(part.len());
        start.copy_from_slice(part);
        into = rest;
    }
}

impl Engine for Threads {
    fn run(&self, call: &Call, own: &[u8], into: &mut [u8]) -> Result<()> {
        let slot = self.bring(call, if call.collective.is_in_place() { into } else { own })?;
        receive(&self.world, self.rank, slot, call, &mut |all| outcome(call, all, into))
    }
    fn begin(&self, call: Call, own: Box<dyn Memory>, into: Box<dyn Memory>) -> Result<Box<dyn InFlight>> {
        let slot = self.bring(&call, if call.collective.is_in_place() { into.bytes() } else { own.bytes() })?;
        Ok(Box::new(Begun { world: self.world.clone(), rank: self.rank, slot, call, into: Some(into) }))
    }
    fn name(&self) -> String {
        format!("{} threads of one process", self.world.state().ended.len())
    }
    fn abort(&self, text: &str) -> ! {
        let rank = self.rank;
        self.world.state().failed.get_or_insert(Error::Rank { rank, text: text.to_owned() });
        panic!("{text}")
    }
    fn panicking(&self) {
        // (`Ended` says it.)
    }
    fn compares(&self) -> bool {
        true
    }
}

impl Begun {
    fn wait(&mut self) -> Result<Option<Box<dyn Memory>>> {
        let Begun { world, rank, slot, call, into } = self;
        let Some(mut into) = into.take() else { return Ok(None) };
        receive(world, *rank, *slot, call, &mut |all| into.write(&mut |into| outcome(call, all, into)))?;
        Ok(Some(into))
    }
}
impl InFlight for Begun {
    fn finish(mut self: Box<Self>) -> Result<Box<dyn Memory>> {
        self.wait()?.ok_or_else(|| Error::Arguments("waited for twice".to_owned()))
    }
}
impl Drop for Begun {
    fn drop(&mut self) {
        // As processes do, and so that nothing is left of it. (Nobody waits for a rank that has panicked.)
        if !std::thread::panicking() {
            let _ = self.wait();
        }
    }
}
