//! How a kernel is launched: the form of its loop, by the memory layout of its operands, and the arguments.
//!
//! A device compiles the text once per type and form, and launches it with the arguments. The parameters are the addresses of the operands,
//! the values, the address of the result, the number of elements, and, where elements are not contiguous, a struct of sizes and strides.
//! Strided elements are read with vector loads where that is possible: rows in packs where the innermost axes are contiguous, tiles through
//! shared memory where some operands are contiguous along another axis than the result.

use super::arguments::{Arguments, MOST_BYTES};
use super::graph::Unreadable;
use super::kernel::{Kernel, Operand};
use crate::dtype::DType;

/// The memory layout of all operands and of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Contiguous, each address aligned to its pack: 16 bytes of the smallest dtype, and the same number of elements of the others.
    Packs,
    /// Contiguous, at any address.
    Contiguous,
    /// With strides; positions fit 31 bits.
    Strided32,
    /// With strides.
    Strided64,
    /// Strided, except along the innermost axis, which is read in packs; operands in the mask `broadcast` (bit 0 is the result) have one
    /// element for the whole axis.
    Rows { wide: bool, broadcast: u32 },
    /// Strided; operands in the mask `turned` are contiguous along the second to last axis, and are read in tiles of side `edge`.
    Tiles { wide: bool, turned: u32, edge: usize },
}
impl Layout {
    /// Whether positions have 64 bits, if strided.
    pub(super) fn is_wide(self) -> Option<bool> {
        match self {
            Layout::Packs | Layout::Contiguous => None,
            Layout::Strided32 => Some(false),
            Layout::Strided64 => Some(true),
            Layout::Rows { wide, .. } | Layout::Tiles { wide, .. } => Some(wide),
        }
    }
}

/// The form of a kernel: together with its type, everything that its text depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The memory layout.
    pub layout: Layout,
    /// Whether the result overwrites an operand, or elements that an operand reads.
    pub in_place: bool,
}

/// The layout of a launch: sizes without axes of size 1, with mergeable axes merged, and the strides of the result and of each operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The form to compile.
    pub form: Form,
    /// The number of elements.
    pub len: usize,
    /// Number of threads with work.
    pub threads: usize,
    /// Elements per pack.
    pub(super) pack: usize,
    pub(super) out: u64,
    pub(super) rank: usize,
    pub(super) sizes: [usize; 8],
    pub(super) strides: Vec<[usize; 8]>,
}

/// Elements per pack: 16 bytes of the smallest dtype, but at most 32 bytes of the largest.
pub(super) fn pack(sizes: impl Iterator<Item = usize> + Clone) -> usize {
    let (least, most) = (sizes.clone().min().unwrap_or(1), sizes.max().unwrap_or(1));
    (16 / least).min(32 / most).max(1)
}

