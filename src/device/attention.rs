//! Attention on devices without a kernel for it: matrix products and `softmax`, with a full matrix of scores.

use super::Backend;
use crate::dtype::{Compute, Dtype};
use crate::error::{Error, Result};
use crate::layout::strides::row_major;
use crate::ops;
use crate::ops::arguments::{Added, Attention, Mask};
use crate::ops::kernel::{Choosing, Combining};
use crate::ops::losses::{Losing, Masked};
use crate::ops::reduce::Extreme;
use crate::ops::scan::Softmax;
use crate::shape::numel;
use crate::storage::View;

/// Attention, and the softmax weights of the values: one per query and key, row-major. A masked key has weight 0, by which NaN and infinite
/// values are multiplied, too.
pub(crate) fn composed<D: Backend, E: Dtype>(attention: &Attention<'_, D::Storage, E>) -> Result<[D::Storage; 2]> {
    let shares = shares::<D, E>(attention, 0)?;
    let mut sizes = attention.query.sizes.to_vec();
    let rank = sizes.len();
    sizes[rank - 1] = attention.key.sizes[rank - 2];
    let result = D::matmul::<E>(View::new(&shares, 0, &sizes, &row_major(&sizes)), attention.value, None)?;
    Ok([shares, result])
}

/// The softmax weights of [`composed`], where these queries are those from number `first` on (which matters where later keys are hidden).
pub(crate) fn shares<D: Backend, E: Dtype>(
    attention: &Attention<'_, D::Storage, E>,
    first: usize,
) -> Result<D::Storage> {
    let Attention { query, key, mask, is_causal, scale, .. } = attention;
    let rank = query.sizes.len();
    let (queries, keys) = (query.sizes[rank - 2], key.sizes[rank - 2]);
    let mut sizes = query.sizes.to_vec();
    sizes[rank - 1] = keys;
    let too_large = || Error::TooLarge { op: "scaled_dot_product_attention", sizes: sizes[..].into() };
    numel(&sizes).filter(|&numel| numel <= isize::MAX as usize / size_of::<E>()).ok_or_else(too_large)?;
    let strides = row_major(&sizes);
    // The keys transposed.
    let (mut of, mut steps) = (key.sizes.to_vec(), key.strides.to_vec());
    of.swap(rank - 2, rank - 1);
    steps.swap(rank - 2, rank - 1);
    let alpha = E::Compute::number(*scale);
    let added = Added { input: None, beta: E::Compute::default(), alpha };
    let mut scores = D::matmul::<E>(*query, key.restrided(&of, &steps), Some(added))?;
    let lowest =
        |beside: &D::Storage| D::fill::<E>(Some(beside), E::from_compute(E::Compute::number(f64::NEG_INFINITY)), 1);
    let zeros = vec![0; rank];
    if let Some(mask) = mask {
        let view = View::<_, E>::new(&scores, 0, &sizes, &strides);
        scores = match mask {
            Mask::Added(mask) => D::map2::<E, E, E>(Losing::<Masked>::new([0.0; 2]), view, *mask, &strides)?,
            Mask::Seen(mask) => {
                let lowest = lowest(&scores)?;
                D::map3::<bool, E, E, E>(Choosing, *mask, view, View::new(&lowest, 0, &sizes, &zeros), &strides)?
            }
        };
    }
    if *is_causal {
        // A matrix of ones on and below the diagonal (that of the first query) marks the visible keys.
        let ones = D::fill::<bool>(Some(&scores), true, queries * keys)?;
        let (of, own) = ([queries, keys], [keys, 1]);
        let seen = D::band::<bool>(View::new(&ones, 0, &of, &own), isize::MIN, first as isize)?;
        let mut steps = vec![0; rank];
        (steps[rank - 2], steps[rank - 1]) = (keys, 1);
        let lowest = lowest(&scores)?;
        let (view, seen) = (View::<_, E>::new(&scores, 0, &sizes, &strides), View::new(&seen, 0, &sizes, &steps));
        scores = D::map3::<bool, E, E, E>(Choosing, seen, view, View::new(&lowest, 0, &sizes, &zeros), &strides)?;
    }
    let view = View::<_, E>::new(&scores, 0, &sizes, &strides);
    let mut shares = D::lanes::<E, E>(Softmax::<false>, view, rank - 1)?;
    if (mask.is_some() || *is_causal) && keys > 0 {
        // Queries without visible keys get zero weights instead of NaN.
        let largest = D::reduce::<E, _>(Extreme::<E, true>::new(), view, 1 << (rank - 1))?;
        let mut spread = row_major(&sizes[..rank - 1]);
        spread.push(0);
        let lowest = lowest(&scores)?;
        let is_empty = D::map2::<E, E, bool>(
            Combining::<ops::eq, E>::new(),
            View::new(&largest, 0, &sizes, &spread),
            View::new(&lowest, 0, &sizes, &zeros),
            &strides,
        )?;
        let nothing = D::fill::<E>(Some(&scores), E::from_i32(0), 1)?;
        shares = D::map3::<bool, E, E, E>(
            Choosing,
            View::new(&is_empty, 0, &sizes, &strides),
            View::new(&nothing, 0, &sizes, &zeros),
            View::new(&shares, 0, &sizes, &strides),
            &strides,
        )?;
    }
    Ok(shares)
}
