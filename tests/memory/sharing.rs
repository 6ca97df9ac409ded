//! Tensors that share memory: a write makes the memory unique first, and the last owner frees it.

use castiron::{Cpu, Dyn, Tensor, TensorView, TensorViewMut, axis, fused, shape};
use static_assertions::assert_impl_all;
use std::thread;

// Elements are plain numbers, so everything goes to other threads and is read by many; what is written needs `&mut`.
assert_impl_all!(Tensor<f32, shape![_, 3]>: Send, Sync);
assert_impl_all!(TensorView<'static, f32, shape![_, 3], Cpu>: Send, Sync);
assert_impl_all!(TensorViewMut<'static, f32, shape![_, 3], Cpu>: Send, Sync);
#[cfg(feature = "any")]
assert_impl_all!(castiron::AnyTensor: Send, Sync);
#[cfg(feature = "any")]
assert_impl_all!(castiron::AnyViewMut<'static>: Send, Sync);

fn counting() -> Tensor<i64, (Dyn,)> {
    Tensor::from_vec_sized((0..6).collect(), [6])
}

#[test]
fn clones_are_written_and_dropped_by_many_threads() {
    let mut x = counting();
    thread::scope(|scope| {
        for add in 0..3 {
            let mut own = x.clone();
            let part = x.narrow(axis![0], 1, 3);
            scope.spawn(move || {
                own += add;
                assert_eq!(own.to_vec(), (add..6 + add).collect::<Vec<_>>());
                assert_eq!(part.to_vec(), [1, 2, 3]);
            });
        }
        // Writes a copy, or where the elements are if the others are gone already.
        x *= 2;
    });
    assert_eq!(x.to_vec(), [0, 2, 4, 6, 8, 10]);
}

#[test]
fn the_last_clone_writes_where_the_elements_are() {
    let mut x = counting();
    let place = x.as_slice().unwrap().as_ptr();
    thread::scope(|scope| {
        let other = x.clone();
        scope.spawn(move || assert_eq!(other.sum().item(), 15));
    });
    x.as_mut_slice()[0] = 7;
    assert_eq!((x.as_slice().unwrap().as_ptr(), x.sum().item()), (place, 22));
    let other = x.clone();
    x += 1;
    assert_ne!(x.as_slice().unwrap().as_ptr(), other.as_slice().unwrap().as_ptr());
    assert_eq!((x.sum().item(), other.sum().item()), (28, 22));
}

#[test]
fn what_a_view_makes_outlives_the_memory() {
    let (copies, view_of_tensor) = {
        let memory: Box<[i64]> = (0..6).collect();
        let view = TensorView::<i64, (Dyn,)>::from_slice_sized(&memory, [6]);
        let part = view.narrow(axis![0], 2, 3);
        let mut written: Box<[i64]> = (0..6).collect();
        let mut edited = TensorViewMut::<i64, (Dyn,)>::from_slice_mut_sized(&mut written, [6]);
        edited += 1;
        let [left, right] = edited.split_at_mut(axis![0], 2);
        let copies = [
            (*view).clone(),
            view.to_tensor(),
            (*part).clone(),
            part.t_of(),
            view.as_view().contiguous(),
            (*view.clone().narrow(axis![0], 0, 1)).narrow(axis![0], 0, 1),
            (*left).clone(),
            right.to_tensor(),
            (*right.into_view()).narrow(axis![0], 1, 2),
        ];
        let x = counting();
        (copies, x.as_view().select(axis![0], 3).to_tensor())
    };
    let all: Vec<Vec<i64>> = copies.iter().map(|copy| copy.to_vec()).collect();
    let whole = vec![0, 1, 2, 3, 4, 5];
    let expected = [
        whole.clone(),
        whole.clone(),
        vec![2, 3, 4],
        vec![2, 3, 4],
        whole,
        vec![0],
        vec![1, 2],
        vec![3, 4, 5, 6],
        vec![4, 5],
    ];
    assert_eq!(all[..], expected);
    assert_eq!(view_of_tensor.item(), 3);
    // Each has memory of its own.
    for (at, mut copy) in copies.into_iter().enumerate() {
        copy.fill(at);
        assert!(copy.iter().all(|&x| x == at as i64));
    }
}

#[test]
fn edits_through_views_leave_clones_alone() {
    let mut x = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized((0..6).collect(), [2, 3]);
    let (clone, part) = (x.clone(), x.select(axis![0], 1));
    x.view_mut().fill(9);
    x.select_mut(axis![0], 1)[1] = 8;
    let [mut left, right] = x.split_at_mut(axis![1], 1);
    left += &right.narrow(axis![1], 1, 1);
    assert_eq!((clone.to_vec(), part.to_vec()), ((0..6).collect(), vec![3, 4, 5]));
    assert_eq!(x.to_vec(), [18, 9, 9, 18, 8, 9]);
    // An expanded tensor gets an element for each position.
    let row = Tensor::<i64, (Dyn,)>::from_vec_sized(vec![1, 2], [2]);
    let mut wide = row.expand_sized::<(Dyn, Dyn)>([2, 2]);
    wide.select_mut(axis![0], 0).fill(7);
    assert_eq!((wide.to_vec(), row.to_vec()), (vec![7, 7, 1, 2], vec![1, 2]));
}

/// The transposed, of a tensor.
trait Turned {
    fn t_of(&self) -> Self;
}
impl Turned for Tensor<i64, (Dyn,)> {
    fn t_of(&self) -> Self {
        self.t()
    }
}

#[test]
fn operands_that_share_memory_with_the_target_are_read_before_it_is_written() {
    let mut x = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized((0..9).collect(), [3, 3]);
    let turned = x.t();
    x += &turned;
    assert_eq!(x.to_vec(), [0, 4, 8, 4, 8, 12, 8, 12, 16]);
    let (one, other) = (x.narrow(axis![0], 0, 2), x.narrow(axis![0], 1, 2));
    let (one, other) = (&one, &other);
    let mut target = one.clone();
    fused!(target = one + other);
    assert_eq!(target.to_vec(), [4, 12, 20, 12, 20, 28]);
    assert_eq!(one.to_vec(), [0, 4, 8, 4, 8, 12]);
    let mut below = x.narrow(axis![0], 1, 2);
    below.assign(one);
    assert_eq!((below.to_vec(), x.to_vec()[8]), (vec![0, 4, 8, 4, 8, 12], 16));
}
