//! Turns sentences into vectors and compares their meaning: a sentence encoder of MiniLM's size, with every shape in its type.
//!
//! `cargo run --release -p embed -- FOLDER`, where FOLDER has `model.safetensors` and `tokenizer.json`, such as
//! `sentence-transformers/all-MiniLM-L6-v2`; or `-- --synthetic`: weights from a formula (`examples/synthetic`), which show how fast the
//! network is but understand nothing. `benches/peers/networks.py` computes the same in PyTorch.

mod model;
#[path = "../../synthetic/mod.rs"]
mod synthetic;

use castiron::{Tensor, axis};
use model::{Batch, Model, Seq};
use std::error::Error;
use std::time::{Duration, Instant};

const SENTENCES: [&str; 6] = [
    "A man is eating food.",
    "Someone has a meal.",
    "A woman plays the violin on a stage.",
    "The musician is performing a solo.",
    "Two dogs run through deep snow.",
    "The committee approved the budget for the coming year.",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let (model, words): (Model, Vec<Vec<i64>>) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--synthetic"] => (Model::synthetic(synthetic::elements)?, SENTENCES.map(synthetic_words).to_vec()),
        [folder] if !folder.starts_with("--") => {
            let tokenizer = tokenizers::Tokenizer::from_file(format!("{folder}/tokenizer.json"))
                .map_err(|error| error.to_string())?;
            let encode = |sentence: &str| -> Result<Vec<i64>, Box<dyn Error>> {
                let encoded = tokenizer.encode(sentence, true).map_err(|error| error.to_string())?;
                let real = encoded.get_ids().iter().zip(encoded.get_attention_mask()).filter(|(_, mask)| **mask == 1);
                Ok(real.map(|(&id, _)| i64::from(id)).collect())
            };
            (Model::open(folder)?, SENTENCES.iter().map(|sentence| encode(sentence)).collect::<Result<_, _>>()?)
        }
        _ => return Err("usage: embed FOLDER | --synthetic".into()),
    };
    println!("loaded in {:.1?}", start.elapsed());
    let (words, mask) = batch(&words);

    // The similarity of two sentences is the dot product of their vectors, which have length 1.
    let vectors = model.run(&words, &mask);
    let similarity: Tensor<f32, (Batch, Batch)> = vectors.matmul(&vectors.t());
    for (row, sentence) in SENTENCES.iter().enumerate() {
        let line: Vec<String> = similarity.select(axis![0], row).to_vec().iter().map(|x| format!("{x:5.2}")).collect();
        println!("{}   {sentence}", line.join(" "));
    }

    let (mut runs, start) = (0, Instant::now());
    while start.elapsed() < Duration::from_secs(2) {
        std::hint::black_box(model.run(&words, &mask));
        runs += 1;
    }
    let rate = (runs * SENTENCES.len()) as f64 / start.elapsed().as_secs_f64();
    println!("{rate:.0} sentences per second, in batches of {} with up to {} words", SENTENCES.len(), words.shape()[1]);
    Ok(())
}

/// Sentences padded with zeros to one length, and a mask of the words.
fn batch(sentences: &[Vec<i64>]) -> (Tensor<i64, (Batch, Seq)>, Tensor<bool, (Batch, Seq)>) {
    let longest = sentences.iter().map(Vec::len).max().unwrap_or(0);
    let at = |[row, column]: [usize; 2]| sentences[row].get(column).copied();
    let sizes = [sentences.len(), longest];
    (
        Tensor::from_fn_sized(sizes, |place| at(place).unwrap_or(0)),
        Tensor::from_fn_sized(sizes, |place| at(place).is_some()),
    )
}

/// Indices in the vocabulary for words without a tokenizer file: one for each spelling.
fn synthetic_words(sentence: &str) -> Vec<i64> {
    let place = |word: &str| 1000 + word.bytes().fold(7_i64, |hash, byte| (hash * 31 + i64::from(byte)) % 29_000);
    [101].into_iter().chain(sentence.split(' ').map(place)).chain([102]).collect()
}
