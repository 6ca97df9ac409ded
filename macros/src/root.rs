//! Where the code that a macro writes finds castiron: macros write `::castiron::…`, and this puts another path in its place.
//!
//! Macros that are called (`shape!`) are shells of castiron's, which hand on `$crate` as the first token: that is castiron under whatever name
//! a program has for it, also where another crate re-exports it. Attributes and derives can't have shells: they take `crate = "path"`.

use crate::{Mistake, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};
use std::cell::{Cell, RefCell};

thread_local! {
    /// What stands in place of `::castiron`.
    static ROOT: RefCell<Option<TokenStream>> = const { RefCell::new(None) };
    /// The span of what a macro behind a shell writes.
    static SITE: Cell<Option<Span>> = const { Cell::new(None) };
}

/// Forgets the root at the end of a macro: its tokens mean nothing to the next one.
struct Forgetting;
impl Drop for Forgetting {
    fn drop(&mut self) {
        ROOT.set(None);
        SITE.set(None);
    }
}

/// A macro that may call [`set`].
pub(super) fn scoped<T>(write: impl FnOnce() -> T) -> T {
    let _forgetting = Forgetting;
    write()
}

/// A macro whose input begins with `$crate`.
///
/// What it writes is as if the shell had written it: with one span for all of it, `$crate` included. Else parts of one expression are of two
/// expansions, and rustc reports an error once for each.
pub(super) fn called(
    input: TokenStream,
    write: impl FnOnce(TokenStream) -> Result<TokenStream, Mistake>,
) -> Result<TokenStream, Mistake> {
    scoped(|| {
        let mut input = input.into_iter();
        let root = input.next().map(|mut root| {
            let site = root.span().located_at(Span::call_site());
            SITE.set(Some(site));
            root.set_span(site);
            root
        });
        ROOT.set(root.map(TokenStream::from));
        write(input.collect())
    })
}

/// An attribute that may have the argument `crate = "path"`; it gets the others.
pub(super) fn named(
    arguments: TokenStream,
    write: impl FnOnce(TokenStream) -> Result<TokenStream, Mistake>,
) -> Result<TokenStream, Mistake> {
    scoped(|| {
        let arguments: Vec<TokenTree> = arguments.into_iter().collect();
        let mut rest = TokenStream::new();
        for argument in super::fallible::listed(&arguments) {
            match argument {
                [word, equals, path] if is_ident(word, "crate") && is_punct(equals, '=') => set(path)?,
                [word, ..] if is_ident(word, "crate") => {
                    return Err(Mistake::at(word.span(), PATH));
                }
                others => {
                    if !rest.is_empty() {
                        rest.extend(crate::tokens(","));
                    }
                    rest.extend(others.iter().cloned());
                }
            }
        }
        write(rest)
    })
}

/// What is said where no path is.
pub(super) const PATH: &str =
    "`crate` is castiron's path in this program, as a text: `crate = \"::my_library::castiron\"`";

/// Sets the root, of a macro that is [`scoped`].
pub(super) fn set(path: &TokenTree) -> Result<(), Mistake> {
    // (A `$path` of a `macro_rules!` macro arrives in an invisible group.)
    let text = match path {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => group.stream().to_string(),
        path => path.to_string(),
    };
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    let is_path = text.strip_prefix("::").unwrap_or(text).split("::").all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    });
    match text.parse::<TokenStream>() {
        Ok(root) if is_path => {
            ROOT.set(Some(root.into_iter().map(|token| located(token, path)).collect()));
            Ok(())
        }
        _ => Err(Mistake::at(path.span(), PATH)),
    }
}

/// At the position of the text, where rustc says that there is no such path.
fn located(mut token: TokenTree, path: &TokenTree) -> TokenTree {
    token.set_span(path.span());
    token
}

/// The tokens with the root in place of each `::castiron`, and of each `$crate` that became text in between.
pub(super) fn placed(stream: TokenStream) -> TokenStream {
    match ROOT.with_borrow(Option::clone) {
        Some(root) => placed_by(stream, &root, SITE.get()),
        None => stream,
    }
}

fn placed_by(stream: TokenStream, root: &TokenStream, site: Option<Span>) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for mut token in stream {
        let (is_castiron, is_crate) = (is_ident(&token, "castiron"), is_ident(&token, "crate"));
        if let Some(site) = site {
            token.set_span(site);
        }
        match token {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), placed_by(group.stream(), root, site));
                inside.set_span(group.span());
                out.push(inside.into());
            }
            _ if is_castiron && matches!(&out[..], [.., one, other] if is_punct(one, ':') && is_punct(other, ':')) => {
                out.truncate(out.len() - 2);
                out.extend(root.clone());
            }
            _ if is_crate && matches!(&out[..], [.., dollar] if is_punct(dollar, '$')) => {
                out.truncate(out.len() - 1);
                out.extend(root.clone());
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}
