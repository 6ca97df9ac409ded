//! Closures over elements: every form, on every layout, beside plain loops; closures that fail and that panic.

use castiron::{
    Axis, Complex, Cpu, Dim, Dyn, Element, Error, F8E4M3FN, HostClosures, Shape, Tensor, TensorView, TensorViewMut,
    axis, bf16, dim, f16, s, shape, tensor,
};
use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What users write: generic code needs no bound beyond those of the tensors.
fn halved<E: castiron::Dtype, S: Shape>(x: &Tensor<E, S>, half: impl Fn(E) -> E) -> Tensor<E, S> {
    x.zip_map((x, x), |(a, _, _)| half(a)).map(|v| v)
}
fn on_any_host<E: Element, S: Shape, D: HostClosures>(x: &Tensor<E, S, D>) -> Tensor<bool, S, D> {
    x.zip_map(x, |(a, b)| a == b)
}
fn by_row<N: Dim, M: Dim>(x: &Tensor<f32, (N, M)>) -> Tensor<f32, (N,)> {
    x.map_lanes(axis![1], |row| row.iter().copied().fold(f32::MIN, f32::max))
}

#[test]
fn generic_code_maps() {
    let x = tensor![[1.0, 5.0], [3.0, -4.0]];
    assert_eq!(halved(&x, |v| v / 2.0).to_vec(), [0.5, 2.5, 1.5, -2.0]);
    assert!(on_any_host(&x).all().item());
    assert_eq!(by_row(&x).to_vec(), [5.0, 3.0]);
    let from: Tensor<i32, shape![2, 2], Cpu> = x.map(|v| v as i32);
    assert_eq!(from.to_vec(), [1, 5, 3, -4]);
}

/// Tensors of shape `[6, 7, n]` with the numbers of their elements in row-major order, over every kind of strides.
fn layouts(n: usize) -> Vec<Tensor<i64, (Dyn, Dyn, Dyn)>> {
    let sizes = [6, 7, n];
    let counted =
        |sizes: [usize; 3]| Tensor::<i64, (Dyn, Dyn, Dyn)>::from_fn_sized(sizes, |index| place(index, sizes) as i64);
    let whole = counted(sizes);
    let mut wide = Tensor::<i64, (Dyn, Dyn, Dyn)>::zeros_sized([6, 14, n + 3]);
    wide.slice_mut(s![.., ::2, 1..]).narrow_mut(axis![2], 0, n).assign(&whole);
    let strided = wide.slice(s![.., ::2, 1..]).narrow(axis![2], 0, n).with_shape();
    let turned = whole.permute(axis![2, 0, 1]).contiguous().permute(axis![1, 2, 0]);
    let across = whole.permute(axis![0, 2, 1]).contiguous().permute(axis![0, 2, 1]);
    vec![whole, strided, turned, across]
}
fn place<const N: usize>(index: [usize; N], sizes: [usize; N]) -> usize {
    index.iter().zip(sizes).fold(0, |at, (index, size)| at * size + index)
}

/// Sizes of the last axis: short lines, long ones, and results large enough for threads and non-temporal stores.
const WIDTHS: [usize; 4] = [1, 5, 70, 1000];

#[test]
fn each_layout_is_mapped_as_by_a_loop() {
    for n in WIDTHS {
        for x in layouts(n) {
            let numel = x.numel();
            assert!(x.to_vec().into_iter().eq(0..numel as i64));
            let calls = AtomicUsize::new(0);
            let f = |v: i64| {
                calls.fetch_add(1, Ordering::Relaxed);
                (v * v - 3) as f32
            };
            let expected: Vec<f32> = (0..numel as i64).map(|v| (v * v - 3) as f32).collect();
            let mapped = x.map(f);
            assert_eq!(calls.swap(0, Ordering::Relaxed), numel, "each element once");
            assert_eq!(mapped.to_vec(), expected);
            assert_eq!(mapped.stride(), (&x + 1).stride(), "the layout of operators");
            assert_eq!(x.par_map(f).to_vec(), expected);
            assert_eq!(calls.swap(0, Ordering::Relaxed), numel);
            assert_eq!(x.try_map(|v| Ok::<_, Error>(f(v))).unwrap().to_vec(), expected);
            assert_eq!(x.try_par_map(|v| Ok::<_, Error>(f(v))).unwrap().to_vec(), expected);

            let squares: Vec<i64> = (0..numel as i64).map(|v| v * v).collect();
            for step in 0..4 {
                let mut y = x.clone();
                match step {
                    0 => y.map_(|v| v * v),
                    1 => y.par_map_(|v| v * v),
                    2 => y.try_map_(|v| Ok::<_, Error>(v * v)).unwrap(),
                    _ => y.try_par_map_(|v| Ok::<_, Error>(v * v)).unwrap(),
                };
                assert_eq!(y.to_vec(), squares);
            }
            assert!(x.to_vec().into_iter().eq(0..numel as i64), "a clone keeps its elements");
        }
    }
}

