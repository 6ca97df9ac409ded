//! Tests of `AnyTensor`.

mod basics;
mod columns;
mod conjugates;
mod corners;
mod empties;
mod extremes;
#[cfg(feature = "grad")]
mod gradients;
mod indexing;
mod layouts;
mod making;
mod meta;
pub mod model;
mod moving;
mod one_pass;
mod outputs;
mod own;
mod pooling;
mod reduce;
mod robustness;
mod sharing;
mod sizes;
mod sparse;
mod special_points;
mod tuned;
mod views_mut;
mod visit;
mod windows;
