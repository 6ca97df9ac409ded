//! The ranks as a grid, and what they do together.

use crate::engine::{Engine, Limits, Line, Reduce};
use crate::error::{Error, Result};
use crate::place::{MeshAxes, MeshAxis};
use core::cell::Cell;
use core::fmt::Display;
use core::marker::PhantomData;
use core::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The mesh `X` of ranks, of which this is one.
///
/// What all ranks do together takes `&Mesh`. What one does alone is done in [`alone_on`](Self::alone_on), which takes `&mut Mesh`: nothing that the
/// others would have to take part in can be called there. A rank's own number is not handed out, so that no `if` divides the ranks.
///
/// A process has one mesh, in the thread that made it.
///
/// Environment variables: `CASTIRON_MESH_SECONDS` is how long ranks wait for each other (300), `CASTIRON_MESH_COMPARE=1` has them compare what they
/// are about to do before they do it, and `CASTIRON_MPI` names the library of MPI.
///
/// ```
/// use castiron_mesh::{Mesh, mesh};
/// mesh! { pub Grid: Data, Model }
/// # fn main() -> castiron_mesh::Result<()> {
/// let mut mesh = Mesh::<Grid>::join(&[0, 1])?;
/// let rows = mesh.block::<Data>(1000);
/// let rows = mesh.agree(read(rows))?;
/// mesh.alone_on(0, || println!("read"));
/// # fn read(rows: std::ops::Range<usize>) -> Result<usize, String> { Ok(rows.len()) }
/// # assert_eq!(rows, 1000);
/// # Ok(())
/// # }
/// ```
pub struct Mesh<X: MeshAxes> {
    shared: Rc<Shared>,
    // (One thread talks to the others: `Rc` stays there.)
    here: PhantomData<X>,
}

/// What this rank has given to others, as [`Mesh::sent`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Operations that it has taken part in.
    pub calls: u64,
    /// Bytes of its own elements in them, each counted once: what libraries make of them is not known.
    pub bytes: u64,
}

/// What a mesh and what it has begun share.
pub(crate) struct Shared {
    pub(crate) engine: Option<Box<dyn Engine>>,
    lines: Vec<Line>,
    all: Line,
    pub(crate) limits: Limits,
    sent: Cell<Sent>,
}

#[cfg(feature = "safetensors")]
thread_local! {
    /// The mesh of this thread, for what is called by others: gradients that go back, modules that are read.
    static HERE: core::cell::RefCell<std::rc::Weak<Shared>> = core::cell::RefCell::default();
}

static TAKEN: AtomicBool = AtomicBool::new(false);