#[test]
fn indices_and_folds_go_in_row_major_order() {
    for n in WIDTHS {
        for x in layouts(n) {
            let (sizes, numel) = (x.shape(), x.numel() as i64);
            let mut order = vec![];
            let indexed = x.map_indexed(|index, v| {
                order.push(v);
                place(index, sizes) as i64 - v
            });
            assert!(indexed.eq(0).all().item() && order.into_iter().eq(0..numel));
            assert!(x.par_map_indexed(|index, v| place(index, sizes) as i64 == v).all().item());
            assert!(x.indexed_iter().all(|(index, &v)| place(index, sizes) as i64 == v));
            let mut seen = vec![];
            x.for_each(|v| seen.push(v));
            assert!(seen.into_iter().eq(0..numel));
            let sum = AtomicUsize::new(0);
            x.par_for_each(|v| {
                sum.fetch_add(v as usize, Ordering::Relaxed);
            });
            let total = numel * (numel - 1) / 2;
            assert_eq!(sum.into_inner() as i64, total);
            assert_eq!(x.fold(0, |at, v| if at == v { at + 1 } else { -1 }), numel);
            assert_eq!(x.par_fold(0, |sum, v| sum + v, |a, b| a + b), total);
            assert_eq!(x.par_fold(String::new(), |_, v| v.to_string(), |_, b| b), (numel - 1).to_string());
            assert_eq!((x.reduce(i64::max), x.par_reduce(i64::max)), (Some(numel - 1), Some(numel - 1)));
        }
    }
}

#[test]
fn lanes_are_slices_in_row_major_order() {
    /// Each lane as one number that depends on the order of its elements.
    fn digest(lane: &[i64]) -> i64 {
        lane.iter().fold(lane.len() as i64, |sum, v| (sum * 31 + v) % 1_000_003)
    }
    for n in WIDTHS {
        for x in layouts(n) {
            macro_rules! along {
                ($axes:expr, $lanes:expr) => {{
                    let lanes: Vec<Vec<i64>> = $lanes;
                    let digests: Vec<i64> = lanes.iter().map(|lane| digest(lane)).collect();
                    assert_eq!(x.map_lanes($axes, digest).to_vec(), digests);
                    assert_eq!(x.par_map_lanes($axes, digest).to_vec(), digests);
                    assert_eq!(x.map_lanes($axes.keepdim(), |lane| digest(lane)).to_vec(), digests);
                    let last: Vec<i64> = lanes.iter().map(|lane| *lane.last().unwrap()).collect();
                    assert_eq!(
                        x.fold_axis($axes, -1, |before, v| if v > before { v } else { i64::MAX }).to_vec(),
                        last
                    );
                    assert_eq!(x.reduce_axis($axes, |a, b| if b > a { b } else { i64::MAX }).to_vec(), last);
                    assert_eq!(x.par_reduce_axis($axes, i64::max).to_vec(), last);
                    let sums: Vec<i64> = lanes.iter().map(|lane| lane.iter().sum()).collect();
                    assert_eq!(x.par_fold_axis($axes, 0, |sum, v| sum + v, |a, b| a + b).to_vec(), sums);
                    let (mut y, mut z) = (x.clone(), x.clone());
                    y.map_lanes_($axes, |lane| lane.reverse());
                    z.par_map_lanes_($axes, |lane| lane.reverse());
                    let reversed: Vec<i64> = lanes
                        .iter()
                        .map(|lane| lane.iter().rev().fold(lane.len() as i64, |sum, v| (sum * 31 + v) % 1_000_003))
                        .collect();
                    assert_eq!(y.map_lanes($axes, digest).to_vec(), reversed);
                    assert_eq!(y.to_vec(), z.to_vec());
                }};
            }
            let at = |a: usize, b: usize, c: usize| place([a, b, c], x.shape()) as i64;
            along!(
                axis![2],
                (0..6)
                    .flat_map(|a| (0..7).map(move |b| (a, b)))
                    .map(|(a, b)| (0..n).map(|c| at(a, b, c)).collect())
                    .collect()
            );
            along!(
                axis![0],
                (0..7)
                    .flat_map(|b| (0..n).map(move |c| (b, c)))
                    .map(|(b, c)| (0..6).map(|a| at(a, b, c)).collect())
                    .collect()
            );
            along!(
                axis![0, 2],
                (0..7)
                    .map(|b| (0..6).flat_map(|a| (0..n).map(move |c| (a, c))).map(|(a, c)| at(a, b, c)).collect())
                    .collect()
            );
            along!(axis![0, 1, 2], vec![(0..x.numel() as i64).collect()]);
        }
    }
}

