//! Tensors combined: `meshgrid`, `cartesian_prod`, `broadcast_tensors`, `block_diag`.

use crate::composite::Erased;
use crate::composite::join::blocks;
use crate::composite::join::end_to_end::piece;
use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::{Error, Result, collected};
use crate::layout::strides;
use crate::sealed::Sealed;
use crate::shape::{AtLeast, AtLeast2, Broadcast, D2, D3, D4, Dim, Dyn, Shape, SizeArray, Sum, broadcast_sizes};
use crate::tensor::base::assign::Inside;
use crate::tensor::join::pieces::{JoinDtype, Piece, SamePlace};
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

/// The coordinate vectors of a grid: a tuple of two to four of one dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not span a grid",
    label = "expected a tuple of two to four vectors of one dtype, such as `(&x, &y)`"
)]
pub trait Grid: Sealed {
    /// The grids, with an axis for each vector in order.
    type Ij;
    /// The grids, with the first two axes exchanged.
    type Xy;
    /// The tuples of elements: a row for each point of the grid.
    type Rows: Shape;
    /// The dtype of all vectors.
    type Elem: Element;
    /// The device.
    type Device: Device;
    #[doc(hidden)]
    fn ij(&self) -> Self::Ij;
    #[doc(hidden)]
    fn xy(&self) -> Self::Xy;
    #[doc(hidden)]
    fn rows(&self) -> Result<Tensor<Self::Elem, Self::Rows, Self::Device>>;
}

/// A vector or a reference to one.
#[diagnostic::on_unimplemented(
    message = "a grid is spanned by vectors, not by `{Self}`",
    label = "expected a tensor of one axis",
    note = "use `flatten()` first"
)]
pub trait Edge: Piece {
    /// Its length.
    type Size: Dim;
    #[doc(hidden)]
    fn edge(&self) -> Tensor<Self::Elem, (Self::Size,), Self::Device>;
}
impl<E: Element, X: Dim, D: Device> Edge for Tensor<E, (X,), D> {
    type Size = X;
    fn edge(&self) -> Self {
        self.clone()
    }
}
impl<P: Edge> Edge for &P {
    type Size = P::Size;
    fn edge(&self) -> Tensor<P::Elem, (P::Size,), P::Device> {
        (**self).edge()
    }
}

/// A vector along one axis of a grid, broadcast over the other axes.
fn along<E: Element, X: Dim, T: Shape, D: Device>(
    x: Tensor<E, (X,), D>,
    axis: usize,
    sizes: T::Sizes,
) -> Tensor<E, T, D>
where
    (X,): Shape<Sizes = [usize; 1]>,
{
    let mut strides = T::Sizes::filled(0);
    strides.as_mut()[axis] = x.stride()[0];
    x.restrided(0, sizes, strides)
}

/// For two vectors, `A X 0 1` being a type, its dimension, and its axis in either order, it writes `impl Grid for (A, B)`.
macro_rules! grids {
    ($([$ij:ty, $xy:ty, $product:ty, $count:ident] $($vector:ident $dim:ident $first:literal $second:literal),+;)*) => {$(
        #[allow(non_snake_case)]
        impl<E: Element, D: Device, $($dim: Dim, $vector: Edge<Elem = E, Size = $dim, Device = D>),+> Grid for ($($vector,)+) {
            type Ij = ($(grids!(@tensor $vector $ij),)+);
            type Xy = ($(grids!(@tensor $vector $xy),)+);
            type Rows = ($product, $count);
            type Elem = E;
            type Device = D;
            fn ij(&self) -> Self::Ij {
                let ($($vector,)+) = self;
                let sizes = [$($vector.elements(Inside).sizes[0]),+];
                ($(along($vector.edge(), $first, sizes),)+)
            }
            fn xy(&self) -> Self::Xy {
                let ($($vector,)+) = self;
                let mut sizes = [$($vector.elements(Inside).sizes[0]),+];
                sizes.swap(0, 1);
                ($(along($vector.edge(), $second, sizes),)+)
            }
            fn rows(&self) -> Result<Tensor<E, Self::Rows, D>> {
                let ($($vector,)+) = self;
                blocks::cartesian_prod(&[$(Erased::of($vector.elements(Inside))),+])?.typed("cartesian_prod")
            }
        }
    )*};
    (@tensor $vector:ident $shape:ty) => { Tensor<E, $shape, D> };
}
grids! {
    [(X, Y), (Y, X), X::Times<Y>, D2] A X 0 1, B Y 1 0;
    [(X, Y, Z), (Y, X, Z), <X::Times<Y> as Dim>::Times<Z>, D3] A X 0 1, B Y 1 0, C Z 2 2;
    [(X, Y, Z, W), (Y, X, Z, W), <<X::Times<Y> as Dim>::Times<Z> as Dim>::Times<W>, D4] A X 0 1, B Y 1 0, C Z 2 2, F W 3 3;
}

