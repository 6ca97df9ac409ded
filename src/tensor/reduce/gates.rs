//! `glu`, and `renorm` of slices. Uses `ops::losses` (their formulas of two elements), `device`.

use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Result, invalid};
use crate::layout::{memory_format, strides};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::Casting;
use crate::ops::losses::{Gated, Losing, Renormed};
use crate::ops::reduce::VectorNorm;
use crate::shape::{AxisArg, Dim, Halved, HasAxis, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// The first half along an axis, as far as the second lets it through, with its sizes and strides: those of an elementwise result.
pub(crate) fn gated<E: Dtype, D: Device>(
    x: View<'_, D::Storage, E>,
    at: usize,
) -> Result<(D::Storage, Vec<usize>, Vec<usize>)> {
    let mut sizes = x.sizes.to_vec();
    if !sizes[at].is_multiple_of(2) {
        return invalid("glu", format!("axis {at} must have an even size, got a tensor of shape {sizes:?}"));
    }
    sizes[at] /= 2;
    let second = View::<_, E>::new(x.buffer, x.offset + sizes[at] * x.strides[at], &sizes, x.strides);
    let first = x.restrided(&sizes, x.strides);
    let to = memory_format::elementwise(&sizes, &[(&sizes[..], x.strides, false); 2]);
    let storage = D::map2::<E, E, E>(Losing::<Gated>::new([0.0; 2]), first, second, &to)?;
    Ok((storage, sizes, to))
}

/// Elements scaled where the norms of their slices exceed `most`; the norms are read beside them.
pub(crate) fn renormed<E: Dtype, N: Dtype, D: Device>(
    x: View<'_, D::Storage, E>,
    norms: View<'_, D::Storage, N>,
    most: f64,
    to: &[usize],
) -> Result<D::Storage> {
    D::map2::<E, N, E>(Losing::<Renormed>::new([most, 0.0]), x, norms, to)
}

/// Slices along an axis scaled down to `most`; row-major. Norms of 16-bit elements are not rounded to 16 bits.
pub(crate) fn renormed_along<E: Dtype, D: Device>(
    x: View<'_, D::Storage, E>,
    at: usize,
    p: f64,
    most: f64,
) -> Result<D::Storage> {
    let to = strides::row_major(x.sizes);
    if x.sizes.contains(&0) {
        return D::zeroed::<E>(Some(x.buffer), 0);
    }
    let mask = ((1_u32 << x.sizes.len()) - 1) & !(1 << at);
    let steps: Vec<usize> = (0..x.sizes.len()).map(|axis| usize::from(axis == at)).collect();
    let norm = VectorNorm::new(p);
    if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
        let wide = D::map1::<E, f32>(Casting, x, &to)?;
        let norms = D::reduce(norm, View::<_, f32>::new(&wide, 0, x.sizes, &to), mask)?;
        return renormed::<E, f32, D>(x, View::new(&norms, 0, x.sizes, &steps), most, &to);
    }
    let norms = D::reduce(norm, x, mask)?;
    renormed::<E, E::RealDtype, D>(x, View::new(&norms, 0, x.sizes, &steps), most, &to)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The first half along an axis, as far as the second lets it through: `a * sigmoid(b)`.
    ///
    /// The axis has half its size in the result. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.glu`, where the axis is the last if not given.
    ///
    /// # Panics
    /// If a size known at run time is odd or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, shape, tensor, Tensor};
    /// let y: Tensor<f32, shape![2]> = tensor![2.0, 3.0, 0.0, 1000.0].glu(axis![-1]);
    /// assert_eq!(y.to_vec(), [1.0, 3.0]);
    /// ```
    #[fallible]
    pub fn glu<const I: isize, H: Dim>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<H>, D>>
    where
        E: FloatFor<ops::losses::glu>,
        S: HasAxis<I>,
        <S as HasAxis<I>>::Dim: Halved<Half = H>,
    {
        let _ = axis;
        if S::RANK == 0 {
            return invalid("glu", "a zero-dim tensor has no halves".to_owned());
        }
        let (storage, sizes, strides) = gated::<E, D>(self.elements(), <S as HasAxis<I>>::INDEX)?;
        Ok(Tensor::from_parts(storage, 0, SizeArray::copied(&sizes), SizeArray::copied(&strides)))
    }

    /// Scales the slices along an axis whose `p`-norm exceeds `most` down to it.
    ///
    /// Shape: that of `self`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.renorm`.
    ///
    /// # Panics
    /// If `p` is not positive, `most` is negative, there are fewer than two axes, or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[6.0, 8.0], [0.0, 1.0]];
    /// assert_eq!(x.renorm(axis![0], 2.0, 5.0).to_vec(), [3.0, 4.0, 0.0, 1.0]);
    /// ```
    #[fallible]
    pub fn renorm<const I: isize>(&self, axis: impl AxisArg<I>, p: f64, most: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::renorm>,
        S: HasAxis<I>,
    {
        let _ = axis;
        let (op, at, x) = ("renorm", <S as HasAxis<I>>::INDEX, self.elements());
        if S::RANK < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", S::RANK));
        }
        if p.is_nan() || p <= 0.0 || most.is_nan() || most < 0.0 {
            return invalid(op, format!("`p` is positive and `most` not negative, got {p} and {most}"));
        }
        Ok(Tensor::dense(renormed_along::<E, D>(x, at, p, most)?, self.shape()))
    }
}
