//! The way back: what each kind of step does with the gradient of its result.
//!
//! These functions are generic over the device and written with its own calls, so that they run on every device, and on tapes for gradients
//! of gradients. Programs compile those of the steps that they record ([`ways`]).

pub(super) mod convolution;
pub(super) mod derivative;
mod elementwise;
mod gradients;
mod lanes;
mod moves;
mod product;
mod reduce;
mod rows;
mod seen;
pub(crate) mod ways;
mod widened;

use super::primitive::WayBack;
#[cfg(feature = "any")]
use super::rule::Rule;
#[cfg(feature = "any")]
use super::tape::Node;
use super::tape::{Kept, Layout, Operand, Past, Step, locked};
use crate::composite::{Erased, Owned, expect_within};
use crate::device::{Backend, Cpu, Cuda, Device, Meta};
use crate::dtype::{Complex, DType, Dtype, Element, bf16, f16};
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::kernel::{Casting, Copying};
use crate::ops::record::derivative::Derivative;
use crate::ops::slope::Formula;
use crate::storage::{Counted, HostBuffer, View};
pub(super) use convolution::{Convolving, PullConvolution, of_convolution};
pub(crate) use derivative::{DerivativeCall, several_derivative};
pub(crate) use elementwise::{SlopeCall, SlopeLoop, slope_loop};
use gradients::Arriving;
pub use gradients::Gradients;
pub(super) use gradients::unshare;
pub use seen::Cotangents;
pub(crate) use seen::Seen;
use std::sync::Arc;
use ways::{Asked, Pull, Way, of_dtype};

/// Runs code for the dtype that steps of a dtype go back in: `by_dtype!(dtype, E => code)`. Half precision goes back in `f32`, complex
/// numbers in `Complex<f64>`.
#[cfg(any(feature = "any", feature = "cuda"))]
macro_rules! by_dtype {
    ($dtype:expr, $E:ident => $run:expr) => {
        match $dtype {
            $crate::DType::F16 | $crate::DType::BF16 | $crate::DType::F32 => by_dtype!(@ $E [f32] $run),
            $crate::DType::F64 => by_dtype!(@ $E [f64] $run),
            $crate::DType::C32 | $crate::DType::C64 | $crate::DType::C128 => by_dtype!(@ $E [$crate::dtype::Complex<f64>] $run),
            dtype => $crate::grad::pull::no_gradient(dtype),
        }
    };
    (@ $E:ident [$ty:ty] $run:expr) => {{
        type $E = $ty;
        $run
    }};
}
/// Runs code for the dtype itself.
#[cfg(feature = "any")]
macro_rules! by_exact {
    ($dtype:expr, $E:ident => $run:expr) => {
        match $dtype {
            DType::F16 => by_exact!(@ $E [$crate::dtype::f16] $run),
            DType::BF16 => by_exact!(@ $E [$crate::dtype::bf16] $run),
            DType::F32 => by_exact!(@ $E [f32] $run),
            DType::F64 => by_exact!(@ $E [f64] $run),
            DType::C32 => by_exact!(@ $E [$crate::dtype::Complex<$crate::dtype::f16>] $run),
            DType::C64 => by_exact!(@ $E [$crate::dtype::Complex<f32>] $run),
            DType::C128 => by_exact!(@ $E [$crate::dtype::Complex<f64>] $run),
            dtype => $crate::grad::pull::no_gradient(dtype),
        }
    };
    (@ $E:ident [$ty:ty] $run:expr) => {{
        type $E = $ty;
        $run
    }};
}
/// The dtype that steps of a dtype go back in.
const fn class(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C32 | DType::C64 => DType::C128,
        dtype => dtype,
    }
}
#[cfg(any(feature = "any", feature = "cuda"))]
pub(crate) use by_dtype;
#[cfg(feature = "any")]
pub(crate) use by_exact;

#[cold]
pub(crate) fn no_gradient<T>(dtype: DType) -> Result<T> {
    invalid(OP, format!("there are no gradients of {dtype} here"))
}

/// The name of errors on the way back.
pub(crate) const OP: &str = "backward";

