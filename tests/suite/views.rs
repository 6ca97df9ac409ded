//! Views: shapes and sizes of slices, borrowed memory, and edits that change the base.

use super::each_device::views::{counting, model};
use castiron::{
    AsTensor, Complex, Device, Dtype, Error, Float, Meta, Numeric, Shape, Tensor, TensorView, TensorViewMut, axis,
    bf16, cat, dims, fused, s, shape, tensor,
};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

// ---- slices ----

#[test]
fn known_sizes_of_slices_are_in_the_type() {
    dims! { Batch }
    let x: Tensor<i64, shape![_, 4, 6]> = Tensor::from_vec_sized((0..72).collect(), [3, 4, 6]);
    let n = 2;
    let _: Tensor<i64, shape![_, 2, 3]> = x.slice(s![.., 1..3, ::2]);
    let _: Tensor<i64, shape![1, 4]> = x.slice(s![0, NewAxis, ..., 2]);
    let _: Tensor<i64, shape![_, 4, 6]> = x.slice(s![..n]);
    let _: Tensor<i64, shape![2, 2, 2]> = x.slice(s![-2.., 2..100, -5..=-1;3]);
    let _: Tensor<i64, shape![_, 4, 0]> = x.slice(s![..-1, .., 4..2]);
    let _: Tensor<i64, shape![_, 4]> = x.slice(s![..n, .., n + 1]);
    let _: Tensor<i64, shape![3, 4, _]> = x.slice(s![0..3, .., n..n + 1]);
    let _: Tensor<i64, shape![]> = x.slice(s![0, -1, 5]);
    let _: Tensor<i64, shape![_]> = x.slice(s![..., 3, 0]);
    let _: Tensor<i64, shape![_, 1, 4, 6, 1]> = x.slice(s![.., NewAxis, ..., NewAxis]);
    let named: Tensor<f32, shape![Batch, 3]> = Tensor::zeros_sized([5, 3]);
    let _: Tensor<f32, shape![Batch, 2]> = named.slice(s![.., ..2]);
    let _: Tensor<f32, shape![2, 3]> = named.slice(s![1..3]);
    let _: Tensor<f32, shape![2, 3], Meta> = Tensor::<f32, shape![4, 3], Meta>::zeros().slice(s![::2]);
}

#[test]
fn a_literal_range_that_is_longer_than_the_axis_is_an_error() {
    let x: Tensor<i64, shape![_]> = Tensor::from_vec_sized(vec![1, 2], [2]);
    let error = x.try_slice(s![0..3]).unwrap_err();
    assert_eq!(error.to_string(), "slice: expected a tensor of shape [3], got one of shape [2]");
    let three = 3;
    assert_eq!(x.slice(s![0..three]).shape(), [2]); // as PyTorch clamps it
}

