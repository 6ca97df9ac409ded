//! The macro that expands the table of `admit.rs` to traits, impls, values and words.
//!
//! It also writes the macros with which other files query the rules.

/// Expands the table of `admit.rs`, its only caller.
macro_rules! rules {
    (
        $d:tt
        all { $($all:ident $all_words:literal $all_cost:ident $all_row:tt;)* }
        each { $($(#[$each_doc:meta])* $each:ident $EachFor:ident $each_words:literal $each_cost:ident $each_row:tt
            note $each_note:literal generic $each_generic:literal;)* }
        alike { $($alike:ident $AlikeFor:ident $alike_words:literal $alike_cost:ident $alike_row:tt;)* }
        pairs { $($(#[$pair_doc:meta])* $pair:ident $PairFor:ident $pair_words:literal $pair_cost:ident
            message $pair_message:literal label $pair_label:literal note $pair_note:literal
            $generic:ident
                [$bb:tt $bi:tt $bf:tt $bc:tt] [$ib:tt $ii:tt $if:tt $ic:tt] [$fb:tt $fi:tt $ff:tt $fc:tt] [$cb:tt $ci:tt $cf:tt $cc:tt];)* }
        bools_by_scalars { $($over:ident = $below:ident $BelowFor:ident $over_words:literal;)* }
        kinds { $($(#[$kinds_doc:meta])* $kinds:ident $KindsFor:ident $kinds_words:literal $kinds_cost:ident
            message $kinds_message:literal label $kinds_label:literal note $kinds_note:literal
            $($beside:ident: $kinds_generic:ident
                [$kbb:tt $kbi:tt $kbf:tt $kbc:tt] [$kib:tt $kii:tt $kif:tt $kic:tt]
                [$kfb:tt $kfi:tt $kff:tt $kfc:tt] [$kcb:tt $kci:tt $kcf:tt $kcc:tt]),+;)* }
    ) => {
        $(
            $(#[$each_doc])*
            #[diagnostic::on_unimplemented(
                message = "`{Op}` is not defined for dtype `{Self}`",
                label = "`{Op}` does not admit `{Self}`",
                note = $each_note,
                note = $each_generic
            )]
            pub trait $EachFor<Op>: Dtype {}
            rules!(@each $EachFor $each_row);
        )*
        $(
            $(#[$pair_doc])*
            #[diagnostic::on_unimplemented(message = $pair_message, label = $pair_label, note = $pair_note)]
            pub trait $PairFor<Rhs, Op>: Dtype {}
            rules!(@picture $PairFor all $generic [$bb $bi $bf $bc] [$ib $ii $if $ic] [$fb $fi $ff $fc] [$cb $ci $cf $cc]);
        )*
        $(
            $(#[$kinds_doc])*
            #[diagnostic::on_unimplemented(message = $kinds_message, label = $kinds_label, note = $kinds_note)]
            pub trait $KindsFor<Rhs, Kind, Op>: Dtype {}
            $(rules!(@picture $KindsFor $beside $kinds_generic
                [$kbb $kbi $kbf $kbc] [$kib $kii $kif $kic] [$kfb $kfi $kff $kfc] [$kcb $kci $kcf $kcc]);)+
        )*

        /// The rule of admission of an operation: a column of the tables. (Some rules are only used as bounds.)
        #[allow(non_camel_case_types, dead_code)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Admits { $($all,)* $($each,)* $($alike,)* $($pair,)* $($over,)* $($kinds,)* }

        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        impl Admits {
            /// The admitted single operands, by category; `None` for rules that depend on both operands.
            const fn row(self) -> Option<[bool; 4]> {
                match self {
                    $(Admits::$all => Some(rules!(@row $all_row)),)*
                    $(Admits::$each => Some(rules!(@row $each_row)),)*
                    $(Admits::$alike => Some(rules!(@row $alike_row)),)*
                    $(Admits::$pair => None,)*
                    $(Admits::$over => None,)*
                    $(Admits::$kinds => None,)*
                }
            }

            /// The admitted pairs, by the category of each and the kind of the second.
            const fn pictures(self) -> &'static [Picture] {
                match self {
                    $(Admits::$pair => &[Picture {
                        beside: rules!(@beside all),
                        cells: [rules!(@row [$bb $bi $bf $bc]), rules!(@row [$ib $ii $if $ic]),
                            rules!(@row [$fb $fi $ff $fc]), rules!(@row [$cb $ci $cf $cc])],
                    }],)*
                    $(Admits::$kinds => &[$(Picture {
                        beside: rules!(@beside $beside),
                        cells: [rules!(@row [$kbb $kbi $kbf $kbc]), rules!(@row [$kib $kii $kif $kic]),
                            rules!(@row [$kfb $kfi $kff $kfc]), rules!(@row [$kcb $kci $kcf $kcc])],
                    }),+],)*
                    _ => &[],
                }
            }

            /// The same rule without bools with a bool scalar.
            const fn but_for_bools(self) -> Option<Admits> {
                match self {
                    $(Admits::$over => Some(Admits::$below),)*
                    _ => None,
                }
            }

            /// Whether both operands must have the same dtype.
            const fn is_of_one_dtype(self) -> bool {
                match self {
                    $(Admits::$alike => true,)*
                    _ => false,
                }
            }

            /// Whether a formula of this rule may be of complex numbers.
            #[cfg(feature = "any")]
            pub(crate) const fn takes_complex(self) -> bool {
                match self.row() {
                    Some([_, _, _, complex]) => complex,
                    None => true,
                }
            }

            /// Whether operations of this rule are compute-bound. (Half precision is then converted in chunks.)
            pub(crate) const fn is_long(self) -> bool {
                match self {
                    $(Admits::$all => rules!(@is_long $all_cost),)*
                    $(Admits::$each => rules!(@is_long $each_cost),)*
                    $(Admits::$alike => rules!(@is_long $alike_cost),)*
                    $(Admits::$pair => rules!(@is_long $pair_cost),)*
                    $(Admits::$over => Admits::$below.is_long(),)*
                    $(Admits::$kinds => rules!(@is_long $kinds_cost),)*
                }
            }

            /// The rule in words, for errors and lists.
            pub(crate) const fn words(self) -> &'static str {
                match self {
                    $(Admits::$all => $all_words,)*
                    $(Admits::$each => $each_words,)*
                    $(Admits::$alike => $alike_words,)*
                    $(Admits::$pair => $pair_words,)*
                    $(Admits::$over => $over_words,)*
                    $(Admits::$kinds => $kinds_words,)*
                }
            }
        }

        /// `admits_in_words!(numeric)` is the rule in words, for documentation.
        macro_rules! admits_in_words {
            $(($all) => { $all_words };)*
            $(($each) => { $each_words };)*
            $(($alike) => { $alike_words };)*
            $(($pair) => { $pair_words };)*
            $(($over) => { $over_words };)*
            $(($kinds) => { $kinds_words };)*
        }
        pub(crate) use admits_in_words;

        /// The bound on a single operand: `bound_of_one!(numeric, neg, unary_ops { @same neg })` is `unary_ops! { @same neg
        /// [NumericFor<neg>] }`.
        macro_rules! bound_of_one {
            $(($all, $d op:ty, $d then:ident { $d($d args:tt)* }) => { $d then! { $d($d args)* [crate::dtype::Dtype] } };)*
            $(($each, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$EachFor<$d op>] }
            };)*
        }
        pub(crate) use bound_of_one;

        /// The bounds on two operands of dtypes `A` and `B`, the second of kind `K`. Where a bool scalar with bools is admitted, too,
        /// `$then!` is called again with `[bools by scalars]`.
        macro_rules! bounds_of_two {
            $(($all, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::dtype::Dtype] [crate::dtype::Dtype] }
            };)*
            $(($each, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$EachFor<$d op>] [crate::ops::admit::$EachFor<$d op>] }
            };)*
            $(($alike, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$AlikeFor<$d op> + crate::ops::admit::SameDtypeFor<B, $d op>] [] }
            };)*
            $(($pair, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$PairFor<B, $d op>] [] }
            };)*
            $(($over, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$BelowFor<B, $d op>] [] }
                $d then! { $d($d args)* [bools by scalars] }
            };)*
            $(($kinds, $d op:ty, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* [crate::ops::admit::$KindsFor<B, K, $d op>] [] }
            };)*
        }
        pub(crate) use bounds_of_two;

        /// The set of dtypes of a single operand, and its floating and complex dtypes.
        #[cfg(feature = "any")]
        macro_rules! set_of_one {
            $(($all, $d then:ident { $d($d args:tt)* }) => { crate::ops::rules::picture::set_of_row!($all_row $d then { $d($d args)* }) };)*
            $(($each, $d then:ident { $d($d args:tt)* }) => { crate::ops::rules::picture::set_of_row!($each_row $d then { $d($d args)* }) };)*
        }
        #[cfg(feature = "any")]
        pub(crate) use set_of_one;

        /// The categories of dtypes that an operation computes in, given those its operands promote to: as cells of the pictures, one group
        /// per category, and whether it is long: `loops_of!(real, dtypes { row })` is `dtypes! { row (.) (x) (x) (.) quick }`.
        #[cfg(any(not(debug_assertions), feature = "precompiled"))]
        macro_rules! loops_of {
            $(($all, $d then:ident { $d($d args:tt)* }) => {
                crate::ops::rules::picture::cells_of_row! { $all_row $all_cost $d then { $d($d args)* } }
            };)*
            $(($each, $d then:ident { $d($d args:tt)* }) => {
                crate::ops::rules::picture::cells_of_row! { $each_row $each_cost $d then { $d($d args)* } }
            };)*
            $(($alike, $d then:ident { $d($d args:tt)* }) => {
                crate::ops::rules::picture::cells_of_row! { $alike_row $alike_cost $d then { $d($d args)* } }
            };)*
            $(($pair, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* ($bb) ($ii) ($ff) ($cc) $pair_cost }
            };)*
            $(($over, $d then:ident { $d($d args:tt)* }) => {
                crate::ops::rules::admit::loops_of! { $below, with_bools { $d then { $d($d args)* } } }
            };)*
            $(($kinds, $d then:ident { $d($d args:tt)* }) => {
                $d then! { $d($d args)* ($($kbb)+) ($($kii)+) ($($kff)+) ($($kcc)+) $kinds_cost }
            };)*
        }
        #[cfg(any(not(debug_assertions), feature = "precompiled"))]
        pub(crate) use loops_of;

        /// Calls `$then!` with the names of the rules, for tests.
        #[cfg(test)]
        macro_rules! rules_of_pairs {
            ($d then:ident) => { $d then! { $($all)* $($each)* $($alike)* $($pair)* $($over)* $($kinds)* } };
        }
        #[cfg(test)]
        pub(super) use rules_of_pairs;
        /// The same for rules of single operands.
        #[cfg(test)]
        macro_rules! rules_of_one {
            ($d then:ident) => { $d then! { $($all)* $($each)* } };
        }
        #[cfg(test)]
        pub(super) use rules_of_one;
    };

    // A rule of one dtype applies to a set.
    (@each $rule:ident [. x x x]) => { rules!(@set $rule Numeric); };
    (@each $rule:ident [x x x .]) => { rules!(@set $rule Ordered); };
    (@each $rule:ident [. x x .]) => { rules!(@set $rule Real); };
    (@each $rule:ident [x x . .]) => { rules!(@set $rule Bits); };
    (@each $rule:ident [. x . .]) => { rules!(@set $rule Integer); };
    (@each $rule:ident [. . x x]) => { rules!(@set $rule Inexact); };
    (@each $rule:ident [. . x .]) => { rules!(@set $rule Float); };
    (@each $rule:ident [. . . x]) => { rules!(@set $rule ComplexFloat); };
    (@set $rule:ident $set:ident) => {
        #[diagnostic::do_not_recommend]
        impl<E: is::$set, Op> $rule<Op> for E {}
    };

    // A picture of pairs is one impl for first operands in the set, which generic code needs, and one per dtype outside it.
    (@picture $rule:ident $beside:ident Dtype $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: Dtype,] A, $bool);
    };
    (@picture $rule:ident $beside:ident Numeric $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Numeric,] A, $integer);
        rules!(@impl $rule $beside [] bool, $bool);
    };
    (@picture $rule:ident $beside:ident Ordered $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Ordered,] A, $bool);
        crate::__dtypes!(ComplexFloat {rules} @apart $rule $beside $complex);
    };
    (@picture $rule:ident $beside:ident Real $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Real,] A, $integer);
        rules!(@impl $rule $beside [] bool, $bool);
        crate::__dtypes!(ComplexFloat {rules} @apart $rule $beside $complex);
    };
    (@picture $rule:ident $beside:ident Integer $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Integer,] A, $integer);
        rules!(@impl $rule $beside [] bool, $bool);
        crate::__dtypes!(Inexact {rules} @apart $rule $beside $float);
    };
    (@picture $rule:ident $beside:ident Inexact $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Inexact,] A, $float);
        rules!(@impl $rule $beside [] bool, $bool);
        crate::__dtypes!(Integer {rules} @apart $rule $beside $integer);
    };
    (@picture $rule:ident $beside:ident Float $bool:tt $integer:tt $float:tt $complex:tt) => {
        rules!(@impl $rule $beside [A: is::Float,] A, $float);
        rules!(@impl $rule $beside [] bool, $bool);
        crate::__dtypes!(Integer {rules} @apart $rule $beside $integer);
        crate::__dtypes!(ComplexFloat {rules} @apart $rule $beside $complex);
    };
    (@apart $rule:ident $beside:ident $row:tt $($ty:ty),*) => {
        $(rules!(@impl $rule $beside [] $ty, $row);)*
    };
    (@impl $rule:ident $beside:ident $left:tt $ty:ty, [. . . .]) => {};
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [x x x x]) => { rules!(@$beside $rule [$($left)* B: Dtype,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. x x x]) => { rules!(@$beside $rule [$($left)* B: is::Numeric,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [x x x .]) => { rules!(@$beside $rule [$($left)* B: is::Ordered,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. x x .]) => { rules!(@$beside $rule [$($left)* B: is::Real,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [x x . .]) => { rules!(@$beside $rule [$($left)* B: is::Bits,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. x . .]) => { rules!(@$beside $rule [$($left)* B: is::Integer,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. . x x]) => { rules!(@$beside $rule [$($left)* B: is::Inexact,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. . x .]) => { rules!(@$beside $rule [$($left)* B: is::Float,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [. . . x]) => { rules!(@$beside $rule [$($left)* B: is::ComplexFloat,] B, $ty); };
    (@impl $rule:ident $beside:ident [$($left:tt)*] $ty:ty, [x . . .]) => { rules!(@$beside $rule [$($left)*] bool, $ty); };
    (@all $rule:ident [$($generics:tt)*] $right:ty, $ty:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)* Op> $rule<$right, Op> for $ty {}
    };
    (@tensors $rule:ident [$($generics:tt)*] $right:ty, $ty:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)* K: TensorKind, Op> $rule<$right, K, Op> for $ty {}
    };
    (@scalars $rule:ident [$($generics:tt)*] $right:ty, $ty:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)* Op> $rule<$right, ScalarKind, Op> for $ty {}
    };

    // The same as values.
    (@row [$bool:tt $integer:tt $float:tt $complex:tt]) => {
        [rules!(@cell $bool), rules!(@cell $integer), rules!(@cell $float), rules!(@cell $complex)]
    };
    (@cell x) => { true };
    (@cell .) => { false };
    (@beside all) => { [true, true, true] };
    (@beside scalars) => { [true, false, false] };
    (@beside tensors) => { [false, true, true] };
    (@is_long long) => { true };
    (@is_long quick) => { false };
}

/// The set of a row, and its floating and complex dtypes.
#[cfg(feature = "any")]
macro_rules! set_of_row {
    ([x x x x] $then:ident { $($args:tt)* }) => { $then! { $($args)* Dtype Inexact } };
    ([. x x x] $then:ident { $($args:tt)* }) => { $then! { $($args)* Numeric Inexact } };
    ([x x x .] $then:ident { $($args:tt)* }) => { $then! { $($args)* Ordered Float } };
    ([. x x .] $then:ident { $($args:tt)* }) => { $then! { $($args)* Real Float } };
    ([. . x x] $then:ident { $($args:tt)* }) => { $then! { $($args)* Inexact Inexact } };
    ([. . x .] $then:ident { $($args:tt)* }) => { $then! { $($args)* Float Float } };
}
#[cfg(feature = "any")]
pub(crate) use set_of_row;

/// The cells of a row, one group per category.
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
macro_rules! cells_of_row {
    ([$bool:tt $integer:tt $float:tt $complex:tt] $cost:ident $then:ident { $($args:tt)* }) => {
        $then! { $($args)* ($bool) ($integer) ($float) ($complex) $cost }
    };
}
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
pub(crate) use cells_of_row;
pub(super) use rules;

/// Cells in which bools have a loop, too.
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
macro_rules! with_bools {
    ($then:ident { $($args:tt)* } $bool:tt $($others:tt)*) => { $then! { $($args)* (x) $($others)* } };
}
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
pub(crate) use with_bools;
