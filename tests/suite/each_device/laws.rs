//! Laws, on random tensors with odd strides, including empty ones: every operation equals the naive loop over its elements, views show the
//! right elements, and a write to one tensor shows in no other.

use super::odd::{Cube, Small, cubes, odd, pairs};
use super::{Gives, On, law};
use castiron::shape::broadcast_sizes;
use castiron::{
    Complex, Cpu, Device, Dyn, Element, Float, Numeric, Tensor, axis, bf16, cat, f16, stack, tensor, where_,
};
use proptest::prelude::*;

type Matrix<E, D> = Tensor<E, (Dyn, Dyn), D>;

/// The sizes of a tensor and its elements in row-major order, for the naive loops.
#[derive(Clone, Debug, PartialEq)]
struct Model<E> {
    sizes: [usize; 3],
    elements: Vec<E>,
}

impl<E: Element> Model<E> {
    fn of<D: Device>(x: &Cube<E, D>) -> Self {
        Model { sizes: x.shape(), elements: x.elements() }
    }

    fn from_fn(sizes: [usize; 3], mut element: impl FnMut([usize; 3]) -> E) -> Self {
        let [a, b, c] = sizes;
        let indices = (0..a * b * c).map(|at| [at / c / b, at / c % b, at % c]);
        Model { sizes, elements: indices.map(&mut element).collect() }
    }

    fn at(&self, [i, j, k]: [usize; 3]) -> E {
        self.elements[(i * self.sizes[1] + j) * self.sizes[2] + k]
    }

    /// The element that broadcasting shows at an index.
    fn repeated(&self, index: [usize; 3]) -> E {
        self.at([0, 1, 2].map(|axis| if self.sizes[axis] == 1 { 0 } else { index[axis] }))
    }

    fn zip<F: Element, O: Element>(&self, other: &Model<F>, op: impl Fn(E, F) -> O) -> Option<Model<O>> {
        let mut sizes = [0; 3];
        broadcast_sizes(&self.sizes, &other.sizes, &mut sizes)
            .then(|| Model::from_fn(sizes, |index| op(self.repeated(index), other.repeated(index))))
    }
}

#[track_caller]
fn check<E: Element, D: Device>(got: &Cube<E, D>, expected: Option<Model<E>>) {
    assert_eq!(Some(Model::of(got)), expected);
    assert!(castiron::layout::strides::is_dense(&got.shape(), &got.stride()), "results leave no gaps");
}

pub fn elementwise_operations_are_loops<D: Device>() {
    law::<D, _>(256, pairs::<D, i32, i32>(), |(a, b)| {
        let (m, n) = (Model::of(&a), Model::of(&b));
        check(&(&a + &b), m.zip(&n, i32::wrapping_add));
        check(&(&a - &b), m.zip(&n, i32::wrapping_sub));
        check(&(&a * &b), m.zip(&n, i32::wrapping_mul));
        check(&a.lt(&b), m.zip(&n, |x, y| x < y));
        check(&a.maximum(&b), m.zip(&n, i32::max));
        check(&(&a & &b), m.zip(&n, |x, y| x & y));
        check(&where_(a.gt(&b), &a, &b), m.zip(&n, i32::max));
        let quotients = m.zip(&n, |x, y| (x as f32 / y as f32).to_bits() & 0x7fff_ffff);
        let bits = (&a / &b).elements().iter().map(|v| v.to_bits() & 0x7fff_ffff).collect();
        assert_eq!(Some(bits), quotients.map(|model| model.elements));
        if n.elements.iter().all(|&y| y != 0) {
            let remainder = |x: i32, y| x.rem_euclid(y) + if y < 0 && x.rem_euclid(y) != 0 { y } else { 0 };
            check(&(&a % &b), m.zip(&n, remainder));
        }
    });
}

