//! Weights of convolutions that are packed once for the kernels of their device.

use crate::composite::nn::conv::{Operands, convolve, five_axes};
use crate::composite::nn::laid;
use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::InexactFor;
use crate::ops::kernel::{Applying, Copying, Map1};
use crate::ops::window::Convolution;
use crate::shape::{Conv, Convolved, Dim, EachAxis, InGroups, Known, Moves, Shape};
use crate::storage::View;
use crate::tensor::{Activation, Optional, SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// A convolution with its weight packed in the memory order of the device's kernels: of one dtype, a weight of shape `W`, options `C` (a
/// [`Conv`]) and a device. Each call of a convolution packs its weight; for a layer that runs many times it is packed once.
///
/// It is made from a weight by [`pack_conv1d`](Tensor::pack_conv1d), [`pack_conv2d`](Tensor::pack_conv2d) or
/// [`pack_conv3d`](Tensor::pack_conv3d), and does not keep the weight itself.
///
/// PyTorch: the weights that a frozen module holds (`torch.jit.freeze`, `torch.utils.mkldnn.to_mkldnn`).
///
/// ```
/// use castiron::{Tensor, dim, nn::{Conv, PackedConv, Same}, ops, shape};
/// struct Layer {
///     conv: PackedConv<f32, shape![8, 3, 3, 3], Conv<dim!(1), Same>>,
/// }
/// let weight = Tensor::<f32, shape![8, 3, 3, 3]>::ones();
/// let layer = Layer { conv: weight.pack_conv2d(None, Conv::new().padding::<Same>()) };
/// let image = Tensor::<f32, shape![1, 3, 16, 16]>::ones();
/// let y: Tensor<f32, shape![1, 8, 16, 16]> = layer.conv.forward_with(&image, ops::relu {});
/// assert_eq!((y[(0, 0, 0, 0)], y[(0, 7, 8, 8)]), (12.0, 27.0));
/// ```
pub struct PackedConv<E: Element, W: Shape, C = Conv, D: Device = Cpu> {
    weight: D::Storage,
    sizes: W::Sizes,
    bias: Option<D::Storage>,
    marker: PhantomData<(E, C)>,
}

impl<E: Element, W: Shape, S, P, L, G, D: Device> core::fmt::Debug for PackedConv<E, W, Conv<S, P, L, G>, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PackedConv").field("weight", &self.sizes.as_ref()).field("bias", &self.bias.is_some()).finish()
    }
}

/// The name of a convolution over this number of axes.
fn name(axes: usize) -> &'static str {
    ["conv1d", "conv2d", "conv3d"][axes.clamp(1, 3) - 1]
}

macro_rules! packed {
    ($($pack:ident $plain:ident [$($kernel:ident)+] $weight:literal;)*) => {$(
        impl<E: Element, O: Dim, CG: Dim, $($kernel: Dim,)+ D: Device> Tensor<E, (O, CG, $($kernel),+), D> {
            #[doc = concat!("This weight, packed for convolutions that move in one way, with a bias that is added: [`", stringify!($plain), "`](Tensor::",
                stringify!($plain), ") gives the same results, up to the order of its sums.")]
            ///
            /// Shape: `(O, C / groups, …)`, and `(O,)` of the bias. Dtypes: those of the convolution.
            ///
            /// # Panics
            /// If the bias has another size than the output channels, the groups do not divide these, or memory runs out.
            ///
            /// ```
            /// use castiron::{Tensor, nn::Conv, shape};
            #[doc = concat!("let weight = Tensor::<f32, shape!", $weight, ">::ones();")]
            #[doc = concat!("let conv = weight.", stringify!($pack), "(None, Conv::new());")]
            #[doc = concat!("let x = Tensor::<f32, shape!", $weight, ">::ones();")]
            #[doc = concat!("assert_eq!(conv.forward(&x).to_vec(), x.", stringify!($plain), "(&weight, None, Conv::new()).to_vec());")]
            /// ```
            #[fallible]
            pub fn $pack<S, P, L, G: Known>(
                &self,
                bias: impl Optional<E, (O,), D>,
                conv: Conv<S, P, L, G>,
            ) -> Result<PackedConv<E, (O, CG, $($kernel),+), Conv<S, P, L, G>, D>>
            where
                E: InexactFor<ops::reduce::convolution>,
                O: InGroups<G>,
            {
                let _ = conv;
                let (op, sizes, bias) = (stringify!($pack), self.shape(), bias.given());
                let outputs = sizes[0];
                if G::VALUE == 0 || outputs % G::VALUE != 0 {
                    let reason = format!("{outputs} output channels can't be divided into {} groups", G::VALUE);
                    return crate::error::invalid(op, reason);
                }
                if let Some(bias) = bias
                    && bias.shape() != [outputs]
                {
                    return Err(crate::Error::Shape { op, expected: format!("[{outputs}]"), found: (&bias.shape()[..]).into() });
                }
                let view = self.elements();
                let [five, steps] = five_axes(view.sizes, view.strides, true);
                Ok(PackedConv {
                    weight: D::pack::<E>(view.restrided(&five, &steps), G::VALUE)?,
                    sizes,
                    bias: bias.map(|bias| D::map1::<E, E>(Copying, bias.elements(), &[1])).transpose()?,
                    marker: PhantomData,
                })
            }
        }
    )*};
}
packed! {
    pack_conv1d conv1d [K] "[2, 2, 3]";
    pack_conv2d conv2d [KH KW] "[2, 2, 3, 3]";
    pack_conv3d conv3d [KD KH KW] "[2, 2, 3, 3, 3]";
}

