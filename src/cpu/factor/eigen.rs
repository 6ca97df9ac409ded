//! Eigenvalues and eigenvectors.

use super::field::Field;
use super::{NOT_CONVERGED, Scaled, matrix_mut, scale, scratch};
use crate::dtype::Complex;
use crate::error::{Result, filled, listed};
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{
    ComputeEigenvectors, evd_cplx, evd_real, evd_scratch, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::traits::RealField;
use faer::{MatRef, Par};
use num_traits::{Float, Zero};

fn asked(vectors: bool) -> ComputeEigenvectors {
    if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

/// Ascending eigenvalues from one triangle of a matrix, and eigenvectors in the columns of `v` unless it is empty.
pub(crate) fn eigenvalues_of_symmetric<E: Field>(
    a: &[E],
    n: usize,
    upper: bool,
    w: &mut [E::Re],
    v: &mut [E],
) -> Result<i32> {
    let mut lower = filled(E::zero_impl(), n * n)?;
    for j in 0..n {
        for i in j..n {
            lower[j * n + i] = if upper { a[i * n + j].conjugate() } else { a[j * n + i] };
            lower[i * n + j] = lower[j * n + i].conjugate();
        }
        lower[j * n + j] = E::of_real(lower[j * n + j].real_part());
    }
    if !super::all_finite(&lower) {
        w.fill(<E::Re as Float>::nan());
        v.fill(E::of_real(<E::Re as Float>::nan()));
        return Ok(0);
    }
    let Scaled { elements, exponent } = Scaled::of(&lower)?;
    let vectors = !v.is_empty();
    let mut values = filled(E::zero_impl(), n)?;
    let mut memory = scratch(self_adjoint_evd_scratch::<E>(n, asked(vectors), Par::Seq, Default::default()))?;
    let result = self_adjoint_evd(
        super::matrix(&elements, n, n),
        DiagMut::from_slice_mut(&mut values),
        vectors.then(|| matrix_mut(v, n, n)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    for (to, value) in w.iter_mut().zip(values) {
        *to = value.real_part();
    }
    scale(w, exponent);
    Ok(if result.is_ok() { 0 } else { NOT_CONVERGED })
}

/// Eigenvalues and, if requested, column-major eigenvectors; `None` if the iteration did not converge.
type Eigen<T> = Result<Option<(Vec<Complex<T>>, Vec<Complex<T>>)>>;

/// For a real matrix: conjugate pairs are adjacent, the one with positive imaginary part first.
pub(crate) fn real<T: RealField + Float>(a: MatRef<'_, T>, vectors: bool) -> Eigen<T> {
    let n = a.nrows();
    let (mut re, mut im) = (filled(T::zero(), n)?, filled(T::zero(), n)?);
    let mut packed = filled(T::zero(), if vectors { n * n } else { 0 })?;
    let mut memory =
        scratch(evd_scratch::<T>(n, ComputeEigenvectors::No, asked(vectors), Par::Seq, Default::default()))?;
    let found = evd_real(
        a,
        DiagMut::from_slice_mut(&mut re),
        DiagMut::from_slice_mut(&mut im),
        None,
        vectors.then(|| matrix_mut(&mut packed, n, n)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    if found.is_err() {
        return Ok(None);
    }
    let values = listed(re.iter().zip(&im).map(|(&re, &im)| Complex::new(re, im)))?;
    let mut columns = filled(Complex::new(T::zero(), T::zero()), packed.len())?;
    let mut j = 0;
    while vectors && j < n {
        if im[j] == T::zero() || j + 1 == n {
            (0..n).for_each(|i| columns[j * n + i] = Complex::new(packed[j * n + i], T::zero()));
            j += 1;
        } else {
            for i in 0..n {
                let (x, y) = (packed[j * n + i], packed[(j + 1) * n + i]);
                columns[j * n + i] = Complex::new(x, y);
                columns[(j + 1) * n + i] = Complex::new(x, -y);
            }
            j += 2;
        }
    }
    Ok(Some((values, columns)))
}

/// For a complex matrix.
pub(crate) fn complex<T: RealField + Float>(a: MatRef<'_, Complex<T>>, vectors: bool) -> Eigen<T>
where
    Complex<T>: faer::traits::ComplexField<Real = T>,
{
    let n = a.nrows();
    let zero = Complex::new(T::zero(), T::zero());
    let (mut values, mut columns) = (filled(zero, n)?, filled(zero, if vectors { n * n } else { 0 })?);
    let mut memory =
        scratch(evd_scratch::<Complex<T>>(n, ComputeEigenvectors::No, asked(vectors), Par::Seq, Default::default()))?;
    let found = evd_cplx::<T>(
        a,
        DiagMut::from_slice_mut(&mut values),
        None,
        vectors.then(|| matrix_mut(&mut columns, n, n)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    Ok(found.is_ok().then_some((values, columns)))
}

/// Normalises columns to norm 1 with a real largest element, as LAPACK does.
pub(crate) fn normalized<E: Field>(columns: &mut [E], n: usize) {
    if n == 0 {
        return;
    }
    for column in columns.chunks_exact_mut(n) {
        let most = column.iter().fold(<E::Re as Zero>::zero(), |most, x| Float::max(most, x.modulus()));
        if most == <E::Re as Zero>::zero() || !most.is_finite() {
            continue;
        }
        column.iter_mut().for_each(|x| *x = x.over_real(most));
        let squares = column.iter().fold(<E::Re as Zero>::zero(), |sum, x| sum + x.modulus() * x.modulus());
        let largest =
            column.iter().copied().fold(E::zero_impl(), |most, x| if x.modulus() > most.modulus() { x } else { most });
        let is_real = column.iter().all(|x| x.imaginary_part() == <E::Re as Zero>::zero());
        let turn = if is_real { E::one_impl() } else { largest.conjugate().over_real(largest.modulus()) };
        column.iter_mut().for_each(|x| *x = (*x * turn).over_real(Float::sqrt(squares)));
    }
}
