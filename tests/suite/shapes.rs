//! Shapes at compile time: every assertion here is a type, checked before the test runs; the run itself checks what the types left open.

use castiron::shape::{ConvSize, DivideBy, DivideExactly, Minus, Padded, Product, Smaller, Sum};
use castiron::{Dim, Dyn, Element, Shape, Tensor, axis, cat, dim, dims, shape, stack, tensor, where_};
use static_assertions::assert_type_eq_all as same;

dims! { Batch, Time, Channels }

// Numbers are their decimal digits: one type for each number.
same!(dim!(384), castiron::shape::D3<castiron::shape::D8<castiron::shape::D4>>);
same!(shape![_, 384, Batch], (Dyn, dim!(384), Batch));
same!(shape![], ());

// Known sizes stay known through arithmetic, carries included.
same!(Sum<dim!(384), dim!(128)>, dim!(512));
same!(Sum<dim!(999), dim!(1)>, dim!(1000));
same!(Sum<dim!(0), dim!(0)>, dim!(0));
same!(Sum<dim!(18_446_744_073_709_551_615), dim!(0)>, dim!(18446744073709551615));
same!(Sum<dim!(0), Batch>, Batch);
same!(Sum<dim!(1), Batch>, Dyn);
same!(Product<dim!(32), dim!(12)>, dim!(384));
same!(Product<dim!(0), Dyn>, dim!(0));
same!(Product<dim!(1), Time>, Time);
same!(Product<dim!(2), Time>, Dyn);
same!(Product<dim!(99999), dim!(99999)>, dim!(9999800001));
same!(Padded<dim!(28), dim!(2), dim!(2)>, dim!(32));
same!(<dim!(100) as Minus<dim!(1)>>::Output, dim!(99));
same!(<dim!(7) as Minus<dim!(7)>>::Output, dim!(0));
same!(<dim!(7) as DivideBy<dim!(2)>>::Output, dim!(3));
same!(<dim!(384) as DivideExactly<dim!(12)>>::Output, dim!(32));
same!(<Dyn as DivideExactly<dim!(12)>>::Output, Dyn);
// The smaller one of any two: numbers are compared from the first digit on, and what is no number leaves it to the run.
same!(<dim!(7) as Smaller<dim!(13)>>::Output, <dim!(13) as Smaller<dim!(7)>>::Output, dim!(7));
same!(<dim!(109) as Smaller<dim!(190)>>::Output, <dim!(190) as Smaller<dim!(109)>>::Output, dim!(109));
same!(<dim!(99) as Smaller<dim!(100)>>::Output, <dim!(99) as Smaller<dim!(99)>>::Output, dim!(99));
same!(<dim!(0) as Smaller<dim!(1)>>::Output, <dim!(10) as Smaller<dim!(0)>>::Output, dim!(0));
same!(<dim!(3) as Smaller<Dyn>>::Output, <Time as Smaller<dim!(3)>>::Output, <Time as Smaller<Batch>>::Output, Dyn);
// torch.nn.Conv2d: ResNet's first layers, a dilated kernel, a strided one with a remainder.
same!(<dim!(224) as ConvSize<dim!(7), dim!(2), dim!(3), dim!(1)>>::Output, dim!(112));
same!(<dim!(112) as ConvSize<dim!(3), dim!(2), dim!(1), dim!(1)>>::Output, dim!(56));
same!(<dim!(32) as ConvSize<dim!(3), dim!(1), dim!(0), dim!(2)>>::Output, dim!(28));
same!(<dim!(28) as ConvSize<dim!(5), dim!(3), dim!(0), dim!(1)>>::Output, dim!(8));

fn ones<E: castiron::Dtype, S: Shape>(sizes: S::Sizes) -> Tensor<E, S> {
    Tensor::ones_sized(sizes)
}

/// The type of a value, for the table below.
fn is<E: Element, S: Shape>(_: &Tensor<E, S>) {}

#[test]
fn the_smaller_of_two_numbers_is_found_digit_by_digit() {
    macro_rules! each_pair {
        ([$($a:literal)*] $all:tt) => { $(each_pair!(@row $a $all);)* };
        (@row $a:literal [$($b:literal)*]) => {$(
            assert_eq!(<dim!($a) as Dim>::Smaller::<dim!($b)>::SIZE, Some(if $a < $b { $a } else { $b }));
        )*};
    }
    each_pair!([0 1 2 3 4 5 6 7 8 9 10 19 21 90 100 101] [0 1 2 3 4 5 6 7 8 9 10 19 21 90 100 101]);
}

