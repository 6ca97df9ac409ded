//! A tensor is cast to one of PyTorch's dtypes, and `usize` is none.
//!
//! Instead: `i64`, PyTorch's own dtype of indices.
//!
//! names: usize
//! says: i64

use castiron::tensor;

fn main() {
    let x = tensor![0.0, 1.0];
    let _ = x.to::<usize>();
    // instead: let _ = x.to::<i64>();
}