/// The coordinates of a grid (`torch.meshgrid` with `indexing="ij"`): for each vector a view of the shape of the grid, which holds the
/// vector along its own axis.
///
/// ```
/// use castiron::{meshgrid, shape, tensor, Tensor};
/// let (x, y) = (tensor![1, 2], tensor![3, 4, 5]);
/// let (x, y): (Tensor<i64, shape![2, 3]>, Tensor<i64, shape![2, 3]>) = meshgrid((&x, &y));
/// assert_eq!(x.to_vec(), [1, 1, 1, 2, 2, 2]);
/// assert_eq!(y.to_vec(), [3, 4, 5, 3, 4, 5]);
/// ```
pub fn meshgrid<G: Grid>(vectors: G) -> G::Ij {
    vectors.ij()
}

/// [`meshgrid`] with the first two axes exchanged, as for images: rows are `y` (`torch.meshgrid` with `indexing="xy"`).
///
/// ```
/// use castiron::{meshgrid_xy, tensor};
/// let (x, y) = meshgrid_xy((tensor![1, 2], tensor![3, 4, 5]));
/// assert_eq!(x.shape(), [3, 2]);
/// assert_eq!((x.to_vec(), y.to_vec()), (vec![1, 2, 1, 2, 1, 2], vec![3, 3, 4, 4, 5, 5]));
/// ```
pub fn meshgrid_xy<G: Grid>(vectors: G) -> G::Xy {
    vectors.xy()
}

/// All combinations of elements of vectors, as rows (`torch.cartesian_prod`).
///
/// # Panics
/// If memory runs out.
///
/// ```
/// use castiron::{cartesian_prod, shape, tensor, Tensor};
/// let pairs: Tensor<i64, shape![4, 2]> = cartesian_prod((tensor![1, 2], tensor![3, 4]));
/// assert_eq!(pairs.to_vec(), [1, 3, 1, 4, 2, 3, 2, 4]);
/// ```
#[fallible(free)]
pub fn cartesian_prod<G: Grid>(vectors: G) -> Result<Tensor<G::Elem, G::Rows, G::Device>> {
    vectors.rows()
}

/// Tensors to be broadcast: a tuple of two to four.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors that broadcast",
    label = "expected a tuple of two to four tensors, such as `(&a, &b)`"
)]
pub trait Broadcasted: Sealed {
    /// The tensors, all of one shape.
    type Output;
    #[doc(hidden)]
    fn broadcast(&self) -> Result<Self::Output>;
}

/// A view of a tensor expanded to sizes that it was checked to broadcast to.
fn expanded<E: Element, S: Shape, T: Shape, D: Device>(x: Tensor<E, S, D>, sizes: &[usize]) -> Tensor<E, T, D> {
    let sizes = T::Sizes::copied(sizes);
    x.restrided(0, sizes, strides::broadcast(x.shape().as_ref(), x.stride().as_ref(), &sizes))
}

fn common_sizes<T: Shape>(all: &[&[usize]]) -> Result<Vec<usize>> {
    let op = "broadcast_tensors";
    let mut common = vec![1; T::RANK];
    for sizes in all {
        let mut next = vec![1; T::RANK];
        if !broadcast_sizes(&common, sizes, &mut next) {
            return Err(Error::Broadcast { op, lhs: common[..].into(), rhs: (*sizes).into() });
        }
        common = next;
    }
    expect_fit::<T>(op, &common)?;
    Ok(common)
}

/// For `A B -> T, C -> U; U` it writes `impl Broadcasted for (A, B, C)`, `T` being the shape of the first two.
macro_rules! broadcasted {
    ($($first:ident $second:ident -> $start:ident $(, $before:ident $next:ident -> $after:ident)*; $last:ident;)*) => {$(
        #[allow(non_snake_case)]
        impl<$first: Piece, $second: Piece, $start: Shape, $($next: Piece, $after: Shape,)*> Broadcasted for ($first, $second, $($next,)*)
        where
            $first::Shape: Broadcast<$second::Shape, Output = $start>,
            $($before: Broadcast<$next::Shape, Output = $after>,)*
        {
            type Output = (
                Tensor<$first::Elem, $last, $first::Device>,
                Tensor<$second::Elem, $last, $second::Device>,
                $(Tensor<$next::Elem, $last, $next::Device>,)*
            );
            fn broadcast(&self) -> Result<Self::Output> {
                let ($first, $second, $($next,)*) = self;
                let sizes = common_sizes::<$last>(&[$first.elements(Inside).sizes, $second.elements(Inside).sizes, $($next.elements(Inside).sizes),*])?;
                Ok((expanded($first.tensor(), &sizes), expanded($second.tensor(), &sizes), $(expanded($next.tensor(), &sizes),)*))
            }
        }
    )*};
}
broadcasted! {
    A B -> T; T;
    A B -> T, T C -> U; U;
    A B -> T, T C -> U, U F -> V; V;
}

