//! Elements at infinities, NaN, signed zeros, and beyond the range of a dtype, compared with PyTorch 2.13.

use castiron::any::{Args, call, call_in_place, call_into};
use castiron::{AnyTensor, Complex, Cpu, DType, Dyn, F4E2M1FNX2, Float, ScalarValue, Tensor, bf16, f16, tensor};

fn floats(values: &[f64], dtype: DType) -> AnyTensor {
    let scalars: Vec<ScalarValue> = values.iter().map(|&value| ScalarValue::Float(value)).collect();
    AnyTensor::from_scalars(&scalars, &[values.len()], DType::F64).unwrap().to(dtype).unwrap()
}

fn numbers(x: &AnyTensor) -> Vec<f64> {
    x.to(DType::F64).unwrap().to_scalars().unwrap().into_iter().map(ScalarValue::real_part).collect()
}

/// Equal numbers, zeros of one sign, or both NaN.
#[track_caller]
fn assert_alike(got: &[f64], want: &[f64], label: &str) {
    let alike = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(&a, &b)| alike(a, b)),
        "{label}: {got:?} is not {want:?}"
    );
}

/// The bits of `polygamma(n, [0.5, 1.25, 2.5, 7.0, 88.8, 255.0])` for `n` from 0.
const POLYGAMMA_F16: [&str; 21] = [
    "bfdb b347 39a0 3f7e 447b 458a",
    "44ef 3cca 37d9 30ea 21cc 1c06",
    "cc35 bd50 b38f a606 8834 8104",
    "5616 4190 332a 1f5f 0030 0000",
    "e208 c830 b506 9ac0 8000 8000",
    "6f82 5011 38a1 181e 0000 0000",
    "fc00 d8ce bd45 9654 8000 8000",
    "7c00 62ac 4322 1627 0000 0000",
    "fc00 ed50 c992 98ec 8000 8000",
    "7c00 78c5 50f0 0000 0000 0000",
    "fc00 fc00 d8e1 8000 8000 8000",
    "7c00 7c00 6156 0000 0000 0000",
    "fc00 fc00 ea5b 8000 8000 8000",
    "7c00 7c00 7414 0000 0000 0000",
    "fc00 fc00 fc00 8000 8000 8000",
    "7c00 7c00 7c00 0000 0000 0000",
    "fc00 fc00 fc00 8000 8000 8000",
    "7c00 7c00 7c00 0000 0000 0000",
    "fc00 fc00 8000 8000 8000 8000",
    "7c00 7c00 0000 0000 0000 0000",
    "fc00 fc00 8000 8000 8000 8000",
];
const POLYGAMMA_BF16: [&str; 21] = [
    "bffb be69 3f34 3ff0 408f 40b1",
    "409e 3f99 3efb 3e1d 3c39 3b81",
    "c187 bfaa be72 bcc1 b906 b782",
    "42c3 4032 3e66 3bec 3642 3402",
    "c442 c106 bea0 bb58 b3d2 b0c4",
    "45f0 4202 3f14 3b03 3198 2dc6",
    "c7b4 c31a bfa9 bac8 af89 aaf9",
    "499e 4455 4064 3ab6 2d95 283b",
    "cb9d c5aa c132 bac1 abbc a5a5",
    "4db1 4719 421e 3aea 2a08 2326",
    "cfdd c898 c31d bb1f a85d a0bc",
    "5218 4a28 442a 3b70 26c8 1e6d",
    "d464 cbc9 c54b bbc7 a547 9c23",
    "56ba 4d82 4684 3c34 23d8 19f6",
    "d922 cf37 c7b8 bcaf a27e 97ca",
    "5b98 5109 490a 3d38 2121 15b1",
    "de18 d2db ca5c bdce 9fda 9398",
    "60a2 54bb 4bbb 3e76 1e9d 0000",
    "e336 d6a8 cd28 bf1c 9d72 8000",
    "65d8 58a0 4ea0 3fd2 1c44 0000",
    "e887 da9f d01f c095 9b87 8000",
];

