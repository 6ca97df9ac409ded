//! Storage shared between threads: each thread sees its own edits, and no other's.

use castiron::{AnyTensor, Cpu, DType, Tensor, axis, shape};
use std::sync::Barrier;

const THREADS: i64 = 8;
const ROUNDS: i64 = if cfg!(debug_assertions) { 200 } else { 2_000 };

fn counting() -> Vec<i64> {
    (0..48).collect()
}

fn elements(x: &AnyTensor) -> Vec<i64> {
    x.to_bytes().unwrap().chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn typed_tensors_are_cloned_viewed_and_written_by_many_threads() {
    let shared: Tensor<i64, shape![_, _]> = Tensor::from_vec_sized(counting(), [6, 8]);
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, barrier) = (&shared, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..ROUNDS {
                    let (row, add) = ((round % 6) as usize, thread * ROUNDS + round);
                    let mut own = shared.clone();
                    let mut view = shared.narrow(axis![0], row, 1);
                    if thread % 2 == 0 {
                        own += add;
                        view *= 2;
                    }
                    let (sum, doubled) = if thread % 2 == 0 { (add, 2) } else { (0, 1) };
                    assert_eq!(own.to_vec(), counting().iter().map(|x| x + sum).collect::<Vec<_>>());
                    let part = &counting()[row * 8..][..8];
                    assert_eq!(view.to_vec(), part.iter().map(|x| x * doubled).collect::<Vec<_>>());
                    // Dropped here or kept by one more handle, in either order.
                    let last = own.t();
                    drop(own);
                    assert_eq!(last.sum().item(), 48 * 47 / 2 + 48 * sum);
                }
            });
        }
    });
    assert_eq!(shared.to_vec(), counting());
}

#[test]
fn tensors_of_run_time_dtypes_are_cloned_viewed_and_written_by_many_threads() {
    let typed: Tensor<i64, shape![_, _]> = Tensor::from_vec_sized(counting(), [6, 8]);
    // Both kinds of handle to one storage.
    let shared = AnyTensor::from(&typed);
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, typed, barrier) = (&shared, &typed, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..ROUNDS {
                    let add = thread * ROUNDS + round;
                    let wanted: Vec<i64> = counting().iter().map(|x| x + add).collect();
                    match thread % 4 {
                        0 => {
                            let mut own = shared.clone();
                            own.add_(add).unwrap();
                            assert_eq!(elements(&own), wanted);
                        }
                        1 => {
                            let mut own = shared.typed::<i64, shape![_, _], Cpu>().unwrap();
                            own += add;
                            assert_eq!(own.to_vec(), wanted);
                        }
                        2 => {
                            let mut turned = shared.transpose(0, 1).unwrap();
                            let before = turned.clone();
                            turned.fill_(add).unwrap();
                            assert_eq!(elements(&turned), vec![add; 48]);
                            assert_eq!(elements(&before.transpose(0, 1).unwrap()), counting());
                        }
                        _ => {
                            let wide = shared.unsqueeze(0).and_then(|x| x.expand(&[3, -1, -1])).unwrap();
                            let mut own = wide.slice(2, None, None, 2).unwrap();
                            own.mul_(own.clone()).unwrap();
                            let squares: Vec<i64> = counting().iter().step_by(2).map(|x| x * x).collect();
                            assert_eq!(elements(&own), squares.repeat(3));
                            assert_eq!(typed.clone().to_vec(), counting());
                        }
                    }
                    assert_eq!(elements(shared), counting());
                }
            });
        }
    });
    assert_eq!((elements(&shared), shared.dtype()), (counting(), DType::I64));
}

/// Handles go from thread to thread; what was the last one writes without a copy, and what is not copies.
#[test]
fn handles_that_are_handed_on_keep_their_elements() {
    let shared = AnyTensor::zeros(&[64], DType::I64).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel::<(i64, AnyTensor)>();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (sender, shared) = (sender.clone(), shared.clone());
            scope.spawn(move || {
                let mut own = shared;
                for round in 0..ROUNDS {
                    own.add_(thread).unwrap();
                    sender.send((thread * (round + 1), own.clone())).unwrap();
                }
            });
        }
        drop(sender);
        scope.spawn(move || {
            for (value, mut x) in receiver {
                assert_eq!(elements(&x), vec![value; 64]);
                x.sub_(value).unwrap();
                assert_eq!(elements(&x), vec![0; 64]);
            }
        });
    });
    assert_eq!(elements(&shared), vec![0; 64]);
}
