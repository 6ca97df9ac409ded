//! `visit!`: typed code on the content of an `AnyTensor`.

use castiron::dtype::Category;
use castiron::{
    AnyTensor, Complex, Cpu, DType, Element, Error, Float, Result, Tensor, TensorViewMut, f16, shape, tensor, visit,
};

/// The dtypes among all that a set has.
macro_rules! members {
    ($set:tt) => {
        DType::ALL
            .iter()
            .copied()
            .filter(|&dtype| match visit!(dtype, E: $set => <E as Element>::DTYPE) {
                Ok(visited) => {
                    assert_eq!(visited, dtype);
                    true
                }
                Err(error) => {
                    assert!(matches!(error, Error::NotAdmitted { op: "visit", dtype: refused, .. } if refused == dtype));
                    false
                }
            })
            .collect::<Vec<DType>>()
    };
}

fn those(holds: impl Fn(DType) -> bool) -> Vec<DType> {
    DType::ALL.iter().copied().filter(|&dtype| holds(dtype)).collect()
}

#[test]
fn a_set_has_the_dtypes_of_its_categories() {
    use Category::{Boolean, Floating, Integral};
    let of = |categories: &[Category]| those(|dtype| !dtype.is_shell() && categories.contains(&dtype.category()));
    assert_eq!(members!(Element), DType::ALL);
    assert_eq!(members!(Dtype), those(|dtype| !dtype.is_shell()));
    assert_eq!(members!(Numeric), of(&[Integral, Floating, Category::Complex]));
    assert_eq!(members!(Ordered), of(&[Boolean, Integral, Floating]));
    assert_eq!(members!(Real), of(&[Integral, Floating]));
    assert_eq!(members!(Bits), of(&[Boolean, Integral]));
    assert_eq!(members!(Integer), of(&[Integral]));
    assert_eq!(members!(Inexact), of(&[Floating, Category::Complex]));
    assert_eq!(members!(Float), of(&[Floating]));
    assert_eq!(members!(ComplexFloat), of(&[Category::Complex]));
    assert_eq!(members!([u16, f32, Complex<f16>,]), [DType::F32, DType::C32, DType::U16]);
}

#[test]
fn a_refusal_says_what_is_admitted() {
    let refused = |result: Result<usize>| result.unwrap_err().to_string();
    let counts = AnyTensor::from(tensor![1, 2]);
    assert_eq!(
        refused(visit!("mine", &counts, E: [f64] => size_of::<E>())),
        "mine is not defined for dtype int64: it is defined for float64; cast first, for example to float64"
    );
    assert_eq!(
        refused(visit!(counts, E: ComplexFloat => size_of::<E>())),
        "visit is not defined for dtype int64: it is defined for complex32, complex64 and complex128; cast first, for example to complex32"
    );
    let shell = refused(visit!(DType::U16, E: Float => size_of::<E>()));
    assert!(shell.contains("shell dtypes can be stored"), "{shell}");
}

fn mean<E: Float>(x: &Tensor<E, shape![_, _]>) -> f64 {
    x.to::<f64>().mean().item()
}

#[test]
fn code_runs_with_the_dtype_that_is_there() {
    let run = |x: &AnyTensor| visit!(x, E: Float => mean::<E>(&x.typed::<E, shape![_, _], Cpu>()?));
    let x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 6.0]]);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        assert_eq!(run(&x.to(dtype).unwrap()), Ok(3.0));
    }
    assert!(matches!(run(&x.to(DType::I32).unwrap()), Err(Error::NotAdmitted { .. })));
    // `?` is that of the function around: here of the closure.
    assert!(matches!(run(&x.select(0, 0).unwrap()), Err(Error::InvalidArgument { op: "typed", .. })));
    let returned = |x: &AnyTensor| -> Option<usize> {
        visit!(x, E: Float => {
            if size_of::<E>() == 2 {
                return None;
            }
            size_of::<E>()
        })
        .ok()
    };
    assert_eq!((returned(&x), returned(&x.to(DType::F16).unwrap())), (Some(4), None));
}

#[test]
fn typed_code_writes_into_what_is_visited() {
    fn reversed<E: Element>(mut x: TensorViewMut<'_, E, shape![_]>) {
        for (at, element) in x.to_vec().into_iter().rev().enumerate() {
            x[(at,)] = element;
        }
    }
    for &dtype in DType::ALL {
        let codes: Vec<u8> = (0..6 * dtype.itemsize()).map(|at| u8::from(at % 5 < 2)).collect();
        let mut x = AnyTensor::from_bytes(&codes, dtype, &[3, 2]).unwrap();
        let before = x.clone();
        let column = |x: &AnyTensor, at| x.select(1, at).unwrap().to_scalars().unwrap();
        visit!(x, E: Element => reversed(x.select_mut(1, 1).unwrap().typed_mut::<E, shape![_], Cpu>().unwrap()))
            .unwrap();
        let mut want = column(&before, 1);
        want.reverse();
        assert_eq!(format!("{:?}", column(&x, 1)), format!("{want:?}"), "{dtype}");
        assert_eq!(format!("{:?}", column(&x, 0)), format!("{:?}", column(&before, 0)), "{dtype}");
    }
}
