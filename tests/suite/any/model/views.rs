//! Chains of views of one tensor, compared with a list of the elements that each should show.

use super::{Outcome, Source, axes, axis, number, numbers, positions, sizes};
use arbitrary::Result;
use castiron::{AnyTensor, DType};

/// Sizes, and the elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) sizes: Vec<usize>,
    pub(super) elements: Vec<i64>,
}

impl Shown {
    pub(super) fn at(&self, position: &[usize]) -> i64 {
        let flat = position.iter().zip(&self.sizes).fold(0, |flat, (&at, &size)| flat * size + at);
        self.elements[flat]
    }

    /// What other sizes show, each position being one of `self`.
    fn seen(&self, sizes: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Shown {
        let elements = positions(sizes).iter().map(|position| self.at(&from(position))).collect();
        Shown { sizes: sizes.to_vec(), elements }
    }

    pub(super) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Some positions of an axis, in that order.
    pub(super) fn picked(&self, axis: usize, picked: &[usize]) -> Shown {
        let mut sizes = self.sizes.clone();
        sizes[axis] = picked.len();
        self.seen(&sizes, |position| {
            let mut from = position.to_vec();
            from[axis] = picked[from[axis]];
            from
        })
    }

    fn shaped(&self, sizes: Vec<usize>) -> Shown {
        Shown { sizes, elements: self.elements.clone() }
    }

    pub(super) fn permuted(&self, order: &[usize]) -> Shown {
        let sizes: Vec<usize> = order.iter().map(|&axis| self.sizes[axis]).collect();
        self.seen(&sizes, |position| {
            let mut from = vec![0; order.len()];
            order.iter().zip(position).for_each(|(&axis, &at)| from[axis] = at);
            from
        })
    }

    pub(super) fn select(&self, dim: i64, index: i64) -> Option<Shown> {
        let at = axis(dim, self.rank()).filter(|_| self.rank() > 0)?;
        let size = self.sizes[at] as i128;
        let index = if index < 0 { i128::from(index) + size } else { index.into() };
        if !(0..size).contains(&index) {
            return None;
        }
        let one = self.picked(at, &[index as usize]);
        let mut sizes = one.sizes.clone();
        sizes.remove(at);
        Some(one.shaped(sizes))
    }

    pub(super) fn narrow(&self, dim: i64, start: i64, len: usize) -> Option<Shown> {
        let at = axis(dim, self.rank()).filter(|_| self.rank() > 0)?;
        let size = self.sizes[at] as i128;
        let first = if start < 0 { i128::from(start) + size } else { start.into() };
        if first < 0 || first > size || len as i128 > size - first {
            return None;
        }
        Some(self.picked(at, &(first as usize..first as usize + len).collect::<Vec<_>>()))
    }

    pub(super) fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Option<Shown> {
        let at = axis(dim, self.rank()).filter(|_| self.rank() > 0 && step > 0)?;
        let size = self.sizes[at] as i128;
        let clamped = |x: i64| (if x < 0 { i128::from(x) + size } else { x.into() }).clamp(0, size) as usize;
        let range = start.map_or(0, clamped)..end.map_or(size as usize, clamped);
        Some(self.picked(at, &range.step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect::<Vec<_>>()))
    }

    pub(super) fn unfold(&self, dim: i64, size: usize, step: usize) -> Option<Shown> {
        let at = axis(dim, self.rank())?;
        // A zero-dim tensor has one window, of itself.
        let len = self.sizes.get(at).copied().unwrap_or(1);
        if step == 0 || size > len {
            return None;
        }
        let mut sizes = self.sizes.clone();
        if let Some(windows) = sizes.get_mut(at) {
            *windows = (len - size) / step + 1;
        }
        sizes.push(size);
        Some(self.seen(&sizes, |position| {
            let (inside, outside) = position.split_last().unwrap();
            let mut from = outside.to_vec();
            if let Some(from) = from.get_mut(at) {
                *from = *from * step + inside;
            }
            from
        }))
    }

    pub(super) fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Option<Shown> {
        let (a, b) = (axis(dim1, self.rank())?, axis(dim2, self.rank())?);
        if a == b {
            return None;
        }
        let offset = i128::from(offset);
        let (down, right) = ((-offset).max(0), offset.max(0));
        let len = (self.sizes[a] as i128 - down).min(self.sizes[b] as i128 - right).max(0) as usize;
        let rest: Vec<usize> = (0..self.rank()).filter(|&axis| axis != a && axis != b).collect();
        let mut sizes: Vec<usize> = rest.iter().map(|&axis| self.sizes[axis]).collect();
        sizes.push(len);
        Some(self.seen(&sizes, |position| {
            let (&at, others) = position.split_last().unwrap();
            let mut from = vec![0; self.rank()];
            rest.iter().zip(others).for_each(|(&axis, &at)| from[axis] = at);
            from[a] = at + down as usize;
            from[b] = at + right as usize;
            from
        }))
    }

    pub(super) fn expand(&self, wanted: &[i64]) -> Option<Shown> {
        let added = wanted.len().checked_sub(self.rank())?;
        let mut sizes = Vec::new();
        for (at, &size) in wanted.iter().enumerate() {
            let own = at.checked_sub(added).map(|at| self.sizes[at]);
            sizes.push(match (size, own) {
                (-1, Some(own)) => own,
                (size, None | Some(1)) => usize::try_from(size).ok()?,
                (size, Some(own)) => usize::try_from(size).ok().filter(|&size| size == own)?,
            });
        }
        // As many elements as a list has room for.
        if sizes.iter().try_fold(1_usize, |all, &size| all.checked_mul(size.max(1))).is_none_or(|all| all > 10_000) {
            return None;
        }
        Some(self.seen(&sizes, |position| {
            position[added..].iter().zip(&self.sizes).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect()
        }))
    }

    fn reshape(&self, wanted: &[i64]) -> Option<Shown> {
        let numel = self.elements.len();
        let known: usize = wanted
            .iter()
            .filter(|&&size| size != -1)
            .map(|&size| usize::try_from(size).ok())
            .try_fold(1_usize, |all, size| all.checked_mul(size?))?;
        let unknown = wanted.iter().filter(|&&size| size == -1).count();
        let sizes = wanted.iter().map(|&size| match size {
            -1 if known > 0 => numel / known,
            -1 => 0,
            size => size as usize,
        });
        let fits = match unknown {
            0 => known == numel,
            1 => known > 0 && numel.is_multiple_of(known),
            _ => false,
        };
        let sizes: Vec<usize> = sizes.collect();
        // Together with a zero, too, the largest size there can be addresses for.
        let bytes = sizes
            .iter()
            .filter(|&&size| size > 0)
            .try_fold(8_isize, |all, &size| all.checked_mul(size.try_into().ok()?));
        (fits && bytes.is_some()).then(|| self.shaped(sizes))
    }

    fn flatten(&self, start: i64, end: i64) -> Option<Shown> {
        let (start, end) = (axis(start, self.rank())?, axis(end, self.rank())?);
        if start > end {
            return None;
        }
        let mut sizes = self.sizes.clone();
        if sizes.is_empty() {
            sizes.push(1);
        }
        let joined = sizes[start..=end].iter().product();
        sizes.splice(start..=end, [joined]);
        Some(self.shaped(sizes))
    }

    fn squeeze(&self, dims: Option<&[i64]>) -> Option<Shown> {
        let named = match dims {
            Some(dims) => axes(dims, self.rank())?,
            None => (0..self.rank()).collect(),
        };
        let kept = (0..self.rank()).filter(|axis| !named.contains(axis) || self.sizes[*axis] != 1);
        Some(self.shaped(kept.map(|axis| self.sizes[axis]).collect()))
    }

    fn unsqueeze(&self, dim: i64) -> Option<Shown> {
        let at = axis(dim, self.rank() + 1)?;
        let mut sizes = self.sizes.clone();
        sizes.insert(at, 1);
        Some(self.shaped(sizes))
    }

    fn movedim(&self, source: &[i64], destination: &[i64]) -> Option<Shown> {
        let (from, to) = (axes(source, self.rank())?, axes(destination, self.rank())?);
        if from.len() != to.len() {
            return None;
        }
        if self.rank() == 0 {
            return Some(self.clone());
        }
        let mut rest = (0..self.rank()).filter(|axis| !from.contains(axis));
        let order: Vec<usize> = (0..self.rank())
            .map(|at| to.iter().position(|&to| to == at).map_or_else(|| rest.next().unwrap(), |found| from[found]))
            .collect();
        Some(self.permuted(&order))
    }

    /// Parts of these lengths.
    fn parts(&self, axis: usize, lengths: impl IntoIterator<Item = usize>) -> Vec<Shown> {
        let mut start = 0;
        let part = |len| {
            let picked: Vec<usize> = (start..start + len).collect();
            start += len;
            self.picked(axis, &picked)
        };
        lengths.into_iter().map(part).collect()
    }

    pub(super) fn split(&self, size: usize, dim: i64) -> Option<Vec<Shown>> {
        let at = axis(dim, self.rank()).filter(|_| self.rank() > 0)?;
        let len = self.sizes[at];
        match size {
            0 => (len == 0).then(|| vec![self.clone()]),
            _ if len == 0 => Some(vec![self.clone()]),
            size => Some(self.parts(at, (0..len.div_ceil(size)).map(|part| size.min(len - part * size)))),
        }
    }

    pub(super) fn tensor_split(&self, parts: usize, dim: i64) -> Option<Vec<Shown>> {
        let at = axis(dim, self.rank()).filter(|_| self.rank() > 0 && parts > 0)?;
        let len = self.sizes[at];
        Some(self.parts(at, (0..parts).map(|part| len / parts + usize::from(part < len % parts))))
    }
}

/// One of several results, at times the last.
fn one_of<T: Clone>(all: &[T], at: u8) -> Option<T> {
    all.get(usize::from(at) % all.len().max(1)).cloned()
}

fn check(x: &AnyTensor, shown: &Shown, program: &str) {
    assert_eq!(x.shape(), shown.sizes, "{program}");
    assert_eq!(
        x.to_bytes().unwrap(),
        shown.elements.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
        "{program}"
    );
}

/// A program of views.
pub fn run(data: &[u8]) {
    run_on(super::asked(), data);
}

/// The same with tensors on a device.
pub fn run_on(device: castiron::AnyDevice, data: &[u8]) {
    super::on(device, data, program);
}

fn program(source: &mut Source) -> Result<()> {
    let sizes = sizes(source, 4, 5)?;
    let numel: usize = sizes.iter().product();
    let base = Shown { sizes, elements: (0..numel as i64).collect() };
    let bytes: Vec<u8> = base.elements.iter().flat_map(|x| x.to_le_bytes()).collect();
    let owner = super::made(&bytes, DType::I64, &base.sizes);
    let (mut x, mut shown) = (owner.clone(), base.clone());
    let mut text = format!("{:?}", base.sizes);
    for _ in 0..12 {
        if source.is_empty() || shown.rank() > 6 {
            break;
        }
        let kind = source.int_in_range(0..=19_u8)?;
        let (a, b, c) = (number(source)?, number(source)?, number(source)?);
        // Lengths are not negative by their type.
        let len = |x: i64| x.unsigned_abs() as usize;
        let single = |got: Outcome<AnyTensor>, want| (got, want);
        let (got, want) = match kind {
            0 => single(x.select(a, b), shown.select(a, b)),
            1 => single(x.narrow(a, b, len(c)), shown.narrow(a, b, len(c))),
            2 => {
                let (start, end) = (Some(b).filter(|b| b % 3 != 0), Some(c).filter(|c| c % 3 != 0));
                let step = number(source)?;
                single(x.slice(a, start, end, step), shown.slice(a, start, end, step))
            }
            3 => {
                let axes = (axis(a, shown.rank()), axis(b, shown.rank()));
                let want = if let (Some(a), Some(b)) = axes {
                    let mut order: Vec<usize> = (0..shown.rank()).collect();
                    if !order.is_empty() {
                        order.swap(a, b);
                    }
                    Some(shown.permuted(&order))
                } else {
                    None
                };
                single(x.transpose(a, b), want)
            }
            4 => {
                let dims = numbers(source, 5)?;
                let order = axes(&dims, shown.rank()).filter(|_| dims.len() == shown.rank());
                single(x.permute(&dims), order.map(|order| shown.permuted(&order)))
            }
            5 => single(x.squeeze(None), shown.squeeze(None)),
            6 => {
                let dims = numbers(source, 3)?;
                single(x.squeeze(Some(&dims)), shown.squeeze(Some(&dims)))
            }
            7 => single(x.unsqueeze(a), shown.unsqueeze(a)),
            8 => {
                let dims = numbers(source, 6)?;
                let want = shown.expand(&dims);
                if want.is_none() && x.expand(&dims).is_ok() {
                    // Larger than the model shows.
                    continue;
                }
                single(x.expand(&dims), want)
            }
            9 => single(x.flatten(a, b), shown.flatten(a, b)),
            10 => single(x.unfold(a, len(b), len(c)), shown.unfold(a, len(b), len(c))),
            11 => single(x.diagonal(a, b, c), shown.diagonal(a, b, c)),
            12 => {
                let (from, to) = (numbers(source, 3)?, numbers(source, 3)?);
                single(x.movedim(&from, &to), shown.movedim(&from, &to))
            }
            13 => {
                let dims = numbers(source, 4)?;
                single(x.reshape(&dims), shown.reshape(&dims))
            }
            14 => {
                // One that fits.
                let want = shown.reshape(&[shown.elements.len() as i64]);
                single(x.reshape(&[-1]), want.filter(|_| true))
            }
            15 => {
                let want = shown.split(len(a), b);
                let got = x.split(len(a), b);
                assert_eq!(
                    got.as_ref().ok().map(Vec::len),
                    want.as_ref().map(Vec::len),
                    "{text} split({}, {b})",
                    len(a)
                );
                let (Ok(got), Some(want)) = (got, want) else { continue };
                let (Some(got), Some(want)) = (one_of(&got, c as u8), one_of(&want, c as u8)) else { continue };
                single(Ok(got), Some(want))
            }
            16 => {
                let parts = len(a) % 9;
                let (got, want) = (x.tensor_split(parts, b), shown.tensor_split(parts, b));
                assert_eq!(
                    got.as_ref().ok().map(Vec::len),
                    want.as_ref().map(Vec::len),
                    "{text} tensor_split({parts}, {b})"
                );
                let (Ok(got), Some(want)) = (got, want) else { continue };
                let (Some(got), Some(want)) = (one_of(&got, c as u8), one_of(&want, c as u8)) else { continue };
                single(Ok(got), Some(want))
            }
            17 => {
                let dims = numbers(source, 2)?;
                let picked = axes(&dims, shown.rank());
                let want = picked.map(|axes| {
                    let turned = axes.iter().filter(|_| shown.rank() > 0);
                    turned.fold(shown.clone(), |shown, &axis| {
                        shown.picked(axis, &(0..shown.sizes[axis]).rev().collect::<Vec<_>>())
                    })
                });
                single(x.flip(&dims), want)
            }
            18 => {
                // A copy that is edited leaves everything else as it was.
                let mut edited = x.clone();
                edited.add_(1).unwrap();
                let mut more = shown.clone();
                more.elements.iter_mut().for_each(|x| *x += 1);
                check(&edited, &more, &text);
                check(&x, &shown, &text);
                single(x.contiguous(), Some(shown.clone()))
            }
            _ => single(x.copy(), Some(shown.clone())),
        };
        match (got, want) {
            (Ok(got), Some(want)) => {
                text += &format!(" | {kind} {a} {b} {c} -> {:?}", want.sizes);
                check(&got, &want, &text);
                // (The model lists the positions of an axis.)
                if want.sizes.iter().all(|&size| size < 10_000) {
                    (x, shown) = (got, want);
                }
            }
            (Err(_), None) => {}
            (got, want) => panic!("{text}: {kind} {a} {b} {c} gives {got:?}, the model {want:?}"),
        }
    }
    check(&owner, &base, &text);
    Ok(())
}
