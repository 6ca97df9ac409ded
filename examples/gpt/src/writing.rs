//! Writing: one letter after another, each drawn by the scores that the model gives.

use crate::model::{Gpt, Size};
use castiron::{Generator, Known, Result, Tensor, axis, dim, dims};

dims! {
    /// The letters that are seen.
    Seen,
}

/// How the next letter is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Scores are divided by this: 1 draws by the probabilities themselves, a small number nearly always the likeliest letter.
    pub temperature: f64,
    /// How many of the likeliest letters are drawn from.
    pub top_k: usize,
}

/// Goes on with a text for a number of letters.
///
/// # Errors
/// If memory runs out.
pub fn write<Z: Size>(
    model: &Gpt<Z>,
    start: &str,
    count: usize,
    choice: Choice,
    generator: &mut Generator,
) -> Result<String> {
    let alphabet = model.alphabet.to_vec();
    let number = |letter: char| alphabet.iter().position(|&own| own == i64::from(u32::from(letter)));
    let mut text: Vec<i64> = start.chars().filter_map(number).map(|at| at as i64).collect();
    if text.is_empty() {
        text.push(0);
    }
    let from = text.len();
    for _ in 0..count {
        let seen = &text[text.len().saturating_sub(Z::Context::VALUE)..];
        let letters: Tensor<i64, (dim!(1), Seen)> = Tensor::try_from_vec_sized(seen.to_vec(), [1, seen.len()])?;
        let scores = model.forward(&letters).select(axis![0], 0).select(axis![0], seen.len() - 1);
        let k = choice.top_k.clamp(1, alphabet.len());
        let (best, places) = scores.try_topk_sized(axis![0], k, true)?;
        let chances = (best / choice.temperature.max(1e-3)).softmax(axis![0]);
        let drawn = chances.try_multinomial(1, true, generator)?[0];
        text.push(places[drawn as usize]);
    }
    let letter = |&at: &i64| u32::try_from(alphabet[at as usize]).ok().and_then(char::from_u32).unwrap_or('?');
    Ok(text[from..].iter().map(letter).collect())
}
