//! Elements written, read and found at indices, on every layout, compared with one element at a time; and sorting of short lanes.

use super::layouts::{Laid, Random, laid, listed, positions};
use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType};

const SIZES: &[&[usize]] = &[
    &[1],
    &[7],
    &[40],
    &[5, 9],
    &[33, 20],
    &[1, 17],
    &[20, 1],
    &[3, 4, 70],
    &[2, 3, 9, 11],
    &[2, 20, 3],
    &[0, 4],
    &[70, 2],
];

fn ints(numbers: &[i64], sizes: &[usize]) -> AnyTensor {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    AnyTensor::from_bytes(&bytes, DType::I64, sizes).unwrap()
}

/// The place of a position in row-major order.
fn place(at: &[usize], sizes: &[usize]) -> usize {
    at.iter().zip(sizes).fold(0, |place, (at, size)| place * size + at)
}

/// Each element goes to its position with the index in place of that along the axis; of several that go to one place the last one stays,
/// and those that are added come in turn, so that what is rounded is rounded alike.
#[test]
fn elements_go_where_indices_say() {
    let random = &mut Random(5);
    for (sizes, layout) in SIZES.iter().flat_map(|sizes| (0..8).map(move |layout| (*sizes, layout))) {
        for axis in 0..sizes.len() {
            for dtype in [DType::I32, DType::BF16, DType::U8, DType::F64] {
                let own = laid(random, sizes, dtype, [0, 1, 2, 3][layout % 4]);
                let from = laid(random, sizes, dtype, layout);
                let chosen: Vec<i64> = positions(sizes).map(|_| random.next(sizes[axis]) as i64).collect();
                let index = ints(&chosen, sizes);
                let target = |at: &[usize], to: i64| {
                    let mut at = at.to_vec();
                    at[axis] = to as usize;
                    place(&at, sizes)
                };
                let (mut last, mut largest) = (own.elements.clone(), own.elements.clone());
                for (at, (&to, &x)) in positions(sizes).zip(chosen.iter().zip(&from.elements)) {
                    let to = target(&at, to);
                    last[to] = x;
                    largest[to] = largest[to].max(x);
                }
                let run = |name: &str, reduce: Option<&str>| {
                    let args =
                        Args::new().arg(own.view.clone()).arg(axis as i64).arg(index.clone()).arg(from.view.clone());
                    let args = reduce.into_iter().fold(args, |args, reduce| args.arg(reduce));
                    let Value::Array(result) = call(name, &args).unwrap() else { unreachable!() };
                    listed(&result)
                };
                let about = format!("{sizes:?} {layout} {axis} {dtype}");
                assert_eq!(run("scatter", None), last, "scatter {about}");
                assert_eq!(run("scatter_reduce", Some("amax")), largest, "scatter_reduce {about}");
                // One index for a whole slice.
                let list: Vec<i64> = (0..sizes[axis]).map(|_| random.next(sizes[axis]) as i64).collect();
                let slices = ints(&list, &[list.len()]);
                let (mut copied, mut filled) = (own.elements.clone(), own.elements.clone());
                let mut gathered = own.elements.clone();
                for (at, &x) in positions(sizes).zip(&from.elements) {
                    let to = target(&at, list[at[axis]]);
                    (copied[to], filled[to]) = (x, 3);
                    gathered[place(&at, sizes)] = own.elements[to];
                }
                let dim = axis as i64;
                let view = &own.view;
                assert_eq!(listed(&view.index_copy(dim, &slices, &from.view).unwrap()), copied, "index_copy {about}");
                assert_eq!(listed(&view.index_fill(dim, &slices, 3).unwrap()), filled, "index_fill {about}");
                assert_eq!(listed(&view.index_select(dim, &slices).unwrap()), gathered, "index_select {about}");
                // Sums of whole numbers that stay small are exact in every dtype here.
                let few = laid(random, sizes, DType::Bool, layout);
                let ones = few.view.to(dtype).unwrap();
                let mut added: Vec<i64> = vec![0; own.elements.len()];
                for (at, &x) in positions(sizes).zip(&few.elements) {
                    added[target(&at, list[at[axis]])] += x;
                }
                let zeros = AnyTensor::zeros(sizes, dtype).unwrap();
                if added.iter().all(|&sum| sum < 200) {
                    assert_eq!(listed(&zeros.index_add(dim, &slices, &ones, 1).unwrap()), added, "index_add {about}");
                }
            }
        }
    }
}

