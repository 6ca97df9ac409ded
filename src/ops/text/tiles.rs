//! Strided elements read with vector loads: rows in packs where the innermost axes are contiguous, tiles through shared memory where some
//! operands are contiguous along another axis than the result.

use super::kernel::{Kernel, c_type};
#[cfg(feature = "cuda")]
use super::source::alignment;
use super::source::{Layout, Plan, pack, size_of};
use crate::dtype::DType;
use core::fmt::Write as _;

/// Threads per block; a block shares a tile.
const THREADS: usize = 256;
/// Elements of untransposed operands loaded before the first one is used: those of one thread in the smallest tile.
const GROUP: usize = 4;
#[cfg(feature = "cuda")]
/// Maximum shared memory for tiles.
const SHARED: usize = 40 << 10;

/// Tiles per band, side by side. Tiles are ordered by band, then by row, so that concurrently computed tiles are close along both axes.
const BAND: usize = 16;

/// The row pitch of a tile in shared memory, in elements of `bytes`: adjacent elements of a column are in different banks.
fn pitch(edge: usize, bytes: usize) -> usize {
    edge + (4 / bytes).max(1)
}

impl Plan {
    #[cfg(feature = "cuda")]
    /// The innermost stride of the result (index 0) and of each operand.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.strides.iter().map(|strides| strides[self.rank - 1])
    }

    /// Changes a strided plan to a form that suits it better, if there is one.
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
        // An axis along which all of those are contiguous, which becomes the second to last one.
        let along =
            |axis: usize| self.strides.iter().zip(self.inner()).all(|(strides, step)| step <= 1 || strides[axis] == 1);
        let axis = (0..last).find(|&axis| along(axis))?;
        let most = kernel.dtypes(dtype).map(size_of).max().unwrap_or(1);
        let shared = |edge: usize| -> usize {
            let turned = kernel.dtypes(dtype).enumerate().filter(|(at, _)| apart >> at & 1 == 1);
            turned.map(|(_, dtype)| edge * pitch(edge, size_of(dtype)) * size_of(dtype)).sum()
        };
        let least = self.sizes[axis].min(self.sizes[last]);
        let edge = if most <= 4 && least > 32 && shared(64) <= SHARED { 64 } else { 32 };
        if kernel.counts || least < 8 || shared(edge) > SHARED {
            return None;
        }
        self.sizes[axis..last].rotate_left(1);
        for strides in &mut self.strides {
            strides[axis..last].rotate_left(1);
        }
        self.threads = self.tiles(edge).iter().product::<usize>() * THREADS;
        self.form.layout = Layout::Tiles { wide, turned: apart, edge };
        Some(())
    }

    /// The plan in a form that suits its strides better than element-wise access, if there is one.
    #[cfg(feature = "cuda")]
    pub(crate) fn refined(mut self, kernel: &Kernel, dtype: DType) -> Plan {
        // (`None` means that nothing has changed.)
        let _ = self.suited(kernel, dtype);
        self
    }

    /// Number of tiles with this edge along the last axis and the one before it, and of such planes.
    fn tiles(&self, edge: usize) -> [usize; 3] {
        let [.., rows, columns] = self.sizes[..self.rank] else { return [1; 3] };
        let around = self.sizes[..self.rank - 2].iter().product();
        [columns.div_ceil(edge), rows.div_ceil(edge), around]
    }

    /// The kernel's loop count, and the fields of its struct: for elements, for packs along the innermost axis, or for tiles.
    pub(super) fn counted(&self) -> (usize, Vec<usize>) {
        let mut lists: Vec<[usize; 8]> = core::iter::once(self.sizes).chain(self.strides.iter().copied()).collect();
        let last = self.rank.saturating_sub(1);
        let numbers = |lists: &[[usize; 8]], rank: usize| lists.iter().flatten().copied().chain([rank]).collect();
        match self.form.layout {
            Layout::Rows { .. } => {
                lists[0][last] /= self.pack;
                lists[1..].iter_mut().for_each(|strides| strides[last] *= self.pack);
                (self.len / self.pack, numbers(&lists, self.rank))
            }
            Layout::Tiles { edge, .. } => {
                let tiles = self.tiles(edge);
                let own = [tiles[0], tiles[1], self.sizes[last], self.sizes[last - 1]];
                let steps = self.strides.iter().flat_map(|strides| [strides[last - 1], strides[last]]);
                let around: Vec<usize> = numbers(&lists, last - 1);
                (tiles.iter().product(), own.into_iter().chain(steps).chain(around).collect())
            }
            _ => (self.len, numbers(&lists, self.rank)),
        }
    }
}

impl Kernel {
    /// The body of a kernel that reads rows in packs.
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

    /// The declarations before a kernel over tiles: their positions.
    pub(super) fn tiles_struct(edge: usize) -> String {
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
    pub(super) fn tiles_body(
        &self,
        text: &mut String,
        word: &str,
        (turned, edge): (u32, usize),
        element: &dyn Fn(&dyn Fn(usize) -> String, &str) -> String,
    ) {
        let is_turned = |at: usize| turned >> (at + 1) & 1 == 1;
        let all = |turned: bool| self.operands.iter().enumerate().filter(move |&(at, _)| is_turned(at) == turned);
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
            self.operands.len() + 1,
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
}
