//! `Module`: structs of tensors that are loaded from and saved to a checkpoint, with a field per part of a name.
//!
//! The derive (`macros/src/module.rs`) writes `read` and `list`; all rules are here.

mod difference;
mod fields;
mod listing;
#[cfg(feature = "grad")]
mod listing_mut;
mod numbers;
mod place;
mod walk;

pub use difference::Difference;
pub use fields::{FieldOf, MapTensors, Mixed, ToDevice, moved};
pub use listing::{Listing, Parameter};
#[cfg(feature = "grad")]
pub use listing_mut::{ListingMut, ParameterMut};
#[cfg(feature = "grad")]
pub(crate) use numbers::{StoredNumber, list_number, numbers_module};
pub use place::Place;
#[doc(hidden)]
pub use walk::Walk;

use crate::error::{Error, Result};
use crate::io::{Checkpoint, CheckpointWriter, Progress};
use core::cell::Cell;
use place::Reading;
use std::collections::HashMap;
use std::path::Path;

/// A type that is loaded from and saved to a checkpoint: a tensor, a struct of modules, and `Option`, `Vec`, `Box`, arrays and maps of
/// modules. `#[derive(Module)]` implements it for a struct: the names of a field's tensors start with the field's name, as in PyTorch's
/// `state_dict` (`layers.0.attention.weight`). (Feature `safetensors`.)
///
/// | attribute | means |
/// |---|---|
/// | `#[module(rename = "attention.self")]` | the field's name in the checkpoint; `""` omits its part of the name |
/// | `#[module(skip)]` | the field is not in the checkpoint: it is made by `Default` |
/// | `#[module(frozen)]` | the field, a tensor or a module, is not learned: it has no gradient, and optimisers leave it as it is (`requires_grad_(False)`, `register_buffer`) |
/// | `#[module(tied = "embed.weight")]` | the field shares the elements of another field of this struct: they are stored once |
/// | `#[module(tied("head.weight" = "embed.weight"))]`, on the struct | the same for nested fields |
/// | `#[module(ignore("position_ids"))]`, on the struct | tensors of the checkpoint under this name are ignored |
/// | `#[module(crate = "::my_library::castiron")]`, on the struct | where castiron is, in a crate that has it under another name |
///
/// A field that is an `Option` may be missing; a `Vec` has as many elements as the checkpoint numbers, `layers.0`, `layers.1`, …; a
/// `BTreeMap` or `HashMap` with `String` keys has an entry per name in the checkpoint, `heads.color.weight` under the key `color`
/// (PyTorch's `ModuleDict`: keys contain no dot). Fields of a tuple struct are named `0`, `1`, ….
/// A struct with one type parameter that is a `Device` is loaded on any device and moved by [`to_device`](ToDevice::to_device).
///
/// ```
/// use castiron::{Checkpoint, Cpu, Device, Module, Tensor, dims, shape};
/// dims! { Vocab }
///
/// #[derive(Module)]
/// struct Linear<D: Device = Cpu> {
///     weight: Tensor<f32, shape![8, 8], D>,
///     bias: Option<Tensor<f32, shape![8], D>>,
/// }
/// #[derive(Module)]
/// struct Model<D: Device = Cpu> {
///     words: Tensor<f32, shape![Vocab, 8], D>,
///     #[module(rename = "encoder.layer")]
///     layers: Vec<Linear<D>>,
///     #[module(skip)]
///     steps: usize,
/// }
///
/// let path = std::env::temp_dir().join(format!("castiron-module-{}.safetensors", std::process::id()));
/// let linear = || Linear { weight: Tensor::ones(), bias: None };
/// let model = Model::<Cpu> { words: Tensor::zeros_sized([100, 8]), layers: vec![linear(), linear()], steps: 3 };
/// model.save(&path)?;
///
/// let loaded = Model::<Cpu>::load(&Checkpoint::open(&path)?)?;
/// assert_eq!((loaded.words.shape(), loaded.layers.len(), loaded.steps), ([100, 8], 2, 0));
/// let names: Vec<String> = loaded.named_parameters().into_iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["words", "encoder.layer.0.weight", "encoder.layer.1.weight"]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// All mismatches are reported in one error:
///
/// ```text
/// load: model.safetensors: the checkpoint does not fit (4 differences):
///   head: `Vocab` is 999 here and 1000 in words
///   layers.0.norm.weight: expected float32 [384], found float16 [384]
///   layers.1.attention.query.bias: missing (expected float32 [384])
///   pooler.weight: nothing takes it
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be loaded from a checkpoint: it is no tensor and no module",
    label = "expected a tensor, a struct with `#[derive(Module)]`, or `Option`, `Vec`, `Box`, an array or a map of them",
    note = "a field that is not in the checkpoint is marked `#[module(skip)]`, and made by `Default`"
)]
pub trait Module: Sized {
    /// Reads the module at a place, or returns `None` after noting what is wrong, so that reading goes on; if nothing is there, returns the
    /// initial value if given. (Written by the derive.)
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self>;

