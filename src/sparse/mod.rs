//! `SparseCoo`: tensors that store the indices and values of some elements; all others are zero.
//!
//! A tensor consists of its sizes, the indices `(sparse axes, nnz)`, the values `(nnz, elements per block)` and whether it is known to be
//! coalesced: sorted, without duplicate indices. Operations run the strided kernels on the values.

mod add;
mod attributes;
mod axes;
mod coalesce;
mod create;
mod dense;
mod display;
mod functions;
mod hybrid;
mod join;
mod matmul;
mod mul;
mod operators;
mod reduce;
mod refused;
mod rows;
mod scaling;

pub use functions::KeepsZero;
pub use hybrid::{DenseAxes, SparseValues};
pub use matmul::SparseFactor;
pub use operators::{RightOfSparse, WrittenToSparse};

#[cfg(feature = "any")]
pub(crate) use {
    create::{check_indices, check_parts, infer},
    dense::expect_same,
    display::print,
    rows::{expect_countable, indices_from_linear, linear_indices},
};

use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::shape::{Dyn, Shape};
use crate::tensor::{AnyLayout, Layout, Tensor, sealed};

/// Indices and values; every other element is zero (`torch.sparse_coo`). `DENSE` is the number of dense axes, which come last: each value
/// is then a block of these axes (PyTorch's hybrid tensors).
///
/// [`SparseTensor`] is the tensor of this layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparseCoo<const DENSE: usize = 0>;

/// A tensor of layout [`SparseCoo`] on the CPU: `SparseTensor<f32, shape![2, 3]>` is
/// `Tensor<f32, shape![2, 3], Cpu, SparseCoo>`.
///
/// | to | see |
/// |---|---|
/// | make one | [`Tensor::sparse_coo`], [`Tensor::to_sparse`], [`Tensor::sparse_zeros`] |
/// | look inside | [`indices`](Tensor::indices), [`values`](Tensor::values), [`nnz`](Tensor::nnz), [`coalesce`](Tensor::coalesce), [`to_dense`](Tensor::to_dense) |
/// | compute | `+ - * /`, [`pow`](Tensor::pow), `sum`, `matmul` |
/// | functions that leave zero at zero, of the values after [`coalesce`](Tensor::coalesce) | `abs`, `angle`, `asin`, `asinh`, `atan`, `atanh`, `ceil`, `deg2rad`, `erf`, `erfinv`, `expm1`, `floor`, `frac`, `isinf`, `isnan`, `isneginf`, `isposinf`, `log1p`, `rad2deg`, `relu`, `round`, `sgn`, `sign`, `signbit`, `sin`, `sinh`, `sqrt`, `tan`, `tanh`, `trunc` |
///
/// Sparse with sparse is sparse; sparse `+` dense is dense; sparse `*` dense is sparse; sparse `@` dense is dense. Dtypes promote as for
/// strided tensors. `+` and `-` do not broadcast.
///
/// ```
/// use castiron::{shape, tensor, SparseTensor, Tensor};
/// // 3 at (0, 2), 4 at (1, 0), 5 at (1, 2)
/// let s: SparseTensor<f32, shape![2, 3]> =
///     Tensor::sparse_coo(&tensor![[0, 1, 1], [2, 0, 2]], &tensor![3.0, 4.0, 5.0]);
/// let dense = tensor![[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
/// let scaled: SparseTensor<f32, shape![2, 3]> = &s * &dense;
/// assert_eq!(scaled.to_dense().to_vec(), [0.0, 0.0, 3.0, 8.0, 0.0, 10.0]);
/// let sum: Tensor<f32, shape![2, 3]> = &s + &dense;
/// assert_eq!(sum.to_vec(), [1.0, 1.0, 4.0, 6.0, 2.0, 7.0]);
/// assert_eq!(s.matmul(tensor![1.0, 10.0, 100.0]).to_vec(), [300.0, 504.0]);
/// ```
///
/// Generic code needs the same bounds as for strided tensors:
///
/// ```
/// use castiron::{Cpu, Numeric, Shape, SparseCoo, Tensor};
/// fn twice<E: Numeric, S: Shape>(x: &Tensor<E, S, Cpu, SparseCoo>) -> Tensor<E, S, Cpu, SparseCoo> { x + x }
/// let s = castiron::tensor![[0, 2], [3, 0]].to_sparse();
/// assert_eq!(twice(&s).to_dense().to_vec(), [0, 4, 6, 0]);
/// ```
pub type SparseTensor<E, S, const DENSE: usize = 0> = Tensor<E, S, Cpu, SparseCoo<DENSE>>;

