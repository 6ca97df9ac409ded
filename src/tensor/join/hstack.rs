//! `hstack`, `vstack`, `dstack`, `column_stack`: `cat` of tensors after axes are added; and `atleast_1d`, `atleast_2d`, `atleast_3d`, which
//! add them.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::sealed::Sealed;
use crate::shape::{Along0, Along1, Along2, AsColumns, AtLeast, AtLeast1, AtLeast2, AtLeast3, Shape, SizeArray};
use crate::tensor::Tensor;
use crate::tensor::join::cat_stack::Joined;
use crate::tensor::join::pieces::Piece;
use castiron_macros::fallible;

type With<P, Rule> = Tensor<<P as Piece>::Elem, <<P as Piece>::Shape as AtLeast<Rule>>::Output, <P as Piece>::Device>;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A view of the tensor with axes added by a rule.
    fn at_least<Rule>(&self) -> Tensor<E, <S as AtLeast<Rule>>::Output, D>
    where
        S: AtLeast<Rule>,
    {
        type Sizes<S, Rule> = <<S as AtLeast<Rule>>::Output as Shape>::Sizes;
        let (mut sizes, mut strides) = (Sizes::<S, Rule>::filled(1), Sizes::<S, Rule>::filled(1));
        let own = <S as AtLeast<Rule>>::FIRST..<S as AtLeast<Rule>>::FIRST + S::RANK;
        sizes.as_mut()[own.clone()].copy_from_slice(self.shape().as_ref());
        strides.as_mut()[own].copy_from_slice(self.stride().as_ref());
        self.restrided(0, sizes, strides)
    }
}

/// Writes the methods that add axes.
macro_rules! at_least {
    ($($(#[$doc:meta])* $name:ident $rule:ident;)*) => {
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            $(#[$doc])*
            pub fn $name(&self) -> Tensor<E, <S as AtLeast<$rule>>::Output, D>
            where
                S: AtLeast<$rule>,
            {
                self.at_least::<$rule>()
            }
        )*}
    };
}
at_least! {
    /// A zero-dim tensor as a vector of one element; others unchanged (`torch.atleast_1d`).
    ///
    /// ```
    /// # use castiron::Tensor;
    /// assert_eq!(Tensor::<i64, ()>::scalar(1).atleast_1d().shape(), [1]);
    /// ```
    atleast_1d AtLeast1;
    /// A vector as a row, a zero-dim tensor as a matrix of one element; others unchanged (`torch.atleast_2d`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2].atleast_2d().shape(), [1, 2]);
    /// ```
    atleast_2d AtLeast2;
    /// A matrix with a third axis of size 1, a vector with one on either side; others unchanged (`torch.atleast_3d`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2].atleast_3d().shape(), [1, 2, 1]);
    /// ```
    atleast_3d AtLeast3;
}

/// Tensors that [`hstack`], [`vstack`] and so on join: a tuple of up to eight, or a slice, array or vector of one type. `Rule` says which
/// axes are added first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors that can be joined",
    label = "expected a tuple such as `(&a, &b)`, or a slice or vector of tensors of one type"
)]
pub trait Reshaped<Rule>: Sealed {
    /// The tensors with these axes.
    type Pieces;
    /// The axis along which they are joined.
    type Along;
    #[doc(hidden)]
    fn pieces(self) -> Self::Pieces;
}
macro_rules! tuples {
    ($([$first:ident $($rest:ident)+];)*) => {$(
        #[allow(non_snake_case)]
        impl<Rule, $first: Piece, $($rest: Piece),+> Reshaped<Rule> for ($first, $($rest),+)
        where
            $first::Shape: AtLeast<Rule>,
            $($rest::Shape: AtLeast<Rule>),+
        {
            type Pieces = (With<$first, Rule>, $(With<$rest, Rule>),+);
            type Along = <$first::Shape as AtLeast<Rule>>::Along;
            fn pieces(self) -> Self::Pieces {
                let ($first, $($rest),+) = &self;
                ($first.tensor().at_least(), $($rest.tensor().at_least()),+)
            }
        }
    )*};
}
tuples! {
    [A B]; [A B C]; [A B C F]; [A B C F G]; [A B C F G H]; [A B C F G H J]; [A B C F G H J K];
}
macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<Rule, P: Piece, $($generics)*> Reshaped<Rule> for $list
        where
            P::Shape: AtLeast<Rule>,
        {
            type Pieces = Vec<With<P, Rule>>;
            type Along = <P::Shape as AtLeast<Rule>>::Along;
            fn pieces(self) -> Self::Pieces {
                self.iter().map(|piece| piece.tensor().at_least()).collect()
            }
        }
    )*};
}
lists! {
    [] &[P];
    [] &Vec<P>;
    [] Vec<P>;
    [const N: usize] [P; N];
    [const N: usize] &[P; N];
}

