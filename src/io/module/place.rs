//! `Place`: the name prefix at which a module is read, and the differences found on the way.

use super::{Difference, Ties};
use crate::device::{Cpu, Device, Meta};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::io::checkpoint::expected;
use crate::io::{Checkpoint, Progress, TensorInfo};
use crate::shape::{Dyn, Shape, SizeArray};
use crate::tensor::Tensor;
use core::any::{Any, TypeId};
use core::cell::RefCell;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The state of reading a checkpoint.
pub(super) struct Reading<'a> {
    checkpoint: &'a Checkpoint,
    prefix: String,
    progress: &'a dyn Fn(Progress<'_>),
    notes: RefCell<Notes>,
}

#[derive(Default)]
struct Notes {
    differences: Vec<Difference>,
    /// Names read by a field.
    taken: BTreeSet<String>,
    /// Names or prefixes to ignore.
    ignored: Vec<String>,
    ties: Ties,
    /// The sizes of named dimensions, and the tensor where each was first met.
    named: BTreeMap<&'static str, (usize, String)>,
    /// Tied tensors, by the name under which they are stored.
    shared: HashMap<String, Box<dyn Any>>,
    /// The error that ended reading.
    failure: Option<Error>,
    done: u64,
    total: u64,
}

/// A place in the checkpoint being read: the prefix of a module's tensor names.
pub struct Place<'a> {
    reading: &'a Reading<'a>,
    name: String,
    /// Whether it is in the state of an optimiser, and whether in a frozen field.
    is_state: bool,
    is_frozen: bool,
}

/// A name followed by a part; either may be empty.
pub(super) fn joined(name: &str, part: &str) -> String {
    match (name, part) {
        ("", part) => part.to_owned(),
        (name, "") => name.to_owned(),
        (name, part) => format!("{name}.{part}"),
    }
}

impl<'a> Reading<'a> {
    pub(super) fn new(checkpoint: &'a Checkpoint, prefix: String, progress: &'a dyn Fn(Progress<'_>)) -> Self {
        let total =
            checkpoint.tensors().filter(|(name, _)| is_below(name, &prefix)).map(|(_, info)| info.bytes() as u64);
        let notes = RefCell::new(Notes { total: total.sum(), ..Notes::default() });
        Reading { checkpoint, prefix, progress, notes }
    }

    /// The differences, sorted by name.
    pub(super) fn finish(self) -> Result<Vec<Difference>> {
        let Notes { mut differences, taken, ignored, failure, .. } = self.notes.into_inner();
        if let Some(error) = failure {
            return Err(error);
        }
        let is_left = |name: &&str| {
            let is_ignored = || ignored.iter().any(|ignored| is_below(name, ignored));
            is_below(name, &self.prefix) && !taken.contains(*name) && !is_ignored()
        };
        let left = self.checkpoint.names().filter(is_left);
        differences.extend(left.map(|name| Difference::Unexpected { name: name.to_owned() }));
        differences.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(differences)
    }
}

/// Whether a name equals the other, or starts with it and a dot.
fn is_below(name: &str, other: &str) -> bool {
    other.is_empty() || Ties::renamed(name, other, "").is_some()
}

impl<'a> Place<'a> {
    pub(super) fn root(reading: &'a Reading<'a>) -> Self {
        Place { reading, name: reading.prefix.clone(), is_state: false, is_frozen: false }
    }

    /// The place of a field.
    pub fn field(&self, name: &str) -> Place<'a> {
        Place { name: joined(&self.name, name), ..*self }
    }