impl Kernel {
    pub(super) fn dtypes(&self, out: DType) -> impl Iterator<Item = DType> + Clone + '_ {
        core::iter::once(out).chain(self.operands.iter().map(|&(dtype, _)| dtype))
    }

    /// How to run it over elements of these sizes, with up to eight axes, to a result of this dtype. `in_place` says that each result
    /// element overwrites an operand's element that nothing else reads.
    pub fn plan(&self, dtype: DType, out: Operand, sizes: &[usize], in_place: bool) -> Plan {
        let len = sizes.iter().product();
        let all = core::iter::once(&out).chain(self.operands.iter().map(|(_, operand)| operand));
        let mut plan = Plan {
            form: Form { layout: Layout::Contiguous, in_place },
            len,
            threads: len,
            pack: pack(self.dtypes(dtype).map(size_of)),
            out: out.address,
            rank: 0,
            sizes: [1; 8],
            strides: vec![[0; 8]; self.operands.len() + 1],
        };
        let mut order: Vec<usize> = (0..sizes.len()).filter(|&axis| sizes[axis] != 1).collect();
        // In the result's memory order, so that axes merge; unless the kernel uses row-major positions.
        if !self.counts {
            order.sort_by_key(|&axis| core::cmp::Reverse(out.strides[axis]));
        }
        for axis in order {
            let size = sizes[axis];
            let outer = plan.rank.checked_sub(1);
            let one_step =
                |to: &[usize; 8], from: &Operand| outer.is_some_and(|outer| to[outer] == from.strides[axis] * size);
            let merges = plan.strides.iter().zip(all.clone()).all(|(to, from)| one_step(to, from));
            if !merges {
                plan.rank += 1;
            }
            let at = plan.rank - 1;
            plan.sizes[at] = if merges { plan.sizes[at] * size } else { size };
            for (to, from) in plan.strides.iter_mut().zip(all.clone()) {
                to[at] = from.strides[axis];
            }
        }
        let dense = plan.rank == 0 || plan.rank == 1 && plan.strides.iter().all(|strides| strides[0] == 1);
        plan.form.layout = if dense {
            let (pack, dtypes) = (plan.pack, self.dtypes(dtype));
            let aligned = dtypes.zip(all).all(|(dtype, at)| at.address.is_multiple_of(alignment(dtype, pack) as u64));
            if aligned && pack > 1 {
                plan.threads = len.div_ceil(pack);
                Layout::Packs
            } else {
                Layout::Contiguous
            }
        } else {
            let last = |strides: &[usize; 8]| {
                let steps = plan.sizes.iter().zip(strides).map(|(size, stride)| size.saturating_sub(1) * stride);
                steps.sum::<usize>()
            };
            let most = plan.strides.iter().map(last).max().unwrap_or(0).max(len);
            if most <= i32::MAX as usize { Layout::Strided32 } else { Layout::Strided64 }
        };
        plan
    }

    /// The arguments of a launch, in the order of the parameters.
    pub(crate) fn arguments(&self, plan: &Plan) -> Result<Arguments, Unreadable> {
        let mut all = Arguments::default();
        for (_, operand) in &self.operands {
            all.push(operand.address);
        }
        all.append(&self.values);
        all.push(plan.out);
        let (count, numbers) = plan.counted();
        // Sizes and strides as words of this form.
        let is_wide = plan.form.layout.is_wide();
        match is_wide {
            Some(false) => all.push(count as u32),
            Some(true) | None => all.push(count as u64),
        }
        match is_wide {
            Some(false) => {
                all.push_bytes(
                    &numbers.into_iter().flat_map(|number| (number as u32).to_ne_bytes()).collect::<Vec<_>>(),
                );
            }
            Some(true) => {
                all.push_bytes(
                    &numbers.into_iter().flat_map(|number| (number as u64).to_ne_bytes()).collect::<Vec<_>>(),
                );
            }
            None => {}
        }
        if all.size() > MOST_BYTES {
            return Err(Unreadable::Kernel(
                "the expression has too many operands for one kernel; evaluate a part of it first",
            ));
        }
        Ok(all)
    }
}

/// Bytes per element.
pub(super) fn size_of(dtype: DType) -> usize {
    dtype.itemsize()
}

