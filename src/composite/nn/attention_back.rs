//! Attention as one step of a tape. The way back computes the softmax weights of some queries of some heads again, so that their matrix
//! never exists as a whole: what is kept are queries, keys, values and the result.
//!
//! Source: Dao et al. 2022, "FlashAttention", algorithm 4; Dao 2023, "FlashAttention-2", section 3.1.2 (the sums of `gradient * result` in
//! place of those of `gradient of the weights * weights`).

use crate::composite::join::end_to_end::cat;
use crate::composite::normalization::back::{computed, rounded};
use crate::composite::primitive::{Back, Dtypes, On, Perhaps, Primitive, read};
use crate::composite::{Axis, Erased, Owned};
use crate::device::{Device, attention_shares};
use crate::dtype::{Compute, Dtype};
use crate::error::Result;
use crate::grad::Taped;
use crate::grad::primitive;
use crate::grad::tape::{Tape, Tracked};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::arguments::{Added, Attention, Mask};
use crate::ops::kernel::Combining;
use crate::ops::reduce::Sum;
use crate::storage::{View, ViewMut};
use core::marker::PhantomData;

const OP: &str = "scaled_dot_product_attention";

/// The most weights that are computed at a time: on the host, where they stay in the cache, and elsewhere.
const ON_HOST: usize = if cfg!(debug_assertions) { 1 << 6 } else { 1 << 18 };
const ELSEWHERE: usize = 1 << 26;
/// The fewest queries at a time.
const FEWEST: usize = if cfg!(debug_assertions) { 3 } else { 64 };
/// The most queries at a time with a causal mask: the weights of a block reach only up to the keys that its last query sees.
const CAUSAL: usize = if cfg!(debug_assertions) { 4 } else { 128 };

/// Runs attention on the device inside, and records it.
pub(crate) fn record<E: Dtype, D: Device>(
    attention: &Attention<'_, Tracked<D::Storage>, E>,
    tape: Tape,
) -> Result<Tracked<D::Storage>> {
    let &Attention { query, key, value, ref mask, is_causal, scale } = attention;
    let [query, key, value] = [query, key, value].map(Erased::<E, Taped<D>>::of);
    let (y,) = match mask {
        None => {
            let step = Attending::<E, Unmasked> { is_causal, scale, of: PhantomData };
            primitive::record::<_, D>(&step, &(query, key, value), Some(tape))?
        }
        Some(Mask::Seen(mask)) => {
            let step = Attending::<E, BySeen> { is_causal, scale, of: PhantomData };
            primitive::record::<_, D>(&step, &(query, key, value, Erased::of(*mask)), Some(tape))?
        }
        // The gradient of a mask is as large as all weights: then these are recorded.
        Some(Mask::Added(mask)) if mask.buffer.is_tracked() => {
            let [_, y] = crate::device::attention_composed::<Taped<D>, E>(attention)?;
            return Ok(y);
        }
        Some(Mask::Added(mask)) => {
            let step = Attending::<E, ByAdded> { is_causal, scale, of: PhantomData };
            primitive::record::<_, D>(&step, &(query, key, value, Erased::of(*mask)), Some(tape))?
        }
    };
    Ok(y.into_parts().0)
}

/// Attention with a mask of a kind.
struct Attending<E, M> {
    is_causal: bool,
    scale: f64,
    of: PhantomData<fn() -> (E, M)>,
}
impl<E, M> Clone for Attending<E, M> {
    fn clone(&self) -> Self {
        Attending { is_causal: self.is_causal, scale: self.scale, of: PhantomData }
    }
}

/// Queries, keys and values.
type Three<'a, B, E> = [View<'a, B, E>; 3];

/// The operands of attention.
type Given<'a, B, E> = (Three<'a, B, E>, Option<Mask<'a, B, E>>);

