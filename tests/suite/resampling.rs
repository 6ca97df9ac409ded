//! Operations that resample, beside what PyTorch gives (`benches/peers/resampling.py`), typed and by name.

use castiron::nn::{
    Area, Bicubic, Bilinear, Lanczos, Linear, Nearest, NearestExact, Trilinear,
};
use castiron::{ChannelsLast, DType, KnownShape, Meta, Shape, Tensor, bf16, dim, f16, shape};
use serde_json::Value as Json;
use std::sync::OnceLock;

/// The cases, each with a name.
fn cases() -> &'static [Json] {
    static CASES: OnceLock<Json> = OnceLock::new();
    let all = CASES.get_or_init(|| serde_json::from_str(include_str!("../data/resampling.json")).unwrap());
    all.as_array().unwrap()
}

fn case(name: &str) -> &'static Json {
    cases().iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("there is no case {name:?}"))
}

fn sizes(value: &Json) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

/// A number, or one that JSON has no sign for.
fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// The elements of an operand, by its formula or as they are written, in logical order.
fn elements(operand: &Json) -> Vec<f64> {
    let count: usize = sizes(&operand["shape"]).iter().product();
    let mut list: Vec<f64> = match operand["fill"].as_array() {
        None => operand["values"].as_array().unwrap().iter().map(number).collect(),
        Some(fill) => {
            let [times, plus, modulus, minus, divisor] = core::array::from_fn(|at| fill[at].as_i64().unwrap());
            (0..count as i64).map(|i| ((i * times + plus) % modulus - minus) as f64 / divisor as f64).collect()
        }
    };
    if operand["dtype"] == "bool" {
        list.iter_mut().for_each(|x| *x = f64::from(u8::from(*x % 3.0 == 0.0)));
    }
    for at in operand["nan"].as_array().map_or(operand["nan"].as_u64().into_iter().collect(), |list| {
        list.iter().filter_map(Json::as_u64).collect::<Vec<_>>()
    }) {
        list[at as usize] = f64::NAN;
    }
    list
}

/// The largest difference that counts as none, beside 1.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 1.6e-2,
        DType::F32 | DType::C64 => 4e-6,
        DType::F64 => 1e-13,
        _ => 0.0,
    }
}

/// What differs from the result that PyTorch gives.
fn difference(expected: &Json, dtype: DType, own_sizes: &[usize], strides: Option<&[usize]>, values: &[f64]) -> Option<String> {
    if sizes(&expected["sizes"]) != own_sizes {
        return Some(format!("sizes {own_sizes:?}, expected {}", expected["sizes"]));
    }
    let of = sizes(&expected["strides"]);
    let counts = |at: &usize| own_sizes[*at] > 1 && !own_sizes.contains(&0);
    if let Some(strides) = strides
        && (0..of.len()).filter(counts).any(|at| of[at] != strides[at])
    {
        return Some(format!("strides {strides:?}, expected {of:?}"));
    }
    let list = expected["values"].as_array().unwrap();
    let wanted: Vec<f64> = list.iter().flat_map(|value| match value.as_array() {
        Some(parts) => parts.iter().map(number).collect(),
        None if value.is_boolean() => vec![f64::from(u8::from(value.as_bool().unwrap()))],
        None => vec![number(value)],
    }).collect();
    if wanted.len() != values.len() {
        return Some(format!("{} values, expected {}", values.len(), wanted.len()));
    }
    let close = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance(dtype) * (1.0 + b.abs());
    let at = (0..values.len()).find(|&at| !close(values[at], wanted[at]))?;
    Some(format!("element {at} is {}, expected {}", values[at], wanted[at]))
}

#[cfg(feature = "any")]
mod by_name {
    use super::*;
    use castiron::any::{Args, Value, call};
    use castiron::{AnyTensor, Complex, ScalarValue};