/// How a device runs steps backwards.
#[doc(hidden)]
pub trait PullsBack: Backend {
    /// Whether it is known at run time: then types may stand for the width of elements.
    const IS_DYNAMIC: bool = false;
    /// How it goes back through a kind of step in a dtype.
    fn way<W: Way, E: Dtype>() -> Pull<Self::Storage>
    where
        Self: Device,
    {
        W::pull::<E, Self>
    }
    /// How it goes back through a convolution in a dtype.
    fn convolution<E: Dtype>() -> PullConvolution<Self>
    where
        Self: Device,
    {
        convolution::pull::<E, Self>
    }
    /// A gradient times the derivative of an elementwise formula.
    fn slope(formula: &'static Formula, call: SlopeCall<'_, Self>) -> Result<Self::Storage>;
    /// The same as it was recorded, or a derivative of that. The result is row-major.
    fn derivative(derivative: &Arc<Derivative>, call: DerivativeCall<'_, Self>) -> Result<Self::Storage>;
    /// Memory of the host that no tape sees: functions that go back in one pass over it take the place of several calls.
    fn host_buffer(_storage: &Self::Storage) -> Option<&HostBuffer> {
        None
    }
    /// A storage beside such a one.
    fn of_host_buffer(_buffer: HostBuffer) -> Option<Self::Storage> {
        None
    }
    /// Puts a storage on a tape, as this value, or takes it off; of devices that are known at run time.
    #[cfg(feature = "any")]
    fn retape(_storage: &mut Self::Storage, _node: Option<Node<Self::Storage>>) {}
    /// The device off the tape; a device that is no tape itself.
    type Inside: Device;
    /// A handle to the elements off the tape.
    fn off<E: Element>(view: View<'_, Self::Storage, E>) -> (<Self::Inside as Backend>::Storage, usize);
    /// An operand as the tape keeps it, without its elements.
    fn operand<E: Element>(view: View<'_, Self::Storage, E>) -> Operand<<Self::Inside as Backend>::Storage>;
    /// A result that was computed off the tape, on it.
    fn with_way_back(
        op: &'static str,
        result: <Self::Inside as Backend>::Storage,
        layout: Layout,
        way_back: impl WayBack<<Self::Inside as Backend>::Storage> + 'static,
    ) -> Result<Self::Storage>;
}
/// What devices do that record nothing.
macro_rules! records_nothing {
    () => {
        type Inside = Self;
        fn off<E: Element>(view: View<'_, Self::Storage, E>) -> (Self::Storage, usize) {
            Self::share(view)
        }
        fn operand<E: Element>(view: View<'_, Self::Storage, E>) -> Operand<Self::Storage> {
            Operand::new(None, view.offset, (E::DTYPE, view.sizes, view.strides), of_dtype::<E, Self>(E::DTYPE), None)
        }
        fn with_way_back(
            _: &'static str,
            result: Self::Storage,
            _: Layout,
            _: impl WayBack<Self::Storage> + 'static,
        ) -> Result<Self::Storage> {
            Ok(result)
        }
    };
}
impl PullsBack for Cpu {
    records_nothing!();
    #[cfg(feature = "precompiled")]
    fn way<W: Way, E: Dtype>() -> Pull<HostBuffer> {
        W::on_host::<E>()
    }
    #[cfg(feature = "precompiled")]
    fn convolution<E: Dtype>() -> PullConvolution<Self> {
        convolution::on_host::<E>()
    }
    fn host_buffer(storage: &HostBuffer) -> Option<&HostBuffer> {
        Some(storage)
    }
    fn of_host_buffer(buffer: HostBuffer) -> Option<HostBuffer> {
        Some(buffer)
    }
    fn slope(formula: &'static Formula, call: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        formula.on_host(call)
    }
    fn derivative(derivative: &Arc<Derivative>, call: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        derivative::on_host(derivative, &call)
    }
}
impl<const N: usize> PullsBack for Cuda<N> {
    records_nothing!();
    fn slope(formula: &'static Formula, call: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        let (derivative, call) = call.recorded(formula)?;
        crate::device::cuda_derivative::<N>(&derivative, &call)
    }
    fn derivative(derivative: &Arc<Derivative>, call: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        crate::device::cuda_derivative::<N>(derivative, &call)
    }
}
impl PullsBack for Meta {
    records_nothing!();
    fn slope(_: &'static Formula, _: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        Ok(crate::device::NoData)
    }
    fn derivative(_: &Arc<Derivative>, _: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        Ok(crate::device::NoData)
    }
}
#[cfg(feature = "any")]
impl PullsBack for crate::device::Dynamic {
    records_nothing!();
    const IS_DYNAMIC: bool = true;
    fn host_buffer(storage: &Self::Storage) -> Option<&HostBuffer> {
        match storage {
            crate::device::DynamicBuffer::Cpu(buffer) => Some(buffer),
            _ => None,
        }
    }
    fn of_host_buffer(buffer: HostBuffer) -> Option<Self::Storage> {
        Some(crate::device::DynamicBuffer::Cpu(buffer))
    }
    fn slope(formula: &'static Formula, call: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        derivative::slope_at_run_time(formula, &call)
    }
    fn derivative(derivative: &Arc<Derivative>, call: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        derivative::at_run_time(derivative, &call)
    }
    fn retape(storage: &mut Self::Storage, node: Option<Node<Self::Storage>>) {
        use crate::device::DynamicBuffer;
        use crate::grad::tape::Tracked;
        let plain = core::mem::replace(storage, DynamicBuffer::Meta).into_tracked().inner;
        *storage = match node {
            None => plain,
            Some(node) => DynamicBuffer::tracked(Tracked::of(plain, node)),
        };
    }
}

/// Checked calls record nothing, and no test takes them back.
#[cfg(all(test, feature = "profile"))]
impl<D: Device> PullsBack for crate::device::decorated::Checked<D> {
    records_nothing!();
    fn way<W: Way, E: Dtype>() -> Pull<Self::Storage> {
        ways::none
    }
    fn slope(_: &'static Formula, _: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        invalid(OP, "checked calls have no gradient".to_owned())
    }
    fn derivative(_: &Arc<Derivative>, _: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        invalid(OP, "checked calls have no gradient".to_owned())
    }
}

impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// One of the parts that [`parts`](Erased::parts) shows along the last axis.
    pub(super) fn part_at(&self, at: usize) -> Erased<'_, E, D> {
        let view = self.view();
        let last = view.sizes.len() - 1;
        let offset = view.offset + at * view.strides[last];
        Erased::of(View::new(view.buffer, offset, &view.sizes[..last], &view.strides[..last]))
    }
}

/// The same elements in another dtype; themselves if they have it.
pub(crate) fn cast<'a, A: Dtype, E: Dtype, D: Device>(x: Erased<'a, A, D>) -> Result<Erased<'a, E, D>> {
    if const { A::DTYPE as u8 == E::DTYPE as u8 } { Ok(x.retyped()) } else { x.map1::<E>(OP, Casting) }
}

impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The elements as they lie in memory, if they are dense and on the host, and no tape sees them.
    pub(crate) fn on_host(&self) -> Option<&[E]> {
        let buffer = D::host_buffer(self.storage())?;
        let is_dense = crate::layout::strides::is_dense(self.sizes(), self.strides()) && !self.is_empty();
        // SAFETY: the view's elements are in the buffer and initialised; dense ones follow each other from the first on.
        is_dense
            .then(|| unsafe { core::slice::from_raw_parts(buffer.start::<E>().add(self.view().offset), self.numel()) })
    }
    /// A storage that holds these row-major elements and nothing else: this tensor's own, a handle to one, or a copy.
    fn into_whole_or_shared(self) -> Result<D::Storage> {
        let x = match self.into_whole() {
            Ok(own) => return Ok(own),
            Err(x) => x,
        };
        // (Who adds to a gradient that others have, too, makes a new one.)
        if x.view().offset == 0 && D::holds::<E>(x.storage(), x.numel()) {
            return Ok(D::share(x.view()).0);
        }
        D::map1::<E, E>(Copying, x.view(), x.strides())
    }
    /// New elements of these sizes and strides, which the host computed.
    pub(crate) fn of_host(buffer: HostBuffer, sizes: Dims, strides: Dims) -> Result<Owned<E, D>> {
        match D::of_host_buffer(buffer) {
            Some(storage) => Ok(Erased::fresh(storage, sizes, strides)),
            None => invalid(OP, "the device has no memory of the host".to_owned()),
        }
    }
}

