//! `Erased`: a tensor whose dtype is a type and whose shape is a value.

use crate::device::{Backend, Device};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, invalid, room};
use crate::layout::dims::Dims;
use crate::layout::{Geometry, ViewAxes, bounds, memory_format, strides};
use crate::ops::kernel::{Casting, Copying, Map1, Map2};
use crate::ops::reduce::Reducer;
use crate::shape::{Shape, SizeArray, broadcast_sizes};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel_of, expect_fit};
use core::marker::PhantomData;

/// A tensor of dtype `E` on device `D` whose sizes and strides are known at run time: the operands and results of composites.
///
/// It borrows a storage or has a handle to it. Views borrow from their base.
pub struct Erased<'a, E, D: Backend> {
    storage: Held<'a, D::Storage>,
    offset: usize,
    sizes: Dims,
    strides: Dims,
    dtype: PhantomData<E>,
}

/// A result, or a tensor that shares its storage.
pub type Owned<E, D> = Erased<'static, E, D>;

enum Held<'a, B> {
    Borrowed(&'a B),
    Owned(B),
}

/// An axis, counted from the first.
#[derive(Clone, Copy)]
pub(crate) struct Axis(pub(crate) usize);

impl<'a, E: Element, D: Device> Erased<'a, E, D> {
    /// The tensor of a view.
    pub(crate) fn of(view: View<'a, D::Storage, E>) -> Self {
        let (sizes, strides) = (Dims::known(view.sizes), Dims::known(view.strides));
        Erased { storage: Held::Borrowed(view.buffer), offset: view.offset, sizes, strides, dtype: PhantomData }
    }

    /// Elements of a storage, which they do not reach beyond.
    #[cfg(feature = "grad")]
    pub(crate) fn borrowed(storage: &'a D::Storage, offset: usize, sizes: Dims, strides: Dims) -> Self {
        expect_within::<E, D>(storage, offset, &sizes, &strides);
        Erased { storage: Held::Borrowed(storage), offset, sizes, strides, dtype: PhantomData }
    }

    /// A new storage with sizes and strides.
    ///
    /// # Panics
    /// If they reach beyond it.
    pub(crate) fn fresh(storage: D::Storage, sizes: Dims, strides: Dims) -> Owned<E, D> {
        expect_within::<E, D>(&storage, 0, &sizes, &strides);
        Erased { storage: Held::Owned(storage), offset: 0, sizes, strides, dtype: PhantomData }
    }

    /// A new row-major tensor.
    pub(crate) fn dense(storage: D::Storage, sizes: Dims) -> Owned<E, D> {
        Self::fresh(storage, sizes, sizes.row_major())
    }

    /// A new vector.
    pub(crate) fn list(storage: D::Storage, len: usize) -> Owned<E, D> {
        Self::dense(storage, Dims::known(&[len]))
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// A copy of the sizes.
    pub(crate) fn dims(&self) -> Dims {
        self.sizes
    }

    pub(crate) fn strides(&self) -> &[usize] {
        &self.strides
    }

    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    fn layout(&self) -> Layout<'_> {
        (&self.sizes, &self.strides)
    }

    /// The number of elements: the sizes of an existing tensor have a product.
    pub(crate) fn numel(&self) -> usize {
        self.sizes.iter().product()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// The storage, on whose device results are allocated.
    pub(crate) fn storage(&self) -> &D::Storage {
        match &self.storage {
            Held::Borrowed(storage) => storage,
            Held::Owned(storage) => storage,
        }
    }

    pub(crate) fn view(&self) -> View<'_, D::Storage, E> {
        View::new(self.storage(), self.offset, &self.sizes, &self.strides)
    }

    /// A handle to the storage; borrowed elements are copied.
    pub(crate) fn share(&self) -> Owned<E, D> {
        let (storage, offset) = D::share(self.view());
        let (sizes, strides) = (self.sizes, self.strides);
        Erased { storage: Held::Owned(storage), offset, sizes, strides, dtype: PhantomData }
    }

