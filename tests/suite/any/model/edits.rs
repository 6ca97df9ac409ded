//! A pool of tensors that are viewed, combined and written, each compared with a list of the integers it should hold.

use super::views::Shown;
use super::{Outcome, Source, axes, axis, number, numbers, positions, sizes};
use arbitrary::Result;
use castiron::any::{cat, where_};
use castiron::dtype::promote_types;
use castiron::{AnyTensor, DType};

const DTYPES: [DType; 6] = [DType::Bool, DType::U8, DType::I8, DType::I16, DType::I32, DType::I64];
/// Operations on at most this many elements are also computed by the model.
const MOST: usize = 2_000;

/// A dtype with sizes and elements.
#[derive(Clone, Debug, PartialEq)]
struct Naive {
    dtype: DType,
    shown: Shown,
}

/// An integer converted to a dtype; for bools every integer but 0 gives 1.
fn wrapped(value: i128, dtype: DType) -> i64 {
    match dtype {
        DType::Bool => i64::from(value != 0),
        DType::U8 => i64::from(value as u8),
        DType::I8 => i64::from(value as i8),
        DType::I16 => i64::from(value as i16),
        DType::I32 => i64::from(value as i32),
        _ => value as i64,
    }
}

/// Whether PyTorch converts a scalar to a dtype: negative ones, as far as their absolute values go, to unsigned ones.
fn fits(value: i64, dtype: DType) -> bool {
    match dtype {
        DType::Bool => true,
        DType::U8 => (-255..=255).contains(&value),
        dtype => wrapped(value.into(), dtype) == value,
    }
}

/// `int64` for bools and integers.
fn summed(_: DType) -> DType {
    DType::I64
}

impl Naive {
    fn new(dtype: DType, sizes: Vec<usize>, elements: impl IntoIterator<Item = i128>) -> Naive {
        let elements = elements.into_iter().map(|x| wrapped(x, dtype)).collect();
        Naive { dtype, shown: Shown { sizes, elements } }
    }

    fn rank(&self) -> usize {
        self.shown.rank()
    }

    fn to(&self, dtype: DType) -> Naive {
        Naive::new(dtype, self.shown.sizes.clone(), self.elements())
    }

    fn elements(&self) -> impl Iterator<Item = i128> {
        self.shown.elements.iter().map(|&x| x.into())
    }

    fn seen(&self, shown: Shown) -> Naive {
        Naive { dtype: self.dtype, shown }
    }

    fn bytes(&self) -> Vec<u8> {
        let width = self.dtype.itemsize();
        self.shown.elements.iter().flat_map(|x| x.to_le_bytes().into_iter().take(width)).collect()
    }

    fn tensor(&self) -> AnyTensor {
        super::made(&self.bytes(), self.dtype, &self.shown.sizes)
    }

    /// Repeated to these sizes.
    fn spread(&self, sizes: &[usize]) -> Option<Naive> {
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        self.shown.expand(&sizes).map(|shown| self.seen(shown))
    }

    /// The dtype of two operands: that of a zero-dim one counts if it is a number and the other a bool.
    fn promoted(&self, other: &Naive) -> DType {
        let (zero_dim, other) = match (self.rank(), other.rank()) {
            (0, 1..) => (self.dtype, other.dtype),
            (1.., 0) => (other.dtype, self.dtype),
            _ => return promote_types(self.dtype, other.dtype).unwrap(),
        };
        if other == DType::Bool { zero_dim } else { other }
    }

    /// Combined in a dtype, as one of another.
    fn zip(&self, other: &Naive, [of, to]: [DType; 2], combine: impl Fn(i128, i128) -> i128) -> Option<Naive> {
        let sizes = broadcast(&[self, other])?;
        let (a, b) = (self.to(of).spread(&sizes)?, other.to(of).spread(&sizes)?);
        let all = a.elements().zip(b.elements()).map(|(a, b)| wrapped(combine(a, b), of).into());
        Some(Naive::new(to, sizes, all.collect::<Vec<i128>>()))
    }

    fn combine(&self, kind: Combine, other: &Naive) -> Option<Naive> {
        let of = self.promoted(other);
        if kind == Combine::Sub && [self.dtype, other.dtype].contains(&DType::Bool) {
            return None;
        }
        let to = if matches!(kind, Combine::Eq | Combine::Lt) { DType::Bool } else { of };
        self.zip(other, [of, to], |a, b| kind.of(a, b))
    }

