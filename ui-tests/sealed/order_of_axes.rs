//! Orders of axes are castiron's own: elements are read where they lead.
//!
//! Instead: `x.permute(axis![1, 0])`, which names every axis once.
//!
//! names: order of axes
//! says: axis![1, 0]
#![forbid(unsafe_code)]
use castiron::shape::Permute;
use castiron::{Dyn, Tensor, shape};

#[derive(Clone, Copy)]
struct Twice;
impl Permute<Twice> for (Dyn, Dyn) {
    type Output = (Dyn, Dyn);
    const ORDER: &'static [usize] = &[0, 0];
}

fn main() {
    let x: Tensor<f32, shape![_, _]> = Tensor::ones_sized([100, 4]);
    println!("{:?}", x.permute(Twice).to_vec());
}

// instead of all: use castiron::{axis, tensor};
// instead of all: fn main() {
// instead of all:     assert_eq!(tensor![[1, 2], [3, 4]].permute(axis![1, 0]).to_vec(), [1, 3, 2, 4]);
// instead of all: }
