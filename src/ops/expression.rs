//! Expressions: kernels over kernels over leaves, as a device runs them. The tree is a type, so that the whole of it is
//! compiled into one loop.
//!
//! Uses the kernels; used by devices (which run expressions) and by lazy tensors (which build them).

use super::kernel::{Map1, Map2, Map3};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The greatest number of axes.
pub const AXES: usize = 8;

/// Elements of a leaf brought side by side at once.
pub const CHUNK: usize = 256;

/// What an expression's elements are computed from and how.
///
/// # Safety
/// `get` reads only what `places` has found.
pub unsafe trait Expression: Copy + Send + Sync {
    /// The type of the elements.
    type Elem: Copy;
    /// Room for elements brought side by side.
    type Room;
    /// Where the elements of a piece are.
    type Places: Copy;
    /// The bytes read for each element.
    const BYTES: usize;

    /// Room, not yet filled.
    fn room() -> Self::Room;
    /// Shows each leaf's strides, which must stay those of valid elements.
    fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES]));
    /// Starts each leaf so many steps further along an axis.
    fn advance(&mut self, axis: usize, steps: usize);

    /// Where `len` elements along the axis `along` are, the first of them at `index`. Leaves whose elements do not lie side by
    /// side there are copied into the room, so `len` may exceed [`CHUNK`] only if all do.
    ///
    /// # Safety
    /// All leaves have elements at these places. What is returned is valid as long as the room is where it is.
    unsafe fn places(&self, room: &mut Self::Room, index: &[usize; AXES], along: usize, len: usize) -> Self::Places;

    /// Element `i` of a piece.
    ///
    /// # Safety
    /// `places` has found it.
    unsafe fn get(self, places: Self::Places, i: usize) -> Self::Elem;
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
// SAFETY: elements are read only, and whoever made the leaf sees to it that nobody writes them meanwhile.
unsafe impl<E: Sync> Send for Leaf<E> {}
// SAFETY: as above.
unsafe impl<E: Sync> Sync for Leaf<E> {}

impl<E> Leaf<E> {
    /// The elements that the strides (those of axes beyond the rank being 0) reach from `from`. They must be valid whenever
    /// the expression is run.
    pub(crate) fn new(from: *const E, strides: [usize; AXES]) -> Self {
        Leaf { from, strides }
    }
}

// SAFETY: `get` reads element `i` of the `len` that `places` has checked or copied.
unsafe impl<E: Copy + Send + Sync> Expression for Leaf<E> {
    type Elem = E;
    type Room = [MaybeUninit<E>; CHUNK];
    type Places = *const E;
    const BYTES: usize = size_of::<E>();

    #[inline(always)]
    fn room() -> Self::Room {
        [const { MaybeUninit::uninit() }; CHUNK]
    }
    fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        see(&mut self.strides);
    }
    fn advance(&mut self, axis: usize, steps: usize) {
        self.from = self.from.wrapping_add(steps * self.strides[axis]);
    }
    #[inline(always)]
    unsafe fn places(&self, room: &mut Self::Room, index: &[usize; AXES], along: usize, len: usize) -> *const E {
        let offset: usize = index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        let step = self.strides[along];
        // SAFETY: the caller's promise; `len` is at most `CHUNK` where elements are copied.
        unsafe {
            let from = self.from.add(offset);
            if step == 1 || len == 1 {
                return from;
            }
            debug_assert!(len <= CHUNK);
            let to: *mut E = room.as_mut_ptr().cast();
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
    unsafe fn get(self, places: *const E, i: usize) -> E {
        // SAFETY: the caller's promise.
        unsafe { places.add(i).read() }
    }
}

/// The same value everywhere.
#[derive(Clone, Copy)]
pub struct Same<E>(pub E);

// SAFETY: nothing is read.
unsafe impl<E: Copy + Send + Sync> Expression for Same<E> {
    type Elem = E;
    type Room = ();
    type Places = ();
    const BYTES: usize = 0;

    fn room() {}
    fn strides(&mut self, _: &mut dyn FnMut(&mut [usize; AXES])) {}
    fn advance(&mut self, _: usize, _: usize) {}
    unsafe fn places(&self, (): &mut (), _: &[usize; AXES], _: usize, _: usize) {}
    #[inline(always)]
    unsafe fn get(self, (): (), _: usize) -> E {
        self.0
    }
}

/// For `Mapped2: Map2 (x: X 0, y: Y 1)` it writes a kernel over two expressions.
macro_rules! mapped {
    ($($(#[$doc:meta])* $name:ident: $map:ident ($($x:ident: $X:ident $at:tt),*);)*) => {$(
        $(#[$doc])*
        pub struct $name<K, $($X,)* O> {
            kernel: K,
            $($x: $X,)*
            result: PhantomData<fn() -> O>,
        }
        impl<K, $($X,)* O> $name<K, $($X,)* O> {
            /// The kernel's results, element by element.
            pub fn new(kernel: K, $($x: $X),*) -> Self {
                $name { kernel, $($x,)* result: PhantomData }
            }
        }
        impl<K: Copy, $($X: Copy,)* O> Clone for $name<K, $($X,)* O> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<K: Copy, $($X: Copy,)* O> Copy for $name<K, $($X,)* O> {}

        // SAFETY: the operands read only what they have found.
        unsafe impl<K: $map<$($X::Elem,)* O>, $($X: Expression,)* O: Copy> Expression for $name<K, $($X,)* O> {
            type Elem = O;
            type Room = ($($X::Room,)*);
            type Places = ($($X::Places,)*);
            const BYTES: usize = 0 $(+ $X::BYTES)*;

            #[inline(always)]
            fn room() -> Self::Room {
                ($($X::room(),)*)
            }
            fn strides(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
                $(self.$x.strides(see);)*
            }
            fn advance(&mut self, axis: usize, steps: usize) {
                $(self.$x.advance(axis, steps);)*
            }
            #[inline(always)]
            unsafe fn places(&self, room: &mut Self::Room, index: &[usize; AXES], along: usize, len: usize) -> Self::Places {
                // SAFETY: the caller's promise.
                unsafe { ($(self.$x.places(&mut room.$at, index, along, len),)*) }
            }
            #[inline(always)]
            unsafe fn get(self, places: Self::Places, i: usize) -> O {
                // SAFETY: the caller's promise.
                unsafe { self.kernel.call($(self.$x.get(places.$at, i)),*) }
            }
        }
    )*};
}
mapped! {
    /// A function of one expression.
    Mapped1: Map1 (x: X 0);
    /// A function of two expressions.
    Mapped2: Map2 (x: X 0, y: Y 1);
    /// A function of three expressions.
    Mapped3: Map3 (x: X 0, y: Y 1, z: Z 2);
}
