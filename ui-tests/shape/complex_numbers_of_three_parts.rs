//! A complex number is a real and an imaginary part: a last axis of size 2.
//!
//! Instead: `(…, 2)`.
//!
//! names: view_as_complex
//! says: 2

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![4, 3]>::ones();
    // instead: let x = Tensor::<f32, shape![4, 2]>::ones();
    let _ = x.view_as_complex();
}
