//! What a device must be able to do. Shapes are erased here: sizes and strides are slices, so that one loop serves
//! all shapes. Each method is generic over its kernel, so that a program links only the kernels it names.

use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
use crate::ops::arguments::{Added, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::storage::{View, ViewMut};

/// What nobody outside can implement: elements are read where a device says that they are.
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

/// What a device does: the devices are castiron's.
///
/// Nor has anybody outside a `View`, which these functions take and trust.
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

    /// Elements made on the host, on the device of another storage where the type does not say which. A device without data does not
    /// call `make`.
    fn build<E: Element>(
        beside: Option<&Self::Storage>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<Self::Storage>;
    /// `len` zeros, as [`build`](Self::build) has them.
    fn zeroed<E: Element>(beside: Option<&Self::Storage>, len: usize) -> Result<Self::Storage>;
    /// Whether the storage may be written: nobody else holds it, or it is borrowed for that.
    fn is_unique(storage: &mut Self::Storage) -> bool;
    /// What holds the elements of a view for one more tensor, and where in it the first is: the same storage, or, where that is
    /// borrowed, one with a copy of the elements at the same distances.
    fn share<E: Element>(view: View<'_, Self::Storage, E>) -> (Self::Storage, usize);
    /// [`share`](Self::share) for a view that reaches other elements of the storage than `view` does: of memory that others write
    /// while it is borrowed, lent or not, it is a copy of `view`'s own elements at the same distances.
    fn share_own<E: Element>(view: View<'_, Self::Storage, E>) -> Result<(Self::Storage, usize)>;
    /// The same storage, borrowed or not, for views to be made of it.
    ///
    /// # Safety
    /// It is closed before the views are given away, and these exist no longer than the memory is borrowed.
    unsafe fn lend(storage: &Self::Storage) -> Self::Storage;
    /// No more handles are given to borrowed memory.
    fn close(storage: &Self::Storage);
    /// The memory of a storage that nobody else holds, to be written where its elements are.
    ///
    /// # Safety
    /// As for `lend`, and what a view of it reaches is read and written through that view alone.
    unsafe fn window(storage: &mut Self::Storage) -> Self::Storage;
    /// Whether elements are written where they are, whatever their strides.
    fn is_fixed(storage: &Self::Storage) -> bool;
    /// How many elements the storage has room for; `None` where there are none.
    fn room<E: Element>(storage: &Self::Storage) -> Option<usize>;
    /// Whether the storage is that of so many elements and no more.
    fn holds<E: Element>(storage: &Self::Storage, len: usize) -> bool;
    /// Whether the two are the same storage.
    fn is_same(a: &Self::Storage, b: &Self::Storage) -> bool;

    /// The element of a zero-dim view.
    fn peek<E: Element>(view: View<'_, Self::Storage, E>) -> Result<E>;
    /// The same, where asking costs nothing; `None` where the element is out of the host's reach.
    fn peek_free<E: Element>(view: View<'_, Self::Storage, E>) -> Option<E>;
    /// All elements in row-major order; `None` where there are none to be had.
    fn download<E: Element>(view: View<'_, Self::Storage, E>) -> Result<Vec<E>>;
    /// Whether there is such an element. Without data: no.
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

    /// `kernel(a)` where the `len` elements of `a` lie side by side, and so do the results'.
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Self::Storage, A>,
        len: usize,
    ) -> Result<Self::Storage>;
    /// The same of two operands, both side by side.
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

    /// Where a view's first element is, in the device's own addresses.
    fn address<E: Element>(view: View<'_, Self::Storage, E>) -> *const E;
    /// An expression broadcast to `sizes`. The leaves of expressions hold addresses of elements of this device.
    ///
    /// # Safety
    /// The expression was made for these sizes, the tensors that it reads exist and nobody writes them; the strides leave no gaps.
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
    /// Each axis put together from stretches of the operand's; `fill` where they come from nowhere. The result is row-major.
    fn pick<E: Element>(a: View<'_, Self::Storage, E>, axes: &[Vec<Segment>], fill: E) -> Result<Self::Storage>;
    /// Pieces end to end along an axis, which they fill together; their other sizes are those of the result.
    fn join<E: Element>(
        pieces: &[View<'_, Self::Storage, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self::Storage>;
    /// Contiguous matrices with zeros where `low <= column - row <= high` does not hold.
    fn band<E: Element>(a: View<'_, Self::Storage, E>, low: isize, high: isize) -> Result<Self::Storage>;
    /// Runs a kernel on every row (the last axis, whose elements lie side by side) beside rows of the same length that all share; the
    /// result is row-major.
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, Self::Storage, A>,
        shared: [Option<View<'_, Self::Storage, A>>; 2],
    ) -> Result<Self::Storage>;
    /// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes (strides may be 0), and what it is added to; the result
    /// is row-major.
    fn matmul<E: Dtype>(
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage>;
    /// The same, each element of the result having gone through a function.
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, Self::Storage, E>,
        b: View<'_, Self::Storage, E>,
        added: Option<Added<'_, Self::Storage, E>>,
    ) -> Result<Self::Storage>;
    /// The product of `(m, k)`, `u8` or `i8`, and `(k, n)`, in `i32`; row-major.
    fn int_mm<E: Dtype>(a: View<'_, Self::Storage, E>, b: View<'_, Self::Storage, i8>) -> Result<Self::Storage>;

    /// The elements of `a` at the positions of the result, with the index in place of the position along the axis. The result
    /// has the sizes of `index`, which are no larger than those of `a` along the other axes; it is row-major. (A device without
    /// data checks no index.)
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, Self::Storage, E>,
        index: View<'_, Self::Storage, i64>,
    ) -> Result<Self::Storage>;
    /// Writes elements of `b` where the indices say; the last one stays where several go to one place. The sizes of `index` are
    /// no larger than those of `b`, nor than those of `out` along the other axes. Nothing is written if an index is out of range.
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()>;
    /// The same, `kernel(out, b)` being written: one after the other along the axis.
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, Self::Storage, i64>,
        b: View<'_, Self::Storage, E>,
        out: ViewMut<'_, Self::Storage, E>,
    ) -> Result<()>;
    /// The elements of `a` where the mask is true, in row-major order, and how many there are.
    fn compress<E: Element>(
        a: View<'_, Self::Storage, E>,
        mask: View<'_, Self::Storage, bool>,
    ) -> Result<(Self::Storage, usize)>;
    /// The values chosen by rank along an axis and their `i64` positions; row-major. `E` has an order; the order admits the
    /// axis, or the result is empty.
    fn order<E: Element>(order: Order, a: View<'_, Self::Storage, E>, axis: usize) -> Result<[Self::Storage; 2]>;
    /// Where the values would stand in the sorted lanes along the last axis, as `i64`; row-major. `E` has an order; leading
    /// sizes are the same.
    fn search<E: Element>(
        sorted: View<'_, Self::Storage, E>,
        values: View<'_, Self::Storage, E>,
        right: bool,
    ) -> Result<Self::Storage>;
}
