//! Matrices of a chain follow one another: of one shape, they are square.
//!
//! Instead: sizes known at run time, `shape![_, _]`.
//!
//! names: multi_dot: inner sizes differ
//! says: shape![_, _]

use castiron::{Tensor, multi_dot, shape};

fn main() {
    let a = Tensor::<f32, shape![4, 5]>::ones();
    // instead: let a = Tensor::<f32, shape![5, 5]>::ones();
    let _ = multi_dot(&[&a, &a]);
}
