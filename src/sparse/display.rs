//! Printing: `Display` exactly as PyTorch prints a sparse tensor, `Debug` with its type.
//!
//! Source: `torch/_tensor_str.py`, `_str_intern` and `_add_suffixes`.

use super::{Rows, SparseTensor};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{DType, Element};
use crate::shape::Shape;
use crate::storage::View;
use crate::tensor::{AnyLayout, Options, Printed, Tensor, python_tuple};
use core::fmt;

/// The start of the text; further lines are indented by its length.
const PREFIX: &str = "tensor(";
/// Maximum characters per line.
const LINE: usize = 80;

/// One of the two parts of a sparse tensor, as `name=tensor([…])`.
fn part<E: Element, S: Shape>(name: &str, tensor: &Tensor<E, S>, sizes: &[usize], options: Options) -> String {
    let prefix = format!("{name}=tensor(");
    let strides = crate::layout::strides::row_major(sizes);
    let element = |at: usize| {
        let view: View<'_, _, E> = tensor.elements();
        let one = View::<_, E>::new(view.buffer, view.offset + at, &[], &[]);
        Cpu::peek(one).ok().map(Element::to_scalar)
    };
    let printed =
        Printed { dtype: E::DTYPE, device: "cpu", has_data: true, sizes, strides: &strides, element: &element };
    let size = if sizes.contains(&0) { format!(", size={}", python_tuple(sizes)) } else { String::new() };
    format!("{prefix}{}{size})", printed.elements(options, PREFIX.len() + prefix.len()))
}

/// Prints a tensor with these parts on a device; the last `dense` axes are dense.
pub(crate) fn print<E: Element>(
    f: &mut fmt::Formatter<'_>,
    device: &str,
    indices: &Rows<i64>,
    values: &Rows<E>,
    sizes: &[usize],
    dense: usize,
) -> fmt::Result {
    let nnz = values.shape()[0];
    let options = Options::of(f);
    let indices = part("indices", indices, &indices.shape(), options.of_indices());
    let values = part("values", values, &[&[nnz], &sizes[sizes.len() - dense..]].concat(), options);
    let indent = " ".repeat(PREFIX.len());
    let size = format!("size={}", python_tuple(sizes));
    let mut suffixes = vec![size, format!("nnz={nnz}")];
    if !matches!(E::DTYPE, DType::F32 | DType::C64 | DType::I64 | DType::Bool) {
        suffixes.push(format!("dtype={:?}", E::DTYPE));
    }
    suffixes.push(format!("layout={}", AnyLayout::SparseCoo));
    if device != "cpu" {
        suffixes.insert(0, format!("device='{device}'"));
    }
    // The first suffix starts a line.
    let first = suffixes.remove(0);
    write!(f, "{PREFIX}{indices},\n{indent}{values},\n{indent}{first}")?;
    let mut line = indent.len() + first.len();
    for suffix in suffixes {
        if line + suffix.len() + 2 > LINE {
            write!(f, ",\n{indent}{suffix}")?;
            line = indent.len() + suffix.len();
        } else {
            write!(f, ", {suffix}")?;
            line += suffix.len() + 2;
        }
    }
    f.write_str(")")
}

impl<E: Element, S: Shape, const N: usize> fmt::Display for SparseTensor<E, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, "cpu", &self.parts.indices, &self.parts.values, self.shape().as_ref(), N)
    }
}

/// The type of the tensor, then its parts as in `Display`.
impl<E: Element, S: Shape, const N: usize> fmt::Debug for SparseTensor<E, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseTensor")
            .field("dtype", &format_args!("{}", E::DTYPE))
            .field("shape", &self.shape())
            .field("dense_dim", &self.dense_dim())
            .field("is_coalesced", &self.is_coalesced())
            .field("elements", &format_args!("{self}"))
            .finish()
    }
}