/// Joins tensors along the axis of the type.
pub trait JoinAlong<Pieces> {
    type Elem: Element;
    type Shape: Shape;
    type Device: Device;
    fn join(pieces: Pieces) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>>;
}
macro_rules! along {
    ($($marker:ident $axis:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Pieces: Joined<$axis>> JoinAlong<Pieces> for $marker {
            type Elem = Pieces::Elem;
            type Shape = Pieces::Shape;
            type Device = Pieces::Device;
            fn join(pieces: Pieces) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>> {
                pieces.join()
            }
        }
    )*};
}
along! { Along0 0; Along1 1; Along2 2; }

type Stack<L, Rule> = Tensor<
    <<L as Reshaped<Rule>>::Along as JoinAlong<<L as Reshaped<Rule>>::Pieces>>::Elem,
    <<L as Reshaped<Rule>>::Along as JoinAlong<<L as Reshaped<Rule>>::Pieces>>::Shape,
    <<L as Reshaped<Rule>>::Along as JoinAlong<<L as Reshaped<Rule>>::Pieces>>::Device,
>;

/// Writes a function that joins tensors after axes are added by a rule.
macro_rules! stacks {
    ($($(#[$doc:meta])* $name:ident $rule:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If sizes known at run time differ or memory runs out.
        #[fallible(free)]
        pub fn $name<L: Reshaped<$rule>>(tensors: L) -> Result<Stack<L, $rule>>
        where
            L::Along: JoinAlong<L::Pieces>,
        {
            <L::Along as JoinAlong<L::Pieces>>::join(tensors.pieces()).map_err(|error| match error {
                Error::Join { first, other, axis, .. } => Error::Join { op: stringify!($name), first, other, axis },
                error => error,
            })
        }
    )*};
}
stacks! {
    /// Joins tensors from left to right (`torch.hstack`): vectors along axis 0, others along axis 1. Zero-dim tensors count as vectors of
    /// one element. Dtypes promote, and for a tuple the type has the sum of sizes, as in [`cat`](crate::cat).
    ///
    /// ```
    /// use castiron::{hstack, shape, tensor, Tensor};
    /// let x: Tensor<i64, shape![2, 3]> = hstack((tensor![[1], [2]], tensor![[3, 4], [5, 6]]));
    /// assert_eq!(x.to_vec(), [1, 3, 4, 2, 5, 6]);
    /// assert_eq!(hstack((tensor![1, 2], tensor![3])).to_vec(), [1, 2, 3]);
    /// ```
    hstack AtLeast1;
    /// Joins tensors from top to bottom, along axis 0 (`torch.vstack`). Vectors count as rows. Dtypes promote, and for a tuple the type has
    /// the sum of sizes, as in [`cat`](crate::cat).
    ///
    /// ```
    /// use castiron::{shape, tensor, vstack, Tensor};
    /// let x: Tensor<i64, shape![3, 2]> = vstack((tensor![1, 2], tensor![[3, 4], [5, 6]]));
    /// assert_eq!(x.to_vec(), [1, 2, 3, 4, 5, 6]);
    /// ```
    vstack AtLeast2;
    /// Joins tensors from front to back, along axis 2 (`torch.dstack`). A vector of size `n` counts as `(1, n, 1)`, a matrix as `(m, n,
    /// 1)`. Dtypes promote, and for a tuple the type has the sum of sizes, as in [`cat`](crate::cat).
    ///
    /// ```
    /// use castiron::{dstack, shape, tensor, Tensor};
    /// let x: Tensor<i64, shape![1, 2, 2]> = dstack((tensor![1, 2], tensor![3, 4]));
    /// assert_eq!(x.to_vec(), [1, 3, 2, 4]);
    /// ```
    dstack AtLeast3;
    /// Joins tensors along axis 1, vectors being columns (`torch.column_stack`). Dtypes promote, and for a tuple the type has the sum of
    /// sizes, as in [`cat`](crate::cat).
    ///
    /// ```
    /// use castiron::{column_stack, shape, tensor, Tensor};
    /// let x: Tensor<i64, shape![2, 2]> = column_stack((tensor![1, 2], tensor![3, 4]));
    /// assert_eq!(x.to_vec(), [1, 3, 2, 4]);
    /// ```
    column_stack AsColumns;
}
