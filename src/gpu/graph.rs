//! CUDA graphs: what a closure begins on a GPU, recorded once and replayed with other inputs.

use crate::cuda::recording::{self, Graph as Recorded};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::{Backend, Cuda};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::shape::Shape;
use crate::storage::ViewMut;
use crate::tensor::Tensor;

mod sealed {
    pub trait GraphTensors {}
}

/// What goes into a [`Graph`] and comes out of it: tensors of a GPU, and tuples, arrays and lists of them.
pub trait GraphTensors: sealed::GraphTensors + Sized {
    #[doc(hidden)]
    fn each(&self, see: &mut dyn FnMut(&CudaBuffer));
    /// Copies in memory of their own.
    #[doc(hidden)]
    fn copied(&self) -> Result<Self>;
    /// Writes the elements of others where these are, whoever shares them.
    #[doc(hidden)]
    fn overwrite(&mut self, with: &Self) -> Result<()>;
}

impl<E: Element, S: Shape, const N: usize> sealed::GraphTensors for Tensor<E, S, Cuda<N>> {}
impl<E: Element, S: Shape, const N: usize> GraphTensors for Tensor<E, S, Cuda<N>> {
    fn each(&self, see: &mut dyn FnMut(&CudaBuffer)) {
        see(self.storage());
    }
    fn copied(&self) -> Result<Self> {
        let strides = strides::preserved(&self.shape(), &self.stride());
        let copy = Cuda::<N>::map1::<E, E>(Copying, self.elements(), strides.as_ref())?;
        Ok(Tensor::from_parts(copy, 0, self.shape(), strides))
    }
    fn overwrite(&mut self, with: &Self) -> Result<()> {
        let (sizes, strides, offset) = (self.shape(), self.stride(), self.storage_offset());
        if sizes.as_ref() != with.shape().as_ref() {
            let reason = format!("an input has sizes {:?}, and the graph was recorded for {sizes:?}", with.shape());
            return invalid("replay", reason);
        }
        let out = ViewMut::<_, E>::new(&mut self.parts.storage, offset, sizes.as_ref(), strides.as_ref());
        Cuda::<N>::map1_into::<E, E>(Copying, with.elements(), out)
    }
}

macro_rules! tuples {
    ($($name:ident $at:tt),*) => {
        impl<$($name: GraphTensors),*> sealed::GraphTensors for ($($name,)*) {}
        impl<$($name: GraphTensors),*> GraphTensors for ($($name,)*) {
            fn each(&self, _see: &mut dyn FnMut(&CudaBuffer)) {
                $(self.$at.each(_see);)*
            }
            fn copied(&self) -> Result<Self> {
                Ok(($(self.$at.copied()?,)*))
            }
            fn overwrite(&mut self, _with: &Self) -> Result<()> {
                $(self.$at.overwrite(&_with.$at)?;)*
                Ok(())
            }
        }
    };
}
tuples! {}
tuples! { A 0 }
tuples! { A 0, B 1 }
tuples! { A 0, B 1, C 2 }
tuples! { A 0, B 1, C 2, D 3 }
tuples! { A 0, B 1, C 2, D 3, E 4 }
tuples! { A 0, B 1, C 2, D 3, E 4, F 5 }

impl<T: GraphTensors> sealed::GraphTensors for Vec<T> {}
impl<T: GraphTensors> GraphTensors for Vec<T> {
    fn each(&self, see: &mut dyn FnMut(&CudaBuffer)) {
        self.iter().for_each(|tensor| tensor.each(see));
    }
    fn copied(&self) -> Result<Self> {
        crate::error::collected(self.iter().map(T::copied))
    }
    fn overwrite(&mut self, with: &Self) -> Result<()> {
        if self.len() != with.len() {
            let reason = format!("there are {} inputs, and the graph was recorded for {}", with.len(), self.len());
            return invalid("replay", reason);
        }
        self.iter_mut().zip(with).try_for_each(|(own, with)| own.overwrite(with))
    }
}

/// Work of a GPU that was recorded by [`capture`], with the closure that began it.
///
/// It keeps the memory of everything that the work uses; memory of its temporaries is not given back while it exists.
pub struct Graph<I, O, F> {
    graph: Recorded,
    inputs: I,
    outputs: O,
    /// What it borrows and owns exists as long as the graph.
    _closure: F,
}

impl<I, O, F> core::fmt::Debug for Graph<I, O, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}

