//! Decompositions of low rank by random projections.
//! Uses `tensor::decompose::lowrank`, `create::drawn`.

use super::{any3, over_field};
use crate::any::call::Bound;
use crate::any::create::drawn::unseeded;
use crate::any::{AnyTensor, Value};
use crate::device::Dynamic;
use crate::error::{Result, invalid};
use crate::tensor::Generator;
use crate::tensor::decompose::lowrank::{LowRank, lowrank};
use castiron_macros::operations;

impl AnyTensor {
    fn lowrank(&self, how: LowRank, generator: &mut Generator) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let parts = over_field!(how.op, self.dtype, E => lowrank::<E, Dynamic>(how, self.elements_as()?, generator))?;
        any3(how.op, parts, [self.dtype, self.real_dtype(), self.dtype])
    }

    /// The smaller size of matrices.
    fn shorter(&self, op: &'static str) -> Result<usize> {
        match self.sizes[..] {
            [.., m, n] => Ok(m.min(n)),
            _ => invalid(op, "the input tensor A must have at least 2 dimensions".to_owned()),
        }
    }
}

#[operations]
impl AnyTensor {
    /// `(U, S, V)` with `A` about `U diag(S) Vᴴ` for matrices of low rank: the `q` largest singular values, or all if there are fewer, from
    /// random projections that are improved `niter` times (`torch.svd_lowrank`, where `q` is 6 and `niter` 2 if not given; its `M` is to be
    /// subtracted before).
    ///
    /// # Errors
    /// If the tensor is no matrix or batch of them, has elements that are not finite, `niter` is more than 1000, or the dtype is none that matrices
    /// are factored in.
    ///
    /// ```
    /// use castiron::{AnyTensor, Generator, tensor};
    /// let x = AnyTensor::from(tensor![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]);
    /// let (u, s, v) = x.svd_lowrank(1, 2, &mut Generator::seeded(0))?;
    /// assert!(u.mul(&s)?.matmul(&v.adjoint()?)?.allclose(&x, 1e-5, 1e-6, false)?);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn svd_lowrank(
        &self,
        q: usize,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "svd_lowrank";
        let how = LowRank { op, rank: q.min(self.shorter(op)?), iterations: niter, centers: false };
        self.lowrank(how, generator)
    }

    /// [`svd_lowrank`](Self::svd_lowrank) after the mean of each column has been subtracted, with `center`: principal components
    /// (`torch.pca_lowrank`, where `q` is at most 6 if not given).
    ///
    /// # Errors
    /// As there, and if `q` is more than the smaller size.
    pub fn pca_lowrank(
        &self,
        q: Option<usize>,
        center: bool,
        niter: usize,
        generator: &mut Generator,
    ) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "pca_lowrank";
        let short = self.shorter(op)?;
        let how = LowRank { op, rank: q.unwrap_or(short.min(6)), iterations: niter, centers: center };
        self.lowrank(how, generator)
    }

    #[op(svd_lowrank(A, q, niter, M, generator), dtypes = "float32, float64, complex64 and complex128")]
    fn svd_lowrank_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        let (q, niter) = (args.read::<Option<usize>>("q")?, args.read::<Option<usize>>("niter")?);
        let mut x = args.tensor("A")?.clone();
        if let Some(mean) = args.read::<Option<&AnyTensor>>("M")? {
            x = x.sub(mean.expanded_to(&x.sizes)?)?;
        }
        let (u, s, v) = x.svd_lowrank(q.unwrap_or(6), niter.unwrap_or(2), generator)?;
        Ok(Value::List(vec![u.into(), s.into(), v.into()].into()))
    }

    #[op(pca_lowrank(A, q, center, niter, generator), dtypes = "float32, float64, complex64 and complex128")]
    fn pca_lowrank_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        let (q, center) = (args.read::<Option<usize>>("q")?, args.read_or("center", || true)?);
        let niter = args.read_or("niter", || 2)?;
        let (u, s, v) = args.tensor("A")?.pca_lowrank(q, center, niter, generator)?;
        Ok(Value::List(vec![u.into(), s.into(), v.into()].into()))
    }
}
