//! Graphs: work that is recorded once, and replayed beside the same work as it is begun each time.

use crate::pretend;
use crate::{on_gpu, on_pretend};
use castiron::gpu::{Launch, capture};
use castiron::{Cuda, Generator, Shape, Tensor, axis, cuda_kernel, shape, tensor};
use std::cell::RefCell;

type Row = Tensor<f32, shape![4], Cuda<0>>;
type Square = Tensor<f32, shape![4, 4], Cuda<0>>;

fn row(from: f32) -> Row {
    tensor![0.0, 1.0, 2.0, 3.0].cuda().unwrap() + from
}

fn square() -> Square {
    Tensor::<f32, shape![4, 4]>::from_vec((0..16).map(|i| (i * 7 % 5) as f32 - 2.0).collect()).cuda().unwrap()
}

fn read<S: Shape>(x: &Tensor<f32, S, Cuda<0>>) -> Vec<f32> {
    x.cpu().unwrap().to_vec()
}

cuda_kernel! {
    fn doubled(x: &Tensor<f32, shape![4]>, y: &mut Tensor<f32, shape![4]>) {
        // SAFETY: there are four.
        unsafe { "if (threadIdx.x < 4 && blockIdx.x == 0) y[threadIdx.x] = 2 * x[threadIdx.x];" }
    }
}

/// Products, kernels of several kinds, temporaries, a kernel of one's own.
fn layer(weight: &Square, x: &Row) -> castiron::Result<(Row, Tensor<f32, (), Cuda<0>>)> {
    let y: Row = weight.matmul(x).relu() + 0.5;
    let mut twice = Tensor::zeros();
    doubled(Launch::over(4), &(&y - y.amax()), &mut twice)?;
    let shares = twice.softmax(axis![0]);
    let sum = (&shares * &y).sum();
    Ok((shares, sum))
}

#[test]
fn other_inputs() {
    on_gpu!("graphs::other_inputs", {
        let weight = square();
        let mut graph = capture(&row(0.0), |x| layer(&weight, x)).unwrap();
        let mut kept = Vec::new();
        for from in [1.0, -3.0, 0.25] {
            let x = row(from);
            let (shares, sum) = graph.replay(&x).unwrap();
            let expected = layer(&weight, &x).unwrap();
            assert_eq!((read(&shares), read(&sum)), (read(&expected.0), read(&expected.1)));
            kept.push((shares, read(&expected.0)));
        }
        // Later replays leave earlier results alone; an input may have other strides.
        let matrix = tensor![[5.0, 0.0], [6.0, 0.0], [7.0, 0.0], [8.0, 0.0]].cuda().unwrap();
        let (shares, _) = graph.replay(&matrix.select(axis![1], 0)).unwrap();
        assert_eq!(read(&shares), read(&layer(&weight, &row(5.0)).unwrap().0));
        kept.iter().for_each(|(shares, expected)| assert_eq!(read(shares), *expected));
    });
}

/// A replay is one call, however many kernels it has.
#[test]
fn one_launch() {
    on_pretend!("graphs::one_launch", {
        let (weight, x) = (square(), row(1.0));
        let mut graph = capture(&x, |x| layer(&weight, x)).unwrap();
        let launches = pretend::count("launch");
        drop(layer(&weight, &x).unwrap());
        let eager = pretend::count("launch") - launches;
        drop(graph.replay(&x).unwrap());
        // The input and two results are copied.
        assert!(eager > 4, "{eager}");
        assert_eq!((pretend::count("launch") - launches - eager, pretend::count("launch a graph")), (3, 1));
        assert!(pretend::count("nodes") > eager);
        // All of its memory is freed with it.
        drop(graph);
        drop((weight, x));
        castiron::device::synchronize("cuda:0").unwrap();
        assert_eq!((pretend::live(), pretend::graphs()), (1, 0)); // the workspace of products
    });
}

#[test]
fn state_of_the_closure() {
    on_gpu!("graphs::state_of_the_closure", {
        let mut total = row(0.0);
        let mut graph = capture(&row(0.0), |x| {
            total += x;
            Ok(&total * 1.0)
        })
        .unwrap();
        // (The first call ran: it added its example.)
        assert_eq!(read(&graph.replay(&row(10.0)).unwrap()), [10.0, 13.0, 16.0, 19.0]);
        assert_eq!(read(&graph.replay(&row(-1.0)).unwrap()), [9.0, 13.0, 17.0, 21.0]);
        drop(graph);
        assert_eq!(read(&total), [9.0, 13.0, 17.0, 21.0]);
    });
}

