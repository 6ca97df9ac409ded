//! What is zipped with a tensor is a tensor.
//!
//! Instead: borrow the vector's elements as a tensor.
//!
//! names: Vec
//! names: zipped
//! says: TensorView::from_slice

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![1.0, 2.0], vec![3.0_f32, 4.0]);
    let _ = x.zip_map(&y, |(x, y)| x + y);
    // instead: let y = castiron::TensorView::<f32, castiron::shape![2]>::from_slice(&y);
    // instead: let _ = x.zip_map(&y, |(x, y)| x + y);
}
