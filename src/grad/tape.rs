//! The tape: steps that were computed from parameters, as data, and the storages that they read on the way back.
//!
//! A step has handles to those that computed its operands, and a storage has a handle to the step that computed it; nothing else holds a
//! step, so what nobody can take a gradient of is freed at once.

use super::pull::ways::{self, OfDtype, Pull};
use super::rule::{Operands, Rule};
use crate::dtype::{DType, Element};
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::storage::Counted;
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A storage of a device, and its node on a tape if it depends on parameters.
#[derive(Debug)]
pub struct Tracked<B> {
    pub(crate) inner: B,
    value: Value<B>,
}

/// Which value of a tape a storage holds.
#[derive(Debug)]
enum Value<B> {
    /// One that depends on no parameter.
    Constant,
    Node(Node<B>),
    /// That of a storage and of the windows through which it is written.
    Shared(Arc<Mutex<Option<Node<B>>>>),
}

/// A value on a tape: a result of a step.
pub struct Node<B> {
    pub(crate) step: Counted<Step<B>>,
    pub(crate) result: usize,
}
impl<B> Clone for Node<B> {
    fn clone(&self) -> Self {
        Node { step: self.step.clone(), result: self.result }
    }
}
impl<B> fmt::Debug for Node<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.step.number, self.result)
    }
}
impl<B> Node<B> {
    pub(crate) fn tape(&self) -> Tape {
        self.step.tape
    }
    /// Whether it is a parameter.
    #[cfg(feature = "any")]
    pub(crate) fn is_leaf(&self) -> bool {
        self.step.is_leaf()
    }
    /// Whether this result has a gradient: positions have none.
    #[cfg(feature = "any")]
    pub(crate) fn has_gradient(&self) -> bool {
        self.step.extents.of(self.result).is_some()
    }
    /// What its gradient stands for.
    pub(crate) fn extent(&self) -> Extent {
        self.step.extents.of(self.result).unwrap_or(Extent { dtype: DType::F32, first: 0, bytes: 0 })
    }
}

/// The lock of something that no panic leaves half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B> Tracked<B> {
    /// A storage that depends on no parameter.
    #[inline]
    pub(crate) fn constant(inner: B) -> Self {
        Tracked { inner, value: Value::Constant }
    }
    /// A storage that holds a value.
    pub(crate) fn of(inner: B, node: Node<B>) -> Self {
        Tracked { inner, value: Value::Node(node) }
    }
    /// Calls a function with its value, if it depends on a parameter.
    #[inline]
    pub(crate) fn with_node<T>(&self, see: impl FnOnce(Option<&Node<B>>) -> T) -> T {
        match &self.value {
            Value::Constant => see(None),
            Value::Node(node) => see(Some(node)),
            Value::Shared(node) => see(locked(node).as_ref()),
        }
    }
    /// Its value, if it depends on a parameter.
    #[inline]
    pub(crate) fn node(&self) -> Option<Node<B>> {
        match &self.value {
            Value::Constant => None,
            Value::Node(node) => Some(node.clone()),
            Value::Shared(node) => shared_node(node),
        }
    }
    #[inline]
    pub(crate) fn is_tracked(&self) -> bool {
        match &self.value {
            Value::Constant => false,
            Value::Node(_) => true,
            Value::Shared(node) => shared_node(node).is_some(),
        }
    }
    /// Whether it is written through windows, so that its elements must stay where they are.
    pub(crate) fn is_window(&self) -> bool {
        matches!(self.value, Value::Shared(_))
    }
    /// Whether it holds a parameter, which was not computed.
    #[cfg(feature = "any")]
    pub(crate) fn is_leaf(&self) -> bool {
        self.node().is_some_and(|node| node.is_leaf())
    }
    /// It holds another value now.
    pub(crate) fn move_to(&mut self, node: Node<B>) {
        match &mut self.value {
            Value::Shared(shared) => *locked(shared) = Some(node),
            value => *value = Value::Node(node),
        }
    }
    /// It holds another value now: the result of a formula whose operand with this number is its old value, which the step takes over.
    pub(crate) fn move_on(&mut self, mut node: Node<B>, operand: usize) {
        let old = match &mut self.value {
            Value::Constant => None,
            Value::Shared(shared) => locked(shared).take(),
            value => match core::mem::replace(value, Value::Constant) {
                Value::Node(old) => Some(old),
                _ => None,
            },
        };
        if let Some(step) = node.step.get_mut()
            && let Past::Rule(Rule::Formula { x, .. }, _) = step.past_mut()
        {
            x[operand].node = old;
        }
        self.move_to(node);
    }
    /// Another storage that holds the same value.
    pub(crate) fn beside(&self, inner: B) -> Self {
        let value = self.node().map_or(Value::Constant, Value::Node);
        Tracked { inner, value }
    }
    /// A window through which it is written: what is recorded of either is recorded of both.
    pub(crate) fn window(&mut self, inner: B) -> Self {
        if !self.is_window() {
            self.value = Value::Shared(Arc::new(Mutex::new(self.node())));
        }
        self.handle(inner)
    }
    /// Another handle to the same elements, which holds whatever value they have.
    pub(crate) fn handle(&self, inner: B) -> Self {
        match &self.value {
            Value::Shared(shared) => Tracked { inner, value: Value::Shared(shared.clone()) },
            _ => self.beside(inner),
        }
    }
}

