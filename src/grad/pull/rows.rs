//! Normalisation of rows: what was measured is measured again.

use super::reduce::{formulas, three};
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, arrived, elements, gradient, no_gradient};
use crate::composite::Erased;
use crate::cpu::norm_back::{self, Real};
use crate::device::Device;
use crate::dtype::{DType, Dtype, MachineFloat, Parameters, Tuned};
use crate::error::Result;
use crate::grad::rule::Rule;
use crate::grad::tape::Operand;
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::Combining;
use crate::ops::losses::Losing;
use crate::ops::reduce::{Mean, Sum, Variance};
use crate::ops::slope::RowSlope;
use crate::storage::HostBuffer;

formulas! {
    /// `1 / sqrt(x + eps)`
    InverseRoot: |x, _y, eps, _p| T::one() / (x + eps).sqrt();
    /// `(x - mean) * scale`
    Standardized: |x, mean, scale, _p| (x - mean) * scale;
    /// `x * x`
    Square: |x, _y, _z, _p| x * x;
}

pub(super) fn pull<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    if const { E::DTYPE.is_complex() } {
        return no_gradient(E::DTYPE);
    }
    let &Rule::Rows { slope, ref x, ref shared, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let g = gradient::<E, D>(g, layout);
    if g.is_empty() {
        return Ok(());
    }
    let elements_of = elements::<E, D>(x)?;
    if at_once::<E, D>(slope, x, &elements_of, shared, &g, gradients)? {
        return Ok(());
    }
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
    let [weight, bias] = &**shared;
    let rows = last - 1;
    if let Some(bias) = bias.as_ref().filter(|bias| bias.node.is_some()) {
        gradients.add::<E, D>(bias, g.reduce(Sum, rows, false)?.retyped())?;
    }
    if let Some(weight) = weight.as_ref().filter(|weight| weight.node.is_some()) {
        let sum = g.reduce_pairs::<E, E, _>(OP, Sum, times, &normalized, rows)?;
        gradients.add::<E, D>(weight, sum.retyped())?;
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
    gradients.add::<E, D>(x, rest.map2::<E, E>(OP, times, &scale)?)
}

/// The same in one pass over rows on the host; whether it was done.
fn at_once<E: Dtype, D: Device>(
    slope: RowSlope,
    x: &Operand<D::Storage>,
    elements_of: &Erased<'_, E, D>,
    [weight, bias]: &[Option<Operand<D::Storage>>; 2],
    g: &Erased<'_, E, D>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<bool> {
    let kind = match slope {
        RowSlope::Standardizing(eps) => (true, eps),
        RowSlope::RootMeanSquare(eps) => (false, eps),
        RowSlope::Missing => return Ok(false),
    };
    let tracked = |of: &Option<Operand<D::Storage>>| of.as_ref().is_some_and(|of| of.node.is_some());
    let wants = [x.node.is_some(), tracked(weight) || tracked(bias)];
    let dense = elements_of.contiguous()?;
    let weights = weight.as_ref().map(elements::<E, D>).transpose()?;
    let weights = weights.as_ref().map(Erased::contiguous).transpose()?;
    let found = if const { matches!(E::DTYPE, DType::F32) } {
        rows_of::<f32, D>(&dense.known_as(), &g.known_as(), weights.as_ref().map(Erased::known_as::<f32>), kind, wants)?
    } else if const { matches!(E::DTYPE, DType::F64) } {
        rows_of::<f64, D>(&dense.known_as(), &g.known_as(), weights.as_ref().map(Erased::known_as::<f64>), kind, wants)?
    } else {
        None
    };
    let Some(found) = found else { return Ok(false) };
    let len = Dims::known(&g.sizes()[g.rank() - 1..]);
    for ((to, found), sizes) in
        [Some(x), weight.as_ref(), bias.as_ref()].into_iter().zip(found).zip([g.dims(), len, len])
    {
        if let (Some(to), Some(found)) = (to, found) {
            gradients.add::<E, D>(to, Erased::of_host(found, sizes, sizes.row_major())?)?;
        }
    }
    Ok(true)
}
fn rows_of<T: Real + Dtype, D: Device>(
    x: &Erased<'_, T, D>,
    g: &Erased<'_, T, D>,
    weight: Option<Erased<'_, T, D>>,
    kind: (bool, f64),
    wants: [bool; 2],
) -> Result<Option<[Option<HostBuffer>; 3]>> {
    let (Some(elements), Some(gradients)) = (x.on_host(), g.on_host()) else { return Ok(None) };
    let weight = match &weight {
        None => None,
        Some(weight) => match weight.on_host() {
            Some(weight) => Some(weight),
            None => return Ok(None),
        },
    };
    let len = x.sizes()[x.rank() - 1];
    norm_back::rows([elements, gradients], weight, len, kind, wants)
}
