//! Two mutable views of one tensor may reach the same element.
//!
//! Instead: `split_at_mut`, `unbind_array_mut`, or `multi_slice_mut`, which checks that they do not.
//!
//! names: `x`
//! names: mutable more than once
//! says: multi_slice_mut | unbind | split_at_mut
//! rustc: E0499

use castiron::{s, tensor};

fn main() {
    let mut x = tensor![1, 2, 3];
    let mut first = x.slice_mut(s![..2]);
    // instead: let [mut first, mut second] = x.split_at_mut(castiron::axis![0], 1);
    let mut second = x.slice_mut(s![1..]);
    // instead:
    first += 1;
    second += 1;
}
