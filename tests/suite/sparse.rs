//! Sparse tensors compared with strided ones, for every dtype; their types and errors; invalid indices.

use castiron::{
    AnyLayout, Complex, Cpu, DenseAxes, Dtype, Dyn, Element, Error, Float, Numeric, Shape, SparseCoo, SparseTensor,
    Tensor, axis, bf16, dims, f16, shape, tensor,
};
use proptest::prelude::*;

type Any<E> = SparseTensor<E, (Dyn, Dyn)>;

/// Small integers of a dtype: sums and products of a few of them are exact.
fn of<E: Dtype>(x: i64) -> E {
    if E::DTYPE == castiron::DType::Bool { E::from_bool(x % 2 == 1) } else { E::from_i64(x % 3) }
}

/// A matrix of these places, named as often as they come.
fn build<E: Dtype>(sizes: [usize; 2], elements: &[(usize, i64)]) -> Any<E> {
    let numel = sizes[0] * sizes[1];
    let places: Vec<usize> = elements.iter().filter(|_| numel > 0).map(|&(at, _)| at % numel).collect();
    let rows = places.iter().map(|at| (at / sizes[1]) as i64);
    let columns = places.iter().map(|at| (at % sizes[1]) as i64);
    let nnz = places.len();
    let indices = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized(rows.chain(columns).collect(), [2, nnz]);
    let values = elements[..nnz].iter().map(|&(_, x)| of(x)).collect();
    Tensor::sparse_coo_sized(&indices, &Tensor::<E, (Dyn,)>::from_vec_sized(values, [nnz]), sizes)
}

/// The strided matrix, element by element.
fn naive<E: Dtype>(sizes: [usize; 2], elements: &[(usize, i64)]) -> Tensor<E, (Dyn, Dyn)> {
    let mut sums = Tensor::<E, (Dyn,)>::zeros_sized([sizes[0] * sizes[1]]);
    for &(at, x) in elements.iter().filter(|_| sizes[0] * sizes[1] > 0) {
        let at = at % (sizes[0] * sizes[1]);
        let sum = if E::DTYPE == castiron::DType::Bool {
            E::from_bool(sums[(at,)] != E::default() || of::<E>(x) != E::default())
        } else {
            (Tensor::<E, ()>::full(sums[(at,)]) + Tensor::<E, ()>::full(of::<E>(x))).item()
        };
        sums.narrow_mut(axis![0], at, 1).fill(sum);
    }
    sums.reshape_sized(sizes)
}

fn is_coalesced<E: Dtype>(x: &Any<E>) -> bool {
    let (indices, [_, columns]) = (x.raw_indices().to_vec(), x.shape());
    let (rows, cols) = indices.split_at(x.nnz());
    let keys: Vec<i64> = rows.iter().zip(cols).map(|(row, column)| row * columns as i64 + column).collect();
    keys.is_sorted_by(|a, b| a < b)
}

/// What holds for every dtype.
fn laws<E: Dtype>(sizes: [usize; 2], a: &[(usize, i64)]) -> Result<(), TestCaseError> {
    let (x, dense) = (build::<E>(sizes, a), naive::<E>(sizes, a));
    prop_assert_eq!(x.to_dense().to_vec(), dense.to_vec());
    let sums = x.coalesce();
    prop_assert!(sums.is_coalesced() && is_coalesced(&sums) && sums.nnz() <= x.nnz());
    prop_assert_eq!(sums.to_dense().to_vec(), dense.to_vec());
    let back = dense.to_sparse();
    prop_assert!(back.is_coalesced() && is_coalesced(&back));
    prop_assert_eq!(back.to_dense().to_vec(), dense.to_vec());
    prop_assert!(back.values().to_vec().iter().all(|x| *x != E::default()));
    let hybrid = dense.to_sparse_hybrid::<1>();
    prop_assert_eq!(hybrid.to_dense().to_vec(), dense.to_vec());
    prop_assert_eq!(hybrid.indices().shape()[0], 1);
    prop_assert_eq!(x.t().to_dense().to_vec(), dense.t::<(Dyn, Dyn)>().to_vec());
    prop_assert_eq!(x.to::<f64>().coalesce().nnz(), sums.nnz());
    // Beside strided tensors.
    let ones = Tensor::<E, (Dyn, Dyn)>::ones_sized(sizes);
    prop_assert_eq!((&ones + &x).to_vec(), (&ones + &dense).to_vec());
    prop_assert_eq!((&x + &ones).to_vec(), (&ones + &dense).to_vec());
    prop_assert_eq!((&x * &dense).to_dense().to_vec(), (&dense * &dense).to_vec());
    prop_assert_eq!((&dense * &x).nnz(), x.nnz());
    let mut into = ones.clone();
    into += &x;
    prop_assert_eq!(into.to_vec(), (&ones + &dense).to_vec());
    let mut turned = ones.t::<(Dyn, Dyn)>();
    turned += x.t();
    prop_assert_eq!(turned.t::<(Dyn, Dyn)>().to_vec(), (&ones + &dense).to_vec());
    Ok(())
}

