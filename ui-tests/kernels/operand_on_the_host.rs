//! A kernel reads tensors of a GPU.
//!
//! Instead: move it there.
//!
//! names: Cuda
//! names: Cpu
//! says: expected
//! rustc: E0308

use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &x, &mut y);
    // instead: let _ = axpy(Launch::over(3), 2.0, &x.to_device().unwrap(), &mut y);
}