#[test]
fn polygamma_of_halves_is_pytorchs_for_any_order() {
    for (dtype, rows) in [(DType::F16, POLYGAMMA_F16), (DType::BF16, POLYGAMMA_BF16)] {
        let x = floats(&[0.5, 1.25, 2.5, 7.0, 88.8, 255.0], dtype);
        for (n, row) in rows.iter().enumerate() {
            let bytes = x.polygamma(n as i64).unwrap().to_bytes().unwrap();
            let bits: Vec<u16> = bytes.chunks(2).map(|two| u16::from_ne_bytes([two[0], two[1]])).collect();
            for (at, (&got, want)) in bits.iter().zip(row.split(' ')).enumerate() {
                let want = u16::from_str_radix(want, 16).unwrap();
                // (The last digit of an exponential is nobody's promise.)
                assert!(
                    got.abs_diff(want) <= 1,
                    "polygamma({n}) of {dtype}, element {at}: {got:04x} is not {want:04x}"
                );
            }
        }
    }
}

#[test]
fn operands_of_addcmul_are_rounded_to_the_common_dtype() {
    let half = floats(&[0.5, 0.5], DType::F16);
    let ints = |values: &[i64]| {
        let all: Vec<ScalarValue> = values.iter().map(|&value| ScalarValue::Int(value.into())).collect();
        AnyTensor::from_scalars(&all, &[values.len()], DType::I32).unwrap()
    };
    let one = ints(&[1, 1]);
    let sum = half.addcmul(&ints(&[2049, 4099]), &one, 1).unwrap();
    assert_eq!((sum.dtype(), numbers(&sum)), (DType::F16, vec![2048.0, 4100.0]));
    let ratio = half.addcdiv(&ints(&[70000, 6]), &floats(&[2.0, 3.0], DType::F16), 1).unwrap();
    assert_eq!((ratio.dtype(), numbers(&ratio)), (DType::F16, vec![f64::INFINITY, 2.5]));
    let wide = half.to(DType::BF16).unwrap().addcmul(&ints(&[257, 1]), &one, 1).unwrap();
    assert_eq!((wide.dtype(), numbers(&wide)), (DType::BF16, vec![256.0, 1.5]));
    let zero_dim = floats(&[2049.0], DType::F32).select(0, 0).unwrap();
    let sum = half.addcmul(&zero_dim, &one, 1).unwrap();
    assert_eq!((sum.dtype(), numbers(&sum)), (DType::F16, vec![2048.0, 2048.0]));
    // In place and by name.
    let mut own = half.clone();
    own.addcmul_(&ints(&[2049, 4099]), &one, 1).unwrap();
    assert_eq!(numbers(&own), [2048.0, 4100.0]);
    let args = Args::new().arg(&half).arg(ints(&[2049, 4099])).arg(&one);
    assert_eq!(numbers(&call("addcmul", &args).unwrap().tensor().unwrap()), [2048.0, 4100.0]);
}

/// Zeros of either sign against bounds of the other sign, more than a register holds.
fn typed_ties<E: Float>() {
    let zeros: Vec<f64> = (0..37).map(|at| if at % 2 == 0 { 0.0 } else { -0.0 }).collect();
    let x = floats(&zeros, E::DTYPE).typed::<E, (Dyn,), Cpu>().unwrap();
    let signs = |x: &Tensor<E, (Dyn,)>| x.to::<f64>().iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
    let want = signs(&x);
    let other = x.neg();
    for bound in [0.0, -0.0] {
        assert_eq!(signs(&x.clamp(bound, bound)), want);
        assert_eq!(signs(&x.clamp_min(bound)), want);
        assert_eq!(signs(&x.clamp_max(bound)), want);
        assert_eq!(signs(&x.hardtanh(bound, bound)), want);
        assert_eq!(signs(&x.lazy().clamp_min(bound).clamp_max(bound).eval()), want);
        let mut own = x.clone();
        own.clamp_(bound, bound);
        assert_eq!(signs(&own), want);
    }
    for result in [x.maximum(&other), x.minimum(&other), x.clamp_min(&other), x.clamp_max(&other)] {
        assert_eq!(signs(&result), want);
    }
    // NaN on either side stays.
    let nan = x.add(f32::NAN).to::<E>();
    for result in [x.maximum(&nan), nan.maximum(&x), x.clamp_min(&nan), nan.clamp_max(&x), nan.clamp(0.0, 1.0)] {
        assert!(result.isnan().all().item());
    }
}

