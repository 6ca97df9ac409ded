//! No more axes are normalised than there are.
//!
//! Instead: `layer_norm::<shape![2, 3]>`.
//!
//! names: (D2, D3)
//! names: (D1, D2, D3)
//! says: last axes | last | end

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = x.layer_norm::<shape![1, 2, 3]>(None, None, 1e-5);
    // instead: let _ = x.layer_norm::<shape![2, 3]>(None, None, 1e-5);
}