pub fn mixed_dtypes_convert_element_by_element<D: Device>() {
    law::<D, _>(256, pairs::<D, u8, f64>(), |(a, b)| {
        let (m, n) = (Model::of(&a), Model::of(&b));
        check(&(&a + &b), m.zip(&n, |x, y| f64::from(x) + y));
        check(&(&b * &a), n.zip(&m, |y, x| y * f64::from(x)));
        check(&a.eq(&b), m.zip(&n, |x, y| f64::from(x) == y));
    });
}

pub fn addition_and_multiplication_commute<D: Device>() {
    law::<D, _>(256, pairs::<D, Complex<f32>, f32>(), |(a, b)| {
        assert_eq!((&a + &b).elements(), (&b + &a).elements());
        assert_eq!((&a * &b).elements(), (&b * &a).elements());
    });
}

pub fn one_dtype_at_a_time<D: Device>() {
    law::<D, _>(256, (pairs::<D, bf16, bf16>(), cubes::<D, bool>()), |((a, b), c)| {
        let sum = |x: bf16, y: bf16| bf16::from_f32(f32::from(x) + f32::from(y));
        check(&(&a + &b), Model::of(&a).zip(&Model::of(&b), sum));
        check(&!&c, Some(Model::from_fn(c.shape(), |index| !Model::of(&c).at(index))));
        check(&c.logical_or(&c), Some(Model::of(&c)));
    });
}

pub fn writing_in_place_is_computing<D: Device>() {
    law::<D, _>(256, pairs::<D, i64, i64>(), |(a, b)| {
        let sum = &a + &b;
        if sum.shape() == a.shape() {
            let mut x = a.clone();
            x += &b;
            assert_eq!(Model::of(&x), Model::of(&sum));
            let mut out = sum.zeros_like();
            a.add_into(&b, &mut out);
            assert_eq!(Model::of(&out), Model::of(&sum));
        } else {
            let (mut x, before) = (a.clone(), Model::of(&a));
            assert!(x.try_add_(&b).is_err());
            assert_eq!(Model::of(&x), before);
        }
    });
}

pub fn operands_given_away_make_no_difference<D: Device>() {
    fn same<D: Device>(x: Cube<i64, D>, y: Cube<i64, D>) {
        assert_eq!((x.elements(), x.shape(), x.stride()), (y.elements(), y.shape(), y.stride()));
    }
    law::<D, _>(256, pairs::<D, i64, i64>(), |(a, b)| {
        let mut sizes = [0; 3];
        if !broadcast_sizes(&a.shape(), &b.shape(), &mut sizes) {
            return;
        }
        // A fresh copy, which nobody else holds, in the layout of `a`; and in row-major order.
        for own in [|a: &Cube<i64, D>| a + 0, |a: &Cube<i64, D>| a.contiguous() + 0] {
            let kept = own(&a);
            same(own(&a) + &b, &kept + &b);
            same(own(&a) - b.clone(), &kept - &b);
            same(own(&a) * 3, &kept * 3);
            same(7 - own(&a), 7 - &kept);
            let five = tensor!(5_i64).on::<D>();
            same(own(&a) * &five, &kept * &five);
            // Shared: what is given away here is seen there.
            let (shared, before) = (own(&a), kept.elements());
            same(shared.clone() + &b, &kept + &b);
            assert_eq!(shared.elements(), before);
        }
    });
}

pub fn what_is_written_is_seen_in_no_other_tensor<D: Device>() {
    law::<D, _>(256, cubes::<D, i64>(), |x| {
        let before = Model::of(&x);
        let mut copy = x.clone();
        let mut view = x.permute(axis![2, 1, 0]);
        let mut piece = x.flatten();
        copy += 1;
        view.fill(7);
        piece *= 2;
        assert_eq!(Model::of(&x), before);
        copy.gives(before.elements.iter().map(|v| v + 1).collect::<Vec<_>>());
        view.all_are(|v| v == 7);
        piece.gives(before.elements.iter().map(|v| v * 2).collect::<Vec<_>>());
    });
}

