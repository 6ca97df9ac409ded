//! Axes other than the last: lanes computed together give the same as each alone, and reductions of views give the same as those of their
//! copies.

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType, ScalarValue};

/// Elements that repeat, rise and fall; with a NaN and infinities here and there if that is asked for.
fn elements(sizes: &[usize], dtype: DType, odd: bool) -> AnyTensor {
    let count = sizes.iter().product();
    let element = |at: usize| {
        let value = (at * 7919 % 31) as f64 - 15.0;
        ScalarValue::Float(match at % 97 {
            41 if odd => f64::NAN,
            5 if odd => f64::INFINITY,
            67 if odd => f64::NEG_INFINITY,
            _ if dtype.is_floating_point() => value * 0.37,
            _ => value,
        })
    };
    let wide: Vec<ScalarValue> = (0..count).map(element).collect();
    AnyTensor::from_scalars(&wide, sizes, DType::F64).unwrap().to(dtype).unwrap()
}

/// The bytes of the results, lane after lane.
fn bytes(result: Value, axis: i64) -> Vec<Vec<u8>> {
    let results = match result {
        Value::Array(x) => vec![x],
        Value::List(list) => list.into_iter().map(|x| x.tensor().unwrap().clone()).collect(),
        other => panic!("no tensors: {other:?}"),
    };
    let bytes = |x: &AnyTensor| {
        let x = x.movedim(&[axis], &[-1]).unwrap().contiguous().unwrap();
        // NaN has several bit patterns.
        let limits = Args::new().arg(&x).arg(12_345.0).arg(f64::INFINITY).arg(f64::NEG_INFINITY);
        call("nan_to_num", &limits).unwrap().tensor().unwrap().to_bytes().unwrap()
    };
    results.iter().map(bytes).collect()
}

/// Each lane alone gives what it gives among all.
fn check_lanes(op: &str, x: &AnyTensor, axis: i64) {
    let together = bytes(call(op, &Args::new().arg(x).arg(axis)).unwrap(), axis);
    let len = x.shape()[axis as usize] as i64;
    let lanes = x.movedim(&[axis], &[-1]).unwrap().contiguous().unwrap().reshape(&[-1, len]).unwrap();
    let mut alone = vec![Vec::new(); together.len()];
    for lane in 0..lanes.shape()[0] {
        let lane = lanes.narrow(0, lane as i64, 1).unwrap().reshape(&[len]).unwrap().copy().unwrap();
        for (all, one) in alone.iter_mut().zip(bytes(call(op, &Args::new().arg(&lane).arg(0_i64)).unwrap(), 0)) {
            all.extend(one);
        }
    }
    assert!(alone == together, "{op} of {:?} {:?} along {axis}", x.dtype(), x.shape());
}

const SCANS: [&str; 7] = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax"];

fn scans(dtype: DType) -> &'static [&'static str] {
    if dtype.is_floating_point() { &SCANS } else { &SCANS[..4] }
}

#[test]
fn lanes_side_by_side_give_what_each_gives_alone() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64, DType::U8] {
        for (rows, columns) in
            [(1, 5), (2, 12), (15, 11), (16, 13), (17, 1), (63, 64), (64, 65), (70, 3), (100, 16), (3, 257), (5, 600)]
        {
            for odd in [false, true] {
                if odd && !dtype.is_floating_point() {
                    continue;
                }
                let x = elements(&[rows, columns], dtype, odd);
                for op in scans(dtype) {
                    check_lanes(op, &x, 0);
                    check_lanes(op, &x, 1);
                }
            }
        }
    }
}

/// The elements in row-major order.
fn numbers(x: &AnyTensor) -> Vec<f64> {
    x.to(DType::F64).unwrap().to_scalars().unwrap().into_iter().map(ScalarValue::real_part).collect()
}

/// The extreme elements so far and where they are, one after the other: of equals the last, and a NaN stays until the next.
fn extremes(lane: &[f64], largest: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut values, mut places) = (Vec::new(), Vec::new());
    let mut extreme = (f64::NAN, 0.0);
    for (at, &x) in lane.iter().enumerate() {
        let beats = if largest { x >= extreme.0 } else { x <= extreme.0 };
        if at == 0 || beats || x.is_nan() {
            extreme = (x, at as f64);
        }
        values.push(extreme.0);
        places.push(extreme.1);
    }
    (values, places)
}

#[test]
fn running_extremes_are_those_found_one_by_one() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16, DType::I64, DType::I32, DType::U8, DType::Bool] {
        for len in [0, 1, 7, 8, 9, 16, 17, 40, 100, 200] {
            for odd in [false, dtype.is_floating_point()] {
                let x = elements(&[3, len], dtype, odd);
                // Lanes side by side, and every second element of lanes.
                for x in [x.clone(), elements(&[3, 2 * len], dtype, odd).slice(1, None, None, 2).unwrap()] {
                    let wide = numbers(&x);
                    for op in ["cummax", "cummin"] {
                        let found = call(op, &Args::new().arg(&x).arg(1_i64)).unwrap();
                        let Value::List(found) = found else { panic!("two tensors") };
                        let found: Vec<AnyTensor> = found.into_iter().map(|x| x.tensor().unwrap().clone()).collect();
                        let values = numbers(&found[0]);
                        let places = numbers(&found[1]);
                        for lane in 0..3 {
                            let part = lane * len..(lane + 1) * len;
                            let (expected, at) = extremes(&wide[part.clone()], op == "cummax");
                            let alike = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
                            assert!(values[part.clone()].iter().zip(&expected).all(alike), "{op} {dtype:?} {len}");
                            assert_eq!(places[part], at, "{op} {dtype:?} {len}");
                        }
                    }
                }
            }
        }
    }
}