/// The value of a storage that is written through windows.
#[cold]
#[inline(never)]
fn shared_node<B>(node: &Mutex<Option<Node<B>>>) -> Option<Node<B>> {
    locked(node).clone()
}

/// What steps are recorded for: a function of parameters, until its gradient is taken; or run-time tensors.
///
/// Every step has it, so it is copied, not counted: slots are never freed, and those of finished tapes are used again.
#[derive(Clone, Copy)]
pub struct Tape {
    /// None: of a blank step.
    slot: Option<&'static Slot>,
    use_number: u64,
}
/// How many tapes with this slot are finished: the next one is open.
struct Slot(AtomicU64);
/// The slots of finished tapes.
static UNUSED: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

impl PartialEq for Tape {
    fn eq(&self, other: &Tape) -> bool {
        self.slot.map(core::ptr::from_ref) == other.slot.map(core::ptr::from_ref) && self.use_number == other.use_number
    }
}

/// Which bytes of its storage a node's gradient stands for, and their dtype.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub(crate) dtype: DType,
    pub(crate) first: usize,
    pub(crate) bytes: usize,
}

impl Extent {
    /// Of a storage that holds elements of these sizes and nothing else.
    #[inline]
    pub(crate) fn of(dtype: DType, sizes: &[usize]) -> Self {
        Extent { dtype, first: 0, bytes: sizes.iter().product::<usize>() * dtype.itemsize() }
    }
}

/// One operation: its results, and how gradients come back from them. Or a parameter, which was not computed.
pub struct Step<B> {
    /// Each step has a number of its own, and operands have smaller numbers than results.
    pub(crate) number: u64,
    is_leaf: bool,
    tape: Tape,
    /// Of each result that has a gradient.
    extents: Extents,
    /// Functions that see the gradients of its results.
    #[cfg(feature = "any")]
    pub(crate) hooks: OnceLock<super::hooks::Hooks<B>>,
    /// Locked while a gradient goes through it, as nodes of PyTorch's graph are.
    pub(crate) past: Mutex<Past<B>>,
}

