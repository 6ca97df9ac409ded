//! Heads of queries are as many as those of keys, or a multiple.
//!
//! Instead: 12 heads of queries share 4.
//!
//! names: attention: `D1<D2>` heads of queries
//! names: `D5`
//! says: multiple

use castiron::{Tensor, nn::Causal, shape};

fn main() {
    let queries = Tensor::<f32, shape![2, 12, 6, 8]>::ones();
    let keys = Tensor::<f32, shape![2, 5, 6, 8]>::ones();
    // instead: let keys = Tensor::<f32, shape![2, 4, 6, 8]>::ones();
    let _ = queries.scaled_dot_product_attention(&keys, &keys, Causal, None);
}
