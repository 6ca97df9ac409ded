//! Products as C++ functions.

use super::super::graph::Unreadable;
use super::super::product::Product;
use super::{CudaCpp, c_type, dialect, library};

/// The functions `term_element(sum, a, b, 0)`, `merge_element(sum, sum, 0)` and `finish_element(sum, [input,] values, i)`, and the
/// types `A`, `B`, `SUM` and `OUT`.
pub(crate) fn product(of: &Product) -> Result<String, Unreadable> {
    let [(term, sum), (merge, merged), (finish, result)] = [&of.term, &of.merge, &of.finish];
    let mut functions = term.functions.clone();
    for kernel in [term, merge, finish] {
        kernel.check()?;
        functions.extend(kernel.functions.clone());
    }
    let types = ["A", "B"].iter().zip(&term.operands[1..]);
    let mut text: String = types.map(|(name, (dtype, _))| format!("typedef {} {name};\n", c_type(*dtype))).collect();
    text += &format!("typedef {} SUM;\ntypedef {} OUT;\n", c_type(sum.dtype), c_type(result.dtype));
    text += &library(functions.values());
    text += &dialect::element(&CudaCpp, term, "term", *sum);
    text += &dialect::element(&CudaCpp, merge, "merge", *merged);
    text += &dialect::element(&CudaCpp, finish, "finish", *result);
    Ok(text)
}
/// The types of the run-time values, in order.
pub(crate) fn product_values(of: &Product) -> Vec<&'static str> {
    of.finish.0.parameters.iter().map(|&dtype| c_type(dtype)).collect()
}