    /// Combined into `self`, whose dtype and sizes it keeps.
    fn combine_in_place(&self, kind: Combine, other: &Naive) -> Option<Naive> {
        let result = self.combine(kind, other)?;
        let castable = self.dtype != DType::Bool || result.dtype == DType::Bool;
        (castable && result.shown.sizes == self.shown.sizes).then(|| result.to(self.dtype))
    }

    /// The sum, or the largest.
    fn reduce(&self, dims: &[i64], keepdim: bool, kind: Reduce) -> Option<Naive> {
        let mut named = axes(dims, self.rank())?;
        named.retain(|&axis| axis < self.rank());
        if dims.is_empty() {
            named = (0..self.rank()).collect();
        }
        if kind == Reduce::Amax && named.iter().any(|&axis| self.shown.sizes[axis] == 0) {
            return None;
        }
        let sizes = &self.shown.sizes;
        let kept: Vec<usize> =
            (0..self.rank()).map(|axis| if named.contains(&axis) { 1 } else { sizes[axis] }).collect();
        let reduced: Vec<usize> =
            (0..self.rank()).map(|axis| if named.contains(&axis) { sizes[axis] } else { 1 }).collect();
        let reduced = positions(&reduced);
        let elements = positions(&kept).into_iter().map(|position| {
            let at = |more: &Vec<usize>| position.iter().zip(more).map(|(a, b)| a + b).collect::<Vec<usize>>();
            let elements = reduced.iter().map(|more| i128::from(self.shown.at(&at(more))));
            match kind {
                Reduce::Sum => elements.sum(),
                Reduce::Amax => elements.max().unwrap(),
            }
        });
        let elements: Vec<i128> = elements.collect();
        let dtype = if kind == Reduce::Sum { summed(self.dtype) } else { self.dtype };
        let sizes = kept.into_iter().enumerate().filter(|(axis, _)| keepdim || !named.contains(axis));
        Some(Naive::new(dtype, sizes.map(|(_, size)| size).collect(), elements))
    }

    /// What each row along an axis becomes.
    fn along(&self, axis: usize, dtype: DType, row: impl Fn(&mut Vec<i128>)) -> Naive {
        let mut whole = self.clone();
        if self.rank() == 0 {
            whole.shown.sizes = vec![1];
        }
        let sizes = whole.shown.sizes.clone();
        let mut starts = sizes.clone();
        starts[axis] = starts[axis].min(1);
        let mut elements = vec![0; whole.shown.elements.len()];
        for mut position in positions(&starts) {
            let mut along = |at: usize| {
                position[axis] = at;
                position.iter().zip(&sizes).fold(0, |flat, (&at, &size)| flat * size + at)
            };
            let places: Vec<usize> = (0..sizes[axis]).map(&mut along).collect();
            let mut values: Vec<i128> = places.iter().map(|&at| self.shown.elements[at].into()).collect();
            row(&mut values);
            places.iter().zip(values).for_each(|(&at, value)| elements[at] = value);
        }
        Naive::new(dtype, self.shown.sizes.clone(), elements)
    }

    fn index_select(&self, dim: i64, index: &Naive) -> Option<Naive> {
        let at = axis(dim, self.rank())?;
        let size = if self.rank() == 0 { 1 } else { self.shown.sizes[at] };
        let is_index = matches!(index.dtype, DType::I64 | DType::I32) && index.rank() <= 1;
        let picked = index.shown.elements.iter().map(|&at| usize::try_from(at).ok().filter(|&at| at < size));
        let picked = picked.collect::<Option<Vec<usize>>>().filter(|_| is_index)?;
        if self.rank() == 0 {
            return (picked.len() == 1).then(|| self.clone());
        }
        Some(self.seen(self.shown.picked(at, &picked)))
    }

