//! Axes that are summed over in pairs have one size.
//!
//! Instead: name the axes in the order in which they belong together.
//!
//! names: tensordot
//! says: the first axis named goes with the first

use castiron::{Tensor, axis, shape};

fn main() {
    let (a, b) = (Tensor::<f32, shape![2, 3, 4]>::ones(), Tensor::<f32, shape![4, 3, 5]>::ones());
    let _ = a.tensordot(&b, axis![1, 2], axis![0, 1]);
    // instead: let _ = a.tensordot(&b, axis![1, 2], axis![1, 0]);
}
