//! Batches of examples.

use castiron::data::{Batch, Batches, prefetched};
use castiron::{Device, Dyn, Error, Generator, Meta, Tensor, bf16, dim, dims, shape, tensor};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

dims! { Examples }

/// `len` examples of two numbers, and their numbers.
fn examples(len: usize) -> (Tensor<f32, shape![Examples, 2]>, Tensor<i64, shape![Examples]>) {
    let pairs = (0..2 * len).map(|at| at as f32).collect();
    (Tensor::from_vec_sized(pairs, [len, 2]), Tensor::from_vec_sized((0..len as i64).collect(), [len]))
}

#[test]
fn batches_in_order_are_views_and_cover_all() {
    let (x, y) = examples(7);
    for size in 1..9 {
        let batches = Batches::new((&x, &y), size);
        assert_eq!(batches.len(), 7_usize.div_ceil(size));
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for (bx, by) in batches {
            let (bx, by): (Tensor<f32, shape![Batch, 2]>, Tensor<i64, shape![Batch]>) = (bx, by);
            assert!(bx.shares_storage(&x) && by.numel() <= size);
            xs.extend(bx.to_vec());
            ys.extend(by.to_vec());
        }
        assert_eq!((xs, ys), (x.to_vec(), y.to_vec()));
        let dropped: usize = Batches::new(&y, size).drop_last().map(|batch| batch.numel()).sum();
        assert_eq!(dropped, 7 / size * size);
    }
    assert_eq!(Batches::new(examples(0), 3).count(), 0);
}

#[test]
fn shuffled_batches_keep_examples_together() {
    let (x, y) = examples(50);
    let order = |seed: u64| -> Vec<i64> {
        let batches = Batches::new((&x, &y, (&y,)), 8).shuffled(&mut Generator::seeded(seed));
        batches
            .flat_map(|(x, y, (z,))| {
                assert_eq!((y.to_vec(), y.numel()), (z.to_vec(), x.size(castiron::axis![0])));
                assert!(x.iter().zip(y.iter().flat_map(|y| [2 * y, 2 * y + 1])).all(|(x, y)| *x == y as f32));
                y.to_vec()
            })
            .collect()
    };
    let (first, again, other) = (order(3), order(3), order(4));
    let mut sorted = first.clone();
    sorted.sort();
    assert!(first == again && first != other && sorted == y.to_vec());
    // One generator gives each pass an order of its own.
    let mut generator = Generator::seeded(3);
    let passes = [0; 2].map(|_| Batches::new(&y, 50).shuffled(&mut generator).next().unwrap().to_vec());
    assert_ne!(passes[0], passes[1]);
}

#[test]
fn views_of_any_layout_are_cut() {
    let columns = tensor![[1, 2, 3], [4, 5, 6]].t();
    let batches: Vec<Vec<i64>> = Batches::new(&columns, 2).map(|batch| batch.to_vec()).collect();
    assert_eq!(batches, [vec![1, 4, 2, 5], vec![3, 6]]);
    let repeated = tensor![[1.0, 1.0]; bf16].expand::<shape![4, 2]>();
    let batches: Vec<usize> = Batches::new(&repeated, 3).map(|batch| batch.numel()).collect();
    assert_eq!(batches, [6, 2]);
    let on_meta: Tensor<f32, shape![5, 2], Meta> = Tensor::zeros();
    let sizes: Vec<[usize; 2]> =
        Batches::new(on_meta, 2).shuffled(&mut Generator::seeded(0)).map(|batch| batch.shape()).collect();
    assert_eq!(sizes, [[2, 2], [2, 2], [1, 2]]);
}

/// Code that is generic over devices and first axes takes batches.
fn total<D: Device>(x: &Tensor<f32, shape![Examples, 2], D>, y: &Tensor<i64, shape![Examples], D>) -> usize {
    Batches::new((x, y), 2).map(|(x, y)| x.numel() + y.numel()).sum()
}