#[test]
fn windows_are_lanes() {
    let x = Tensor::<i64, shape![5, 9]>::from_fn(|[row, column]| (10 * row + column) as i64);
    let along: Tensor<i64, shape![5, 4]> = x.map_windows::<dim!(3), dim!(2), _, _>(axis![1], |window| {
        assert_eq!((window[1] - window[0], window[2] - window[0]), (1, 2));
        window[0]
    });
    assert_eq!(along.select(axis![0], 2).to_vec(), [20, 22, 24, 26]);
    let across = x.par_map_windows::<dim!(2), dim!(1), _, _>(axis![0], |window| window[1] - window[0]);
    assert!(across.shape() == [4, 9] && across.eq(10).all().item());
    let both = x.unfold::<dim!(3), dim!(1), _>(axis![0]).unfold::<dim!(3), dim!(1), _>(axis![1]);
    let centres = both.map_lanes(axis![-2, -1], |window| window[4]);
    assert_eq!(centres.to_vec(), x.slice(s![1..4, 1..8]).to_vec());
    assert_eq!(
        TensorView::<_, shape![4]>::from_slice(&[1, 5, 2, 4])
            .map_windows::<dim!(2), dim!(1), _, _>(axis![0], |w| w[0] < w[1])
            .to_vec(),
        [true, false, true]
    );
}

#[test]
fn two_to_four_tensors_are_zipped() {
    let (a, b, c, d) =
        (tensor![[1], [2]; u8], tensor![0.5, 1.5, 2.5; f64], tensor![true, false, true], tensor![-7; i32]);
    let two: Tensor<f64, shape![2, 3]> = a.zip_map(&b, |(a, b)| f64::from(a) * b);
    assert_eq!(two.to_vec(), [0.5, 1.5, 2.5, 1.0, 3.0, 5.0]);
    let three: Tensor<i16, shape![2, 3]> = a.zip_map((&b, &c), |(a, b, c)| if c { i16::from(a) } else { b as i16 });
    assert_eq!(three.to_vec(), [1, 1, 1, 2, 1, 2]);
    let four = a.par_zip_map((&b, &c, &d), |(a, b, c, d)| (i32::from(a) + d, b, c).0);
    assert_eq!(four.to_vec(), [-6, -6, -6, -5, -5, -5]);
    // Layouts against each other, and operands that are views.
    for n in WIDTHS {
        let all = layouts(n);
        for x in &all {
            for y in &all {
                let row = y.narrow(axis![1], 3, 1);
                let made = x.zip_map((y, &row), |(x, y, row)| x - y + row);
                let expected: Tensor<i64, (Dyn, Dyn, Dyn)> = row.expand_sized(x.shape()).contiguous();
                assert_eq!(made.to_vec(), expected.to_vec());
                assert_eq!(
                    x.par_zip_map((y.as_view(), row.as_view()), |(x, y, row)| x - y + row).to_vec(),
                    expected.to_vec()
                );
                let mut z = x.clone();
                z.zip_map_((y, &row), |(z, y, row)| 2 * z - y - row);
                let expected = x - &row;
                assert_eq!(z.to_vec(), expected.to_vec());
                let mut z = x.clone();
                z.par_zip_map_((y, &row), |(z, y, row)| 2 * z - y - row);
                assert_eq!(z.to_vec(), expected.to_vec());
            }
        }
    }
    // An operand that shares the storage that is written.
    let mut x = tensor![[1, 2], [3, 4]];
    let t = x.t();
    x.zip_map_(&t, |(x, t)| 10 * x + t);
    assert_eq!((x.to_vec(), t.to_vec()), (vec![11, 23, 32, 44], vec![1, 3, 2, 4]));
}

