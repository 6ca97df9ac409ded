//! Convolutions: for the operand a convolution of the gradient with the turned weight, for the weight products with the patches of the
//! windows. Both are made of calls that have derivatives themselves.

use super::ways::by_class_type;
use super::{Gradients, OP, elements, gradient, in_class};
use crate::composite::{Axis, Erased, Owned};
use crate::cpu::conv::depthwise_back::{self, Depthwise};
use crate::cpu::conv::weight_back::{self, Patches};
use crate::cpu::norm_back::Real;
use crate::device::{Backend, Device};
use crate::dtype::{DType, Dtype, Element, MachineFloat};
use crate::error::{Error, Result, collected, listed};
use crate::grad::primitive::WayBack;
use crate::grad::tape::{Layout, Operand, RESULTS};
use crate::layout::dims::Dims;
use crate::layout::strides::{is_contiguous, is_dense};
use crate::ops;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Applying, Combining, Copying};
use crate::ops::reduce::Sum;
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::shape::numel;
use crate::storage::{HostBuffer, View, ViewMut};

/// Maximum patch elements at a time: on the host few enough for the cache.
const fn most<D: Device>() -> usize {
    if cfg!(debug_assertions) {
        1 << 9
    } else if D::IS_ELSEWHERE {
        1 << 26
    } else {
        1 << 21
    }
}

/// How gradients come back through a convolution.
pub type PullConvolution<D> = fn(&Convolving<D>, Storage<D>, &mut Gradients<Storage<D>>) -> Result<()>;
type Storage<D> = <D as Backend>::Storage;

/// A recorded convolution of `(N, C, D, H, W)`.
pub struct Convolving<D: Device> {
    pub(in crate::grad) convolution: Convolution,
    /// The operand, the weight, and the bias if there is one.
    pub(in crate::grad) operands: Vec<Operand<D::Storage>>,
    pub(in crate::grad) layout: Layout,
    pub(in crate::grad) pull: PullConvolution<D>,
}
impl<D: Device> WayBack<D::Storage> for Convolving<D> {
    fn op(&self) -> &'static str {
        "convolution"
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<D::Storage>)) {
        self.operands.iter_mut().for_each(see);
    }
    fn keeps_results(&self) -> bool {
        false
    }
    fn pull(&self, [g, ..]: [Option<D::Storage>; RESULTS], gradients: &mut Gradients<D::Storage>) -> Result<()> {
        g.map_or(Ok(()), |g| (self.pull)(self, g, gradients))
    }
}

/// How gradients come back through a convolution of elements `O`.
pub(in crate::grad) fn of_convolution<O: Element, D: Device>(dtype: DType) -> PullConvolution<D> {
    fn none<D: Device>(of: &Convolving<D>, _: Storage<D>, _: &mut Gradients<Storage<D>>) -> Result<()> {
        super::no_gradient(of.layout.dtype)
    }
    by_class_type!(const O::DTYPE, D, dtype, E => D::convolution::<E>(), none::<D>)
}
/// The same in the dtype `E`.
pub(super) fn pull<E: Dtype, D: Device>(
    of: &Convolving<D>,
    g: Storage<D>,
    gradients: &mut Gradients<Storage<D>>,
) -> Result<()> {
    let g = in_class::<E, D>(g, &of.layout)?;
    of.pull_as::<E>(&gradient::<E, D>(&g, &of.layout), gradients)
}
/// The same on the host, compiled here.
#[cfg(feature = "precompiled")]
pub(super) fn on_host<E: Dtype>() -> PullConvolution<crate::Cpu> {
    type On = Storage<crate::Cpu>;
    fn single(of: &Convolving<crate::Cpu>, g: On, gradients: &mut Gradients<On>) -> Result<()> {
        pull::<f32, crate::Cpu>(of, g, gradients)
    }
    fn double(of: &Convolving<crate::Cpu>, g: On, gradients: &mut Gradients<On>) -> Result<()> {
        pull::<f64, crate::Cpu>(of, g, gradients)
    }
    fn complex(of: &Convolving<crate::Cpu>, g: On, gradients: &mut Gradients<On>) -> Result<()> {
        pull::<crate::Complex<f64>, crate::Cpu>(of, g, gradients)
    }
    match E::DTYPE {
        DType::F32 => single,
        DType::F64 => double,
        _ => complex,
    }
}