#[test]
fn of_equal_numbers_extremes_are_the_first() {
    typed_ties::<f16>();
    typed_ties::<bf16>();
    typed_ties::<f32>();
    typed_ties::<f64>();
    let (zero, bound) = (ScalarValue::Float(-0.0), ScalarValue::Float(0.0));
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = floats(&[-0.0; 37], dtype);
        let signs = |x: &AnyTensor| assert!(numbers(x).iter().all(|x| *x == 0.0 && x.is_sign_negative()), "{x}");
        signs(&x.clamp(Some(bound.into()), Some(bound.into())).unwrap());
        let mut own = x.clone();
        signs(own.clamp_(Some(bound.into()), None).unwrap());
        let args = Args::new().arg(&x).named("min", bound).named("max", bound);
        signs(&call("clamp", &args).unwrap().tensor().unwrap());
        let mut out = AnyTensor::zeros(&[37], dtype).unwrap();
        call_into("clamp", &args, &mut [&mut out]).unwrap();
        signs(&out);
        let mut own = x.clone();
        call_in_place("clamp_", &mut own, &Args::new().named("max", bound)).unwrap();
        signs(&own);
        signs(&x.fmax(floats(&[0.0; 37], dtype)).unwrap());
        assert!(numbers(&x.neg().unwrap().clamp_min(zero).unwrap()).iter().all(|x| x.is_sign_positive()));
    }
}

#[test]
fn running_exponentials_of_single_precision_run_in_double() {
    let parts = |k: f64| (0..1500).map(|at| (f64::from(at) * k).sin() * 3.0).collect::<Vec<f64>>();
    let z = floats(&parts(0.7), DType::F64).complex(&floats(&parts(1.3), DType::F64)).unwrap();
    let wide = z.logcumsumexp(0).unwrap();
    let narrow = z.to(DType::C64).unwrap().to(DType::C128).unwrap().logcumsumexp(0).unwrap();
    let single = z.to(DType::C64).unwrap().logcumsumexp(0).unwrap();
    let error = single.to(DType::C128).unwrap().sub(&narrow).unwrap().abs().unwrap().amax(None, false).unwrap();
    assert!(numbers(&error)[0] < 6e-7, "{error} at numbers up to {}", wide.abs().unwrap().amax(None, false).unwrap());
    let x = floats(&parts(0.3), DType::F32);
    let (single, wide) = (x.logcumsumexp(0).unwrap(), x.to(DType::F64).unwrap().logcumsumexp(0).unwrap());
    assert_eq!(single.to_bytes().unwrap(), wide.to(DType::F32).unwrap().to_bytes().unwrap());
}

#[test]
fn variances_of_nothing_and_of_infinities_are_pytorchs() {
    for dtype in [DType::F16, DType::F32, DType::F64] {
        for correction in [-2.0, -1.0, 0.0, 1.0] {
            assert!(numbers(&floats(&[], dtype).var(None, correction, false).unwrap())[0].is_nan());
            assert!(numbers(&floats(&[], dtype).std(None, correction, false).unwrap())[0].is_nan());
        }
        let inf = f64::INFINITY;
        let long = [&[3.0; 40][..], &[inf], &[1.0; 40]].concat();
        let last = [&[3.0; 40][..], &[inf]].concat();
        let cases: [(&[f64], f64); 7] = [
            (&[1.0, inf], inf),
            (&[inf, 1.0], f64::NAN),
            (&[inf], inf),
            (&[inf, inf], f64::NAN),
            (&[-inf, 1.0, 2.0], f64::NAN),
            (&long, f64::NAN),
            (&last, inf),
        ];
        for (elements, want) in cases {
            let x = floats(elements, dtype);
            let (var, mean) = x.var_mean(None, 1.0, false).unwrap();
            assert!(numbers(&var)[0].is_nan(), "{dtype} {elements:?}");
            assert_alike(&numbers(&mean), &[want], &format!("{dtype} {elements:?}"));
            let across = x.reshape(&[-1, 1]).unwrap().expand(&[-1, 3]).unwrap();
            let (_, mean) = across.std_mean(Some(&[0]), 1.0, false).unwrap();
            assert_alike(&numbers(&mean), &[want; 3], &format!("{dtype} {elements:?}, of columns"));
            // The mean alone is the sum's.
            let mean = if elements[0] < 0.0 { -inf } else { inf };
            assert_alike(&numbers(&x.mean(None, false, None).unwrap()), &[mean], "mean");
        }
    }
}

