//! What `Dist` costs over code written by hand: the step of `heat` and that of `mesh-digits`, each by this package and by plain tensors with
//! calls of MPI, alternately in one run; their results are compared.
//!
//! `cargo bench -p castiron-mesh --all-features --bench by_hand -- --ranks 2 [--size 192] [--steps 50] [--rounds 9]` (Open MPI; with one rank
//! nothing is sent).

use castiron::grad::Grad;
use castiron::optim::Sgd;
use castiron::reduction::Mean;
use castiron::{Cpu, Device, Dim, Dyn, Generator, Module, Shape, Tensor, axis, dim, dims, formula, fused, s};
use castiron_mesh::{At, Dist, Edge, Mesh, Result, mesh};
use std::time::Instant;

mesh! { Ranks: Data }
dims! { Depth, Height, Width, Batch }

fn main() -> Result<()> {
    castiron_mesh::launch()?;
    let mut mesh = Mesh::<Ranks>::join(&[0])?;
    let mpi = Mpi::of(&mesh);
    let (size, steps, rounds) = (argument("--size", 192), argument("--steps", 50), argument("--rounds", 9));
    let ranks = mesh.ranks();
    let engine = mesh.engine();
    mesh.alone_on(0, || println!("{ranks} ranks, {engine}; the best and the middle of {rounds} rounds, by turns"));
    let mut heat = Heat::new(&mesh, size)?;
    beside(
        &mut mesh,
        &format!("heat, a step of {size}^3 points"),
        rounds,
        steps,
        &mut heat,
        Heat::dist,
        |heat, _, steps| {
            heat.by_hand(&mpi, steps);
            Ok(())
        },
    )?;
    let off = apart(&mesh, heat.now.wide(), &heat.plain_now)?;
    assert!(off == 0.0, "heat: the two are not the same, but up to {off} apart");
    let mut digits = Digits::new();
    let batches = 40 * steps;
    beside(
        &mut mesh,
        "digits, a step of 32 pictures",
        rounds,
        batches,
        &mut digits,
        Digits::dist,
        |digits, _, steps| {
            digits.by_hand(&mpi, steps);
            Ok(())
        },
    )?;
    let Network { hidden_weight, output_weight, .. } = &digits.net;
    let off = apart(&mesh, hidden_weight, &digits.plain.hidden_weight)?.max(apart(
        &mesh,
        output_weight,
        &digits.plain.output_weight,
    )?);
    // (Calls that do not block may add up in another order.)
    assert!(off < 1e-4, "digits: the two are not the same, but up to {off} apart");
    mesh.alone_on(0, || println!("heat: the same bits by both; digits: weights up to {off} apart"));
    Ok(())
}

/// The largest difference that a rank sees.
fn apart<S: Shape>(mesh: &Mesh<Ranks>, x: &Tensor<f32, S>, y: &Tensor<f32, S>) -> Result<f32> {
    let off = x.iter().zip(y.iter()).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    let each = Dist::<f32, (At<Batch, Data>,)>::full(mesh, [mesh.ranks()], off)?;
    Ok(each.amax().all_reduce(mesh)?.item())
}

fn argument(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().map_or(default, |number| number.parse().unwrap_or_else(|_| panic!("{name} {number}: no number")))
}

/// Runs both by turns, and prints what a step takes.
fn beside<T>(
    mesh: &mut Mesh<Ranks>,
    what: &str,
    rounds: usize,
    steps: usize,
    state: &mut T,
    dist: impl Fn(&mut T, &Mesh<Ranks>, usize) -> Result<()>,
    by_hand: impl Fn(&mut T, &Mesh<Ranks>, usize) -> Result<()>,
) -> Result<()> {
    let mut seconds = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for turn in [round % 2, 1 - round % 2] {
            mesh.barrier()?;
            let before = Instant::now();
            if turn == 0 {
                dist(state, mesh, steps)?
            } else {
                by_hand(state, mesh, steps)?
            }
            mesh.barrier()?;
            seconds[turn].push(before.elapsed().as_secs_f64() / steps as f64 * 1e6);
        }
    }
    seconds.iter_mut().for_each(|seconds| seconds.sort_by(f64::total_cmp));
    let [(best, middle), (plain_best, plain_middle)] = [0, 1].map(|turn| (seconds[turn][0], seconds[turn][rounds / 2]));
    mesh.alone_on(0, || {
        println!(
            "{what}: Dist {best:.2} us ({middle:.2}), by hand {plain_best:.2} us ({plain_middle:.2}), ratio {:.3} ({:.3})",
            best / plain_best,
            middle / plain_middle,
        );
    });
    Ok(())
}