/// The tensors of a tuple as views of their broadcast shape (`torch.broadcast_tensors`).
///
/// # Panics
/// If sizes known at run time do not broadcast.
///
/// ```
/// use castiron::{broadcast_tensors, shape, tensor, Tensor};
/// let (x, y): (Tensor<i64, shape![2, 3]>, Tensor<f32, shape![2, 3]>) =
///     broadcast_tensors((tensor![1, 2, 3], tensor![[0.5], [1.5]]));
/// assert_eq!(y.to_vec(), [0.5, 0.5, 0.5, 1.5, 1.5, 1.5]);
/// ```
#[fallible(free)]
pub fn broadcast_tensors<L: Broadcasted>(tensors: L) -> Result<L::Output> {
    tensors.broadcast()
}

/// The matrices of [`block_diag`]: a tuple of two to four, or a slice or vector of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of blocks",
    label = "expected a tuple of two to four tensors of at most two axes, or a slice or vector of tensors of one type"
)]
pub trait BlockDiag: Sealed {
    /// The dtype of the result.
    type Elem: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its device.
    type Device: Device;
    #[doc(hidden)]
    fn join(self) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>>;
}

/// For `[A R K; B R2 K2 -> P] P (Sum<R, R2>, Sum<K, K2>)` it writes `impl BlockDiag for (A, B)`, whose dtype is `P`.
macro_rules! blocks {
    ($([$first:ident $($dims:ident)+; $($elem:ident $next:ident $($more:ident)+ -> $promoted:ident),+] $whole:ident $shape:ty;)*) => {$(
        #[allow(non_snake_case)]
        impl<$first: Piece, $($dims: Dim,)+ $($next: Piece, $($more: Dim,)+ $promoted: Element,)+ E0: Element> BlockDiag
            for ($first, $($next,)+)
        where
            $first: Piece<Elem = E0>,
            $first::Device: $(SamePlace<$next::Device> +)+ Device,
            $first::Shape: AtLeast<AtLeast2, Output = ($($dims,)+)>,
            $($next::Shape: AtLeast<AtLeast2, Output = ($($more,)+)>,)+
            $($elem: JoinDtype<$next::Elem, Output = $promoted>,)+
            E0: CastTo<$whole>,
            $($next::Elem: CastTo<$whole>,)+
        {
            type Elem = $whole;
            type Shape = $shape;
            type Device = $first::Device;
            fn join(self) -> Result<Tensor<$whole, $shape, $first::Device>> {
                let ($first, $($next,)+) = &self;
                let all = [piece($first.elements(Inside))?, $(piece(<$first::Device as SamePlace<$next::Device>>::here($next))?),+];
                blocks::block_diag(&all)?.typed("block_diag")
            }
        }
    )*};
}
blocks! {
    [A R K; E0 B R2 K2 -> P] P (Sum<R, R2>, Sum<K, K2>);
    [A R K; E0 B R2 K2 -> P, P C R3 K3 -> Q] Q (Sum<Sum<R, R2>, R3>, Sum<Sum<K, K2>, K3>);
    [A R K; E0 B R2 K2 -> P, P C R3 K3 -> Q, Q F R4 K4 -> V] V
        (Sum<Sum<Sum<R, R2>, R3>, R4>, Sum<Sum<Sum<K, K2>, K3>, K4>);
}

/// Writes the trait for lists of one type.
macro_rules! lists {
    ($($list:ty;)*) => {$(
        impl<R: Dim, K: Dim, P: Piece<Shape: AtLeast<AtLeast2, Output = (R, K)>>> BlockDiag for $list
        where
            P::Elem: CastTo<P::Elem>,
        {
            type Elem = P::Elem;
            type Shape = (Dyn, Dyn);
            type Device = P::Device;
            fn join(self) -> Result<Tensor<P::Elem, (Dyn, Dyn), P::Device>> {
                let all = collected(self.iter().map(|piece| Ok(Erased::of(piece.elements(Inside)))))?;
                blocks::block_diag(&all)?.typed("block_diag")
            }
        }
    )*};
}
lists! { &[P]; &Vec<P>; Vec<P>; }

/// A block-diagonal matrix, zeros elsewhere (`torch.block_diag`). Vectors and zero-dim tensors are blocks of one row; dtypes promote. For a
/// tuple the type has the sums of sizes; for a list they are known at run time.
///
/// # Panics
/// If memory runs out.
///
/// ```
/// use castiron::{block_diag, shape, tensor, Tensor};
/// let x: Tensor<i64, shape![3, 3]> = block_diag((tensor![[1, 2], [3, 4]], tensor![5]));
/// assert_eq!(x.to_vec(), [1, 2, 0, 3, 4, 0, 0, 0, 5]);
/// ```
#[fallible(free)]
pub fn block_diag<L: BlockDiag>(blocks: L) -> Result<Tensor<L::Elem, L::Shape, L::Device>> {
    blocks.join()
}
