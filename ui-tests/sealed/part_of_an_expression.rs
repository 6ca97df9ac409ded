//! Parts of lazy expressions are castiron's own: loops read what a part says that it has.
//!
//! Instead: operations on `x.lazy()`, or `fused!`.
#![forbid(unsafe_code)]
use castiron::lazy::Node;
use castiron::{Cpu, Result};

struct Wrong<X>(X);
impl<X: Node<Cpu>> Node<Cpu> for Wrong<X> {
    type Elem = X::Elem;
    type Expression = X::Expression;
    fn expression(&self, _sizes: &[usize]) -> Result<Self::Expression> {
        self.0.expression(&[1])
    }
}

fn main() {}
