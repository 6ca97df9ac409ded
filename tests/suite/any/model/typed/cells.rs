//! The elements of the model: their bytes, and the dtypes they can be viewed as.

use super::*;

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
