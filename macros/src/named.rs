//! `named!`: adds the names of the methods to the rows of a table of operations, for the macro that reads the table.
//!
//! `named! { [try_x x_] reader abs { numeric } neg { numeric } }` is `reader! { abs { [try_abs abs_] numeric } neg { [try_neg neg_] numeric } }`.
//! Every name has the position of the row's name, so that an editor jumps there.

use crate::Mistake;
use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

pub(super) fn named(input: TokenStream) -> Result<TokenStream, Mistake> {
    let mut tokens = input.into_iter();
    let (Some(TokenTree::Group(patterns)), Some(reader)) = (tokens.next(), tokens.next()) else {
        return Err(Mistake::at(Span::call_site(), "expected `[names] reader rows`"));
    };
    let patterns: Vec<String> = patterns.stream().into_iter().map(|pattern| pattern.to_string()).collect();
    let mut rows = TokenStream::new();
    while let Some(name) = tokens.next() {
        let (TokenTree::Ident(op), Some(TokenTree::Group(row))) = (&name, tokens.next()) else {
            return Err(Mistake::at(name.span(), "a row is `name { columns }`"));
        };
        let text = op.to_string();
        let of = |pattern: &String| TokenTree::Ident(Ident::new(&name_of(pattern, &text), op.span()));
        let names = Group::new(Delimiter::Bracket, patterns.iter().map(of).collect());
        let mut columns = TokenStream::from(TokenTree::Group(names));
        columns.extend(row.stream());
        let mut whole = Group::new(row.delimiter(), columns);
        whole.set_span(row.span());
        rows.extend([name, TokenTree::Group(whole)]);
    }
    let bang = TokenTree::Punct(Punct::new('!', Spacing::Alone));
    Ok([reader, bang, TokenTree::Group(Group::new(Delimiter::Brace, rows))].into_iter().collect())
}

/// For the pattern `try_x_` and the operation `abs`: `try_abs_`.
fn name_of(pattern: &str, op: &str) -> String {
    let words: Vec<&str> = pattern.split('_').map(|word| if word == "x" { op } else { word }).collect();
    words.join("_")
}