#[test]
fn positions_and_steps_out_of_range_are_errors() {
    let x = counting([2, 3, 4]);
    let i = 3;
    assert_eq!(x.try_slice(s![.., i]).unwrap_err().to_string(), "slice: index 3 is out of range for axis 1 of size 3");
    assert!(x.try_slice(s![.., -4]).is_err());
    let step = 0;
    let error = x.try_slice(s![..;step]).unwrap_err();
    assert_eq!(error.to_string(), "slice: the step of a range must be positive, not 0");
    assert!(x.try_slice(s![i64::MIN, ..]).is_err());
    assert_eq!(x.slice(s![i64::MIN..i64::MAX]).shape(), [2, 3, 4]);
    assert!(catch_unwind(AssertUnwindSafe(|| x.slice(s![7]))).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn slices_that_meet_are_refused(
        a in (0..6_usize, 0..8_usize, 1..4_usize), b in (0..6_usize, 0..8_usize, 1..4_usize),
        c in (0..3_usize, 0..3_usize), d in (0..3_usize, 0..3_usize),
    ) {
        let mut x: Tensor<i64, shape![_, _]> = Tensor::zeros_sized([7, 3]);
        let rows = |(start, end, step): (usize, usize, usize)| model(7, Some(start as isize), Some(end as isize), step);
        let meets = |a: &[usize], b: &[usize]| a.iter().any(|at| b.contains(at));
        let columns = |(start, end): (usize, usize)| model(3, Some(start as isize), Some(end as isize), 1);
        let apart = !(meets(&rows(a), &rows(b)) && meets(&columns(c), &columns(d)));
        let slices = [s![a.0..a.1;a.2, c.0..c.1], s![b.0..b.1;b.2, d.0..d.1]];
        let mut whole = x.view_mut();
        match whole.try_multi_slice_mut(slices) {
            Ok([mut one, mut other]) => {
                prop_assert!(apart);
                one += 1;
                other += 2;
            }
            Err(error) => {
                prop_assert!(!apart);
                prop_assert!(error.to_string().contains("slices 0 and 1"), "{}", error);
            }
        }
        let want = if apart { rows(a).len() * columns(c).len() + 2 * rows(b).len() * columns(d).len() } else { 0 };
        prop_assert_eq!(x.sum().item(), want as i64);
    }
}

/// A view taken by reference.
// ---- views of a tensor ----

#[test]
fn view_is_reshape_without_a_copy() {
    let x = counting([2, 3, 4]);
    assert!(x.view::<shape![6, _]>().shares_storage(&x));
    let error = x.transpose(axis![0], axis![1]).try_view::<shape![24]>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "view: strides [4, 12, 1] of a tensor of shape [3, 2, 4] do not allow shape [24] without a copy; `reshape` makes one"
    );
    assert_eq!(x.view_as(&Tensor::<f32, shape![4, 6]>::zeros())[(3, 5)], 23);
    assert_eq!(x.try_view_sized::<shape![_, _]>([5, 5]).unwrap_err().to_string().split(':').next(), Some("view"));
}

