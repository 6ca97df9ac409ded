//! Formulas that were drawn at random, beside the same expression of one element in plain Rust; gradients beside differences. Operands are
//! strided and broadcast.

// (Drawn: some subtract what they have from itself.)
#![allow(clippy::eq_op)]

use super::{Gives, On};
use castiron::{Device, Dtype, Tensor, shape};
use core::ops::{Add, Div, Mul, Sub};

/// One number, as a formula sees it.
#[derive(Clone, Copy)]
struct Plain<T>(T);
macro_rules! plain {
    ($($ty:ident from $constant:ident: $add:ident $sub:ident $mul:ident;)*) => {$(
        impl From<$constant> for Plain<$ty> {
            fn from(value: $constant) -> Self {
                Plain(value as $ty)
            }
        }
        plain! { @operators $ty: Add add |a, b| a.$add(b); Sub sub |a, b| a.$sub(b); Mul mul |a, b| a.$mul(b); }
        impl Plain<$ty> {
            fn minimum(self, other: impl Into<Self>) -> Self {
                let other = other.into();
                if other.0 < self.0 { other } else { self }
            }
            fn maximum(self, other: impl Into<Self>) -> Self {
                let other = other.into();
                if other.0 > self.0 { other } else { self }
            }
            fn lt(self, other: impl Into<Self>) -> bool {
                self.0 < other.into().0
            }
            fn square(self) -> Self {
                self * self
            }
        }
    )*};
    (@operators $ty:ident: $($trait:ident $method:ident |$a:ident, $b:ident| $value:expr;)*) => {$(
        impl<R: Into<Plain<$ty>>> $trait<R> for Plain<$ty> {
            type Output = Self;
            fn $method(self, other: R) -> Self {
                let ($a, $b) = (self.0, other.into().0);
                Plain($value)
            }
        }
    )*};
}
plain! {
    f32 from f64: add sub mul;
    f64 from f64: add sub mul;
    i32 from i32: wrapping_add wrapping_sub wrapping_mul;
    i64 from i32: wrapping_add wrapping_sub wrapping_mul;
}
macro_rules! plain_functions {
    (floats $($ty:ident)*) => {$(
        impl<R: Into<Plain<$ty>>> Div<R> for Plain<$ty> {
            type Output = Self;
            fn div(self, other: R) -> Self {
                Plain(self.0 / other.into().0)
            }
        }
        impl Plain<$ty> {
            fn tanh(self) -> Self {
                Plain(self.0.tanh())
            }
            fn sigmoid(self) -> Self {
                Plain(1.0 / (1.0 + (-self.0).exp()))
            }
            fn abs(self) -> Self {
                Plain(self.0.abs())
            }
        }
    )*};
    (integers $($ty:ident)*) => {$(
        impl Plain<$ty> {
            fn abs(self) -> Self {
                Plain(self.0.wrapping_abs())
            }
        }
    )*};
}
plain_functions! { floats f32 f64 }
plain_functions! { integers i32 i64 }
fn select<T>(mask: bool, yes: Plain<T>, no: impl Into<Plain<T>>) -> Plain<T> {
    if mask { yes } else { no.into() }
}

