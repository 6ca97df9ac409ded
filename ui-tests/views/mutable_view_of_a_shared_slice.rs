//! Memory is written through a mutable borrow.
//!
//! Instead: `&mut`.
//!
//! names: mutab
//! says: &mut
//! rustc: E0308

use castiron::{TensorViewMut, shape};

fn main() {
    let mut memory = vec![1.0_f32, 2.0];
    let mut x = TensorViewMut::<f32, shape![2]>::from_slice_mut(&memory);
    // instead: let mut x = TensorViewMut::<f32, shape![2]>::from_slice_mut(&mut memory);
    x += 1;
}
