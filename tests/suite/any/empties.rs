//! Zero-dim tensors and tensors without elements in every operation: a result or an error.

use super::model::calls::looked_at;
use castiron::any::{Args, NamedOp, Value, call, ops};
use castiron::{AnyTensor, DType};
use std::collections::BTreeSet;
use std::panic::catch_unwind;

const DTYPES: [DType; 4] = [DType::I64, DType::F32, DType::Bool, DType::C64];

/// The largest size that memory can have addresses for, together with a size of zero.
const LARGE: usize = 1 << 58;

/// Something of the kind that an error says is wanted.
fn wanted(expected: &str, x: &AnyTensor) -> Option<Value> {
    let two = || vec![Value::from(x), Value::from(x)];
    Some(match expected {
        "an integer" => 0_i64.into(),
        "a scalar" => 1_i64.into(),
        "a bool" => true.into(),
        "a string" => "sum".into(),
        "a dtype" => DType::F32.into(),
        "tensors" | "a list of tensors" => Value::List(two().into()),
        "two lists of axes" => vec![vec![0_i64], vec![0]].into(),
        _ => return None,
    })
}

/// Calls an operation, arguments that are missing being added as errors ask for them.
pub fn completed(
    op: &NamedOp,
    x: &AnyTensor,
    positional: &[Value],
    mut named: Vec<(&'static str, Value)>,
) -> Option<Value> {
    for _ in 0..8 {
        let args = positional.iter().fold(Args::new(), |args, value| args.arg(value.clone()));
        let args = named.iter().fold(args, |args, (name, value)| args.named(name, value.clone()));
        let text = match call(op.name, &args) {
            Ok(value) => {
                looked_at(&value);
                return Some(value);
            }
            Err(error) => error.to_string(),
        };
        let name = text.split_once("argument `")?.1.split('`').next()?;
        let name = op.arguments.iter().map(|name| name.trim_start_matches('*')).find(|known| *known == name)?;
        if text.ends_with("is missing") {
            named.push((name, x.into()));
        } else {
            let expected = text.split_once("expected ")?.1.split(", got").next()?;
            named.iter_mut().find(|(given, _)| *given == name)?.1 = wanted(expected, x)?;
        }
    }
    None
}

/// Calls an operation in many ways; whether one of them gave a result.
fn tried(op: &NamedOp, x: &AnyTensor, device: &str) -> bool {
    let others: Vec<Value> = [x.dtype(), DType::I64, DType::Bool]
        .iter()
        .map(|&dtype| AnyTensor::zeros_on(x.shape(), dtype, device).unwrap().into())
        .chain([AnyTensor::zeros_on(&[], x.dtype(), device).unwrap().into()])
        .collect();
    let mut calls: Vec<(Vec<Value>, Vec<(&str, Value)>)> = vec![(vec![x.into()], vec![])];
    for other in &others {
        calls.push((vec![x.into(), other.clone()], vec![]));
        calls.push((vec![x.into(), 0_i64.into(), other.clone()], vec![]));
        calls.push((vec![x.into(), other.clone(), x.into()], vec![]));
        calls.push((vec![other.clone(), x.into(), other.clone()], vec![]));
    }
    calls.push((vec![vec![Value::from(x), x.into()].into()], vec![]));
    let values: [Value; 9] = [
        0_i64.into(),
        (-1_i64).into(),
        2_i64.into(),
        0.5.into(),
        true.into(),
        vec![0_i64].into(),
        vec![-1_i64, 0].into(),
        Value::List(vec![].into()),
        DType::F64.into(),
    ];
    for name in op.arguments.iter().skip(1) {
        for value in &values {
            calls.push((vec![x.into()], vec![(name.trim_start_matches('*'), value.clone())]));
        }
    }
    let mut any = false;
    for (positional, named) in calls {
        let done = catch_unwind(|| completed(op, x, &positional, named.clone()).is_some());
        any |= done.unwrap_or_else(|_| panic!("{} of {positional:?}, {named:?}", op.name));
    }
    any
}

/// The operations that give a result for some of these.
fn all_of(shapes: &[&[usize]], device: &str) -> BTreeSet<&'static str> {
    let mut done = BTreeSet::new();
    for op in ops() {
        for dtype in DTYPES {
            for sizes in shapes {
                let x = AnyTensor::zeros_on(sizes, dtype, device).unwrap();
                if tried(&op, &x, device) {
                    done.insert(op.name);
                }
            }
        }
    }
    done
}

