//! `q`: the networks of the examples `embed` and `classify`, with weights from a formula.

use super::harness::{Bench, Work};
use castiron::{ChannelsLast, Tensor};

#[allow(dead_code, reason = "the example opens files, too")]
#[path = "../../examples/classify/src/model.rs"]
mod classify;
#[allow(dead_code, reason = "the example opens files, too")]
#[path = "../../examples/embed/src/model.rs"]
mod embed;
#[path = "../../examples/synthetic/mod.rs"]
mod synthetic;

pub fn run(bench: &mut Bench) {
    let model = embed::Model::synthetic(synthetic::elements).expect("there is memory for the weights");
    for batch in [1, 8, 32] {
        let words =
            Tensor::from_fn_sized([batch, 32], |[i, j]: [usize; 2]| 1000 + ((i * 131 + j * 17) % 29_000) as i64);
        let mask = Tensor::from_fn_sized([batch, 32], |[i, j]: [usize; 2]| j < 32 - i % 3);
        bench.run(&format!("q.embed_{batch}x32"), Work::Calls, || model.run(&words, &mask));
    }
    let model = classify::Model::synthetic(synthetic::elements).expect("there is memory for the weights");
    for batch in [1, 8, 32] {
        let list = synthetic::elements("image", &[batch, 3, 224, 224]);
        let pictures: classify::Pictures = Tensor::from_vec_sized(list, [batch, 3, 224, 224]);
        let pictures = pictures.to_memory_format(ChannelsLast);
        bench.run(&format!("q.classify_{batch}"), Work::Calls, || model.run(&pictures).0);
    }
}
