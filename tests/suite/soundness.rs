//! What safe code cannot reach: elements of others, bytes that are invalid for the dtype, positions outside of a storage.

#[cfg(feature = "any")]
use castiron::{AnyTensor, Cpu, DType};
use castiron::{Complex, Dyn, Tensor, TensorView, TensorViewMut, axis, s, shape, tensor};
use proptest::prelude::*;

type Line<'a, E> = TensorView<'a, E, shape![_]>;

/// Numbers from 1 on, so that no element is 0.
fn counting(len: usize) -> Tensor<i64, shape![_]> {
    Tensor::from_vec_sized((1..=len as i64).collect(), [len])
}

/// Whether two views have memory in common.
fn meet<E: castiron::Element>(a: &[E], b: &[E]) -> bool {
    let (a, b) = (a.as_ptr_range(), b.as_ptr_range());
    a.start < b.end && b.start < a.end
}

// ---- parts of what was split ----

#[test]
fn as_strided_of_a_half_reaches_that_half_alone() {
    let mut x = counting(8);
    let [first, mut second] = x.split_at_mut(axis![0], 4);
    let first = first.into_view();
    let own: Line<i64> = first.as_strided_sized([4], [1], Some(0));
    let backwards: TensorView<i64, shape![_, _]> = first.as_strided_sized([3, 2], [1, 1], None);
    assert!(first.try_as_strided_sized::<(Dyn,)>([8], [1], Some(0)).is_err());
    assert!(first.try_as_strided_sized::<(Dyn,)>([1], [1], Some(4)).is_err());
    second.fill(9);
    assert_eq!(own.to_vec(), [1, 2, 3, 4]);
    assert_eq!(backwards.to_vec(), [1, 2, 2, 3, 3, 4]);
    assert!(!meet(own.as_slice().unwrap(), second.as_slice().unwrap()));
    assert_eq!(x.to_vec(), [1, 2, 3, 4, 9, 9, 9, 9]);
}

#[test]
fn as_strided_of_a_half_counts_the_offset_from_its_own_first_element() {
    let mut x = counting(8);
    let [_, second] = x.split_at_mut(axis![0], 4);
    let second = second.into_view();
    assert_eq!(second.as_strided_sized::<(Dyn,)>([2], [2], None).to_vec(), [5, 7]);
    assert_eq!(second.as_strided_sized::<(Dyn,)>([2], [2], Some(1)).to_vec(), [6, 8]);
}

/// Slices that lie between one another overlap in where they begin and end.
#[test]
fn as_strided_of_every_second_element_does_not_reach_those_between() {
    let mut x = counting(8);
    let (even, mut odd) = x.multi_slice_mut((s![::2], s![1..;2]));
    let even = even.into_view();
    let all: Line<i64> = even.as_strided_sized([7], [1], Some(0));
    let before = all.to_vec();
    assert_eq!(before, [1, 0, 3, 0, 5, 0, 7]);
    odd.fill(9);
    assert_eq!(all.to_vec(), before);
    assert_eq!(even.as_strided_sized::<(Dyn,)>([4], [2], None).to_vec(), [1, 3, 5, 7]);
}

#[test]
fn memory_of_somebody_else_that_is_split_is_reached_part_by_part() {
    let mut memory = vec![1_i64; 6];
    let mut x = TensorViewMut::<i64, shape![_, _]>::from_slice_mut_sized(&mut memory, [3, 2]);
    let mut rows: Vec<_> = x.iter_axis_mut(axis![0]).collect();
    let (first, others) = rows.split_at_mut(1);
    // Lent, dereferenced, cloned and split once more: all the same.
    let lent = first[0].as_view();
    assert!(lent.try_as_strided_sized::<(Dyn,)>([6], [1], Some(0)).is_err());
    assert!(first[0].try_as_strided_sized::<(Dyn,)>([6], [1], Some(0)).is_err());
    assert!(lent.clone().slice(s![1..]).try_as_strided_sized::<(Dyn,)>([2], [1], Some(0)).is_err());
    let seen: Line<i64> = lent.as_strided_sized([2], [1], None);
    others[0].fill(2);
    assert_eq!(seen.to_vec(), [1, 1]);
}

