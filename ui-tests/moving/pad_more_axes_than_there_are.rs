//! There are two amounts for each axis that is padded.
//!
//! Instead: `x.pad::<shape![1, 1], _>(Constant(0))`.
//!
//! names: padded
//! says: two | 2

use castiron::pad::Constant;
use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![4]>::zeros();
    let _ = x.pad::<shape![1, 1, 2, 2], _>(Constant(0));
    // instead: let _ = x.pad::<shape![1, 1], _>(Constant(0));
}