/// Lanes longer than what is added up at once.
#[test]
fn long_lanes_side_by_side_add_up_in_the_same_order() {
    for rows in [1023, 1025, 1029, 4096 + 20] {
        for op in ["softmax", "log_softmax", "cumsum"] {
            check_lanes(op, &elements(&[rows, 13], DType::F32, false), 0);
        }
    }
}

#[test]
fn lanes_of_views_are_scanned_like_those_of_copies() {
    for dtype in [DType::F32, DType::I64] {
        let cube = elements(&[14, 9, 30], dtype, dtype == DType::F32);
        let views = [
            cube.permute(&[2, 1, 0]).unwrap(),
            cube.permute(&[1, 2, 0]).unwrap(),
            cube.permute(&[1, 0, 2]).unwrap(),
            cube.slice(2, None, None, 2).unwrap(),
            cube.slice(1, Some(1), None, 3).unwrap(),
            cube.narrow(0, 3, 1).unwrap().expand(&[5, 9, 30]).unwrap(),
        ];
        for view in views {
            for axis in 0..3 {
                scans(dtype).iter().for_each(|op| check_lanes(op, &view, axis));
            }
        }
    }
    for axis in 0..3 {
        let nothing = AnyTensor::zeros(&[3, 0, 20], DType::F32).unwrap();
        SCANS.iter().for_each(|op| drop(call(op, &Args::new().arg(&nothing).arg(axis)).unwrap()));
    }
}

/// Integers, whose sums are exact in any order.
#[test]
fn views_are_reduced_like_their_copies() {
    for dtype in [DType::F64, DType::F32, DType::I64, DType::I16] {
        let cube = elements(&[14, 33, 30], DType::I16, false).to(dtype).unwrap();
        let views = [
            cube.permute(&[2, 1, 0]).unwrap(),
            cube.permute(&[1, 2, 0]).unwrap(),
            cube.permute(&[0, 2, 1]).unwrap(),
            cube.slice(2, None, None, 2).unwrap(),
            cube.slice(2, Some(1), None, 3).unwrap(),
            cube.slice(2, None, None, 29).unwrap(),
            cube.narrow(0, 3, 1).unwrap().expand(&[5, 33, 30]).unwrap(),
        ];
        for view in views {
            let copy = view.copy().unwrap().contiguous().unwrap();
            for mask in 0..8 {
                let dims: Vec<i64> = (0..3).filter(|axis| mask >> axis & 1 == 1).collect();
                for keepdim in [false, true] {
                    let all = |x: &AnyTensor| {
                        let mut results = vec![
                            x.sum(Some(&dims), keepdim, None).unwrap(),
                            x.amax(Some(&dims), keepdim).unwrap(),
                            x.any(Some(&dims), keepdim).unwrap(),
                            x.count_nonzero(Some(&dims)).unwrap(),
                        ];
                        let (min, max) = x.aminmax(Some(&dims), keepdim).unwrap();
                        results.extend([min, max]);
                        if let [dim] = dims[..] {
                            let (values, places) = x.max_axis(dim, keepdim).unwrap();
                            results.extend([values, places, x.argmin(Some(dim), keepdim).unwrap()]);
                        }
                        if dtype.is_floating_point() {
                            for ord in [0.0, 1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY] {
                                results.push(x.vector_norm(ord, Some(&dims), keepdim).unwrap());
                            }
                        }
                        results.into_iter().map(|x| (x.shape().to_vec(), x.to_bytes().unwrap())).collect::<Vec<_>>()
                    };
                    assert!(all(&view) == all(&copy), "{dtype:?} {:?} over {dims:?}", view.shape());
                }
            }
        }
    }
}

/// One element decides, wherever it is.
#[test]
fn any_and_all_find_the_one_element() {
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::U8, DType::Bool, DType::C64] {
        for len in [1, 2, 63, 64, 65, 127, 128, 200] {
            let none = AnyTensor::zeros(&[len], dtype).unwrap();
            let full = AnyTensor::ones(&[len], dtype).unwrap();
            assert_eq!(none.any(None, false).unwrap().to_string(), "tensor(False)");
            assert_eq!(full.all(None, false).unwrap().to_string(), "tensor(True)");
            for at in 0..len {
                let place = AnyTensor::from_scalars(&[ScalarValue::Int(at as i128)], &[1], DType::I64).unwrap();
                let one = none.index_fill(0, &place, 1_i64).unwrap();
                assert_eq!(one.any(None, false).unwrap().to_string(), "tensor(True)", "{dtype:?} {at} of {len}");
                let but_one = full.index_fill(0, &place, 0_i64).unwrap();
                assert_eq!(but_one.all(None, false).unwrap().to_string(), "tensor(False)", "{dtype:?} {at} of {len}");
            }
        }
    }
}
