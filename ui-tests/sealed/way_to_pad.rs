//! Ways to pad are castiron's own: elements are picked where they say.
//!
//! Instead: `Constant(0)`, `Reflect`, `Replicate` or `Circular`.
//!
//! names: way to pad
//! says: Constant(value)
#![forbid(unsafe_code)]
use castiron::pad::PadMode;

#[derive(Clone, Copy)]
struct Mine;
impl PadMode<f32> for Mine {}

fn main() {}

// instead of all: use castiron::pad::Constant;
// instead of all: use castiron::{shape, tensor};
// instead of all: fn main() {
// instead of all:     assert_eq!(tensor![1, 2].pad::<shape![1, 0], _>(Constant(0)).to_vec(), [0, 1, 2]);
// instead of all: }