/// Records what a closure begins on a GPU (`torch.cuda.graph`), to be replayed with other inputs of the same shapes. A replay is one call of
/// the driver in place of one for each kernel: for steps of many small kernels, which the host begins more slowly than the GPU runs them.
///
/// ```
/// use castiron::{Cuda, Tensor, gpu, shape, tensor};
/// # fn main() -> castiron::Result<()> {
/// # if tensor![1.0].cuda().is_err() { return Ok(()) }
/// let weight: Tensor<f32, shape![2, 2], Cuda<0>> = tensor![[1.0, 2.0], [3.0, 4.0]].cuda()?;
/// let x: Tensor<f32, shape![2], Cuda<0>> = tensor![1.0, 0.0].cuda()?;
/// let mut layer = gpu::capture(&x, |x| Ok(weight.matmul(x).relu()))?;
/// let y = layer.replay(&tensor![0.0, -1.0].cuda()?)?;
/// assert_eq!(y.cpu()?.to_vec(), [0.0, 0.0]);
/// let y = layer.replay(&tensor![0.0, 1.0].cuda()?)?;
/// assert_eq!(y.cpu()?.to_vec(), [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// The closure is called twice, with copies of `example`: once as any other, which compiles kernels, and once to be recorded, when nothing runs on the
/// GPU. What it does on the host, such as choosing by a number, is done then and not again; numbers of the host are constants of the graph.
///
/// Tensors that it has from outside are not copied. The graph borrows or owns them with the closure, keeps their memory, and reads the elements that are
/// there when it is replayed. Where the closure writes them in place, each replay does: `|x| { total += x; Ok(…) }` sums up what it is given, beginning with `example`.
///
/// Other threads use the device meanwhile, and are not recorded.
///
/// # Errors
/// Those of the closure. What a graph can't replay is an error of the operation, with its name, and a panic at the caller's line where its form is the plain one:
/// elements that are read on the host (`item`, `to_vec`, `nonzero`, and scattering, which looks at its indices first), copies from the host, random numbers, work on another device, other crates' streams. A tensor that was
/// made in the closure and kept outside of it, other than as its result, is an error: each replay would overwrite it.
pub fn capture<I, O, F>(example: &I, mut closure: F) -> Result<Graph<I, O, F>>
where
    I: GraphTensors,
    O: GraphTensors,
    F: FnMut(&I) -> Result<O>,
{
    const OP: &str = "capture";
    recording::expect_off(OP, "another is recorded in it")?;
    let inputs = example.copied()?;
    let first = closure(&inputs)?;
    let mut device: Option<&'static CudaDevice> = None;
    let mut see = |buffer: &CudaBuffer| device = device.or(Some(buffer.device()));
    inputs.each(&mut see);
    first.each(&mut see);
    drop(first);
    let Some(device) = device else {
        return invalid(OP, "neither inputs nor results have a tensor of a GPU".to_owned());
    };
    let (outputs, graph) = Recorded::record(OP, device, || closure(&inputs))?;
    // Memory that a replay writes, and whether all of its handles are those of inputs and results.
    let mut written: Vec<u64> = graph.held().collect();
    inputs.each(&mut |buffer| written.push(buffer.handles().1));
    let mut known: Vec<(u64, usize, usize)> = Vec::new();
    let mut see = |buffer: &CudaBuffer| {
        let (handles, address) = buffer.handles();
        match known.iter_mut().find(|(at, ..)| *at == address) {
            Some((_, count, _)) => *count += 1,
            None => known.push((address, 1, handles)),
        }
    };
    inputs.each(&mut see);
    outputs.each(&mut see);
    let is_known = |address: &u64| known.iter().any(|&(at, count, handles)| at == *address && count == handles);
    // (What has no elements has no memory.)
    let is_kept = written.iter().any(|address| *address != 0 && !is_known(address));
    if is_kept {
        return invalid(
            OP,
            "a tensor that was made in the closure is kept outside of it, where each replay would overwrite it: return it from the closure"
                .to_owned(),
        );
    }
    Ok(Graph { graph, inputs, outputs, _closure: closure })
}

impl<I: GraphTensors, O: GraphTensors, F> Graph<I, O, F> {
    /// Replays the work with other inputs, which are copied to where the recorded ones were; the results are copies, too. It waits for the work if
    /// that gathers by indices (`gather`, `embedding`, `cross_entropy`), to see whether they are in range.
    ///
    /// # Errors
    /// If an input has other sizes than the recorded one, an index is out of range, memory runs out, or the device was lost.
    pub fn replay(&mut self, inputs: &I) -> Result<O> {
        recording::expect_off("replay", "another graph is replayed in it")?;
        self.inputs.overwrite(inputs)?;
        self.graph.launch("replay")?;
        self.outputs.copied()
    }
}
