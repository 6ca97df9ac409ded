//! Shapes are tuples of dimensions, and nothing else is a shape.
//!
//! Instead: `shape![_]`; a name of one's own for a dimension is declared with `dims!`.
//!
//! names: shapes are tuples of dimensions
//! says: shape! | dims!
#![forbid(unsafe_code)]
use castiron::shape::placement::{Debt, Reduction};
use castiron::shape::WrittenTo;
use castiron::{Dyn, Shape, dim};

#[derive(Clone, Copy, Debug, Default)]
struct Mine;
type One = (Dyn,);
impl WrittenTo<Mine> for Mine {}
impl Shape for Mine {
    const RANK: usize = 1;
    const KNOWN: &'static [Option<usize>] = &[None];
    const NAMES: &'static [Option<&'static str>] = &[None];
    type Kind = <One as Shape>::Kind;
    type Sizes = [usize; 1];
    type Rank = dim!(1);
    type Numel = Dyn;
    type Axes = <One as Shape>::Axes;
    const CUTS: &'static [Option<(usize, &'static str)>] = &[None];
    type Uncut = Mine;
    type After<Op: Reduction, U: Debt> = U;
}

fn main() {}

// instead of all: use castiron::{Tensor, shape};
// instead of all: fn main() {
// instead of all:     let x: Tensor<u8, shape![_]> = Tensor::ones_sized([3]);
// instead of all:     assert_eq!(x.shape(), [3]);
// instead of all: }
