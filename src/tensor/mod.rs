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

use crate::device::{AnyDevice, Cpu, Device};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::{Geometry, ViewAxes, bounds, strides};
use crate::ops::kernel::Copying;
use crate::shape::{AxisArg, HasAxis, Shape, SizeArray, numel};
use crate::storage::{View, ViewMut};
pub(crate) use base::assign::Inside;
pub(crate) use base::display::{Printed, python_tuple};
use base::layout::StridedParts;
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
    rearrange::flip_roll::{pick_as_laid_out, pick_elements, positions, rolled},
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

/// What a tensor of any layout can be asked.
impl<E: Element, S: Shape, D: Device, L: Layout> Tensor<E, S, D, L> {
    /// The sizes: `[2, 3]` (`torch.Tensor.shape`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2, 3], [4, 5, 6]].shape(), [2, 3]);
    /// ```
    #[inline]
    pub fn shape(&self) -> S::Sizes {
        L::sizes(&self.parts)
    }

    /// The size of one axis (`torch.Tensor.size(dim)`).
    ///
    /// ```
    /// use castiron::axis;
    /// assert_eq!(castiron::tensor![[1, 2, 3], [4, 5, 6]].size(axis![-1]), 3);
    /// ```
    pub fn size<const I: isize>(&self, _axis: impl AxisArg<I>) -> usize
    where
        S: HasAxis<I>,
    {
        self.shape().as_ref().get(<S as HasAxis<I>>::INDEX).copied().unwrap_or(1)
    }

    /// The number of elements (`torch.Tensor.numel`).
    #[inline]
    pub fn numel(&self) -> usize {
        // The product of the sizes of a tensor that exists does not overflow.
        self.shape().as_ref().iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.numel() == 0
    }

    /// The number of axes (`torch.Tensor.dim`).
    pub const fn rank(&self) -> usize {
        S::RANK
    }

    /// The dtype as a value (`torch.Tensor.dtype`).
    pub const fn dtype(&self) -> DType {
        E::DTYPE
    }

    /// The device as a value (`torch.Tensor.device`).
    ///
    /// ```
    /// use castiron::AnyDevice;
    /// assert_eq!(castiron::tensor![1, 2].device(), AnyDevice::CPU);
    /// ```
    ///
    /// # Panics
    /// Never: a tensor is on a device that is there.
    #[track_caller]
    pub fn device(&self) -> AnyDevice {
        crate::error::unwrap(D::default().into_device())
    }

    /// The device as PyTorch prints it: the text of [`device`](Self::device).
    pub fn device_name(&self) -> String {
        D::name()
    }

    /// The layout as a value (`torch.Tensor.layout`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2].layout().to_string(), "torch.strided");
    /// ```
    pub const fn layout(&self) -> AnyLayout {
        L::LAYOUT
    }

