//! A kernel writes tensors of the GPU that its operands are on.
//!
//! Instead: a result there.
//!
//! names: can't write
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let mut y: Tensor<f32, shape![3]> = Tensor::zeros();
    // instead: let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &x, &mut y);
}
