//! Batches of examples: tensors cut along their first axis, in order or shuffled, prepared ahead by a thread. (Feature `grad`.)
//!
//! ```
//! use castiron::data::{Batch, Batches};
//! use castiron::{Generator, Tensor, shape};
//! let images: Tensor<f32, shape![_, 4]> = Tensor::rand_sized([10, 4], &mut Generator::seeded(0));
//! let labels: Tensor<i64, shape![_]> = Tensor::zeros_sized([10]);
//!
//! let mut generator = Generator::seeded(1);
//! for epoch in 0..2 {
//!     // Dtypes and the other axes are those of the tensors; the first axis is `Batch`.
//!     for (x, y) in Batches::new((&images, &labels), 4).shuffled(&mut generator).prefetched(2) {
//!         let (x, y): (Tensor<f32, shape![Batch, 4]>, Tensor<i64, shape![Batch]>) = (x, y);
//!         assert_eq!(x.size(castiron::axis![0]), y.numel());
//!     }
//! }
//! ```

mod batches;
mod examples;
mod prefetched;

pub use batches::{Batches, Progress};
pub use examples::Examples;
pub use prefetched::{Prefetched, prefetched};

crate::dims! {
    /// The examples of a batch: the first axis of tensors that [`Batches`] gives.
    pub Batch,
}
