//! Gradients of attention, whose way back computes some weights at a time, against those of products and `softmax`. (In builds with debug
//! assertions a part is small, so that these tensors take many.)

use castiron::grad::Grad;
use castiron::nn::{Added, All, Causal, Where};
use castiron::{Cpu, Device, Generator, Tensor, axis, bf16, s, shape, where_};

type Four<D = Cpu> = Tensor<f64, shape![_, _, _, _], D>;

/// Products and `softmax`, with a mask that is added.
fn composed<D: Device>([q, k, v]: [&Four<D>; 3], mask: &Four<D>) -> Four<D> {
    let scores = q.matmul(k.transpose(axis![-2], axis![-1])) / (q.shape()[3] as f64).sqrt();
    (scores + mask).softmax(axis![-1]).matmul(v)
}

fn expect_close(found: &Four, expected: &Four, what: &str) {
    let (difference, largest) = ((found - expected).abs().amax().item(), expected.abs().amax().item());
    assert!(difference <= 1e-10 * largest.max(1e-3), "{what}: {difference} beside {largest}");
}

/// The gradients of attention with a mask of a kind, and the product of the second derivatives with a direction, beside those of
/// [`composed`].
macro_rules! expect_gradients {
    ($qkv:expr, $weight:expr, $mask:expr, $what:expr, |$given:ident| $sees:expr, $own:expr) => {{
        let expected = $qkv.hvp(&$qkv, (&$weight, &$mask), |(q, k, v), (weight, mask)| {
            (composed([q, k, v], mask) * weight).square().sum()
        });
        let found = $qkv.hvp(&$qkv, (&$weight, &$own), |(q, k, v), (weight, $given)| {
            (q.scaled_dot_product_attention(k, v, $sees, None).with_shape::<shape![_, _, _, _]>() * weight)
                .square()
                .sum()
        });
        for (found, expected) in [(&found.1, &expected.1), (&found.2, &expected.2)] {
            expect_close(&found.0, &expected.0, &format!("{}: queries", $what));
            expect_close(&found.1, &expected.1, &format!("{}: keys", $what));
            expect_close(&found.2, &expected.2, &format!("{}: values", $what));
        }
    }};
}

#[test]
fn gradients_are_those_of_the_softmax_of_all_scores() {
    let g = &mut Generator::seeded(1);
    for (batch, heads, queries, keys, features, width) in
        [(1, 1, 5, 5, 3, 2), (2, 3, 11, 7, 4, 3), (2, 2, 6, 13, 2, 4), (3, 1, 1, 9, 2, 2), (1, 2, 4, 1, 3, 3)]
    {
        let what = format!("{batch} {heads} {queries} {keys}");
        let of = |sizes, g: &mut Generator| -> Four { Tensor::randn_sized(sizes, g) };
        let q = of([batch, heads, queries, features], g);
        let k = of([batch, heads, keys, features], g);
        // Keys and values as their producers often leave them: transposed, and a row of another one.
        let k = k.transpose(axis![1], axis![2]).contiguous().transpose(axis![1], axis![2]).with_shape();
        let v = of([batch, heads, keys, 2 * width], g).slice(s![.., .., .., width..]).with_shape();
        let weight = of([batch, heads, queries, width], g);
        let qkv = (q, k, v);
        let (zero, lowest) = (Tensor::<f64, ()>::full(0.0), Tensor::<f64, ()>::full(f64::NEG_INFINITY));

        let none: Four = Tensor::zeros_sized([1, 1, queries, keys]);
        expect_gradients!(
            qkv,
            weight,
            none,
            what,
            |given| {
                let _ = given;
                All
            },
            none
        );

        let later =
            Tensor::<bool, shape![_, _, _, _]>::from_fn_sized([1, 1, queries, keys], |[_, _, query, key]| key <= query);
        let causal: Four = where_(&later, &zero, &lowest);
        expect_gradients!(
            qkv,
            weight,
            causal,
            what,
            |given| {
                let _ = given;
                Causal
            },
            none
        );

        // One key at least is seen, by another mask for each of the batch.
        let seen = of([batch, 1, queries, keys], g).gt(0.0);
        let first = Tensor::<bool, shape![_, _, _, _]>::from_fn_sized([1, 1, 1, keys], |[_, _, _, key]| key == 0);
        let seen: Tensor<bool, shape![_, _, _, _]> = seen.logical_or(&first);
        let added: Four = where_(&seen, &zero, &lowest);
        expect_gradients!(qkv, weight, added, what, |given| Where(given), seen);

        let bias = of([1, heads, queries, keys], g);
        expect_gradients!(qkv, weight, bias, what, |given| Added(given), bias);
    }
}