impl<D: Device> Convolving<D> {
    fn pull_as<E: Dtype>(&self, g: &Erased<'_, E, D>, gradients: &mut Gradients<D::Storage>) -> Result<()> {
        let wants = |operand: &Operand<D::Storage>| operand.node.is_some() && !operand.sizes().contains(&0);
        let (x, weight) = (&self.operands[0], &self.operands[1]);
        if g.is_empty() {
            return Ok(());
        }
        if let Some(bias) = self.operands.get(2).filter(|bias| wants(bias)) {
            gradients.add::<E, D>(bias, g.reduce(Sum, 0b11101, false)?.retyped::<E>())?;
        }
        // Both read the gradients of a place's channels side by side, if each channel is alone.
        let last;
        let g = if self.is_by_channel() && D::host_buffer(g.storage()).is_some() {
            last = in_last(g)?;
            &last
        } else {
            g
        };
        if wants(x) {
            gradients.add::<E, D>(x, self.by_operand(g, &elements::<E, D>(weight)?)?)?;
        }
        if wants(weight) {
            gradients.add::<E, D>(weight, self.by_weight(g, &elements::<E, D>(x)?)?)?;
        }
        Ok(())
    }

    /// The gradient of the operand. With strides its positions are of several kinds by their remainder: those of a kind meet the same
    /// positions of the weight, and are a convolution with stride 1.
    fn by_operand<E: Dtype>(&self, g: &Erased<'_, E, D>, weight: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let Convolution { windows, groups } = &self.convolution;
        let Layout { sizes, strides, .. } = self.operands[0].layout.open();
        let strides = if is_dense(&sizes, &strides) { strides } else { sizes.row_major() };
        let places: usize = g.sizes()[2..].iter().product();
        if 2 * sizes[0] * places * groups <= weight.sizes()[0] {
            return self.by_patches(g, weight);
        }
        let turned = turned(weight, *groups)?;
        // (Where the stride is larger than the size, each position is a kind.)
        let kinds: [usize; 3] = core::array::from_fn(|axis| windows[axis].stride.min(sizes[axis + 2]));
        if kinds == [1; 3] {
            let part = self.kind(g, &turned, [0; 3], &sizes, &strides)?;
            if let Some(part) = part {
                return Ok(Erased::fresh(part, sizes, strides));
            }
        }
        let mut all = D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?;
        for number in 0..kinds.iter().product() {
            let first = [number / kinds[2] / kinds[1], number / kinds[2] % kinds[1], number % kinds[2]];
            let (mut of, mut steps, mut offset) = (sizes, strides, 0);
            for axis in 0..3 {
                of[axis + 2] = sizes[axis + 2].saturating_sub(first[axis]).div_ceil(kinds[axis]);
                steps[axis + 2] *= kinds[axis];
                offset += first[axis] * strides[axis + 2];
            }
            if of.contains(&0) {
                continue;
            }
            let own = if strides[1] == 1 { channels_last(&of) } else { of.row_major() };
            if let Some(part) = self.kind(g, &turned, first, &of, &own)? {
                let out = ViewMut::new(&mut all, offset, &of, &steps);
                D::map1_into::<E, E>(Copying, View::new(&part, 0, &of, &own), out)?;
            }
        }
        Ok(Erased::fresh(all, sizes, strides))
    }

    /// The same for few places, where turning the weight would take longer than the products: the gradients of the patches, added up.
    fn by_patches<E: Dtype>(&self, g: &Erased<'_, E, D>, weight: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let Convolution { windows, groups } = &self.convolution;
        let sizes = self.operands[0].sizes();
        let conjugated = conjugated(weight)?;
        let weight = conjugated.as_ref().unwrap_or(weight);
        let [d, h, w] = windows.map(|window| window.kernel);
        let (outputs, patch) = (weight.sizes()[0] / groups, weight.sizes()[1] * d * h * w);
        let weight = weight.reshape(OP, &[*groups, outputs, patch])?;
        let places: usize = g.sizes()[2..].iter().product();
        let rows = g.permute(OP, &[1, 0, 2, 3, 4])?;
        let rows = rows.reshape(OP, &[*groups, outputs, sizes[0] * places])?;
        // (C, positions, N, places)
        let patches = D::matmul::<E>(weight.permute(OP, &[0, 2, 1])?.view(), rows.view(), None)?;
        let mut from = g.dims().row_major();
        (from[0], from[1]) = (places, d * h * w * sizes[0] * places);
        let padded = padded(&self.convolution, sizes)?;
        let to = padded.row_major();
        let mut all = D::zeroed::<E>(Some(g.storage()), padded.iter().product())?;
        let (mut of, mut steps) = (g.dims(), to);
        of[1] = sizes[1];
        scaled(&mut steps, windows);
        for number in 0..d * h * w {
            let at = [number / w / h, number / w % h, number % w];
            let shift = (0..3).map(|axis| at[axis] * windows[axis].dilation * to[axis + 2]).sum();
            let patch = View::new(&patches, number * sizes[0] * places, &of, &from);
            let out = ViewMut::new(&mut all, shift, &of, &steps);
            D::update2::<E, E>(Combining::<ops::add, E>::new(), patch, out)?;
        }
        let inside = (0..3).map(|axis| windows[axis].before * to[axis + 2]).sum();
        Ok(Erased::<E, D>::of(View::new(&all, inside, &sizes, &to)).share())
    }