/// Which kind of mask attention has.
trait Masking<E: Dtype>: 'static {
    type Operands: Dtypes;
    /// A bit for each operand that the way back reads.
    const READS: u32;
    fn given<'x, D: Device>(x: &'x On<'_, Self::Operands, D>) -> Given<'x, D::Storage, E>;
    fn kept<'x, D: Device>(x: &'x Perhaps<'_, Self::Operands, D>) -> Result<Given<'x, D::Storage, E>>;
    fn gradients<D: Device>(of: [Option<Owned<E, D>>; 3]) -> Perhaps<'static, Self::Operands, D>;
}
struct Unmasked;
struct BySeen;
struct ByAdded;
/// For `BySeen 0b1111 { bool, mask, Seen, None }` it writes `impl Masking<E> for BySeen` with the operands `(E, E, E, bool)`, whose last one is
/// `Mask::Seen`, and has no gradient.
macro_rules! masking {
    ($($kind:ident $reads:literal { $($M:ty, $mask:ident, $given:ident, $no:expr)? })*) => {$(
        impl<E: Dtype> Masking<E> for $kind {
            type Operands = (E, E, E $(, $M)?);
            const READS: u32 = $reads;
            fn given<'x, D: Device>(
                (query, key, value $(, $mask)?): &'x On<'_, Self::Operands, D>,
            ) -> Given<'x, D::Storage, E> {
                let mask = None::<Mask<'x, D::Storage, E>>;
                $(let mask = mask.or(Some(Mask::$given($mask.view())));)?
                ([query.view(), key.view(), value.view()], mask)
            }
            fn kept<'x, D: Device>(
                (query, key, value $(, $mask)?): &'x Perhaps<'_, Self::Operands, D>,
            ) -> Result<Given<'x, D::Storage, E>> {
                let mask = None::<Mask<'x, D::Storage, E>>;
                $(let mask = mask.or(Some(Mask::$given(read($mask)?.view())));)?
                Ok(([read(query)?.view(), read(key)?.view(), read(value)?.view()], mask))
            }
            fn gradients<D: Device>([query, key, value]: [Option<Owned<E, D>>; 3]) -> Perhaps<'static, Self::Operands, D> {
                (query, key, value $(, $no)?)
            }
        }
    )*};
}
masking! {
    Unmasked 0b111 {}
    BySeen 0b1111 { bool, mask, Seen, None }
    ByAdded 0b1111 { E, mask, Added, None }
}

impl<E: Dtype, M: Masking<E>> Primitive for Attending<E, M> {
    type Operands = M::Operands;
    type Results = (E,);
    fn op(&self) -> &'static str {
        OP
    }
    fn run<D: Device>(&self, x: On<'_, Self::Operands, D>) -> Result<On<'static, Self::Results, D>> {
        let ([query, key, value], mask) = M::given::<D>(&x);
        let mut sizes = Dims::known(query.sizes);
        let rank = sizes.len();
        sizes[rank - 1] = value.sizes[rank - 1];
        let Attending { is_causal, scale, .. } = *self;
        let storage = D::attend(Attention { query, key, value, mask, is_causal, scale })?;
        Ok((Erased::dense(storage, sizes),))
    }

    const READS: [u32; 2] = [M::READS, 0b1];
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, Self::Operands, D>> {
        let (Some(gradient), result) = (&back.g.0, read(&back.y.0)?) else {
            return Ok(M::gradients([None, None, None]));
        };
        let ([query, key, value], mask) = M::kept::<D>(&back.x)?;
        let Attending { is_causal, scale, .. } = *self;
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let wants = [back.wants[0], back.wants[1], back.wants[2]];
        Ok(M::gradients(gradients::<E, D>(&attention, [result, gradient], wants)?))
    }
}

/// Heads, the last of the leading axes as an axis of their own, and the other leading axes as one: `(others, heads, rows, columns)`.
fn in_heads<E: Dtype, D: Device>(of: &Erased<'_, E, D>, lead: [usize; 2]) -> Result<Owned<E, D>> {
    let last = &of.sizes()[of.rank() - 2..];
    Ok(of.reshape(OP, &[lead[0], lead[1], last[0], last[1]])?.share())
}

/// Some rows of some heads.
#[derive(Clone, Copy)]
struct Part {
    other: usize,
    head: usize,
    heads: usize,
    row: usize,
    rows: usize,
}
impl Part {
    fn of<E: Dtype, D: Device>(self, x: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let x = x.narrow(OP, Axis(0), self.other, 1)?;
        let x = x.narrow(OP, Axis(1), self.head, self.heads)?;
        Ok(x.narrow(OP, Axis(2), self.row, self.rows)?.share())
    }
    /// As many rows from the first one on.
    fn rows(self, rows: usize) -> Self {
        Part { row: 0, rows, ..self }
    }
}

