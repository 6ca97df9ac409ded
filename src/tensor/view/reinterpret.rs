//! `view` and its variants: the same memory with another shape, other strides or another dtype; never a copy.

use crate::device::{Backend, Device};
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Result, invalid};
use crate::layout::{Geometry, ViewAxes, bounds};
use crate::ops;
use crate::ops::UnaryOp;
use crate::ops::admit::ComplexFor;
use crate::ops::arguments::Sought;
use crate::ops::pointwise::PartFor;
use crate::shape::{
    Axes, D2, Dimensional, ExpandTo, HasAxis, Inferable, InsertAxis, KnownShape, Matrices, RealAndImaginary, ReshapeTo,
    Shape, SizeArray, SqueezeAxes, Transpose, ViewedAs,
};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// Checks that bytes to be read as bools are 0 or 1. (They do not change while they are viewed: shared storage is copied before it is
/// written, and a mutable borrow belongs to one view only.)
pub(crate) fn expect_bools<D: Backend>(
    op: &'static str,
    storage: &D::Storage,
    offset: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<()> {
    let (sizes, strides) = bounds::places(sizes, strides);
    if D::has(View::<_, u8>::new(storage, offset, &sizes, &strides), Sought::NoBool)? {
        return invalid(op, "a bool is a byte of 0 or 1, and there are others".to_owned());
    }
    Ok(())
}

/// Checks a view that starts at element `to.0` of a storage of bools; those that `own` reaches are checked already.
pub(crate) fn expect_widened<D: Backend>(
    op: &'static str,
    storage: &D::Storage,
    own: (usize, &[usize], &[usize]),
    to: (usize, &[usize], &[usize]),
) -> Result<()> {
    // The usual case: the checked elements are contiguous and contain the view, so nothing needs to be read again.
    let run = match (&bounds::places(own.1, own.2), own.0) {
        ((sizes, _), first) if sizes.is_empty() => first..first + 1,
        ((sizes, strides), first) if **strides == [1] => first..first.saturating_add(sizes[0]),
        _ => 0..0,
    };
    let span = bounds::span(to.1, to.2).unwrap_or(usize::MAX);
    if span == 0 || (run.start <= to.0 && to.0.saturating_add(span) <= run.end) {
        return Ok(());
    }
    expect_bools::<D>(op, storage, to.0, to.1, to.2)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    fn view_under<T: Shape>(&self, sizes: T::Sizes) -> Result<Tensor<E, T, D>> {
        match self.seen_under("view", sizes)? {
            Some(view) => Ok(view),
            None => invalid(
                "view",
                format!(
                    "strides {:?} of a tensor of shape {:?} do not allow shape {:?} without a copy; `reshape` makes one",
                    self.stride(),
                    self.shape(),
                    sizes
                ),
            ),
        }
    }

    /// The same elements with another shape, as [`reshape`](Self::reshape), but never a copy (`torch.Tensor.view`).
    ///
    /// # Panics
    /// If sizes known at run time do not match, or strides do not allow the shape without a copy.
    ///
    /// ```
    /// # use castiron::{shape, tensor};
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert!(x.view::<shape![4]>().shares_storage(&x));
    /// assert!(x.t().try_view::<shape![4]>().is_err()); // not in this order in memory
    /// ```
    #[fallible]
    pub fn view<T: Inferable>(&self) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.view_under(self.inferred::<T>("view")?)
    }

    /// [`view`](Self::view) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If sizes known at run time do not match, or strides do not allow the shape without a copy.
    #[fallible]
    pub fn view_sized<T: Shape>(&self, sizes: T::Sizes) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.view_under(sizes)
    }

    /// [`view`](Self::view) to the shape of another tensor (`torch.Tensor.view_as`).
    ///
    /// # Panics
    /// If sizes known at run time do not match, or strides do not allow the shape without a copy.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1, 2, 3, 4].view_as(&tensor![[0.5, 0.5], [0.5, 0.5]]).shape(), [2, 2]);
    /// ```
    #[fallible]
    pub fn view_as<F: Element, T: Shape, X: Device>(&self, other: &Tensor<F, T, X>) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.view_under(other.shape())
    }

    /// [`reshape`](Self::reshape) to the shape of another tensor (`torch.Tensor.reshape_as`).
    ///
    /// # Panics
    /// If sizes known at run time do not match, or a copy is needed and memory runs out.
    #[fallible]
    pub fn reshape_as<F: Element, T: Shape, X: Device>(&self, other: &Tensor<F, T, X>) -> Result<Tensor<E, T, D>>
    where
        S: ReshapeTo<T>,
    {
        self.try_reshape_sized(other.shape())
    }

    /// [`expand`](Self::expand) to the shape of another tensor (`torch.Tensor.expand_as`).
    ///
    /// # Panics
    /// If a size known at run time can not be expanded to that of the other tensor.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1, 2].expand_as(&tensor![[0, 0], [0, 0]]).to_vec(), [1, 2, 1, 2]);
    /// ```
    #[fallible]
    pub fn expand_as<F: Element, T: Shape, X: Device>(&self, other: &Tensor<F, T, X>) -> Result<Tensor<E, T, D>>
    where
        S: ExpandTo<T>,
    {
        self.try_expand_sized(other.shape())
    }

    /// A view of the storage with any sizes and strides, from any offset, `None` being the tensor's own (`torch.as_strided`). Elements
    /// outside the storage are an error.
    ///
    /// If others may write the storage meanwhile (it is borrowed by a [`TensorViewMut`](crate::TensorViewMut), or was split into several,
    /// or has elements of another library's array in between), the view is of a copy of the tensor's own elements, with the same strides
    /// and zeros between; the offset counts from the first of them. Bytes that are newly read as bools must be 0 or 1.
    ///
    /// # Panics
    /// If an element lies outside the storage, is no valid bool, or a copy is needed and memory runs out.
    ///
    /// ```
    /// # use castiron::{shape, tensor};
    /// let x = tensor![1, 2, 3, 4];
    /// let windows = x.as_strided::<shape![3, 2]>([1, 1], None);
    /// assert_eq!(windows.to_vec(), [1, 2, 2, 3, 3, 4]);
    /// assert!(x.try_as_strided::<shape![3, 2]>([1, 1], Some(1)).is_err());
    /// ```
    #[fallible]
    pub fn as_strided<T: KnownShape>(
        &self,
        strides: T::Sizes,
        storage_offset: Option<usize>,
    ) -> Result<Tensor<E, T, D>> {
        self.try_as_strided_sized(T::SIZES, strides, storage_offset)
    }

    /// [`as_strided`](Self::as_strided) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If a size is not that of the type, an element lies outside the storage, is no valid bool, or a copy is needed and memory runs out.
    #[fallible]
    pub fn as_strided_sized<T: Shape>(
        &self,
        sizes: T::Sizes,
        strides: T::Sizes,
        storage_offset: Option<usize>,
    ) -> Result<Tensor<E, T, D>> {
        let op = "as_strided";
        expect_fit::<T>(op, sizes.as_ref())?;
        checked_numel::<E>(op, sizes.as_ref())?;
        let (storage, own) = D::share_own(self.elements())?;
        let offset = storage_offset.unwrap_or(own);
        bounds::expect_within(op, sizes.as_ref(), strides.as_ref(), offset, D::room::<E>(&storage))?;
        if E::DTYPE == DType::Bool && !D::is_fixed(self.storage()) {
            let own = (own, self.shape(), self.stride());
            expect_widened::<D>(
                op,
                &storage,
                (own.0, own.1.as_ref(), own.2.as_ref()),
                (offset, sizes.as_ref(), strides.as_ref()),
            )?;
        }
        Ok(Tensor::from_parts(storage, offset, sizes, strides))
    }

    /// The bytes of the elements as another dtype (`torch.Tensor.view(dtype)`). Narrower elements make the last axis longer, wider ones
    /// shorter.
    ///
    /// # Panics
    /// If, for elements of another width, the last axis is not contiguous, or, for wider ones, the other strides, the offset and the last
    /// size are not divisible by the ratio of widths, or memory is not aligned for them; or if bytes read as `bool` are neither 0 nor 1.
    ///
    /// ```
    /// # use castiron::{shape, tensor, Tensor};
    /// let x = tensor![1.0, -2.0];
    /// let bits: Tensor<i32, shape![2]> = x.view_dtype::<i32>();
    /// assert_eq!(bits.to_vec(), [0x3f80_0000, -0x4000_0000]);
    /// let bytes: Tensor<u8, shape![8]> = x.view_dtype::<u8>();
    /// assert!(bytes.shares_storage(&x));
    /// ```
    #[fallible]
    pub fn view_dtype<F: Element>(&self) -> Result<Tensor<F, <S as ViewedAs<E, F>>::Output, D>>
    where
        S: ViewedAs<E, F>,
    {
        self.seen_as()
    }

    /// The real and imaginary parts of complex elements as a last axis of size 2 (`torch.view_as_real`).
    ///
    /// # Panics
    /// If the data cannot be viewed so.
    ///
    /// ```
    /// # use castiron::{shape, tensor, Tensor};
    /// let parts: Tensor<f32, shape![2, 2]> = tensor![1.0 + 2.0j, 3.0].view_as_real();
    /// assert_eq!(parts.to_vec(), [1.0, 2.0, 3.0, 0.0]);
    /// ```
    #[fallible]
    pub fn view_as_real<O: Dtype>(&self) -> Result<Tensor<O, <S as InsertAxis<-1>>::Inserted<D2>, D>>
    where
        E: ComplexFor<ops::reduce::view_as_real> + Dtype<RealDtype = O>,
        S: InsertAxis<-1>,
    {
        Ok(self.viewed(|own, view| own.pairs(view)))
    }

    /// A last axis of size 2 as real and imaginary parts (`torch.view_as_complex`).
    ///
    /// # Panics
    /// If the last axis is not contiguous or not of size 2, or another stride or the offset is odd.
    ///
    /// ```
    /// # use castiron::{shape, tensor, Complex, Tensor};
    /// let z: Tensor<Complex<f32>, shape![2]> = tensor![[1.0, 2.0], [3.0, 4.0]].view_as_complex();
    /// assert_eq!(z.to_vec(), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
    /// ```
    #[fallible]
    pub fn view_as_complex(&self) -> Result<Tensor<E::Complex, <S as HasAxis<-1>>::Removed, D>>
    where
        E: PartFor<ops::reduce::view_as_complex>,
        S: Dimensional,
        <S as HasAxis<-1>>::Dim: RealAndImaginary,
    {
        self.try_viewed(|own, view| own.paired("view_as_complex", view))
    }

    /// The transpose of each matrix of the last two axes, with complex elements conjugated (`torch.adjoint`, `torch.Tensor.mH`). For real
    /// elements it is a view.
    ///
    /// # Panics
    /// If elements are complex and memory runs out.
    ///
    /// ```
    /// # use castiron::{tensor, Complex};
    /// let x = tensor![[1.0 + 2.0j, 3.0], [0.0, 1.0j]];
    /// assert_eq!(x.adjoint().to_vec()[2], Complex::new(3.0, 0.0));
    /// assert_eq!(x.adjoint()[(0, 0)], Complex::new(1.0, -2.0));
    /// ```
    #[fallible]
    pub fn adjoint<T: Shape>(&self) -> Result<Tensor<E, T, D>>
    where
        E: Dtype,
        ops::conj: UnaryOp<E, Output = E>,
        S: Transpose<-2, -1, Output = T> + HasAxis<-2> + HasAxis<-1>,
    {
        let turned = self.transpose(crate::Axis::<-2>, crate::Axis::<-1>);
        if E::DTYPE.is_complex() { turned.try_conj() } else { Ok(turned) }
    }

    /// The transpose of each matrix of the last two axes, as a view (`torch.Tensor.mT`).
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let x: Tensor<f32, shape![5, 3, 2]> = Tensor::<f32, shape![5, 2, 3]>::zeros().mT();
    /// ```
    #[allow(non_snake_case)]
    pub fn mT<T: Shape>(&self) -> Tensor<E, T, D>
    where
        S: Matrices + Transpose<-2, -1, Output = T> + HasAxis<-2> + HasAxis<-1>,
    {
        self.transpose(crate::Axis::<-2>, crate::Axis::<-1>)
    }

    /// [`adjoint`](Self::adjoint) by its other name (`torch.Tensor.mH`).
    ///
    /// # Panics
    /// If memory runs out.
    #[allow(non_snake_case)]
    #[track_caller]
    pub fn mH<T: Shape>(&self) -> Tensor<E, T, D>
    where
        E: Dtype,
        ops::conj: UnaryOp<E, Output = E>,
        S: Transpose<-2, -1, Output = T> + HasAxis<-2> + HasAxis<-1>,
    {
        self.adjoint()
    }

    /// Removes those of several axes whose size is 1 and keeps the others (`torch.squeeze` with a list of axes). The compiler must know
    /// their sizes.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![1, _, 1, 3]>::zeros_sized([1, 5, 1, 3]);
    /// let y: Tensor<f32, shape![_, 3]> = x.squeeze_axes(axis![0, 2, 3]);
    /// assert_eq!(y.shape(), [5, 3]);
    /// ```
    pub fn squeeze_axes<A: Axes<S>, T: Shape>(&self, _axes: A) -> Tensor<E, T, D>
    where
        S: SqueezeAxes<A, Output = T>,
    {
        self.reordered((0..S::RANK).filter(|&axis| A::MASK & (1 << axis) == 0 || self.shape().as_ref()[axis] != 1))
    }

    /// The implementation of `view_dtype`.
    fn seen_as<F: Element, T: Shape>(&self) -> Result<Tensor<F, T, D>> {
        let op = "view_dtype";
        let (storage, offset) = D::share(self.elements());
        let (mut sizes, mut strides) = (T::Sizes::filled(0), T::Sizes::filled(0));
        let view = ViewAxes { sizes: sizes.as_mut(), strides: strides.as_mut() };
        let own = Geometry::new(offset, self.parts.sizes.as_ref(), self.parts.strides.as_ref());
        let offset = own.bits(op, [E::DTYPE, F::DTYPE], view)?;
        expect_fit::<T>(op, sizes.as_ref())?;
        let first = D::address(View::<_, F>::new(&storage, 0, &[0], &[1]));
        if !first.is_aligned() && self.is_empty() {
            // An empty tensor may point to unaligned memory, but an empty slice may not: it gets a storage of its own.
            return Ok(Tensor::from_parts(D::zeroed::<F>(Some(&storage), 0)?, offset, sizes, strides));
        }
        if !first.is_aligned() {
            let (from, to) = (E::DTYPE, F::DTYPE);
            return invalid(
                op,
                format!("memory of {from} is not aligned for {to}: copy it first, for example by `&x + 0`"),
            );
        }
        if F::DTYPE == DType::Bool && E::DTYPE != DType::Bool {
            // Only the view's own bytes: another part of a split tensor may be written by another thread meanwhile.
            expect_bools::<D>(op, &storage, offset, sizes.as_ref(), strides.as_ref())?;
        }
        Ok(Tensor::from_parts(storage, offset, sizes, strides))
    }
}
