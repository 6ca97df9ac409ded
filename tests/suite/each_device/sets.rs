//! Formulas of one's own of integers, bools, complex numbers and of several sets at once; masks as operands and results. (Those of floats:
//! `formulas.rs`.)

use super::{Gives, On, is_host};
use castiron::{Complex, Device, Dtype, Integer, Shape, Tensor, axis, bf16, formula, fused, shape, tensor};

#[formula(method)]
fn mixed_up<I: Integer>(x: I, key: I) -> I {
    let mut hash = x ^ key;
    for step in 1..4 {
        hash = (hash ^ (hash >> 3)) * (2 * step + 1) + (hash << 2);
    }
    hash & !(key | 1)
}
/// The same of one element.
fn mixed_up_alone(x: i32, key: i32) -> i32 {
    let mut hash = x ^ key;
    for step in 1..4 {
        hash = (hash ^ (hash >> 3)).wrapping_mul(2 * step + 1).wrapping_add(hash << 2);
    }
    hash & !(key | 1)
}
/// Steps to 1, at most 20 (Collatz).
#[formula]
fn steps<I: Integer>(of: I) -> I {
    let (mut x, mut count) = (of, I::from(0));
    for _ in 0..20 {
        let is_done = x.le(1);
        let next = select((x % 2).eq(0), x.trunc_divide(2), 3 * x + 1);
        count += select(is_done, 0, 1);
        x = select(is_done, x, next);
    }
    count
}
#[formula]
fn date<I: Integer>(days: I, of_week: I) -> (I, I) {
    (days.floor_divide(7), (days + of_week) % 7)
}
#[formula]
fn least_of_six<I: Integer>(a: I, b: I, c: I, d: I, e: I, f: I) -> I {
    a.minimum(b).minimum(c).minimum(d.minimum(e.minimum(f)))
}
/// Integers and floats.
#[formula(method)]
fn bowl<R: Real>(x: R, y: R) -> R {
    select(x.lt(y), x * x - 2 * y, (x - y).abs().clamp(1, 50))
}
/// All numbers.
#[formula]
pub fn cube<N: Numeric>(x: N) -> N {
    x * x.square() + 1
}
#[formula]
fn lopsided<B: Bits>(a: B, b: B) -> B {
    a & !b
}
#[formula]
pub fn wave<X: Inexact>(x: X, by: X) -> X {
    (x / by).sin() * 0.5 + cube(x)
}
/// Steps of `z = z * z + c` until `z` is large.
#[formula]
fn julia<C: ComplexFloat>(z: C, c: C) -> C {
    let (mut z, mut count) = (z, C::from(0.0));
    for _ in 0..5 {
        let stays = z.abs().real_lt(2.0);
        count += select(stays, C::complex(1.0, -1.0), 0.0);
        z = select(stays, z * z + c, z);
    }
    count
}
#[formula]
pub fn turned<C: ComplexFloat>(z: C, by: C) -> C {
    z.conj() * by.exp() + z.real() * C::complex(0.0, 1.0) - by.imag() / 2.0
}
#[formula(method)]
fn inside<R: Real>(x: R, low: R, high: R) -> Mask {
    x.ge(low) & x.lt(high)
}
/// A mask of a formula, chosen by, and counted with.
#[formula]
fn kept<R: Real>(x: R, high: R) -> R {
    let is_inside: Mask = inside(x, 0, high);
    select(is_inside ^ x.eq(0), x, -1) + is_inside.into_number()
}
#[formula]
pub fn masked<F: Float>(x: F, keep: Mask, other: F) -> F {
    select(keep, x.exp(), other)
}
#[formula]
fn neither<N: Numeric>(a: Mask, x: N, b: Mask) -> Mask {
    !(a | b) & x.ne(0)
}

/// Generic code has no clause for any of them.
fn everywhere<E: Integer, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    fused!(mixed_up(x, y) + x.bowl(y))
}

