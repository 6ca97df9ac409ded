//! Updates and totals on devices whose elements are not in host memory: a program of the devices' own elementwise operations.

use crate::composite::{Erased, Owned};
use crate::cpu::stepping::Total;
use crate::device::Device;
use crate::dtype::{Complex, DType, Dtype, Element, bf16, f16};
use crate::error::Result;
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::{Applying, Combining, CombiningScalar};
use crate::ops::reduce::{Extreme, Sum};
use crate::ops::update::{Instruction, Program};
use crate::storage::View;

const OP: &str = "step";

/// A dtype that programs run in.
trait Runs<D: Device>: Element + Sized {
    /// The results of a program, whose first registers are given.
    fn run(given: Vec<Owned<Self, D>>, program: &Program) -> Result<Vec<Owned<Self, D>>>;
    /// A total over one list, or over two.
    fn total(total: Total, one: &Erased<'_, Self, D>, other: &Erased<'_, Self, D>) -> Result<f64>;
}

macro_rules! runs {
    ($($ty:ty)*) => {$(
        impl<D: Device> Runs<D> for $ty {
            fn run(mut registers: Vec<Owned<$ty, D>>, program: &Program) -> Result<Vec<Owned<$ty, D>>> {
                for instruction in &program.instructions {
                    let of = |at: usize| &registers[at];
                    macro_rules! binary {
                        ($op:ident $a:ident $b:ident) => { of($a).map2(OP, Combining::<ops::$op, $ty>::new(), of($b))? };
                    }
                    macro_rules! unary {
                        ($op:ident $a:ident) => { of($a).map1(OP, Applying::<ops::$op>::new())? };
                    }
                    macro_rules! scalar {
                        ($op:ident $a:expr, $number:ident) => {
                            $a.map1(OP, CombiningScalar::<ops::$op, $ty>($number as $ty))?
                        };
                    }
                    let next: Owned<$ty, D> = match *instruction {
                        Instruction::Neg(a) => unary!(neg a),
                        Instruction::Abs(a) => unary!(abs a),
                        Instruction::Sqrt(a) => unary!(sqrt a),
                        Instruction::Add(a, b) => binary!(add a b),
                        Instruction::Sub(a, b) => binary!(sub a b),
                        Instruction::Mul(a, b) => binary!(mul a b),
                        Instruction::Div(a, b) => binary!(div a b),
                        Instruction::Larger(a, b) => binary!(maximum a b),
                        Instruction::Plus(a, number) => scalar!(add of(a), number),
                        Instruction::Times(a, number) => scalar!(mul of(a), number),
                        Instruction::Over(a, number) => scalar!(div of(a), number),
                        Instruction::Clamped(a, low, high) => {
                            let above: Owned<$ty, D> = scalar!(maximum of(a), low);
                            scalar!(minimum above, high)
                        }
                    };
                    registers.push(next);
                }
                Ok(program.results.iter().map(|&at| registers[at].share()).collect())
            }
            fn total(total: Total, one: &Erased<'_, $ty, D>, other: &Erased<'_, $ty, D>) -> Result<f64> {
                let terms: Owned<$ty, D> = match total {
                    Total::Dot => one.map2_dense(OP, Combining::<ops::mul, $ty>::new(), other)?,
                    Total::Magnitudes | Total::Largest => one.map1_dense(OP, Applying::<ops::abs>::new())?,
                };
                if terms.is_empty() {
                    return Ok(0.0);
                }
                let terms = terms.reshape(OP, &[terms.numel()])?;
                let all: Owned<$ty, D> = match total {
                    Total::Largest => terms.reduce(Extreme::<$ty, true>::new(), 1, false)?,
                    Total::Dot | Total::Magnitudes => terms.reduce(Sum, 1, false)?,
                };
                let (storage, offset, ..) = all.into_parts();
                Ok(f64::from(D::peek::<$ty>(View::new(&storage, offset, &[], &[]))?))
            }
        }
    )*};
}
runs!(f32 f64);

