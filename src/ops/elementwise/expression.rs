//! Expressions: trees of kernels over leaves, as types, so that a device compiles each tree into one loop.

use super::kernel::{Arity, Entry, Map1, Map2, Map3, Map4, Map5, Map6};
use crate::dtype::{DType, Element};
use crate::ops::lanes::LANES;
use crate::ops::record::kernel::{Kernel, Operand, Value};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Maximum rank.
pub const AXES: usize = 8;

/// Elements of a leaf gathered at a time.
pub const CHUNK: usize = 256;

/// Maximum chunk length of computed kernels.
pub const PIECE: usize = 1024;

/// A device's loops for kernels over contiguous elements.
pub trait Loops: Copy {
    /// `out = kernel(a)`
    ///
    /// # Safety
    /// There are `len` elements, and room for `len` results that nobody else accesses.
    unsafe fn one<K: Map1<A, O>, A: Element, O: Element>(self, kernel: &K, a: *const A, out: *mut O, len: usize);
    /// `out = kernel(a, b)`
    ///
    /// # Safety
    /// As above.
    unsafe fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
        self,
        kernel: &K,
        places: (*const A, *const B),
        out: *mut O,
        len: usize,
    );
}

/// A tree of kernels over leaves.
///
/// Kernels whose own loop is much faster than element-by-element evaluation (see [`Loops`]) are evaluated for a whole chunk in `places`.
///
/// # Safety
/// `get` reads only elements located by `places`.
pub unsafe trait Expression: Copy + Send + Sync + 'static {
    /// The type of the elements: a dtype, or `[O; N]` for several results of each.
    type Elem: Copy + Send + Sync + 'static;
    /// Buffers for gathered leaves.
    type Buffers;
    /// The location of a chunk's elements.
    type Places: Copy;
    /// Bytes read per element.
    const BYTES: usize;
    /// Bytes of the buffers for kernels evaluated in chunks, a multiple of cache lines.
    const COMPUTED: usize;

    /// Uninitialised buffers.
    fn buffers() -> Self::Buffers;
    /// Calls `see` with each leaf's strides, which it may change as long as they reach valid elements.
    fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES]));
    /// Advances each leaf along an axis.
    fn advance(&mut self, axis: usize, steps: usize);

    /// Locates `len` elements along the axis `along`, starting at `index`. Leaves that are not contiguous there are gathered, so `len` may
    /// exceed [`CHUNK`] only if all are contiguous; it may not exceed [`PIECE`] if any kernel is evaluated in chunks.
    ///
    /// # Safety
    /// All leaves have these elements, and `computed` points to [`COMPUTED`](Self::COMPUTED) bytes, aligned to a cache line. The result is
    /// valid as long as both buffers are.
    unsafe fn places<L: Loops>(
        &self,
        loops: L,
        buffers: &mut Self::Buffers,
        computed: *mut u8,
        index: &[usize; AXES],
        along: usize,
        len: usize,
    ) -> Self::Places;

    /// The elements of a chunk, contiguous: in place, or evaluated into `to`.
    ///
    /// # Safety
    /// `places` has located `len` elements, and `to` has room for them.
    #[inline(always)]
    unsafe fn side_by_side(self, places: Self::Places, to: *mut Self::Elem, len: usize) -> *const Self::Elem {
        for i in 0..len {
            // SAFETY: the caller's promise.
            unsafe { to.add(i).write(self.get(places, i)) }
        }
        to
    }

    /// Element `i` of a chunk.
    ///
    /// # Safety
    /// `places` has located it.
    unsafe fn get(self, places: Self::Places, i: usize) -> Self::Elem;

    /// An element as GPU text: leaves load it, kernels are described around their operands.
    fn text(&self, kernel: &mut Kernel) -> Value;
}

/// Elements in memory.
pub struct Leaf<E> {
    from: *const E,
    strides: [usize; AXES],
}
impl<E> Clone for Leaf<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Leaf<E> {}
// SAFETY: elements are only read, and the leaf's maker ensures that nobody writes them meanwhile.
unsafe impl<E: Sync> Send for Leaf<E> {}
// SAFETY: as above.
unsafe impl<E: Sync> Sync for Leaf<E> {}

