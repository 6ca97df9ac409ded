//! Operations that resample, compared with PyTorch (`benches/peers/resampling.py`), typed and by name.

use castiron::nn::{
    Area, Bicubic, Bilinear, GridPadding, Lanczos, Linear, Nearest, NearestExact, Patches, Pool, Trilinear,
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

/// The largest difference that is ignored, relative to 1.
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
fn difference(
    expected: &Json,
    dtype: DType,
    own_sizes: &[usize],
    strides: Option<&[usize]>,
    values: &[f64],
) -> Option<String> {
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
    let wanted: Vec<f64> = list
        .iter()
        .flat_map(|value| match value.as_array() {
            Some(parts) => parts.iter().map(number).collect(),
            None if value.is_boolean() => vec![f64::from(u8::from(value.as_bool().unwrap()))],
            None => vec![number(value)],
        })
        .collect();
    if wanted.len() != values.len() {
        return Some(format!("{} values, expected {}", values.len(), wanted.len()));
    }
    let close =
        |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance(dtype) * (1.0 + b.abs());
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
                if let Some(text) =
                    difference(expected, result.dtype(), result.shape(), Some(result.stride()), &values(result))
                {
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
            let operands =
                case["operands"].as_array().unwrap().iter().map(|spec| operand(spec).to_device("meta").unwrap());
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

#[test]
fn typed_images_are_cut_into_patches_and_summed_of_them() {
    let x: Tensor<f64, shape![1, 2, 6, 5]> = typed("unfold all", 0);
    let patches =
        Patches::<shape![2, 3]>::new().dilation::<shape![2, 1]>().padding::<shape![1, 2]>().stride::<shape![1, 2]>();
    let y: Tensor<f64, shape![1, 12, 24]> = x.im2col(patches);
    agrees("unfold all", DType::F64, &y);
    let y: Tensor<f64, shape![1, 12, 24]> = typed("fold all", 0);
    let x: Tensor<f64, shape![1, 2, 6, 5]> = y.col2im::<shape![6, 5], _>(patches);
    agrees("fold all", DType::F64, &x);
    let x: Tensor<bool, shape![1, 2, 3, 4]> = typed::<shape![1, 2, 3, 4]>("unfold bool", 0).gt(0.0);
    let y: Tensor<bool, shape![1, 8, 20]> = x.im2col(Patches::<dim!(2)>::new().padding::<dim!(1)>());
    agrees("unfold bool", DType::Bool, &y.to());
    // With sizes known at run time.
    let x = Tensor::<f32, shape![_, 3, _, _]>::ones_sized([2, 3, 4, 4]);
    let y: Tensor<f32, shape![_, 12, _]> = x.im2col(Patches::<dim!(2)>::new().stride::<dim!(2)>());
    assert_eq!(y.shape(), [2, 12, 4]);
    let whole: Tensor<f32, shape![_, _, 4, 4]> =
        y.with_shape::<shape![_, _, _]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new().stride::<dim!(2)>());
    assert_eq!(whole.to_vec(), x.to_vec());
    let wrong = y.with_shape::<shape![_, _, _]>();
    assert!(wrong.try_col2im::<shape![4, 5], _>(Patches::<dim!(2)>::new()).is_err());
    assert!(x.try_im2col(Patches::<dim!(5)>::new()).is_err());
    // How far a window of one position reaches does not matter.
    let far = Patches::<dim!(1)>::new().dilation::<dim!(18446744073709551615)>().stride::<dim!(18446744073709551615)>();
    assert_eq!(x.im2col(far).shape(), [2, 3, 1]);
}

#[test]
fn typed_windows_have_norms() {
    let x: Tensor<f32, shape![2, 2, 5, 7]> = typed("lp_pool2d 2", 0).to();
    let y: Tensor<f32, shape![2, 2, 2, 3]> = x.lp_pool2d(2.0, Pool::<dim!(2)>::new());
    agrees("lp_pool2d 2", DType::F32, &y.to());
    let x: Tensor<f64, shape![2, 3, 4, 5]> = typed("lp_pool3d 3", 0);
    agrees("lp_pool3d 3", DType::F64, &x.lp_pool3d(3.0, Pool::<dim!(2)>::new().stride::<dim!(1)>()));
    let x: Tensor<f32, shape![2, 2, 7]> = typed("lp_pool1d -inf", 0).to();
    agrees(
        "lp_pool1d -inf",
        DType::F32,
        &x.lp_pool1d(f64::NEG_INFINITY, Pool::<dim!(2)>::new().stride::<dim!(1)>()).to(),
    );
    assert!(x.try_lp_pool1d(0.0, Pool::<dim!(2)>::new()).is_err());
}

#[test]
fn typed_elements_are_put_back_where_pooling_found_them() {
    let name = "max_unpool2d plain";
    let x: Tensor<f32, shape![2, 2, 2, 3]> = typed(name, 0).to();
    let index: Tensor<i64, shape![2, 2, 2, 3]> = typed(name, 1).to();
    let y: Tensor<f32, shape![2, 2, 4, 6]> = x.max_unpool2d(&index, Pool::<dim!(2)>::new());
    agrees(name, DType::F32, &y.to());
    let name = "max_unpool2d to size";
    let x: Tensor<bf16, shape![1, 2, 2, 3]> = typed(name, 0).to();
    let index: Tensor<i64, shape![1, 2, 2, 3]> = typed(name, 1).to();
    agrees(name, DType::BF16, &x.max_unpool2d_to::<shape![5, 7], _>(&index, Pool::<dim!(2)>::new()).to());
    let unknown: Tensor<bf16, shape![1, 2, _, _]> = x.clone().with_shape();
    assert!(unknown.try_max_unpool2d_to::<shape![7, 7], _>(&index, Pool::<dim!(2)>::new()).is_err());
    assert!(x.try_max_unpool2d(&(index + 100), Pool::<dim!(2)>::new()).is_err());
    let name = "max_unpool3d stride";
    let x: Tensor<f64, shape![2, 2, 2, 3]> = typed(name, 0);
    let index: Tensor<i64, shape![2, 2, 2, 3]> = typed(name, 1).to();
    let pool = Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>();
    let y: Tensor<f64, shape![2, 3, 3, 5]> = x.max_unpool3d(&index, pool);
    agrees(name, DType::F64, &y);
}

#[test]
fn typed_images_and_volumes_are_sampled_at_a_grid() {
    let maps: Tensor<f32, shape![2, 2, 3]> = typed("affine_grid 2d corners", 0).to();
    let grid: Tensor<f32, shape![2, 3, 4, 2]> = maps.affine_grid::<shape![3, 4]>(true);
    agrees("affine_grid 2d corners", DType::F32, &grid.to());
    let maps: Tensor<f64, shape![1, 3, 4]> = typed("affine_grid 3d pixels", 0);
    agrees("affine_grid 3d pixels", DType::F64, &maps.affine_grid::<shape![2, 3, 2]>(false));
    let x: Tensor<f64, shape![2, 2, 4, 5]> = typed("grid_sample bicubic reflection pixels", 0);
    let grid: Tensor<f64, shape![2, 3, 4, 2]> = typed("grid_sample bicubic reflection pixels", 1);
    let y: Tensor<f64, shape![2, 2, 3, 4]> = x.grid_sample(&grid, Bicubic::new(), GridPadding::Reflection, false);
    agrees("grid_sample bicubic reflection pixels", DType::F64, &y);
    let x: Tensor<f64, shape![1, 2, 3, 4, 3]> = typed("grid_sample 3d bilinear border corners", 0);
    let grid: Tensor<f64, shape![1, 2, 2, 3, 3]> = typed("grid_sample 3d bilinear border corners", 1);
    let y: Tensor<f64, shape![1, 2, 2, 2, 3]> = x.grid_sample(&grid, Bilinear::new(), GridPadding::Border, true);
    agrees("grid_sample 3d bilinear border corners", DType::F64, &y);
    // A map that changes nothing takes each pixel from where it is.
    let same = Tensor::<f64, shape![1, 2, 3]>::from_vec(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let x: Tensor<f64, shape![1, 2, 4, 5]> = Tensor::from_fn(|at: [usize; 4]| (at[1] * 20 + at[2] * 5 + at[3]) as f64);
    let y = x.grid_sample(&same.affine_grid::<shape![4, 5]>(true), Nearest::new(), GridPadding::Zeros, true);
    assert_eq!(y.to_vec(), x.to_vec());
}
