//! Incomplete gamma functions, histograms and others: called by name and compared with PyTorch's table (`counted.json`), and typed.

use castiron::{Dyn, Error, Generator, Meta, Tensor, bf16, f16, shape, tensor};
use proptest::prelude::*;

type List<E> = Tensor<E, (Dyn,)>;

#[cfg(feature = "any")]
mod by_name {
    use crate::common::{dtype, json};
    use castiron::any::{Args, Value, call};
    use castiron::{AnyTensor, Cpu, DType, ScalarValue, Tensor, shape};
    use serde_json::Value as Json;

    fn number(json: &Json) -> f64 {
        match json {
            Json::String(text) => text.parse().unwrap(),
            Json::Bool(value) => f64::from(*value),
            other => other.as_f64().unwrap(),
        }
    }

    fn numbers(json: &Json) -> Vec<f64> {
        json.as_array().unwrap().iter().map(number).collect()
    }

    fn value(json: &Json) -> castiron::Result<Value> {
        Ok(match json {
            Json::Null => Value::Absent,
            Json::Bool(value) => (*value).into(),
            Json::String(text) => text.as_str().into(),
            Json::Array(items) => Value::List(items.iter().map(value).collect::<castiron::Result<_>>()?),
            Json::Object(fields) if fields.contains_key("float") => number(&json["float"]).into(),
            Json::Object(_) => {
                let (elements, sizes) = (numbers(&json["v"]), numbers(&json["s"]));
                let sizes: Vec<i64> = sizes.into_iter().map(|size| size as i64).collect();
                let len = elements.len();
                let list = AnyTensor::from(Tensor::<f64, shape![_]>::from_vec_sized(elements, [len]));
                list.reshape(&sizes)?.to(dtype(json["t"].as_str().unwrap()).unwrap())?.into()
            }
            Json::Number(number) => Value::Number(ScalarValue::Int(number.as_i64().unwrap().into())),
        })
    }

    /// The results, `None` where there is no tensor.
    fn flat(value: Value) -> Vec<Option<AnyTensor>> {
        match value {
            Value::List(items) => items.into_iter().flat_map(flat).collect(),
            Value::Absent => vec![None],
            one => vec![Some(one.tensor().unwrap())],
        }
    }

    /// How far elements may be apart, of their size and absolutely: PyTorch computes `float32` in `float32`.
    fn tolerance(dtype: DType) -> [f64; 2] {
        match dtype {
            DType::F64 => [2e-11, 1e-14],
            DType::F32 => [3e-5, 1e-6],
            DType::F16 => [2e-3, 1e-6],
            // The accuracy left where large numbers cancel.
            _ => [1.6e-2, 4e-3],
        }
    }

    fn same(got: &AnyTensor, wanted: &Json) -> Result<(), String> {
        let sizes: Vec<usize> = numbers(&wanted["s"]).into_iter().map(|size| size as usize).collect();
        let expected = dtype(wanted["t"].as_str().unwrap()).unwrap();
        if (got.dtype(), got.shape()) != (expected, &sizes[..]) {
            return Err(format!("{} {:?}, expected {expected} {sizes:?}", got.dtype(), got.shape()));
        }
        let list = got.to(DType::F64).unwrap().reshape(&[-1]).unwrap();
        let found = list.typed::<f64, shape![_], Cpu>().unwrap().to_vec();
        let [relative, absolute] = tolerance(expected);
        for (at, (&x, y)) in found.iter().zip(numbers(&wanted["v"])).enumerate() {
            let near = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= absolute + relative * y.abs();
            if !near {
                return Err(format!("element {at} is {x:e}, expected {y:e}"));
            }
        }
        Ok(())
    }

    fn run(row: &Json) -> Result<(), String> {
        let text = |error: castiron::Error| format!("arguments: {error}");
        let mut args = Args::new();
        for argument in row[1].as_array().unwrap() {
            args = args.arg(value(argument).map_err(text)?);
        }
        for (name, argument) in row[2].as_object().unwrap() {
            args = args.named(name, value(argument).map_err(text)?);
        }
        match (&row[3], call(row[0].as_str().unwrap(), &args)) {
            (Json::Object(_), Err(_)) => Ok(()),
            (Json::Object(error), Ok(_)) => Err(format!("PyTorch refuses: {}", error["err"])),
            (_, Err(error)) => Err(format!("refused: {error}")),
            (wanted, Ok(got)) => {
                let (got, wanted) = (flat(got), wanted.as_array().unwrap());
                if got.len() != wanted.len() {
                    return Err(format!("{} results, expected {}", got.len(), wanted.len()));
                }
                got.iter().zip(wanted).try_for_each(|(got, wanted)| match got {
                    Some(got) => same(got, wanted),
                    None if wanted.is_null() => Ok(()),
                    None => Err("no tensor".to_owned()),
                })
            }
        }
    }

