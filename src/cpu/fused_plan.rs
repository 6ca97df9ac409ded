//! The axes that an expression is computed along: in the order of the result, merged where all leaves allow it, tiled where a leaf is
//! contiguous along another axis than the result.

use super::walk::TILE;
use crate::ops::expression::{AXES, CHUNK};

/// Something with strided leaves.
pub(super) trait HasStrides {
    /// Calls `see` with each leaf's strides.
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES]));
}

/// The axes of an expression and its result, outermost first, without those of size 1.
#[derive(Clone, Copy)]
pub(super) struct FusedPlan {
    pub rank: usize,
    pub sizes: [usize; AXES],
    /// The strides of the result.
    pub out: [usize; AXES],
    /// Whether the last two axes are visited in tiles, because a leaf is contiguous along the other one.
    tiled: bool,
    /// Whether every leaf is contiguous along the last axis.
    pub(super) aligned: bool,
}

impl FusedPlan {
    /// Orders the axes by the result's strides and merges those that the result and all leaves traverse as one.
    pub(super) fn new(x: &mut dyn HasStrides, sizes: &[usize], out: &[usize]) -> Self {
        let mut plan = FusedPlan { rank: 0, sizes: [1; AXES], out: [0; AXES], tiled: false, aligned: true };
        let mut order: [usize; AXES] = [0; AXES];
        for (axis, &size) in sizes.iter().enumerate() {
            if size != 1 {
                order[plan.rank] = axis;
                plan.rank += 1;
            }
        }
        let order = &mut order[..plan.rank];
        if !order.is_sorted_by_key(|&axis| core::cmp::Reverse(out[axis])) {
            order.sort_by_key(|&axis| core::cmp::Reverse(out[axis]));
        }
        for (to, &from) in order.iter().enumerate() {
            (plan.sizes[to], plan.out[to]) = (sizes[from], out[from]);
        }
        reorder(x, order);
        plan.rank = merge(x, &mut plan.sizes[..plan.rank], 0, Some(&mut plan.out));
        plan.tile(x);
        let last = plan.rank.saturating_sub(1);
        x.show(&mut |strides| plan.aligned &= strides[last] == 1);
        plan
    }

    /// If leaves have smaller strides along another axis than along the last one, moves that axis next to the last.
    fn tile(&mut self, x: &mut dyn HasStrides) {
        let Some(inner) = self.rank.checked_sub(1) else { return };
        let mut closest = None;
        x.show(&mut |strides| {
            for axis in 0..inner {
                if strides[axis] > 0 && strides[axis] < strides[inner] {
                    let found = (strides[axis], axis);
                    closest = Some(closest.map_or(found, |closest: (usize, usize)| closest.min(found)));
                }
            }
        });
        if let Some((_, axis)) = closest {
            self.sizes[axis..inner].rotate_left(1);
            self.out[axis..inner].rotate_left(1);
            x.show(&mut |strides| strides[axis..inner].rotate_left(1));
            self.tiled = true;
        }
    }

    /// Lines and elements per block.
    #[inline(always)]
    pub(super) fn block(&self) -> [usize; 2] {
        if self.tiled {
            [TILE, TILE]
        } else if self.aligned {
            [1, usize::MAX]
        } else {
            [1, CHUNK]
        }
    }
}

/// Permutes each leaf's axes; omitted axes have size 1.
fn reorder(x: &mut dyn HasStrides, order: &[usize]) {
    x.show(&mut |strides| {
        let old = *strides;
        *strides = [0; AXES];
        for (to, &from) in order.iter().enumerate() {
            strides[to] = old[from];
        }
    });
}

/// Merges neighbouring axes from axis `from` on, where all leaves and the result allow it. Returns the number of axes left.
fn merge(x: &mut dyn HasStrides, sizes: &mut [usize], from: usize, mut out: Option<&mut [usize; AXES]>) -> usize {
    let rank = sizes.len();
    let mut last = from;
    for axis in from + 1..rank {
        let size = sizes[axis];
        let runs_on = |strides: &[usize; AXES]| Some(strides[last]) == strides[axis].checked_mul(size);
        let mut all = out.as_deref().is_none_or(runs_on);
        x.show(&mut |strides| all &= runs_on(strides));
        if all {
            sizes[last] *= size;
        } else {
            last += 1;
            sizes[last] = size;
        }
        let mut carry = |strides: &mut [usize; AXES]| strides[last] = strides[axis];
        out.as_deref_mut().into_iter().for_each(&mut carry);
        x.show(&mut carry);
    }
    let left = rank.min(last + 1);
    // Strides beyond the last axis are cleared.
    x.show(&mut |strides| strides[left..rank].fill(0));
    left
}