impl<X: MeshAxes> Mesh<X> {
    /// Joins the others: `sizes` are those of the axes, 0 for one that takes the ranks that are left. Without a launcher of MPI this rank is
    /// alone, and no MPI is needed.
    ///
    /// # Errors
    /// If sizes do not fit the number of ranks, this process has a mesh already, or a launcher has started it and MPI can't be loaded.
    ///
    /// PyTorch: `init_device_mesh("cpu", sizes, mesh_dim_names=…)`
    ///
    /// ```
    /// use castiron_mesh::{Mesh, mesh};
    /// mesh! { pub Ranks: Data }
    /// let mesh = Mesh::<Ranks>::join(&[0])?;
    /// assert_eq!(mesh.ranks(), 1);
    /// assert!(Mesh::<Ranks>::join(&[0]).is_err());
    /// # Ok::<(), castiron_mesh::Error>(())
    /// ```
    pub fn join(sizes: &[usize]) -> Result<Self> {
        let limits = Limits::read()?;
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(Error::Mesh("there is a mesh in this process already".to_owned()));
        }
        let Some(started) = crate::engine::start()? else {
            let alone = resolved(X::NAMES, sizes, 1).map(|sizes| Self::with(None, 0, &sizes, limits));
            // A rank that is alone may join again, when it has left.
            TAKEN.store(alone.is_ok(), Ordering::Release);
            return alone;
        };
        let rank = started.rank();
        let sizes = match resolved(X::NAMES, sizes, started.ranks()) {
            Ok(sizes) => sizes,
            Err(error) => {
                started.leave();
                return Err(error);
            }
        };
        let engine = started.engine(&sizes, limits)?;
        Ok(Self::with(Some(engine), rank, &sizes, limits))
    }

    /// One rank of threads.
    pub(crate) fn simulated(engine: Box<dyn Engine>, rank: usize, sizes: &[usize], limits: Limits) -> Self {
        Self::with(Some(engine), rank, sizes, limits)
    }

    fn with(engine: Option<Box<dyn Engine>>, rank: usize, sizes: &[usize], limits: Limits) -> Self {
        let ranks: usize = sizes.iter().product();
        let lines = (0..sizes.len()).map(|axis| {
            let step: usize = sizes[axis + 1..].iter().product();
            let at = rank / step % sizes[axis];
            let first = rank - at * step;
            Line { rank: at, size: sizes[axis], axis: axis + 1, first, step }
        });
        let shared = Shared {
            engine,
            lines: lines.collect(),
            all: Line { rank, size: ranks, axis: 0, first: 0, step: 1 },
            limits,
            sent: Cell::default(),
        };
        let mesh = Mesh { shared: Rc::new(shared), here: PhantomData };
        #[cfg(feature = "safetensors")]
        HERE.set(Rc::downgrade(&mesh.shared));
        mesh
    }

    /// How many ranks there are: the same number for all of them.
    ///
    /// PyTorch: `mesh.size()`
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Grid: Data, Model }
    /// assert_eq!(simulate::<Grid, _>(4, &[0, 2], |mesh| mesh.ranks()), [4; 4]);
    /// ```
    pub fn ranks(&self) -> usize {
        self.shared.all.size
    }

    /// How many ranks there are along the axis `M`: the same number for all of them.
    ///
    /// PyTorch: `mesh.size(dim)`
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Grid: Data, Model }
    /// assert_eq!(simulate::<Grid, _>(6, &[0, 2], |mesh| mesh.len::<Data>()), [3; 6]);
    /// ```
    #[allow(clippy::len_without_is_empty)]
    pub fn len<M: MeshAxis<Mesh = X>>(&self) -> usize {
        self.line::<M>().size
    }

    /// Which of `count` things this rank has, along the axis `M`: blocks as even as can be, in the order of ranks.
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// assert_eq!(simulate::<Ranks, _>(3, &[0], |mesh| mesh.block::<Data>(7)), [0..2, 2..4, 4..7]);
    /// // Fewer things than ranks: some have none.
    /// assert_eq!(simulate::<Ranks, _>(3, &[0], |mesh| mesh.block::<Data>(1).len()), [0, 0, 1]);
    /// ```
    pub fn block<M: MeshAxis<Mesh = X>>(&self, count: usize) -> Range<usize> {
        let line = self.line::<M>();
        block(count, line.rank, line.size)
    }

    /// The rounds of a loop over `count` things, `batch` of them at a time for all ranks together: each rank has as many rounds, whatever it has in
    /// them, so that what all do together inside of the loop is done by all.
    ///
    /// # Panics
    /// If `batch` is 0.
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// let rounds = simulate::<Ranks, _>(2, &[0], |mesh| mesh.rounds::<Data>(7, 4).collect::<Vec<_>>());
    /// assert_eq!(rounds, [[0..2, 4..5], [2..4, 5..7]]);
    /// ```
    #[track_caller]
    pub fn rounds<M: MeshAxis<Mesh = X>>(
        &self,
        count: usize,
        batch: usize,
    ) -> impl Iterator<Item = Range<usize>> + use<M, X> {
        assert!(batch > 0, "rounds: a batch of 0 things never comes to an end");
        let line = self.line::<M>();
        (0..count).step_by(batch).map(move |start| {
            let own = block(batch.min(count - start), line.rank, line.size);
            start + own.start..start + own.end
        })
    }

    /// Runs something on one rank, as printing or writing a file; the others get `None`. The mesh is not to be had meanwhile, so that no rank waits
    /// there for others.
    ///
    /// # Panics
    /// If there is no such rank.
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// assert_eq!(simulate::<Ranks, _>(3, &[0], |mesh| mesh.alone_on(1, || "here")), [None, Some("here"), None]);
    /// ```
    ///
    /// What the others would have to take part in does not compile:
    /// ```compile_fail,E0502
    /// # use castiron_mesh::{mesh, simulate};
    /// # mesh! { Ranks: Data }
    /// # simulate::<Ranks, _>(2, &[0], |mesh| {
    /// mesh.alone_on(0, || mesh.barrier());
    /// # });
    /// ```
    #[track_caller]
    pub fn alone_on<T>(&mut self, rank: usize, run: impl FnOnce() -> T) -> Option<T> {
        assert!(rank < self.ranks(), "alone_on: there is no rank {rank} of {}", self.ranks());
        (self.shared.all.rank == rank).then(run)
    }

    /// What one rank fails at all fail at: the values, if all have one, else on every rank the error of the first that has none. What may fail on
    /// one rank alone, as reading its file, is agreed on before the ranks go on together.
    ///
    /// # Errors
    /// [`Error::Rank`], with the error's text.
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// let all = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let own = if mesh.alone_on(2, || ()).is_some() { Err("part-2.npy: No such file") } else { Ok(1) };
    ///     mesh.agree(own).unwrap_err().to_string()
    /// });
    /// assert_eq!(all, ["rank 2: part-2.npy: No such file"; 3]);
    /// ```
    #[track_caller]
    pub fn agree<T, F: Display>(&self, own: core::result::Result<T, F>) -> Result<T> {
        let failed = |rank, text: Vec<u8>| Error::Rank { rank, text: String::from_utf8_lossy(&text).into_owned() };
        self.agreed(own, |error| error.to_string().into_bytes(), failed)
    }

    /// [`agree`](Self::agree) about what is done with a file.
    #[cfg(feature = "safetensors")]
    #[track_caller]
    pub(crate) fn agree_on_file<T>(&self, path: &std::path::Path, own: std::io::Result<T>) -> Result<T> {
        // The number of an error of the system, or the text of another.
        let told = |error: &std::io::Error| match error.raw_os_error() {
            Some(code) => code.to_le_bytes().into_iter().chain([0]).collect(),
            None => error.to_string().into_bytes().into_iter().chain([1]).collect(),
        };
        let failed = |rank, mut told: Vec<u8>| {
            let is_text = told.pop() == Some(1);
            let source = match <[u8; 4]>::try_from(&*told) {
                Ok(code) if !is_text => std::io::Error::from_raw_os_error(i32::from_le_bytes(code)),
                _ => std::io::Error::other(String::from_utf8_lossy(&told).into_owned()),
            };
            Error::Io { rank, path: path.to_owned(), source: source.into() }
        };
        self.agreed(own, told, failed)
    }

    /// What `failed` makes of what the first rank tells of its error.
    #[track_caller]
    fn agreed<T, F>(
        &self,
        own: core::result::Result<T, F>,
        tell: impl FnOnce(&F) -> Vec<u8>,
        failed: impl FnOnce(usize, Vec<u8>) -> Error,
    ) -> Result<T> {
        let all = self.all();
        let mut told = own.as_ref().err().map_or_else(Vec::new, tell);
        // The first rank that fails; and how much it tells, which only it knows.
        let mut first = [if own.is_err() { all.rank as u64 } else { u64::MAX }];
        self.reduce_in_place(all, "agree", &mut first, Reduce::Min)?;
        let rank = match (first[0], own) {
            (u64::MAX, Ok(value)) => return Ok(value),
            (rank, _) => rank as usize,
        };
        let mut len = [told.len() as u64];
        self.broadcast(all, &mut len, rank)?;
        told.resize(len[0] as usize, 0);
        self.broadcast(all, &mut told, rank)?;
        Err(failed(rank, told))
    }

    /// Waits until all ranks are here.
    ///
    /// PyTorch: `torch.distributed.barrier()`
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// simulate::<Ranks, _>(2, &[0], |mesh| mesh.barrier().unwrap());
    /// ```
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        self.reduce_in_place(self.all(), "barrier", &mut [0_u8], Reduce::Max)
    }

    /// What carries the elements, in a line: its version, its library, its ABI.
    ///
    /// ```
    /// use castiron_mesh::{mesh, simulate};
    /// mesh! { Ranks: Data }
    /// assert_eq!(simulate::<Ranks, _>(1, &[1], |mesh| mesh.engine()), ["1 threads of one process"]);
    /// ```
    pub fn engine(&self) -> String {
        self.shared.engine.as_ref().map_or_else(|| "one rank, no MPI".to_owned(), |engine| engine.name())
    }

    /// What this rank has given to others so far.
    ///
    /// ```
    /// use castiron_mesh::{Sent, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// let sent = simulate::<Ranks, _>(2, &[0], |mesh| mesh.barrier().map(|()| mesh.sent()));
    /// assert_eq!(sent[0], Ok(Sent { calls: 1, bytes: 1 }));
    /// ```
    pub fn sent(&self) -> Sent {
        self.shared.sent.get()
    }

    /// Ends all ranks, with an error's text. What a program does that can't go on alone: the others would wait for it.
    ///
    /// ```no_run
    /// use castiron_mesh::{Mesh, mesh};
    /// mesh! { pub Ranks: Data }
    /// # fn main() -> castiron_mesh::Result<()> {
    /// let mesh = Mesh::<Ranks>::join(&[0])?;
    /// let Ok(text) = std::fs::read_to_string("own.txt") else { mesh.abort("own.txt can't be read") };
    /// # Ok(())
    /// # }
    /// ```
    pub fn abort(&self, error: impl Display) -> ! {
        let text = format!("rank {}: {error}", self.shared.all.rank);
        match &self.shared.engine {
            Some(engine) => engine.abort(&text),
            None => {
                eprintln!("{text}");
                std::process::exit(1)
            }
        }
    }

    /// The mesh of this thread.
    ///
    /// # Panics
    /// If it has none: a gradient goes back on another thread than it came from.
    #[cfg(feature = "grad")]
    pub(crate) fn of_this_thread() -> Self {
        let shared = Shared::of_this_thread();
        Mesh { shared: shared.expect("a gradient goes back on the thread of the mesh"), here: PhantomData }
    }

    /// The ranks along an axis.
    pub(crate) fn line<M: MeshAxis<Mesh = X>>(&self) -> Line {
        self.shared.lines[M::INDEX]
    }
    /// The ranks along the axis at this position among the axes of the mesh.
    pub(crate) fn line_at(&self, axis: usize) -> Line {
        self.shared.lines[axis]
    }
    /// All ranks.
    pub(crate) fn all(&self) -> Line {
        self.shared.all
    }
    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }
}

