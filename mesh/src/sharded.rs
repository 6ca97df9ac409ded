//! Optimisers whose state is cut over ranks.

use crate::buckets::{Over, put_together};
use crate::engine::Reduce;
use crate::error::{Error, Result};
use crate::grad::{Parts, is_learned, whole_along};
use crate::mesh::{Mesh, block};
use crate::place::{MeshAxes, MeshAxis};
use castiron::io::{MapTensors, ToDevice};
use castiron::optim::{Optimizer, Rule};
use castiron::{Cpu, Device, Element, Float, Shape, Tensor, shape};
use core::marker::PhantomData;
use core::panic::Location;

/// An optimiser whose state is cut over the ranks along `M`: each keeps that of its share of all parameters, and takes steps for these alone
/// (ZeRO, stage 1: "Memory optimizations toward training trillion parameter models", 2019). A step sends what an
/// [`all_reduce`](Parts::all_reduce) of the gradients would: they are reduced and scattered, and the parameters that were changed are gathered.
///
/// Parameters are whole along `M`, and all of the dtype `E`; integers among them stay as they are.
///
/// PyTorch: `torch.distributed.optim.ZeroRedundancyOptimizer`.
///
/// ```
/// use castiron::{Tensor, dim, dims, optim::AdamW, tensor};
/// use castiron_mesh::{At, Dist, Sharded, mesh, simulate};
/// mesh! { Ranks: Data }
/// dims! { Batch }
/// let weights = simulate::<Ranks, _>(2, &[0], |mesh| {
///     let mut weight = tensor![1.0_f32, 2.0, 3.0];
///     let mut adam: Sharded<_, f32, _> = Sharded::new::<Data, _>(&weight, mesh, |own| AdamW::new(own).rate(0.1))?;
///     let x = Dist::<f32, (At<Batch, Data>, dim!(3))>::full(mesh, [4, 3], 1.0)?;
///     let (_, parts) = mesh.value_and_grad(&weight, (&x,), |weight, (x,)| {
///         x.mean_of_blocks((x.block() * weight).square().mean())
///     })?;
///     adam.step(&mut weight, parts, mesh)?;
///     castiron_mesh::Result::Ok(weight.to_vec())
/// });
/// assert_eq!(weights[0], weights[1]);
/// assert!(weights[0].as_ref().is_ok_and(|weight| weight[2] < 3.0));
/// ```
pub struct Sharded<R: Rule, E: Float, X: MeshAxes> {
    optimizer: Optimizer<R, Tensor<E, shape![_]>>,
    /// The axis of the mesh over which the state is cut.
    along: usize,
    /// The number of elements of all parameters of this rank.
    len: usize,
    mesh: PhantomData<X>,
}

impl<R: Rule, E: Float, X: MeshAxes> Sharded<R, E, X> {
    /// An optimiser of these parameters; `make` makes one of this rank's share of them, which is a list.
    ///
    /// # Errors
    /// If a parameter is cut along `M` or has another dtype, or memory runs out.
    pub fn new<M: MeshAxis<Mesh = X>, P>(
        parameters: &P,
        mesh: &Mesh<X>,
        make: impl FnOnce(&Tensor<E, shape![_]>) -> Optimizer<R, Tensor<E, shape![_]>>,
    ) -> Result<Self>
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P>,
    {
        let flat = Flat::<E>::of::<P, X>(parameters, M::INDEX)?;
        let line = mesh.line::<M>();
        let own = flat.elements[block(flat.elements.len(), line.rank, line.size)].to_vec();
        let len = [own.len()];
        let optimizer = make(&Tensor::try_from_vec_sized(own, len)?);
        Ok(Sharded { optimizer, along: M::INDEX, len: flat.elements.len(), mesh: PhantomData })
    }

    /// The optimiser of this rank's share: for its options.
    pub fn optimizer(&mut self) -> &mut Optimizer<R, Tensor<E, shape![_]>> {
        &mut self.optimizer
    }

