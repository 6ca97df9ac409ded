//! Typed inverses, determinants and exponentials.
//! Uses `decompose::erased`, `decompose::spectral`.

use super::erased;
use super::solutions;
use super::spectral::{self, Norm, Tolerance};
use crate::cpu::factor::field::Field;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::decompose as ops;
use crate::shape::{Matrices, Shape, SizeArray, SquareFor, TensorInverse};
use crate::tensor::Tensor;
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Inverses of square matrices, `(…, N, N)`.
    ///
    /// PyTorch: `torch.linalg.inv`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is singular, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[2.0, 0.0], [0.0, 4.0]];
    /// assert_eq!(x.inv().to_vec(), [0.5, 0.0, 0.0, 0.25]);
    /// let error = tensor![[1.0, 1.0], [1.0, 1.0]].try_inv().unwrap_err();
    /// assert!(error.to_string().starts_with("linalg.inv: The diagonal element 2 is zero"));
    /// ```
    #[doc(alias = "inverse")]
    #[fallible]
    pub fn inv(&self) -> Result<Self>
    where
        E: Field,
        S: Matrices,
        S::Rows: SquareFor<S::Columns, ops::inv>,
    {
        let op = "linalg.inv";
        solutions::inverse::<E, D>(op, self.elements(), true)?.0.typed(op)
    }

    /// Inverses, and for each matrix where a zero made it singular, counted from 1, or 0.
    ///
    /// PyTorch: `torch.linalg.inv_ex`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1.0, 1.0], [1.0, 1.0]].inv_ex().1.item(), 2);
    /// ```
    #[fallible]
    pub fn inv_ex<Lead: Shape>(&self) -> Result<(Self, Tensor<i32, Lead, D>)>
    where
        E: Field,
        S: Matrices<Lead = Lead>,
        S::Rows: SquareFor<S::Columns, ops::inv_ex>,
    {
        let op = "linalg.inv_ex";
        let (inverse, info) = solutions::inverse::<E, D>(op, self.elements(), false)?;
        Ok((inverse.typed(op)?, info.typed(op)?))
    }

    /// Determinants of square matrices: `(…, N, N)` gives `(…)`.
    ///
    /// PyTorch: `torch.linalg.det`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[2.0, 1.0], [0.0, 4.0]].det().item(), 8.0);
    /// ```
    #[fallible]
    pub fn det<Lead: Shape>(&self) -> Result<Tensor<E, Lead, D>>
    where
        E: Field,
        S: Matrices<Lead = Lead>,
        S::Rows: SquareFor<S::Columns, ops::det>,
    {
        let op = "linalg.det";
        erased::det::<E, D>(op, self.elements())?.typed(op)
    }

    /// Signs of determinants, and the logarithms of their absolute values.
    ///
    /// PyTorch: `torch.linalg.slogdet`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (sign, log) = tensor![[-1.0, 0.0], [0.0, 1.0]].slogdet();
    /// assert_eq!((sign.item(), log.item()), (-1.0, 0.0));
    /// ```
    #[fallible]
    pub fn slogdet<Re: Element, Lead: Shape>(&self) -> Result<(Tensor<E, Lead, D>, Tensor<Re, Lead, D>)>
    where
        E: Field<Re = Re>,
        S: Matrices<Lead = Lead>,
        S::Rows: SquareFor<S::Columns, ops::slogdet>,
    {
        let op = "linalg.slogdet";
        let [sign, log] = erased::slogdet::<E, D>(op, self.elements())?;
        Ok((sign.typed(op)?, log.typed(op)?))
    }

    /// Exponentials of square matrices.
    ///
    /// PyTorch: `torch.linalg.matrix_exp`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[0.0, 1.0], [0.0, 0.0]];
    /// assert_eq!(x.matrix_exp().to_vec(), [1.0, 1.0, 0.0, 1.0]);
    /// ```
    #[fallible]
    pub fn matrix_exp(&self) -> Result<Self>
    where
        E: Field,
        S: Matrices,
        S::Rows: SquareFor<S::Columns, ops::matrix_exp>,
    {
        erased::exponential::<E, D>(self.elements())?.typed("linalg.matrix_exp")
    }

    /// The pseudoinverse of Moore and Penrose, `(…, M, N)` to `(…, N, M)`. Singular values up to `rtol` times the largest are left out, without it
    /// up to the machine epsilon times the larger size; of `hermitian` matrices eigenvalues are computed instead.
    ///
    /// PyTorch: `torch.linalg.pinv`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape, tensor};
    /// let x: Tensor<f32, shape![2, 1]> = tensor![[3.0, 4.0]].pinv(None, false);
    /// assert!(x.allclose(&tensor![[0.12], [0.16]]));
    /// ```
    #[fallible]
    pub fn pinv(&self, rtol: Option<f64>, hermitian: bool) -> Result<Tensor<E, S::With<S::Columns, S::Rows>, D>>
    where
        E: Field,
        S: Matrices,
    {
        let tolerance = Tolerance { atol: None, rtol: rtol.map(|rtol| vec![rtol]) };
        spectral::pinv::<E, D>(self.elements(), &tolerance, hermitian)?.typed("linalg.pinv")
    }

    /// How many singular values exceed `rtol` times the largest, or without it the machine epsilon times the larger size: `(…, M, N)` gives
    /// `(…)`, `i64`.
    ///
    /// PyTorch: `torch.linalg.matrix_rank`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1.0, 2.0], [2.0, 4.0]].matrix_rank(None, false).item(), 1);
    /// ```
    #[fallible]
    pub fn matrix_rank<Lead: Shape>(&self, rtol: Option<f64>, hermitian: bool) -> Result<Tensor<i64, Lead, D>>
    where
        E: Field,
        S: Matrices<Lead = Lead>,
    {
        let tolerance = Tolerance { atol: None, rtol: rtol.map(|rtol| vec![rtol]) };
        spectral::matrix_rank::<E, D>(self.elements(), &tolerance, hermitian)?.typed("linalg.matrix_rank")
    }

    /// Condition numbers: the norm of a matrix times that of its inverse, of order 1, -1, 2, -2, infinity or minus infinity; infinite for singular
    /// matrices.
    ///
    /// PyTorch: `torch.linalg.cond`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If the order is another, matrices are not square (2 and -2 take others), an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[2.0, 0.0], [0.0, 8.0]].cond(2.0).item(), 4.0);
    /// ```
    #[fallible]
    pub fn cond<Re: Element, Lead: Shape>(&self, order: f64) -> Result<Tensor<Re, Lead, D>>
    where
        E: Field<Re = Re>,
        S: Matrices<Lead = Lead>,
    {
        spectral::cond::<E, D>(self.elements(), Norm::of("linalg.cond", order)?)?.typed("linalg.cond")
    }

    /// The largest singular values: `(…, M, N)` gives `(…)`.
    ///
    /// PyTorch: `torch.linalg.matrix_norm` of the order 2, `ord=2`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[3.0, 0.0], [0.0, 4.0]].spectral_norm().item(), 4.0);
    /// ```
    #[fallible]
    pub fn spectral_norm<Re: Element, Lead: Shape>(&self) -> Result<Tensor<Re, Lead, D>>
    where
        E: Field<Re = Re>,
        S: Matrices<Lead = Lead>,
    {
        let op = "linalg.matrix_norm";
        spectral::norm::<E, D>(op, self.elements(), Norm::Two)?.typed(op)
    }

    /// The sums of singular values: `(…, M, N)` gives `(…)`.
    ///
    /// PyTorch: `torch.linalg.matrix_norm` with `ord="nuc"`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[3.0, 0.0], [0.0, 4.0]].nuclear_norm().item(), 7.0);
    /// ```
    #[fallible]
    pub fn nuclear_norm<Re: Element, Lead: Shape>(&self) -> Result<Tensor<Re, Lead, D>>
    where
        E: Field<Re = Re>,
        S: Matrices<Lead = Lead>,
    {
        let op = "linalg.matrix_norm";
        spectral::norm::<E, D>(op, self.elements(), Norm::Nuclear)?.typed(op)
    }

    /// The inverse of the linear map from the last axes to the first `N`: the last axes of the result, then the first.
    ///
    /// PyTorch: `torch.linalg.tensorinv`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If the map is singular, sizes known at run time do not make as many elements on both sides, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let x = Tensor::<f64, shape![2, 3, 6]>::from_fn(|[i, j, k]| if 3 * i + j == k { 2.0 } else { 0.0 });
    /// let y: Tensor<f64, shape![6, 2, 3]> = x.tensorinv::<2>();
    /// assert_eq!(y[(4, 1, 1)], 0.5);
    /// ```
    #[fallible]
    pub fn tensorinv<const N: usize>(&self) -> Result<Tensor<E, <S as TensorInverse<N>>::Output, D>>
    where
        E: Field,
        S: TensorInverse<N>,
    {
        let op = "linalg.tensorinv";
        let sizes = self.shape();
        let (start, end) = sizes.as_ref().split_at(N);
        let (rows, columns): (usize, usize) = (start.iter().product(), end.iter().product());
        if rows != columns {
            return invalid(
                op,
                format!("{rows} elements of the first axes and {columns} of the last: they must be as many"),
            );
        }
        let sizes = [end, start].concat();
        let matrix = self.try_contiguous()?;
        let (inverse, _) =
            solutions::inverse::<E, D>(op, matrix.elements().restrided(&[rows, columns], &[columns, 1]), true)?;
        let inverse: Tensor<E, (crate::Dyn, crate::Dyn), D> = inverse.typed(op)?;
        let sizes = <<S as TensorInverse<N>>::Output as Shape>::Sizes::copied(&sizes);
        let seen = strides::reshape(&inverse.shape(), &inverse.stride(), &sizes);
        Ok(match seen {
            Some(strides) => inverse.restrided(0, sizes, strides),
            None => inverse.try_contiguous()?.restrided(0, sizes, strides::contiguous(&sizes)),
        })
    }
}
