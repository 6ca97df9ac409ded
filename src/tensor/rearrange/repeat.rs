//! `repeat`, `tile`, `repeat_interleave`: repeated elements.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, room};
use crate::ops::segment::Segment;
use crate::shape::{
    AxisArg, CountForEach, Dim, Dimensional, Dyn, HasAxis, Known, KnownShape, Repeat, Shape, SizeArray, Tile,
};
use crate::storage::View;
use crate::tensor::rearrange::pick::{pick, pick_elements};
use crate::tensor::{SameDevice, Tensor, expect_fit};
use castiron_macros::fallible;

/// The elements with each axis repeated `counts` times (counts are aligned at the last axis; the result has `rank` axes), and the sizes.
pub(crate) fn repeated_elements<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    rank: usize,
    counts: &[usize],
) -> Result<(D::Storage, Vec<usize>)> {
    let missing = rank - view.sizes.len();
    let mut result = Vec::new();
    // Each axis becomes two: one of size 1 that is repeated, and the axis itself.
    let (mut sizes, mut strides, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    for axis in 0..rank {
        let from = axis.checked_sub(missing);
        let size = from.map_or(1, |from| view.sizes[from]);
        let count = (axis + counts.len()).checked_sub(rank).map_or(1, |at| counts[at]);
        result.push(size.checked_mul(count).ok_or_else(|| Error::TooLarge { op, sizes: [size, count][..].into() })?);
        sizes.extend([1, size]);
        strides.extend([0, from.map_or(1, |from| view.strides[from])]);
        let times = if count == 1 { Segment::whole(1) } else { Segment::Each { start: 0, len: 1, times: count } };
        axes.extend([vec![times], vec![Segment::whole(size)]]);
    }
    Ok((pick_elements::<E, D>(op, view.restrided(&sizes, &strides), &axes, E::default())?, result))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The whole tensor repeated by `counts` along each axis; additional counts make new axes in front.
    fn repeated<T: Shape>(&self, op: &'static str, counts: &[usize]) -> Result<Tensor<E, T, D>> {
        let (storage, sizes) = repeated_elements::<E, D>(op, self.elements(), T::RANK, counts)?;
        Ok(Tensor::dense(storage, T::Sizes::copied(&sizes)))
    }

    /// The tensor repeated along its axes (`torch.Tensor.repeat`), by the counts in the shape `Counts`; additional counts make new axes in
    /// front.
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let x = tensor![1, 2];
    /// let y: Tensor<i64, shape![2, 6]> = x.repeat::<shape![2, 3]>();
    /// assert_eq!(y.to_vec(), [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
    /// ```
    #[doc(alias = "tile")]
    #[fallible]
    pub fn repeat<Counts: KnownShape>(&self) -> Result<Tensor<E, <S as Repeat<Counts>>::Output, D>>
    where
        S: Repeat<Counts>,
    {
        self.repeated("repeat", Counts::SIZES.as_ref())
    }

    /// [`repeat`](Self::repeat) with counts known at run time.
    ///
    /// # Panics
    /// If a count is not that of the type, there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let n = 3;
    /// let y: Tensor<i64, shape![2, _]> = tensor![1, 2].repeat_sized::<shape![2, _]>([2, n]);
    /// assert_eq!(y.shape(), [2, 6]);
    /// ```
    #[fallible]
    pub fn repeat_sized<Counts: Shape>(
        &self,
        counts: Counts::Sizes,
    ) -> Result<Tensor<E, <S as Repeat<Counts>>::Output, D>>
    where
        S: Repeat<Counts>,
    {
        expect_fit::<Counts>("repeat", counts.as_ref())?;
        self.repeated("repeat", counts.as_ref())
    }

    /// [`repeat`](Self::repeat) that also takes fewer counts than axes, for the last ones (`torch.tile`).
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let x = tensor![[1, 2], [3, 4]];
    /// let y: Tensor<i64, shape![2, 4]> = x.tile::<shape![2]>();
    /// assert_eq!(y.to_vec(), [1, 2, 1, 2, 3, 4, 3, 4]);
    /// ```
    #[fallible]
    pub fn tile<Counts: KnownShape>(&self) -> Result<Tensor<E, <S as Tile<Counts>>::Output, D>>
    where
        S: Tile<Counts>,
    {
        self.repeated("tile", Counts::SIZES.as_ref())
    }

    /// [`tile`](Self::tile) with counts known at run time.
    ///
    /// # Panics
    /// If a count is not that of the type, there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor};
    /// assert_eq!(tensor![1, 2].tile_sized::<shape![_]>([2]).to_vec(), [1, 2, 1, 2]);
    /// ```
    #[fallible]
    pub fn tile_sized<Counts: Shape>(&self, counts: Counts::Sizes) -> Result<Tensor<E, <S as Tile<Counts>>::Output, D>>
    where
        S: Tile<Counts>,
    {
        expect_fit::<Counts>("tile", counts.as_ref())?;
        self.repeated("tile", counts.as_ref())
    }

    /// Each position along an axis repeated `Times` times (`torch.repeat_interleave`).
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, dim, shape, tensor, Tensor};
    /// let x = tensor![[1, 2], [3, 4]];
    /// let y: Tensor<i64, shape![2, 4]> = x.repeat_interleave::<dim!(2), _>(axis![1]);
    /// assert_eq!(y.to_vec(), [1, 1, 2, 2, 3, 3, 4, 4]);
    /// ```
    #[doc(alias = "repeat")]
    #[fallible]
    pub fn repeat_interleave<Times: Known, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<<<S as HasAxis<I>>::Dim as Dim>::Times<Times>>, D>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.interleaved::<_, I>(|size| vec![Segment::Each { start: 0, len: size, times: Times::VALUE }])
    }

    /// [`repeat_interleave`](Self::repeat_interleave) with a count known at run time.
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![1, 2].repeat_interleave_sized(axis![0], 3).to_vec(), [1, 1, 1, 2, 2, 2]);
    /// ```
    #[fallible]
    pub fn repeat_interleave_sized<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        times: usize,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.interleaved::<_, I>(|size| vec![Segment::Each { start: 0, len: size, times }])
    }

    /// Each position along an axis repeated by its own count (`torch.repeat_interleave` with a tensor of repeats). A negative count is an
    /// error, and so are counts without data.
    ///
    /// # Panics
    /// If sizes known at run time differ, a count is negative, there are no data, or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 2], [3, 4], [5, 6]];
    /// assert_eq!(x.repeat_interleave_by(axis![0], &tensor![2, 0, 1]).to_vec(), [1, 2, 1, 2, 5, 6]);
    /// ```
    #[fallible]
    pub fn repeat_interleave_by<const I: isize, N, X: Device>(
        &self,
        axis: impl AxisArg<I>,
        repeats: &Tensor<i64, (N,), X>,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>>
    where
        S: Dimensional + HasAxis<I>,
        N: Dim + CountForEach<<S as HasAxis<I>>::Dim> + SameDevice<D, X>,
    {
        let repeats = N::here(repeats);
        let op = "repeat_interleave";
        if !D::has_data(self.elements().buffer) {
            return Err(Error::NoData { op });
        }
        let invalid = |reason| Err(Error::InvalidArgument { op, reason });
        let (count, size) = (repeats.numel(), self.shape().as_ref()[<S as HasAxis<I>>::INDEX]);
        if count != size {
            return invalid(format!("there are {count} counts for an axis of size {size}"));
        }
        if const { D::IS_ELSEWHERE } && size > 0 && !D::is_on_host(Some(self.elements().buffer)) {
            let axis = <S as HasAxis<I>>::INDEX;
            let (storage, sizes) =
                crate::tensor::rearrange::by_counts::repeated_by::<E, D>(self.elements(), axis, repeats.elements())?;
            return Ok(Tensor::dense(storage, <<S as HasAxis<I>>::Replace<Dyn> as Shape>::Sizes::copied(&sizes)));
        }
        // The host's loop takes the counts as a list of segments.
        let counts = D::download(repeats.elements())?;
        let mut list = room(size)?;
        for (start, &count) in counts.iter().enumerate() {
            match usize::try_from(count) {
                Ok(times) => list.push(Segment::Each { start, len: 1, times }),
                Err(_) => return invalid(format!("the count {count} is negative")),
            }
        }
        self.interleaved::<_, I>(|_| list)
    }

    fn interleaved<T: Shape, const I: isize>(
        &self,
        stretches: impl FnOnce(usize) -> Vec<Segment>,
    ) -> Result<Tensor<E, T, D>>
    where
        S: HasAxis<I>,
    {
        let mut axes = self.whole_axes();
        let axis = <S as HasAxis<I>>::INDEX;
        axes[axis] = stretches(self.shape().as_ref()[axis]);
        pick("repeat_interleave", self.elements(), &axes, E::default())
    }
}