pub fn formulas_of_integers<D: Device>() {
    let (x, key) = (tensor![[1, -7, 40], [123_456_789, i32::MIN, 0]; i32], tensor![3, -1, 77; i32]);
    let expected: Vec<i32> = (0..6).map(|at| mixed_up_alone(x.to_vec()[at], key.to_vec()[at % 3])).collect();
    let (x, key) = (x.on::<D>(), key.on::<D>());
    x.mixed_up(&key).gives(&expected);
    x.t().mixed_up(key.unsqueeze(axis![1])).t().gives(&expected);
    let all: Tensor<i32, shape![2, 3], D> = fused!(x.mixed_up(key) + 1 - 1);
    all.gives(&expected);
    let (mut place, mut wide) = (x.clone(), Tensor::<i64, shape![2, 3], D>::zeros());
    place.apply_(mixed_up, &key);
    place.gives(&expected);
    x.apply_into(mixed_up, &key, &mut wide);
    wide.gives(expected.iter().map(|&x| i64::from(x)).collect::<Vec<_>>());
    assert_eq!(everywhere(&x, &x).shape(), [2, 3]);
    // Promotion, and scalars that count by their category.
    let both: Tensor<i64, shape![2, 3], D> = x.apply(mixed_up, &key.to::<i64>());
    assert_eq!(both.shape(), [2, 3]);
    let small: Tensor<u8, shape![3], D> = tensor![200, 3, 9; u8].on::<D>().apply(bowl, 100);
    small.gives([50, 65, 137]);
    tensor![1, 6, 27, 7; i16].on::<D>().apply(steps, ()).gives([0, 8, 20, 16]);
    let (weeks, day) = tensor![-1, 8, 13].on::<D>().apply(date, 3);
    weeks.gives([-1_i64, 1, 1]);
    day.gives([2_i64, 4, 2]);
    x.apply(least_of_six, (&key, 50, 60, 70, 40)).gives([1, -7, 40, 3, i32::MIN, 0]);
    let masks = tensor![true, false, true].on::<D>();
    masks.apply(lopsided, tensor![true, false, false].on::<D>()).gives([false, false, true]);
    key.apply(lopsided, 1).gives([2, -2, 76]);
}

/// A formula of each operation of integers.
macro_rules! of_each_row {
    ($($name:ident)*; $($two:ident)*; $($dividing:ident)*) => {
        mod of_row {
            use castiron::formula;
            $(#[formula]
            pub fn $name<I: Integer>(x: I) -> I {
                x.$name()
            })*
            $(#[formula]
            pub fn $two<I: Integer>(x: I, y: I) -> I {
                x.$two(y)
            })*
            $(#[formula]
            pub fn $dividing<I: Integer>(x: I, y: I) -> I {
                x.$dividing(y)
            })*
        }
        fn each_row<E: Integer, D: Device>(all: &[E]) {
            let count = all.len();
            let table = |of: &dyn Fn(usize, usize) -> E| {
                let all = (0..count * count).map(|at| of(at / count, at % count)).collect();
                Tensor::<E, shape![_, _]>::from_vec_sized(all, [count, count]).on::<D>()
            };
            let (x, y) = (table(&|row, _| all[row]), table(&|_, column| all[column]));
            let divisors = table(&|_, column| if all[column] == E::from_f64(0.0) { E::from_f64(3.0) } else { all[column] });
            let zero = table(&|_, _| E::from_f64(0.0));
            $(assert_eq!(x.apply(of_row::$name, ()).elements(), x.$name().elements(), stringify!($name));)*
            $(assert_eq!(x.apply(of_row::$two, &y).elements(), x.$two(&y).elements(), stringify!($two));)*
            $(
                let own = x.apply(of_row::$dividing, &divisors);
                assert_eq!(own.elements(), x.$dividing(&divisors).elements(), stringify!($dividing));
                assert_eq!(x.apply(of_row::$dividing, &zero).elements(), zero.elements(), stringify!($dividing));
            )*
            let own = (x.apply(lopsided, &y), x.apply(shifted, &y), x.apply(negated, ()));
            assert_eq!(own.0.elements(), (&x & !&y).elements());
            let apart = x.bitwise_left_shift(&y) ^ x.bitwise_right_shift(&y);
            assert_eq!(own.1.elements(), (apart | x.eq(&y).to::<E>()).elements());
            assert_eq!(own.2.elements(), (-&x).elements());
        }
    };
}
of_each_row! {
    abs sign square;
    maximum minimum gcd lcm pow;
    floor_divide trunc_divide remainder fmod
}
#[formula]
fn shifted<I: Integer>(x: I, by: I) -> I {
    ((x << by) ^ (x >> by)) | x.eq(by).into_number()
}
#[formula]
fn negated<I: Integer>(x: I) -> I {
    -x
}
pub fn a_formula_of_integers_gives_the_bits_of_the_rows<D: Device>() {
    each_row::<u8, D>(&[0, 1, 2, 7, 8, 100, 255]);
    each_row::<i8, D>(&[0, 1, 2, -1, -7, 8, i8::MIN, i8::MAX]);
    each_row::<i16, D>(&[0, 1, 5, 16, -1, -300, i16::MIN, i16::MAX]);
    each_row::<i32, D>(&[0, 1, 5, 32, -1, -70_000, i32::MIN, i32::MAX]);
    each_row::<i64, D>(&[0, 1, 5, 64, -1, -5_000_000_000, i64::MIN, i64::MAX]);
}

