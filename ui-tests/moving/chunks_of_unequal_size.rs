//! An array of parts has parts of one size, which the compiler computes where it knows the axis.
//!
//! Instead: `x.chunk(axis![1], 4)`, a vector whose last part is smaller.
//!
//! names: axis 1
//! names: equal parts
//! says: chunk

use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 10]>::zeros();
    let [_, _, _, _] = x.chunk_array(axis![1]);
    // instead: let _ = x.chunk(axis![1], 4);
}
