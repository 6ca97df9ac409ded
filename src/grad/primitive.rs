//! Primitives on a tape: their arguments are kept with their operands, and their derivative is run on the way back.

use super::pull::{Gradients, ways};
use super::record::{self, has_gradients};
use super::rule::Rule;
use super::tape::{Layout, Node, Operand, RESULTS, Tape, Tracked};
use super::taped::Taped;
use crate::composite::primitive::{Back, Dtypes, MOST, On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Backend, Device};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::kernel::Copying;
use crate::storage::View;

/// The storages of a device.
pub type Storage<D> = <D as Backend>::Storage;

/// A result: its layout, its number on the tape, and its elements if the way back reads them.
#[derive(Debug)]
pub struct Kept<B> {
    layout: Layout,
    elements: Option<B>,
}

/// The elements of a storage.
pub struct Seen<'a, D: Device> {
    storage: &'a D::Storage,
    offset: usize,
    sizes: Dims,
    strides: Dims,
}
impl<'a, D: Device> Seen<'a, D> {
    /// All elements of a storage.
    fn fresh(storage: &'a D::Storage, Layout { sizes, strides, .. }: Layout) -> Option<Self> {
        Some(Seen { storage, offset: 0, sizes, strides })
    }
    pub(crate) fn erased<E: Element>(self) -> Erased<'a, E, D> {
        Erased::borrowed(self.storage, self.offset, self.sizes, self.strides)
    }
}

/// A gradient.
pub struct Given<D: Device> {
    storage: D::Storage,
    offset: usize,
    layout: Layout,
    add: Adding<D::Storage>,
}
/// Adds the elements of a storage to the gradient of an operand.
pub(super) type Adding<B> = fn(&mut Gradients<B>, &Operand<B>, B, usize, Layout) -> Result<()>;
impl<D: Device> Given<D> {
    pub(crate) fn of<E: Element>(x: Owned<E, D>) -> Self {
        let (storage, offset, sizes, strides) = x.into_parts();
        Given { storage, offset, layout: Layout::of::<E>(&sizes, &strides), add: Gradients::add_storage::<E, D> }
    }
}

/// The same elements in a storage of another device.
pub(crate) fn moved<'a, E: Element, D: Device, F: Device>(
    x: &'a Erased<'_, E, D>,
    to: &mut dyn FnMut(&'a D::Storage) -> &'a F::Storage,
) -> Erased<'a, E, F> {
    let view = x.view();
    Erased::of(View::new(to(view.buffer), view.offset, view.sizes, view.strides))
}
/// An operand as a tape keeps it.
pub(crate) fn operand<E: Element, D: Device>(x: &Erased<'_, E, Taped<D>>, reads: bool) -> Result<Operand<D::Storage>> {
    record::operand::<E, D>(&x.view(), reads)
}
/// A result put on a tape.
pub(crate) fn tracked<E: Element, D: Device>(
    y: Owned<E, D>,
    reads: bool,
    track: &mut dyn FnMut(Storage<D>, Kept<D::Storage>) -> Tracked<D::Storage>,
) -> Result<Owned<E, Taped<D>>> {
    let (sizes, strides) = (Dims::known(y.sizes()), Dims::known(y.strides()));
    let storage = match y.into_whole() {
        Ok(storage) => storage,
        Err(y) => D::map1::<E, E>(Copying, y.view(), &strides)?,
    };
    let elements = reads.then(|| D::share(View::<_, E>::new(&storage, 0, &sizes, &strides)).0);
    let kept = Kept { layout: Layout::of::<E>(&sizes, &strides), elements };
    Ok(Erased::fresh(track(storage, kept), sizes, strides))
}

/// A primitive that was run.
struct Recorded<P, D: Device> {
    primitive: P,
    operands: Vec<Operand<D::Storage>>,
    results: Vec<Kept<D::Storage>>,
}

