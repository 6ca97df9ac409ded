//! `multi_head_attention_forward`: input projections, several heads of attention, an output projection.
//!
//! Source: `torch.nn.functional.multi_head_attention_forward`.

use crate::any::call::Bound;
use crate::any::create::drawn::unseeded;
use crate::any::join::cat_stack::cat;
use crate::any::{AnyTensor, Value};
use crate::dtype::DType;
use crate::error::Result;
use castiron_macros::operations;

/// A mask to be added to scores: minus infinity where a bool mask is true.
fn added(args: &Bound<'_>, name: &str, like: &AnyTensor) -> Result<Option<AnyTensor>> {
    let Some(mask) = args.read::<Option<&AnyTensor>>(name)? else { return Ok(None) };
    match mask.dtype {
        DType::Bool => like.zeros_like_device(&mask.sizes, like.dtype)?.masked_fill(mask, f64::NEG_INFINITY).map(Some),
        dtype if dtype.is_floating_point() => mask.to(like.dtype).map(Some),
        dtype => args.refused(format!("only bool and floating types of {name} are supported, got {dtype}")),
    }
}

/// Queries, keys and values, projected: by one packed weight, or by one each.
fn projected(args: &Bound<'_>, [query, key, value]: [&AnyTensor; 3]) -> Result<[AnyTensor; 3]> {
    let bias = args.read::<Option<&AnyTensor>>("in_proj_bias")?.map(|bias| bias.chunk(3, 0)).transpose()?;
    let bias = |at: usize| bias.as_ref().and_then(|list| list.get(at));
    if args.read_or("use_separate_proj_weight", || false)? {
        let by = |x: &AnyTensor, name: &str, at: usize| x.linear(args.tensor(name)?, bias(at));
        return Ok([by(query, "q_proj_weight", 0)?, by(key, "k_proj_weight", 1)?, by(value, "v_proj_weight", 2)?]);
    }
    let weights = args.tensor("in_proj_weight")?.chunk(3, 0)?;
    let [of_query, of_key, of_value] = &weights[..] else {
        return args.refused("in_proj_weight has three weights, one below the other".to_owned());
    };
    Ok([query.linear(of_query, bias(0))?, key.linear(of_key, bias(1))?, value.linear(of_value, bias(2))?])
}

/// Sizes: target length, batch size, number of heads, features of a head.
#[derive(Clone, Copy)]
struct Heads {
    queries: usize,
    batch: usize,
    heads: usize,
    features: usize,
}

impl Heads {
    fn all(self) -> usize {
        self.batch * self.heads
    }

    fn width(self) -> usize {
        self.heads * self.features
    }

    /// `(S, N, E)` split into heads: `(N * H, S, E / H)`.
    fn divided(self, x: &AnyTensor) -> Result<AnyTensor> {
        x.reshape([x.sizes[0], self.all(), self.features])?.transpose(0, 1)
    }
}

/// The attention mask, added to the scores of each head, and the key padding mask of each batch element.
#[derive(Default)]
struct Masks {
    scores: Option<AnyTensor>,
    keys: Option<AnyTensor>,
}

impl Masks {
    fn read(args: &Bound<'_>, query: &AnyTensor, of: Heads, keys: usize, is_batched: bool) -> Result<Self> {
        let padding = added(args, "key_padding_mask", query)?;
        let padding = padding.map(|mask| if is_batched { Ok(mask) } else { mask.unsqueeze(0) }).transpose()?;
        let scores = match added(args, "attn_mask", query)? {
            Some(mask) if mask.sizes[..] == [of.queries, keys] => Some(mask.unsqueeze(0)?),
            Some(mask) if mask.sizes[..] != [of.all(), of.queries, keys] => {
                return args.refused(format!(
                    "attn_mask of shape {:?}: expected {:?} or {:?}",
                    mask.shape(),
                    [of.queries, keys],
                    [of.all(), of.queries, keys]
                ));
            }
            mask => mask,
        };
        Ok(Masks { scores, keys: padding })
    }

    /// Adds one key, which all queries attend to.
    fn widen(&mut self) -> Result<()> {
        for mask in [&mut self.scores, &mut self.keys].into_iter().flatten() {
            *mask = mask.pad(&[0, 1], "constant", None)?;
        }
        Ok(())
    }

    /// Both masks combined.
    fn together(self, of: Heads, keys: usize) -> Result<Option<AnyTensor>> {
        let Some(padding) = self.keys else { return Ok(self.scores) };
        let spread = padding.reshape([of.batch, 1, 1, keys])?.expand([of.batch, of.heads, 1, keys])?;
        let spread = spread.reshape([of.all(), 1, keys])?;
        Ok(Some(match self.scores {
            Some(scores) => scores.add(&spread)?,
            None => spread,
        }))
    }
}