/// Elements that a step keeps of an operand, in the dtype that it goes back in.
pub(super) fn kept<'a, E: Dtype, D: Device>(
    kept: &'a Kept<D::Storage>,
    operand: &Operand<D::Storage>,
    [sizes, strides]: [&Dims; 2],
) -> Result<Erased<'a, E, D>> {
    if operand.dtype() == E::DTYPE {
        return Ok(Erased::borrowed(&kept.storage, kept.offset, *sizes, *strides));
    }
    match (operand.of)(Asked::Read(kept, [sizes, strides], E::DTYPE))? {
        Some((storage, strides)) => Ok(Erased::fresh(storage, *sizes, strides)),
        None => elementwise::not_kept(),
    }
}
/// A result that a step keeps, in the dtype that it goes back in.
pub(super) fn result<'a, E: Dtype, D: Device>(
    kept: &'a Kept<D::Storage>,
    dtype: DType,
    [sizes, strides]: [&Dims; 2],
) -> Result<Erased<'a, E, D>> {
    if dtype == E::DTYPE {
        return Ok(Erased::borrowed(&kept.storage, kept.offset, *sizes, *strides));
    }
    // (A result is from the start of its storage on.)
    let (storage, _) = D::share(View::<_, u8>::new(&kept.storage, 0, &[], &[]));
    let layout = Layout { dtype, sizes: *sizes, strides: *strides };
    Ok(Erased::fresh(in_class::<E, D>(storage, &layout)?, *sizes, *strides))
}
/// An operand whose elements are read as they are: positions, or a condition.
pub(super) fn exact<E: Dtype, D: Device>(operand: &Operand<D::Storage>) -> Result<Erased<'_, E, D>> {
    match &operand.kept {
        Some(of) if operand.dtype() == E::DTYPE => {
            Ok(Erased::borrowed(&of.storage, of.offset, operand.sizes(), operand.strides()))
        }
        _ => elementwise::not_kept(),
    }
}
/// An operand that is kept.
pub(super) fn elements<E: Dtype, D: Device>(operand: &Operand<D::Storage>) -> Result<Erased<'_, E, D>> {
    match &operand.kept {
        Some(of) => {
            let Layout { sizes, strides, .. } = operand.layout.open();
            kept(of, operand, [&sizes, &strides])
        }
        None => invalid(OP, "an operand was not kept".to_owned()),
    }
}
/// The same as a view, if it has the dtype that its step goes back in.
fn view_of<'a, E: Dtype, D: Device>(
    operand: &'a Operand<D::Storage>,
    sizes: &'a Dims,
    strides: &'a Dims,
) -> Option<View<'a, D::Storage, E>> {
    let of = operand.kept.as_ref().filter(|_| operand.dtype() == E::DTYPE)?;
    expect_within::<E, D>(&of.storage, of.offset, sizes, strides);
    Some(View::new(&of.storage, of.offset, sizes, strides))
}
/// Elements of a storage in the dtype that their step goes back in.
fn in_class<E: Dtype, D: Device>(g: D::Storage, layout: &Layout) -> Result<D::Storage> {
    fn of<A: Dtype, E: Dtype, D: Device>(g: &D::Storage, layout: &Layout) -> Result<D::Storage> {
        D::map1::<A, E>(Casting, View::new(g, 0, &layout.sizes, &layout.strides), &layout.strides)
    }
    if const { matches!(E::DTYPE, DType::F32) } {
        match layout.dtype {
            DType::F16 => return of::<f16, f32, D>(&g, layout),
            DType::BF16 => return of::<bf16, f32, D>(&g, layout),
            _ => {}
        }
    } else if const { matches!(E::DTYPE, DType::C128) } {
        match layout.dtype {
            DType::C32 => return of::<Complex<f16>, Complex<f64>, D>(&g, layout),
            DType::C64 => return of::<Complex<f32>, Complex<f64>, D>(&g, layout),
            _ => {}
        }
    }
    if layout.dtype == E::DTYPE { Ok(g) } else { no_gradient(layout.dtype) }
}
/// The gradient of a step's only result, in the dtype that it goes back in, and its layout there.
fn arrived<E: Dtype, D: Device>(
    own: &Layout,
    given: &mut Cotangents<D::Storage>,
) -> Result<Option<(D::Storage, Layout)>> {
    let [first, ..] = given.whole()?;
    let Some(g) = first.take() else { return Ok(None) };
    Ok(Some((in_class::<E, D>(g, own)?, Layout { dtype: class(own.dtype), ..*own })))
}
/// A gradient of a result.
pub(super) fn gradient<'a, E: Dtype, D: Device>(storage: &'a D::Storage, layout: &'a Layout) -> Erased<'a, E, D> {
    Erased::of(View::new(storage, 0, &layout.sizes, &layout.strides))
}

