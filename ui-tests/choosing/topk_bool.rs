//! `topk` takes integers and floats.
//!
//! Instead: cast first: `.to::<u8>()`.

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![true, false].topk::<castiron::dim!(1), _>(axis![0], true);
}