impl<B> Step<B> {
    /// The dtype of its first result.
    #[cfg(feature = "any")]
    pub(crate) fn dtype(&self) -> DType {
        self.extents.of(0).map_or(DType::F32, |extent| extent.dtype)
    }
    /// Whether it is a parameter.
    pub(crate) fn is_leaf(&self) -> bool {
        self.is_leaf
    }
    /// How it was computed, where nobody else has the step.
    pub(crate) fn past_mut(&mut self) -> &mut Past<B> {
        self.past.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blank steps: constants, which are copied to where they are filled in. To build a step and to move it takes longer.
#[allow(clippy::declare_interior_mutable_const, reason = "each use is another step")]
impl<B> Step<B> {
    const fn blank(rule: Rule<B>) -> Self {
        Self::of_past(Past::Rule(rule, ways::none), false)
    }
    const fn of_past(past: Past<B>, is_leaf: bool) -> Self {
        Step {
            number: 0,
            is_leaf,
            tape: Tape::NONE,
            extents: Extents::One(Extent { dtype: DType::F32, first: 0, bytes: 0 }),
            #[cfg(feature = "any")]
            hooks: OnceLock::new(),
            past: Mutex::new(past),
        }
    }
    const LEAF: Self = Self::of_past(Past::Leaf(None), true);
    const FORMULA_OF_ONE: Self = Self::blank(Rule::formula(Operands::One([Operand::EMPTY])));
    const FORMULA_OF_TWO: Self = Self::blank(Rule::formula(Operands::Two([const { Operand::EMPTY }; 2])));
    const PRODUCT: Self = Self::blank(Rule::Product { x: [const { Operand::EMPTY }; 2], layout: Packed::EMPTY });

    /// The blank step of a formula with this number of operands.
    #[inline(always)]
    pub(crate) fn blank_formula(operands: usize) -> Counted<Self> {
        match operands {
            1 => Counted::made(|| Self::FORMULA_OF_ONE),
            2 => Counted::made(|| Self::FORMULA_OF_TWO),
            _ => Counted::new(Self::blank(Rule::formula(Operands::Three(Box::new([const { Operand::EMPTY }; 3]))))),
        }
    }
    /// The blank step of a product.
    #[inline(always)]
    pub(crate) fn blank_product() -> Counted<Self> {
        Counted::made(|| Self::PRODUCT)
    }
}

/// The extents of a step's results.
enum Extents {
    /// Of its only result.
    One(Extent),
    /// Of several, or of those of a step that is filled in later; `None` for results without a gradient.
    Each(OnceLock<Box<[Option<Extent>; RESULTS]>>),
}
impl Extents {
    fn of(&self, result: usize) -> Option<Extent> {
        match self {
            Extents::One(extent) => Some(*extent),
            Extents::Each(each) => each.get()?[result],
        }
    }
}
/// The most results a step has.
pub(crate) const RESULTS: usize = 4;

/// The numbers of steps that were given out, to steps or to threads.
static STEPS: AtomicU64 = AtomicU64::new(1);
/// How many numbers a thread is given at once: each one alone would be an atomic write.
const NUMBERS: u64 = 64;
thread_local! {
    /// The next number of this thread, and the end of its numbers.
    static OWN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}
/// A number that is greater than all before.
fn next_number() -> u64 {
    STEPS.fetch_add(1, Ordering::Relaxed)
}
/// A number that no other step has, and that is greater than this one: the greatest of the operands.
#[inline]
fn number_above(operands: u64) -> u64 {
    #[cold]
    #[inline(never)]
    fn others(own: &Cell<(u64, u64)>) -> u64 {
        let first = STEPS.fetch_add(NUMBERS, Ordering::Relaxed);
        own.set((first + 1, first + NUMBERS));
        first
    }
    OWN.with(|own| match own.get() {
        (next, end) if next < end && next > operands => {
            own.set((next + 1, end));
            next
        }
        _ => others(own),
    })
}

impl<B> Step<B> {
    /// Fills in a step that was [begun](Tape::begin).
    pub(crate) fn fill(&self, extents: [Option<Extent>; RESULTS], rule: Rule<B>, pull: Pull<B>) {
        if let Extents::Each(each) = &self.extents {
            each.get_or_init(|| Box::new(extents));
        }
        *locked(&self.past) = Past::Rule(rule, pull);
    }
}

/// How a value was computed.
#[allow(clippy::large_enum_variant, reason = "most steps have a rule")]
#[derive(Debug)]
pub enum Past<B> {
    /// It was not: it is a parameter. Run-time tensors add up its gradients here.
    Leaf(Option<B>),
    /// By a step, and how gradients come back through it.
    Rule(Rule<B>, Pull<B>),
    /// By a step whose operands were let go when a gradient had gone through it.
    Freed,
}

/// A chain of steps is let go in a loop: recursion would overflow the stack.
impl<B> Drop for Step<B> {
    fn drop(&mut self) {
        let (mut next, mut more) = (None, Vec::new());
        self.let_go(&mut next, &mut more);
        while let Some(mut step) = next.take().or_else(|| more.pop()) {
            // (Where it is not moved out: steps are large.)
            if let Some(step) = step.get_mut() {
                step.let_go(&mut next, &mut more);
            }
        }
    }
}
impl<B> Step<B> {
    /// Lets go of the operands. The steps that computed them and that nobody else has, which would let go of others, are put aside: the first
    /// one apart, since most often it is the only one.
    fn let_go(&mut self, next: &mut Option<Counted<Step<B>>>, more: &mut Vec<Counted<Step<B>>>) {
        let Past::Rule(rule, _) = self.past_mut() else { return };
        let mut forget = |operand: &mut Operand<B>| {
            let Some(Node { step, .. }) = operand.node.take() else { return };
            // (If two threads let go of the last two handles, one of them goes a level deeper.)
            if step.is_leaf || !step.is_unique() {
                return;
            }
            if next.is_none() { *next = Some(step) } else { more.push(step) }
        };
        match rule {
            Rule::Formula { x, .. } => x.iter_mut().for_each(forget),
            rule => rule.each_operand(&mut forget),
        }
        *self.past_mut() = Past::Freed;
    }
}

/// An operand: its elements, where their gradient goes, and the elements themselves if the way back reads them.
#[derive(Debug)]
pub struct Operand<B> {
    pub(crate) node: Option<Node<B>>,
    pub(crate) layout: Packed,
    pub(crate) offset: usize,
    /// What its dtype is able to do.
    pub(crate) of: OfDtype<B>,
    pub(crate) kept: Option<Kept<B>>,
}
impl<B> Operand<B> {
    /// A place for an operand, which is filled in where it is: records are not moved.
    pub(crate) const EMPTY: Self =
        Operand { node: None, layout: Packed::EMPTY, offset: 0, of: ways::of_no_type, kept: None };
    /// Elements of a node, from an offset on.
    pub(crate) fn new(
        node: Option<Node<B>>,
        offset: usize,
        (dtype, sizes, strides): (DType, &[usize], &[usize]),
        of: OfDtype<B>,
        kept: Option<Kept<B>>,
    ) -> Self {
        Operand { node, layout: Packed::of(dtype, sizes, strides), offset, of, kept }
    }
    /// The number of the step that computed it, or 0.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.node.as_ref().map_or(0, |node| node.step.number)
    }
    pub(crate) fn dtype(&self) -> DType {
        self.layout.dtype()
    }
    pub(crate) fn sizes(&self) -> Dims {
        self.layout.sizes()
    }
    pub(crate) fn strides(&self) -> Dims {
        self.layout.strides()
    }
    /// The axes, of these sizes, along which it has one element again and again.
    pub(crate) fn repeated(&self, sizes: &[usize]) -> u32 {
        let strides = self.strides();
        (0..sizes.len())
            .filter(|&axis| sizes[axis] > 1 && strides[axis] == 0)
            .fold(0, |mask, axis| mask | 1_u32 << axis)
    }
    /// Where its gradient goes, with other sizes and strides.
    pub(crate) fn resized(&self, sizes: Dims, strides: Dims) -> Self {
        Operand::new(self.node.clone(), self.offset, (self.dtype(), &sizes, &strides), self.of, None)
    }
}

/// A handle to elements; no copy. Operands that are written later are copied by those who write.
#[derive(Debug)]
pub struct Kept<B> {
    pub(crate) storage: B,
    pub(crate) offset: usize,
}

/// Elements that were computed: dtype, sizes and strides, from the start of their storage on.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub(crate) dtype: DType,
    pub(crate) sizes: Dims,
    pub(crate) strides: Dims,
}
impl Layout {
    pub(crate) fn of<E: Element>(sizes: &[usize], strides: &[usize]) -> Self {
        Layout { dtype: E::DTYPE, sizes: Dims::known(sizes), strides: Dims::known(strides) }
    }
    pub(crate) fn dense<E: Element>(sizes: &[usize]) -> Self {
        let sizes = Dims::known(sizes);
        Layout { dtype: E::DTYPE, sizes, strides: sizes.row_major() }
    }
    /// As steps keep it.
    #[inline]
    pub(crate) fn packed(&self) -> Packed {
        Packed::of(self.dtype, &self.sizes, &self.strides)
    }
    pub(crate) fn extent(&self) -> Extent {
        Extent::of(self.dtype, &self.sizes)
    }
}

