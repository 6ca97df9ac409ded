//! Elements that are not contiguous, read as if they were: rows in packs where the innermost axes lie side by side, tiles through shared
//! memory where some operands lie along another axis than the result.
//!
//! Uses plans and kernels; a device asks for it where a plan has strides.

use super::kernel::{Kernel, c_type};
#[cfg(feature = "cuda")]
use super::source::alignment;
use super::source::{Layout, Plan, pack, size_of};
use crate::dtype::DType;
use core::fmt::Write as _;

/// Threads of a block that shares a tile.
const THREADS: usize = 256;
#[cfg(feature = "cuda")]
/// Shared memory that tiles take, at most.
const SHARED: usize = 40 << 10;

#[cfg(feature = "cuda")]
/// The edge of a tile of elements of so many bytes at most.
fn edge(most: usize) -> usize {
    if most <= 2 { 64 } else { 32 }
}

impl Plan {
    #[cfg(feature = "cuda")]
    /// The step along the innermost axis of the result (0) and of each operand.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.strides.iter().map(|strides| strides[self.rank - 1])
    }

    /// The form for a plan with strides that suits them better, if there is one.
    #[cfg(feature = "cuda")]
    fn suited(&mut self, kernel: &Kernel, dtype: DType) -> Option<()> {
        let wide = match self.form.layout {
            Layout::Strided32 => false,
            Layout::Strided64 => true,
            _ => return None,
        };
        if self.rank < 2 || self.strides.len() > 32 || self.strides[0][self.rank - 1] != 1 {
            return None;
        }
        let last = self.rank - 1;
        let of_step = |wanted: &dyn Fn(usize) -> bool| -> u32 {
            self.inner().enumerate().filter(|&(_, step)| wanted(step)).map(|(at, _)| 1 << at).sum()
        };
        let (apart, broadcast) = (of_step(&|step| step > 1), of_step(&|step| step == 0));
        if apart == 0 {
            let most = self.pack;
            let addresses =
                || core::iter::once(self.out).chain(kernel.operands.iter().map(|(_, operand)| operand.address));
            let fits = |((strides, dtype), address): ((&[usize; 8], DType), u64)| {
                strides[last] == 0
                    || (address.is_multiple_of(alignment(dtype, most) as u64)
                        && strides[..last].iter().all(|stride| stride.is_multiple_of(most)))
            };
            let fits = self.strides.iter().zip(kernel.dtypes(dtype)).zip(addresses()).all(fits);
            if most == 1 || !self.sizes[last].is_multiple_of(most) || !fits {
                return None;
            }
            self.threads = self.len / most;
            self.form.layout = Layout::Rows { wide, broadcast };
            return Some(());
        }
        // An axis along which all of those are contiguous, which becomes the last but one.
        let along =
            |axis: usize| self.strides.iter().zip(self.inner()).all(|(strides, step)| step <= 1 || strides[axis] == 1);
        let axis = (0..last).find(|&axis| along(axis))?;
        let most = kernel.dtypes(dtype).map(size_of).max().unwrap_or(1);
        let edge = edge(most);
        let shared: usize = kernel
            .dtypes(dtype)
            .enumerate()
            .filter(|(at, _)| apart >> at & 1 == 1)
            .map(|(_, dtype)| edge * (edge + 1) * size_of(dtype))
            .sum();
        if kernel.counts || self.sizes[axis] < 8 || self.sizes[last] < 8 || shared > SHARED {
            return None;
        }
        self.sizes[axis..last].rotate_left(1);
        for strides in &mut self.strides {
            strides[axis..last].rotate_left(1);
        }
        let tiles: usize = self.sizes[..last - 1].iter().product();
        self.threads = tiles * self.sizes[last - 1].div_ceil(edge) * self.sizes[last].div_ceil(edge) * THREADS;
        // A step from tile to tile may be longer than the tensor.
        let far = self
            .strides
            .iter()
            .flat_map(|strides| &strides[last - 1..=last])
            .any(|&stride| stride > (i32::MAX as usize) / edge);
        self.form.layout = Layout::Tiles { wide: wide || far, turned: apart, edge };
        Some(())
    }

    /// The plan, in a form that suits its strides better than one element at a time, if there is one.
    #[cfg(feature = "cuda")]
    pub(crate) fn refined(mut self, kernel: &Kernel, dtype: DType) -> Plan {
        // (Where there is none, nothing has changed.)
        let _ = self.suited(kernel, dtype);
        self
    }

    /// Sizes and strides of what a kernel counts: packs along the innermost axis, or tiles along both.
    pub(super) fn counted(&self) -> (Vec<[usize; 8]>, usize) {
        let mut rows: Vec<[usize; 8]> = core::iter::once(self.sizes).chain(self.strides.iter().copied()).collect();
        let last = self.rank.saturating_sub(1);
        let (axes, step) = match self.form.layout {
            Layout::Rows { .. } => (last..last + 1, self.pack),
            Layout::Tiles { edge, .. } => (last - 1..last + 1, edge),
            _ => (0..0, 1),
        };
        for axis in axes {
            rows[0][axis] = rows[0][axis].div_ceil(step);
            rows[1..].iter_mut().for_each(|strides| strides[axis] *= step);
        }
        let count = if matches!(self.form.layout, Layout::Tiles { .. }) {
            rows[0][..self.rank].iter().product()
        } else {
            self.len / step
        };
        (rows, count)
    }
}

