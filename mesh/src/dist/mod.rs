//! Tensors whose parts lie on different ranks.

mod collective;
mod create;
mod elementwise;
mod halo;
mod linalg;
mod order;
mod over;
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
use crate::place::{AllWhole, Debt, IsSettled, MeshAxes, Settled};
use castiron::shape::SizeArray;
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
    /// alone. (PyTorch: `DTensor.to_local`.)
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

    /// Applies code of castiron to each block by itself: what it gives of the whole tensor must be what it gives of the blocks, put together.
    /// Nothing checks that; the methods of this type do.
    ///
    /// The result may have another shape, whose cut axes are cut along axes of the mesh along which this one is: as many elements to a rank,
    /// or a fixed factor fewer or more. A rank whose block is empty cannot see that factor and takes it to be 1: with another factor every rank
    /// needs elements, or the ranks disagree about the sizes of the whole.
    ///
    /// # Panics
    /// If the sizes of the block are no block of a whole.
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
    #[track_caller]
    pub fn map_block<F: Element, T: Shape>(
        &self,
        run: impl FnOnce(&Tensor<E, S, D>) -> Tensor<F, T, D>,
    ) -> Dist<F, T, Settled, D>
    where
        U: IsSettled,
    {
        let local = run(&self.local);
        let mut sizes = local.shape();
        let (own, whole) = (self.local.shape(), self.sizes);
        for (size, along) in
            sizes.as_mut().iter_mut().zip(T::CUTS).filter_map(|(size, cut)| Some((size, cut.as_ref()?)))
        {
            let found = S::CUTS.iter().position(|cut| cut.as_ref().is_some_and(|(index, _)| *index == along.0));
            let Some(axis) = found else { panic!("map_block: no axis of the tensor is cut along `{}`", along.1) };
            let (own, whole) = (own.as_ref()[axis], whole.as_ref()[axis]);
            let scaled = *size as u128 * whole as u128;
            let is_a_block = if own == 0 { *size == 0 } else { scaled.is_multiple_of(own as u128) };
            assert!(
                is_a_block,
                "map_block: {size} elements along `{}` are no block of a whole, of {own} that are",
                along.1
            );
            // An empty block shows no factor: it is taken to be 1.
            *size = if own == 0 { whole } else { (scaled / own as u128) as usize };
        }
        Dist::new(local, sizes)
    }

    pub(crate) fn cuts() -> Vec<Option<usize>> {
        S::CUTS.iter().map(|cut| cut.map(|(along, _)| along)).collect()
    }
}

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
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

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// How the block lies in the whole.
    fn place(&self) -> Where {
        Where { whole: self.sizes.as_ref().to_vec(), cuts: Self::cuts(), halo: None }
    }
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