    /// Lists the tensors with their names. (Written by the derive.)
    fn list<'a>(&'a self, listing: &mut Listing<'a>);

    /// Lists the tensors for writing, as [`list`](Self::list) does. (Written by the derive. A module without it can't be optimised.)
    #[cfg(feature = "grad")]
    #[doc(hidden)]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        listing.refuse(core::any::type_name::<Self>());
    }

    /// A module that shares the tensors, whose fields that are not in the checkpoint are made by `Default`: what the state of an optimiser
    /// begins with. (Written by the derive.)
    #[cfg(feature = "grad")]
    #[doc(hidden)]
    fn sharing(&self) -> Option<Self> {
        None
    }

    /// Loads a module. Its tensors and those of the checkpoint must match exactly (`load_state_dict(…, strict=True)`).
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with all differences; if the file cannot be read or memory runs out.
    fn load(checkpoint: &Checkpoint) -> Result<Self> {
        LoadOptions::new().load(checkpoint)
    }

    /// Loads the tensors that are in the checkpoint; the module's other tensors stay (`load_state_dict(…, strict=False)`). Returns the
    /// missing and the unexpected tensors.
    ///
    /// # Errors
    /// If a tensor's dtype or shape differs from its type's; if the file cannot be read or memory runs out.
    ///
    /// ```
    /// use castiron::{Checkpoint, Module, Tensor, io::CheckpointWriter, shape, tensor};
    /// #[derive(Module)]
    /// struct Head { weight: Tensor<f32, shape![2]>, scale: Tensor<f32, shape![]> }
    ///
    /// let head = Head { weight: Tensor::zeros(), scale: Tensor::ones() };
    /// let file = Checkpoint::from_bytes(CheckpointWriter::new().tensor("weight", &tensor![1.0, 2.0]).to_bytes()?)?;
    /// let (head, differences) = head.load_over(&file)?;
    /// assert_eq!((head.weight.to_vec(), head.scale.item()), (vec![1.0, 2.0], 1.0));
    /// assert_eq!(differences[0].to_string(), "scale: missing (expected float32 [])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    fn load_over(self, checkpoint: &Checkpoint) -> Result<(Self, Vec<Difference>)> {
        LoadOptions::new().load_over(self, checkpoint)
    }

    /// Saves the tensors as a safetensors file, tied ones once.
    ///
    /// # Errors
    /// As for [`CheckpointWriter::save`], and if tied tensors are no longer equal.
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let parameters = listing::stored(self, path)?;
        let mut writer = CheckpointWriter::new();
        for Parameter { name, tensor, .. } in parameters {
            writer = writer.tensor(name, tensor);
        }
        writer.save(path)
    }

    /// The tensors with their names, in the order of fields, tied ones once (`torch.nn.Module.named_parameters`).
    fn named_parameters(&self) -> Vec<Parameter<'_>> {
        listing::named(self)
    }

    /// The norm of all floating-point elements together, of tied tensors once and of frozen fields not at all
    /// (`torch.nn.utils.get_total_norm`). It is summed up in `f64`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Module, tensor};
    /// assert_eq!(tensor![[3.0, 0.0], [0.0, -4.0]].total_norm(), 5.0);
    /// ```
    #[cfg(feature = "grad")]
    #[track_caller]
    fn total_norm(&self) -> f64 {
        crate::error::unwrap(self.try_total_norm())
    }
    /// [`total_norm`](Self::total_norm) that returns its errors.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "grad")]
    fn try_total_norm(&self) -> Result<f64> {
        crate::optim::total_norm("total_norm", self)
    }

    /// Scales the tensors so that their [`total_norm`](Self::total_norm) is `most` if it is larger, and gives the norm before
    /// (`torch.nn.utils.clip_grad_norm_`). Tensors of whole numbers and frozen fields stay.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Module, tensor};
    /// let mut gradients = tensor![3.0, -4.0];
    /// assert_eq!(gradients.clip_norm(1.0), 5.0);
    /// assert!(gradients.isclose(tensor![0.6, -0.8], 1e-5, 1e-8, false).all().item());
    /// assert!((gradients.clip_norm(2.0) - 1.0).abs() < 1e-5); // small enough: left as it is
    /// ```
    #[cfg(feature = "grad")]
    #[track_caller]
    fn clip_norm(&mut self, most: f64) -> f64 {
        crate::error::unwrap(self.try_clip_norm(most))
    }
    /// [`clip_norm`](Self::clip_norm) that returns its errors.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "grad")]
    fn try_clip_norm(&mut self, most: f64) -> Result<f64> {
        crate::optim::clip_norm("clip_norm", self, most)
    }

    /// Brings all elements between `-most` and `most` (`torch.nn.utils.clip_grad_value_`). Tensors of whole numbers and frozen fields stay.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Module, tensor};
    /// let mut gradients = tensor![3.0, -0.25];
    /// gradients.clip_value(0.5);
    /// assert_eq!(gradients.to_vec(), [0.5, -0.25]);
    /// ```
    #[cfg(feature = "grad")]
    #[track_caller]
    fn clip_value(&mut self, most: f64) {
        crate::error::unwrap(self.try_clip_value(most));
    }
    /// [`clip_value`](Self::clip_value) that returns its errors.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "grad")]
    fn try_clip_value(&mut self, most: f64) -> Result<()> {
        crate::optim::clip_value("clip_value", self, most)
    }

    /// Adds the tensors of another, times a number. Structs with `#[derive(Module)]` also have `+=`, `*=` and `/=`, so that gradients of
    /// several batches are summed up and divided: `sum += &grads; sum /= 4.0`. Tensors of whole numbers and frozen fields stay.
    ///
    /// # Panics
    /// If the two have tensors of different sizes, or memory runs out.
    ///
    /// ```
    /// use castiron::{Module, Tensor, shape, tensor};
    /// #[derive(Module, Clone)]
    /// struct Net { weight: Tensor<f32, shape![2]>, steps: Tensor<i64, shape![]> }
    ///
    /// let grads = Net { weight: tensor![1.0, -2.0], steps: Tensor::scalar(3) };
    /// let mut sum = grads.clone();
    /// sum += &grads;
    /// sum /= 4.0;
    /// sum.add_scaled(&grads, 10.0);
    /// assert_eq!((sum.weight.to_vec(), sum.steps.item()), (vec![10.5, -21.0], 3));
    /// ```
    #[cfg(feature = "grad")]
    #[track_caller]
    fn add_scaled(&mut self, other: &Self, by: f64) {
        crate::error::unwrap(self.try_add_scaled(other, by));
    }
    /// [`add_scaled`](Self::add_scaled) that returns its errors.
    ///
    /// # Errors
    /// If the two have tensors of different sizes, or memory runs out.
    #[cfg(feature = "grad")]
    fn try_add_scaled(&mut self, other: &Self, by: f64) -> Result<()> {
        crate::optim::add_scaled("add_scaled", self, other, by)
    }

    /// Multiplies all elements by a number. Tensors of whole numbers and frozen fields stay.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Module, tensor};
    /// let mut gradients = tensor![3.0, -4.0];
    /// gradients.scale(0.5);
    /// assert_eq!(gradients.to_vec(), [1.5, -2.0]);
    /// ```
    #[cfg(feature = "grad")]
    #[track_caller]
    fn scale(&mut self, by: f64) {
        crate::error::unwrap(self.try_scale(by));
    }
    /// [`scale`](Self::scale) that returns its errors.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "grad")]
    fn try_scale(&mut self, by: f64) -> Result<()> {
        crate::optim::scale("scale", self, by)
    }
}

