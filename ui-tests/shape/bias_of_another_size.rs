//! The bias of a linear layer has an element for each output.
//!
//! Instead: as many as the weight has rows.
//!
//! names: linear | bias
//! says: D3

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![8, 2]>::ones();
    let weight = Tensor::<f32, shape![3, 2]>::ones();
    let bias = Tensor::<f32, shape![2]>::ones();
    // instead: let bias = Tensor::<f32, shape![3]>::ones();
    let _ = x.linear(&weight, Some(&bias));
}
