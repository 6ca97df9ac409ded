//! Sets of axes are castiron's own: results are as large as they say.
//!
//! Instead: `x.sum_axis(axis![0])`.
//!
//! names: set of axes
//! says: axis![0]
#![forbid(unsafe_code)]
use castiron::shape::Axes;
use castiron::shape::placement::{Debt, Reduction};
use castiron::{Dyn, Tensor, shape};

#[derive(Clone, Copy)]
struct Mine;
impl Axes<(Dyn, Dyn)> for Mine {
    type Reduced = ();
    type Kept = (Dyn, Dyn);
    const KEEPS: bool = false;
    const MASK: u32 = 0;
    const LIST: &'static [usize] = &[];
    type Sizes = ();
    type After<Op: Reduction, U: Debt> = U;
}

fn main() {
    let x: Tensor<f32, shape![_, _]> = Tensor::ones_sized([100, 4]);
    println!("{}", x.sum_axis(Mine).item());
}

// instead of all: use castiron::{axis, tensor};
// instead of all: fn main() {
// instead of all:     assert_eq!(tensor![[1, 2], [3, 4]].sum_axis(axis![0]).to_vec(), [4, 6]);
// instead of all: }
