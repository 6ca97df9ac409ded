//! Pictures have channels, and may have a batch of examples in front.
//!
//! Instead: `picture.unsqueeze(axis![0])`, which has one channel.
//!
//! names: (D2<D8>, D2<D8>)
//! says: (channels, …)

use castiron::nn::Pool;
use castiron::{Tensor, dim, shape};

fn main() {
    let picture = Tensor::<f32, shape![28, 28]>::zeros();
    let half = picture.max_pool2d(Pool::<dim!(2)>::new());
    // instead: let half = picture.unsqueeze(castiron::axis![0]).max_pool2d(Pool::<dim!(2)>::new());
    println!("{half}");
}