impl Shared {
    #[cfg(feature = "safetensors")]
    pub(crate) fn of_this_thread() -> Option<Rc<Shared>> {
        HERE.with_borrow(std::rc::Weak::upgrade)
    }
    /// The part of each axis that this rank has.
    pub(crate) fn ranges(&self, whole: &[usize], cuts: &[Option<usize>]) -> Vec<Range<usize>> {
        let part = |(&size, cut): (&usize, &Option<usize>)| match cut.map(|along| self.lines[along]) {
            Some(line) => block(size, line.rank, line.size),
            None => 0..size,
        };
        whole.iter().zip(cuts).map(part).collect()
    }
    pub(crate) fn engine(&self) -> &dyn Engine {
        self.engine.as_deref().expect("lines of more than one rank have an engine")
    }
    pub(crate) fn calls(&self) -> u64 {
        self.sent.get().calls
    }
    pub(crate) fn count(&self, bytes: usize) {
        let Sent { calls, bytes: before } = self.sent.get();
        self.sent.set(Sent { calls: calls + 1, bytes: before + bytes as u64 });
    }
    pub(crate) fn panicking(&self) {
        if let Some(engine) = &self.engine {
            engine.panicking();
        }
    }
}

impl<X: MeshAxes> Drop for Mesh<X> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others must not wait for a rank that has panicked.
            self.shared.panicking();
        } else if let Err(error) = self.shared.leave(self.all()) {
            self.abort(error);
        }
        if self.shared.engine.is_none() {
            TAKEN.store(false, Ordering::Release);
        }
    }
}

