//! A vector is broadcast along the rows of a matrix, from the last axis on.
//!
//! Instead: put an axis in at the end to go along the columns.
//!
//! names: broadcast
//! names: D3
//! names: D2
//! says: unsqueeze | from the last axis

use castiron::{Tensor, shape};
// instead: use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let weights = Tensor::<f32, shape![2]>::ones();
    let _ = &x * &weights;
    // instead: let _ = &x * weights.unsqueeze(axis![-1]);
}
