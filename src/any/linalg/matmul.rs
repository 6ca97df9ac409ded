//! Products of vectors, matrices and batches of them: `matmul`, `mm`, `bmm`, `mv`, `dot`, `vdot`, `vecdot`, and `addmm` and its variants.

use crate::any::base::by_width::{invalid, same_dtype, signed};
use crate::any::elementwise::apply::same_device;
use crate::any::elementwise::chained::{self, Chain};
use crate::any::elementwise::op_table::binary;
use crate::any::{AnyTensor, Dims};
use crate::composite::linalg::product::Summand;
use crate::device::{AnyDevice, Dynamic, DynamicBuffer};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType, Dtype, Scalar};
use crate::error::{Error, Result};
use crate::tensor::{expect_whole_factor, factor};
use castiron_macros::operations;

/// The tensor that a product is added to, and the factors `beta` and `alpha`.
type Added<'a> = (&'a AnyTensor, [ScalarValue; 2]);

/// The product of operands of one dtype, possibly added to a tensor.
pub(crate) fn product(op: &'static str, a: &AnyTensor, b: &AnyTensor, added: Option<Added<'_>>) -> Result<AnyTensor> {
    same_dtype(op, a, b)?;
    same_device(op, a, b)?;
    if let Some((input, _)) = added {
        same_dtype(op, input, a)?;
        same_device(op, a, input)?;
    }
    if a.rank() == 0 || b.rank() == 0 {
        return invalid(op, "a zero-dim tensor has no product with a matrix".to_owned());
    }
    let vectors = a.rank() == 1 && b.rank() == 1;
    if a.dtype == DType::Bool && added.is_none() && !vectors && (a.is_empty() || b.is_empty()) {
        // PyTorch refuses bools only if the product has terms.
        return product(op, &a.to(DType::U8)?, &b.to(DType::U8)?, None)?.to(DType::Bool);
    }
    fn run<E: Dtype>(
        op: &'static str,
        [a, b]: [&AnyTensor; 2],
        added: Option<Added<'_>>,
    ) -> Result<(DynamicBuffer, Vec<usize>)> {
        let summand = added.map(|(input, [beta, alpha])| {
            let (beta, alpha) = (factor::<E>(op, beta)?, factor::<E>(op, alpha)?);
            Ok::<_, Error>(Summand { op, input: input.elements_as()?, beta, alpha })
        });
        let fits = |sizes: &[usize]| Dims::new(op, sizes).map(|_| ());
        crate::composite::linalg::product::product::<E, Dynamic>(
            a.elements_as()?,
            b.elements_as()?,
            summand.transpose()?,
            &fits,
        )
    }
    let (buffer, sizes) =
        crate::any::base::dispatch::dispatch_dtype!(op, a.dtype, E: Numeric => run::<E>(op, [a, b], added))?;
    crate::any::checked_numel(op, &sizes, a.dtype)?;
    Ok(AnyTensor::fresh_row_major(buffer, a.dtype, Dims::known(&sizes)))
}

/// Checks the ranks of operands.
pub(crate) fn expect_ranks(op: &'static str, operands: [(&AnyTensor, usize); 2]) -> Result<()> {
    match operands.iter().find(|(x, rank)| x.rank() != *rank) {
        Some((x, rank)) => invalid(op, format!("{rank} axes are wanted, got a tensor of shape {:?}", x.shape())),
        None => Ok(()),
    }
}

/// Checks that two batches have the same length.
fn expect_batches(op: &'static str, a: &AnyTensor, b: &AnyTensor) -> Result<()> {
    expect_ranks(op, [(a, 3), (b, 3)])?;
    if a.sizes[0] == b.sizes[0] {
        return Ok(());
    }
    Err(Error::Broadcast { op, lhs: a.shape().into(), rhs: b.shape().into() })
}

