//! Products of matrices, convolutions, pooling and attention.

use super::{Lying, On, Recorded, fill_operand, has_gradients, operand};
use crate::device::call::*;
use crate::device::{Backend, Device};
use crate::dtype::{Castable as _, Compute as _, Dtype, Element};
use crate::error::Result;
use crate::grad::pull::ways::{of_primitive, way_of_product};
use crate::grad::pull::{Convolving, of_convolution};
use crate::grad::rule::Rule;
use crate::grad::tape::{Extent, Layout, Node, Step, Tape, Tracked};
use crate::grad::taped::{Taped, inside};
use crate::layout::dims::Dims;
use crate::layout::strides::row_major;
use crate::ops::kernel::{Map1, Slope};
use crate::ops::reduce::Reducer;
use crate::ops::slope::{Derived, OfBinary};
use crate::storage::View;

impl<E: Dtype, K: Map1<E, E>> Recorded for Product<'static, (), E, K> {
    fn record<D: Device>(call: Product<'_, On<D>, E, K>, tape: Tape) -> Result<On<D>> {
        let Product { kernel, a, b, added, .. } = call;
        let rank = a.sizes.len();
        let mut sizes = Dims::known(a.sizes);
        sizes[rank - 1] = b.sizes[rank - 1];
        let strides = sizes.row_major();
        let result = D::matmul::<E>(inside(a), inside(b), None)?;
        let mut result = if a.buffer.is_tracked() || b.buffer.is_tracked() {
            Tracked::of(result, product::<E, D>(&a, &b, (E::DTYPE, &sizes, &strides), tape)?)
        } else {
            Tracked::constant(result)
        };
        if let Some(crate::ops::arguments::Added { input, beta, alpha }) = added {
            // `beta * input + alpha * product`, by rows.
            let product = View::<_, E>::new(&result, 0, &sizes, &strides);
            let scaled = Taped::<D>::map1::<E, E>(scaling::<E>(alpha), product, &strides)?;
            result = match input {
                None => scaled,
                Some(input) => {
                    let more = Taped::<D>::map1::<E, E>(scaling::<E>(beta), input, &strides)?;
                    let [one, other] = [&scaled, &more].map(|of| View::<_, E>::new(of, 0, &sizes, &strides));
                    Taped::<D>::map2::<E, E, E>(
                        crate::ops::kernel::Combining::<crate::ops::add, E>::new(),
                        one,
                        other,
                        &strides,
                    )?
                }
            };
        }
        match kernel {
            None => Ok(result),
            Some(kernel) => Taped::<D>::map1::<E, E>(kernel, View::new(&result, 0, &sizes, &strides), &strides),
        }
    }
}
/// The step of a product. The way back reads each factor for the gradient of the other.
#[inline(never)]
fn product<E: Element, D: Device>(
    a: &View<'_, On<D>, E>,
    b: &View<'_, On<D>, E>,
    (dtype, sizes, strides): Lying<'_>,
    tape: Tape,
) -> Result<Node<D::Storage>> {
    let pull = way_of_product::<E, D>(dtype);
    tape.push_filled("matmul", Extent::of(dtype, sizes), Step::blank_product(), pull, |rule| {
        let Rule::Product { x: [left, right], layout } = rule else { return Ok(0) };
        layout.put(dtype, sizes, strides);
        fill_operand::<E, D>(a, dtype, b.buffer.is_tracked(), left)?;
        fill_operand::<E, D>(b, dtype, a.buffer.is_tracked(), right)?;
        Ok(left.number().max(right.number()))
    })
}
fn scaling<E: Dtype>(factor: E::Compute) -> Scaled<E::Compute> {
    Scaled(factor)
}
/// `factor * x`
#[derive(Clone, Copy)]
struct Scaled<C>(C);
impl<E: Dtype> Map1<E, E> for Scaled<E::Compute> {
    const SLOPE: Slope = Derived::<OfBinary<crate::ops::mul>, E>::BESIDE_RIGHT;
    fn constants(self) -> crate::ops::slope::Constants {
        [self.0.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: E) -> E {
        E::from_compute(x.to_compute().binary::<crate::ops::mul>(self.0))
    }
    fn text(
        &self,
        kernel: &mut crate::ops::record::kernel::Kernel,
        x: crate::ops::record::kernel::Value,
    ) -> crate::ops::record::kernel::Value {
        let factor = kernel.parameter(self.0);
        let x = kernel.widen(x);
        kernel.rounded("mul", E::DTYPE, &[x, factor])
    }
}
/// A packed weight on a tape is a copy (see `Pack`).
impl<E: Dtype, K: Map1<E, E>> Recorded for ProductByPacked<'static, (), E, K> {
    fn record<D: Device>(call: ProductByPacked<'_, On<D>, E, K>, _: Tape) -> Result<On<D>> {
        crate::device::product_with_copy::<Taped<D>, E, K>(call.kernel, call.x, call.weight, call.bias)
    }
}
impl<E: Dtype> Recorded for ProductOfBytes<'static, (), E> {
    fn record<D: Device>(call: ProductOfBytes<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        D::int_mm(inside(call.a), inside(call.b)).map(Tracked::constant)
    }
}
impl<E: Dtype, K: Map1<E, E>> Recorded for Convolve<'static, (), E, K> {
    fn record<D: Device>(call: Convolve<'_, On<D>, E, K>, tape: Tape) -> Result<On<D>> {
        let Convolve { kernel, is_packed, convolution, sizes, strides, x, weight, bias, .. } = call;
        // (A packed weight on a tape is a copy: see `Pack`.)
        let own = row_major(weight.sizes);
        let weight = if is_packed { View::new(weight.buffer, 0, weight.sizes, &own) } else { weight };
        let result = D::convolve::<E>(convolution, inside(x), inside(weight), bias.map(inside), sizes, strides)?;
        let result = if has_gradients(E::DTYPE) {
            let layout = Layout::of::<E>(sizes, strides);
            let mut operands = vec![
                operand::<E, D>(&x, weight.buffer.is_tracked())?,
                operand::<E, D>(&weight, x.buffer.is_tracked())?,
            ];
            if let Some(bias) = &bias {
                operands.push(operand::<E, D>(bias, false)?);
            }
            let pull = of_convolution::<E, D>(E::DTYPE);
            let way_back = Convolving::<D> { convolution: *convolution, operands, layout, pull };
            tape.push("convolution", result, layout, Rule::Primitive(Box::new(way_back)), of_primitive::<D>)?
        } else {
            Tracked::constant(result)
        };
        match kernel {
            None => Ok(result),
            Some(kernel) => Taped::<D>::map1::<E, E>(kernel, View::new(&result, 0, sizes, strides), strides),
        }
    }
}
/// On a tape a packed weight is a row-major copy.
impl<E: Dtype> Recorded for Pack<'static, (), E> {
    fn record<D: Device>(call: Pack<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        crate::device::weight_copied::<Taped<D>, E>(call.weight)
    }
}
/// Pooling is done by other calls.
impl<A: Element, R: Reducer<A>> Recorded for Pool<'static, (), A, R> {
    fn record<D: Device>(_: Pool<'_, On<D>, A, R>, _: Tape) -> Result<Option<On<D>>> {
        Ok(None)
    }
}
impl<E: Dtype> Recorded for Attend<'static, (), E> {
    fn record<D: Device>(call: Attend<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        crate::composite::nn::attention_back::record::<E, D>(&call.attention, tape)
    }
}
