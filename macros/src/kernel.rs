//! `cuda_kernel!`: functions whose body is CUDA C++.
//!
//! `fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) { unsafe { "…" } }` becomes
//!
//! ```text
//! fn axpy<N: Dim, const GPU: usize>(launch: Launch, a: f32, x: &Tensor<f32, shape![N], Cuda<GPU>>, mut y: impl Written<f32, shape![N], GPU>) -> Result<()> {
//!     struct Kernel;
//!     const TEXT: [&str; 2] = ["", "…"];
//!     let mut call = Call::new("axpy", launch);
//!     call.scalar("a", a);
//!     call.read("x", x, Names::Axes(&["N"]))?;
//!     call.write("y", &mut y, Names::Axes(&["N"]))?;
//!     unsafe { call.launch::<(Kernel, N)>(TEXT) }
//! }
//! ```

use super::fallible::listed;
use super::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

const FORM: &str = "cuda_kernel: a kernel is written `fn name<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) { unsafe { \"…\" } }`";
const PROMISE: &str = "cuda_kernel: castiron does not check the text: write it in `unsafe { … }`, which promises that it reads and writes elements of its tensors alone on every grid, or write `unsafe fn`, so that each caller promises it for its grid";
const PARAMETER: &str = "cuda_kernel: a parameter is a scalar, `a: f32`, a tensor that is read, `x: &Tensor<f32, shape![N]>`, or one that is written, `y: &mut Tensor<f32, shape![N]>`";
const SIZE: &str = "cuda_kernel: a size is a number, or a name that the text has for it: `fn name<N: Dim>(x: &Tensor<f32, shape![N, 3]>)`";

pub(super) fn kernels(input: TokenStream) -> Result<TokenStream, Mistake> {
    let input: Vec<TokenTree> = input.into_iter().collect();
    // Text that stands before the kernels ends with `;`, which nothing else does.
    let (before, functions) = match input.iter().position(|token| is_punct(token, ';')) {
        Some(end) => (input[..end].iter().cloned().collect(), &input[end + 1..]),
        None => (tokens("\"\""), &input[..]),
    };
    let mut out = TokenStream::new();
    let mut at = 0;
    while at < functions.len() {
        let is_end =
            |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let Some(length) = functions[at..].iter().position(is_end) else {
            return Err(Mistake::at(functions[at].span(), FORM));
        };
        out.extend(Kernel::read(&functions[at..=at + length])?.written(&before)?);
        at += length + 1;
    }
    if at == 0 {
        return Err(Mistake::at(Span::call_site(), FORM));
    }
    Ok(out)
}

struct Kernel<'a> {
    /// Attributes and visibility.
    before: &'a Tokens,
    /// `unsafe`, where each caller promises.
    unsafety: Option<&'a TokenTree>,
    name: &'a TokenTree,
    /// The parameters in angle brackets, and the names of the types among them.
    generics: &'a Tokens,
    types: Vec<String>,
    parameters: Vec<Parameter<'a>>,
    /// `where …`
    bounds: &'a Tokens,
    text: TokenStream,
}

struct Parameter<'a> {
    name: &'a TokenTree,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Scalar(&'a Tokens),
    Tensor { is_written: bool, element: &'a Tokens, shape: &'a Tokens, path: &'a Tokens },
}

