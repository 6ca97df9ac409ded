//! `Display`, compared with what PyTorch prints; `Debug`, and tensors without data.

use crate::common::{Token, json, parse_all};
use castiron::{
    Complex, Cpu, DType, Dyn, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Meta,
    ScalarValue, Shape, Tensor, TensorView, axis, bf16, describe, f16, s, shape, tensor,
};

fn show<E: Token, S: Shape>(elements: Vec<E>, sizes: &[usize]) -> String
where
    S::Sizes: for<'a> TryFrom<&'a [usize]>,
{
    let Ok(sizes) = S::Sizes::try_from(sizes) else { panic!("the rank was matched") };
    Tensor::<E, S>::from_vec_sized(elements, sizes).to_string()
}

fn printed<E: Token>(sizes: &[usize], tokens: &str) -> String {
    let elements = parse_all::<E>(tokens);
    match sizes.len() {
        0 => show::<E, ()>(elements, sizes),
        1 => show::<E, (Dyn,)>(elements, sizes),
        2 => show::<E, (Dyn, Dyn)>(elements, sizes),
        3 => show::<E, (Dyn, Dyn, Dyn)>(elements, sizes),
        4 => show::<E, (Dyn, Dyn, Dyn, Dyn)>(elements, sizes),
        5 => show::<E, (Dyn, Dyn, Dyn, Dyn, Dyn)>(elements, sizes),
        rank => panic!("rank {rank}"),
    }
}

/// As Rust prints a number, so that what a program lines up stays so whatever the values are.
#[test]
fn a_precision_is_that_of_each_float() {
    let x = tensor![[1.0, -0.125], [1.0e-9, 12345.678]].to::<f64>();
    let text = "tensor([[    1.00,    -0.12],\n        [    0.00, 12345.68]], dtype=torch.float64)";
    assert_eq!(format!("{x:.2}"), text);
    assert_eq!(
        format!("{:.1} {:.0}", tensor![1.0, 3.0], tensor![2.5, f32::NAN]),
        "tensor([1.0, 3.0]) tensor([  2, nan])"
    );
    assert_eq!(format!("{:.1} {:.3}", tensor![1.0 - 2.0j], tensor![7, 12]), "tensor([1.0-2.0j]) tensor([ 7, 12])");
    assert_eq!(format!("{:.1}", tensor![0.0, 3.0].to_sparse()).lines().nth(1).unwrap().trim(), "values=tensor([3.0]),");
    #[cfg(feature = "any")]
    assert_eq!(format!("{:.2}", castiron::AnyTensor::from(tensor![3.0])), "tensor([3.00])");
}

