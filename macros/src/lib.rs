//! The syntax of castiron's macros. The rules (what a shape is, how dims add, what promotes) live in `castiron`;
//! this crate only turns `shape![_, 384]` and `tensor![[1, 2], [3, 4]]` into types and calls.
//!
//! Each macro is documented where `castiron` re-exports it.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

mod dims;
mod fused;
mod literal;
mod operations;
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

    /// `compile_error!("…")` at the place of the mistake.
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

/// A piece of Rust source as tokens, identifiers resolving where the macro was called.
fn tokens(source: &str) -> TokenStream {
    // What this crate writes is fixed text around numbers and identifiers, so it lexes.
    source.parse().expect("castiron-macros wrote Rust that does not lex")
}

/// See `castiron::shape!`.
#[proc_macro]
pub fn shape(input: TokenStream) -> TokenStream {
    finish(dims::shape(input))
}

/// See `castiron::dim!`.
#[proc_macro]
pub fn dim(input: TokenStream) -> TokenStream {
    finish(dims::dim(input))
}

/// See `castiron::tensor!`.
#[proc_macro]
pub fn tensor(input: TokenStream) -> TokenStream {
    finish(literal::tensor(input))
}

/// See `castiron::s!`.
#[proc_macro]
pub fn s(input: TokenStream) -> TokenStream {
    finish(slice::slice(input))
}

/// See `castiron::fused!`.
#[proc_macro]
pub fn fused(input: TokenStream) -> TokenStream {
    finish(fused::fused(input))
}

/// For the run-time operations of `castiron`: see `operations.rs`.
#[proc_macro_attribute]
pub fn operations(name: TokenStream, input: TokenStream) -> TokenStream {
    finish(operations::operations(name, input))
}
