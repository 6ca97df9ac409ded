//! `rope`: rotary position embedding.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, filled, invalid, listed, numel_at_most};
use crate::layout::dims::Dims;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::Copying;
use crate::ops::losses::{self, Losing, Product, Turned};
use crate::shape::{Halved, HasAxis};
use crate::storage::{View, ViewMut};
use crate::tensor::checked_numel;
use castiron_macros::composites;

/// Which elements of a vector are rotated as a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotaryLayout {
    /// Adjacent ones, `(x0, x1), (x2, x3), …`: as in the paper, in torchtune's `RotaryPositionalEmbeddings` and in Meta's Llama.
    Interleaved,
    /// Element `i` and element `i + half`: as in Hugging Face's `rotate_half`, GPT-NeoX and checkpoints converted for it.
    Halves,
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Rotary position embedding: in the vectors along the last axis each pair of elements is rotated by `position * base^(-2i / width)`,
    /// where `i` is the number of the pair and the position is that along the axis before, counted from `first`. `layout` says which
    /// elements are pairs.
    ///
    /// Shape: that of `self`, `(…, positions, width)`; torchtune's tensors are `(N, positions, heads, width)`: exchange the middle axes.
    /// Angles are computed in `f64`.
    ///
    /// PyTorch has none; see torchtune's `RotaryPositionalEmbeddings` ([`RotaryLayout::Interleaved`](crate::RotaryLayout)) and Hugging
    /// Face's `apply_rotary_pos_emb` ([`RotaryLayout::Halves`](crate::RotaryLayout)), where `base` is 10000 if not given.
    ///
    /// # Errors
    /// If there are fewer than two axes, or the size of the last one is odd.
    #[op(_, dtypes = float)]
    #[typed((&self, first: usize, base: f64, layout: RotaryLayout) -> Self
        where
            E: FloatFor<losses::rope>,
            S: HasAxis<-2>,
            <S as HasAxis<-1>>::Dim: Halved)]
    #[example(let x = tensor![[1.0, 0.0], [1.0, 0.0]]; x.rope(0, 10000.0, RotaryLayout::Interleaved), x.rope(0, 10000.0, RotaryLayout::Interleaved), ~ tensor![[1.0, 0.0], [1_f32.cos(), 1_f32.sin()]])]
    pub(crate) fn rope(&self, first: usize, base: f64, layout: RotaryLayout) -> Result<Owned<E, D>> {
        let (op, x, rank) = ("rope", self.view(), self.rank());
        let Some((_, &[count, width])) = x.sizes.split_last_chunk::<2>() else {
            return invalid(op, "positions and elements are the last two axes; one is missing".to_owned());
        };
        if !width.is_multiple_of(2) {
            return invalid(op, format!("vectors have an even number of elements, got {width}"));
        }
        let half = width / 2;
        checked_numel::<E>(op, x.sizes)?;
        let mut storage = D::zeroed::<E>(Some(x.buffer), x.sizes.iter().product())?;
        if !D::has_data(x.buffer) || x.sizes.contains(&0) {
            return Ok(Erased::dense(storage, self.dims()));
        }
        let len = numel_at_most(&[count, half]);
        let (mut cosines, mut sines) = (filled(0.0_f64, len)?, filled(0.0_f64, len)?);
        for position in 0..count {
            for pair in 0..half {
                let angle = (first + position) as f64 * base.powf(-2.0 * pair as f64 / width as f64);
                (sines[position * half + pair], cosines[position * half + pair]) = angle.sin_cos();
            }
        }
        let negative = listed(sines.iter().map(|sine| -sine))?;
        let [cosines, sines, negative] =
            [cosines, sines, negative].map(|list: Vec<f64>| D::build::<f64>(Some(x.buffer), || Ok(list)));
        let (cosines, sines, negative) = (cosines?, sines?, negative?);
        let mut sizes = self.dims();
        sizes[rank - 1] = half;
        let dense = sizes.row_major();
        let (step, apart) = match layout {
            RotaryLayout::Interleaved => (2, 1),
            RotaryLayout::Halves => (1, half),
        };
        let (mut from, mut into, mut angles) =
            (Dims::known(x.strides), self.dims().row_major(), Dims::of_rank(op, rank)?);
        let across = from[rank - 1];
        from[rank - 1] *= step;
        into[rank - 1] = step;
        (angles[rank - 2], angles[rank - 1]) = (half, 1);
        let part = |at: usize| View::<_, E>::new(x.buffer, x.offset + at * apart * across, &sizes, &from);
        for (own, sines) in [(0, &negative), (1, &sines)] {
            let of = |list| View::<_, f64>::new(list, 0, &sizes, &angles);
            // `own * cos`, to which `±other * sin` is added.
            let scaled = D::map2::<E, f64, f64>(Losing::<Product>::new([0.0; 2]), part(own), of(&cosines), &dense)?;
            let scaled = View::<_, f64>::new(&scaled, 0, &sizes, &dense);
            let sum =
                D::map3::<f64, E, f64, E>(Losing::<Turned>::new([0.0; 2]), scaled, part(1 - own), of(sines), &dense)?;
            let out = ViewMut::<_, E>::new(&mut storage, own * apart, &sizes, &into);
            D::map1_into::<E, E>(Copying, View::new(&sum, 0, &sizes, &dense), out)?;
        }
        Ok(Erased::dense(storage, self.dims()))
    }
}