/// Writes what a module that can be optimised has, in builds that have optimisers.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "grad")]
macro_rules! __learned {
    ($($written:tt)*) => { $($written)* };
}
/// Writes nothing: there are no optimisers.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "grad"))]
macro_rules! __learned {
    ($($written:tt)*) => {};
}

/// Options for loading a module.
///
/// ```
/// use castiron::{Checkpoint, Module, Tensor, io::{CheckpointWriter, LoadOptions}, shape, tensor};
/// #[derive(Module)]
/// struct Head { weight: Tensor<f32, shape![2]> }
///
/// let bytes = CheckpointWriter::new().tensor("bert.weight", &tensor![1.0, 2.0]).tensor("mask", &tensor![1]).to_bytes()?;
/// let file = Checkpoint::from_bytes(bytes)?;
/// let head: Head = LoadOptions::new().prefix("bert").on_progress(|at| eprintln!("{}", at.name)).load(&file)?;
/// let error = LoadOptions::new().load::<Head>(&file).err().unwrap();
/// assert!(error.to_string().ends_with("weight: missing (expected float32 [2])"));
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Default)]
pub struct LoadOptions<'a> {
    prefix: String,
    allow_unexpected: bool,
    progress: Option<Box<dyn FnMut(Progress<'_>) + 'a>>,
}

