//! Asks one question for all dtypes and kinds.

use castiron::{DType, Dyn, Tensor};

pub type T<E> = Tensor<E, (Dyn,)>;
pub type Z<E> = Tensor<E, ()>;

/// The dtypes, in the order of the answers.
pub const DTYPES: [&str; 22] = [
    "bool",
    "u8",
    "i8",
    "i16",
    "i32",
    "i64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "c32",
    "c64",
    "c128",
    "u16",
    "u32",
    "u64",
    "f8e4m3fn",
    "f8e4m3fnuz",
    "f8e5m2",
    "f8e5m2fnuz",
    "f8e8m0fnu",
    "f4e2m1x2",
];
/// The name of a dtype in the tables.
pub const fn code<E: castiron::Element>() -> &'static str {
    // (As there, in the order of `DType`.)
    DTYPES[E::DTYPE as usize]
}
pub const SCALARS: [&str; 4] = ["py.bool", "py.int", "py.float", "py.complex"];
/// The kinds of operand pairs, in the order of the answers.
pub const KINDS: [&str; 4] = ["TT", "TZ", "ZT", "ZZ"];
pub const SCALAR_KINDS: [&str; 3] = ["TS", "ZS", "ST"];

/// The compiler's answers about one operation.
#[derive(Clone, Copy)]
pub struct Answers {
    /// The dtypes of the question.
    pub dtypes: &'static [&'static str],
    /// For each left dtype, right dtype and pair of kinds.
    pub tensors: &'static [&'static [&'static [Option<DType>]]],
    /// For each tensor dtype, scalar and pair of kinds.
    pub scalars: &'static [[[Option<DType>; 3]; 4]],
}

impl Answers {
    /// `None` where the question was not asked.
    pub fn get(&self, kinds: &str, left: &str, right: &str) -> Option<Option<DType>> {
        let dtype = |code| self.dtypes.iter().position(|known| *known == code);
        let scalar = |code| SCALARS.iter().position(|known| *known == code);
        if let Some(kinds) = KINDS.iter().position(|known| *known == kinds) {
            return self.tensors[dtype(left)?][dtype(right)?].get(kinds).copied();
        }
        let at = SCALAR_KINDS.iter().position(|known| *known == kinds)?;
        let (tensor, scalar) =
            if kinds == "ST" { (dtype(right)?, scalar(left)?) } else { (dtype(left)?, scalar(right)?) };
        Some(self.scalars[tensor][scalar][at])
    }

    pub fn cells(&self) -> usize {
        let tensors: usize = self.tensors.iter().flat_map(|row| row.iter()).map(|kinds| kinds.len()).sum();
        tensors + self.scalars.len() * 4 * 3
    }
}

/// Calls `$with!` with the 22 dtypes.
macro_rules! dtypes {
    ($with:ident $($args:tt)*) => {
        $with!([bool u8 i8 i16 i32 i64 (castiron::f16) (castiron::bf16) f32 f64 (castiron::Complex<castiron::f16>)
            (castiron::Complex<f32>) (castiron::Complex<f64>) u16 u32 u64 (castiron::F8E4M3FN) (castiron::F8E4M3FNUZ)
            (castiron::F8E5M2) (castiron::F8E5M2FNUZ) (castiron::F8E8M0FNU) (castiron::F4E2M1FNX2)] $($args)*)
    };
}
/// Calls `$with!` with the dtypes of questions about pairs: with `--cfg every_cell`, which takes minutes, the 22 dtypes; otherwise those that
/// compute, and of the shells, which all are refused alike, `u16`, a float8 and the packed float4.
#[cfg(every_cell)]
macro_rules! pairs {
    ($($args:tt)*) => { dtypes!($($args)*) };
}
#[cfg(not(every_cell))]
macro_rules! pairs {
    ($with:ident $($args:tt)*) => {
        $with!([bool u8 i8 i16 i32 i64 (castiron::f16) (castiron::bf16) f32 f64 (castiron::Complex<castiron::f16>)
            (castiron::Complex<f32>) (castiron::Complex<f64>) u16 (castiron::F8E4M3FN) (castiron::F4E2M1FNX2)] $($args)*)
    };
}
/// The question `Asked<L, R>` of one pair of dtypes. `out`: the left operand is a reference; `place`: it is written to; `all`: as `out`, also of
/// two zero-dim tensors, which promote as two others do, and are asked about in every question with `--cfg every_cell` alone.
macro_rules! cells {
    ($a:ty, $b:ty, all) => {
        &[
            <Asked<&$crate::grid::T<$a>, &$crate::grid::T<$b>>>::RESULT,
            <Asked<&$crate::grid::T<$a>, &$crate::grid::Z<$b>>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::T<$b>>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::Z<$b>>>::RESULT,
        ]
    };
    ($a:ty, $b:ty, out) => {
        &[
            <Asked<&$crate::grid::T<$a>, &$crate::grid::T<$b>>>::RESULT,
            <Asked<&$crate::grid::T<$a>, &$crate::grid::Z<$b>>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::T<$b>>>::RESULT,
            #[cfg(every_cell)]
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::Z<$b>>>::RESULT,
        ]
    };
    ($a:ty, $b:ty, place) => {
        &[
            <Asked<$crate::grid::T<$a>, &$crate::grid::T<$b>>>::RESULT,
            <Asked<$crate::grid::T<$a>, &$crate::grid::Z<$b>>>::RESULT,
            <Asked<$crate::grid::Z<$a>, &$crate::grid::T<$b>>>::RESULT,
            #[cfg(every_cell)]
            <Asked<$crate::grid::Z<$a>, &$crate::grid::Z<$b>>>::RESULT,
        ]
    };
}
/// One left dtype against every right one.
macro_rules! row {
    ([$($b:tt)*] $a:ty, $form:ident) => {
        &[$(cells!($a, t!($b), $form)),*]
    };
}
/// A type from one token tree.
macro_rules! t {
    (($t:ty)) => {
        $t
    };
    ($t:ty) => {
        $t
    };
}
macro_rules! scalars {
    ($a:ty, place, $($s:ty),*) => {
        [$([<Asked<$crate::grid::T<$a>, $s>>::RESULT, <Asked<$crate::grid::Z<$a>, $s>>::RESULT, None]),*]
    };
    ($a:ty, $form:ident, $($s:ty),*) => {
        [$([
            <Asked<&$crate::grid::T<$a>, $s>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, $s>>::RESULT,
            <Asked<$s, &$crate::grid::T<$a>>>::RESULT,
        ]),*]
    };
}
macro_rules! answers {
    (@ [$($a:tt)*] $dtypes:tt $asked:ty, $form:ident) => {{
        type Asked<L, R> = $asked;
        const DTYPES: &[&str] = &[$($crate::grid::code::<t!($a)>()),*];
        const TENSORS: &[&[&[Option<castiron::DType>]]] = &[$(row!($dtypes t!($a), $form)),*];
        const SCALARS: &[[[Option<castiron::DType>; 3]; 4]] =
            &[$(scalars!(t!($a), $form, bool, i64, f64, castiron::Complex<f64>)),*];
        $crate::grid::Answers { dtypes: DTYPES, tensors: TENSORS, scalars: SCALARS }
    }};
    ($dtypes:tt $asked:ty, $form:ident) => { answers!(@ $dtypes $dtypes $asked, $form) };
}
macro_rules! unary_answers {
    ([$($a:tt)*] $asked:ty) => {{
        type Asked<E> = $asked;
        const RESULTS: [Option<castiron::DType>; 22] = [$(<Asked<t!($a)>>::RESULT),*];
        &RESULTS
    }};
}