    /// The same elements as dtype `F`, which a bound makes equal to `E`.
    pub(crate) fn known_as<F: Element>(&self) -> Erased<'_, F, D> {
        Erased::of(self.view().known_as())
    }

    /// The same tensor as dtype `F`, which a bound makes equal to `E`.
    pub(crate) fn retyped<F: Element>(self) -> Erased<'a, F, D> {
        // Bounds can be implemented outside this crate, so the dtypes are compared (as constants).
        assert!(E::DTYPE == F::DTYPE, "elements of {} are not {}", E::DTYPE, F::DTYPE);
        let Erased { storage, offset, sizes, strides, .. } = self;
        Erased { storage, offset, sizes, strides, dtype: PhantomData }
    }

    /// Checks that memory can hold a copy of all elements. A broadcast tensor may have more elements than any memory holds; this is checked
    /// before a loop over them.
    pub(crate) fn expect_memory(&self) -> Result<()> {
        let repeats = self.strides.iter().zip(&*self.sizes).any(|(&stride, &size)| stride == 0 && size > 1);
        if repeats && D::has_data(self.storage()) {
            let len = self.sizes.iter().fold(size_of::<E>(), |bytes, &size| bytes.saturating_mul(size));
            room::<u8>(len)?;
        }
        Ok(())
    }

    /// The tensor as a shape type.
    pub(crate) fn typed<S: Shape>(self, op: &'static str) -> Result<Tensor<E, S, D>> {
        if self.rank() != S::RANK {
            return invalid(op, format!("the result has {} axes, its type {}", self.rank(), S::RANK));
        }
        expect_fit::<S>(op, &self.sizes)?;
        let (storage, offset) = match self.storage {
            Held::Owned(storage) => (storage, self.offset),
            Held::Borrowed(_) => D::share(self.view()),
        };
        Ok(Tensor::from_parts(storage, offset, S::Sizes::copied(&self.sizes), S::Sizes::copied(&self.strides)))
    }

    /// The storage, if it is this tensor's own and holds nothing else.
    #[cfg(feature = "grad")]
    #[allow(clippy::result_large_err, reason = "the tensor is given back")]
    pub(crate) fn into_whole(self) -> core::result::Result<D::Storage, Self> {
        let is_whole = self.offset == 0 && D::holds::<E>(self.storage(), self.numel());
        match self {
            Erased { storage: Held::Owned(storage), .. } if is_whole => Ok(storage),
            other => Err(other),
        }
    }

    /// The same elements in another kind of storage, which holds as much.
    #[cfg(all(feature = "any", feature = "grad"))]
    pub(crate) fn rehoused<To: Device>(self, to: impl FnOnce(D::Storage) -> To::Storage) -> Owned<E, To> {
        let (storage, offset, sizes, strides) = self.into_parts();
        let storage = to(storage);
        expect_within::<E, To>(&storage, offset, &sizes, &strides);
        Erased { storage: Held::Owned(storage), offset, sizes, strides, dtype: PhantomData }
    }

    /// Storage, offset, sizes and strides.
    pub(crate) fn into_parts(self) -> (D::Storage, usize, Dims, Dims) {
        let Erased { sizes, strides, .. } = self;
        match self.storage {
            Held::Owned(storage) => (storage, self.offset, sizes, strides),
            Held::Borrowed(_) => {
                let (storage, offset) = D::share(self.view());
                (storage, offset, sizes, strides)
            }
        }
    }
}