#[operations]
impl AnyTensor {
    /// Operands are `(L, N, E)`, or `(L, E)` without a batch. The second result are the attention weights, averaged over the heads or for
    /// each head; `None` without `need_weights`.
    #[op(nn.functional.multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal, generator), dtypes = float)]
    fn multi_head_attention_forward_by_name(args: &Bound<'_>) -> Result<Value> {
        let (query, key, value) = (args.tensor("query")?, args.tensor("key")?, args.tensor("value")?);
        let (is_batched, heads) = (query.rank() == 3, args.read::<usize>("num_heads")?);
        if !matches!(query.rank(), 2 | 3) || key.rank() != query.rank() || value.rank() != query.rank() {
            return args.refused("query, key and value have three axes, or two without a batch".to_owned());
        }
        let batched = |x: &AnyTensor| if is_batched { Ok(x.clone()) } else { x.unsqueeze(1) };
        let (query, key, value) = (batched(query)?, batched(key)?, batched(value)?);
        let [queries, batch, width] = [0, 1, 2].map(|axis| query.sizes[axis]);
        if width != args.read::<usize>("embed_dim_to_check")? || heads == 0 || width % heads != 0 {
            return args.refused(format!("{heads} heads can't share {width} features"));
        }
        if key.sizes[..2] != value.sizes[..2] || key.sizes[1] != batch {
            let sizes = [key.shape(), value.shape()];
            return args.refused(format!("keys and values of sizes {sizes:?} for a batch of {batch}"));
        }
        let of = Heads { queries, batch, heads, features: width / heads };
        let mut masks = Masks::read(args, &query, of, key.sizes[0], is_batched)?;
        let (need_weights, mut is_causal) =
            (args.read_or("need_weights", || true)?, args.read_or("is_causal", || false)?);
        if is_causal && masks.scores.is_none() {
            return args.refused("need attn_mask if is_causal is given".to_owned());
        }
        is_causal &= masks.keys.is_none() && !need_weights;
        if is_causal {
            masks.scores = None;
        }
        let [q, mut k, mut v] = projected(args, [&query, &key, &value])?;
        match (args.read::<Option<&AnyTensor>>("bias_k")?, args.read::<Option<&AnyTensor>>("bias_v")?) {
            (Some(of_k), Some(of_v)) => {
                let one = [1, batch, of.width()];
                (k, v) = (cat(&[k, of_k.expand(one)?], 0)?, cat(&[v, of_v.expand(one)?], 0)?);
                masks.widen()?;
            }
            (None, None) => {}
            _ => return args.refused("bias_k and bias_v go together".to_owned()),
        }
        let fixed = |name: &str, x: &AnyTensor| match args.read::<Option<&AnyTensor>>(name)? {
            Some(given) => Ok(given.clone()),
            None => of.divided(x),
        };
        let (q, mut k, mut v) = (of.divided(&q)?, fixed("static_k", &k)?, fixed("static_v", &v)?);
        if args.read_or("add_zero_attn", || false)? {
            let zeros = q.zeros_like_device(&[of.all(), 1, of.features], q.dtype)?;
            (k, v) = (cat(&[k, zeros.clone()], 1)?, cat(&[v, zeros], 1)?);
            masks.widen()?;
        }
        let [_, keys, _] = k.sizes[..] else { return args.refused("static_k has three axes".to_owned()) };
        let mask = masks.together(of, keys)?;
        let dropout = if args.read_or("training", || true)? { args.read_or("dropout_p", || 0.0)? } else { 0.0 };
        let (attended, weights) = if need_weights || dropout > 0.0 {
            let scores = q.mul((of.features as f64).sqrt().recip())?.bmm(&k.transpose(1, 2)?)?;
            let mut weights = if let Some(mask) = &mask { scores.add(mask)? } else { scores }.softmax(-1, None)?;
            if dropout > 0.0 {
                weights = weights.dropout(dropout, true, &mut args.read_or("generator", unseeded)?)?;
            }
            (weights.bmm(&v)?, Some(weights))
        } else {
            (q.scaled_dot_product_attention(&k, &v, mask.as_ref(), 0.0, is_causal, None, false)?, None)
        };
        let together = attended.transpose(0, 1)?.reshape([queries, batch, width])?;
        let result = together.linear(args.tensor("out_proj_weight")?, args.read("out_proj_bias")?)?;
        let result = if is_batched { result } else { result.squeeze(Some(&[1]))? };
        let Some(weights) = weights.filter(|_| need_weights) else {
            return Ok(Value::List(vec![result.into(), Value::Absent].into()));
        };
        let mut weights = weights.reshape([batch, heads, queries, keys])?;
        if args.read_or("average_attn_weights", || true)? {
            weights = weights.mean(Some(&[1]), false, None)?;
        }
        let weights = if is_batched { weights } else { weights.squeeze(Some(&[0]))? };
        Ok(Value::List(vec![result.into(), weights.into()].into()))
    }
}