/// A point after a step: what flows in from its six neighbours.
#[formula]
fn spread<F: Float>(here: F, around: F) -> F {
    here + 0.125 * (around - 6.0 * here)
}

type Volume = (At<Depth, Data>, Height, Width);
type Wide = Tensor<f32, (Dyn, Height, Width)>;

/// A step from one slice, with planes of its neighbours around, to another.
macro_rules! step {
    ($from:expr => $inner:expr) => {{
        let (u, mut inner) = ($from, $inner);
        fused! {
            inner.slice_mut(s![.., 1..-1, 1..-1]) = spread(
                u.slice(s![1..-1, 1..-1, 1..-1]),
                u.slice(s![..-2, 1..-1, 1..-1]) + u.slice(s![2.., 1..-1, 1..-1])
                    + u.slice(s![1..-1, ..-2, 1..-1]) + u.slice(s![1..-1, 2.., 1..-1])
                    + u.slice(s![1..-1, 1..-1, ..-2]) + u.slice(s![1..-1, 1..-1, 2..])
            )
        }
    }};
}

/// The same volume twice: as `Dist`s with room for neighbours, and as plain tensors.
struct Heat {
    now: castiron_mesh::Haloed<f32, Volume, Data, 0>,
    next: castiron_mesh::Haloed<f32, Volume, Data, 0>,
    plain_now: Wide,
    plain_next: Wide,
}
impl Heat {
    fn new(mesh: &Mesh<Ranks>, size: usize) -> Result<Self> {
        let middle = size / 2;
        let start = Dist::<f32, Volume>::from_fn(mesh, [size; 3], |at| {
            let far: usize = at.iter().map(|&place| place.abs_diff(middle).pow(2)).sum();
            if far < (size / 8).pow(2) { 1.0 } else { 0.0 }
        })?;
        let now = start.halo(axis![0], [1, 1], Edge::Zeros, mesh)?;
        let plain_now = now.wide().try_contiguous()?;
        Ok(Heat { next: now.clone(), plain_next: plain_now.clone(), now, plain_now })
    }
    fn dist(&mut self, mesh: &Mesh<Ranks>, steps: usize) -> Result<()> {
        for _ in 0..steps {
            self.now.exchange(mesh)?;
            step!(self.now.wide() => self.next.inner_mut());
            std::mem::swap(&mut self.now, &mut self.next);
        }
        // (As it is compared.)
        self.now.exchange(mesh)
    }
    fn by_hand(&mut self, mpi: &Mpi, steps: usize) {
        let [planes, height, width] = self.plain_now.shape();
        for _ in 0..steps {
            mpi.faces(self.plain_now.as_mut_slice(), height * width);
            step!(&self.plain_now => self.plain_next.narrow_mut(axis![0], 1, planes - 2));
            std::mem::swap(&mut self.plain_now, &mut self.plain_next);
        }
        mpi.faces(self.plain_now.as_mut_slice(), height * width);
    }
}

type Pixels = dim!(64);
type Hidden = dim!(96);
type Classes = dim!(10);
const BATCH: usize = 32;
const PICTURES: usize = 1024;

/// The network of `mesh-digits`.
#[derive(Module)]
struct Network<D: Device = Cpu> {
    hidden_weight: Tensor<f32, (Pixels, Hidden), D>,
    hidden_bias: Tensor<f32, (Hidden,), D>,
    output_weight: Tensor<f32, (Hidden, Classes), D>,
    output_bias: Tensor<f32, (Classes,), D>,
}
impl Network {
    fn new() -> Self {
        let generator = &mut Generator::seeded(7);
        Network {
            hidden_weight: Tensor::normal(0.0, (2.0_f64 / 64.0).sqrt(), generator),
            hidden_bias: Tensor::zeros(),
            output_weight: Tensor::normal(0.0, (2.0_f64 / 96.0).sqrt(), generator),
            output_bias: Tensor::zeros(),
        }
    }
    /// All elements, as lists that can be written.
    fn lists(&mut self) -> [&mut [f32]; 4] {
        let Network { hidden_weight, hidden_bias, output_weight, output_bias } = self;
        [
            hidden_weight.as_mut_slice(),
            hidden_bias.as_mut_slice(),
            output_weight.as_mut_slice(),
            output_bias.as_mut_slice(),
        ]
    }
}
impl<D: Device> Network<D> {
    fn forward<N: Dim>(&self, images: &Tensor<f32, (N, Pixels), D>) -> Tensor<f32, (N, Classes), D> {
        let hidden = (images.matmul(&self.hidden_weight) + &self.hidden_bias).relu();
        hidden.matmul(&self.output_weight) + &self.output_bias
    }
}

