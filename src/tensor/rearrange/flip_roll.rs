//! `flip`, `roll`, `rot90`, `movedim`, `tril`, `triu`: elements that change places; and what all of these are made with.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::{exchanged, strides, write_moved};
use crate::ops::kernel::Copying;
use crate::ops::stretch::Stretch;
use crate::shape::{
    Axis, AxisArg, AxisList, Dimensional, DistinctAxes, HasAxis, Matrices, MoveAxis, Rotate, Shape, Shifts, SizeArray,
    Transpose,
};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// Writes a method and its `try_` twin, for `flip` those of these names. The second list repeats the generic parameters by
/// name.
macro_rules! fallible {
    ($($(#[$doc:meta])* $name:ident $try:ident <$({$($generic:tt)*} $given:tt),*>(&$this:ident $(, $arg:ident: $ty:ty)*) -> $out:ty where [$($bound:tt)*] $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        #[doc = concat!("Where [`", stringify!($try), "`](Self::", stringify!($try), ") returns an error.")]
        #[track_caller]
        pub fn $name<$($($generic)*),*>(&self $(, $arg: $ty)*) -> $out
        where
            $($bound)*
        {
            $crate::error::unwrap(self.$try::<$($given),*>($($arg),*))
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
        pub fn $try<$($($generic)*),*>(&$this $(, $arg: $ty)*) -> $crate::error::Result<$out>
        where
            $($bound)*
        $body
    )*};
}
pub(crate) use fallible;

/// How many positions an axis has that is put together from stretches.
pub(crate) fn positions(op: &'static str, list: &[Stretch]) -> Result<usize> {
    let sum = list.iter().try_fold(0_usize, |sum, stretch| sum.checked_add(stretch.positions()?));
    sum.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })
}

/// Row-major elements whose axes are put together from stretches of a view's.
pub(crate) fn pick_elements<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Stretch>],
    fill: E,
) -> Result<D::Storage> {
    let sizes = axes.iter().map(|list| positions(op, list)).collect::<Result<Vec<usize>>>()?;
    checked_numel::<E>(op, &sizes)?;
    if axes.is_empty() {
        return D::map1(Copying, view, &[]);
    }
    // What lies across is brought in order first: turned tile by tile, it comes sooner than element by element.
    if view.strides.last().is_some_and(|&last| last > 1) && view.strides.contains(&1) {
        let strides = strides::row_major(view.sizes);
        let storage = D::map1(Copying, view, &strides)?;
        return D::pick(View::new(&storage, 0, view.sizes, &strides), axes, fill);
    }
    D::pick(view, axes, fill)
}

/// A row-major tensor whose axes are put together from stretches of a view's.
pub(crate) fn pick<E: Element, T: Shape, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Stretch>],
    fill: E,
) -> Result<Tensor<E, T, D>> {
    let mut sizes = T::Sizes::filled(0);
    for (size, list) in sizes.as_mut().iter_mut().zip(axes) {
        *size = positions(op, list)?;
    }
    expect_fit::<T>(op, sizes.as_ref())?;
    Ok(Tensor::dense(pick_elements::<E, D>(op, view, axes, fill)?, sizes))
}

/// The two stretches of an axis whose positions move up by `shift`, those that leave at the end coming in at the start.
pub(crate) fn rolled(size: usize, shift: isize) -> Vec<Stretch> {
    if size == 0 {
        return vec![Stretch::whole(0)];
    }
    // Between 0 and the size, which fits `isize`.
    let start = (-(shift as i128)).rem_euclid(size as i128) as usize;
    vec![Stretch::Forward { start, len: size - start }, Stretch::Forward { start: 0, len: start }]
}

