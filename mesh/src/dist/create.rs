//! Tensors over ranks, made: from blocks, functions, whole tensors, random numbers.

use super::{Dist, moved};
use crate::block::{Step, Where, ranges};
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::place::{AllWhole, MeshAxes, OnMesh, Settled, WellPlaced};
use castiron::shape::{ConvertTo, SizeArray};
use castiron::{Device, Dtype, Element, Float, Generator, Scalar, Shape, Tensor};
use core::ops::Range;

/// The part of each axis that a rank has: `blocks[0]` is a range of the first axis.
pub type Blocks = [Range<usize>];

/// Elements that are drawn together.
const DRAWN: usize = 1024;

impl<E: Element, S: Shape, D: Device> Dist<E, S, Settled, D> {
    /// A tensor of these sizes, of which each rank makes its block: `make` is told which part of each axis it has.
    ///
    /// # Errors
    /// If `make` fails, or its block has other sizes. (What fails on one rank alone, as reading a file, is agreed on first:
    /// [`Mesh::agree`].)
    ///
    /// ```
    /// use castiron::{Tensor, dims, dim, shape};
    /// use castiron_mesh::{At, Dist, Mesh, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let firsts = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>, dim!(3))>::build(mesh, [5, 3], |at| {
    ///         Tensor::<f32, shape![_, 3]>::try_full_sized([at[0].len(), 3], at[0].start as f32)
    ///     });
    ///     x.unwrap().block().to_vec()[0]
    /// });
    /// assert_eq!(firsts, [0.0, 2.0]);
    /// ```
    pub fn build<X: MeshAxes, T, F: Into<Error>>(
        mesh: &Mesh<X>,
        sizes: S::Sizes,
        make: impl FnOnce(&Blocks) -> core::result::Result<Tensor<E, T, D>, F>,
    ) -> Result<Self>
    where
        S: OnMesh<X> + WellPlaced<Settled>,
        T: Shape + ConvertTo<S>,
    {
        built("build", mesh, sizes, |at| make(at).map_err(Into::into))
    }

    /// Each rank's block of a tensor that all ranks have: nothing is sent (PyTorch: `distribute_tensor`, which sends that of the first
    /// rank).
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{dims, tensor};
    /// use castiron_mesh::{At, Dist, Mesh, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let rows = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     Dist::<i64, (At<Rows, Data>,)>::distribute(mesh, &tensor![1, 2, 3].to::<i64>()).unwrap().block().to_vec()
    /// });
    /// assert_eq!(rows, [vec![1], vec![2, 3]]);
    /// ```
    pub fn distribute<X: MeshAxes, T>(mesh: &Mesh<X>, whole: &Tensor<E, T, D>) -> Result<Self>
    where
        S: OnMesh<X> + WellPlaced<Settled>,
        T: Shape + ConvertTo<S>,
    {
        let sizes = S::Sizes::copied(whole.shape().as_ref());
        let at = Where { whole: sizes.as_ref().to_vec(), cuts: vec![None; S::RANK], halos: Vec::new() };
        let split = |(axis, cut): (usize, Option<usize>)| cut.map(|along| Step::Split { axis, along });
        let steps = Self::cuts().into_iter().enumerate().filter_map(split).collect();
        Ok(Dist::new(moved(whole, at, steps, mesh)?, sizes))
    }

    /// A tensor that is the same on all ranks, as what is made of literals, or drawn from one seed.
    ///
    /// # Errors
    /// With `CASTIRON_MESH_COMPARE=1` if it is not the same on all ranks.
    ///
    /// ```
    /// use castiron::tensor;
    /// use castiron_mesh::{Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// let wholes = simulate::<Ranks, _>(2, &[0], |mesh| Dist::same(mesh, tensor![1.0_f32, 2.0]).unwrap().into_whole());
    /// assert_eq!(wholes[1].to_vec(), [1.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn same<X: MeshAxes>(mesh: &Mesh<X>, tensor: Tensor<E, S, D>) -> Result<Self>
    where
        S: AllWhole,
    {
        mesh.compare_same("same", || Ok(tensor.cpu()?.to_vec()))?;
        let sizes = tensor.shape();
        Ok(Dist::new(tensor, sizes))
    }

    /// All elements equal (`torch.distributed.tensor.full`).
    ///
    /// # Errors
    /// If memory runs out, or the value does not fit.
    pub fn full<X: MeshAxes, V: Scalar>(mesh: &Mesh<X>, sizes: S::Sizes, value: V) -> Result<Self>
    where
        E: Dtype,
        S: OnMesh<X> + WellPlaced<Settled>,
    {
        let own: Vec<usize> = ranges(mesh, sizes.as_ref(), &Self::cuts()).iter().map(Range::len).collect();
        Ok(Dist::new(Tensor::try_full_sized(S::Sizes::copied(&own), value)?, sizes))
    }

    /// Zeros (`torch.distributed.tensor.zeros`).
    ///
    /// # Errors
    /// If memory runs out.
    pub fn zeros<X: MeshAxes>(mesh: &Mesh<X>, sizes: S::Sizes) -> Result<Self>
    where
        S: OnMesh<X> + WellPlaced<Settled>,
    {
        let own: Vec<usize> = ranges(mesh, sizes.as_ref(), &Self::cuts()).iter().map(Range::len).collect();
        Ok(Dist::new(Tensor::try_zeros_sized(S::Sizes::copied(&own))?, sizes))
    }

