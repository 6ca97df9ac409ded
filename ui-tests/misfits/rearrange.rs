// Tensors joined, repeated, padded and turned.

use castiron::pad::{Circular, Reflect};
use castiron::{KnownShape, Tensor, axis, cat, dim, hstack, shape, stack, vstack, block_diag, cartesian_prod, dstack, column_stack, broadcast_tensors};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    cat((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()), axis![0]);
    // instead: cat((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()), axis![1]);
    stack((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()), axis![0]);
    // instead: stack((&x::<shape![2, 3]>(), &x::<shape![2, 3]>()), axis![0]);
    hstack((&x::<shape![2, 3]>(), &x::<shape![3, 3]>()));
    // instead: hstack((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()));
    vstack((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()));
    // instead: vstack((&x::<shape![2, 3]>(), &x::<shape![4, 3]>()));
    dstack((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()));
    // instead: dstack((&x::<shape![2, 3]>(), &x::<shape![2, 3]>()));
    column_stack((&x::<shape![2, 3]>(), &x::<shape![3]>()));
    // instead: column_stack((&x::<shape![2, 3]>(), &x::<shape![2]>()));
    broadcast_tensors((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()));
    // instead: broadcast_tensors((&x::<shape![2, 3]>(), &x::<shape![2, 1]>()));
    cartesian_prod((&x::<shape![2, 3]>(), &x::<shape![2]>()));
    // instead: cartesian_prod((&x::<shape![2]>(), &x::<shape![2]>()));
    block_diag((&x::<shape![2, 3, 4]>(), &x::<shape![2]>())); // rustc
    // instead: block_diag((&x::<shape![2, 3]>(), &x::<shape![2]>()));
    x::<shape![2, 3]>().repeat::<shape![2]>();
    // instead: x::<shape![2, 3]>().repeat::<shape![1, 2]>();
    x::<shape![2, 3]>().repeat_sized::<shape![_]>([2]);
    // instead: x::<shape![2, 3]>().repeat_sized::<shape![_, _]>([1, 2]);
    x::<shape![2, 3]>().repeat_interleave::<dim!(2), _>(axis![2]);
    // instead: x::<shape![2, 3]>().repeat_interleave::<dim!(2), _>(axis![1]);
    x::<shape![2, 3]>().repeat_interleave_sized(axis![2], 2);
    // instead: x::<shape![2, 3]>().repeat_interleave_sized(axis![1], 2);
    x::<shape![2, 3]>().repeat_interleave_by(axis![0], &i::<shape![3]>());
    // instead: x::<shape![2, 3]>().repeat_interleave_by(axis![1], &i::<shape![3]>());
    x::<shape![2, 3]>().flip(axis![2]);
    // instead: x::<shape![2, 3]>().flip(axis![1]);
    x::<shape![2]>().fliplr();
    // instead: x::<shape![2, 2]>().fliplr();
    x::<shape![]>().flipud();
    // instead: x::<shape![2]>().flipud();
    x::<shape![2, 3]>().roll_axis(axis![2], 1);
    // instead: x::<shape![2, 3]>().roll_axis(axis![1], 1);
    x::<shape![2, 3]>().rot90::<1, _, _>(axis![0, 2]);
    // instead: x::<shape![2, 3]>().rot90::<1, _, _>(axis![0, 1]);
    x::<shape![2]>().tril(0);
    // instead: x::<shape![2, 2]>().tril(0);
    x::<shape![2]>().triu(0);
    // instead: x::<shape![2, 2]>().triu(0);
    x::<shape![2, 3]>().pad::<shape![1, 1, 1, 1, 1, 1], _>(Circular);
    // instead: x::<shape![2, 3]>().pad::<shape![1, 1], _>(Circular);
    x::<shape![1, 2, 3]>().pad::<shape![3, 0], _>(Reflect);
    // instead: x::<shape![1, 2, 3]>().pad::<shape![2, 0], _>(Reflect);
    x::<shape![1, 2, 3]>().pad::<shape![4, 0], _>(Circular);
    // instead: x::<shape![1, 2, 3]>().pad::<shape![3, 0], _>(Circular);
    x::<shape![2]>().pad_sized([1, 1, 1, 1], Circular); // rustc
    // instead: x::<shape![2]>().pad_sized([1, 1], Circular);
    x::<shape![2, 3, 4, 4]>().pixel_shuffle::<dim!(2), _>();
    // instead: x::<shape![2, 4, 4, 4]>().pixel_shuffle::<dim!(2), _>();
    x::<shape![2, 3, 5, 4]>().pixel_unshuffle::<dim!(2), _>();
    // instead: x::<shape![2, 3, 4, 4]>().pixel_unshuffle::<dim!(2), _>();
    x::<shape![2, 3, 4]>().channel_shuffle::<dim!(2)>();
    // instead: x::<shape![2, 4, 4]>().channel_shuffle::<dim!(2)>();
}
