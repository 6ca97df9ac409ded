//! Gradients of functions of tensors over ranks.
//!
//! What is differentiated is the sum of what all ranks compute of the loss. Each rank goes back through what it has computed; where elements
//! have moved between ranks, gradients move back by the transpose: what was gathered is reduced and scattered, what was put together on
//! each rank is put together again. So each rank has its part of the gradient of a tensor that it has whole, and the parts are put together
//! at the end: [`Parts`] says that they are still to be.

use crate::block::{Step, Where};
use crate::buckets::{Buckets, Over};
use crate::dist::{Dist, moved};
use crate::engine::Reduce;
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::place::{Debt, IsLinear, MeshAxes};
use castiron::grad::{Constants, Grad, Learned, Taped, try_custom};
use castiron::io::{MapTensors, Mixed, ToDevice};
use castiron::{Cpu, Device, Element, Float, Shape, Tensor};
use core::panic::Location;

/// An error of ranks inside of a function of castiron, whose errors are castiron's: there it is told by its text, and behind the function it
/// is given as it was.
struct Carried {
    op: &'static str,
    error: Option<Error>,
}
impl Carried {
    fn through(op: &'static str) -> Self {
        Carried { op, error: None }
    }
    fn told<T>(&mut self, result: Result<T>) -> castiron::Result<T> {
        result.map_err(|error| {
            let told = castiron::Error::InvalidArgument { op: self.op, reason: error.to_string() };
            self.error = Some(error);
            told
        })
    }
    fn given<T>(self, result: castiron::Result<T>) -> Result<T> {
        result.map_err(|error| self.error.unwrap_or(Error::Tensor(error)))
    }
}

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
    let mut carried = Carried::through("mesh");
    let result = try_custom::<D, _, E, T, _>((local,), |(inside,): (Tensor<E, S, D::Inside>,)| {
        let result = carried.told(moved::<E, S, T, D::Inside, X>(&inside, start, steps, mesh))?;
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
    carried.given(result)
}

/// What is computed of a tensor of a tape off the tape: no gradient comes back through it.
pub(crate) fn constant<E: Element, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    run: impl FnOnce(&Tensor<E, S, D::Inside>) -> Result<Tensor<E, T, D::Inside>>,
) -> Result<Tensor<E, T, D>> {
    let mut carried = Carried::through("mesh");
    let result = try_custom::<D, _, E, T, _>((x,), |(inside,): (Tensor<E, S, D::Inside>,)| {
        let result = carried.told(run(&inside))?;
        Ok((result, move |_: Tensor<E, T, D::Inside>| (inside.zeros_like(),)))
    });
    carried.given(result)
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
        let mut buckets = Buckets::new(mesh, "all_reduce", Location::caller());
        let put = Through::all(&self.0, &mut buckets, false)?;
        buckets.reduce()?;
        Through::all(&put, &mut buckets, true)
    }
}

/// Gradient accumulation: parts of several batches are added before they are put together.
impl<T: for<'a> core::ops::AddAssign<&'a T>> core::ops::AddAssign<&Parts<T>> for Parts<T> {
    fn add_assign(&mut self, other: &Parts<T>) {
        self.0 += &other.0;
    }
}

/// The axes of the mesh along which a tensor of this shape is whole, a bit for each.
pub(crate) fn whole_along<S: Shape, X: MeshAxes>() -> u32 {
    let all = (1 << X::NAMES.len()) - 1;
    S::CUTS.iter().flatten().fold(all, |axes, &(along, _)| axes & !(1 << along))
}

/// Integers of a module are no parameters: their gradients are zeros.
pub(crate) fn is_learned<E: Element>() -> bool {
    E::DTYPE.is_floating_point() || E::DTYPE.is_complex()
}

/// Puts gradients into buckets, or takes them out.
struct Through<'a, 'b, X: MeshAxes> {
    buckets: &'a mut Buckets<'b, X>,
    takes: bool,
    carried: Carried,
}
impl<'a, 'b, X: MeshAxes> Through<'a, 'b, X> {
    fn all<T: ToDevice<On<<T as ToDevice>::Device> = T>>(
        gradients: &T,
        buckets: &'a mut Buckets<'b, X>,
        takes: bool,
    ) -> Result<T> {
        let mut through = Through { buckets, takes, carried: Carried::through("all_reduce") };
        let mapped = gradients.mapped(&mut through);
        through.carried.given(mapped)
    }
}
impl<D: Device, X: MeshAxes> MapTensors<D, D> for Through<'_, '_, X> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> castiron::Result<Tensor<E, S, D>> {
        if !is_learned::<E>() {
            return Ok(x.clone());
        }
        let (over, host) = (Over { reduce: Reduce::Sum, axes: whole_along::<S, X>() }, x.to_device::<Cpu>()?);
        let host = if self.takes { self.buckets.take(over, host) } else { self.buckets.put(over, host) };
        self.carried.told(host)?.to_device()
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
impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, Taped<D>> {
    /// The same elements off the tape: nothing that is computed from them is recorded, and all operations take them
    /// ([`Tensor::detach`](castiron::Tensor::detach)).
    pub fn detach(&self) -> Dist<E, S, U, D> {
        Dist::new(self.block().detach(), self.shape())
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
        let mut carried = Carried::through("value_and_grad");
        let outcome = parameters.try_value_and_grad_with(constants, |parameters, given| {
            let loss = carried.told(function(parameters, given))?;
            // A value that ranks have whole is computed by each of them: it counts once.
            let mut owed = 0_u32;
            U::each(&mut |_, along, _| owed |= 1 << along);
            let copies: usize =
                (0..X::NAMES.len()).filter(|axis| owed >> axis & 1 == 0).map(|axis| self.line_at(axis).size).product();
            Ok((loss.block() * (1.0 / copies as f64), loss.block().clone()))
        });
        let (_, loss, gradients) = carried.given(outcome)?;
        Ok((Dist::new(loss, []), Parts(gradients)))
    }
}
