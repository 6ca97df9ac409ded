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
        let x = Erased::of(read(&back.x.0)?.view());
        let (dx,) = D::primitive(&back::BackOne::<R, P, N, AT>::new(self.0), (x, Erased::of(g.view())))?;
        Ok((Some(dx),))
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
        let [x, y] = [read(&back.x.0)?, read(&back.x.1)?].map(|x| Erased::of(x.view()));
        let operands = (x, y, Erased::of(g.view()));
        let (dx, dy) = D::primitive(&back::BackTwo::<R, P, N, AT>::new(self.0), operands)?;
        Ok((Some(dx), Some(dy)))
    }
}

/// The way back: states are computed again from the first element on, then the gradient of the state goes from the last element to the
/// first, by dual numbers. The derivative of that is the same of dual numbers, whose tangents are the gradients that came back.
#[cfg(feature = "grad")]
mod back {
    use super::*;
    use crate::device::on_host;
    use crate::dtype::{Castable, DType, Dtype, Element, MachineFloat};
    use crate::error::{filled, listed, room};
    use crate::layout::dims::Dims;
    use crate::ops::dual::Dual;
    use crate::ops::formula::{Number, Results};

    reducers! {
        BackOne: "The gradient of a reducer's operand, by the operand and by the gradient of its result.";
        BackTwo: "The same of two operands.";
    }

    impl<R: Reducer<N>, P: Float, const N: usize, const AT: usize> Primitive for BackOne<R, P, N, AT> {
        type Operands = (P, P);
        type Results = (P,);
        fn op(&self) -> &'static str {
            R::NAME
        }
        fn run<D: Device>(&self, (x, g): On<'_, (P, P), D>) -> Result<On<'static, (P,), D>> {
            let order = Order::of(x.dims(), self.0)?;
            let (ordered, of_result) = (order.operand(&x)?, order.result(&g)?);
            let dx = on_host::<D, _, _>(R::NAME, (ordered.view(), of_result.view()), |(x, g)| {
                let [dx, _] = slopes::<R, P, N, AT>(&order, x, None, g)?;
                Ok(dx)
            })?;
            Ok((order.given(dx),))
        }
        const READS: [u32; 2] = [0b11, 0];
        fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (P, P), D>> {
            let (x, g) = (read(&back.x.0)?, read(&back.x.1)?);
            let Some(along) = &back.g.0 else { return Ok((None, None)) };
            let order = Order::of(x.dims(), self.0)?;
            let (ordered, of_result, along) = (order.operand(x)?, order.result(g)?, order.operand(along)?);
            let operands = ((ordered.view(), along.view()), of_result.view());
            let (dx, dg) = on_host::<D, _, _>(R::NAME, operands, |((x, along), g)| {
                let ([dx, _], dg) = curvatures::<R, P, N, AT>(&order, [x, along], None, g)?;
                Ok((dx, dg))
            })?;
            Ok((Some(order.given(dx)), Some(order.given_result(dg, g.dims()))))
        }
    }

    impl<R: Reducer<N>, P: Float, const N: usize, const AT: usize> Primitive for BackTwo<R, P, N, AT> {
        type Operands = (P, P, P);
        type Results = (P, P);
        fn op(&self) -> &'static str {
            R::NAME
        }
        fn run<D: Device>(&self, (x, y, g): On<'_, (P, P, P), D>) -> Result<On<'static, (P, P), D>> {
            let order = Order::of(x.dims(), self.0)?;
            let (first, second, of_result) = (order.operand(&x)?, order.operand(&y)?, order.result(&g)?);
            let operands = ((first.view(), second.view()), of_result.view());
            let (dx, dy) = on_host::<D, _, _>(R::NAME, operands, |((x, y), g)| {
                let [dx, dy] = slopes::<R, P, N, AT>(&order, x, Some(y), g)?;
                Ok((dx, dy))
            })?;
            Ok((order.given(dx), order.given(dy)))
        }
        const READS: [u32; 2] = [0b111, 0];
        fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (P, P, P), D>> {
            let (x, y, g) = (read(&back.x.0)?, read(&back.x.1)?, read(&back.x.2)?);
            let order = Order::of(x.dims(), self.0)?;
            let (first, second, of_result) = (order.operand(x)?, order.operand(y)?, order.result(g)?);
            let of_first = back.g.0.as_ref().map(|g| order.operand(g)).transpose()?;
            let of_second = back.g.1.as_ref().map(|g| order.operand(g)).transpose()?;
            let [of_first, of_second] = [&of_first, &of_second].map(|of| of.as_ref().map(Erased::view));
            let operands = (((first.view(), of_first), (second.view(), of_second)), of_result.view());
            let (dx, (dy, dg)) = on_host::<D, _, _>(R::NAME, operands, |(((x, of_x), (y, of_y)), g)| {
                let [of_x, of_y] = [of_x, of_y].map(|of| of.map_or_else(|| filled(P::default(), x.len()), Ok));
                let ([dx, dy], dg) = curvatures::<R, P, N, AT>(&order, [x, of_x?], Some([y, of_y?]), g)?;
                Ok((dx, (dy, dg)))
            })?;
            Ok((Some(order.given(dx)), Some(order.given(dy)), Some(order.given_result(dg, g.dims()))))
        }
    }