pub fn sums_over_axes_are_loops<D: Device>() {
    law::<D, _>(256, cubes::<D, i32>(), |x| {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        x.sum().gives([m.elements.iter().map(|&v| i64::from(v)).sum()]);
        assert_eq!(x.sum_axis(axis![1].keepdim()).shape(), [a, 1, c]);
        let sums = Model::from_fn([a, 1, c], |[i, _, k]| (0..b).map(|j| i64::from(m.at([i, j, k]))).sum::<i64>());
        x.sum_axis(axis![1]).gives(sums.elements);
        let row = |j| (0..a).flat_map(|i| (0..c).map(move |k| (i, k))).map(move |(i, k)| [i, j, k]);
        let sums = (0..b).map(|j| row(j).map(|index| i64::from(m.at(index))).sum::<i64>());
        x.sum_axis(axis![0, 2]).gives(sums.collect::<Vec<_>>());
        assert_eq!(x.sum_axis(axis![0]).sum_axis(axis![-1]).elements(), x.sum_axis(axis![0, -1]).elements());
        let running = |[i, j, k]: [usize; 3]| (0..=j).map(|j| i64::from(m.at([i, j, k]))).sum();
        check(&x.cumsum(axis![1]), Some(Model::from_fn(m.sizes, running)));
        let any = (0..a * b).map(|at| (0..c).any(|k| m.at([at / b, at % b, k]) != 0));
        x.any_axis(axis![2]).gives(any.collect::<Vec<_>>());
    });
}

pub fn extremes_are_the_first_of_equals<D: Device>() {
    law::<D, _>(256, cubes::<D, i32>(), |x| {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        if m.elements.is_empty() {
            assert!(x.try_max().is_err() && x.try_argmin().is_err());
        } else {
            let largest = *m.elements.iter().max().unwrap();
            x.max().gives([largest]);
            assert_eq!(x.argmax().item() as usize, m.elements.iter().position(|&v| v == largest).unwrap());
        }
        if c == 0 && a * b > 0 {
            assert!(x.try_min_axis(axis![-1]).is_err());
        } else if c > 0 {
            let (values, indices) = x.min_axis(axis![-1]);
            let (values, indices) = (values.elements(), indices.elements());
            for at in 0..a * b {
                let lane: Vec<i32> = (0..c).map(|k| m.at([at / b, at % b, k])).collect();
                let smallest = *lane.iter().min().unwrap();
                let first = lane.iter().position(|&v| v == smallest).unwrap();
                assert_eq!((values[at], indices[at] as usize), (smallest, first));
            }
        }
    });
}

pub fn means_and_variances_are_those_of_the_elements<D: Device>() {
    law::<D, _>(256, cubes::<D, f64>(), |x| {
        let lanes: Vec<Vec<f64>> = x.elements().chunks(x.size(axis![2]).max(1)).map(<[f64]>::to_vec).collect();
        if x.is_empty() {
            assert!(x.mean().item().is_nan());
            return;
        }
        let mean = |lane: &[f64]| lane.iter().sum::<f64>() / lane.len() as f64;
        let variance = |lane: &[f64]| lane.iter().map(|v| (v - mean(lane)).powi(2)).sum::<f64>() / lane.len() as f64;
        for (got, lane) in x.mean_axis(axis![2]).elements().into_iter().zip(&lanes) {
            assert!((got - mean(lane)).abs() < 1e-12);
        }
        for (got, lane) in x.var_axis(axis![2], 0).elements().into_iter().zip(&lanes) {
            assert!((got - variance(lane)).abs() < 1e-12, "{got} {lane:?}");
        }
    });
}

pub fn softmax_is_positive_and_sums_to_one<D: Device>() {
    law::<D, _>(256, cubes::<D, f64>(), |x| {
        let p = x.softmax(axis![1]);
        p.all_are(|v| v > 0.0);
        p.sum_axis(axis![1]).all_are(|total| x.size(axis![1]) == 0 || (total - 1.0).abs() < 1e-12);
        let p = p.here();
        assert!(x.log_softmax(axis![1]).exp().here().allclose_with(&p, 1e-12, 0.0));
        let shifted = (&x - x.logsumexp(axis![1].keepdim())).exp().here();
        assert!(shifted.allclose_with(&p, 1e-12, 0.0) || x.is_empty());
    });
}

