//! The markers of matrix decompositions, named in compiler messages.

use super::reduce::op;

op!(cholesky cholesky_ex cholesky_inverse det slogdet logdet inv inv_ex eigh eigvalsh eig eigvals matrix_exp solve solve_ex);
op!(solve_triangular ldl_factor cholesky_solve ldl_solve lu_solve lu_unpack lstsq householder_product ormqr);
