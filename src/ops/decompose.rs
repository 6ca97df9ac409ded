//! The markers of operations on matrices, for what the compiler says of them. Used by `tensor::decompose`.

use super::Op;
use super::reduce::op;

op!(cholesky cholesky_ex cholesky_inverse det slogdet logdet inv inv_ex eigh eigvalsh eig eigvals matrix_exp solve);
op!(solve_triangular ldl_factor);