#[test]
fn a_mask_that_is_learned_has_a_gradient() {
    let g = &mut Generator::seeded(2);
    let of = |sizes, g: &mut Generator| -> Four { Tensor::randn_sized(sizes, g) };
    let (q, k, v) = (of([2, 2, 5, 3], g), of([2, 2, 7, 3], g), of([2, 2, 7, 4], g));
    let bias = of([1, 2, 5, 7], g);
    let expected = bias.value_and_grad((&q, &k, &v), |bias, (q, k, v)| composed([q, k, v], bias).square().sum()).1;
    let found = bias.value_and_grad((&q, &k, &v), |bias, (q, k, v)| {
        q.scaled_dot_product_attention(k, v, Added(bias), None).square().sum()
    });
    expect_close(&found.1, &expected, "bias");
}

#[test]
fn shared_heads_get_the_sum_of_their_gradients() {
    let g = &mut Generator::seeded(3);
    let of = |sizes, g: &mut Generator| -> Four { Tensor::randn_sized(sizes, g) };
    let q: Tensor<f64, shape![2, 6, 5, 4]> = of([2, 6, 5, 4], g).with_shape();
    let k: Tensor<f64, shape![2, 2, 7, 4]> = of([2, 2, 7, 4], g).with_shape();
    let v: Tensor<f64, shape![2, 2, 7, 3]> = of([2, 2, 7, 3], g).with_shape();
    let found = (k.clone(), v.clone())
        .value_and_grad((&q,), |(k, v), (q,)| q.scaled_dot_product_attention(k, v, Causal, None).square().sum());
    // Each head of keys and values three times.
    let expected = (k, v).value_and_grad((&q,), |(k, v), (q,)| {
        let (k, v) = (
            k.repeat_interleave::<castiron::dim!(3), _>(axis![1]),
            v.repeat_interleave::<castiron::dim!(3), _>(axis![1]),
        );
        q.scaled_dot_product_attention(&k, &v, Causal, None).square().sum()
    });
    expect_close(&found.1.0.with_shape(), &expected.1.0.with_shape(), "keys");
    expect_close(&found.1.1.with_shape(), &expected.1.1.with_shape(), "values");
}

#[test]
fn halves_are_computed_in_single_precision() {
    let g = &mut Generator::seeded(4);
    let q: Tensor<bf16, shape![2, 9, 4]> = Tensor::<f32, _>::randn(g).to();
    let k: Tensor<bf16, shape![2, 9, 4]> = Tensor::<f32, _>::randn(g).to();
    let wide = (q.to::<f32>(), k.to::<f32>());
    let found = (q, k)
        .value_and_grad((), |(q, k), ()| q.scaled_dot_product_attention(k, k, Causal, None).to::<f32>().square().sum());
    let expected =
        wide.value_and_grad((), |(q, k), ()| q.scaled_dot_product_attention(k, k, Causal, None).square().sum());
    for (found, expected) in [(found.1.0, expected.1.0), (found.1.1, expected.1.1)] {
        let difference = (found.to::<f32>() - &expected).abs().amax().item();
        assert!(difference <= 0.02 * expected.abs().amax().item(), "{difference}");
    }
}

#[test]
fn without_keys_or_queries_gradients_are_zeros() {
    for (queries, keys) in [(0, 3), (3, 0), (0, 0)] {
        let q: Four = Tensor::ones_sized([2, 2, queries, 4]);
        let k: Four = Tensor::ones_sized([2, 2, keys, 4]);
        let grads = (q, k).value_and_grad((), |(q, k), ()| q.scaled_dot_product_attention(k, k, All, None).sum()).1;
        assert_eq!((grads.0.shape()[2], grads.1.shape()[2]), (queries, keys));
        assert!(grads.0.eq(0.0).all().item() && grads.1.eq(0.0).all().item());
    }
}