/// The stored form of indices and values: a matrix with run-time sizes.
type Rows<E, D = Cpu> = Tensor<E, (Dyn, Dyn), D>;

impl<const DENSE: usize> sealed::Sealed for SparseCoo<DENSE> {}
impl<const DENSE: usize> Layout for SparseCoo<DENSE> {
    const LAYOUT: AnyLayout = AnyLayout::SparseCoo;
    type Parts<E: Element, S: Shape, D: Device> = SparseParts<E, S, D>;
    #[inline]
    fn sizes<E: Element, S: Shape, D: Device>(parts: &SparseParts<E, S, D>) -> S::Sizes {
        parts.sizes
    }
}

/// The parts of a sparse tensor.
#[doc(hidden)]
pub struct SparseParts<E: Element, S: Shape, D: Device> {
    /// The product of the nonzero sizes fits `i64`, so every linear index does, too.
    sizes: S::Sizes,
    /// `(sparse axes, nnz)`, row-major, each index in range of its axis.
    indices: Rows<i64, D>,
    /// `(nnz, elements per block)`, row-major.
    values: Rows<E, D>,
    /// Whether the indices are known to be sorted and distinct.
    coalesced: bool,
}

impl<E: Element, S: Shape, D: Device> Clone for SparseParts<E, S, D> {
    fn clone(&self) -> Self {
        SparseParts { sizes: self.sizes, indices: self.indices.clone(), values: self.values.clone(), ..*self }
    }
}

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// Assembles a tensor. One element or none is always coalesced.
    ///
    /// The caller guarantees the invariants in the field docs.
    pub(crate) fn assembled(sizes: S::Sizes, indices: Rows<i64>, values: Rows<E>, coalesced: bool) -> Self {
        debug_assert_eq!(indices.shape()[0], S::RANK - N);
        debug_assert_eq!(indices.shape()[1], values.shape()[0]);
        debug_assert!(indices.is_contiguous() && values.is_contiguous());
        let coalesced = coalesced || values.shape()[0] < 2;
        Tensor { parts: SparseParts { sizes, indices, values, coalesced } }
    }

    /// Other values at the same indices.
    fn with_values<F: Element>(&self, values: Rows<F>) -> SparseTensor<F, S, N> {
        let SparseParts { sizes, indices, coalesced, .. } = &self.parts;
        SparseTensor::assembled(*sizes, indices.clone(), values, *coalesced)
    }

    /// The same tensor with a shape type derived from the operands' types.
    fn retyped_sparse<T: Shape>(self) -> SparseTensor<E, T, N> {
        let SparseParts { sizes, indices, values, coalesced } = self.parts;
        SparseTensor::assembled(crate::shape::SizeArray::copied(sizes.as_ref()), indices, values, coalesced)
    }

    /// The sparse axes flattened to one, and the dense axes flattened to another.
    #[cfg(feature = "any")]
    pub(crate) fn flat(&self) -> SparseTensor<E, (Dyn, Dyn), 1> {
        let (sparse, dense) = self.sparse_and_dense_sizes();
        let sizes = [sparse.iter().product(), dense.iter().product()];
        let keys = crate::error::unwrap(self.keys().and_then(|keys| rows::rows_of(keys, [1, self.nnz()])));
        SparseTensor::assembled(sizes, keys, self.parts.values.clone(), self.parts.coalesced)
    }

    /// The sizes of the sparse axes, and of the dense ones.
    fn sparse_and_dense_sizes(&self) -> (&[usize], &[usize]) {
        self.parts.sizes.as_ref().split_at(S::RANK - N)
    }
}
