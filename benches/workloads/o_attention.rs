//! `o`: attention with 12 heads of 64 features.

use super::data::floats;
use super::harness::{Bench, Work};
use castiron::nn::{All, Causal};
use castiron::{Known, bf16, dim};

pub fn run(bench: &mut Bench) {
    attention::<dim!(1), dim!(128)>(bench);
    attention::<dim!(1), dim!(512)>(bench);
    attention::<dim!(1), dim!(2048)>(bench);
    attention::<dim!(8), dim!(128)>(bench);
    attention::<dim!(8), dim!(512)>(bench);
    attention::<dim!(8), dim!(2048)>(bench);
}

fn attention<B: Known, L: Known>(bench: &mut Bench) {
    let [q, k, v] = [1, 2, 3].map(floats::<(B, dim!(12), L, dim!(64))>);
    let [batch, heads, len, width] = q.shape();
    let name = |dtype: &str| format!("o.{dtype}_b{batch}_{len}");
    let work = Work::Flops32(4 * batch * heads * len * len * width);
    bench.run(&name("f32"), work, || q.scaled_dot_product_attention(&k, &v, All, None));
    bench.run(&name("causal_f32"), work, || q.scaled_dot_product_attention(&k, &v, Causal, None));
    let [q, k, v] = [q, k, v].map(|x| x.to::<bf16>());
    bench.run(&name("bf16"), work, || q.scaled_dot_product_attention(&k, &v, All, None));
}