impl<'a> LoadOptions<'a> {
    /// The options of [`Module::load`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads tensors whose names start with this prefix and a dot, and ignores all others.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Ignores tensors that belong to no field.
    pub fn allow_unexpected(mut self) -> Self {
        self.allow_unexpected = true;
        self
    }

    /// Sets a function to call while tensors are loaded.
    pub fn on_progress(mut self, progress: impl FnMut(Progress<'_>) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Loads a module, as [`Module::load`] does.
    ///
    /// # Errors
    /// As for [`Module::load`].
    pub fn load<M: Module>(self, checkpoint: &Checkpoint) -> Result<M> {
        let (module, differences) = self.run(checkpoint, None)?;
        match module {
            Some(module) if differences.is_empty() => Ok(module),
            _ => Err(unfit(checkpoint, differences)),
        }
    }

    /// Loads over a module, as [`Module::load_over`] does.
    ///
    /// # Errors
    /// As for [`Module::load_over`].
    pub fn load_over<M: Module>(self, initial: M, checkpoint: &Checkpoint) -> Result<(M, Vec<Difference>)> {
        let (module, differences) = self.run(checkpoint, Some(initial))?;
        match module {
            Some(module) if differences.iter().all(Difference::is_of_names) => Ok((module, differences)),
            _ => Err(unfit(checkpoint, differences)),
        }
    }

    fn run<M: Module>(self, checkpoint: &Checkpoint, initial: Option<M>) -> Result<(Option<M>, Vec<Difference>)> {
        let progress = Cell::new(self.progress);
        // (The function is taken out while it runs, so that no borrow is held.)
        let tell = |at: Progress<'_>| {
            if let Some(mut tell) = progress.take() {
                tell(at);
                progress.set(Some(tell));
            }
        };
        let reading = Reading::new(checkpoint, self.prefix, &tell);
        let module = M::read(&Place::root(&reading), initial);
        let mut differences = reading.finish()?;
        if self.allow_unexpected {
            differences.retain(|difference| !matches!(difference, Difference::Unexpected { .. }));
        }
        Ok((module, differences))
    }
}

#[cold]
fn unfit(checkpoint: &Checkpoint, differences: Vec<Difference>) -> Error {
    Error::Checkpoint { op: "load", path: checkpoint.path().to_owned(), differences }
}

/// Alternative names of tied fields: `(own, target)` means that names equal to `own`, or starting with it, may also start with `target`.
#[derive(Default)]
pub(crate) struct Ties(Vec<(String, String)>);

impl Ties {
    fn add(&mut self, own: String, target: String) {
        self.0.push((own, target));
    }

    /// Whether there are none.
    #[cfg(feature = "grad")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tensors that are not tied, and the tied ones with the index of the tensor that they are tied to, if need be through others.
    pub(crate) fn split<T>(&self, tensors: Vec<T>, name: impl Fn(&T) -> &String) -> (Vec<T>, Vec<(T, usize)>) {
        // (Optimisers do this at each step.)
        if self.0.is_empty() {
            return (tensors, Vec::new());
        }
        let names: HashMap<String, usize> =
            tensors.iter().enumerate().map(|(at, tensor)| (name(tensor).clone(), at)).collect();
        let (mut stored, mut tied, mut places) = (Vec::new(), Vec::new(), HashMap::new());
        let targets: Vec<Option<usize>> = tensors
            .iter()
            .map(|tensor| self.target(name(tensor)).and_then(|target| names.get(&target).copied()))
            .collect();
        let last = |mut at: usize| {
            // (A chain is shorter than the list.)
            for _ in 0..targets.len() {
                let Some(next) = targets[at] else { break };
                at = next;
            }
            at
        };
        for (at, tensor) in tensors.into_iter().enumerate() {
            match targets[at] {
                Some(target) => tied.push((tensor, last(target))),
                None => {
                    places.insert(at, stored.len());
                    stored.push(tensor);
                }
            }
        }
        let tied = tied.into_iter().filter_map(|(tensor, at)| Some((tensor, *places.get(&at)?))).collect();
        (stored, tied)
    }

    /// The names that are tied to others.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(own, _)| &**own)
    }

    /// Renames a name from `from` to `to`, if it starts with `from`.
    fn renamed(name: &str, from: &str, to: &str) -> Option<String> {
        let rest = name.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{to}{rest}"))
    }

    /// The name under which a tied tensor is stored.
    fn target(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|(own, target)| Self::renamed(name, own, target))
    }

    /// The names tied to a name.
    fn tied_to<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        self.0.iter().filter_map(move |(own, target)| Self::renamed(name, target, own))
    }
}
