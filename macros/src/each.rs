//! `#[each(RANK = 1 2 3, ADMITS = FloatFor RealFor RealFor)]` in front of a function: the function once for each column. The words stand for
//! their values, also within names, strings and documentation: `max_poolRANKd` is `max_pool2d`. Tokens in parentheses are one value, without
//! them.

use crate::{Mistake, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};

/// Words, and what they stand for.
#[derive(Default)]
pub(super) struct Words(Vec<(String, TokenTree)>);

/// The item, or of one with the attribute each form with its words.
pub(super) fn each(item: Vec<TokenTree>) -> Result<Vec<(Vec<TokenTree>, Words)>, Mistake> {
    let table = |pair: &[TokenTree]| match pair {
        [sign, TokenTree::Group(inside)] if is_punct(sign, '#') => {
            match &inside.stream().into_iter().collect::<Vec<_>>()[..] {
                [name, TokenTree::Group(table)] if is_ident(name, "each") => Some(table.clone()),
                _ => None,
            }
        }
        _ => None,
    };
    let Some((at, table)) = item.windows(2).enumerate().find_map(|(at, pair)| Some((at, table(pair)?))) else {
        return Ok(vec![(item, Words::default())]);
    };
    let mut columns: Vec<Words> = vec![];
    for row in between_commas(table.stream().into_iter().collect()) {
        let [TokenTree::Ident(word), _, values @ ..] = &row[..] else {
            return Err(Mistake::at(table.span(), "expected `WORD = value value …, …`"));
        };
        columns.resize_with(columns.len().max(values.len()), Words::default);
        if columns.len() != values.len() {
            return Err(Mistake::at(word.span(), "words have as many values as the others"));
        }
        columns.iter_mut().zip(values).for_each(|(words, value)| words.0.push((word.to_string(), value.clone())));
    }
    let rest: TokenStream = item[..at].iter().chain(&item[at + 2..]).cloned().collect();
    let formed = |words: Words| (words.stand_in(rest.clone()).into_iter().collect(), words);
    Ok(columns.into_iter().map(formed).collect())
}

impl Words {
    /// The text with the values of words within it.
    pub(super) fn in_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, &value.to_string()))
    }

    fn stand_in(&self, tokens: TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) => match self.0.iter().find(|(word, _)| *word == name.to_string()) {
                    Some((_, TokenTree::Group(several))) if several.delimiter() == Delimiter::Parenthesis => {
                        out.extend(several.stream());
                    }
                    Some((_, value)) => out.extend([value.clone()]),
                    None => {
                        let text = self.in_text(&name.to_string());
                        let same = text == name.to_string();
                        out.extend([TokenTree::Ident(if same { name } else { Ident::new(&text, name.span()) })]);
                    }
                },
                TokenTree::Literal(literal) => {
                    let text = self.in_text(&literal.to_string());
                    let mut formed = text.parse::<Literal>().unwrap_or_else(|_| literal.clone());
                    formed.set_span(literal.span());
                    out.extend([TokenTree::Literal(formed)]);
                }
                TokenTree::Group(group) => {
                    let mut formed = Group::new(group.delimiter(), self.stand_in(group.stream()));
                    formed.set_span(group.span());
                    out.extend([TokenTree::Group(formed)]);
                }
                other => out.extend([other]),
            }
        }
        out
    }
}

/// Between commas that stand in no brackets. (`->` closes none.)
pub(super) fn between_commas(tokens: Vec<TokenTree>) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut part, mut depth) = (vec![], vec![], 0);
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            TokenTree::Punct(punct) if punct.as_char() == ',' && depth == 0 => {
                parts.push(core::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(token);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}
