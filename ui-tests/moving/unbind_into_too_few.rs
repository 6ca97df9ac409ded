//! An array of positions is as long as the axis.
//!
//! Instead: `let [a, b, c] = x.unbind_array(axis![1]);`.
//!
//! names: axis 1
//! names: positions
//! says: [a, b | unbind

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let [_, _] = x.unbind_array(axis![1]);
    // instead: let [_, _, _] = x.unbind_array(axis![1]);
}