#[test]
fn broadcasting_happens_in_the_type() {
    let column = ones::<f32, shape![3, 1]>([3, 1]);
    is::<f32, shape![3, 4]>(&(&column + ones::<f32, shape![4]>([4])));
    is::<f32, shape![2, 3, 1]>(&(&column + ones::<f32, shape![2, 1, 1]>([2, 1, 1])));
    is::<f32, shape![3, _]>(&(&column + ones::<f32, shape![_]>([5])));
    is::<f32, shape![3, Batch]>(&(&column + ones::<f32, shape![Batch]>([5])));
    is::<f32, shape![3, 1]>(&(&column + Tensor::<f64, ()>::scalar(1.0)));
    // A known size with an unknown one gives the known one, checked at run time.
    let known = &ones::<f32, shape![_, 4]>([3, 4]) + ones::<f32, shape![3, _]>([3, 4]);
    is::<f32, shape![3, 4]>(&known);
    assert!(ones::<f32, shape![4]>([4]).try_add(ones::<f32, shape![_]>([3])).is_err());
    assert_eq!(ones::<f32, shape![4]>([4]).add(ones::<f32, shape![_]>([1])).shape(), [4]);
    // Zero-sized axes broadcast with 1 and themselves.
    is::<f32, shape![0]>(&(ones::<f32, shape![0]>([0]) + ones::<f32, shape![1]>([1])));
    is::<f32, shape![3, 0]>(&(&column + ones::<f32, shape![0]>([0])));
    let choice = where_(tensor![[true], [false]], ones::<u8, shape![3]>([3]), 2.5);
    is::<f32, shape![2, 3]>(&choice);
}

#[test]
fn views_carry_their_shapes() {
    let x = ones::<f32, shape![2, 3, 4]>([2, 3, 4]);
    is::<f32, shape![4, 3]>(&x.select(axis![0], 0).t());
    is::<f32, shape![2, 4, 3]>(&x.transpose(axis![-1], axis![1]));
    is::<f32, shape![4, 2, 3]>(&x.permute(axis![2, 0, 1]));
    is::<f32, shape![4, 2, 3]>(&x.permute(axis![-1, 0, 1]));
    is::<f32, shape![2, 1, 3, 4]>(&x.unsqueeze(axis![1]));
    is::<f32, shape![2, 3, 4, 1]>(&x.unsqueeze(axis![-1]));
    is::<f32, shape![2, 3, 4]>(&x.unsqueeze(axis![0]).squeeze());
    is::<f32, shape![2, 3, 4]>(&x.unsqueeze(axis![0]).squeeze_axis(axis![0]));
    is::<f32, shape![3, 4]>(&x.select(axis![0], 1));
    is::<f32, shape![24]>(&x.flatten());
    is::<f32, shape![2, 12]>(&x.flatten_axes(axis![1], axis![2]));
    is::<f32, shape![6, 4]>(&x.flatten_axes(axis![0], axis![1]));
    is::<f32, shape![2, 3, 2, 2]>(&x.unflatten::<shape![2, 2], -1>(axis![-1]));
    is::<f32, shape![6, 4]>(&x.reshape::<shape![6, 4]>());
    is::<f32, shape![8, 3]>(&x.reshape());
    is::<f32, shape![5, 2, 3, 4]>(&x.expand::<shape![5, 2, 3, 4]>());
    let named = ones::<f32, shape![Batch, Time, 8]>([2, 3, 8]);
    is::<f32, shape![Time, Batch, 8]>(&named.transpose(axis![0], axis![1]));
    is::<f32, shape![_, 8]>(&named.flatten_axes(axis![0], axis![1]));
    is::<f32, shape![Batch, Time, 2, 4]>(&named.unflatten::<shape![2, 4], 2>(axis![2]));
}

