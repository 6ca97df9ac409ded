//! `topk` takes integers and floats.
//!
//! Instead: cast first: `.to::<u8>()`.
//!
//! names: topk
//! names: bool
//! says: .to::<

use castiron::{axis, tensor};

fn main() {
    let _ = tensor![true, false].topk::<castiron::dim!(1), _>(axis![0], true);
    // instead: let _ = tensor![true, false].to::<u8>().topk::<castiron::dim!(1), _>(axis![0], true);
}
