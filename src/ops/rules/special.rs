//! What is special about a row of the tables: its last column, where it has one. Code asks for these and never for a name.
//!
//! Uses nothing; read by the checks of operands in `tensor` and `any`.

/// Writes the struct, of which a row names the fields that hold of it.
macro_rules! specials {
    ($($(#[$doc:meta])* $special:ident;)*) => {
        /// What is special about an operation.
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
    /// The scalar on the right is an exponent: where integers are raised to it, it must not be negative. (Tensors of exponents may
    /// hold negative ones.)
    raises_to_scalar;
    /// A scalar on the left may change places with the tensor on the right.
    commutes;
    /// It takes one or two machine instructions, so that few elements are computed where they are, without a call.
    is_brief;
    /// Complex elements stay where they are and are marked as conjugate.
    marks_conjugates;
    /// Of real elements it is the tensor itself.
    keeps_reals;
    /// It holds of every real number, whatever that is.
    holds_of_reals;
    /// It holds of every integer.
    holds_of_integers;
    /// It holds of no integer.
    fails_of_integers;
    /// Its result is not written into outputs of shell dtypes.
    refuses_shell_outputs;
}