#[test]
fn reductions_drop_or_keep_axes_in_the_type() {
    let x = ones::<i32, shape![Batch, 3, 4]>([2, 3, 4]);
    is::<i64, ()>(&x.sum());
    is::<i64, shape![Batch, 4]>(&x.sum_axis(axis![1]));
    is::<i64, shape![Batch, 1, 4]>(&x.sum_axis(axis![1].keepdim()));
    is::<i64, shape![3]>(&x.sum_axis(axis![0, 2]));
    is::<i64, shape![3]>(&x.sum_axis(axis![-1, 0]));
    is::<i64, shape![1, 3, 1]>(&x.sum_axis(axis![0, 2].keepdim()));
    is::<i64, ()>(&x.sum_axis(axis![0, 1, 2]));
    is::<i32, shape![Batch, 3]>(&x.amax_axis(axis![2]));
    is::<i64, shape![Batch, 3]>(&x.argmax_axis(axis![2]));
    is::<bool, shape![Batch, 4]>(&x.any_axis(axis![1]));
    let (values, indices) = x.max_axis(axis![0]);
    is::<i32, shape![3, 4]>(&values);
    is::<i64, shape![3, 4]>(&indices);
}

#[test]
fn joining_adds_sizes_up() {
    let (a, b) = (ones::<u8, shape![2, 3]>([2, 3]), ones::<f32, shape![5, 3]>([5, 3]));
    is::<f32, shape![7, 3]>(&cat((&a, &b), axis![0]));
    is::<f32, shape![12, 3]>(&cat((&a, &b, &b), axis![-2]));
    is::<f32, shape![_, 3]>(&cat((&a, ones::<f32, shape![_, 3]>([4, 3])), axis![0]));
    is::<u8, shape![2, 2, 3]>(&stack((&a, &a), axis![0]));
    is::<u8, shape![2, 3, 3]>(&stack((&a, &a, &a), axis![-1]));
    is::<u8, shape![_, 3]>(&cat([&a, &a], axis![0]));
    is::<u8, shape![_, 2, 3]>(&stack(vec![a.clone(), a.clone()], axis![0]));
    assert_eq!(cat(vec![a.clone(), a], axis![1]).shape(), [2, 6]);
}

#[test]
fn matmul_follows_pytorchs_ranks() {
    let vector = ones::<f32, shape![3]>([3]);
    let matrix = ones::<f32, shape![2, 3]>([2, 3]);
    is::<f32, ()>(&vector.matmul(&vector));
    is::<f32, shape![2]>(&matrix.matmul(&vector));
    is::<f32, shape![2]>(&vector.matmul(matrix.t()));
    is::<f32, shape![2, 2]>(&matrix.matmul(matrix.t()));
    let batch = ones::<f32, shape![Batch, 1, 3, 4]>([5, 1, 3, 4]);
    is::<f32, shape![Batch, 7, 2, 4]>(&ones::<f32, shape![7, 2, 3]>([7, 2, 3]).matmul(&batch));
    is::<f32, shape![Batch, 1, 4]>(&vector.matmul(&batch));
    is::<f32, shape![Batch, 1, 3]>(&batch.matmul(ones::<f32, shape![4]>([4])));
    // Inner size 0: sums of nothing.
    let nothing = ones::<f32, shape![2, 0]>([2, 0]).matmul(ones::<f32, shape![0, 3]>([0, 3]));
    assert_eq!(nothing.to_vec(), [0.0; 6]);
}

#[test]
fn conversion_between_known_named_and_dynamic_panics_or_returns_the_error() {
    let x = ones::<f32, shape![_, _]>([8, 384]);
    let named: Tensor<f32, shape![Batch, 384]> = x.with_shape();
    let known: Tensor<f32, shape![8, 384]> = named.with_shape();
    let other: Tensor<f32, shape![Time, Channels]> = known.with_shape();
    assert!(other.shares_storage(&known));
    let panic = std::panic::catch_unwind(|| x.with_shape::<shape![9, _]>()).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("with_shape: expected a tensor of shape [9, _], got one of shape [8, 384]"), "{text}");
    let error = x.try_with_shape::<shape![Batch, 385]>().unwrap_err();
    assert_eq!(error.to_string(), "with_shape: expected a tensor of shape [Batch, 385], got one of shape [8, 384]");
}

