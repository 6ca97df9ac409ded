//! Numbers as types, in decimal digits: 384 is `D3<D8<D4>>`.
//!
//! The digits print like the number, are split structurally into 0, 1 and the rest (which implicit broadcasting needs), and are added,
//! multiplied and compared on stable Rust by *total* functions: `A::Plus<B>` needs no bound. Division and subtraction use `typenum`
//! (`arithmetic.rs`).
//!
//! Outside arithmetic, the most significant digit is outermost; inside, the least significant is ("reversed").

use super::order::OneBit;
use crate::sealed::Sealed;
use core::marker::PhantomData;
use typenum::{B0, B1};

/// The end of a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct End;

/// A string of decimal digits, possibly with leading zeros.
#[doc(hidden)]
pub trait Numeral: Copy + Default + core::fmt::Debug + Send + Sync + 'static {
    const LEN: u32;
    /// The value; `None` if it exceeds `usize`.
    const NUMBER: Option<usize>;
    /// `Self` reversed, followed by `Acc`.
    type Reverse<Acc: Numeral>: Numeral;
    /// Reversed sum with a carry.
    type Add<B: Numeral, C: Carry>: Numeral;
    /// Reversed sum of `k` followed by `A`, and `Self`.
    type Add0<A: Numeral, C: Carry>: Numeral;
    type Add1<A: Numeral, C: Carry>: Numeral;
    type Add2<A: Numeral, C: Carry>: Numeral;
    type Add3<A: Numeral, C: Carry>: Numeral;
    type Add4<A: Numeral, C: Carry>: Numeral;
    type Add5<A: Numeral, C: Carry>: Numeral;
    type Add6<A: Numeral, C: Carry>: Numeral;
    type Add7<A: Numeral, C: Carry>: Numeral;
    type Add8<A: Numeral, C: Carry>: Numeral;
    type Add9<A: Numeral, C: Carry>: Numeral;
    /// Compares reversed `Self` with reversed `B`; `O` is the outcome of the lower digits: higher digits outweigh it.
    type Against<B: Numeral, O: Order>: Order;
    /// Compares `k` followed by `A` with `Self`.
    type Against0<A: Numeral, O: Order>: Order;
    type Against1<A: Numeral, O: Order>: Order;
    type Against2<A: Numeral, O: Order>: Order;
    type Against3<A: Numeral, O: Order>: Order;
    type Against4<A: Numeral, O: Order>: Order;
    type Against5<A: Numeral, O: Order>: Order;
    type Against6<A: Numeral, O: Order>: Order;
    type Against7<A: Numeral, O: Order>: Order;
    type Against8<A: Numeral, O: Order>: Order;
    type Against9<A: Numeral, O: Order>: Order;
    /// Compares the end of a number with `Self`.
    type AgainstEnd<O: Order>: Order;
    /// Reversed sum of `Self` and a carry.
    type AddCarry<C: Carry>: Numeral;
    /// Schoolbook product: `Self`, most significant digit first, times reversed `A`, added to reversed `Acc`.
    type MulOnto<A: Numeral, Acc: Numeral>: Numeral;
    /// Half of `Self`, most significant digit first, with a carry from the left.
    type Half<C: Carry>: Numeral;
    /// The lowest bit, given that of the previous digit.
    type Lowest<Before: OneBit>: OneBit;
    /// `Self` without leading zeros.
    type Canonical: super::Known;
    /// `Self` preceded by a one.
    type AfterOne: super::Known;
}

