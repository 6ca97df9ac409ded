//! The operations a device implements. Shapes are erased to slices of sizes and strides, so that one loop serves all
//! shapes; methods are generic over their kernel, so that a program links only the kernels it uses.
//!
//! Uses `ops` and storage; used by `tensor` and `any`.

use super::convolving;
use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
#[cfg(feature = "cuda")]
use crate::ops::arguments::Distribution;
use crate::ops::arguments::{Added, Attention, Indexing, Order, Sought};
use crate::ops::expression::{AXES, Expression, Leaf, Mapped2};
use crate::ops::kernel::{Copying, LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::storage::{View, ViewMut};

/// Sealed: views are read where a device says that its elements are.
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a device: `Cpu`, `Cuda<N>` and `Meta` are all there are",
        label = "this trait is castiron's alone"
    )]
    pub trait Backend {}
    impl Backend for crate::device::Cpu {}
    impl<const N: usize> Backend for crate::device::Cuda<N> {}
    impl Backend for crate::device::Meta {}
    #[cfg(feature = "any")]
    impl Backend for crate::device::Dynamic {}
}

/// A device's operations. Only castiron implements it, and only castiron makes `View`s, which these functions trust.
///
/// Operands arrive broadcast to the sizes of the result. Methods that return a `Storage` allocate the result with the
/// strides they are given, which are dense and start at offset 0.
#[doc(hidden)]
pub trait Backend: sealed::Backend + Sized + 'static {
    /// What holds the elements.
    type Storage: core::fmt::Debug + Send + Sync + 'static;

    /// Whether there are elements at all.
    fn has_data(_storage: &Self::Storage) -> bool {
        true
    }

    /// Uploads elements made on the host, to the device of another storage where the type does not say which. A
    /// device without data does not call `make`.
    fn build<E: Element>(
        beside: Option<&Self::Storage>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<Self::Storage>;
    /// `len` zeros, placed as by [`build`](Self::build).
    fn zeroed<E: Element>(beside: Option<&Self::Storage>, len: usize) -> Result<Self::Storage>;
    /// `len` elements of one value, placed as by [`build`](Self::build).
    fn fill<E: Element>(beside: Option<&Self::Storage>, value: E, len: usize) -> Result<Self::Storage>;
    /// `kernel(0)`, `kernel(1)`, … up to `len` elements, placed as by [`build`](Self::build).
    fn tabulate<O: Element>(
        kernel: impl Map1<i64, O>,
        beside: Option<&Self::Storage>,
        len: usize,
    ) -> Result<Self::Storage>;
    /// The numbers 0, 1, … up to `len` of them, placed as by [`build`](Self::build).
    fn iota(beside: Option<&Self::Storage>, len: usize) -> Result<Self::Storage> {
        Self::tabulate::<i64>(Copying, beside, len)
    }
    /// Whether elements, placed as by [`build`](Self::build), are where the host's loops are; if not, lists of them are made by the device.
    #[cfg(feature = "cuda")]
    fn is_on_host(_beside: Option<&Self::Storage>) -> bool {
        true
    }
    /// `len` elements drawn by the device itself, placed as by [`build`](Self::build) or where tensors are made, from the stream that a
    /// seed names; `None` where the host draws them.
    #[cfg(feature = "cuda")]
    fn draw<E: Element>(
        _beside: Option<&Self::Storage>,
        _distribution: Distribution,
        _seed: impl FnOnce() -> u64,
        _len: usize,
    ) -> Result<Option<Self::Storage>> {
        Ok(None)
    }
    /// For each probability one or zero, row-major, drawn by the device itself; `None` where the host draws them, or where an element is
    /// no probability.
    #[cfg(feature = "cuda")]
    fn bernoulli<E: Element>(
        _p: View<'_, Self::Storage, E>,
        _seed: impl FnOnce() -> u64,
    ) -> Result<Option<Self::Storage>> {
        Ok(None)
    }
    /// Whether the storage may be written: it is not shared, or it is a writable borrow.
    fn is_unique(storage: &mut Self::Storage) -> bool;
    /// Storage and offset of a view's elements for another tensor: the same storage, or, if that is borrowed, a copy
    /// with the same strides.
    fn share<E: Element>(view: View<'_, Self::Storage, E>) -> (Self::Storage, usize);
    /// [`share`](Self::share) for a tensor that reaches other elements of the storage than `view` does, some of which may be
    /// somebody else's: where they are, it is a copy of `view`'s elements with the same strides. All that widens a view calls it.
    fn share_own<E: Element>(view: View<'_, Self::Storage, E>) -> Result<(Self::Storage, usize)>;
    /// Another handle to the storage, also if it is borrowed, to make views of.
    ///
    /// # Safety
    /// It is closed before the views are given away, and these exist no longer than the memory is borrowed.
    unsafe fn lend(storage: &Self::Storage) -> Self::Storage;
    /// Ends `lend`: no more handles to borrowed memory.
    fn close(storage: &Self::Storage);
    /// Storage over the memory of an unshared one, to be written in place.
    ///
    /// # Safety
    /// As for `lend`, and what a view of it reaches is read and written through that view alone.
    unsafe fn window(storage: &mut Self::Storage) -> Self::Storage;
    /// Whether elements must stay in place when written, whatever their strides: it is a writable borrow.
    fn is_fixed(storage: &Self::Storage) -> bool;
    /// The capacity in elements; `None` without data.
    fn room<E: Element>(storage: &Self::Storage) -> Option<usize>;
    /// Whether the storage has exactly so many elements.
    fn holds<E: Element>(storage: &Self::Storage, len: usize) -> bool;
    /// Whether the two are the same storage.
    fn is_same(a: &Self::Storage, b: &Self::Storage) -> bool;

    /// The element of a zero-dim view.
    fn peek<E: Element>(view: View<'_, Self::Storage, E>) -> Result<E>;
    /// The element of a zero-dim view, if the host can read it without a transfer.
    fn peek_free<E: Element>(view: View<'_, Self::Storage, E>) -> Option<E>;
    /// All elements in row-major order; an error if there is no data.
    fn download<E: Element>(view: View<'_, Self::Storage, E>) -> Result<Vec<E>>;
    /// Whether any element is what is looked for; false without data.
    fn has<E: Castable>(view: View<'_, Self::Storage, E>, what: Sought) -> Result<bool>;

    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        strides: &[usize],
    ) -> Result<Self::Storage>;
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        strides: &[usize],
    ) -> Result<Self::Storage>;
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        c: View<'_, Self::Storage, C>,
        strides: &[usize],
    ) -> Result<Self::Storage>;

    /// `kernel(a)` for `len` contiguous elements; the result is contiguous.
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        len: usize,
    ) -> Result<Self::Storage>;
    /// `kernel(a, b)` for `len` contiguous elements; the result is contiguous.
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        len: usize,
    ) -> Result<Self::Storage>;

    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()>;
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()>;
    /// `out = kernel(out)`
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, Self::Storage, O>) -> Result<()>;
    /// `out = kernel(out, b)`
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, Self::Storage, B>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()>;
    /// `out = kernel(out)` for `len` contiguous elements, which are all of it.
    #[inline]
    fn update1_line<O: Element>(
        kernel: impl Map1<O, O>,
        out: ViewMut<'_, Self::Storage, O>,
        _len: usize,
    ) -> Result<()> {
        Self::update1(kernel, out)
    }
    /// `out = kernel(out, b)` for `len` contiguous elements, which are all of both.
    #[inline]
    fn update2_line<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, Self::Storage, B>,
        out: ViewMut<'_, Self::Storage, O>,
        _len: usize,
    ) -> Result<()> {
        Self::update2(kernel, b, out)
    }

    /// The address of a view's first element, in the device's memory.
    fn address<E: Element>(view: View<'_, Self::Storage, E>) -> *const E;
    /// Evaluates an expression broadcast to `sizes`. Its leaves hold addresses of this device.
    ///
    /// # Safety
    /// The expression was made for these sizes, the tensors that it reads exist and nobody writes them; the strides
    /// leave no gaps.
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize])
    -> Result<Self::Storage>;
    /// `out = x`
    ///
    /// # Safety
    /// As for [`evaluate`](Self::evaluate), the sizes being those of `out`, which the expression does not read.
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(x: X, out: ViewMut<'_, Self::Storage, X::Elem>)
    -> Result<()>;
    /// `out = kernel(out, x)`
    ///
    /// # Safety
    /// As for [`evaluate_into`](Self::evaluate_into).
    unsafe fn evaluate_update<X: Expression, O: Element>(
        kernel: impl Map2<O, X::Elem, O>,
        x: X,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()>;
    /// Reduces an expression broadcast to `sizes` over the axes of `mask`; the result is row-major over the others.
    ///
    /// # Safety
    /// As for [`evaluate`](Self::evaluate).
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<Self::Storage>;

    /// Reduces `kernel(a, b)` over the axes of `mask`, without memory for these elements; both operands have the same sizes. The result
    /// is row-major over the other axes.
    fn reduce_pairs<A: Element, B: Element, C: Element>(
        reducer: impl Reducer<C>,
        kernel: impl Map2<A, B, C>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        mask: u32,
    ) -> Result<Self::Storage> {
        let steps = |strides: &[usize]| {
            let mut steps = [0; AXES];
            steps[..strides.len()].copy_from_slice(strides);
            steps
        };
        let (x, y) = (Leaf::new(Self::address(a), steps(a.strides)), Leaf::new(Self::address(b), steps(b.strides)));
        // SAFETY: both views are of these sizes, and what they borrow exists and is written by nobody.
        unsafe { Self::reduce_lazy(reducer, Mapped2::<_, _, _, C>::new(kernel, x, y), a.sizes, mask) }
    }

    /// Reduces over the axes of `mask`; the result is row-major over the others.
    fn reduce<A: Element, R: Reducer<A>>(reducer: R, a: View<'_, Self::Storage, A>, mask: u32)
    -> Result<Self::Storage>;
    /// Both results of a reduction, as [`reduce`](Self::reduce) gives one.
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, Self::Storage, A>,
        mask: u32,
    ) -> Result<[Self::Storage; 2]>;
    /// Runs a kernel on every lane along an axis; the result is row-major.
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        axis: usize,
    ) -> Result<Self::Storage>;
    /// Both results of a kernel that has two, as [`lanes`](Self::lanes) gives one.
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, Self::Storage, A>,
        axis: usize,
    ) -> Result<[Self::Storage; 2]>;
    /// Assembles each axis from segments of the operand's; `fill` is the value of fill segments. The result is
    /// row-major.
    fn pick<E: Element>(a: View<'_, Self::Storage, E>, axes: &[Vec<Segment>], fill: E) -> Result<Self::Storage>;
    /// Concatenates pieces along an axis, which they fill; their other sizes are those of the result.
    fn join<E: Element>(
        pieces: &[View<'_, Self::Storage, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage>;
    /// Contiguous matrices, zeroed except where `low <= column - row <= high`.
    fn band<E: Element>(a: View<'_, Self::Storage, E>, low: isize, high: isize) -> Result<Self::Storage>;
    /// Runs a kernel on every row (the last axis, contiguous), with shared rows of the same length; the result is
    /// row-major.
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        shared: [Option<View<'_, Self::Storage, A>>; 2],
    ) -> Result<Self::Storage>;
    /// Runs a kernel on groups of channels: on each `(channels, places)` of `(N, groups, channels, places)`, row-major, as one row. The
    /// shared lists have an element for each channel of all groups. The result is row-major; `None` where a device has no loop for it.
    fn groups<A: Element, O: Element>(
        _kernel: impl RowKernel<A, O>,
        _a: View<'_, Self::Storage, A>,
        _shared: [Option<View<'_, Self::Storage, A>>; 2],
    ) -> Result<Option<Self::Storage>> {
        Ok(None)
    }
    /// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes (strides may be 0), and its input; the
    /// result is row-major.
    fn matmul<E: Dtype>(
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage>;
    /// [`matmul`](Self::matmul) of two matrices of these few rows and columns: of the left one's, and of the right one's columns.
    #[inline]
    fn matmul_few<E: Dtype>(
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        _sizes: [usize; 3],
    ) -> Result<Self::Storage> {
        Self::matmul(a, b, None)
    }
    /// [`matmul`](Self::matmul) with a kernel applied to each element of the result.
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage>;
    /// The convolution of `(N, C, D, H, W)` with weights `(O, C / groups, D, H, W)` and a bias `(O)`, of the sizes given, which are those
    /// that the windows lead to. The groups divide both numbers of channels.
    fn convolve<E: Dtype>(
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        convolving::composed::<Self, E>(convolution, x, weight, bias, sizes, strides)
    }
    /// [`convolve`](Self::convolve) with a kernel applied to each element of the result.
    fn convolve_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        let result = Self::convolve(convolution, x, weight, bias, sizes, strides)?;
        Self::map1(kernel, View::<_, E>::new(&result, 0, sizes, strides), strides)
    }
    /// A weight as [`convolve_packed`](Self::convolve_packed) reads it, of a convolution with so many groups. Here it is a row-major copy.
    fn pack<E: Dtype>(weight: View<'_, Self::Storage, E>, _groups: usize) -> Result<Self::Storage> {
        convolving::copied::<Self, E>(weight)
    }
    /// [`convolve`](Self::convolve), or [`convolve_then`](Self::convolve_then), with a weight that this device has [packed](Self::pack): the
    /// buffer of the view, of which only the sizes count beside.
    fn convolve_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        convolving::with_copy::<Self, E, K>(kernel, convolution, x, weight, bias, [sizes, strides])
    }
    /// The product of `(m, k)` and the transpose of a weight `(n, k)`, with a bias `(n)` and a kernel applied to each element of the result,
    /// which is row-major. The weight was [packed](Self::pack) as that of a convolution, `(n, k, 1, 1, 1)`: of the view its buffer and
    /// sizes count.
    fn multiply_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage> {
        convolving::product_with_copy::<Self, E, K>(kernel, x, weight, bias)
    }
    /// What windows see of `(N, D, H, W, C)`, reduced to one element each; positions beyond an axis count for nothing. The result is
    /// row-major and has so many places in place of `D`, `H` and `W`; `None` where the device has no loop for it.
    fn pool<A: Element, R: Reducer<A>>(
        _reducer: R,
        _windows: &[Window; 3],
        _x: View<'_, Self::Storage, A>,
        _places: [usize; 3],
    ) -> Result<Option<Self::Storage>> {
        Ok(None)
    }
    /// Scaled dot-product attention: `(…, L, V)`, row-major. `E` is a float. What a query does not see never reaches its result.
    fn attend<E: Dtype>(attention: &Attention<'_, Self::Storage, E>) -> Result<Self::Storage>;
    /// The product of `(m, k)`, `u8` or `i8`, and `(k, n)`, in `i32`; row-major.
    fn int_mm<E: Dtype>(a: View<'_, Self::Storage, E>, b: View<'_, Self::Storage, i8>) -> Result<Self::Storage>;

    /// The elements of `a` at the positions of the result, with the index in place of the position along the axis.
    /// The result is row-major and has the sizes of `index`, which are no larger than those of `a` along the other
    /// axes. (A device without data does not check indices.)
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, Self::Storage, E>,
        index: View<'_, Self::Storage, i64>,
    ) -> Result<Self::Storage>;
    /// Writes elements of `b` at the indices; of several at one place the last one stays. The sizes of `index` are no
    /// larger than those of `b`, nor than those of `out` along the other axes. Nothing is written if an index is out
    /// of range.
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()>;
    /// [`scatter`](Self::scatter), writing `kernel(out, b)` in the order of the indices along the axis.
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()>;
    /// The elements of `a` selected by the mask, in row-major order, and how many there are.
    fn compress<E: Element>(
        a: View<'_, Self::Storage, E>,
        mask: View<'_, Self::Storage, bool>,
    ) -> Result<(Self::Storage, usize)>;
    /// The indices of the elements of a mask that are true, a row for each, in row-major order, and how many rows there are; `None` where
    /// a device has no loop for it. There is an axis.
    fn index_rows(_mask: View<'_, Self::Storage, bool>) -> Result<Option<(Self::Storage, usize)>> {
        Ok(None)
    }
    /// The values that an order selects along an axis, and their `i64` positions; row-major. `E` has an order; the
    /// order admits the axis, or the result is empty.
    fn order<E: Element>(order: Order, a: View<'_, Self::Storage, E>, axis: usize) -> Result<[Self::Storage; 2]>;
    /// The positions at which the values would be inserted into the sorted lanes along the last axis, as `i64`;
    /// row-major. `E` has an order; leading sizes are the same.
    fn search<E: Element>(
        sorted: View<'_, Self::Storage, E>,
        values: View<'_, Self::Storage, E>,
        right: bool,
    ) -> Result<Self::Storage>;
}