/// An index out of range is named, and nothing is read or written, wherever it stands.
#[test]
fn indices_out_of_range_are_refused_wherever_they_stand() {
    for len in [1, 15, 16, 17, 1023, 1024, 1025, 3000] {
        let x = AnyTensor::zeros(&[9], DType::F32).unwrap();
        for wrong in [0, len / 2, len - 1] {
            for bad in [9, -1, i64::MAX, i64::MIN] {
                let mut list = vec![8_i64; len];
                list[wrong] = bad;
                let error = x.gather(0, &ints(&list, &[len])).unwrap_err().to_string();
                assert!(error.contains(&bad.to_string()), "{error}");
            }
        }
        assert_eq!(x.gather(0, &ints(&vec![8; len], &[len])).unwrap().numel(), len);
    }
}

/// Rows of indices in row-major order: lines that are true throughout, in part and not at all.
#[test]
fn elements_that_are_not_zero_are_found_on_every_layout() {
    let random = &mut Random(11);
    let more: &[&[usize]] = &[&[2, 1, 3, 2, 5], &[1, 2, 1, 2, 1, 3], &[300], &[64, 64]];
    for (sizes, layout) in SIZES.iter().chain(more).flat_map(|sizes| (0..8).map(move |layout| (*sizes, layout))) {
        for dtype in [DType::Bool, DType::I64, DType::BF16] {
            let Laid { view, .. } = laid(random, sizes, dtype, layout);
            for view in [view.clone(), view.gt(20).unwrap(), view.ge(0).unwrap(), view.lt(0).unwrap()] {
                let expected: Vec<i64> = positions(sizes)
                    .zip(listed(&view))
                    .filter(|(_, x)| *x != 0)
                    .flat_map(|(at, _)| at.into_iter().map(|index| index as i64))
                    .collect();
                let found = view.nonzero().unwrap();
                assert_eq!(found.shape()[1], sizes.len());
                assert_eq!(listed(&found), expected, "{sizes:?} {layout} {dtype}");
                let typed = view.nonzero_tuple().unwrap();
                assert_eq!(typed.len(), sizes.len());
            }
        }
    }
}

/// Outputs that are not asked for do not change the others.
#[test]
fn distinct_elements_are_the_same_whatever_is_asked_for() {
    let random = &mut Random(3);
    for len in [0_usize, 1, 2, 50, 300] {
        for below in [1, 3, 1000] {
            let numbers: Vec<i64> = (0..len).map(|_| random.next(below) as i64).collect();
            let x = ints(&numbers, &[len]);
            for name in ["unique", "unique_consecutive"] {
                let run = |inverse: bool, counts: bool| {
                    let args = Args::new().arg(x.clone());
                    let args = args.named("return_inverse", inverse).named("return_counts", counts);
                    match call(name, &args).unwrap() {
                        Value::Array(one) => vec![listed(&one)],
                        Value::List(all) => {
                            let of =
                                |value: Value| if let Value::Array(x) = value { listed(&x) } else { unreachable!() };
                            all.into_iter().map(of).collect()
                        }
                        _ => unreachable!(),
                    }
                };
                let [values, inverse, counts] = <[Vec<i64>; 3]>::try_from(run(true, true)).unwrap();
                assert_eq!(run(false, false), std::slice::from_ref(&values));
                assert_eq!(run(true, false), [values.clone(), inverse.clone()]);
                assert_eq!(run(false, true), [values.clone(), counts.clone()]);
                let again: Vec<i64> = inverse.iter().map(|&at| values[at as usize]).collect();
                assert_eq!(again, numbers);
                assert_eq!(counts.iter().sum::<i64>(), len as i64);
            }
        }
    }
}