/// Views, by the rules of `layout`.
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// A view with this number of axes by a rule, which fills in sizes and strides and returns the offset.
    pub(crate) fn viewed(
        &self,
        op: &'static str,
        rank: usize,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<Erased<'_, E, D>> {
        let (mut sizes, mut strides) = (Dims::of_rank(op, rank)?, Dims::of_rank(op, rank)?);
        let own = Geometry::new(self.offset, &self.sizes, &self.strides);
        let offset = rule(own, ViewAxes { sizes: &mut sizes, strides: &mut strides })?;
        Ok(self.restrided(offset, sizes, strides))
    }

    fn restrided(&self, offset: usize, sizes: Dims, strides: Dims) -> Erased<'_, E, D> {
        let storage = self.storage();
        expect_within::<E, D>(storage, offset, &sizes, &strides);
        Erased { storage: Held::Borrowed(storage), offset, sizes, strides, dtype: PhantomData }
    }

    /// Real and imaginary parts of complex elements, as a last axis of size 2.
    pub(crate) fn parts(&self, op: &'static str) -> Result<Erased<'_, E::RealDtype, D>>
    where
        E: Dtype,
    {
        let (mut sizes, mut strides) = (Dims::of_rank(op, self.rank() + 1)?, Dims::of_rank(op, self.rank() + 1)?);
        let own = Geometry::new(self.offset, &self.sizes, &self.strides);
        let offset = own.pairs(ViewAxes { sizes: &mut sizes, strides: &mut strides });
        let parts = Erased::<E::RealDtype, D>::of(View::new(self.storage(), offset, &[], &[]));
        expect_within::<E::RealDtype, D>(self.storage(), offset, &sizes, &strides);
        Ok(Erased { sizes, strides, ..parts })
    }

    /// `len` positions along an axis from `start` on.
    pub(crate) fn narrow(
        &self,
        op: &'static str,
        Axis(at): Axis,
        start: usize,
        len: usize,
    ) -> Result<Erased<'_, E, D>> {
        self.viewed(op, self.rank(), |own, view| own.narrow(op, at, start, len, view))
    }

    /// The view whose axis `i` is axis `order[i]`.
    pub(crate) fn permute(&self, op: &'static str, order: &[usize]) -> Result<Erased<'_, E, D>> {
        self.viewed(op, order.len(), |own, view| Ok(own.pick(order.iter().copied(), view)))
    }

    /// The view broadcast to these sizes.
    pub(crate) fn expand(&self, op: &'static str, sizes: &[usize]) -> Result<Erased<'_, E, D>> {
        checked_numel_of(op, sizes, size_of::<E>())?;
        self.viewed(op, sizes.len(), |own, view| {
            view.sizes.copy_from_slice(sizes);
            own.expand(op, view)
        })
    }

    /// The tensor if it is row-major without gaps, else a copy that is.
    pub(crate) fn contiguous(&self) -> Result<Erased<'_, E, D>> {
        if strides::is_contiguous(&self.sizes, &self.strides) {
            return Ok(Erased::of(self.view()));
        }
        let storage = D::map1::<E, E>(Copying, self.view(), &self.sizes.row_major())?;
        Ok(Self::dense(storage, self.sizes))
    }

    /// With one axis at least: a zero-dim tensor counts as one axis of size 1.
    pub(crate) fn lifted(&self, op: &'static str) -> Result<Erased<'_, E, D>> {
        if self.rank() == 0 { self.reshape(op, &[1]) } else { Ok(Erased::of(self.view())) }
    }

    /// The same elements in row-major order with other sizes: a view if the strides allow it, else a copy.
    pub(crate) fn reshape(&self, op: &'static str, sizes: &[usize]) -> Result<Erased<'_, E, D>> {
        let (sizes, mut to) = (Dims::new(op, sizes)?, Dims::of_rank(op, sizes.len())?);
        if strides::write_reshaped(&self.sizes, &self.strides, &sizes, &mut to) {
            return Ok(self.restrided(self.offset, sizes, to));
        }
        let storage = D::map1::<E, E>(Copying, self.view(), &self.sizes.row_major())?;
        Ok(Self::dense(storage, sizes))
    }
}

/// Results of elementwise operations and reductions.
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// `kernel(x)`, with PyTorch's strides of an elementwise result.
    pub(crate) fn map1<O: Element>(&self, op: &'static str, kernel: impl Map1<E, O>) -> Result<Owned<O, D>> {
        let to = like(op, self.layout(), size_of::<O>())?;
        self.map1_to(to, &|x, to| D::map1::<E, O>(kernel, x, to))
    }
    /// The result of a loop; compiled once for all kernels.
    #[inline(never)]
    fn map1_to<O: Element>(
        &self,
        to: Dims,
        run: &dyn Fn(View<'_, D::Storage, E>, &[usize]) -> Result<D::Storage>,
    ) -> Result<Owned<O, D>> {
        Ok(Erased::fresh(run(self.view(), &to)?, self.sizes, to))
    }

    /// [`map1`](Self::map1) with a row-major result.
    pub(crate) fn map1_dense<O: Element>(&self, op: &'static str, kernel: impl Map1<E, O>) -> Result<Owned<O, D>> {
        checked_numel_of(op, &self.sizes, size_of::<O>())?;
        self.map1_to(self.sizes.row_major(), &|x, to| D::map1::<E, O>(kernel, x, to))
    }

    /// The sizes that this and another broadcast to.
    pub(crate) fn broadcast<F: Element>(&self, op: &'static str, other: &Erased<'_, F, D>) -> Result<Dims> {
        broadcast(op, &self.sizes, &other.sizes)
    }

    /// `kernel(x, y)`, with PyTorch's strides of an elementwise result; the two broadcast.
    pub(crate) fn map2<F: Element, O: Element>(
        &self,
        op: &'static str,
        kernel: impl Map2<E, F, O>,
        other: &Erased<'_, F, D>,
    ) -> Result<Owned<O, D>> {
        self.map2_to(other, op, false, &|x, y, to| D::map2::<E, F, O>(kernel, x, y, to))
    }

    /// [`map2`](Self::map2) with a row-major result.
    pub(crate) fn map2_dense<F: Element, O: Element>(
        &self,
        op: &'static str,
        kernel: impl Map2<E, F, O>,
        other: &Erased<'_, F, D>,
    ) -> Result<Owned<O, D>> {
        self.map2_to(other, op, true, &|x, y, to| D::map2::<E, F, O>(kernel, x, y, to))
    }

    /// The result of a loop, row-major if `dense`; compiled once for all kernels.
    #[inline(never)]
    fn map2_to<F: Element, O: Element>(
        &self,
        other: &Erased<'_, F, D>,
        op: &'static str,
        dense: bool,
        run: &LoopOfTwo<'_, E, F, D>,
    ) -> Result<Owned<O, D>> {
        let spread = Spread::new(op, self.layout(), other.layout(), size_of::<O>(), dense)?;
        let Spread { sizes, to, left, right } = &spread;
        let storage = run(self.view().restrided(sizes, left), other.view().restrided(sizes, right), to)?;
        Ok(Erased::fresh(storage, *sizes, *to))
    }

    /// Converted to a dtype; the same elements if they have it.
    pub(crate) fn to<O: Dtype>(&self, op: &'static str) -> Result<Erased<'_, O, D>>
    where
        E: Dtype,
    {
        if const { E::DTYPE as u8 == O::DTYPE as u8 } { Ok(self.known_as()) } else { self.map1::<O>(op, Casting) }
    }

    /// Reduces the axes of `mask`, which are kept with size 1 if `keepdim`.
    pub(crate) fn reduce<R: Reducer<E>>(&self, reducer: R, mask: u32, keepdim: bool) -> Result<Owned<R::Out, D>> {
        let storage = D::reduce(reducer, self.view(), mask)?;
        Ok(Erased::dense(storage, left_over(&self.sizes, mask, keepdim)))
    }

    /// `kernel(x, y)` reduced over the axes of `mask`, without memory for it; the two broadcast.
    pub(crate) fn reduce_pairs<F: Element, C: Element, R: Reducer<C>>(
        &self,
        op: &'static str,
        reducer: R,
        kernel: impl Map2<E, F, C>,
        other: &Erased<'_, F, D>,
        mask: u32,
    ) -> Result<Owned<R::Out, D>> {
        let Spread { sizes, left, right, .. } = Spread::of(op, self.layout(), other.layout())?;
        let (left, right) = (self.view().restrided(&sizes, &left), other.view().restrided(&sizes, &right));
        let storage = D::reduce_pairs::<E, F, C>(reducer, kernel, left, right, mask)?;
        Ok(Erased::dense(storage, left_over(&sizes, mask, false)))
    }
}

/// A loop over two operands, given the strides of the result.
type LoopOfTwo<'a, E, F, D> = dyn Fn(
        View<'_, <D as Backend>::Storage, E>,
        View<'_, <D as Backend>::Storage, F>,
        &[usize],
    ) -> Result<<D as Backend>::Storage>
    + 'a;

/// Sizes and strides of two operands that are broadcast to one another.
struct Spread {
    sizes: Dims,
    /// The strides of the result.
    to: Dims,
    left: Dims,
    right: Dims,
}

/// Sizes and strides of an operand.
type Layout<'a> = (&'a Dims, &'a Dims);

impl Spread {
    /// Of an operation without a result as large as this.
    fn of(op: &'static str, left: Layout<'_>, right: Layout<'_>) -> Result<Self> {
        let sizes = broadcast(op, left.0, right.0)?;
        let spread = |(from, strides): Layout<'_>| {
            let mut spread = sizes;
            strides::write_broadcast(from, strides, &sizes, &mut spread);
            spread
        };
        Ok(Spread { sizes, to: sizes.row_major(), left: spread(left), right: spread(right) })
    }

    /// Of an operation whose result has elements of this width: row-major if `dense`, else with PyTorch's strides of an elementwise result.
    /// (Not inline: it is generic over nothing.)
    #[inline(never)]
    fn new(op: &'static str, left: Layout<'_>, right: Layout<'_>, width: usize, dense: bool) -> Result<Self> {
        let (sizes, strides) = left;
        let is_dense = sizes == right.0 && strides == right.1 && *strides == sizes.row_major();
        let spread = if is_dense {
            Spread { sizes: *sizes, to: *strides, left: *strides, right: *strides }
        } else {
            Self::of(op, left, right)?
        };
        checked_numel_of(op, &spread.sizes, width)?;
        if is_dense || dense {
            return Ok(spread);
        }
        let layouts = [(&**left.0, &**left.1, false), (&**right.0, &**right.1, false)];
        Ok(Spread { to: memory_format::elementwise_of(&spread.sizes, layouts), ..spread })
    }
}

/// The sizes that two operands broadcast to.
fn broadcast(op: &'static str, lhs: &[usize], rhs: &[usize]) -> Result<Dims> {
    let mut sizes = Dims::of_rank(op, lhs.len().max(rhs.len()))?;
    if !broadcast_sizes(lhs, rhs, &mut sizes) {
        return Err(Error::Broadcast { op, lhs: lhs.into(), rhs: rhs.into() });
    }
    Ok(sizes)
}

/// The strides of an elementwise result of one operand, whose elements have this width.
fn like(op: &'static str, (sizes, strides): Layout<'_>, width: usize) -> Result<Dims> {
    checked_numel_of(op, sizes, width)?;
    Ok(memory_format::elementwise_of(sizes, [(&**sizes, &**strides, false)]))
}

/// The sizes of the axes that are not in `mask`; the others with size 1 if `keepdim`.
pub(crate) fn left_over(sizes: &[usize], mask: u32, keepdim: bool) -> Dims {
    let (mut left, mut rank) = (Dims::known(sizes), 0);
    for (at, &size) in sizes.iter().enumerate() {
        let is_reduced = mask >> at & 1 == 1;
        if !is_reduced || keepdim {
            left[rank] = if is_reduced { 1 } else { size };
            rank += 1;
        }
    }
    Dims::known(&left[..rank])
}

/// Checks that a view does not reach beyond its storage; loops do not check.
pub(crate) fn expect_within<E: Element, D: Backend>(storage: &D::Storage, offset: usize, sizes: &Dims, strides: &Dims) {
    expect_room(D::room::<E>(storage), offset, sizes, strides);
}

#[inline(never)]
fn expect_room(room: Option<usize>, offset: usize, sizes: &Dims, strides: &Dims) {
    assert!(
        bounds::is_within(sizes, strides, offset, room),
        "no view has sizes {:?} and strides {:?} from element {offset} on in a storage of {room:?} elements",
        &**sizes,
        &**strides,
    );
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The tensor as an operand of composites.
    pub(crate) fn erased(&self) -> Erased<'_, E, D> {
        Erased::of(self.elements())
    }
}
