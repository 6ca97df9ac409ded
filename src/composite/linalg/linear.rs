//! Weights applied to the last axis: `linear`, `bilinear`.

use super::product::Summand;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Complex, DType, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Casting, Combining};
use crate::shape::{Dim, Dimensional, HasAxis, InFeatures, InputBeside, Shape};
use crate::storage::View;
use crate::tensor::{Optional, SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::composites;

type Operand<'a, E, D> = View<'a, <D as crate::device::Backend>::Storage, E>;

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// `x @ weight.T + bias`: a matrix applied to the last axis, `(…, K)` with a weight of `(N, K)` giving `(…, N)`.
    ///
    /// All have one dtype, which is the result's. [`Tensor::linear_with`](crate::Tensor::linear_with) computes an activation in the same
    /// pass.
    ///
    /// # Errors
    /// If sizes do not match.
    #[doc(alias = "dense")]
    #[doc(alias = "fully_connected")]
    #[op(nn.functional.linear(input, weight, bias = None), dtypes = numeric)]
    #[any(
        let () = self.expect_one_dtype("linear", [Some(weight), bias])?,
        if bias.is_none() && self.lacks_terms(weight) {
            return self.to(crate::DType::U8)?.linear(&weight.to(crate::DType::U8)?, None)?.to(crate::DType::Bool);
        }
    )]
    #[typed(<N: Dim, K, F: Element, X: Device>(&self, weight: &Tensor<F, (N, K), X>, bias: impl Optional<E, (N,), D>) -> Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>
        where
            E: NumericFor<ops::reduce::linear>,
            S: Dimensional + HasAxis<-1>,
            <S as HasAxis<-1>>::Dim: InFeatures<K>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::linear>)]
    #[example(let x = tensor![[1.0, 1.0]]; let weight = tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]; let bias = tensor![0.5, 0.0, -1.0]; x.linear(&weight, Some(&bias)), x.linear(&weight, Some(&bias)), tensor![[3.5, 7.0, 10.0]])]
    pub(crate) fn linear(&self, weight: &Erased<'_, E, D>, bias: Option<&Erased<'_, E, D>>) -> Result<Owned<E, D>> {
        if weight.rank() == 1 && bias.is_none() && self.rank() > 0 {
            return self.product(weight);
        }
        self.through(weight, bias, |x, weight, added| D::matmul::<E>(x, weight, added))
    }

    /// [`linear`](Self::linear) of a matrix, by what multiplies the operand as rows with the transposed weight and adds the bias.
    pub(crate) fn through(
        &self,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
        multiply: impl FnOnce(Operand<'_, E, D>, Operand<'_, E, D>, Option<Added<'_, D::Storage, E>>) -> Result<D::Storage>,
    ) -> Result<Owned<E, D>> {
        let &[n, columns] = weight.sizes() else {
            let (own, weight) = (self.sizes(), weight.sizes());
            return invalid("linear", format!("shapes {own:?} and {weight:?} are no rows and no matrix"));
        };
        let (rows, result) = self.as_rows([n, columns])?;
        let turned = weight.permute("linear", &[1, 0])?;
        let one = E::from_i32(1).to_compute();
        let summand = bias.map(|bias| Summand { op: "linear", input: bias.view(), beta: one, alpha: one });
        let sizes = [rows.sizes()[0], n];
        let strides = summand.as_ref().map(|summand| summand.strides(&sizes)).transpose()?;
        let added = summand.as_ref().zip(strides.as_ref());
        let added = added.map(|(summand, strides)| summand.expanded(&sizes, strides));
        Ok(Erased::dense(multiply(rows.view(), turned.view(), added)?, result))
    }

    /// The operand as the rows of a matrix, for a weight of sizes `(n, rows)`, and the sizes of the result.
    pub(crate) fn as_rows(&self, [n, rows]: [usize; 2]) -> Result<(Erased<'_, E, D>, Dims)> {
        let op = "linear";
        let Some((&columns, leading)) = self.sizes().split_last() else {
            return invalid(op, "a zero-dim tensor has no last axis".to_owned());
        };
        if columns != rows {
            let (lhs, rhs) = (self.sizes().into(), [n, rows][..].into());
            return Err(Error::MatMul { lhs, rhs, columns, rows });
        }
        let mut result = self.dims();
        result[leading.len()] = n;
        checked_numel::<E>(op, &result)?;
        Ok((self.reshape(op, &[leading.iter().product(), columns])?, result))
    }

    /// `self @ weight[o] @ other` along the last axes for each output `o`, plus a bias: `(…, K)` and `(…, J)` with a weight of `(O, K, J)`
    /// give `(…, O)`.
    ///
    /// All have one dtype, which is the result's.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(nn.functional.bilinear(input1, input2, weight, bias = None), dtypes = numeric, aliases("bilinear"))]
    #[any(let () = self.expect_one_dtype("bilinear", [Some(other), Some(weight), bias])?)]
    #[allow(clippy::type_complexity)]
    #[typed(<O: Dim, K, J: Dim, R, F: Element, G: Element, X: Device, Y: Device>(&self, other: &Tensor<G, R, Y>, weight: &Tensor<F, (O, K, J), X>, bias: impl Optional<E, (O,), D>) -> Tensor<E, <S as HasAxis<-1>>::Replace<O>, D>
        where
            E: NumericFor<ops::losses::bilinear>,
            S: Dimensional + HasAxis<-1>,
            R: Shape + InputBeside<S>,
            <S as HasAxis<-1>>::Dim: InFeatures<K>,
            <R as HasAxis<-1>>::Dim: InFeatures<J>,
            K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::losses::bilinear>,
            R: SameDevice<D, Y> + SameDtype<E, G, ops::losses::bilinear>)]
    #[example(let x = tensor![[1.0, 2.0]]; let y = tensor![[3.0, 4.0, 5.0]]; let weight = tensor![[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]]; let bias = tensor![0.5]; x.bilinear(&y, &weight, Some(&bias)), x.bilinear(&y, &weight, Some(&bias)), tensor![[21.5]])]
    pub(crate) fn bilinear(
        &self,
        other: &Erased<'_, E, D>,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
    ) -> Result<Owned<E, D>> {
        // 16-bit floats compute in `f32`, so that the two products are rounded once.
        if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
            self.forms::<f32>(other, weight, bias)
        } else if const { matches!(E::DTYPE, DType::C32) } {
            self.forms::<Complex<f32>>(other, weight, bias)
        } else {
            self.forms::<E>(other, weight, bias)
        }
    }

    /// [`bilinear`](Self::bilinear) with products of dtype `W`.
    fn forms<W: Dtype>(
        &self,
        other: &Erased<'_, E, D>,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
    ) -> Result<Owned<E, D>> {
        let op = "bilinear";
        let (&[outputs, k, j], Some((&columns, leading)), Some((&others, rows))) =
            (weight.sizes(), self.sizes().split_last(), other.sizes().split_last())
        else {
            return invalid(op, "two tensors of rows and a weight with three axes are wanted".to_owned());
        };
        if leading != rows || columns != k || others != j {
            let (left, right, weight) = (self.sizes(), other.sizes(), weight.sizes());
            return invalid(op, format!("the shapes {left:?}, {right:?} and {weight:?} do not match"));
        }
        if let Some(bias) = bias
            && *bias.sizes() != [outputs]
        {
            return Err(Error::Shape { op, expected: format!("[{outputs}]"), found: bias.sizes().into() });
        }
        let (count, mut sizes): (usize, _) = (leading.iter().product(), self.dims());
        sizes[leading.len()] = outputs;
        checked_numel::<W>(op, &sizes)?;
        checked_numel::<W>(op, &[count, outputs, j])?;
        let (left, right) = (self.map1_dense::<W>(op, Casting)?, other.map1_dense::<W>(op, Casting)?);
        // (O, K, J) as K rows of O * J columns.
        let weight = weight.permute(op, &[1, 0, 2])?.map1_dense::<W>(op, Casting)?;
        let (left, weight) = (left.reshape(op, &[count, k])?, weight.reshape(op, &[k, outputs * j])?);
        let forms = D::matmul::<W>(left.view(), weight.view(), None)?;
        let forms = Owned::<W, D>::dense(forms, Dims::known(&[count, outputs, j]));
        let result = D::matmul::<W>(forms.view(), right.reshape(op, &[count, j, 1])?.view(), None)?;
        let result = Owned::<W, D>::dense(result, sizes).map1_dense::<E>(op, Casting)?;
        match bias {
            Some(bias) => result.map2_dense(op, Combining::<ops::add, E>::new(), bias),
            None => Ok(result),
        }
    }
}