/// The elements in a dtype that programs run in: complex numbers as their parts, along a last axis.
fn widened<E: Element, F: Dtype + Element, D: Device>(x: &Erased<'_, E, D>) -> Result<Owned<F, D>> {
    // (`if const`: only the arm of the dtype is compiled.)
    macro_rules! through {
        ($ty:ty) => {
            Ok(x.known_as::<$ty>().to::<F>(OP)?.share())
        };
        (parts of $ty:ty) => {
            Ok(x.known_as::<$ty>().parts(OP)?.to::<F>(OP)?.share())
        };
    }
    if const { is::<E>(DType::F16) } {
        through!(f16)
    } else if const { is::<E>(DType::BF16) } {
        through!(bf16)
    } else if const { is::<E>(DType::C32) } {
        through!(parts of Complex<f16>)
    } else if const { is::<E>(DType::C64) } {
        through!(parts of Complex<f32>)
    } else if const { is::<E>(DType::C128) } {
        through!(parts of Complex<f64>)
    } else {
        Ok(x.known_as::<F>().share())
    }
}

/// The way back.
fn narrowed<E: Element, F: Dtype + Element, D: Device>(x: Owned<F, D>) -> Result<Owned<E, D>> {
    if const { is::<E>(DType::F16) } {
        Ok(x.to::<f16>(OP)?.share().retyped())
    } else if const { is::<E>(DType::BF16) } {
        Ok(x.to::<bf16>(OP)?.share().retyped())
    } else if const { is::<E>(DType::C32) } {
        joined(x.to::<f16>(OP)?)
    } else if const { E::DTYPE.is_complex() } {
        joined(x)
    } else {
        Ok(x.retyped())
    }
}

/// Complex numbers of their parts along the last axis.
fn joined<E: Element, F: Element, D: Device>(parts: Erased<'_, F, D>) -> Result<Owned<E, D>> {
    let sizes = Dims::known(&parts.sizes()[..parts.rank() - 1]);
    let storage = D::map1::<F, F>(ops::kernel::Copying, parts.view(), &parts.dims().row_major())?;
    Ok(Erased::dense(storage, sizes))
}

const fn is<E: Element>(dtype: DType) -> bool {
    E::DTYPE as u8 == dtype as u8
}

/// Runs a program on a parameter, its gradient and its states; gives the new parameter and states.
pub(crate) fn run<E: Element, D: Device>(given: &[Erased<'_, E, D>], program: &Program) -> Result<Vec<Owned<E, D>>> {
    fn by<E: Element, F: Dtype + Runs<D>, D: Device>(
        given: &[Erased<'_, E, D>],
        program: &Program,
    ) -> Result<Vec<Owned<E, D>>> {
        let given = given.iter().map(widened::<E, F, D>).collect::<Result<Vec<_>>>()?;
        F::run(given, program)?.into_iter().map(narrowed).collect()
    }
    if const { is::<E>(DType::F64) || is::<E>(DType::C128) } {
        by::<E, f64, D>(given, program)
    } else if const { is_learned::<E>() } {
        by::<E, f32, D>(given, program)
    } else {
        Ok(Vec::new())
    }
}

/// A total over the elements of two tensors.
pub(crate) fn total<E: Element, D: Device>(
    total: Total,
    one: &Erased<'_, E, D>,
    other: &Erased<'_, E, D>,
) -> Result<f64> {
    if const { is::<E>(DType::F64) || is::<E>(DType::C128) } {
        f64::total(total, &widened::<E, f64, D>(one)?, &widened::<E, f64, D>(other)?)
    } else if const { is_learned::<E>() } {
        f32::total(total, &widened::<E, f32, D>(one)?, &widened::<E, f32, D>(other)?)
    } else {
        Ok(0.0)
    }
}

/// Whether programs run on the dtype.
const fn is_learned<E: Element>() -> bool {
    matches!(E::DTYPE, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C32 | DType::C64 | DType::C128)
}
