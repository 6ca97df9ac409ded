//! The shapes of attention.

use super::Shape;
use super::dim::{Dim, Never, SameDim};
use super::order::{Expands, IsMultiple, Rules};
use crate::sealed::Sealed;

/// The number of features of queries, which must equal that of the keys.
#[diagnostic::on_unimplemented(
    message = "attention: queries have `{Self}` features, keys have `{K}`",
    label = "the last axes of queries and keys must be equal",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait KeyFeatures<K> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> KeyFeatures<B> for A {}

/// The number of keys, which must equal that of the values.
#[diagnostic::on_unimplemented(
    message = "attention: there are `{Self}` keys and `{V}` values",
    label = "each key has a value: the last axes but one must be equal",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait AsManyValues<V> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> AsManyValues<B> for A {}

/// A leading axis of queries, keys and values: a batch or heads.
#[diagnostic::on_unimplemented(
    message = "attention: the batch of the queries is `{Self}`, that of keys or values `{K}`",
    label = "leading axes must be equal",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait SameLead<K> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> SameLead<B> for A {}

/// A number of query heads that is a multiple of the number of key and value heads.
#[diagnostic::on_unimplemented(
    message = "attention: `{Self}` heads of queries can't share `{K}` heads of keys and values",
    label = "as many heads of queries fall to each head of keys",
    note = "the heads of queries are as many as those of keys, or a multiple; `D1<D2>` is 12; in generic code the bound is `H: SharesHeads<K>`"
)]
pub trait SharesHeads<K> {}
#[diagnostic::do_not_recommend]
impl<H: Rules<IsMultiple, K>, K> SharesHeads<K> for H {}

/// An axis of a mask, which must broadcast to that of the scores.
#[diagnostic::on_unimplemented(
    message = "attention: a mask of `{Self}` beside scores of `{S}`",
    label = "a mask has a row for each query and a column for each key",
    note = "scores are (…, queries, keys), the last axes but one of queries and keys; an axis of the mask may be 1; `D3<D8<D4>>` is 384"
)]
pub trait MaskAxis<S> {}
#[diagnostic::do_not_recommend]
impl<M: Rules<Expands, S>, S> MaskAxis<S> for M {}

/// The shape of a mask, which must broadcast to that of the scores.
#[diagnostic::on_unimplemented(
    message = "attention: a mask of shape `{Self}` does not go with scores of shape `{Scores}`",
    label = "a mask has the axes of the scores, (…, queries, keys), or fewer in front"
)]
pub trait MaskOf<Scores>: Sealed {}
impl<Scores> MaskOf<Scores> for () {}
/// `[B] [H G, L M]` writes that `(G, M)` is a mask of `(B, H, L)`.
macro_rules! masks {
    ($([$($lead:ident)*] [$($m:ident $s:ident)+];)*) => {$(
        impl<$($lead,)* $($m: MaskAxis<$s>, $s,)+> MaskOf<($($lead,)* $($s,)+)> for ($($m,)+) {}
    )*};
}
masks! {
    [L] [MS S];
    [] [ML L MS S];
    [H L] [MS S];
    [H] [ML L MS S];
    [] [MH H ML L MS S];
    [B H L] [MS S];
    [B H] [ML L MS S];
    [B] [MH H ML L MS S];
    [] [MB B MH H ML L MS S];
}

/// A shape of queries, `(…, L, E)`, for keys `(…, S, E)` and values `(…, S, V)`.
#[diagnostic::on_unimplemented(
    message = "queries of shape `{Self}` don't go with keys of shape `{K}` and values of shape `{V}`",
    label = "expected (…, L, E), (…, S, E) and (…, S, V), with as many leading axes, up to two",
    note = "of two leading axes the second are heads; several heads of queries may share one of keys and values"
)]
pub trait Attended<K, V>: Sealed {
    /// The shape of the result, `(…, L, V)`.
    type Output: Shape;
    /// The shape of the scores, `(…, L, S)`.
    type Scores: Shape;
}
macro_rules! attended {
    ($([$($lead:ident $of_keys:ident $of_values:ident)?] [$($heads:ident $key_heads:ident $value_heads:ident)?];)*) => {$(
        impl<
            $($lead: Dim, $of_keys: Dim, $of_values: Dim,)? $($heads: Dim, $key_heads: Dim, $value_heads: Dim,)?
            L: Dim, E: Dim, S: Dim, EK: Dim, SV: Dim, V: Dim,
        > Attended<($($of_keys,)? $($key_heads,)? S, EK), ($($of_values,)? $($value_heads,)? SV, V)>
            for ($($lead,)? $($heads,)? L, E)
        where
            E: KeyFeatures<EK>,
            S: AsManyValues<SV>,
            $($lead: SameLead<$of_keys> + SameLead<$of_values>,)?
            $($heads: SharesHeads<$key_heads>, $key_heads: SameLead<$value_heads>,)?
        {
            type Output = ($($lead,)? $($heads,)? L, V);
            type Scores = ($($lead,)? $($heads,)? L, S);
        }
        // A second candidate, so that rustc waits for keys, and says what is wrong with them before it unifies: see `Never`.
        #[diagnostic::do_not_recommend]
        impl<$($lead: Dim,)? $($heads: Dim,)? L: Dim, E: Dim, V> Attended<Never, V> for ($($lead,)? $($heads,)? L, E) {
            type Output = ();
            type Scores = ();
        }
    )*};
}
attended! {
    [] [];
    [B BK BV] [];
    [B BK BV] [H HK HV];
}