#[test]
fn sizes_known_at_run_time_are_compared() {
    let (x, y) = (Tensor::<f32, shape![_]>::ones_sized([2]), Tensor::<f32, shape![_]>::ones_sized([3]));
    let error = x.try_zip_map(&y, |(a, b)| Ok::<_, Error>(a + b)).unwrap_err();
    assert_eq!(error.to_string(), (x.try_add(&y).unwrap_err().to_string()).replace("add:", "zip_map:"));
    let (mut z, wide) = (tensor![1.0, 2.0].with_shape::<shape![_]>(), Tensor::<f32, shape![_]>::ones_sized([4]));
    assert!(matches!(z.try_zip_map_(&wide, |(a, b)| Ok::<_, Error>(a + b)), Err(Error::Output { op: "zip_map_", .. })));
    assert_eq!(z.to_vec(), [1.0, 2.0]);
    let none = Tensor::<f32, shape![3, _]>::zeros_sized([3, 0]);
    assert!(matches!(none.try_reduce_axis(axis![1], f32::max), Err(Error::EmptyReduction { .. })));
    let short = Tensor::<i64, shape![_]>::zeros_sized([2]);
    assert!(short.try_map_windows::<dim!(3), dim!(1), _, _, _>(axis![0], |w| Ok::<_, Error>(w[0])).is_err());
}

#[test]
fn no_elements_and_one() {
    let none = Tensor::<i64, shape![3, 0, 2]>::zeros();
    let never = |_: i64| -> i64 { panic!("there is no element") };
    assert_eq!(none.map(never).shape(), [3, 0, 2]);
    assert_eq!(none.par_map(never).shape(), [3, 0, 2]);
    assert_eq!(none.zip_map(&none, |(a, _)| never(a)).numel(), 0);
    assert_eq!(none.map_indexed(|_, v| never(v)).numel(), 0);
    none.clone().map_(never);
    none.for_each(|v| {
        never(v);
    });
    assert_eq!(
        (none.fold(7, |_, v| never(v)), none.reduce(|a, _| never(a)), none.par_reduce(|a, _| never(a))),
        (7, None, None)
    );
    assert_eq!(none.par_fold(7, |_, v| never(v), |a, _| a), 7);
    assert_eq!(none.fold_axis(axis![1], 9, |_, v| never(v)).to_vec(), [9; 6]);
    assert_eq!(none.par_fold_axis(axis![1], 9, |_, v| never(v), |a, _| a).to_vec(), [9; 6]);
    assert_eq!(none.map_lanes(axis![1], |lane| lane.len() as i64).to_vec(), [0; 6]);
    assert_eq!(none.map_lanes(axis![0], |_| never(0)).shape(), [0, 2]);
    assert_eq!(none.reduce_axis(axis![0], |a, _| never(a)).numel(), 0);
    let mut counted = 0;
    none.clone().map_lanes_(axis![1], |lane| counted += 1 + lane.len());
    assert_eq!(counted, 6);

    let mut one = Tensor::<f64, ()>::scalar(2.0);
    assert_eq!(one.map(|v| v + 1.0).item(), 3.0);
    assert_eq!(one.map_indexed(|[], v| v as i32).item(), 2);
    assert_eq!(one.zip_map(tensor![1, 2], |(a, b)| a * b as f64).to_vec(), [2.0, 4.0]);
    assert_eq!(one.map_lanes(Axis::<0>, |lane| lane.len() as i64).item(), 1);
    assert_eq!(one.map_lanes(axis![-1], |lane| lane[0]).item(), 2.0);
    assert_eq!(one.indexed_iter().collect::<Vec<_>>(), [([], &2.0)]);
    one.map_(|v| v * v).map_lanes_(axis![0], |lane| lane[0] += 1.0);
    assert_eq!(one.item(), 5.0);
    // One element for all positions.
    let repeated = Tensor::<i64, ()>::scalar(4).expand::<shape![3, 500]>();
    let mut calls = 0;
    let mapped = repeated.map(|v| {
        calls += 1;
        v + calls
    });
    assert_eq!((calls, mapped.fold(0, |sum, v| sum + v)), (1500, 1500 * 4 + 1500 * 1501 / 2));
    assert_eq!(repeated.fold(0, |sum, v| sum + v), 6000);
    assert_eq!(repeated.clone().map_(|v| v + 1).sum().item(), 7500);
}

