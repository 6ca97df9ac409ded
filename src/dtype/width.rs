//! Types of the width of an element, for code that only copies elements and is compiled once per width.

/// `by_width!(width, W in [A, B, C, D, E] => run)`: runs code with `W` as the type of that width in bytes: 1, 2, 4, 8 or 16.
macro_rules! by_width {
    ($width:expr, $W:ident in [$one:ty, $two:ty, $four:ty, $eight:ty, $sixteen:ty] => $run:expr) => {
        match $width {
            1 => {
                type $W = $one;
                $run
            }
            2 => {
                type $W = $two;
                $run
            }
            4 => {
                type $W = $four;
                $run
            }
            8 => {
                type $W = $eight;
                $run
            }
            16 => {
                type $W = $sixteen;
                $run
            }
            _ => panic!("elements have 1, 2, 4, 8 or 16 bytes"),
        }
    };
}
pub(crate) use by_width;

/// `of_width!(width, W => run)`: runs code with an element type `W` of that width in bytes.
#[cfg(feature = "any")]
macro_rules! of_width {
    ($width:expr, $W:ident => $run:expr) => {
        $crate::dtype::width::by_width!($width, $W in [u8, i16, i32, i64, $crate::Complex<f64>] => $run)
    };
}
#[cfg(feature = "any")]
pub(crate) use of_width;

/// `word_of_width!(width, W => run)`: runs code with a type of that width whose alignment no element of this size exceeds (a complex number
/// is aligned like its parts).
macro_rules! word_of_width {
    ($width:expr, $W:ident => $run:expr) => {
        $crate::dtype::width::by_width!($width, $W in [u8, u16, [u16; 2], [u32; 2], [u64; 2]] => $run)
    };
}
pub(crate) use word_of_width;

/// `loop_by_width!(fn name -> Loop: W => loop::<W>)`: a function generic over an element type that returns the loop for its width as a
/// function pointer. The loop is compiled in the program that uses it; with the feature `precompiled` here, for all widths.
macro_rules! loop_by_width {
    ($(#[$doc:meta])* fn $name:ident -> $Loop:ty: $W:ident => $loop:expr) => {
        $(#[$doc])*
        fn $name<E: $crate::dtype::Element>() -> $Loop {
            #[cfg(feature = "precompiled")]
            {
                fn of_width(width: usize) -> $Loop {
                    $crate::dtype::width::word_of_width!(width, $W => $loop)
                }
                of_width(size_of::<E>())
            }
            #[cfg(not(feature = "precompiled"))]
            const {
                $crate::dtype::width::word_of_width!(size_of::<E>(), $W => $loop)
            }
        }
    };
}
pub(crate) use loop_by_width;
