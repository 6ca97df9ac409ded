//! Loops over operands of every layout, compared with one element at a time: lines shorter and longer than what is computed at once,
//! transposed operands, steps, repeated elements, several dtypes, new results and in-place ones.

use castiron::any::{Args, Value, call, call_in_place};
use castiron::{AnyTensor, DType};

/// Small numbers that every dtype here holds.
pub(super) struct Random(pub u64);
impl Random {
    pub fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % below
    }
}

/// A view of memory, and its elements in row-major order.
#[derive(Clone)]
pub(super) struct Laid {
    pub view: AnyTensor,
    pub elements: Vec<i64>,
}

/// A view with these sizes in one of several layouts.
pub(super) fn laid(random: &mut Random, sizes: &[usize], dtype: DType, layout: usize) -> Laid {
    let rank = sizes.len();
    // The axes from the innermost on.
    let mut order: Vec<usize> = (0..rank).rev().collect();
    match layout {
        1 => order.reverse(),
        2 if rank > 2 => order.swap(0, 1),
        2 => order.reverse(),
        _ => {}
    }
    let (mut strides, mut step) = (vec![0; rank], [1, 1, 1, 2, 3, 5, 1, 1][layout]);
    for &axis in &order {
        // A row, or a column, for all.
        if (layout == 6 && axis + 1 < rank) || (layout == 7 && axis + 1 == rank) {
            continue;
        }
        strides[axis] = step;
        step *= sizes[axis];
    }
    let numbers: Vec<i64> = (0..step + 3).map(|_| random.next(50) as i64).collect();
    let base = AnyTensor::from_bytes(
        &numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>(),
        DType::I64,
        &[numbers.len()],
    );
    let base = base.unwrap().to(dtype).unwrap();
    let view = base.as_strided(sizes, &strides, Some(3)).unwrap();
    let elements = positions(sizes).map(|at| {
        let place: usize = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        if dtype == DType::Bool { i64::from(numbers[3 + place] != 0) } else { numbers[3 + place] }
    });
    Laid { elements: elements.collect(), view }
}

/// All positions in row-major order.
pub(super) fn positions(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let sizes = sizes.to_vec();
    (0..sizes.iter().product()).map(move |mut place: usize| {
        let mut at = vec![0; sizes.len()];
        for (at, &size) in at.iter_mut().zip(&sizes).rev() {
            (*at, place) = (place % size, place / size);
        }
        at
    })
}

/// The elements as integers, one by one.
pub(super) fn listed(x: &AnyTensor) -> Vec<i64> {
    let x =
        if x.dtype().is_complex() { call("real", &Args::new().arg(x)).unwrap().tensor().unwrap() } else { x.clone() };
    let bytes = x.to(DType::I64).unwrap().contiguous().unwrap().to_bytes().unwrap();
    bytes.chunks_exact(8).map(|one| i64::from_le_bytes(one.try_into().unwrap())).collect()
}

const SIZES: &[&[usize]] = &[
    &[],
    &[0, 3],
    &[1],
    &[700],
    &[1, 5],
    &[3, 5],
    &[65, 3],
    &[3, 257],
    &[2, 1100],
    &[40, 16],
    &[64, 64],
    &[33, 70],
    &[130, 67],
    &[4, 3, 5],
    &[3, 20, 21],
    &[2, 65, 2, 9],
];