impl<E> Leaf<E> {
    /// A leaf with these strides (0 beyond the rank). Its elements must be valid whenever the expression is run.
    pub(crate) fn new(from: *const E, strides: [usize; AXES]) -> Self {
        Leaf { from, strides }
    }
}

// SAFETY: `get` reads element `i` of the `len` that `places` has located or copied.
unsafe impl<E: Element> Expression for Leaf<E> {
    type Elem = E;
    type Buffers = [MaybeUninit<E>; CHUNK];
    type Places = *const E;
    const BYTES: usize = size_of::<E>();
    const COMPUTED: usize = 0;

    #[inline(always)]
    fn buffers() -> Self::Buffers {
        [const { MaybeUninit::uninit() }; CHUNK]
    }
    fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        see(&mut self.strides);
    }
    fn advance(&mut self, axis: usize, steps: usize) {
        self.from = self.from.wrapping_add(steps * self.strides[axis]);
    }
    #[inline(always)]
    unsafe fn places<L: Loops>(
        &self,
        _: L,
        buffers: &mut Self::Buffers,
        _: *mut u8,
        index: &[usize; AXES],
        along: usize,
        len: usize,
    ) -> *const E {
        let offset: usize = index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        let step = self.strides[along];
        // SAFETY: the caller's promise; `len` is at most `CHUNK` where elements are copied.
        unsafe {
            let from = self.from.add(offset);
            if step == 1 || len == 1 {
                return from;
            }
            debug_assert!(len <= CHUNK);
            let to: *mut E = buffers.as_mut_ptr().cast();
            if step == 0 {
                let element = from.read();
                for i in 0..len {
                    to.add(i).write(element);
                }
            } else {
                for i in 0..len {
                    to.add(i).write(from.add(i * step).read());
                }
            }
            to
        }
    }
    #[inline(always)]
    unsafe fn side_by_side(self, places: *const E, _: *mut E, _: usize) -> *const E {
        places
    }
    #[inline(always)]
    unsafe fn get(self, places: *const E, i: usize) -> E {
        // SAFETY: the caller's promise.
        unsafe { places.add(i).read() }
    }
    fn text(&self, kernel: &mut Kernel) -> Value {
        kernel.load(E::DTYPE, Operand { address: self.from.addr() as u64, strides: self.strides })
    }
}

/// The same value for all elements.
#[derive(Clone, Copy)]
pub struct Splat<E>(pub E);

// SAFETY: nothing is read.
unsafe impl<E: Element> Expression for Splat<E> {
    type Elem = E;
    type Buffers = ();
    type Places = ();
    const BYTES: usize = 0;
    const COMPUTED: usize = 0;

    fn buffers() {}
    fn strides(&mut self, _: &mut dyn FnMut(&mut [usize; AXES])) {}
    fn advance(&mut self, _: usize, _: usize) {}
    unsafe fn places<L: Loops>(&self, _: L, (): &mut (), _: *mut u8, _: &[usize; AXES], _: usize, _: usize) {}
    #[inline(always)]
    unsafe fn get(self, (): (), _: usize) -> E {
        self.0
    }
    fn text(&self, kernel: &mut Kernel) -> Value {
        kernel.parameter(self.0)
    }
}

/// Whether a kernel is a table row over `f16`: its compiled loop uses conversion instructions that plain Rust does not generate.
const fn is_half(entry: Option<Entry>) -> bool {
    const HALF: usize = DType::F16 as usize;
    const SINGLE: usize = DType::F32 as usize;
    match entry {
        Some(Entry { row, dtype, operands: Arity::Converted }) => {
            matches!((dtype, row), (DType::F16, SINGLE) | (DType::F32, HALF))
        }
        Some(Entry { dtype: DType::F16, .. }) => true,
        _ => false,
    }
}

/// Whether a kernel is an expensive table row over `bf16`: its compiled loop uses a rounding instruction where there is one.
const fn is_long_half(entry: Option<Entry>, is_compute_bound: bool) -> bool {
    is_compute_bound && matches!(entry, Some(Entry { dtype: DType::BF16, .. }))
}