    pub(super) fn operand(spec: &Json) -> AnyTensor {
        let list = elements(spec);
        let len = list.len();
        let dtype: DType = crate::common::dtype(spec["dtype"].as_str().unwrap()).unwrap();
        let mut x = AnyTensor::from(Tensor::<f64, shape![_]>::from_vec_sized(list, [len])).to(dtype).unwrap();
        if dtype.is_complex() {
            let factor = ScalarValue::Complex(Complex::new(1.0, 2.0));
            x = called("mul", Args::new().arg(&x).arg(factor));
        }
        let of: Vec<i64> = sizes(&spec["shape"]).iter().map(|&size| size as i64).collect();
        let x = x.reshape(&of).unwrap();
        match spec["layout"].as_str().unwrap() {
            "channels_last" => {
                let format = if of.len() == 4 { "channels_last" } else { "channels_last_3d" };
                called("contiguous", Args::new().arg(&x).named("memory_format", format))
            }
            "transposed" => x.transpose(-1, -2).unwrap().contiguous().unwrap().transpose(-1, -2).unwrap(),
            "steps" => {
                let twice = called("repeat_interleave", Args::new().arg(&x).arg(2_i64).named("dim", -1_i64));
                twice.slice(-1, None, None, 2).unwrap()
            }
            _ => x,
        }
    }

    fn called(op: &str, args: Args) -> AnyTensor {
        call(op, &args).unwrap().tensor().unwrap()
    }

    fn argument(value: &Json) -> Value {
        match value {
            Json::Bool(value) => (*value).into(),
            Json::Number(value) if value.is_i64() => value.as_i64().unwrap().into(),
            Json::Number(value) => value.as_f64().unwrap().into(),
            Json::String(text) => text.parse::<f64>().map_or(Value::from(&**text), Value::from),
            Json::Array(items) => Value::List(items.iter().map(argument).collect()),
            other => panic!("{other} is no argument"),
        }
    }

    pub(super) fn arguments(case: &Json) -> Args {
        let operands = case["operands"].as_array().unwrap().iter().map(operand);
        let args = operands.fold(Args::new(), |args, operand| args.arg(operand));
        let named = case["kwargs"].as_object().unwrap();
        named.iter().fold(args, |args, (name, value)| args.named(name, argument(value)))
    }

    fn values(x: &AnyTensor) -> Vec<f64> {
        let parts = if x.dtype().is_complex() { called("view_as_real", Args::new().arg(x)) } else { x.clone() };
        let scalars = parts.to(DType::F64).unwrap().to_scalars().unwrap();
        scalars.into_iter().map(|value| value.to_dtype().unwrap()).collect()
    }

    fn tensors(value: Value) -> Vec<AnyTensor> {
        match value {
            Value::List(list) => list.into_iter().map(|value| value.tensor().unwrap()).collect(),
            one => vec![one.tensor().unwrap()],
        }
    }

