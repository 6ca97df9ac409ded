//! Sparse tensors: the result dtype of sums, products and matrix products for every pair of the computing dtypes, or refusal.

use crate::common::{dtype, json};
use crate::grid::T as Dense;
use crate::probe::{Refused, operator};
use castiron::{Complex, Cpu, DType, Dim, Dyn, Element, SparseCoo, SparseFactor, SparseTensor, Tensor, bf16, f16};

type Sparse<E> = SparseTensor<E, (Dyn,)>;
type SparseMatrix<E> = SparseTensor<E, (Dyn, Dyn)>;
type Matrix<E> = Tensor<E, (Dyn, Dyn)>;

/// `sparse.matmul(right)`, asked through its bound.
struct MatMul<L, R>(std::marker::PhantomData<(L, R)>);
impl<E: Element, M: Dim, K: Dim, R: SparseFactor<E, M, K>> MatMul<&Tensor<E, (M, K), Cpu, SparseCoo>, R>
where
    R::Output: crate::probe::Typed,
{
    const RESULT: Option<DType> = Some(<R::Output as crate::probe::Typed>::DTYPE);
}

const CODES: [&str; 13] = ["bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c32", "c64", "c128"];

macro_rules! row {
    ($left:ident, $right:ident, $a:ty) => {
        row!(@ $left<$a>, $right, [bool] [u8] [i8] [i16] [i32] [i64] [f16] [bf16] [f32] [f64]
            [Complex<f16>] [Complex<f32>] [Complex<f64>])
    };
    (@ $left:ty, $right:ident, $([$b:ty])*) => { [$(<Asked<&$left, &$right<$b>>>::RESULT),*] };
}
macro_rules! grid {
    ($asked:ty, $left:ident, $right:ident) => {
        grid!(@ $asked, $left, $right, [bool] [u8] [i8] [i16] [i32] [i64] [f16] [bf16] [f32] [f64]
            [Complex<f16>] [Complex<f32>] [Complex<f64>])
    };
    (@ $asked:ty, $left:ident, $right:ident, $([$a:ty])*) => {{
        type Asked<L, R> = $asked;
        const GRID: [[Option<DType>; 13]; 13] = [$(row!($left, $right, $a)),*];
        &GRID
    }};
}

#[test]
fn sparse_results_have_pytorchs_dtypes() {
    let table = json("sparse.json");
    // The columns of the table, in its order.
    let columns: [(&str, &[[Option<DType>; 13]; 13]); 7] = [
        ("s + s", grid!(operator::add<L, R>, Sparse, Sparse)),
        ("s * s", grid!(operator::mul<L, R>, Sparse, Sparse)),
        ("s + dense", grid!(operator::add<L, R>, Sparse, Dense)),
        ("dense + s", grid!(operator::add<L, R>, Dense, Sparse)),
        ("s * dense", grid!(operator::mul<L, R>, Sparse, Dense)),
        ("s @ dense", grid!(MatMul<L, R>, SparseMatrix, Matrix)),
        ("s @ s", grid!(MatMul<L, R>, SparseMatrix, SparseMatrix)),
    ];
    let at = |code: &str| CODES.iter().position(|known| *known == code).unwrap();
    let (mut agree, mut beyond, mut by_spec, mut wrong) = (0, 0, 0, Vec::new());
    let rows = table["promotion"].as_array().unwrap();
    for row in rows {
        let cell = |at: usize| row[at].as_str().unwrap();
        // Sums of dense and sparse are the same either way (PyTorch refuses the one with the sparse tensor on the left).
        for (column, &(name, answers)) in columns.iter().enumerate() {
            let ours = answers[at(cell(0))][at(cell(1))];
            let what = format!("{name} of {} and {}: got {ours:?}, PyTorch {}", cell(0), cell(1), cell(2 + column));
            let theirs = dtype(cell(2 + column));
            let error = table["errors"].get(cell(2 + column));
            let text = error.map_or("", |error| error[2].as_str().unwrap());
            if name == "s + dense" {
                assert!(text.contains("add(sparse, dense) is not supported"));
                if ours == dtype(cell(5)) { by_spec += 1 } else { wrong.push(what) }
            } else if ours == theirs {
                agree += 1;
            } else if error.is_some_and(|error| error[1] == "NOTIMPL")
                && (text.contains("'Half'") || text.contains("'BFloat16'") || text.contains("'ComplexHalf'"))
            {
                beyond += 1;
            } else {
                wrong.push(what);
            }
        }
        // Joined tensors have the dtype that the two promote to.
        let joined = answers_of_cat(at(cell(0)), at(cell(1)));
        if Some(joined) == dtype(cell(9)) { agree += 1 } else { wrong.push(format!("cat: {joined:?}, {}", cell(9))) }
    }
    println!("{agree} cells agree, {beyond} beyond PyTorch, {by_spec} sums with the sparse tensor on the left");
    assert!(wrong.is_empty(), "{} cells differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(agree + beyond + by_spec == 8 * rows.len() && (rows.len() < 144 || agree > 990));
}

fn answers_of_cat(a: usize, b: usize) -> DType {
    let [a, b] = [a, b].map(|at| dtype(CODES[at]).unwrap());
    castiron::dtype::promote_types(a, b).unwrap()
}
