//! Mutable views of an `AnyTensor`: edits change the base at the positions the view shows, and nowhere else.

use castiron::any::Value;
use castiron::{AnyTensor, AnyViewMut, Cpu, DType, Error, Meta, ScalarValue, Tensor, shape, tensor};
use proptest::prelude::*;

/// Numbers of a tensor of integers, in row-major order.
fn elements(x: &AnyTensor) -> Vec<i64> {
    x.to_scalars()
        .unwrap()
        .into_iter()
        .map(|value| match value {
            ScalarValue::Int(value) => i64::try_from(value).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A view as its sizes and, in row-major order, the position in the base that each of its elements has.
#[derive(Clone)]
struct Model {
    sizes: Vec<usize>,
    places: Vec<usize>,
}

/// Every index into these sizes, in row-major order.
fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![vec![]], |found, &size| {
        found.iter().flat_map(|index| (0..size).map(move |at| [&index[..], &[at]].concat())).collect()
    })
}

impl Model {
    fn whole(sizes: &[usize]) -> Self {
        Model { sizes: sizes.to_vec(), places: (0..sizes.iter().product()).collect() }
    }

    /// The view with other sizes whose elements come from there.
    fn picked(&self, sizes: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let flat = |index: Vec<usize>| index.iter().zip(&self.sizes).fold(0, |flat, (at, size)| flat * size + at);
        let places = indices(&sizes).iter().map(|index| self.places[flat(from(index))]).collect();
        Model { sizes, places }
    }
}

/// A step of a chain; its numbers are brought into range.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: u8,
    axis: usize,
    a: usize,
    b: usize,
    c: usize,
}

fn a_step() -> impl Strategy<Value = Step> {
    (0..10_u8, 0..8_usize, 0..8_usize, 0..8_usize, 0..8_usize).prop_map(|(kind, axis, a, b, c)| Step {
        kind,
        axis,
        a,
        b,
        c,
    })
}