/// What nobody writes while it is borrowed is seen without a copy.
#[test]
fn as_strided_of_memory_that_is_only_read_copies_nothing() {
    let memory = [1, 2, 3, 4, 5, 6_i64];
    let x: TensorView<i64, shape![2, 2]> = TensorView::from_slice_strided(&memory, [2, 2], [3, 1]);
    let all: Line<i64> = x.as_strided_sized([6], [1], Some(0));
    assert_eq!(all.as_slice().unwrap().as_ptr(), memory.as_ptr());
    assert!(x.try_as_strided_sized::<(Dyn,)>([7], [1], Some(0)).is_err());
    let own = counting(6);
    assert!(own.as_view().slice(s![2..4]).as_strided_sized::<(Dyn,)>([6], [1], Some(0)).shares_storage(&own));
}

#[cfg(feature = "any")]
#[test]
fn rows_of_an_any_tensor_do_not_reach_one_another() {
    let mut x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    let mut rows: Vec<_> = x.iter_axis_mut(0).unwrap().collect();
    let (first, second) = rows.split_at_mut(1);
    let row = first[0].typed_mut::<i64, shape![_], Cpu>().unwrap().into_view();
    assert!(row.try_as_strided_sized::<(Dyn,)>([6], [1], Some(0)).is_err());
    let own: Line<i64> = row.as_strided_sized([2], [2], Some(0));
    second[0].fill_(7).unwrap();
    assert_eq!(own.to_vec(), [1, 3]);
}

// ---- bytes that are seen as bools ----

#[test]
fn bytes_of_a_half_are_bools_whatever_the_other_half_holds() {
    let mut x: Tensor<u8, shape![_]> = Tensor::from_vec_sized(vec![0, 1, 7, 0], [4]);
    let [first, mut second] = x.split_at_mut(axis![0], 2);
    let (first, mask) = (first.as_view(), first.view_dtype::<bool>());
    assert_eq!(mask.to_vec(), [false, true]);
    assert_eq!(first.view_dtype::<bool>().to_vec(), [false, true]);
    assert!(second.try_view_dtype::<bool>().is_err());
    second.fill(200);
    assert_eq!(first.view_dtype::<bool>().to_vec(), [false, true]);
    // Windows over one another, every second byte, and rows repeated without end.
    let (even, mut odd) = x.multi_slice_mut((s![..3;2], s![1..;2]));
    let even = even.into_view();
    assert_eq!(
        even.try_view_dtype::<bool>().map(|_| ()).unwrap_err().to_string(),
        "view_dtype: a bool is a byte of 0 or 1, and there are others"
    );
    odd.fill(1);
    assert_eq!(odd.as_view().unfold_sized(axis![0], 2, 1).view_dtype::<bool>().to_vec(), [true, true]);
    assert_eq!(odd.as_view().expand_sized::<(Dyn, Dyn)>([1 << 40, 2]).view_dtype::<bool>().shape(), [1 << 40, 2]);
}

#[test]
fn as_strided_of_bools_looks_at_bytes_that_were_not_seen_as_bools() {
    let x = tensor![0, 1, 7, 1, 0; u8];
    let mask = x.slice(s![..2]).view_dtype::<bool>();
    assert_eq!(mask.as_strided_sized::<(Dyn,)>([2], [1], Some(0)).to_vec(), [false, true]);
    assert_eq!(mask.as_strided_sized::<(Dyn,)>([2], [2], Some(1)).to_vec(), [true, true]);
    let error = mask.try_as_strided_sized::<(Dyn,)>([3], [1], Some(0)).unwrap_err();
    assert_eq!(error.to_string(), "as_strided: a bool is a byte of 0 or 1, and there are others");
    assert!(mask.try_as_strided_sized::<(Dyn,)>([1], [1], Some(2)).is_err());
    assert!(mask.try_as_strided_sized::<(Dyn, Dyn)>([2, 2], [1, 1], Some(1)).is_err());
    assert!(x.try_view_dtype::<bool>().is_err());
    // Of a tensor of complex elements, too: their bytes lie along the last axis.
    let bytes = [0_u8, 1, 1, 0, 9, 0, 0, 0];
    let view: TensorView<u8, shape![_]> = TensorView::from_slice_sized(&bytes, [8]);
    let mask = view.slice(s![..4]).view_dtype::<bool>();
    assert!(mask.try_as_strided_sized::<(Dyn,)>([8], [1], Some(0)).is_err());
    assert_eq!(mask.as_strided_sized::<(Dyn,)>([3], [1], Some(5)).to_vec(), [false; 3]);
}

