//! A mask has a row for each query and a column for each key.
//!
//! Instead: a mask of `(5, 5)`.
//!
//! names: a mask of `D7` beside scores of `D5`
//! says: a row for each query

use castiron::{Tensor, nn::Where, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 5, 8]>::ones();
    let mask = Tensor::<bool, shape![7, 5]>::ones();
    // instead: let mask = Tensor::<bool, shape![5, 5]>::ones();
    let _ = x.scaled_dot_product_attention(&x, &x, Where(&mask), None);
}
