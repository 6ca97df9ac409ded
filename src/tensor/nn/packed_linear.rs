//! Weights of linear layers that are packed once for the kernels of their device.

use crate::composite::Owned;
use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Applying, Copying, Map1};
use crate::shape::{Dim, Dimensional, HasAxis, HasRank, InFeatures, Shape};
use crate::storage::View;
use crate::tensor::{Activation, Optional, SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// A linear layer with its weight packed in the memory order of the device's kernels: of one dtype, `K` features in and `N` out.
/// [`linear`](Tensor::linear) packs its weight each time; for a layer that runs many times it is packed once.
///
/// It is made from a weight by [`pack_linear`](Tensor::pack_linear), and does not keep the weight itself.
///
/// PyTorch: `torch.utils.mkldnn.MkldnnLinear`, or the weights of a frozen module (`torch.jit.freeze`).
///
/// ```
/// use castiron::{Tensor, dim, nn::PackedLinear, ops, shape};
/// struct Layer {
///     widen: PackedLinear<f32, dim!(1536), dim!(384)>,
/// }
/// let layer = Layer { widen: Tensor::<f32, shape![1536, 384]>::ones().pack_linear(None) };
/// let x = Tensor::<f32, shape![2, 32, 384]>::ones();
/// let y: Tensor<f32, shape![2, 32, 1536]> = layer.widen.forward_with(&x, ops::relu {});
/// assert_eq!(y[(1, 31, 1535)], 384.0);
/// ```
pub struct PackedLinear<E: Element, N: Dim, K: Dim, D: Device = Cpu> {
    weight: D::Storage,
    sizes: [usize; 2],
    bias: Option<D::Storage>,
    marker: PhantomData<(E, N, K)>,
}

impl<E: Element, N: Dim, K: Dim, D: Device> core::fmt::Debug for PackedLinear<E, N, K, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PackedLinear").field("weight", &self.sizes).field("bias", &self.bias.is_some()).finish()
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// This weight, packed for linear layers, with a bias: [`linear`](Tensor::linear) gives the same results, for floats except for the
    /// order in which sums are rounded.
    ///
    /// Shape: `(N, K)`, and `(N,)` of the bias. Dtypes: those of `linear`.
    ///
    /// # Panics
    /// If the bias has another size than the output features, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let layer = tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].pack_linear(Some(&tensor![0.5, 0.0, -1.0]));
    /// assert_eq!(layer.forward(&tensor![[1.0, 1.0]]).to_vec(), [3.5, 7.0, 10.0]);
    /// ```
    #[fallible]
    pub fn pack_linear(&self, bias: impl Optional<E, (S::Rows,), D>) -> Result<PackedLinear<E, S::Rows, S::Columns, D>>
    where
        S: HasRank<2, ops::reduce::linear>,
        E: NumericFor<ops::reduce::linear>,
    {
        let (sizes, bias) = (strides::of_matrix(self.shape().as_ref()), bias.given());
        if let Some(bias) = bias
            && bias.shape() != [sizes[0]]
        {
            let (expected, found) = (format!("[{}]", sizes[0]), bias.shape()[..].into());
            return Err(Error::Shape { op: "pack_linear", expected, found });
        }
        let [across, down] = strides::of_matrix(self.stride().as_ref());
        let (five, steps) = ([sizes[0], sizes[1], 1, 1, 1], [across, down, 1, 1, 1]);
        Ok(PackedLinear {
            weight: D::pack::<E>(self.elements().restrided(&five, &steps), 1)?,
            sizes,
            bias: bias.map(|bias| D::map1::<E, E>(Copying, bias.elements(), &[1])).transpose()?,
            marker: PhantomData,
        })
    }
}

impl<E: Element, N: Dim, K: Dim, D: Device> PackedLinear<E, N, K, D> {
    /// The layer applied to the last axis, as by [`linear`](Tensor::linear): `(…, K)` gives `(…, N)`.
    ///
    /// PyTorch: a call of `torch.nn.Linear`.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let layer = tensor![[1.0, 2.0], [3.0, 4.0]].pack_linear(None);
    /// assert_eq!(layer.forward(&tensor![1.0, 10.0]).to_vec(), [21.0, 43.0]);
    /// ```
    #[fallible]
    pub fn forward<S, F: Element, X: Device>(
        &self,
        x: &Tensor<F, S, X>,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>>
    where
        E: NumericFor<ops::reduce::linear>,
        S: Dimensional + HasAxis<-1>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        S: SameDevice<D, X> + SameDtype<E, F, ops::reduce::linear>,
    {
        let x = S::alike(S::here(x));
        self.run(x, None::<Copying>)
    }

    /// [`forward`](Self::forward), and a function of its elements while they are in the cache: one of the [operations of one
    /// operand](crate::ops) that keep the dtype, such as `relu` or `gelu`.
    ///
    /// PyTorch: two functions.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::{ops, tensor};
    /// let layer = tensor![[1.0, 1.0], [1.0, -1.0]].pack_linear(Some(&tensor![0.5, 0.0]));
    /// assert_eq!(layer.forward_with(&tensor![[1.0, 2.0]], ops::relu {}).to_vec(), [3.5, 0.0]);
    /// ```
    #[fallible]
    pub fn forward_with<S, A: Activation<E>, F: Element, X: Device>(
        &self,
        x: &Tensor<F, S, X>,
        activation: A,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>>
    where
        E: NumericFor<ops::reduce::linear>,
        S: Dimensional + HasAxis<-1>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        S: SameDevice<D, X> + SameDtype<E, F, ops::reduce::linear>,
    {
        let x = S::alike(S::here(x));
        let _ = activation;
        self.run(x, Some(Applying::<A>::new()))
    }

    fn run<S>(
        &self,
        x: &Tensor<E, S, D>,
        kernel: Option<impl Map1<E, E>>,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>>
    where
        E: NumericFor<ops::reduce::linear>,
        S: Shape + HasAxis<-1>,
    {
        let x = x.erased();
        let (rows, sizes) = x.as_rows(self.sizes)?;
        // Strides do not matter here.
        let weight = View::new(&self.weight, 0, &self.sizes, &[0, 0]);
        let bias = self.bias.as_ref().map(|bias| View::new(bias, 0, &self.sizes[..1], &[1]));
        let product = D::multiply_packed(kernel, rows.view(), weight, bias)?;
        Owned::<E, D>::dense(product, sizes).typed("linear")
    }
}