    /// The order of axes in which elements that are reduced together are a lane: side by side.
    struct Order {
        axes: Vec<usize>,
        sizes: Dims,
        /// The length of a lane.
        len: usize,
        /// Whether there is a result for each element of a lane.
        scans: bool,
    }
    impl Order {
        fn of(sizes: Dims, over: Over) -> Result<Self> {
            let rank = sizes.len();
            let is_along = |axis: &usize| match over {
                Over::Axes(mask) => mask >> axis & 1 == 1,
                Over::Axis(at) => *axis == at,
            };
            let axes = listed((0..rank).filter(|axis| !is_along(axis)).chain((0..rank).filter(is_along)))?;
            let len = (0..rank).filter(is_along).map(|axis| sizes[axis]).product();
            Ok(Order { axes, sizes, len, scans: matches!(over, Over::Axis(_)) })
        }
        fn operand<'a, E: Element, D: Device>(&self, x: &'a Erased<'_, E, D>) -> Result<Erased<'a, E, D>> {
            x.permute("backward", &self.axes)
        }
        fn result<'a, E: Element, D: Device>(&self, g: &'a Erased<'_, E, D>) -> Result<Erased<'a, E, D>> {
            if self.scans { self.operand(g) } else { Ok(Erased::of(g.view())) }
        }
        /// A tensor of the operand's sizes.
        fn given<E: Element, D: Device>(&self, storage: D::Storage) -> Owned<E, D> {
            let (mut ordered, mut strides) = (self.sizes, self.sizes);
            for (at, &axis) in self.axes.iter().enumerate() {
                ordered[at] = self.sizes[axis];
            }
            let steps = ordered.row_major();
            for (at, &axis) in self.axes.iter().enumerate() {
                strides[axis] = steps[at];
            }
            Erased::fresh(storage, self.sizes, strides)
        }
        /// A tensor of the result's sizes.
        fn given_result<E: Element, D: Device>(&self, storage: D::Storage, sizes: Dims) -> Owned<E, D> {
            if self.scans { self.given(storage) } else { Erased::dense(storage, sizes) }
        }
        /// The places of a lane in a list of operands, and in one of results.
        fn lane(&self, at: usize) -> [core::ops::Range<usize>; 2] {
            let places = at * self.len..(at + 1) * self.len;
            [places.clone(), if self.scans { places } else { at..at + 1 }]
        }
    }

    fn is_single<P: Float>() -> bool {
        const { matches!(<P::Compute as Element>::DTYPE, DType::F32) }
    }
    /// A list in the type that it is computed in.
    fn wide<P: Dtype, T: Dtype>(of: Vec<P>) -> Result<Vec<T>> {
        listed(of.into_iter().map(Castable::cast::<T>))
    }

    /// The gradients of the operands. (Of one operand the second list is empty.)
    fn slopes<R: Reducer<N>, P: Float, const N: usize, const AT: usize>(
        order: &Order,
        x: Vec<P>,
        y: Option<Vec<P>>,
        g: Vec<P>,
    ) -> Result<[Vec<P>; 2]> {
        fn of<R: Reducer<N>, P: Float, T: MachineFloat + Dtype, const N: usize, const AT: usize>(
            order: &Order,
            x: Vec<P>,
            y: Option<Vec<P>>,
            g: Vec<P>,
        ) -> Result<[Vec<P>; 2]> {
            let (x, y, g) = (wide::<P, T>(x)?, y.map(wide::<P, T>).transpose()?, wide::<P, T>(g)?);
            let [dx, dy] = adjoint::<R, T, N, AT>(order, &x, y.as_deref(), &g)?;
            Ok([wide(dx)?, wide(dy)?])
        }
        if is_single::<P>() { of::<R, P, f32, N, AT>(order, x, y, g) } else { of::<R, P, f64, N, AT>(order, x, y, g) }
    }

