//! A slice names no more axes than there are, also after `...`.
//!
//! Instead: leave out items; `...` may stand for no axis.
//!
//! names: too many indices
//! says: leave | fewer | more axes

use castiron::{s, tensor};

fn main() {
    tensor![1, 2, 3].slice(s![..., 0, 0]);
    // instead: tensor![1, 2, 3].slice(s![..., 0]);
}
