//! Tensors that are zipped broadcast.
//!
//! Instead: zip with a tensor whose sizes are the same or 1.
//!
//! names: broadcast
//! says: the same

use castiron::{Tensor, shape};

fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::ones(), Tensor::<i64, shape![2]>::ones());
    let _ = x.zip_map(&y, |(x, y)| x * y as f32);
    // instead: let _ = x.zip_map(y.unsqueeze(castiron::axis![1]), |(x, y)| x * y as f32);
}
