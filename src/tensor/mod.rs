//! `Tensor`: typed elements, shape, device and layout over shared storage.
//!
//! A tensor is its parts: storage, offset, sizes and strides. Cloning and views share storage; writing first makes it
//! unique (copy on write). Uses every room below; the run-time world will be built on top.

// rustdoc lists methods in the order of these modules: what most readers look for comes first.

// What every tensor has: attributes, layouts, operands, conversion, assignment, access to single elements, printing.
mod base;

// Tensors made from nothing: filled, from elements, ranges, random, in the shape of another.
mod create;

// Operations on each element by itself: methods and operators written from the tables of `ops`, comparison, `where_`, `clamp`, `lerp`.
mod elementwise;

// Reductions of all elements or along axes: sums, extremes, variance, medians, quantiles, statistics, normalisation.
mod reduce;

// Operations along one axis that keep it: cumulative sums, `softmax`, differences, integration.
mod scan;

// Sorting and searching: `sort`, `topk`, `unique`, `searchsorted`.
mod sort;

// Views, which share storage and copy nothing, and `TensorView`/`TensorViewMut`, which borrow it.
mod view;

// Elements moved to other positions, repeated or padded; each makes a new tensor.
mod rearrange;

// Several tensors made one: `cat`, `stack`, `hstack` and their kin, `meshgrid`, `block_diag`.
mod join;

// Elements chosen by index tensors and masks: gather, scatter, masked operations, `index_put`.
mod index;

// Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `linear`, distances.
mod linalg;

// Elementwise expressions that run in one pass.
pub mod lazy;

#[doc(hidden)]
pub use base::assign::AssignedFrom;
#[doc(hidden)]
pub use base::elements::PositionIn;
pub use base::elements::{Iter, OnHost, Position};
pub use base::layout::{AnyLayout, Layout, Strided};
pub use base::operand::{Operand, TensorOperand};
pub use create::random::Generator;
pub use elementwise::apply::Outcome;
pub use elementwise::lerp::WeightOf;
#[doc(hidden)]
pub use elementwise::methods::{Admits, InPlace, Writes};
#[doc(hidden)]
pub use elementwise::operators::{AssignedTo, RightOf};
#[doc(hidden)]
pub use elementwise::parametric::TunedWrites;
pub use elementwise::scalar_first::{
    float_power, floor_divide, pow, try_float_power, try_floor_divide, try_pow, try_xlog1py, try_xlogy, try_zeta,
    xlog1py, xlogy, zeta,
};
pub use elementwise::where_clamp::{try_where_, where_};
pub use index::scatter::ScatterReduce;
pub use join::cat_stack::{JoinDtype, Joined, Piece, Stacked, cat, stack, try_cat, try_stack};
pub use join::hstack::{
    Reshaped, column_stack, dstack, hstack, try_column_stack, try_dstack, try_hstack, try_vstack, vstack,
};
pub use join::meshgrid::{
    BlockDiag, Broadcasted, Grid, block_diag, broadcast_tensors, cartesian_prod, meshgrid, meshgrid_xy, try_block_diag,
    try_broadcast_tensors, try_cartesian_prod,
};
pub use linalg::int_mm::ByteNumber;
pub use linalg::linear::Activation;
pub use linalg::tensordot::{multi_dot, try_multi_dot};
pub use rearrange::pad::{Circular, Constant, PadMode, Reflect, Replicate};
pub use reduce::quantile::Interpolation;
pub use reduce::statistics::BinWeight;
pub use view::axis_iter::AxisIter;
pub use view::disjoint_parts::MultiSlice;
pub use view::tensor_view::{AsTensor, TensorView};
pub use view::tensor_view_mut::TensorViewMut;

use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::shape::{Shape, numel};
pub(crate) use base::assign::Inside;
pub(crate) use base::display::{Printed, python_tuple};
pub(crate) use base::layout::sealed;
pub(crate) use elementwise::apply::{PromotedWith, combine_as, map2};
#[cfg(feature = "any")]
pub(crate) use elementwise::apply::{check_exponent, fitted_scalar};
#[cfg(feature = "any")]
pub(crate) use elementwise::parametric::{Given, parameters};
pub(crate) use index::masked::positions as true_positions;
#[cfg(feature = "any")]
pub(crate) use linalg::addmm::{expect_whole_factor, factor};
#[cfg(feature = "any")]
pub(crate) use reduce::median::median_of_all;
#[cfg(feature = "any")]
pub(crate) use reduce::quantile::quantiles;
#[cfg(feature = "any")]
pub(crate) use scan::softmax::LogSumExp;
#[cfg(feature = "any")]
pub(crate) use sort::sort_topk::{admitted, ranked};
#[cfg(feature = "any")]
pub(crate) use view::reinterpret::{expect_bools, expect_widened};
#[cfg(feature = "any")]
pub(crate) use {
    index::index_put::places,
    index::scatter::reduce_into,
    linalg::matmul::{Summand, product},
    rearrange::pick::{pick_as_laid_out, pick_elements, positions, rolled},
    rearrange::repeat::repeated_elements,
};