    #[test]
    fn results_are_pytorchs() {
        let table = json("counted.json");
        let rows = table["rows"].as_array().unwrap();
        assert!(rows.len() > 100);
        let differ: Vec<String> = rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some(format!("{at} {} {}: {}", row[0], row[2], run(row).err()?)))
            .collect();
        assert!(differ.is_empty(), "{} of {} rows differ:\n{}", differ.len(), rows.len(), differ.join("\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_two_incomplete_gamma_functions_add_up_to_one(a in 1e-3..1e4_f64, by in 0.01..3.0_f64) {
        let (a, x) = (tensor![a; f64], tensor![a * by; f64]);
        let (lower, upper) = (a.igamma(&x).to_vec()[0], a.igammac(&x).to_vec()[0]);
        prop_assert!((0.0..=1.0).contains(&lower) && (lower + upper - 1.0).abs() < 1e-11, "{lower} {upper}");
    }

    #[test]
    fn every_element_is_in_a_bin_between_the_smallest_and_the_largest(seed in 0..1000_u64, n in 1..60_usize, bins in 1..20_usize) {
        let x = List::<f64>::randn_sized([n], &mut Generator::seeded(seed));
        let (counts, edges) = x.histogram(bins, None, None, false);
        prop_assert_eq!(counts.sum().item(), n as f64);
        prop_assert_eq!(edges.to_vec().len(), bins + 1);
        prop_assert_eq!(x.histogram_between(&edges, None, false).to_vec(), counts.to_vec());
        let (density, _) = x.histogram(bins, None, None, true);
        let widths = edges.diff(castiron::axis![0], 1);
        prop_assert!(((density * widths).sum().item() - 1.0).abs() < 1e-9);
        // One axis of a grid is a list.
        let (grid, [_]) = x.unsqueeze(castiron::axis![1]).with_shape::<shape![_, _]>().histogramdd([bins], None, None, false);
        prop_assert_eq!(grid.to_vec(), counts.to_vec());
    }
}

#[test]
fn incomplete_gamma_functions_promote_as_arithmetic_does() {
    let a: Tensor<f16, shape![2]> = tensor![1.0, 2.0; f16].igamma(&tensor![1, 0]);
    assert_eq!(a.to_vec(), [f16::from_f64(0.6321205588285577), f16::ZERO]);
    let b: Tensor<f32, shape![2]> = tensor![1.0, 1.0; bf16].igammac(&tensor![0.0, f32::INFINITY; f32]);
    assert_eq!(b.to_vec(), [1.0, 0.0]);
    let mut c = tensor![1.0, -1.0, 0.0; f64];
    c.igamma_(&tensor![1.0, 1.0, 0.0; f64]);
    // torch.igamma(torch.tensor([1., -1., 0.], dtype=torch.float64), torch.tensor([1., 1., 0.], dtype=torch.float64))
    let c = c.to_vec();
    assert!((c[0] - 0.6321205588285577).abs() < 1e-15 && c[1].is_nan() && c[2].is_nan());
}

#[test]
fn a_histogram_without_data_has_a_shape() {
    let x = Tensor::<f32, shape![3, 4], Meta>::zeros();
    let (counts, edges) = x.histogram(5, None, Some(&x), true);
    assert_eq!((counts.shape(), edges.shape()), ([5], [6]));
    assert_eq!(x.histogram_between(&Tensor::<f32, shape![4], Meta>::zeros(), None, false).shape(), [3]);
    assert_eq!(x.histogramdd([1, 2, 3, 4], None, None, false).0.shape(), [1, 2, 3, 4]);
}

#[test]
fn histograms_that_make_no_sense_are_refused() {
    let x = tensor![1.0, 2.0];
    let text = |error: Error| error.to_string();
    assert!(text(x.try_histogram(0, None, None, false).unwrap_err()).contains("at least one bin"));
    assert!(text(x.try_histogram(2, Some([1.0, f64::NAN]), None, false).unwrap_err()).contains("not finite"));
    assert!(text(x.try_histogram(2, Some([1.0, 0.0]), None, false).unwrap_err()).contains("reversed"));
    assert!(x.try_histogram(usize::MAX, None, None, false).is_err());
    assert!(x.try_histogram_between(&tensor![1.0], None, false).is_err());
    let points = Tensor::<f64, shape![_, _]>::zeros_sized([2, 3]);
    assert!(points.try_histogramdd([2, 2], None, None, false).is_err());
    assert!(points.try_histogramdd([2, 2, 2], Some(&[0.0, 1.0]), None, false).is_err());
}
