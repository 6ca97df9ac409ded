//! Typed views and mutable views of tensors, slices and `AnyTensor`s, beside the bytes of their memory and, for each view, a list of
//! the places of its elements in it.
//!
//! What a view shows is read again after every write: a write to one part of a tensor is seen in no other part.

use super::views::Shown;
use super::{Outcome, Source};
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
/// An axis of a view, and the variant of the result, which has so many axes less.
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

/// What is done to elements of one dtype.
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

/// The bytes of a number.
macro_rules! of_le_bytes {
    () => {
        fn bytes(self) -> Vec<u8> {
            self.to_ne_bytes().to_vec()
        }
        fn of_bytes(bytes: &[u8]) -> Self {
            Self::from_ne_bytes(bytes.try_into().unwrap())
        }
    };
}

impl Cell for u8 {
    of_le_bytes!();
    fn plus(self, other: u8) -> u8 {
        self.wrapping_add(other)
    }
    fn seen_as<'a>(view: &Read<'a, u8>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        seen_as!(view, kind % 6, [Bool = bool, Bool = bool], [I32 = i32, F32 = f32, I64 = i64, C64 = Complex<f32>]);
        None
    }
    fn in_place(view: &mut Mut<'_, u8>) {
        each!(Mut view, |x| { x.square_(); });
    }
    fn in_place_of(self) -> u8 {
        self.wrapping_mul(self)
    }
}
impl Cell for bool {
    fn bytes(self) -> Vec<u8> {
        vec![u8::from(self)]
    }
    fn of_bytes(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
    fn plus(self, other: bool) -> bool {
        self | other
    }
    fn seen_as<'a>(view: &Read<'a, bool>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        seen_as!(view, kind % 3, [U8 = u8], [I32 = i32, I64 = i64]);
        None
    }
    fn in_place(view: &mut Mut<'_, bool>) {
        each!(Mut view, |x| { x.logical_not_(); });
    }
    fn in_place_of(self) -> bool {
        !self
    }
}
impl Cell for i32 {
    of_le_bytes!();
    fn plus(self, other: i32) -> i32 {
        self.wrapping_add(other)
    }
    fn seen_as<'a>(view: &Read<'a, i32>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        seen_as!(view, kind % 5, [F32 = f32], [U8 = u8, Bool = bool, I64 = i64, C64 = Complex<f32>]);
        None
    }
    fn in_place(view: &mut Mut<'_, i32>) {
        each!(Mut view, |x| { x.neg_(); });
    }
    fn in_place_of(self) -> i32 {
        self.wrapping_neg()
    }
}
impl Cell for i64 {
    of_le_bytes!();
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
    fn seen_as<'a>(view: &Read<'a, i64>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        seen_as!(view, kind % 5, [C64 = Complex<f32>], [U8 = u8, Bool = bool, I32 = i32, F32 = f32]);
        None
    }
    fn in_place(view: &mut Mut<'_, i64>) {
        each!(Mut view, |x| { x.neg_(); });
    }
    fn in_place_of(self) -> i64 {
        self.wrapping_neg()
    }
}
impl Cell for f32 {
    of_le_bytes!();
    fn plus(self, other: f32) -> f32 {
        self + other
    }
    fn is(self, other: f32) -> bool {
        self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
    }
    fn seen_as<'a>(view: &Read<'a, f32>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        let kind = kind % 6;
        seen_as!(view, kind, [I32 = i32], [U8 = u8, Bool = bool, I64 = i64, C64 = Complex<f32>]);
        // Pairs.
        Some((|| {
            Ok(AnyRead::C64(match view {
                Read::R0(_) => return Ok(AnyRead::F32(view.clone())),
                Read::R1(x) => Read::R0(x.try_view_as_complex()?),
                Read::R2(x) => Read::R1(x.try_view_as_complex()?),
                Read::R3(x) => Read::R2(x.try_view_as_complex()?),
            }))
        })())
    }
    fn edit_parts(
        m: &mut Machine,
        view: &mut Mut<'_, f32>,
        shown: &Shown,
        memory: &mut Vec<u8>,
        scope: &Scope,
    ) -> Result<()> {
        let pairs = match view {
            Mut::R0(_) => return Ok(()),
            Mut::R1(x) => x.try_view_as_complex_mut().map(Mut::R0),
            Mut::R2(x) => x.try_view_as_complex_mut().map(Mut::R1),
            Mut::R3(x) => x.try_view_as_complex_mut().map(Mut::R2),
        };
        let Ok(mut pairs) = pairs else { return Ok(()) };
        let (_, sizes) = shown.sizes.split_last().unwrap();
        let shown = Shown { sizes: sizes.to_vec(), elements: shown.elements.iter().copied().step_by(2).collect() };
        m.say("view_as_complex_mut");
        edit(m, &mut pairs, &shown, memory, &[], scope)
    }
    fn in_place(view: &mut Mut<'_, f32>) {
        each!(Mut view, |x| { x.sqrt_(); });
    }
    fn in_place_of(self) -> f32 {
        self.sqrt()
    }
}
impl Cell for Complex<f32> {
    fn bytes(self) -> Vec<u8> {
        [self.re.to_ne_bytes(), self.im.to_ne_bytes()].concat()
    }
    fn of_bytes(bytes: &[u8]) -> Complex<f32> {
        Complex { re: f32::of_bytes(&bytes[..4]), im: f32::of_bytes(&bytes[4..]) }
    }
    fn plus(self, other: Complex<f32>) -> Complex<f32> {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
    fn is(self, other: Complex<f32>) -> bool {
        // (A sum is `a + 1 * b` with a complex 1: zeros lose their sign, and what is no number spreads to the other part.)
        let odd = |x: Complex<f32>| x.re.is_nan() || x.im.is_nan();
        self == other || (odd(self) && odd(other))
    }
    fn seen_as<'a>(view: &Read<'a, Complex<f32>>, kind: usize) -> Option<Outcome<AnyRead<'a>>> {
        let kind = kind % 8;
        seen_as!(view, kind, [I64 = i64], [U8 = u8, Bool = bool, I32 = i32, F32 = f32]);
        Some((|| {
            Ok(AnyRead::F32(match (kind, view) {
                (5, Read::R0(x)) => Read::R1(x.try_view_as_real()?.try_view_sized(x.try_view_as_real()?.shape())?),
                (5, Read::R1(x)) => Read::R2(x.try_view_as_real()?.try_view_sized(x.try_view_as_real()?.shape())?),
                (5, Read::R2(x)) => Read::R3(x.try_view_as_real()?.try_view_sized(x.try_view_as_real()?.shape())?),
                (6, view) => rewrapped!(Read view => Read, |x| x.try_imag()?),
                (_, view) => rewrapped!(Read view => Read, |x| x.try_real()?),
            }))
        })())
    }
    fn edit_parts(
        m: &mut Machine,
        view: &mut Mut<'_, Complex<f32>>,
        shown: &Shown,
        memory: &mut Vec<u8>,
        scope: &Scope,
    ) -> Result<()> {
        let imaginary = bool::arbitrary_of(m.source)?;
        let mut part = rewrapped!(Mut view => Mut, |x| if imaginary { x.imag_mut() } else { x.real_mut() });
        let elements = shown.elements.iter().map(|place| place + if imaginary { 4 } else { 0 }).collect();
        let shown = Shown { sizes: shown.sizes.clone(), elements };
        m.say(if imaginary { "imag_mut" } else { "real_mut" });
        edit(m, &mut part, &shown, memory, &[], scope)
    }
    fn in_place(view: &mut Mut<'_, Complex<f32>>) {
        each!(Mut view, |x| { x.neg_(); });
    }
    fn in_place_of(self) -> Complex<f32> {
        Complex { re: -self.re, im: -self.im }
    }
}

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

