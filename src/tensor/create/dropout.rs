//! Random dropout of elements: `dropout`, `alpha_dropout`, and those of whole channels.

use super::random::Generator;
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::layout::{memory_format, strides};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::losses::{AlphaDropped, Dropped, Losing};
use crate::shape::{Dyn, HasChannels, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;

/// What is dropped, and the value of dropped elements: zero, or the limit of `selu` for minus infinity.
#[derive(Clone, Copy)]
pub(crate) struct Dropping {
    pub(crate) op: &'static str,
    pub(crate) as_one: DroppedAsOne,
    pub(crate) keeps_moments: bool,
}
/// What is dropped as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DroppedAsOne {
    /// Each element.
    Element,
    /// Each channel, the second axis.
    Channel,
    /// Each channel: the second axis with a batch, which gives this rank, else the first.
    PerhapsBatched(usize),
}
impl DroppedAsOne {
    /// The axes from here on are dropped as one.
    fn first_within(self, rank: usize) -> usize {
        match self {
            DroppedAsOne::Element => rank,
            DroppedAsOne::PerhapsBatched(batched) if rank < batched => 1,
            DroppedAsOne::Channel | DroppedAsOne::PerhapsBatched(_) => 2,
        }
    }
}

/// The elements that are kept, scaled, and the value of dropped ones in place of the others, with the strides of an elementwise result.
pub(crate) fn dropped<E: Dtype, D: Device>(
    how: Dropping,
    x: View<'_, D::Storage, E>,
    p: f64,
    generator: &mut Generator,
) -> Result<(D::Storage, Dims)> {
    if !(0.0..=1.0).contains(&p) {
        return invalid(how.op, format!("a probability is between 0 and 1, got {p}"));
    }
    let to = memory_format::elementwise_of(&Dims::new(how.op, x.sizes)?, [(x.sizes, x.strides, false)]);
    let within = how.as_one.first_within(x.sizes.len());
    let drawn: Vec<usize> =
        x.sizes.iter().enumerate().map(|(axis, &size)| if axis >= within { 1 } else { size }).collect();
    let count: usize = drawn.iter().product();
    if !D::has_data(x.buffer) || x.sizes.contains(&0) {
        return Ok((D::zeroed::<E>(Some(x.buffer), checked_numel::<E>(how.op, x.sizes)?)?, to));
    }
    let share = D::fill(Some(x.buffer), (1.0 - p) as f32, 1)?;
    let shares: Tensor<f32, (Dyn,), D> = Tensor::from_parts(share, 0, [count], [0]);
    let kept = shares.try_bernoulli(generator)?.try_contiguous()?;
    let steps = strides::broadcast_list(&drawn, &strides::row_major(&drawn), x.sizes);
    let kept = kept.elements().restrided(x.sizes, &steps);
    if how.keeps_moments {
        // Scale and shift keep mean and variance of the output of `selu`. Source: Klambauer et al., "Self-Normalizing Neural Networks"
        // (2017).
        let scale = 1.0 / ((ops::losses::ALPHA.powi(2) * p + 1.0) * (1.0 - p)).sqrt();
        let scale = if p == 1.0 { 0.0 } else { scale };
        return Ok((D::map2::<E, f32, E>(Losing::<AlphaDropped>::new([scale, p]), x, kept, &to)?, to));
    }
    let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
    Ok((D::map2::<E, f32, E>(Losing::<Dropped>::new([scale, 0.0]), x, kept, &to)?, to))
}

macro_rules! dropouts {
    ($($name:ident [$as_one:expr, $keeps:literal] $of:ident $training:literal; $doc:literal, $torch:literal, $example:literal)*) => {
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            #[doc = $doc]
            ///
            /// Shape and layout: those of `self`. Dtypes: floating-point. Without `training` it returns the tensor itself.
            ///
            #[doc = concat!("PyTorch: `", $torch, "`, where `p` is 0.5 and `training` ", $training, " if not given.")]
            ///
            /// # Panics
            /// If `p` is not between 0 and 1, or memory runs out.
            ///
            /// ```
            /// use castiron::{Generator, Tensor, shape, tensor};
            /// let generator = &mut Generator::seeded(0);
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name(&self, p: f64, training: bool, generator: &mut Generator) -> Result<Self>
            where
                E: FloatFor<ops::losses::dropout>,
                S: $of,
            {
                if !training {
                    return Ok(self.clone());
                }
                let how = Dropping { op: stringify!($name), as_one: $as_one, keeps_moments: $keeps };
                let (storage, strides) = dropped::<E, D>(how, self.elements(), p, generator)?;
                Ok(Tensor::from_parts(storage, 0, self.shape(), S::Sizes::copied(&strides)))
            }
        )*}
    };
}
dropouts! {
    dropout [DroppedAsOne::Element, false] Shape "true";
        "Zeros in place of elements, each with probability `p`; those that stay are divided by `1 - p`.", "torch.nn.functional.dropout",
        "let y = tensor![1.0, 2.0, 3.0].dropout(0.5, true, generator).to_vec();\nassert!(y.iter().zip([2.0, 4.0, 6.0]).all(|(&y, x)| y == 0.0 || y == x));"
    dropout1d [DroppedAsOne::PerhapsBatched(3), false] HasChannels "true";
        "Zeros in place of whole channels of `(N, C, L)` or `(C, L)`, each with probability `p`; those that stay are divided by `1 - p`.",
        "torch.nn.functional.dropout1d",
        "let y = Tensor::<f32, shape![1, 4, 3]>::ones().dropout1d(0.5, true, generator).to_vec();\nassert!(y.chunks(3).all(|channel| channel == [0.0; 3] || channel == [2.0; 3]));"
    dropout2d [DroppedAsOne::Channel, false] HasChannels "true";
        "Zeros in place of whole channels of `(N, C, H, W)`, each with probability `p`; those that stay are divided by `1 - p`.",
        "torch.nn.functional.dropout2d",
        "let y = Tensor::<f32, shape![1, 4, 2, 2]>::ones().dropout2d(0.5, true, generator).to_vec();\nassert!(y.chunks(4).all(|channel| channel == [0.0; 4] || channel == [2.0; 4]));"
    dropout3d [DroppedAsOne::PerhapsBatched(5), false] HasChannels "true";
        "Zeros in place of whole channels of `(N, C, D, H, W)` or `(C, D, H, W)`, each with probability `p`; those that stay are divided by `1 - p`.",
        "torch.nn.functional.dropout3d",
        "let y = Tensor::<f32, shape![1, 4, 1, 2, 2]>::ones().dropout3d(0.5, true, generator).to_vec();\nassert!(y.chunks(4).all(|channel| channel == [0.0; 4] || channel == [2.0; 4]));"
    alpha_dropout [DroppedAsOne::Element, true] Shape "false";
        "What `selu` gives at minus infinity in place of elements, each with probability `p`; all are scaled and moved so that mean and variance stay.",
        "torch.nn.functional.alpha_dropout",
        "assert_eq!(tensor![1.0, 2.0].alpha_dropout(0.0, true, generator).to_vec(), [1.0, 2.0]);"
    feature_alpha_dropout [DroppedAsOne::Channel, true] HasChannels "false";
        "[`alpha_dropout`](Self::alpha_dropout) of whole channels, those of the second axis.", "torch.nn.functional.feature_alpha_dropout",
        "assert_eq!(tensor![[1.0, 2.0]].feature_alpha_dropout(0.0, true, generator).to_vec(), [1.0, 2.0]);"
}