    /// Each element a function of its position in the whole tensor.
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let blocks = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [3], |[row]| row as i64 * 10).unwrap().block().to_vec()
    /// });
    /// assert_eq!(blocks, [vec![0], vec![10, 20]]);
    /// ```
    pub fn from_fn<X: MeshAxes, const R: usize>(
        mesh: &Mesh<X>,
        sizes: [usize; R],
        f: impl FnMut([usize; R]) -> E,
    ) -> Result<Self>
    where
        S: OnMesh<X> + WellPlaced<Settled> + Shape<Sizes = [usize; R]>,
    {
        Self::filled_by(mesh, sizes, f)
    }

    fn filled_by<X: MeshAxes>(mesh: &Mesh<X>, sizes: S::Sizes, mut f: impl FnMut(S::Sizes) -> E) -> Result<Self> {
        let blocks = ranges(mesh, sizes.as_ref(), &Self::cuts());
        let own: Vec<usize> = blocks.iter().map(Range::len).collect();
        let local = Tensor::<E, S>::try_from_fn_sized(S::Sizes::copied(&own), |mut at| {
            at.as_mut().iter_mut().zip(&blocks).for_each(|(at, block)| *at += block.start);
            f(at)
        })?;
        Ok(Dist::new(local.to_device()?, sizes))
    }

    /// Numbers of a normal distribution (`torch.normal`) that depend on the seed and the sizes, and not on the number of ranks or the
    /// placement.
    ///
    /// Draws a seed from the generator, which must be in the same state on all ranks.
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Generator, dims, dim};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let drawn = |ranks| simulate::<Ranks, _>(ranks, &[0], |mesh| {
    ///     let mut generator = Generator::seeded(7);
    ///     let x = Dist::<f32, (At<Rows, Data>, dim!(5))>::normal(mesh, [999, 5], 0.0, 1.0, &mut generator).unwrap();
    ///     x.block().to_vec()
    /// }).concat();
    /// assert_eq!(drawn(1), drawn(3));
    /// ```
    pub fn normal<X: MeshAxes>(
        mesh: &Mesh<X>,
        sizes: S::Sizes,
        mean: f64,
        std: f64,
        generator: &mut Generator,
    ) -> Result<Self>
    where
        E: Float,
        S: OnMesh<X> + WellPlaced<Settled>,
    {
        Self::drawn(mesh, sizes, generator, |len, generator| {
            Ok(Tensor::<E, castiron::shape![_]>::try_normal_sized([len], mean, std, generator)?.to_vec())
        })
    }

    /// Uniform numbers from `low` to below `high` (`torch.Tensor.uniform_`) that depend on the seed and the sizes, and not on the number of
    /// ranks or the placement.
    ///
    /// Draws a seed from the generator, which must be in the same state on all ranks.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn uniform<X: MeshAxes>(
        mesh: &Mesh<X>,
        sizes: S::Sizes,
        low: f64,
        high: f64,
        generator: &mut Generator,
    ) -> Result<Self>
    where
        E: Float,
        S: OnMesh<X> + WellPlaced<Settled>,
    {
        Self::drawn(mesh, sizes, generator, |len, generator| {
            Ok(Tensor::<E, castiron::shape![_]>::try_uniform_sized([len], low, high, generator)?.to_vec())
        })
    }

    /// Elements are drawn in groups, row by row, each with a generator of its own: a rank draws the groups of which it has some.
    fn drawn<X: MeshAxes>(
        mesh: &Mesh<X>,
        sizes: S::Sizes,
        generator: &mut Generator,
        draw: impl Fn(usize, &mut Generator) -> Result<Vec<E>>,
    ) -> Result<Self>
    where
        S: OnMesh<X> + WellPlaced<Settled>,
    {
        let seed = Tensor::<i64, ()>::try_randint(i64::MIN, i64::MAX, generator)?.item() as u64;
        let (mut group, mut drawn) = (usize::MAX, Vec::new());
        let (mut failed, whole) = (None, sizes);
        let dist = Self::filled_by(mesh, sizes, |at| {
            let place = at.as_ref().iter().zip(whole.as_ref()).fold(0, |place, (at, size)| place * size + at);
            if place / DRAWN != group {
                group = place / DRAWN;
                drawn = draw(DRAWN, &mut Generator::seeded(mixed(seed, group as u64))).unwrap_or_else(|error| {
                    failed = Some(error);
                    vec![E::default(); DRAWN]
                });
            }
            drawn[place % DRAWN]
        })?;
        failed.map_or(Ok(dist), Err)
    }
}

/// A tensor of the blocks that the ranks make.
pub(super) fn built<E: Element, S: Shape, T: Shape + ConvertTo<S>, D: Device, X: MeshAxes>(
    op: &str,
    mesh: &Mesh<X>,
    sizes: S::Sizes,
    make: impl FnOnce(&Blocks) -> Result<Tensor<E, T, D>>,
) -> Result<Dist<E, S, Settled, D>> {
    let blocks = ranges(mesh, sizes.as_ref(), &Dist::<E, S, Settled, D>::cuts());
    let local = make(&blocks)?;
    let wanted: Vec<usize> = blocks.iter().map(Range::len).collect();
    if local.shape().as_ref() != wanted {
        let (whole, got) = (sizes.as_ref(), local.shape());
        let text = format!("{op}: this rank's block of {whole:?} has sizes {wanted:?}, not {:?}", got.as_ref());
        return Err(Error::Arguments(text));
    }
    Ok(Dist::new(local.try_with_shape::<S>()?, sizes))
}

/// A seed of a seed and a number, by the finishing steps of SplitMix64.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
