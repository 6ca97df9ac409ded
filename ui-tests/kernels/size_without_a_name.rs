//! The text of a kernel knows sizes by their names.
//!
//! Instead: a parameter that is a dimension.
//!
//! names: a name that the text has for it
//! says: N: Dim

use castiron::{Dim, Tensor, cuda_kernel, shape};

cuda_kernel! {
    fn cleared(y: &mut Tensor<f32, shape![_]>) {
        // instead: fn cleared<N: Dim>(y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past the size.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = 0;" }
    }
}

fn main() {}
