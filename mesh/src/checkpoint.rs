//! Checkpoints that ranks write and read together: one safetensors file, as every other library reads it.
//!
//! Each rank writes its blocks where they belong in the file, and reads its own: with another number of ranks, or another placement, others
//! than it had.

use crate::block::{ranges, taken};
use crate::dist::{Dist, tensor_of};
use crate::engine::Reduce;
use crate::error::Result;
use crate::mesh::{Mesh, Shared};
use crate::place::{MeshAxes, Settled};
use castiron::io::{FileLayout, Listing, Parameter, Place, layout};
use castiron::shape::SizeArray;
use castiron::{Checkpoint, Device, Element, Module, Shape};
use core::cell::Cell;
use core::ops::Range;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A field of a module: each rank has its block. [`Mesh::save`] writes the whole, [`Mesh::load`] reads the rank's block of it.
impl<E: Element, S: Shape, D: Device> Module for Dist<E, S, Settled, D> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let Some(shared) = Shared::of_this_thread() else {
            place.differs("there is no mesh, of which this rank has a block: `mesh.load(…)`");
            return None;
        };
        let cuts = Dist::<E, S, Settled, D>::cuts();
        // Of a tensor that is cut along its first axis a rank reads its own rows alone.
        let own_rows = |all: usize| shared.ranges(&[all], &[cuts.first().copied().flatten()]).remove(0);
        let (sizes, rows, elements) = place.rows::<E, S::Uncut>(own_rows)?;
        let sizes = S::Sizes::copied(sizes.as_ref());
        if let Some(other) = initial.map(|initial| initial.shape()).filter(|other| *other != sizes) {
            place.differs(format!("it has sizes {:?}, expected {:?}", sizes.as_ref(), other.as_ref()));
            return None;
        }
        let read = || -> Result<Self> {
            let own = shared.ranges(sizes.as_ref(), &cuts);
            let lens: Vec<usize> = own.iter().map(Range::len).collect();
            let mut start: Vec<usize> = own.iter().map(|range| range.start).collect();
            let mut read = sizes.as_ref().to_vec();
            if let Some(first) = read.first_mut() {
                (*first, start[0]) = (rows.len(), 0);
            }
            let elements = elements.as_slice().expect("what was read are elements one after another");
            Ok(Dist::new(tensor_of(taken(elements, &read, &start, &lens)?, &lens)?, sizes))
        };
        read().map_err(|error| place.differs(error.to_string())).ok()
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        listing.tensor(self.block());
    }
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut castiron::io::ListingMut<'a>) {
        listing.tensor(self.block_mut());
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl<X: MeshAxes> Mesh<X> {
    /// Writes a module, of which each rank has its blocks, as one safetensors file, which holds whole tensors. Each rank writes what it has
    /// where it belongs; what several have, the first of them writes. All ranks must see the same folder.
    ///
    /// The file gets its name when all have written: where that fails, or a rank dies, an older file is as it was. Until then it has a name
    /// of its own beside it, `.name.….unfinished`, so that of two programs that save to one path at once the later one's file is left. It is
    /// removed when saving fails; what a rank that dies leaves may be deleted.
    ///
    /// PyTorch: `torch.distributed.checkpoint.save`.
    ///
    /// # Errors
    /// On all ranks the same, if one can't write ([`Error::Io`](crate::Error::Io)), the format lacks a dtype, or sizes of blocks are no blocks of a whole.
    ///
    /// ```
    /// use castiron::{Checkpoint, Module, Tensor, dims, dim, shape};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// #[derive(Module)]
    /// struct Table { words: Dist<f32, (At<Rows, Data>, dim!(2))> }
    /// let path = std::env::temp_dir().join(format!("castiron-mesh-{}.safetensors", std::process::id()));
    /// // Three ranks write, two read.
    /// simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let words = Dist::from_fn(mesh, [7, 2], |[row, _]| row as f32).unwrap();
    ///     mesh.save(&Table { words }, &path).unwrap();
    /// });
    /// let first = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let table: Table = mesh.load(&path).unwrap();
    ///     (table.words.shape(), table.words.block().to_vec()[0])
    /// });
    /// assert_eq!(first, [([7, 2], 0.0), ([7, 2], 3.0)]);
    /// // One without ranks reads it, too.
    /// let words: Tensor<f32, shape![_, 2]> = Tensor::load(&Checkpoint::open(&path)?, "words")?;
    /// assert_eq!(words[(6, 1)], 6.0);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[track_caller]
    pub fn save<M: Module>(&self, module: &M, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let parameters = module.named_parameters();
        let wholes = self.agree(self.whole_sizes(&parameters).map_err(|error| error.to_string()))?;
        let described = parameters.iter().zip(&wholes);
        let described =
            described.map(|(parameter, sizes)| (parameter.name.clone(), parameter.tensor.dtype(), sizes.clone()));
        let laid_out = layout(path, described.collect(), &BTreeMap::new())?;
        let blocks = parameters.iter().zip(&wholes).map(|(parameter, whole)| self.own_block(parameter, whole));
        let blocks = self.agree(blocks.collect::<core::result::Result<Vec<_>, _>>())?;
        let beside = self.beside(path, &laid_out)?;
        let starts: BTreeMap<&str, usize> = laid_out.starts.iter().map(|(name, start)| (&**name, *start)).collect();
        let written = || -> io::Result<()> {
            let file = File::options().write(true).open(&beside.path)?;
            for ((parameter, whole), block) in parameters.iter().zip(&wholes).zip(&blocks) {
                let start = 8 + laid_out.header.len() + starts[&*parameter.name];
                if let Some(own) = block {
                    write_block(&file, parameter, own, whole, start)?;
                }
            }
            file.sync_all()
        };
        self.agree_on_file(&beside.path, written())?;
        let named = if self.all().rank == 0 { std::fs::rename(&beside.path, path) } else { Ok(()) };
        self.agree_on_file(path, named)?;
        beside.is_removed.set(false);
        Ok(())
    }

    /// Reads a module from a safetensors file: each rank its blocks, whoever has written the file.
    ///
    /// PyTorch: `torch.distributed.checkpoint.load`.
    ///
    /// # Errors
    /// On all ranks the same, if one can't read ([`Error::Io`](crate::Error::Io)), the file is no checkpoint, or tensors differ from the module's.
    #[track_caller]
    pub fn load<M: Module>(&self, path: impl AsRef<Path>) -> Result<M> {
        let path = path.as_ref();
        // (It may be a folder of files.)
        let found = std::fs::metadata(path);
        let found = found.and_then(|found| if found.is_file() { File::open(path).map(drop) } else { Ok(()) });
        self.agree_on_file(path, found)?;
        let loaded = Checkpoint::open(path).and_then(|checkpoint| M::load(&checkpoint));
        self.agree(loaded)
    }

    /// The file that is written, of a name that no other has: made by the first rank, known to all.
    #[track_caller]
    fn beside(&self, path: &Path, laid_out: &FileLayout) -> Result<Beside> {
        let (all, mut number) = (self.all(), [u64::from(std::process::id()), 0]);
        let mut begun = Ok(());
        if all.rank == 0 {
            begun = loop {
                match File::options().write(true).create_new(true).open(unfinished(path, number)) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number[1] += 1,
                    made => break made.and_then(|file| begin(file, laid_out)),
                }
            };
        }
        self.broadcast(all, &mut number, 0)?;
        let beside = Beside { path: unfinished(path, number), is_removed: Cell::new(all.rank == 0) };
        self.agree_on_file(&beside.path, begun)?;
        Ok(beside)
    }

    /// The whole sizes of tensors whose blocks lie on the ranks.
    fn whole_sizes(&self, parameters: &[Parameter<'_>]) -> Result<Vec<Vec<usize>>> {
        let mut wholes: Vec<Vec<usize>> =
            parameters.iter().map(|parameter| parameter.tensor.sizes().to_vec()).collect();
        for along in 0..X::NAMES.len() {
            let is_cut = |parameter: &Parameter<'_>, axis: usize| {
                parameter.tensor.cuts().get(axis).is_some_and(|cut| cut.is_some_and(|(index, _)| index == along))
            };
            let places: Vec<(usize, usize)> = parameters
                .iter()
                .enumerate()
                .flat_map(|(at, parameter)| (0..parameter.tensor.sizes().len()).map(move |axis| (at, axis)))
                .filter(|&(at, axis)| is_cut(&parameters[at], axis))
                .collect();
            let mut sums: Vec<u64> = places.iter().map(|&(at, axis)| wholes[at][axis] as u64).collect();
            self.reduce_in_place(self.line_at(along), "save", &mut sums, Reduce::Sum)?;
            for (&(at, axis), &sum) in places.iter().zip(&sums) {
                wholes[at][axis] = sum as usize;
            }
        }
        Ok(wholes)
    }

    /// The block of a tensor that this rank writes: none if another one has it, too, and writes it.
    fn own_block(&self, parameter: &Parameter<'_>, whole: &[usize]) -> core::result::Result<Option<Own>, String> {
        let tensor = parameter.tensor;
        let mut cuts: Vec<Option<usize>> = tensor.cuts().iter().map(|cut| cut.map(|(along, _)| along)).collect();
        cuts.resize(whole.len(), None);
        let ranges = ranges(self, whole, &cuts);
        if !ranges.iter().map(Range::len).eq(tensor.sizes().iter().copied()) {
            let (name, found) = (&parameter.name, tensor.sizes());
            return Err(format!("tensor `{name}`: {found:?} are no block of {whole:?} on this rank"));
        }
        // Of those that have the same elements the first writes them.
        let has_others_before = |along: usize| !cuts.contains(&Some(along)) && self.line_at(along).rank > 0;
        if (0..X::NAMES.len()).any(has_others_before) {
            return Ok(None);
        }
        // What lies together in the file: the axes after the last that is cut.
        let together = cuts.iter().rposition(Option::is_some).map_or(0, |axis| axis);
        Ok(Some(Own { ranges, together }))
    }
}

