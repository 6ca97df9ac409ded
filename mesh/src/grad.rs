//! Gradients of functions of tensors over ranks.
//!
//! What is differentiated is the sum of what all ranks compute of the loss. Each rank goes back through what it has computed; where elements
//! have moved between ranks, gradients move back by the transpose: what was gathered is reduced and scattered, what was put together on
//! each rank is put together again. So each rank has its part of the gradient of a tensor that it has whole, and the parts are put together
//! at the end: [`Parts`] says that they are still to be.

use crate::block::{Step, Where};
use crate::dist::{Dist, moved};
use crate::engine::Reduce;
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::place::{Debt, IsLinear, MeshAxes};
use castiron::grad::{Constants, Grad, Learned, Taped, try_custom};
use castiron::io::{MapTensors, Mixed, ToDevice};
use castiron::{Cpu, Device, Element, Float, Shape, Tensor};
use core::panic::Location;

/// Moves elements of a tensor of a tape; the transposes of the steps are the way back.
#[track_caller]
pub(crate) fn recorded<E: Element, S: Shape, T: Shape, D: Device, X: MeshAxes>(
    local: &Tensor<E, S, D>,
    start: Where,
    steps: Vec<Step>,
    mesh: &Mesh<X>,
) -> Result<Tensor<E, T, D>> {
    let (mut end, mut back) = (start.clone(), Vec::with_capacity(steps.len()));
    for step in &steps {
        let transposed = step.transposed(&end.cuts).ok_or_else(|| {
            Error::Arguments(format!(
                "the largest or smallest of parts has no derivative here: put together what is off the tape, at {}",
                Location::caller()
            ))
        })?;
        back.insert(0, transposed);
        end.follow(*step);
    }
    let mut failed = None;
    let result = try_custom::<D, _, E, T, _>((local,), |(inside,): (Tensor<E, S, D::Inside>,)| {
        let result = moved::<E, S, T, D::Inside, X>(&inside, start, steps, mesh).map_err(|error| {
            let told = castiron::Error::InvalidArgument { op: "mesh", reason: error.to_string() };
            failed = Some(error);
            told
        })?;
        let way_back = move |gradient: Tensor<E, T, D::Inside>| {
            let mesh = Mesh::<X>::of_this_thread();
            match moved::<E, T, S, D::Inside, X>(&gradient, end, back, &mesh) {
                Ok(gradient) => (gradient,),
                // The others wait for what this rank can't do.
                Err(error) => mesh.abort(error),
            }
        };
        Ok((result, way_back))
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

/// What is computed of a tensor of a tape off the tape: no gradient comes back through it.
pub(crate) fn constant<E: Element, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    run: impl FnOnce(&Tensor<E, S, D::Inside>) -> Result<Tensor<E, T, D::Inside>>,
) -> Result<Tensor<E, T, D>> {
    let mut failed = None;
    let result = try_custom::<D, _, E, T, _>((x,), |(inside,): (Tensor<E, S, D::Inside>,)| {
        let result = run(&inside).map_err(|error| {
            let told = castiron::Error::InvalidArgument { op: "mesh", reason: error.to_string() };
            failed = Some(error);
            told
        })?;
        Ok((result, move |_: Tensor<E, T, D::Inside>| (inside.zeros_like(),)))
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

/// Gradients of which each rank has a part, of the parameters `T`: [`all_reduce`](Self::all_reduce) puts them together. Nothing else can be
/// done with them but adding others, so that parts are not used for the whole.
#[must_use = "the parts are put together by `all_reduce`"]
#[derive(Clone, Debug)]
pub struct Parts<T>(T);

impl<T> Parts<T> {
    pub(crate) fn parts(&self) -> &T {
        &self.0
    }

    /// The gradients: of each parameter the ranks that have it whole put their parts together. One call for all that are small, of each
    /// dtype.
    ///
    /// PyTorch: what `DistributedDataParallel` does behind `backward`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    #[track_caller]
    pub fn all_reduce<X: MeshAxes>(self, mesh: &Mesh<X>) -> Result<T>
    where
        T: ToDevice<On<<T as ToDevice>::Device> = T>,
    {
        if mesh.ranks() == 1 {
            return Ok(self.0);
        }
        let at = Location::caller();
        let mut putting = Putting { lists: Vec::new() };
        self.0.mapped(&mut putting)?;
        let mut lists = putting.lists;
        for list in &mut lists {
            (list.reduce)(list, mesh, at)?;
        }
        let mut taking = Taking { lists, mesh, at, failed: None };
        let whole = self.0.mapped(&mut taking);
        whole.map_err(|error| taking.failed.take().unwrap_or(Error::from(error)))
    }
}

/// Gradient accumulation: parts of several batches are added before they are put together.
impl<T: for<'a> core::ops::AddAssign<&'a T>> core::ops::AddAssign<&Parts<T>> for Parts<T> {
    fn add_assign(&mut self, other: &Parts<T>) {
        self.0 += &other.0;
    }
}

/// Elements of gradients that are put together by one call: of one dtype and over the same axes of the mesh.
struct List<X: MeshAxes> {
    /// One bit for each axis.
    over: u32,
    elements: Box<dyn core::any::Any>,
    taken: usize,
    reduce: fn(&mut Self, &Mesh<X>, &'static Location<'static>) -> Result<()>,
}

impl<X: MeshAxes> List<X> {
    fn new<E: Element>(over: u32) -> Self {
        let reduce = |list: &mut Self, mesh: &Mesh<X>, at| {
            let over = list.over;
            let elements: &mut Vec<E> = list.elements.downcast_mut().expect("the list of this dtype");
            put_together(mesh, over, elements, at)
        };
        List { over, elements: Box::new(Vec::<E>::new()), taken: 0, reduce }
    }
}

/// The axes of the mesh along which a tensor of this shape is whole, a bit for each.
pub(crate) fn whole_along<S: Shape, X: MeshAxes>() -> u32 {
    let all = (1 << X::NAMES.len()) - 1;
    S::CUTS.iter().flatten().fold(all, |axes, &(along, _)| axes & !(1 << along))
}

pub(crate) fn put_together<E: Element, X: MeshAxes>(
    mesh: &Mesh<X>,
    over: u32,
    elements: &mut [E],
    at: &'static Location<'static>,
) -> Result<()> {
    let axes = X::NAMES.len();
    if over == (1 << axes) - 1 {
        return mesh.reduce_at(mesh.all(), "all_reduce", elements, Reduce::Sum, at);
    }
    for axis in (0..axes).filter(|axis| over >> axis & 1 == 1) {
        mesh.reduce_at(mesh.line_at(axis), "all_reduce", elements, Reduce::Sum, at)?;
    }
    Ok(())
}

/// Bytes from which a gradient is put together by a call of its own.
const OWN_CALL: usize = 1 << 20;

fn is_alone<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> bool {
    size_of::<E>() * x.numel() >= OWN_CALL
}
/// Integers of a module are no parameters: their gradients are zeros.
pub(crate) fn is_learned<E: Element>() -> bool {
    E::DTYPE.is_floating_point() || E::DTYPE.is_complex()
}

/// Puts the elements of small gradients into lists.
struct Putting<X: MeshAxes> {
    lists: Vec<List<X>>,
}
impl<D: Device, X: MeshAxes> MapTensors<D, D> for Putting<X> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> castiron::Result<Tensor<E, S, D>> {
        if is_learned::<E>() && !is_alone(x) {
            let over = whole_along::<S, X>();
            let found = self.lists.iter().position(|list| list.over == over && list.elements.is::<Vec<E>>());
            let place = found.unwrap_or_else(|| {
                self.lists.push(List::new::<E>(over));
                self.lists.len() - 1
            });
            let elements: &mut Vec<E> = self.lists[place].elements.downcast_mut().expect("the list of this dtype");
            elements.extend(x.cpu()?.iter());
        }
        Ok(x.clone())
    }
}

/// Takes them out of the lists; those of large gradients are put together one after another.
struct Taking<'a, X: MeshAxes> {
    lists: Vec<List<X>>,
    mesh: &'a Mesh<X>,
    at: &'static Location<'static>,
    failed: Option<Error>,
}
impl<D: Device, X: MeshAxes> MapTensors<D, D> for Taking<'_, X> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> castiron::Result<Tensor<E, S, D>> {
        if !is_learned::<E>() {
            return Ok(x.clone());
        }
        let over = whole_along::<S, X>();
        let mut host = x.to_device::<Cpu>()?.try_contiguous()?;
        let elements = host.as_mut_slice();
        if is_alone(x) {
            if let Err(error) = put_together(self.mesh, over, elements, self.at) {
                let told = castiron::Error::InvalidArgument { op: "all_reduce", reason: error.to_string() };
                self.failed = Some(error);
                return Err(told);
            }
        } else {
            let same = |list: &&mut List<X>| list.over == over && list.elements.is::<Vec<E>>();
            let list = self.lists.iter_mut().find(same).expect("a list of what has been put");
            let from = list.taken..list.taken + elements.len();
            list.taken = from.end;
            let all: &Vec<E> = list.elements.downcast_ref().expect("the list of this dtype");
            elements.copy_from_slice(&all[from]);
        }
        host.to_device()
    }
}

impl<E: Element, S: Shape, U: Debt, D: Device> ToDevice for Dist<E, S, U, D> {
    type Device = D;
    type On<X: Device> = Dist<E, S, U, X>;
    type Holds = Mixed;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<D, X>) -> castiron::Result<Dist<E, S, U, X>> {
        Ok(Dist::new(map.tensor(self.block())?, self.shape()))
    }
}
impl<X: MeshAxes> Mesh<X> {
    /// The value of a function of tensors over ranks, and each rank's parts of its gradient by each parameter.
    ///
    /// `parameters` are a tensor over ranks, or a struct of such with `#[derive(Module)]`; tensors of castiron among them are whole on every
    /// rank. The loss is one number, which may be pending. What is differentiated is the whole loss, to which all ranks add.
    ///
    /// PyTorch: `loss.backward()` of `DTensor`s.
    ///
    /// # Errors
    /// If an operation has no derivative, MPI reports an error, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{axis, dim, dims};
    /// use castiron_mesh::{At, Dist, Pending, Sum, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Batch }
    /// let steps = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let weight = Dist::<f32, (dim!(2), dim!(1))>::full(mesh, [2, 1], 1.0)?;
    ///     let x = Dist::<f32, (At<Batch, Data>, dim!(2))>::from_fn(mesh, [4, 2], |[row, _]| row as f32)?;
    ///     let (loss, parts) = mesh.value_and_grad(&weight, (&x,), |weight, (x,)| x.matmul(weight).square().mean())?;
    ///     let gradient = parts.all_reduce(mesh)?;
    ///     castiron_mesh::Result::Ok((loss.all_reduce(mesh)?.item(), gradient.whole().to_vec()))
    /// });
    /// assert_eq!(steps[0], Ok((14.0, vec![14.0, 14.0])));
    /// ```
    #[track_caller]
    pub fn value_and_grad<P, C, E, U>(
        &self,
        parameters: &P,
        constants: C,
        function: impl FnOnce(&P::On<Taped<P::Device>>, C::Given<'_>) -> Dist<E, (), U, Taped<P::Device>>,
    ) -> Result<(Dist<E, (), U, P::Device>, Parts<P>)>
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P, Holds: Learned>,
        C: Constants<P::Device>,
        E: Float,
        U: IsLinear,
    {
        self.try_value_and_grad(parameters, constants, |parameters, given| Ok(function(parameters, given)))
    }

    /// [`value_and_grad`](Self::value_and_grad) of a function that fails: with `?` behind what moves elements between ranks.
    ///
    /// # Errors
    /// As there, and the function's own.
    #[track_caller]
    pub fn try_value_and_grad<P, C, E, U>(
        &self,
        parameters: &P,
        constants: C,
        function: impl FnOnce(&P::On<Taped<P::Device>>, C::Given<'_>) -> Result<Dist<E, (), U, Taped<P::Device>>>,
    ) -> Result<(Dist<E, (), U, P::Device>, Parts<P>)>
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P, Holds: Learned>,
        C: Constants<P::Device>,
        E: Float,
        U: IsLinear,
    {
        let mut failed = None;
        let outcome = parameters.try_value_and_grad_with(constants, |parameters, given| {
            let loss = function(parameters, given).map_err(|error| {
                let told = castiron::Error::InvalidArgument { op: "value_and_grad", reason: error.to_string() };
                failed = Some(error);
                told
            })?;
            // A value that ranks have whole is computed by each of them: it counts once.
            let mut owed = 0_u32;
            U::each(&mut |_, along, _| owed |= 1 << along);
            let copies: usize =
                (0..X::NAMES.len()).filter(|axis| owed >> axis & 1 == 0).map(|axis| self.line_at(axis).size).product();
            Ok((loss.block() * (1.0 / copies as f64), loss.block().clone()))
        });
        match (failed, outcome) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(error.into()),
            (None, Ok((_, loss, gradients))) => Ok((Dist::new(loss, []), Parts(gradients))),
        }
    }
}