#[cfg(feature = "any")]
#[test]
fn any_tensors_are_seen_as_bools_by_their_own_bytes() {
    let x = AnyTensor::from(tensor![0, 1, 7, 1, 0; u8]);
    let mask = x.narrow(0, 0, 2).unwrap().view_dtype(DType::Bool).unwrap();
    assert!(mask.as_strided(&[2], &[2], Some(1)).is_ok());
    assert!(mask.as_strided(&[3], &[1], Some(0)).is_err());
    assert!(mask.as_strided(&[5], &[1], Some(1)).is_err());
    assert!(x.view_dtype(DType::Bool).is_err());
    let pairs = AnyTensor::from(tensor![256, 1; i32]);
    assert_eq!(pairs.view_dtype(DType::Bool).unwrap().shape(), [8]);
    assert!((pairs * 2).unwrap().view_dtype(DType::Bool).is_err());
}

// ---- sizes that nobody counts ----

#[test]
fn views_of_nothing_have_any_strides_and_offsets() {
    let huge = [usize::MAX, usize::MAX];
    for sizes in [[0, 1 << 60], [1 << 60, 0]] {
        let x: TensorView<f32, shape![_, _]> = TensorView::from_slice_strided(&[1.0; 4], sizes, huge);
        assert_eq!((x.shape(), x.t().to_tensor().numel()), (sizes, 0));
        assert_eq!((x.as_slice(), x.sum().item()), (Some(&[][..]), 0.0));
        let (one, other) = if sizes[0] == 0 { (sizes[1] - 1, 1) } else { (sizes[0] - 1, 0) };
        let _ = if other == 1 { x.select(axis![1], one) } else { x.select(axis![0], one) };
        assert_eq!(x.unsqueeze(axis![0]).numel() + x.diagonal_at(axis![0, 1], 5).numel(), 0);
        // Nothing begins anywhere: loops do not look for its first element.
        let nothing: Line<f32> = x.as_strided_sized([0], [usize::MAX], Some(usize::MAX / 4));
        assert_eq!((nothing.sum().item(), (&nothing + 1.0).numel(), nothing.cumsum(axis![0]).numel()), (0.0, 0, 0));
        assert_eq!(
            (
                nothing.softmax(axis![0]).numel(),
                nothing.flip(axis![0]).numel(),
                nothing.sort(axis![0], false).0.numel()
            ),
            (0, 0, 0)
        );
        assert_eq!(nothing.to_tensor().as_slice(), Some(&[][..]));
        let mut y = x.to_tensor();
        assert!(y.as_mut_slice().is_empty());
        assert!(y.try_multi_slice_mut((s![::2, ..], s![1..;2, ..])).is_ok());
    }
    let memory = [Complex::new(1.0_f32, 2.0)];
    let one: TensorView<Complex<f32>, shape![_]> = TensorView::from_slice_strided(&memory, [1], [usize::MAX]);
    assert_eq!((one.real().item(), one.imag().item(), one.view_as_real().numel()), (1.0, 2.0, 2));
}

// ---- memory of others ----

/// The ways in which a view of a part comes about.
const MAKERS: usize = 3;

