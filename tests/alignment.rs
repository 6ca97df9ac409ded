//! Memory that is aligned for its elements and for nothing wider, as an allocator of the program's may give it.
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

use castiron::{AnyTensor, Complex, DType, Dyn, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks that start at an odd multiple of their alignment.
struct Odd;

fn roomy(layout: Layout) -> Layout {
    // Only a size near `isize::MAX` does not fit, of which there are none here.
    Layout::from_size_align(layout.size() + layout.align(), 2 * layout.align()).unwrap()
}
// SAFETY: blocks are the system's, larger by one alignment, which their start leaves out; `dealloc` puts it back.
unsafe impl GlobalAlloc for Odd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise; the block is larger than what is left out.
        unsafe {
            let start = System.alloc(roomy(layout));
            if start.is_null() { start } else { start.add(layout.align()) }
        }
    }
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: `alloc` gave this block.
        unsafe { System.dealloc(start.sub(layout.align()), roomy(layout)) }
    }
}
#[global_allocator]
static ODD: Odd = Odd;

#[test]
fn vectors_become_elements_of_any_width() {
    let bytes: Vec<u8> = (0..64).map(|i| i % 32).collect();
    assert_ne!(bytes.as_ptr().addr() % 2, 0, "the allocator gives odd places");
    let tensor = AnyTensor::from(Tensor::<u8, (Dyn,)>::from_vec_sized(bytes.clone(), [64]));
    assert_eq!(tensor.to_bytes().unwrap(), bytes);
    for dtype in [DType::I16, DType::F32, DType::I64, DType::C64, DType::C128] {
        let seen = tensor.view_dtype(dtype).unwrap();
        assert_eq!(seen.flip(&[0]).unwrap().flip(&[0]).unwrap().to_bytes().unwrap(), bytes, "{dtype}");
        assert_eq!(seen.roll(&[1], &[0]).unwrap().roll(&[-1], &[0]).unwrap().to_bytes().unwrap(), bytes, "{dtype}");
    }
    // Every byte of the sum of eight words but the lowest ones is the sum of a column of bytes, without carries.
    let sum = tensor.view_dtype(DType::I64).unwrap().sum(None, false, None).unwrap().to_bytes().unwrap();
    assert_eq!(sum, (0..8).map(|column: usize| (0..8).map(|row| bytes[8 * row + column]).sum()).collect::<Vec<u8>>());
}

#[test]
fn complex_numbers_are_moved() {
    let numbers: Vec<Complex<f32>> = (0..10).map(|i| Complex::new(i as f32, -(i as f32))).collect();
    let tensor = AnyTensor::from(Tensor::<Complex<f32>, (Dyn,)>::from_vec_sized(numbers.clone(), [10]));
    let back = tensor.flip(&[0]).unwrap().typed::<Complex<f32>, (Dyn,), castiron::Cpu>().unwrap();
    assert_eq!(back.to_vec(), numbers.into_iter().rev().collect::<Vec<_>>());
}