/// The most axes that are kept in place.
const FEW: usize = 4;
/// A layout in little memory: most have few axes and small sizes. Steps are moved when they are recorded.
#[derive(Clone, Debug)]
pub enum Packed {
    Few { dtype: DType, rank: u8, sizes: [u32; FEW], strides: [u32; FEW] },
    Many(Box<Layout>),
}
impl Packed {
    #[inline(always)]
    pub(crate) fn of(dtype: DType, sizes: &[usize], strides: &[usize]) -> Self {
        let mut packed = Self::EMPTY;
        packed.put(dtype, sizes, strides);
        packed
    }
    /// Writes it where it is: numbers that have just been written one by one are slow to copy.
    #[inline(always)]
    pub(crate) fn put(&mut self, dtype: DType, sizes: &[usize], strides: &[usize]) {
        if let Packed::Few { dtype: own, rank, sizes: own_sizes, strides: own_strides } = self
            && sizes.len() <= FEW
        {
            (*own, *rank) = (dtype, sizes.len() as u8);
            let mut bits = 0;
            for ((&size, &stride), (own_size, own_stride)) in
                sizes.iter().zip(strides).zip(own_sizes.iter_mut().zip(own_strides))
            {
                (*own_size, *own_stride) = (size as u32, stride as u32);
                bits |= size | stride;
            }
            // (They have been cut off if one of them has higher bits.)
            if bits <= u32::MAX as usize {
                return;
            }
        }
        self.put_many(dtype, sizes, strides);
    }
    pub(crate) const EMPTY: Self = Packed::Few { dtype: DType::F32, rank: 0, sizes: [0; FEW], strides: [0; FEW] };
    #[cold]
    fn put_many(&mut self, dtype: DType, sizes: &[usize], strides: &[usize]) {
        *self = Packed::Many(Box::new(Layout { dtype, sizes: Dims::known(sizes), strides: Dims::known(strides) }));
    }
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Packed::Few { dtype, .. } => *dtype,
            Packed::Many(layout) => layout.dtype,
        }
    }
    #[inline]
    pub(crate) fn open(&self) -> Layout {
        match self {
            Packed::Few { dtype, rank, sizes, strides } => {
                let rank = usize::from(*rank).min(FEW);
                Layout { dtype: *dtype, sizes: Dims::widened(sizes, rank), strides: Dims::widened(strides, rank) }
            }
            Packed::Many(layout) => **layout,
        }
    }
    pub(crate) fn rank(&self) -> usize {
        match self {
            Packed::Few { rank, .. } => usize::from(*rank),
            Packed::Many(layout) => layout.sizes.len(),
        }
    }
    /// The sizes.
    pub(crate) fn sizes(&self) -> Dims {
        match self {
            Packed::Few { rank, sizes, .. } => Dims::widened(sizes, usize::from(*rank).min(FEW)),
            Packed::Many(layout) => layout.sizes,
        }
    }
    /// The strides.
    pub(crate) fn strides(&self) -> Dims {
        match self {
            Packed::Few { rank, strides, .. } => Dims::widened(strides, usize::from(*rank).min(FEW)),
            Packed::Many(layout) => layout.strides,
        }
    }
    /// Whether these are its strides.
    pub(crate) fn has_strides(&self, of: &[usize]) -> bool {
        match self {
            Packed::Few { rank, strides, .. } => {
                let own = strides.iter().take(usize::from(*rank));
                own.len() == of.len() && own.zip(of).all(|(&own, &of)| own as usize == of)
            }
            Packed::Many(layout) => *layout.strides == *of,
        }
    }
}