/// What holds for numbers.
fn numbers<E: Numeric>(sizes: [usize; 2], a: &[(usize, i64)], b: &[(usize, i64)]) -> Result<(), TestCaseError> {
    let (x, y) = (build::<E>(sizes, a), build::<E>(sizes, b));
    let (dx, dy) = (x.to_dense(), y.to_dense());
    let (sum, product) = ((&dx + &dy).to_vec(), (&dx * &dy).to_vec());
    prop_assert_eq!((&x + &y).to_dense().to_vec(), &sum[..]);
    prop_assert_eq!((x.coalesce() + &y).to_dense().to_vec(), &sum[..]);
    let both = x.coalesce() + y.coalesce();
    prop_assert!(both.is_coalesced() && is_coalesced(&both));
    prop_assert_eq!(both.to_dense().to_vec(), &sum[..]);
    prop_assert_eq!((&x - &y).to_dense().to_vec(), (&dx - &dy).to_vec());
    prop_assert_eq!((&dx - &y).to_vec(), (&dx - &dy).to_vec());
    prop_assert_eq!((&x - &dy).to_vec(), (&dx - &dy).to_vec());
    for (x, y) in [(&x, &y), (&x.coalesce(), &y), (&x, &y.coalesce())] {
        prop_assert_eq!((x * y).to_dense().to_vec(), &product[..]);
    }
    let common = x.coalesce() * y.coalesce();
    prop_assert!(common.is_coalesced() && is_coalesced(&common) && common.nnz() <= x.nnz().min(y.nnz()));
    prop_assert_eq!(common.to_dense().to_vec(), &product[..]);
    prop_assert_eq!((-&x).to_dense().to_vec(), (-&dx).to_vec());
    prop_assert_eq!(x.matmul(dy.t::<(Dyn, Dyn)>()).to_vec(), dx.matmul(dy.t::<(Dyn, Dyn)>()).to_vec());
    prop_assert_eq!(y.t().rmatmul(&dx).to_vec(), dx.matmul(dy.t::<(Dyn, Dyn)>()).to_vec());
    let vector = Tensor::<E, (Dyn,)>::ones_sized([sizes[1]]);
    prop_assert_eq!(x.matmul(&vector).to_vec(), dx.matmul(&vector).to_vec());
    let joined = castiron::cat((&dx, &dy), axis![0]);
    prop_assert_eq!(x.cat(&y, axis![0]).to_dense().to_vec(), joined.to_vec());
    prop_assert_eq!(x.sum().item(), dx.sum().item());
    prop_assert_eq!(x.sum_axis(axis![0]).to_dense().to_vec(), dx.sum_axis(axis![0]).to_vec());
    prop_assert_eq!(x.sum_axis(axis![1].keepdim()).to_dense().to_vec(), dx.sum_axis(axis![1].keepdim()).to_vec());
    Ok(())
}

