//! The sizes of a shape are an array: they are the same whenever they are looked at.
//!
//! Instead: `[4]`, an array with a size for each axis.
//!
//! names: sizes of a shape
//! says: arrays of `usize` | [2, 3]
#![forbid(unsafe_code)]
use castiron::shape::SizeArray;
use std::sync::atomic::{AtomicUsize, Ordering};

static SIZE: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes;
impl AsRef<[usize]> for Sizes {
    fn as_ref(&self) -> &[usize] {
        if SIZE.load(Ordering::Relaxed) == 0 { &[4] } else { &[64] }
    }
}
impl AsMut<[usize]> for Sizes {
    fn as_mut(&mut self) -> &mut [usize] {
        &mut []
    }
}
impl SizeArray for Sizes {
    fn filled(_: usize) -> Self {
        Sizes
    }
}

fn main() {}

// instead of all: use castiron::{Tensor, shape};
// instead of all: fn main() {
// instead of all:     let x: Tensor<u8, shape![_]> = Tensor::ones_sized([4]);
// instead of all:     assert_eq!(x.shape(), [4]);
// instead of all: }
