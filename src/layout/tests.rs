//! The arithmetic of views compared with a naive model: a tensor as the list of its elements' places, in row-major order.

use super::bounds::{expect_within, has_places, is_within, places, span};
use super::positions::{Kept, clamped, expect_range, from_end};
use super::strides::{contiguous, is_contiguous, is_dense, row_major, write_reshaped};
use super::{Geometry, ViewAxes, write_moved};
use crate::dtype::DType;
use crate::error::Result;
use crate::shape::numel;

/// Every index of a tensor of these sizes, in row-major order.
fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
    if sizes.contains(&0) {
        return vec![];
    }
    sizes.iter().fold(vec![vec![]], |all, &size| {
        all.iter().flat_map(|index| (0..size).map(move |at| [&index[..], &[at]].concat())).collect()
    })
}

/// The places of all elements, in row-major order of their indices.
fn all(of: Geometry<'_>) -> Vec<usize> {
    indices(of.sizes).iter().map(|index| place(of, index)).collect()
}

/// The place of one element.
fn place(of: Geometry<'_>, index: &[usize]) -> usize {
    of.offset + index.iter().zip(of.strides).map(|(at, stride)| at * stride).sum::<usize>()
}

/// The sizes of a view made by a rule, and the places of its elements.
fn seen(rank: usize, rule: impl FnOnce(ViewAxes<'_>) -> Result<usize>) -> Result<(Vec<usize>, Vec<usize>)> {
    let (mut sizes, mut strides) = (vec![0; rank], vec![0; rank]);
    let offset = rule(ViewAxes { sizes: &mut sizes, strides: &mut strides })?;
    let places = all(Geometry::new(offset, &sizes, &strides));
    Ok((sizes, places))
}

/// The view whose element at an index is the tensor's element at `from` of it.
fn model(of: Geometry<'_>, sizes: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    (sizes.to_vec(), indices(sizes).iter().map(|index| place(of, &from(index))).collect())
}

/// Tensors of ranks 0 to 4: row-major, transposed, with gaps, expanded and empty.
fn tensors() -> Vec<(usize, Vec<usize>, Vec<usize>)> {
    let mut all = vec![(0, vec![], vec![]), (7, vec![], vec![])];
    let few: [&[usize]; 6] = [&[0], &[1], &[5], &[2, 3], &[3, 0], &[0, 0]];
    let many: [&[usize]; 6] = [&[1, 4], &[2, 3, 4], &[3, 1, 2], &[2, 0, 3], &[2, 1, 3, 2], &[1, 1, 1, 1]];
    for sizes in few.into_iter().chain(many) {
        let plain = row_major(sizes);
        let turned: Vec<usize> =
            row_major(&sizes.iter().rev().copied().collect::<Vec<_>>()).into_iter().rev().collect();
        let apart = plain.iter().map(|stride| stride * 3).collect();
        let mut repeated = plain.clone();
        repeated[0] = 0;
        all.extend([plain, turned, apart, repeated].map(|strides| (5, sizes.to_vec(), strides)));
    }
    all
}

/// Calls `test` for each tensor and each of its axes.
fn each_axis(mut test: impl FnMut(Geometry<'_>, usize)) {
    for (offset, sizes, strides) in tensors() {
        (0..sizes.len()).for_each(|axis| test(Geometry::new(offset, &sizes, &strides), axis));
    }
}

fn with(list: &[usize], at: usize, value: usize) -> Vec<usize> {
    let mut list = list.to_vec();
    list[at] = value;
    list
}

fn without(list: &[usize], at: usize) -> Vec<usize> {
    [&list[..at], &list[at + 1..]].concat()
}

#[test]
fn positions_kept_are_those_that_the_model_keeps() {
    each_axis(|x, axis| {
        let (rank, size) = (x.sizes.len(), x.sizes[axis]);
        for index in 0..size + 2 {
            let got = seen(rank - 1, |view| x.select("select", axis, index, view));
            assert_eq!(got.is_ok(), index < size);
            if let Ok(got) = got {
                let to = without(x.sizes, axis);
                assert_eq!(got, model(x, &to, |at| [&at[..axis], &[index], &at[axis..]].concat()));
            }
            for len in 0..size + 2 {
                let got = seen(rank, |view| x.narrow("narrow", axis, index, len, view));
                assert_eq!(got.is_ok(), index + len <= size, "{index} {len} {size}");
                let Ok(got) = got else { continue };
                assert_eq!(got, model(x, &with(x.sizes, axis, len), |at| with(at, axis, at[axis] + index)));
            }
        }
        for (start, end, step) in
            [(0, 9, 1), (1, 3, 1), (-2, 9, 1), (0, -1, 2), (-9, 9, 3), (3, 1, 1), (9, 9, 2), (1, 9, i64::MAX)]
        {
            let kept = Kept::between("slice", [Some(start), Some(end)], step, size).unwrap();
            let naive = |at: i64| (if at < 0 { at + size as i64 } else { at }).clamp(0, size as i64) as usize;
            let positions: Vec<usize> = (naive(start)..naive(end)).step_by(step as usize).collect();
            let got = seen(rank, |view| Ok(x.slice(axis, kept, view))).unwrap();
            let to = with(x.sizes, axis, positions.len());
            assert_eq!(got, model(x, &to, |at| with(at, axis, positions[at[axis]])));
        }
        for (window, step) in [(0, 1), (1, 1), (2, 1), (2, 3), (size, 1), (size + 1, 1), (1, 0), (1, usize::MAX)] {
            let got = seen(rank + 1, |view| x.unfold("unfold", axis, window, step, view));
            assert_eq!(got.is_ok(), window <= size && step > 0);
            let Ok(got) = got else { continue };
            let to = [with(x.sizes, axis, (0..=size - window).step_by(step).count()), vec![window]].concat();
            let from = |at: &[usize]| with(&at[..rank], axis, at[axis] * step + at[rank]);
            assert_eq!(got, model(x, &to, from), "windows of {window}, {step} apart, of {:?}", x.sizes);
        }
    });
}

#[test]
fn axes_put_in_taken_away_and_moved_leave_elements_where_they_are() {
    for (offset, sizes, strides) in tensors() {
        let (x, rank) = (Geometry::new(offset, &sizes, &strides), sizes.len());
        for axis in 0..=rank {
            let to = [&sizes[..axis], &[1], &sizes[axis..]].concat();
            assert_eq!(
                seen(rank + 1, |view| Ok(x.unsqueeze(axis, view))).unwrap(),
                model(x, &to, |at| without(at, axis))
            );
        }
        for from in 0..rank {
            for goes_to in 0..rank {
                let mut order = vec![0; rank];
                write_moved(&[from], &[goes_to], &mut order);
                let mut expected: Vec<usize> = (0..rank).filter(|&axis| axis != from).collect();
                expected.insert(goes_to, from);
                assert_eq!(order, expected);
                let to: Vec<usize> = order.iter().map(|&axis| sizes[axis]).collect();
                let got = seen(rank, |view| Ok(x.pick(order.iter().copied(), view))).unwrap();
                assert_eq!(
                    got,
                    model(x, &to, |at| (0..rank)
                        .map(|axis| at[order.iter().position(|&of| of == axis).unwrap()])
                        .collect())
                );
            }
        }
    }
    let mut order = [9; 4];
    write_moved(&[3, 0], &[0, 2], &mut order);
    assert_eq!(order, [3, 1, 0, 2]);
    write_moved(&[], &[], &mut []);
}

#[test]
fn axes_of_size_one_are_repeated_and_no_others() {
    for (offset, sizes, strides) in tensors() {
        let (x, rank) = (Geometry::new(offset, &sizes, &strides), sizes.len());
        let repeated: Vec<usize> = sizes.iter().map(|&size| if size == 1 { 3 } else { size }).collect();
        for to in [sizes.clone(), repeated.clone(), [&[2, 1], &repeated[..]].concat(), [&[1, 0], &sizes[..]].concat()] {
            let new = to.len() - rank;
            let got = seen(to.len(), |view| {
                view.sizes.copy_from_slice(&to);
                x.expand("expand", view)
            });
            let from = |at: &[usize]| {
                at[new..].iter().zip(&sizes).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect()
            };
            assert_eq!(got.unwrap(), model(x, &to, from), "{sizes:?} to {to:?}");
        }
    }
    let refused = |sizes: &[usize], to: &[usize]| {
        let strides = row_major(sizes);
        let (mut to, mut to_strides) = (to.to_vec(), vec![0; to.len()]);
        Geometry::new(0, sizes, &strides)
            .expand("expand", ViewAxes { sizes: &mut to, strides: &mut to_strides })
            .is_err()
    };
    assert!(refused(&[2], &[3]) && refused(&[2, 2], &[2]) && refused(&[3, 1], &[1, 3]) && refused(&[0], &[1]));
    // A new axis that is not broadcast has a row-major stride, as in PyTorch.
    let (mut sizes, mut strides) = ([1, 1, 3], [0; 3]);
    let view = ViewAxes { sizes: &mut sizes, strides: &mut strides };
    Geometry::new(0, &[3], &[1]).expand("expand", view).unwrap();
    assert_eq!(strides, [3, 3, 1]);
    let view = ViewAxes { sizes: &mut [1, 1], strides: &mut strides[..2] };
    Geometry::new(0, &[], &[]).expand("expand", view).unwrap();
    assert_eq!(strides, [0, 0, 1]);
}

#[test]
fn diagonals_meet_where_row_and_column_do() {
    for (offset, sizes, strides) in tensors() {
        let (x, rank) = (Geometry::new(offset, &sizes, &strides), sizes.len());
        for (rows, columns) in
            (0..rank).flat_map(|rows| (0..rank).map(move |columns| (rows, columns))).filter(|(a, b)| a != b)
        {
            for diagonal in [-9, -2, -1, 0, 1, 2, 9, i64::MIN, i64::MAX] {
                let meets = |row: usize| {
                    usize::try_from(row as i128 + i128::from(diagonal)).ok().filter(|&at| at < sizes[columns])
                };
                let positions: Vec<[usize; 2]> = (0..sizes[rows]).filter_map(|row| Some([row, meets(row)?])).collect();
                let rest: Vec<usize> = (0..rank).filter(|&axis| axis != rows && axis != columns).collect();
                let to: Vec<usize> = rest.iter().map(|&axis| sizes[axis]).chain([positions.len()]).collect();
                let from = |at: &[usize]| {
                    let mut index = vec![0; rank];
                    rest.iter().zip(at).for_each(|(&axis, &at)| index[axis] = at);
                    [index[rows], index[columns]] = positions[at[rank - 2]];
                    index
                };
                let got = seen(rank - 1, |view| Ok(x.diagonal(diagonal, rows, columns, view))).unwrap();
                assert_eq!(got, model(x, &to, from), "diagonal {diagonal} of {sizes:?} in {rows} and {columns}");
            }
        }
    }
}

#[test]
fn elements_of_another_width_are_where_their_bytes_are() {
    for (offset, sizes, strides) in tensors() {
        let (x, rank) = (Geometry::new(offset, &sizes, &strides), sizes.len());
        let pairs = [&sizes[..], &[2]].concat();
        let halves: Vec<usize> = all(x).iter().flat_map(|place| [place * 2, place * 2 + 1]).collect();
        assert_eq!(seen(rank + 1, |view| Ok(x.pairs(view))).unwrap(), (pairs.clone(), halves));
        let imaginary = all(x).iter().map(|place| place * 2 + 1).collect();
        assert_eq!(seen(rank, |view| Ok(x.part(2, 1, view))).unwrap(), (sizes.clone(), imaginary));
        // And back: pairs become complex numbers at their places.
        let (mut double, mut steps) = (vec![0; rank + 1], vec![0; rank + 1]);
        let first = x.pairs(ViewAxes { sizes: &mut double, strides: &mut steps });
        let back = Geometry::new(first, &double, &steps);
        assert_eq!(seen(rank, |view| back.paired("view_as_complex", view)).unwrap(), (sizes.clone(), all(x)));
        assert!(seen(rank, |view| Geometry { offset: first + 1, ..back }.paired("view_as_complex", view)).is_err());
        // Bits: wide elements as narrow ones, and back.
        let got = seen(rank, |view| x.bits("view", [DType::I64, DType::I16], view));
        if strides.last() != Some(&1) {
            assert!(got.is_err());
            continue;
        }
        let quarters = all(x).iter().flat_map(|place| place * 4..place * 4 + 4).collect::<Vec<_>>();
        assert_eq!(got.unwrap(), (with(&sizes, rank - 1, sizes[rank - 1] * 4), quarters));
        let (mut narrow, mut steps) = (vec![0; rank], vec![0; rank]);
        let view = ViewAxes { sizes: &mut narrow, strides: &mut steps };
        let first = x.bits("view", [DType::I64, DType::I16], view).unwrap();
        let back = Geometry::new(first, &narrow, &steps);
        let same = seen(rank, |view| back.bits("view", [DType::I16, DType::I64], view)).unwrap();
        assert_eq!(same, (sizes.clone(), all(x)));
        let odd = Geometry { offset: first + 1, ..back };
        assert!(seen(rank, |view| odd.bits("view", [DType::I16, DType::I64], view)).is_err());
    }
}

#[test]
fn reshaped_views_show_the_same_elements_in_the_same_order() {
    for (offset, sizes, strides) in tensors() {
        let (x, count) = (Geometry::new(offset, &sizes, &strides), numel(&sizes).unwrap());
        let mut others = vec![sizes.clone(), vec![count], vec![1, count, 1], sizes.iter().rev().copied().collect()];
        others.extend((2..=count).filter(|part| count.is_multiple_of(*part)).map(|part| vec![part, count / part]));
        for to in others {
            let mut steps = vec![0; to.len()];
            if write_reshaped(&sizes, &strides, &to, &mut steps) {
                assert_eq!(all(Geometry::new(offset, &to, &steps)), all(x), "{sizes:?} {strides:?} as {to:?}");
            } else {
                assert!(!is_contiguous(&sizes, &strides));
            }
        }
    }
}

#[test]
fn bounds_are_those_of_the_farthest_element() {
    for (offset, sizes, strides) in tensors() {
        let places = all(Geometry::new(offset, &sizes, &strides));
        let end = places.iter().max().map_or(0, |farthest| farthest + 1);
        for room in 0..end + 2 {
            assert_eq!(is_within(&sizes, &strides, offset, Some(room)), room >= end, "{sizes:?} {strides:?} in {room}");
            assert_eq!(expect_within("as_strided", &sizes, &strides, offset, Some(room)).is_ok(), room >= end);
        }
        assert_eq!(span(&sizes, &strides), Some(end.saturating_sub(offset)));
        let mut once = places.clone();
        once.sort_unstable();
        once.dedup();
        assert!(!has_places(&sizes, &strides) || once.len() == places.len(), "{sizes:?} {strides:?}");
        let gaps = once.last().map_or(0, |last| last + 1 - once[0]) > once.len();
        assert_eq!(is_dense(&sizes, &strides), once.len() == places.len() && !gaps, "{sizes:?} {strides:?}");
    }
}

#[test]
fn numbers_near_the_largest_neither_wrap_nor_reach_anything() {
    const MOST: usize = usize::MAX;
    assert_eq!(numel(&[MOST, 2]), None);
    assert_eq!(numel(&[MOST, 2, 0]), None);
    assert_eq!((numel(&[0, 5]), numel(&[])), (Some(0), Some(1)));
    assert_eq!(span(&[2, 2], &[MOST, 1]), None);
    assert_eq!(span(&[1 << 60, 0], &[MOST, MOST]), Some(0));
    assert_eq!(span(&[0, 1 << 60], &[MOST, MOST]), Some(0));
    assert!(is_within(&[1 << 60, 0], &[MOST, 1], MOST, Some(0)));
    for (sizes, strides, offset, room) in [
        (&[2][..], &[1][..], MOST, None),
        (&[2], &[MOST], 1, None),
        (&[3], &[MOST / 2 + 1], 0, Some(MOST)),
        (&[MOST, MOST], &[MOST, MOST], 0, Some(MOST)),
        (&[1 << 32, 1 << 32], &[1 << 32, 1], 1 << 33, Some(MOST)),
        (&[], &[], MOST, Some(MOST)),
        (&[2], &[3], 1, Some(4)),
    ] {
        assert!(!is_within(sizes, strides, offset, room), "{sizes:?} {strides:?} from {offset}");
        let error = expect_within("as_strided", sizes, strides, offset, room).unwrap_err().to_string();
        assert!(
            error.contains(&format!("sizes {sizes:?} and strides {strides:?} from element {offset} on reach beyond")),
            "{error}"
        );
    }
    // More elements than can be counted, all of them the same one.
    assert!(!is_within(&[1 << 32, 1 << 32], &[0, 0], 0, Some(1)));
    assert!(is_within(&[1 << 31, 1 << 32], &[0, 0], 0, Some(1)));
    assert!(is_within(&[2], &[3], 0, Some(4)));
    assert!(is_within(&[1], &[MOST], 3, Some(4)));
    assert!(is_within(&[2], &[MOST - 1], 0, None));
    assert!(expect_range("narrow", MOST, MOST, 0, MOST).is_err() && expect_range("narrow", MOST, 0, 0, MOST).is_ok());
    assert_eq!(
        (from_end(i64::MIN, 5), from_end(-5, 5), from_end(-6, 5), from_end(7, 5)),
        (None, Some(0), None, Some(7))
    );
    assert_eq!((clamped(i64::MIN, 5), clamped(i64::MAX, 5), clamped(-1, MOST)), (0, 5, MOST - 1));
    // The strides of axes with at most one position may be anything: no rule panics.
    let (sizes, strides) = ([MOST, 0, 1], [MOST, MOST, MOST]);
    let x = Geometry::new(MOST, &sizes, &strides);
    for (axis, &size) in sizes.iter().enumerate() {
        assert!(seen(3, |view| x.narrow("narrow", axis, size, 0, view)).is_ok());
        assert!(seen(4, |view| Ok(x.unsqueeze(axis, view))).is_ok());
        let kept = Kept::between("slice", [Some(1), None], i64::MAX, 0).unwrap();
        assert!(seen(3, |view| Ok(x.slice(axis, kept, view))).is_ok());
    }
    let (mut to, mut steps) = ([0; 3], [0; 3]);
    let view = ViewAxes { sizes: &mut to, strides: &mut steps };
    assert!(
        Geometry::new(0, &[1 << 62], &[1])
            .bits("view", [DType::I64, DType::U8], ViewAxes { sizes: &mut [0], strides: &mut [0] })
            .is_err()
    );
    assert_eq!(x.part(2, 1, view), MOST.wrapping_mul(2).wrapping_add(1));
    assert!(Kept::between("slice", [None, None], 0, 3).is_err());
    assert!(Kept::between("slice", [None, None], i64::MIN, 3).is_err());
}

#[test]
fn fewer_axes_lead_to_the_same_places() {
    for sizes in [[3, 2, 4], [1, 5, 2], [2, 0, 3], [4, 4, 4]] {
        for strides in [[8, 4, 1], [0, 1, 1], [1, 2, 3], [2, 3, 0], [5, 7, 5], [12, 2, 2], [6, 0, 9], [1, 1, 4]] {
            let once = |sizes: &[usize], strides: &[usize]| {
                let mut places = all(Geometry::new(0, sizes, strides));
                places.sort_unstable();
                places.dedup();
                places
            };
            let (fewer_sizes, fewer_strides) = places(&sizes, &strides);
            assert_eq!(once(&fewer_sizes, &fewer_strides), once(&sizes, &strides), "{sizes:?} {strides:?}");
        }
    }
    // Overlapping windows, a repeated row and rows without gaps merge into one run.
    assert_eq!(places(&[1 << 20, 1 << 20], &[1, 1]), (vec![(1 << 21) - 1], vec![1]));
    assert_eq!(places(&[1 << 40, 3, 4], &[0, 4, 1]), (vec![12], vec![1]));
    assert_eq!(places(&[], &[]), (vec![], vec![]));
}

#[test]
fn row_major_strides_treat_empty_axes_as_one() {
    assert_eq!(contiguous(&[2, 3, 4]), [12, 4, 1]);
    assert_eq!(contiguous(&[2, 0, 4]), [4, 4, 1]);
    assert!(is_contiguous(&[2, 1, 3], &[3, 99, 1]) && !is_contiguous(&[2, 3], &[1, 2]));
}
