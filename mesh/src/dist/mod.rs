//! Tensors whose parts lie on different ranks.

mod collective;
mod create;
mod elementwise;
mod halo;
mod linalg;
mod networks;
mod order;
mod over;
mod ranked;
mod reduce;
mod scan;
mod view;

pub use collective::{Arriving, Together};
pub use create::Blocks;
pub use elementwise::{DistOperand, DistRight};
pub use halo::Haloed;

use crate::block::{Block, Step, Where};
use crate::error::Result;
use crate::mesh::Mesh;
use crate::place::{AllWhole, Debt, IsSettled, MeshAxes, OnMesh, Settled, WellPlaced};
use castiron::shape::{ConvertTo, SizeArray};
use castiron::{Cpu, Device, Element, Shape, Tensor};
use core::marker::PhantomData;

/// A tensor of shape `S` over the ranks of a mesh: axes [`At<N, M>`](crate::At) are cut into blocks along `M`, the others are whole. What is
/// still to be put together is `U`: until it is, nothing that needs the value takes it.
///
/// Every rank calls the same operations, in the same order. Operations compute with the block that the rank has and send nothing; what
/// sends says so in its name and takes the mesh: [`all_reduce`](Self::all_reduce), [`reduce_scatter`](Self::reduce_scatter),
/// [`all_gather`](Self::all_gather), [`all_to_all`](Self::all_to_all), [`redistribute`](Self::redistribute), [`with_halo`](Self::with_halo).
///
/// PyTorch: `torch.distributed.tensor.DTensor`, whose placements are values.
///
/// ```
/// use castiron::{axis, dims, dim, tensor};
/// use castiron_mesh::{At, Dist, Pending, Sum, mesh, simulate};
/// mesh! { Ranks: Data }
/// dims! { Batch }
/// let losses = simulate(3, &[0], |mesh: &mut castiron_mesh::Mesh<Ranks>| {
///     let x = Dist::<f32, (At<Batch, Data>, dim!(2))>::from_fn(mesh, [7, 2], |[row, column]| (row + column) as f32)?;
///     let w = Dist::same(mesh, tensor![[1.0_f32], [2.0]])?;
///     let parts: Dist<f32, (), Pending<Sum, Data>> = x.matmul(&w).sum();
///     castiron_mesh::Result::Ok(parts.all_reduce(mesh)?.item())
/// });
/// assert_eq!(losses, [Ok(77.0), Ok(77.0), Ok(77.0)]);
/// ```
#[must_use = "a tensor over ranks is computed for its result"]
pub struct Dist<E: Element, S: Shape, U: Debt = Settled, D: Device = Cpu> {
    local: Tensor<E, S, D>,
    /// Of all ranks together.
    sizes: S::Sizes,
    owes: PhantomData<U>,
}

impl<E: Element, S: Shape, U: Debt, D: Device> Clone for Dist<E, S, U, D> {
    /// Shares storage.
    fn clone(&self) -> Self {
        Dist::new(self.local.clone(), self.sizes)
    }
}

impl<E: Element, S: Shape, U: Debt, D: Device> core::fmt::Display for Dist<E, S, U, D> {
    /// What every rank has as castiron prints it; else as [`Debug`](core::fmt::Debug) says. Nothing is sent:
    /// [`full_tensor`](Self::full_tensor) is what all ranks have together.
    ///
    /// ```
    /// use castiron::{dims, tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let printed = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [3], |[row]| row as i64).unwrap();
    ///     [format!("{x}"), format!("{}", x.sum()), format!("{}", x.sum().all_reduce(mesh).unwrap())]
    /// });
    /// assert_eq!(printed[0][0], "Dist<int64, [3@Data]> of which this rank has tensor([0])");
    /// assert_eq!(printed[1][1], "Dist<int64, [], Sum over Data pending> of which this rank has tensor(3)");
    /// assert_eq!(printed[1][2], "tensor(3)");
    /// ```
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if U::IS_SETTLED && S::CUTS.iter().all(Option::is_none) {
            return self.local.fmt(f);
        }
        self.described(f)?;
        core::fmt::Display::fmt(&self.local, f)
    }
}

