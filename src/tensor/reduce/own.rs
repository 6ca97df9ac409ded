//! Reducers of one's own over axes, as scans, and in lazy expressions.

use crate::Tensor;
use crate::composite::Owned;
use crate::composite::reducers::{Over, ReducedOne, ReducedTwo};
use crate::device::Device;
use crate::dtype::promote::ResultType;
use crate::dtype::{Dtype, Element as _, Float};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::expression::{Mapped1, Mapped2};
use crate::ops::formula::{ForEachResult, One, Results, Two};
use crate::ops::kernel::Casting;
use crate::ops::pointwise::FromParts;
use crate::ops::reduce::own::{OfOne, OfTwo, Reducer};
use crate::sealed::Sealed;
use crate::shape::{Axes, AxisArg, Broadcast, HasAxis, Shape, SizeArray};
use crate::tensor::lazy::{Lazy, LazyOperand, Node, alone};
use crate::tensor::reduce::reductions::keep;
use castiron_macros::fallible;
use core::marker::PhantomData;

/// The operand of a reducer besides the first: `()`, or a tensor or scalar where it has two.
#[diagnostic::on_unimplemented(
    message = "the reducer can't be applied to a tensor of dtype `{E}` on `{D}` and `{Self}`",
    label = "no operand of this reducer",
    note = "the operand after the tensor is `()`, or a tensor or scalar if `step` has two",
    note = "it and the tensor promote to a floating-point dtype, and their shapes broadcast; integers are converted first: `.to::<f32>()`"
)]
pub trait ReducedBeside<Count, E: Dtype, S: Shape, D: Device>: Sealed + Clone {
    /// The dtype of the result: what the operands promote to.
    type Elem: Float;
    /// The shape of the operands together.
    type Shape: Shape;
    /// Sizes of the operands together, and what the reducer gives of them: the result `AT`, or all `M` in one pass.
    #[doc(hidden)]
    fn reduced<R: Reducer<N, Operands = Count>, X: Node<D, Elem = E>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: Lazy<E, S, D, X>,
        mask: u32,
    ) -> Result<(<Self::Shape as Shape>::Sizes, [D::Storage; M])>;
    /// The same of tensors, over axes or as a scan, which gives the result `AT`.
    #[doc(hidden)]
    fn run<R: Reducer<N, Operands = Count>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: &Tensor<E, S, D>,
        over: Over,
    ) -> Result<(<Self::Shape as Shape>::Sizes, [D::Storage; M])>;
}

fn storage<P: Float, D: Device, const M: usize>((result,): (Owned<P, D>,)) -> [D::Storage; M] {
    lone(result.into_parts().0)
}
/// The one result, where one is asked for.
fn lone<T, const M: usize>(result: T) -> [T; M] {
    let mut result = Some(result);
    core::array::from_fn(|_| result.take().unwrap_or_else(|| unreachable!("one result")))
}

#[diagnostic::do_not_recommend]
impl<E: Float, S: Shape, D: Device> ReducedBeside<One, E, S, D> for () {
    type Elem = E;
    type Shape = S;
    fn reduced<R: Reducer<N, Operands = One>, X: Node<D, Elem = E>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: Lazy<E, S, D, X>,
        mask: u32,
    ) -> Result<(S::Sizes, [D::Storage; M])> {
        #[cfg(feature = "grad")]
        if const { D::RECORDS } {
            return self.run::<R, N, AT, M>(&x.try_eval()?, Over::Axes(mask));
        }
        let (node, sizes) = x.node()?;
        // SAFETY: the expression was made for these sizes, and the node holds its tensors.
        let run = || unsafe {
            let x = node.expression(sizes.as_ref())?;
            if const { M > 1 } {
                return D::reduce_lazy_several(OfOne::<R, N, 0>::NEW, x, sizes.as_ref(), mask);
            }
            D::reduce_lazy(OfOne::<R, N, AT>::NEW, x, sizes.as_ref(), mask).map(lone)
        };
        Ok((sizes, D::fused(E::DTYPE, sizes.as_ref(), None, run)?))
    }
    fn run<R: Reducer<N, Operands = One>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: &Tensor<E, S, D>,
        over: Over,
    ) -> Result<(S::Sizes, [D::Storage; M])> {
        if const { M > 1 }
            && let Over::Axes(mask) = over
        {
            return Ok((x.shape(), D::reduce_several(OfOne::<R, N, 0>::NEW, x.elements(), mask)?));
        }
        let result = D::primitive(&ReducedOne::<R, E, N, AT>::new(over), (x.erased(),))?;
        Ok((x.shape(), storage(result)))
    }
}

