//! Runs the workloads `n` (convolutions), `o` (attention), `q` (networks) and `s` (steps of learning) of castiron's `cargo bench` on candle:
//! JSON lines, from the same harness.
//!
//! ```text
//! cd benches/peers/candle && OUT=FILE THREADS=1 RAYON_NUM_THREADS=1 PEER=candle cargo run --release -- noqs
//! ```
//!
//! candle has no `channels_last` on the host. Weights are random: only time is compared.

#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/ceilings.rs"]
mod ceilings;
#[allow(dead_code, reason = "bounds are castiron's")]
#[path = "../../../workloads/harness.rs"]
mod harness;
#[path = "../../learning.rs"]
mod learning;
#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/report.rs"]
mod report;
mod steps;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Module, VarBuilder, VarMap};
use candle_transformers::models::{bert, resnet};
use harness::{Bench, Settings, Work};

fn floats(sizes: &[usize]) -> Result<Tensor> {
    Tensor::rand(0.1_f32, 1.1, sizes, &Device::Cpu)
}

fn convolutions(bench: &mut Bench) -> Result<()> {
    for (name, [n, c, h], [o, k], stride, padding) in [
        ("3x3_64_64_56", [1, 64, 56], [64, 3], 1, 1),
        ("3x3_128_128_28", [1, 128, 28], [128, 3], 1, 1),
        ("3x3_256_256_14", [1, 256, 14], [256, 3], 1, 1),
        ("3x3_512_512_7", [1, 512, 7], [512, 3], 1, 1),
        ("1x1_256_64_56", [1, 256, 56], [64, 1], 1, 0),
        ("7x7s2_3_64_224", [1, 3, 224], [64, 7], 2, 3),
        ("3x3_64_64_56_b8", [8, 64, 56], [64, 3], 1, 1),
        ("3x3s2_64_128_56", [1, 64, 56], [128, 3], 2, 1),
        ("1x1s2_64_128_56", [1, 64, 56], [128, 1], 2, 0),
    ] {
        let (x, w) = (floats(&[n, c, h, h])?, floats(&[o, c, k, k])?);
        bench.run(&format!("n.{name}_nchw"), Work::Calls, || x.conv2d(&w, padding, stride, 1, 1).expect("it fits"));
    }
    Ok(())
}

fn attended(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    let scores = (q.matmul(&k.t()?)? * (1.0 / 8.0))?;
    softmax_last_dim(&scores)?.matmul(v)
}

fn attention(bench: &mut Bench) -> Result<()> {
    for batch in [1, 8] {
        for len in [128, 512, 2048] {
            let [q, k, v] = [(); 3].map(|()| floats(&[batch, 12, len, 64]));
            let (q, k, v) = (q?, k?, v?);
            bench.run(&format!("o.f32_b{batch}_{len}"), Work::Calls, || attended(&q, &k, &v).expect("it fits"));
            let [q, k, v] = [&q, &k, &v].map(|x| x.to_dtype(DType::BF16));
            let (q, k, v) = (q?, k?, v?);
            bench.run(&format!("o.bf16_b{batch}_{len}"), Work::Calls, || attended(&q, &k, &v).expect("it fits"));
        }
    }
    Ok(())
}

fn models(bench: &mut Bench) -> Result<()> {
    let device = Device::Cpu;
    let weights = VarMap::new();
    let builder = VarBuilder::from_varmap(&weights, DType::F32, &device);
    let config = bert::Config {
        vocab_size: 30522,
        hidden_size: 384,
        num_hidden_layers: 6,
        num_attention_heads: 12,
        intermediate_size: 1536,
        ..bert::Config::default()
    };
    let model = bert::BertModel::load(builder, &config)?;
    for batch in [1, 8, 32] {
        let words: Vec<u32> = (0..batch * 32).map(|at| 1000 + (at as u32 * 131) % 29_000).collect();
        let words = Tensor::from_vec(words, (batch, 32), &device)?;
        let (kinds, mask) = (words.zeros_like()?, words.ones_like()?);
        bench.run(&format!("q.embed_{batch}x32"), Work::Calls, || {
            let features = model.forward(&words, &kinds, Some(&mask)).expect("it fits");
            features.mean(1).expect("there is an axis 1")
        });
    }
    let weights = VarMap::new();
    let model = resnet::resnet18(1000, VarBuilder::from_varmap(&weights, DType::F32, &device))?;
    for batch in [1, 8, 32] {
        let pictures = floats(&[batch, 3, 224, 224])?;
        bench.run(&format!("q.classify_{batch}"), Work::Calls, || model.forward(&pictures).expect("it fits"));
    }
    Ok(())
}

fn main() -> Result<()> {
    let settings = Settings::read();
    let letters = settings.letters.clone();
    let mut bench = Bench::new(settings, None);
    for (letter, run) in
        [('n', convolutions as fn(&mut Bench) -> Result<()>), ('o', attention), ('q', models), ('s', steps::run)]
    {
        if letters.contains(&letter) {
            run(&mut bench)?;
        }
    }
    Ok(())
}