/// One number of each operand.
type Of<T> = fn(T, T, T) -> T;
/// Applies a formula to operands: one of columns, one row, one column.
macro_rules! drawn {
    ($set:ident ($x:ident, $y:ident, $z:ident) $given:ident, $check:ident: $one:ident $two:ident; $($name:ident: $body:expr;)*) => {
        mod $given {
            use castiron::formula;
            $(#[formula]
            pub fn $name<F: $set>($x: F, $y: F, $z: F) -> F {
                $body
            })*
        }
        pub fn $check<D: Device>() {
            drawn! { @check D $one $given ($x, $y, $z) $($name: $body;)* }
            drawn! { @check D $two $given ($x, $y, $z) $($name: $body;)* }
        }
    };
    (@check $D:ident $ty:ident $given:ident ($x:ident, $y:ident, $z:ident) $($name:ident: $body:expr;)*) => {{
                let (x, y, z) = operands::<$ty>();
                let all: Vec<(&str, Vec<$ty>, Of<$ty>)> = vec![$((
                    stringify!($name),
                    x.on::<$D>().t().apply($given::$name, (&y.on::<$D>(), z.on::<$D>())).elements(),
                    |$x, $y, $z| {
                        let ($x, $y, $z) = (Plain($x), Plain($y), Plain($z));
                        ($body).0
                    },
                )),*];
                for (name, found, alone) in all {
                    for (at, found) in found.into_iter().enumerate() {
                        let (row, column) = (at / 6, at % 6);
                        let expected = alone(x.to_vec()[column * 4 + row], y.to_vec()[column], z.to_vec()[row]);
                        assert!(is_near(found, expected), "{name} of {}: {found}, not {expected}", stringify!($ty));
                    }
                }
    }};
}
/// A matrix, a row and a column of numbers that are no multiples of each other.
type Operands<E> = (Tensor<E, shape![6, 4]>, Tensor<E, shape![6]>, Tensor<E, shape![4, 1]>);
fn operands<E: castiron::Real>() -> Operands<E> {
    let number =
        |at: usize| E::from_f64(((at * 37 + 11) % 61) as f64 / if is_whole::<E>() { 0.0131 } else { 20.3 } - 1.6);
    (
        Tensor::from_fn(|[row, column]: [usize; 2]| number(row * 4 + column)),
        Tensor::from_fn(|[at]: [usize; 1]| number(at + 30)),
        Tensor::from_fn(|[row, _]: [usize; 2]| number(row * 5 + 43)),
    )
}
fn is_whole<E: Dtype>() -> bool {
    !E::DTYPE.is_floating_point()
}
fn is_near<E: castiron::Real>(a: E, b: E) -> bool {
    let digits = match E::DTYPE.itemsize() {
        _ if is_whole::<E>() => 0.0,
        8 => 1e-12,
        _ => 2e-5,
    };
    a == b || (a.to_f64() - b.to_f64()).abs() <= digits * (1.0 + b.to_f64().abs())
}
drawn! { Float (x, y, z) of_floats, drawn_formulas_of_floats: f32 f64;
    f0: ((x + y) * select(x.lt(z), y, z)) - (x + x).maximum(y - x);
    f1: ((y - z) + (y * x)) * ((z + 2.0) * (x + z));
    f2: ((x - 2.0) - (x + x)) + ((x * y) + (z - x));
    f3: (x.minimum(x) + (y - y)) - select((y + 0.5).lt(z.abs()), x.minimum(z), x + z);
    f4: ((y - z) / ((y + 2.0).square() + 1.0)).maximum((x / (y.square() + 1.0)) - (y + 1.25));
    f5: ((z + z) + (y * x)).minimum(y.square().maximum(z.sigmoid()));
    f6: (select(z.lt(z), x, y) - z.abs()) / (((z + x) * y.tanh()).square() + 1.0);
    f7: ((x + x) * y.minimum(x)) - (select(x.lt(y), z, x) * (y + z));
    f8: (x * y).tanh().minimum(z.minimum(x) + (y / (z.square() + 1.0)));
    f9: (x * z).minimum(x + x) + (z.maximum(y) * (x / (x.square() + 1.0)));
    f10: (y.tanh() + (y + y)) + (z.tanh() * x.minimum(y));
    f11: select(select(x.lt(x), z, 2.0).lt(y + 1.25), y.maximum(y), x * 2.0) * (select(y.lt(z), x, 1.25) * (y - z));
    f12: ((y * y) - (x + z)).tanh();
    f13: ((y / (y.square() + 1.0)) / ((x / (z.square() + 1.0)).square() + 1.0)).tanh();
}
drawn! { Integer (x, y, z) of_integers, drawn_formulas_of_integers: i32 i64;
    i0: (z.square() + (z + x)) * ((y * x) - (y - y));
    i1: ((x * z) - (z - 3)).maximum(select(z.lt(x), y, z) - (z + x));
    i2: (y.minimum(y) * (z * z)) * (z.minimum(3) + x.square());
    i3: ((z - x) + z.square()) - ((z + y) - select(x.lt(x), z, z));
    i4: ((y + x) + (z + y)).minimum(y.square().square());
    i5: ((y - 3) - x.minimum(z)) - (z * y).square();
    i6: (z - z).minimum(x.square()) - select((z * z).lt(z.square()), z.maximum(z), z - y);
    i7: (y.minimum(y) - (z * z)) - (y.abs() * x.abs());
}

/// By each operand, as the difference of sums beside it; where the slopes on both sides differ there is a corner.
#[cfg(feature = "grad")]
macro_rules! gradients {
    ($($name:ident)*) => {
        pub fn drawn_formulas_have_gradients<D: Device>() {
            use castiron::grad::Grad;
            let (x, y, z) = operands::<f64>();
            let (x, y, z) = (x.on::<D>(), y.on::<D>(), z.on::<D>());
            let mut corners = 0;
            $({
                let own = (x.clone(), y.clone(), z.clone()).value_and_grad((), |(x, y, z), ()| x.t().apply(of_floats::$name, (y, z)).sum()).1;
                let of = |x: &Tensor<f64, shape![6, 4], D>, y: &Tensor<f64, shape![6], D>, z: &Tensor<f64, shape![4, 1], D>| {
                    x.t().apply(of_floats::$name, (y, z)).sum().elements()[0]
                };
                let mut check = |found: f64, moved: &dyn Fn(f64) -> f64| {
                    let (before, at, after) = (moved(-1e-6), moved(0.0), moved(1e-6));
                    let [left, right] = [(at - before) * 1e6, (after - at) * 1e6];
                    if (left - right).abs() > 1e-3 * (1.0 + left.abs()) {
                        corners += 1;
                    } else {
                        let between = (left + right) / 2.0;
                        let is_near = (found - between).abs() <= 1e-6 * (1.0 + between.abs());
                        assert!(is_near, "{}: {found}, not {between}", stringify!($name));
                    }
                };
                for at in [[0, 1], [3, 2], [5, 0]] {
                    let along = |by: f64| Tensor::<f64, shape![6, 4]>::from_fn(|of| if of == at { by } else { 0.0 }).on::<D>();
                    check(own.0.elements()[at[0] * 4 + at[1]], &|by| of(&(&x + along(by)), &y, &z));
                    let along = |by: f64| Tensor::<f64, shape![6]>::from_fn(|[of]| if of == at[0] { by } else { 0.0 }).on::<D>();
                    check(own.1.elements()[at[0]], &|by| of(&x, &(&y + along(by)), &z));
                    let along = |by: f64| Tensor::<f64, shape![4, 1]>::from_fn(|[of, _]| if of == at[1] { by } else { 0.0 }).on::<D>();
                    check(own.2.elements()[at[1]], &|by| of(&x, &y, &(&z + along(by))));
                }
            })*
            assert!(corners < 6, "{corners}");
        }
    };
}
#[cfg(feature = "grad")]
gradients! { f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 }

pub fn drawn_formulas_have_the_shape_of_all<D: Device>() {
    let (x, y, z) = operands::<f32>();
    assert_eq!(x.on::<D>().t().apply(of_floats::f0, (&y.on::<D>(), z.on::<D>())).shape(), [4, 6]);
}

each_device! {
    also_without_data: drawn_formulas_have_the_shape_of_all;
    with_data: drawn_formulas_of_floats, drawn_formulas_of_integers;
}
