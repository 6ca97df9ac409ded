//! `scaled_dot_product_attention`.
//!
//! Source: `torch.nn.functional.scaled_dot_product_attention`.

use super::Laid;
use super::laid;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::arguments::{Attention, Mask};
use crate::sealed::Sealed;
use crate::shape::{Attended, MaskOf, Shape, broadcast_sizes, broadcasts_to};
use crate::storage::View;
use crate::tensor::{SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::composites;

const OP: &str = "scaled_dot_product_attention";

fn invalid<T>(reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op: OP, reason })
}

/// Sizes and strides with the query heads split into key heads and the number of query heads that share each.
fn grouped(sizes: &[usize], strides: &[usize], heads: usize) -> [Vec<usize>; 2] {
    let at = sizes.len() - 3;
    let (mut of, mut steps) = (sizes.to_owned(), strides.to_owned());
    let shared = sizes[at] / heads.max(1);
    of[at] = heads;
    of.insert(at + 1, shared);
    steps[at] *= shared;
    steps.insert(at + 1, strides[at]);
    [of, steps]
}

/// The mask and scale, as given.
struct Options<'a, B, E: Dtype> {
    mask: Option<Mask<'a, B, E>>,
    is_causal: bool,
    scale: Option<f64>,
    /// Whether several query heads may share a head of the keys and values.
    shares_heads: bool,
}

/// Checks and broadcasts the operands, and runs the attention.
fn attend<E: Dtype, D: Device>(
    [query, key, value]: [View<'_, D::Storage, E>; 3],
    options: Options<'_, D::Storage, E>,
) -> Result<Laid<D::Storage>> {
    let Options { mask, is_causal, scale, shares_heads } = options;
    let last = |of: &[usize]| of.len().checked_sub(2).map(|at| [of[at], of[at + 1]]);
    let (Some([queries, features]), Some([keys, width]), Some([values, depth])) =
        (last(query.sizes), last(key.sizes), last(value.sizes))
    else {
        return invalid("queries, keys and values have at least two axes".to_owned());
    };
    if features != width || keys != values {
        return invalid(format!(
            "queries of {features} features go with keys of {width}, and {keys} keys with {values} values: the pairs must be equal"
        ));
    }
    if is_causal && mask.is_some() {
        return invalid("a mask and `is_causal` exclude one another".to_owned());
    }
    // Sizes and strides of each; query heads are split into groups if there are more of them than key heads.
    let heads = |of: &[usize]| of.len().checked_sub(3).map(|at| of[at]);
    let groups = match (heads(query.sizes), heads(key.sizes), heads(value.sizes)) {
        (Some(q), Some(k), Some(v)) if shares_heads && q != k => {
            if k != v || k == 0 || q % k != 0 {
                return invalid(format!("{q} heads of queries can't share {k} of keys and {v} of values"));
            }
            Some(k)
        }
        _ => None,
    };
    let seen = |sizes: &[usize], strides: &[usize]| match groups {
        // A mask may have no axis of heads.
        Some(heads) if sizes.len() >= 3 && sizes[sizes.len() - 3] != 1 => grouped(sizes, strides, heads),
        Some(_) if sizes.len() >= 3 => {
            let (mut of, mut steps) = (sizes.to_owned(), strides.to_owned());
            of.insert(sizes.len() - 2, 1);
            steps.insert(sizes.len() - 2, 0);
            [of, steps]
        }
        _ => [sizes.to_owned(), strides.to_owned()],
    };
    let operands = [query, key, value].map(|view| seen(view.sizes, view.strides));
    let lead = |of: &[usize]| of[..of.len() - 2].to_owned();
    let mut common = lead(&operands[0][0]);
    for [of, _] in &operands[1..] {
        let other = lead(of);
        let mut both = filled(0, common.len().max(other.len()))?;
        if !broadcast_sizes(&common, &other, &mut both) {
            return Err(Error::Broadcast { op: OP, lhs: common[..].into(), rhs: other[..].into() });
        }
        common = both;
    }
    let spread = |[of, steps]: &[Vec<usize>; 2], end: [usize; 2]| -> [Vec<usize>; 2] {
        let sizes = [&common[..], &end].concat();
        let strides = strides::broadcast_list(of, steps, &sizes);
        [sizes, strides]
    };
    let q = spread(&operands[0], [queries, features]);
    let k = spread(&operands[1], [keys, features]);
    let v = spread(&operands[2], [keys, depth]);
    let masked = |sizes: &[usize], strides: &[usize]| -> Result<[Vec<usize>; 2]> {
        let own = seen(sizes, strides);
        let whole = [&common[..], &[queries, keys]].concat();
        if !broadcasts_to(&own[0], &whole) {
            return Err(Error::Broadcast { op: OP, lhs: sizes.into(), rhs: whole[..].into() });
        }
        let strides = strides::broadcast_list(&own[0], &own[1], &whole);
        Ok([whole, strides])
    };
    let of_mask = match &mask {
        Some(Mask::Seen(mask)) => Some(masked(mask.sizes, mask.strides)?),
        Some(Mask::Added(mask)) => Some(masked(mask.sizes, mask.strides)?),
        None => None,
    };
    let mask = match (&mask, &of_mask) {
        (Some(Mask::Seen(mask)), Some([sizes, strides])) => Some(Mask::Seen(mask.restrided(sizes, strides))),
        (Some(Mask::Added(mask)), Some([sizes, strides])) => Some(Mask::Added(mask.restrided(sizes, strides))),
        _ => None,
    };
    // The sizes of the result, with the heads merged again.
    let mut sizes = common.clone();
    if groups.is_some() {
        let shared = sizes.remove(sizes.len() - 1);
        if let Some(heads) = sizes.last_mut() {
            *heads *= shared;
        }
    }
    sizes.extend([queries, depth]);
    checked_numel::<E>(OP, &sizes)?;
    let own = strides::row_major(&sizes);
    let storage = D::attend::<E>(Attention {
        query: query.restrided(&q[0], &q[1]),
        key: key.restrided(&k[0], &k[1]),
        value: value.restrided(&v[0], &v[1]),
        mask,
        is_causal,
        scale: scale.unwrap_or(1.0 / (features as f64).sqrt()),
    })?;
    Ok((storage, sizes, own))
}

/// Every query attends to all keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

/// A query attends to the keys at or before its position (`is_causal=True`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Causal;

/// A query attends to the keys for which the mask is true: `(L, S)`, with leading axes that broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Where<'a, M: Shape, D: Device>(pub &'a Tensor<bool, M, D>);

/// Every query attends to all keys; the mask, of the dtype of the queries, is added to the scores.
#[derive(Clone, Copy, Debug)]
pub struct Added<'a, E: Dtype, M: Shape, D: Device>(pub &'a Tensor<E, M, D>);