    /// The same place, of a frozen field.
    #[doc(hidden)]
    pub fn frozen(self) -> Place<'a> {
        Place { is_frozen: true, ..self }
    }

    /// The same place, of an optimiser's state: frozen fields have none, so it is not stored for them.
    #[cfg(feature = "grad")]
    pub(crate) fn state(self) -> Place<'a> {
        Place { is_state: true, ..self }
    }

    /// Whether nothing is stored here since a frozen field has no state. What is stored is ignored: it was not frozen before.
    fn is_omitted(&self) -> bool {
        let is_omitted = self.is_state && self.is_frozen;
        if is_omitted {
            self.ignore("");
        }
        is_omitted
    }

    /// The prefix of the names here.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the checkpoint has any tensor here, possibly under the name that it is tied to.
    pub fn is_there(&self) -> bool {
        let (checkpoint, notes) = (self.reading.checkpoint, self.reading.notes.borrow());
        checkpoint.has(&self.name)
            || notes.ties.target(&self.name).is_some_and(|name| checkpoint.has(&name))
            || notes.ties.tied_to(&self.name).any(|name| checkpoint.has(&name))
    }

    /// The next parts of the names here, up to a dot, sorted: the keys of a map.
    pub(super) fn parts(&self) -> Vec<String> {
        let notes = self.reading.notes.borrow();
        let tied = notes.ties.names();
        let is_ignored = |name: &str| notes.ignored.iter().any(|ignored| is_below(name, ignored));
        let names = self.reading.checkpoint.names().chain(tied).filter(|name| !is_ignored(name));
        let rest = names.filter_map(|name| match &*self.name {
            "" => Some(name),
            own => name.strip_prefix(own)?.strip_prefix('.'),
        });
        let parts: BTreeSet<&str> = rest.filter_map(|rest| rest.split('.').next()).collect();
        parts.into_iter().map(str::to_owned).collect()
    }

    /// Ties the tensors under `own` to those under `target`: the checkpoint needs only one of them. Called before the fields are read.
    pub fn tie(&self, own: &str, target: &str) {
        let (own, target) = (joined(&self.name, own), joined(&self.name, target));
        self.reading.notes.borrow_mut().ties.add(own, target);
    }

    /// Ignores tensors with this prefix.
    pub fn ignore(&self, name: &str) {
        self.reading.notes.borrow_mut().ignored.push(joined(&self.name, name));
    }

    /// Notes a difference here, for hand-written modules.
    pub fn differs(&self, reason: impl Into<String>) {
        self.note(Difference::Other { name: self.name.clone(), reason: reason.into() });
    }

    fn note(&self, difference: Difference) {
        self.reading.notes.borrow_mut().differences.push(difference);
    }

    /// Keeps the first error that is not a difference.
    fn fail(&self, error: Error) {
        self.reading.notes.borrow_mut().failure.get_or_insert(error);
    }

    /// The name under which the tensor here is stored, and the one under which it is shared, if it is tied. Notes it if tied elements
    /// differ.
    fn stored_as(&self) -> (Option<String>, Option<String>) {
        let (checkpoint, name) = (self.reading.checkpoint, &self.name);
        let is_there = |name: &String| checkpoint.info(name).is_some();
        let mut notes = self.reading.notes.borrow_mut();
        let target = notes.ties.target(name);
        let tied: Vec<String> = notes.ties.tied_to(name).collect();
        let shared_as = target.clone().or_else(|| (!tied.is_empty()).then(|| name.clone()));
        let own = Some(name.clone()).filter(is_there);
        notes.taken.extend(own.clone());
        let found = match (own, target.filter(is_there)) {
            (Some(own), Some(target)) => {
                drop(notes);
                match checkpoint.are_equal([&own, &target]) {
                    Ok(true) => {}
                    Ok(false) => self.note(Difference::Untied { name: own.clone(), target: target.clone() }),
                    Err(error) => self.fail(error),
                }
                notes = self.reading.notes.borrow_mut();
                Some(target)
            }
            (own, target) => own.or(target).or_else(|| tied.into_iter().find(is_there)),
        };
        notes.taken.extend(found.clone());
        (found, shared_as)
    }

    /// Loads a tensor and reports progress.
    fn counted<T>(&self, name: &str, load: impl FnOnce(&mut dyn FnMut(usize)) -> Result<T>) -> Option<T> {
        let mut count = |bytes: usize| {
            let mut notes = self.reading.notes.borrow_mut();
            notes.done += bytes as u64;
            let (done, total) = (notes.done, notes.total);
            drop(notes);
            (self.reading.progress)(Progress { name, done, total });
        };
        load(&mut count).map_err(|error| self.fail(error)).ok()
    }

    /// Reads the tensor here, if it has the type's dtype and sizes and no error occurred before.
    pub fn tensor<E: Element, S: Shape, D: Device>(&self, initial: Option<Tensor<E, S, D>>) -> Option<Tensor<E, S, D>> {
        if self.reading.notes.borrow().failure.is_some() {
            return None;
        }
        if self.is_omitted() {
            // (Nobody reads it: sizes that the type does not know are 0.)
            let sizes: Vec<usize> = S::KNOWN.iter().map(|size| size.unwrap_or(0)).collect();
            let zero = || Tensor::one_zero(None, S::Sizes::copied(&sizes));
            return initial.or_else(|| zero().map_err(|error| self.fail(error)).ok());
        }
        let (stored, shared_as) = self.stored_as();
        let Some(stored) = stored else {
            self.note(Difference::Missing { name: self.name.clone(), expected: expected::<E, S>() });
            return initial;
        };
        let info = self.reading.checkpoint.info(&stored)?;
        if let Some(shared) = shared_as.as_ref().and_then(|name| self.shared::<Tensor<E, S, D>>(name)) {
            return Some(shared);
        }
        let tensor = self.fitting::<E, S, D>(&stored, info)?;
        if !self.sizes_agree::<S>(tensor.shape().as_ref()) {
            return None;
        }
        if let Some(name) = shared_as {
            self.reading.notes.borrow_mut().shared.insert(name, Box::new(tensor.clone()));
        }
        Some(tensor)
    }

    /// Some rows of the tensor here, if it has the type's dtype and sizes: its sizes, the rows, and their elements one after another. From a
    /// file nothing else is read. For `castiron-mesh`.
    #[doc(hidden)]
    pub fn rows<E: Element, S: Shape>(
        &self,
        rows: impl FnOnce(usize) -> Range<usize>,
    ) -> Option<(S::Sizes, Range<usize>, Tensor<E, (Dyn,)>)> {
        if self.reading.notes.borrow().failure.is_some() {
            return None;
        }
        let Some(stored) = self.stored_as().0 else {
            self.note(Difference::Missing { name: self.name.clone(), expected: expected::<E, S>() });
            return None;
        };
        let checkpoint = self.reading.checkpoint;
        let info = checkpoint.info(&stored)?;
        if !checkpoint.fits::<E, S>(info) {
            let (expected, found) = (expected::<E, S>(), info.to_string());
            self.note(Difference::Mismatch { name: stored, expected, found });
            return None;
        }
        let sizes = S::Sizes::copied(info.shape());
        if !self.sizes_agree::<S>(sizes.as_ref()) {
            return None;
        }
        let rows = rows(sizes.as_ref().first().copied().unwrap_or(1));
        let elements = self.counted(&stored, |count| checkpoint.rows::<E>(&stored, info, rows.clone(), count))?;
        Some((sizes, rows, elements))
    }

    /// A tied tensor that was read before.
    fn shared<T: Clone + 'static>(&self, name: &str) -> Option<T> {
        self.reading.notes.borrow().shared.get(name)?.downcast_ref::<T>().cloned()
    }

    /// Loads the tensor to its device, if it matches the type.
    fn fitting<E: Element, S: Shape, D: Device>(&self, name: &str, info: &TensorInfo) -> Option<Tensor<E, S, D>> {
        let checkpoint = self.reading.checkpoint;
        if TypeId::of::<D>() == TypeId::of::<Meta>() && checkpoint.fits::<E, S>(info) {
            // An empty tensor: nothing to read.
            let storage = D::zeroed::<E>(None, info.numel()).map_err(|error| self.fail(error)).ok()?;
            return Some(Tensor::dense(storage, S::Sizes::copied(info.shape())));
        }
        match self.counted(name, |count| checkpoint.typed::<E, S>(name, info, count))? {
            Ok(tensor) => self.moved(tensor),
            Err((expected, found)) => {
                self.note(Difference::Mismatch { name: name.to_owned(), expected, found });
                None
            }
        }
    }

    fn moved<E: Element, S: Shape, D: Device>(&self, tensor: Tensor<E, S, Cpu>) -> Option<Tensor<E, S, D>> {
        tensor.to_device::<D>().map_err(|error| self.fail(error)).ok()
    }

    /// Checks that named dimensions have the same sizes as before.
    fn sizes_agree<S: Shape>(&self, sizes: &[usize]) -> bool {
        let mut agree = true;
        for (&size, dimension) in sizes.iter().zip(S::NAMES).filter_map(|(size, name)| Some((size, (*name)?))) {
            let notes = &mut *self.reading.notes.borrow_mut();
            let (other_size, other) = notes.named.entry(dimension).or_insert_with(|| (size, self.name.clone()));
            if *other_size != size {
                let (name, other_size, other) = (self.name.clone(), *other_size, other.clone());
                notes.differences.push(Difference::Size { name, dimension, size, other_size, other });
                agree = false;
            }
        }
        agree
    }

    /// Reads the tensor here, of any dtype and sizes.
    #[cfg(feature = "any")]
    pub fn any_tensor(&self, initial: Option<crate::AnyTensor>) -> Option<crate::AnyTensor> {
        if self.reading.notes.borrow().failure.is_some() {
            return None;
        }
        if self.is_omitted() {
            let zero: Result<Tensor<f32, ()>> = Tensor::one_zero(None, []);
            return initial.or_else(|| zero.map(Into::into).map_err(|error| self.fail(error)).ok());
        }
        let (stored, shared_as) = self.stored_as();
        let Some(stored) = stored else {
            self.note(Difference::Missing { name: self.name.clone(), expected: "any dtype and shape".to_owned() });
            return initial;
        };
        let info = self.reading.checkpoint.info(&stored)?;
        if let Some(shared) = shared_as.as_ref().and_then(|name| self.shared::<crate::AnyTensor>(name)) {
            return Some(shared);
        }
        let tensor = self.counted(&stored, |count| self.reading.checkpoint.untyped(&stored, info, count))?;
        if let Some(name) = shared_as {
            self.reading.notes.borrow_mut().shared.insert(name, Box::new(tensor.clone()));
        }
        Some(tensor)
    }
}
