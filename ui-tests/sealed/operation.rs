//! Operations are a closed set: loops compiled for them are chosen by what they say of themselves.
//!
//! Instead: an activation of `castiron::ops`, as `ops::relu {}`; or compute it with `fused!`.
//!
//! names: operation
//! says: fused!
#![forbid(unsafe_code)]
use castiron::ops::{self, Op, UnaryOp};
use castiron::{Tensor, shape};

#[derive(Clone, Copy, Default, Debug)]
struct Mine;
impl Op for Mine {
    const NAME: &'static str = "mine";
}
impl UnaryOp<u8> for Mine {
    type Output = u8;
    const ROW: Option<usize> = <ops::exp as UnaryOp<u8>>::ROW;
    fn apply(x: u8) -> u8 {
        x
    }
}

fn main() {
    let x: Tensor<u8, shape![_, _]> = Tensor::ones_sized([64, 8]);
    println!("{:?}", x.linear_with(&x, None, Mine).shape());
}

// instead of all: use castiron::{ops, tensor};
// instead of all: fn main() {
// instead of all:     let x = tensor![[1.0, 2.0]];
// instead of all:     let y = x.linear_with(&x, None, ops::relu {});
// instead of all:     assert_eq!(y.shape(), [1, 1]);
// instead of all: }
