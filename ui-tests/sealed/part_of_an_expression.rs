//! Parts of lazy expressions are castiron's own: loops read what a part says that it has.
//!
//! Instead: operations on `x.lazy()`, or `fused!`.
//!
//! names: part of a lazy expression
//! says: lazy()

use castiron::lazy::Node;
use castiron::{Cpu, Result};

struct Wrong<X>(X);
impl<X: Node<Cpu>> Node<Cpu> for Wrong<X> {
    type Elem = X::Elem;
    type Expression = X::Expression;
    unsafe fn expression(&self, _sizes: &[usize]) -> Result<Self::Expression> {
        // SAFETY: there is none: this must not compile.
        unsafe { self.0.expression(&[1]) }
    }
}

fn main() {}

// instead of all: use castiron::tensor;
// instead of all: fn main() {
// instead of all:     let x = tensor![1.0, 2.0];
// instead of all:     assert_eq!((x.lazy() * 2.0).eval().to_vec(), [2.0_f32, 4.0]);
// instead of all: }