/// The same view of both; nothing where the step does not fit.
fn taken<'a>(view: &'a mut AnyViewMut<'_>, model: &Model, step: Step) -> Option<(AnyViewMut<'a>, Model)> {
    let rank = model.sizes.len();
    let Step { kind, axis, a, b, c } = step;
    if kind == 5 {
        let at = axis % (rank + 1);
        if rank == 8 {
            return None;
        }
        let mut sizes = model.sizes.clone();
        sizes.insert(at, 1);
        let next = model.picked(sizes, |index| [&index[..at], &index[at + 1..]].concat());
        return Some((view.unsqueeze_mut(at as i64).unwrap(), next));
    }
    if rank == 0 {
        return None;
    }
    let at = axis % rank;
    let size = model.sizes[at];
    let dim = if c % 2 == 0 { at as i64 } else { at as i64 - rank as i64 };
    let with = |at: usize, size: usize| {
        let mut sizes = model.sizes.clone();
        sizes[at] = size;
        sizes
    };
    let moved = |index: &[usize], to: usize| {
        let mut index = index.to_vec();
        index[at] = to;
        index
    };
    Some(match kind {
        0 if size > 0 => {
            let position = a % size;
            let mut sizes = model.sizes.clone();
            sizes.remove(at);
            let next = model.picked(sizes, |index| [&index[..at], &[position], &index[at..]].concat());
            let index = if b % 2 == 0 { position as i64 } else { position as i64 - size as i64 };
            (view.select_mut(dim, index).unwrap(), next)
        }
        1 => {
            let start = a % (size + 1);
            let len = b % (size - start + 1);
            let next = model.picked(with(at, len), |index| moved(index, index[at] + start));
            (view.narrow_mut(dim, start as i64, len).unwrap(), next)
        }
        2 => {
            let (start, step) = (a % (size + 1), 1 + b % 3);
            let next =
                model.picked(with(at, (size - start).div_ceil(step)), |index| moved(index, index[at] * step + start));
            (view.slice_mut(dim, Some(start as i64), None, step as i64).unwrap(), next)
        }
        3 => {
            let other = a % rank;
            let swapped = |of: &[usize]| {
                let mut of = of.to_vec();
                of.swap(at, other);
                of
            };
            (view.transpose_mut(dim, other as i64).unwrap(), model.picked(swapped(&model.sizes), swapped))
        }
        4 => {
            let order: Vec<usize> = (0..rank).map(|axis| (axis + a) % rank).collect();
            let sizes = order.iter().map(|&axis| model.sizes[axis]).collect();
            let next = model.picked(sizes, |index| {
                (0..rank).map(|axis| index[order.iter().position(|&from| from == axis).unwrap()]).collect()
            });
            (view.permute_mut(&order.iter().map(|&axis| axis as i64).collect::<Vec<_>>()).unwrap(), next)
        }
        6 if rank > 1 => {
            let other = (at + 1 + a % (rank - 1)) % rank;
            let shift = b % 3;
            let len = size.min(model.sizes[other].saturating_sub(shift));
            let kept: Vec<usize> = (0..rank).filter(|&axis| axis != at && axis != other).collect();
            let sizes = kept.iter().map(|&axis| model.sizes[axis]).chain([len]).collect();
            let next = model.picked(sizes, |index| {
                let diagonal = index[rank - 2];
                let mut from = vec![0; rank];
                kept.iter().zip(index).for_each(|(&axis, &position)| from[axis] = position);
                (from[at], from[other]) = (diagonal, diagonal + shift);
                from
            });
            (view.diagonal_mut(shift as i64, at as i64, other as i64).unwrap(), next)
        }
        7 if size > 0 && rank < 8 => {
            // Windows side by side.
            let window = 1 + a % size;
            let step = window + b % 2;
            let sizes = with(at, (size - window) / step + 1).into_iter().chain([window]).collect();
            let next = model.picked(sizes, |index| moved(&index[..rank], index[at] * step + index[rank]));
            (view.unfold_mut(dim, window, step).unwrap(), next)
        }
        8 => {
            let cut = a % (size + 1);
            let [first, second] = view.split_at_mut(dim, cut).unwrap();
            let (part, start, len) = if b % 2 == 0 { (first, 0, cut) } else { (second, cut, size - cut) };
            (part, model.picked(with(at, len), |index| moved(index, index[at] + start)))
        }
        9 if size > 0 => {
            let position = a % size;
            let mut sizes = model.sizes.clone();
            sizes.remove(at);
            let next = model.picked(sizes, |index| [&index[..at], &[position], &index[at..]].concat());
            let part = view.iter_axis_mut(dim).unwrap().nth(position).unwrap();
            (part, next)
        }
        _ => return None,
    })
}

fn edited(view: &mut AnyViewMut<'_>, model: &Model, plain: &mut [i64], edit: usize) {
    assert_eq!(view.shape(), model.sizes);
    let shown: Vec<i64> = model.places.iter().map(|&place| plain[place]).collect();
    assert_eq!(elements(&view.to_tensor().unwrap()), shown);
    for (at, &place) in model.places.iter().enumerate() {
        let x = &mut plain[place];
        *x = match edit % 6 {
            0 => x.wrapping_add(1000),
            1 => 7,
            2 => x.wrapping_neg(),
            3 => (*x).clamp(-5, 5),
            4 => at as i64,
            _ => x.wrapping_mul(*x),
        };
    }
    match edit % 6 {
        0 => view.add_(1000).unwrap(),
        1 => view.fill_(7).unwrap(),
        2 => view.neg_().unwrap(),
        3 => view.clamp_(Some((-5).into()), Some(5.into())).unwrap(),
        4 => {
            let sizes: Vec<i64> = model.sizes.iter().map(|&size| size as i64).collect();
            let counting = Tensor::<i64, shape![_]>::arange(0, model.places.len() as i64, 1);
            view.copy_from(&AnyTensor::from(counting).reshape(&sizes).unwrap()).unwrap()
        }
        _ => {
            let own = view.to_tensor().unwrap();
            view.mul_(own).unwrap()
        }
    };
}

