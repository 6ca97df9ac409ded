//! Writing at indices: `scatter`, `scatter_add`, `scatter_reduce`, `index_copy`, `index_add`, `index_fill`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element, Scalar};
use crate::error::{Error, Result};
use crate::ops::admit::{OrderedFor, SameDtypeFor};
use crate::ops::arguments::Indexing;
use crate::ops::choosing::{self, AddingScaled, Folding, IndexFor};
use crate::ops::kernel::Map2;
use crate::ops::reduce::Accumulating;
use crate::shape::{AxisArg, Dim, HasAxis, IndexBeside, IndexList, IndexOf, SameRank, Shape, Slices};
use crate::storage::{View, ViewMut};
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::create::constructors::fill_value;
use crate::tensor::index::accumulate::combine_at;
use crate::tensor::index::gather::{elements, lifted, with_indices};
use crate::tensor::index::scatter_reduce::{ScatterReduce, reduce_into};
use crate::tensor::{Tensor, TensorViewMut};
use castiron_macros::fallible;

/// Writes at indices; all views have the same rank, at least 1.
fn write<E: Element, S: Shape, D: Device>(
    out: &mut Tensor<E, S, D>,
    indexing: Indexing,
    index: View<'_, D::Storage, i64>,
    from: View<'_, D::Storage, E>,
    run: impl FnOnce(View<'_, D::Storage, i64>, View<'_, D::Storage, E>, ViewMut<'_, D::Storage, E>) -> Result<()>,
) -> Result<()> {
    let axes = [index.sizes, index.strides, from.sizes, from.strides, out.elements().sizes];
    let [index_sizes, index_strides, from_sizes, from_strides, sizes] = lifted_lists(axes);
    if index_sizes.contains(&0) {
        return Ok(());
    }
    expect_indexed(indexing, &index_sizes, &from_sizes, &sizes)?;
    let to = out.elements_mut()?;
    let [to_strides] = lifted_lists([to.strides]);
    run(
        index.restrided(&index_sizes, &index_strides),
        from.restrided(&from_sizes, &from_strides),
        ViewMut::new(to.buffer, to.offset, &sizes, &to_strides),
    )
}

/// Lists with one item per axis, where a zero-dim tensor counts as having one axis.
fn lifted_lists<const N: usize>(lists: [&[usize]; N]) -> [Vec<usize>; N] {
    lists.map(|list| if list.is_empty() { vec![1] } else { list.to_vec() })
}

/// Checks that there is an element and a position for each index.
fn expect_indexed(indexing: Indexing, index: &[usize], from: &[usize], to: &[usize]) -> Result<()> {
    let fits = |at: usize| index[at] <= from[at] && (at == indexing.axis || index[at] <= to[at]);
    if (0..to.len()).all(fits) {
        return Ok(());
    }
    let reason = format!(
        "indices of shape {index:?} must be no larger than the source of shape {from:?}, nor than the tensor of shape {to:?}, but \
         along axis {}",
        indexing.axis
    );
    Err(Error::InvalidArgument { op: indexing.op, reason })
}

/// Overwrites the elements at indices.
pub(super) fn write_over<E: Element, S: Shape, D: Device>(
    out: &mut Tensor<E, S, D>,
    indexing: Indexing,
    index: View<'_, D::Storage, i64>,
    from: View<'_, D::Storage, E>,
) -> Result<()> {
    write(out, indexing, index, from, |index, from, to| D::scatter(indexing, index, from, to))
}

/// Combines with the elements at indices, in the accumulate dtype of `E`.
pub(super) fn write_with<E: Dtype, S: Shape, D: Device>(
    kernel: impl Map2<E::Compute, E::Compute, E::Compute>,
    out: &mut Tensor<E, S, D>,
    indexing: Indexing,
    index: View<'_, D::Storage, i64>,
    from: View<'_, D::Storage, E>,
) -> Result<()> {
    write(out, indexing, index, from, |index, from, to| combine_at::<E, D>(indexing, kernel, index, from, to))
}

/// Runs code with one value as elements of these sizes.
pub(super) fn with_value<E: Element, D: Device>(
    beside: &D::Storage,
    value: E,
    sizes: &[usize],
    run: impl FnOnce(View<'_, D::Storage, E>) -> Result<()>,
) -> Result<()> {
    let storage = D::fill(Some(beside), value, 1)?;
    run(View::new(&storage, 0, sizes, &vec![0; sizes.len()]))
}

/// Runs code with a list of indices broadcast to the sizes of the source.
fn with_list<D: Device>(
    indexing: Indexing,
    sizes: &[usize],
    from: &[usize],
    index: View<'_, D::Storage, i64>,
    run: impl FnOnce(View<'_, D::Storage, i64>) -> Result<()>,
) -> Result<()> {
    let lift = |sizes: &[usize]| if sizes.is_empty() { vec![1] } else { sizes.to_vec() };
    let count = index.sizes.first().copied().unwrap_or(1);
    let mut expected = lift(sizes);
    expected[indexing.axis] = count;
    if lift(from) != expected {
        let reason = format!("{count} indices take a source of shape {expected:?}, got one of shape {from:?}");
        return Err(Error::InvalidArgument { op: indexing.op, reason });
    }
    let mut strides = vec![0; expected.len()];
    strides[indexing.axis] = index.strides.first().copied().unwrap_or(1);
    run(index.restrided(&expected, &strides))
}

/// Writes the forms of an operation that writes into a tensor: into a copy, and in place.
macro_rules! writers {
    ($($(#[$doc:meta])* $name:ident $inplace:ident $try_inplace:ident [$($generics:tt)*] ($($arg:ident: $ty:ty),*) [$($bounds:tt)*]
       |$out:ident| $body:expr, $torch:literal, $example:literal;)*) => {$(
        /// The forms of one operation.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            #[doc = concat!("PyTorch: `", $torch, "`. Forms: `", stringify!($inplace), "`.")]
            ///
            /// # Panics
            /// If an index is out of range or sizes do not match.
            ///
            /// ```
            /// # use castiron::{axis, tensor, ScatterReduce};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<$($generics)*>(&self, $($arg: $ty),*) -> Result<Self>
            where
                $($bounds)*
            {
                let mut copy = self.clone();
                copy.$try_inplace($($arg),*)?;
                Ok(copy)
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in place.")]
            ///
            /// # Panics
            /// As there; nothing is written then.
            #[fallible]
            pub fn $inplace<$($generics)*>(&mut self, $($arg: $ty),*) -> Result<&mut Self>
            where
                $($bounds)*
            {
                let $out = self;
                $body?;
                Ok($out)
            }
        }

        crate::tensor::elementwise::view_in_place::in_place! { $inplace $try_inplace [$($generics)*] ($($arg: $ty),*) [$($bounds)*] }
    )*};
}

/// The operation along the axis `I` of `S`.
fn along<const I: isize, S: HasAxis<I>>(op: &'static str, wraps: bool) -> Indexing {
    Indexing { op, axis: <S as HasAxis<I>>::INDEX, wraps }
}

writers! {
    /// Writes each element of the source to the position along the axis in the index tensor, the other indices being the same:
    /// `self[index[i][j]][j] = src[i][j]` along axis 0. Of several elements for one position the last one stays.
    ///
    /// Shape: that of `self`; all three have the same rank, and the indices are no larger than the source, nor than `self` along the other
    /// axes. Dtypes: all computing dtypes, the source having that of `self`. The indices are `i64`, not negative.
    scatter scatter_ try_scatter_ [const I: isize, X: TensorOperand, R: TensorOperand]
        (axis: impl AxisArg<I>, index: X, src: R) [
            S: HasAxis<I> + SameRank<X::Shape>,
            X::Shape: SameRank<R::Shape>,
            X::Shape: IndexBeside<S, I> + IndexOf<R::Shape>,
            X::Elem: IndexFor<choosing::scatter>,
            E: SameDtypeFor<R::Elem, choosing::scatter>,
            D: Receives<X::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
        ]
        |out| {
            let (_, from) = (axis, elements::<R, D>(&src)?.known_as());
            with_indices::<X, D, _>(&index, |index| write_over(out, along::<I, S>("scatter", false), index, from))
        },
        "torch.scatter", "let x = tensor![[0, 0], [0, 0]];\nassert_eq!(x.scatter(axis![1], tensor![[1], [0]], tensor![[5], [6]]).to_vec(), [0, 5, 6, 0]);";
    /// Writes a value to each position in the index tensor, as [`scatter`](Self::scatter) does.
    ///
    /// Dtypes: all computing dtypes; the value is converted.
    scatter_value scatter_value_ try_scatter_value_ [const I: isize, X: TensorOperand]
        (axis: impl AxisArg<I>, index: X, value: impl Scalar) [
            S: HasAxis<I> + SameRank<X::Shape>,
            X::Shape: IndexBeside<S, I>,
            X::Elem: IndexFor<choosing::scatter_value>,
            E: Dtype,
            D: Receives<X::Place, Dimensioned>,
        ]
        |out| {
            let (_, value) = (axis, fill_value::<E>("scatter_value", value.value())?);
            with_indices::<X, D, _>(&index, |index| with_value::<E, D>(index.buffer, value, index.sizes, |from| {
                write_over(out, along::<I, S>("scatter_value", false), index, from)
            }))
        },
        "torch.scatter` with a `value`, `torch.Tensor.scatter_", "let x = tensor![[0, 0], [0, 0]];\nassert_eq!(x.scatter_value(axis![1], tensor![[1], [0]], 7).to_vec(), [0, 7, 7, 0]);";
    /// Adds each element of the source at the position where [`scatter`](Self::scatter) writes it, in order along the axis.
    ///
    /// Shape: as for [`scatter`](Self::scatter). Dtypes: all computing dtypes, the source having that of `self`; integers wrap, `f16` and `bf16` are added in `f32`
    /// and rounded once. The indices are `i64`, not negative.
    scatter_add scatter_add_ try_scatter_add_ [const I: isize, X: TensorOperand, R: TensorOperand]
        (axis: impl AxisArg<I>, index: X, src: R) [
            S: HasAxis<I> + SameRank<X::Shape>,
            X::Shape: SameRank<R::Shape>,
            X::Shape: IndexBeside<S, I> + IndexOf<R::Shape>,
            X::Elem: IndexFor<choosing::scatter_add>,
            E: Dtype + SameDtypeFor<R::Elem, choosing::scatter_add>,
            D: Receives<X::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
        ]
        |out| {
            let (_, from) = (axis, elements::<R, D>(&src)?.known_as());
            let kernel = Folding::<Accumulating>::new();
            with_indices::<X, D, _>(&index, |index| write_with(kernel, out, along::<I, S>("scatter_add", false), index, from))
        },
        "torch.scatter_add", "let counts = tensor![0, 0, 0].scatter_add(axis![0], tensor![2, 0, 2], tensor![1, 1, 1]);\nassert_eq!(counts.to_vec(), [1, 0, 2]);";
    /// Reduces the elements of the source for each position, together with the element of `self` or, if `include_self` is false, without
    /// it. Positions without any index keep their element.
    ///
    /// Shape: as for [`scatter`](Self::scatter). Dtypes: all with an order, the source having that of `self`; the mean of bools is refused. The indices are `i64`,
    /// not negative.
    scatter_reduce scatter_reduce_ try_scatter_reduce_ [const I: isize, X: TensorOperand, R: TensorOperand]
        (axis: impl AxisArg<I>, index: X, src: R, reduce: ScatterReduce, include_self: bool) [
            S: HasAxis<I> + SameRank<X::Shape>,
            X::Shape: SameRank<R::Shape>,
            X::Shape: IndexBeside<S, I> + IndexOf<R::Shape>,
            X::Elem: IndexFor<choosing::scatter_reduce>,
            E: OrderedFor<choosing::scatter_reduce> + SameDtypeFor<R::Elem, choosing::scatter_reduce>,
            D: Receives<X::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
        ]
        |out| {
            let (_, from) = (axis, elements::<R, D>(&src)?.known_as());
            let indexing = along::<I, S>("scatter_reduce", false);
            with_indices::<X, D, _>(&index, |index| reduce_into(out, indexing, index, from, reduce, include_self))
        },
        "torch.scatter_reduce", "let x = tensor![10, 20].scatter_reduce(axis![0], tensor![1, 1], tensor![30, 5], ScatterReduce::Amax, true);\nassert_eq!(x.to_vec(), [10, 30]);";
    /// Writes slices of the source to the positions in a list of indices along an axis.
    ///
    /// Shape: that of `self`; the source has it too, with the number of indices in place of the axis. Dtypes: all, the source having that
    /// of `self`. The indices are `i64`, not negative.
    index_copy index_copy_ try_index_copy_ [const I: isize, X: TensorOperand, R: TensorOperand, N: Dim]
        (axis: impl AxisArg<I>, index: X, source: R) [
            S: HasAxis<I>,
            X::Shape: IndexList<Dim = N>,
            <S as HasAxis<I>>::Replace<N>: Slices<R::Shape, choosing::index_copy>,
            X::Elem: IndexFor<choosing::index_copy>,
            E: SameDtypeFor<R::Elem, choosing::index_copy>,
            D: Receives<X::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
        ]
        |out| {
            let (_, from) = (axis, elements::<R, D>(&source)?.known_as());
            let (indexing, sizes) = (along::<I, S>("index_copy", false), out.shape());
            with_indices::<X, D, _>(&index, |index| with_list::<D>(indexing, sizes.as_ref(), from.sizes, index, |index| {
                write_over(out, indexing, index, from)
            }))
        },
        "torch.index_copy", "let x = tensor![[0, 0], [0, 0], [0, 0]];\nassert_eq!(x.index_copy(axis![0], tensor![2], tensor![[1, 2]]).to_vec(), [0, 0, 0, 0, 1, 2]);";
    /// Adds slices of the source, times `alpha`, to the positions in a list of indices along an axis.
    ///
    /// Shape: as for [`index_copy`](Self::index_copy). Dtypes: all computing dtypes, the source having that of `self`; `alpha` is converted
    /// to it. The indices are `i64` or `i32`, not negative.
    index_add index_add_ try_index_add_ [const I: isize, X: TensorOperand, R: TensorOperand, N: Dim]
        (axis: impl AxisArg<I>, index: X, source: R, alpha: impl Scalar) [
            S: HasAxis<I>,
            X::Shape: IndexList<Dim = N>,
            <S as HasAxis<I>>::Replace<N>: Slices<R::Shape, choosing::index_add>,
            X::Elem: IndexFor<choosing::index_add>,
            E: Dtype + SameDtypeFor<R::Elem, choosing::index_add>,
            D: Receives<X::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
        ]
        |out| {
            let (_, from) = (axis, elements::<R, D>(&source)?.known_as());
            let (indexing, sizes) = (along::<I, S>("index_add", false), out.shape());
            let kernel = AddingScaled(fill_value::<E>("index_add", alpha.value())?.to_compute());
            with_indices::<X, D, _>(&index, |index| with_list::<D>(indexing, sizes.as_ref(), from.sizes, index, |index| {
                write_with(kernel, out, indexing, index, from)
            }))
        },
        "torch.index_add", "let x = tensor![10.0, 20.0];\nassert_eq!(x.index_add(axis![0], tensor![1, 1], tensor![0.5, 0.25], 2).to_vec(), [10.0, 21.5]);";
    /// Writes a value to the positions in a list of indices along an axis. Negative indices count from the end.
    ///
    /// Shape: that of `self`. Dtypes: all computing dtypes; the value is converted. The indices are `i64`.
    index_fill index_fill_ try_index_fill_ [const I: isize, X: TensorOperand]
        (axis: impl AxisArg<I>, index: X, value: impl Scalar) [
            S: HasAxis<I>,
            X::Shape: IndexList,
            X::Elem: IndexFor<choosing::index_fill>,
            E: Dtype,
            D: Receives<X::Place, Dimensioned>,
        ]
        |out| {
            let (_, value) = (axis, fill_value::<E>("index_fill", value.value())?);
            let (indexing, (mut sizes, _)) = (along::<I, S>("index_fill", true), lifted(&out.elements()));
            with_indices::<X, D, _>(&index, |index| {
                sizes[indexing.axis] = index.sizes.first().copied().unwrap_or(1);
                with_list::<D>(indexing, &sizes, &sizes, index, |index| with_value::<E, D>(index.buffer, value, &sizes, |from| {
                    write_over(out, indexing, index, from)
                }))
            })
        },
        "torch.index_fill", "let x = tensor![[1, 2], [3, 4]];\nassert_eq!(x.index_fill(axis![0], tensor![-1], 0).to_vec(), [1, 2, 0, 0]);";
}