impl<'a, E: Cell> Read<'a, E> {
    fn rank(&self) -> usize {
        each!(Read self, |x| x.rank())
    }
    fn stride(&self) -> Vec<usize> {
        each!(Read self, |x| x.stride().as_ref().to_vec())
    }
    fn offset(&self) -> usize {
        each!(Read self, |x| x.storage_offset())
    }

    /// Views of the same dtype: what is got, what should be, and which ground it stands on.
    #[allow(clippy::type_complexity)]
    fn next(
        &self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        ground: Ground,
    ) -> Result<Option<(Outcome<Read<'a, E>>, Option<Shown>, Ground)>> {
        let rank = self.rank();
        let at = m.below(rank)?;
        let size = shown.sizes.get(at).copied().unwrap_or(0);
        let kind = m.below(14)?;
        m.say(format_args!("{kind}@{at}"));
        let (got, want) = match kind {
            0 => {
                let got = match self {
                    Read::R0(x) => Read::R0(x.t()),
                    Read::R1(x) => Read::R1(x.t()),
                    Read::R2(x) => Read::R2(x.t()),
                    Read::R3(x) => Read::R3(x.transpose(axis![0], axis![2])),
                };
                (Some(Ok(got)), Some(shown.permuted(&(0..rank).rev().collect::<Vec<_>>())))
            }
            1 => {
                let index = m.below(size + 1)?;
                let got = along!(1 Read self, at => Read, |x, at, wrap| x.try_select(at, index).map(wrap));
                (got, shown.select(at as i64, index as i64).filter(|_| index < size))
            }
            2 => {
                let (start, len) = (m.below(size + 1)?, m.below(size + 1)?);
                let got = along!(0 Read self, at => Read, |x, at, wrap| x.try_narrow(at, start, len).map(wrap));
                (got, shown.narrow(at as i64, start as i64, len))
            }
            3 => {
                let (start, end, step) =
                    (m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1);
                let got = match self {
                    Read::R1(x) => Some(x.try_slice(s![start..end;step]).map(Read::R1)),
                    Read::R2(x) if at == 0 => Some(x.try_slice(s![start..end;step]).map(Read::R2)),
                    Read::R2(x) => Some(x.try_slice(s![.., start..end;step]).map(Read::R2)),
                    Read::R3(x) if at == 1 => Some(x.try_slice(s![.., start..end;step, ..]).map(Read::R3)),
                    _ => None,
                };
                (got, shown.slice(at as i64, Some(start as i64), Some(end as i64), step as i64))
            }
            4 => match self {
                Read::R2(x) => (Some(Ok(Read::R2(x.permute(axis![1, 0])))), Some(shown.permuted(&[1, 0]))),
                Read::R3(x) => (Some(Ok(Read::R3(x.permute(axis![2, 0, 1])))), Some(shown.permuted(&[2, 0, 1]))),
                _ => (None, None),
            },
            5 => {
                let offset = m.below(4)? as isize - 2;
                let got = match self {
                    Read::R2(x) => Some(x.try_diagonal_at(axis![0, 1], offset).map(Read::R1)),
                    Read::R3(x) => Some(x.try_diagonal_at(axis![0, 2], offset).map(Read::R2)),
                    _ => None,
                };
                (got, shown.diagonal(offset as i64, 0, -1).filter(|_| rank > 1))
            }
            6 => {
                // A new axis, whose size is known in the type.
                let mut sizes = shown.sizes.clone();
                sizes.insert(0, 1);
                let got = match self {
                    Read::R0(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R1),
                    Read::R1(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R2),
                    Read::R2(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R3),
                    Read::R3(_) => return Ok(None),
                };
                (Some(got), Some(Shown { sizes, elements: shown.elements.clone() }))
            }
            7 => {
                let times = m.below(4)?;
                let mut wanted: Vec<i64> = shown.sizes.iter().map(|&size| size as i64).collect();
                wanted.insert(0, times as i64);
                let sizes: Vec<usize> = wanted.iter().map(|&size| size as usize).collect();
                let got = match self {
                    Read::R0(x) => x.try_expand_sized(array(&sizes)).map(Read::R1),
                    Read::R1(x) => x.try_expand_sized(array(&sizes)).map(Read::R2),
                    Read::R2(x) => x.try_expand_sized(array(&sizes)).map(Read::R3),
                    Read::R3(_) => return Ok(None),
                };
                (Some(got), shown.expand(&wanted))
            }
            8 => {
                let (size, step) = (m.below(size + 2)?, m.below(3)?);
                let want = shown.unfold(at as i64, size, step).filter(|_| rank == 1 || rank == 2);
                let got = match self {
                    Read::R1(x) => Some(x.try_unfold_sized(axis![0], size, step).map(Read::R2)),
                    Read::R2(x) if at == 0 => Some(x.try_unfold_sized(axis![0], size, step).map(Read::R3)),
                    Read::R2(x) => Some(x.try_unfold_sized(axis![1], size, step).map(Read::R3)),
                    _ => None,
                };
                (got, want)
            }
            9 | 10 => {
                // Under other sizes: a view, or a copy.
                let numel = shown.elements.len();
                let rows = [1, 2, 3, numel.max(1)][m.below(4)?];
                let sizes = if numel.is_multiple_of(rows) { vec![rows, numel / rows] } else { vec![numel] };
                let want = Some(Shown { sizes: sizes.clone(), elements: shown.elements.clone() });
                let got = match (kind, &sizes[..]) {
                    (9, &[a, b]) => each!(Read self, |x| x.try_view_sized::<Two>([a, b])).map(Read::R2),
                    (9, _) => each!(Read self, |x| x.try_view_sized::<One>([numel])).map(Read::R1),
                    (_, &[a, b]) => each!(Read self, |x| x.try_reshape_sized::<Two>([a, b])).map(Read::R2),
                    _ => each!(Read self, |x| x.try_reshape_sized::<One>([numel])).map(Read::R1),
                };
                return Ok(match got {
                    // Strides may not allow a view.
                    Err(_) if kind == 9 => None,
                    got => Some((got, want, if kind == 9 { ground } else { Ground::Other })),
                });
            }
            11 => {
                let parts = m.below(3)? + 1;
                let got = along!(0 Read self, at => Read, |x, at, wrap| {
                    x.try_tensor_split(at, parts).map(|all| all.into_iter().map(wrap).collect::<Vec<_>>())
                });
                let (Some(Ok(got)), Some(want)) = (got, shown.tensor_split(parts, at as i64)) else { return Ok(None) };
                let chosen = m.below(parts)?;
                (Some(Ok(got[chosen].clone())), Some(want[chosen].clone()))
            }
            _ => return self.restrided(m, shown, memory, ground),
        };
        Ok(got.map(|got| (got, want, ground)))
    }