impl<E: Element, S: Shape, U: Debt, D: Device> core::fmt::Debug for Dist<E, S, U, D> {
    /// Sizes, placement, what is pending, and the block that this rank has: nothing is sent.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.described(f)?;
        core::fmt::Debug::fmt(&self.local, f)
    }
}

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// `sizes` are those of all ranks together.
    pub(crate) fn new(local: Tensor<E, S, D>, sizes: S::Sizes) -> Self {
        Dist { local, sizes, owes: PhantomData }
    }

    /// The sizes of the whole tensor: the same on every rank.
    pub fn shape(&self) -> S::Sizes {
        self.sizes
    }

    /// The number of elements of the whole tensor.
    pub fn numel(&self) -> usize {
        self.sizes.as_ref().iter().product()
    }

    /// What this rank has: its block along axes that are cut, its part of what is pending.
    ///
    /// A tensor of castiron, which knows nothing of other ranks: what is computed from it along an axis that is cut is about this block
    /// alone, and no type says so. `x.block().sum()` is this rank's part of the sum; [`x.sum()`](Self::sum) is marked as one, and so is
    /// what [`sum_of_blocks`](Self::sum_of_blocks) and [`mean_of_blocks`](Self::mean_of_blocks) take. (PyTorch: `DTensor.to_local`.)
    pub fn block(&self) -> &Tensor<E, S, D> {
        &self.local
    }

    #[cfg(feature = "grad")]
    pub(crate) fn block_mut(&mut self) -> &mut Tensor<E, S, D> {
        &mut self.local
    }

    /// [`block`](Self::block), taken out.
    pub fn into_block(self) -> Tensor<E, S, D> {
        self.local
    }

    /// The whole tensor, which every rank has.
    pub fn whole(&self) -> &Tensor<E, S, D>
    where
        S: AllWhole,
        U: IsSettled,
    {
        &self.local
    }

    /// [`whole`](Self::whole), taken out.
    pub fn into_whole(self) -> Tensor<E, S, D>
    where
        S: AllWhole,
        U: IsSettled,
    {
        self.local
    }

    /// Applies code of castiron to each block by itself: what it gives of the whole tensor must be what it gives of the blocks, put together.
    /// Nothing checks that; the methods of this type do.
    ///
    /// The result may have another shape. Its cut axes are cut along axes of the mesh along which this tensor is, and have as many elements:
    /// where they have others, [`map_block_sized`](Self::map_block_sized) states how many.
    ///
    /// What has no block of the result on each rank, as a sum over an axis that is cut, does not compile: it is a part
    /// ([`sum_of_blocks`](Self::sum_of_blocks), [`mean_of_blocks`](Self::mean_of_blocks)).
    ///
    /// # Panics
    /// If the result is cut along another axis of the mesh, or has another number of elements along one.
    ///
    /// ```
    /// use castiron::{axis, dims, dim, shape, tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let pairs = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>, dim!(4))>::from_fn(mesh, [3, 4], |[row, _]| row as f32).unwrap();
    ///     let pairs = x.map_block(|block| block.unflatten::<shape![2, 2], _>(axis![1]));
    ///     let _: &Dist<f32, (At<Rows, Data>, dim!(2), dim!(2))> = &pairs;
    ///     pairs.shape()
    /// });
    /// assert_eq!(pairs, [[3, 2, 2], [3, 2, 2]]);
    /// ```
    ///
    /// The sum of each block is no sum of the whole:
    /// ```compile_fail,E0080
    /// # use castiron::dims;
    /// # use castiron_mesh::{At, Dist, mesh, simulate};
    /// # mesh! { Ranks: Data }
    /// # dims! { Rows }
    /// # simulate::<Ranks, _>(2, &[0], |mesh| {
    /// # let x = Dist::<f32, (At<Rows, Data>,)>::zeros(mesh, [3]).unwrap();
    /// x.map_block(|block| block.sum());
    /// # });
    /// ```
    #[track_caller]
    pub fn map_block<F: Element, T: Shape>(
        &self,
        run: impl FnOnce(&Tensor<E, S, D>) -> Tensor<F, T, D>,
    ) -> Dist<F, T, Settled, D>
    where
        U: IsSettled,
    {
        const { assert!(keeps_cuts(S::CUTS, T::CUTS), "{}", NOT_KEPT) }
        of_blocks("map_block", run(&self.local), self.lengths())
    }

    /// [`map_block`](Self::map_block) whose result has these sizes, of all ranks together: a factor fewer or more elements along an axis
    /// that is cut than this tensor has. Each rank must have its block of them, which it has where the ranks divide both numbers.
    ///
    /// # Errors
    /// If what `run` gives is not this rank's block.
    ///
    /// ```
    /// use castiron::{dims, dim, shape, Tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Samples, Frames }
    /// // Frames of four samples each.
    /// let frames = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Samples, Data>,)>::from_fn(mesh, [16], |[at]| at as f32)?;
    ///     let frames: Dist<f32, (At<Frames, Data>, dim!(4))> = x.map_block_sized([4, 4], mesh, |block| {
    ///         block.reshape_sized::<shape![_, 4]>([block.numel() / 4, 4])
    ///     })?;
    ///     castiron_mesh::Result::Ok((frames.shape(), frames.block()[(0, 0)]))
    /// });
    /// assert_eq!(frames, [Ok(([4, 4], 0.0)), Ok(([4, 4], 8.0))]);
    /// ```
    pub fn map_block_sized<F: Element, T, B, X: MeshAxes>(
        &self,
        sizes: T::Sizes,
        mesh: &Mesh<X>,
        run: impl FnOnce(&Tensor<E, S, D>) -> Tensor<F, B, D>,
    ) -> Result<Dist<F, T, Settled, D>>
    where
        T: Shape + OnMesh<X> + WellPlaced<Settled>,
        B: Shape + ConvertTo<T>,
        U: IsSettled,
    {
        const { assert!(keeps_cuts(S::CUTS, T::CUTS), "{}", NOT_KEPT) }
        create::built("map_block_sized", mesh, sizes, |_| Ok(run(&self.local)))
    }

    /// Of each axis that is cut: along which axis of the mesh, and how many elements this rank has of how many.
    fn lengths(&self) -> impl Iterator<Item = Length> + use<E, S, U, D> {
        let (own, whole) = (self.local.shape(), self.sizes);
        let length = move |(axis, cut): (usize, &Option<(usize, &str)>)| {
            cut.map(|(along, _)| Length { along, own: own.as_ref()[axis], whole: whole.as_ref()[axis] })
        };
        S::CUTS.iter().enumerate().filter_map(length)
    }

    pub(crate) fn cuts() -> Vec<Option<usize>> {
        S::CUTS.iter().map(|cut| cut.map(|(along, _)| along)).collect()
    }

    /// How the block lies in the whole.
    fn place(&self) -> Where {
        Where { whole: self.sizes.as_ref().to_vec(), cuts: Self::cuts(), halos: Vec::new() }
    }

    /// `Dist<float32, [8@Data, 4], Sum over Model pending> of which this rank has `
    fn described(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Dist<{}, [", E::DTYPE.name())?;
        for (axis, (size, cut)) in self.sizes.as_ref().iter().zip(S::CUTS).enumerate() {
            let comma = if axis == 0 { "" } else { ", " };
            match cut {
                Some((_, along)) => write!(f, "{comma}{size}@{along}")?,
                None => write!(f, "{comma}{size}")?,
            }
        }
        write!(f, "]")?;
        let mut owed = String::new();
        U::each(&mut |kind, _, along| owed += &format!(", {kind:?} over {along} pending"));
        write!(f, "{owed}> of which this rank has ")
    }
}