fn transposed<'x, E: Dtype, D: Device>(x: &'x Erased<'_, E, D>) -> Result<Erased<'x, E, D>> {
    x.permute(OP, &[0, 1, 3, 2])
}

/// `alpha * a @ b`
fn product<C: Dtype, D: Device>(a: &Erased<'_, C, D>, b: &Erased<'_, C, D>, alpha: Option<f64>) -> Result<Owned<C, D>> {
    let mut sizes = a.dims();
    sizes[3] = b.sizes()[3];
    let added = alpha.map(|alpha| Added {
        input: None,
        beta: C::Compute::default(),
        alpha: <C::Compute as Compute>::number(alpha),
    });
    Ok(Erased::dense(D::matmul::<C>(a.view(), b.view(), added)?, sizes))
}

/// Adds to the first rows of a sum.
fn add_to<C: Dtype, D: Device>(sum: &mut Option<Owned<C, D>>, part: Owned<C, D>) -> Result<()> {
    let Some(all) = sum.take() else {
        *sum = Some(part);
        return Ok(());
    };
    let (sizes, strides) = (all.dims(), Dims::known(all.strides()));
    let mut storage = all.into_parts().0;
    let rows = ViewMut::new(&mut storage, 0, part.sizes(), &strides);
    D::update2::<C, C>(Combining::<ops::add, C>::new(), part.view(), rows)?;
    *sum = Some(Erased::dense(storage, sizes));
    Ok(())
}

/// Pieces end to end.
fn joined<C: Dtype, D: Device>(mut pieces: Vec<Owned<C, D>>, axis: usize) -> Result<Owned<C, D>> {
    match pieces.pop() {
        Some(only) if pieces.is_empty() => Ok(only),
        last => {
            pieces.extend(last);
            cat(OP, &pieces, axis)
        }
    }
}

/// Rows that no query sees get zeros.
fn padded<C: Dtype, D: Device>(x: Owned<C, D>, rows: usize) -> Result<Owned<C, D>> {
    let mut sizes = x.dims();
    let missing = rows - sizes[2];
    if missing == 0 {
        return Ok(x);
    }
    sizes[2] = missing;
    let zeros = Erased::dense(D::zeroed::<C>(Some(x.storage()), sizes.iter().product())?, sizes);
    cat(OP, &[x, zeros], 2)
}

