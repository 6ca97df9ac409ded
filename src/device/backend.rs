//! What a device implements: memory, and [`run`](Backend::run), which is given operations as data. Shapes are erased to slices of sizes and
//! strides, so that one loop serves all shapes; calls are generic over their kernel, so that a program links only the kernels it uses.

use super::call::{
    Attend, Band, Binary, BinaryInto, Call, Compress, Convolve, Gather, Given, Groups, IndexRows, Join, Lanes,
    LanesBoth, NoKernel, Pack, Pick, Pool, Product, ProductByPacked, ProductOfBytes, Reduce, ReduceBoth, ReducePairs,
    Rows, Scatter, ScatterWith, Search, Seek, Sort, Ternary, Unary, UnaryInto, Update, UpdateBy,
};
use crate::dtype::{Castable, DType, Dtype, Element};
use crate::error::Result;
#[cfg(feature = "cuda")]
use crate::ops::arguments::Distribution;
use crate::ops::arguments::{Added, Attention, Indexing, Order, Sought};
use crate::ops::expression::Expression;
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
    /// Runs an operation.
    fn run<C: Call>(call: C::Of<'_, Self::Storage>) -> Result<Given<C, Self::Storage>>;

    /// [`run`](Self::run), recorded where the thread is profiled.
    #[inline]
    fn call<C: Call>(call: C::Of<'_, Self::Storage>) -> Result<Given<C, Self::Storage>> {
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return crate::profile::timed::<Self, C>(call);
        }
        Self::run::<C>(call)
    }
    /// What measures how long a call takes.
    #[cfg(feature = "profile")]
    fn clock(_beside: Option<&Self::Storage>) -> crate::profile::Clock {
        crate::profile::Clock::Host
    }
    /// The device of a storage as PyTorch prints it.
    #[cfg(feature = "profile")]
    fn called(beside: Option<&Self::Storage>) -> String;

    /// The evaluation of an expression, recorded where the thread is profiled.
    #[inline]
    fn fused<T>(_dtype: DType, _sizes: &[usize], _beside: Option<&Self::Storage>, run: impl FnOnce() -> T) -> T {
        #[cfg(feature = "profile")]
        let run = || {
            let about = || {
                let mut about = crate::profile::About::default();
                let strides = crate::layout::strides::row_major(_sizes);
                about.operand(_dtype, _sizes, &strides, true);
                (Self::clock(_beside), Self::called(_beside), about)
            };
            crate::profile::span("fused", about, run)
        };
        run()
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

    // Operations on few elements, whose cost is the way to the loop: the host has shorter ones.

    /// `kernel(a)` for `len` contiguous elements; the result is contiguous.
    #[inline]
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        len: usize,
    ) -> Result<Self::Storage> {
        Self::map1(kernel, line(a, &[len]), &[1])
    }
    /// `kernel(a, b)` for `len` contiguous elements; the result is contiguous.
    #[inline]
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        len: usize,
    ) -> Result<Self::Storage> {
        Self::map2(kernel, line(a, &[len]), line(b, &[len]), &[1])
    }
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
    /// [`matmul`](Self::matmul) of two matrices of these few rows and columns: of the left one's, and of the right one's columns.
    #[inline]
    fn matmul_few<E: Dtype>(
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        _sizes: [usize; 3],
    ) -> Result<Self::Storage> {
        Self::matmul(a, b, None)
    }

    // Calls.

    /// [`Unary`].
    #[inline]
    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Unary<'static, (), A, O, _>>(Unary::new(kernel, strides, a))
    }
    /// [`Binary`].
    #[inline]
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Binary<'static, (), A, B, O, _>>(Binary::new(kernel, strides, a, b))
    }
    /// [`Ternary`].
    #[inline]
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        c: View<'_, Self::Storage, C>,
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Ternary<'static, (), A, B, C, O, _>>(Ternary::new(kernel, strides, a, b, c))
    }
    /// [`UnaryInto`].
    #[inline]
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()> {
        Self::call::<UnaryInto<'static, (), A, O, _>>(UnaryInto::new(kernel, out, a))
    }
    /// [`BinaryInto`].
    #[inline]
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()> {
        Self::call::<BinaryInto<'static, (), A, B, O, _>>(BinaryInto::new(kernel, out, a, b))
    }
    /// [`Update`].
    #[inline]
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, Self::Storage, O>) -> Result<()> {
        Self::call::<Update<'static, (), O, _>>(Update::new(kernel, out))
    }
    /// [`UpdateBy`].
    #[inline]
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, Self::Storage, B>,
        out: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()> {
        Self::call::<UpdateBy<'static, (), B, O, _>>(UpdateBy::new(kernel, out, b))
    }
    /// [`Seek`].
    #[inline]
    fn has<E: Castable>(a: View<'_, Self::Storage, E>, what: Sought) -> Result<bool> {
        Self::call::<Seek<'static, (), E>>(Seek::new(what, a))
    }
    /// [`Reduce`].
    #[inline]
    fn reduce<A: Element, R: Reducer<A>>(
        reducer: R,
        a: View<'_, Self::Storage, A>,
        mask: u32,
    ) -> Result<Self::Storage> {
        Self::call::<Reduce<'static, (), A, R>>(Reduce::new(reducer, mask, a))
    }
    /// [`ReduceBoth`].
    #[inline]
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, Self::Storage, A>,
        mask: u32,
    ) -> Result<[Self::Storage; 2]> {
        Self::call::<ReduceBoth<'static, (), A, R>>(ReduceBoth::new(reducer, mask, a))
    }
    /// [`ReducePairs`].
    #[inline]
    fn reduce_pairs<A: Element, B: Element, C: Element>(
        reducer: impl Reducer<C>,
        kernel: impl Map2<A, B, C>,
        a: View<'_, Self::Storage, A>,
        b: View<'_, Self::Storage, B>,
        mask: u32,
    ) -> Result<Self::Storage> {
        Self::call::<ReducePairs<'static, (), A, B, C, _, _>>(ReducePairs::new(reducer, kernel, mask, a, b))
    }
    /// [`Lanes`].
    #[inline]
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        axis: usize,
    ) -> Result<Self::Storage> {
        Self::call::<Lanes<'static, (), A, O, _>>(Lanes::new(kernel, axis, a))
    }
    /// [`LanesBoth`].
    #[inline]
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, Self::Storage, A>,
        axis: usize,
    ) -> Result<[Self::Storage; 2]> {
        Self::call::<LanesBoth<'static, (), A, O, P, _>>(LanesBoth::new(kernel, axis, a))
    }
    /// [`Rows`].
    #[inline]
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        shared: [Option<View<'_, Self::Storage, A>>; 2],
    ) -> Result<Self::Storage> {
        Self::call::<Rows<'static, (), A, O, _>>(Rows::new(kernel, a, shared))
    }
    /// [`Groups`].
    #[inline]
    fn groups<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        shared: [Option<View<'_, Self::Storage, A>>; 2],
    ) -> Result<Option<Self::Storage>> {
        Self::call::<Groups<'static, (), A, O, _>>(Groups::new(kernel, a, shared))
    }
    /// [`Pick`].
    #[inline]
    fn pick<E: Element>(a: View<'_, Self::Storage, E>, axes: &[Vec<Segment>], fill: E) -> Result<Self::Storage> {
        Self::call::<Pick<'static, (), E>>(Pick::new(axes, fill, a))
    }
    /// [`Join`].
    #[inline]
    fn join<E: Element>(
        pieces: &[View<'_, Self::Storage, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Join<'static, (), E>>(Join::new(axis, sizes, strides, pieces.to_vec()))
    }
    /// [`Band`].
    #[inline]
    fn band<E: Element>(a: View<'_, Self::Storage, E>, low: isize, high: isize) -> Result<Self::Storage> {
        Self::call::<Band<'static, (), E>>(Band::new(low, high, a))
    }
    /// [`Gather`].
    #[inline]
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, Self::Storage, E>,
        index: View<'_, Self::Storage, i64>,
    ) -> Result<Self::Storage> {
        Self::call::<Gather<'static, (), E>>(Gather::new(indexing, a, index))
    }
    /// [`Scatter`].
    #[inline]
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()> {
        Self::call::<Scatter<'static, (), E>>(Scatter::new(indexing, out, index, b))
    }
    /// [`ScatterWith`].
    #[inline]
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()> {
        Self::call::<ScatterWith<'static, (), E, _>>(ScatterWith::new(indexing, kernel, out, index, b))
    }
    /// [`Compress`].
    #[inline]
    fn compress<E: Element>(
        a: View<'_, Self::Storage, E>,
        mask: View<'_, Self::Storage, bool>,
    ) -> Result<(Self::Storage, usize)> {
        Self::call::<Compress<'static, (), E>>(Compress::new(a, mask))
    }
    /// [`IndexRows`].
    #[inline]
    fn index_rows(mask: View<'_, Self::Storage, bool>) -> Result<Option<(Self::Storage, usize)>> {
        Self::call::<IndexRows<'static, ()>>(IndexRows::new(mask))
    }
    /// [`Sort`].
    #[inline]
    fn order<E: Element>(order: Order, a: View<'_, Self::Storage, E>, axis: usize) -> Result<[Self::Storage; 2]> {
        Self::call::<Sort<'static, (), E>>(Sort::new(order, axis, a))
    }
    /// [`Search`].
    #[inline]
    fn search<E: Element>(
        sorted: View<'_, Self::Storage, E>,
        values: View<'_, Self::Storage, E>,
        right: bool,
    ) -> Result<Self::Storage> {
        Self::call::<Search<'static, (), E>>(Search::new(right, sorted, values))
    }
    /// [`Product`].
    #[inline]
    fn matmul<E: Dtype>(
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage> {
        Self::call::<Product<'static, (), E, NoKernel>>(Product::new(None, a, b, added))
    }
    /// [`Product`] with a kernel.
    #[inline]
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage> {
        Self::call::<Product<'static, (), E, _>>(Product::new(Some(kernel), a, b, added))
    }
    /// [`ProductByPacked`].
    #[inline]
    fn multiply_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage> {
        Self::call::<ProductByPacked<'static, (), E, K>>(ProductByPacked::new(kernel, x, weight, bias))
    }
    /// [`ProductOfBytes`].
    #[inline]
    fn int_mm<E: Dtype>(a: View<'_, Self::Storage, E>, b: View<'_, Self::Storage, i8>) -> Result<Self::Storage> {
        Self::call::<ProductOfBytes<'static, (), E>>(ProductOfBytes::new(a, b))
    }
    /// [`Convolve`].
    #[inline]
    fn convolve<E: Dtype>(
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Convolve<'static, (), E, NoKernel>>(Convolve::new(
            None,
            false,
            convolution,
            sizes,
            strides,
            x,
            weight,
            bias,
        ))
    }
    /// [`Convolve`] with a kernel.
    #[inline]
    fn convolve_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Convolve<'static, (), E, _>>(Convolve::new(
            Some(kernel),
            false,
            convolution,
            sizes,
            strides,
            x,
            weight,
            bias,
        ))
    }
    /// [`Convolve`] with a packed weight.
    #[inline]
    fn convolve_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        convolution: &Convolution,
        x: View<'_, Self::Storage, E>,
        weight: View<'_, Self::Storage, E>,
        bias: Option<View<'_, Self::Storage, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage> {
        Self::call::<Convolve<'static, (), E, K>>(Convolve::new(
            kernel,
            true,
            convolution,
            sizes,
            strides,
            x,
            weight,
            bias,
        ))
    }
    /// [`Pack`].
    #[inline]
    fn pack<E: Dtype>(weight: View<'_, Self::Storage, E>, groups: usize) -> Result<Self::Storage> {
        Self::call::<Pack<'static, (), E>>(Pack::new(groups, weight))
    }
    /// [`Pool`].
    #[inline]
    fn pool<A: Element, R: Reducer<A>>(
        reducer: R,
        windows: &[Window; 3],
        x: View<'_, Self::Storage, A>,
        places: [usize; 3],
    ) -> Result<Option<Self::Storage>> {
        Self::call::<Pool<'static, (), A, R>>(Pool::new(reducer, windows, places, x))
    }
    /// [`Attend`].
    #[inline]
    fn attend<E: Dtype>(attention: Attention<'_, Self::Storage, E>) -> Result<Self::Storage> {
        Self::call::<Attend<'static, (), E>>(Attend::new(attention))
    }
}

/// So many contiguous elements from the first of a view on.
fn line<'a, B, E>(view: View<'a, B, E>, len: &'a [usize; 1]) -> View<'a, B, E> {
    view.restrided(len, &[1])
}