    /// Whether the layout is [`SparseCoo`](crate::SparseCoo) (`torch.Tensor.is_sparse`).
    pub const fn is_sparse(&self) -> bool {
        matches!(L::LAYOUT, AnyLayout::SparseCoo)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Puts a tensor together.
    ///
    /// What the caller promises: the elements of the storage that offset, sizes and strides reach are valid `E`.
    ///
    /// # Panics
    /// If sizes do not agree with what `S` knows, or reach beyond the storage. All tensors are made here, and loops rely on both, so it
    /// is looked at in every build: neither the arithmetic of a view nor a trait that somebody else implements is trusted.
    #[inline]
    pub(crate) fn from_parts(storage: D::Storage, offset: usize, sizes: S::Sizes, strides: S::Sizes) -> Self {
        let room = D::room::<E>(&storage);
        Self::from_parts_within(room, storage, offset, sizes, strides)
    }

    /// The same where the room of the storage has been asked.
    #[inline(always)]
    fn from_parts_within(
        room: Option<usize>,
        storage: D::Storage,
        offset: usize,
        sizes: S::Sizes,
        strides: S::Sizes,
    ) -> Self {
        if !fits::<S>(sizes.as_ref()) || !bounds::is_within(sizes.as_ref(), strides.as_ref(), offset, room) {
            refused::<S>(sizes.as_ref(), strides.as_ref(), offset, room);
        }
        Tensor { parts: StridedParts::new(storage, offset, sizes, strides) }
    }

    /// A row-major tensor over fresh storage.
    #[inline]
    pub(crate) fn dense(storage: D::Storage, sizes: S::Sizes) -> Self {
        Self::from_parts(storage, 0, sizes, strides::contiguous(&sizes))
    }

    /// The same elements under another shape type of the same rank: sizes and strides carry over.
    #[inline]
    pub(crate) fn retyped<T: Shape>(self) -> Tensor<E, T, D> {
        let (sizes, strides) = (T::Sizes::copied(self.shape().as_ref()), T::Sizes::copied(self.stride().as_ref()));
        Tensor::from_parts(self.parts.storage, self.parts.offset, sizes, strides)
    }

    /// The view that a rule of `layout` makes, which fills in its sizes and strides and returns where its first element is.
    #[inline]
    pub(crate) fn try_viewed<F: Element, T: Shape>(
        &self,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<Tensor<F, T, D>> {
        let (room, storage, offset) = self.shared::<F>();
        let (mut sizes, mut strides) = (T::Sizes::filled(0), T::Sizes::filled(0));
        let own = Geometry::new(offset, self.parts.sizes.as_ref(), self.parts.strides.as_ref());
        let offset = rule(own, ViewAxes { sizes: sizes.as_mut(), strides: strides.as_mut() })?;
        Ok(Tensor::from_parts_within(room, storage, offset, sizes, strides))
    }

    /// [`try_viewed`](Self::try_viewed) by a rule that always holds.
    #[inline]
    pub(crate) fn viewed<F: Element, T: Shape>(
        &self,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> usize,
    ) -> Tensor<F, T, D> {
        crate::error::unwrap(self.try_viewed(|own, view| Ok(rule(own, view))))
    }

    /// The same elements seen through other sizes and strides, from `start` on, counted from the first of them.
    #[inline]
    pub(crate) fn restrided<T: Shape>(&self, start: usize, sizes: T::Sizes, strides: T::Sizes) -> Tensor<E, T, D> {
        let (room, storage, offset) = self.shared::<E>();
        // A view of nothing may start anywhere.
        Tensor::from_parts_within(room, storage, offset.wrapping_add(start), sizes, strides)
    }

    /// The storage once more with its room for elements `F`, and where the first element of the tensor is in it.
    #[inline(always)]
    fn shared<F: Element>(&self) -> (Option<usize>, D::Storage, usize) {
        // Asked first: what is loaded behind the counting of a handle waits for it.
        let room = D::room::<F>(self.storage());
        let (storage, offset) = D::share(self.elements());
        let room = if D::is_same(&storage, self.storage()) { room } else { D::room::<F>(&storage) };
        (room, storage, offset)
    }

    #[inline]
    pub(crate) fn elements(&self) -> View<'_, D::Storage, E> {
        let StridedParts { storage, offset, sizes, strides, .. } = &self.parts;
        View::new(storage, *offset, sizes.as_ref(), strides.as_ref())
    }

    /// Elements to write to: makes the storage unique, and every element's place its own, first. (Those of a mutable view are
    /// written where they are: they have places of their own.)
    pub(crate) fn elements_mut(&mut self) -> Result<ViewMut<'_, D::Storage, E>> {
        let (sizes, strides) = (self.shape(), self.stride());
        let dense = strides::is_dense(sizes.as_ref(), strides.as_ref());
        if (!dense || !D::is_unique(&mut self.parts.storage)) && !D::is_fixed(&self.parts.storage) {
            let strides = strides::preserved(&self.parts.sizes, &self.parts.strides);
            let storage = D::map1(Copying, self.elements(), strides.as_ref())?;
            self.parts = StridedParts::new(storage, 0, self.parts.sizes, strides);
        }
        let StridedParts { storage, offset, sizes, strides, .. } = &mut self.parts;
        let (sizes, strides): (&S::Sizes, &S::Sizes) = (sizes, strides);
        Ok(ViewMut::new(storage, *offset, sizes.as_ref(), strides.as_ref()))
    }

    /// The result of an operation in place, computed elsewhere.
    pub(crate) fn replace(&mut self, result: Self) -> Result<()> {
        if D::is_fixed(&self.parts.storage) {
            return D::map1_into::<E, E>(Copying, result.elements(), self.elements_mut()?);
        }
        *self = result;
        Ok(())
    }

    #[inline]
    pub(crate) fn storage(&self) -> &D::Storage {
        &self.parts.storage
    }

    /// The strides, in elements (`torch.Tensor.stride`).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]];
    /// assert_eq!(x.stride(), [5, 1]);
    /// assert_eq!(x.t().stride(), [1, 5]);
    /// ```
    #[inline]
    pub fn stride(&self) -> S::Sizes {
        self.parts.strides
    }

    /// Where in its storage the first element is, in elements (`torch.Tensor.storage_offset`).
    #[inline]
    pub fn storage_offset(&self) -> usize {
        self.parts.offset
    }

    /// Whether elements lie in row-major order without gaps (`torch.Tensor.is_contiguous`).
    pub fn is_contiguous(&self) -> bool {
        strides::is_contiguous(self.shape().as_ref(), self.stride().as_ref())
    }

    /// The tensor itself if it is contiguous, else a row-major copy (`torch.Tensor.contiguous`).
    ///
    /// # Panics
    /// If memory runs out; [`try_contiguous`](Self::try_contiguous) returns it.
    #[track_caller]
    pub fn contiguous(&self) -> Self {
        crate::error::unwrap(self.try_contiguous())
    }

    /// [`contiguous`](Self::contiguous), returning the error.
    pub fn try_contiguous(&self) -> Result<Self> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let strides = strides::contiguous(&self.shape());
        Ok(Self::from_parts(D::map1(Copying, self.elements(), strides.as_ref())?, 0, self.shape(), strides))
    }

    /// Whether the two tensors share storage, so that neither was copied from the other.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert!(x.t().shares_storage(&x));
    /// assert!(!(&x + 0).shares_storage(&x));
    /// ```
    pub fn shares_storage<F: Element, T: Shape>(&self, other: &Tensor<F, T, D>) -> bool {
        D::is_same(self.storage(), other.storage())
    }
}

/// Says what is wrong with the parts of a tensor.
#[cold]
#[inline(never)]
fn refused<S: Shape>(sizes: &[usize], strides: &[usize], offset: usize, room: Option<usize>) -> ! {
    panic!(
        "no tensor of shape {} has sizes {sizes:?} and strides {strides:?} from element {offset} on in a storage of {room:?} elements",
        shape_text::<S>()
    )
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
