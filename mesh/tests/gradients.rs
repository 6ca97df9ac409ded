//! Gradients over ranks beside those of the same function of whole tensors.

use castiron::grad::Grad;
use castiron::nn::{Conv, Pool, Same};
use castiron::optim::{AdamW, Sgd};
use castiron::{Cpu, Device, Dim, Generator, Interpolation, Module, Tensor, axis, dim, dims};
use castiron_mesh::{At, Dist, Edge, Error, Mesh, Result, Sharded, mesh, simulate};
use std::io::ErrorKind;

mesh! { Grid: Data, Model }
dims! { Batch, Points, Made }

type In = dim!(6);
type Wide = dim!(9);
type Out = dim!(4);
type Rows = At<Batch, Data>;

/// Whole tensors.
#[derive(Module)]
struct Plain<D: Device = Cpu> {
    up: Tensor<f64, (In, Wide), D>,
    shift: Tensor<f64, (Wide,), D>,
    down: Tensor<f64, (Wide, Out), D>,
}
impl<D: Device> Plain<D> {
    fn loss<N: Dim>(&self, x: &Tensor<f64, (N, In), D>) -> Tensor<f64, (), D> {
        let hidden = (x.matmul(&self.up) + &self.shift).tanh();
        hidden.matmul(&self.down).square().mean()
    }
}

/// The same over ranks: the wide axis is cut along `Model`.
#[derive(Module)]
struct Parallel<D: Device = Cpu> {
    up: Dist<f64, (In, At<Wide, Model>), castiron_mesh::Settled, D>,
    shift: Dist<f64, (At<Wide, Model>,), castiron_mesh::Settled, D>,
    down: Dist<f64, (At<Wide, Model>, Out), castiron_mesh::Settled, D>,
}

fn plain() -> (Plain, Tensor<f64, (Batch, In)>) {
    let g = &mut Generator::seeded(5);
    let plain = Plain {
        up: Tensor::normal(0.0, 0.5, g),
        shift: Tensor::normal(0.0, 0.5, g),
        down: Tensor::normal(0.0, 0.5, g),
    };
    (plain, Tensor::normal_sized([11, 6], 0.0, 1.0, g))
}

fn parallel(mesh: &Mesh<Grid>, plain: &Plain) -> Parallel {
    Parallel {
        up: Dist::distribute(mesh, &plain.up).unwrap(),
        shift: Dist::distribute(mesh, &plain.shift).unwrap(),
        down: Dist::distribute(mesh, &plain.down).unwrap(),
    }
}

#[track_caller]
fn near<S: castiron::Shape>(found: &Tensor<f64, S>, expected: &Tensor<f64, S>) {
    assert_eq!(found.shape(), expected.shape());
    let off = found.iter().zip(expected.iter()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "off by {off}: {found} beside {expected}");
}

const MESHES: [[usize; 2]; 5] = [[1, 1], [2, 1], [1, 2], [2, 2], [3, 2]];

/// Data and tensor parallel: the products' inner axis is cut, so that sums are put together on the way forward, too.
#[test]
fn a_network_over_both_axes() {
    let (whole, x) = plain();
    let (loss, grads) = whole.value_and_grad((&x,), |net, (x,)| net.loss(x));
    for sizes in MESHES {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let net = parallel(mesh, &whole);
            let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
            let (found, parts) = mesh
                .try_value_and_grad(&net, (&x,), |net, (x,)| {
                    let hidden = (x.matmul(&net.up) + &net.shift).tanh();
                    Ok(hidden.matmul(&net.down).all_reduce(mesh)?.square().mean())
                })
                .unwrap();
            let found_grads = parts.all_reduce(mesh).unwrap();
            assert!((found.all_reduce(mesh).unwrap().item() - loss.item()).abs() < 1e-12);
            near(&found_grads.up.full_tensor(mesh).unwrap(), &grads.up);
            near(&found_grads.shift.full_tensor(mesh).unwrap(), &grads.shift);
            near(&found_grads.down.full_tensor(mesh).unwrap(), &grads.down);
        });
    }
}

