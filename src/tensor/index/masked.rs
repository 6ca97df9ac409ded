//! Elements selected by a mask: `masked_fill`, `masked_select`, `masked_scatter`.

use crate::composite::index::nonzero::true_positions;
use crate::device::{Device, Receives, Source};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Castable, DType, Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::admit::{MaskFor, SameDtypeFor};
use crate::ops::arguments::{Indexing, Sought};
use crate::ops::choosing::{self, Filling};
use crate::ops::kernel::{Copying, Map1, VectorWidth};
use crate::ops::record::kernel::{Kernel, Value};
use crate::shape::{Broadcast, Dyn, Shape, WrittenTo, expect_broadcast};
use crate::storage::{View, ViewMut};
use crate::tensor::Tensor;
use crate::tensor::base::operand::{Operand, OperandSource, TensorOperand};
use crate::tensor::create::constructors::fill_value;
use crate::tensor::elementwise::apply::{broadcast, map2};
use crate::tensor::index::gather::elements;
use castiron_macros::fallible;

/// A mask's elements, which are bools.
fn mask<M: TensorOperand, D: Device + Receives<M::Place, Dimensioned>>(mask: &M) -> Result<View<'_, D::Storage, bool>> {
    Ok(elements::<M, D>(mask)?.known_as())
}

/// The value of a scalar or zero-dim tensor, converted to the dtype of the tensor that is filled. On a device without data it is not
/// needed.
fn filler<E: Dtype, V: Operand, D: Device + Receives<V::Place, V::Kind>>(op: &'static str, value: &V) -> Result<E> {
    let value = match value.source() {
        OperandSource::Scalar(value) => value,
        OperandSource::View(view) => match <D as Receives<V::Place, V::Kind>>::right(view)? {
            Source::View(view) if !D::has_data(view.buffer) => return Ok(E::default()),
            Source::View(view) => D::peek(view)?.to_scalar(),
            Source::Value(value) => value.to_scalar(),
        },
    };
    fill_value(op, value)
}

/// A row-major copy of a view broadcast to `sizes`.
pub(crate) fn laid_out<E: Element, D: Device>(
    view: View<'_, D::Storage, E>,
    sizes: &[usize],
    kernel: impl Map1<E, E>,
) -> Result<D::Storage> {
    let from = strides::broadcast_list(view.sizes, view.strides, sizes);
    D::map1::<E, E>(kernel, view.restrided(sizes, &from), &strides::row_major(sizes))
}

/// Whether an element is one that is searched for.
#[derive(Clone, Copy)]
struct Is(Sought);
impl<E: Castable> Map1<E, bool> for Is {
    const VECTORS: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn call(self, element: E) -> bool {
        self.0.is(element)
    }
    fn text(&self, kernel: &mut Kernel, element: Value) -> Value {
        self.0.text(kernel, element)
    }
}

