//! Laws, on random tensors of odd strides, empty ones included: every operation equals the naive loop over its elements,
//! views show the elements they should, and what is written to one tensor is seen in no other.

use crate::odd::{Cube, Small, cubes, odd, pairs};
use castiron::shape::broadcast_sizes;
use castiron::{Dyn, Element, Float, Numeric, Tensor, axis, cat, stack, tensor, where_};
use proptest::prelude::*;

type Matrix<E> = Tensor<E, (Dyn, Dyn)>;

/// A tensor's elements in row-major order, beside its sizes: what the naive loops compute on.
#[derive(Clone, Debug, PartialEq)]
struct Model<E> {
    sizes: [usize; 3],
    elements: Vec<E>,
}

impl<E: Element> Model<E> {
    fn of(x: &Cube<E>) -> Self {
        Model { sizes: x.shape(), elements: x.to_vec() }
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

fn check<E: Element>(got: &Cube<E>, expected: Option<Model<E>>) {
    assert_eq!(Some(Model::of(got)), expected);
    assert!(castiron::layout::strides::is_dense(&got.shape(), &got.stride()), "results leave no gaps");
}

proptest! {
    #[test]
    fn elementwise_operations_are_loops((a, b) in pairs::<i32, i32>()) {
        let (m, n) = (Model::of(&a), Model::of(&b));
        check(&(&a + &b), m.zip(&n, i32::wrapping_add));
        check(&(&a - &b), m.zip(&n, i32::wrapping_sub));
        check(&(&a * &b), m.zip(&n, i32::wrapping_mul));
        check(&a.lt(&b), m.zip(&n, |x, y| x < y));
        check(&a.maximum(&b), m.zip(&n, i32::max));
        check(&(&a & &b), m.zip(&n, |x, y| x & y));
        check(&where_(a.gt(&b), &a, &b), m.zip(&n, i32::max));
        let quotients = m.zip(&n, |x, y| (x as f32 / y as f32).to_bits() & 0x7fff_ffff);
        prop_assert_eq!(Some((&a / &b).iter().map(|v| v.to_bits() & 0x7fff_ffff).collect()), quotients.map(|model| model.elements));
        if n.elements.iter().all(|&y| y != 0) {
            check(&(&a % &b), m.zip(&n, |x, y| x.rem_euclid(y) + if y < 0 && x.rem_euclid(y) != 0 { y } else { 0 }));
        }
    }

    #[test]
    fn mixed_dtypes_convert_element_by_element((a, b) in pairs::<u8, f64>()) {
        let (m, n) = (Model::of(&a), Model::of(&b));
        check(&(&a + &b), m.zip(&n, |x, y| f64::from(x) + y));
        check(&(&b * &a), n.zip(&m, |y, x| y * f64::from(x)));
        check(&a.eq(&b), m.zip(&n, |x, y| f64::from(x) == y));
    }

    #[test]
    fn addition_and_multiplication_commute((a, b) in pairs::<castiron::Complex<f32>, f32>()) {
        prop_assert!((&a + &b) == (&b + &a));
        prop_assert!((&a * &b) == (&b * &a));
    }

    #[test]
    fn one_dtype_at_a_time((a, b) in pairs::<castiron::bf16, castiron::bf16>(), c in cubes::<bool>()) {
        check(&(&a + &b), Model::of(&a).zip(&Model::of(&b), |x, y| castiron::bf16::from_f32(f32::from(x) + f32::from(y))));
        check(&!&c, Some(Model::from_fn(c.shape(), |index| !Model::of(&c).at(index))));
        check(&c.logical_or(&c), Some(Model::of(&c)));
    }

    #[test]
    fn writing_in_place_is_computing((a, b) in pairs::<i64, i64>()) {
        let sum = &a + &b;
        if sum.shape() == a.shape() {
            let mut x = a.clone();
            x += &b;
            prop_assert!(x == sum);
            let mut out = sum.zeros_like();
            a.add_into(&b, &mut out);
            prop_assert!(out == sum);
        } else {
            let (mut x, before) = (a.clone(), Model::of(&a));
            prop_assert!(x.try_add_(&b).is_err());
            prop_assert_eq!(Model::of(&x), before);
        }
    }

    #[test]
    fn operands_given_away_make_no_difference((a, b) in pairs::<i64, i64>()) {
        fn same(x: Cube<i64>, y: Cube<i64>) {
            assert_eq!((x.to_vec(), x.shape(), x.stride()), (y.to_vec(), y.shape(), y.stride()));
        }
        let mut sizes = [0; 3];
        if !broadcast_sizes(&a.shape(), &b.shape(), &mut sizes) {
            return Ok(());
        }
        // A fresh copy, which nobody else holds, in the layout of `a`; and in row-major order.
        for own in [|a: &Cube<i64>| a + 0, |a: &Cube<i64>| a.contiguous() + 0] {
            let kept = own(&a);
            same(own(&a) + &b, &kept + &b);
            same(own(&a) - b.clone(), &kept - &b);
            same(own(&a) * 3, &kept * 3);
            same(7 - own(&a), 7 - &kept);
            same(own(&a) * tensor!(5_i64), &kept * tensor!(5_i64));
            // Shared: what is given away here is seen there.
            let (shared, before) = (own(&a), kept.to_vec());
            same(shared.clone() + &b, &kept + &b);
            assert_eq!(shared.to_vec(), before);
        }
    }

    #[test]
    fn what_is_written_is_seen_in_no_other_tensor(x in cubes::<i64>()) {
        let before = Model::of(&x);
        let mut copy = x.clone();
        let mut view = x.permute(axis![2, 1, 0]);
        let mut piece = x.flatten();
        copy += 1;
        view.fill(7);
        piece *= 2;
        prop_assert_eq!(Model::of(&x), before.clone());
        prop_assert_eq!(copy.to_vec(), before.elements.iter().map(|v| v + 1).collect::<Vec<_>>());
        prop_assert!(view.iter().all(|&v| v == 7));
        prop_assert_eq!(piece.to_vec(), before.elements.iter().map(|v| v * 2).collect::<Vec<_>>());
    }

    #[test]
    fn writing_through_repeated_elements_gives_each_its_own(row in prop::collection::vec(-9..9_i64, 1..5)) {
        let x: Tensor<i64, (Dyn,)> = row.clone().into();
        let mut repeated = x.unsqueeze(axis![0]).expand_sized::<(Dyn, Dyn)>([3, row.len()]);
        repeated[(1, 0)] = 100;
        prop_assert_eq!((repeated[(0, 0)], repeated[(1, 0)], repeated[(2, 0)]), (row[0], 100, row[0]));
        prop_assert_eq!(x.to_vec(), row);
    }

    #[test]
    fn sums_over_axes_are_loops(x in cubes::<i32>()) {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        let total: i64 = m.elements.iter().map(|&v| i64::from(v)).sum();
        prop_assert_eq!(x.sum().item(), total);
        prop_assert_eq!(x.sum_axis(axis![1].keepdim()).shape(), [a, 1, c]);
        prop_assert_eq!(x.sum_axis(axis![1]).to_vec(), Model::from_fn([a, 1, c], |[i, _, k]| {
            (0..b).map(|j| i64::from(m.at([i, j, k]))).sum::<i64>()
        }).elements);
        prop_assert_eq!(x.sum_axis(axis![0, 2]).to_vec(), (0..b).map(|j| {
            (0..a).flat_map(|i| (0..c).map(move |k| (i, k))).map(|(i, k)| i64::from(m.at([i, j, k]))).sum::<i64>()
        }).collect::<Vec<_>>());
        prop_assert_eq!(x.sum_axis(axis![0]).sum_axis(axis![-1]).to_vec(), x.sum_axis(axis![0, -1]).to_vec());
        check(&x.cumsum(axis![1]), Some(Model::from_fn(m.sizes, |[i, j, k]| {
            (0..=j).map(|j| i64::from(m.at([i, j, k]))).sum()
        })));
        prop_assert_eq!(x.any_axis(axis![2]).to_vec(), (0..a * b).map(|at| {
            (0..c).any(|k| m.at([at / b, at % b, k]) != 0)
        }).collect::<Vec<_>>());
    }

    #[test]
    fn extremes_are_the_first_of_equals(x in cubes::<i32>()) {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        if m.elements.is_empty() {
            prop_assert!(x.try_max().is_err() && x.try_argmin().is_err());
        } else {
            let largest = *m.elements.iter().max().unwrap();
            prop_assert_eq!(x.max().item(), largest);
            prop_assert_eq!(x.argmax().item() as usize, m.elements.iter().position(|&v| v == largest).unwrap());
        }
        if c == 0 && a * b > 0 {
            prop_assert!(x.try_min_axis(axis![-1]).is_err());
        } else if c > 0 {
            let (values, indices) = x.min_axis(axis![-1]);
            for at in 0..a * b {
                let lane: Vec<i32> = (0..c).map(|k| m.at([at / b, at % b, k])).collect();
                let smallest = *lane.iter().min().unwrap();
                prop_assert_eq!(values[(at / b, at % b)], smallest);
                prop_assert_eq!(indices[(at / b, at % b)] as usize, lane.iter().position(|&v| v == smallest).unwrap());
            }
        }
    }

    #[test]
    fn means_and_variances_are_those_of_the_elements(x in cubes::<f64>()) {
        let lanes: Vec<Vec<f64>> = x.to_vec().chunks(x.size(axis![2]).max(1)).map(<[f64]>::to_vec).collect();
        if x.is_empty() {
            prop_assert!(x.mean().item().is_nan());
            return Ok(());
        }
        let mean = |lane: &[f64]| lane.iter().sum::<f64>() / lane.len() as f64;
        let variance = |lane: &[f64]| lane.iter().map(|v| (v - mean(lane)).powi(2)).sum::<f64>() / lane.len() as f64;
        for (got, lane) in x.mean_axis(axis![2]).iter().zip(&lanes) {
            prop_assert!((got - mean(lane)).abs() < 1e-12);
        }
        for (got, lane) in x.var_axis(axis![2], 0).iter().zip(&lanes) {
            prop_assert!((got - variance(lane)).abs() < 1e-12, "{got} {lane:?}");
        }
    }

    #[test]
    fn softmax_is_positive_and_sums_to_one(x in cubes::<f64>()) {
        let p = x.softmax(axis![1]);
        prop_assert!(p.iter().all(|&v| v > 0.0));
        prop_assert!(p.sum_axis(axis![1]).iter().all(|&total| x.size(axis![1]) == 0 || (total - 1.0).abs() < 1e-12));
        prop_assert!(x.log_softmax(axis![1]).exp().allclose_with(&p, 1e-12, 0.0));
        prop_assert!((&x - x.logsumexp(axis![1].keepdim())).exp().allclose_with(&p, 1e-12, 0.0) || x.is_empty());
    }

    #[test]
    fn reshapes_keep_the_row_major_order(x in cubes::<i64>()) {
        let [a, b, c] = x.shape();
        prop_assert_eq!(x.flatten().to_vec(), x.to_vec());
        prop_assert_eq!(x.flatten_axes(axis![0], axis![1]).to_vec(), x.to_vec());
        let y = x.reshape_sized::<(Dyn, Dyn)>([c, a * b]);
        prop_assert_eq!(y.to_vec(), x.to_vec());
        prop_assert_eq!(x.contiguous().to_vec(), x.to_vec());
        prop_assert!(x.contiguous().is_contiguous());
        prop_assert!(x.try_reshape_sized::<(Dyn,)>([a * b * c + 1]).is_err());
    }

    #[test]
    fn views_show_the_elements_they_should(x in cubes::<i64>()) {
        let m = Model::of(&x);
        let [a, b, c] = m.sizes;
        check_view(&x.permute(axis![2, 0, 1]), Model::from_fn([c, a, b], |[k, i, j]| m.at([i, j, k])));
        check_view(&x.transpose(axis![0], axis![-1]), Model::from_fn([c, b, a], |[k, j, i]| m.at([i, j, k])));
        if b > 0 {
            let row = x.select(axis![1], b - 1);
            prop_assert_eq!(row.to_vec(), (0..a * c).map(|at| m.at([at / c, b - 1, at % c])).collect::<Vec<_>>());
        }
        prop_assert!(x.try_select(axis![1], b).is_err());
        prop_assert!(x.try_narrow(axis![2], 1, c).is_err());
        prop_assert!(x.try_narrow(axis![2], usize::MAX, 2).is_err());
        let unsqueezed = x.unsqueeze(axis![1]);
        prop_assert_eq!(unsqueezed.shape(), [a, 1, b, c]);
        prop_assert_eq!(unsqueezed.to_vec(), m.elements);
    }

    #[test]
    fn joined_tensors_hold_the_elements_of_each((x, y) in pairs::<i32, i64>(), way in 0..18_usize) {
        let [a, b, c] = x.shape();
        let z: Cube<i64> = odd([a, b, y.size(axis![2])], &[1, 2, 3], way);
        let joined = cat((&x, &z), axis![2]);
        let (m, n) = (Model::of(&x), Model::of(&z));
        prop_assert_eq!(Model::of(&joined), Model::from_fn([a, b, c + z.size(axis![2])], |[i, j, k]| {
            if k < c { i64::from(m.at([i, j, k])) } else { n.at([i, j, k - c]) }
        }));
        let stacked = stack(&[x.clone(), x.clone()][..], axis![0]);
        prop_assert_eq!(stacked.to_vec(), [x.to_vec(), x.to_vec()].concat());
    }

    #[test]
    fn matrix_products_are_loops((x, y) in factors::<i64>()) {
        let got = x.matmul(&y);
        prop_assert_eq!(got.to_vec(), product(&x, &y));
        let transposed = y.t().matmul(x.t());
        prop_assert!(transposed.t() == got);
    }

    #[test]
    fn float_products_are_loops((x, y) in factors::<f32>(), (z, w) in factors::<castiron::bf16>()) {
        // (small whole numbers: exact in any order)
        prop_assert_eq!(x.matmul(&y).to_vec(), product(&x, &y));
        prop_assert_eq!(z.to::<f32>().matmul(w.to::<f32>()).to::<castiron::bf16>().to_vec(), z.matmul(&w).to_vec());
    }

    #[test]
    fn batches_of_products_broadcast(x in cubes::<i32>(), columns in 0..4_usize, way in 0..18_usize) {
        let [batches, _, inner] = x.shape();
        let y: Cube<i32> = odd([batches, inner, columns], &[1, -2, 3, 5], way);
        let got = x.matmul(&y);
        for batch in 0..batches {
            let (x, y) = (x.select(axis![0], batch), y.select(axis![0], batch));
            prop_assert_eq!(got.select(axis![0], batch).to_vec(), x.matmul(&y).to_vec());
        }
        if batches > 0 {
            let one = y.select(axis![0], 0);
            prop_assert!(x.matmul(&one) == x.matmul(one.unsqueeze(axis![0])));
        }
    }

    #[test]
    fn casts_go_element_by_element(x in cubes::<f64>()) {
        prop_assert_eq!(x.to::<i32>().to_vec(), x.iter().map(|&v| v as i32).collect::<Vec<_>>());
        prop_assert_eq!(x.to::<bool>().to_vec(), x.iter().map(|&v| v != 0.0).collect::<Vec<_>>());
        prop_assert!(x.to::<castiron::Complex<f32>>().real() == x.to::<f32>());
    }
}

fn check_view<E: Element>(got: &Cube<E>, expected: Model<E>) {
    assert_eq!(Model::of(got), expected);
}

fn factors<E: Small>() -> impl Strategy<Value = (Matrix<E>, Matrix<E>)> {
    let sizes = [0..9_usize, 0..40_usize, 0..9_usize];
    (sizes, prop::collection::vec(-9..9, 1..20), 0..18_usize, 0..18_usize).prop_map(|([m, k, n], seeds, a, b)| {
        (
            crate::odd::odd::<E>([1, m, k], &seeds, a).select(axis![0], 0),
            crate::odd::odd::<E>([k, 1, n], &seeds, b).select(axis![1], 0),
        )
    })
}

fn product<E: Numeric + std::iter::Sum + std::ops::Mul<Output = E>>(x: &Matrix<E>, y: &Matrix<E>) -> Vec<E> {
    let ([rows, inner], [_, columns]) = (x.shape(), y.shape());
    let cell = |at: usize| (0..inner).map(|k| x[(at / columns, k)] * y[(k, at % columns)]).sum();
    (0..rows * columns).map(cell).collect()
}

/// `a + b` is written where an `a` was that nobody will read again, if it fits there.
#[test]
fn results_take_the_place_of_operands_given_away() {
    fn place<E: Element>(x: &Tensor<E, (Dyn,)>) -> usize {
        x.as_slice().map_or(0, |elements| elements.as_ptr().addr())
    }
    let fresh = || Tensor::<f32, (Dyn,)>::from_vec_sized(vec![1.0, 2.0, 3.0], [3]) * 1.0;
    let other = fresh();
    let x = fresh();
    let at = place(&x);
    let x = 1.0 - (x + &other) * 2.0;
    assert_eq!((place(&x), x.to_vec()), (at, vec![-3.0_f32, -7.0, -11.0]));
    // Not where the dtype is another, or somebody else holds it.
    let (x, kept) = (fresh(), fresh());
    let at = place(&x);
    let greater = x.clone().gt(&kept);
    assert_ne!(place(&greater), at);
    let twice = x.clone() + &other;
    assert_ne!(place(&twice), at);
    assert_eq!(x.to_vec(), [1.0_f32, 2.0, 3.0]);
    // Nothing is lost where the operation is refused.
    let zeros = Tensor::<i64, (Dyn,)>::zeros_sized([3]);
    assert!((zeros.clone() + 1).try_floor_divide(&zeros).is_err());
}

#[test]
fn nan_and_infinity_go_through() {
    fn each<E: Float>() {
        let x = tensor![f64::NAN, f64::INFINITY, -0.0, 1.0; f64].to::<E>();
        assert_eq!(x.isnan().to_vec(), [true, false, false, false]);
        assert!(x.sum().isnan().item());
        assert!(x.max().isnan().item() && x.min().isnan().item());
        assert_eq!(x.argmax().item(), 0);
        assert_eq!((&x * 0.0).isnan().to_vec(), [true, true, false, false]);
        assert_eq!(x.eq(&x).to_vec(), [false, true, true, true]);
        assert!(x != x, "NaN is not equal to itself");
        assert!(x.maximum(&tensor![0.0].to::<E>()).isnan()[0]);
        assert!(x.clamp(0.0, 1.0).isnan()[0]);
        assert!(x.relu().isnan()[0]);
    }
    each::<castiron::f16>();
    each::<castiron::bf16>();
    each::<f32>();
    each::<f64>();
}
