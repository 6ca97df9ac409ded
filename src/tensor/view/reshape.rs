//! `reshape`, `flatten`, `unflatten`: a view if the strides allow it, else a copy.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, unwrap};
use crate::layout::strides;
use crate::shape::{AxisArg, Flatten, HasAxis, Inferable, KnownShape, ReshapeTo, Shape, SizeArray, Unflatten, numel};
use crate::tensor::{Tensor, expect_fit, fits, shape_text};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The same elements in row-major order with other sizes: a view if the strides allow it, else a copy.
    #[inline]
    fn resized<T: Shape>(&self, op: &'static str, sizes: T::Sizes) -> Result<Tensor<E, T, D>> {
        match self.seen_under(op, sizes)? {
            Some(view) => Ok(view),
            None => Ok(self.try_contiguous()?.restrided(0, sizes, strides::contiguous(&sizes))),
        }
    }

    /// The view with other sizes; `None` if the strides do not allow it.
    #[inline]
    pub(crate) fn seen_under<T: Shape>(&self, op: &'static str, sizes: T::Sizes) -> Result<Option<Tensor<E, T, D>>> {
        // Most tensors are row-major, and then every shape with the same number of elements is a view.
        let own = strides::row_major_alike::<1, S>([(self.parts.sizes.as_ref(), self.parts.strides.as_ref())]);
        if let Some((_, _, len)) = own
            && numel(sizes.as_ref()) == Some(len)
            && fits::<T>(sizes.as_ref())
        {
            return Ok(Some(self.rearranged(sizes, strides::contiguous(&sizes))));
        }
        self.seen_through_other_strides(op, sizes)
    }

    /// [`seen_under`](Self::seen_under) for strides that are not row-major.
    fn seen_through_other_strides<T: Shape>(
        &self,
        op: &'static str,
        sizes: T::Sizes,
    ) -> Result<Option<Tensor<E, T, D>>> {
        let (from, to) = (self.shape(), sizes.as_ref());
        if numel(to) != Some(self.numel()) {
            return Err(Error::Reshape {
                op,
                from: from.as_ref().into(),
                elements: self.numel(),
                to: format!("{to:?}"),
            });
        }
        expect_fit::<T>(op, to)?;
        let strides = strides::reshape::<T::Sizes>(from.as_ref(), self.stride().as_ref(), &sizes);
        Ok(strides.map(|strides| self.restrided(0, sizes, strides)))
    }

    /// The sizes of a shape, one of which may be inferred from the number of elements.
    pub(crate) fn inferred<T: Inferable>(&self, op: &'static str) -> Result<T::Sizes> {
        let mut sizes = T::Sizes::filled(0);
        let mut open = None;
        let mut product = 1_usize;
        for (axis, known) in T::KNOWN.iter().enumerate() {
            match known {
                Some(size) => {
                    sizes.as_mut()[axis] = *size;
                    product = product.saturating_mul(*size);
                }
                None => open = Some(axis),
            }
        }
        if let Some(axis) = open {
            if product == 0 || !self.numel().is_multiple_of(product) {
                return Err(Error::Reshape {
                    op,
                    from: self.shape().as_ref().into(),
                    elements: self.numel(),
                    to: shape_text::<T>(),
                });
            }
            sizes.as_mut()[axis] = self.numel() / product;
        }
        Ok(sizes)
    }

    /// The same elements with another shape (`torch.reshape`): a view if the strides allow it, else a copy. At most one size may be `_`,
    /// which is inferred from the others (PyTorch's -1). The compiler compares the numbers of elements where it knows them. The shape is a
    /// type; for sizes known at run time see [`reshape_sized`](Self::reshape_sized).
    ///
    /// # Panics
    /// If the numbers of elements differ.
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let x = Tensor::<i64, shape![12]>::arange(0, 12, 1);
    /// let y = x.reshape::<shape![3, 4]>();
    /// assert_eq!(y[(2, 0)], 8);
    /// let z = y.reshape::<shape![2, _]>();
    /// assert_eq!(z.shape(), [2, 6]);
    /// assert!(z.shares_storage(&x));
    /// ```
    #[fallible]
    pub fn reshape<T: Inferable>(&self) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.resized("reshape", self.inferred::<T>("reshape")?)
    }

    /// [`reshape`](Self::reshape) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If the numbers of elements differ, or a size is not that of the type.
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let (rows, columns) = (3, 4);
    /// let x = Tensor::<f32, shape![_]>::zeros_sized([rows * columns]);
    /// let y = x.reshape_sized::<shape![_, _]>([rows, columns]);
    /// assert_eq!(y.shape(), [3, 4]);
    /// ```
    #[fallible]
    pub fn reshape_sized<T: Shape>(&self, sizes: T::Sizes) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.resized("reshape", sizes)
    }

    /// All axes flattened to one (`torch.flatten`); its size is in the type if all are.
    ///
    /// # Panics
    /// If a copy is needed and memory runs out.
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let x: Tensor<f32, shape![24]> = Tensor::<f32, shape![2, 3, 4]>::zeros().flatten();
    /// ```
    #[doc(alias = "ravel")]
    #[fallible]
    pub fn flatten(&self) -> Result<Tensor<E, (S::Numel,), D>> {
        self.resized("flatten", <(S::Numel,) as Shape>::Sizes::filled(self.numel()))
    }

    /// A range of axes, both ends included, flattened to one (`torch.flatten(start_dim, end_dim)`).
    ///
    /// # Panics
    /// If a copy is needed and memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![_, 3, 28, 28]>::zeros_sized([8, 3, 28, 28]);
    /// let y: Tensor<f32, shape![_, 2352]> = x.flatten_axes(axis![1], axis![-1]);
    /// assert_eq!(y.shape(), [8, 2352]);
    /// ```
    #[track_caller]
    pub fn flatten_axes<const I: isize, const J: isize>(
        &self,
        _first: impl AxisArg<I>,
        _last: impl AxisArg<J>,
    ) -> Tensor<E, <S as Flatten<I, J>>::Output, D>
    where
        S: Flatten<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (first, last) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        let from = self.shape();
        let from = from.as_ref();
        let mut sizes = <<S as Flatten<I, J>>::Output as Shape>::Sizes::filled(1);
        for (axis, &size) in from.iter().enumerate() {
            let to = if axis <= first { axis } else { axis.max(last) - (last - first) };
            sizes.as_mut()[to] *= size;
        }
        unwrap(self.resized("flatten", sizes))
    }

    /// One axis split into several (`torch.unflatten`), the product of whose sizes is its own.
    ///
    /// # Panics
    /// If the product of the sizes is not that of the axis.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![_, 384]>::zeros_sized([8, 384]);
    /// let heads: Tensor<f32, shape![_, 12, 32]> = x.unflatten::<shape![12, 32], _>(axis![-1]);
    /// assert_eq!(heads.shape(), [8, 12, 32]);
    /// ```
    #[fallible]
    pub fn unflatten<T: KnownShape, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, <S as Unflatten<I, T>>::Output, D>>
    where
        S: Unflatten<I, T> + HasAxis<I>,
    {
        let index = <S as HasAxis<I>>::INDEX;
        let from = self.shape();
        let (before, rest) = from.as_ref().split_at(index.min(S::RANK));
        let inserted = T::SIZES;
        let sizes: Vec<usize> = before.iter().chain(inserted.as_ref()).chain(rest.iter().skip(1)).copied().collect();
        self.resized("unflatten", <<S as Unflatten<I, T>>::Output as Shape>::Sizes::copied(&sizes))
    }
}
