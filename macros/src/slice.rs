//! `s!`: positions, ranges and new axes as the items of a slice.

use crate::dims::number_type;
use crate::{Mistake, tokens};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

/// `.., 1..3, i, NewAxis` as `(All, (Fixed::<…>::default(), (At(…), (NewAxis, ()))))`.
pub(super) fn slice(input: TokenStream) -> Result<TokenStream, Mistake> {
    let input: Vec<TokenTree> = input.into_iter().collect();
    let mut items: Vec<&Tokens> = input.split(|token| is_punct(Some(token), ',')).collect();
    if items.last().is_some_and(|last| last.is_empty()) {
        items.pop();
    }
    let mut out = TokenStream::from(TokenTree::Group(Group::new(Delimiter::Parenthesis, TokenStream::new())));
    let (mut after, mut has_rest) = (0, false);
    // From the last item to the first: an ellipsis counts the axes after it.
    for item in items.into_iter().rev() {
        let span = item.first().map_or_else(Span::call_site, TokenTree::span);
        // (Not the colons of a path.)
        let single = |at: &usize| {
            let colon = |at: usize| is_punct(item.get(at), ':');
            colon(*at) && !colon(at + 1) && !at.checked_sub(1).is_some_and(colon)
        };
        if let Some(at) = (0..item.len()).find(single) {
            let reason = "ranges are Rust's: `1..3` for Python's `1:3`, `..` for `:`, `::2` for every second";
            return Err(Mistake::at(item[at].span(), reason));
        }
        let mut pair = if is_dots(item, 0, 3) && item.len() == 3 {
            if has_rest {
                return Err(Mistake::at(span, "`...` stands for the axes that are left, so there can be one"));
            }
            has_rest = true;
            let after =
                (0..after).fold("Zero".to_owned(), |rest, _| format!("Next<::castiron::shape::slicing::{rest}>"));
            named(&format!("Rest::<::castiron::shape::slicing::{after}>::default()"))
        } else if matches!(item, [TokenTree::Ident(ident)] if ident.to_string() == "NewAxis") {
            named("NewAxis")
        } else {
            after += 1;
            one(item, span)?
        };
        pair.extend(tokens(","));
        pair.extend(out);
        out = TokenTree::Group(Group::new(Delimiter::Parenthesis, pair)).into();
    }
    Ok(out)
}

/// A path into `castiron::shape::slicing`.
fn named(source: &str) -> TokenStream {
    tokens(&format!("::castiron::shape::slicing::{source}"))
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Whether exactly `count` dots stand at `at`.
fn is_dots(item: &Tokens, at: usize, count: usize) -> bool {
    (at..at + count).all(|at| is_punct(item.get(at), '.')) && !is_punct(item.get(at + count), '.')
}

/// An integer literal, with its sign; `None` for other expressions.
fn literal(tokens: &Tokens) -> Option<i128> {
    match tokens {
        [TokenTree::Literal(number)] => number.to_string().replace('_', "").parse().ok(),
        [minus, TokenTree::Literal(number)] if is_punct(Some(minus), '-') => {
            number.to_string().replace('_', "").parse::<i128>().ok().map(|number| -number)
        }
        // a literal that came through a macro's parameter
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            literal(&group.stream().into_iter().collect::<Vec<_>>())
        }
        _ => None,
    }
}

/// A literal as a dimension.
fn number(number: u128, span: Span) -> Result<TokenStream, Mistake> {
    let small = usize::try_from(number).ok().filter(|&number| number <= isize::MAX as usize);
    small.map(number_type).ok_or_else(|| Mistake::at(span, format!("{number} exceeds isize")))
}

