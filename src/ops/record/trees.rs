//! Compares expressions with the host's: each tree of kernels is one compiled kernel.

use super::kernel::Operand;
use super::suite::Suite;
use crate::dtype::scalar::{Dimensioned, ScalarKind};
use crate::dtype::{Castable, Complex, Dtype, Element, bf16, f16};
use crate::ops;
use crate::ops::expression::{Expression, Leaf, Mapped1, Mapped2, Mapped3, Splat};
use crate::ops::kernel::*;
use crate::ops::pointwise::Lerping;

fn leaf<E: Element>(operand: &Operand) -> Leaf<E> {
    Leaf::new(operand.address as usize as *const E, operand.strides)
}
fn one<K: Map1<X::Elem, O>, X: Expression, O: Element>(kernel: K, x: X) -> Mapped1<K, X, O> {
    Mapped1::new(kernel, x)
}
fn two<Op: ops::BinaryOp, P: Dtype, X: Expression<Elem: Dtype>, Y: Expression<Elem: Dtype>>(
    _: Op,
    _: core::marker::PhantomData<P>,
    x: X,
    y: Y,
) -> Mapped2<Combining<Op, P>, X, Y, Op::Output<P>> {
    Mapped2::new(Combining::new(), x, y)
}
/// The dtype that operands promote to.
fn to<P>() -> core::marker::PhantomData<P> {
    core::marker::PhantomData
}
/// `exp(a * 2 + b)`
fn first<A: Dtype, B: Dtype, P: Dtype>(operands: &[Operand]) -> impl Expression<Elem = P::Inexact> + use<A, B, P> {
    let factor: ComputeOf<ops::mul, A> = Castable::from_i32(2);
    let scaled: Mapped1<_, _, A> = one(CombiningScalar::<ops::mul, A>(factor), leaf::<A>(&operands[0]));
    let sum = two(ops::add {}, to::<P>(), scaled, leaf::<B>(&operands[1]));
    one(Applying::<ops::exp>::new(), sum)
}

/// `trees! { suite; "name" [a: f32] => … }`: a tree over leaves of these dtypes.
macro_rules! trees {
    ($suite:ident; $($name:literal [$($x:ident: $ty:ty),*] => $tree:expr;)*) => {$(
        $suite.tree($name, &[$(<$ty as Element>::DTYPE),*], |operands| {
            let mut operands = operands.iter();
            $(let $x = leaf::<$ty>(operands.next().unwrap());)*
            $tree
        });
    )*};
}
macro_rules! firsts {
    ($suite:ident; $($a:ty, $b:ty => $p:ty;)*) => {$(
        $suite.tree("first", &[<$a as Element>::DTYPE, <$b as Element>::DTYPE], first::<$a, $b, $p>);
    )*};
}

#[test]
fn compiled_expressions_give_the_bits_of_the_host() {
    let mut suite = Suite::default();
    firsts! { suite;
        f32, f32 => f32;
        f16, f16 => f16;
        bf16, f32 => f32;
        i32, f32 => f32;
        i64, i64 => i64;
        f64, f64 => f64;
        Complex<f32>, Complex<f32> => Complex<f32>;
        Complex<f16>, f32 => Complex<f32>;
    }
    trees! { suite;
        "where" [a: f32, b: f32] => {
            let condition = two(ops::gt {}, to::<f32>(), a, b);
            let yes = two(ops::mul {}, to::<f32>(), one::<_, _, f32>(Applying::<ops::sigmoid>::new(), a), b);
            let no = two(ops::floor_divide {}, to::<f32>(), a, b);
            Mapped3::<_, _, _, _, f64>::new(Choosing, condition, yes, no)
        };
        "compare" [a: f16, b: f64] => one::<_, _, f16>(Casting, two(ops::lt {}, to::<f64>(), a, b));
        "mixed" [a: u8, b: i16] => two(ops::add {}, to::<i16>(), a, b);
        "tanh" [a: f16] => two(ops::mul {}, to::<f16>(), one::<_, _, f16>(Applying::<ops::tanh>::new(), a), a);
        "chain" [a: f32] => one::<_, _, bf16>(Casting, one::<_, _, u8>(Casting, one::<_, _, f16>(Casting, a)));
        "splat" [a: bf16] => two(ops::maximum {}, to::<bf16>(), a, Splat(bf16::from_f32(0.5)));
        "root" [a: i32] => one::<_, _, Complex<f64>>(Applying::<ops::sqrt>::new(), a);
        "shift" [a: u8, b: u8] => two(ops::bitwise_left_shift {}, to::<u8>(), a, b);
        "power" [a: f16] => one::<_, _, f16>(CombiningScalar::<ops::pow, f16>(1.5), a);
        "ratio" [a: Complex<f64>, b: Complex<f32>] => two(ops::div {}, to::<Complex<f64>>(), a, b);
        "exact" [a: bf16, b: f32] => {
            Mapped2::<_, _, _, bf16>::new(CombiningKinds::<ops::div, bf16, Dimensioned, ScalarKind>::new(), a, b)
        };
        "elu" [a: f16] => one::<_, _, f32>(Tuning::<ops::elu, f16>([0.3, 0.0, 0.0]), a);
        "blend" [a: f32, b: f32, c: f32] => Mapped3::<_, _, _, _, f32>::new(Lerping, a, b, two(ops::mul {}, to::<f32>(), c, c));
        "left" [a: i64] => one::<_, _, f32>(CombiningLeft::<ops::div, i64>(5.0), a);
        "four" [a: u8, b: f16, c: i64, d: f64] => {
            let low = two(ops::add {}, to::<f16>(), a, b);
            let high = two(ops::sub {}, to::<f64>(), c, d);
            two(ops::mul {}, to::<f64>(), low, high)
        };
    }
    trees! { suite; "floor" [a: i64, b: i64] => two(ops::floor_divide {}, to::<i64>(), a, b); }
    suite.without_zeros(true);
    trees! { suite; "rest" [a: i8, b: i16] => two(ops::remainder {}, to::<i16>(), a, b); }
    suite.without_zeros(true);
    let product =
        |operands: &[Operand]| two(ops::mul {}, to::<f32>(), leaf::<f16>(&operands[0]), leaf::<f32>(&operands[1]));
    let dtypes = [f16::DTYPE, f32::DTYPE];
    suite.update::<_, _, f32>("update", Combining::<ops::add, f32>::new(), &dtypes, product);
    suite.update::<_, _, f16>("update", Combining::<ops::add, f32>::new(), &dtypes, product);
    suite.run_all();
}
