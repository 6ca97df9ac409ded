//! Two axes are exchanged; a vector has one.
//!
//! Instead: a row or a column first, with `unsqueeze`.
//!
//! names: axes 0 and 1
//! names: (D3,)
//! says: axis![ | unsqueeze

use castiron::{axis, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.transpose(axis![0], axis![1]);
    // instead: let _ = x.unsqueeze(axis![1]).transpose(axis![0], axis![1]);
}