#[test]
fn dtypes_of_all_kinds_are_mapped() {
    let bits = tensor![0x7fc0_1234_u32 as f32, f32::from_bits(0x7fc0_1234), -0.0];
    let kept: Tensor<i32, shape![3]> = bits.map(|v| v.to_bits() as i32);
    assert_eq!(kept.to_vec()[1..], [0x7fc0_1234, i32::MIN]);
    assert!(bits.map(|v| v).to_vec()[1].to_bits() == 0x7fc0_1234, "the bits of NaN");
    let halves = tensor![1.5, -2.0; f16];
    assert_eq!(halves.map(|v: f16| -v).to_vec(), [f16::from_f32(-1.5), f16::from_f32(2.0)]);
    assert_eq!(halves.map(|v| bf16::from_f32(v.to_f32())).to_vec(), [bf16::from_f32(1.5), bf16::from_f32(-2.0)]);
    let complex = tensor![1.0 + 2.0j, 3];
    assert_eq!(complex.map(|v| v.conj()).to_vec(), [Complex::new(1.0, -2.0), Complex::new(3.0, 0.0)]);
    assert_eq!(complex.map(|v| v.norm_sqr()).to_vec(), [5.0, 9.0]);
    assert_eq!(tensor![true, false].map(|v| !v).to_vec(), [false, true]);
    // Elements without arithmetic.
    let shells = Tensor::<u16, shape![3]>::from_vec(vec![1, 2, 65535]);
    let wide: Tensor<u64, shape![3]> = shells.map(|v| u64::from(v) << 40);
    assert_eq!(wide.to_vec(), [1 << 40, 2 << 40, 65535 << 40]);
    assert_eq!(shells.fold(0_u32, |sum, v| sum + u32::from(v)), 65538);
    let small: Tensor<F8E4M3FN, shape![2]> = tensor![0.5, 2.0].to();
    assert_eq!(small.map(|v| v).to::<f32>().to_vec(), [0.5, 2.0]);
    let mut small = small;
    small.map_lanes_(axis![0], |lane| lane.reverse());
    assert_eq!(small.to::<f32>().to_vec(), [2.0, 0.5]);
}

#[test]
fn mutable_views_are_written_where_the_elements_are() {
    let mut x = Tensor::<i64, shape![4, 5]>::from_fn(|[row, column]| (10 * row + column) as i64);
    let before = x.clone();
    let mut column = x.select_mut(axis![1], 2);
    column.map_(|v| -v).zip_map_(tensor![1, 2, 3, 4], |(v, add)| v + add);
    assert_eq!(column.map(|v| v).to_vec(), [-1, -10, -19, -28]);
    x.t_mut().slice_mut(s![3..]).map_lanes_(axis![0], |lane| lane.reverse());
    for (at, v) in x.select_mut(axis![0], 3).iter_mut().enumerate() {
        *v += 100 * at as i64;
    }
    let mut last = x.select_mut(axis![1], 0);
    for (at, v) in last.iter_mut().enumerate() {
        *v += at as i64;
    }
    assert_eq!(x.to_vec(), [0, 1, -1, 4, 3, 11, 11, -10, 14, 13, 22, 21, -19, 24, 23, 33, 131, 172, 334, 433]);
    assert_eq!(before.select(axis![1], 2).to_vec(), [2, 12, 22, 32]);
    let mut memory = [1, 2, 3, 4, 5, 6];
    TensorViewMut::<i32, shape![3]>::from_slice_mut_strided(&mut memory, [3], [2]).par_map_(|v| v * 10);
    assert_eq!(memory, [10, 2, 30, 4, 50, 6]);
    let mut view = TensorViewMut::<i32, shape![3]>::from_slice_mut_strided(&mut memory, [3], [2]);
    assert!(view.try_map_(|v| if v < 50 { Ok(v + 1) } else { Err(failure("too large")) }).is_err());
    view.try_map_(|v| Ok::<_, Error>(v + 1)).unwrap();
    assert_eq!(memory, [11, 2, 31, 4, 51, 6]);
}
fn failure(text: &str) -> Box<dyn StdError + Send + Sync> {
    text.into()
}

