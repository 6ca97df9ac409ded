//! What a query sees is said by a mask of `bool`, or by one of the dtype of the queries that is added.
//!
//! Instead: `Where` with a mask of `bool`.
//!
//! names: which keys a query of `f32` sees
//! says: Where(&mask)

use castiron::nn::Where;
use castiron::{Tensor, shape};

fn main() {
    let q = Tensor::<f32, shape![12, 5, 64]>::ones();
    let mask = Tensor::<i64, shape![5, 5]>::ones();
    // instead: let mask = Tensor::<bool, shape![5, 5]>::ones();
    let _ = q.scaled_dot_product_attention(&q, &q, &mask, None);
    // instead: let _ = q.scaled_dot_product_attention(&q, &q, Where(&mask), None);
    let _ = Where(&Tensor::<bool, shape![5, 5]>::ones());
}