#[test]
fn eight_axes_are_as_good_as_one() {
    let x = ones::<i16, shape![1, 2, 1, 2, 1, 2, 1, 2]>([1, 2, 1, 2, 1, 2, 1, 2]);
    is::<i16, shape![2, 2, 2, 2]>(&x.squeeze());
    is::<i64, shape![1, 2, 1, 2, 1, 2, 1]>(&x.sum_axis(axis![-1]));
    is::<i16, shape![2, 1, 2, 1, 2, 1, 2, 1]>(&x.permute(axis![7, 6, 5, 4, 3, 2, 1, 0]));
    is::<i16, shape![1, 2, 1, 2, 1, 2, 1, 2]>(&(&x + &x));
    is::<i16, shape![16]>(&x.flatten());
    is::<i16, shape![2, 2, 1, 2, 1, 2, 1, 2]>(&cat((&x, &x), axis![0]));
    assert_eq!(x[(0, 1, 0, 1, 0, 1, 0, 1)], 1);
}

#[test]
fn generic_code_computes_with_sizes() {
    /// Splits heads: `(B, T, 12 * K)` to `(B, T, 12, K)`.
    fn heads<B: Dim, T: Dim>(x: &Tensor<f32, (B, T, dim!(384))>) -> Tensor<f32, (B, T, dim!(12), dim!(32))> {
        x.unflatten::<shape![12, 32], 2>(axis![2])
    }
    is::<f32, shape![Batch, _, 12, 32]>(&heads(&ones::<f32, shape![Batch, _, 384]>([2, 3, 384])));
    /// Puts two feature vectors side by side.
    fn both<B: Dim, M: Dim, N: Dim>(a: &Tensor<f32, (B, M)>, b: &Tensor<f32, (B, N)>) -> Tensor<f32, (B, Sum<M, N>)> {
        cat((a, b), axis![1])
    }
    is::<f32, shape![Batch, 7]>(&both(&ones::<f32, shape![Batch, 3]>([2, 3]), &ones::<f32, shape![Batch, 4]>([2, 4])));
}

/// Rules that only concern known sizes place no bounds on equal generic ones, nor on names and `_`.
#[test]
fn generic_code_states_no_rules_of_sizes_that_are_the_same() {
    use castiron::nn::{All, Where};
    type Query<H, L> = Tensor<f32, (Batch, H, L, dim!(2))>;
    fn attend<H: Dim, L: Dim>(x: &Query<H, L>, mask: &Tensor<bool, (L, L)>) -> Query<H, L> {
        x.scaled_dot_product_attention(x, x, Where(mask), None)
    }
    fn indexed<N: Dim, M: Dim>(x: &Tensor<f32, (N, M)>, index: &Tensor<i64, (N, M)>) -> Tensor<f32, (N, M)> {
        x.gather(axis![1], index).scatter_add(axis![0], index, x)
    }
    fn along_the_last<S: Shape>(x: &Tensor<f32, S>, index: &Tensor<i64, S>) -> Tensor<f32, S> {
        x.gather(axis![-1], index)
    }
    fn chained<N: Dim>(x: &Tensor<f32, (N, N)>) -> [usize; 2] {
        castiron::multi_dot(&[x, x]).shape()
    }
    let heads = ones::<f32, shape![Batch, 6, 3, 2]>([2, 6, 3, 2]);
    is::<f32, shape![Batch, 6, 3, 2]>(&attend(&heads, &Tensor::ones()));
    let few = ones::<f32, shape![Batch, 2, 3, 2]>([2, 2, 3, 2]);
    is::<f32, shape![Batch, 6, 3, 2]>(&heads.scaled_dot_product_attention(&few, &few, All, None));
    let unknown: Tensor<f32, shape![Batch, _, 3, 2]> = few.with_shape();
    is::<f32, shape![Batch, 6, 3, 2]>(&heads.scaled_dot_product_attention(&unknown, &unknown, All, None));
    let (x, index) = (Tensor::<f32, shape![2, 3]>::ones(), Tensor::<i64, shape![2, 3]>::zeros());
    is::<f32, shape![2, 3]>(&indexed(&x, &index));
    is::<f32, shape![2, 3]>(&along_the_last(&x, &index));
    is::<f32, shape![_, 1]>(&x.gather(axis![1], ones::<i64, shape![_, 1]>([2, 1])));
    assert_eq!(chained(&Tensor::<f32, shape![2, 2]>::ones()), [2, 2]);
}