/// A carry of 0 or 1. `S7<A, B>` is the reversed number whose lowest digit sum, without the carry, is 7 and
/// whose higher digits are `A + B`; `H7<R>` is half of a number with leading digit 7, higher digits gone.
#[doc(hidden)]
pub trait Carry {
    type S0<A: Numeral, B: Numeral>: Numeral;
    type S1<A: Numeral, B: Numeral>: Numeral;
    type S2<A: Numeral, B: Numeral>: Numeral;
    type S3<A: Numeral, B: Numeral>: Numeral;
    type S4<A: Numeral, B: Numeral>: Numeral;
    type S5<A: Numeral, B: Numeral>: Numeral;
    type S6<A: Numeral, B: Numeral>: Numeral;
    type S7<A: Numeral, B: Numeral>: Numeral;
    type S8<A: Numeral, B: Numeral>: Numeral;
    type S9<A: Numeral, B: Numeral>: Numeral;
    type S10<A: Numeral, B: Numeral>: Numeral;
    type S11<A: Numeral, B: Numeral>: Numeral;
    type S12<A: Numeral, B: Numeral>: Numeral;
    type S13<A: Numeral, B: Numeral>: Numeral;
    type S14<A: Numeral, B: Numeral>: Numeral;
    type S15<A: Numeral, B: Numeral>: Numeral;
    type S16<A: Numeral, B: Numeral>: Numeral;
    type S17<A: Numeral, B: Numeral>: Numeral;
    type S18<A: Numeral, B: Numeral>: Numeral;
    type Left: Numeral;
    type H0<R: Numeral>: Numeral;
    type H1<R: Numeral>: Numeral;
    type H2<R: Numeral>: Numeral;
    type H3<R: Numeral>: Numeral;
    type H4<R: Numeral>: Numeral;
    type H5<R: Numeral>: Numeral;
    type H6<R: Numeral>: Numeral;
    type H7<R: Numeral>: Numeral;
    type H8<R: Numeral>: Numeral;
    type H9<R: Numeral>: Numeral;
}
#[doc(hidden)]
pub struct NoCarry;
#[doc(hidden)]
pub struct WithCarry;
use {NoCarry as N, WithCarry as C};

/// `S7: D8 N` writes `type S7<A, B> = D8<A::Add<B, NoCarry>>`: the resulting digit and its carry.
macro_rules! carry {
    ($carry:ident, left $left:ty; $($s:ident: $digit:ident $next:ident),*; $($h:ident: $half:ident $rest:ident),*) => {
        impl Carry for $carry {
            $(type $s<A: Numeral, B: Numeral> = $digit<A::Add<B, $next>>;)*
            type Left = $left;
            $(type $h<R: Numeral> = $half<R::Half<$rest>>;)*
        }
    };
}
carry!(N, left End;
    S0: D0 N, S1: D1 N, S2: D2 N, S3: D3 N, S4: D4 N, S5: D5 N, S6: D6 N, S7: D7 N, S8: D8 N, S9: D9 N,
    S10: D0 C, S11: D1 C, S12: D2 C, S13: D3 C, S14: D4 C, S15: D5 C, S16: D6 C, S17: D7 C, S18: D8 C;
    H0: D0 N, H1: D0 C, H2: D1 N, H3: D1 C, H4: D2 N, H5: D2 C, H6: D3 N, H7: D3 C, H8: D4 N, H9: D4 C);
carry!(C, left D1;
    S0: D1 N, S1: D2 N, S2: D3 N, S3: D4 N, S4: D5 N, S5: D6 N, S6: D7 N, S7: D8 N, S8: D9 N, S9: D0 C,
    S10: D1 C, S11: D2 C, S12: D3 C, S13: D4 C, S14: D5 C, S15: D6 C, S16: D7 C, S17: D8 C, S18: D9 C;
    H0: D5 N, H1: D5 C, H2: D6 N, H3: D6 C, H4: D7 N, H5: D7 C, H6: D8 N, H7: D8 C, H8: D9 N, H9: D9 C);

/// Which of two numbers is smaller: [`First`] if they are equal.
#[doc(hidden)]
pub trait Order {
    type Smaller<A: super::Dim, B: super::Dim>: super::Dim;
}
#[doc(hidden)]
pub struct First;
#[doc(hidden)]
pub struct Second;
impl Order for First {
    type Smaller<A: super::Dim, B: super::Dim> = A;
}
impl Order for Second {
    type Smaller<A: super::Dim, B: super::Dim> = B;
}

type Sum<A, B> = <A as Numeral>::Add<B, N>;
type Double<A> = Sum<A, A>;

