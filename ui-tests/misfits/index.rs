// Elements chosen by indices and masks, sorted lists and what is looked for in them.

use castiron::{BagMode, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}
fn b<S: KnownShape>() -> Tensor<bool, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().index_select(axis![0], &i::<shape![2, 2]>());
    // instead: x::<shape![2, 3]>().index_select(axis![0], &i::<shape![2]>());
    x::<shape![2, 3]>().gather(axis![1], &i::<shape![3, 3]>());
    // instead: x::<shape![2, 3]>().gather(axis![1], &i::<shape![2, 4]>());
    x::<shape![2, 3]>().gather(axis![1], &i::<shape![3]>());
    // instead: x::<shape![2, 3]>().gather(axis![1], &i::<shape![2, 3]>());
    x::<shape![2, 3]>().take_along_dim(&i::<shape![4, 2]>(), axis![1]);
    // instead: x::<shape![2, 3]>().take_along_dim(&i::<shape![2, 2]>(), axis![1]);
    x::<shape![2, 3, 4]>().embedding(&i::<shape![5]>());
    // instead: x::<shape![2, 3]>().embedding(&i::<shape![5]>());
    x::<shape![2, 3, 4]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, None, None);
    // instead: x::<shape![2, 3]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, None, None);
    x::<shape![2, 3]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, Some(&x::<shape![4]>()), None);
    // instead: x::<shape![2, 3]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, Some(&x::<shape![5]>()), None);
    i::<shape![2, 3]>().index_put([&i::<shape![4]>(); 3], i::<shape![4]>(), true);
    // instead: i::<shape![2, 3]>().index_put([&i::<shape![4]>(); 2], i::<shape![4]>(), true);
    i::<shape![2, 3]>().index_put([&i::<shape![4]>()], i::<shape![2]>(), true);
    // instead: i::<shape![2, 3]>().index_put([&i::<shape![4]>()], i::<shape![3]>(), true);
    i::<shape![2, 3]>().index_put_([&i::<shape![4]>()], i::<shape![5, 3]>(), true).numel();
    // instead: i::<shape![2, 3]>().index_put_([&i::<shape![4]>()], i::<shape![4, 3]>(), true).numel();
    i::<shape![2, 3]>().view_mut().index_put_([&i::<shape![4]>()], i::<shape![5, 3]>(), true).numel();
    // instead: i::<shape![2, 3]>().view_mut().index_put_([&i::<shape![4]>()], i::<shape![4, 3]>(), true).numel();
    x::<shape![2, 3]>().masked_fill(&b::<shape![2, 4]>(), 0.0);
    // instead: x::<shape![2, 3]>().masked_fill(&b::<shape![2, 1]>(), 0.0);
    x::<shape![3]>().masked_fill_(&b::<shape![2, 3]>(), 0.0).numel();
    // instead: x::<shape![3]>().masked_fill_(&b::<shape![3]>(), 0.0).numel();
    x::<shape![2, 3]>().masked_select(&b::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().masked_select(&b::<shape![3]>());
    x::<shape![2, 3]>().masked_scatter(&b::<shape![2, 4]>(), &x::<shape![6]>());
    // instead: x::<shape![2, 3]>().masked_scatter(&b::<shape![3]>(), &x::<shape![6]>());
    x::<shape![3]>().masked_scatter_(&b::<shape![2, 3]>(), &x::<shape![6]>()).numel();
    // instead: x::<shape![3]>().masked_scatter_(&b::<shape![3]>(), &x::<shape![6]>()).numel();
    x::<shape![2, 3]>().scatter(axis![1], &i::<shape![3, 3]>(), &x::<shape![3, 3]>());
    // instead: x::<shape![2, 3]>().scatter(axis![1], &i::<shape![2, 4]>(), &x::<shape![2, 4]>());
    x::<shape![2, 3]>().scatter(axis![1], &i::<shape![2, 3]>(), &x::<shape![2, 2]>());
    // instead: x::<shape![2, 3]>().scatter(axis![1], &i::<shape![2, 2]>(), &x::<shape![2, 3]>());
    x::<shape![2, 3]>().scatter_value(axis![1], &i::<shape![3, 3]>(), 0.0);
    // instead: x::<shape![2, 3]>().scatter_value(axis![1], &i::<shape![2, 3]>(), 0.0);
    x::<shape![2, 3]>().scatter_add(axis![0], &i::<shape![2, 4]>(), &x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().scatter_add(axis![0], &i::<shape![4, 3]>(), &x::<shape![4, 3]>());
    x::<shape![2, 3]>().index_add(axis![0], &i::<shape![4]>(), &x::<shape![3, 3]>(), 1);
    // instead: x::<shape![2, 3]>().index_add(axis![0], &i::<shape![4]>(), &x::<shape![4, 3]>(), 1);
    x::<shape![2, 3]>().index_copy(axis![0], &i::<shape![1]>(), &x::<shape![1, 4]>());
    // instead: x::<shape![2, 3]>().index_copy(axis![0], &i::<shape![1]>(), &x::<shape![1, 3]>());
    x::<shape![2, 3]>().index_fill(axis![2], &i::<shape![1]>(), 0.0);
    // instead: x::<shape![2, 3]>().index_fill(axis![1], &i::<shape![1]>(), 0.0);
    x::<shape![3]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    // instead: x::<shape![3, 4]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    x::<shape![3, 3]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    // instead: x::<shape![3, 4]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    x::<shape![2, 3]>().searchsorted(&x::<shape![3, 5]>(), false);
    // instead: x::<shape![2, 3]>().searchsorted(&x::<shape![2, 5]>(), false);
    x::<shape![2, 3]>().searchsorted_scalar(1.0, false);
    // instead: x::<shape![3]>().searchsorted_scalar(1.0, false);
    x::<shape![2, 3]>().bucketize(&x::<shape![2, 3]>(), false);
    // instead: x::<shape![2, 3]>().bucketize(&x::<shape![3]>(), false);
    i::<shape![1, 1, 1, 1, 1, 1, 1, 1]>().one_hot::<dim!(2)>(); // rustc
    // instead: i::<shape![1, 1, 1, 1, 1, 1, 1]>().one_hot::<dim!(2)>();
    i::<shape![1, 1, 1, 1, 1, 1, 1, 1]>().one_hot_sized(2); // rustc
    // instead: i::<shape![1, 1, 1, 1, 1, 1, 1]>().one_hot_sized(2);
    x::<shape![2, 3]>().sort(axis![2], false);
    // instead: x::<shape![2, 3]>().sort(axis![1], false);
    x::<shape![2, 3]>().argsort(axis![2], false);
    // instead: x::<shape![2, 3]>().argsort(axis![1], false);
    x::<shape![2, 3]>().topk::<dim!(4), _>(axis![1], true);
    // instead: x::<shape![2, 3]>().topk::<dim!(3), _>(axis![1], true);
    x::<shape![2, 3]>().topk_sized(axis![2], 1, true);
    // instead: x::<shape![2, 3]>().topk_sized(axis![1], 1, true);
    x::<shape![2, 3]>().kthvalue(axis![2], 1);
    // instead: x::<shape![2, 3]>().kthvalue(axis![1], 1);
    x::<shape![2, 3]>().mode(axis![2]);
    // instead: x::<shape![2, 3]>().mode(axis![1]);
    x::<shape![2, 3]>().unique_axis(axis![2]);
    // instead: x::<shape![2, 3]>().unique_axis(axis![1]);
}
