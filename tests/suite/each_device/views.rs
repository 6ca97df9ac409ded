//! Slices show the same elements as Python's, and writes through them change their base, and nothing else.

use super::{Gives, On, law};
use castiron::{Cpu, Device, Tensor, axis, s, shape};
use proptest::prelude::*;

type Cube<D = Cpu> = Tensor<i64, shape![_, _, _], D>;

pub fn counting(sizes: [usize; 3]) -> Cube {
    Tensor::from_vec_sized((0..sizes.iter().product::<usize>() as i64).collect(), sizes)
}

/// What Python's slices do: positions, clamped.
pub fn model(size: usize, start: Option<isize>, end: Option<isize>, step: usize) -> Vec<usize> {
    let clamp = |at: isize| (if at < 0 { at + size as isize } else { at }).clamp(0, size as isize) as usize;
    (start.map_or(0, clamp)..end.map_or(size, clamp)).step_by(step).collect()
}

/// A tensor of odd strides, and the same on the host.
fn a_cube<D: Device>() -> impl Strategy<Value = (Cube<D>, Cube)> {
    // The sizes, an order of the axes, and a step along the last.
    ([0..5_usize, 0..5, 0..5], 0..3_usize, 1..3_usize).prop_map(|(sizes, turn, step)| {
        let base = counting([sizes[0], sizes[1], sizes[2] * step]).on::<D>();
        let x: Cube<D> = base.slice(s![.., .., ..;step]);
        let x: Cube<D> = match turn {
            0 => x,
            1 => x.permute(axis![2, 0, 1]),
            _ => x.transpose(axis![0], axis![1]),
        };
        let host = x.here();
        (x, host)
    })
}

fn bounds() -> impl Strategy<Value = (isize, isize)> {
    (-7..7_isize, -7..7_isize)
}

pub fn slices_are_those_of_python<D: Device>() {
    law::<D, _>(200, (a_cube::<D>(), bounds(), bounds(), 1..4_usize), |((x, host), (start, end), (from, to), step)| {
        let [a, b, c] = x.shape();
        let y = x.slice(s![start..end, ..to;step, from..]);
        let want = model(a, Some(start), Some(end), 1)
            .into_iter()
            .flat_map(|i| model(b, None, Some(to), step).into_iter().map(move |j| (i, j)))
            .flat_map(|(i, j)| model(c, Some(from), None, 1).into_iter().map(move |k| (i, j, k)));
        y.gives(want.map(|index| host[index]).collect::<Vec<_>>());
        assert!(y.is_empty() || y.shares_storage(&x));
        if let Ok(row) = x.try_slice(s![.., start, ...]) {
            let j = if start < 0 { start + b as isize } else { start } as usize;
            let want = (0..a).flat_map(|i| (0..c).map(move |k| (i, j, k))).map(|index| host[index]);
            row.gives(want.collect::<Vec<_>>());
        } else {
            assert!(start >= b as isize || start < -(b as isize));
        }
    });
}

pub fn edits_through_slices_are_seen_in_the_base_and_nowhere_else<D: Device>() {
    law::<D, _>(200, (a_cube::<D>(), bounds(), 1..4_usize), |((x, host), (start, end), step)| {
        let mut base = x.clone();
        let mut view = base.slice_mut(s![.., start..end;step, ..]);
        view += 1000;
        view.mul_(2);
        let kept = view.to_tensor();
        view.permute_mut(axis![2, 0, 1]).neg_();
        drop(view);
        let [a, b, c] = x.shape();
        let picked = model(b, Some(start), Some(end), step);
        let all = (0..a * b * c).map(|at| (at / c / b, at / c % b, at % c));
        let want = all.map(|(i, j, k)| match picked.contains(&j) {
            true => -((host[(i, j, k)] + 1000) * 2),
            false => host[(i, j, k)],
        });
        base.gives(want.collect::<Vec<_>>());
        x.gives(host.to_vec());
        kept.all_are(|x| x >= 2000);
    });
}

each_device! {
    also_without_data: ;
    with_data: slices_are_those_of_python, edits_through_slices_are_seen_in_the_base_and_nowhere_else;
}