    fn masked_fill(&self, mask: &Naive, value: &Naive) -> Option<Naive> {
        if mask.dtype != DType::Bool || value.rank() > 0 || !fits(value.shown.elements[0], self.dtype) {
            return None;
        }
        let sizes = broadcast(&[self, mask])?;
        let (own, mask) = (self.spread(&sizes)?, mask.spread(&sizes)?);
        let value = value.shown.elements[0];
        let all = own.elements().zip(mask.elements()).map(|(x, mask)| if mask != 0 { value.into() } else { x });
        Some(Naive::new(self.dtype, sizes, all.collect::<Vec<i128>>()))
    }

    fn chosen(&self, a: &Naive, b: &Naive) -> Option<Naive> {
        if !matches!(self.dtype, DType::Bool | DType::U8) {
            return None;
        }
        let (sizes, dtype) = (broadcast(&[self, a, b])?, a.promoted(b));
        let [mask, a, b] = [self, &a.to(dtype), &b.to(dtype)].map(|x| x.spread(&sizes));
        let (mask, a, b) = (mask?, a?, b?);
        let all = mask.elements().zip(a.elements().zip(b.elements()));
        let all = all.map(|(mask, (a, b))| if mask != 0 { a } else { b });
        Some(Naive::new(dtype, sizes, all.collect::<Vec<i128>>()))
    }

    fn matmul(&self, other: &Naive) -> Option<Naive> {
        if self.dtype != other.dtype || self.rank() == 0 || other.rank() == 0 {
            return None;
        }
        // Bools are multiplied where there is nothing to multiply, but for two vectors.
        let empty = self.shown.elements.is_empty() || other.shown.elements.is_empty();
        if self.dtype == DType::Bool && (!empty || self.rank() == 1 && other.rank() == 1) {
            return None;
        }
        let (mut a, mut b) = (self.shown.clone(), other.shown.clone());
        if self.rank() == 1 {
            a.sizes.insert(0, 1);
        }
        if other.rank() == 1 {
            b.sizes.push(1);
        }
        let ([outer, rows, inner], [other_outer, other_inner, columns]) = (split(&a.sizes), split(&b.sizes));
        if inner != other_inner {
            return None;
        }
        let outer = broadcast_sizes(&[&outer[..], &other_outer])?;
        let (rows, columns, inner) = (rows[0], columns[0], inner[0]);
        let all: Vec<usize> = [&outer[..], &[rows, columns]].concat();
        let a = self.seen(a).spread(&[&outer[..], &[rows, inner]].concat())?.shown;
        let b = other.seen(b).spread(&[&outer[..], &[inner, columns]].concat())?.shown;
        let elements = positions(&all).into_iter().map(|mut position| {
            let column = position.pop().unwrap();
            let row = position.pop().unwrap();
            let at = |last: [usize; 2]| [&position[..], &last].concat();
            let product = |k| i128::from(a.at(&at([row, k]))) * i128::from(b.at(&at([k, column])));
            // (Which leaves what is left of the sum as it is.)
            (0..inner).map(|k| i128::from(wrapped(product(k), self.dtype))).sum()
        });
        let elements: Vec<i128> = elements.collect();
        let mut sizes = outer;
        sizes.extend((self.rank() > 1).then_some(rows));
        sizes.extend((other.rank() > 1).then_some(columns));
        Some(Naive::new(self.dtype, sizes, elements))
    }

    fn cat(all: &[&Naive], dim: i64) -> Option<Naive> {
        if all.iter().any(|x| x.rank() == 0) {
            return None;
        }
        let dtype = all.iter().map(|x| x.dtype).reduce(|a, b| promote_types(a, b).unwrap())?;
        // Empty vectors are skipped.
        let kept: Vec<&Naive> = all.iter().copied().filter(|x| x.shown.sizes != [0]).collect();
        let Some(first) = kept.first() else {
            return Some(Naive::new(dtype, vec![0], []));
        };
        let at = axis(dim, first.rank())?;
        let mut sizes = first.shown.sizes.clone();
        sizes[at] = 0;
        for x in &kept {
            let alike = x.rank() == first.rank()
                && (0..x.rank()).all(|axis| axis == at || x.shown.sizes[axis] == first.shown.sizes[axis]);
            if !alike {
                return None;
            }
            sizes[at] += x.shown.sizes[at];
        }
        let elements = positions(&sizes).into_iter().map(|mut position| {
            for x in &kept {
                match position[at].checked_sub(x.shown.sizes[at]) {
                    Some(rest) => position[at] = rest,
                    None => return x.shown.at(&position).into(),
                }
            }
            unreachable!("sizes were added up")
        });
        Some(Naive::new(dtype, sizes.clone(), elements.collect::<Vec<i128>>()))
    }
}

