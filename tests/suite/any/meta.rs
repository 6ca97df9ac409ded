//! On `meta` an operation gives the same dtype and sizes as on a device with elements.

use super::empties::completed;
use castiron::any::{Value, ops};
use castiron::{AnyTensor, DType};

const DTYPES: [DType; 8] =
    [DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::F32, DType::F64, DType::C64];

/// Dtypes and sizes of tensors, at any depth.
fn described(value: &Value) -> String {
    match value {
        Value::Array(x) => format!("{}{:?}", x.dtype(), x.shape()),
        Value::List(values) => format!("[{}]", values.iter().map(described).collect::<Vec<_>>().join(" ")),
        _ => String::new(),
    }
}

#[test]
fn results_have_the_dtype_and_sizes_of_those_with_elements() {
    // Of all calls that succeed on the host, this many succeed on `meta`; the others need elements.
    let (mut differing, mut both, mut on_host) = (Vec::new(), 0, 0);
    for op in ops() {
        for dtype in DTYPES {
            let host = AnyTensor::full(&[2, 3], true, dtype).unwrap();
            let meta = host.to_device("meta").unwrap();
            for number in [None, Some(0_i64), Some(1)] {
                let call = |x: &AnyTensor| {
                    let arguments: Vec<Value> =
                        [Some(Value::from(x)), number.map(Value::from)].into_iter().flatten().collect();
                    completed(&op, x, &arguments, Vec::new())
                };
                let (Some(host), meta) = (call(&host), call(&meta)) else { continue };
                on_host += 1;
                let Some(meta) = meta else { continue };
                both += 1;
                if described(&host) != described(&meta) {
                    differing.push(format!(
                        "{} {dtype} {number:?}: {} and {}",
                        op.name,
                        described(&host),
                        described(&meta)
                    ));
                }
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(both * 10 > on_host * 9, "{both} of {on_host}");
}

#[test]
fn what_is_divided_by_norms_is_laid_out_as_with_elements() {
    let x = AnyTensor::full(&[2, 3, 4], 1.0, DType::F32).unwrap().permute(&[2, 0, 1]).unwrap();
    let meta = x.to_device("meta").unwrap();
    let strides = |x: &AnyTensor| x.normalize(2.0, &[1], 1e-12).unwrap().stride().to_vec();
    assert_eq!((strides(&x), strides(&meta)), (vec![1, 12, 4], vec![1, 12, 4]));
}
