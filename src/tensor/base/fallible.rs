//! `fallible!`, the macro that writes a method and its `try_` twin. Used by files whose methods come in such pairs.

/// Writes a method and its `try_` twin, for `flip` those of these names. The second list repeats the generic parameters by
/// name.
macro_rules! fallible {
    ($($(#[$doc:meta])* $name:ident $try:ident <$({$($generic:tt)*} $given:tt),*>(&$this:ident $(, $arg:ident: $ty:ty)*) -> $out:ty where [$($bound:tt)*] $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        #[doc = concat!("Where [`", stringify!($try), "`](Self::", stringify!($try), ") returns an error.")]
        #[track_caller]
        pub fn $name<$($($generic)*),*>(&self $(, $arg: $ty)*) -> $out
        where
            $($bound)*
        {
            $crate::error::unwrap(self.$try::<$($given),*>($($arg),*))
        }

        #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
        pub fn $try<$($($generic)*),*>(&$this $(, $arg: $ty)*) -> $crate::error::Result<$out>
        where
            $($bound)*
        $body
    )*};
}
pub(crate) use fallible;
