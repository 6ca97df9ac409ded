//! Reducers that programs write (`ops::reduce::own`), as steps of a tape: over axes, and as scans along one.

#[cfg(feature = "grad")]
use super::primitive::{Back, Perhaps, read};
use super::primitive::{On, Primitive};
use super::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Float;
use crate::error::Result;
use crate::ops::pointwise::FromParts;
use crate::ops::reduce::own::{OfOne, OfTwo, Reducer};
use core::marker::PhantomData;

/// What a reducer runs over.
#[derive(Clone, Copy)]
pub enum Over {
    /// The axes of a mask.
    Axes(u32),
    /// Each element of an axis and those before it.
    Axis(usize),
}

/// A reducer with operands of dtype `P`, and which of its results.
macro_rules! reducers {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        pub(crate) struct $name<R, P, const N: usize, const AT: usize>(Over, PhantomData<fn() -> (R, P)>);
        impl<R, P, const N: usize, const AT: usize> $name<R, P, N, AT> {
            pub(crate) fn new(over: Over) -> Self {
                $name(over, PhantomData)
            }
        }
        impl<R, P, const N: usize, const AT: usize> Clone for $name<R, P, N, AT> {
            fn clone(&self) -> Self {
                $name(self.0, PhantomData)
            }
        }
    )*};
}
reducers! {
    ReducedOne: "A reducer of one operand.";
    ReducedTwo: "A reducer of two operands, which have the same sizes.";
}

impl<R: Reducer<N>, P: Float, const N: usize, const AT: usize> Primitive for ReducedOne<R, P, N, AT> {
    type Operands = (P,);
    type Results = (P,);
    fn op(&self) -> &'static str {
        R::NAME
    }
    fn run<D: Device>(&self, (x,): On<'_, (P,), D>) -> Result<On<'static, (P,), D>> {
        let reducer = OfOne::<R, N, AT>::NEW;
        Ok((match self.0 {
            Over::Axes(mask) => x.reduce(reducer, mask, false)?,
            Over::Axis(axis) => Erased::dense(D::lanes::<P, P>(reducer, x.view(), axis)?, x.dims()),
        },))
    }

    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 0];
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (P,), D>> {
        let Some(g) = &back.g.0 else { return Ok((None,)) };
        let [x, _] = back::slopes::<R, P, D, N, AT>([Some(read(&back.x.0)?), None], g, self.0)?;
        Ok((x,))
    }
}

impl<R: Reducer<N>, P: Float, const N: usize, const AT: usize> Primitive for ReducedTwo<R, P, N, AT> {
    type Operands = (P, P);
    type Results = (P,);
    fn op(&self) -> &'static str {
        R::NAME
    }
    fn run<D: Device>(&self, (x, y): On<'_, (P, P), D>) -> Result<On<'static, (P,), D>> {
        let reducer = OfTwo::<R, P, N, AT>::NEW;
        Ok((match self.0 {
            Over::Axes(mask) => x.reduce_pairs::<P, P::Complex, _>(R::NAME, reducer, FromParts, &y, mask)?,
            Over::Axis(axis) => {
                let pairs: Owned<P::Complex, D> = x.map2_dense(R::NAME, FromParts, &y)?;
                Erased::dense(D::lanes::<P::Complex, P>(reducer, pairs.view(), axis)?, pairs.dims())
            }
        },))
    }

    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 0];
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (P, P), D>> {
        let Some(g) = &back.g.0 else { return Ok((None, None)) };
        let operands = [Some(read(&back.x.0)?), Some(read(&back.x.1)?)];
        let [x, y] = back::slopes::<R, P, D, N, AT>(operands, g, self.0)?;
        Ok((x, y))
    }
}

/// The way back: states are computed again from the first element on, then the gradient of the state goes from the last element to the
/// first, by dual numbers.
#[cfg(feature = "grad")]
mod back {
    use super::*;
    use crate::composite::normalization::back::{computed, rounded};
    use crate::dtype::{DType, Dtype, Element, MachineFloat};
    use crate::error::{filled, invalid, listed, room};
    use crate::layout::dims::Dims;
    use crate::ops::dual::Dual;
    use crate::ops::formula::{Number, Results};
    use crate::storage::HostBuffer;

    type Gradients<P, D> = [Option<Owned<P, D>>; 2];

