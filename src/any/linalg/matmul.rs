//! Products of vectors, matrices and batches of them: `matmul`, `mm`, `bmm`, `mv`, `dot`, and `addr`.

use crate::any::base::by_width::same_dtype;
use crate::any::base::convert::widened;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::elementwise::chained::{self, Chain};
use crate::any::elementwise::op_table::binary;
use crate::any::{AnyTensor, IntoAny};
use crate::device::AnyDevice;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result, invalid};
use crate::tensor::expect_whole_factor;
use castiron_macros::operations;

/// The product of operands of one dtype.
pub(crate) fn product(op: &'static str, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
    a.expect_one_dtype(op, [Some(b)])?;
    if a.rank() == 0 || b.rank() == 0 {
        return invalid(op, "a zero-dim tensor has no product with a matrix".to_owned());
    }
    if a.lacks_terms(b) {
        return product(op, &a.to(DType::U8)?, &b.to(DType::U8)?)?.to(DType::Bool);
    }
    dispatch_dtype!(op, a.dtype, E: Numeric => {
        a.as_erased::<E>()?.product(&b.as_erased()?).map(IntoAny::into_any)
    })
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
        product("matmul", self, other)
    }

    /// [`matmul`](Self::matmul) of matrices (`torch.mm`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a matrix.
    #[op(mm(input, mat2), dtypes = numeric)]
    pub fn mm(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("mm", [(self, 2), (other, 2)])?;
        product("mm", self, other)
    }

    /// [`matmul`](Self::matmul) of batches of matrices with the same length (`torch.bmm`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a batch or the lengths differ.
    #[op(bmm(input, mat2), dtypes = numeric)]
    pub fn bmm(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_batches("bmm", self, other)?;
        product("bmm", self, other)
    }

    /// [`matmul`](Self::matmul) of a matrix and a vector (`torch.mv`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if they have other ranks.
    #[op(mv(input, vec), dtypes = numeric)]
    pub fn mv(&self, vector: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("mv", [(self, 2), (vector, 1)])?;
        product("mv", self, vector)
    }

    /// [`matmul`](Self::matmul) of vectors (`torch.dot`).
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and if one is not a vector.
    #[op(dot(input, tensor), dtypes = numeric)]
    pub fn dot(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("dot", [(self, 1), (other, 1)])?;
        product("dot", self, other)
    }

    /// Checks that operands have the dtype and the device of `self`.
    pub(crate) fn expect_one_dtype<'a>(
        &self,
        op: &'static str,
        others: impl IntoIterator<Item = Option<&'a AnyTensor>>,
    ) -> Result<()> {
        others.into_iter().flatten().try_for_each(|other| {
            same_dtype(op, self, other)?;
            same_device(op, self, other)
        })
    }

    /// Whether a product of bools has no terms: PyTorch refuses only others.
    pub(crate) fn lacks_terms(&self, other: &AnyTensor) -> bool {
        let vectors = self.rank() == 1 && other.rank() == 1;
        self.dtype == DType::Bool && !vectors && (self.is_empty() || other.is_empty())
    }

    /// Checks the factors of a product that is added to `self`, and their numbers of axes.
    pub(crate) fn expect_factors(&self, op: &'static str, factors: [(&AnyTensor, usize); 2]) -> Result<()> {
        expect_ranks(op, factors)?;
        self.expect_one_dtype(op, factors.map(|(factor, _)| Some(factor)))
    }

    /// `beta * self + alpha * outer(a, b)`, which PyTorch computes element by element, with promotion.
    fn added_outer(&self, a: &AnyTensor, b: &AnyTensor, [beta, alpha]: [ScalarValue; 2]) -> Result<AnyTensor> {
        let op = "addr";
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

    /// `beta * self + alpha * outer(a, b)` of vectors (`torch.addr`). Dtypes promote.
    ///
    /// # Errors
    /// If one is not a vector, `self` does not expand to the product, or integers are given a floating-point factor.
    #[op(addr(input, vec1, vec2, beta = 1, alpha = 1), dtypes = any)]
    #[in_place("tensor![[0, 0], [0, 0]]" "&AnyTensor::from(tensor![1, 2]), &AnyTensor::from(tensor![3, 4]), 1, 1" = "[[3, 4], [6, 8]]")]
    pub fn addr(&self, a: &AnyTensor, b: &AnyTensor, beta: impl Scalar, alpha: impl Scalar) -> Result<AnyTensor> {
        self.added_outer(a, b, [beta, alpha])
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
