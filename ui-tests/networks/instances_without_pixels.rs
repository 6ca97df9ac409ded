//! A channel of an example is normalised over the axes behind.
//!
//! Instead: `layer_norm`, or axes behind the channels.
//!
//! names: each channel
//! says: layer_norm

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let _ = x.instance_norm((), (), 1e-5);
    // instead: let _ = x.layer_norm::<shape![4]>(None, None, 1e-5);
}
