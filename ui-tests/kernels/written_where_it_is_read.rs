//! What a kernel writes is borrowed by nobody else.
//!
//! Instead: a clone, which shares storage until the kernel writes.
//!
//! names: borrow
//! names: `y`
//! says: immutable
//! rustc: E0502

use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

fn main() {
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &y, &mut y);
    // instead: let _ = axpy(Launch::over(3), 2.0, &y.clone(), &mut y);
}
