//! `Display`, compared with what PyTorch prints; `Debug`, and tensors without data.

use crate::common::{Token, json, parse_all};
use castiron::{
    Complex, Cpu, DType, Dyn, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Meta, Shape,
    Tensor, bf16, f16, shape, tensor,
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