    pub(super) fn slopes<R: Reducer<N>, P: Float, D: Device, const N: usize, const AT: usize>(
        x: [Option<&Erased<'_, P, D>>; 2],
        g: &Erased<'_, P, D>,
        over: Over,
    ) -> Result<Gradients<P, D>> {
        let part = |x: Option<&Erased<'_, P, D>>| x.map(|x| computed(R::NAME, x)).transpose();
        let (x, g) = ([part(x[0])?, part(x[1])?], computed(R::NAME, g)?);
        let found = if const { matches!(<P::Compute as Element>::DTYPE, DType::F32) } {
            on_host::<R, f32, P::Compute, D, N, AT>(&x, &g, over)?
        } else {
            on_host::<R, f64, P::Compute, D, N, AT>(&x, &g, over)?
        };
        let [x, y] = found.map(|found| found.map(|found| rounded(R::NAME, found)).transpose());
        Ok([x?, y?])
    }

    /// `T` is `C`.
    fn on_host<R: Reducer<N>, T: MachineFloat + Dtype, C: Dtype, D: Device, const N: usize, const AT: usize>(
        x: &Gradients<C, D>,
        g: &Owned<C, D>,
        over: Over,
    ) -> Result<Gradients<C, D>> {
        let [Some(first), second] = x else { return Ok([None, None]) };
        if first.is_empty() {
            return Ok([None, None]);
        }
        // Lanes along the last axes.
        let (sizes, rank) = (first.dims(), first.rank());
        let is_along = |axis: &usize| match over {
            Over::Axes(mask) => mask >> axis & 1 == 1,
            Over::Axis(at) => *axis == at,
        };
        let order = listed((0..rank).filter(|axis| !is_along(axis)).chain((0..rank).filter(is_along)))?;
        let len: usize = (0..rank).filter(is_along).map(|axis| sizes[axis]).product();
        let in_order = |of: &Erased<'_, C, D>| of.permute(R::NAME, &order)?.contiguous().map(|of| of.share());
        let first = in_order(first)?;
        let second = second.as_ref().map(&in_order).transpose()?;
        let g = match over {
            Over::Axes(_) => g.contiguous()?.share(),
            Over::Axis(_) => in_order(g)?,
        };
        let (first, second, g) = (first.known_as::<T>(), second.as_ref().map(Erased::known_as::<T>), g.known_as::<T>());
        let (Some(x), Some(g)) = (first.on_host(), g.on_host()) else {
            return invalid(
                "backward",
                format!(
                    "the gradient of the reducer `{}` is computed on the host, and has no derivative itself",
                    R::NAME
                ),
            );
        };
        let y = second.as_ref().and_then(Erased::on_host);
        let mut states: Vec<[T; N]> = room(len)?;
        let mut dx = filled(T::zero(), x.len())?;
        let mut dy = filled(T::zero(), y.map_or(0, <[T]>::len))?;
        for (lane, dx) in dx.chunks_exact_mut(len).enumerate() {
            let places = lane * len..(lane + 1) * len;
            let (g, scans) = match over {
                Over::Axes(_) => (&g[lane..=lane], false),
                Over::Axis(_) => (&g[places.clone()], true),
            };
            let y = y.map(|y| &y[places.clone()]);
            let dy = dy.get_mut(places.clone()).unwrap_or_default();
            adjoint::<R, T, N, AT>(&x[places], y, (g, scans), (dx, dy), &mut states);
        }
        // The strides of the operand's own order.
        let ordered: Dims = Dims::known(&listed(order.iter().map(|&axis| sizes[axis]))?);
        let (steps, mut strides) = (ordered.row_major(), sizes);
        for (at, &axis) in order.iter().enumerate() {
            strides[axis] = steps[at];
        }
        let given = |of: Vec<T>| -> Result<Owned<C, D>> {
            Ok(Erased::<T, D>::of_host(HostBuffer::from_vec(of)?, sizes, strides)?.retyped())
        };
        let of_second = y.is_some();
        Ok([Some(given(dx)?), of_second.then(|| given(dy)).transpose()?])
    }

    fn adjoint<R: Reducer<N>, T: MachineFloat, const N: usize, const AT: usize>(
        x: &[T],
        y: Option<&[T]>,
        (g, scans): (&[T], bool),
        (dx, dy): (&mut [T], &mut [T]),
        states: &mut Vec<[T; N]>,
    ) {
        let constant = |x: T| Number(Dual::constant(x));
        let other = |at: usize| y.map_or(T::zero(), |y| y[at]);
        // (The list has room for a lane.)
        states.clear();
        let mut state = R::start::<T>();
        for (at, &x) in x.iter().enumerate() {
            states.push(state.map(|Number(part)| part));
            state = R::step(state, [Number(x), Number(other(at))]);
        }
        let mut slope = [T::zero(); N];
        for (at, before) in states.iter().enumerate().rev() {
            let operands = [x[at], other(at)];
            let is_result = scans || at + 1 == x.len();
            if is_result {
                let after = R::step(before.map(Number), operands.map(Number));
                let g = if scans { g[at] } else { g[0] };
                for (by, slope) in slope.iter_mut().enumerate() {
                    let mut after = after.map(|Number(part)| constant(part));
                    after[by].0.tangent = T::one();
                    *slope = *slope + g * R::Results::pick(R::finish(after), AT).0.tangent;
                }
            }
            // The slope of one number before the step.
            let back = |state: [Number<Dual<T>>; N], x: [Number<Dual<T>>; 2]| {
                let after = R::step(state, x);
                after.iter().zip(&slope).fold(T::zero(), |sum, (after, &slope)| sum + after.0.tangent * slope)
            };
            let of_operand = |which: usize| {
                let mut x = operands.map(constant);
                x[which].0.tangent = T::one();
                back(before.map(constant), x)
            };
            dx[at] = of_operand(0);
            if let Some(dy) = dy.get_mut(at) {
                *dy = of_operand(1);
            }
            let earlier = core::array::from_fn(|by| {
                let mut state = before.map(constant);
                state[by].0.tangent = T::one();
                back(state, operands.map(constant))
            });
            slope = earlier;
        }
    }
}