/// The alignment of a pack in bytes.
pub(super) fn alignment(dtype: DType, pack: usize) -> usize {
    (pack * size_of(dtype)).min(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(address: u64, steps: &[usize]) -> Operand {
        let mut strides = [0; 8];
        strides[..steps.len()].copy_from_slice(steps);
        Operand { address, strides }
    }
    /// The plan of a binary kernel on `bf16` and `f32` with an `f32` result.
    fn plan(a: Operand, b: Operand, out: Operand, sizes: &[usize]) -> (Plan, usize) {
        let mut kernel = Kernel::launched();
        kernel.load(DType::BF16, a);
        kernel.load(DType::F32, b);
        let plan = kernel.plan(DType::F32, out, sizes, false);
        let arguments = kernel.arguments(&plan).map_or(0, |arguments| arguments.pointers().len());
        (plan, arguments)
    }

    #[test]
    fn forms_follow_from_strides_and_addresses() {
        let dense = |address| operand(address, &[12, 4, 1]);
        let sizes = [5, 3, 4];
        let of = |a, b, out| plan(a, b, out, &sizes);
        let (packs, arguments) = of(dense(32), dense(64), dense(128));
        // Packs of 8 elements, and the rest; arguments: two operands, the result, the number of elements.
        assert_eq!((packs.form.layout, packs.threads, packs.len, arguments), (Layout::Packs, 8, 60, 4));
        assert_eq!(of(dense(34), dense(64), dense(128)).0.form.layout, Layout::Contiguous);
        assert_eq!(of(dense(32), dense(68), dense(128)).0.form.layout, Layout::Contiguous);
        // Axes permuted in the same way in all operands are as contiguous.
        let turned = |address| operand(address, &[1, 20, 5]);
        assert_eq!(of(turned(32), turned(64), turned(128)).0.form.layout, Layout::Packs);
        let (mixed, arguments) = of(turned(32), dense(64), dense(128));
        assert_eq!(
            (mixed.form.layout, mixed.rank, arguments),
            (Layout::Strided32, 2, 5),
            "the last two axes are no one"
        );
        let (row, _) = of(operand(32, &[0, 4, 1]), dense(64), dense(128));
        assert_eq!((row.form.layout, row.rank, row.sizes[..2].to_vec()), (Layout::Strided32, 2, vec![5, 12]));
        let (far, _) = of(operand(32, &[1 << 30, 4, 1]), dense(64), dense(128));
        assert_eq!(far.form.layout, Layout::Strided64);
        // One element, and no elements.
        assert_eq!(plan(dense(32), dense(64), dense(128), &[]).0.form.layout, Layout::Packs);
        assert_eq!(plan(dense(32), dense(64), dense(128), &[3, 0]).0.len, 0);
    }

    #[test]
    fn strides_choose_rows_and_tiles() {
        let of = |a: &[usize], b: &[usize], sizes: &[usize]| {
            let mut kernel = Kernel::launched();
            kernel.load(DType::F32, operand(256, a));
            kernel.load(DType::F32, operand(512, b));
            let out: Vec<usize> = (0..sizes.len()).map(|at| sizes[at + 1..].iter().product()).collect();
            let plan = kernel.plan(DType::F32, operand(1024, &out), sizes, false).refined(&kernel, DType::F32);
            (plan.form.layout, plan.counted().0)
        };
        // A broadcast row, and a broadcast column; 16 packs of four in each of 48 rows.
        assert_eq!(of(&[64, 1], &[0, 1], &[48, 64]), (Layout::Rows { wide: false, broadcast: 0 }, 768));
        assert_eq!(of(&[64, 1], &[1, 0], &[48, 64]), (Layout::Rows { wide: false, broadcast: 0b100 }, 768));
        // Rows that are not whole packs, or not aligned.
        assert_eq!(of(&[66, 1], &[0, 1], &[48, 66]).0, Layout::Strided32);
        assert_eq!(of(&[65, 1], &[0, 1], &[48, 64]).0, Layout::Strided32);
        // Operands contiguous along the other axis; too small for a tile.
        assert_eq!(of(&[1, 48], &[64, 1], &[48, 64]), (Layout::Tiles { wide: false, turned: 0b10, edge: 64 }, 1));
        assert_eq!(of(&[1, 32], &[64, 1], &[32, 64]), (Layout::Tiles { wide: false, turned: 0b10, edge: 32 }, 2));
        assert_eq!(of(&[1, 7], &[64, 1], &[7, 64]).0, Layout::Strided32);
        // Offsets that fit 32 bits, and offsets that do not.
        assert_eq!(of(&[1, 1 << 27], &[8, 1], &[8, 8]).0, Layout::Tiles { wide: false, turned: 0b10, edge: 32 });
        assert_eq!(of(&[1, 1 << 30], &[8, 1], &[8, 8]).0, Layout::Tiles { wide: true, turned: 0b10, edge: 32 });
    }

    #[test]
    fn too_many_operands_are_an_error() {
        let mut kernel = Kernel::launched();
        for _ in 0..110 {
            kernel.load(DType::F32, operand(16, &[1, 7]));
        }
        let plan = kernel.plan(DType::F32, operand(16, &[7, 1]), &[7, 7], false);
        assert!(kernel.arguments(&plan).unwrap_err().to_string().contains("evaluate a part of it first"));
    }
}