#[test]
fn distances_of_nan_and_infinities_are_pytorchs() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let a = floats(&[nan, 1.0, 1.0, nan, 0.0, 0.0, inf, 1.0, -inf, inf], DType::F64).reshape(&[5, 2]).unwrap();
    let b = floats(&[0.0, 0.0, nan, 0.0, inf, inf, 2.0, 3.0], DType::F64).reshape(&[4, 2]).unwrap();
    let none = [nan; 4];
    let at_0 = [&none[..], &none, &[0.0, nan, 2.0, 2.0], &[2.0, nan, nan, 2.0], &[2.0, nan, nan, 2.0]].concat();
    assert_alike(&numbers(&a.cdist(&b, 0.0).unwrap()), &at_0, "p = 0");
    let at_inf = [1.0, 1.0, inf, 2.0, 1.0, 0.0, inf, 1.0, 0.0, 0.0, inf, 3.0, inf, 1.0, inf, inf, inf, inf, inf, inf];
    assert_alike(&numbers(&a.cdist(&b, inf).unwrap()), &at_inf, "p = inf");
    // The norms of vectors count NaN.
    let x = floats(&[nan, 0.0, 2.0], DType::F64);
    assert_alike(&numbers(&x.vector_norm(0.0, None, false).unwrap()), &[2.0], "vector_norm of order 0");
    assert_alike(&numbers(&x.vector_norm(inf, None, false).unwrap()), &[nan], "vector_norm of order inf");
}

#[track_caller]
fn assert_complex(got: &AnyTensor, re: f64, im: f64) {
    let parts = got.to(DType::C128).unwrap().reshape(&[1]).unwrap().view_as_real().unwrap();
    assert_alike(&numbers(&parts.reshape(&[2]).unwrap()), &[re, im], "parts");
}

#[test]
fn functions_of_complex_infinities_are_pytorchs() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let list = |values: &[(f64, f64)]| {
        let part = |at: fn(&(f64, f64)) -> f64| floats(&values.iter().map(at).collect::<Vec<_>>(), DType::F64);
        part(|z| z.0).complex(&part(|z| z.1)).unwrap()
    };
    for dtype in [DType::C64, DType::C128] {
        let of = |values: &[(f64, f64)]| list(values).to(dtype).unwrap();
        for z in [(inf, 0.0), (0.0, inf), (-inf, 2.0), (inf, inf), (1.0, inf), (nan, 0.0)] {
            assert_complex(&of(&[z]).sgn().unwrap(), nan, nan);
        }
        let lse = |values: &[(f64, f64)]| of(values).logsumexp(Some(&[0]), false).unwrap();
        assert_complex(&lse(&[(inf, 0.0)]), inf, 0.0);
        assert_complex(&lse(&[(-inf, 1.0)]), -inf, 0.0);
        assert_complex(&lse(&[(inf, inf)]), inf, nan);
        assert_complex(&lse(&[(inf, 0.0), (1.0, 2.0)]), inf, 0.0);
        assert_complex(&lse(&[(1.0, inf)]), nan, nan);
        assert_complex(&lse(&[(-inf, nan), (inf, 0.0)]), inf, 0.0);
        let (z, running) = (of(&[(-inf, 0.0), (-inf, 2.0)]), [-inf, 0.0, -inf, 0.0]);
        let parts = z.logcumsumexp(0).unwrap().to(DType::C128).unwrap().view_as_real().unwrap();
        assert_alike(&numbers(&parts.reshape(&[4]).unwrap()), &running, "logcumsumexp");
        assert_complex(&of(&[(1.0, 2.0), (inf, 0.0)]).prod(None, false, None).unwrap(), inf, inf);
        assert_complex(&of(&[(inf, 0.0)]).prod(None, false, None).unwrap(), inf, nan);
        let (a, b) = (of(&[(0.0, 2.0)]), of(&[(0.0, inf)]));
        assert_complex(&a.dot(&b).unwrap(), -inf, nan);
        assert_complex(&a.vdot(&b).unwrap(), inf, nan);
        // A matrix product is multiplied by 1, which spoils infinite parts.
        let column = b.reshape(&[1, 1]).unwrap();
        assert_complex(&a.reshape(&[1, 1]).unwrap().mm(&column).unwrap(), nan, nan);
    }
    let dot = tensor![2.0j, 1.0].dot(&tensor![Complex::new(0.0, f32::INFINITY), Complex::new(1.0, 0.0)]).item();
    assert!(dot.re == f32::NEG_INFINITY && dot.im.is_nan(), "{dot}");
    // Real numbers are as they were.
    let lse = |values: &[f64]| numbers(&floats(values, DType::F64).logsumexp(None, false).unwrap())[0];
    assert_alike(
        &[lse(&[inf, 1.0]), lse(&[-inf, -inf]), lse(&[-inf, 2.0]), lse(&[])],
        &[inf, -inf, 2.0, -inf],
        "logsumexp",
    );
    assert_alike(&[lse(&[-inf, -2000.0]), lse(&[-2000.0, -inf])], &[-2000.0, -2000.0], "logsumexp below");
    assert_alike(&[lse(&[inf, -inf]), lse(&[1.0, nan])], &[inf, nan], "logsumexp of both");
}

