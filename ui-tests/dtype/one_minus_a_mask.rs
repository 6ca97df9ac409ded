//! PyTorch has no `-` for bools, with a number neither.
//!
//! Instead: `!mask` for what `1 - mask` means in NumPy.
//!
//! names: subtract
//! says: `!`
//! rustc: E0277

use castiron::tensor;

fn main() {
    let mask = tensor![true, false];
    let _ = 1 - &mask;
    // instead: let _ = !&mask;
}
