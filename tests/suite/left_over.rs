//! Remainders of float divisions: exact, whatever the quotient, the number of elements and the layout.

use castiron::{Dyn, Tensor};

type Vector<E> = Tensor<E, (Dyn,)>;

/// Lengths around those of blocks that are checked at once.
const LENGTHS: [usize; 7] = [0, 1, 7, 511, 512, 513, 1030];

/// For `f32`, the formulas are compared with Rust's `%`, which is exact.
macro_rules! of {
    ($module:ident $ty:ident) => {
        mod $module {
            use super::{LENGTHS, Vector};

            /// Numbers of all sizes; few of them have large quotients if `tame`.
            fn numbers(seed: u64, len: usize, tame: bool) -> Vec<$ty> {
                let mut state = seed;
                let mut roll = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state >> 33
                };
                let edges = [0.0, -0.0, 1.0, -2.0, <$ty>::MAX, <$ty>::MIN_POSITIVE, <$ty>::INFINITY, <$ty>::NAN, 3.0 * <$ty>::from_bits(1)];
                let next = |_| {
                    let x = (roll() as $ty / 1e8 - 10.0) as $ty;
                    match roll() % 8 {
                        0 if !tame => edges[roll() as usize % edges.len()],
                        1 if !tame => x * (2.0 as $ty).powi(roll() as i32 % 200 - 100),
                        2 => x.round(),
                        _ => x,
                    }
                };
                (0..len).map(next).collect()
            }

            fn remainder(a: $ty, b: $ty) -> $ty {
                let left = a % b;
                if left != 0.0 && (left < 0.0) != (b < 0.0) { left + b } else { left }
            }
            fn floor_divide(a: $ty, b: $ty) -> $ty {
                if b == 0.0 {
                    return a / b;
                }
                let left = a % b;
                let mut quotient = (a - left) / b;
                if left != 0.0 && (left < 0.0) != (b < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return (0.0 as $ty).copysign(a / b);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }
            fn fmod(a: $ty, b: $ty) -> $ty {
                a % b
            }

            fn same(got: &[$ty], want: impl Iterator<Item = $ty>, what: &str) {
                let want: Vec<$ty> = want.collect();
                assert_eq!(got.len(), want.len());
                for (at, (got, want)) in got.iter().zip(&want).enumerate() {
                    let agree = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
                    assert!(agree, "{what}: {got:?} at {at}, not {want:?}");
                }
            }

            macro_rules! check {
                ($op:ident $in_place:ident $a:expr, $b:expr) => {{
                    let (a, b): (&[$ty], &[$ty]) = ($a, $b);
                    let (x, y): (Vector<$ty>, Vector<$ty>) = (a.to_vec().into(), b.to_vec().into());
                    let want = || a.iter().zip(b).map(|(&a, &b)| $op(a, b));
                    same(&x.$op(&y).to_vec(), want(), stringify!($op));
                    let mut z = x.clone();
                    z.$in_place(&y);
                    same(&z.to_vec(), want(), stringify!($in_place));
                    for scalar in [0.7, -3.0, 1e-30] {
                        let of = |a: &$ty| $op(*a, scalar as $ty);
                        same(&x.$op(scalar as $ty).to_vec(), a.iter().map(of), "by a scalar");
                    }
                    // every other element
                    let view = x.slice(castiron::s![::2]).to_vec();
                    let other: Vector<$ty> = b[..view.len()].to_vec().into();
                    let got = x.slice(castiron::s![::2]).$op(&other).to_vec();
                    same(&got, view.iter().zip(b).map(|(&a, &b)| $op(a, b)), "of a slice");
                }};
            }

            #[test]
            fn it_is_exact() {
                for len in LENGTHS {
                    for tame in [true, false] {
                        let (a, b) = (numbers(1, len, tame), numbers(2, len, tame));
                        check!(remainder remainder_ &a, &b);
                        check!(fmod fmod_ &a, &b);
                        check!(floor_divide floor_divide_ &a, &b);
                    }
                }
            }

            /// The neighbours of a number.
            #[test]
            fn neighbours_are_rusts() {
                let (a, b) = (numbers(3, 700, false), numbers(4, 700, false));
                let (x, y): (Vector<$ty>, Vector<$ty>) = (a.clone().into(), b.clone().into());
                let next = |(&a, &b): (&$ty, &$ty)| {
                    if a.is_nan() || b.is_nan() {
                        <$ty>::NAN
                    } else if a == b {
                        b
                    } else if b > a {
                        a.next_up()
                    } else {
                        a.next_down()
                    }
                };
                same(&x.nextafter(&y).to_vec(), a.iter().zip(&b).map(next), "nextafter");
            }
        }
    };
}
of! { single f32 }
of! { double f64 }

#[test]
fn integers_of_64_bits_divide_exactly() {
    let edges = [i64::MIN, i64::MIN + 1, -1 << 32, -4_000_000_000, -7, -1, 1, 2, 7, 4_294_967_296, 1 << 53, i64::MAX];
    let pairs = || edges.into_iter().chain([0]).flat_map(|a| edges.into_iter().map(move |b| (a, b)));
    let (x, y): (Vector<i64>, Vector<i64>) =
        (pairs().map(|pair| pair.0).collect::<Vec<_>>().into(), pairs().map(|pair| pair.1).collect::<Vec<_>>().into());
    let want: Vec<i64> = pairs().map(|(a, b)| a.wrapping_rem(b)).collect();
    assert_eq!(x.fmod(&y).to_vec(), want);
    let want: Vec<i64> = pairs().map(|(a, b)| a.wrapping_div(b)).collect();
    assert_eq!(x.trunc_divide(&y).to_vec(), want);
    let below = |a: i64, b: i64| a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
    let want: Vec<i64> = pairs().map(|(a, b)| a.wrapping_div(b) - i64::from(below(a, b))).collect();
    assert_eq!(x.floor_divide(&y).to_vec(), want);
    let want: Vec<i64> = pairs().map(|(a, b)| a.wrapping_rem(b) + if below(a, b) { b } else { 0 }).collect();
    assert_eq!(x.remainder(&y).to_vec(), want);
}

/// A scalar exponent is the exponent of each element.
#[test]
fn powers_by_a_scalar_are_powers() {
    let x: Vector<f64> = (0..1100).map(|i| f64::from(i) / 37.0).collect::<Vec<_>>().into();
    for exponent in [1.7, -3.5, 4.0, 100.0] {
        let each: Vector<f64> = vec![exponent; 1100].into();
        let bits = |x: Vec<f64>| x.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(x.pow(exponent).to_vec()), bits(x.pow(&each).to_vec()), "{exponent}");
    }
    assert_eq!(x.pow(2.0).to_vec(), x.square().to_vec());
    assert_eq!(x.pow(-0.5).to_vec()[1..], x.rsqrt().to_vec()[1..]);
}