/// Edits at every step of a chain of views, on the way down or on the way back.
fn chain(view: &mut AnyViewMut<'_>, model: &Model, plain: &mut [i64], steps: &[Step]) {
    let Some((step, rest)) = steps.split_first() else { return };
    if step.c < 3 {
        edited(view, model, plain, step.b);
    }
    if let Some((mut next, part)) = taken(view, model, *step) {
        chain(&mut next, &part, plain, rest);
    } else {
        chain(&mut view.view_mut(), model, plain, rest);
    }
    if step.c > 5 || rest.is_empty() {
        edited(view, model, plain, step.a);
    }
}

/// A tensor with gaps, repetitions or turned axes, that shares its storage.
fn a_tensor() -> impl Strategy<Value = AnyTensor> {
    prop::collection::vec((0..5_usize, 0..7_usize), 0..4).prop_flat_map(|axes| {
        (0..4_usize, any::<bool>()).prop_map(move |(offset, dense)| {
            let (sizes, strides): (Vec<usize>, Vec<usize>) = axes.iter().copied().unzip();
            let span: usize = axes.iter().map(|&(size, stride)| size.saturating_sub(1) * stride).sum();
            let numel: usize = sizes.iter().product();
            let counting = |len: usize| AnyTensor::from(Tensor::<i64, shape![_]>::arange(0, len as i64, 1));
            if dense {
                let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
                let order: Vec<i64> = (0..sizes.len() as i64).rev().collect();
                let x = counting(numel + offset).narrow(0, offset as i64, numel).unwrap();
                x.reshape(&sizes).unwrap().permute(&order).unwrap()
            } else {
                counting(span + offset + 1).as_strided(&sizes, &strides, Some(offset)).unwrap()
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 2000 }))]

    #[test]
    fn edits_are_seen_in_the_base_and_nowhere_else(
        x in a_tensor(),
        shares in any::<bool>(),
        steps in prop::collection::vec(a_step(), 1..6),
    ) {
        let before = elements(&x);
        let (mut base, held) = (x.clone(), shares.then(|| x.clone()));
        let kept = x.copy().unwrap();
        drop(x);
        let (mut plain, model) = (before.clone(), Model::whole(base.shape()));
        chain(&mut base.view_mut().unwrap(), &model, &mut plain, &steps);
        prop_assert_eq!(elements(&base), plain);
        prop_assert_eq!(elements(&kept), before.clone());
        if let Some(held) = held {
            prop_assert_eq!(elements(&held), before);
        }
    }

    #[test]
    fn parts_that_follow_each_other_are_written_apart(x in a_tensor(), axis in 0..3_usize, size in 1..4_usize, how in 0..5) {
        prop_assume!(x.rank() > 0);
        let dim = (axis % x.rank()) as i64;
        let before = x.clone();
        let mut base = x;
        let parts = match how {
            0 => (base.split_mut(size, dim), before.split(size, dim)),
            1 => (base.chunk_mut(size, dim), before.chunk(size, dim)),
            2 => (base.tensor_split_mut(size, dim), before.tensor_split(size, dim)),
            3 => {
                let whole = before.shape()[dim as usize];
                let sizes = [whole / 2, 0, whole - whole / 2];
                (base.split_with_sizes_mut(&sizes, dim), before.split_with_sizes(&sizes, dim))
            }
            _ => (base.unbind_mut(dim), before.unbind(dim)),
        };
        let (views, parts) = (parts.0.unwrap(), parts.1.unwrap());
        prop_assert_eq!(views.len(), parts.len());
        // All are alive at once; each adds its number times 1000.
        let mut views = views;
        for (at, view) in views.iter_mut().enumerate().rev() {
            view.add_(1000 * at).unwrap();
        }
        for (at, (view, part)) in views.iter().zip(&parts).enumerate() {
            let want: Vec<i64> = elements(part).iter().map(|x| x + 1000 * at as i64).collect();
            prop_assert_eq!(elements(&view.to_tensor().unwrap()), want);
        }
    }

    #[test]
    fn several_views_are_given_out_where_no_two_meet(
        sizes in prop::collection::vec(0..5_usize, 0..4),
        choices in prop::collection::vec(prop::collection::vec((0..4_usize, -5..5_i64, -5..6_i64, 1..4_i64), 0..4), 1..4),
    ) {
        let len: usize = sizes.iter().product();
        let shape: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        let numbers = AnyTensor::from(Tensor::<i64, shape![_]>::arange(0, len as i64, 1)).reshape(&shape).unwrap();
        let indices: Vec<Vec<Value>> = choices
            .iter()
            .map(|items| items.iter().take(sizes.len()).map(|&(kind, start, end, step)| match kind {
                0 => Value::from(start),
                1 => Value::Slice(None, Some(end), None),
                2 => Value::Slice(Some(start), None, Some(step)),
                _ => Value::Slice(Some(start), Some(end), Some(step)),
            }).collect())
            .collect();
        let mut base = numbers.copy().unwrap();
        let lists: Vec<&[Value]> = indices.iter().map(|index| &index[..]).collect();
        let reached: Result<Vec<Vec<i64>>, _> =
            lists.iter().map(|index| numbers.index(index).map(|x| elements(&x))).collect();
        let (given, reached) = match (base.multi_index_mut(&lists), reached) {
            (given, Ok(reached)) => (given, reached),
            (given, Err(_)) => {
                prop_assert!(given.is_err());
                return Ok(());
            }
        };
        let mut all: Vec<i64> = reached.iter().flatten().copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(given.is_ok(), all.len() == count);
        if let Ok(mut views) = given {
            for (at, view) in views.iter_mut().enumerate() {
                view.add_(1000 * (at + 1)).unwrap();
            }
            let number = |x: i64| reached.iter().position(|list| list.contains(&x)).map_or(0, |at| at as i64 + 1);
            prop_assert_eq!(elements(&base), (0..len as i64).map(|x| x + 1000 * number(x)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_is_taken_out_of_a_view_has_elements_of_its_own() {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let mut view = x.t_mut().unwrap();
    let kept = view.to_tensor().unwrap();
    let mut typed = view.typed_mut::<i64, shape![2, 2], Cpu>().unwrap();
    // Were these handles to the memory that is borrowed, they would see the edit below, and outlive it.
    let (copy, part, any) = (typed.clone(), typed.t(), AnyTensor::from(&*typed));
    typed.add_(10);
    view.add_(100).unwrap();
    assert_eq!(elements(&x), [111, 112, 113, 114]);
    drop(x);
    assert_eq!((copy.to_vec(), part.to_vec()), (vec![1, 3, 2, 4], vec![1, 2, 3, 4]));
    assert_eq!((elements(&any), elements(&kept)), (vec![1, 3, 2, 4], vec![1, 3, 2, 4]));
}

#[test]
fn memory_of_a_vector_is_written_where_it_is() {
    let mut x = AnyTensor::from(Tensor::<i64, shape![_]>::from_vec_sized(vec![1, 2, 3], [3]));
    let before = x.to_bytes().unwrap();
    x.narrow_mut(0, 1, 2).unwrap().mul_(2).unwrap();
    assert_eq!(elements(&x), [1, 4, 6]);
    assert_eq!(before.len(), 24);
    let same = x.clone();
    x.view_mut().unwrap().fill_(0).unwrap();
    assert!(!x.shares_storage(&same));
    assert_eq!((elements(&x), elements(&same)), (vec![0; 3], vec![1, 4, 6]));
}

#[test]
fn halves_are_written_by_two_threads() {
    let mut x = AnyTensor::zeros(&[64, 3000], DType::I32).unwrap();
    let [mut left, mut right] = x.split_at_mut(1, 1000).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || left.add_(1).map(|_| ()).unwrap());
        scope.spawn(move || right.add_(2).map(|_| ()).unwrap());
    });
    assert_eq!(x.sum(None, false, None).unwrap().item(), Ok(ScalarValue::Int(64 * 1000 + 64 * 2000 * 2)));
}

#[test]
fn positions_that_share_a_place_are_not_written() {
    let mut x = AnyTensor::from(tensor![1, 2, 3]);
    for error in [x.expand_mut(&[2, 3]).err(), x.unfold_mut(0, 2, 1).err()] {
        let text = error.unwrap().to_string();
        assert!(text.contains("may lead to an element twice"), "{text}");
    }
    // Nothing is repeated here.
    x.expand_mut(&[1, 3]).unwrap().add_(1).unwrap();
    x.expand_mut(&[0, 3]).unwrap().add_(1).unwrap();
    assert_eq!(elements(&x), [2, 3, 4]);
    // A tensor that was expanded gets an element for each position.
    let mut rows = x.expand(&[2, 3]).unwrap();
    rows.select_mut(0, 0).unwrap().fill_(0).unwrap();
    assert_eq!((elements(&rows), elements(&x)), (vec![0, 0, 0, 2, 3, 4], vec![2, 3, 4]));
}

#[test]
fn edits_that_would_not_be_seen_are_errors() {
    let mut x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    let whole = || Value::Slice(None, None, None);
    // `x[:, -1] = 0` and `x[..., ::2] += 1`
    x.index_mut(&[whole(), Value::from(-1)]).unwrap().fill_(0).unwrap();
    x.index_mut(&[Value::Rest, Value::Slice(None, None, Some(2))]).unwrap().add_(1).unwrap();
    assert_eq!(elements(&x), [2, 2, 1, 5, 5, 1]);
    let mask = x.gt(1).unwrap();
    let error = x.index_mut(&[Value::from(mask)]).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument { op: "index_mut", .. }), "{error}");
    let error = x.t_mut().unwrap().reshape_mut(&[6]).unwrap_err().to_string();
    assert!(error.contains("no view of shape [6] shows the elements"), "{error}");
    x.reshape_mut(&[6]).unwrap().narrow_mut(0, 4, 2).unwrap().fill_(9).unwrap();
    assert_eq!(elements(&x), [2, 2, 1, 5, 9, 9]);
    assert!(x.split_at_mut(1, 4).is_err() && x.split_at_mut(2, 0).is_err() && x.select_mut(0, 2).is_err());
    assert!(x.typed_mut::<i32, shape![2, 3], Cpu>().is_err());
    // A refused write changes nothing.
    let mut view = x.select_mut(0, 0).unwrap();
    assert!(view.add_(0.5).is_err() && view.add_(tensor![1, 2]).is_err() && view.exp_().is_err());
    assert!(view.fill_(1e30).is_err() && view.copy_from(&AnyTensor::from(tensor![1, 2])).is_err());
    assert_eq!(elements(&x), [2, 2, 1, 5, 9, 9]);
}

#[test]
fn parts_of_complex_numbers_are_written() {
    let mut z = AnyTensor::from(tensor![1.0 + 2.0j, 3.0]);
    z.imag_mut().unwrap().fill_(-1).unwrap();
    z.view_as_real_mut().unwrap().select_mut(1, 0).unwrap().mul_(2).unwrap();
    assert_eq!(z.to_string(), "tensor([2.-1.j, 6.-1.j])");
    let mut x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
    x.view_as_complex_mut().unwrap().select_mut(0, 1).unwrap().mul_(castiron::Complex::new(0.0_f32, 1.0)).unwrap();
    assert_eq!(x.to_string(), "tensor([[ 1.,  2.],\n        [-4.,  3.]])");
    assert!(x.imag_mut().is_err());
    // Real elements are their own real part.
    x.real_mut().unwrap().select_mut(0, 0).unwrap().fill_(0).unwrap();
    assert_eq!(x.to_string(), "tensor([[ 0.,  0.],\n        [-4.,  3.]])");
}

#[test]
fn what_has_no_data_is_written_without_effect() {
    let mut x = AnyTensor::from(Tensor::<f32, shape![2, 3], Meta>::zeros());
    let mut row = x.select_mut(0, 1).unwrap();
    row.add_(1).unwrap().exp_().unwrap();
    assert_eq!((row.shape(), row.dtype()), (&[3][..], DType::F32));
    assert!(row.typed_mut::<f32, shape![3], Meta>().is_ok() && row.to_scalars().is_err());
    assert!(x.expand_mut(&[4, 2, 3]).is_err());
}
