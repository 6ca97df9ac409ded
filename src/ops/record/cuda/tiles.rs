//! The bodies of kernels over strided elements that are read with vector loads: rows in packs, tiles through shared memory.

use super::super::kernel::Kernel;
use super::super::plan::{pack, size_of};
use super::super::suited::{THREADS, pitch};
use super::c_type;
use crate::dtype::DType;
use core::fmt::Write as _;

/// Elements of untransposed operands loaded before the first one is used: those of one thread in the smallest tile.
const GROUP: usize = 4;

/// Tiles per band, side by side. Tiles are ordered by band, then by row, so that concurrently computed tiles are close along both axes.
const BAND: usize = 16;

/// The body of a kernel that reads rows in packs.
pub(super) fn rows(
    kernel: &Kernel,
    text: &mut String,
    out: DType,
    word: &str,
    broadcast: u32,
    element: &dyn Fn(&dyn Fn(usize) -> String, &str) -> String,
) {
    let pack = pack(kernel.dtypes(out).map(size_of));
    let _ = writeln!(
        text,
        "  CI_EACH_OF({word}, pack, n) {{\n    {word} to[{}];\n    ci_find(at, pack, to);",
        kernel.operands.len() + 1
    );
    let is_one = |at: usize| broadcast >> (at + 1) & 1 == 1;
    for (at, &(dtype, _)) in kernel.operands.iter().enumerate() {
        let (ty, place) = (c_type(dtype), at + 1);
        let _ = match is_one(at) {
            true => writeln!(text, "    const {ty} a{at} = p{at}[to[{place}]];"),
            false => {
                writeln!(text, "    const ci_pack<{ty}, {pack}> a{at} = ci_load<{ty}, {pack}>(p{at} + to[{place}], 0);")
            }
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

/// The declarations before a kernel over tiles: their positions.
pub(super) fn declarations(edge: usize) -> String {
    format!(
        "template<class I, int K> struct ci_tiles {{ I across, down, columns, rows, steps[K][2]; ci_strides<I, K> around; }};\n\
         template<class I, int K> CI_FN void ci_tile(const ci_tiles<I, K>& at, const I tile, I& row, I& column, I (&to)[K]) {{\n  \
         const I outer = tile / (at.across * at.down), here = tile - outer * (at.across * at.down), band = here / ({BAND} * at.down);\n  \
         const I inside = here - band * ({BAND} * at.down), left = at.across - band * {BAND}, width = left < {BAND} ? left : {BAND};\n  \
         const I down = inside / width;\n  row = down * {edge};\n  column = (band * {BAND} + inside - down * width) * {edge};\n  \
         ci_find(at.around, outer, to);\n  CI_UNROLL\n  \
         for (int k = 0; k < K; k++) to[k] += row * at.steps[k][0] + column * at.steps[k][1];\n}}\n\
         template<class I> CI_FN unsigned ci_least(const I a, const unsigned b) {{ return a < b ? (unsigned)a : b; }}\n"
    )
}

/// The body of a kernel over tiles: operands contiguous along the other axis are read along it, and transposed in shared memory. Reads
/// past an edge are clamped to the last valid element, so that no load depends on another.
pub(super) fn tiles(
    kernel: &Kernel,
    text: &mut String,
    word: &str,
    (turned, edge): (u32, usize),
    element: &dyn Fn(&dyn Fn(usize) -> String, &str) -> String,
) {
    let is_turned = |at: usize| turned >> (at + 1) & 1 == 1;
    let all = |turned: bool| kernel.operands.iter().enumerate().filter(move |&(at, _)| is_turned(at) == turned);
    for (at, &(dtype, _)) in all(true) {
        let pitch = pitch(edge, size_of(dtype));
        let _ = writeln!(text, "  __shared__ {} t{at}[{edge}][{pitch}];", c_type(dtype));
    }
    let (step, each) = (THREADS / edge, edge * edge / THREADS);
    let _ = writeln!(
        text,
        "  const unsigned x = threadIdx.x % {edge}, y = threadIdx.x / {edge};\n  \
         for ({word} tile = blockIdx.x; tile < n; tile += gridDim.x) {{\n    {word} row, column, to[{}];\n    \
         ci_tile(at, tile, row, column, to);\n    \
         const unsigned down = ci_least(at.rows - row, {edge}), across = ci_least(at.columns - column, {edge});\n    \
         const unsigned x_down = ci_least(x, down - 1), x_across = ci_least(x, across - 1);",
        kernel.operands.len() + 1,
    );
    for (at, &(dtype, _)) in all(true) {
        let (place, ty) = (at + 1, c_type(dtype));
        let _ = writeln!(
            text,
            "    {ty} here{at}[{each}];\n    CI_UNROLL\n    for (unsigned k = 0; k < {each}; k++) \
             here{at}[k] = p{at}[to[{place}] + x_down + ci_least(y + k * {step}, across - 1) * at.steps[{place}][1]];\n    \
             CI_UNROLL\n    for (unsigned k = 0; k < {each}; k++) t{at}[y + k * {step}][x] = here{at}[k];"
        );
    }
    let _ = writeln!(
        text,
        "    __syncthreads();\n    CI_UNROLL\n    for (unsigned first = 0; first < {each}; first += {GROUP}) {{"
    );
    for (at, &(dtype, _)) in all(false) {
        let (place, ty) = (at + 1, c_type(dtype));
        let _ = writeln!(
            text,
            "      {ty} a{at}[{GROUP}];\n      CI_UNROLL\n      for (unsigned k = 0; k < {GROUP}; k++) \
             a{at}[k] = p{at}[to[{place}] + ci_least(y + (first + k) * {step}, down - 1) * at.steps[{place}][0] + x_across * at.steps[{place}][1]];"
        );
    }
    let place = |at: usize| if is_turned(at) { format!("t{at}[x][r]") } else { format!("a{at}[k]") };
    let one = element(&place, "0");
    let _ = writeln!(
        text,
        "      CI_UNROLL\n      for (unsigned k = 0; k < {GROUP}; k++) {{\n        const unsigned r = y + (first + k) * {step};\n        \
         if (r < down && x < across) out[to[0] + r * at.steps[0][0] + x] = {one};\n      }}\n    }}\n    __syncthreads();\n  }}"
    );
}