/// The leading sizes, and the two of a matrix.
fn split(sizes: &[usize]) -> [Vec<usize>; 3] {
    let (outer, last) = sizes.split_at(sizes.len() - 2);
    [outer.to_vec(), vec![last[0]], vec![last[1]]]
}

fn broadcast(all: &[&Naive]) -> Option<Vec<usize>> {
    broadcast_sizes(&all.iter().map(|x| &x.shown.sizes[..]).collect::<Vec<_>>())
}

/// Sizes counted from the last: those of 1 become the others'.
fn broadcast_sizes(all: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = all.iter().map(|sizes| sizes.len()).max()?;
    let mut result = vec![1; rank];
    for sizes in all {
        for (at, &size) in sizes.iter().rev().enumerate() {
            let own = &mut result[rank - 1 - at];
            match (*own, size) {
                (_, 1) => {}
                (1, size) => *own = size,
                (own, size) if own == size => {}
                _ => return None,
            }
        }
    }
    Some(result)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Combine {
    Add,
    Sub,
    Mul,
    Maximum,
    BitwiseAnd,
    Eq,
    Lt,
}

impl Combine {
    const ALL: [Combine; 7] =
        [Combine::Add, Combine::Sub, Combine::Mul, Combine::Maximum, Combine::BitwiseAnd, Combine::Eq, Combine::Lt];

    fn of(self, a: i128, b: i128) -> i128 {
        match self {
            Combine::Add => a + b,
            Combine::Sub => a - b,
            Combine::Mul => a * b,
            Combine::Maximum => a.max(b),
            Combine::BitwiseAnd => a & b,
            Combine::Eq => (a == b).into(),
            Combine::Lt => (a < b).into(),
        }
    }

    fn called(self, a: &AnyTensor, b: &AnyTensor) -> Outcome<AnyTensor> {
        match self {
            Combine::Add => a.add(b),
            Combine::Sub => a.sub(b),
            Combine::Mul => a.mul(b),
            Combine::Maximum => a.maximum(b),
            Combine::BitwiseAnd => a.bitwise_and(b),
            Combine::Eq => a.eq(b),
            Combine::Lt => a.lt(b),
        }
    }

    fn in_place(self, a: &mut AnyTensor, b: &AnyTensor) -> Outcome<()> {
        let done = match self {
            Combine::Add => a.add_(b),
            Combine::Sub => a.sub_(b),
            Combine::Mul => a.mul_(b),
            Combine::Maximum => a.maximum_(b),
            Combine::BitwiseAnd => a.bitwise_and_(b),
            Combine::Eq => a.eq_(b),
            Combine::Lt => a.lt_(b),
        };
        done.map(|_| ())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reduce {
    Sum,
    Amax,
}

/// A program of edits.
pub fn run(data: &[u8]) {
    run_on(super::asked(), data);
}

/// The same with tensors on a device.
pub fn run_on(device: castiron::AnyDevice, data: &[u8]) {
    super::on(device, data, program);
}

fn created(source: &mut Source) -> Result<Naive> {
    let (dtype, sizes) = (*source.choose(&DTYPES)?, sizes(source, 3, 4)?);
    let len = sizes.iter().product();
    let start: i8 = source.arbitrary()?;
    let step: i8 = source.arbitrary()?;
    let elements = (0..len).map(|at: usize| match (start, step) {
        // Some that only the widest have room for.
        (-128, step) => i128::from(i64::MIN) + i128::from(step) * at as i128,
        (start, step) => i128::from(start) + i128::from(step) * at as i128,
    });
    Ok(Naive::new(dtype, sizes, elements.collect::<Vec<_>>()))
}

type Pair = (AnyTensor, Naive);

fn program(source: &mut Source) -> Result<()> {
    let mut pool: Vec<Pair> = Vec::new();
    let mut text = String::new();
    for _ in 0..16 {
        if pool.is_empty() || source.ratio(1, 8)? {
            let naive = created(source)?;
            text += &format!("\n{} = {naive:?}", pool.len() % 4);
            kept(source, &mut pool, (naive.tensor(), naive))?;
            continue;
        }
        let (a, b, c) =
            (source.choose_index(pool.len())?, source.choose_index(pool.len())?, source.choose_index(pool.len())?);
        let kind = source.int_in_range(0..=15_u8)?;
        text += &format!("\n{kind} of {a} {b} {c}: ");
        if matches!(kind, 0..=3) {
            edit(source, &mut pool, kind, [a, b], &mut text)?;
        } else if let Some((got, want)) = result(source, [&pool[a], &pool[b], &pool[c]], kind, &mut text)? {
            match (got, want) {
                (Ok(got), Some(want)) => {
                    compare(&got, &want, &text);
                    kept(source, &mut pool, (got, want))?;
                }
                (Err(error), None) => assert!(!error.to_string().is_empty()),
                (got, want) => panic!("{pool:?}\n{text}\ngives {got:?}, the model {want:?}"),
            }
        }
        pool.iter().for_each(|(x, naive)| compare(x, naive, &text));
    }
    Ok(())
}

/// One more in the pool, or another in its place.
fn kept(source: &mut Source, pool: &mut Vec<Pair>, pair: Pair) -> Result<()> {
    if pair.1.rank() > 5 || pair.1.shown.elements.len() > MOST {
        return Ok(());
    }
    if pool.len() < 4 {
        pool.push(pair);
    } else {
        let at = source.choose_index(pool.len())?;
        pool[at] = pair;
    }
    Ok(())
}

fn compare(x: &AnyTensor, naive: &Naive, text: &str) {
    assert_eq!((x.dtype(), x.shape()), (naive.dtype, &naive.shown.sizes[..]), "{text}");
    assert_eq!(x.to_bytes().unwrap(), naive.bytes(), "{text}");
}

/// One tensor of the pool is written.
fn edit(source: &mut Source, pool: &mut [Pair], kind: u8, [a, b]: [usize; 2], text: &mut String) -> Result<()> {
    let (mut x, naive) = pool[a].clone();
    // Held by the pool too, or alone.
    if source.ratio(1, 2)? {
        pool[a].0 = AnyTensor::zeros(&[], DType::Bool).unwrap();
    }
    let other = if a == b { (x.clone(), naive.clone()) } else { pool[b].clone() };
    let (done, want) = match kind {
        0 => {
            let value = number(source)?;
            *text += &format!("fill_({value})");
            let filled = || Naive::new(naive.dtype, naive.shown.sizes.clone(), naive.elements().map(|_| value.into()));
            (x.fill_(value).map(|_| ()), fits(value, naive.dtype).then(filled))
        }
        1 => {
            *text += "copy_from";
            let copied = other.1.spread(&naive.shown.sizes).map(|copied| copied.to(naive.dtype));
            (x.copy_from(&other.0).map(|_| ()), copied)
        }
        _ => {
            let combine = *source.choose(&Combine::ALL)?;
            *text += &format!("{combine:?} in place");
            (combine.in_place(&mut x, &other.0), naive.combine_in_place(combine, &other.1))
        }
    };
    match (&done, want) {
        (Ok(()), Some(want)) => {
            // What shared storage with it is as it was.
            compare(&other.0, &other.1, text);
            pool[a] = (x, want);
        }
        (Err(_), None) => pool[a].0 = x,
        (_, want) => panic!("{:?}\n{other:?}{text}\ngives {done:?}, the model {want:?}", naive),
    }
    Ok(())
}

type Both = (Outcome<AnyTensor>, Option<Naive>);

/// A new tensor of one to three others; nothing where there would be too much of it.
fn result(source: &mut Source, [a, b, c]: [&Pair; 3], kind: u8, text: &mut String) -> Result<Option<Both>> {
    let ((x, m), (y, n), (z, o)) = (a, b, c);
    let large = |all: &[&Naive]| broadcast(all).is_some_and(|sizes| sizes.iter().product::<usize>() > MOST);
    let dim = number(source)?;
    *text += &format!("dim {dim}, ");
    Ok(Some(match kind {
        4 => (Ok(x.clone()), Some(m.clone())),
        5 => view(source, x, m, dim, text)?,
        6 | 7 => {
            if large(&[m, n]) {
                return Ok(None);
            }
            let combine = *source.choose(&Combine::ALL)?;
            *text += &format!("{combine:?}");
            (combine.called(x, y), m.combine(combine, n))
        }
        8 => {
            let (dims, keepdim, kind) =
                (numbers(source, 2)?, source.arbitrary()?, *source.choose(&[Reduce::Sum, Reduce::Amax])?);
            *text += &format!("{kind:?} {dims:?} keepdim {keepdim}");
            let got = match kind {
                Reduce::Sum => x.sum(Some(&dims), keepdim, None),
                Reduce::Amax => x.amax(Some(&dims), keepdim),
            };
            (got, m.reduce(&dims, keepdim, kind))
        }
        9 => {
            *text += "cumsum";
            let running = |row: &mut Vec<i128>| {
                let mut sum = 0;
                row.iter_mut().for_each(|x| {
                    sum += *x;
                    *x = sum;
                });
            };
            let at = axis(dim, m.rank());
            (x.cumsum(dim, None), at.map(|at| m.along(at, summed(m.dtype), running)))
        }
        10 => {
            let descending = source.arbitrary()?;
            *text += &format!("sort descending {descending}");
            let sorted = |row: &mut Vec<i128>| {
                row.sort_unstable();
                if descending {
                    row.reverse();
                }
            };
            let at = axis(dim, m.rank());
            (x.sort(dim, descending).map(|(values, _)| values), at.map(|at| m.along(at, m.dtype, sorted)))
        }
        11 => {
            *text += "cat";
            (cat(&[x.clone(), y.clone(), z.clone()], dim), Naive::cat(&[m, n, o], dim))
        }
        12 => {
            *text += "where";
            if large(&[m, n, o]) {
                return Ok(None);
            }
            (where_(x, y, z), m.chosen(n, o))
        }
        13 => {
            *text += "index_select";
            (x.index_select(dim, y), m.index_select(dim, n))
        }
        14 => {
            *text += "masked_fill";
            if large(&[m, n]) {
                return Ok(None);
            }
            (x.masked_fill(y, z), m.masked_fill(n, o))
        }
        _ => {
            *text += "matmul";
            if m.shown.elements.len() * n.shown.elements.len() > 40_000 {
                return Ok(None);
            }
            (x.matmul(y), m.matmul(n))
        }
    }))
}

fn view(source: &mut Source, x: &AnyTensor, m: &Naive, dim: i64, text: &mut String) -> Result<Both> {
    let (kind, other) = (source.int_in_range(0..=6_u8)?, number(source)?);
    *text += &format!("view {kind} {other} ");
    let (got, want) = match kind {
        0 => {
            let at = (axis(dim, m.rank()), axis(other, m.rank()));
            let mut order: Vec<usize> = (0..m.rank()).collect();
            if let (Some(a), Some(b), 1..) = (at.0, at.1, m.rank()) {
                order.swap(a, b);
            }
            (x.transpose(dim, other), at.0.and(at.1).map(|_| m.shown.permuted(&order)))
        }
        1 => {
            let step = number(source)?;
            *text += &format!("step {step}");
            (x.slice(dim, Some(other), None, step), m.shown.slice(dim, Some(other), None, step))
        }
        2 => {
            let sizes = [vec![other.rem_euclid(3)], vec![-1; m.rank()]].concat();
            (x.expand(&sizes), m.shown.expand(&sizes))
        }
        3 => {
            let turned = axis(dim, m.rank()).map(|axis| match m.rank() {
                0 => m.shown.clone(),
                _ => m.shown.picked(axis, &(0..m.shown.sizes[axis]).rev().collect::<Vec<_>>()),
            });
            (x.flip(&[dim]), turned)
        }
        4 => {
            let (size, step) = (other.unsigned_abs() as usize, number(source)?.unsigned_abs() as usize);
            *text += &format!("step {step}");
            (x.unfold(dim, size, step), m.shown.unfold(dim, size, step))
        }
        5 => (x.select(dim, other), m.shown.select(dim, other)),
        _ => (x.diagonal(other, dim, -1), m.shown.diagonal(other, dim, -1)),
    };
    Ok((got, want.map(|shown| m.seen(shown))))
}
