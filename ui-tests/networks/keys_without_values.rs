//! Each key has a value.
//!
//! Instead: as many values as keys.
//!
//! names: attention
//! names: D7
//! names: D6
//! says: value

use castiron::nn::All;
use castiron::{Tensor, shape};

fn main() {
    let q = Tensor::<f32, shape![5, 32]>::ones();
    let k = Tensor::<f32, shape![7, 32]>::ones();
    let v = Tensor::<f32, shape![6, 32]>::ones();
    // instead: let v = Tensor::<f32, shape![7, 32]>::ones();
    let _ = q.scaled_dot_product_attention(&k, &v, All, None);
}