impl<E: Element, U: Debt, D: Device> Dist<E, (), U, D> {
    /// The element of a zero-dim tensor, which every rank has (`torch.Tensor.item`).
    pub fn item(&self) -> E
    where
        U: IsSettled,
    {
        self.local.item()
    }
}

/// An axis that is cut.
struct Length {
    /// The axis of the mesh.
    along: usize,
    own: usize,
    whole: usize,
}

const NOT_KEPT: &str = "map_block: an axis of the mesh that cuts the tensor does not cut the result, of which each rank would have another one: parts of a \
     sum are made by `sum_of_blocks`, of a mean by `mean_of_blocks`";

/// Whether each axis of the mesh that cuts one shape cuts the other.
const fn keeps_cuts(from: &[Option<(usize, &str)>], to: &[Option<(usize, &str)>]) -> bool {
    let mut axis = 0;
    while axis < from.len() {
        if let Some((along, _)) = from[axis] {
            let (mut other, mut found) = (0, false);
            while other < to.len() {
                found |= matches!(to[other], Some((found, _)) if found == along);
                other += 1;
            }
            if !found {
                return false;
            }
        }
        axis += 1;
    }
    true
}

/// What castiron has made of blocks: its axes that are cut are those of its operands, and have as many elements.
#[track_caller]
fn of_blocks<E: Element, S: Shape, D: Device>(
    op: &str,
    local: Tensor<E, S, D>,
    operands: impl Iterator<Item = Length>,
) -> Dist<E, S, Settled, D> {
    let (mut sizes, operands) = (local.shape(), operands.collect::<Vec<_>>());
    for (size, cut) in sizes.as_mut().iter_mut().zip(S::CUTS) {
        let Some((along, name)) = cut else { continue };
        let Some(length) = operands.iter().find(|length| length.along == *along) else {
            panic!("{op}: no axis of the tensor is cut along `{name}`, as one of the result is")
        };
        assert_eq!(
            *size, length.own,
            "{op}: this rank has so many elements along `{name}`, and gives others: `map_block_sized` states how many all have"
        );
        *size = length.whole;
    }
    Dist::new(local, sizes)
}