    /// A step: the ranks' parts of the gradients are put together, each rank's share by itself.
    ///
    /// # Errors
    /// If the parameters are others than those that the optimiser was made of, MPI reports an error, memory runs out, or the ranks do different
    /// things.
    #[track_caller]
    pub fn step<P>(&mut self, parameters: &mut P, gradients: Parts<P>, mesh: &Mesh<X>) -> Result<()>
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P>,
    {
        let (at, line) = (Location::caller(), mesh.line_at(self.along));
        let (own, mut slopes) =
            (Flat::<E>::of::<P, X>(parameters, self.along)?, Flat::<E>::of::<P, X>(gradients.parts(), self.along)?);
        if own.elements.len() != self.len || slopes.elements.len() != self.len {
            return Err(Error::Arguments("the parameters are others than those of the optimiser".to_owned()));
        }
        // Over the other axes of the mesh first, a run of parameters with the same placement at a time.
        let mut start = 0;
        for (len, over) in slopes.runs {
            let over = Over { reduce: Reduce::Sum, axes: over & !(1 << self.along) };
            put_together(mesh, "all_reduce", over, &mut slopes.elements[start..start + len], at)?;
            start += len;
        }
        let counts: Vec<usize> = (0..line.size).map(|rank| block(self.len, rank, line.size).len()).collect();
        let slopes = mesh.scatter_reduced(line, &slopes.elements, &counts, Reduce::Sum)?;
        let share = own.elements[block(self.len, line.rank, line.size)].to_vec();
        let len = [share.len()];
        let mut share = Tensor::<E, shape![_]>::try_from_vec_sized(share, len)?;
        self.optimizer.try_step(&mut share, &Tensor::try_from_vec_sized(slopes, len)?)?;
        let elements = mesh.gather(line, &share.to_vec(), &counts)?;
        *parameters = parameters.mapped(&mut Writing { elements, at: 0 })?;
        Ok(())
    }
}

/// The elements of all parameters, one after another.
struct Flat<E> {
    elements: Vec<E>,
    /// How many of them have the same placement: along which axes of the mesh they are whole, a bit for each.
    runs: Vec<(usize, u32)>,
}
impl<E: Float> Flat<E> {
    fn of<P: ToDevice<On<<P as ToDevice>::Device> = P>, X: MeshAxes>(parameters: &P, along: usize) -> Result<Self> {
        let mut reading =
            Reading::<E, X> { flat: Flat { elements: Vec::new(), runs: Vec::new() }, along, of: PhantomData };
        parameters.mapped(&mut reading)?;
        Ok(reading.flat)
    }
}

struct Reading<E, X> {
    flat: Flat<E>,
    along: usize,
    of: PhantomData<X>,
}
impl<E: Float, D: Device, X: MeshAxes> MapTensors<D, D> for Reading<E, X> {
    fn tensor<F: Element, S: Shape>(&mut self, x: &Tensor<F, S, D>) -> castiron::Result<Tensor<F, S, D>> {
        let refused = |reason: String| Err(castiron::Error::InvalidArgument { op: "Sharded", reason });
        if !is_learned::<F>() {
            return Ok(x.clone());
        }
        let over = whole_along::<S, X>();
        if over >> self.along & 1 == 0 {
            return refused(format!("a parameter is cut along `{}`, as its gradient is", X::NAMES[self.along]));
        }
        let host = x.to_device::<Cpu>()?.try_contiguous()?;
        let Some(elements) = (&host.to_vec() as &dyn core::any::Any).downcast_ref::<Vec<E>>().cloned() else {
            return refused(format!("a parameter has dtype {}, others have {}", F::DTYPE, E::DTYPE));
        };
        match self.flat.runs.last_mut() {
            Some((len, last)) if *last == over => *len += elements.len(),
            _ => self.flat.runs.push((elements.len(), over)),
        }
        self.flat.elements.extend(elements);
        Ok(x.clone())
    }
}

/// Puts elements where they came from.
struct Writing<E> {
    elements: Vec<E>,
    at: usize,
}
impl<E: Float, D: Device> MapTensors<D, D> for Writing<E> {
    fn tensor<F: Element, S: Shape>(&mut self, x: &Tensor<F, S, D>) -> castiron::Result<Tensor<F, S, D>> {
        if !is_learned::<F>() {
            return Ok(x.clone());
        }
        let own = self.elements[self.at..self.at + x.numel()].to_vec();
        self.at += x.numel();
        let own = *(Box::new(own) as Box<dyn core::any::Any>).downcast::<Vec<F>>().expect("the dtype that was read");
        Tensor::<F, S>::try_from_vec_sized(own, x.shape())?.to_device()
    }
}
