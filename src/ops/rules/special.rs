//! Special properties of a row of the tables: its optional last column. Code tests for these, never for a name.

/// Writes the struct; a row names the fields that are true.
macro_rules! specials {
    ($($(#[$doc:meta])* $special:ident;)*) => {
        /// Special properties of an operation.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Specials {
            $($(#[$doc])* pub $special: bool,)*
        }
        impl Specials {
            /// Nothing.
            pub const NONE: Specials = Specials { $($special: false),* };
        }
    };
}
specials! {
    /// The scalar on the right is an exponent, which must not be negative for integer bases. (Tensors of exponents may be negative.)
    raises_to_scalar;
    /// A scalar left operand may be swapped with the tensor on the right.
    commutes;
    /// It is one or two machine instructions, so that a few elements are computed without calling a loop.
    is_brief;
    /// Complex elements are not touched, only marked as conjugate.
    marks_conjugates;
    /// Returns real tensors unchanged.
    keeps_reals;
    /// `true` for every real input.
    holds_of_reals;
    /// `true` for every integer input.
    holds_of_integers;
    /// `false` for every integer input.
    fails_of_integers;
    /// Its result cannot be written to outputs of shell dtypes.
    refuses_shell_outputs;
    /// What it gives for a sum is the sum of what it gives for each term: it may be applied to the parts of a sum that is not put together yet.
    linear;
    /// Of two operands: what it gives for two sums is the sum of what it gives for their terms, pair by pair.
    additive;
    /// Of two operands: it is linear in each.
    bilinear;
    /// Of two operands: it is linear in the first.
    linear_in_first;
}