/// The gradients of queries, keys and values, where they are wanted, from the result and its gradient.
fn gradients<E: Dtype, D: Device>(
    attention: &Attention<'_, D::Storage, E>,
    [result, gradient]: [&Erased<'_, E, D>; 2],
    wants: [bool; 3],
) -> Result<[Option<Owned<E, D>>; 3]> {
    let &Attention { query, key, value, ref mask, is_causal, scale } = attention;
    let (lead, last) = query.sizes.split_at(query.sizes.len() - 2);
    let (queries, keys) = (last[0], key.sizes[lead.len()]);
    if gradient.is_empty() || keys == 0 || last[1] == 0 {
        return Ok([None, None, None]);
    }
    let count: usize = lead.iter().product();
    let heads = if mask.is_some() { lead.last().copied().unwrap_or(1) } else { count };
    let lead = [count / heads, heads];
    let wide = |x: &Erased<'_, E, D>| in_heads(&computed(OP, x)?, lead);
    let [q, k, v] = [query, key, value].map(|x| wide(&Erased::of(x)));
    let (q, k, v) = (q?, k?, v?);
    let (y, g) = (wide(result)?, wide(gradient)?);
    // For each query the sum of its weights' gradients, each times the weight.
    let along =
        g.reduce_pairs::<E::Compute, E::Compute, _>(OP, Sum, Combining::<ops::mul, E::Compute>::new(), &y, 0b1000)?;
    let along = along.retyped::<E::Compute>();
    let along = along.reshape(OP, &[lead[0], lead[1], queries, 1])?;
    let seen = match mask {
        Some(Mask::Seen(mask)) => Some(in_heads(&Erased::<bool, D>::of(*mask), lead)?),
        _ => None,
    };
    let addend = match mask {
        Some(Mask::Added(mask)) => Some(in_heads(&Erased::<E, D>::of(*mask), lead)?),
        _ => None,
    };

    let most = if g.on_host().is_some() { ON_HOST } else { ELSEWHERE };
    let rows = (most / keys).max(FEWEST).min(queries);
    let rows = if is_causal { rows.min(CAUSAL) } else { rows };
    let step = (most / rows.saturating_mul(keys)).clamp(1, heads);
    let mut all = [const { Vec::new() }; 3];
    for other in 0..lead[0] {
        let mut of_other = [const { Vec::new() }; 3];
        for head in (0..heads).step_by(step) {
            let (mut of_queries, mut of_keys, mut of_values) = (Vec::new(), None, None);
            // From the last queries on, which see the most keys.
            for row in (0..queries).step_by(rows).rev() {
                let part = Part { other, head, heads: step.min(heads - head), row, rows: rows.min(queries - row) };
                let visible = if is_causal { keys.min(row + part.rows) } else { keys };
                let (q, g) = (part.of(&q)?, part.of(&g)?);
                let (k, v) = (part.rows(visible).of(&k)?, part.rows(visible).of(&v)?);
                let columns = |x: &Erased<'_, E, D>| computed(OP, &x.narrow(OP, Axis(3), 0, visible)?);
                let addend = addend.as_ref().map(|x| columns(&part.of(x)?)).transpose()?;
                let seen =
                    seen.as_ref().map(|x| Ok(part.of(x)?.narrow(OP, Axis(3), 0, visible)?.share())).transpose()?;
                let mask = match (&seen, &addend) {
                    (Some(seen), _) => Some(Mask::Seen(seen.view())),
                    (_, Some(addend)) => Some(Mask::Added(addend.view())),
                    _ => None,
                };
                let [query, key, value] = [&q, &k, &v].map(Erased::view);
                let shares =
                    attention_shares::<D, E::Compute>(&Attention { query, key, value, mask, is_causal, scale }, row)?;
                let mut sizes = q.dims();
                sizes[3] = visible;
                let shares = Owned::<E::Compute, D>::dense(shares, sizes);
                if wants[2] {
                    add_to(&mut of_values, product(&transposed(&shares)?, &g, None)?)?;
                }
                if !wants[0] && !wants[1] {
                    continue;
                }
                let (times, minus) =
                    (Combining::<ops::mul, E::Compute>::new(), Combining::<ops::sub, E::Compute>::new());
                let slope = product(&g, &transposed(&v)?, None)?;
                let slope = slope.map2::<E::Compute, E::Compute>(OP, minus, &part.of(&along)?.expand(OP, &sizes)?)?;
                let slope = shares.map2::<E::Compute, E::Compute>(OP, times, &slope)?;
                if wants[0] {
                    of_queries.push(product(&slope, &k, Some(scale))?);
                }
                if wants[1] {
                    add_to(&mut of_keys, product(&transposed(&slope)?, &q, Some(scale))?)?;
                }
            }
            if wants[0] {
                of_queries.reverse();
                of_other[0].push(joined(of_queries, 2)?);
            }
            for (to, sum) in of_other[1..].iter_mut().zip([of_keys, of_values]) {
                to.extend(sum.map(|sum| padded(sum, keys)).transpose()?);
            }
        }
        for (to, pieces) in all.iter_mut().zip(of_other) {
            if !pieces.is_empty() {
                to.push(joined(pieces, 1)?);
            }
        }
    }
    let whole = |pieces: Vec<Owned<E::Compute, D>>, sizes: &[usize]| -> Result<Option<Owned<E, D>>> {
        if pieces.is_empty() {
            return Ok(None);
        }
        let storage = joined(pieces, 0)?.into_parts().0;
        rounded(OP, Erased::dense(storage, Dims::known(sizes))).map(Some)
    };
    let [of_queries, of_keys, of_values] = all;
    Ok([whole(of_queries, query.sizes)?, whole(of_keys, key.sizes)?, whole(of_values, value.sizes)?])
}