/// Checks that a dtype has products: all that compute except bool.
pub(crate) fn expect_numbers(op: &'static str, dtype: DType) -> Result<()> {
    if dtype.is_shell() || dtype == DType::Bool { Err(crate::any::base::dispatch::refused(op, dtype)) } else { Ok(()) }
}

/// The operands of a product that is added to a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    Matrices,
    MatrixAndVector,
    Vectors,
    Batches,
    SummedBatches,
}

impl Operands {
    /// The name of the operation with these operands.
    fn op(self) -> &'static str {
        match self {
            Operands::Matrices => "addmm",
            Operands::MatrixAndVector => "addmv",
            Operands::Vectors => "addr",
            Operands::Batches => "baddbmm",
            Operands::SummedBatches => "addbmm",
        }
    }
}

/// The accumulate type: `f32` for halves, other dtypes as they are.
pub(crate) fn widened(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C32 => DType::C64,
        dtype => dtype,
    }
}

#[operations]
impl AnyTensor {
    /// The matrix product (`torch.matmul`): `(K) @ (K)` is a number, `(…, M, K) @ (…, K, N)` is `(…, M, N)` with the leading axes
    /// broadcast, and the axis of a vector on either side does not appear in the result.
    ///
    /// # Errors
    /// If dtypes differ or are bool, inner sizes differ, or a tensor is zero-dim.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (x, w) = (AnyTensor::from(tensor![[1, 2], [3, 4]]), AnyTensor::from(tensor![10, 1]));
    /// assert_eq!((&x + 1)?.matmul(&w)?.to_string(), "tensor([23, 45])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "mm")]
    #[doc(alias = "dot")]
    #[op(matmul(input, other), dtypes = numeric, aliases("__matmul__"))]
    #[op(__rmatmul__(input, other = self), dtypes = numeric)]
    pub fn matmul(&self, other: &AnyTensor) -> Result<AnyTensor> {
        product("matmul", self, other, None)
    }

    /// [`matmul`](Self::matmul) of matrices (`torch.mm`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a matrix.
    #[op(mm(input, mat2), dtypes = numeric)]
    pub fn mm(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("mm", [(self, 2), (other, 2)])?;
        product("mm", self, other, None)
    }

    /// [`matmul`](Self::matmul) of batches of matrices with the same length (`torch.bmm`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a batch or the lengths differ.
    #[op(bmm(input, mat2), dtypes = numeric)]
    pub fn bmm(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_batches("bmm", self, other)?;
        product("bmm", self, other, None)
    }

    /// [`matmul`](Self::matmul) of a matrix and a vector (`torch.mv`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if they have other ranks.
    #[op(mv(input, vec), dtypes = numeric)]
    pub fn mv(&self, vector: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("mv", [(self, 2), (vector, 1)])?;
        product("mv", self, vector, None)
    }

    /// [`matmul`](Self::matmul) of vectors (`torch.dot`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a vector.
    #[op(dot(input, tensor), dtypes = numeric)]
    pub fn dot(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("dot", [(self, 1), (other, 1)])?;
        product("dot", self, other, None)
    }

    /// [`dot`](Self::dot) with the conjugates of `self` (`torch.vdot`).
    ///
    /// # Errors
    /// As there.
    #[op(vdot(input, other), dtypes = numeric)]
    pub fn vdot(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("vdot", [(self, 1), (other, 1)])?;
        product("vdot", &self.conjugated()?, other, None)
    }

    /// The conjugates of complex elements; real ones unchanged.
    pub(crate) fn conjugated(&self) -> Result<AnyTensor> {
        if self.dtype.is_complex() {
            self.apply(crate::any::elementwise::op_table::unary::conj_physical)
        } else {
            Ok(self.clone())
        }
    }