/// One position or range.
fn one(item: &Tokens, span: Span) -> Result<TokenStream, Mistake> {
    if item.is_empty() {
        return Err(Mistake::at(span, "expected a position, a range, `...` or `NewAxis` before the comma"));
    }
    // `::2`
    if is_punct(item.first(), ':') && is_punct(item.get(1), ':') {
        return range(&[], &[], false, Some(&item[2..]), span);
    }
    let mut parts = item.splitn(2, |token| is_punct(Some(token), ';'));
    let (bounds, step) = (parts.next().unwrap_or(item), parts.next());
    let Some(dots) = (0..bounds.len()).find(|&at| is_dots(bounds, at, 2)) else {
        if step.is_some() {
            return Err(Mistake::at(span, "a step belongs to a range: `1..8;2`"));
        }
        let Some(index) = literal(item) else {
            let mut at = named("At");
            at.extend([call("position", item)]);
            return Ok(at);
        };
        let mut at = named(if index < 0 { "AtBack::<" } else { "AtFront::<" });
        at.extend(number(index.unsigned_abs(), span)?);
        at.extend(tokens(">::default()"));
        return Ok(at);
    };
    let inclusive = is_punct(bounds.get(dots + 2), '=');
    let end = &bounds[dots + 2 + usize::from(inclusive)..];
    if inclusive && end.is_empty() {
        return Err(Mistake::at(span, "expected the last position after `..=`"));
    }
    range(&bounds[..dots], end, inclusive, step, span)
}

/// `(::castiron::shape::slicing::name(tokens))`
fn call(name: &str, argument: &Tokens) -> TokenTree {
    let mut call = named(name);
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, argument.iter().cloned().collect()))]);
    TokenTree::Group(Group::new(Delimiter::Parenthesis, call))
}

fn range(
    start: &Tokens,
    end: &Tokens,
    inclusive: bool,
    step: Option<&Tokens>,
    span: Span,
) -> Result<TokenStream, Mistake> {
    let first = if start.is_empty() { Some(0) } else { literal(start) };
    // A literal counts from the start (`true`) or from the end (`false`).
    let bound = |at: i128| if at < 0 { (false, at.unsigned_abs()) } else { (true, at.unsigned_abs()) };
    let last = match (end.is_empty(), literal(end)) {
        (true, _) => Some((false, 0)),
        (false, Some(-1)) if inclusive => Some((false, 0)),
        (false, Some(end)) => Some(bound(end + i128::from(inclusive))),
        (false, None) => None,
    };
    let every = step.map_or(Some(1), literal);
    if every.is_some_and(|every| every < 1) || step.is_some_and(Tokens::is_empty) {
        return Err(Mistake::at(
            span,
            "the step of a range must be positive; `x.flip(axis![0])` goes backwards, also before a slice",
        ));
    }
    let (Some(first), Some(last), Some(every)) = (first.map(bound), last, every) else {
        let optional = |bound: &Tokens, name: &str| -> TokenStream {
            if bound.is_empty() {
                return tokens("::core::option::Option::None");
            }
            if name == "after" {
                return call(name, bound).into();
            }
            let mut some = tokens("::core::option::Option::Some");
            some.extend([call(name, bound)]);
            some
        };
        let mut arguments = optional(start, "position");
        arguments.extend(tokens(","));
        arguments.extend(optional(end, if inclusive { "after" } else { "position" }));
        arguments.extend(tokens(","));
        arguments.extend(step.map_or_else(|| tokens("1"), |step| call("position", step).into()));
        let mut between = named("Between::new");
        between.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
        return Ok(between);
    };
    if (first, last, every) == ((true, 0), (false, 0), 1) {
        return Ok(named("All"));
    }
    let every = every.unsigned_abs();
    // The number of positions, where it does not depend on the size of the axis.
    let covered = match (first, last) {
        ((true, first), (true, last)) => Some(last.saturating_sub(first)),
        ((false, first), (false, last)) => Some(first.saturating_sub(last)),
        _ => None,
    };
    let mut fixed = named("Fixed::<");
    for (front, at) in [first, last] {
        fixed.extend(named(if front { "Front<" } else { "Back<" }));
        fixed.extend(number(at, span)?);
        fixed.extend(tokens(">,"));
    }
    for known in [every, every - 1] {
        fixed.extend(number(known, span)?);
        fixed.extend(tokens(","));
    }
    match covered {
        Some(covered) => fixed.extend(number(covered.div_ceil(every), span)?),
        None => fixed.extend(tokens("::castiron::shape::Dyn")),
    }
    fixed.extend(tokens(">::default()"));
    Ok(fixed)
}