impl Tape {
    /// That of a blank step.
    const NONE: Self = Tape { slot: None, use_number: u64::MAX };
    pub(crate) fn new() -> Self {
        let unused = locked(&UNUSED).pop();
        let slot = unused.unwrap_or_else(|| Box::leak(Box::new(Slot(AtomicU64::new(0)))));
        Tape { slot: Some(slot), use_number: slot.0.load(Ordering::Acquire) }
    }

    /// Nothing more is recorded.
    pub(crate) fn finish(self) {
        let Some(slot) = self.slot else { return };
        let next = self.use_number + 1;
        if slot.0.compare_exchange(self.use_number, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            locked(&UNUSED).push(slot);
        }
    }

    // (Inlined: rules are large, and calls move them.)
    #[inline(always)]
    fn step<B>(self, extents: Extents, past: Past<B>) -> Counted<Step<B>> {
        Counted::new(Step {
            number: next_number(),
            is_leaf: false,
            tape: self,
            extents,
            #[cfg(feature = "any")]
            hooks: OnceLock::new(),
            past: Mutex::new(past),
        })
    }

    /// A parameter: a node without a step, for these bytes of a storage.
    pub(crate) fn leaf<B>(self, inner: B, extent: Extent) -> Tracked<B> {
        let mut step = Counted::made(|| Step::LEAF);
        if let Some(step) = step.get_mut() {
            (step.number, step.tape, step.extents) = (number_above(0), self, Extents::One(extent));
        }
        Tracked::of(inner, Node { step, result: 0 })
    }

