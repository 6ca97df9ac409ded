//! A view lives no longer than the memory it borrows.
//!
//! Instead: `to_tensor()`, which has elements of its own.
//!
//! names: memory
//! names: live long enough
//! says: to_tensor
//! rustc: E0597

use castiron::{TensorView, shape};

fn main() {
    let x: TensorView<f32, shape![2, 2]> = {
    // instead: let memory = [1.0, 2.0, 3.0, 4.0];
    // instead: let x: TensorView<f32, shape![2, 2]> = {
        let memory = [1.0, 2.0, 3.0, 4.0];
        // instead:
        TensorView::from_slice(&memory)
    };
    println!("{x}");
}