#[test]
fn what_fails_shows_nothing_half_written() {
    let x = Tensor::<i64, shape![_]>::from_vec_sized((0..10_000).collect(), [10_000]);
    let picky = |v: i64| if v == 7_000 { Err(failure("7000 is not welcome")) } else { Ok(v + 1) };
    let mut calls = 0;
    let error = x.try_map(|v| {
        calls += 1;
        picky(v)
    });
    assert_eq!((error.unwrap_err().to_string(), calls), ("7000 is not welcome".to_owned(), 7_001));
    assert_eq!(x.try_par_map(picky).unwrap_err().to_string(), "7000 is not welcome");
    assert!(x.try_map_indexed(|[at], v| if at == 9_999 { picky(7_000) } else { Ok(v) }).is_err());
    assert!(x.try_zip_map(&x, |(a, b)| picky(a + b)).is_err());
    assert!(x.try_map_lanes(axis![0], |lane| picky(lane[7_000])).is_err());
    assert!(x.try_fold_axis(axis![0], 0, |_, v| picky(v)).is_err());
    assert_eq!(x.try_fold(0, |sum, v| if v == 5 { Err(sum) } else { Ok(sum + v) }), Err(10));
    assert!(x.try_for_each(|v| picky(v).map(|_| ())).is_err() && x.try_par_for_each(|v| picky(v).map(|_| ())).is_err());
    let mut y = x.clone();
    assert!(y.try_map_(picky).is_err() && y.try_par_map_(picky).is_err());
    assert!(y.try_zip_map_(&x, |(a, _)| picky(a)).is_err());
    assert!(
        y.try_map_lanes_(axis![0], |lane| {
            lane.fill(0);
            picky(7_000).map(|_| ())
        })
        .is_err()
    );
    assert!(
        y.try_par_map_lanes_(axis![0], |lane| {
            lane.fill(0);
            picky(7_000).map(|_| ())
        })
        .is_err()
    );
    assert!(y == x && y.shares_storage(&x));
    assert_eq!(y.try_map_(|v| if v < 0 { picky(v) } else { Ok(-v) }).unwrap().amin().item(), -9_999);
}

#[test]
fn a_panic_reaches_the_caller_and_frees_what_was_begun() {
    let x = Tensor::<i64, shape![_, 100]>::from_vec_sized((0..20_000).collect(), [200, 100]);
    let picky = |v: i64| if v == 15_000 { panic!("15000 is not welcome") } else { v };
    let y = x.clone();
    let runs: [&dyn Fn(); 10] = [
        &|| drop(x.map(picky)),
        &|| drop(x.t().par_map(picky)),
        &|| drop(x.par_map(picky)),
        &|| drop(x.map_indexed(|_, v| picky(v))),
        &|| drop(x.par_map_indexed(|_, v| picky(v))),
        &|| drop(x.par_zip_map(&x.select(axis![0], 0), |(a, _)| picky(a))),
        &|| drop(x.par_map_lanes(axis![0], |lane| lane.iter().map(|&v| picky(v)).sum::<i64>())),
        &|| assert_ne!(x.par_fold(0, |sum, v| sum + picky(v), |a, b| a + b), 0),
        &|| {
            y.clone().par_map_(picky);
        },
        &|| {
            y.clone().map_lanes_(axis![0], |lane| lane.iter_mut().for_each(|v| *v = picky(*v + 1)));
        },
    ];
    for run in runs {
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"15000 is not welcome"));
        assert!(x == y && x.to_vec().into_iter().eq(0..20_000));
    }
}

/// A closure that need not be `Sync` stays on its thread, whatever the layout.
#[test]
fn what_is_not_shared_is_called_by_the_caller_alone() {
    let (here, seen) = (std::thread::current().id(), std::cell::Cell::new(0));
    let slowly = |v: i64| {
        (0..200).for_each(|_| std::hint::spin_loop());
        assert_eq!(std::thread::current().id(), here);
        seen.set(seen.get() + 1);
        v
    };
    for x in layouts(100) {
        let mut y = x.clone();
        x.map(slowly);
        x.zip_map(&x.select(axis![0], 1), |(v, _)| slowly(v));
        x.map_indexed(|_, v| slowly(v));
        y.map_(slowly);
        y.map_lanes_(axis![1], |lane| lane.iter_mut().for_each(|v| *v = slowly(*v)));
        x.fold_axis(axis![0], 0, |sum, v| sum + slowly(v));
        assert_eq!(seen.take(), 6 * x.numel());
    }
}

/// Closures may compute with tensors themselves, also those that they are called for.
#[test]
fn closures_run_operations() {
    let x = Tensor::<i64, shape![_]>::from_vec_sized((0..3_000).collect(), [3_000]);
    let nested =
        x.par_map(|v| if v % 500 == 0 { x.par_map(|w| w + v).par_fold(0, |sum, w| sum + w, |a, b| a + b) } else { 0 });
    let total: i64 = (0..3_000).sum();
    assert!(
        nested
            .to_vec()
            .into_iter()
            .enumerate()
            .all(|(at, v)| v == if at % 500 == 0 { total + 3_000 * at as i64 } else { 0 })
    );
}