/// Runs a kernel that takes elements side by side over a chunk. The last ones are repeated where fewer are left.
macro_rules! blocks {
    ($kernel:ident, $out:ident, $len:ident, $($x:ident),*) => {{
        let mut at = 0;
        while at < $len {
            let count = LANES.min($len - at);
            $(
                let $x = if count == LANES {
                    $x.add(at).cast::<[_; LANES]>().read_unaligned()
                } else {
                    core::array::from_fn(|lane| $x.add(at + lane.min(count - 1)).read())
                };
            )*
            let given = $kernel.block($($x),*);
            for (lane, given) in given.into_iter().enumerate().take(count) {
                $out.add(at + lane).write(given);
            }
            at += count;
        }
    }};
}

/// The results of a kernel with several.
pub trait Results: Copy + Send + Sync + 'static {}
impl<O: Element, const N: usize> Results for [O; N] {}

/// `Mapped2: Map2 -> Element (x: X 0, y: Y 1)` writes a kernel over two expressions, which is evaluated in chunks if `at_once`.
macro_rules! mapped {
    ($(
        $(#[$doc:meta])*
        $name:ident: $map:ident<$K:ident> -> $Of:ident ($($x:ident: $X:ident $at:tt),*), at_once $at_once:expr,
            |$loops:ident, $kernel:ident, $out:ident, $len:ident| $run:expr;
    )*) => {$(
        $(#[$doc])*
        pub struct $name<K, $($X,)* O> {
            kernel: K,
            $($x: $X,)*
            result: PhantomData<fn() -> O>,
        }
        impl<K, $($X,)* O> $name<K, $($X,)* O> {
            /// Applies the kernel element by element.
            pub fn new(kernel: K, $($x: $X),*) -> Self {
                $name { kernel, $($x,)* result: PhantomData }
            }
        }
        impl<$K: $map<$($X::Elem,)* O>, $($X: Expression<Elem: Element>,)* O: $Of> $name<$K, $($X,)* O> {
            const AT_ONCE: bool = $at_once;
        }
        impl<K: Copy, $($X: Copy,)* O> Clone for $name<K, $($X,)* O> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<K: Copy, $($X: Copy,)* O> Copy for $name<K, $($X,)* O> {}

        // SAFETY: the operands read only elements they have located, and a chunk has the requested length.
        unsafe impl<$K: $map<$($X::Elem,)* O>, $($X: Expression<Elem: Element>,)* O: $Of> Expression for $name<$K, $($X,)* O> {
            type Elem = O;
            type Buffers = ($($X::Buffers,)*);
            type Places = (($($X::Places,)*), *const O);
            const BYTES: usize = 0 $(+ $X::BYTES)*;
            const COMPUTED: usize =
                0 $(+ $X::COMPUTED)* + if Self::AT_ONCE { PIECE * (size_of::<O>() $(+ size_of::<$X::Elem>())*) } else { 0 };

            #[inline(always)]
            fn buffers() -> Self::Buffers {
                ($($X::buffers(),)*)
            }
            fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
                $(self.$x.strides(see);)*
            }
            fn advance(&mut self, axis: usize, steps: usize) {
                $(self.$x.advance(axis, steps);)*
            }
            #[inline(always)]
            unsafe fn places<L: Loops>(
                &self,
                $loops: L,
                buffers: &mut Self::Buffers,
                mut computed: *mut u8,
                index: &[usize; AXES],
                along: usize,
                $len: usize,
            ) -> Self::Places {
                // SAFETY: the caller's promise. Each part of the buffers has the size given by `COMPUTED`.
                unsafe {
                    $(
                        let $x = self.$x.places($loops, &mut buffers.$at, computed, index, along, $len);
                        computed = computed.add($X::COMPUTED);
                    )*
                    let operands = ($($x,)*);
                    if Self::AT_ONCE {
                        debug_assert!($len <= PIECE);
                        $(
                            let $x = self.$x.side_by_side(operands.$at, computed.cast(), $len);
                            computed = computed.add(PIECE * size_of::<$X::Elem>());
                        )*
                        let ($kernel, $out) = (&self.kernel, computed.cast::<O>());
                        $run;
                        (operands, $out)
                    } else {
                        (operands, core::ptr::null())
                    }
                }
            }
            #[inline(always)]
            unsafe fn side_by_side(self, places: Self::Places, to: *mut O, len: usize) -> *const O {
                if Self::AT_ONCE {
                    return places.1;
                }
                for i in 0..len {
                    // SAFETY: the caller's promise.
                    unsafe { to.add(i).write(self.get(places, i)) }
                }
                to
            }
            #[inline(always)]
            unsafe fn get(self, (places, computed): Self::Places, i: usize) -> O {
                // SAFETY: the caller's promise.
                unsafe {
                    if Self::AT_ONCE {
                        computed.add(i).read()
                    } else {
                        self.kernel.call($(self.$x.get(places.$at, i)),*)
                    }
                }
            }
            fn text(&self, kernel: &mut Kernel) -> Value {
                $(let $x = self.$x.text(kernel);)*
                self.kernel.text(kernel, $($x),*)
            }
        }
    )*};
}
mapped! {
    /// A function of one expression.
    Mapped1: Map1<K> -> Element (x: X 0), at_once K::BLOCKS || K::HAS_FAST_PATH || K::BY_LOOKUP || is_half(K::ENTRY) || is_long_half(K::ENTRY, K::IS_COMPUTE_BOUND), |loops, kernel, out, len| {
            if K::BLOCKS {
                blocks!(kernel, out, len, x);
            } else {
                loops.one(kernel, x, out, len);
            }
        };
    /// A function of two expressions.
    Mapped2: Map2<K> -> Element (x: X 0, y: Y 1), at_once K::BLOCKS || K::HAS_FAST_PATH || is_half(K::ENTRY), |loops, kernel, out, len| {
            if K::BLOCKS {
                blocks!(kernel, out, len, x, y);
            } else {
                loops.two(kernel, (x, y), out, len);
            }
        };
    /// A function of three expressions.
    Mapped3: Map3<K> -> Element (x: X 0, y: Y 1, z: Z 2), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z);
    /// A function of four expressions.
    Mapped4: Map4<K> -> Element (x: X 0, y: Y 1, z: Z 2, a: A 3), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a);
    /// A function of five expressions.
    Mapped5: Map5<K> -> Element (x: X 0, y: Y 1, z: Z 2, a: A 3, b: B 4), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a, b);
    /// A function of six expressions.
    Mapped6: Map6<K> -> Element (x: X 0, y: Y 1, z: Z 2, a: A 3, b: B 4, c: C 5), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a, b, c);
    /// A function of one expression with several results.
    Each1: Map1<K> -> Results (x: X 0), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x);
    /// A function of two expressions with several results.
    Each2: Map2<K> -> Results (x: X 0, y: Y 1), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y);
    /// A function of three expressions with several results.
    Each3: Map3<K> -> Results (x: X 0, y: Y 1, z: Z 2), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z);
    /// A function of four expressions with several results.
    Each4: Map4<K> -> Results (x: X 0, y: Y 1, z: Z 2, a: A 3), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a);
    /// A function of five expressions with several results.
    Each5: Map5<K> -> Results (x: X 0, y: Y 1, z: Z 2, a: A 3, b: B 4), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a, b);
    /// A function of six expressions with several results.
    Each6: Map6<K> -> Results (x: X 0, y: Y 1, z: Z 2, a: A 3, b: B 4, c: C 5), at_once K::BLOCKS, |_loops, kernel, out, len| blocks!(kernel, out, len, x, y, z, a, b, c);
}

#[cfg(test)]
mod memory {
    use super::Leaf;
    use core::cell::Cell;
    use static_assertions::{assert_impl_all, assert_not_impl_any};

    assert_impl_all!(Leaf<f32>: Send, Sync);
    // Leaves are read by several threads at once.
    assert_not_impl_any!(Leaf<Cell<f32>>: Send, Sync);
}