/// The memory that the closure read stays, whatever becomes of the tensor; what is written there is seen.
#[test]
fn memory_is_kept() {
    on_gpu!("graphs::memory_is_kept", {
        let weight = RefCell::new(square());
        let mut graph = capture(&row(0.0), |x| Ok(weight.borrow().matmul(x))).unwrap();
        *weight.borrow_mut() += 1.0;
        let expected = read(&weight.borrow().matmul(row(2.0)));
        weight.replace(Tensor::zeros());
        let others: Vec<Square> = (0..4).map(|_| Tensor::ones()).collect();
        assert_eq!(read(&graph.replay(&row(2.0)).unwrap()), expected);
        drop(others);
        // A result that was there before, and one that is an input.
        let mut graph = capture(&row(1.0), |x| Ok((x.clone(), weight.borrow().clone()))).unwrap();
        let (same, zeros) = graph.replay(&row(3.0)).unwrap();
        assert_eq!((read(&same), read(&zeros)), (read(&row(3.0)), vec![0.0; 16]));
    });
}

#[test]
fn what_is_refused() {
    on_pretend!("graphs::what_is_refused", {
        let x = row(1.0);
        let weight = square();
        fn said<T>(result: castiron::Result<T>) -> String {
            result.err().expect("it is refused").to_string()
        }
        let first = RefCell::new(true);
        // Errors of what is recorded, and not of the call before.
        let then = |work: &dyn Fn(&Row) -> castiron::Result<()>| {
            first.replace(true);
            said(capture(&x, |x| {
                if !first.replace(false) {
                    work(x)?;
                }
                Ok(x + 1.0)
            }))
        };
        for (work, op, why) in [
            (&(|x: &Row| x.sum().try_item().map(drop)) as &dyn Fn(&Row) -> _, "download", "the host reads elements"),
            (&|x: &Row| x.cpu().map(drop), "download", "the host reads elements"),
            (&|x: &Row| x.try_nonzero().map(drop), "download", "the host reads elements"),
            (&|_: &Row| tensor![1.0].cuda().map(drop), "upload", "copied to the GPU"),
            (
                &|_: &Row| Tensor::<f32, shape![4], Cuda<0>>::try_rand(&mut Generator::seeded(0)).map(drop),
                "random",
                "the same numbers",
            ),
            (&|_: &Row| Tensor::<f32, shape![4], Cuda<1>>::try_zeros().map(drop), "allocate", "no work of `cuda:1`"),
            (&|_: &Row| castiron::device::synchronize("cuda:0"), "synchronize", "the host waits"),
            (&|x: &Row| capture(x, |x| Ok(x + 1.0)).map(drop), "capture", "another is recorded"),
        ] {
            let error = then(work);
            assert!(error.starts_with(&format!("{op}: ")) && error.contains(why), "{error}");
        }
        // A panic, as of a plain form, ends the recording.
        first.replace(true);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            capture(&x, |x| {
                let y = x * 2.0;
                if !first.replace(false) {
                    let _ = y.sum().item();
                }
                Ok(y)
            })
        }));
        let text = *panicked.err().unwrap().downcast::<String>().unwrap();
        assert!(text.starts_with("download: a graph is recorded"), "{text}");
        // Tensors that stay outside, new ones, the inputs, and those that were copied because they are shared.
        let saved = RefCell::new(Vec::new());
        let kept = "is kept outside of it";
        assert!(
            said(capture(&x, |x| {
                saved.borrow_mut().push(x * 2.0);
                Ok(x + 1.0)
            }))
            .contains(kept)
        );
        assert!(
            said(capture(&x, |x| {
                saved.borrow_mut().push(x.clone());
                Ok(x + 1.0)
            }))
            .contains(kept)
        );
        // (They were never computed.)
        assert_eq!(read(&saved.borrow()[1]), [0.0; 4]);
        let mut state = row(0.0);
        assert!(
            said(capture(&x, |x| {
                let old = state.clone();
                state += x;
                Ok(old + 1.0)
            }))
            .contains(kept)
        );
        assert!(said(capture(&(), |()| Ok(()))).contains("neither inputs nor results"));
        // The device is as before.
        assert_eq!(read(&(&x + 1.0)), [2.0, 3.0, 4.0, 5.0]);
        let mut graph = capture(&vec![x.clone(), x], |list| Ok(weight.matmul(&list[0]) + &list[1])).unwrap();
        assert!(said(graph.replay(&vec![row(0.0)])).contains("there are 1 inputs"));
        drop(graph);
        drop((saved, weight, state));
        let line = |len| Tensor::<f32, shape![_], Cuda<0>>::ones_sized([len]);
        let mut graph = capture(&line(3), |x| Ok(x + 1.0)).unwrap();
        let error = said(graph.replay(&line(4)));
        assert_eq!(error, "replay: an input has sizes [4], and the graph was recorded for [3]");
        drop(graph);
        castiron::device::synchronize("cuda:0").unwrap();
        assert_eq!((pretend::live(), pretend::graphs()), (1, 0));
    });
}