/// Sizes of a mesh without zeros.
pub(crate) fn resolved(names: &[&str], sizes: &[usize], ranks: usize) -> Result<Vec<usize>> {
    let error = |why: String| Error::Mesh(format!("a mesh of {sizes:?} ({}): {why}", names.join(", ")));
    if sizes.len() != names.len() {
        return Err(error(format!("it has {} axes, and {} sizes", names.len(), sizes.len())));
    }
    let known = sizes.iter().filter(|size| **size != 0).try_fold(1_usize, |product, size| product.checked_mul(*size));
    let left = match (known, sizes.iter().filter(|size| **size == 0).count()) {
        (Some(known), 0) if known == ranks => 1,
        (Some(known), 1) if ranks > 0 && ranks.is_multiple_of(known) => ranks / known,
        (_, 0 | 1) => return Err(error(format!("there are {ranks} ranks"))),
        _ => return Err(error("0, the ranks that are left, stands for one axis".to_owned())),
    };
    Ok(sizes.iter().map(|size| if *size == 0 { left } else { *size }).collect())
}

/// The block of `count` things that a rank has.
pub(crate) fn block(count: usize, rank: usize, ranks: usize) -> Range<usize> {
    let start = |rank: usize| (count as u128 * rank as u128 / ranks as u128) as usize;
    start(rank)..start(rank + 1)
}
