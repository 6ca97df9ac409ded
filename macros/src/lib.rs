//! The syntax of castiron's macros. The rules (what a shape is, how dims add, what promotes) live in `castiron`;
//! this crate only turns `shape![_, 384]` and `tensor![[1, 2], [3, 4]]` into types and calls.
//!
//! Each macro is documented where `castiron` re-exports it; `#[fallible]`, `#[composites]`, `#[operations]` and `named!` are for `castiron` alone.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

mod aliases;
mod composites;
mod dims;
mod each;
mod einsum;
mod fallible;
mod formula;
mod fused;
mod kernel;
mod literal;
mod module;
mod named;
mod operations;
mod reducer;
mod root;
mod signature;
mod slice;

/// A mistake in a macro's input: what rustc shows, and where.
struct Mistake {
    span: Span,
    message: String,
}

impl Mistake {
    fn at(span: Span, message: impl Into<String>) -> Self {
        Mistake { span, message: message.into() }
    }

    /// A `compile_error!("…")` at the position of the mistake.
    fn into_tokens(self) -> TokenStream {
        let spanned = |mut token: TokenTree| {
            token.set_span(self.span);
            token
        };
        let message = TokenStream::from(TokenTree::Literal(Literal::string(&self.message)));
        [
            spanned(TokenTree::Ident(Ident::new("compile_error", self.span))),
            spanned(TokenTree::Punct(Punct::new('!', Spacing::Alone))),
            spanned(TokenTree::Group(Group::new(Delimiter::Brace, message))),
        ]
        .into_iter()
        .collect()
    }
}

fn finish(result: Result<TokenStream, Mistake>) -> TokenStream {
    result.unwrap_or_else(Mistake::into_tokens)
}

/// Parses Rust source into tokens; identifiers resolve where the macro was called, `::castiron` is what [`root`] says.
fn tokens(source: &str) -> TokenStream {
    // The source is fixed text with numbers and identifiers inserted, so it always lexes.
    root::placed(source.parse().expect("castiron-macros wrote Rust that does not lex"))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_ident(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == wanted)
}

/// See `castiron::shape!`.
#[proc_macro]
pub fn shape(input: TokenStream) -> TokenStream {
    finish(root::called(input, dims::shape))
}

/// Adds the names PyTorch and NumPy have for a function, for searches: see `aliases`. (`#[fallible]` and `#[operations]` add them too.)
#[proc_macro_attribute]
pub fn aliased(_: TokenStream, function: TokenStream) -> TokenStream {
    aliases::aliased(function)
}

/// See `castiron::dim!`.
#[proc_macro]
pub fn dim(input: TokenStream) -> TokenStream {
    finish(root::called(input, dims::dim))
}

/// See `castiron::tensor!`.
#[proc_macro]
pub fn tensor(input: TokenStream) -> TokenStream {
    finish(root::called(input, literal::tensor))
}

/// See `castiron::s!`.
#[proc_macro]
pub fn s(input: TokenStream) -> TokenStream {
    finish(root::called(input, slice::slice))
}

/// See `castiron::fused!`.
#[proc_macro]
pub fn fused(input: TokenStream) -> TokenStream {
    finish(root::called(input, fused::fused))
}

/// See `castiron::formula`.
#[proc_macro_attribute]
pub fn formula(arguments: TokenStream, function: TokenStream) -> TokenStream {
    finish(root::named(arguments, |arguments| formula::formula(arguments, function)))
}

/// See `castiron::reducer`.
#[proc_macro_attribute]
pub fn reducer(arguments: TokenStream, block: TokenStream) -> TokenStream {
    finish(root::named(arguments, |arguments| reducer::reducer(arguments, block)))
}

/// See `castiron::cuda_kernel!`.
#[proc_macro]
pub fn cuda_kernel(input: TokenStream) -> TokenStream {
    finish(root::called(input, kernel::kernels))
}

/// See `castiron::einsum!`.
#[proc_macro]
pub fn einsum(input: TokenStream) -> TokenStream {
    finish(root::called(input, |input| einsum::einsum(input, false)))
}

/// See `castiron::try_einsum!`.
#[proc_macro]
pub fn try_einsum(input: TokenStream) -> TokenStream {
    finish(root::called(input, |input| einsum::einsum(input, true)))
}

/// Passes the rows of a table of operations on with the names of their methods added (see `named.rs`).
#[doc(hidden)]
#[proc_macro]
pub fn named(input: TokenStream) -> TokenStream {
    finish(named::named(input))
}

/// Methods of `AnyTensor`: attributes add to each its form by name, its in-place form and its mutable view (see `operations.rs`).
#[doc(hidden)]
#[proc_macro_attribute]
pub fn operations(name: TokenStream, input: TokenStream) -> TokenStream {
    finish(operations::operations(name, input))
}

/// Operations of both fronts, each a function over tensors whose shape is a value: the attributes of the function say what the methods
/// of `Tensor` and `AnyTensor` are (see `composites/mod.rs`).
#[doc(hidden)]
#[proc_macro_attribute]
pub fn composites(_: TokenStream, input: TokenStream) -> TokenStream {
    finish(composites::composites(input))
}

/// An operation that can fail while running, written once. The function returns `Result<T>`; of `cumprod` it makes
/// `try_cumprod`, and `cumprod`, which returns `T` or panics at the caller's line with the error.
///
/// The documentation is written for the panicking form. Its section `# Panics` says when the operation fails; a sentence that names the
/// other form is added to it. Free functions take `#[fallible(free)]`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn fallible(arguments: TokenStream, function: TokenStream) -> TokenStream {
    finish(fallible::fallible(arguments, function))
}

/// See `castiron::Module`.
#[proc_macro_derive(Module, attributes(module))]
pub fn module(input: TokenStream) -> TokenStream {
    finish(root::scoped(|| module::module(input)))
}