/// Refuses a tensor of a tape, where an operation has no way back from other ranks.
#[track_caller]
fn expect_no_tape<D: Device>(op: &str, instead: &str) -> Result<()> {
    #[cfg(feature = "grad")]
    if const { D::RECORDS } {
        return Err(crate::Error::Arguments(format!(
            "{op}: no gradient goes back through it, and this tensor is of a tape: {instead}, at {}",
            core::panic::Location::caller()
        )));
    }
    let _ = (op, instead);
    Ok(())
}

/// Moves elements between ranks, one step after another; on a tape the transposes of the steps are the way back.
#[track_caller]
pub(crate) fn moved<E: Element, S: Shape, T: Shape, D: Device, X: MeshAxes>(
    local: &Tensor<E, S, D>,
    at: Where,
    steps: Vec<Step>,
    mesh: &Mesh<X>,
) -> Result<Tensor<E, T, D>> {
    #[cfg(feature = "grad")]
    if const { D::RECORDS } {
        return crate::grad::recorded(local, at, steps, mesh);
    }
    let host = local.cpu()?.try_contiguous()?;
    let elements = host.as_slice().expect("contiguous elements of the host are a slice");
    let mut block = Block { elements: elements.into(), at };
    for step in steps {
        block = block.step(step, mesh)?;
    }
    let own = block.at.sizes(mesh);
    tensor_of(block.elements.into_owned(), &own)
}

/// The tensor of a block; its sizes are compared with those of the type.
pub(crate) fn tensor_of<E: Element, S: Shape, D: Device>(elements: Vec<E>, sizes: &[usize]) -> Result<Tensor<E, S, D>> {
    let local = Tensor::<E, S>::try_from_vec_sized(elements, S::Sizes::copied(sizes))?;
    Ok(local.to_device::<D>()?)
}
