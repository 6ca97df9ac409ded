//! Macros that call another macro for every rank, 0 to 8; each documents its arguments.

/// Calls `$with!` once per rank: `$with!(3 [A B C] [0 1 2] [-3 -2 -1]);`
macro_rules! each_rank {
    ($with:ident) => {
        $with!(1 [A] [0] [-1]);
        $with!(2 [A B] [0 1] [-2 -1]);
        $with!(3 [A B C] [0 1 2] [-3 -2 -1]);
        $with!(4 [A B C D] [0 1 2 3] [-4 -3 -2 -1]);
        $with!(5 [A B C D E] [0 1 2 3 4] [-5 -4 -3 -2 -1]);
        $with!(6 [A B C D E F] [0 1 2 3 4 5] [-6 -5 -4 -3 -2 -1]);
        $with!(7 [A B C D E F G] [0 1 2 3 4 5 6] [-7 -6 -5 -4 -3 -2 -1]);
        $with!(8 [A B C D E F G H] [0 1 2 3 4 5 6 7] [-8 -7 -6 -5 -4 -3 -2 -1]);
    };
}

/// Calls `$with!` for every alignment of two shapes of rank up to 8 at the last axis: the leading axes that only the longer one has, then
/// the aligned pairs: `$with!([L0 L1] (A0 B0) (A1 B1));`
macro_rules! each_suffix {
    ($with:ident) => {
        each_suffix!(@lead $with [L0 L1 L2 L3 L4 L5 L6 L7]);
        each_suffix!(@lead $with [L0 L1 L2 L3 L4 L5 L6] (A0 B0));
        each_suffix!(@lead $with [L0 L1 L2 L3 L4 L5] (A0 B0) (A1 B1));
        each_suffix!(@lead $with [L0 L1 L2 L3 L4] (A0 B0) (A1 B1) (A2 B2));
        each_suffix!(@lead $with [L0 L1 L2 L3] (A0 B0) (A1 B1) (A2 B2) (A3 B3));
        each_suffix!(@lead $with [L0 L1 L2] (A0 B0) (A1 B1) (A2 B2) (A3 B3) (A4 B4));
        each_suffix!(@lead $with [L0 L1] (A0 B0) (A1 B1) (A2 B2) (A3 B3) (A4 B4) (A5 B5));
        each_suffix!(@lead $with [L0] (A0 B0) (A1 B1) (A2 B2) (A3 B3) (A4 B4) (A5 B5) (A6 B6));
        each_suffix!(@lead $with [] (A0 B0) (A1 B1) (A2 B2) (A3 B3) (A4 B4) (A5 B5) (A6 B6) (A7 B7));
    };
    (@lead $with:ident []) => {};
    (@lead $with:ident [] $($pair:tt)+) => { $with!([] $($pair)+); };
    (@lead $with:ident [$first:ident $($rest:ident)*] $($pair:tt)*) => {
        $with!([$first $($rest)*] $($pair)*);
        each_suffix!(@lead $with [$($rest)*] $($pair)*);
    };
}

pub(crate) use {each_rank, each_suffix};
