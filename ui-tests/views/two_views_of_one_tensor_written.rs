//! Two mutable views of one tensor may reach the same element.
//!
//! Instead: `split_at_mut`, `unbind_array_mut`, or `multi_slice_mut`, which checks that they do not.
use castiron::{s, tensor};

fn main() {
    let mut x = tensor![1, 2, 3];
    let mut first = x.slice_mut(s![..2]);
    let mut second = x.slice_mut(s![1..]);
    first += 1;
    second += 1;
}
