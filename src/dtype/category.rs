//! The four categories of dtypes, as values and as types, and their order:
//! boolean < integral < floating < complex (PyTorch, "Tensor Attributes").

use crate::sealed::Sealed;

/// A dtype's category. `Ord` follows PyTorch: `Boolean < Integral < Floating < Complex`.
///
/// ```
/// use castiron::{Category, DType};
/// assert!(Category::Integral < Category::Floating);
/// assert_eq!(DType::C64.category(), Category::Complex);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// `bool`
    Boolean,
    /// the integers
    Integral,
    /// the real floating-point dtypes
    Floating,
    /// the complex dtypes
    Complex,
}

/// A category as a type: [`Element::Category`](crate::Element::Category).
pub trait Marker: Sealed + 'static {
    /// The same category as a value.
    const CATEGORY: Category;
}

/// "My category is not above `Other`": the rule of implicit casts.
pub trait NotAbove<Other>: Marker {}

/// Declares the markers, lowest first. For `A < B` it writes `impl NotAbove<A> for A`,
/// `impl NotAbove<B> for A` and `impl NotAbove<B> for B`.
macro_rules! markers {
    ($lowest:ident $(, $higher:ident)*) => {
        #[doc = concat!("The category [`Category::", stringify!($lowest), "`] as a type.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $lowest;
        impl crate::sealed::Sealed for $lowest {}
        impl Marker for $lowest {
            const CATEGORY: Category = Category::$lowest;
        }
        impl NotAbove<$lowest> for $lowest {}
        $(impl NotAbove<$higher> for $lowest {})*
        $crate::dtype::category::markers!($($higher),*);
    };
    () => {};
}
pub(crate) use markers;

markers!(Boolean, Integral, Floating, Complex);