/// A recorded primitive of any kind.
pub trait WayBack<B>: Send {
    /// The name of the operation.
    fn op(&self) -> &'static str;
    /// The layout of the first result.
    fn layout(&self) -> &Layout;
    /// Each operand.
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<B>));
    /// Whether it has handles to results.
    fn keeps_results(&self) -> bool;
    /// The elements of each result that is kept, with its number.
    fn each_result(&mut self, _see: &mut dyn FnMut(usize, &mut B)) {}
    /// Gives the gradients of the operands, from those of the results.
    fn pull(&self, given: [Option<B>; RESULTS], gradients: &mut Gradients<B>) -> Result<()>;
}
impl<B> core::fmt::Debug for dyn WayBack<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.op())
    }
}

impl<P: Primitive, D: Device> WayBack<D::Storage> for Recorded<P, D> {
    fn op(&self) -> &'static str {
        self.primitive.op()
    }
    fn layout(&self) -> &Layout {
        &self.results[0].layout
    }
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<D::Storage>)) {
        self.operands.iter_mut().for_each(see);
    }
    fn keeps_results(&self) -> bool {
        self.results.iter().any(|result| result.elements.is_some())
    }
    fn each_result(&mut self, see: &mut dyn FnMut(usize, &mut D::Storage)) {
        for (at, result) in self.results.iter_mut().enumerate() {
            result.elements.iter_mut().for_each(|elements| see(at, elements));
        }
    }
    fn pull(&self, back: [Option<D::Storage>; RESULTS], gradients: &mut Gradients<D::Storage>) -> Result<()> {
        let Recorded { primitive, operands, results } = self;
        if back.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut sizes = [Dims::known(&[]); MOST];
        let mut wants = [false; MOST];
        for (at, operand) in operands.iter().enumerate() {
            (sizes[at], wants[at]) = (operand.sizes(), operand.node.is_some());
        }
        let found = {
            let x = P::Operands::seen::<D>(&mut |at| {
                let kept = operands[at].kept.as_ref()?;
                let Layout { sizes, strides, .. } = operands[at].layout.open();
                Some(Seen { storage: &kept.storage, offset: kept.offset, sizes, strides })
            });
            let y = P::Results::seen::<D>(&mut |at| Seen::fresh(results[at].elements.as_ref()?, results[at].layout));
            let g = P::Results::seen::<D>(&mut |at| Seen::fresh(back[at].as_ref()?, results[at].layout));
            primitive.pull::<D>(Back { x, y, g, sizes, wants })?
        };
        P::Operands::given::<D>(found, &mut |at, given| {
            let to = &operands[at];
            if to.node.is_none() {
                return Ok(());
            }
            let Given { storage, offset, layout, add } = given;
            if layout.sizes != to.sizes() {
                let reason = format!("a gradient has sizes {:?}, its operand {:?}", layout.sizes, to.sizes());
                return invalid(primitive.op(), reason);
            }
            add(gradients, to, storage, offset, layout)
        })
    }
}

/// Runs a primitive on the device inside, and records it.
pub(crate) fn record<P: Primitive, D: Device>(
    primitive: &P,
    x: &On<'_, P::Operands, Taped<D>>,
    tape: Option<Tape>,
) -> Result<On<'static, P::Results, Taped<D>>> {
    let y = D::primitive(primitive, P::Operands::moved::<Taped<D>, D>(x, &mut |storage| &storage.inner))?;
    let Some(tape) = tape else {
        return P::Results::tracked::<D>(y, 0, &mut |storage, _| Tracked::constant(storage));
    };
    let [reads, reads_results] = P::READS;
    let step = tape.begin(primitive.op())?;
    let (mut results, mut extents) = (Vec::with_capacity(2), [None; RESULTS]);
    let y = P::Results::tracked::<D>(y, reads_results, &mut |storage, kept| {
        let result = results.len();
        let has = has_gradients(kept.layout.dtype);
        extents[result] = has.then(|| kept.layout.extent());
        results.push(kept);
        if has { Tracked::of(storage, Node { step: step.clone(), result }) } else { Tracked::constant(storage) }
    })?;
    let operands = P::Operands::operands::<D>(x, reads)?;
    let way_back = Recorded::<P, D> { primitive: primitive.clone(), operands, results };
    step.fill(extents, Rule::Primitive(Box::new(way_back)), ways::of_primitive::<D>);
    Ok(y)
}