/// A tensor whose element type, shape, device and layout are in its type.
///
/// | parameter | is | for example |
/// |---|---|---|
/// | `E` | the dtype: the Rust element type itself | `f32`, `i64`, `bool`, [`bf16`](crate::bf16), `Complex<f32>` |
/// | `S` | the shape: a tuple of dimensions, written with [`shape!`](crate::shape!) | `shape![_, 384]`, `shape![Batch, 3]`, `()` |
/// | `D` | the device | [`Cpu`], [`Cuda<0>`](crate::Cuda), [`Meta`](crate::Meta) |
/// | `L` | the layout | [`Strided`], [`SparseCoo`](crate::SparseCoo) |
///
/// Cloning is O(1) and shares storage; a tensor is never changed through another, because writing to shared storage
/// copies it first. Operators use tensors up (`x + y`) unless they are given references (`&x + &y`): where rustc says "use of moved
/// value", write `&x`, or clone as it advises, which copies no element.
///
/// `for row in &x` goes through the first axis, as in PyTorch; [`iter`](Tensor::iter) through the elements.
///
/// ```
/// use castiron::{shape, tensor, Tensor};
/// let pixels: Tensor<u8, shape![2, 3]> = tensor![[0, 51, 102], [153, 204, 255]; u8];
/// let scaled: Tensor<f32, shape![2, 3]> = &pixels / 255.0;     // u8 and a float: f32, as in PyTorch
/// let weights = tensor![0.5, 1.0, 2.0];                        // f32, shape (3)
/// let weighted: Tensor<f32, shape![2, 3]> = scaled * weights;  // broadcast, checked by the compiler
/// assert_eq!(weighted.sum_axis(castiron::axis![1]).to_vec(), [1.0, 3.1]);
/// ```
///
/// # Reading the compiler's messages
///
/// A number in a shape is printed by its digits: `(D3<D8<D4>>, D2)` is `shape![384, 2]`. What rustc says of tensors in its own words
/// means:
///
/// | rustc | what to write |
/// |---|---|
/// | expected `f32`, found `Tensor<f32, ()>` | a sum is a tensor of one element: `x.sum().item()`, or `.into()` |
/// | expected `bool`, found `Tensor<bool, …>` | a comparison gives a mask, an answer for each element: `x.gt(0).any().item()`, `.all().item()` |
/// | expected `Tensor<A, S>`, found `Tensor<<A as Promotable>::With<B>, S>` | dtypes promote: return `Tensor<Promoted<A, B>, S>` ([`Promoted`](crate::Promoted)), or convert with `.to::<A>()` |
/// | cannot apply unary operator `-` to type `Tensor<bool, …>` | a mask has no negative: `!mask` inverts it, `-mask.to::<i64>()` counts down |
/// | cannot apply unary operator `!` to type `Tensor<f32, …>` | `!` is for bools and integers: `x.logical_not()` says where an element is 0 |
/// | use of moved value | operators take their operands, to write the result in their place: borrow (`&x + 1`), or `x.clone()`, which is O(1) and copies no element |
/// | expected type, found `2` | a shape is written `Tensor<f32, shape![2, 3]>` |
/// | expected type, found const parameter `N` | dimensions are types: `fn f<N: Dim>(x: &Tensor<f32, shape![N]>)` |
/// | no method named `…` found | the device, dtype or layout may lack it: the table above says what the parameters are |
pub struct Tensor<E: Element, S: Shape, D: Device = Cpu, L: Layout = Strided> {
    pub(crate) parts: L::Parts<E, S, D>,
}

impl<E: Element, S: Shape, D: Device, L: Layout> Clone for Tensor<E, S, D, L> {
    /// Shares storage: O(1).
    #[inline]
    fn clone(&self) -> Self {
        Tensor { parts: self.parts.clone() }
    }
}

/// How many elements `sizes` have, and whether memory can address them.
pub(crate) fn checked_numel<E: Element>(op: &'static str, sizes: &[usize]) -> Result<usize> {
    numel(sizes)
        .filter(|numel| numel.checked_mul(size_of::<E>()).is_some_and(|bytes| bytes <= isize::MAX as usize))
        .ok_or_else(|| Error::TooLarge { op, sizes: sizes.into() })
}

/// A shape type as text, sizes not known as `_` or by name: `[_, 384]`.
pub(crate) fn shape_text<S: Shape>() -> String {
    let axes: Vec<String> = S::KNOWN
        .iter()
        .zip(S::NAMES)
        .map(|(known, name)| match (known, name) {
            (Some(size), _) => size.to_string(),
            (None, Some(name)) => (*name).to_owned(),
            (None, None) => "_".to_owned(),
        })
        .collect();
    format!("[{}]", axes.join(", "))
}

/// Whether sizes agree with what a shape type knows.
#[inline(always)]
pub(crate) fn fits<S: Shape>(sizes: &[usize]) -> bool {
    S::KNOWN.iter().zip(sizes).all(|(known, size)| known.is_none_or(|known| known == *size))
}

/// Sizes given for a shape type, or what is wrong with them.
pub(crate) fn expect_fit<S: Shape>(op: &'static str, sizes: &[usize]) -> Result<()> {
    if fits::<S>(sizes) { Ok(()) } else { Err(Error::Shape { op, expected: shape_text::<S>(), found: sizes.into() }) }
}
