//! Random numbers come from a generator that the program has.
//!
//! Instead: `Generator::seeded(0)`.
//!
//! names: argument
//! says: Generator
//! rustc: E0061

use castiron::{Tensor, shape};
// instead: use castiron::{Generator, Tensor, shape};

fn main() {
    let w = Tensor::<f32, shape![2, 3]>::randn();
    // instead: let w = Tensor::<f32, shape![2, 3]>::randn(&mut Generator::seeded(0));
}