/// The same with the sum scattered, gathered, exchanged and placed anew on the way.
#[test]
fn every_move_has_its_way_back() {
    let (whole, x) = plain();
    let (_, grads) = whole.value_and_grad((&x,), |net, (x,)| net.loss(x));
    for sizes in MESHES {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let net = parallel(mesh, &whole);
            let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
            let (_, parts) = mesh
                .try_value_and_grad(&net, (&x,), |net, (x,)| {
                    let hidden = (x.matmul(&net.up) + &net.shift).tanh();
                    let parts = hidden.matmul(&net.down);
                    let scattered = parts.reduce_scatter(axis![1], mesh)?;
                    let turned: Dist<f64, (Batch, At<Out, Data>), _, _> =
                        scattered.all_gather(axis![1], mesh)?.all_to_all(axis![0], axis![1], mesh)?;
                    let placed: Dist<f64, (At<Batch, Model>, At<Out, Data>), _, _> = turned.redistribute(mesh)?;
                    let again: Dist<f64, (At<Batch, Data>, At<Out, Model>), _, _> = placed.redistribute(mesh)?;
                    let split = again.all_gather(axis![1], mesh)?.split::<Model, 1, _>(axis![1], mesh)?;
                    let sum = split.square().sum().settled(mesh)?;
                    Ok(sum / 44.0)
                })
                .unwrap();
            let found = parts.all_reduce(mesh).unwrap();
            near(&found.up.full_tensor(mesh).unwrap(), &grads.up);
            near(&found.shift.full_tensor(mesh).unwrap(), &grads.shift);
            near(&found.down.full_tensor(mesh).unwrap(), &grads.down);
        });
    }
}

/// A stencil over a cut axis: elements of neighbours have gradients there.
#[test]
fn neighbours_have_gradients() {
    let x: Tensor<f64, (Points, dim!(2))> = Tensor::normal_sized([12, 2], 0.0, 1.0, &mut Generator::seeded(2));
    for edge in [Edge::Zeros, Edge::Periodic] {
        let (_, expected) = x.value_and_grad((), |x, ()| {
            let inner = |start| {
                let wide = match edge {
                    Edge::Zeros => {
                        let zeros = x.narrow(axis![0], 0, 1) * 0.0;
                        castiron::cat((&zeros, x, &zeros, &zeros), axis![0])
                    }
                    _ => castiron::cat((&x.narrow(axis![0], 11, 1), x, &x.narrow(axis![0], 0, 2)), axis![0]),
                };
                wide.narrow(axis![0], start, 12)
            };
            (inner(0) * inner(1).square() - inner(3)).tanh().sum()
        });
        for ranks in [1, 2, 4] {
            simulate::<Grid, _>(ranks, &[0, 1], |mesh| {
                let cut = Dist::<f64, (At<Points, Data>, dim!(2))>::distribute(mesh, &x).unwrap();
                let (_, parts) = mesh
                    .try_value_and_grad(&cut, (), |x, ()| {
                        let own = x.block().shape()[0];
                        let y = x.with_halo(axis![0], [1, 2], edge, mesh, |wide| {
                            let inner = |start| wide.narrow(axis![0], start, own);
                            (inner(0) * inner(1).square() - inner(3)).tanh()
                        })?;
                        Ok(y.sum())
                    })
                    .unwrap();
                near(&parts.all_reduce(mesh).unwrap().full_tensor(mesh).unwrap(), &expected);
            });
        }
    }
}

/// Whole tensors of castiron are parameters, too; steps of an optimiser keep all ranks alike, and as one rank would be.
#[test]
fn training_steps() {
    fn train(mesh: &Mesh<Grid>, net: &mut Plain, x: &Dist<f64, (Rows, In)>, steps: usize) -> Result<Vec<f64>> {
        let mut sgd = Sgd::new(net).rate(0.1).momentum(0.9);
        let mut losses = Vec::new();
        for _ in 0..steps {
            let (loss, parts) = mesh.value_and_grad(&*net, (x,), |net, (x,)| x.mean_of_blocks(net.loss(x.block())))?;
            losses.push(loss.all_reduce(mesh)?.item());
            sgd.step(net, &parts.all_reduce(mesh)?);
        }
        Ok(losses)
    }
    let x = plain().1;
    let run = |ranks: usize| {
        simulate::<Grid, _>(ranks, &[0, 1], |mesh| {
            let mut net = plain().0;
            let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
            let losses = train(mesh, &mut net, &x, 10).unwrap();
            (losses, net.up.to_vec())
        })
    };
    let alone = &run(1)[0];
    assert!(alone.0[9] < 0.5 * alone.0[0], "{:?}", alone.0);
    for ranks in [2, 4] {
        let all = run(ranks);
        assert!(all.iter().all(|one| one == &all[0]), "the ranks are not alike");
        let off = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off(&all[0].0, &alone.0) < 1e-12 && off(&all[0].1, &alone.1) < 1e-12);
    }
}

