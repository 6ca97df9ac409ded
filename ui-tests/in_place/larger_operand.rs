//! What is written into keeps its shape.
//!
//! Instead: a new tensor.
//!
//! names: (D2, D3)
//! names: (D3,)
//! says: let x

use castiron::{Tensor, shape};

fn main() {
    let mut total = Tensor::<f32, shape![3]>::zeros();
    let batch = Tensor::<f32, shape![2, 3]>::ones();
    total += &batch;
    // instead: let total = total + &batch;
}