    /// The gradient of the operand's positions `first`, `first + stride` and so on; `None` if it is zero.
    fn kind<E: Dtype>(
        &self,
        g: &Erased<'_, E, D>,
        turned: &Erased<'_, E, D>,
        first: [usize; 3],
        sizes: &Dims,
        strides: &Dims,
    ) -> Result<Option<D::Storage>> {
        let Convolution { windows, groups } = &self.convolution;
        let (mut seen, mut seen_at) = (g.dims(), g.view().offset);
        let (mut taps, mut steps, mut taps_at) = (turned.dims(), Dims::known(turned.strides()), turned.view().offset);
        let mut moved = [Window::POINT; 3];
        for (axis, window) in windows.iter().enumerate() {
            let at = axis + 2;
            let Some(kind) = Kind::of(window, first[axis], sizes[at], g.sizes()[at]) else { return Ok(None) };
            seen[at] = kind.seen.len();
            seen_at += kind.seen.start * g.strides()[at];
            taps_at += kind.first_tap * steps[at];
            taps[at] = kind.window.kernel;
            steps[at] *= kind.tap_step;
            moved[axis] = kind.window;
        }
        let convolution = Convolution { windows: moved, groups: *groups };
        let x = View::new(g.storage(), seen_at, &seen, g.strides());
        let weight = View::new(turned.storage(), taps_at, &taps, &steps);
        D::convolve::<E>(&convolution, x, weight, None, sizes, strides).map(Some)
    }

    /// Whether each channel is convolved alone.
    fn is_by_channel(&self) -> bool {
        let (groups, weight) = (self.convolution.groups, self.operands[1].sizes());
        groups > 1 && weight[0] == groups && weight[1] == 1
    }

