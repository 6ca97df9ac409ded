//! A matrix packed in strips of columns, in the layout in which the convolution kernels read weights: the right side of several products.

use super::patch;
use super::tile::{self, Finish, Kernels, TileArgs};
use super::weights::strips;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::storage::Scratch;
use core::any::TypeId;

/// A packed matrix: for each strip of columns all rows, with the last strip padded with zeros.
pub(in crate::cpu) struct Panel<C: 'static> {
    kernels: Kernels<C>,
    sizes: [usize; 2],
    packed: Scratch<C>,
    zeros: Scratch<C>,
}

/// The rows to multiply with a panel, and the destination.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Rows<C> {
    /// Number of rows on the left, the first number, and the row stride; a row is contiguous.
    pub(in crate::cpu) count: usize,
    pub(in crate::cpu) left: *const C,
    pub(in crate::cpu) left_step: usize,
    /// The destination, with room for whole strips.
    pub(in crate::cpu) out: *mut C,
    pub(in crate::cpu) out_step: usize,
    /// Whether the products are added to the destination's values.
    pub(in crate::cpu) adds: bool,
    /// Number of terms per sum and of result columns: at most the panel's rows and columns.
    pub(in crate::cpu) terms: usize,
    pub(in crate::cpu) columns: usize,
}

impl<C: Copy + Default + 'static> Panel<C> {
    /// Columns per strip, and the best number of rows to multiply at once.
    pub(in crate::cpu) fn strip_and_rows() -> [usize; 2] {
        let kernels = tile::kernels::<C>()[0];
        [kernels.strip, kernels.pixels[0]]
    }

    /// Packs a matrix of these sizes, given its first element and its row and column strides, of a dtype that [has](super::has) kernels.
    ///
    /// # Safety
    /// These elements are valid.
    pub(in crate::cpu) unsafe fn pack<E: Dtype<Compute = C>>(
        from: *const E,
        sizes: [usize; 2],
        steps: [usize; 2],
    ) -> Result<Self> {
        let kernels = tile::kernels::<C>()[0];
        let [rows, columns] = sizes;
        let strip = kernels.strip;
        let packed = Scratch::<C>::try_new([strips(columns, strip), rows, strip])?;
        for at in 0..strips(columns, strip) {
            let here = strip.min(columns - at * strip);
            let from = from.wrapping_add(at * strip * steps[1]);
            let to = packed.start().wrapping_add(at * rows * strip);
            // SAFETY: the columns are those of the matrix, and there is room for a strip of all rows.
            unsafe {
                if here < strip {
                    (0..rows * strip).for_each(|at| to.add(at).write(C::default()));
                }
                if steps[0] == 1 && TypeId::of::<E>() == TypeId::of::<C>() {
                    // Columns are contiguous: squares are transposed.
                    patch::store::<E>(from.cast(), steps[1], to.cast(), [here, rows], [1, strip], false);
                } else {
                    patch::widen::<E>(from, to, [here, rows], [steps[1], steps[0]], [1, strip]);
                }
            }
        }
        Ok(Panel { kernels, sizes, packed, zeros: Scratch::try_filled(C::default(), [strip])? })
    }

    /// Multiplies rows with the panel.
    ///
    /// # Safety
    /// The rows are readable, the destination is the caller's, and initialised if it is added to.
    pub(in crate::cpu) unsafe fn multiply(&self, rows: Rows<C>) {
        let strip = self.kernels.strip;
        debug_assert!(rows.terms <= self.sizes[0] && rows.columns <= self.sizes[1]);
        let tiles = self.kernels.tiles_of(rows.count);
        for at in 0..strips(rows.columns, strip) {
            let mut row = 0;
            for &count in &tiles {
                let out = rows.out.wrapping_add(row * rows.out_step + at * strip);
                let (start, start_step) =
                    if rows.adds { (out.cast_const(), rows.out_step) } else { (self.zeros.start().cast_const(), 0) };
                let weights = self.packed.start().wrapping_add(at * self.sizes[0] * strip).cast_const();
                let args = TileArgs {
                    x: rows.left.wrapping_add(row * rows.left_step),
                    step: rows.left_step,
                    runs: &[0],
                    len: rows.terms,
                    weights,
                    weights_step: strip,
                    start,
                    start_step,
                    out,
                    out_step: rows.out_step,
                    columns: strip,
                    finish: Finish::Store,
                    // (The panel is cached already.)
                    ahead: weights,
                    ahead_step: 0,
                };
                // SAFETY: a strip has all rows of the panel; the rest is the caller's promise.
                unsafe { self.kernels.run(count, &args) }
                row += count;
            }
        }
    }
}
