//! `expand` repeats axes and puts new ones in front; it takes none away.
//!
//! Instead: `select` or `reshape`.
//!
//! names: (D1, D3)
//! names: (D3,)
//! says: reshape | select | 1

use castiron::{Tensor, shape};
// instead: use castiron::{Tensor, axis, shape};

fn main() {
    let x = Tensor::<f32, shape![1, 3]>::ones();
    let _ = x.expand::<shape![3]>();
    // instead: let _ = x.select(axis![0], 0);
}
