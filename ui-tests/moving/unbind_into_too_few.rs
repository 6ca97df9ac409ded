//! An array of positions is as long as the axis.
//!
//! Instead: `let [a, b, c] = x.unbind_array(axis![1]);`.

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let [_, _] = x.unbind_array(axis![1]);
}