    /// The gradient of the weight: the gradient of the result times the patches that the windows saw.
    fn by_weight<E: Dtype>(&self, g: &Erased<'_, E, D>, x: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let Convolution { windows, groups } = &self.convolution;
        let sizes = self.operands[1].sizes();
        let conjugated = conjugated(x)?;
        let x = conjugated.as_ref().unwrap_or(x);
        // Padded, in the order of its memory.
        let is_last = x.strides()[1] == 1 && x.sizes()[1] > 1 && *groups == 1 || self.is_by_channel();
        let order = if is_last { [0, 2, 3, 4, 1] } else { [0, 1, 2, 3, 4] };
        let around = if windows.iter().all(|window| (window.before, window.after) == (0, 0)) {
            None
        } else {
            let ordered = x.permute(OP, &order)?;
            let mut axes: Vec<_> = ordered.sizes().iter().map(|&size| vec![Segment::whole(size)]).collect();
            for (axis, window) in windows.iter().enumerate() {
                let at = if is_last { axis + 1 } else { axis + 2 };
                axes[at].insert(0, Segment::Fill { len: window.before });
                axes[at].push(Segment::Fill { len: window.after });
            }
            let of = padded(&self.convolution, x.dims())?;
            let storage = D::pick::<E>(ordered.view(), &axes, E::default())?;
            Some(Owned::<E, D>::fresh(storage, of, if is_last { channels_last(&of) } else { of.row_major() }))
        };
        let x = around.as_ref().unwrap_or(x);
        if self.is_by_channel() {
            return self.by_channel_weight(g, x);
        }
        let images = g.sizes()[0];
        let (outputs, inputs) = (sizes[0] / groups, sizes[1]);
        let places: usize = g.sizes()[2..].iter().product();
        let window: usize = sizes[2..].iter().product();
        // With fewer places than results, patches are written in the order of the weight: otherwise the gradient would be, which is larger.
        let is_row_major = is_contiguous(&sizes, &self.operands[1].strides());
        let orders = is_last && is_row_major && window > 1 && images.saturating_mul(places) < outputs;
        if is_last
            && !orders
            && let Some(found) = self.by_patches_on_host(g, x)?
        {
            return Ok(found);
        }
        let patch = x.sizes()[1].saturating_mul(window);
        // About as many as that each time, and none left over: each time the sum so far is copied and added to.
        let all = images.saturating_mul(places).saturating_mul(patch);
        let times = (all / (most::<D>() / 2)).div_ceil(2).clamp(1, images);
        let several = images.div_ceil(times);
        let one = E::from_i32(1).to_compute();
        let mut sum: Option<D::Storage> = None;
        for first in (0..images).step_by(several) {
            let count = several.min(images - first);
            let rows = count * places;
            // The axes of the patches: images, places, positions, channels.
            let of_images = (count, x.strides()[0]);
            let of_channels = (x.sizes()[1], x.strides()[1]);
            let place = |axis: usize| (g.sizes()[axis + 2], x.strides()[axis + 2].saturating_mul(windows[axis].stride));
            let position =
                |axis: usize| (windows[axis].kernel, x.strides()[axis + 2].saturating_mul(windows[axis].dilation));
            let axes = if orders {
                [of_images, place(0), place(1), place(2), of_channels, position(0), position(1), position(2)]
            } else if is_last {
                [of_images, place(0), place(1), place(2), position(0), position(1), position(2), of_channels]
            } else {
                [of_channels, position(0), position(1), position(2), of_images, place(0), place(1), place(2)]
            };
            let (of, steps) = (axes.map(|axis| axis.0), axes.map(|axis| axis.1));
            let offset = x.view().offset + first * of_images.1;
            let patches = Erased::<E, D>::of(View::new(x.storage(), offset, &of, &steps));
            let of = if is_last { [1, rows, patch] } else { [*groups, inputs * window, rows] };
            let patches = patches.reshape(OP, &of)?;
            let patches = patches.permute(OP, if is_last { &[0, 1, 2] } else { &[0, 2, 1] })?;
            let g = g.narrow(OP, Axis(0), first, count)?;
            let g = g.permute(OP, &[1, 0, 2, 3, 4])?;
            let g = g.reshape(OP, &[*groups, outputs, rows])?;
            let (all, steps) = ([*groups, outputs, inputs * window], [outputs * inputs * window, inputs * window, 1]);
            let added =
                sum.as_ref().map(|sum| Added { input: Some(View::new(sum, 0, &all, &steps)), beta: one, alpha: one });
            sum = Some(D::matmul::<E>(g.view(), patches.view(), added)?);
        }
        let Some(sum) = sum else {
            return Ok(Erased::dense(D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?, sizes));
        };
        Ok(Erased::fresh(sum, sizes, if is_last && !orders { channels_last(&sizes) } else { sizes.row_major() }))
    }

    /// The same where each channel is its own group: a sum of products for each position of the window.
    fn by_channel_weight<E: Dtype>(&self, g: &Erased<'_, E, D>, x: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let windows = &self.convolution.windows;
        let sizes = self.operands[1].sizes();
        if let Some(found) = self.by_channel_on_host(g, x)? {
            return Ok(found);
        }
        let mut steps = Dims::known(x.strides());
        scaled(&mut steps, windows);
        let [d, h, w] = windows.map(|window| window.kernel);
        let pieces = collected((0..d * h * w).map(|number| {
            let at = [number / w / h, number / w % h, number % w];
            let shift: usize = (0..3).map(|axis| at[axis] * windows[axis].dilation * x.strides()[axis + 2]).sum();
            let seen = Erased::<E, D>::of(View::new(x.storage(), x.view().offset + shift, g.sizes(), &steps));
            let sum = g.reduce_pairs::<E, E, _>(OP, Sum, Combining::<ops::mul, E>::new(), &seen, 0b11101)?;
            Ok(sum.retyped::<E>())
        }))?;
        let channels = sizes[0];
        let (one, steps) = ([1, channels], [channels, 1]);
        let views = listed(pieces.iter().map(|piece| piece.view().restrided(&one, &steps)))?;
        let all = D::join::<E>(&views, 0, &[pieces.len(), channels], &steps)?;
        Ok(Erased::fresh(all, sizes, Dims::known(&[1, 1, h * w * channels, w * channels, channels])))
    }
}