/// Slices without repetition, of whole rows and of single elements.
#[test]
fn distinct_slices_are_whole() {
    let x = ints(&[3, 1, 3, 0, 2, 0, 5, 5, 5, 7, 8, 7], &[2, 2, 3]);
    let (last, inverse, counts) = x.unique_axis(2).unwrap();
    assert_eq!(last.shape(), [2, 2, 2]);
    assert_eq!(listed(&last), [1, 3, 2, 0, 5, 5, 8, 7]);
    assert_eq!((listed(&inverse), listed(&counts)), (vec![1, 0, 1], vec![1, 2]));
    let (first, ..) = x.unique_axis(0).unwrap();
    assert_eq!(listed(&first), listed(&x));
    let (middle, ..) = x.unique_axis(1).unwrap();
    assert_eq!(listed(&middle), [0, 2, 0, 3, 1, 3, 7, 8, 7, 5, 5, 5]);
}

/// The few least or largest of a lane, with NaN the largest, and where they stand: short lanes, and long ones in which candidates are
/// replaced often.
#[test]
fn the_few_least_are_those_of_a_sorted_lane() {
    let random = &mut Random(8);
    for len in [1_usize, 2, 5, 16, 63, 64, 65, 200, 1000] {
        for below in [2, 30, 100_000] {
            let numbers: Vec<i64> = (0..len).map(|_| random.next(below) as i64).collect();
            for dtype in [DType::F32, DType::I64, DType::BF16] {
                let x = ints(&numbers, &[len]).to(dtype).unwrap();
                let own = listed(&x);
                for k in [1, 2, 3, 4, 5, 20].into_iter().filter(|&k| k <= len) {
                    for largest in [false, true] {
                        let mut sorted: Vec<i64> = own.clone();
                        sorted.sort_unstable();
                        if largest {
                            sorted.reverse();
                        }
                        let (values, places) = x.topk(k, -1, largest).unwrap();
                        assert_eq!(listed(&values), sorted[..k], "{len} {below} {dtype} {k} {largest}");
                        let at: Vec<i64> = listed(&places).iter().map(|&at| own[at as usize]).collect();
                        assert_eq!(at, sorted[..k]);
                    }
                    let (value, place) = x.kthvalue(k, -1, false).unwrap();
                    let mut sorted = own.clone();
                    sorted.sort_unstable();
                    assert_eq!(listed(&value), [sorted[k - 1]]);
                    assert_eq!(own[listed(&place)[0] as usize], sorted[k - 1]);
                }
            }
        }
    }
}

/// As for typed tensors: one rounding of what meets at one place.
#[test]
fn halves_that_meet_are_rounded_once() {
    for (dtype, expected) in [(DType::F16, 2500), (DType::BF16, 2496)] {
        let (zeros, ones) = (AnyTensor::zeros(&[3], dtype).unwrap(), AnyTensor::ones(&[2500], dtype).unwrap());
        let index = AnyTensor::zeros(&[2500], DType::I64).unwrap();
        for (sum, by) in [
            (zeros.scatter_add(0, &index, &ones), "scatter_add"),
            (zeros.index_add(0, &index, &ones, 1), "index_add"),
            (zeros.index_put(&[Some(&index)], &ones, true), "index_put"),
            (zeros.put(&index, &ones, true), "put"),
        ] {
            assert_eq!(listed(&sum.unwrap()), [expected, 0, 0], "{by} {dtype}");
        }
        let mean = zeros.index_reduce(0, &index, &ones, castiron::ScatterReduce::Mean, true).unwrap();
        let expected = AnyTensor::from(castiron::tensor![2500.0 / 2501.0, 0.0, 0.0]).to(dtype).unwrap();
        assert_eq!(mean.to_string(), expected.to_string());
    }
}
