//! One question asked for all dtypes and kinds.

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
pub const SCALARS: [&str; 4] = ["py.bool", "py.int", "py.float", "py.complex"];
/// The kinds of operand pairs, in the order of the answers.
pub const KINDS: [&str; 4] = ["TT", "TZ", "ZT", "ZZ"];
pub const SCALAR_KINDS: [&str; 3] = ["TS", "ZS", "ST"];

/// The compiler's answers about one operation.
#[derive(Clone, Copy)]
pub struct Answers {
    /// For each left dtype, right dtype and pair of kinds.
    pub tensors: &'static [[[Option<DType>; 4]; 22]; 22],
    /// For each tensor dtype, scalar and pair of kinds.
    pub scalars: &'static [[[Option<DType>; 3]; 4]; 22],
}

impl Answers {
    /// `None` where the question was not asked.
    pub fn get(&self, kinds: &str, left: &str, right: &str) -> Option<Option<DType>> {
        let dtype = |code| DTYPES.iter().position(|known| *known == code);
        let scalar = |code| SCALARS.iter().position(|known| *known == code);
        if let Some(kinds) = KINDS.iter().position(|known| *known == kinds) {
            return Some(self.tensors[dtype(left)?][dtype(right)?][kinds]);
        }
        let at = SCALAR_KINDS.iter().position(|known| *known == kinds)?;
        let (tensor, scalar) =
            if kinds == "ST" { (dtype(right)?, scalar(left)?) } else { (dtype(left)?, scalar(right)?) };
        Some(self.scalars[tensor][scalar][at])
    }

    pub fn cells(&self) -> usize {
        22 * 22 * 4 + 22 * 4 * 3
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
/// One left dtype against every right one, of the question `Asked<L, R>`. `out`: the left operand is a reference; `place`: it is
/// written to.
#[cfg(not(clippy))]
macro_rules! row {
    ([$($b:tt)*] $a:ty, out) => {
        [$([
            <Asked<&$crate::grid::T<$a>, &$crate::grid::T<t!($b)>>>::RESULT,
            <Asked<&$crate::grid::T<$a>, &$crate::grid::Z<t!($b)>>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::T<t!($b)>>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, &$crate::grid::Z<t!($b)>>>::RESULT,
        ]),*]
    };
    ([$($b:tt)*] $a:ty, place) => {
        [$([
            <Asked<$crate::grid::T<$a>, &$crate::grid::T<t!($b)>>>::RESULT,
            <Asked<$crate::grid::T<$a>, &$crate::grid::Z<t!($b)>>>::RESULT,
            <Asked<$crate::grid::Z<$a>, &$crate::grid::T<t!($b)>>>::RESULT,
            <Asked<$crate::grid::Z<$a>, &$crate::grid::Z<t!($b)>>>::RESULT,
        ]),*]
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
#[cfg(not(clippy))]
macro_rules! scalars {
    ($a:ty, out, $($s:ty),*) => {
        [$([
            <Asked<&$crate::grid::T<$a>, $s>>::RESULT,
            <Asked<&$crate::grid::Z<$a>, $s>>::RESULT,
            <Asked<$s, &$crate::grid::T<$a>>>::RESULT,
        ]),*]
    };
    ($a:ty, place, $($s:ty),*) => {
        [$([<Asked<$crate::grid::T<$a>, $s>>::RESULT, <Asked<$crate::grid::Z<$a>, $s>>::RESULT, None]),*]
    };
}
#[cfg(not(clippy))]
macro_rules! answers {
    ([$($a:tt)*] $asked:ty, $form:ident) => {{
        type Asked<L, R> = $asked;
        const TENSORS: [[[Option<castiron::DType>; 4]; 22]; 22] = [$(dtypes!(row t!($a), $form)),*];
        const SCALARS: [[[Option<castiron::DType>; 3]; 4]; 22] = [$(scalars!(t!($a), $form, bool, i64, f64, castiron::Complex<f64>)),*];
        $crate::grid::Answers { tensors: &TENSORS, scalars: &SCALARS }
    }};
}
/// Clippy has nothing to say of the answers, which take minutes to find: it sees one of them.
#[cfg(clippy)]
macro_rules! answers {
    ($dtypes:tt $asked:ty, out) => {
        answers!([] $asked, &$crate::grid::T<bool>, &$crate::grid::Z<bool>)
    };
    ($dtypes:tt $asked:ty, place) => {
        answers!([] $asked, $crate::grid::T<bool>, &$crate::grid::Z<bool>)
    };
    ($dtypes:tt $asked:ty, $left:ty, $right:ty) => {{
        type Asked<L, R> = $asked;
        const ONE: Option<castiron::DType> = <Asked<$left, $right>>::RESULT;
        $crate::grid::Answers { tensors: &[[[ONE; 4]; 22]; 22], scalars: &[[[ONE; 3]; 4]; 22] }
    }};
}
macro_rules! unary_answers {
    ([$($a:tt)*] $asked:ty) => {{
        type Asked<E> = $asked;
        const RESULTS: [Option<castiron::DType>; 22] = [$(<Asked<t!($a)>>::RESULT),*];
        &RESULTS
    }};
}