/// Two networks that are trained alike.
struct Digits {
    images: Tensor<f32, (Dyn, Pixels)>,
    labels: Tensor<i64, (Dyn,)>,
    net: Network,
    sgd: Sgd<Network>,
    plain: Network,
    plain_sgd: Sgd<Network>,
}
impl Digits {
    fn new() -> Self {
        let images = Tensor::uniform_sized([PICTURES, 64], 0.0, 1.0, &mut Generator::seeded(3));
        let labels = Tensor::from_fn_sized([PICTURES], |[at]: [usize; 1]| (at * 7 % 10) as i64);
        let (net, plain) = (Network::new(), Network::new());
        let (sgd, plain_sgd) = (Sgd::new(&net).rate(0.01), Sgd::new(&plain).rate(0.01));
        Digits { images, labels, net, sgd, plain, plain_sgd }
    }
    fn dist(&mut self, mesh: &Mesh<Ranks>, steps: usize) -> Result<()> {
        for step in 0..steps {
            let first = step * BATCH % PICTURES;
            let x = Dist::<f32, (At<Batch, Data>, Pixels)>::build(mesh, [BATCH, 64], |at| {
                self.images.try_narrow(axis![0], first + at[0].start, at[0].len())
            })?;
            let y = Dist::<i64, (At<Batch, Data>,)>::build(mesh, [BATCH], |at| {
                self.labels.try_narrow(axis![0], first + at[0].start, at[0].len())
            })?;
            let (part, gradients) = mesh.value_and_grad(&self.net, (&x, &y), |net, (x, y)| {
                x.mean_of_blocks(net.forward(x.block()).cross_entropy(y.block(), (), -100, 0.0, Mean))
            })?;
            let gradients = gradients.all_reduce(mesh)?;
            std::hint::black_box(part.all_reduce(mesh)?.item());
            self.sgd.step(&mut self.net, &gradients);
        }
        Ok(())
    }
    fn by_hand(&mut self, mpi: &Mpi, steps: usize) {
        let start = |rank: usize| BATCH * rank / mpi.ranks;
        let own = start(mpi.rank)..start(mpi.rank + 1);
        let share = own.len() as f64 / BATCH as f64;
        let mut list = Vec::new();
        for step in 0..steps {
            let first = step * BATCH % PICTURES + own.start;
            let x: Tensor<f32, (Dyn, Pixels)> = self.images.narrow(axis![0], first, own.len());
            let y: Tensor<i64, (Dyn,)> = self.labels.narrow(axis![0], first, own.len());
            let (loss, mut gradients) = self.plain.value_and_grad((&x, &y), |net, (x, y)| {
                let loss = net.forward(x).cross_entropy(y, (), -100, 0.0, Mean);
                if mpi.ranks == 1 { loss } else { loss * share }
            });
            if mpi.ranks > 1 {
                list.clear();
                gradients.lists().iter().for_each(|own| list.extend_from_slice(own));
                mpi.sum(&mut list);
                let mut rest = &list[..];
                for own in gradients.lists() {
                    let (these, others) = rest.split_at(own.len());
                    own.copy_from_slice(these);
                    rest = others;
                }
            }
            let mut loss = [loss.item()];
            mpi.sum(&mut loss);
            std::hint::black_box(loss);
            self.plain_sgd.step(&mut self.plain, &gradients);
        }
    }
}

/// Open MPI, called directly: the library that the mesh has loaded.
#[cfg(target_os = "linux")]
mod open_mpi {
    use castiron_mesh::Mesh;
    use core::ffi::{c_int, c_void};
    use libloading::os::unix::Library;