#[test]
fn sums_of_operands_in_all_layouts_are_those_of_their_elements() {
    let mut random = Random(1);
    let pairs = [
        [DType::F32, DType::F32],
        [DType::I64, DType::I64],
        [DType::BF16, DType::BF16],
        [DType::C64, DType::C64],
        [DType::U8, DType::F32],
        [DType::F16, DType::BF16],
        [DType::Bool, DType::I16],
    ];
    for (number, sizes) in SIZES.iter().enumerate() {
        for layouts in 0..64 {
            let [x, y] = pairs[(number + layouts) % pairs.len()];
            let a = laid(&mut random, sizes, x, layouts % 8);
            let b = laid(&mut random, sizes, y, layouts / 8);
            let expected: Vec<i64> = a.elements.iter().zip(&b.elements).map(|(a, b)| a + b).collect();
            let sum = a.view.add(&b.view).unwrap();
            assert_eq!(listed(&sum), expected, "{sizes:?} {layouts} {x:?} {y:?}");
            let expected: Vec<i64> = a.elements.iter().zip(&b.elements).map(|(a, b)| i64::from(a < b)).collect();
            if !x.is_complex() {
                assert_eq!(listed(&a.view.lt(&b.view).unwrap()), expected, "{sizes:?} {layouts} {x:?} {y:?}");
            }
            // In place, in the sum's own layout.
            let mut twice = sum.clone();
            drop(sum);
            call_in_place("sub", &mut twice, &Args::new().arg(&b.view)).unwrap();
            let expected: Vec<i64> = a.elements.clone();
            assert_eq!(listed(&twice), expected, "{sizes:?} {layouts} {x:?} {y:?}");
        }
    }
}

#[test]
fn one_element_for_a_line_counts_on_either_side() {
    let mut random = Random(2);
    for dtype in [DType::F32, DType::F64, DType::I32, DType::C64, DType::F16] {
        for sizes in [[5, 1100], [9, 600], [70, 16], [2, 5000]] {
            let a = laid(&mut random, &sizes, dtype, 0);
            let one = laid(&mut random, &sizes, dtype, 7);
            for (left, right) in [(&a, &one), (&one, &a)] {
                for (name, apply) in [("sub", (|a, b| a - b) as fn(i64, i64) -> i64), ("mul", |a, b| a * b)] {
                    let expected: Vec<i64> =
                        left.elements.iter().zip(&right.elements).map(|(&a, &b)| apply(a, b)).collect();
                    let result = call(name, &Args::new().arg(&left.view).arg(&right.view)).unwrap().tensor().unwrap();
                    // (Products are up to 2401; `float16` represents only those up to 2048.)
                    let holds = |x: i64| dtype != DType::F16 || x.abs() <= 2048;
                    let alike = listed(&result).iter().zip(&expected).all(|(a, b)| a == b || !holds(*b));
                    assert!(alike, "{name} {dtype:?} {sizes:?}");
                }
            }
        }
    }
    // A power has a formula of its own for scalars: columns do not take it.
    let a = AnyTensor::ones(&[3, 700], DType::F32).unwrap().mul(1.1).unwrap();
    let exponents = AnyTensor::ones(&[3, 1], DType::F32).unwrap().mul(3).unwrap();
    let whole = call("expand", &Args::new().arg(&exponents).arg(vec![3_i64, 700])).unwrap().tensor().unwrap();
    let bytes = |x: AnyTensor| x.to_bytes().unwrap();
    assert_eq!(bytes(a.pow(&exponents).unwrap()), bytes(a.pow(whole.contiguous().unwrap()).unwrap()));
}

#[test]
fn copies_of_all_layouts_hold_the_same_elements() {
    let mut random = Random(3);
    for sizes in SIZES {
        for layout in 0..8 {
            for dtype in [DType::U8, DType::BF16, DType::F32, DType::F64, DType::C128] {
                let a = laid(&mut random, sizes, dtype, layout);
                assert_eq!(listed(&a.view.contiguous().unwrap()), a.elements, "{sizes:?} {layout} {dtype:?}");
                let mut out = AnyTensor::zeros(sizes, dtype).unwrap();
                out.copy_from(&a.view).unwrap();
                assert_eq!(listed(&out), a.elements, "{sizes:?} {layout} {dtype:?}");
            }
        }
    }
}

fn by_name(name: &str, args: Args) -> AnyTensor {
    call(name, &args).unwrap().tensor().unwrap()
}