/// The dtype that a tensor and an operand promote to.
type Promoted<E, S, A, D> = ResultType<<S as Shape>::Kind, E, <A as LazyOperand<D>>::Kind, <A as LazyOperand<D>>::Elem>;

#[doc(hidden)] // As with operands of formulas.
#[diagnostic::do_not_recommend]
impl<E: Dtype, S: Shape, D: Device, A: LazyOperand<D>> ReducedBeside<Two, E, S, D> for A
where
    S: Broadcast<A::Shape>,
    Promoted<E, S, A, D>: Float,
{
    type Elem = Promoted<E, S, A, D>;
    type Shape = <S as Broadcast<A::Shape>>::Output;
    fn reduced<R: Reducer<N, Operands = Two>, X: Node<D, Elem = E>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: Lazy<E, S, D, X>,
        mask: u32,
    ) -> Result<(<Self::Shape as Shape>::Sizes, [D::Storage; M])> {
        #[cfg(feature = "grad")]
        if const { D::RECORDS } {
            return self.run::<R, N, AT, M>(&x.try_eval()?, Over::Axes(mask));
        }
        let (node, of_x) = x.node()?;
        let (y, of_y) = alone::<Self::Elem, A, D>(self, R::NAME).node()?;
        let sizes = together::<Self::Shape>(R::NAME, of_x.as_ref(), of_y.as_ref())?;
        // SAFETY: both broadcast to these sizes, and the nodes hold their tensors.
        let run = || unsafe {
            let x = Mapped1::<_, _, Self::Elem>::new(Casting, node.expression(sizes.as_ref())?);
            let y = Mapped1::<_, _, Self::Elem>::new(Casting, y.expression(sizes.as_ref())?);
            let pairs = Mapped2::<_, _, _, <Self::Elem as Float>::Complex>::new(FromParts, x, y);
            if const { M > 1 } {
                return D::reduce_lazy_several(OfTwo::<R, Self::Elem, N, 0>::NEW, pairs, sizes.as_ref(), mask);
            }
            D::reduce_lazy(OfTwo::<R, Self::Elem, N, AT>::NEW, pairs, sizes.as_ref(), mask).map(lone)
        };
        Ok((sizes, D::fused(Self::Elem::DTYPE, sizes.as_ref(), None, run)?))
    }
    fn run<R: Reducer<N, Operands = Two>, const N: usize, const AT: usize, const M: usize>(
        self,
        x: &Tensor<E, S, D>,
        over: Over,
    ) -> Result<(<Self::Shape as Shape>::Sizes, [D::Storage; M])> {
        if const { M > 1 }
            && let Over::Axes(mask) = over
        {
            return self.reduced::<R, _, N, AT, M>(x.lazy(), mask);
        }
        let y = alone::<Self::Elem, A, D>(self, R::NAME).try_eval()?;
        let (x, y) = (x.erased(), y.erased());
        let sizes = together::<Self::Shape>(R::NAME, x.sizes(), y.sizes())?;
        let (x, y) = (x.expand(R::NAME, sizes.as_ref())?, y.expand(R::NAME, sizes.as_ref())?);
        let operands = (x.to::<Self::Elem>(R::NAME)?, y.to::<Self::Elem>(R::NAME)?);
        let result = D::primitive(&ReducedTwo::<R, Self::Elem, N, AT>::new(over), operands)?;
        Ok((sizes, storage(result)))
    }
}

