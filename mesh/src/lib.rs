//! Tensors over the ranks of one or more machines, their placement in the type.
//!
//! A *rank* is a process that a launcher of MPI starts, as many as it is told; all run the same program. A [`Mesh`] arranges them along axes
//! that [`mesh!`] declares as types. A [`Dist`] is a tensor over them: an axis [`At<N, M>`](At) is cut into blocks along the axis `M` of the
//! mesh, the others are whole on every rank; a sum of which each rank has a part is [`Pending`], and using it does not compile.
//!
//! ```
//! use castiron::{dim, dims};
//! use castiron_mesh::{At, Dist, Mesh, Pending, Sum, mesh};
//! mesh! { pub Grid: Data, Model }
//! dims! { Batch, Wide }
//!
//! # fn main() -> castiron_mesh::Result<()> {
//! // One rank along `Model`, the others along `Data`. Without a launcher there is one rank, and no MPI is needed.
//! let mesh = Mesh::<Grid>::join(&[0, 1])?;
//! // A layer whose features are cut over the ranks along `Model`, for a batch that is cut over those along `Data`.
//! let x: Dist<f32, (At<Batch, Data>, dim!(64))> = Dist::full(&mesh, [30, 64], 1.0)?;
//! let up: Dist<f32, (dim!(64), At<Wide, Model>)> = Dist::full(&mesh, [64, 100], 0.1)?;
//! let down: Dist<f32, (At<Wide, Model>, dim!(64))> = Dist::full(&mesh, [100, 64], 0.1)?;
//! let hidden = x.matmul(&up).relu();
//! // The inner axis of this product is cut: each rank has a part of the sum.
//! let parts: Dist<f32, (At<Batch, Data>, dim!(64)), Pending<Sum, Model>> = hidden.matmul(&down);
//! let y: Dist<f32, (At<Batch, Data>, dim!(64))> = parts.all_reduce(&mesh)?;
//! assert_eq!(y.shape(), [30, 64]);
//! # Ok(())
//! # }
//! ```
//!
//! MPI is loaded while running, when a launcher has started the program: Open MPI 4 and 5, MPICH and its kin (Intel MPI, MVAPICH, Cray), and
//! every library with the standard ABI of MPI 5, by one and the same binary. [`simulate`] runs code for several ranks as threads of one process:
//! examples and tests need no launcher; [`launch`] starts a program as several ranks of one machine.
//!
//! With the feature `grad`, `Mesh::value_and_grad` gives gradients, of which each rank has parts ([`Parts`]); with `safetensors`, `Mesh::save`
//! and `Mesh::load` are checkpoints.
#![cfg_attr(not(feature = "grad"), doc = "")]
#![cfg_attr(not(feature = "grad"), doc = "[`Parts`]: https://docs.rs/castiron-mesh")]

#[doc(hidden)]
pub mod along;
mod block;
mod buckets;
#[cfg(feature = "safetensors")]
mod checkpoint;
pub mod dist;
mod engine;
mod error;
#[cfg(feature = "grad")]
mod grad;
mod launch;
mod mesh;
pub mod place;
#[cfg(feature = "grad")]
mod sharded;

pub use block::Edge;
pub use dist::{Arriving, Dist, DistOperand, Haloed, Together};
pub use engine::simulate;
pub use error::{Error, IoError, Result};
#[cfg(feature = "grad")]
pub use grad::Parts;
pub use launch::launch;
pub use mesh::{Mesh, Sent};
pub use place::{All, Any, At, Cut, Max, MeshAxes, MeshAxis, Min, Pending, Product, Settled, Sum};
#[cfg(feature = "grad")]
pub use sharded::Sharded;

// The README's program is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