#[test]
fn axes_put_together_from_pieces_have_their_elements() {
    let mut random = Random(4);
    for sizes in [vec![7], vec![3, 5], vec![40, 3], vec![6, 33], vec![2, 3, 4], vec![300, 9]] {
        let rank = sizes.len();
        for (dtype, layout) in [(DType::U8, 0), (DType::F32, 1), (DType::I64, 3), (DType::C128, 0)] {
            let a = laid(&mut random, &sizes, dtype, layout);
            let of = |at: &[usize]| {
                let place = at.iter().zip(&sizes).fold(0, |place, (&at, &size)| place * size + at);
                a.elements[place]
            };
            let last = sizes[rank - 1];
            let expect = |result: AnyTensor, from: &dyn Fn(&[usize]) -> i64, what: &str| {
                let expected: Vec<i64> = positions(result.shape()).map(|at| from(&at)).collect();
                assert_eq!(listed(&result), expected, "{what} {sizes:?} {dtype:?}");
            };
            let moved = |at: &[usize], change: &dyn Fn(usize) -> usize| {
                let mut at = at.to_vec();
                at[rank - 1] = change(at[rank - 1]);
                at
            };
            let rolled = by_name("roll", Args::new().arg(&a.view).arg(2_i64).arg(-1_i64));
            expect(rolled, &|at| of(&moved(at, &|i| (i + 2 * last - 2) % last)), "roll");
            let flipped = by_name("flip", Args::new().arg(&a.view).arg(vec![-1_i64]));
            expect(flipped, &|at| of(&moved(at, &|i| last - 1 - i)), "flip");
            let padded =
                by_name("nn.functional.pad", Args::new().arg(&a.view).arg(vec![2_i64, 1]).named("value", 9_i64));
            expect(
                padded,
                &|at| {
                    let i = at[rank - 1];
                    if i < 2 || i >= last + 2 { 9 } else { of(&moved(at, &|i| i - 2)) }
                },
                "pad",
            );
            let times: Vec<i64> = (0..rank as i64).map(|axis| 3 - axis.min(1)).collect();
            let repeated = by_name("repeat", Args::new().arg(&a.view).arg(times));
            expect(
                repeated,
                &|at| of(&at.iter().zip(&sizes).map(|(at, size)| at % size).collect::<Vec<_>>()),
                "repeat",
            );
            let each = by_name("repeat_interleave", Args::new().arg(&a.view).arg(3_i64).arg(-1_i64));
            expect(each, &|at| of(&moved(at, &|i| i / 3)), "repeat_interleave");
        }
    }
}

#[test]
fn lists_of_indices_read_and_write_rows_of_every_length() {
    let mut random = Random(5);
    for row in [1, 2, 3, 7, 15, 16, 17, 40, 129] {
        for dtype in [DType::U8, DType::BF16, DType::F32, DType::C64, DType::C128] {
            let a = laid(&mut random, &[11, row], dtype, 0);
            let chosen: Vec<i64> = (0..30).map(|_| random.next(22) as i64 - 11).collect();
            let list = AnyTensor::from_bytes(
                &chosen.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<_>>(),
                DType::I64,
                &[5, 6],
            );
            let list = list.unwrap();
            let rows = a.view.index(&[Value::from(&list)]).unwrap();
            assert_eq!(rows.shape(), [5, 6, row]);
            let at = |index: i64| if index < 0 { index + 11 } else { index } as usize;
            let expected: Vec<i64> =
                chosen.iter().flat_map(|&index| a.elements[at(index) * row..][..row].to_vec()).collect();
            assert_eq!(listed(&rows), expected, "{row} {dtype:?}");
            // Written where they came from, nothing changes; added, each counts as often as it was chosen.
            assert_eq!(listed(&a.view.index_put(&[Some(&list)], &rows, false).unwrap()), a.elements);
            let sum = a.view.index_put(&[Some(&list)], &rows, true).unwrap();
            let times = |line: usize| 1 + chosen.iter().filter(|&&index| at(index) == line).count() as i64;
            let expected = a.elements.iter().enumerate().map(|(place, number)| number * times(place / row));
            let holds = |number: i64| dtype != DType::U8 && dtype != DType::BF16 || number < 256;
            assert!(listed(&sum).iter().zip(expected).all(|(a, b)| *a == b || !holds(b)), "{row} {dtype:?}");
        }
    }
    // The axis that an error names is the caller's.
    let x = AnyTensor::zeros(&[2, 3, 4], DType::F32).unwrap();
    let list = AnyTensor::from_bytes(&7_i64.to_le_bytes(), DType::I64, &[1]).unwrap();
    let all = || Value::Slice(None, None, None);
    let error = x.index(&[all(), all(), Value::from(&list)]).unwrap_err();
    assert!(matches!(error, castiron::Error::IndexValue { index: 7, axis: 2, size: 4, .. }), "{error:?}");
    let value = AnyTensor::zeros(&[], DType::F32).unwrap();
    for accumulate in [false, true] {
        let error = x.index_put(&[None, None, Some(&list)], &value, accumulate).unwrap_err();
        assert!(matches!(error, castiron::Error::IndexValue { index: 7, axis: 2, size: 4, .. }), "{error:?}");
    }
}

