//! What is computed with needs its dtype and shape before.
//!
//! Instead: say them where the tensor is made.
//!
//! names: type
//! says: Tensor<
//! rustc: E0283

use castiron::{Generator, Tensor};
// instead: use castiron::{Generator, Tensor, shape};

fn main() {
    let w = Tensor::randn(&mut Generator::seeded(0));
    // instead: let w = Tensor::<f32, shape![2, 3]>::randn(&mut Generator::seeded(0));
    let _ = w * 0.5;
}