mod sealed {
    use super::{Device, Dtype, Mask};

    pub trait Sealed<E: Dtype, D: Device> {
        const IS_CAUSAL: bool = false;

        fn mask(&self) -> Option<Mask<'_, D::Storage, E>> {
            None
        }
    }
}

/// Which keys a query attends to in [`scaled_dot_product_attention`](crate::Tensor::scaled_dot_product_attention).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which keys a query of `{E}` sees",
    label = "which keys does a query see?",
    note = "`All`, `Causal`, `Where(&mask)` with a mask of `bool`, or `Added(&mask)` with one of the dtype of the queries, from `castiron::nn`"
)]
pub trait Sees<E: Dtype, D: Device>: sealed::Sealed<E, D> {}

/// Which keys a query attends to, for scores of the shape `Scores`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which keys a query sees",
    label = "which keys does a query see?",
    note = "`All`, `Causal`, `Where(&mask)` with a mask of `bool`, or `Added(&mask)` with one of the dtype of the queries, from `castiron::nn`"
)]
pub trait SeesAmong<Scores>: Sealed {}
impl Sealed for All {}
impl Sealed for Causal {}
impl<M: Shape, D: Device> Sealed for Where<'_, M, D> {}
impl<E: Dtype, M: Shape, D: Device> Sealed for Added<'_, E, M, D> {}
impl<Scores> SeesAmong<Scores> for All {}
impl<Scores> SeesAmong<Scores> for Causal {}
impl<Scores, M: Shape + MaskOf<Scores>, D: Device> SeesAmong<Scores> for Where<'_, M, D> {}
impl<Scores, E: Dtype, M: Shape + MaskOf<Scores>, D: Device> SeesAmong<Scores> for Added<'_, E, M, D> {}

impl<E: Dtype, D: Device> sealed::Sealed<E, D> for All {}
impl<E: Dtype, D: Device> Sees<E, D> for All {}