#[test]
fn masks_read_and_write_in_row_major_order() {
    let mut random = Random(6);
    for sizes in [vec![1], vec![300], vec![17, 40], vec![3, 5, 7], vec![0, 4]] {
        for layout in [0, 1] {
            let a = laid(&mut random, &sizes, DType::F32, layout);
            let b = laid(&mut random, &sizes, DType::F32, 1 - layout);
            let mask = a.view.lt(&b.view).unwrap();
            let truths: Vec<bool> = a.elements.iter().zip(&b.elements).map(|(a, b)| a < b).collect();
            let chosen: Vec<i64> = a.elements.iter().zip(&truths).filter(|(_, t)| **t).map(|(a, _)| *a).collect();
            assert_eq!(listed(&a.view.index(&[Value::from(&mask)]).unwrap()), chosen);
            let value = AnyTensor::ones(&[1], DType::F32).unwrap();
            let put = a.view.index_put(&[Some(&mask)], &value, false).unwrap();
            let expected: Vec<i64> = a.elements.iter().zip(&truths).map(|(a, t)| if *t { 1 } else { *a }).collect();
            assert_eq!(listed(&put), expected);
            assert!(put.is_contiguous());
            let found: Vec<i64> = positions(&sizes)
                .zip(&truths)
                .filter(|(_, t)| **t)
                .flat_map(|(at, _)| at.into_iter().map(|at| at as i64))
                .collect();
            assert_eq!(listed(&mask.nonzero().unwrap()), found);
        }
    }
}

#[test]
fn runs_of_equal_elements_are_found_along_every_axis() {
    let x = AnyTensor::from_bytes(&[1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3], DType::U8, &[2, 6]).unwrap();
    let of =
        |(values, inverse, counts): (AnyTensor, AnyTensor, AnyTensor)| [values, inverse, counts].map(|x| listed(&x));
    let [values, inverse, counts] = of(x.unique_consecutive().unwrap());
    assert_eq!(values, [1, 2, 1, 2, 3]);
    assert_eq!(inverse, [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]);
    assert_eq!(counts, [2, 3, 3, 3, 1]);
    let [values, inverse, counts] = of(x.unique_consecutive_axis(1).unwrap());
    assert_eq!(values, [1, 2, 1, 1, 2, 3]);
    assert_eq!((inverse, counts), (vec![0, 0, 1, 1, 1, 2], vec![2, 3, 1]));
    let none = AnyTensor::zeros(&[0], DType::F32).unwrap().unique_consecutive().unwrap();
    assert!(of(none).iter().all(Vec::is_empty));
    let nan = AnyTensor::ones(&[3], DType::F32).unwrap().mul(f64::NAN).unwrap();
    assert_eq!(of(nan.unique_consecutive().unwrap())[2], [1, 1, 1]);
}
