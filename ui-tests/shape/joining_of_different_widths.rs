//! All sizes but that of the joined axis are the same.
//!
//! Instead: `narrow` or pad the wider one.
//!
//! names: joined
//! names: (D2, D2)
//! names: (D1, D3)
//! says: narrow | pad | same

use castiron::{axis, cat, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let y = tensor![[1, 2, 3]];
    let _ = cat((&x, &y), axis![0]);
    // instead: let _ = cat((&x, y.slice(castiron::s![.., ..2])), axis![0]);
}
