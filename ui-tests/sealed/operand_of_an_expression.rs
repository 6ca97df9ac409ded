//! Operands of lazy expressions are castiron's own: they are read over the sizes of the expression.
//!
//! Instead: `&one`, a tensor, which is broadcast.
//!
//! names: operand of lazy expressions
//! says: Rust scalars | tensors
#![forbid(unsafe_code)]
use castiron::dtype::Dtype;
use castiron::lazy::{self, Extent, LazyOperand, Node};
use castiron::ops::BinaryOp;
use castiron::{Cpu, Dyn, Result, Shape, Tensor, shape};

type One = (Dyn,);
type T<'a> = &'a Tensor<f32, One>;
struct Mine<'a>(T<'a>, T<'a>);
impl<'a> LazyOperand<Cpu> for Mine<'a> {
    type Elem = f32;
    type Shape = One;
    type Kind = <One as Shape>::Kind;
    type Right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, X: Node<Cpu, Elem = E>> =
        <T<'a> as LazyOperand<Cpu>>::Right<O, E, P, S, X>;
    type Alone<P: Dtype> = <T<'a> as LazyOperand<Cpu>>::Alone<P>;
    fn right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, U: Shape, X: Node<Cpu, Elem = E>>(
        self,
        left: (X, Extent<S>),
    ) -> Result<(Self::Right<O, E, P, S, X>, Extent<U>)> {
        <T<'a> as LazyOperand<Cpu>>::right::<O, E, P, S, U, X>(self.0, left)
    }
    fn alone<P: Dtype>(self, op: &'static str) -> Result<(Self::Alone<P>, Extent<One>)> {
        // The elements of one tensor over the sizes of another.
        let one = |x: T<'a>| <T<'a> as LazyOperand<Cpu>>::alone::<P>(x, op);
        let (short, long) = (one(self.0)?, one(self.1)?);
        Ok((short.0, long.1))
    }
}

fn main() {
    let yes: Tensor<bool, shape![_]> = Tensor::full_sized([1000], true);
    let (one, many): (Tensor<f32, One>, Tensor<f32, One>) = (Tensor::ones_sized([1]), Tensor::ones_sized([1000]));
    println!("{:?}", lazy::where_(yes.lazy(), Mine(&one, &many), 0.0_f32).eval().to_vec());
}

// instead of all: use castiron::{Tensor, lazy, shape};
// instead of all: fn main() {
// instead of all:     let yes: Tensor<bool, shape![_]> = Tensor::full_sized([1000], true);
// instead of all:     let one: Tensor<f32, shape![_]> = Tensor::ones_sized([1]);
// instead of all:     assert_eq!(lazy::where_(yes.lazy(), &one, 0.0_f32).eval().numel(), 1000);
// instead of all: }