/// The sizes that two operands broadcast to.
fn together<T: Shape>(op: &'static str, a: &[usize], b: &[usize]) -> Result<T::Sizes> {
    crate::tensor::elementwise::apply::broadcast::<T, f64>(op, a, b)
}

/// Runs a reducer for each of its results.
struct Reducing<X, A, R, T, Count, const N: usize> {
    x: X,
    operand: A,
    mask: u32,
    keeps: bool,
    of: PhantomData<fn() -> (R, T, Count)>,
}
impl<X: Clone, A: Clone, R, T, Count, const N: usize> Clone for Reducing<X, A, R, T, Count, N> {
    fn clone(&self) -> Self {
        Self { x: self.x.clone(), operand: self.operand.clone(), ..*self }
    }
}
impl<X, A, R, T: Shape, Count, const N: usize> Reducing<X, A, R, T, Count, N> {
    fn over(x: X, operand: A, mask: u32, keeps: bool) -> Self {
        Reducing { x, operand, mask, keeps, of: PhantomData }
    }
    fn given<P: Float, D: Device, const M: usize>(
        &self,
        name: &'static str,
        sizes: &[usize],
        storages: [D::Storage; M],
    ) -> Result<[Tensor<P, T, D>; M]> {
        let mut kept = T::Sizes::filled(1);
        keep(name, true, sizes, self.mask, self.keeps, kept.as_mut())?;
        Ok(storages.map(|storage| Tensor::from_parts(storage, 0, kept, strides::contiguous(&kept))))
    }
}
impl<E, S, D, X, A, R, T, const N: usize> ForEachResult for Reducing<Lazy<E, S, D, X>, A, R, T, R::Operands, N>
where
    E: Dtype,
    S: Shape,
    D: Device,
    X: Node<D, Elem = E>,
    R: Reducer<N>,
    A: ReducedBeside<R::Operands, E, S, D>,
    T: Shape,
{
    type Output = Tensor<A::Elem, T, D>;
    const AT_ONCE: bool = D::EVALUATES_EACH;
    fn run<const AT: usize>(self) -> Result<Self::Output> {
        let (sizes, storages) = self.operand.clone().reduced::<R, X, N, AT, 1>(self.x.clone(), self.mask)?;
        self.given(R::NAME, sizes.as_ref(), storages).map(|[result]| result)
    }
    fn all<const M: usize>(self) -> Result<[Self::Output; M]> {
        let (sizes, storages) = self.operand.clone().reduced::<R, X, N, 0, M>(self.x.clone(), self.mask)?;
        self.given(R::NAME, sizes.as_ref(), storages)
    }
}
impl<E, S, D, A, R, T, const N: usize> ForEachResult for Reducing<&Tensor<E, S, D>, A, R, T, R::Operands, N>
where
    E: Dtype,
    S: Shape,
    D: Device,
    R: Reducer<N>,
    A: ReducedBeside<R::Operands, E, S, D>,
    T: Shape,
{
    type Output = Tensor<A::Elem, T, D>;
    const AT_ONCE: bool = D::EVALUATES_EACH;
    fn run<const AT: usize>(self) -> Result<Self::Output> {
        let (sizes, storages) = self.operand.clone().run::<R, N, AT, 1>(self.x, Over::Axes(self.mask))?;
        self.given(R::NAME, sizes.as_ref(), storages).map(|[result]| result)
    }
    fn all<const M: usize>(self) -> Result<[Self::Output; M]> {
        let (sizes, storages) = self.operand.clone().run::<R, N, 0, M>(self.x, Over::Axes(self.mask))?;
        self.given(R::NAME, sizes.as_ref(), storages)
    }
}
/// Runs a reducer as a scan, for each of its results.
struct Scanning<'a, E: Dtype, S: Shape, D: Device, A, R, Count, const N: usize> {
    x: &'a Tensor<E, S, D>,
    operand: A,
    axis: usize,
    of: PhantomData<fn() -> (R, Count)>,
}
impl<E: Dtype, S: Shape, D: Device, A: Clone, R, Count, const N: usize> Clone
    for Scanning<'_, E, S, D, A, R, Count, N>
{
    fn clone(&self) -> Self {
        Scanning { operand: self.operand.clone(), ..*self }
    }
}
impl<E, S, D, A, R, const N: usize> ForEachResult for Scanning<'_, E, S, D, A, R, R::Operands, N>
where
    E: Dtype,
    S: Shape,
    D: Device,
    R: Reducer<N>,
    A: ReducedBeside<R::Operands, E, S, D>,
{
    type Output = Tensor<A::Elem, A::Shape, D>;
    fn run<const AT: usize>(self) -> Result<Self::Output> {
        let (sizes, [storage]) = self.operand.run::<R, N, AT, 1>(self.x, Over::Axis(self.axis))?;
        Ok(Tensor::from_parts(storage, 0, sizes, strides::contiguous(&sizes)))
    }
}

