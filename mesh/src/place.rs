//! The axes of a mesh, as types.

use core::fmt::Debug;

/// An axis of a mesh of ranks. [`mesh!`](crate::mesh!) declares them.
///
/// ```
/// use castiron_mesh::{MeshAxis, mesh};
/// mesh! { pub Grid: Data, Model }
/// assert_eq!((Model::NAME, Model::INDEX), ("Model", 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no axis of a mesh",
    note = "`castiron_mesh::mesh! {{ Grid: Data, Model }}` declares the mesh `Grid` and its axes `Data` and `Model`"
)]
pub trait MeshAxis: Copy + Default + Debug + Send + Sync + 'static {
    /// Its name, as it is declared.
    const NAME: &'static str;
    /// Its position among the axes of its mesh.
    const INDEX: usize;
    /// The mesh it is an axis of.
    type Mesh: MeshAxes;
}

/// The axes of a mesh, as they are declared. [`mesh!`](crate::mesh!) declares them.
///
/// ```
/// use castiron_mesh::{MeshAxes, mesh};
/// mesh! { pub Grid: Data, Model }
/// assert_eq!(Grid::NAMES, ["Data", "Model"]);
/// ```
pub trait MeshAxes: 'static {
    /// The names of the axes.
    const NAMES: &'static [&'static str];
}

/// Two different axes of a mesh: what [`mesh!`](crate::mesh!) says of each pair of its axes.
///
/// ```
/// use castiron_mesh::{Other, mesh};
/// mesh! { pub Grid: Data, Model }
/// fn both<A: Other<B>, B>() {}
/// both::<Data, Model>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the mesh axis `{Self}` is already used by this tensor: each of its ranks would hold a block of a diagonal, not of the whole",
    label = "`{M}` would split two axes of one tensor, or one and a pending sum",
    note = "gather one of the two first: `.all_gather(axis![…], &mesh)`, or use another axis of the mesh"
)]
pub trait Other<M> {}

/// Declares a mesh of ranks and its axes, as types: `mesh! { pub Cluster: Data, Model }`.
///
/// ```
/// use castiron_mesh::{Mesh, mesh};
/// mesh! { pub Cluster: Data, Model }
/// # fn main() -> castiron_mesh::Result<()> {
/// // As many ranks along `Data` as the launcher starts, one along `Model`.
/// let mesh = Mesh::<Cluster>::join(&[0, 1])?;
/// assert_eq!(mesh.len::<Model>(), 1);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! mesh {
    ($(#[$attribute:meta])* $vis:vis $mesh:ident: $($axis:ident),+ $(,)?) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        $vis struct $mesh;
        impl $crate::MeshAxes for $mesh {
            const NAMES: &'static [&'static str] = &[$(stringify!($axis)),+];
        }
        $crate::mesh!(@axes $vis $mesh [0] [] $($axis)+);
    };
    (@axes $vis:vis $mesh:ident [$index:expr] [$($before:ident)*]) => {};
    (@axes $vis:vis $mesh:ident [$index:expr] [$($before:ident)*] $axis:ident $($rest:ident)*) => {
        #[derive(Clone, Copy, Debug, Default)]
        #[allow(missing_docs)]
        $vis struct $axis;
        impl $crate::MeshAxis for $axis {
            const NAME: &'static str = stringify!($axis);
            const INDEX: usize = $index;
            type Mesh = $mesh;
        }
        $(impl $crate::Other<$before> for $axis {} impl $crate::Other<$axis> for $before {})*
        $crate::mesh!(@axes $vis $mesh [$index + 1] [$($before)* $axis] $($rest)*);
    };
}