impl<E: Element, W: Shape, S: EachAxis, P: EachAxis, L: EachAxis, G: Known, D: Device>
    PackedConv<E, W, Conv<S, P, L, G>, D>
{
    /// The convolution of a tensor: the result of [`conv1d`](Tensor::conv1d), [`conv2d`](Tensor::conv2d) or [`conv3d`](Tensor::conv3d).
    ///
    /// `(N, C, …)` or `(C, …)` gives `(N, O, …)` or `(O, …)`; the compiler knows the further sizes if it knows those of the operands.
    ///
    /// PyTorch: a call of `torch.nn.Conv2d` and so on.
    ///
    /// # Panics
    /// If sizes known at run time do not match, the window does not fit, or memory runs out.
    ///
    /// ```
    /// use castiron::{nn::Conv, tensor};
    /// let conv = tensor![[[1.0, 2.0]]].pack_conv1d(Some(&tensor![0.5]), Conv::new());
    /// assert_eq!(conv.forward(&tensor![[1.0, 0.0, 3.0]]).to_vec(), [1.5, 6.5]);
    /// ```
    #[fallible]
    pub fn forward<T, F: Element, X: Device>(
        &self,
        x: &Tensor<F, T, X>,
    ) -> Result<Tensor<E, <T as Convolved<W, Conv<S, P, L, G>>>::Output, D>>
    where
        E: InexactFor<ops::reduce::convolution>,
        T: Shape + Convolved<W, Conv<S, P, L, G>>,
        (S, P, L): Moves,
        T: SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>,
    {
        let x = T::alike(T::here(x));
        self.run(x, None::<Copying>)
    }

    /// [`forward`](Self::forward), and a function of its elements while they are in the cache: one of the [operations of one
    /// operand](crate::ops) that keep the dtype, such as `relu`.
    ///
    /// PyTorch: two functions.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::{nn::Conv, ops, tensor};
    /// let conv = tensor![[[2.0]]].pack_conv1d(None, Conv::new());
    /// assert_eq!(conv.forward_with(&tensor![[1.0, -2.0, 3.0]], ops::relu {}).to_vec(), [2.0, 0.0, 6.0]);
    /// ```
    #[fallible]
    pub fn forward_with<T, A: Activation<E>, F: Element, X: Device>(
        &self,
        x: &Tensor<F, T, X>,
        activation: A,
    ) -> Result<Tensor<E, <T as Convolved<W, Conv<S, P, L, G>>>::Output, D>>
    where
        E: InexactFor<ops::reduce::convolution>,
        T: Shape + Convolved<W, Conv<S, P, L, G>>,
        (S, P, L): Moves,
        T: SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>,
    {
        let x = T::alike(T::here(x));
        let _ = activation;
        self.run(x, Some(Applying::<A>::new()))
    }

    fn run<T>(
        &self,
        x: &Tensor<E, T, D>,
        kernel: Option<impl Map1<E, E>>,
    ) -> Result<Tensor<E, <T as Convolved<W, Conv<S, P, L, G>>>::Output, D>>
    where
        E: InexactFor<ops::reduce::convolution>,
        T: Shape + Convolved<W, Conv<S, P, L, G>>,
        (S, P, L): Moves,
    {
        let sizes = self.sizes.as_ref();
        let (op, windows) = (name(sizes.len().saturating_sub(2)), <(S, P, L)>::windows(&sizes[2..]));
        // Strides do not matter here.
        let own = strides::row_major(sizes);
        let weight = View::new(&self.weight, 0, sizes, &own);
        let bias = self.bias.as_ref().map(|bias| View::new(bias, 0, &sizes[..1], &[1]));
        let operands = Operands { op, x: x.elements(), weight, bias };
        let result = convolve::<E, D>(
            operands,
            &windows,
            G::VALUE,
            |convolution: &Convolution, [x, weight], bias, [sizes, strides]| {
                D::convolve_packed::<E, _>(kernel, convolution, x, weight, bias, sizes, strides)
            },
        )?;
        laid::<E, D>(result).typed(op)
    }
}
