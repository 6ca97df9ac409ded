//! Parts of one tensor, each read or written by its own thread: touching a neighbour's elements would be a data race.

use castiron::{Dyn, Tensor, TensorView, TensorViewMut, axis, s, shape};

type Vector<'a> = TensorViewMut<'a, i64, (Dyn,)>;

fn counting(len: usize) -> Vec<i64> {
    (0..len as i64).collect()
}

/// Writes one part and looks at the other meanwhile, in two threads; then the other way round.
fn apart<'a>(mut one: Vector<'a>, mut other: Vector<'a>) {
    for round in 0..2 {
        let before = other.to_vec();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                one += 100;
                one.slice_mut(s![..;2]).fill(7);
                if let Some(last) = one.numel().checked_sub(1) {
                    one[last] = 8;
                }
            });
            let view = other.as_view();
            assert_eq!(view.to_vec(), before);
            assert_eq!((&*view + &*view).to_vec(), before.iter().map(|x| 2 * x).collect::<Vec<_>>());
            assert_eq!(
                (view.clone().to_tensor().sum().item(), view.t().to_vec()),
                (before.iter().sum(), before.clone())
            );
        });
        if round == 0 {
            core::mem::swap(&mut one, &mut other);
        }
    }
    let (one, other) = (one.into_view(), other.into_view());
    assert!(one.iter().chain(other.iter()).all(|x| *x >= 7));
}

#[test]
fn parts_are_written_and_read_by_two_threads() {
    let mut x = Tensor::<i64, (Dyn,)>::from_vec_sized(counting(7), [7]);
    let [a, b] = x.split_at_mut(axis![0], 3);
    apart(a, b);
    let mut parts = x.split_mut(axis![0], 4).into_iter();
    apart(parts.next().unwrap(), parts.next().unwrap());
    let (even, odd) = x.multi_slice_mut((s![..;2], s![1..;2]));
    apart(even, odd);
    let [first, second] = [[4, 6, 1], [0, 4, 3]].map(|[start, end, step]| s![start..end;step]);
    let [a, b] = x.multi_slice_mut([first, second]);
    apart(a, b);
    let mut x = Tensor::<i64, (Dyn,)>::from_vec_sized(counting(6), [6]);
    let [a, b] = x.try_chunk_array_mut::<2, _>(axis![0]).unwrap();
    apart(a, b);
    let mut rows = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized(counting(6), [2, 3]);
    let mut columns = rows.iter_axis_mut(axis![1]);
    apart(columns.next().unwrap(), columns.next().unwrap());
    drop(columns);
    let mut both = rows.unbind_mut(axis![0]).into_iter();
    apart(both.next().unwrap(), both.next().unwrap());
    let mut memory = counting(9);
    let mut view = TensorViewMut::<i64, (Dyn,)>::from_slice_mut_strided(&mut memory, [4], [2]);
    let [a, b] = view.split_at_mut(axis![0], 2);
    apart(a, b);
    assert_eq!(memory.iter().skip(1).step_by(2).copied().collect::<Vec<_>>(), [1, 3, 5, 7]);
}

#[test]
fn parts_that_meet_are_refused() {
    let mut x = Tensor::<i64, (Dyn,)>::from_vec_sized(counting(7), [7]);
    assert!(x.try_multi_slice_mut((s![..4], s![3..])).is_err());
    assert!(x.try_multi_slice_mut([2, 3].map(|step| s![0..7;step])).is_err());
    assert!(x.try_split_at_mut(axis![0], 8).is_err());
    let mut rows = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized(counting(6), [2, 3]);
    assert!(rows.try_multi_slice_mut((s![0, ..], s![.., 0])).is_err());
}

/// A reference into one part is held while the other is written.
#[test]
fn references_into_a_part_outlast_edits_of_the_others() {
    let mut x = Tensor::<i64, (Dyn,)>::from_vec_sized(counting(6), [6]);
    let [a, mut b] = x.split_at_mut(axis![0], 3);
    let a: TensorView<i64, (Dyn,)> = a.into_view();
    let (slice, element) = (a.as_slice().unwrap(), &a[2]);
    let mut all = a.iter();
    all.next();
    b.fill(9);
    b.as_mut_slice().unwrap()[0] = 10;
    assert_eq!((slice, element, all.next()), (&[0, 1, 2][..], &2, Some(&1)));
    assert_eq!(x.to_vec(), [0, 1, 2, 10, 9, 9]);
}

#[test]
fn a_view_borrows_again_and_again() {
    let mut x = Tensor::<i64, shape![_, _]>::from_vec_sized(counting(6), [2, 3]);
    let mut view = x.view_mut();
    {
        let mut again = view.view_mut();
        again.t_mut().select_mut(axis![0], 1).fill(5);
        let mut more = again.reshape_sized_mut::<(Dyn,)>([6]);
        more[0] = 4;
    }
    view += 1;
    let copy = view.to_tensor();
    assert_eq!(view.as_view().to_vec(), [5, 6, 3, 4, 6, 6]);
    let frozen = view.into_view();
    let (first, rest) = (frozen.select(axis![0], 0), frozen.split(axis![1], 2));
    drop(frozen);
    assert_eq!((first.to_vec(), rest[1].to_vec()), (vec![5, 6, 3], vec![3, 6]));
    x.fill(0);
    assert_eq!((copy.to_vec(), x.to_vec()), (vec![5, 6, 3, 4, 6, 6], vec![0; 6]));
}

/// Results computed elsewhere are written into the memory that a view borrows, too.
#[test]
fn results_computed_elsewhere_are_written_where_the_elements_are() {
    let mut memory = [1.0_f32, 2.0, 3.0, 4.0];
    let mut x = TensorViewMut::<f32, (Dyn,)>::from_slice_mut_sized(&mut memory, [4]);
    let index = Tensor::<i64, (Dyn,)>::from_vec_sized(vec![0, 0, 3], [3]);
    let source = Tensor::<f32, (Dyn,)>::from_vec_sized(vec![3.0, 5.0, 6.0], [3]);
    x.scatter_reduce_(axis![0], &index, &source, castiron::ScatterReduce::Mean, true);
    assert_eq!((x.to_vec(), memory), (vec![3.0, 2.0, 3.0, 5.0], [3.0, 2.0, 3.0, 5.0]));
}