/// Indices are looked at after each replay.
#[test]
fn indices() {
    on_gpu!("graphs::indices", {
        let at = |at: [i64; 2]| Tensor::<i64, shape![2]>::from_vec(at.to_vec()).cuda().unwrap();
        let table = row(10.0);
        let mut graph = capture(&at([0, 0]), |at| Ok(table.index_select(axis![0], at) * 2.0)).unwrap();
        assert_eq!(read(&graph.replay(&at([3, 1])).unwrap()), [26.0, 22.0]);
        let error = graph.replay(&at([3, 4])).unwrap_err().to_string();
        assert_eq!(error, "replay: an index of the recorded `index_select` is out of range");
        assert_eq!(read(&graph.replay(&at([2, 2])).unwrap()), [24.0, 24.0]);
        let (mut first, ones) = (true, tensor![1.0, 2.0].cuda().unwrap());
        let error = capture(&at([0, 1]), |at| {
            if !std::mem::take(&mut first) {
                return table.try_scatter_add(axis![0], at, &ones);
            }
            Ok(&table * 1.0)
        });
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("download: a graph is recorded"), "{error}");
    });
}

#[test]
fn calls_that_fail() {
    on_pretend!("graphs::calls_that_fail", {
        let x = row(1.0);
        for call in ["begin capture", "end capture", "instantiate"] {
            pretend::fault(call, 1, 1, 999);
            let error = capture(&x, |x| Ok(x + 1.0)).unwrap_err().to_string();
            assert!(error.contains("CUDA_ERROR_UNKNOWN"), "{call}: {error}");
            assert_eq!(pretend::graphs(), 0, "{call}");
        }
        let mut graph = capture(&x, |x| Ok(x + 1.0)).unwrap();
        pretend::fault("launch a graph", 1, 1, 999);
        assert!(graph.replay(&x).unwrap_err().to_string().contains("CUDA_ERROR_UNKNOWN"));
        assert_eq!(read(&graph.replay(&x).unwrap()), [2.0, 3.0, 4.0, 5.0]);
    });
}

/// Other threads use the device while one records.
#[test]
fn other_threads() {
    on_gpu!("graphs::other_threads", {
        let x = row(1.0);
        let mut graph = capture(&x, |x| {
            let y = x * 2.0;
            std::thread::scope(|scope| {
                let other = scope.spawn(|| read(&(row(5.0) * 3.0)));
                assert_eq!(other.join().unwrap(), [15.0, 18.0, 21.0, 24.0]);
            });
            Ok(y + 1.0)
        })
        .unwrap();
        assert_eq!(read(&graph.replay(&row(2.0)).unwrap()), [5.0, 7.0, 9.0, 11.0]);
        // A graph is replayed by another thread.
        let result = std::thread::spawn(move || read(&graph.replay(&row(3.0)).unwrap())).join().unwrap();
        assert_eq!(result, [7.0, 9.0, 11.0, 13.0]);
    });
}

#[cfg(feature = "grad")]
#[test]
fn gradients() {
    use castiron::grad::Grad;
    on_gpu!("graphs::gradients", {
        let weight = square();
        let step = |x: &Row| Ok(weight.value_and_grad((x,), |weight, (x,)| (weight.matmul(x).tanh() * x).sum()));
        let mut graph = capture(&row(0.0), step).unwrap();
        for from in [0.5, -1.0] {
            let (loss, grads) = graph.replay(&row(from)).unwrap();
            let expected = step(&row(from)).unwrap();
            assert_eq!((read(&loss), read(&grads)), (read(&expected.0), read(&expected.1)));
        }
        // Steps of optimisers count on the host.
        let mut weight = square();
        let mut sgd = castiron::optim::Sgd::new(&weight).rate(0.5);
        let mut first = true;
        let error = capture(&square(), |grads| {
            if !std::mem::take(&mut first) {
                sgd.try_step(&mut weight, grads)?;
            }
            Ok(grads * 1.0)
        });
        assert!(error.unwrap_err().to_string().starts_with("step: a graph is recorded"));
    });
}
