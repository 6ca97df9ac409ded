//! The shapes of attention. Uses shapes; used by `tensor::nn`.

use super::Shape;
use super::dim::{Dim, SameDim};

/// The features of queries, which those of the keys equal.
#[diagnostic::on_unimplemented(
    message = "attention: queries have `{Self}` features, keys have `{K}`",
    label = "the last axes of queries and keys must be equal",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait KeyFeatures<K> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> KeyFeatures<B> for A {}

/// The number of keys, which that of the values equals.
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

/// A shape of queries, `(…, L, E)`, for keys `(…, S, E)` and values `(…, S, V)`.
#[diagnostic::on_unimplemented(
    message = "queries of shape `{Self}` don't go with keys of shape `{K}` and values of shape `{V}`",
    label = "expected (…, L, E), (…, S, E) and (…, S, V), with as many leading axes, up to two",
    note = "of two leading axes the second are heads; several heads of queries may share one of keys and values"
)]
pub trait Attended<K, V> {
    /// The shape of the result, `(…, L, V)`.
    type Output: Shape;
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
            $($key_heads: SameLead<$value_heads>,)?
        {
            type Output = ($($lead,)? $($heads,)? L, V);
        }
    )*};
}
attended! {
    [] [];
    [B BK BV] [];
    [B BK BV] [H HK HV];
}