    /// `as_strided`.
    #[allow(clippy::type_complexity)]
    fn restrided(
        &self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        ground: Ground,
    ) -> Result<Option<(Outcome<Read<'a, E>>, Option<Shown>, Ground)>> {
        let (rows, columns) = (m.below(4)?, m.below(6)?);
        let (down, right) = (m.below(4)?, m.below(3)?);
        let offset = if bool::arbitrary_of(m.source)? { Some(m.below(9)?) } else { None };
        m.say(format_args!("as_strided [{rows}, {columns}] [{down}, {right}] {offset:?}"));
        let got =
            each!(Read self, |x| x.try_as_strided_sized::<Two>([rows, columns], [down, right], offset)).map(Read::R2);
        let width = size_of::<E>();
        let steps: Vec<usize> =
            (0..rows).flat_map(|row| (0..columns).map(move |column| row * down + column * right)).collect();
        let first = shown.elements.first().copied();
        match ground {
            Ground::Whole => {
                let start = offset.unwrap_or(self.offset());
                let inside = steps.iter().all(|step| (start + step + 1) * width <= memory.len());
                let elements = steps.iter().map(|step| ((start + step) * width) as i64).collect();
                let want = Shown { sizes: vec![rows, columns], elements };
                // Bytes that are no bools are not shown as such.
                let are_elements =
                    || E::DTYPE != DType::Bool || want.elements.iter().all(|&place| memory[place as usize] <= 1);
                let fits = inside && are_elements();
                Ok(Some((got, fits.then_some(want), ground)))
            }
            Ground::Own => {
                // Its own elements at the same distances from the first, and nothing else: zeros lie between.
                let Ok(got) = got else { return Ok(None) };
                let (sizes, bytes) = got.look();
                assert_eq!(sizes, [rows, columns], "{}", m.text);
                let start = offset.unwrap_or(0);
                for (at, step) in steps.iter().enumerate() {
                    let place = first.map(|first| first + ((start + step) * width) as i64);
                    let own = place.filter(|place| shown.elements.contains(place)).map(|place| place as usize);
                    let want = own.map_or(vec![0; width], |own| memory[own..own + width].to_vec());
                    assert_eq!(bytes[at * width..][..width], want, "element {at} of `as_strided`: {}", m.text);
                }
                m.left = m.left.saturating_sub(1);
                // What it shows stays, whatever others write: it is looked at as a view of its own.
                Ok(Some((Ok(got), None, Ground::Other)))
            }
            Ground::Other => Ok(None),
        }
    }
}

