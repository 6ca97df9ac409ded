//! The forms of each method with a closure: plain, `try_` for closures that fail, `par_` on several threads, and both.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The first error of a closure, which is not called again.
pub(super) struct Failure<X> {
    has_failed: AtomicBool,
    first: Mutex<Option<X>>,
}

impl<X> Failure<X> {
    pub(super) fn new() -> Self {
        Failure { has_failed: AtomicBool::new(false), first: Mutex::new(None) }
    }
    /// What the closure returns; something of no meaning after an error.
    #[inline]
    pub(super) fn keep<O: Default>(&self, call: impl FnOnce() -> Result<O, X>) -> O {
        if self.has_failed.load(Ordering::Relaxed) {
            return O::default();
        }
        match call() {
            Ok(value) => value,
            Err(error) => {
                self.fail(error);
                O::default()
            }
        }
    }
    #[cold]
    fn fail(&self, error: X) {
        self.has_failed.store(true, Ordering::Relaxed);
        let later = {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() { first.replace(error) } else { Some(error) }
        };
        // A value of the user's, dropped after the lock is released.
        drop(later);
    }
    /// The error, or what was computed.
    pub(super) fn or<T>(self, computed: crate::error::Result<T>) -> Result<T, X>
    where
        X: From<crate::Error>,
    {
        match self.first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(computed?),
        }
    }
}

/// Writes the four forms of each row. For
/// ```text
/// map try_map par_map try_par_map [O: Element,] () (E) -> O [] => Tensor<O, S, D>, |item: (E,)| (item.0), |this, op, closure| …;
/// ```
/// it writes `map(&self, f: impl FnMut(E) -> O) -> Tensor<O, S, D>`, `try_map(&self, f: impl FnMut(E) -> Result<O, X>) ->
/// Result<Tensor<O, S, D>, X>`, and `par_map`, `try_par_map` of `f: impl Fn(…) + Sync`. The page of documentation shows the first.
macro_rules! forms {
    ($(
        $(#[$doc:meta])*
        $name:ident $try_name:ident $par_name:ident $try_par_name:ident [$($generics:tt)*] ($($arg:ident: $argty:ty),*)
        ($($in:ty),*) -> $out:ty [$($bounds:tt)*] => $result:ty,
        |$item:ident: $itemty:ty| ($($given:expr),*), |$this:ident, $op:ident, $closure:ident| $body:expr;
    )*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<$($generics)*>(&self $(, $arg: $argty)*, mut f: impl FnMut($($in),*) -> $out) -> $result
        where
            D: HostClosures,
            $($bounds)*
        {
            let mut called = |$item: $itemty| f($($given),*);
            let ($this, $op, $closure) = (self, stringify!($name), Alone(&mut called));
            crate::error::unwrap($body)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a closure that fails: gives its first error.")]
        ///
        /// # Errors
        /// Those of the closure, and castiron's.
        #[cfg_attr(doc, doc(hidden))]
        pub fn $try_name<$($generics)* X: ClosureError>(
            &self $(, $arg: $argty)*, mut f: impl FnMut($($in),*) -> core::result::Result<$out, X>,
        ) -> core::result::Result<$result, X>
        where
            D: HostClosures,
            $($bounds)*
        {
            let failure = Failure::new();
            let mut called = |$item: $itemty| failure.keep(|| f($($given),*));
            let ($this, $op, $closure) = (self, stringify!($name), Alone(&mut called));
            let computed = $body;
            failure.or(computed)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") on several threads.")]
        ///
        /// # Panics
        /// As there.
        #[cfg_attr(doc, doc(hidden))]
        #[track_caller]
        pub fn $par_name<$($generics)*>(&self $(, $arg: $argty)*, f: impl Fn($($in),*) -> $out + Sync) -> $result
        where
            D: HostClosures,
            $($bounds)*
        {
            let called = |$item: $itemty| f($($given),*);
            let ($this, $op, $closure) = (self, stringify!($name), Shared(&called));
            crate::error::unwrap($body)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") on several threads, of a closure that fails: gives one of its errors.")]
        ///
        /// # Errors
        /// Those of the closure, and castiron's.
        #[cfg_attr(doc, doc(hidden))]
        pub fn $try_par_name<$($generics)* X: ClosureError + Send>(
            &self $(, $arg: $argty)*, f: impl Fn($($in),*) -> core::result::Result<$out, X> + Sync,
        ) -> core::result::Result<$result, X>
        where
            D: HostClosures,
            $($bounds)*
        {
            let failure = Failure::new();
            let called = |$item: $itemty| failure.keep(|| f($($given),*));
            let ($this, $op, $closure) = (self, stringify!($name), Shared(&called));
            let computed = $body;
            failure.or(computed)
        }
    )*};
}
pub(super) use forms;

