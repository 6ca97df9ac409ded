//! Probabilities are floating-point numbers.
//!
//! Instead: `x.to::<f32>().bernoulli(&mut generator)`.
//!
//! names: bernoulli
//! names: i64
//! says: .to::<f32>()

use castiron::{Generator, Tensor, shape};

fn main() {
    let x = Tensor::<i64, shape![3]>::zeros();
    let _ = x.bernoulli(&mut Generator::seeded(0));
    // instead: let _ = x.to::<f32>().bernoulli(&mut Generator::seeded(0));
}