pub fn reshapes_keep_the_row_major_order<D: Device>() {
    law::<D, _>(256, cubes::<D, i64>(), |x| {
        let ([a, b, c], elements) = (x.shape(), x.elements());
        x.flatten().gives(&elements);
        x.flatten_axes(axis![0], axis![1]).gives(&elements);
        x.reshape_sized::<(Dyn, Dyn)>([c, a * b]).gives(&elements);
        x.contiguous().gives(&elements);
        assert!(x.contiguous().is_contiguous());
        assert!(x.try_reshape_sized::<(Dyn,)>([a * b * c + 1]).is_err());
    });
}

pub fn views_show_the_elements_they_should<D: Device>() {
    law::<D, _>(256, cubes::<D, i64>(), |x| {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        check_view(&x.permute(axis![2, 0, 1]), Model::from_fn([c, a, b], |[k, i, j]| m.at([i, j, k])));
        check_view(&x.transpose(axis![0], axis![-1]), Model::from_fn([c, b, a], |[k, j, i]| m.at([i, j, k])));
        if b > 0 {
            let row = (0..a * c).map(|at| m.at([at / c, b - 1, at % c]));
            x.select(axis![1], b - 1).gives(row.collect::<Vec<_>>());
        }
        assert!(x.try_select(axis![1], b).is_err());
        assert!(x.try_narrow(axis![2], 1, c).is_err());
        assert!(x.try_narrow(axis![2], usize::MAX, 2).is_err());
        let unsqueezed = x.unsqueeze(axis![1]);
        assert_eq!(unsqueezed.shape(), [a, 1, b, c]);
        unsqueezed.gives(m.elements);
    });
}

pub fn joined_tensors_hold_the_elements_of_each<D: Device>() {
    law::<D, _>(256, (pairs::<D, i32, i64>(), 0..18_usize), |((x, y), way)| {
        let [a, b, c] = x.shape();
        let z: Cube<i64, D> = odd([a, b, y.size(axis![2])], &[1, 2, 3], way);
        let joined = cat((&x, &z), axis![2]);
        let (m, n) = (Model::of(&x), Model::of(&z));
        let element = |[i, j, k]: [usize; 3]| if k < c { i64::from(m.at([i, j, k])) } else { n.at([i, j, k - c]) };
        assert_eq!(Model::of(&joined), Model::from_fn([a, b, c + z.size(axis![2])], element));
        let stacked = stack(&[x.clone(), x.clone()][..], axis![0]);
        stacked.gives([x.elements(), x.elements()].concat());
    });
}

pub fn matrix_products_are_loops<D: Device>() {
    law::<D, _>(256, factors::<D, i64>(), |(x, y)| {
        let got = x.matmul(&y);
        got.gives(product(&x, &y));
        y.t().matmul(x.t()).t().gives(got.elements());
    });
}

pub fn float_products_are_loops<D: Device>() {
    law::<D, _>(256, (factors::<D, f32>(), factors::<D, bf16>()), |((x, y), (z, w))| {
        // (small whole numbers: exact in any order)
        x.matmul(&y).gives(product(&x, &y));
        z.to::<f32>().matmul(w.to::<f32>()).to::<bf16>().gives(z.matmul(&w).elements());
    });
}

pub fn batches_of_products_broadcast<D: Device>() {
    law::<D, _>(256, (cubes::<D, i32>(), 0..4_usize, 0..18_usize), |(x, columns, way)| {
        let [batches, _, inner] = x.shape();
        let y: Cube<i32, D> = odd([batches, inner, columns], &[1, -2, 3, 5], way);
        let got = x.matmul(&y);
        for batch in 0..batches {
            let (x, y) = (x.select(axis![0], batch), y.select(axis![0], batch));
            got.select(axis![0], batch).gives(x.matmul(&y).elements());
        }
        if batches > 0 {
            let one = y.select(axis![0], 0);
            x.matmul(&one).gives(x.matmul(one.unsqueeze(axis![0])).elements());
        }
    });
}