/// A tensor of the shape of another.
fn alike<E: Cell, F: Cell, S: Shape>(x: &Tensor<E, S>, elements: &[F]) -> Tensor<F, S> {
    Tensor::from_vec_sized(elements.to_vec(), x.shape())
}

fn array<const N: usize>(sizes: &[usize]) -> [usize; N] {
    sizes.try_into().unwrap()
}

/// A chain of views, all of which stay.
fn chain<'a, E: Cell>(
    m: &mut Machine,
    view: Read<'a, E>,
    shown: &Shown,
    memory: &[u8],
    ground: Ground,
    live: &mut Vec<Live<'a>>,
) -> Result<()> {
    check::<E>(m, &view, shown, memory);
    live.push(Live::new(view.clone()));
    let (mut view, mut shown, mut ground) = (view, shown.clone(), ground);
    for _ in 0..4 {
        if !m.step() {
            return Ok(());
        }
        match m.below(10)? {
            0 => {
                let kind = m.below(12)?;
                m.say(format_args!("seen as {kind}"));
                let Some(got) = E::seen_as(&view, kind) else { continue };
                match got {
                    Ok(AnyRead::U8(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::I32(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::F32(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::Bool(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::I64(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::C64(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Err(error) => {
                        // Which bytes are bools depends on the view's own, where others are written.
                        let bytes = shown_bytes::<E>(&shown, memory);
                        let refused = error.to_string().contains("0 or 1");
                        let own = ground == Ground::Own && bytes.iter().all(|&byte| byte <= 1);
                        assert!(!(refused && own), "{error} of a view of {bytes:?}: {}", m.text);
                    }
                }
            }
            1 => {
                // Copies, which outlive the memory.
                let copy = bool::arbitrary_of(m.source)?;
                m.say(format_args!("a copy, to_tensor {copy}"));
                let kept = match &view {
                    Read::R0(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R1(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R2(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R3(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                };
                m.kept.push(kept);
            }
            2 => {
                // Operands that overlap.
                m.say("a + a, lazily");
                let elements = elements_of::<E>(&shown_bytes::<E>(&shown, memory));
                let got: Vec<E> = each!(Read & view, |x| {
                    let x = &**x;
                    fused!(x + x).to_vec()
                });
                let want: Vec<E> = elements.iter().map(|&x| x.plus(x)).collect();
                assert!(
                    got.len() == want.len() && got.iter().zip(&want).all(|(a, b)| a.is(*b)),
                    "{got:?} {want:?} {}",
                    m.text
                );
                if let Read::R2(x) = &view {
                    let [rows, columns] = x.shape();
                    if rows == columns {
                        let (x, t) = (&**x, &*x.t());
                        let got: Vec<E> = fused!(x + t).to_vec();
                        let turned = elements_of::<E>(&shown_bytes::<E>(&shown.permuted(&[1, 0]), memory));
                        let all = elements.iter().zip(turned).map(|(a, b)| a.plus(b));
                        assert!(got.iter().zip(all).all(|(a, b)| a.is(b)), "{}", m.text);
                    }
                }
            }
            _ => {
                let Some((got, want, on)) = view.next(m, &shown, memory, ground)? else { continue };
                match (got, want) {
                    (Ok(got), Some(want)) => {
                        check::<E>(m, &got, &want, memory);
                        if matches!(on, Ground::Whole) && !want.elements.is_empty() {
                            assert_eq!((got.offset() * size_of::<E>()) as i64, want.elements[0], "{}", m.text);
                        }
                        live.push(Live::new(got.clone()));
                        if want.elements.len() > 200 {
                            return Ok(());
                        }
                        (view, shown, ground) = (got, want, on);
                    }
                    (Ok(got), None) if on == Ground::Other => live.push(Live::new(got)),
                    (Err(_), None) => {}
                    (got, want) => panic!("{}: got {got:?}, the model {want:?}", m.text),
                }
            }
        }
    }
    Ok(())
}

/// Goes on with a view of the same bytes as another dtype.
fn recast<'a, E: Cell, F: Cell>(
    m: &mut Machine,
    from: &Read<'a, E>,
    shown: &Shown,
    to: Read<'a, F>,
    memory: &[u8],
    ground: Ground,
    live: &mut Vec<Live<'a>>,
) -> Result<()> {
    let (sizes, bytes) = to.look();
    // Where its elements are follows from sizes, strides and where the first is.
    let base = shown.elements.first().map_or(0, |&place| place as usize);
    let shift = (to.offset() * size_of::<F>()).wrapping_sub(from.offset() * size_of::<E>());
    let strides = to.stride();
    let base = base.wrapping_add(shift);
    let all: Vec<i64> = super::positions(&sizes)
        .iter()
        .map(|position| {
            let steps: usize = position.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
            base.wrapping_add(steps * size_of::<F>()) as i64
        })
        .collect();
    let next = Shown { sizes, elements: all };
    m.say(format_args!("{} as {}", E::DTYPE, F::DTYPE));
    if ground == Ground::Other {
        live.push(Live::new(to));
        return Ok(());
    }
    // The bytes are those of the elements, or of their parts.
    let own: Vec<i64> = shown.elements.iter().flat_map(|&place| place..place + size_of::<E>() as i64).collect();
    for &place in &next.elements {
        assert!(
            (place..place + size_of::<F>() as i64).all(|byte| own.contains(&byte)),
            "beyond its own bytes: {}",
            m.text
        );
    }
    assert!(F::DTYPE != DType::Bool || bytes.iter().all(|&byte| byte <= 1), "no bool: {}", m.text);
    chain(m, to, &next, memory, ground, live)
}

impl<'a, E: Cell> Mut<'a, E> {
    fn as_view(&self) -> Read<'_, E> {
        rewrapped!(Mut self => Read, |x| x.as_view())
    }
    fn into_view(self) -> Read<'a, E> {
        rewrapped!(Mut self => Read, |x| x.into_view())
    }

    /// A part of the view, to be written.
    fn part(&mut self, m: &mut Machine, shown: &Shown) -> Result<Option<(Outcome<Mut<'_, E>>, Option<Shown>)>> {
        let rank = shown.rank();
        let at = m.below(rank)?;
        let size = shown.sizes.get(at).copied().unwrap_or(0);
        let kind = m.below(8)?;
        m.say(format_args!("mut {kind}@{at}"));
        let (got, want) = match kind {
            0 => {
                let got = match self {
                    Mut::R0(x) => Mut::R0(x.t_mut()),
                    Mut::R1(x) => Mut::R1(x.t_mut()),
                    Mut::R2(x) => Mut::R2(x.t_mut()),
                    Mut::R3(x) => Mut::R3(x.transpose_mut(axis![0], axis![2])),
                };
                (Some(Ok(got)), Some(shown.permuted(&(0..rank).rev().collect::<Vec<_>>())))
            }
            1 => {
                let index = m.below(size + 1)?;
                let got = along!(1 Mut self, at => Mut, |x, at, wrap| x.try_select_mut(at, index).map(wrap));
                (got, shown.select(at as i64, index as i64).filter(|_| index < size))
            }
            2 => {
                let (start, len) = (m.below(size + 1)?, m.below(size + 1)?);
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| x.try_narrow_mut(at, start, len).map(wrap));
                (got, shown.narrow(at as i64, start as i64, len))
            }
            3 => {
                let (start, end, step) =
                    (m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1);
                let got = match self {
                    Mut::R1(x) => Some(x.try_slice_mut(s![start..end;step]).map(Mut::R1)),
                    Mut::R2(x) => Some(
                        if at == 0 {
                            x.try_slice_mut(s![start..end;step])
                        } else {
                            x.try_slice_mut(s![.., start..end;step])
                        }
                        .map(Mut::R2),
                    ),
                    Mut::R3(x) if at == 1 => Some(x.try_slice_mut(s![.., start..end;step, ..]).map(Mut::R3)),
                    _ => None,
                };
                (got, shown.slice(at as i64, Some(start as i64), Some(end as i64), step as i64))
            }
            4 => match self {
                Mut::R2(x) => (Some(x.try_permute_mut(axis![1, 0]).map(Mut::R2)), Some(shown.permuted(&[1, 0]))),
                Mut::R3(x) => (Some(x.try_permute_mut(axis![2, 0, 1]).map(Mut::R3)), Some(shown.permuted(&[2, 0, 1]))),
                _ => (None, None),
            },
            5 => {
                let offset = m.below(4)? as isize - 2;
                let got = match self {
                    Mut::R2(x) => Some(x.try_diagonal_at_mut(axis![0, 1], offset).map(Mut::R1)),
                    Mut::R3(x) => Some(x.try_diagonal_at_mut(axis![0, 2], offset).map(Mut::R2)),
                    _ => None,
                };
                (got, shown.diagonal(offset as i64, 0, -1).filter(|_| rank > 1))
            }
            6 => {
                let numel = shown.elements.len();
                let got = each!(Mut self, |x| x.try_reshape_sized_mut::<One>([numel])).map(Mut::R1);
                // Strides may not allow it.
                let want = got.is_ok().then(|| Shown { sizes: vec![numel], elements: shown.elements.clone() });
                (Some(got), want)
            }
            _ => (Some(Ok(rewrapped!(Mut self => Mut, |x| x.view_mut()))), Some(shown.clone())),
        };
        Ok(got.map(|got| (got, want)))
    }

    /// Parts that are written at once.
    #[allow(clippy::type_complexity)]
    fn parts(&mut self, m: &mut Machine, shown: &Shown) -> Result<Option<(Vec<Mut<'_, E>>, Vec<Shown>)>> {
        let at = m.below(shown.rank())?;
        let Some(&size) = shown.sizes.get(at) else { return Ok(None) };
        let kind = m.below(6)?;
        m.say(format_args!("parts {kind}@{at}"));
        let halves = |at: usize, middle: usize| {
            let (first, rest) =
                (shown.narrow(at as i64, 0, middle), shown.narrow(at as i64, middle as i64, size - middle));
            vec![first.unwrap(), rest.unwrap()]
        };
        Ok(match kind {
            0 => {
                let middle = m.below(size + 1)?;
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| x.split_at_mut(at, middle).map(wrap).into());
                got.map(|got| (got, halves(at, middle)))
            }
            1 => {
                let len = m.below(3)? + 1;
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| {
                    x.split_mut(at, len).into_iter().map(wrap).collect::<Vec<_>>()
                });
                got.zip(shown.split(len, at as i64))
            }
            2 if size % 2 == 0 => {
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| {
                    x.try_chunk_array_mut::<2, _>(at).unwrap().map(wrap).into()
                });
                got.map(|got| (got, halves(at, size / 2)))
            }
            3 => {
                let got =
                    along!(1 Mut self, at => Mut, |x, at, wrap| x.iter_axis_mut(at).map(wrap).collect::<Vec<_>>());
                let want = (0..size).map(|index| shown.select(at as i64, index as i64).unwrap()).collect();
                got.map(|got| (got, want))
            }
            4 | 5 => {
                let mut range = || -> Result<[isize; 3]> {
                    Ok([m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1])
                };
                let ([a, b, c], [d, e, f]) = (range()?, range()?);
                let want = [[a, b, c], [d, e, f]]
                    .map(|[a, b, c]| shown.slice(at as i64, Some(a as i64), Some(b as i64), c as i64).unwrap());
                let meet = want[0].elements.iter().any(|place| want[1].elements.contains(place));
                let got = match self {
                    Mut::R1(x) => x.try_multi_slice_mut([s![a..b;c], s![d..e;f]]).map(|all| all.map(Mut::R1).into()),
                    Mut::R2(x) => {
                        if at == 0 {
                            let both = x.try_multi_slice_mut((s![a..b;c], s![d..e;f, ..]));
                            both.map(|(one, other)| vec![Mut::R2(one), Mut::R2(other)])
                        } else {
                            let both = x.try_multi_slice_mut([s![.., a..b;c], s![.., d..e;f]]);
                            both.map(|all| all.map(Mut::R2).into())
                        }
                    }
                    _ => return Ok(None),
                };
                // (Ranges of an axis may meet where another axis is empty.)
                assert!(got.is_err() || !meet, "slices that meet: {}", m.text);
                assert!(got.is_ok() || meet || shown.elements.is_empty(), "slices that do not meet: {}", m.text);
                got.ok().map(|got: Vec<Mut<'_, E>>| (got, want.into()))
            }
            _ => None,
        })
    }

    /// Writes, and what the elements should be then.
    fn write(
        &mut self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        others: &[(Read<'_, E>, Shown)],
    ) -> Result<Vec<E>> {
        let old: Vec<E> = elements_of(&shown_bytes::<E>(shown, memory));
        let len = old.len();
        let kind = m.below(12)?;
        m.say(format_args!("write {kind}"));
        Ok(match kind {
            0 => {
                let value = m.number()?;
                each!(Mut self, |x| x.fill(value));
                vec![E::number(value); len]
            }
            1 => {
                each!(Mut self, |x| { x.zero_(); });
                vec![E::default(); len]
            }
            2 | 3 => {
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = &alike(x, &new);
                    if kind == 2 { x.assign(rhs) } else { *x += rhs }
                });
                if kind == 2 { new } else { old.into_iter().zip(new).map(|(a, b)| a.plus(b)).collect() }
            }
            4 => {
                // Lazily, of the elements that are written.
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = alike(x, &new);
                    let own = x.to_tensor();
                    x.assign(own.lazy() + &rhs)
                });
                old.into_iter().zip(new).map(|(a, b)| a.plus(b)).collect()
            }
            5 => {
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = &alike(x, &new);
                    *x += rhs.lazy() + rhs;
                });
                old.into_iter().zip(new).map(|(a, b)| a.plus(b.plus(b))).collect()
            }
            6 => {
                let mask: Vec<bool> = (0..len).map(|_| bool::arbitrary_of(m.source)).collect::<Result<_>>()?;
                each!(Mut self, |x| { x.masked_fill_(&alike(x, &mask), 1); });
                old.into_iter().zip(mask).map(|(x, mask)| if mask { E::number(1) } else { x }).collect()
            }
            7 => {
                E::in_place(self);
                old.into_iter().map(E::in_place_of).collect()
            }
            8 => {
                // One element, at each place that leads to it.
                let (mut new, value) = (old, E::number(m.number()?));
                let place = m.below(len)?;
                let all = super::positions(&shown.sizes);
                if let Some(position) = all.get(place) {
                    match self {
                        Mut::R0(x) => *x.get_mut(()).unwrap() = value,
                        Mut::R1(x) => x[array::<1>(position)] = value,
                        Mut::R2(x) => *x.get_mut(array::<2>(position)).unwrap() = value,
                        Mut::R3(x) => x[array::<3>(position)] = value,
                    }
                    new[place] = value;
                }
                new
            }
            9 => {
                let new = m.elements::<E>(len)?;
                match each!(Mut self, |x| x.as_mut_slice()) {
                    Some(slice) => slice.copy_from_slice(&new),
                    None => return Ok(old),
                }
                new
            }
            _ => {
                // From another part of the same memory.
                let Some((other, from)) = others.get(m.below(others.len())?) else { return Ok(old) };
                let wanted: Vec<i64> = shown.sizes.iter().map(|&size| size as i64).collect();
                let want = from.expand(&wanted).map(|from| elements_of::<E>(&shown_bytes::<E>(&from, memory)));
                let plus = kind == 11;
                macro_rules! written {
                    ($x:ident, $other:ident) => {
                        if plus { $x.try_assign($other.lazy() + &**$other) } else { $x.try_copy_from($other) }
                    };
                }
                let done = match (&mut *self, other) {
                    (Mut::R0(x), Read::R0(other)) => written!(x, other),
                    (Mut::R1(x), Read::R0(other)) => written!(x, other),
                    (Mut::R1(x), Read::R1(other)) => written!(x, other),
                    (Mut::R2(x), Read::R1(other)) => written!(x, other),
                    (Mut::R2(x), Read::R2(other)) => written!(x, other),
                    (Mut::R3(x), Read::R3(other)) => written!(x, other),
                    _ => return Ok(old),
                };
                assert_eq!(done.is_ok(), want.is_some(), "{done:?} {}", m.text);
                match want {
                    Some(new) if plus => new.into_iter().map(|x| x.plus(x)).collect(),
                    Some(new) => new,
                    None => old,
                }
            }
        })
    }
}

/// A program of edits of a view, while others are there.
fn edit<E: Cell>(
    m: &mut Machine,
    view: &mut Mut<'_, E>,
    shown: &Shown,
    memory: &mut Vec<u8>,
    others: &[(Read<'_, E>, Shown)],
    scope: &Scope,
) -> Result<()> {
    check::<E>(m, &view.as_view(), shown, memory);
    for _ in 0..4 {
        if !m.step() {
            break;
        }
        match m.below(8)? {
            0..3 => {
                let want = view.write(m, shown, memory, others)?;
                let got: Vec<E> = elements_of(&view.as_view().look().1);
                assert!(
                    want.len() == got.len() && want.iter().zip(&got).all(|(a, b)| a.is(*b)),
                    "{want:?} {got:?} {}",
                    m.text
                );
                for (&place, got) in shown.elements.iter().zip(got) {
                    memory[place as usize..][..size_of::<E>()].copy_from_slice(&got.bytes());
                }
            }
            3 => match view.part(m, shown)? {
                Some((Ok(mut part), Some(shown))) => edit(m, &mut part, &shown, memory, others, scope)?,
                Some((Err(_), None)) | None => {}
                Some((got, want)) => {
                    panic!("{}: got {:?}, the model {want:?}", m.text, got.map(|x| x.as_view().look()))
                }
            },
            4 => E::edit_parts(m, view, shown, memory, scope)?,
            5 | 6 => {
                if let Some((parts, all)) = view.parts(m, shown)? {
                    edit_all(m, parts, &all, memory, scope)?;
                }
            }
            _ => {
                let mut live = vec![];
                chain(m, view.as_view(), shown, memory, Ground::Own, &mut live)?;
                Scope { live: &live, outer: Some(scope) }.check(m);
            }
        }
        check::<E>(m, &view.as_view(), shown, memory);
        scope.check(m);
    }
    Ok(())
}

/// Edits some parts while the others are looked at.
fn edit_all<'a, E: Cell>(
    m: &mut Machine,
    parts: Vec<Mut<'a, E>>,
    all: &[Shown],
    memory: &mut Vec<u8>,
    scope: &Scope,
) -> Result<()> {
    assert_eq!(parts.len(), all.len(), "{}", m.text);
    let mut places: Vec<i64> = all.iter().flat_map(|shown| shown.elements.iter().copied()).collect();
    places.sort_unstable();
    assert!(places.is_sorted_by(|a, b| a < b), "parts that meet: {}", m.text);
    let (mut frozen, mut open): (Vec<(Read<'a, E>, Shown)>, Vec<(Mut<'a, E>, Shown)>) = (vec![], vec![]);
    for (part, shown) in parts.into_iter().zip(all) {
        check::<E>(m, &part.as_view(), shown, memory);
        if bool::arbitrary_of(m.source)? {
            frozen.push((part.into_view(), shown.clone()));
        } else {
            open.push((part, shown.clone()));
        }
    }
    let mut live = vec![];
    for (view, shown) in &frozen {
        chain(m, view.clone(), shown, memory, Ground::Own, &mut live)?;
    }
    // References, which are held meanwhile.
    let slices: Vec<(&[E], Vec<u8>)> = frozen
        .iter()
        .filter_map(|(view, shown)| Some((each!(Read view, |x| x.as_slice())?, shown_bytes::<E>(shown, memory))))
        .collect();
    let outer = Scope { live: &live, outer: Some(scope) };
    for at in 0..open.len().min(4) {
        let (left, rest) = open.split_at_mut(at);
        let [(this, shown), right @ ..] = rest else { unreachable!() };
        let mut others = frozen.clone();
        others.extend(left.iter().chain(&*right).map(|(part, shown)| (part.as_view(), shown.clone())));
        let mut live = vec![];
        if let Some((view, shown)) = others.last() {
            chain(m, view.clone(), shown, memory, Ground::Own, &mut live)?;
        }
        let scope = Scope { live: &live, outer: Some(&outer) };
        edit(m, this, shown, memory, &others, &scope)?;
    }
    for (slice, bytes) in slices {
        assert_eq!(slice.iter().flat_map(|x| x.bytes()).collect::<Vec<u8>>(), bytes, "a slice changed: {}", m.text);
    }
    outer.check(m);
    Ok(())
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
            // A tensor, of which clones and their views stay while it is written.
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
