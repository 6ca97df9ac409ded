//! An axis of three elements has no five largest ones.
//!
//! Instead: at most as many as there are.
//!
//! names: `D3` elements
//! names: `D5`
//! says: topk_sized

use castiron::{axis, dim, tensor};

fn main() {
    let x = tensor![3.0, 1.0, 2.0];
    let _ = x.topk::<dim!(5), _>(axis![0], true);
    // instead: let _ = x.topk::<dim!(2), _>(axis![0], true);
}
