//! Tensors over the ranks of one or more machines.
//!
//! A *rank* is a process that a launcher of MPI starts, as many as it is told; all run the same program. A [`Mesh`] arranges them along axes
//! that [`mesh!`] declares as types:
//!
//! ```
//! use castiron_mesh::{Mesh, mesh};
//! mesh! { pub Grid: Data, Model }
//!
//! # fn main() -> castiron_mesh::Result<()> {
//! // Two ranks along `Model` if there are two, the others along `Data`. Without a launcher there is one rank, and no MPI is needed.
//! # if false {
//! let mesh = Mesh::<Grid>::join(&[0, 2])?;
//! # }
//! let mesh = Mesh::<Grid>::join(&[0, 1])?;
//! println!("{} ranks, {}", mesh.ranks(), mesh.engine());
//! # Ok(())
//! # }
//! ```
//!
//! MPI is loaded while running, when a launcher has started the program: Open MPI 4 and 5, MPICH and its kin (Intel MPI, MVAPICH, Cray), and
//! every library with the standard ABI of MPI 5, by one and the same binary. [`simulate`] runs code for several ranks as threads of one process:
//! examples and tests need no launcher.

#[doc(hidden)]
pub mod along;
mod block;
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

pub use block::Edge;
pub use dist::{Arriving, Dist, DistOperand, Haloed, Together};
pub use engine::{Wire, simulate};
pub use error::{Error, Result};
#[cfg(feature = "grad")]
pub use grad::Parts;
pub use launch::launch;
pub use mesh::{Mesh, Sent};
pub use place::{All, Any, At, Cut, Max, MeshAxes, MeshAxis, Min, Pending, Product, Settled, Sum};

// The README's program is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
