// Shapes seen otherwise, parts, and axes that a tensor has.

use castiron::{Complex, KnownShape, Tensor, axis, dim, s, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn z<S: KnownShape>() -> Tensor<Complex<f64>, S> {
    Tensor::ones()
}

calls! {
    x::<shape![2, 3]>().reshape::<shape![7]>();
    // instead: x::<shape![2, 3]>().reshape::<shape![6]>();
    x::<shape![2, 3]>().reshape_sized::<shape![7]>([7]);
    // instead: x::<shape![2, 3]>().reshape_sized::<shape![6]>([6]);
    x::<shape![2, 3]>().reshape_as(&x::<shape![7]>());
    // instead: x::<shape![2, 3]>().reshape_as(&x::<shape![6]>());
    x::<shape![2, 3]>().view::<shape![7]>();
    // instead: x::<shape![2, 3]>().view::<shape![6]>();
    x::<shape![2, 3]>().view_sized::<shape![7]>([7]);
    // instead: x::<shape![2, 3]>().view_sized::<shape![6]>([6]);
    x::<shape![2, 3]>().view_as(&x::<shape![7]>());
    // instead: x::<shape![2, 3]>().view_as(&x::<shape![6]>());
    x::<shape![2, 3]>().view_dtype::<castiron::Complex<f64>>();
    // instead: x::<shape![2, 4]>().view_dtype::<castiron::Complex<f64>>();
    x::<shape![2, 3]>().view_as_complex();
    // instead: x::<shape![3, 2]>().view_as_complex();
    z::<shape![1, 1, 1, 1, 1, 1, 1, 1]>().view_as_real(); // rustc
    // instead: z::<shape![1, 1, 1, 1, 1, 1, 1]>().view_as_real();
    x::<shape![2, 3]>().expand::<shape![4, 3]>();
    // instead: x::<shape![1, 3]>().expand::<shape![4, 3]>();
    x::<shape![2, 3]>().expand_sized::<shape![4, 3]>([4, 3]);
    // instead: x::<shape![1, 3]>().expand_sized::<shape![4, 3]>([4, 3]);
    x::<shape![2, 3]>().expand_as(&x::<shape![4, 3]>());
    // instead: x::<shape![1, 3]>().expand_as(&x::<shape![4, 3]>());
    x::<shape![2, 3]>().flatten_axes(axis![1], axis![0]);
    // instead: x::<shape![2, 3]>().flatten_axes(axis![0], axis![1]);
    x::<shape![2, 6]>().unflatten::<shape![2, 4], _>(axis![1]);
    // instead: x::<shape![2, 6]>().unflatten::<shape![2, 3], _>(axis![1]);
    x::<shape![2, 3, 4]>().t();
    // instead: x::<shape![2, 3]>().t();
    x::<shape![2, 3]>().transpose(axis![0], axis![2]);
    // instead: x::<shape![2, 3]>().transpose(axis![0], axis![1]);
    x::<shape![2, 3]>().swapaxes(axis![0], axis![2]);
    // instead: x::<shape![2, 3]>().swapaxes(axis![0], axis![1]);
    x::<shape![2, 3]>().permute(axis![0, 0]);
    // instead: x::<shape![2, 3]>().permute(axis![1, 0]);
    x::<shape![2, 3]>().permute(axis![0, 1, 2]);
    // instead: x::<shape![2, 3]>().permute(axis![0, 1]);
    x::<shape![2, 3]>().movedim(axis![2], axis![0]);
    // instead: x::<shape![2, 3]>().movedim(axis![1], axis![0]);
    x::<shape![2]>().mT();
    // instead: x::<shape![2, 2]>().mT();
    x::<shape![2]>().mH();
    // instead: x::<shape![2, 2]>().mH();
    x::<shape![2]>().adjoint();
    // instead: x::<shape![2, 2]>().adjoint();
    x::<shape![2, 1]>().squeeze_axis(axis![2]);
    // instead: x::<shape![2, 1]>().squeeze_axis(axis![1]);
    x::<shape![2, 1]>().squeeze_axes(axis![1, 2]);
    // instead: x::<shape![2, 1]>().squeeze_axes(axis![0, 1]);
    x::<shape![2, 3]>().unsqueeze(axis![3]);
    // instead: x::<shape![2, 3]>().unsqueeze(axis![2]);
    x::<shape![2, 3]>().select(axis![2], 0);
    // instead: x::<shape![2, 3]>().select(axis![1], 0);
    x::<shape![2, 3]>().narrow(axis![2], 0, 1);
    // instead: x::<shape![2, 3]>().narrow(axis![1], 0, 1);
    x::<shape![2, 3]>().slice(s![.., .., 0]);
    // instead: x::<shape![2, 3]>().slice(s![.., 0]);
    x::<shape![2, 3]>().chunk(axis![2], 2);
    // instead: x::<shape![2, 3]>().chunk(axis![1], 2);
    x::<shape![2, 3]>().chunk_array::<2, _>(axis![1]);
    // instead: x::<shape![2, 4]>().chunk_array::<2, _>(axis![1]);
    x::<shape![2, 3]>().split(axis![2], 2);
    // instead: x::<shape![2, 3]>().split(axis![1], 2);
    x::<shape![2, 3]>().split_sizes(axis![2], &[1, 2]);
    // instead: x::<shape![2, 3]>().split_sizes(axis![1], &[1, 2]);
    x::<shape![2, 3]>().split_into::<shape![1, 1], _>(axis![1]);
    // instead: x::<shape![2, 3]>().split_into::<shape![1, 2], _>(axis![1]);
    x::<shape![2, 3]>().tensor_split(axis![2], 2);
    // instead: x::<shape![2, 3]>().tensor_split(axis![1], 2);
    x::<shape![2, 3]>().tensor_split_at(axis![2], &[1]);
    // instead: x::<shape![2, 3]>().tensor_split_at(axis![1], &[1]);
    x::<shape![2, 3]>().unbind(axis![2]);
    // instead: x::<shape![2, 3]>().unbind(axis![1]);
    x::<shape![2, 3]>().unbind_array::<2, _>(axis![1]);
    // instead: x::<shape![2, 3]>().unbind_array::<3, _>(axis![1]);
    x::<shape![2, 3]>().unfold::<dim!(4), dim!(1), _>(axis![1]);
    // instead: x::<shape![2, 3]>().unfold::<dim!(2), dim!(1), _>(axis![1]);
    x::<shape![2, 3]>().unfold_sized(axis![2], 1, 1);
    // instead: x::<shape![2, 3]>().unfold_sized(axis![1], 1, 1);
    x::<shape![2, 3]>().iter_axis(axis![2]).count();
    // instead: x::<shape![2, 3]>().iter_axis(axis![1]).count();
    x::<shape![2, 3]>().iter_axis_mut(axis![2]).count();
    // instead: x::<shape![2, 3]>().iter_axis_mut(axis![1]).count();
    x::<shape![2, 3]>().split_at_mut(axis![2], 1).len();
    // instead: x::<shape![2, 3]>().split_at_mut(axis![1], 1).len();
    x::<shape![2, 3]>().diagonal(axis![0, 2]);
    // instead: x::<shape![2, 3]>().diagonal(axis![0, 1]);
    x::<shape![2, 3]>().diagonal_at(axis![0, 2], 1);
    // instead: x::<shape![2, 3]>().diagonal_at(axis![0, 1], 1);
    x::<shape![2, 3, 4]>().diag();
    // instead: x::<shape![2, 3]>().diag();
    x::<shape![2, 3, 4]>().diag_at(1);
    // instead: x::<shape![2, 3]>().diag_at(1);
    x::<shape![]>().diag_embed();
    // instead: x::<shape![2]>().diag_embed();
    x::<shape![]>().diag_embed_at(1);
    // instead: x::<shape![2]>().diag_embed_at(1);
    x::<shape![2, 3, 4]>().trace();
    // instead: x::<shape![2, 3]>().trace();
    x::<shape![2]>().eye_like();
    // instead: x::<shape![2, 2]>().eye_like();
}
