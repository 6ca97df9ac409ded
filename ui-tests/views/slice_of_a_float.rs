//! Positions are whole numbers.
//!
//! Instead: an integer.
//!
//! names: {float}
//! names: position
//! says: integer

use castiron::{s, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.slice(s![1.5]);
    // instead: let _ = x.slice(s![1]);
}