impl<'a> Kernel<'a> {
    fn read(input: &'a Tokens) -> Result<Self, Mistake> {
        let wrong = |at: usize| Mistake::at(input[at.min(input.len() - 1)].span(), FORM);
        let Some(function) = input.iter().position(|token| is_ident(token, "fn")) else { return Err(wrong(0)) };
        let is_unsafe = function > 0 && is_ident(&input[function - 1], "unsafe");
        let before = &input[..function - usize::from(is_unsafe)];
        let mut at = function + 2;
        let name = input.get(function + 1).ok_or_else(|| wrong(at))?;
        let mut generics: &Tokens = &[];
        if input.get(at).is_some_and(|token| is_punct(token, '<')) {
            let end = (at..input.len()).find(
                |&at| matches!(&input[at], TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis),
            );
            let end = end.filter(|&end| is_punct(&input[end - 1], '>')).ok_or_else(|| wrong(at))?;
            generics = &input[at + 1..end - 1];
            at = end;
        }
        let mut types = Vec::new();
        for generic in listed(generics) {
            match generic {
                [TokenTree::Ident(name), ..] if name.to_string() != "const" => types.push(name.to_string()),
                _ => {
                    let message = "cuda_kernel: its parameters in angle brackets are types: sizes (`N: Dim`), shapes (`S: Shape`) and dtypes (`E: Float`)";
                    return Err(Mistake::at(generic[0].span(), message));
                }
            }
        }
        let Some(TokenTree::Group(list)) = input
            .get(at)
            .filter(|token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis))
        else {
            return Err(wrong(at));
        };
        let [bounds @ .., TokenTree::Group(body)] = &input[at + 1..] else { return Err(wrong(at)) };
        if let Some(first) = bounds.first().filter(|first| !is_ident(first, "where")) {
            let message = "cuda_kernel: a kernel returns nothing: it writes into `&mut` tensors, and its function returns `Result<()>`";
            return Err(Mistake::at(first.span(), message));
        }
        // (Leaked: a macro's process is short, and the rest borrows from the input.)
        let list: &'static Tokens = Vec::leak(list.stream().into_iter().collect());
        let parameters = listed(list).into_iter().map(Parameter::read).collect::<Result<Vec<_>, _>>()?;
        if !parameters.iter().any(|parameter| matches!(parameter.kind, Kind::Tensor { is_written: true, .. })) {
            let message = "cuda_kernel: a kernel without `&mut Tensor` computes nothing: it writes its results into tensors that are there";
            return Err(Mistake::at(name.span(), message));
        }
        let text: Vec<TokenTree> = body.stream().into_iter().collect();
        let text = match &text[..] {
            [word, TokenTree::Group(inside)] if is_ident(word, "unsafe") => inside.stream(),
            _ if is_unsafe => body.stream(),
            [] => return Err(wrong(input.len())),
            [first, ..] => return Err(Mistake::at(first.span(), PROMISE)),
        };
        let unsafety = is_unsafe.then(|| &input[function - 1]);
        Ok(Kernel { before, unsafety, name, generics, types, parameters, bounds, text })
    }

    fn written(&self, before: &TokenStream) -> Result<TokenStream, Mistake> {
        let name = TokenTree::Literal(Literal::string(&self.name.to_string().replace("r#", "")));
        let mut arguments = tokens("launch: ::castiron::gpu::Launch,");
        let mut body = tokens("struct CastironKernel; const CASTIRON_TEXT: [&str; 2] =");
        body.extend([group(
            Delimiter::Bracket,
            [before.clone(), tokens(","), self.text.clone()].into_iter().collect(),
        )]);
        body.extend(tokens("; let mut castiron_call = ::castiron::gpu::Call::new"));
        body.extend([group(
            Delimiter::Parenthesis,
            [TokenStream::from(name), tokens(", launch")].into_iter().collect(),
        )]);
        body.extend(tokens(";"));
        for ty in self.types.iter().filter(|ty| self.parameters.iter().any(|parameter| parameter.element_is(ty))) {
            body.extend(tokens(&format!("castiron_call.dtype::<{ty}>(\"{ty}\");")));
        }
        for Parameter { name, kind } in &self.parameters {
            let own = TokenStream::from((*name).clone());
            let text = name.to_string().replace("r#", "");
            match kind {
                Kind::Scalar(ty) => {
                    arguments.extend([own.clone(), tokens(":"), ty.iter().cloned().collect(), tokens(",")]);
                    body.extend(tokens("castiron_call.scalar"));
                    body.extend([group(
                        Delimiter::Parenthesis,
                        [tokens(&format!("\"{text}\",")), own].into_iter().collect(),
                    )]);
                    body.extend(tokens(";"));
                }
                Kind::Tensor { is_written, element, shape, path } => {
                    let names = self.names(shape)?;
                    let (element, shape): (TokenStream, TokenStream) =
                        (element.iter().cloned().collect(), shape.iter().cloned().collect());
                    let (of, call, borrow) = match is_written {
                        true => (tokens("impl ::castiron::gpu::Written<"), "write", "&mut "),
                        false => (
                            [tokens("&"), path.iter().cloned().collect(), tokens("<")].into_iter().collect(),
                            "read",
                            "",
                        ),
                    };
                    arguments.extend(tokens(if *is_written { "mut" } else { "" }));
                    arguments.extend([own.clone(), tokens(":"), of, element, tokens(","), shape]);
                    arguments.extend(tokens(if *is_written {
                        ", CASTIRON_GPU>,"
                    } else {
                        ", ::castiron::Cuda<CASTIRON_GPU>>,"
                    }));
                    let given = [
                        tokens(&format!("\"{text}\", {borrow}")),
                        own,
                        tokens(&format!(", ::castiron::gpu::Names::{names}")),
                    ];
                    body.extend(tokens(&format!("castiron_call.{call}")));
                    body.extend([group(Delimiter::Parenthesis, given.into_iter().collect())]);
                    body.extend(tokens("?;"));
                }
            }
        }
        let key: String = self.types.iter().map(|ty| format!("{ty}, ")).collect();
        body.extend(tokens(&format!("unsafe {{ castiron_call.launch::<(CastironKernel, {key})>(CASTIRON_TEXT) }}")));
        let mut out: TokenStream = tokens("#[allow(clippy::too_many_arguments)]");
        out.extend(self.before.iter().cloned());
        out.extend(self.unsafety.cloned());
        out.extend(tokens("fn"));
        out.extend([self.name.clone()]);
        out.extend(tokens("<"));
        out.extend(self.generics.iter().cloned());
        let comma = self.generics.last().is_some_and(|last| !is_punct(last, ','));
        out.extend(tokens(if comma { ", const CASTIRON_GPU: usize>" } else { "const CASTIRON_GPU: usize>" }));
        out.extend([group(Delimiter::Parenthesis, arguments)]);
        out.extend(tokens("-> ::castiron::Result<()>"));
        out.extend(self.bounds.iter().cloned());
        out.extend([group(Delimiter::Brace, body)]);
        Ok(out)
    }

    /// The names that the text has for the sizes of a shape.
    fn names(&self, shape: &Tokens) -> Result<String, Mistake> {
        let dims = match shape {
            [TokenTree::Ident(whole)] => return Ok(format!("Whole(\"{whole}\")")),
            [TokenTree::Group(dims)] => dims,
            [.., bang, TokenTree::Group(dims)] if is_punct(bang, '!') => dims,
            _ => return Err(Mistake::at(shape[0].span(), SIZE)),
        };
        let dims: Vec<TokenTree> = dims.stream().into_iter().collect();
        let names = listed(&dims).into_iter().map(|dim| match dim {
            [TokenTree::Literal(_)] => Ok("\"\",".to_owned()),
            [TokenTree::Ident(name)] if !["_", "Dyn"].contains(&&*name.to_string()) => Ok(format!("\"{name}\",")),
            _ => Err(Mistake::at(dim[0].span(), SIZE)),
        });
        Ok(format!("Axes(&[{}])", names.collect::<Result<String, _>>()?))
    }
}