pub fn casts_go_element_by_element<D: Device>() {
    law::<D, _>(256, cubes::<D, f64>(), |x| {
        let elements = x.elements();
        x.to::<i32>().gives(elements.iter().map(|&v| v as i32).collect::<Vec<_>>());
        x.to::<bool>().gives(elements.iter().map(|&v| v != 0.0).collect::<Vec<_>>());
        x.to::<Complex<f32>>().real().gives(x.to::<f32>().elements());
    });
}

#[track_caller]
fn check_view<E: Element, D: Device>(got: &Cube<E, D>, expected: Model<E>) {
    assert_eq!(Model::of(got), expected);
}

fn factors<D: Device, E: Small>() -> impl Strategy<Value = (Matrix<E, D>, Matrix<E, D>)> {
    let sizes = [0..9_usize, 0..40_usize, 0..9_usize];
    (sizes, prop::collection::vec(-9..9, 1..20), 0..18_usize, 0..18_usize).prop_map(|([m, k, n], seeds, a, b)| {
        (odd::<D, E>([1, m, k], &seeds, a).select(axis![0], 0), odd::<D, E>([k, 1, n], &seeds, b).select(axis![1], 0))
    })
}

fn product<E: Numeric + std::iter::Sum + std::ops::Mul<Output = E>, D: Device>(
    x: &Matrix<E, D>,
    y: &Matrix<E, D>,
) -> Vec<E> {
    let ([rows, inner], [_, columns]) = (x.shape(), y.shape());
    let (x, y): (Matrix<E, Cpu>, Matrix<E, Cpu>) = (x.here(), y.here());
    let cell = |at: usize| (0..inner).map(|k| x[(at / columns, k)] * y[(k, at % columns)]).sum();
    (0..rows * columns).map(cell).collect()
}

pub fn nan_and_infinity_go_through<D: Device>() {
    fn each<E: Float, D: Device>() {
        let x = tensor![f64::NAN, f64::INFINITY, -0.0, 1.0; f64].on::<D>().to::<E>();
        x.isnan().gives([true, false, false, false]);
        x.sum().isnan().gives([true]);
        x.max().isnan().gives([true]);
        x.min().isnan().gives([true]);
        x.argmax().gives([0]);
        (&x * 0.0).isnan().gives([true, true, false, false]);
        x.eq(&x).gives([false, true, true, true]);
        assert!(x.here() != x.here(), "NaN is not equal to itself");
        assert!(x.maximum(&tensor![0.0].on::<D>().to::<E>()).isnan().elements()[0]);
        assert!(x.clamp(0.0, 1.0).isnan().elements()[0]);
        assert!(x.relu().isnan().elements()[0]);
    }
    each::<bf16, D>();
    each::<f32, D>();
    if super::is_host::<D>() {
        each::<f16, D>();
        each::<f64, D>();
    }
}

each_device! {
    also_without_data: ;
    with_data:
        elementwise_operations_are_loops, mixed_dtypes_convert_element_by_element, addition_and_multiplication_commute,
        one_dtype_at_a_time, writing_in_place_is_computing, operands_given_away_make_no_difference,
        what_is_written_is_seen_in_no_other_tensor, sums_over_axes_are_loops, extremes_are_the_first_of_equals,
        means_and_variances_are_those_of_the_elements, softmax_is_positive_and_sums_to_one,
        reshapes_keep_the_row_major_order, views_show_the_elements_they_should, joined_tensors_hold_the_elements_of_each,
        matrix_products_are_loops, float_products_are_loops, batches_of_products_broadcast, casts_go_element_by_element,
        nan_and_infinity_go_through;
}