    /// The gradients of the operands and of `g`, as far as the reducer's gradients of the operands move with them: each operand comes with the
    /// gradient that came back to its gradient.
    fn curvatures<R: Reducer<N>, P: Float, const N: usize, const AT: usize>(
        order: &Order,
        x: [Vec<P>; 2],
        y: Option<[Vec<P>; 2]>,
        g: Vec<P>,
    ) -> Result<([Vec<P>; 2], Vec<P>)> {
        fn of<R: Reducer<N>, P: Float, T: MachineFloat + Dtype, const N: usize, const AT: usize>(
            order: &Order,
            x: [Vec<P>; 2],
            y: Option<[Vec<P>; 2]>,
            g: Vec<P>,
        ) -> Result<([Vec<P>; 2], Vec<P>)> {
            let moving = |[x, along]: [Vec<P>; 2]| {
                listed(x.into_iter().zip(along).map(|(x, along)| Dual::new(x.cast::<T>(), along.cast::<T>())))
            };
            let (x, y) = (moving(x)?, y.map(moving).transpose()?);
            let g = listed(g.into_iter().map(|g| Dual::constant(g.cast::<T>())))?;
            let tangents = |of: Vec<Dual<T>>| listed(of.into_iter().map(|of| of.tangent.cast::<P>()));
            let [dx, dy] = adjoint::<R, Dual<T>, N, AT>(order, &x, y.as_deref(), &g)?;
            let results = results::<R, Dual<T>, N, AT>(order, &x, y.as_deref(), g.len())?;
            Ok(([tangents(dx)?, tangents(dy)?], tangents(results)?))
        }
        if is_single::<P>() { of::<R, P, f32, N, AT>(order, x, y, g) } else { of::<R, P, f64, N, AT>(order, x, y, g) }
    }

    /// What the reducer gives.
    fn results<R: Reducer<N>, T: MachineFloat, const N: usize, const AT: usize>(
        order: &Order,
        x: &[T],
        y: Option<&[T]>,
        count: usize,
    ) -> Result<Vec<T>> {
        let mut out = filled(T::zero(), count)?;
        let lanes = if order.scans { x.len().checked_div(order.len).unwrap_or(0) } else { count };
        for lane in 0..lanes {
            let [places, of_results] = order.lane(lane);
            let out = &mut out[of_results];
            let mut state = R::start::<T>();
            for (at, place) in places.enumerate() {
                state = R::step(state, [Number(x[place]), Number(y.map_or(T::zero(), |y| y[place]))]);
                if order.scans {
                    out[at] = R::Results::pick(R::finish(state), AT).0;
                }
            }
            if !order.scans {
                out[0] = R::Results::pick(R::finish(state), AT).0;
            }
        }
        Ok(out)
    }

    /// The gradients of the operands, lane by lane.
    fn adjoint<R: Reducer<N>, T: MachineFloat, const N: usize, const AT: usize>(
        order: &Order,
        x: &[T],
        y: Option<&[T]>,
        g: &[T],
    ) -> Result<[Vec<T>; 2]> {
        let mut dx = filled(T::zero(), x.len())?;
        let mut dy = filled(T::zero(), y.map_or(0, <[T]>::len))?;
        let mut states: Vec<[T; N]> = room(order.len)?;
        for lane in 0..x.len().checked_div(order.len).unwrap_or(0) {
            let [places, of_results] = order.lane(lane);
            let y = y.map(|y| &y[places.clone()]);
            let dy = dy.get_mut(places.clone()).unwrap_or_default();
            let g = (&g[of_results], order.scans);
            of_lane::<R, T, N, AT>(&x[places.clone()], y, g, (&mut dx[places], dy), &mut states);
        }
        Ok([dx, dy])
    }

    fn of_lane<R: Reducer<N>, T: MachineFloat, const N: usize, const AT: usize>(
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
