//! `einsum!`: the letters of axes, checked by the compiler.

use castiron::{Dim, Dyn, Numeric, Tensor, dims, einsum, shape, tensor, try_einsum};

dims! { Batch }

#[test]
fn a_product_of_matrices_is_that_of_matmul() {
    let (a, b) = (tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], tensor![[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]);
    let product: Tensor<f32, shape![2, 2]> = einsum!("ij,jk->ik", &a, &b);
    assert_eq!(product.to_vec(), a.matmul(&b).to_vec());
    let implicit: Tensor<f32, shape![2, 2]> = einsum!("ij,jk", &a, &b);
    assert_eq!(implicit.to_vec(), product.to_vec());
}

#[test]
fn batches_and_named_sizes_stay_apart() {
    let a: Tensor<f64, shape![Batch, 2, 3]> = Tensor::ones_sized([4, 2, 3]);
    let b: Tensor<f64, shape![Batch, 3, 5]> = Tensor::ones_sized([4, 3, 5]);
    let product: Tensor<f64, shape![Batch, 2, 5]> = einsum!("bij,bjk->bik", a, b);
    assert_eq!((product.shape(), product.sum().item()), ([4, 2, 5], 120.0));
}

#[test]
fn a_repeated_letter_takes_the_diagonal() {
    let x = tensor![[1, 2], [3, 4]];
    let trace: Tensor<i64, shape![]> = einsum!("ii->", &x);
    let diagonal: Tensor<i64, shape![2]> = einsum!("ii->i", &x);
    assert_eq!((trace.item(), diagonal.to_vec()), (5, vec![1, 4]));
}

#[test]
fn one_operand_is_summed_and_permuted() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    assert_eq!(einsum!("ij->j", &x).to_vec(), [5, 7, 9]);
    assert_eq!(einsum!("ij->ji", &x).to_vec(), [1, 4, 2, 5, 3, 6]);
    assert_eq!(einsum!("ij->", &x).item(), 21);
    // Integers are summed in `i64`, and have the dtype of the operand.
    let bytes: Tensor<u8, shape![]> = einsum!("i->", tensor![200, 100; u8]);
    assert_eq!(bytes.item(), 44);
}

#[test]
fn three_operands_are_contracted_one_after_the_other() {
    let (a, b, c) = (tensor![1.0, 2.0], tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], tensor![1.0, 10.0, 100.0]);
    assert_eq!(einsum!("i,ij,j->", &a, &b, &c).item(), 321.0 + 2.0 * 654.0);
    assert_eq!(einsum!("i,j->ij", &a, &c).to_vec(), [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]);
}

#[test]
fn code_for_every_size_states_that_a_letter_names_one() {
    fn gram<E: Numeric, N: Dim, M: Dim>(x: &Tensor<E, (N, M)>) -> Tensor<E, (N, N)> {
        einsum!("ni,mi->nm", x, x)
    }
    assert_eq!(gram(&tensor![[1, 2], [3, 4]]).to_vec(), [5, 11, 11, 25]);
}

#[test]
fn sizes_of_the_run_that_differ_are_an_error() {
    let (a, b): (Tensor<f32, (Dyn, Dyn)>, Tensor<f32, (Dyn,)>) = (Tensor::ones_sized([2, 3]), Tensor::ones_sized([1]));
    let error = try_einsum!("ij,j->i", &a, &b).unwrap_err();
    assert_eq!(error.to_string(), "einsum: the letter 'j' names two sizes, 3 and 1");
}

#[cfg(feature = "any")]
#[test]
fn it_computes_what_run_time_tensors_do() {
    use castiron::{AnyTensor, any};
    let a: Tensor<f32, shape![3, 2, 4]> = Tensor::from_vec((0..24).map(|x| x as f32).collect());
    let b: Tensor<f32, shape![4, 3]> = Tensor::from_vec((0..12).map(|x| x as f32 - 5.0).collect());
    let typed = AnyTensor::from(einsum!("aij,ja->ia", &a, &b));
    let dynamic = any::einsum("aij,ja->ia", &[AnyTensor::from(&a), AnyTensor::from(&b)]).unwrap();
    assert_eq!(typed.to_string(), dynamic.to_string());
}
