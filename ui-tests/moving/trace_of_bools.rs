//! `trace` adds numbers.
//!
//! Instead: `x.to::<i64>().trace()`.
//!
//! names: trace
//! names: bool
//! says: .to::<

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<bool, shape![3, 3]>::zeros();
    let _ = x.trace();
    // instead: let _ = x.to::<i64>().trace();
}
