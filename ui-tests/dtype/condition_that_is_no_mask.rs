//! A condition is a tensor of bools.
//!
//! Instead: `where_(x.ne(0), …)`.
//!
//! names: where_
//! names: bool
//! says: .ne(0)

use castiron::{tensor, where_};

fn main() {
    let _ = where_(tensor![1, 0], 1.0, 2.0);
    // instead: let _ = where_(tensor![1, 0].ne(0), 1.0, 2.0);
}