/// Axes put together from as many positions as they had, the result lying as these strides say, which leave no gaps.
pub(crate) fn pick_as_laid_out<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Stretch>],
    strides: &[usize],
) -> Result<D::Storage> {
    // In the order in which the result lies, it is row-major.
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|&axis| core::cmp::Reverse((strides[axis], view.sizes[axis])));
    let reordered = |of: &[usize]| -> Vec<usize> { order.iter().map(|&axis| of[axis]).collect() };
    let (sizes, own) = (reordered(view.sizes), reordered(view.strides));
    let axes: Vec<Vec<Stretch>> = order.iter().map(|&axis| axes[axis].clone()).collect();
    pick_elements::<E, D>(op, view.restrided(&sizes, &own), &axes, E::default())
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Every axis as it is.
    pub(crate) fn whole_axes(&self) -> Vec<Vec<Stretch>> {
        self.shape().as_ref().iter().map(|&size| vec![Stretch::whole(size)]).collect()
    }

    /// The same layout with other elements: each axis put together from stretches of as many positions.
    fn replaced(&self, op: &'static str, axes: &[Vec<Stretch>]) -> Result<Self> {
        let (sizes, own) = (self.shape(), self.stride());
        let strides = strides::preserved(&sizes, &own);
        let storage = pick_as_laid_out::<E, D>(op, self.elements(), axes, strides.as_ref())?;
        Ok(Tensor::from_parts(storage, 0, self.shape(), strides))
    }

    fallible! {
        /// The elements in reverse order along the axes (`torch.flip`).
        ///
        /// ```
        /// use castiron::{axis, tensor};
        /// let x = tensor![[1, 2, 3], [4, 5, 6]];
        /// assert_eq!(x.flip(axis![1]).to_vec(), [3, 2, 1, 6, 5, 4]);
        /// assert_eq!(x.flip(axis![0, 1]).to_vec(), [6, 5, 4, 3, 2, 1]);
        /// ```
        flip try_flip<{A: AxisList<S>} A>(&self, _axes: A) -> Self where [] {
            self.flipped("flip", A::INDICES)
        }

        /// Columns in reverse order (`torch.fliplr`): [`flip`](Self::flip) along axis 1.
        ///
        /// ```
        /// assert_eq!(castiron::tensor![[1, 2], [3, 4]].fliplr().to_vec(), [2, 1, 4, 3]);
        /// ```
        fliplr try_fliplr<>(&self) -> Self where [S: HasAxis<1>] {
            self.flipped("fliplr", &[1])
        }

        /// Rows in reverse order (`torch.flipud`): [`flip`](Self::flip) along axis 0.
        ///
        /// ```
        /// assert_eq!(castiron::tensor![[1, 2], [3, 4]].flipud().to_vec(), [3, 4, 1, 2]);
        /// ```
        flipud try_flipud<>(&self) -> Self where [S: Dimensional] {
            self.flipped("flipud", &[0])
        }

        /// Elements moved up by `shift` in row-major order, those that leave at the end coming in at the start
        /// (`torch.roll(x, shift)`).
        ///
        /// ```
        /// let x = castiron::tensor![[1, 2], [3, 4]];
        /// assert_eq!(x.roll(1).to_vec(), [4, 1, 2, 3]);
        /// assert_eq!(x.roll(-1).to_vec(), [2, 3, 4, 1]);
        /// ```
        roll try_roll<>(&self, shift: isize) -> Self where [] {
            let rows = self.try_contiguous()?;
            let view = rows.elements();
            let numel = [rows.numel()];
            let line = View::new(view.buffer, view.offset, &numel, &[1]);
            let storage = pick_elements::<E, D>("roll", line, &[rolled(numel[0], shift)], E::default())?;
            Ok(Self::dense(storage, self.shape()))
        }

        /// Positions moved up along axes, those that leave at the end coming in at the start (`torch.roll(x, shifts, dims)`):
        /// one shift for one axis, an array of them for several.
        ///
        /// ```
        /// use castiron::{axis, tensor};
        /// let x = tensor![[1, 2, 3], [4, 5, 6]];
        /// assert_eq!(x.roll_axis(axis![1], 1).to_vec(), [3, 1, 2, 6, 4, 5]);
        /// assert_eq!(x.roll_axis(axis![0, 1], [1, -1]).to_vec(), [5, 6, 4, 2, 3, 1]);
        /// ```
        roll_axis try_roll_axis<{A: AxisList<S>} A>(&self, _axes: A, shifts: A::Shifts) -> Self where [] {
            let mut axes = self.whole_axes();
            for (&axis, &shift) in A::INDICES.iter().zip(shifts.shifts()) {
                // A zero-dim tensor stands for one axis of size 1, which stays as it is.
                if let Some(&size) = self.shape().as_ref().get(axis) {
                    axes[axis] = rolled(size, shift);
                }
            }
            pick("roll", self.elements(), &axes, E::default())
        }

        /// The plane of two axes turned `K` times by a right angle, from the first axis towards the second, or back where `K`
        /// is negative (`torch.rot90`). `K` is from -4 to 4.
        ///
        /// ```
        /// use castiron::{axis, shape, tensor, Tensor};
        /// let x = tensor![[1, 2, 3], [4, 5, 6]];
        /// let turned: Tensor<i64, shape![3, 2]> = x.rot90::<1, _, _>(axis![0, 1]);
        /// assert_eq!(turned.to_vec(), [3, 6, 2, 5, 1, 4]);
        /// ```
        rot90 try_rot90<{const K: isize} K, {const I: isize} I, {const J: isize} J>(
            &self, _plane: DistinctAxes<(Axis<I>, Axis<J>)>
        ) -> Tensor<E, <S as Rotate<K, I, J>>::Output, D> where [S: Rotate<K, I, J> + HasAxis<I> + HasAxis<J>] {
            let (first, second) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
            match K.rem_euclid(4) {
                0 => Ok(self.clone().retyped()),
                1 => Ok(self.flipped("rot90", &[second])?.exchanged(first, second)),
                2 => Ok(self.flipped("rot90", &[first, second])?.retyped()),
                _ => Ok(self.flipped("rot90", &[first])?.exchanged(first, second)),
            }
        }

        /// Of each matrix of the last two axes what lies on and below a diagonal, zeros above it (`torch.tril`). The diagonal
        /// is counted from the main one, upwards if positive.
        ///
        /// ```
        /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        /// assert_eq!(x.tril(0).to_vec(), [1, 0, 0, 4, 5, 0, 7, 8, 9]);
        /// assert_eq!(x.tril(-1).to_vec(), [0, 0, 0, 4, 0, 0, 7, 8, 0]);
        /// ```
        tril try_tril<>(&self, diagonal: isize) -> Self where [S: Matrices] {
            self.band(isize::MIN, diagonal)
        }

        /// Of each matrix of the last two axes what lies on and above a diagonal, zeros below it (`torch.triu`). The diagonal
        /// is counted from the main one, upwards if positive.
        ///
        /// ```
        /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        /// assert_eq!(x.triu(1).to_vec(), [0, 2, 3, 0, 0, 6, 0, 0, 0]);
        /// ```
        triu try_triu<>(&self, diagonal: isize) -> Self where [S: Matrices] {
            self.band(diagonal, isize::MAX)
        }
    }

    fn flipped(&self, op: &'static str, axes: &[usize]) -> Result<Self> {
        let mut stretches = self.whole_axes();
        for &axis in axes {
            // A zero-dim tensor stands for one axis of size 1.
            if let Some(&size) = self.shape().as_ref().get(axis) {
                stretches[axis] = vec![Stretch::Backward { start: size.saturating_sub(1), len: size }];
            }
        }
        self.replaced(op, &stretches)
    }

    fn band(&self, low: isize, high: isize) -> Result<Self> {
        let rows = self.try_contiguous()?;
        Ok(Self::dense(D::band(rows.elements(), low, high)?, self.shape()))
    }

    /// Two axes exchanged, to a shape of the same rank.
    fn exchanged<T: Shape>(&self, first: usize, second: usize) -> Tensor<E, T, D> {
        self.reordered(exchanged(S::RANK, first, second))
    }

    /// [`transpose`](Self::transpose) by its other name (`torch.swapaxes`).
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1, 2, 3], [4, 5, 6]].swapaxes(axis![0], axis![1]).shape(), [3, 2]);
    /// ```
    pub fn swapaxes<const I: isize, const J: isize>(
        &self,
        first: impl AxisArg<I>,
        second: impl AxisArg<J>,
    ) -> Tensor<E, <S as Transpose<I, J>>::Output, D>
    where
        S: Transpose<I, J> + HasAxis<I> + HasAxis<J>,
    {
        self.transpose(first, second)
    }

    /// Moves an axis to another place, the others keeping their order (`torch.movedim`): a view.
    ///
    /// ```
    /// use castiron::{axis, shape, Tensor};
    /// let image = Tensor::<u8, shape![480, 640, 3]>::zeros();
    /// let planes: Tensor<u8, shape![3, 480, 640]> = image.movedim(axis![-1], axis![0]);
    /// assert!(planes.shares_storage(&image));
    /// ```
    pub fn movedim<const I: isize, const J: isize>(
        &self,
        _from: impl AxisArg<I>,
        _to: impl AxisArg<J>,
    ) -> Tensor<E, <S as MoveAxis<I, J>>::Output, D>
    where
        S: MoveAxis<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (from, to) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        let mut order = S::Sizes::filled(0);
        write_moved(&[from], &[to], order.as_mut());
        self.reordered(order.as_ref().iter().copied())
    }
}