#[test]
fn the_first_axis_is_named() {
    let (x, y) = examples(5);
    assert_eq!(total(&x, &y), 15);
    let named: Tensor<i64, shape![Examples]> = Batches::new(&y, 2).named::<Examples>().next().unwrap();
    let plain: Tensor<i64, shape![_]> = Batches::new(&y, 2).named::<Dyn>().next().unwrap();
    assert_eq!(named.to_vec(), plain.to_vec());
    let mut pairs = Batches::new(&x, 2).named::<dim!(2)>();
    let first: Tensor<f32, shape![2, 2]> = pairs.next().unwrap();
    assert_eq!(first.to_vec(), [0.0, 1.0, 2.0, 3.0]);
    let last = pairs.next().and_then(|_| pairs.try_next()).unwrap();
    assert!(matches!(last, Err(Error::Shape { .. })));
    assert!(pairs.try_next().is_none());
    let mut shuffled = Batches::new(&x, 3).shuffled(&mut Generator::seeded(0)).named::<dim!(2)>();
    assert_eq!(
        shuffled.try_next().unwrap().unwrap_err().to_string(),
        "Batches: expected a tensor of shape [2, 2], got one of shape [3, 2]"
    );
}

#[test]
fn wrong_arguments_are_errors() {
    let (x, y) = examples(5);
    let text = |error: Error| error.to_string();
    assert_eq!(text(Batches::try_new(&x, 0).unwrap_err()), "Batches: a batch has at least one example");
    let fewer = tensor![1, 2, 3];
    assert_eq!(
        text(Batches::try_new((&x, (&y, &fewer)), 2).unwrap_err()),
        "Batches: the first tensor has 5 examples, another has 3"
    );
    assert_eq!(Batches::new(&x, usize::MAX).count(), 1);
}

#[test]
fn a_thread_is_ahead() {
    let (x, y) = examples(20);
    let batches = Batches::new((&x, &y), 3).shuffled(&mut Generator::seeded(7));
    let expected: Vec<Vec<i64>> = batches.clone().map(|(_, y)| y.to_vec()).collect();
    for ahead in [0, 1, 3, 100] {
        let mut prefetched = batches.clone().prefetched(ahead);
        let mut found = Vec::new();
        while let Some((_, y)) = prefetched.next() {
            found.push(y.to_vec());
            assert_eq!(prefetched.progress().to_string(), format!("{}/7", found.len()));
        }
        assert_eq!(found, expected);
        assert!(prefetched.next().is_none());
    }
    // As far ahead as was asked for, and no further; dropped in the middle, the thread ends.
    let (made, (tell, told)) = (Arc::new(AtomicUsize::new(0)), mpsc::channel());
    let counting = {
        let made = made.clone();
        Batches::new(&y, 1).inspect(move |_| {
            made.fetch_add(1, Ordering::SeqCst);
            let _ = tell.send(());
        })
    };
    let mut ahead = prefetched(counting, 2);
    ahead.next();
    // One is taken, two wait, one is held by the thread.
    (0..4).for_each(|_| told.recv().unwrap());
    assert_eq!(made.load(Ordering::SeqCst), 4);
    drop(ahead);
    assert!(told.recv().is_err());
}

#[test]
fn a_panic_of_the_thread_goes_on_in_the_caller() {
    let (_, y) = examples(5);
    let mut ahead = prefetched(Batches::new(&y, 1).map(|y| if y.item_is(3) { panic!("three") } else { y.numel() }), 1);
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let before: Vec<usize> = ahead.by_ref().take(3).collect();
        assert_eq!(before, [1; 3]);
        ahead.next()
    }));
    assert_eq!(found.unwrap_err().downcast_ref::<&str>(), Some(&"three"));
}

trait ItemIs {
    fn item_is(&self, value: i64) -> bool;
}
impl ItemIs for Tensor<i64, shape![Batch]> {
    fn item_is(&self, value: i64) -> bool {
        self.to_vec() == [value]
    }
}