#[test]
fn no_axes_and_no_elements_give_results_or_errors() {
    let done = all_of(&[&[], &[0], &[0, 3], &[3, 0, 2], &[0, 0], &[2, 0, 0]], "cpu");
    let mut others: Vec<&str> = ops().map(|op| op.name).filter(|name| !done.contains(name)).collect();
    others.sort_unstable();
    // Those of two dtypes, of an equation, of windows, and of operands with unlike numbers of axes.
    let mut unlike = vec![
        "_upsample_bilinear2d_aa",
        "grid_sampler_2d",
        "grid_sampler_3d",
        "native_group_norm",
        "nn.functional.affine_grid",
        "nn.functional.fold",
        "nn.functional.fractional_max_pool2d",
        "nn.functional.fractional_max_pool3d",
        "nn.functional.grid_sample",
        "nn.functional.interpolate",
        "nn.functional.lp_pool1d",
        "nn.functional.lp_pool2d",
        "nn.functional.lp_pool3d",
        "nn.functional.max_unpool1d",
        "nn.functional.max_unpool2d",
        "nn.functional.max_unpool3d",
        "nn.functional.unfold",
        "nn.functional.upsample",
        "nn.functional.upsample_bilinear",
        "nn.functional.upsample_nearest",
        "addbmm",
        "addmv",
        "can_cast",
        "diagonal_scatter",
        "einsum",
        "index_reduce",
        "mv",
        "nn.functional.adaptive_avg_pool3d",
        "nn.functional.adaptive_max_pool3d",
        "nn.functional.avg_pool1d",
        "nn.functional.avg_pool2d",
        "nn.functional.avg_pool3d",
        "nn.functional.conv2d",
        "nn.functional.conv3d",
        "nn.functional.conv_transpose1d",
        "nn.functional.conv_transpose2d",
        "nn.functional.conv_transpose3d",
        "nn.functional.cosine_embedding_loss",
        "nn.functional.embedding_bag",
        "nn.functional.max_pool1d",
        "nn.functional.max_pool2d",
        "nn.functional.max_pool3d",
        "nn.functional.nll_loss",
        "promote_types",
        "select_scatter",
    ];
    if cfg!(feature = "linalg") {
        unlike.extend(["linalg.householder_product", "linalg.ldl_solve", "linalg.lu_solve", "linalg.tensorsolve"]);
        unlike.extend(["lu_solve", "lu_unpack", "ormqr"]);
    }
    if cfg!(feature = "fft") {
        unlike.extend(["istft", "stft"]);
    }
    unlike.sort_unstable();
    assert_eq!(others, unlike);
}

#[test]
fn on_meta_they_do_too() {
    all_of(&[&[], &[0], &[0, 3], &[3, 0, 2]], "meta");
}

#[test]
fn sizes_near_the_largest_beside_a_zero_give_results_or_errors() {
    for device in ["cpu", "meta"] {
        all_of(&[&[0, LARGE], &[LARGE, 0], &[2, LARGE, 0]], device);
    }
}

#[test]
fn views_have_no_more_elements_than_there_are_addresses_for() {
    let nothing = AnyTensor::zeros(&[0], DType::I64).unwrap();
    assert_eq!(nothing.reshape(&[0, 1 << 59]).unwrap().shape(), [0, 1 << 59]);
    assert!(nothing.reshape(&[0, 1 << 62, 1 << 40]).is_err());
    assert!(nothing.view(&[1 << 40, 0, 1 << 40]).is_err());
    let long = AnyTensor::zeros(&[1], DType::I64).unwrap().expand(&[1 << 59]).unwrap();
    assert!(long.unfold(0, 1 << 58, 1).is_err());
    assert!(nothing.unsqueeze(0).unwrap().expand(&[1 << 59, -1]).unwrap().unfold(0, 1 << 58, 1).is_err());
}

#[test]
fn more_parts_than_there_is_room_for_are_errors() {
    let x = AnyTensor::zeros(&[LARGE, 0], DType::F32).unwrap();
    assert!(x.split(1, 0).is_err() && x.unbind(0).is_err() && x.chunk(LARGE, 0).is_err());
    assert!(x.chunk(LARGE, 1).is_err() && x.tensor_split(LARGE, 0).is_err());
    assert_eq!(x.chunk(2, 0).unwrap()[1].shape(), [LARGE / 2, 0]);
}

#[test]
fn work_for_no_elements_is_done_at_once() {
    let x = AnyTensor::zeros(&[LARGE, 0], DType::F32).unwrap();
    assert_eq!(x.unique_axis(1).unwrap().0.shape(), [LARGE, 0]);
    let nothing = AnyTensor::zeros(&[0], DType::F32).unwrap();
    assert_eq!(nothing.vander(Some(LARGE as i64)).unwrap().shape(), [0, LARGE]);
    let triangle = call("tril_indices", &Args::new().arg(LARGE as i64).arg(0_i64)).unwrap();
    assert_eq!(triangle.tensor().unwrap().shape(), [2, 0]);
}

#[test]
fn indices_that_lead_to_no_elements_are_checked() {
    let x = castiron::Tensor::<f32, castiron::shape![2, 0]>::zeros();
    let any = AnyTensor::from(&x);
    for (index, fits) in [(0, true), (1, true), (2, false), (-1, false)] {
        let index = castiron::tensor![index];
        assert_eq!(x.try_index_select(castiron::axis![0], &index).is_ok(), fits);
        let index = AnyTensor::from(&index);
        assert_eq!(any.index_select(0, &index).is_ok(), fits);
        assert_eq!(any.embedding(&index).is_ok(), fits);
    }
    let error = x.try_index_select(castiron::axis![1], castiron::tensor![0]).unwrap_err();
    assert_eq!(error.to_string(), any.index_select(1, &AnyTensor::from(castiron::tensor![0])).unwrap_err().to_string());
}