impl<D: Device> Convolving<D> {
    /// The same in one pass over memory of the host.
    fn by_channel_on_host<E: Dtype>(&self, g: &Erased<'_, E, D>, x: &Erased<'_, E, D>) -> Result<Option<Owned<E, D>>> {
        if D::host_buffer(g.storage()).is_none() || D::host_buffer(x.storage()).is_none() {
            return Ok(None);
        }
        let (x, g) = (in_last(x)?, in_last(g)?);
        let found = if const { matches!(E::DTYPE, DType::F32) } {
            self.by_channel_of::<f32>(&g.known_as(), &x.known_as())?
        } else if const { matches!(E::DTYPE, DType::F64) } {
            self.by_channel_of::<f64>(&g.known_as(), &x.known_as())?
        } else {
            None
        };
        let sizes = self.operands[1].sizes();
        let [_, height, width] = self.convolution.windows.map(|window| window.kernel);
        let channels = sizes[0];
        let strides = [1, 1, height * width * channels, width * channels, channels];
        found.map(|found| Erased::of_host(found, sizes, Dims::known(&strides))).transpose()
    }
    /// The gradient of the weight without writing the patches out.
    fn by_patches_on_host<E: Dtype>(&self, g: &Erased<'_, E, D>, x: &Erased<'_, E, D>) -> Result<Option<Owned<E, D>>> {
        if D::host_buffer(g.storage()).is_none() || D::host_buffer(x.storage()).is_none() {
            return Ok(None);
        }
        let (x, g) = (in_last(x)?, in_last(g)?);
        let found = if const { matches!(E::DTYPE, DType::F32) } {
            self.by_patches_of::<f32>(&g.known_as(), &x.known_as())?
        } else if const { matches!(E::DTYPE, DType::F64) } {
            self.by_patches_of::<f64>(&g.known_as(), &x.known_as())?
        } else {
            None
        };
        let sizes = self.operands[1].sizes();
        found.map(|found| Erased::of_host(found, sizes, channels_last(&sizes))).transpose()
    }
    fn by_patches_of<T: MachineFloat + Dtype>(
        &self,
        g: &Erased<'_, T, D>,
        x: &Erased<'_, T, D>,
    ) -> Result<Option<HostBuffer>> {
        let (Some(elements), Some(gradients)) = (x.on_host(), g.on_host()) else { return Ok(None) };
        let three = |of: &[usize]| [of[2], of[3], of[4]];
        let (&[images, inputs, ..], &[_, outputs, ..]) = (x.sizes(), g.sizes()) else { return Ok(None) };
        weight_back::weight(Patches {
            x: elements,
            g: gradients,
            windows: self.convolution.windows,
            images,
            sizes: three(x.sizes()),
            places: three(g.sizes()),
            inputs,
            outputs,
        })
    }
    fn by_channel_of<T: Real + Dtype>(&self, g: &Erased<'_, T, D>, x: &Erased<'_, T, D>) -> Result<Option<HostBuffer>> {
        let (Some(elements), Some(gradients)) = (x.on_host(), g.on_host()) else { return Ok(None) };
        let three = |of: &[usize]| [of[2], of[3], of[4]];
        let (sizes, places) = (three(x.sizes()), three(g.sizes()));
        let (windows, channels) = (self.convolution.windows, x.sizes()[1]);
        depthwise_back::weight(Depthwise { x: elements, g: gradients, windows, sizes, places, channels }).map(Some)
    }
}

/// From window to window. (Where there is one, its stride may be anything.)
fn scaled(steps: &mut Dims, windows: &[Window; 3]) {
    windows.iter().zip(&mut steps[2..]).for_each(|(window, step)| *step = step.saturating_mul(window.stride));
}

/// The sizes of an operand with its padding.
fn padded(convolution: &Convolution, mut sizes: Dims) -> Result<Dims> {
    let fits = convolution.windows.iter().zip(&mut sizes[2..]).all(|(window, size)| {
        let sum = size.checked_add(window.before).and_then(|sum| sum.checked_add(window.after));
        *size = sum.unwrap_or(0);
        sum.is_some()
    });
    match numel(&sizes) {
        Some(_) if fits => Ok(sizes),
        _ => Err(Error::TooLarge { op: OP, sizes: (&*sizes).into() }),
    }
}

/// With the channels last.
fn in_last<'a, E: Dtype, D: Device>(x: &'a Erased<'_, E, D>) -> Result<Erased<'a, E, D>> {
    let strides = channels_last(&x.dims());
    let fits = (0..5).all(|axis| x.sizes()[axis] == 1 || x.strides()[axis] == strides[axis]);
    if fits {
        return Ok(Erased::borrowed(x.storage(), x.view().offset, x.dims(), strides));
    }
    Ok(Erased::fresh(D::map1::<E, E>(Copying, x.view(), &strides)?, x.dims(), strides))
}