impl Sealed for End {}
impl Numeral for End {
    const LEN: u32 = 0;
    const NUMBER: Option<usize> = Some(0);
    type Reverse<Acc: Numeral> = Acc;
    type Add<B: Numeral, K: Carry> = B::AddCarry<K>;
    type Add0<A: Numeral, K: Carry> = K::S0<A, End>;
    type Add1<A: Numeral, K: Carry> = K::S1<A, End>;
    type Add2<A: Numeral, K: Carry> = K::S2<A, End>;
    type Add3<A: Numeral, K: Carry> = K::S3<A, End>;
    type Add4<A: Numeral, K: Carry> = K::S4<A, End>;
    type Add5<A: Numeral, K: Carry> = K::S5<A, End>;
    type Add6<A: Numeral, K: Carry> = K::S6<A, End>;
    type Add7<A: Numeral, K: Carry> = K::S7<A, End>;
    type Add8<A: Numeral, K: Carry> = K::S8<A, End>;
    type Add9<A: Numeral, K: Carry> = K::S9<A, End>;
    type Against<B: Numeral, O: Order> = B::AgainstEnd<O>;
    type Against0<A: Numeral, O: Order> = Second;
    type Against1<A: Numeral, O: Order> = Second;
    type Against2<A: Numeral, O: Order> = Second;
    type Against3<A: Numeral, O: Order> = Second;
    type Against4<A: Numeral, O: Order> = Second;
    type Against5<A: Numeral, O: Order> = Second;
    type Against6<A: Numeral, O: Order> = Second;
    type Against7<A: Numeral, O: Order> = Second;
    type Against8<A: Numeral, O: Order> = Second;
    type Against9<A: Numeral, O: Order> = Second;
    type AgainstEnd<O: Order> = O;
    type AddCarry<K: Carry> = K::Left;
    type MulOnto<A: Numeral, Acc: Numeral> = Acc;
    type Half<K: Carry> = End;
    type Lowest<Before: OneBit> = Before;
    type Canonical = D0;
    type AfterOne = D1;
}

/// The value of `digit` followed by `rest`.
const fn prepend(digit: usize, len: u32, rest: Option<usize>) -> Option<usize> {
    let Some(rest) = rest else { return None };
    if digit == 0 {
        return Some(rest);
    }
    let Some(place) = 10_usize.checked_pow(len) else { return None };
    let Some(high) = digit.checked_mul(place) else { return None };
    high.checked_add(rest)
}

/// One digit: its sums with 0 to 9, its comparison with 0 to 9, its multiples of reversed `A`, its half and its parity.
macro_rules! digit {
    ($digit:ident = $value:literal; $add:ident [$($sum:ident)*] $alone:ident; $against:ident [$($order:ident)*]; |$a:ident| $multiple:ty; $half:ident $parity:ident; $canonical:ty) => {
        #[doc = concat!("The digit ", stringify!($value), " followed by `R`; alone, the number ", stringify!($value), ".")]
        pub struct $digit<R = End>(PhantomData<R>);
        digit!(@plain $digit);
        impl<R> crate::sealed::Sealed for $digit<R> {}
        impl<R: Numeral> Numeral for $digit<R> {
            const LEN: u32 = R::LEN + 1;
            const NUMBER: Option<usize> = prepend($value, R::LEN, R::NUMBER);
            type Reverse<Acc: Numeral> = R::Reverse<$digit<Acc>>;
            type Add<B: Numeral, K: Carry> = B::$add<R, K>;
            digit!(@sums [Add0 Add1 Add2 Add3 Add4 Add5 Add6 Add7 Add8 Add9] [$($sum)*]);
            type Against<B: Numeral, O: Order> = B::$against<R, O>;
            digit!(@orders O [Against0 Against1 Against2 Against3 Against4 Against5 Against6 Against7 Against8 Against9]
                [$($order)*]);
            type AgainstEnd<O: Order> = First;
            type AddCarry<K: Carry> = K::$alone<End, R>;
            type MulOnto<$a: Numeral, Acc: Numeral> = R::MulOnto<$a, Sum<D0<Acc>, $multiple>>;
            type Half<K: Carry> = K::$half<R>;
            type Lowest<Before: OneBit> = R::Lowest<$parity>;
            type Canonical = $canonical;
            type AfterOne = D1<$digit<R>>;
        }
    };
    (@sums [$($add:ident)*] [$($sum:ident)*]) => {
        $(type $add<A: Numeral, K: Carry> = K::$sum<A, R>;)*
    };
    // `O` if the digits are equal.
    (@orders $o:ident [$($against:ident)*] [$($order:ident)*]) => {
        $(type $against<A: Numeral, O: Order> = A::Against<R, $order>;)*
    };
    (@plain $digit:ident) => {
        impl<R> Clone for $digit<R> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<R> Copy for $digit<R> {}
        impl<R> Default for $digit<R> {
            fn default() -> Self {
                $digit(PhantomData)
            }
        }
        impl<R> core::fmt::Debug for $digit<R> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($digit))
            }
        }
        // SAFETY: a digit holds no data.
        unsafe impl<R> Send for $digit<R> {}
        // SAFETY: a digit holds no data.
        unsafe impl<R> Sync for $digit<R> {}
    };
}
digit!(D0 = 0; Add0 [S0 S1 S2 S3 S4 S5 S6 S7 S8 S9] S0; Against0 [O Second Second Second Second Second Second Second Second Second]; |A| End; H0 B0; R::Canonical);
digit!(D1 = 1; Add1 [S1 S2 S3 S4 S5 S6 S7 S8 S9 S10] S1; Against1 [First O Second Second Second Second Second Second Second Second]; |A| A; H1 B1; R::AfterOne);
digit!(D2 = 2; Add2 [S2 S3 S4 S5 S6 S7 S8 S9 S10 S11] S2; Against2 [First First O Second Second Second Second Second Second Second]; |A| Double<A>; H2 B0; D2<R>);
digit!(D3 = 3; Add3 [S3 S4 S5 S6 S7 S8 S9 S10 S11 S12] S3; Against3 [First First First O Second Second Second Second Second Second]; |A| Sum<Double<A>, A>; H3 B1; D3<R>);
digit!(D4 = 4; Add4 [S4 S5 S6 S7 S8 S9 S10 S11 S12 S13] S4; Against4 [First First First First O Second Second Second Second Second]; |A| Double<Double<A>>; H4 B0; D4<R>);
digit!(D5 = 5; Add5 [S5 S6 S7 S8 S9 S10 S11 S12 S13 S14] S5; Against5 [First First First First First O Second Second Second Second]; |A| Sum<Double<Double<A>>, A>; H5 B1; D5<R>);
digit!(D6 = 6; Add6 [S6 S7 S8 S9 S10 S11 S12 S13 S14 S15] S6; Against6 [First First First First First First O Second Second Second]; |A| Sum<Double<Double<A>>, Double<A>>; H6 B0; D6<R>);
digit!(D7 = 7; Add7 [S7 S8 S9 S10 S11 S12 S13 S14 S15 S16] S7; Against7 [First First First First First First First O Second Second]; |A| Sum<Sum<Double<Double<A>>, Double<A>>, A>; H7 B1; D7<R>);
digit!(D8 = 8; Add8 [S8 S9 S10 S11 S12 S13 S14 S15 S16 S17] S8; Against8 [First First First First First First First First O Second]; |A| Double<Double<Double<A>>>; H8 B0; D8<R>);
digit!(D9 = 9; Add9 [S9 S10 S11 S12 S13 S14 S15 S16 S17 S18] S9; Against9 [First First First First First First First First First O]; |A| Sum<Double<Double<Double<A>>>, A>; H9 B1; D9<R>);