    /// The sums along an axis of products of elements, those of `self` conjugated; the two broadcast (`torch.linalg.vecdot`).
    ///
    /// # Errors
    /// If dtypes differ or are neither floats nor complex, the shapes do not broadcast or the axis is out of range.
    #[op(linalg.vecdot(x, y, dim = -1), dtypes = inexact)]
    pub fn vecdot(&self, other: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        let op = "vecdot";
        same_dtype(op, self, other)?;
        if self.dtype.is_shell() || self.dtype.category() < Category::Floating {
            return Err(crate::any::base::dispatch::refused(op, self.dtype));
        }
        // PyTorch broadcasts all shapes except two vectors.
        if self.rank() == 1 && other.rank() == 1 && self.sizes != other.sizes {
            return Err(Error::Broadcast { op, lhs: self.shape().into(), rhs: other.shape().into() });
        }
        self.conjugated()?.mul(other)?.sum(Some(&[dim]), false, None)
    }

    /// `beta * self + alpha * product`, with these operands.
    pub(crate) fn added(
        &self,
        operands: Operands,
        a: &AnyTensor,
        b: &AnyTensor,
        factors: [ScalarValue; 2],
    ) -> Result<AnyTensor> {
        let op = operands.op();
        match operands {
            Operands::Vectors => return self.added_outer(a, b, factors),
            Operands::MatrixAndVector => expect_ranks(op, [(a, 2), (b, 1)])?,
            Operands::Matrices => expect_ranks(op, [(a, 2), (b, 2)])?,
            Operands::Batches | Operands::SummedBatches => expect_batches(op, a, b)?,
        }
        if operands != Operands::SummedBatches {
            return product(op, a, b, Some((self, factors)));
        }
        if a.sizes[2] != b.sizes[1] {
            let (lhs, rhs) = (a.shape().into(), b.shape().into());
            return Err(Error::MatMul { lhs, rhs, columns: a.sizes[2], rows: b.sizes[1] });
        }
        // A sum over batches is one matrix product, of the batches concatenated along the summed axis.
        let (m, n, inner) = (a.sizes[1], b.sizes[2], a.sizes[0] * a.sizes[2]);
        let across = a.transpose(0, 1)?.reshaped(&signed(&[m, inner]))?;
        product(op, &across, &b.reshaped(&signed(&[inner, n]))?, Some((self, factors)))
    }

    /// `beta * self + alpha * outer(a, b)`, which PyTorch computes element by element, with promotion.
    fn added_outer(&self, a: &AnyTensor, b: &AnyTensor, [beta, alpha]: [ScalarValue; 2]) -> Result<AnyTensor> {
        let op = Operands::Vectors.op();
        expect_ranks(op, [(a, 1), (b, 1)])?;
        let sizes = [a.numel(), b.numel()];
        let refused = |_| Error::Broadcast { op, lhs: self.shape().into(), rhs: sizes[..].into() };
        let input = self.expanded_to(&sizes).map_err(refused)?;
        let dtype = input.planned().add(&a.planned().outer(&b.planned())?)?.dtype;
        let wide = widened(dtype);
        // The factors are converted to the dtype of the result.
        let of = |name: &str, value: ScalarValue| -> Result<AnyTensor> {
            expect_whole_factor(op, name, value, dtype)?;
            self.scalar_on_device(op, value, wide)
        };
        let (beta_of, alpha_of) = (of("beta", beta)?, of("alpha", alpha)?);
        let zero = match beta {
            ScalarValue::Complex(beta) => beta.re == 0.0 && beta.im == 0.0,
            beta => beta.real_part() == 0.0,
        };
        if !zero && self.device() == AnyDevice::CPU {
            let chain = Chain {
                op,
                dtype,
                common: dtype,
                first: (binary::mul, [&a.unsqueeze(1)?, b]),
                then: binary::add,
                x: &input,
                by_parts: false,
                factors: [chained::factor(beta_of.item()?, wide), None, chained::factor(alpha_of.item()?, wide)],
            };
            if let Some(result) = chain.run()? {
                return Ok(result);
            }
        }
        let scaled = alpha_of.mul(&a.to(wide)?.outer(&b.to(wide)?)?)?;
        if zero {
            return scaled.to(dtype);
        }
        input.to(wide)?.mul(&beta_of)?.add(&scaled)?.to(dtype)
    }

