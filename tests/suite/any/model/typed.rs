//! Typed views and mutable views of tensors, slices and `AnyTensor`s, compared with the bytes of their memory and, for each view, a list of
//! the positions of its elements.
//!
//! Every view is read again after every write: a write to one part of a tensor must not show in any other part.

use super::views::Shown;
use super::{Outcome, Source, positions};
use arbitrary::Result;
use castiron::{
    AnyTensor, Complex, Cpu, DType, Dtype, Dyn, Element, Shape, Tensor, TensorView, TensorViewMut, axis, fused, s,
};
use std::fmt::Write as _;

type One = (Dyn,);
type Two = (Dyn, Dyn);
type Three = (Dyn, Dyn, Dyn);

/// A view of any rank below 4.
#[derive(Clone, Debug)]
enum Read<'a, E: Element> {
    R0(TensorView<'a, E, ()>),
    R1(TensorView<'a, E, One>),
    R2(TensorView<'a, E, Two>),
    R3(TensorView<'a, E, Three>),
}
/// The same, to be written.
enum Mut<'a, E: Element> {
    R0(TensorViewMut<'a, E, ()>),
    R1(TensorViewMut<'a, E, One>),
    R2(TensorViewMut<'a, E, Two>),
    R3(TensorViewMut<'a, E, Three>),
}
/// A view of any dtype.
enum AnyRead<'a> {
    U8(Read<'a, u8>),
    I32(Read<'a, i32>),
    F32(Read<'a, f32>),
    Bool(Read<'a, bool>),
    I64(Read<'a, i64>),
    C64(Read<'a, Complex<f32>>),
}

/// The same for each rank.
macro_rules! each {
    ($of:ident $view:expr, |$x:ident| $value:expr) => {
        match $view {
            $of::R0($x) => $value,
            $of::R1($x) => $value,
            $of::R2($x) => $value,
            $of::R3($x) => $value,
        }
    };
}
/// The same for each rank, wrapped as one of `$to`.
macro_rules! rewrapped {
    ($of:ident $view:expr => $to:ident, |$x:ident| $value:expr) => {
        match $view {
            $of::R0($x) => $to::R0($value),
            $of::R1($x) => $to::R1($value),
            $of::R2($x) => $to::R2($value),
            $of::R3($x) => $to::R3($value),
        }
    };
}
/// An axis of a view, and the variant of the result, which has this many axes fewer.
macro_rules! along {
    (0 $of:ident $view:expr, $axis:expr => $to:ident, |$x:ident, $at:ident, $wrap:ident| $value:expr) => {
        along!(@ $of $view, $axis, |$x, $at, $wrap| $value, [$to::R1] [$to::R2] [$to::R3])
    };
    (1 $of:ident $view:expr, $axis:expr => $to:ident, |$x:ident, $at:ident, $wrap:ident| $value:expr) => {
        along!(@ $of $view, $axis, |$x, $at, $wrap| $value, [$to::R0] [$to::R1] [$to::R2])
    };
    (@ $of:ident $view:expr, $axis:expr, |$x:ident, $at:ident, $wrap:ident| $value:expr, [$r1:path] [$r2:path] [$r3:path]) => {
        match ($view, $axis) {
            ($of::R1($x), 0) => along!(@@ axis![0], $at, $wrap, $r1, $value),
            ($of::R2($x), 0) => along!(@@ axis![0], $at, $wrap, $r2, $value),
            ($of::R2($x), 1) => along!(@@ axis![1], $at, $wrap, $r2, $value),
            ($of::R3($x), 0) => along!(@@ axis![0], $at, $wrap, $r3, $value),
            ($of::R3($x), 1) => along!(@@ axis![1], $at, $wrap, $r3, $value),
            ($of::R3($x), 2) => along!(@@ axis![2], $at, $wrap, $r3, $value),
            _ => None,
        }
    };
    (@@ $named:expr, $at:ident, $wrap:ident, $r:path, $value:expr) => {{
        let ($at, $wrap) = ($named, $r);
        Some($value)
    }};
}

/// The operations on elements of one dtype.
trait Cell: Dtype {
    fn bytes(self) -> Vec<u8>;
    fn of_bytes(bytes: &[u8]) -> Self;
    /// `a + b`.
    fn plus(self, other: Self) -> Self;
    /// Equal, or both not a number.
    fn is(self, other: Self) -> bool {
        self.bytes() == other.bytes()
    }
    /// A number as an element.
    fn number(value: i64) -> Self {
        Self::from_i64(value)
    }
    /// A view of the parts of complex elements, of pairs as complex ones, of bytes as another dtype.
    fn seen_as<'a>(view: &Read<'a, Self>, kind: usize) -> Option<Outcome<AnyRead<'a>>>;
    /// Edits the parts of complex elements, or pairs as complex ones.
    fn edit_parts(_: &mut Machine, _: &mut Mut<'_, Self>, _: &Shown, _: &mut Vec<u8>, _: &Scope) -> Result<()> {
        Ok(())
    }
    /// An operation in place of one operand.
    fn in_place(view: &mut Mut<'_, Self>);
    /// The same of an element.
    fn in_place_of(self) -> Self;
}

/// Same-size and narrowing or widening views of bytes.
macro_rules! seen_as {
    ($view:expr, $kind:expr, [$($others:ident = $other:ty),*], [$($narrow:ident = $narrower:ty),*]) => {{
        let mut kind = $kind;
        $(
            // Elements of the same size: any rank.
            if kind == 0 {
                return Some((|| Ok(AnyRead::$others(match $view {
                    Read::R0(x) => Read::R0(x.try_view_dtype::<$other>()?),
                    Read::R1(x) => Read::R1(x.try_view_dtype::<$other>()?),
                    Read::R2(x) => Read::R2(x.try_view_dtype::<$other>()?),
                    Read::R3(x) => Read::R3(x.try_view_dtype::<$other>()?),
                })))());
            }
            kind -= 1;
        )*
        $(
            if kind == 0 {
                return Some((|| Ok(AnyRead::$narrow(match $view {
                    Read::R1(x) => Read::R1(x.try_view_dtype::<$narrower>()?),
                    Read::R2(x) => Read::R2(x.try_view_dtype::<$narrower>()?),
                    Read::R3(x) => Read::R3(x.try_view_dtype::<$narrower>()?),
                    Read::R0(x) => return x.try_reshape_sized::<One>([1])?.try_view_dtype::<$narrower>().map(|x| AnyRead::$narrow(Read::R1(x))),
                })))());
            }
            kind -= 1;
        )*
        let _ = kind;
    }};
}

mod cells;
mod reading;
mod writing;

use reading::*;
use writing::*;

trait ArbitraryOf: Sized {
    fn arbitrary_of(source: &mut Source) -> Result<Self>;
}
impl ArbitraryOf for bool {
    fn arbitrary_of(source: &mut Source) -> Result<bool> {
        source.arbitrary()
    }
}

/// What of its storage a view may show through `as_strided` and its like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ground {
    /// All of the memory, in which its places are.
    Whole,
    /// Its own elements alone, as others are written meanwhile.
    Own,
    /// A storage made on the way.
    Other,
}

/// Reads a view once more.
trait Witness {
    /// Sizes and elements.
    fn look(&self) -> (Vec<usize>, Vec<u8>);
}
impl<E: Cell, S: Shape> Witness for Tensor<E, S> {
    fn look(&self) -> (Vec<usize>, Vec<u8>) {
        let elements: Vec<E> = self.iter().copied().collect();
        if let Some(slice) = self.as_slice() {
            assert!(slice.iter().zip(&elements).all(|(a, b)| a.bytes() == b.bytes()));
        }
        (self.shape().as_ref().to_vec(), elements.into_iter().flat_map(E::bytes).collect())
    }
}
impl<E: Cell> Witness for Read<'_, E> {
    fn look(&self) -> (Vec<usize>, Vec<u8>) {
        each!(Read self, |x| x.look())
    }
}

/// A view that is there while others are written, and what it shows.
struct Live<'a> {
    view: Box<dyn Witness + 'a>,
    shows: (Vec<usize>, Vec<u8>),
}
impl<'a> Live<'a> {
    fn new(view: impl Witness + 'a) -> Self {
        let shows = view.look();
        Live { view: Box::new(view), shows }
    }
}

/// All views that are there.
struct Scope<'a> {
    live: &'a [Live<'a>],
    outer: Option<&'a Scope<'a>>,
}
impl Scope<'_> {
    fn check(&self, m: &Machine) {
        for live in self.live {
            assert_eq!(live.view.look(), live.shows, "a view changed by a write to others: {}", m.text);
        }
        if let Some(outer) = self.outer {
            outer.check(m);
        }
    }
}

/// Where the program comes from, how long it may go on, and what it has done.
struct Machine<'s, 'd> {
    source: &'s mut Source<'d>,
    left: usize,
    text: String,
    /// Tensors that outlive the memory they are copies of.
    kept: Vec<Live<'static>>,
}

impl Machine<'_, '_> {
    fn step(&mut self) -> bool {
        let goes_on = self.left > 0 && !self.source.is_empty();
        self.left = self.left.saturating_sub(1);
        goes_on
    }
    fn say(&mut self, what: impl core::fmt::Display) {
        write!(self.text, " | {what}").unwrap();
    }
    fn below(&mut self, end: usize) -> Result<usize> {
        self.source.int_in_range(0..=end.max(1) - 1)
    }
    /// 0 and 1 most of the time, so that bytes are bools.
    fn number(&mut self) -> Result<i64> {
        Ok([0, 1, 0, 1, 1, 2, 7, 100][self.below(8)?])
    }
    fn elements<E: Cell>(&mut self, len: usize) -> Result<Vec<E>> {
        (0..len).map(|_| Ok(E::number(self.number()?))).collect()
    }
}

/// Bytes of the elements at places.
fn shown_bytes<E: Cell>(shown: &Shown, memory: &[u8]) -> Vec<u8> {
    shown.elements.iter().flat_map(|&place| memory[place as usize..][..size_of::<E>()].to_vec()).collect()
}
fn elements_of<E: Cell>(bytes: &[u8]) -> Vec<E> {
    bytes.chunks_exact(size_of::<E>()).map(E::of_bytes).collect()
}

fn check<E: Cell>(m: &Machine, view: &impl Witness, shown: &Shown, memory: &[u8]) {
    let (sizes, bytes) = view.look();
    assert_eq!(sizes, shown.sizes, "{}", m.text);
    assert_eq!(bytes, shown_bytes::<E>(shown, memory), "{}", m.text);
    assert!(E::DTYPE != DType::Bool || bytes.iter().all(|&byte| byte <= 1), "no bool: {}", m.text);
}

/// For a rank it writes the body with `S` and the sizes as an array of it.
macro_rules! ranked {
    ($sizes:expr, |$array:ident: $s:ident| $of:ident $value:expr) => {
        match $sizes.len() {
            0 => {
                type $s = ();
                let $array: [usize; 0] = [];
                $of::R0($value)
            }
            1 => {
                type $s = One;
                let $array: [usize; 1] = array(&$sizes);
                $of::R1($value)
            }
            2 => {
                type $s = Two;
                let $array: [usize; 2] = array(&$sizes);
                $of::R2($value)
            }
            _ => {
                type $s = Three;
                let $array: [usize; 3] = array(&$sizes);
                $of::R3($value)
            }
        }
    };
}

/// An owned tensor of any rank.
enum Owned<E: Element> {
    R0(Tensor<E, ()>),
    R1(Tensor<E, One>),
    R2(Tensor<E, Two>),
    R3(Tensor<E, Three>),
}

fn bytes_of<E: Cell>(elements: &[E]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.bytes()).collect()
}

/// A program that begins with a tensor, or memory, of one dtype.
fn root<E: Cell>(m: &mut Machine) -> Result<()> {
    let width = size_of::<E>() as i64;
    let rank = m.below(4)?;
    let sizes: Vec<usize> = (0..rank).map(|_| Ok([0, 1, 2, 3, 4, 4, 2, 2][m.below(8)?])).collect::<Result<_>>()?;
    let numel: usize = sizes.iter().product();
    let kind = m.below(6)?;
    m.say(format_args!("{} {sizes:?} root {kind}", E::DTYPE));
    let row_major = Shown { sizes: sizes.clone(), elements: (0..numel as i64).map(|at| at * width).collect() };
    let nothing = Scope { live: &[], outer: None };
    match kind {
        0 | 1 => {
            // A tensor; its clones and their views stay unchanged while it is written.
            let elements = m.elements::<E>(numel)?;
            let mut memory = bytes_of(&elements);
            let mut x = ranked!(sizes, |sizes: S| Owned Tensor::<E, S>::from_vec_sized(elements.clone(), sizes));
            for _ in 0..2 {
                let clone = rewrapped!(Owned & x => Owned, |x| x.clone());
                let mut live = vec![];
                if kind == 0 {
                    m.say("clone");
                    let view = rewrapped!(Owned & clone => Read, |x| x.as_view());
                    chain(m, view, &row_major, &memory, Ground::Whole, &mut live)?;
                }
                let scope = Scope { live: &live, outer: Some(&nothing) };
                let mut view = rewrapped!(Owned & mut x => Mut, |x| x.view_mut());
                edit(m, &mut view, &row_major, &mut memory, &[], &scope)?;
                let view = rewrapped!(Owned & x => Read, |x| x.as_view());
                check::<E>(m, &view, &row_major, &memory);
            }
        }
        2 | 3 => {
            // Memory of somebody else, from which elements are left out.
            let step = if kind == 2 { 1 } else { m.below(3)? + 1 };
            let order: Vec<usize> = if kind == 3 && bool::arbitrary_of(m.source)? {
                (0..rank).collect()
            } else {
                (0..rank).rev().collect()
            };
            let (mut strides, mut next) = (vec![0; rank], step);
            for axis in order {
                strides[axis] = next;
                next *= sizes[axis].max(1);
            }
            let more = m.below(3)?;
            let mut elements = m.elements::<E>(next + more)?;
            let mut memory = bytes_of(&elements);
            let places = super::positions(&sizes).into_iter();
            let places =
                places.map(|at| at.iter().zip(&strides).map(|(at, stride)| at * stride).sum::<usize>() as i64 * width);
            let shown = Shown { sizes: sizes.clone(), elements: places.collect() };
            if bool::arbitrary_of(m.source)? {
                m.say("read only");
                let view = ranked!(sizes, |sizes: S| Read TensorView::<E, S>::from_slice_strided(&elements, sizes, array(&strides)));
                let mut live = vec![];
                chain(m, view, &shown, &memory, Ground::Whole, &mut live)?;
                Scope { live: &live, outer: None }.check(m);
            } else {
                let mut view = ranked!(sizes, |sizes: S| Mut
                    TensorViewMut::<E, S>::from_slice_mut_strided(&mut elements, sizes, array(&strides)));
                edit(m, &mut view, &shown, &mut memory, &[], &nothing)?;
            }
            assert_eq!(bytes_of(&elements), memory, "{}", m.text);
        }
        _ => {
            // A tensor of the run-time world, seen as a typed one.
            let elements = m.elements::<E>(numel)?;
            let mut memory = bytes_of(&elements);
            let mut x = AnyTensor::from_bytes(&memory, E::DTYPE, &sizes).unwrap();
            let before = (x.clone(), memory.clone());
            if kind == 4 || rank == 0 {
                let mut view = ranked!(sizes, |_sizes: S| Mut x.typed_mut::<E, S, Cpu>().unwrap());
                edit(m, &mut view, &row_major, &mut memory, &[], &nothing)?;
            } else {
                let middle = m.below(sizes[0] + 1)?;
                let shown = [
                    row_major.narrow(0, 0, middle).unwrap(),
                    row_major.narrow(0, middle as i64, sizes[0] - middle).unwrap(),
                ];
                let mut both = x.split_at_mut(0, middle).unwrap();
                let typed =
                    both.iter_mut().map(|part| ranked!(sizes, |_sizes: S| Mut part.typed_mut::<E, S, Cpu>().unwrap()));
                edit_all(m, typed.collect(), &shown, &mut memory, &nothing)?;
            }
            assert_eq!(x.to_bytes().unwrap(), memory, "{}", m.text);
            assert_eq!(before.0.to_bytes().unwrap(), before.1, "{}", m.text);
        }
    }
    Ok(())
}

/// A program of typed views.
pub fn run(data: &[u8]) {
    let mut source = Source::new(data);
    let mut m = Machine { source: &mut source, left: 60, text: String::new(), kept: vec![] };
    // Where the bytes end, the program does.
    let _ = program(&mut m);
    for kept in &m.kept {
        assert_eq!(kept.view.look(), kept.shows, "a copy changed: {}", m.text);
    }
}

fn program(m: &mut Machine) -> Result<()> {
    for _ in 0..3 {
        if m.source.is_empty() {
            break;
        }
        match m.below(6)? {
            0 => root::<u8>(m)?,
            1 => root::<i32>(m)?,
            2 => root::<f32>(m)?,
            3 => root::<bool>(m)?,
            4 => root::<i64>(m)?,
            _ => root::<Complex<f32>>(m)?,
        }
    }
    Ok(())
}