impl<'a> Parameter<'a> {
    fn read(input: &'a Tokens) -> Result<Self, Mistake> {
        let wrong = || Mistake::at(input[0].span(), PARAMETER);
        let [name @ TokenTree::Ident(_), colon, ty @ ..] = input else { return Err(wrong()) };
        if !is_punct(colon, ':') || ty.is_empty() {
            return Err(wrong());
        }
        let [and, rest @ ..] = ty else { return Err(wrong()) };
        if !is_punct(and, '&') {
            if ty.iter().any(|token| is_ident(token, "Tensor")) {
                return Err(wrong());
            }
            return Ok(Parameter { name, kind: Kind::Scalar(ty) });
        }
        let (is_written, rest) = match rest {
            [word, rest @ ..] if is_ident(word, "mut") => (true, rest),
            rest => (false, rest),
        };
        let open = rest
            .iter()
            .position(|token| is_punct(token, '<'))
            .filter(|&open| open > 0 && is_ident(&rest[open - 1], "Tensor"));
        let (Some(open), Some(close)) = (open, rest.last().filter(|last| is_punct(last, '>'))) else {
            return Err(wrong());
        };
        match listed(&rest[open + 1..rest.len() - 1])[..] {
            [element, shape] => {
                Ok(Parameter { name, kind: Kind::Tensor { is_written, element, shape, path: &rest[..open] } })
            }
            [_, _, device, ..] => {
                let message =
                    "cuda_kernel: the device is not written: all tensors of a kernel are on one GPU, of any ordinal";
                Err(Mistake::at(device[0].span(), message))
            }
            _ => Err(Mistake::at(close.span(), PARAMETER)),
        }
    }

    /// Whether its elements have the type of this name.
    fn element_is(&self, name: &str) -> bool {
        let (Kind::Scalar(element) | Kind::Tensor { element, .. }) = self.kind;
        matches!(element, [word] if is_ident(word, name))
    }
}

fn group(delimiter: Delimiter, inside: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(delimiter, inside))
}
