//! Matrix products: a product with the other factor for each.

use super::elementwise::not_kept;
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, arrived, elements, gradient, view_of};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::grad::rule::Rule;
use crate::grad::tape::{Layout, Operand};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::Applying;
use crate::storage::View;

pub(super) fn pull<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Product { x, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let [a, b] = x;
    if const { !E::DTYPE.is_complex() } && [a, b].iter().all(|x| x.dtype() == E::DTYPE && x.layout.rank() == 2) {
        return of_matrices::<E, D>(x, g, layout, gradients);
    }
    let g = gradient::<E, D>(g, layout);
    if a.node.is_some() {
        let product = times::<E, D>(&g, &transposed(&elements::<E, D>(b)?)?)?;
        gradients.add::<E, D>(a, product)?;
    }
    if b.node.is_some() {
        let left = elements::<E, D>(a)?;
        // Where all matrices of a batch meet one factor, the batch is more rows.
        let Layout { sizes, strides, .. } = b.layout.open();
        let rank = sizes.len();
        let is_shared = rank > 2 && (0..rank - 2).all(|axis| sizes[axis] == 1 || strides[axis] == 0);
        if is_shared && left.numel() > 0 && g.numel() > 0 {
            let of_left = a.sizes();
            let rows: usize = of_left[..rank - 1].iter().product();
            let left = left.reshape(OP, &[rows, of_left[rank - 1]])?;
            let g = g.reshape(OP, &[rows, layout.sizes[rank - 1]])?;
            let product = times::<E, D>(&transposed(&left)?, &g)?;
            let one = b.resized(Dims::known(&sizes[rank - 2..]), Dims::known(&strides[rank - 2..]));
            return gradients.add::<E, D>(&one, product);
        }
        gradients.add::<E, D>(b, times::<E, D>(&transposed(&left)?, &g)?)?;
    }
    Ok(())
}

/// The same of two matrices of real numbers, whose views are made at once: small products take little longer than that.
fn of_matrices<E: Dtype, D: Device>(
    x: &[Operand<D::Storage>; 2],
    g: &D::Storage,
    layout: &Layout,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let g = View::<_, E>::new(g, 0, &layout.sizes, &layout.strides);
    for (at, to) in x.iter().enumerate().filter(|(_, to)| to.node.is_some()) {
        let (mut sizes, mut strides) = (x[1 - at].sizes(), x[1 - at].strides());
        sizes.reverse();
        strides.reverse();
        let Some(other) = view_of::<E, D>(&x[1 - at], &sizes, &strides) else { return not_kept() };
        let [left, right] = if at == 0 { [g, other] } else { [other, g] };
        let product = D::matmul::<E>(left, right, None)?;
        let sizes = Dims::known(&[left.sizes[0], right.sizes[1]]);
        gradients.add_new::<E, D>(to, product, &sizes, &sizes.row_major())?;
    }
    Ok(())
}

/// The product of two batches of matrices.
fn times<E: Dtype, D: Device>(a: &Erased<'_, E, D>, b: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
    let rank = a.rank();
    let mut sizes = a.dims();
    sizes[rank - 1] = b.sizes()[rank - 1];
    Ok(Erased::dense(D::matmul::<E>(a.view(), b.view(), None)?, sizes))
}

/// Matrices transposed and conjugated.
fn transposed<'a, E: Dtype, D: Device>(x: &'a Erased<'_, E, D>) -> Result<Erased<'a, E, D>> {
    let rank = x.rank();
    let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
    order.swap(rank - 2, rank - 1);
    let turned = x.permute(OP, &order[..rank])?;
    if const { E::DTYPE.is_complex() } {
        return turned.map1::<E>(OP, Applying::<ops::conj>::new());
    }
    Ok(turned)
}