/// The part of each axis of a tensor that a rank writes, and the first of the axes that lie together in the file.
struct Own {
    ranges: Vec<Range<usize>>,
    together: usize,
}

/// The header of a new file, and room for what follows.
fn begin(mut file: File, laid_out: &FileLayout) -> io::Result<()> {
    file.write_all(&(laid_out.header.len() as u64).to_le_bytes())?;
    file.write_all(&laid_out.header)?;
    file.set_len((8 + laid_out.header.len()) as u64 + laid_out.bytes)
}

/// Writes a block of a tensor that starts at this place of the file.
fn write_block(file: &File, parameter: &Parameter<'_>, own: &Own, whole: &[usize], start: usize) -> io::Result<()> {
    let Own { ranges, together } = own;
    let itemsize = parameter.tensor.dtype().itemsize();
    let run: usize = ranges[*together..].iter().map(Range::len).product::<usize>() * itemsize;
    let rows: usize = ranges[..*together].iter().map(Range::len).product();
    let mut written = Ok(());
    let read = parameter.tensor.with_bytes(&mut |bytes| {
        written = bytes.chunks_exact(run.max(1)).take(rows).enumerate().try_for_each(|(row, piece)| {
            let (mut rest, mut place, mut step) = (row, 0, 1);
            let mut at = vec![0; whole.len()];
            for axis in (0..*together).rev() {
                at[axis] = rest % ranges[axis].len();
                rest /= ranges[axis].len();
            }
            for axis in (0..whole.len()).rev() {
                place += (ranges[axis].start + at[axis]) * step;
                step *= whole[axis];
            }
            write_at(file, piece, (start + place * itemsize) as u64)
        });
        Ok(())
    });
    // (The elements of a device may not come.)
    read.map_err(io::Error::other).and(written)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], place: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, place)
}
#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], place: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)
}

/// The file that is written, beside its place; where saving fails, the first rank removes it.
struct Beside {
    path: PathBuf,
    is_removed: Cell<bool>,
}
impl Drop for Beside {
    fn drop(&mut self) {
        if self.is_removed.get() {
            // If this fails, too, the earlier error is reported.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// `.name.7101-0.unfinished`: the number of the first rank's process, and how many such names were taken.
fn unfinished(path: &Path, [process, taken]: [u64; 2]) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{process}-{taken}.unfinished"));
    path.with_file_name(name)
}