pub fn formulas_of_several_sets<D: Device>() {
    let x = tensor![-2, 0, 5];
    x.on::<D>().bowl(1).gives([2_i64, -2, 4]);
    x.to::<f32>().on::<D>().bowl(1).gives([2.0_f32, -2.0, 4.0]);
    x.to::<bf16>().on::<D>().bowl(1).gives([2.0, -2.0, 4.0].map(bf16::from_f32));
    let mixed: Tensor<f32, shape![3], D> = x.on::<D>().bowl(0.5);
    mixed.gives([3.0, -1.0, 4.5]);
    x.on::<D>().apply(cube, ()).gives([-7, 1, 126]);
    let z = tensor![1.0 + 2.0j, -0.5j];
    z.on::<D>().apply(cube, ()).gives([Complex::new(-10.0_f32, -2.0), Complex::new(1.0, 0.125)]);
    fn generic<E: castiron::Numeric, D: Device>(x: &Tensor<E, shape![3], D>) -> Tensor<E, shape![3], D> {
        x.apply(cube, ())
    }
    generic(&x.on::<D>()).gives([-7, 1, 126]);
}

fn is_near<E: Dtype + Into<Complex<f64>>>(name: &str, a: Vec<E>, b: Vec<E>) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.into_iter().zip(b) {
        let (a, b): (Complex<f64>, Complex<f64>) = (a.into(), b.into());
        assert!(a == b || (a - b).norm() <= 1e-12 * (1.0 + b.norm()), "{name}: {a}, not {b}");
    }
}
macro_rules! of_each_complex_row {
    ($($name:ident)*) => {
        mod of_complex_row {
            use castiron::formula;
            $(#[formula]
            pub fn $name<C: ComplexFloat>(x: C) -> C {
                x.$name()
            })*
        }
        pub fn formulas_of_complex_numbers<D: Device>() {
            let z = tensor![[1.0 + 2.0j, -0.5j], [-0.25 + 0.25j, 3.0 - 1.0j]; Complex<f64>].on::<D>();
            // (As kernels some rows are longer than the pretend GPU takes.)
            let long = ["log1p", "asin", "acos", "asinh", "acosh"];
            $(if is_host::<D>() || !long.contains(&stringify!($name)) {
                is_near(stringify!($name), z.apply(of_complex_row::$name, ()).elements(), z.$name().elements());
            })*
            let by = tensor![0.5 + 1.0j, 2.0j; Complex<f64>].on::<D>();
            if is_host::<D>() {
                is_near("pow", z.apply(raised, &by).elements(), z.pow(&by).elements());
            }
            let parts = |of: &Tensor<f64, shape![2, 2], D>| of.to::<Complex<f64>>();
            let by_hand = z.conj() * by.exp() + parts(&z.real()) * Complex::new(0.0, 1.0) - by.imag().to::<Complex<f64>>() / 2.0;
            is_near("turned", z.apply(turned, &by).elements(), by_hand.elements());
            is_near("turned", z.t().apply(turned, &by.unsqueeze(axis![1])).t().elements(), by_hand.elements());
            // Scalars and real tensors promote.
            let mixed: Tensor<Complex<f64>, shape![2, 2], D> = z.apply(turned, &by.real());
            assert_eq!(mixed.shape(), [2, 2]);
            let c = tensor![0.25 + 0.5j; Complex<f64>].on::<D>();
            let counts = z.apply(julia, &c).real().elements();
            let alone = |z: Complex<f64>| {
                let (mut z, mut count) = (z, 0.0);
                for _ in 0..5 {
                    if z.norm() < 2.0 {
                        (z, count) = (z * z + Complex::new(0.25, 0.5), count + 1.0);
                    }
                }
                count
            };
            assert_eq!(counts, z.elements().into_iter().map(alone).collect::<Vec<_>>());
            let x = tensor![0.5, -1.0; f64].on::<D>();
            assert_eq!(fused!(wave(x, 2)).elements(), x.apply(wave, 2.0).elements());
            let (as_complex, as_real) = (x.to::<Complex<f64>>().apply(wave, 2), x.apply(wave, 2));
            is_near("wave", as_complex.elements(), as_real.to::<Complex<f64>>().elements());
        }
    };
}
of_each_complex_row! {
    square exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc sigmoid silu conj sgn
}
#[formula]
fn raised<C: ComplexFloat>(z: C, by: C) -> C {
    z.pow(by)
}