fn elements() -> impl Strategy<Value = Vec<(usize, i64)>> {
    prop::collection::vec((0_usize..100, 0_i64..6), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn sparse_and_strided_tensors_agree(rows in 0_usize..5, columns in 0_usize..5, a in elements(), b in elements()) {
        macro_rules! every {
            ($($ty:ty),*) => {$(
                laws::<$ty>([rows, columns], &a)?;
                numbers::<$ty>([rows, columns], &a, &b)?;
            )*};
        }
        laws::<bool>([rows, columns], &a)?;
        every!(u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);
    }

    #[test]
    fn products_of_sparse_matrices_are_those_of_strided_ones(m in 0_usize..5, k in 0_usize..5, n in 0_usize..5, a in elements(), b in elements()) {
        let (x, y) = (build::<f64>([m, k], &a), build::<f64>([k, n], &b));
        let product = x.matmul(&y);
        prop_assert!(product.is_coalesced() && is_coalesced(&product));
        prop_assert_eq!(product.to_dense().to_vec(), x.to_dense().matmul(y.to_dense()).to_vec());
    }
}

#[test]
fn generic_code_needs_no_where_clause() {
    fn twice<E: Numeric, S: Shape>(x: &Tensor<E, S, Cpu, SparseCoo>) -> Tensor<E, S, Cpu, SparseCoo> {
        x + x
    }
    fn squares<E: Numeric, S: Shape, const N: usize>(x: &SparseTensor<E, S, N>) -> SparseTensor<E, S, N> {
        (x * x) * E::from_i64(2)
    }
    fn roots<E: Float, S: Shape>(x: &SparseTensor<E, S>, shift: &Tensor<E, S>) -> Tensor<E, S> {
        shift + (x * shift).sqrt()
    }
    let s = tensor![[0.0, 4.0], [1.0, 0.0]].to_sparse();
    assert_eq!(twice(&s).to_dense(), tensor![[0.0, 8.0], [2.0, 0.0]]);
    assert_eq!(squares(&s).to_dense(), tensor![[0.0, 32.0], [2.0, 0.0]]);
    assert_eq!(roots(&s, &tensor![[1.0, 1.0], [4.0, 1.0]]), tensor![[1.0, 3.0], [6.0, 1.0]]);
}

#[test]
fn hybrid_tensors_have_blocks() {
    let values = tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let x: SparseTensor<f32, shape![3, 2], 1> = Tensor::sparse_coo(&tensor![[0, 2, 0]], &values);
    assert_eq!((x.sparse_dim(), x.dense_dim(), x.nnz()), (1, 1, 3));
    assert_eq!(x.raw_values().shape(), [3, 2]);
    let sums = x.coalesce();
    assert_eq!(sums.values().to_vec(), [6.0, 8.0, 3.0, 4.0]);
    let dense = tensor![[6.0, 8.0], [0.0, 0.0], [3.0, 4.0]];
    assert_eq!((&x + &x).to_dense(), &dense + &dense);
    assert_eq!((&x * &sums).to_dense(), &dense * &dense);
    assert_eq!((&x * tensor![10.0, 1.0]).to_dense(), &dense * tensor![10.0, 1.0]);
    assert_eq!((&x * tensor![[1.0], [2.0], [3.0]]).to_dense(), &dense * tensor![[1.0], [2.0], [3.0]]);
    assert_eq!((&x / 2).to_dense(), &dense / 2);
    assert_eq!(x.sqrt().to_dense(), dense.sqrt());
    assert_eq!(&x + &dense, &dense + &dense);
    fn values_of<E: Element, S: DenseAxes<2>>(x: &SparseTensor<E, S, 2>) -> Tensor<E, S::Values> {
        x.raw_values()
    }
    let all = tensor![[[1, 0], [0, 0]]].to_sparse_hybrid::<2>();
    assert_eq!(values_of(&all), tensor![[[1, 0], [0, 0]]].with_shape::<shape![_, 2, 2]>());
}

#[test]
fn tensors_without_elements_and_without_axes() {
    let none = Tensor::<f32, shape![2, 0]>::sparse_zeros();
    assert_eq!((none.nnz(), none.to_dense().numel()), (0, 0));
    assert_eq!((&none + &none).nnz(), 0);
    assert_eq!(none.t().matmul(Tensor::<f32, shape![2, 3]>::ones()).shape(), [0, 3]);
    assert_eq!(none.matmul(Tensor::<f32, shape![0, 3]>::ones()).to_vec(), [0.0; 6]);
    // A block of no elements is still a block.
    let blocks: SparseTensor<f32, shape![2, 0], 1> =
        Tensor::sparse_coo(&tensor![[1, 0, 1]], &Tensor::<f32, shape![3, 0]>::zeros());
    assert_eq!((blocks.nnz(), blocks.coalesce().nnz()), (3, 2));
    assert_eq!(blocks.to_dense().shape(), [2, 0]);
    let number = Tensor::<i64, shape![]>::full(7).to_sparse();
    assert_eq!((number.item(), number.sparse_dim(), (&number + &number).item()), (7, 0, 14));
    assert_eq!(Tensor::<i64, shape![]>::full(0).to_sparse().nnz(), 0);
    let line = tensor![0, 3, 0].to_sparse();
    assert_eq!((line.t().to_dense(), line.sum().item()), (tensor![0, 3, 0], 3));
}

#[test]
fn nan_and_infinity_are_elements_like_others() {
    let x = tensor![0.0, f32::NAN, f32::INFINITY].to_sparse();
    assert_eq!(x.nnz(), 2);
    assert!(x.isnan().to_dense()[(1,)]);
    // Where only one has an element, the product is zero, whatever the element.
    let y: SparseTensor<f32, shape![3]> = Tensor::sparse_coo(&tensor![[0, 2]], &tensor![1.0, 1.0]);
    assert_eq!((&y * &x).raw_values().to_vec(), [0.0, f32::INFINITY]);
    let cancelled: SparseTensor<f32, shape![1]> =
        Tensor::sparse_coo(&tensor![[0, 0]], &tensor![f32::INFINITY, f32::NEG_INFINITY]);
    assert!(cancelled.coalesce().values()[(0,)].is_nan());
}

#[test]
fn indices_are_checked() {
    type Matrix = Tensor<f32, shape![2, 3]>;
    let one = tensor![1.0];
    for (row, column, axis, index, size) in [
        (2, 0, 0, 2, 2),
        (0, 3, 1, 3, 3),
        (-1, 0, 0, -1, 2),
        (0, i64::MIN, 1, i64::MIN, 3),
        (i64::MAX, 0, 0, i64::MAX, 2),
    ] {
        let indices = Tensor::<i64, shape![2, 1]>::from_vec(vec![row, column]);
        let error = Matrix::try_sparse_coo(&indices, &one).unwrap_err();
        let Error::IndexValue { op: "sparse_coo", index: i, axis: a, size: s, .. } = error else { panic!("{error:?}") };
        assert_eq!((i, a, s), (index, axis, size));
    }
    let any = |indices: Tensor<i64, shape![2, 1]>| Tensor::<f32, (Dyn, Dyn)>::try_sparse_coo_inferred(&indices, &one);
    assert!(any(tensor![[0], [-1]]).is_err());
    // The sizes would be too large to count.
    assert!(any(Tensor::from_vec(vec![i64::MAX, i64::MAX])).is_err());
    let huge = 1 << 40;
    let too_large = Tensor::<f32, (Dyn, Dyn)>::try_sparse_zeros_sized([huge, huge]).unwrap_err();
    assert!(matches!(too_large, Error::TooLarge { .. }));
    // Beside an empty axis, too.
    let empty = Tensor::<f32, (Dyn, Dyn, Dyn)>::try_sparse_zeros_sized([huge, huge, 0]);
    assert!(matches!(empty, Err(Error::TooLarge { .. })));
    // What can be counted need not fit in memory, unless it is made dense.
    let large = Tensor::<f32, (Dyn, Dyn)>::sparse_coo_sized(
        &Tensor::<i64, shape![2, 2]>::from_vec(vec![(1 << 31) - 1, 0, 5, 5]),
        &tensor![1.0, 2.0],
        [1 << 31, 1 << 31],
    );
    assert!(large.try_to_dense().is_err());
    assert_eq!((&large + &large).coalesce().values().to_vec(), [4.0, 2.0]);
    assert!(large.try_matmul(&Tensor::<f32, (Dyn, Dyn)>::ones_sized([1, 1])).is_err());
    assert_eq!(large.t().coalesce().indices().to_vec(), [5, 5, 0, (1 << 31) - 1]);
    // The wrong number of rows of indices, of values, of elements in a block.
    assert!(Matrix::try_sparse_coo(&tensor![[0]], &one).is_err());
    assert!(Matrix::try_sparse_coo(&tensor![[0], [0], [0]], &one).is_err());
    assert!(Matrix::try_sparse_coo(&tensor![[0, 1], [0, 1]], &one).is_err());
    let blocks = Tensor::<f32, shape![1, _]>::ones_sized([1, 4]);
    assert!(Matrix::try_sparse_coo(&tensor![[0]], &blocks).is_err());
    // Not coalesced, so neither indices nor values can be had.
    let twice: SparseTensor<f32, shape![1]> = Tensor::sparse_coo(&tensor![[0, 0]], &tensor![1.0, 2.0]);
    assert!(twice.try_indices().is_err() && twice.try_values().is_err());
    assert_eq!(twice.coalesce().values().to_vec(), [3.0]);
}

#[test]
#[should_panic(expected = "index 2 is out of range for axis 0 of size 2")]
fn the_plain_form_panics_with_the_text_of_the_error() {
    let _ = Tensor::<f32, shape![2]>::sparse_coo(&tensor![[2]], &tensor![1.0]);
}

#[test]
fn places_may_be_many() {
    // More than one piece of work for the threads, and places that come often.
    let n = 20_000_i64;
    let (rows, columns): (Vec<i64>, Vec<i64>) = (0..n).map(|at| (at * 7919 % 300, at * 104_729 % 200)).unzip();
    let indices = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized([rows, columns].concat(), [2, n as usize]);
    let values = Tensor::<f64, (Dyn,)>::from_vec_sized((0..n).map(|at| (at % 17) as f64).collect(), [n as usize]);
    let x = Tensor::<f64, shape![300, 200]>::sparse_coo(&indices, &values);
    let right = Tensor::<f64, shape![200, 64]>::from_vec((0..200 * 64).map(|at| (at % 13) as f64).collect());
    assert_eq!(x.matmul(&right), x.to_dense().matmul(&right));
    assert_eq!(x.coalesce().to_dense(), x.to_dense());
}

#[test]
fn names_of_dimensions_are_kept() {
    dims! { Batch, Word }
    type Counts = SparseTensor<i64, shape![Batch, Word]>;
    let counts: Counts =
        Tensor::<i64, shape![Batch, Word]>::sparse_coo_sized(&tensor![[0, 1], [4, 2]], &tensor![3, 1], [2, 5]);
    let doubled: Counts = &counts + &counts;
    let turned: SparseTensor<i64, shape![Word, Batch]> = doubled.t();
    let per_word: SparseTensor<i64, shape![Word]> = counts.sum_axis(axis![0]);
    assert_eq!((turned.shape(), per_word.to_dense().to_vec()), ([5, 2], vec![0, 0, 1, 0, 3]));
    let topics: Tensor<i64, shape![Batch, 2]> = counts.matmul(Tensor::<i64, shape![Word, 2]>::ones_sized([5, 2]));
    assert_eq!(topics.to_vec(), [3, 3, 1, 1]);
}

#[test]
fn sparse_tensors_print_as_pytorchs() {
    let s: SparseTensor<f32, shape![2, 3]> =
        Tensor::sparse_coo(&tensor![[0, 1, 1], [2, 0, 2]], &tensor![3.0, 4.0, 5.0]);
    assert_eq!(
        s.to_string(),
        "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n       values=tensor([3., 4., 5.]),\n       size=(2, 3), nnz=3, layout=torch.sparse_coo)"
    );
    assert_eq!(
        Tensor::<f64, shape![2, 3]>::sparse_zeros().to_string(),
        "tensor(indices=tensor([], size=(2, 0)),\n       values=tensor([], size=(0,)),\n       size=(2, 3), nnz=0, dtype=torch.float64, layout=torch.sparse_coo)"
    );
    let hybrid = tensor![[1, 2], [0, 0]].to::<i32>().to_sparse_hybrid::<1>();
    assert_eq!(
        hybrid.to_string(),
        "tensor(indices=tensor([[0]]),\n       values=tensor([[1, 2]]),\n       size=(2, 2), nnz=1, dtype=torch.int32, layout=torch.sparse_coo)"
    );
    assert!(
        format!("{s:?}").starts_with("SparseTensor { dtype: float32, shape: [2, 3], dense_dim: 0, is_coalesced: false")
    );
    assert_eq!((s.layout(), s.to_dense().layout()), (AnyLayout::SparseCoo, AnyLayout::Strided));
}

#[test]
fn cloning_shares_and_editing_does_not_reach_others() {
    let s = tensor![0.0, 1.0, 2.0].to_sparse();
    let mut t = s.clone();
    assert!(t.raw_values().shares_storage(&s.raw_values()));
    t *= 3;
    t -= &s;
    t /= 2;
    assert_eq!((s.values().to_vec(), t.values().to_vec()), (vec![1.0, 2.0], vec![1.0, 2.0]));
    let mut dense = Tensor::<f32, shape![3]>::ones();
    let before = dense.clone();
    dense -= &s;
    assert_eq!((before, dense), (tensor![1.0, 1.0, 1.0], tensor![1.0, 0.0, -1.0]));
}
