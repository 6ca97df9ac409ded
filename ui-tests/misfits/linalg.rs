// Products of vectors and matrices, and distances.

use castiron::{KnownShape, Tensor, axis, einsum, multi_dot, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i8, S> {
    Tensor::ones()
}

calls! {
    x::<shape![2, 3]>().matmul(&x::<shape![2, 3]>());
    // instead: x::<shape![2, 3]>().matmul(&x::<shape![3, 2]>());
    x::<shape![4, 2, 3]>().matmul(&x::<shape![5, 3, 2]>());
    // instead: x::<shape![4, 2, 3]>().matmul(&x::<shape![4, 3, 2]>());
    x::<shape![]>().matmul(&x::<shape![3]>());
    // instead: x::<shape![3]>().matmul(&x::<shape![3]>());
    x::<shape![2, 3]>().mm(&x::<shape![2, 3]>());
    // instead: x::<shape![2, 3]>().mm(&x::<shape![3, 2]>());
    x::<shape![2, 3]>().mm(&x::<shape![3]>());
    // instead: x::<shape![2, 3]>().mm(&x::<shape![3, 1]>());
    x::<shape![2, 3]>().mv(&x::<shape![2]>());
    // instead: x::<shape![2, 3]>().mv(&x::<shape![3]>());
    x::<shape![2]>().dot(&x::<shape![3]>());
    // instead: x::<shape![3]>().dot(&x::<shape![3]>());
    x::<shape![4, 2, 3]>().bmm(&x::<shape![5, 3, 2]>());
    // instead: x::<shape![4, 2, 3]>().bmm(&x::<shape![4, 3, 2]>());
    x::<shape![4, 2, 3]>().bmm(&x::<shape![4, 2, 3]>());
    // instead: x::<shape![4, 2, 3]>().bmm(&x::<shape![4, 3, 3]>());
    i::<shape![2, 3]>().int_mm(&i::<shape![2, 3]>());
    // instead: i::<shape![2, 3]>().int_mm(&i::<shape![3, 2]>());
    x::<shape![2, 3]>().outer(&x::<shape![3]>());
    // instead: x::<shape![2]>().outer(&x::<shape![3]>());
    x::<shape![2]>().vdot(&x::<shape![3]>());
    // instead: x::<shape![3]>().vdot(&x::<shape![3]>());
    x::<shape![2, 3]>().vecdot(&x::<shape![2, 4]>(), axis![1]);
    // instead: x::<shape![2, 3]>().vecdot(&x::<shape![2, 3]>(), axis![1]);
    x::<shape![2, 3]>().inner(&x::<shape![4, 2]>());
    // instead: x::<shape![2, 3]>().inner(&x::<shape![4, 3]>());
    x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 2]>(), axis![1, 2], axis![1, 0]);
    // instead: x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 3]>(), axis![1, 2], axis![1, 0]);
    x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 3]>(), axis![1, 2], axis![1]);
    // instead: x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 3]>(), axis![1], axis![1]);
    x::<shape![]>().tensordot(&x::<shape![]>(), axis![0], axis![0]);
    // instead: x::<shape![2]>().tensordot(&x::<shape![1]>(), axis![0], axis![0]);
    x::<shape![1, 1, 1, 1, 1]>().tensordot(&x::<shape![1, 1, 1, 1, 1, 1]>(), axis![0], axis![0]);
    // instead: x::<shape![1, 1, 1, 1, 1]>().tensordot(&x::<shape![1, 1, 1, 1, 1]>(), axis![0], axis![0]);
    multi_dot(&[&x::<shape![2, 3]>(), &x::<shape![2, 3]>()]);
    // instead: multi_dot(&[&x::<shape![3, 3]>(), &x::<shape![3, 3]>()]);
    einsum!("ij,jk->ik", &x::<shape![2, 3]>(), &x::<shape![2, 3]>());
    // instead: einsum!("ij,jk->ik", &x::<shape![2, 3]>(), &x::<shape![3, 2]>());
    x::<shape![2]>().addmm(&x::<shape![2, 3]>(), &x::<shape![2, 2]>(), 1, 1);
    // instead: x::<shape![2]>().addmm(&x::<shape![2, 3]>(), &x::<shape![3, 2]>(), 1, 1);
    x::<shape![3]>().addmm(&x::<shape![2, 3]>(), &x::<shape![3, 2]>(), 1, 1);
    // instead: x::<shape![1]>().addmm(&x::<shape![2, 3]>(), &x::<shape![3, 2]>(), 1, 1);
    x::<shape![2]>().addmv(&x::<shape![2, 3]>(), &x::<shape![2]>(), 1, 1);
    // instead: x::<shape![2]>().addmv(&x::<shape![2, 3]>(), &x::<shape![3]>(), 1, 1);
    x::<shape![3, 2]>().addr(&x::<shape![2]>(), &x::<shape![3]>(), 1, 1);
    // instead: x::<shape![2, 3]>().addr(&x::<shape![2]>(), &x::<shape![3]>(), 1, 1);
    x::<shape![2]>().baddbmm(&x::<shape![4, 2, 3]>(), &x::<shape![5, 3, 2]>(), 1, 1);
    // instead: x::<shape![2]>().baddbmm(&x::<shape![4, 2, 3]>(), &x::<shape![4, 3, 2]>(), 1, 1);
    x::<shape![2]>().addbmm(&x::<shape![4, 2, 3]>(), &x::<shape![4, 2, 2]>(), 1, 1);
    // instead: x::<shape![2]>().addbmm(&x::<shape![4, 2, 3]>(), &x::<shape![4, 3, 2]>(), 1, 1);
    x::<shape![2, 3]>().linear(&x::<shape![4, 2]>(), None);
    // instead: x::<shape![2, 3]>().linear(&x::<shape![4, 3]>(), None);
    x::<shape![2, 3]>().linear(&x::<shape![4, 3]>(), Some(&x::<shape![3]>()));
    // instead: x::<shape![2, 3]>().linear(&x::<shape![4, 3]>(), Some(&x::<shape![4]>()));
    x::<shape![2, 3]>().linear_with(&x::<shape![4, 2]>(), None, castiron::ops::relu {});
    // instead: x::<shape![2, 3]>().linear_with(&x::<shape![4, 3]>(), None, castiron::ops::relu {});
    x::<shape![]>().linear(&x::<shape![4, 1]>(), None);
    // instead: x::<shape![1]>().linear(&x::<shape![4, 1]>(), None);
    x::<shape![2, 3]>().bilinear(&x::<shape![2, 5]>(), &x::<shape![4, 2, 5]>(), None);
    // instead: x::<shape![2, 3]>().bilinear(&x::<shape![2, 5]>(), &x::<shape![4, 3, 5]>(), None);
    x::<shape![2, 3]>().bilinear(&x::<shape![3, 5]>(), &x::<shape![4, 3, 5]>(), None);
    // instead: x::<shape![2, 3]>().bilinear(&x::<shape![2, 5]>(), &x::<shape![4, 3, 5]>(), None);
    x::<shape![2, 3]>().dist(&x::<shape![2, 4]>(), 2.0);
    // instead: x::<shape![2, 3]>().dist(&x::<shape![2, 3]>(), 2.0);
    x::<shape![2, 3]>().cdist(&x::<shape![4, 2]>(), 2.0);
    // instead: x::<shape![2, 3]>().cdist(&x::<shape![4, 3]>(), 2.0);
    x::<shape![2, 4]>().cross(&x::<shape![2, 4]>(), axis![1]);
    // instead: x::<shape![2, 3]>().cross(&x::<shape![2, 3]>(), axis![1]);
}
