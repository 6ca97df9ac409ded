//! A reflection has one element less than the axis.
//!
//! Instead: `Replicate`, or fewer elements.
//!
//! names: `Reflect` does not reach so far
//! says: smaller than its axis
//! says: Replicate

use castiron::pad::Reflect;
use castiron::{shape, tensor};

fn main() {
    let _ = tensor![1.0, 2.0, 3.0].pad::<shape![3, 0], _>(Reflect);
    // instead: let _ = tensor![1.0, 2.0, 3.0].pad::<shape![2, 0], _>(Reflect);
}
