//! Global allocators: one whose memory is aligned only as much as its elements need, and which fails when it is used up.
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, Complex, DType, Dyn, Error, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Blocks that start at an odd multiple of their alignment.
struct Odd;

/// Blocks from this size on hold elements, and memory for them may run out. (Lists of sizes and the like are shorter.)
const LARGE: usize = 4096;
thread_local! {
    /// How many more such blocks the thread gets before one is refused; `None`: all of them.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

fn is_refused(layout: Layout) -> bool {
    let refuse = |left: &Cell<Option<usize>>| {
        let now = left.get();
        // (Those after it are given: what cannot be had is asked for once.)
        left.set(now.and_then(|now| now.checked_sub(1)));
        now == Some(0)
    };
    layout.size() >= LARGE && LEFT.try_with(refuse).unwrap_or(false)
}

fn roomy(layout: Layout) -> Layout {
    // Only a size near `isize::MAX` does not fit, and none is as large here.
    Layout::from_size_align(layout.size() + layout.align(), 2 * layout.align()).unwrap()
}
// SAFETY: blocks are the system's, larger by one alignment, which their start leaves out; `dealloc` puts it back.
unsafe impl GlobalAlloc for Odd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout) {
            return std::ptr::null_mut();
        }
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

/// A call by name in which the first large block is refused, then the second, and so on, until all are given.
fn runs_out_of_memory_without_an_abort(name: &str, args: &Args) {
    // (Caches of libraries fill up.)
    call(name, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut given = 0;
    loop {
        LEFT.set(Some(given));
        let result = call(name, args);
        // (`None` as soon as one has been refused.)
        if LEFT.replace(None).is_some() {
            break;
        }
        let error = result.err();
        assert!(matches!(error, None | Some(Error::OutOfMemory { .. })), "{name}, block {given}: {error:?}");
        given += 1;
    }
    assert!(given > 0, "{name} asks for no memory");
}

#[cfg(feature = "linalg")]
#[test]
fn factorisations_for_which_there_is_no_memory_are_errors() {
    let matrix = |m: usize, n: usize| {
        let at = |i: usize| if i / n == i % n { 50.0 } else { (i * 7 % 11) as f64 };
        let x = AnyTensor::from(Tensor::<f64, (Dyn,)>::from_vec_sized((0..m * n).map(at).collect(), [m * n]));
        x.reshape(&[m as i64, n as i64]).unwrap()
    };
    let (square, high) = (matrix(48, 48), matrix(64, 40));
    let definite = square.matmul(&square.t().unwrap()).unwrap();
    let is = |x: &AnyTensor| Args::new().arg(x);
    for name in "inv det slogdet lu_factor ldl_factor eig eigvals eigh eigvalsh matrix_exp".split(' ') {
        runs_out_of_memory_without_an_abort(&format!("linalg.{name}"), &is(&square));
    }
    for name in "qr svd svdvals pinv matrix_rank cond".split(' ') {
        runs_out_of_memory_without_an_abort(&format!("linalg.{name}"), &is(&high));
    }
    runs_out_of_memory_without_an_abort("linalg.cholesky", &is(&definite));
    runs_out_of_memory_without_an_abort("cholesky_inverse", &is(&definite));
    runs_out_of_memory_without_an_abort("linalg.cond", &is(&square).arg(1_i64));
    runs_out_of_memory_without_an_abort("linalg.matrix_norm", &is(&square).arg("nuc"));
    runs_out_of_memory_without_an_abort("linalg.matrix_power", &is(&square).arg(-2_i64));
    runs_out_of_memory_without_an_abort("linalg.svd", &is(&square).arg(true));
    runs_out_of_memory_without_an_abort("linalg.qr", &is(&high).arg("complete"));
    runs_out_of_memory_without_an_abort("linalg.solve", &is(&square).arg(&square));
    runs_out_of_memory_without_an_abort("linalg.lstsq", &is(&high).arg(&high));
    runs_out_of_memory_without_an_abort("svd_lowrank", &is(&high).arg(12_i64));
    let complex = square.to(DType::C128).unwrap();
    for name in "eig eigh svd qr inv".split(' ') {
        runs_out_of_memory_without_an_abort(&format!("linalg.{name}"), &is(&complex));
    }
}

#[test]
fn losses_for_which_there_is_no_memory_are_errors() {
    let of = |sizes: &[usize], dtype| AnyTensor::ones(sizes, dtype).unwrap();
    let (logs, labels) = (of(&[6, 4, 80], DType::F64), of(&[4, 3], DType::I64));
    let lengths = |length: i64| Value::from(vec![length; 4]);
    let args = Args::new().arg(&logs).arg(&labels).arg(lengths(6)).arg(lengths(3));
    runs_out_of_memory_without_an_abort("nn.functional.ctc_loss", &args);
    let args = Args::new().arg(of(&[2, 600], DType::F64)).arg(of(&[2, 600], DType::I64));
    runs_out_of_memory_without_an_abort("nn.functional.multilabel_margin_loss", &args);
}