#[test]
fn bounds_that_are_nan_make_nan_of_everything() {
    let x = floats(&[-2.0, 0.0, 3.0], DType::F32);
    for (min, max) in [(f64::NAN, 1.0), (-1.0, f64::NAN)] {
        assert_alike(&numbers(&x.hardtanh(min, max).unwrap()), &[f64::NAN; 3], "hardtanh");
    }
    assert_eq!(tensor![-2, 0, 3].hardtanh(-1, 1).to_vec(), [-1, 0, 1]);
}

#[test]
fn bool_matrices_are_multiplied_where_there_is_nothing_to_multiply() {
    let ones = |sizes: &[usize]| AnyTensor::full(sizes, true, DType::Bool).unwrap();
    let product = ones(&[2, 0]).mm(&ones(&[0, 3])).unwrap();
    assert_eq!(
        (product.dtype(), product.shape(), product.any(None, false).unwrap().item()),
        (DType::Bool, &[2, 3][..], Ok(ScalarValue::Bool(false)))
    );
    assert_eq!(ones(&[0, 2]).matmul(&ones(&[2, 2])).unwrap().shape(), [0, 2]);
    assert_eq!(ones(&[2, 0]).mv(&ones(&[0])).unwrap().to_bytes().unwrap(), [0, 0]);
    assert!(ones(&[2, 2]).mm(&ones(&[2, 2])).is_err());
    assert!(ones(&[0]).dot(&ones(&[0])).is_err());
    assert!(ones(&[2, 0]).mm(&ones(&[1, 3])).is_err());
}

#[test]
fn packed_elements_are_not_scattered() {
    let packed = AnyTensor::from(Tensor::<F4E2M1FNX2, castiron::shape![3]>::zeros());
    let index = AnyTensor::from(tensor![0, 1, 2]);
    assert!(packed.scatter(0, &index, &packed).is_err());
    assert!(packed.clone().scatter_(0, &index, packed.copy().unwrap()).is_err());
    assert!(call_in_place("scatter_", &mut packed.clone(), &Args::new().arg(0_i64).arg(&index).arg(&packed)).is_err());
}