    type Handle = *mut c_void;
    type AllReduce = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) -> c_int;
    type SendReceive = unsafe extern "C" fn(
        *const c_void,
        c_int,
        Handle,
        c_int,
        c_int,
        *mut c_void,
        c_int,
        Handle,
        c_int,
        c_int,
        Handle,
        *mut c_void,
    ) -> c_int;
    type Ask = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;

    /// The rank that is no rank.
    const NOBODY: c_int = -2;
    /// `MPI_IN_PLACE`.
    const IN_PLACE: *const c_void = core::ptr::without_provenance(1);

    pub struct Mpi {
        pub rank: usize,
        pub ranks: usize,
        calls: Option<Calls>,
    }
    struct Calls {
        all_reduce: AllReduce,
        send_receive: SendReceive,
        world: Handle,
        float: Handle,
        sum: Handle,
    }

    impl Mpi {
        pub fn of(mesh: &Mesh<super::Ranks>) -> Self {
            if mesh.ranks() == 1 {
                return Mpi { rank: 0, ranks: 1, calls: None };
            }
            let program = Library::this();
            fn symbol<T: Copy>(program: &Library, name: &str) -> T {
                // SAFETY: the names and types are those of Open MPI's `mpi.h`; the library stays loaded as long as the mesh, which outlives `Mpi`.
                match unsafe { program.get::<T>(format!("{name}\0").as_bytes()) } {
                    Ok(symbol) => *symbol,
                    Err(_) => panic!("there is no `{name}`: this is for ranks of Open MPI"),
                }
            }
            let calls = Calls {
                all_reduce: symbol(&program, "MPI_Allreduce"),
                send_receive: symbol(&program, "MPI_Sendrecv"),
                world: symbol(&program, "ompi_mpi_comm_world"),
                float: symbol(&program, "ompi_mpi_float"),
                sum: symbol(&program, "ompi_mpi_op_sum"),
            };
            let ask: Ask = symbol(&program, "MPI_Comm_rank");
            let mut rank = -1;
            // SAFETY: MPI has been initialised by the mesh, and `rank` is written.
            let code = unsafe { ask(calls.world, &mut rank) };
            assert_eq!(code, 0, "MPI_Comm_rank");
            Mpi { rank: rank as usize, ranks: mesh.ranks(), calls: Some(calls) }
        }

        /// The sums of the elements of all ranks, for all.
        pub fn sum(&self, list: &mut [f32]) {
            let Some(calls) = &self.calls else { return };
            let (into, len) = (list.as_mut_ptr().cast(), list.len() as c_int);
            // SAFETY: `into` has `len` floats, and each rank gives as many.
            let code = unsafe { (calls.all_reduce)(IN_PLACE, into, len, calls.float, calls.sum, calls.world) };
            assert_eq!(code, 0, "MPI_Allreduce");
        }

        /// The first and the last plane of a slice from the ranks before and after it; these get the planes beside them.
        pub fn faces(&self, slice: &mut [f32], plane: usize) {
            let Some(calls) = &self.calls else { return };
            let beside =
                |rank: Option<usize>| rank.filter(|&rank| rank < self.ranks).map_or(NOBODY, |rank| rank as c_int);
            let (before, after) = (beside(self.rank.checked_sub(1)), beside(Some(self.rank + 1)));
            let (len, start) = (slice.len(), slice.as_mut_ptr());
            assert!(plane > 0 && len >= 3 * plane && len.is_multiple_of(plane));
            for (tag, out, to, inn, from) in
                [(1, plane, before, len - plane, after), (2, len - 2 * plane, after, 0, before)]
            {
                // SAFETY: both planes lie in the slice, and are two: it has three or more. Nobody else has the slice meanwhile.
                let code = unsafe {
                    (calls.send_receive)(
                        start.add(out).cast(),
                        plane as c_int,
                        calls.float,
                        to,
                        tag,
                        start.add(inn).cast(),
                        plane as c_int,
                        calls.float,
                        from,
                        tag,
                        calls.world,
                        core::ptr::null_mut(),
                    )
                };
                assert_eq!(code, 0, "MPI_Sendrecv");
            }
        }
    }
}
#[cfg(target_os = "linux")]
use open_mpi::Mpi;

/// Elsewhere a program is one rank.
#[cfg(not(target_os = "linux"))]
struct Mpi {
    rank: usize,
    ranks: usize,
}
#[cfg(not(target_os = "linux"))]
impl Mpi {
    fn of(_: &Mesh<Ranks>) -> Self {
        Mpi { rank: 0, ranks: 1 }
    }
    fn sum(&self, _: &mut [f32]) {}
    fn faces(&self, _: &mut [f32], _: usize) {}
}