/// What a reducer gives of tensors: one, or a tuple.
type Given<R, T, const N: usize> = <<R as Reducer<N>>::Results as Results>::Of<T>;

impl<E: Dtype, S: Shape, D: Device> Tensor<E, S, D> {
    /// A [reducer](macro@crate::reducer) of one's own over all elements, to a zero-dim tensor. The operand after the tensor is `()`, or a
    /// tensor or scalar if the reducer has two; they broadcast, and promote to the dtype of the result. A reducer that gives several numbers
    /// gives a tuple of tensors: the CPU computes all of them in one pass; on GPUs, on tapes and in scans each is an operation of its own.
    ///
    /// It runs on every device, over expressions in the same pass, and has a gradient with the feature `grad`, which is computed on the
    /// host.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast, a scalar does not fit, or memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, reducer, tensor};
    /// # /// The mean of numbers with weights.
    /// # struct WeightedMean;
    /// # #[reducer]
    /// # impl WeightedMean {
    /// #     fn start<F: Float>() -> [F; 2] {
    /// #         [0.0, 0.0]
    /// #     }
    /// #     fn step<F: Float>([sum, weights]: [F; 2], x: F, weight: F) -> [F; 2] {
    /// #         [sum + weight * x, weights + weight]
    /// #     }
    /// #     fn merge<F: Float>(one: [F; 2], other: [F; 2]) -> [F; 2] {
    /// #         [one[0] + other[0], one[1] + other[1]]
    /// #     }
    /// #     fn finish<F: Float>([sum, weights]: [F; 2]) -> F {
    /// #         sum / weights
    /// #     }
    /// # }
    /// // `struct WeightedMean;` with `#[reducer]`: the sum and the weights, and their quotient.
    /// let (x, weights) = (tensor![[1.0, 2.0], [3.0, 6.0]], tensor![1.0, 3.0]);
    /// assert_eq!(x.reduce_by(WeightedMean, &weights).item(), 3.5_f32);
    /// assert_eq!(x.reduce_axis_by(WeightedMean, &weights, axis![1]).to_vec(), [1.75_f32, 5.25]);
    /// assert_eq!((x.lazy() * 2.0).reduce_by(WeightedMean, 1.0).item(), 6.0_f32);
    /// ```
    #[fallible]
    pub fn reduce_by<R, A, const N: usize>(
        &self,
        _reducer: R,
        operand: A,
    ) -> Result<Given<R, Tensor<A::Elem, (), D>, N>>
    where
        R: Reducer<N>,
        A: ReducedBeside<R::Operands, E, S, D>,
    {
        R::Results::each(Reducing::<_, _, R, (), R::Operands, N>::over(self, operand, u32::MAX, false))
    }

