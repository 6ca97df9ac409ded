//! Queries have as many features as keys.
//!
//! Instead: heads of one width.
//!
//! names: attention
//! names: D6
//! names: D3
//! says: features

use castiron::nn::All;
use castiron::{Tensor, shape};

fn main() {
    let q = Tensor::<f32, shape![1, 12, 5, 64]>::ones();
    // instead: let q = Tensor::<f32, shape![1, 12, 5, 32]>::ones();
    let k = Tensor::<f32, shape![1, 12, 7, 32]>::ones();
    let _ = q.scaled_dot_product_attention(&k, &k, All, None);
}