type Reversed<A> = <A as Numeral>::Reverse<End>;
/// `A + B`, most significant digit first, without leading zeros.
#[doc(hidden)]
pub type Plus<A, B> = <Reversed<Sum<Reversed<A>, Reversed<B>>> as Numeral>::Canonical;
/// `A * B`, likewise.
#[doc(hidden)]
pub type Times<A, B> = <Reversed<<B as Numeral>::MulOnto<Reversed<A>, End>> as Numeral>::Canonical;
/// `A / 2` rounded down, and the remainder bit.
#[doc(hidden)]
pub type HalfOf<A> = <<A as Numeral>::Half<N> as Numeral>::Canonical;
#[doc(hidden)]
pub type LowestBit<A> = <A as Numeral>::Lowest<B0>;
/// `2 A` and `2 A + 1`, reversed, from reversed `A`: for conversion from binary.
#[doc(hidden)]
pub type Doubled<A> = <A as Numeral>::Add<A, N>;
#[doc(hidden)]
pub type DoubledPlusOne<A> = <A as Numeral>::Add<A, C>;
#[doc(hidden)]
pub type FromReversed<A> = <Reversed<A> as Numeral>::Canonical;
/// The smaller of two numbers without leading zeros.
#[doc(hidden)]
pub type SmallerOf<A, B> = <<Reversed<A> as Numeral>::Against<Reversed<B>, First> as Order>::Smaller<A, B>;

/// Calls `$with!` with every form of a number other than 0 and 1: `$with! { [R] D2<R>; … }`, where `R` is the remaining digits. The rules
/// tell 0, 1 and the rest apart by structure.
macro_rules! numbers_above_one {
    ($with:ident) => {
        $with! {
            [R] D1<D0<R>>; [R] D1<D1<R>>; [R] D1<D2<R>>; [R] D1<D3<R>>; [R] D1<D4<R>>;
            [R] D1<D5<R>>; [R] D1<D6<R>>; [R] D1<D7<R>>; [R] D1<D8<R>>; [R] D1<D9<R>>;
            [R] D2<R>; [R] D3<R>; [R] D4<R>; [R] D5<R>; [R] D6<R>; [R] D7<R>; [R] D8<R>; [R] D9<R>;
        }
    };
}
pub(crate) use numbers_above_one;