/// Runs for a view of every second number of `1..=12`, made in one of the ways, and a function that writes what lies between, where there
/// is somebody who may.
fn of_every_second(maker: usize, run: impl FnOnce(Line<'_, i64>, &mut dyn FnMut(i64))) {
    let mut x = counting(12);
    match maker {
        #[cfg(feature = "ndarray")]
        1 => {
            let mut array = ndarray::Array1::from_iter(1..=12_i64);
            let (even, mut odd) = array.multi_slice_mut((ndarray::s![..;2], ndarray::s![1..;2]));
            let even = even.view();
            run(TensorView::from_ndarray(even).unwrap(), &mut |value| odd.fill(value));
        }
        #[cfg(feature = "dlpack")]
        2 => {
            // SAFETY: nobody writes what the struct describes.
            let back: Tensor<i64, shape![_]> = unsafe { Tensor::from_dlpack(x.slice(s![..;2]).to_dlpack()) }.unwrap();
            run(back.as_view(), &mut |_| ());
        }
        _ => {
            let (even, mut odd) = x.multi_slice_mut((s![..;2], s![1..;2]));
            run(even.into_view(), &mut |value| odd.fill(value));
        }
    }
}

/// What reaches farther than a view is a copy of the view's elements, with zeros between.
#[test]
fn as_strided_of_a_part_does_not_reach_those_between_whoever_made_the_view() {
    for maker in 0..MAKERS {
        of_every_second(maker, |even, write_between| {
            let all: Line<i64> = even.as_strided_sized([11], [1], None);
            let before = all.to_vec();
            assert_eq!(before, [1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 11], "{maker}");
            let bytes = even.as_strided_sized::<(Dyn,)>([2], [1], Some(1)).view_dtype::<u8>().to_vec();
            assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], "{maker}");
            write_between(-1);
            assert_eq!(all.to_vec(), before);
            assert!(even.try_as_strided_sized::<(Dyn,)>([12], [1], None).is_err());
        });
    }
}

/// What an array has without gaps, and another library's tensor, is seen without a copy.
#[cfg(all(feature = "ndarray", feature = "dlpack"))]
#[test]
fn as_strided_of_an_array_without_gaps_copies_nothing() {
    let array = ndarray::array![[1, 2, 3], [4, 5, 6_i64]];
    let x: TensorView<i64, shape![3, 2]> = TensorView::from_ndarray(array.t()).unwrap();
    let all: Line<i64> = x.as_strided_sized([6], [1], None);
    assert_eq!(all.as_slice().unwrap().as_ptr(), array.as_ptr());
    // SAFETY: nobody writes the elements.
    let y: Tensor<i64, shape![3, 2]> = unsafe { Tensor::from_dlpack(x.to_tensor().to_dlpack()) }.unwrap();
    assert!(y.as_strided_sized::<(Dyn,)>([6], [1], None).shares_storage(&y));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked of one part, it sees its own elements and zeros, and writing the others changes nothing of it.
    #[test]
    fn chains_of_views_of_a_part_see_its_own_elements(
        maker in 0..MAKERS,
        steps in prop::collection::vec((0..7_u8, 0..6_usize, 0..4_usize, prop::option::of(0..6_usize)), 1..5),
    ) {
        of_every_second(maker, |even, write_between| {
        let mut mine = even.clone();
        for (kind, size, stride, offset) in steps {
            let next: Option<Line<i64>> = match kind {
                0 | 1 => mine.try_as_strided_sized([size], [stride], offset).ok(),
                2 => mine.try_view_dtype::<u8>().ok().and_then(|bytes| {
                    let bytes: Line<u8> = bytes.try_as_strided_sized([size * 8], [1], offset.map(|at| at * 8)).ok()?;
                    bytes.try_view_dtype::<i64>().ok()
                }),
                3 => mine.try_narrow(axis![0], stride, size).ok(),
                4 => mine.try_slice(s![stride as isize..;size as isize + 1]).ok(),
                5 => mine.try_unfold_sized(axis![0], size, stride + 1).ok().map(|windows| windows.flatten()),
                _ => mine.try_expand_sized::<(Dyn, Dyn)>([2, mine.numel()]).ok().map(|rows| rows.flatten()),
            };
            mine = next.unwrap_or(mine);
        }
        let before = mine.to_vec();
            assert!(before.iter().all(|value| *value == 0 || value % 2 == 1), "{before:?}");
            write_between(-1);
            assert_eq!(mine.to_vec(), before);
        });
    }
}