    /// `beta * self + alpha * (a @ b)` of matrices (`torch.addmm`); with a `beta` of 0, `self` is not read.
    ///
    /// # Errors
    /// If dtypes differ or are bool, inner sizes differ, `self` does not expand to the product, or a factor does not fit.
    #[op(addmm(input, mat1, mat2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[1, 1]]" "&AnyTensor::from(tensor![[1, 2]]), &AnyTensor::from(tensor![[3, 0], [0, 4]]), 1, 1" = "[[4, 9]]")]
    pub fn addmm(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added(Operands::Matrices, a, b, [beta, alpha])
    }

    /// [`addmm`](Self::addmm) of a matrix and a vector (`torch.addmv`).
    ///
    /// # Errors
    /// As there.
    #[op(addmv(input, mat, vec, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![1, 1]" "&AnyTensor::from(tensor![[1, 2], [3, 4]]), &AnyTensor::from(tensor![1, 1]), 1, 1" = "[4, 8]")]
    pub fn addmv(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added(Operands::MatrixAndVector, a, b, [beta, alpha])
    }

    /// [`addmm`](Self::addmm) of batches of matrices (`torch.baddbmm`).
    ///
    /// # Errors
    /// As there.
    #[op(baddbmm(input, batch1, batch2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[[1]]]" "&AnyTensor::from(tensor![[[2]]]), &AnyTensor::from(tensor![[[3]]]), 1, 1" = "[[[7]]]")]
    pub fn baddbmm(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added(Operands::Batches, a, b, [beta, alpha])
    }

    /// [`addmm`](Self::addmm) of the sum over batches of matrices (`torch.addbmm`).
    ///
    /// # Errors
    /// As there.
    #[op(addbmm(input, batch1, batch2, beta = 1, alpha = 1), dtypes = numeric)]
    #[in_place("tensor![[1]]" "&AnyTensor::from(tensor![[[2]], [[3]]]), &AnyTensor::from(tensor![[[4]], [[5]]]), 1, 1" = "[[24]]")]
    pub fn addbmm(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added(Operands::SummedBatches, a, b, [beta, alpha])
    }

    /// `beta * self + alpha * outer(a, b)` of vectors (`torch.addr`). Dtypes promote.
    ///
    /// # Errors
    /// If one is not a vector, `self` does not expand to the product, or integers are given a floating-point factor.
    #[op(addr(input, vec1, vec2, beta = 1, alpha = 1), dtypes = any)]
    #[in_place("tensor![[0, 0], [0, 0]]" "&AnyTensor::from(tensor![1, 2]), &AnyTensor::from(tensor![3, 4]), 1, 1" = "[[3, 4], [6, 8]]")]
    pub fn addr(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added(Operands::Vectors, a, b, [beta, alpha])
    }

    /// The adjoint, a view: the last two axes exchanged, and complex elements conjugated (`torch.adjoint`, `torch.Tensor.mH`).
    ///
    /// # Errors
    /// If there is one axis.
    #[op(adjoint(input))]
    #[op(mH(input))]
    pub fn adjoint(&self) -> Result<AnyTensor> {
        match self.rank() {
            0 => Ok(self.conjugate_view()),
            1 => invalid("adjoint", "matrices are wanted, got a vector".to_owned()),
            _ => Ok(self.transpose(-2, -1)?.conjugate_view()),
        }
    }

    #[op(H(input))]
    fn adjoint_of_matrix(&self) -> Result<AnyTensor> {
        match self.rank() {
            0 | 2 => self.adjoint(),
            rank => invalid("H", format!("a matrix is wanted, got a tensor with {rank} axes")),
        }
    }
}
