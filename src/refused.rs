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

/// Methods of a feature that castiron is built without. Without them rustc would say that there is no such method, and suggest others.
///
/// For `fn load_npy(path) -> Result<Self>; fn save_npy(&self, path) -> Result<()>;` of the feature `npy` it writes
/// ```text
/// #[diagnostic::on_unimplemented(message = "castiron is built without its feature `npy`, …", …)]
/// pub trait Present { fn absent<T>() -> T; }
/// impl Tensor<E, S, D> {
///     pub fn load_npy(path: impl Sized) -> Result<Self> where Self: npy::Present { … }
/// }
/// ```
#[allow(unused_macros, reason = "with all features no method is absent")]
macro_rules! absent {
    ($feature:ident, $message:literal, $note:literal; $([$($generics:tt)*] $of:ty {
        $(fn $name:ident $([$($param:ident),+])? ($(& $this:ident)? $(;)? $($arg:ident),*) -> $result:ty;)*
    })+) => {
        mod $feature {
            #[diagnostic::on_unimplemented(message = $message, label = "this is of a feature that is not asked for", note = $note)]
            pub trait Present {
                fn absent<T>() -> T;
            }
        }
        $(#[doc(hidden)]
        impl<$($generics)*> $of {$(
            #[doc(hidden)]
            #[allow(clippy::missing_errors_doc, clippy::wrong_self_convention)]
            pub fn $name$(<$($param),+>)?($(&$this,)? $(_: $crate::refused::refused!(@argument $arg)),*) -> $result
            where
                Self: $feature::Present,
            {
                <Self as $feature::Present>::absent()
            }
        )*})+
    };
}
#[allow(unused_imports, reason = "likewise")]
pub(crate) use absent;