/// Complex numbers conjugated; `None` of real numbers.
fn conjugated<E: Dtype, D: Device>(x: &Erased<'_, E, D>) -> Result<Option<Owned<E, D>>> {
    if const { E::DTYPE.is_complex() } { x.map1::<E>(OP, Applying::<ops::conj>::new()).map(Some) } else { Ok(None) }
}

/// The strides of these sizes with the second axis innermost.
fn channels_last(sizes: &Dims) -> Dims {
    let mut strides = *sizes;
    strides[1] = 1;
    let mut step = sizes[1];
    for axis in [4, 3, 2, 0] {
        strides[axis] = step;
        step *= sizes[axis];
    }
    strides
}

/// The weight `(O, C / groups, …)` as `(C, O / groups, …)` with the windows turned round; conjugated.
fn turned<E: Dtype, D: Device>(weight: &Erased<'_, E, D>, groups: usize) -> Result<Owned<E, D>> {
    let sizes = weight.dims();
    // The window as one axis: short runs are turned round in registers.
    let window = sizes[2..].iter().product();
    let weight = weight.reshape(OP, &[sizes[0], sizes[1], window])?;
    let last = Segment::Backward { start: window - 1, len: window };
    let axes = [Segment::whole(sizes[0]), Segment::whole(sizes[1]), last].map(|segment| vec![segment]);
    let mut picked = D::pick::<E>(weight.view(), &axes, E::default())?;
    let own = sizes.row_major();
    if const { E::DTYPE.is_complex() } {
        picked = D::map1::<E, E>(Applying::<ops::conj>::new(), View::new(&picked, 0, &sizes, &own), &own)?;
    }
    let (outputs, inputs) = (sizes[0] / groups, sizes[1]);
    let mut of = sizes;
    (of[0], of[1]) = (groups * inputs, outputs);
    if groups == 1 || inputs == 1 {
        let mut steps = own;
        (steps[0], steps[1]) = (if groups == 1 { own[1] } else { own[0] * outputs }, own[0]);
        return Ok(Erased::fresh(picked, of, steps));
    }
    let split = [groups, outputs, inputs, sizes[2], sizes[3], sizes[4]];
    let split = Owned::<E, D>::dense(picked, Dims::known(&split));
    Ok(split.permute(OP, &[0, 2, 1, 3, 4, 5])?.reshape(OP, &of)?.share())
}

/// What positions of the operand's axis of one kind read of the gradient's axis.
struct Kind {
    /// The positions that are read, without those of the padding.
    seen: core::ops::Range<usize>,
    window: Window,
    /// The positions of the turned window: the first one, and the distance between them.
    first_tap: usize,
    tap_step: usize,
}
impl Kind {
    /// Of the positions `first`, `first + stride` and so on, `count` of them; `None` if they read nothing.
    ///
    /// Position `i` met place `o` by position `k` of the window if `i + before = o * stride + k * dilation`.
    fn of(window: &Window, first: usize, count: usize, places: usize) -> Option<Self> {
        let Window { kernel, stride, dilation, before, .. } = *window;
        let at = first as i128 + before as i128;
        let apart = |k: usize| at - k as i128 * dilation as i128;
        let meets = |&k: &usize| apart(k).rem_euclid(stride as i128) == 0;
        let tap = (0..kernel).find(meets)?;
        let tap_step = (1..kernel - tap).find(|step| meets(&(tap + step))).unwrap_or(kernel);
        let taps = (kernel - tap).div_ceil(tap_step);
        // (Of one tap any will do.)
        let dilation = (tap_step.saturating_mul(dilation) / stride).max(1);
        // The places that the first position meets, by its first tap and by its last one, which is the lowest.
        let high = apart(tap) / stride as i128;
        let low = high - (taps as i128 - 1) * dilation as i128;
        let end = high + count as i128;
        let seen = low.clamp(0, places as i128)..end.clamp(0, places as i128);
        if seen.is_empty() {
            return None;
        }
        let window = Window {
            kernel: taps,
            stride: 1,
            dilation,
            before: (seen.start - low) as usize,
            after: (end - seen.end) as usize,
        };
        let seen = seen.start as usize..seen.end as usize;
        Some(Kind { seen, window, first_tap: kernel - 1 - tap - tap_step * (taps - 1), tap_step })
    }
}
