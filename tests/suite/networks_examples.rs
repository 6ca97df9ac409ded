//! The networks of `examples` with weights from a formula, compared with PyTorch's values (`benches/peers/networks.py`).

#[allow(dead_code, reason = "files are opened by the example")]
#[path = "../../examples/classify/src/model.rs"]
mod classify;
#[allow(dead_code, reason = "files are opened by the example")]
#[path = "../../examples/embed/src/model.rs"]
mod embed;
#[path = "../../examples/synthetic/mod.rs"]
mod synthetic;

use castiron::{ChannelsLast, Tensor, axis, shape};
use serde_json::Value;

fn expected(name: &str) -> Vec<f32> {
    let values: Value = serde_json::from_str(include_str!("../data/networks.json")).unwrap();
    values[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

#[test]
fn sentences_have_the_vectors_that_pytorch_gives_them() {
    let model = embed::Model::synthetic(synthetic::elements).unwrap();
    let is_there = |[row, column]: [usize; 2]| column < 9 - row % 3;
    let word = |[row, column]: [usize; 2]| (1000 + (row * 131 + column * 17) % 29_000) as i64;
    let words = Tensor::from_fn_sized([3, 9], |at| if is_there(at) { word(at) } else { 0 });
    let vectors = model.run(&words, &Tensor::from_fn_sized([3, 9], is_there)).to_vec();
    let expected = expected("embed");
    assert_eq!(vectors.len(), expected.len());
    let worst = vectors.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-5, "they differ by {worst}");
    // A sentence alone has the vector that it has among others.
    let alone = model.run(
        &words.narrow(axis![0], 1, 1).narrow(axis![1], 0, 8).with_shape(),
        &Tensor::from_fn_sized([1, 8], |_| true),
    );
    let worst = alone.to_vec().iter().zip(&vectors[384..]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-5, "they differ by {worst}");
}

#[test]
fn pictures_have_the_scores_that_pytorch_gives_them() {
    let model = classify::Model::synthetic(synthetic::elements).unwrap();
    // (Without the factor of a weight, which is undone in the other program.)
    let elements: Vec<f32> = synthetic::elements("image", &[1, 3, 224, 224]);
    let factor = (3.0_f64 * 224.0 * 224.0 / 3.0).sqrt() as f32;
    let image = Tensor::<f32, shape![_, 3, 224, 224]>::from_vec_sized(elements, [1, 3, 224, 224]) * factor;
    let expected = expected("classify");
    for pictures in [image.to_memory_format(ChannelsLast), image] {
        let scores = model.run(&pictures.with_shape()).0.to_vec();
        assert_eq!(scores.len(), expected.len());
        let worst = scores.iter().zip(&expected).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f32::max);
        assert!(worst < 1e-4, "they differ by {worst}");
    }
}