/// A loss whose classes are cut: nobody has all logits of a row.
#[test]
fn softmax_over_a_cut_axis() {
    let (whole, x) = plain();
    let (loss, grads) = whole.value_and_grad((&x,), |net, (x,)| {
        let logits = x.matmul(&net.up) + &net.shift;
        (logits.log_softmax(axis![1]) * logits.softmax(axis![1])).mean()
    });
    for sizes in MESHES {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let net = parallel(mesh, &whole);
            let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
            let (found, parts) = mesh
                .try_value_and_grad(&net, (&x,), |net, (x,)| {
                    let logits = x.matmul(&net.up) + &net.shift;
                    let likely = logits.softmax_over(axis![1], mesh)?;
                    Ok((logits.log_softmax_over(axis![1], mesh)? * likely).mean())
                })
                .unwrap();
            let found_grads = parts.all_reduce(mesh).unwrap();
            assert!((found.settled(mesh).unwrap().item() - loss.item()).abs() < 1e-12);
            near(&found_grads.up.full_tensor(mesh).unwrap(), &grads.up);
            near(&found_grads.shift.full_tensor(mesh).unwrap(), &grads.shift);
        });
    }
}

/// Convolutions of pictures whose batch is cut, whose channels are, and whose height and width are, beside those of whole pictures.
#[test]
fn convolutions() {
    type Images = (Batch, dim!(3), dim!(8), dim!(7));
    type Kernel = (Made, dim!(3), dim!(3), dim!(3));
    let g = &mut Generator::seeded(4);
    let x: Tensor<f64, Images> = Tensor::normal_sized([4, 3, 8, 7], 0.0, 1.0, g);
    let weight: Tensor<f64, Kernel> = Tensor::normal_sized([5, 3, 3, 3], 0.0, 1.0, g);
    let bias: Tensor<f64, (Made,)> = Tensor::normal_sized([5], 0.0, 1.0, g);
    let conv = Conv::new().padding::<Same>();
    let pool = Pool::<dim!(2)>::new();
    let (_, slopes) = (x.clone(), weight.clone(), bias.clone())
        .value_and_grad((), |(x, weight, bias), ()| x.conv2d(weight, Some(bias), conv).max_pool2d(pool).tanh().sum());
    let (_, unpooled) = (x.clone(), weight.clone(), bias.clone())
        .value_and_grad((), |(x, weight, bias), ()| x.conv2d(weight, Some(bias), conv).tanh().sum());
    for sizes in MESHES {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let cut = Dist::<f64, (Rows, dim!(3), dim!(8), dim!(7))>::distribute(mesh, &x).unwrap();
            let made = Dist::<f64, (At<Made, Model>, dim!(3), dim!(3), dim!(3))>::distribute(mesh, &weight).unwrap();
            let shift = Dist::<f64, (At<Made, Model>,)>::distribute(mesh, &bias).unwrap();
            let (_, parts) = mesh
                .value_and_grad(&(cut, made, shift), (), |(x, weight, bias), ()| {
                    x.conv2d(weight, Some(bias), conv).max_pool2d(pool).tanh().sum()
                })
                .unwrap();
            let found = parts.all_reduce(mesh).unwrap();
            near(&found.0.full_tensor(mesh).unwrap(), &slopes.0);
            near(&found.1.full_tensor(mesh).unwrap(), &slopes.1);
            near(&found.2.full_tensor(mesh).unwrap(), &slopes.2);

            type Tiles = (Batch, dim!(3), At<dim!(8), Data>, At<dim!(7), Model>);
            let cut = Dist::<f64, Tiles>::distribute(mesh, &x).unwrap();
            let whole = (Dist::same(mesh, weight.clone()).unwrap(), Dist::same(mesh, bias.clone()).unwrap());
            let (_, parts) = mesh
                .try_value_and_grad(&(cut, whole.0, whole.1), (), |(x, weight, bias), ()| {
                    Ok(x.conv2d_over(weight, Some(bias), conv, mesh)?.tanh().sum())
                })
                .unwrap();
            let found = parts.all_reduce(mesh).unwrap();
            near(&found.0.full_tensor(mesh).unwrap(), &unpooled.0);
            near(&found.1.full_tensor(mesh).unwrap(), &unpooled.1);
            near(&found.2.full_tensor(mesh).unwrap(), &unpooled.2);
        });
    }
}