#[test]
fn results_are_rounded_to_their_dtype_before_an_output_of_another() {
    // 2049.25, computed in `f32`, is 2050 as `float16`.
    let three = AnyTensor::from_scalars(&[ScalarValue::Int(1171)], &[1], DType::I16).unwrap();
    let factor = floats(&[1.75], DType::F16).select(0, 0).unwrap();
    let plain = three.mul(&factor).unwrap();
    let mut out = AnyTensor::zeros(&[1], DType::F64).unwrap();
    three.mul_into(&factor, &mut out).unwrap();
    assert_eq!((plain.dtype(), numbers(&plain)), (DType::F16, vec![2050.0]));
    assert_eq!(numbers(&out), [2050.0]);
    let mut typed = tensor![0.0; f64];
    tensor![1171_i16].mul_into(Tensor::<f16, ()>::scalar(f16::from_f32(1.75)), &mut typed);
    assert_eq!(typed.to_vec(), [2050.0]);
}

#[test]
fn zeros_keep_their_sign_in_activations() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for len in [1, 37] {
            let x = floats(&vec![-0.0; len], dtype);
            assert_alike(&numbers(&x.relu().unwrap()), &vec![-0.0; len], "relu");
            assert_alike(&numbers(&x.relu6().unwrap()), &vec![-0.0; len], "relu6");
            assert_alike(&numbers(&x.elu(f64::INFINITY).unwrap()), &vec![-0.0; len], "elu");
            assert_alike(&numbers(&x.neg().unwrap().elu(-1).unwrap()), &vec![0.0; len], "elu");
            assert_alike(&numbers(&floats(&vec![f64::NAN; len], dtype).relu().unwrap()), &vec![f64::NAN; len], "relu");
        }
    }
}

#[test]
fn ldexp_by_integers_leaves_zeros_and_infinities() {
    let n = AnyTensor::from(tensor![2000, -2000, i64::from(i32::MAX), 3]);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = floats(&[0.0, f64::INFINITY, -0.0, 1.5], dtype);
        let want = [0.0, f64::INFINITY, -0.0, 12.0];
        assert_alike(&numbers(&x.ldexp(&n).unwrap()), &want, "ldexp");
        let mut own = x.clone();
        assert_alike(&numbers(own.ldexp_(n.to(DType::I32).unwrap()).unwrap()), &want, "ldexp_");
        assert_eq!(own.dtype(), dtype);
        // Broadcast, of other layouts, and of a zero-dim number.
        let wide = x.reshape(&[2, 2]).unwrap().t().unwrap().ldexp(n.reshape(&[2, 2]).unwrap().t().unwrap()).unwrap();
        assert_eq!(wide.stride(), [1, 2]);
        assert_alike(&numbers(&wide.t().unwrap().reshape(&[4]).unwrap()), &want, "turned");
        let zero = x.select(0, 0).unwrap().ldexp(&n).unwrap();
        assert_eq!((zero.dtype(), zero.shape(), numbers(&zero)), (dtype, &[4][..], vec![0.0; 4]));
    }
}

#[test]
fn acosh_of_an_imaginary_nan_has_an_angle() {
    let z = floats(&[0.0], DType::F64).complex(&floats(&[f64::NAN], DType::F64)).unwrap();
    assert_complex(&z.acosh().unwrap(), f64::NAN, std::f64::consts::FRAC_PI_2);
}

/// What leaves real elements as they are gives the tensor itself, as in PyTorch; writing to one of the two does not change the other.
#[test]
fn nothing_is_copied_where_nothing_changes() {
    for same in [AnyTensor::positive, AnyTensor::conj_physical] {
        let x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]).t().unwrap();
        let mut y = same(&x).unwrap();
        assert!(y.shares_storage(&x) && y.stride() == x.stride());
        y.add_(1.0).unwrap();
        assert_eq!(
            (x.to_string(), y.to_string()),
            ("tensor([[1., 3.],\n        [2., 4.]])".into(), "tensor([[2., 4.],\n        [3., 5.]])".into())
        );
    }
    let z = AnyTensor::from(tensor![1.0 + 2.0j]);
    assert!(!z.conj_physical().unwrap().shares_storage(&z));
}

/// A tensor of integers equals itself without a look at its elements, but not seen through other strides; NaN equals nothing.
#[test]
fn a_tensor_equals_itself() {
    let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    assert!(x.equal(&x).unwrap() && !x.equal(&x.t().unwrap()).unwrap());
    let nan = AnyTensor::from(tensor![f32::NAN]);
    assert!(!nan.equal(&nan).unwrap());
}
