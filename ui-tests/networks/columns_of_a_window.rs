//! There is one column for each place of the window.
//!
//! Instead: the sizes of the image that the columns are of.
//!
//! names: D9
//! says: place

use castiron::nn::Patches;
use castiron::{Tensor, dim, shape};

fn main() {
    let columns = Tensor::<f32, shape![1, 12, 9]>::ones();
    let _ = columns.col2im::<shape![5, 5], _>(Patches::<dim!(2)>::new());
    // instead: let _ = columns.col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
}