/// What becomes of the graph on the way back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Graph {
    /// Steps let go of what they read, and a second way through them is an error.
    Freed,
    Kept,
    /// It is kept, and the way back is recorded where its operands are.
    #[cfg(feature = "any")]
    Recorded,
}

/// Puts what a step keeps on the tape that it came from, or takes it off.
#[cfg(feature = "any")]
fn retape<D: Device>(step: &Counted<Step<D::Storage>>, rule: &mut Rule<D::Storage>, puts: bool) -> Result<()> {
    let mut elsewhere = false;
    rule.each_operand(&mut |operand| {
        if let (Some(node), Some(kept)) = (&operand.node, &mut operand.kept) {
            // A copy of a window's elements is at another place than these.
            elsewhere |= kept.offset != operand.offset;
            D::retape(&mut kept.storage, puts.then(|| node.clone()));
        }
    });
    rule.each_result(&mut |result, storage| {
        let node = Node { step: step.clone(), result };
        if node.has_gradient() {
            D::retape(storage, puts.then_some(node));
        }
    });
    if elsewhere && puts {
        return invalid(OP, "`create_graph` goes through elements that were written through windows".to_owned());
    }
    Ok(())
}

/// The way back from gradients that `seed` puts at some nodes. `arrive` sees the gradients of each step's results once they are complete,
/// those of parameters among them.
pub(crate) fn back<D: Device>(
    seed: impl FnOnce(&mut Gradients<D::Storage>) -> Result<()>,
    graph: Graph,
    mut arrive: impl FnMut(&Counted<Step<D::Storage>>, &mut Cotangents<D::Storage>) -> Result<()>,
) -> Result<()> {
    let mut gradients = Gradients::<D::Storage>::new();
    seed(&mut gradients)?;
    while let Some(Arriving { mut step, mut given }) = gradients.pop() {
        arrive(&step, &mut given)?;
        // Nobody else has it: it is let go of with what it keeps.
        if graph == Graph::Freed
            && let Some(Past::Rule(rule, pull)) = step.get_mut().map(Step::past_mut)
        {
            pull(rule, given, &mut gradients)?;
            continue;
        }
        let mut past = locked(&step.past);
        match &mut *past {
            Past::Leaf(_) => {}
            Past::Rule(rule, pull) => {
                #[cfg(feature = "any")]
                if graph == Graph::Recorded {
                    let pulled = retape::<D>(&step, rule, true).and_then(|()| pull(rule, given, &mut gradients));
                    retape::<D>(&step, rule, false)?;
                    pulled?;
                    continue;
                }
                if graph != Graph::Freed || !rule.keeps() {
                    pull(rule, given, &mut gradients)?;
                    continue;
                }
                // Without the lock: what it runs may be a function of the user's.
                let taken = core::mem::replace(&mut *past, Past::Freed);
                drop(past);
                if let Past::Rule(rule, pull) = &taken {
                    pull(rule, given, &mut gradients)?;
                }
            }
            Past::Freed => return twice(),
        }
    }
    Ok(())
}
#[cold]
fn twice<T>() -> Result<T> {
    let reason = "trying to go backward through the graph a second time: what its steps had kept was freed by the first; say \
        `retain_graph` there if it is needed again";
    invalid(OP, reason.to_owned())
}