/// The first element in row-major order that is searched for, if any, for error messages.
#[cold]
pub(crate) fn first<E: Castable, D: Device>(view: View<'_, D::Storage, E>, what: Sought) -> Result<E> {
    let strides = strides::row_major(view.sizes);
    let mask = D::map1::<E, bool>(Is(what), view, &strides)?;
    let (found, _) = D::compress(view, View::new(&mask, 0, view.sizes, &strides))?;
    D::peek(View::new(&found, 0, &[], &[]))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The elements, but a value where the mask is true.
    ///
    /// Shape: that of `self` and the mask broadcast. Dtypes: all computing dtypes; the value, a scalar or a zero-dim tensor of any dtype,
    /// is converted.
    ///
    /// PyTorch: `torch.masked_fill`.
    ///
    /// # Panics
    /// If the value does not fit the dtype or sizes known at run time do not broadcast.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let scores = tensor![[1.0, 2.0], [3.0, 4.0]];
    /// let causal = !Tensor::<bool, shape![2, 2]>::tri();
    /// assert_eq!(scores.masked_fill(causal, f32::NEG_INFINITY).to_vec(), [1.0, f32::NEG_INFINITY, 3.0, 4.0]);
    /// ```
    #[fallible]
    pub fn masked_fill<M: TensorOperand, V: Operand<Shape = ()>>(
        &self,
        mask: M,
        value: V,
    ) -> Result<Tensor<E, <S as Broadcast<M::Shape>>::Output, D>>
    where
        E: Dtype,
        S: Broadcast<M::Shape>,
        M::Elem: MaskFor<choosing::masked_fill>,
        D: Receives<M::Place, Dimensioned> + Receives<V::Place, V::Kind>,
    {
        let value = filler::<E, V, D>("masked_fill", &value)?;
        let mask = self::mask::<M, D>(&mask)?;
        let sizes =
            broadcast::<<S as Broadcast<M::Shape>>::Output, E>("masked_fill", self.shape().as_ref(), mask.sizes)?;
        map2::<_, _, _, D, E>(Filling(value), self.elements(), mask, sizes, [E::DTYPE, DType::Bool])
    }

    /// [`masked_fill`](Self::masked_fill) in place: the mask is broadcast to `self`.
    ///
    /// # Panics
    /// As there; nothing is written then.
    ///
    /// ```
    /// use castiron::tensor;
    /// let mut x = tensor![1, -2, 3];
    /// x.masked_fill_(x.clone().lt(0), 0);
    /// assert_eq!(x.to_vec(), [1, 0, 3]);
    /// ```
    #[fallible]
    pub fn masked_fill_<M: TensorOperand, V: Operand<Shape = ()>>(&mut self, mask: M, value: V) -> Result<&mut Self>
    where
        E: Dtype,
        S: Broadcast<M::Shape>,
        <S as Broadcast<M::Shape>>::Output: WrittenTo<S>,
        M::Elem: MaskFor<choosing::masked_fill>,
        D: Receives<M::Place, Dimensioned> + Receives<V::Place, V::Kind>,
    {
        let value = filler::<E, V, D>("masked_fill_", &value)?;
        let mask = self::mask::<M, D>(&mask)?;
        let sizes = self.shape();
        expect_broadcast("masked_fill_", mask.sizes, sizes.as_ref())?;
        let strides = strides::broadcast(mask.sizes, mask.strides, &sizes);
        D::update2(Filling(value), mask.restrided(sizes.as_ref(), strides.as_ref()), self.elements_mut()?)?;
        Ok(self)
    }

    /// The elements where the mask is true, in row-major order.
    ///
    /// Shape: one axis, whose size is known at run time; `self` and the mask are broadcast first. Dtypes: all. A tensor without data is an
    /// error.
    ///
    /// PyTorch: `torch.masked_select`, or `x[mask]`.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let x = tensor![[1, -2], [-3, 4]];
    /// let positive: Tensor<i64, shape![_]> = x.masked_select(x.gt(0));
    /// assert_eq!(positive.to_vec(), [1, 4]);
    /// ```
    #[doc(alias = "boolean_index")]
    #[doc(alias = "compress")]
    #[fallible]
    pub fn masked_select<M: TensorOperand>(&self, mask: M) -> Result<Tensor<E, (Dyn,), D>>
    where
        S: Broadcast<M::Shape>,
        M::Elem: MaskFor<choosing::masked_select>,
        D: Receives<M::Place, Dimensioned>,
    {
        let mask = self::mask::<M, D>(&mask)?;
        let (own, op) = (self.elements(), "masked_select");
        let sizes = broadcast::<<S as Broadcast<M::Shape>>::Output, E>(op, own.sizes, mask.sizes)?;
        let (from, over) =
            (strides::broadcast(own.sizes, own.strides, &sizes), strides::broadcast(mask.sizes, mask.strides, &sizes));
        let sizes = sizes.as_ref();
        let (storage, count) = D::compress(own.restrided(sizes, from.as_ref()), mask.restrided(sizes, over.as_ref()))?;
        Ok(Tensor::dense(storage, [count]))
    }

    /// Consecutive elements of another tensor, where the mask is true.
    ///
    /// Shape: that of `self` and the mask broadcast. Dtypes: all, the source having that of `self`.
    ///
    /// PyTorch: `torch.masked_scatter`.
    ///
    /// # Panics
    /// If the source has fewer elements than the mask is true, or sizes known at run time do not broadcast.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[0, 0], [0, 0]];
    /// let mask = tensor![[true, false], [false, true]];
    /// assert_eq!(x.masked_scatter(mask, tensor![7, 8, 9]).to_vec(), [7, 0, 0, 8]);
    /// ```
    #[fallible]
    pub fn masked_scatter<M: TensorOperand, R: TensorOperand>(
        &self,
        mask: M,
        source: R,
    ) -> Result<Tensor<E, <S as Broadcast<M::Shape>>::Output, D>>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::masked_scatter>,
        S: Broadcast<M::Shape>,
        M::Elem: MaskFor<choosing::masked_scatter>,
        D: Receives<M::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let op = "masked_scatter";
        let mask = self::mask::<M, D>(&mask)?;
        let source: View<'_, D::Storage, E> = elements::<R, D>(&source)?.known_as();
        let sizes = broadcast::<<S as Broadcast<M::Shape>>::Output, E>(op, self.shape().as_ref(), mask.sizes)?;
        let mut storage = laid_out::<E, D>(self.elements(), sizes.as_ref(), Copying)?;
        if D::has_data(&storage) {
            let over = strides::broadcast(mask.sizes, mask.strides, &sizes);
            let (chosen, count) = true_positions::<D>(mask.restrided(sizes.as_ref(), over.as_ref()))?;
            let there: usize = source.sizes.iter().product();
            if there < count {
                let reason = format!("the mask is true {count} times, but there are {there} elements to write");
                return Err(Error::InvalidArgument { op, reason });
            }
            let flat = laid_out::<E, D>(source, source.sizes, Copying)?;
            let numel: usize = sizes.as_ref().iter().product();
            D::scatter(
                Indexing { op, axis: 0, wraps: false },
                View::new(&chosen, 0, &[count], &[1]),
                View::<_, E>::new(&flat, 0, &[count], &[1]),
                ViewMut::new(&mut storage, 0, &[numel], &[1]),
            )?;
        }
        Ok(Tensor::dense(storage, sizes))
    }

    /// [`masked_scatter`](Self::masked_scatter) in place: the mask is broadcast to `self`.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn masked_scatter_<M: TensorOperand, R: TensorOperand>(&mut self, mask: M, source: R) -> Result<&mut Self>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::masked_scatter>,
        S: Broadcast<M::Shape>,
        <S as Broadcast<M::Shape>>::Output: WrittenTo<S>,
        M::Elem: MaskFor<choosing::masked_scatter>,
        D: Receives<M::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let result = self.try_masked_scatter(mask, source)?;
        expect_broadcast("masked_scatter_", result.shape().as_ref(), self.shape().as_ref())?;
        D::map1_into::<E, E>(Copying, result.elements(), self.elements_mut()?)?;
        Ok(self)
    }

    /// [`nonzero`](Self::nonzero) (`torch.argwhere`). As in PyTorch, a zero-dim tensor gives rows without indices.
    ///
    /// # Panics
    /// If memory runs out; `try_nonzero` returns the error.
    #[track_caller]
    pub fn argwhere(&self) -> Tensor<i64, (Dyn, S::Rank), D>
    where
        E: Dtype,
    {
        self.nonzero()
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, i64, bool>("is", Is(Sought::Outside(20)));
    suite.one::<_, i32, bool>("is", Is(Sought::Zero));
    suite.one::<_, u8, bool>("is", Is(Sought::NoBool));
    suite.one::<_, f32, bool>("is", Is(Sought::NoShare));
    suite.one::<_, f32, bool>("is", Is(Sought::Infinity));
}
