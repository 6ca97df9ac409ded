//! Storages of any device on a tape: a call is handed to `Taped<Dynamic>` if one of its operands depends on a parameter.

use super::{Dynamic, DynamicBuffer};
use crate::composite::primitive::{Dtypes as _, On, Primitive};
use crate::device::Backend;
use crate::device::call::{Call, Elsewhere, Given, Outcome, Rehouse, Rehoused};
use crate::error::{Error, Result, room};
use crate::grad::{Taped, Tracked};
use core::cell::{Cell, OnceCell};

thread_local! {
    static IS_ENABLED: Cell<bool> = const { Cell::new(true) };
}
/// Whether this thread records what is computed from parameters.
#[inline]
pub(crate) fn is_enabled() -> bool {
    IS_ENABLED.get()
}
/// Sets [`is_enabled`], and returns what it was.
pub(crate) fn set_enabled(enabled: bool) -> bool {
    IS_ENABLED.replace(enabled)
}

impl DynamicBuffer {
    /// On a tape, if it depends on a parameter or may soon.
    pub(crate) fn tracked(tracked: Tracked<DynamicBuffer>) -> DynamicBuffer {
        if tracked.is_tracked() || tracked.is_window() {
            DynamicBuffer::Taped(Box::new(tracked))
        } else {
            tracked.inner
        }
    }

    /// As its tape sees it.
    pub(crate) fn into_tracked(self) -> Tracked<DynamicBuffer> {
        match self {
            DynamicBuffer::Taped(tracked) => *tracked,
            plain => Tracked::constant(plain),
        }
    }

    /// Whether what is computed from it is recorded.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(self, DynamicBuffer::Taped(tracked) if is_enabled() && tracked.is_tracked())
    }

    /// With a place for a value, if what is written may depend on a parameter.
    pub(super) fn may_be_taped(&mut self) -> Option<&mut Tracked<DynamicBuffer>> {
        if matches!(self, DynamicBuffer::Taped(_)) || is_enabled() { Some(self.taped()) } else { None }
    }

    /// With a place for a value.
    pub(crate) fn taped(&mut self) -> &mut Tracked<DynamicBuffer> {
        if !matches!(self, DynamicBuffer::Taped(_)) {
            let plain = core::mem::replace(self, DynamicBuffer::Meta);
            *self = DynamicBuffer::Taped(Box::new(Tracked::constant(plain)));
        }
        match self {
            DynamicBuffer::Taped(tracked) => tracked,
            _ => unreachable!("it has just been put there"),
        }
    }
}

/// Whether an operand of a call depends on a parameter, and is recorded.
#[inline]
pub(super) fn is_recorded<C: Call>(call: &C::Of<'_, DynamicBuffer>) -> bool {
    let mut is_tracked = false;
    C::storages(call, &mut |storage| {
        is_tracked |= matches!(storage, DynamicBuffer::Taped(tracked) if tracked.is_tracked());
    });
    is_tracked && is_enabled()
}

/// Runs an operation that is no call, and records it if an operand depends on a parameter.
pub(super) fn primitive<P: Primitive>(
    primitive: &P,
    x: On<'_, P::Operands, Dynamic>,
) -> Result<On<'static, P::Results, Dynamic>> {
    let mut is_recorded = false;
    P::Operands::storages::<Dynamic>(&x, &mut |storage| is_recorded |= storage.is_recorded());
    if !is_recorded {
        return primitive.run::<Dynamic>(x);
    }
    Ok(P::Results::dynamic(Taped::<Dynamic>::primitive(primitive, P::Operands::onto(x))?))
}

/// A storage as a tape sees it.
pub(crate) enum Seen<'a> {
    Of(&'a Tracked<DynamicBuffer>),
    /// A handle to one that is on no tape.
    Constant(Tracked<DynamicBuffer>),
}
impl Seen<'_> {
    pub(crate) fn tracked(&self) -> &Tracked<DynamicBuffer> {
        match self {
            Seen::Of(tracked) => tracked,
            Seen::Constant(tracked) => tracked,
        }
    }
}
/// A storage as a tape sees it, for as long as it is borrowed.
pub(crate) fn seen(storage: &DynamicBuffer) -> Seen<'_> {
    if let DynamicBuffer::Taped(tracked) = storage {
        return Seen::Of(tracked);
    }
    Seen::Constant(constant(storage))
}
/// A handle to a storage that is on no tape, which is used as long as that is borrowed.
fn constant(storage: &DynamicBuffer) -> Tracked<DynamicBuffer> {
    // SAFETY: callers borrow the storage as long as they use the handle; what is kept of it is shared, which copies what is borrowed.
    Tracked::constant(storage.shared().unwrap_or_else(|| unsafe { Dynamic::lend(storage) }))
}

/// Operands that are on no tape are constants during the call. They are made as the call asks for them, in its order.
struct Constants {
    of: Vec<OnceCell<Tracked<DynamicBuffer>>>,
    next: Cell<usize>,
}
impl Constants {
    fn next(&self) -> Rehoused<&OnceCell<Tracked<DynamicBuffer>>> {
        let at = self.next.get();
        self.next.set(at + 1);
        self.of.get(at).ok_or(Elsewhere::NotRecorded)
    }
}
impl Rehouse<DynamicBuffer, Tracked<DynamicBuffer>> for Constants {
    fn shared<'a: 'b, 'b>(&'b self, storage: &'a DynamicBuffer) -> Rehoused<&'b Tracked<DynamicBuffer>> {
        let place = self.next()?;
        if let DynamicBuffer::Taped(tracked) = storage {
            return Ok(tracked);
        }
        Ok(place.get_or_init(|| constant(storage)))
    }
    fn exclusive<'a: 'b, 'b>(&'b self, storage: &'a mut DynamicBuffer) -> Rehoused<&'b mut Tracked<DynamicBuffer>> {
        self.next()?;
        let tracked = storage.taped();
        if tracked.is_leaf() {
            return Err(Elsewhere::Parameter);
        }
        Ok(tracked)
    }
}

/// Runs a call and records it.
pub(super) fn run<C: Call>(call: C::Of<'_, DynamicBuffer>) -> Result<Given<C, DynamicBuffer>> {
    let mut count = 0;
    C::storages(&call, &mut |_| count += 1);
    let mut of = room(count)?;
    of.resize_with(count, OnceCell::new);
    let constants = Constants { of, next: Cell::new(0) };
    let call = match C::rehoused(call, &constants) {
        Ok(call) => call,
        Err(Elsewhere::NotRecorded) => return Err(not_recorded(C::NAME)),
        Err(Elsewhere::Parameter) => return Err(leaf_written(C::NAME)),
        Err(reason) => return Err(super::dispatch::elsewhere("cpu", reason)),
    };
    let given = Taped::<Dynamic>::run::<C>(call)?;
    Ok(C::Out::rehoused(given, DynamicBuffer::tracked))
}

/// The error for an operation that cannot be recorded.
#[cold]
pub(crate) fn not_recorded(op: &'static str) -> Error {
    let reason = "it has no derivative here: compute it of tensors that are `.detach()`ed".to_owned();
    Error::InvalidArgument { op, reason }
}
/// The error for a parameter that is written.
#[cold]
pub(crate) fn leaf_written(op: &'static str) -> Error {
    let reason =
        "a leaf tensor that requires grad is used in an in-place operation: write it under `any::scoped_no_grad()`";
    Error::InvalidArgument { op, reason: reason.to_owned() }
}
