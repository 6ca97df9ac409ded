//! `max_unpool1d` to `max_unpool3d`: pooled maxima written back to their positions.
//!
//! Source: `torch.nn.functional.max_unpool2d` and its kin; `aten/src/ATen/native/cpu/MaxUnpoolKernel.cpp`.

use super::laid;
#[cfg(feature = "grad")]
use super::picked_from_planes;
use crate::composite::nn::Laid;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::window::Window;
use crate::shape::{KnownShape, MovingWindow, PlacesOf, Resized, Shape, SizesBefore, Unpooled};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The sizes before pooling: those that follow from the windows, or those given if pooling rounded the size.
pub(crate) fn sizes_before(
    op: &'static str,
    sizes: &[usize],
    windows: &[Window],
    given: Option<&[usize]>,
) -> Result<Vec<usize>> {
    let axes = windows.len();
    let Some(lead) = sizes.len().checked_sub(axes).filter(|lead| matches!(lead, 1 | 2)) else {
        return invalid(op, format!("expected {} axes, or {} with a batch, got shape {sizes:?}", axes + 1, axes + 2));
    };
    let before = |(at, window): (usize, &Window)| {
        let (size, stride) = (sizes[lead + at] as i128, window.stride as i128);
        let own = (size - 1) * stride + window.kernel as i128 - window.before as i128 - window.after as i128;
        let size = given.map_or(own, |given| given[at] as i128);
        if given.is_some() && (size <= own - stride || size >= own + stride) {
            return invalid(
                op,
                format!("an axis of size {size}: expected one between {} and {}", own - stride, own + stride),
            );
        }
        usize::try_from(size).or_else(|_| invalid(op, format!("nothing is left of an axis: its size would be {size}")))
    };
    collected(windows.iter().enumerate().map(before))
}

/// Zeros, with the elements at their positions: `index` counts the positions of the last axes, which become `places`.
pub(crate) fn unpooled<E: Element, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    index: View<'_, D::Storage, i64>,
    places: &[usize],
) -> Result<Laid<D::Storage>> {
    let lead = x.sizes.len() - places.len();
    if index.sizes != x.sizes {
        return Err(Error::Shape { op, expected: format!("{:?}", x.sizes), found: index.sizes.into() });
    }
    if x.sizes[lead - 1..].contains(&0) {
        return invalid(
            op,
            format!("a tensor of shape {:?} has nothing to put back: only the batch may be empty", x.sizes),
        );
    }
    let sizes = [&x.sizes[..lead], places].concat();
    let count = checked_numel::<E>(op, &sizes)?;
    // Channels-last stays channels-last.
    let format = MemoryFormat::suggested(x.sizes, x.strides);
    let own = strides::row_major(&sizes);
    let own = if lead == 2 && format != MemoryFormat::CONTIGUOUS { format.copied(op, &sizes, &own)? } else { own };
    let storage = on_host::<D, _, Vec<E>>(op, (x, index), |(elements, index): (Vec<E>, Vec<i64>)| {
        let mut list = filled(E::default(), count)?;
        if x.sizes.contains(&0) {
            return Ok(list);
        }
        let each = x.sizes[lead..].iter().product::<usize>();
        let area = places.iter().product::<usize>();
        let steps = strides::row_major(places);
        for (at, (element, index)) in elements.into_iter().zip(index).enumerate() {
            let Some(position) = usize::try_from(index).ok().filter(|&position| position < area) else {
                return invalid(op, format!("index {index} is none of a part of sizes {places:?}"));
            };
            let plane = at / each;
            let (batch, channel) = if lead == 2 { (plane / sizes[1], plane % sizes[1]) } else { (0, plane) };
            let mut to = channel * own[lead - 1] + if lead == 2 { batch * own[0] } else { 0 };
            for axis in 0..places.len() {
                to += position / steps[axis] % places[axis] * own[lead + axis];
            }
            list[to] = element;
        }
        Ok(list)
    })?;
    Ok((storage, sizes, own))
}

