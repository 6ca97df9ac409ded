//! A sum of two dtypes may be of a higher one than the tensor that it is written to.
//!
//! Instead: `*total += x.to::<A>()`.
//!
//! names: can't be cast
//! says: Promoted<A, B>
//! says: .to::<A>()

use castiron::{Numeric, Tensor, shape, tensor};

fn accumulate<A: Numeric, B: Numeric>(total: &mut Tensor<A, shape![2]>, x: &Tensor<B, shape![2]>) {
    // instead: fn accumulate<A: Numeric, B: Numeric + castiron::CastTo<A>>(total: &mut Tensor<A, shape![2]>, x: &Tensor<B, shape![2]>) {
    *total += x;
    // instead: *total += x.to::<A>();
}

fn main() {
    accumulate(&mut tensor![1.0, 2.0], &tensor![1, 2]);
}