impl Kernel {
    /// The body of a kernel over rows in packs.
    pub(super) fn rows_body(
        &self,
        text: &mut String,
        out: DType,
        word: &str,
        broadcast: u32,
        element: &dyn Fn(&dyn Fn(usize) -> String, &str) -> String,
    ) {
        let pack = pack(self.dtypes(out).map(size_of));
        let _ = writeln!(
            text,
            "  CI_EACH_OF({word}, pack, n) {{\n    {word} to[{}];\n    ci_find(at, pack, to);",
            self.operands.len() + 1
        );
        let is_one = |at: usize| broadcast >> (at + 1) & 1 == 1;
        for (at, &(dtype, _)) in self.operands.iter().enumerate() {
            let (ty, place) = (c_type(dtype), at + 1);
            let _ = match is_one(at) {
                true => writeln!(text, "    const {ty} a{at} = p{at}[to[{place}]];"),
                false => writeln!(
                    text,
                    "    const ci_pack<{ty}, {pack}> a{at} = ci_load<{ty}, {pack}>(p{at} + to[{place}], 0);"
                ),
            };
        }
        let place = |at: usize| if is_one(at) { format!("a{at}") } else { format!("a{at}.of[k]") };
        let one = element(&place, &format!("(ci_u64)pack * {pack} + k"));
        let out = c_type(out);
        let _ = writeln!(
            text,
            "    ci_pack<{out}, {pack}> results;\n    CI_UNROLL\n    for (int k = 0; k < {pack}; k++) results.of[k] = {one};\n    \
             ci_store<{out}, {pack}>(out + to[0], 0, results);\n  }}"
        );
    }

    /// The body of a kernel over tiles: operands that lie along the other axis are read along it, and turned in shared memory.
    pub(super) fn tiles_body(
        &self,
        text: &mut String,
        word: &str,
        (turned, edge): (u32, usize),
        element: &dyn Fn(&dyn Fn(usize) -> String, &str) -> String,
    ) {
        let is_turned = |at: usize| turned >> (at + 1) & 1 == 1;
        let all = || self.operands.iter().enumerate().filter(|&(at, _)| is_turned(at));
        for (at, &(dtype, _)) in all() {
            let _ = writeln!(text, "  __shared__ {} t{at}[{edge}][{}];", c_type(dtype), edge + 1);
        }
        let _ = writeln!(
            text,
            "  const unsigned x = threadIdx.x % {edge}, y = threadIdx.x / {edge};\n  const int last = (int)at.rank - 1;\n  \
             for ({word} tile = blockIdx.x; tile < n; tile += gridDim.x) {{\n    {word} to[{}];\n    ci_find(at, tile, to);\n    \
             const {word} column = tile % at.sizes[last] * {edge}, row = tile / at.sizes[last] % at.sizes[last - 1] * {edge};\n    \
             CI_UNROLL\n    for (unsigned r = y; r < {edge}; r += {}) if (row + x < rows && column + r < columns) {{",
            self.operands.len() + 1,
            THREADS / edge
        );
        for (at, _) in all() {
            let place = at + 1;
            let _ = writeln!(text, "      t{at}[r][x] = p{at}[to[{place}] + x + r * (at.of[{place}][last] / {edge})];");
        }
        let place = |at: usize| match is_turned(at) {
            true => format!("t{at}[x][r]"),
            false => {
                let place = at + 1;
                format!(
                    "p{at}[to[{place}] + r * (at.of[{place}][last - 1] / {edge}) + x * (at.of[{place}][last] / {edge})]"
                )
            }
        };
        let one = element(&place, "0");
        let _ = writeln!(
            text,
            "    }}\n    __syncthreads();\n    CI_UNROLL\n    for (unsigned r = y; r < {edge}; r += {}) if (row + r < rows && column + x < columns)\n      \
             out[to[0] + r * (at.of[0][last - 1] / {edge}) + x] = {one};\n    __syncthreads();\n  }}",
            THREADS / edge
        );
    }
}