/// The indices that pooling returns with values of shape `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no indices of pooled values of shape `{T}`",
    label = "expected `&index`, a tensor of dtype `i64`",
    note = "`max_pool2d_with_indices` and its kin give values and indices together; others are cast by `.to::<i64>()`"
)]
pub trait PooledIndices<T, D: Device> {
    #[doc(hidden)]
    fn given(&self) -> View<'_, D::Storage, i64>;
}
impl<T, I: Shape + PlacesOf<T> + SameDevice<D, X>, X: Device, D: Device> PooledIndices<T, D> for &Tensor<i64, I, X> {
    fn given(&self) -> View<'_, D::Storage, i64> {
        I::here(self).elements()
    }
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The elements that [`max_poolRANKd_with_indices`](Self::max_poolRANKd_with_indices) has found, where its indices say that they were,
    /// among zeros.
    ///
    /// `(N, C, …)` or `(C, …)`, and an index of the same shape; the further sizes are those before pooling, if the window divides them. Of
    /// an `AnyTensor` others may be given, of those that pooling makes the same of.
    ///
    /// # Errors
    /// If an index is out of range, shapes differ, an axis other than the batch is empty, or a size is impossible.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[5.0, 3.0]] [[[5.0]]] [[[[5.0]]]],
        INDEX = [[1, 3]] [[[1]]] [[[[7]]]],
        RESULT = [[0.0, 5.0, 0.0, 3.0]] [[[0.0, 5.0], [0.0, 0.0]]] [[[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 5.0]]]]
    )]
    #[op(nn.functional.max_unpoolRANKd, dtypes = float)]
    #[any(
        let () = self.expect_index("max_unpoolRANKd", index)?,
        places(options: &crate::any::PoolOptions, sizes: Option<&[i64]>) = &self.places_before("max_unpoolRANKd", RANK, options, sizes)?
    )]
    #[typed(<P: MovingWindow>(&self, index: impl PooledIndices<S, D>, pool: P) -> Tensor<E, <S as Unpooled<P, RANK>>::Output, D>
        where
            E: FloatFor<ops::reduce::max_unpool>,
            S: Unpooled<P, RANK>;
        index = &Erased::of(index.given()),
        places = &{ let _ = pool; sizes_before("max_unpoolRANKd", self.shape().as_ref(), &P::windows()[..RANK], None)? })]
    #[example(let x = tensor!OPERAND; let index = tensor!INDEX; x.max_unpoolRANKd(&index, Pool::<dim!(2)>::new()), x.max_unpoolRANKd(&index, &PoolOptions::new(&[2]), None), tensor!RESULT)]
    pub(crate) fn max_unpoolRANKd(&self, index: &Erased<'_, i64, D>, places: &[usize]) -> Result<Owned<E, D>> {
        let unpooling =
            Unpooling::<E> { op: "max_unpoolRANKd", places: listed(places.iter().copied())?, dtype: PhantomData };
        Ok(D::primitive(&unpooling, (Erased::of(self.view()), Erased::of(index.view())))?.0)
    }

    /// [`max_unpoolRANKd`](Self::max_unpoolRANKd) to the sizes `R`, of those that pooling makes the same of (`output_size`).
    ///
    /// # Errors
    /// As there, and if a size known at run time differs by a stride or more from the one that follows from the window.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[5.0]] [[[5.0]]] [[[[5.0]]]],
        INDEX = [[1]] [[[1]]] [[[[1]]]],
        EXTENT = [3] [2, 3] [2, 2, 3]
    )]
    #[op(nn.functional.max_unpoolRANKd, dtypes = float)]
    #[any(by_hand)]
    #[typed(<R, P: MovingWindow>(&self, index: impl PooledIndices<S, D>, pool: P) -> Tensor<E, <S as Resized<R>>::Output, D>
        where
            E: FloatFor<ops::reduce::max_unpool>,
            S: Resized<R> + Unpooled<P, RANK>,
            R: KnownShape + SizesBefore<S, P, RANK>;
        index = &Erased::of(index.given()),
        places = &{ let _ = pool; sizes_before("max_unpoolRANKd", self.shape().as_ref(), &P::windows()[..RANK], Some(R::SIZES.as_ref()))? })]
    #[example(let x = tensor!OPERAND; let index = tensor!INDEX; x.max_unpoolRANKd_to::<shape!EXTENT, _>(&index, Pool::<dim!(2)>::new()).amax(), x, Tensor::scalar(5.0))]
    pub(crate) fn max_unpoolRANKd_to(&self, index: &Erased<'_, i64, D>, places: &[usize]) -> Result<Owned<E, D>> {
        self.max_unpoolRANKd(index, places)
    }
}

/// Pooled maxima at their positions, zeros elsewhere.
#[derive(Clone)]
struct Unpooling<E> {
    op: &'static str,
    places: Vec<usize>,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Unpooling<E> {
    type Operands = (E, i64);
    type Results = (E,);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x, index): On<'_, (E, i64), D>) -> Result<On<'static, (E,), D>> {
        Ok((laid(unpooled::<E, D>(self.op, x.view(), index.view(), &self.places)?),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b10, 0];
    /// The gradient at the positions.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i64), D>> {
        let (Some(g),) = &back.g else { return Ok((None, None)) };
        Ok((Some(picked_from_planes(g, read(&back.x.1)?, self.places.len())?), None))
    }
}