    /// [`reduce_by`](Self::reduce_by) over axes of the shape that the operands have together, which are removed, or kept with size 1 by
    /// `.keepdim()`.
    ///
    /// # Panics
    /// As [`reduce_by`](Self::reduce_by).
    #[fallible]
    pub fn reduce_axis_by<R, A, X, const N: usize>(
        &self,
        _reducer: R,
        operand: A,
        axes: X,
    ) -> Result<Given<R, Tensor<A::Elem, X::Reduced, D>, N>>
    where
        R: Reducer<N>,
        A: ReducedBeside<R::Operands, E, S, D>,
        X: Axes<A::Shape>,
    {
        R::Results::each(Reducing::<_, _, R, X::Reduced, R::Operands, N>::over(self, operand, X::MASK, X::KEEPS))
    }

    /// A [reducer](macro@crate::reducer) of one's own as a scan: along an axis, each element becomes what the reducer gives of it and those
    /// before it, as [`cumsum`](Self::cumsum) does for sums.
    ///
    /// # Panics
    /// As [`reduce_by`](Self::reduce_by).
    ///
    /// ```
    /// # use castiron::{axis, reducer, tensor};
    /// # /// `h = a * h + x`: what was before decays. The state is the function that a segment applies to what comes before it.
    /// # struct Recurrence;
    /// # #[reducer]
    /// # impl Recurrence {
    /// #     fn start<F: Float>() -> [F; 2] {
    /// #         [1.0, 0.0]
    /// #     }
    /// #     fn step<F: Float>([factor, h]: [F; 2], x: F, a: F) -> [F; 2] {
    /// #         [a * factor, a * h + x]
    /// #     }
    /// #     fn merge<F: Float>(earlier: [F; 2], later: [F; 2]) -> [F; 2] {
    /// #         [earlier[0] * later[0], later[0] * earlier[1] + later[1]]
    /// #     }
    /// #     fn finish<F: Float>([_, h]: [F; 2]) -> F {
    /// #         h
    /// #     }
    /// # }
    /// // `struct Recurrence;` with `#[reducer]`: `h = a * h + x`.
    /// assert_eq!(tensor![1.0, 1.0, 1.0].scan_by(Recurrence, 0.5, axis![0]).to_vec(), [1.0_f32, 1.5, 1.75]);
    /// ```
    #[fallible]
    pub fn scan_by<R, A, const N: usize, const I: isize>(
        &self,
        _reducer: R,
        operand: A,
        axis: impl AxisArg<I>,
    ) -> Result<Given<R, Tensor<A::Elem, A::Shape, D>, N>>
    where
        R: Reducer<N>,
        A: ReducedBeside<R::Operands, E, S, D, Shape: HasAxis<I>>,
    {
        let (axis, of) = (<A::Shape as HasAxis<I>>::INDEX, PhantomData::<fn() -> (R, R::Operands)>);
        R::Results::each(Scanning::<_, _, _, _, _, _, N> { x: self, operand, axis, of })
    }
}

impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
    /// As [`Tensor::reduce_by`], without a tensor of the elements.
    ///
    /// # Panics
    /// As [`Tensor::reduce_by`], and as [`eval`](Self::eval).
    #[fallible]
    pub fn reduce_by<R, A, const N: usize>(self, _reducer: R, operand: A) -> Result<Given<R, Tensor<A::Elem, (), D>, N>>
    where
        R: Reducer<N>,
        A: ReducedBeside<R::Operands, E, S, D>,
    {
        R::Results::each(Reducing::<_, _, R, (), R::Operands, N>::over(self, operand, u32::MAX, false))
    }

    /// As [`Tensor::reduce_axis_by`], without a tensor of the elements.
    ///
    /// # Panics
    /// As [`Tensor::reduce_by`], and as [`eval`](Self::eval).
    #[fallible]
    pub fn reduce_axis_by<R, A, Y, const N: usize>(
        self,
        _reducer: R,
        operand: A,
        axes: Y,
    ) -> Result<Given<R, Tensor<A::Elem, Y::Reduced, D>, N>>
    where
        R: Reducer<N>,
        A: ReducedBeside<R::Operands, E, S, D>,
        Y: Axes<A::Shape>,
    {
        R::Results::each(Reducing::<_, _, R, Y::Reduced, R::Operands, N>::over(self, operand, Y::MASK, Y::KEEPS))
    }
}
