//! A block of GPT-2 small.

use crate::harness::Bench;
use crate::learning::measured;
use dfdx::prelude::*;

type Rows = Rank2<512, 768>;
type Scores = Rank3<12, 512, 512>;
type Taped<S> = Tensor<S, f32, Cpu, OwnedTape<f32, Cpu>>;

/// A norm, the weights of queries, keys and values, and what is added to the input.
type Attention = (
    LayerNorm1D<768>,
    (UnbiasedLinear<768, 768>, UnbiasedLinear<768, 768>, UnbiasedLinear<768, 768>),
    UnbiasedLinear<768, 768>,
);
type Inner = Residual<(LayerNorm1D<768>, Linear<768, 3072>, AccurateGeLU, Linear<3072, 768>)>;
type Block = (Attention, Inner);
type Built = <Block as BuildOnDevice<Cpu, f32>>::Built;

/// `mask` is what is added to scores: minus infinity for words that come later.
fn forward(((norm, (q, k, v), output), inner): &Built, x: Taped<Rows>, mask: &Tensor<Scores, f32, Cpu>) -> Taped<Rows> {
    let (x, tape) = x.split_tape();
    let normed = norm.forward(x.clone().put_tape(tape));
    let k = k.forward(normed.retaped()).reshape::<Rank3<512, 12, 64>>();
    let v: Taped<Rows> = v.forward(normed.retaped());
    let v = v.reshape::<Rank3<512, 12, 64>>().permute::<Rank3<12, 512, 64>, Axes3<1, 0, 2>>();
    let q = q.forward(normed).reshape::<Rank3<512, 12, 64>>().permute::<Rank3<12, 512, 64>, Axes3<1, 0, 2>>();
    let k: Taped<Rank3<12, 64, 512>> = k.permute::<_, Axes3<1, 2, 0>>();
    let scores: Taped<Scores> = (q * 0.125).matmul(k) + mask.clone();
    let seen = scores.softmax::<Axis<2>>().matmul(v).permute::<Rank3<512, 12, 64>, Axes3<1, 0, 2>>();
    inner.forward(output.forward(seen.reshape::<Rows>()) + x)
}

pub fn step(bench: &mut Bench, device: &Cpu) {
    let block = device.build_module::<Block, f32>();
    let tokens: Tensor<Rows, f32, Cpu> = device.sample_uniform() + 0.1;
    let later = |at: usize| if at % 512 > at / 512 { f32::NEG_INFINITY } else { 0.0 };
    let mask: Tensor<Rank2<512, 512>, f32, Cpu> =
        device.tensor_from_vec((0..512 * 512).map(later).collect(), (Const, Const));
    let mask = mask.broadcast::<Scores, Axis<0>>();
    let mut gradients = Some(block.alloc_grads());
    measured(bench, "", "s.block_step_512", || {
        let traced = tokens.trace(gradients.take().expect("they were put back"));
        let loss = forward(&block, traced, &mask).square().mean();
        let value = loss.array();
        let mut found = loss.backward();
        block.zero_grads(&mut found);
        gradients = Some(found);
        value
    });
}