#[test]
fn as_strided_stays_inside_the_storage() {
    let x = Tensor::<i64, shape![6]>::arange(0, 6, 1);
    assert_eq!(x.as_strided::<shape![2, 2]>([3, 1], Some(1)).to_vec(), [1, 2, 4, 5]);
    assert_eq!(x.slice(s![2..]).as_strided::<shape![2]>([1], None).to_vec(), [2, 3]);
    assert_eq!(x.slice(s![2..]).as_strided::<shape![2]>([1], Some(0)).to_vec(), [0, 1]);
    assert_eq!(x.as_strided::<shape![0, 9]>([7, 7], Some(0)).numel(), 0);
    let error = x.try_as_strided::<shape![2, 2]>([3, 1], Some(2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "as_strided: sizes [2, 2] and strides [3, 1] from element 2 on reach beyond a storage of 6 elements"
    );
    assert!(x.try_as_strided::<shape![2]>([usize::MAX], Some(1)).is_err());
    assert!(x.try_as_strided::<shape![2, 2]>([usize::MAX / 2 + 1, usize::MAX / 2 + 1], None).is_err());
    assert_eq!(Tensor::<f32, shape![6], Meta>::zeros().as_strided::<shape![9]>([1], None).shape(), [9]);
}

#[test]
fn bytes_are_seen_as_other_dtypes() {
    let x = tensor![[1.0, 2.0], [-0.5, f32::NAN]];
    let bits: Tensor<u32, shape![2, 2]> = x.view_dtype();
    assert_eq!(bits.to_vec()[..3], [0x3f80_0000, 0x4000_0000, 0xbf00_0000]);
    let halves: Tensor<bf16, shape![2, 4]> = x.view_dtype();
    assert_eq!(halves[(0, 1)], bf16::from_f32(1.0));
    let pairs: Tensor<Complex<f32>, shape![2, 1]> = x.view_dtype();
    assert_eq!(pairs[(0, 0)], Complex::new(1.0, 2.0));
    let back: Tensor<f32, shape![2, 2]> = halves.view_dtype();
    assert!(back.shares_storage(&x));
    let unknown: Tensor<f32, shape![_]> = Tensor::from_vec_sized(vec![0.0; 3], [3]);
    let error = unknown.try_view_dtype::<f64>().unwrap_err();
    assert!(error.to_string().contains("divisible by 2 to see float32 as float64"), "{error}");
    assert!(x.t().try_view_dtype::<u8>().unwrap_err().to_string().contains("the last stride must be 1"));
    assert_eq!(tensor![2.0].sum().view_dtype::<i32>().item(), 0x4000_0000);
    assert_eq!(Tensor::<f32, shape![2, 3], Meta>::zeros().view_dtype::<u8>().stride(), [12, 1]);
}

#[test]
fn a_byte_that_is_no_bool_is_never_seen_as_one() {
    let bytes = tensor![0, 1, 2; u8];
    assert_eq!(bytes.slice(s![1..2]).to::<bool>().view_dtype::<u8>().to_vec(), [1]);
    assert!(bytes.try_view_dtype::<bool>().is_err());
    // A part that holds bools alone is one of bools; what is reached from there is looked at.
    let part = bytes.slice(s![..2]).view_dtype::<bool>();
    assert!(part.try_as_strided::<shape![3]>([1], None).is_err());
    assert_eq!(part.as_strided::<shape![2]>([0], Some(1)).to_vec(), [true, true]);
    let fine = tensor![0, 1, 1; u8].view_dtype::<bool>();
    assert_eq!(fine.to_vec(), [false, true, true]);
    assert!(TensorView::<bool, shape![2]>::from_bytes(&[1, 3], [2]).is_err());
}

#[test]
fn complex_numbers_are_seen_as_pairs() {
    let z = tensor![[1.0 + 2.0j, 3.0], [4.0j, 5.0 - 6.0j]];
    let parts: Tensor<f32, shape![2, 2, 2]> = z.t().view_as_real();
    assert_eq!(parts.to_vec(), [1.0, 2.0, 0.0, 4.0, 3.0, 0.0, 5.0, -6.0]);
    assert!(parts.view_as_complex() == z.t());
    let flat = Tensor::<f64, shape![5]>::arange(0, 5, 1);
    assert!(
        flat.slice(s![..4]).view::<shape![2, 2]>().view_as_complex().to_vec()
            == [Complex::new(0.0, 1.0), Complex::new(2.0, 3.0)]
    );
    let odd = flat.slice(s![1..]).view::<shape![2, 2]>().try_view_as_complex().unwrap_err();
    assert!(odd.to_string().starts_with("view_as_complex: the last axis must have size 2 and stride 1"), "{odd}");
    assert_eq!(z.adjoint()[(0, 1)], Complex::new(0.0, -4.0));
    let x = tensor![[1, 2], [3, 4]];
    assert!(x.mH().shares_storage(&x) && x.mT().to_vec() == [1, 3, 2, 4]);
}

// ---- borrowed memory ----

#[test]
fn a_view_reads_the_memory_it_borrows() {
    let memory: Vec<f32> = (0..24).map(|x| x as f32).collect();
    let x: TensorView<f32, shape![2, 3, 4]> = TensorView::from_slice(&memory);
    let row = x.select(axis![0], 1).slice(s![2]);
    assert_eq!(row.as_slice().unwrap().as_ptr(), &raw const memory[20]);
    let turned = x.permute(axis![2, 0, 1]);
    assert!(turned.shares_storage(&x) && turned.clone().shares_storage(&x));
    let owned = Tensor::<f32, shape![2, 3, 4]>::from_vec(memory.clone());
    assert!(turned == owned.permute(axis![2, 0, 1]));
    assert_eq!(x.expand::<shape![5, 2, 3, 4]>().as_strided::<shape![2]>([23], None).to_vec(), [0.0, 23.0]);
    assert_eq!(x.view_dtype::<i32>()[(0, 0, 1)], 1.0_f32.to_bits() as i32);
    let [a, b] = x.unbind_array(axis![0]);
    assert_eq!((&a + &b)[(0, 0)], 12.0);
    assert_eq!(x.split(axis![2], 3)[1].to_vec(), [3.0, 7.0, 11.0, 15.0, 19.0, 23.0]);
    assert!(x.mT().squeeze_axes(axis![0, 1]).unfold_sized(axis![0], 2, 1).shares_storage(&x));
    assert!(x.flatten_axes(axis![0], axis![1]).tensor_split(axis![0], 4)[3].shares_storage(&x));
}

#[test]
fn a_tensor_made_of_a_view_outlives_the_memory() {
    let (whole, column, spread, turned, same) = {
        let memory: Vec<i32> = (0..6).collect();
        let x: TensorView<i32, shape![2, 3]> = TensorView::from_slice(&memory);
        let tensor: &Tensor<i32, shape![2, 3]> = &x;
        (
            tensor.clone(),
            tensor.select(axis![1], 1),
            tensor.unsqueeze(axis![0]).expand::<shape![2, 2, 3]>(),
            x.permute(axis![1, 0]).to_tensor(),
            tensor.to::<i32>(),
        )
    };
    assert_eq!(whole.to_vec(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(column.to_vec(), [1, 4]);
    assert_eq!(spread.to_vec(), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
    assert_eq!(turned.to_vec(), [0, 3, 1, 4, 2, 5]);
    assert_eq!(same.sum().item(), 15);
}

#[test]
fn operations_take_views() {
    let memory: Vec<f32> = (0..12).map(|x| x as f32 * 0.5).collect();
    let owned = Tensor::<f32, shape![3, 4]>::from_vec(memory.clone());
    let mut other = owned.clone();
    let x: TensorView<f32, shape![3, 4]> = TensorView::from_slice(&memory);
    let v = x.slice(s![.., ::2]);
    let w = owned.slice(s![.., ::2]);
    assert!(&v + &w == &w + &w);
    assert!(v.clone() * 2 == &w * 2);
    assert!(1.0 - &v == 1.0 - &w);
    assert!(-&v == -&w);
    assert!(v.matmul(v.t()) == w.matmul(w.t()));
    assert!(v.softmax(axis![-1]) == w.softmax(axis![-1]));
    assert!(cat((&v, &w), axis![0]) == cat((&w, &w), axis![0]));
    assert!(fused!(v * 2.0 + w) == &w * 3.0);
    assert!((v.lazy() + &v).eval() == &w + &w);
    assert!(v.layer_norm::<shape![2]>(None, None, 1e-5) == w.layer_norm::<shape![2]>(None, None, 1e-5));
    assert!(x.linear(&x, None::<&Tensor<f32, shape![3]>>) == owned.linear(&owned, None::<&Tensor<f32, shape![3]>>));
    assert!(v.index_select(axis![0], tensor![2, 0]) == w.index_select(axis![0], tensor![2, 0]));
    assert!(v.cumsum(axis![0]) == w.cumsum(axis![0]));
    assert!(v.sort(axis![1], true).0 == w.sort(axis![1], true).0);
    assert!(
        v.scatter_value(axis![1], tensor![[0], [1], [0]], 9.0)
            == w.scatter_value(axis![1], tensor![[0], [1], [0]], 9.0)
    );
    assert_eq!(format!("{v}"), format!("{w}"));
    let m = other.slice_mut(s![.., ::2]);
    assert!(&m + &v == &w + &w);
    assert!(fused!(m + v) == &w + &w);
    assert!(v.add(&m) == &w + &w);
    assert_eq!(memory[11], 5.5);
}

#[test]
fn memory_that_does_not_fit_is_refused() {
    let memory = [1_i64, 2, 3];
    let error = TensorView::<i64, shape![2, 2]>::try_from_slice(&memory).unwrap_err();
    assert_eq!(error.to_string(), "from_slice: shape [2, 2] takes 4 elements, got 3");
    assert!(TensorView::<i64, shape![_, _]>::try_from_slice_strided(&memory, [2, 2], [2, 1]).is_err());
    assert!(TensorView::<i64, shape![_, _]>::try_from_slice_strided(&memory, [2, 2], [1, 1]).is_ok());
    assert!(TensorView::<i64, shape![_]>::try_from_slice_sized(&[], [0]).unwrap().is_empty());
    let bytes = tensor![1, 2; i64].view_dtype::<u8>();
    let bytes = bytes.as_slice().unwrap();
    assert_eq!(TensorView::<i64, shape![1]>::from_bytes(&bytes[8..], [1]).unwrap().item(), 2);
    let error = TensorView::<i64, shape![1]>::from_bytes(&bytes[1..9], [1]).unwrap_err();
    assert_eq!(error.to_string(), "from_bytes: the bytes of int64 must start at a multiple of 8: copy them first");
    assert!(matches!(TensorView::<i64, shape![1]>::from_bytes(bytes, [1]), Err(Error::InvalidArgument { .. })));
}

// ---- edits ----

#[test]
fn edits_land_in_the_base() {
    let mut x = counting([2, 3, 4]).to::<f32>();
    let before = x.clone();
    x.select_mut(axis![0], 0).fill(7);
    x.diagonal_mut(axis![1, 2]).exp_();
    x.t_planes();
    let mut want = before.to_vec();
    want[..12].fill(7.0);
    for plane in [0, 12] {
        for at in [0, 5, 10] {
            want[plane + at] = want[plane + at].exp();
        }
    }
    want.iter_mut().enumerate().for_each(|(at, x)| *x += (at % 4 * 3 + at / 4 % 3) as f32);
    assert_eq!(x.to_vec(), want);
    assert_eq!(before[(0, 0, 0)], 0.0);
}

/// Adds what is laid out the other way round.
trait TPlanes {
    fn t_planes(&mut self);
}
impl TPlanes for Tensor<f32, shape![_, _, _]> {
    fn t_planes(&mut self) {
        let other: Tensor<f32, shape![4, 3]> = Tensor::<f32, shape![12]>::arange(0, 12, 1).reshape();
        self.transpose_mut(axis![1], axis![2]).add_(other);
    }
}

#[test]
fn every_kind_of_edit_works_through_a_view() {
    let base = Tensor::<i64, shape![4, 6]>::arange_like();
    // The same edits on a tensor of its own, put back by hand.
    let both = |edit: &dyn Fn(&mut TensorViewMut<'_, i64, shape![4, 3]>),
                own: &dyn Fn(&mut Tensor<i64, shape![4, 3]>)| {
        let mut seen = base.clone();
        edit(&mut seen.slice_mut(s![.., 1..;2]));
        let mut part = base.slice(s![.., 1..;2]).contiguous();
        own(&mut part);
        let mut want = base.clone();
        for row in 0..4 {
            for column in 0..3 {
                want[(row, 2 * column + 1)] = part[(row, column)];
            }
        }
        assert!(seen == want, "{seen} {want}");
    };
    let mask = || tensor![[true], [false], [true], [false]];
    let (index, rows) = (tensor![[2], [0], [1], [1]], tensor![3, 0]);
    macro_rules! same {
        ($($x:ident: $edit:expr;)*) => {$(
            both(&|$x| { $edit; }, &|$x| { $edit; });
        )*};
    }
    same! {
        x: *x += 5;
        x: *x -= tensor![1, 2, 3];
        x: x.mul_(tensor![[2], [3], [4], [5]]);
        x: x.floor_divide_(4);
        x: x.neg_();
        x: x.clamp_(3, 11);
        x: x.fill(9.9);
        x: x.zero_();
        x: x.assign(tensor![1, 2, 3]);
        x: x.assign(tensor![1, 2, 3].lazy() * 2 + 1);
        x: *x += tensor![1, 2, 3].lazy().square();
        x: x.copy_from(&tensor![1.9, -1.9, 0.5]);
        x: x.masked_fill_(mask(), -1);
        x: x.masked_scatter_(mask(), Tensor::<i64, shape![6]>::arange(0, 6, 1));
        x: x.scatter_value_(axis![1], &index, 70);
        x: x.scatter_add_(axis![1], &index, tensor![[1], [2], [3], [4]]);
        x: x.scatter_reduce_(axis![1], &index, tensor![[1], [2], [3], [4]], castiron::ScatterReduce::Prod, true);
        x: x.index_add_(axis![0], &rows, tensor![[1, 2, 3], [4, 5, 6]], 2);
        x: x.index_fill_(axis![0], &rows, 0);
        x: x.index_put_([&rows], tensor![[1, 2, 3], [4, 5, 6]], true);
        x: x[(2, 1)] = 33;
    }
    let mut x = base.clone();
    let mut view = x.slice_mut(s![::2]);
    let y = base.slice(s![1..;2]);
    fused!(view = y * 10 + 1);
    fused!(view += y);
    assert_eq!(x[(0, 0)], 6 * 10 + 1 + 6);
    assert_eq!(x[(1, 0)], 6);
    let mut x = tensor![1.0, 2.0, 3.0, 4.0];
    x.slice_mut(s![::2]).lerp_(tensor![2.0, 4.0], 0.5).elu_(1.0);
    assert_eq!(x.to_vec(), [1.5, 2.0, 3.5, 4.0]);
    let mut z = tensor![1.0 + 2.0j, 3.0];
    z.imag_mut().fill(-1);
    z.view_as_real_mut().select_mut(axis![1], 0).mul_(2);
    assert_eq!(z.to_vec(), [Complex::new(2.0, -1.0), Complex::new(6.0, -1.0)]);
}

trait ArangeLike {
    fn arange_like() -> Self;
}
impl ArangeLike for Tensor<i64, shape![4, 6]> {
    fn arange_like() -> Self {
        Tensor::from_vec((0..24).collect())
    }
}

#[test]
fn nothing_is_written_if_anything_is_wrong() {
    let mut x: Tensor<i64, shape![_, _]> = Tensor::ones_sized([2, 3]);
    let mut view = x.slice_mut(s![.., 1..]);
    let wrong: Tensor<i64, shape![_]> = Tensor::ones_sized([3]);
    assert!(view.try_add_(&wrong).is_err());
    assert!(view.try_assign(&wrong).is_err());
    assert!(view.try_floor_divide_(0).is_err());
    assert!(view.try_fill(f64::MAX).is_err() || view.iter().all(|&x| x != 1));
    assert_eq!(x[(0, 0)], 1);
}

#[test]
fn parts_are_written_at_once() {
    let mut x = counting([2, 3, 4]);
    let [mut left, right] = x.split_at_mut(axis![2], 1);
    left += right.sum_axis(axis![2].keepdim());
    assert_eq!(left.to_vec()[0], 6);
    assert!(x.view_mut().try_split_at_mut(axis![2], 5).is_err());
    let [mut first, mut second] = x.unbind_array_mut(axis![0]);
    std::thread::scope(|scope| {
        scope.spawn(|| first.fill(1));
        scope.spawn(|| second.fill(2));
    });
    assert_eq!(x.sum().item(), 12 + 24);
    for (at, mut row) in x.iter_axis_mut(axis![1]).enumerate() {
        row *= at;
    }
    assert_eq!(x.sum_axis(axis![0, 2]).to_vec(), [0, 12, 24]);
    let parts = x.split_sizes_mut(axis![2], &[1, 3]);
    assert_eq!(parts.iter().map(|part| part.shape()).collect::<Vec<_>>(), [[2, 3, 1], [2, 3, 3]]);
}

/// Large enough for several threads, and columns that lie between those of another thread.
#[test]
fn disjoint_views_do_not_disturb_one_another() {
    let mut x = Tensor::<i32, shape![_, _]>::zeros_sized([3000, 64]);
    let mut pairs = x.reshape_sized_mut::<shape![_, _, 2]>([3000, 32, 2]);
    let [mut even, mut odd] = pairs.unbind_array_mut(axis![2]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..5 {
                even += 1;
                let copy = even.to_tensor();
                assert!(copy.iter().all(|x| x == &copy[(0, 0)]));
            }
        });
        scope.spawn(|| {
            for _ in 0..5 {
                odd -= 1;
                assert_eq!(odd.sum().item(), odd[(0, 0)] as i64 * 96000);
            }
        });
    });
    assert_eq!(x.sum_axis(axis![0]).to_vec()[..2], [15000, -15000]);
}

#[test]
fn shared_and_expanded_tensors_become_their_own_first() {
    let row = tensor![1, 2, 3];
    let mut rows = row.expand::<shape![2, 3]>();
    rows.select_mut(axis![0], 0).fill(0);
    assert_eq!(rows.to_vec(), [0, 0, 0, 1, 2, 3]);
    let mut windows = row.unfold::<castiron::dim!(2), castiron::dim!(1), _>(axis![0]);
    windows.view_mut().add_(tensor![[10, 20], [30, 40]]);
    assert_eq!(windows.to_vec(), [11, 22, 32, 43]);
    assert_eq!(row.to_vec(), [1, 2, 3]);
    let mut none = Tensor::<f32, shape![0, 3]>::zeros();
    none.t_mut().fill(1);
    none.slice_mut(s![.., 2]).add_(1.0);
    let mut number = Tensor::scalar(2.0_f32);
    number.view_mut().exp2_();
    number.view_mut()[()] += 1.0;
    assert_eq!(number.item(), 5.0);
}

#[test]
fn what_a_mutable_view_reads_is_what_it_wrote() {
    let mut memory = vec![0_i64; 12];
    let mut x: TensorViewMut<i64, shape![3, 4]> = TensorViewMut::from_slice_mut(&mut memory);
    x += Tensor::<i64, shape![4]>::arange(0, 4, 1);
    let copy = x.to_tensor();
    x *= 2;
    assert_eq!(copy.sum().item() * 2, x.sum().item());
    let turned = x.as_view().t();
    assert!(turned.matmul(&x) == turned.to_tensor().matmul(&x.to_tensor()));
    assert!(x.select_mut(axis![1], 2).as_mut_slice().is_none());
    x.select_mut(axis![0], 2).as_mut_slice().unwrap()[3] = 99;
    assert_eq!(x.get((2, 3)), Some(&99));
    let x = x.into_view();
    assert_eq!(x.slice(s![-1, -1]).item(), 99);
    assert_eq!(memory[11], 99);
}

#[test]
fn views_have_a_device() {
    let mut x = Tensor::<f32, shape![2, 3], Meta>::zeros();
    let mut view = x.slice_mut(s![.., ::2]);
    view += 1;
    assert_eq!((view.shape(), x.as_view().t().shape()), ([2, 2], [3, 2]));
}

/// No bounds but on the dtype.
#[test]
fn generic_functions_take_views() {
    fn center<E: Float, S: Shape, D: Device>(x: &mut TensorViewMut<'_, E, S, D>) {
        let mean = x.mean();
        *x -= mean;
    }
    fn total<E: Numeric, S: Shape, D: Device>(x: impl AsTensor<E, S, D>) -> Tensor<E::Sum, (), D> {
        x.as_tensor().sum()
    }
    fn first<'a, E: Dtype, S: Shape>(x: &TensorView<'a, E, S>) -> TensorView<'a, E, S> {
        x.clone()
    }
    let mut x = tensor![[1.0, 2.0], [3.0, 6.0]];
    center(&mut x.select_mut(axis![0], 1));
    assert_eq!(x.to_vec(), [1.0, 2.0, -1.5, 1.5]);
    assert_eq!(total(&x).item(), 3.0);
    assert_eq!(total(x.as_view()).item(), 3.0);
    assert_eq!(total(x.view_mut()).item(), 3.0);
    assert_eq!(first(&x.as_view()).to_vec(), x.to_vec());
}
