//! A window fits its axis.
//!
//! Instead: `x.unfold::<dim!(3), dim!(1), _>(axis![1])`.
//!
//! names: windows
//! names: D4
//! says: most | smaller | size

use castiron::{Tensor, axis, dim, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.unfold::<dim!(4), dim!(1), _>(axis![1]);
    // instead: let _ = x.unfold::<dim!(3), dim!(1), _>(axis![1]);
}