/// The mean and the variance of a batch that is cut have gradients, too.
#[test]
fn channels_of_all_ranks() {
    let x: Tensor<f64, (Batch, dim!(3), Points)> = Tensor::normal_sized([5, 3, 4], 1.0, 2.0, &mut Generator::seeded(6));
    let (_, expected) = x.value_and_grad((), |x, ()| {
        let mean = x.mean_axis(axis![0, 2].keepdim());
        let centered = x - &mean;
        let variance = centered.square().mean_axis(axis![0, 2].keepdim());
        (centered * (variance + 1e-5).rsqrt()).tanh().square().sum()
    });
    for sizes in MESHES {
        simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let cut = Dist::<f64, (Rows, dim!(3), At<Points, Model>)>::distribute(mesh, &x).unwrap();
            let (_, parts) = mesh
                .try_value_and_grad(&cut, (), |x, ()| {
                    Ok(x.batch_norm_over(None, None, 1e-5, mesh)?.0.tanh().square().sum())
                })
                .unwrap();
            near(&parts.all_reduce(mesh).unwrap().full_tensor(mesh).unwrap(), &expected);
        });
    }
}

/// What has no way back between ranks says which operation it is and what has one.
#[test]
fn operations_without_a_way_back() {
    macro_rules! refused {
        ($($op:literal $says:literal |$x:ident, $mesh:ident| $call:expr;)*) => {$(
            let found = simulate::<Grid, _>(2, &[0, 1], |mesh| {
                let cut = Dist::<f64, (At<Points, Data>,)>::from_fn(mesh, [6], |[at]| at as f64).unwrap();
                let tried = mesh.try_value_and_grad(&cut, (), |$x, ()| {
                    let $mesh = &*mesh;
                    let sum = $x.sum();
                    $call;
                    Ok(sum)
                });
                tried.err().expect($op).to_string()
            });
            for text in &found {
                assert!(text.starts_with(concat!($op, ": no gradient goes back")) && text.contains($says), "{text}");
                assert!(text.contains("gradients.rs:"), "{text}");
            }
        )*};
    }
    refused! {
        "begin_all_reduce" "`all_reduce`" |x, mesh| x.sum().begin_all_reduce(mesh).map(drop)?;
        "begin_all_gather" "`all_gather`" |x, mesh| x.begin_all_gather(axis![0], mesh).map(drop)?;
        "argmax_over" "`.detach()`" |x, mesh| drop(x.argmax_over(axis![0], mesh)?);
        "cumsum_over" "`cumsum`" |x, mesh| drop(x.cumsum_over(axis![0], mesh)?);
        "sort_over" "`sort`" |x, mesh| drop(x.sort_over(mesh)?);
        "topk_over" "`topk`" |x, mesh| drop(x.topk_over(2, true, mesh)?);
        "unique_over" "`.detach()`" |x, mesh| drop(x.unique_over(mesh)?);
        "quantile_over" "`quantile_axis`" |x, mesh| drop(x.quantile_over(axis![0], 0.5, Interpolation::Lower, mesh)?);
        "median_over" "`median_axis`" |x, mesh| drop(x.median_over(axis![0], mesh)?);
        "histogram_over" "`.detach()`" |x, mesh| drop(x.histogram_over(2, None, mesh)?);
    }
    // Off the tape they are taken.
    let found = simulate::<Grid, _>(2, &[0, 1], |mesh| {
        let cut = Dist::<f64, (At<Points, Data>,)>::from_fn(mesh, [6], |[at]| at as f64).unwrap();
        let (_, parts) = mesh
            .try_value_and_grad(&cut, (), |x, ()| {
                let place = x.detach().argmax_over(axis![0], mesh)?.item();
                Ok((x * place as f64).sum())
            })
            .unwrap();
        parts.all_reduce(mesh).unwrap().full_tensor(mesh).unwrap().to_vec()
    });
    assert_eq!(found[0], [5.0; 6]);
}