pub fn masks_are_operands_and_results<D: Device>() {
    let x = tensor![[-1, 0, 3], [5, 9, 2]].on::<D>();
    let is_in: Tensor<bool, shape![2, 3], D> = x.inside(0, 5);
    is_in.gives([false, true, true, false, false, true]);
    x.to::<f32>().inside(&tensor![0.0, 0.0, 2.5].on::<D>(), 5).gives([false, true, true, false, false, false]);
    let counts: Tensor<i64, (), D> = fused!(x.inside(0, 5).sum());
    counts.gives([3]);
    let other: Tensor<bool, shape![2, 3], D> = fused!(inside(x * 2, 1, 9) & !is_in);
    other.gives([false; 6]);
    x.apply(kept, 5).gives([-1_i64, 0, 4, -1, -1, 3]);
    let y = x.to::<f32>();
    let one = y.apply(masked, (&is_in, 0.5));
    one.gives([0.5, 1.0, 3.0_f32.exp(), 0.5, 0.5, 2.0_f32.exp()]);
    let same = fused!(masked(y, x.inside(0, 5), 0.5));
    assert_eq!(same.elements(), one.elements());
    is_in.apply(neither, (&x, tensor![true, false, false].on::<D>())).gives([false, false, false, false, true, false]);
    is_in.apply(neither, (1.5, false)).gives([true, false, false, true, true, false]);
    // In place a mask is converted, as comparisons are.
    let mut place = y.clone();
    place.apply_(inside, (0, 5));
    place.gives([0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let mut out = Tensor::<bool, shape![2, 3], D>::zeros();
    x.apply_into(inside, (0, 5), &mut out);
    out.gives([false, true, true, false, false, true]);
    let halves = tensor![[1.0, -1.0]; bf16].on::<D>();
    halves.inside(0, 2).gives([true, false]);
}

#[cfg(feature = "grad")]
pub fn formulas_of_several_sets_have_gradients<D: Device>() {
    use castiron::grad::Grad;
    let (x, keep) = (tensor![-1.0, 0.5, 2.0; f64].on::<D>(), tensor![true, false, true].on::<D>());
    let near = |a: Vec<f64>, b: Vec<f64>| {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs())), "{a:?}, not {b:?}")
    };
    let own = x.value_and_grad((), |x, ()| x.apply(cube, ()).sum()).1;
    near(own.elements(), (x.square() * 3).elements());
    let own = x.value_and_grad((&keep,), |x, (keep,)| x.apply(masked, (keep, 0.5)).sum()).1;
    near(own.elements(), (x.exp() * keep.to::<f64>()).elements());
    let own = x.value_and_grad((), |x, ()| fused!(select_inside(x, 0, 5) * x).sum()).1;
    near(own.elements(), vec![0.0, 1.0, 1.0]);
    // Of complex numbers: as operations have them.
    let z = tensor![1.0 + 2.0j, -0.5j, 0.25 - 0.5j; Complex<f64>].on::<D>();
    let by = tensor![0.5 + 1.0j, 2.0j, 1.0; Complex<f64>].on::<D>();
    let own = z.value_and_grad((&by,), |z, (by,)| z.apply(turned, by).abs().sum()).1;
    let apart = z.value_and_grad((&by,), |z, (by,)| {
        let turned = z.conj() * by.exp() + z.real().to::<Complex<f64>>() * Complex::new(0.0, 1.0);
        (turned - by.imag().to::<Complex<f64>>() / 2.0).abs().sum()
    });
    let parts = |z: Vec<Complex<f64>>| z.into_iter().flat_map(|z| [z.re, z.im]).collect();
    near(parts(own.elements()), parts(apart.1.elements()));
    let own = z.value_and_grad((), |z, ()| z.apply(cube, ()).abs().sum()).1;
    let apart = z.value_and_grad((), |z, ()| (z * z.square() + 1).abs().sum()).1;
    near(parts(own.elements()), parts(apart.elements()));
    if is_host::<D>() {
        let own = z.value_and_grad((&by,), |z, (by,)| z.apply(wave, by).abs().sum()).1;
        let apart = z.value_and_grad((&by,), |z, (by,)| ((z / by).sin() * 0.5 + (z * z.square() + 1)).abs().sum()).1;
        near(parts(own.elements()), parts(apart.elements()));
    }
    // Integers have none, and stand beside floats that have.
    let whole = tensor![1, 2, 3].on::<D>();
    let own = x.value_and_grad((&whole,), |x, (whole,)| (x * whole.apply(mixed_up, 2)).sum()).1;
    near(own.elements(), whole.apply(mixed_up, 2).to::<f64>().elements());
}
#[cfg(feature = "grad")]
#[formula]
fn select_inside<R: Real>(x: R, low: R, high: R) -> Mask {
    inside(x, low, high)
}

each_device! {
    also_without_data: formulas_of_integers, formulas_of_several_sets;
    with_data: a_formula_of_integers_gives_the_bits_of_the_rows, formulas_of_complex_numbers, masks_are_operands_and_results;
}
