//! A view borrows memory that somebody else keeps.
//!
//! Instead: give the memory a name.
//!
//! names: dropped
//! says: let
//! rustc: E0716

use castiron::{TensorView, shape};

fn main() {
    let x: TensorView<f32, shape![2]> = TensorView::from_slice(&vec![1.0, 2.0]);
    // instead: let memory = vec![1.0, 2.0];
    // instead: let x: TensorView<f32, shape![2]> = TensorView::from_slice(&memory);
    println!("{x}");
}
