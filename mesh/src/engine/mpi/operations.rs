//! Reductions that MPI has not, or does not promise: the loops of `combine.rs`, called by MPI.

use super::super::Reduce;
use super::super::combine::combine;
use super::library::{Function, Handle};
use castiron::DType;
use core::ffi::{c_int, c_void};

/// Writes a function for each pair, and the table of them.
macro_rules! functions {
    ($($dtype:ident $reduce:ident;)*) => {
        /// The function that reduces elements of a dtype.
        pub(super) fn function(dtype: DType, reduce: Reduce) -> Option<Function> {
            match (dtype, reduce) {
                $((DType::$dtype, Reduce::$reduce) => {
                    unsafe extern "C" fn run(from: *mut c_void, into: *mut c_void, len: *mut c_int, _: *mut Handle) {
                        // SAFETY: MPI gives as many elements of the dtype as it says, in two places.
                        unsafe { loops(DType::$dtype, Reduce::$reduce, from, into, *len) }
                    }
                    Some(run)
                })*
                _ => None,
            }
        }
    };
}
functions! {
    U8 Sum;
    U16 Sum;
    F32 Max;
    F32 Min;
    F64 Max;
    F64 Min;
    C64 Product;
    C128 Product;
}

/// # Safety
/// There are `len` elements of `dtype` at `from` and at `into`, which do not overlap.
unsafe fn loops(dtype: DType, reduce: Reduce, from: *mut c_void, into: *mut c_void, len: c_int) {
    let bytes = usize::try_from(len).unwrap_or(0) * dtype.itemsize();
    if let Some(combine) = combine(dtype, reduce).filter(|_| bytes > 0) {
        // SAFETY: as this function asks; bytes may have any value.
        unsafe {
            combine(
                core::slice::from_raw_parts_mut(into.cast(), bytes),
                core::slice::from_raw_parts(from.cast(), bytes),
            );
        }
    }
}