/// Columns of tensors with different numbers are below each other.
#[test]
fn a_width_is_that_of_each_element_at_least() {
    assert_eq!(format!("{:6}", tensor![1, -20]), "tensor([     1,    -20])");
    assert_eq!(format!("{:1}", tensor![100, -20]), "tensor([100, -20])");
    assert_eq!(format!("{:6}", tensor![true, false]), "tensor([  True,  False])");
    assert_eq!(format!("{:8.3}", tensor![[1.5], [-0.25]]), "tensor([[   1.500],\n        [  -0.250]])");
    assert_eq!(format!("{:9}", tensor![1.0 - 2.0j]), "tensor([   1.-2.j])");
    assert_eq!(format!("{:6.1}", Tensor::<f32, ()>::scalar(0.25)), "tensor(   0.2)");
    // A line has room for fewer.
    let x = Tensor::<i64, shape![_]>::arange(0, 12, 1);
    let text = format!("{x:10}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.len() <= 80) && x.to_string().lines().count() == 1, "{text}");
    let sparse = format!("{:6.1}", tensor![0.0, 3.0].to_sparse());
    assert!(sparse.contains("values=tensor([   3.0])") && sparse.contains("indices=tensor([[1]])"), "{sparse}");
    #[cfg(feature = "any")]
    assert_eq!(format!("{:6.1}", castiron::AnyTensor::from(tensor![3.0])), "tensor([   3.0])");
}

/// `torch.set_printoptions(profile="full")`
#[test]
fn the_alternate_form_leaves_no_element_out() {
    let x = Tensor::<i64, shape![_]>::arange(0, 1001, 1);
    assert_eq!(x.to_string(), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
    let text = format!("{x:#}");
    assert_eq!((text.matches(',').count(), text.contains("...")), (1000, false));
    assert!(text.ends_with(" 999, 1000])"), "{text}");
    // Of what is printed whole anyway it is the same.
    let x = tensor![[1.0, 0.5], [2.0, 4.0]];
    assert_eq!(format!("{x:#}"), x.to_string());
    assert_eq!(format!("{x:#.1}"), format!("{x:.1}"));
    #[cfg(feature = "any")]
    assert!(!format!("{:#}", castiron::AnyTensor::from(&Tensor::<i64, shape![50, 50]>::zeros())).contains("..."));
    // `{:#?}` is of the fields.
    assert!(format!("{:#?}", Tensor::<i64, shape![2000]>::zeros()).contains("..."));
}

#[test]
fn what_a_tensor_is_and_holds_is_described() {
    let x = tensor![[1.5, f32::NAN, -2.0], [f32::INFINITY, 4.0, 0.5]];
    let about = describe(&x.select(axis![1], 0));
    assert_eq!((about.dtype, &*about.shape, &*about.stride, &*about.device), (DType::F32, &[2][..], &[3][..], "cpu"));
    let found = about.statistics.unwrap();
    assert_eq!((found.min, found.max), (Some(ScalarValue::Float(1.5)), Some(ScalarValue::Float(f64::INFINITY))));
    assert_eq!((found.nans, found.infinities), (0, 1));
    let about = describe(&x.slice(s![.., 1..]));
    assert_eq!(
        about.to_string(),
        "dtype     float32\nshape     [2, 2]\nstrides   [3, 1], not row-major, from element 1 on\ndevice    cpu\n\
         min       -2\nmax       4\nmean      0.8333333333333334\nNaN       1 of 4\ninfinite  0 of 4"
    );
    // The smallest and largest are numbers, wherever NaNs are.
    for x in [tensor![f32::NAN, 1.0], tensor![1.0, f32::NAN]] {
        let found = describe(&x).statistics.unwrap();
        assert_eq!(
            (found.min, found.max, found.nans),
            (Some(ScalarValue::Float(1.0)), Some(ScalarValue::Float(1.0)), 1)
        );
    }
    let found = describe(&tensor![f64::NAN; f64]).statistics.unwrap();
    assert_eq!((found.min, found.mean, found.nans), (None, None, 1));
}

#[test]
fn tensors_of_every_dtype_are_described() {
    fn mean<E: Element, S: Shape>(x: &Tensor<E, S>) -> Option<ScalarValue> {
        let about = describe(x);
        assert_eq!(about.dtype, E::DTYPE);
        #[cfg(feature = "any")]
        assert_eq!(describe(&castiron::AnyTensor::from(x)), about);
        about.statistics?.mean
    }
    let float = |x: f64| Some(ScalarValue::Float(x));
    assert_eq!(mean(&tensor![true, false, true, true]), float(0.75));
    assert_eq!(mean(&tensor![0, 255; u8]), float(127.5));
    assert_eq!(mean(&tensor![-128, 127; i8]), float(-0.5));
    // Not rounded on the way.
    assert_eq!(mean(&tensor![i64::MAX, i64::MIN]), float(-0.5));
    assert_eq!(mean(&tensor![u64::MAX, 1; u64]), float((1_u128 << 63) as f64));
    assert_eq!(mean(&tensor![1, 2; u16]), float(1.5));
    assert_eq!(mean(&tensor![1, 2; f16]), float(1.5));
    assert_eq!(mean(&tensor![1, 2; bf16]), float(1.5));
    assert_eq!(mean(&Tensor::<F8E4M3FN, shape![2]>::from_vec(vec![F8E4M3FN::from_bits(0x38); 2])), float(1.0));
    assert_eq!(mean(&Tensor::<F8E8M0FNU, shape![1]>::from_vec(vec![F8E8M0FNU::from_bits(127)])), float(1.0));
    assert_eq!(mean(&Tensor::<F4E2M1FNX2, shape![1]>::from_vec(vec![F4E2M1FNX2::from_bits(0x12)])), None);
    let about = describe(&tensor![1.0 + 2.0j, 3.0]);
    let found = about.statistics.as_ref().unwrap();
    assert_eq!((found.mean, found.min, found.max), (Some(ScalarValue::Complex(Complex::new(2.0, 1.0))), None, None));
    assert!(about.to_string().contains("\nmean      2+1i\nNaN       0 of 2"), "{about}");
    let found = describe(&tensor![true, false]).statistics.unwrap();
    assert_eq!((found.min, found.max), (Some(ScalarValue::Bool(false)), Some(ScalarValue::Bool(true))));
    // Nothing, one number, and views.
    assert_eq!(
        (mean(&Tensor::<f32, shape![0, 3]>::zeros()), mean(&Tensor::<f32, ()>::scalar(2.5))),
        (None, float(2.5))
    );
    let memory = [1, 2, 6];
    assert_eq!(describe(&TensorView::<i32, shape![3]>::from_slice(&memory)).statistics.unwrap().mean, float(3.0));
    let mut x = tensor![1, 2, 6];
    assert_eq!(describe(&x.slice_mut(s![1..])).statistics.unwrap().mean, float(4.0));
    // More than is looked at at once, in a view whose first axes can't be divided.
    let large = Tensor::<i64, shape![_]>::arange(0, 300_001, 1);
    let view = large.reshape::<shape![1, _, 1]>();
    let found = describe(&view.slice(s![.., ::2])).statistics.unwrap();
    assert_eq!((found.min, found.max), (Some(ScalarValue::Int(0)), Some(ScalarValue::Int(300_000))));
    assert_eq!((found.mean, mean(&large)), (float(150_000.0), float(150_000.0)));
    // There is nothing to look at.
    let about = describe(&Tensor::<f32, shape![2, 3], Meta>::zeros());
    assert_eq!(about.to_string(), "dtype     float32\nshape     [2, 3]\nstrides   [3, 1]\ndevice    meta");
}

#[test]
fn tensors_print_as_in_pytorch() {
    let table = json("printing.json");
    let rows = table["rows"].as_array().unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let [dtype, tokens, expected] = [0, 2, 3].map(|i| row[i].as_str().unwrap());
        let sizes: Vec<usize> = row[1].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect();
        let got = match crate::common::dtype(dtype).unwrap() {
            DType::Bool => printed::<bool>(&sizes, tokens),
            DType::U8 => printed::<u8>(&sizes, tokens),
            DType::I8 => printed::<i8>(&sizes, tokens),
            DType::I16 => printed::<i16>(&sizes, tokens),
            DType::I32 => printed::<i32>(&sizes, tokens),
            DType::I64 => printed::<i64>(&sizes, tokens),
            DType::F16 => printed::<f16>(&sizes, tokens),
            DType::BF16 => printed::<bf16>(&sizes, tokens),
            DType::F32 => printed::<f32>(&sizes, tokens),
            DType::F64 => printed::<f64>(&sizes, tokens),
            DType::C32 => printed::<Complex<f16>>(&sizes, tokens),
            DType::C64 => printed::<Complex<f32>>(&sizes, tokens),
            DType::C128 => printed::<Complex<f64>>(&sizes, tokens),
            DType::U16 => printed::<u16>(&sizes, tokens),
            DType::U32 => printed::<u32>(&sizes, tokens),
            DType::U64 => printed::<u64>(&sizes, tokens),
            DType::F8E4M3FN => printed::<F8E4M3FN>(&sizes, tokens),
            DType::F8E4M3FNUZ => printed::<F8E4M3FNUZ>(&sizes, tokens),
            DType::F8E5M2 => printed::<F8E5M2>(&sizes, tokens),
            DType::F8E5M2FNUZ => printed::<F8E5M2FNUZ>(&sizes, tokens),
            DType::F8E8M0FNU => printed::<F8E8M0FNU>(&sizes, tokens),
            DType::F4E2M1FNX2 => printed::<F4E2M1FNX2>(&sizes, tokens),
            other => panic!("{other} is not printed"),
        };
        if got != expected {
            wrong.push(format!("{dtype} {sizes:?}\n{got}\nPyTorch\n{expected}\n"));
        }
    }
    println!("{} of {} tensors print alike", rows.len() - wrong.len(), rows.len());
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}

#[test]
fn views_print_their_own_elements() {
    let x = Tensor::<i64, shape![2, 3]>::from_fn(|[i, j]| (10 * i + j) as i64);
    assert_eq!(x.t().to_string(), "tensor([[ 0, 10],\n        [ 1, 11],\n        [ 2, 12]])");
}

#[test]
fn tensors_without_data_print_what_they_are() {
    assert_eq!(Tensor::<f32, shape![2, 3], Meta>::zeros().to_string(), "tensor(..., device='meta', size=(2, 3))");
    assert_eq!(Tensor::<i64, (), Meta>::zeros().to_string(), "tensor(..., device='meta', size=(), dtype=torch.int64)");
    assert_eq!(
        Tensor::<f16, shape![_], Meta>::zeros_sized([0]).to_string(),
        "tensor(..., device='meta', size=(0,), dtype=torch.float16)"
    );
}

#[test]
fn debug_says_what_a_tensor_is() {
    let text = format!("{:?}", tensor![[1, 2], [3, 4]].t());
    for part in ["int64", "[2, 2]", "[1, 2]", "cpu", "tensor([[1, 3],"] {
        assert!(text.contains(part), "{text}");
    }
    let _: &dyn std::fmt::Debug = &Tensor::<f32, shape![2], Cpu>::zeros();
    assert_eq!(<f32 as Element>::DTYPE, DType::F32);
}