    /// Records a step with one result.
    #[inline(always)]
    pub(crate) fn push<B>(
        self,
        op: &'static str,
        inner: B,
        layout: Layout,
        rule: Rule<B>,
        pull: Pull<B>,
    ) -> Result<Tracked<B>> {
        Ok(Tracked::of(inner, self.push_node(op, layout.extent(), rule, pull)?))
    }

    /// Records a step with one result or two; one without a layout has no gradient (positions).
    pub(crate) fn push_both<B>(
        self,
        op: &'static str,
        results: [Option<(B, Layout)>; 2],
        rule: Rule<B>,
        pull: Pull<B>,
    ) -> Result<[Option<Tracked<B>>; 2]> {
        self.expect_open(op)?;
        let [a, b] = [0, 1].map(|at| results[at].as_ref().map(|(_, layout)| layout.extent()));
        let extents = Extents::Each(OnceLock::from(Box::new([a, b, None, None])));
        let step = self.step(extents, Past::Rule(rule, pull));
        let [first, second] = results;
        let tracked = |result: Option<(B, Layout)>, at| {
            result.map(|(inner, _)| Tracked::of(inner, Node { step: step.clone(), result: at }))
        };
        Ok([tracked(first, 0), tracked(second, 1)])
    }

    /// Records a step with one result, for a storage that was written.
    #[inline(always)]
    pub(crate) fn push_node<B>(
        self,
        op: &'static str,
        extent: Extent,
        rule: Rule<B>,
        pull: Pull<B>,
    ) -> Result<Node<B>> {
        self.expect_open(op)?;
        Ok(Node { step: self.step(Extents::One(extent), Past::Rule(rule, pull)), result: 0 })
    }

    /// Records a step with one result: a blank one, which is filled in by a function that returns the greatest number of its operands.
    #[inline(always)]
    pub(crate) fn push_filled<B>(
        self,
        op: &'static str,
        extent: Extent,
        blank: Counted<Step<B>>,
        pull: Pull<B>,
        fill: impl FnOnce(&mut Rule<B>) -> Result<u64>,
    ) -> Result<Node<B>> {
        self.expect_open(op)?;
        let mut step = blank;
        if let Some(step) = step.get_mut() {
            let mut operands = 0;
            if let Past::Rule(rule, of) = step.past_mut() {
                *of = pull;
                operands = fill(rule)?;
            }
            (step.number, step.tape, step.extents) = (number_above(operands), self, Extents::One(extent));
        }
        Ok(Node { step, result: 0 })
    }

    /// A step that is filled in when its results are known.
    pub(crate) fn begin<B>(self, op: &'static str) -> Result<Counted<Step<B>>> {
        self.expect_open(op)?;
        Ok(self.step(Extents::Each(OnceLock::new()), Past::Freed))
    }

    #[inline]
    fn expect_open(self, op: &'static str) -> Result<()> {
        let is_open = self.slot.is_some_and(|slot| slot.0.load(Ordering::Acquire) == self.use_number);
        if is_open { Ok(()) } else { finished(op) }
    }
}
#[cold]
fn finished<T>(op: &'static str) -> Result<T> {
    let reason = "a value belongs to a gradient that is finished: take it out of its closure with `.detach()`";
    invalid(op, reason.to_owned())
}
