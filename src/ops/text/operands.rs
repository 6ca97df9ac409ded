//! The operands of a described element as one struct, for kernels that are not loops over elements: `ci_elements`, which returns an
//! element, or a pack of them, by position.
//!
//! A device puts the struct before the text of a reduction and passes its bytes as the first argument.

use super::arguments::Arguments;
use super::describe::Described;
use super::graph::Unreadable;
use super::kernel::c_type;
use super::source::{alignment, pack, size_of};
use super::write::library;
use crate::dtype::DType;
use core::fmt::Write as _;

/// The struct for stored elements.
pub(crate) fn stored(dtype: DType) -> String {
    let element = c_type(dtype);
    format!(
        "struct ci_elements {{\n  const {element} *p0;\n  CI_IN {element} one(ci_u64 at) const {{ return p0[at]; }}\n  \
         template<int P> CI_IN ci_pack<{element}, P> pack(ci_u64 at) const {{ return ci_load<{element}, P>(p0 + at, 0); }}\n}};\n"
    )
}

impl Described {
    /// The struct for computed elements, and what it calls.
    pub(crate) fn computed(&self) -> Result<String, Unreadable> {
        self.kernel.check()?;
        let mut text = library(self.kernel.functions.values());
        text += &self.kernel.element("one", self.result);
        text += "struct ci_elements {\n";
        for (at, &(dtype, _)) in self.kernel.operands.iter().enumerate() {
            let _ = writeln!(text, "  alignas(8) const {} *p{at};", c_type(dtype));
        }
        for (at, &dtype) in self.kernel.parameters.iter().enumerate() {
            let _ = writeln!(text, "  alignas(8) {} s{at};", c_type(dtype));
        }
        let element = |of: &dyn Fn(usize) -> String, index: &str| {
            let operands = (0..self.kernel.operands.len()).map(of);
            let values = (0..self.kernel.parameters.len()).map(|at| format!("s{at}"));
            let all: Vec<String> = operands.chain(values).chain([format!("(ci_i64)({index})")]).collect();
            format!("one_element({})", all.join(", "))
        };
        let out = c_type(self.result.dtype());
        let one = element(&|at| format!("p{at}[at]"), "at");
        let _ = writeln!(text, "  CI_IN {out} one(ci_u64 at) const {{ return {one}; }}");
        let _ = writeln!(text, "  template<int P> CI_IN ci_pack<{out}, P> pack(ci_u64 at) const {{");
        for (at, &(dtype, _)) in self.kernel.operands.iter().enumerate() {
            let ty = c_type(dtype);
            let _ = writeln!(text, "    const ci_pack<{ty}, P> a{at} = ci_load<{ty}, P>(p{at} + at, 0);");
        }
        let one = element(&|at| format!("a{at}.of[k]"), "at + k");
        let _ = writeln!(
            text,
            "    ci_pack<{out}, P> results;\n    CI_UNROLL\n    for (int k = 0; k < P; k++) results.of[k] = {one};\n    \
             return results;\n  }}\n}};"
        );
        Ok(text)
    }

    /// The fields of the struct.
    pub(crate) fn fields(&self) -> Arguments {
        let mut fields = Arguments::new();
        self.kernel.operands.iter().for_each(|(_, operand)| fields.push(operand.address));
        fields.append(&self.kernel.values);
        fields
    }

    /// Whether every operand has these strides along all axes longer than 1, so that one position works for all.
    pub(crate) fn has_strides(&self, sizes: &[usize], strides: &[usize]) -> bool {
        let same = |(axis, &size): (usize, &usize)| {
            size == 1 || self.kernel.operands.iter().all(|(_, operand)| operand.strides[axis] == strides[axis])
        };
        sizes.iter().enumerate().all(same)
    }

    /// Maximum pack size, and whether all operands are aligned to it.
    pub(crate) fn pack(&self) -> (usize, bool) {
        let dtypes = || self.kernel.operands.iter().map(|&(dtype, _)| dtype);
        let most = pack(dtypes().map(size_of));
        let is_aligned =
            self.kernel.operands.iter().all(|&(dtype, at)| at.address.is_multiple_of(alignment(dtype, most) as u64));
        (most, is_aligned)
    }
}
