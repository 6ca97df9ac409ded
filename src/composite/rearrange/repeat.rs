//! `repeat`, `tile`, `repeat_interleave`: repeated elements.

use super::segments::picked;
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid, room};
use crate::layout::dims::{Dims, MOST};
use crate::ops::segment::Segment;
use crate::shape::{AxisArg, CountForEach, Dim, Dimensional, Dyn, HasAxis, Known, KnownShape, Repeat, Shape, Tile};
use crate::tensor::{SameDevice, Tensor, expect_fit};
use castiron_macros::composites;

/// Counts that are those of a type, as far as it knows them.
fn counted<'a, Counts: Shape>(op: &'static str, counts: &'a Counts::Sizes) -> Result<&'a [usize]> {
    expect_fit::<Counts>(op, counts.as_ref())?;
    Ok(counts.as_ref())
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The whole tensor repeated along each axis; additional counts make new axes in front. For a `Tensor` the counts are a shape,
    /// `Counts`.
    ///
    /// # Errors
    /// If there are fewer counts than axes, or too many elements.
    #[doc(alias = "tile")]
    #[op(repeat(input, *repeats))]
    #[any(by_width)]
    #[typed(<Counts: KnownShape>(&self) -> Tensor<E, <S as Repeat<Counts>>::Output, D>
        where
            S: Repeat<Counts>;
        counts = Counts::SIZES.as_ref())]
    #[example(let x = tensor![1, 2]; x.repeat::<shape![2, 2]>(), x.repeat(&[2, 2]), tensor![[1, 2, 1, 2], [1, 2, 1, 2]])]
    pub(crate) fn repeat(&self, counts: &[usize]) -> Result<Owned<E, D>> {
        let op = "repeat";
        if counts.len() < self.rank() {
            return invalid(op, format!("{} counts are too few for {} axes", counts.len(), self.rank()));
        }
        self.repeated(op, counts)
    }

    /// [`repeat`](Self::repeat) with counts known at run time.
    ///
    /// # Errors
    /// If a count is not that of the type, or there are too many elements.
    #[op(repeat)]
    #[any(by_hand)]
    #[typed(<Counts: Shape>(&self, counts: Counts::Sizes) -> Tensor<E, <S as Repeat<Counts>>::Output, D>
        where
            S: Repeat<Counts>;
        counts = counted::<Counts>("repeat", &counts)?)]
    #[example(let x = tensor![1, 2]; x.repeat_sized::<shape![2, _]>([2, 2]).with_shape::<shape![2, 4]>(), x.repeat(&[2, 2]), tensor![[1, 2, 1, 2], [1, 2, 1, 2]])]
    pub(crate) fn repeat_sized(&self, counts: &[usize]) -> Result<Owned<E, D>> {
        self.repeat(counts)
    }

    /// [`repeat`](Self::repeat) that also takes fewer counts than axes, for the last ones.
    ///
    /// # Errors
    /// If there are too many elements.
    #[op(tile(input, *dims))]
    #[any(by_width)]
    #[typed(<Counts: KnownShape>(&self) -> Tensor<E, <S as Tile<Counts>>::Output, D>
        where
            S: Tile<Counts>;
        counts = Counts::SIZES.as_ref())]
    #[example(let x = tensor![[1, 2], [3, 4]]; x.tile::<shape![2]>(), x.tile(&[2]), tensor![[1, 2, 1, 2], [3, 4, 3, 4]])]
    pub(crate) fn tile(&self, counts: &[usize]) -> Result<Owned<E, D>> {
        self.repeated("tile", counts)
    }

    /// [`tile`](Self::tile) with counts known at run time.
    ///
    /// # Errors
    /// If a count is not that of the type, or there are too many elements.
    #[op(tile)]
    #[any(by_hand)]
    #[typed(<Counts: Shape>(&self, counts: Counts::Sizes) -> Tensor<E, <S as Tile<Counts>>::Output, D>
        where
            S: Tile<Counts>;
        counts = counted::<Counts>("tile", &counts)?)]
    #[example(let x = tensor![1, 2]; x.tile_sized::<shape![_]>([2]).with_shape::<shape![4]>(), x.tile(&[2]), tensor![1, 2, 1, 2])]
    pub(crate) fn tile_sized(&self, counts: &[usize]) -> Result<Owned<E, D>> {
        self.tile(counts)
    }

    /// Each position along an axis repeated `times` times. For a `Tensor` `Times` is a type; for an `AnyTensor` without an axis each
    /// element is, in row-major order.
    ///
    /// # Errors
    /// If there are too many elements.
    #[doc(alias = "repeat")]
    #[op(repeat_interleave)]
    #[any(by_width, let (x, at) = self.repeated_axis(dim, 1)?, [self] = [x], dim: Option<i64> = at)]
    #[typed(<Times: Known, const I: isize>(&self, axis: impl AxisArg<I>) -> Tensor<E, <S as HasAxis<I>>::Replace<<<S as HasAxis<I>>::Dim as Dim>::Times<Times>>, D>
        where
            S: Dimensional + HasAxis<I>;
        times = Times::VALUE)]
    #[example(let x = tensor![[1, 2], [3, 4]]; x.repeat_interleave::<dim!(2), _>(axis![1]), x.repeat_interleave(2, Some(1)), tensor![[1, 1, 2, 2], [3, 3, 4, 4]])]
    pub(crate) fn repeat_interleave(&self, times: usize, dim: Axis) -> Result<Owned<E, D>> {
        self.interleaved(dim, |size| Ok(vec![Segment::Each { start: 0, len: size, times }]))
    }

    /// [`repeat_interleave`](Self::repeat_interleave) with a count known at run time.
    ///
    /// # Errors
    /// If there are too many elements.
    #[op(repeat_interleave)]
    #[any(by_hand)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, times: usize) -> Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>
        where
            S: Dimensional + HasAxis<I>)]
    #[example(let x = tensor![1, 2]; x.repeat_interleave_sized(axis![0], 3).with_shape::<shape![6]>(), x.repeat_interleave(3, Some(0)), tensor![1, 1, 1, 2, 2, 2])]
    pub(crate) fn repeat_interleave_sized(&self, times: usize, dim: Axis) -> Result<Owned<E, D>> {
        self.repeat_interleave(times, dim)
    }

    /// Each position along an axis repeated by its own count. For an `AnyTensor` without an axis each element is, in row-major order, and
    /// one count is that of all.
    ///
    /// # Errors
    /// If the number of counts does not match, one is negative, there are no data, or there are too many elements.
    #[op(repeat_interleave)]
    #[any(by_width, let (x, counts, at) = self.repeated_by(repeats, dim)?, [self, repeats] = [x, counts], dim: Option<i64> = at)]
    #[typed(<const I: isize, N, X: Device>(&self, axis: impl AxisArg<I>, repeats: &Tensor<i64, (N,), X>) -> Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>
        where
            S: Dimensional + HasAxis<I>,
            N: Dim + CountForEach<<S as HasAxis<I>>::Dim> + SameDevice<D, X>;
        repeats = &N::here(repeats).erased())]
    #[example(let x = tensor![[1, 2], [3, 4], [5, 6]]; let n = tensor![2, 0, 1]; x.repeat_interleave_by(axis![0], &n).with_shape::<shape![3, 2]>(), x.repeat_interleave_by(&n, Some(0)), tensor![[1, 2], [1, 2], [5, 6]])]
    pub(crate) fn repeat_interleave_by(&self, repeats: &Erased<'_, i64, D>, dim: Axis) -> Result<Owned<E, D>> {
        let op = "repeat_interleave";
        if !D::has_data(self.storage()) {
            return Err(Error::NoData { op });
        }
        let (count, size) = (repeats.numel(), self.sizes()[dim.0]);
        if count != size {
            return invalid(op, format!("there are {count} counts for an axis of size {size}"));
        }
        if const { D::IS_ELSEWHERE } && size > 0 && !D::is_on_host(Some(self.storage())) {
            return self.interleaved_by(repeats, dim);
        }
        // The host's loop takes the counts as a list of segments.
        let counts = D::download(repeats.view())?;
        let mut list = room(size)?;
        for (start, &count) in counts.iter().enumerate() {
            match usize::try_from(count) {
                Ok(times) => list.push(Segment::Each { start, len: 1, times }),
                Err(_) => return invalid(op, format!("the count {count} is negative")),
            }
        }
        self.interleaved(dim, |_| Ok(list))
    }

    fn interleaved(&self, Axis(at): Axis, segments: impl FnOnce(usize) -> Result<Vec<Segment>>) -> Result<Owned<E, D>> {
        let mut axes = self.whole_axes()?;
        axes[at] = segments(self.sizes()[at])?;
        self.assembled("repeat_interleave", &axes, E::default())
    }

    /// Each axis repeated; counts are aligned at the last axis.
    fn repeated(&self, op: &'static str, counts: &[usize]) -> Result<Owned<E, D>> {
        let rank = self.rank().max(counts.len());
        let (missing, mut result) = (rank - self.rank(), Dims::of_rank(op, rank)?);
        // Each axis becomes two: one of size 1 that is repeated, and the axis itself.
        let (mut sizes, mut strides, mut axes) = ([1; 2 * MOST], [0; 2 * MOST], room(2 * rank)?);
        for (at, size) in result.iter_mut().enumerate() {
            let from = at.checked_sub(missing);
            let (own, stride) = from.map_or((1, 1), |from| (self.sizes()[from], self.strides()[from]));
            let times = (at + counts.len()).checked_sub(rank).map_or(1, |at| counts[at]);
            *size = own.checked_mul(times).ok_or_else(|| Error::TooLarge { op, sizes: [own, times][..].into() })?;
            (sizes[2 * at + 1], strides[2 * at + 1]) = (own, stride);
            let whole = times == 1;
            axes.push(vec![if whole { Segment::whole(1) } else { Segment::Each { start: 0, len: 1, times } }]);
            axes.push(vec![Segment::whole(own)]);
        }
        let view = self.view().restrided(&sizes[..2 * rank], &strides[..2 * rank]);
        Ok(Erased::dense(picked::<E, D>(op, view, &axes, E::default())?, result))
    }
}
