//! A transform in several axes keeps them all.
//!
//! Instead: `shape![2, 3]`.
//!
//! names: (D2, D4)
//! names: is not transformed
//! says: as many axes

use castiron::{Complex, Tensor, axis, fft::Norm, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let _: Tensor<Complex<f32>, shape![6]> = x.rfftn(axis![0, 1], Norm::Backward);
    // instead: let _: Tensor<Complex<f32>, shape![2, 3]> = x.rfftn(axis![0, 1], Norm::Backward);
}