/// A folder of its own for a test, removed with what is in it.
struct Folder(std::path::PathBuf);
impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("castiron-mesh-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Module)]
struct Table<D: Device = Cpu> {
    words: Dist<f64, (Rows, dim!(64)), castiron_mesh::Settled, D>,
}

/// Two programs that save to one path at the same moment: the file is that of one of them, and nothing else is left.
#[test]
fn two_programs_save_to_one_path() {
    let folder = Folder::new("two-programs");
    let path = folder.0.join("table.safetensors");
    let save = |value: f64| {
        let saved = simulate::<Grid, _>(2, &[0, 1], |mesh| {
            let words = Dist::<f64, (Rows, dim!(64))>::full(mesh, [500, 64], value).unwrap();
            (0..20).try_for_each(|_| mesh.save(&Table { words: words.clone() }, &path))
        });
        assert!(saved.iter().all(Result::is_ok), "{saved:?}");
    };
    let save = &save;
    std::thread::scope(|scope| {
        [1.0, 2.0].map(|value| scope.spawn(move || save(value))).map(|saved| saved.join().unwrap())
    });
    let read = simulate::<Grid, _>(1, &[1, 1], |mesh| mesh.load::<Table>(&path).unwrap().words.block().to_vec());
    assert!(read[0].iter().all(|&word| word == read[0][0]));
    assert_eq!(folder.names(), ["table.safetensors"]);
}

/// What the system says of a file is the same error on all ranks, and nothing is left of what was begun.
#[test]
fn errors_of_files() {
    let folder = Folder::new("errors");
    let saved = |path: &std::path::Path| {
        simulate::<Grid, _>(3, &[0, 1], |mesh| {
            mesh.save(&Table { words: Dist::<f64, (Rows, dim!(64))>::zeros(mesh, [9, 64]).unwrap() }, path)
        })
    };
    let kinds = |found: Vec<Result<()>>| {
        assert!(found.iter().all(|error| error == &found[0]), "{found:?}");
        match &found[0] {
            Err(Error::Io { rank: 0, path, source }) => (path.clone(), source.kind()),
            other => panic!("{other:?}"),
        }
    };
    let (path, kind) = kinds(saved(&folder.0.join("none/table.safetensors")));
    assert!(path.starts_with(folder.0.join("none")) && kind == ErrorKind::NotFound, "{path:?} {kind}");
    // A folder has the name already: what was written is removed.
    let taken = folder.0.join("taken.safetensors");
    std::fs::create_dir(&taken).unwrap();
    let (path, kind) = kinds(saved(&taken));
    assert!(path == taken && kind == ErrorKind::IsADirectory, "{path:?} {kind}");
    assert_eq!(folder.names(), ["taken.safetensors"]);
    let nowhere = folder.0.join("nowhere.safetensors");
    let (path, kind) = kinds(simulate::<Grid, _>(3, &[0, 1], |mesh| mesh.load::<Table>(&nowhere).map(drop)));
    assert!(path == nowhere && kind == ErrorKind::NotFound, "{path:?} {kind}");
}

/// A network that some ranks have written goes on with others, as it would have gone on.
#[test]
fn checkpoints() {
    let path = std::env::temp_dir().join(format!("castiron-mesh-{}.safetensors", std::process::id()));
    let (whole, x) = plain();
    let step = |mesh: &Mesh<Grid>, net: &mut Parallel, sgd: &mut Sgd<Parallel>| {
        let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
        let (loss, parts) = mesh
            .try_value_and_grad(&*net, (&x,), |net, (x,)| {
                let hidden = (x.matmul(&net.up) + &net.shift).tanh();
                Ok(hidden.matmul(&net.down).all_reduce(mesh)?.square().mean())
            })
            .unwrap();
        sgd.step(net, &parts.all_reduce(mesh).unwrap());
        loss.all_reduce(mesh).unwrap().item()
    };
    #[derive(Module)]
    struct Training {
        net: Parallel,
        sgd: Sgd<Parallel>,
    }
    let losses = simulate::<Grid, _>(4, &[2, 2], |mesh| {
        let mut net = parallel(mesh, &whole);
        let mut sgd = Sgd::new(&net).rate(0.1).momentum(0.9);
        step(mesh, &mut net, &mut sgd);
        let mut training = Training { net, sgd };
        mesh.save(&training, &path).unwrap();
        [(); 2].map(|()| step(mesh, &mut training.net, &mut training.sgd))
    });
    for sizes in MESHES {
        let again = simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let mut training: Training = mesh.load(&path).unwrap();
            [(); 2].map(|()| step(mesh, &mut training.net, &mut training.sgd))
        });
        let off = again[0].iter().zip(losses[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{again:?} beside {losses:?}");
    }
    // A network of others, a file that ends early: an error on all ranks.
    let other = simulate::<Grid, _>(2, &[1, 2], |mesh| mesh.load::<Plain>(&path).is_err());
    assert_eq!(other, [true, true]);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let truncated = simulate::<Grid, _>(2, &[1, 2], |mesh| mesh.load::<Training>(&path).err().unwrap().to_string());
    std::fs::remove_file(&path).unwrap();
    assert!(truncated.iter().all(|error| error.contains(".safetensors")), "{truncated:?}");
    // Nobody can write there.
    let nowhere = path.join("no/such/folder.safetensors");
    let unwritten = simulate::<Grid, _>(2, &[1, 2], |mesh| mesh.save(&parallel(mesh, &whole), &nowhere).is_err());
    assert_eq!(unwritten, [true, true]);
}

/// The state of an optimiser is cut over ranks: the same steps as with all of it.
#[test]
fn sharded_optimisers() {
    let (whole, x) = plain();
    for sizes in MESHES {
        let found = simulate::<Grid, _>(sizes[0] * sizes[1], &sizes, |mesh| {
            let x = Dist::<f64, (Rows, In)>::distribute(mesh, &x).unwrap();
            let (mut one, mut other) = (parallel(mesh, &whole), parallel(mesh, &whole));
            let mut adam = AdamW::new(&one).rate(0.05);
            let mut sharded: Sharded<_, f64, _> =
                Sharded::new::<Data, _>(&other, mesh, |own| AdamW::new(own).rate(0.05)).unwrap();
            let parts = |net: &Parallel| {
                let function = |net: &Parallel<_>, (x,): (&Dist<f64, (Rows, In), _, _>,)| {
                    let hidden = (x.matmul(&net.up) + &net.shift).tanh();
                    Ok(hidden.matmul(&net.down).all_reduce(mesh)?.square().mean())
                };
                mesh.try_value_and_grad(net, (&x,), function).unwrap().1
            };
            for _ in 0..5 {
                let gradients = parts(&one).all_reduce(mesh).unwrap();
                adam.step(&mut one, &gradients);
                let own = parts(&other);
                sharded.step(&mut other, own, mesh).unwrap();
            }
            near(one.up.block(), other.up.block());
            near(one.shift.block(), other.shift.block());
            near(one.down.block(), other.down.block());
            // Its state is of this share alone.
            let state: usize = sharded
                .optimizer()
                .named_parameters()
                .iter()
                .map(|parameter| parameter.tensor.sizes().iter().product::<usize>())
                .max()
                .unwrap();
            (state, one.up.block().numel() + one.shift.block().numel() + one.down.block().numel())
        });
        assert!(found.iter().all(|&(state, all)| state <= all.div_ceil(sizes[0])), "{found:?}");
    }
    // A parameter that is cut along the same axis has its share already.
    let refused = simulate::<Grid, _>(2, &[1, 2], |mesh| {
        Sharded::<_, f64, _>::new::<Model, _>(&parallel(mesh, &whole), mesh, AdamW::new).is_err()
    });
    assert_eq!(refused, [true, true]);
}
