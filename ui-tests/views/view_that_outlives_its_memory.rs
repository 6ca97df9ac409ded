//! A view lives no longer than the memory it borrows.
//!
//! Instead: `to_tensor()`, which has elements of its own.
use castiron::{TensorView, shape};

fn main() {
    let x: TensorView<f32, shape![2, 2]> = {
        let memory = [1.0, 2.0, 3.0, 4.0];
        TensorView::from_slice(&memory)
    };
    println!("{x}");
}
