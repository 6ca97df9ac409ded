//! Forms that suit a launch's strides better than element-wise access: rows in packs, and tiles.

use super::kernel::Kernel;
use super::plan::{Layout, Plan, alignment, size_of};
use crate::dtype::DType;

/// Threads per block; a block shares a tile.
pub(super) const THREADS: usize = 256;
/// Maximum shared memory for tiles.
const SHARED: usize = 40 << 10;

/// The row pitch of a tile in shared memory, in elements of `bytes`: adjacent elements of a column are in different banks.
pub(super) fn pitch(edge: usize, bytes: usize) -> usize {
    edge + (4 / bytes).max(1)
}

impl Plan {
    /// The innermost stride of the result (index 0) and of each operand.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.strides.iter().map(|strides| strides[self.rank - 1])
    }

    /// Changes a strided plan to a form that suits it better, if there is one.
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
