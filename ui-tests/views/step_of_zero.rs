//! The positions of a range are at least 1 apart.
//!
//! Instead: a positive step; `flip` turns an axis round.
//!
//! names: step
//! names: positive
//! says: flip

use castiron::{s, tensor};

fn main() {
    tensor![1, 2, 3].slice(s![..;-1]);
    // instead: tensor![1, 2, 3].slice(s![..;1]);
}
