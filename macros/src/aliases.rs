//! `#[doc(alias = "…")]` attributes taken from the documentation: the names PyTorch and NumPy have for a method, where they differ from
//! ours, so that editors and searches of the documentation find `clip` and `concatenate`.

use super::{is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Literal, TokenStream, TokenTree};

/// The text of a literal `"…"`, or of a `concat!` of literals and `stringify!(name)`.
fn text(tokens: TokenStream) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                let inside = literal.split_once('"').and_then(|(_, text)| text.rsplit_once('"'));
                out.push_str(inside.map_or("", |(text, _)| text));
            }
            TokenTree::Group(group) => out.push_str(&text(group.stream())),
            TokenTree::Ident(ident) if !matches!(&*ident.to_string(), "concat" | "stringify") => {
                out.push_str(&ident.to_string());
            }
            _ => {}
        }
    }
    out
}

/// The text of one documentation attribute, `doc = …`.
pub(super) fn line(attribute: &Group) -> Option<String> {
    let mut tokens = attribute.stream().into_iter();
    let (name, equals) = (tokens.next()?, tokens.next()?);
    (is_ident(&name, "doc") && is_punct(&equals, '=')).then(|| text(tokens.collect()))
}

/// The aliases of a method of this name: everything between backticks that begins with `torch.` or `numpy.`, or is another form of
/// the method (`exp_`, `exp_into`), in the paragraph that begins with "PyTorch:".
pub(super) fn of_lines(lines: impl Iterator<Item = String>, name: &str) -> TokenStream {
    let mut names = Vec::new();
    let mut is_inside = false;
    for line in lines {
        is_inside = !line.trim().is_empty() && (is_inside || line.contains("PyTorch: "));
        if is_inside {
            names.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    let is_form = |name: &str| name.ends_with('_') || name.ends_with("_into");
    let names = names.iter().filter(|name| name.starts_with("torch.") || name.starts_with("numpy.") || is_form(name));
    of_names(names.map(String::as_str), name)
}

/// The aliases for a list of PyTorch names such as `linalg.inv`.
pub(super) fn of_names<'a>(names: impl Iterator<Item = &'a str>, own: &str) -> TokenStream {
    let mut aliases: Vec<&str> = Vec::new();
    for name in names {
        let path = name.split(|sign: char| !(sign.is_ascii_alphanumeric() || "_.".contains(sign))).next().unwrap_or("");
        let last = path.rsplit('.').next().unwrap_or("");
        let is_function = last.starts_with(|sign: char| sign.is_ascii_lowercase());
        if is_function && last != own && !aliases.contains(&last) {
            aliases.push(last);
        }
    }
    let mut out = TokenStream::new();
    for alias in aliases {
        let mut inside = tokens("alias =");
        inside.extend([TokenTree::Literal(Literal::string(alias))]);
        let mut attribute = tokens("doc");
        attribute.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, inside))]);
        out.extend(tokens("#"));
        out.extend([TokenTree::Group(Group::new(Delimiter::Bracket, attribute))]);
    }
    out
}

/// `#[aliased]`: the function unchanged, with its aliases added.
pub(super) fn aliased(function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let name = tokens.iter().position(|token| is_ident(token, "fn")).and_then(|at| tokens.get(at + 1));
    let lines = tokens.iter().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => line(group),
        _ => None,
    });
    let mut out = of_lines(lines, &name.map(ToString::to_string).unwrap_or_default());
    out.extend(tokens);
    out
}