/// The same for methods that write in place, of a tensor and of a mutable view. What fails changes nothing: `try_map_` writes a copy, which
/// then takes the place.
macro_rules! forms_in_place {
    (@ {
        $(#[$doc:meta])*
        $name:ident $try_name:ident $par_name:ident $try_par_name:ident [$($generics:tt)*] ($($arg:ident: $argty:ty),*)
        ($($in:ty),*) -> $out:ty [$($bounds:tt)*],
        |$item:ident: $itemty:ty| ($($given:expr),*), |$this:ident, $op:ident, $closure:ident| $body:expr
    }) => {
        $(#[$doc])*
        #[track_caller]
        pub fn $name<$($generics)*>(&mut self $(, $arg: $argty)*, mut f: impl FnMut($($in),*) -> $out) -> &mut Self
        where
            D: HostClosures,
            $($bounds)*
        {
            let mut called = |$item: $itemty| f($($given),*);
            let ($this, $op, $closure) = (self.target(), stringify!($name), Alone(&mut called));
            crate::error::unwrap($body);
            self
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a closure that fails: then nothing is changed.")]
        ///
        /// # Errors
        /// The closure's first, or castiron's.
        #[cfg_attr(doc, doc(hidden))]
        pub fn $try_name<$($generics)* X: ClosureError>(
            &mut self $(, $arg: $argty)*, mut f: impl FnMut($($in),*) -> core::result::Result<$out, X>,
        ) -> core::result::Result<&mut Self, X>
        where
            D: HostClosures,
            $($bounds)*
        {
            let failure = Failure::new();
            let mut called = |$item: $itemty| failure.keep(|| f($($given),*));
            let mut copy = self.target().clone();
            let ($this, $op, $closure) = (&mut copy, stringify!($name), Alone(&mut called));
            let computed = $body;
            failure.or(computed)?;
            self.target().replace(copy)?;
            Ok(self)
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") on several threads.")]
        ///
        /// # Panics
        /// As there.
        #[cfg_attr(doc, doc(hidden))]
        #[track_caller]
        pub fn $par_name<$($generics)*>(&mut self $(, $arg: $argty)*, f: impl Fn($($in),*) -> $out + Sync) -> &mut Self
        where
            D: HostClosures,
            $($bounds)*
        {
            let called = |$item: $itemty| f($($given),*);
            let ($this, $op, $closure) = (self.target(), stringify!($name), Shared(&called));
            crate::error::unwrap($body);
            self
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") on several threads, of a closure that fails: then nothing is changed.")]
        ///
        /// # Errors
        /// One of the closure's, or castiron's.
        #[cfg_attr(doc, doc(hidden))]
        pub fn $try_par_name<$($generics)* X: ClosureError + Send>(
            &mut self $(, $arg: $argty)*, f: impl Fn($($in),*) -> core::result::Result<$out, X> + Sync,
        ) -> core::result::Result<&mut Self, X>
        where
            D: HostClosures,
            $($bounds)*
        {
            let failure = Failure::new();
            let called = |$item: $itemty| failure.keep(|| f($($given),*));
            let mut copy = self.target().clone();
            let ($this, $op, $closure) = (&mut copy, stringify!($name), Shared(&called));
            let computed = $body;
            failure.or(computed)?;
            self.target().replace(copy)?;
            Ok(self)
        }
    };
    ($($row:tt)*) => {
        /// Closures that write in place.
        #[allow(clippy::unused_unit, reason = "what a closure returns is a column")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(forms_in_place!(@ $row);)*
        }
        /// Closures that write where the elements are, as those of [`Tensor`].
        #[allow(clippy::unused_unit, reason = "what a closure returns is a column")]
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
            $(forms_in_place!(@ $row);)*
        }
    };
}
pub(super) use forms_in_place;