impl<E: Dtype, D: Device> sealed::Sealed<E, D> for Causal {
    const IS_CAUSAL: bool = true;
}
impl<E: Dtype, D: Device> Sees<E, D> for Causal {}

impl<E: Dtype, M: Shape + SameDevice<D, X>, X: Device, D: Device> sealed::Sealed<E, D> for Where<'_, M, X> {
    fn mask(&self) -> Option<Mask<'_, D::Storage, E>> {
        Some(Mask::Seen(M::here(self.0).elements()))
    }
}
impl<E: Dtype, M: Shape + SameDevice<D, X>, X: Device, D: Device> Sees<E, D> for Where<'_, M, X> {}

impl<E: Dtype, M: Shape + SameDevice<D, X>, X: Device, D: Device> sealed::Sealed<E, D> for Added<'_, E, M, X> {
    fn mask(&self) -> Option<Mask<'_, D::Storage, E>> {
        Some(Mask::Added(M::here(self.0).elements()))
    }
}
impl<E: Dtype, M: Shape + SameDevice<D, X>, X: Device, D: Device> Sees<E, D> for Added<'_, E, M, X> {}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Attention: for each query, `(…, L, E)`, the mean of the values, `(…, S, V)`, weighted by `softmax(query @ key.T * scale)` over the
    /// keys, `(…, S, E)`. The scale is `1 / sqrt(E)` if it is `None`. On the host the matrix of scores is not stored, nor is it for
    /// gradients (but for that of a mask).
    ///
    /// All have one dtype, which is the result's. Which keys a query attends to is said by `sees` for a `Tensor`
    /// ([`Sees`](crate::nn::Sees)); for an `AnyTensor` by a mask of bools, or one of the dtype, which is added to the scores, or by
    /// `is_causal`. Without any the result is zero. Query heads, `(…, H, L, E)`, may share heads of the keys and values, if there are
    /// fewer (`enable_gqa`).
    ///
    /// Masked-out keys and values (`Causal`, `false` in a mask, an added negative infinity) never affect a query's result, even if they are
    /// NaN or infinite; a NaN in another key or value does. (In PyTorch zero times a NaN that is masked out is NaN.)
    ///
    /// # Errors
    /// If sizes do not match, dropout is not 0, or both a mask and `is_causal` are given.
    #[op(nn.functional.scaled_dot_product_attention(query, key, value, attn_mask = None, dropout_p = 0.0, is_causal = false, scale = None, enable_gqa = false), dtypes = float)]
    #[any(
        let () = self.expect_attended([key, value], mask, dropout)?,
        mask(mask: Option<&crate::any::AnyTensor>, dropout: f64) = mask.map(crate::any::AnyTensor::as_mask::<E>).transpose()?
    )]
    #[allow(clippy::too_many_arguments)]
    #[typed(<K, V, W, F: Element, G: Element, X: Device, Y: Device>(&self, key: &Tensor<F, K, X>, value: &Tensor<G, V, Y>, sees: W, scale: Option<f64>) -> Tensor<E, <S as Attended<K, V>>::Output, D>
        where
            E: FloatFor<ops::reduce::attention>,
            S: Attended<K, V>,
            W: Sees<E, D> + SeesAmong<<S as Attended<K, V>>::Scores>,
            K: Shape + SameDevice<D, X> + SameDtype<E, F, ops::reduce::attention>,
            V: Shape + SameDevice<D, Y> + SameDtype<E, G, ops::reduce::attention>;
        mask = sees.mask(), is_causal = W::IS_CAUSAL, shares_heads = true)]
    #[example(let q = tensor![[0.0, 1.0]]; let k = tensor![[1.0, 0.0], [2.0, 0.0]]; let v = tensor![[10.0], [20.0]]; q.scaled_dot_product_attention(&k, &v, All, None), q.scaled_dot_product_attention(&k, &v, None, 0.0, false, None, false), tensor![[15.0]])]
    pub(crate) fn scaled_dot_product_attention(
        &self,
        key: &Erased<'_, E, D>,
        value: &Erased<'_, E, D>,
        mask: Option<Mask<'_, D::Storage, E>>,
        is_causal: bool,
        scale: Option<f64>,
        shares_heads: bool,
    ) -> Result<Owned<E, D>> {
        let options = Options { mask, is_causal, scale, shares_heads };
        attend::<E, D>([self.view(), key.view(), value.view()], options).map(laid)
    }
}