    #[test]
    fn results_are_those_of_pytorch() {
        let mut wrong = vec![];
        for case in cases() {
            let op = case["op"].as_str().unwrap();
            let results = match call(op, &arguments(case)) {
                Ok(value) => tensors(value),
                Err(error) => {
                    wrong.push(format!("{}: {error}", case["name"]));
                    continue;
                }
            };
            for (result, expected) in results.iter().zip(case["results"].as_array().unwrap()) {
                if let Some(text) = difference(expected, result.dtype(), result.shape(), Some(result.stride()), &values(result)) {
                    wrong.push(format!("{}: {text}", case["name"]));
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases().len(), wrong.join("\n"));
    }

    /// Of operands without data, sizes and strides are those of operands with data.
    #[test]
    fn without_data_the_sizes_are_the_same() {
        for case in cases() {
            let args = arguments(case);
            let op = case["op"].as_str().unwrap();
            let operands = case["operands"].as_array().unwrap().iter().map(|spec| operand(spec).to_device("meta").unwrap());
            let plan = operands.fold(Args::new(), |args, operand| args.arg(operand));
            let named = case["kwargs"].as_object().unwrap();
            let plan = named.iter().fold(plan, |plan, (name, value)| plan.named(name, argument(value)));
            let (there, planned) = (call(op, &args).unwrap(), call(op, &plan).unwrap());
            for (there, planned) in tensors(there).iter().zip(&tensors(planned)) {
                assert_eq!((there.dtype(), there.shape()), (planned.dtype(), planned.shape()), "{}", case["name"]);
                assert_eq!(there.stride(), planned.stride(), "{}", case["name"]);
            }
        }
    }
}

/// An operand of a case.
fn typed<S: KnownShape>(name: &str, at: usize) -> Tensor<f64, S> {
    Tensor::from_vec(elements(&case(name)["operands"][at]))
}

/// Whether a result, as `f64`, is that of a case.
fn agrees<S: Shape>(name: &str, dtype: DType, result: &Tensor<f64, S>) {
    let different = difference(&case(name)["results"][0], dtype, result.shape().as_ref(), None, &result.to_vec());
    assert!(different.is_none(), "{name}: {}", different.unwrap_or_default());
}

#[test]
fn typed_tensors_are_interpolated_to_shapes() {
    let x: Tensor<f32, shape![2, 2, 7]> = typed("nearest 3 up", 0).to();
    let y: Tensor<f32, shape![2, 2, 11]> = x.interpolate::<shape![11]>(Nearest::new());
    agrees("nearest 3 up", DType::F32, &y.to());
    agrees("nearest-exact 3 up", DType::F32, &x.interpolate::<shape![11]>(NearestExact::new()).to());
    agrees("linear 3 up", DType::F32, &x.interpolate::<shape![11]>(Linear::new()).to());
    agrees("linear 3 corners up", DType::F32, &x.interpolate::<shape![11]>(Linear::new().align_corners(true)).to());
    agrees("area 3 up", DType::F32, &x.interpolate::<shape![11]>(Area::new()).to());
    let x: Tensor<f64, shape![2, 2, 5, 6]> = typed("bicubic 4 down", 0).to();
    agrees("bicubic 4 down", DType::F64, &x.interpolate::<shape![3, 2]>(Bicubic::new()).to());
    agrees("bilinear 4 down", DType::F64, &x.interpolate_sized::<shape![_, _]>([3, 2], Bilinear::new()).to());
    let y: Tensor<f64, shape![2, 2, 10, 12]> = x.upsample::<dim!(2)>(Bilinear::new());
    agrees("bilinear 4 by 2", DType::F64, &y.to());
    let x: Tensor<f32, shape![2, 2, 5, 6]> = typed("nearest 4 by 1.3", 0).to();
    let y: Tensor<f32, shape![2, 2, _, _]> = x.interpolate_scaled([1.3, 1.3], Nearest::new());
    agrees("nearest 4 by 1.3", DType::F32, &y.to());
    let x: Tensor<f32, shape![1, 2, 2, 3, 4]> = typed("trilinear 5 up", 0).to();
    agrees("trilinear 5 up", DType::F32, &x.interpolate::<shape![3, 5, 5]>(Trilinear::new()).to());
    let x: Tensor<u8, shape![1, 2, 7, 9]> = typed("lanczos antialiased u8", 0).to();
    agrees("lanczos antialiased u8", DType::U8, &x.interpolate::<shape![3, 13]>(Lanczos::new()).to());
    agrees("bicubic antialiased u8", DType::U8, &x.interpolate::<shape![3, 13]>(Bicubic::new().antialias(true)).to());
    let x: Tensor<f16, shape![2, 2, 7]> = typed("linear 3 f16", 0).to();
    agrees("linear 3 f16", DType::F16, &x.interpolate::<shape![11]>(Linear::new()).to());
    let x: Tensor<bf16, shape![2, 2, 5, 6]> = typed("bilinear 4 bf16", 0).to();
    let y = x.to_memory_format(ChannelsLast).interpolate::<shape![8, 9]>(Bilinear::new());
    assert!(y.is_contiguous_in(ChannelsLast));
    agrees("bilinear 4 bf16", DType::BF16, &y.to());
}

#[test]
fn what_can_not_be_resampled_is_an_error() {
    let x = Tensor::<f32, shape![1, 2, _]>::zeros_sized([1, 2, 0]);
    assert!(x.try_interpolate::<shape![3]>(Nearest::new()).is_err());
    let x = Tensor::<f32, shape![1, 2, 3]>::ones();
    assert!(x.try_interpolate::<shape![0]>(Linear::new()).is_err());
    for factor in [f64::NAN, f64::INFINITY, 0.1, -1.0, 1e300] {
        assert!(x.try_interpolate_scaled([factor], Nearest::new()).is_err(), "{factor}");
    }
    assert!(x.try_interpolate_sized::<shape![_]>([usize::MAX / 2], Linear::new()).is_err());
    assert!(x.try_interpolate_sized::<shape![_]>([usize::MAX / 64], Linear::new()).is_err());
    let x: Tensor<f32, shape![1, 2, 3], Meta> = x.to_device().unwrap();
    assert_eq!(x.interpolate::<shape![9]>(Linear::new()).shape(), [1, 2, 9]);
}
