//! `rope`: rotary position embedding.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, filled, invalid, listed, numel_at_most};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::losses::{Losing, Turned};
use crate::shape::{Halved, HasAxis, Shape};
use crate::storage::{View, ViewMut};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// Which elements of a vector are rotated as a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotaryLayout {
    /// Adjacent ones, `(x0, x1), (x2, x3), …`: as in the paper, in torchtune's `RotaryPositionalEmbeddings` and in Meta's Llama.
    Interleaved,
    /// Element `i` and element `i + half`: as in Hugging Face's `rotate_half`, GPT-NeoX and checkpoints converted for it.
    Halves,
}

/// Vectors of the last axis rotated by their positions along the axis before; row-major. Angles are computed in `f64`.
pub(crate) fn turned<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    first: usize,
    base: f64,
    layout: RotaryLayout,
) -> Result<D::Storage> {
    let Some((_, &[count, width])) = x.sizes.split_last_chunk::<2>() else {
        return invalid(op, "positions and elements are the last two axes; one is missing".to_owned());
    };
    if !width.is_multiple_of(2) {
        return invalid(op, format!("vectors have an even number of elements, got {width}"));
    }
    let rank = x.sizes.len();
    let half = width / 2;
    let mut storage = D::zeroed::<E>(Some(x.buffer), x.sizes.iter().product())?;
    if !D::has_data(x.buffer) || x.sizes.contains(&0) {
        return Ok(storage);
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
    let mut sizes = x.sizes.to_vec();
    sizes[rank - 1] = half;
    let to = strides::row_major(x.sizes);
    let (step, apart) = match layout {
        RotaryLayout::Interleaved => (2, 1),
        RotaryLayout::Halves => (1, half),
    };
    let (mut from, mut into, mut angles) = (x.strides.to_vec(), to, vec![0; rank]);
    let across = from[rank - 1];
    from[rank - 1] *= step;
    into[rank - 1] = step;
    (angles[rank - 2], angles[rank - 1]) = (half, 1);
    let part = |at: usize| View::<_, E>::new(x.buffer, x.offset + at * apart * across, &sizes, &from);
    for (own, sines) in [(0, &negative), (1, &sines)] {
        let of = |list| View::<_, f64>::new(list, 0, &sizes, &angles);
        let dense = strides::row_major(&sizes);
        // `own * cos`, to which `±other * sin` is added.
        let scaled =
            D::map2::<E, f64, f64>(Losing::<ops::losses::Product>::new([0.0; 2]), part(own), of(&cosines), &dense)?;
        let scaled = View::<_, f64>::new(&scaled, 0, &sizes, &dense);
        let sum = D::map3::<f64, E, f64, E>(Losing::<Turned>::new([0.0; 2]), scaled, part(1 - own), of(sines), &dense)?;
        let out = ViewMut::<_, E>::new(&mut storage, own * apart, &sizes, &into);
        D::map1_into::<E, E>(ops::kernel::Copying, View::new(&sum, 0, &sizes, &dense), out)?;
    }
    Ok(storage)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Rotary position embedding: in the vectors along the last axis each pair of elements is rotated by `position * base^(-2i / width)`,
    /// where `i` is the number of the pair and the position is that along the axis before, counted from `first`. `layout` says which
    /// elements are pairs.
    ///
    /// Shape: that of `self`, `(…, positions, width)`; torchtune's tensors are `(N, positions, heads, width)`: exchange the middle axes.
    /// Dtypes: floating-point; angles are computed in `f64`.
    ///
    /// PyTorch has none; see torchtune's `RotaryPositionalEmbeddings` ([`RotaryLayout::Interleaved`]) and Hugging Face's
    /// `apply_rotary_pos_emb` ([`RotaryLayout::Halves`]), where `base` is 10000 if not given.
    ///
    /// # Panics
    /// If the size of the last axis, known at run time, is odd, or memory runs out.
    ///
    /// ```
    /// use castiron::{RotaryLayout, tensor};
    /// let x = tensor![[1.0, 0.0], [1.0, 0.0]];
    /// let y = x.rope(0, 10000.0, RotaryLayout::Interleaved);
    /// assert!(y.allclose(&tensor![[1.0, 0.0], [1_f32.cos(), 1_f32.sin()]]));
    /// ```
    #[fallible]
    pub fn rope(&self, first: usize, base: f64, layout: RotaryLayout) -> Result<Self>
    where
        E: FloatFor<ops::losses::rope>,
        S: HasAxis<-2>,
        <S as HasAxis<-1>>::Dim: Halved,
    {
        Ok(Tensor::dense(turned::<E, D>("rope", self.elements(), first, base, layout)?, self.shape()))
    }
}
