//! Methods that exist to say why there are none.

/// For `softmax (axis) "a sparse tensor has no `softmax`";` it writes
/// ```text
/// mod softmax {
///     #[diagnostic::on_unimplemented(message = "a sparse tensor has no `softmax`", …)]
///     pub trait Method { fn refused(&self) -> Self; }
/// }
/// impl Tensor<E, S, D, SparseCoo<N>> {
///     pub fn softmax(&self, axis: impl Sized) -> Self where Self: softmax::Method { … }
/// }
/// ```
/// A condition that nothing fulfils is answered by its message, where an unknown method would be answered by names that look alike.
/// (The sentence is written out: an attribute takes no `concat!`.)
macro_rules! refused {
    ([$($generics:tt)*] $of:ty, $methods:ident, $label:literal, $note:literal;
     $($name:ident $([$($param:ident),+])? ($($arg:ident),*) $message:literal;)*) => {
        /// For each method the condition that is never fulfilled.
        mod $methods {$(
            pub mod $name {
                #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
                pub trait Method {
                    fn refused(&self) -> Self;
                }
            }
        )*}
        #[doc(hidden)]
        // (Names of operators are among them.)
        #[allow(clippy::should_implement_trait)]
        impl<$($generics)*> $of {$(
            #[doc(hidden)]
            pub fn $name$(<$($param),+>)?(&self $(, _: $crate::refused::refused!(@argument $arg))*) -> Self
            where
                Self: $methods::$name::Method,
            {
                <Self as $methods::$name::Method>::refused(self)
            }
        )*}
    };
    (@argument $arg:ident) => { impl Sized };
}
pub(crate) use refused;
