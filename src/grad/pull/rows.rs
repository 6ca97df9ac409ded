//! Normalisation of rows: what was measured is measured again.

use super::reduce::{formulas, three};
use super::{Gradients, OP, elements, gradient};
use crate::composite::Erased;
use crate::device::Device;
use crate::dtype::{Dtype, MachineFloat, Parameters, Tuned};
use crate::error::Result;
use crate::grad::tape::{Layout, Operand};
use crate::ops;
use crate::ops::kernel::Combining;
use crate::ops::losses::Losing;
use crate::ops::reduce::{Mean, Sum, Variance};
use crate::ops::slope::RowSlope;

formulas! {
    /// `1 / sqrt(x + eps)`
    InverseRoot: |x, _y, eps, _p| T::one() / (x + eps).sqrt();
    /// `(x - mean) * scale`
    Standardized: |x, mean, scale, _p| (x - mean) * scale;
    /// `x * x`
    Square: |x, _y, _z, _p| x * x;
}

pub(super) fn pull<E: Dtype, D: Device>(
    slope: RowSlope,
    x: &Operand<D::Storage>,
    shared: &[Option<Operand<D::Storage>>; 2],
    g: &D::Storage,
    layout: &Layout,
    gradients: &mut Gradients<D>,
) -> Result<()> {
    let g = gradient::<E, D>(g, layout);
    if g.is_empty() {
        return Ok(());
    }
    let elements_of = elements::<E, D>(x)?;
    let sizes = x.sizes();
    let last = 1_u32 << (sizes.len() - 1);
    let times = Combining::<ops::mul, E>::new();
    let inverse_root =
        |of: &Erased<'_, E, D>, eps: f64| of.map2::<E, E>(OP, Losing::<InverseRoot>::new([eps, 0.0]), of);
    let (mean, scale) = match slope {
        RowSlope::Standardizing(eps) => {
            let variance = elements_of.reduce(Variance::var(0.0), last, true)?.retyped::<E>();
            (Some(elements_of.reduce(Mean, last, true)?.retyped::<E>()), inverse_root(&variance, eps)?)
        }
        RowSlope::RootMeanSquare(eps) => {
            let squares = elements_of.map2::<E, E>(OP, Losing::<Square>::new([0.0; 2]), &elements_of)?;
            (None, inverse_root(&squares.reduce(Mean, last, true)?.retyped(), eps)?)
        }
        RowSlope::Missing => return Ok(()),
    };
    let scale = scale.expand(OP, &sizes)?;
    let normalized = match &mean {
        Some(mean) => three::<Standardized, E, D>(&elements_of, &mean.expand(OP, &sizes)?, &scale, 0.0)?,
        None => elements_of.map2::<E, E>(OP, times, &scale)?,
    };
    let [weight, bias] = shared;
    let rows = last - 1;
    if let Some(bias) = bias.as_ref().filter(|bias| bias.node.is_some()) {
        gradients.add::<E>(bias, g.reduce(Sum, rows, false)?.retyped())?;
    }
    if let Some(weight) = weight.as_ref().filter(|weight| weight.node.is_some()) {
        let sum = g.reduce_pairs::<E, E, _>(OP, Sum, times, &normalized, rows)?;
        gradients.add::<E>(weight, sum.retyped())?;
    }
    if x.node.is_none() {
        return Ok(());
    }
    let weighted;
    let g = match weight {
        Some(weight) => {
            weighted = g.map2::<E, E>(OP, times, &elements::<E, D>(weight)?.expand(OP, &sizes)?)?;
            Erased::of(weighted.view())
        }
        None => g,
    };
    let projection = g.reduce_pairs::<E, E, _>(OP, Mean, times, &normalized, last)?.retyped::<E>();
    let mut kept = sizes;
    kept[sizes.len() - 1] = 1;
    let projection = projection.reshape(OP, &kept)?;
    let along = normalized.map2::<E, E>(OP, times, &projection.expand(OP, &sizes)?)?;
    let minus = Combining::<ops::sub, E>::new();
    let mut rest = g.map2::<E, E>(OP, minus, &along)?;
    if mean.is_some() {
        let mean = g.reduce(Mean, last, true)?.retyped::<E>();
        rest = rest.map2::<E, E>(OP, minus, &mean.expand(OP, &sizes)?)?;
    }
    gradients.add::<E>(x, rest.map2::<E, E>(OP, times, &scale)?)
}
