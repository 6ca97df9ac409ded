//! Printing: `Display` exactly as PyTorch prints a tensor, `Debug` with dtype, shape and device. What a format asks for beside (`{:.2}`,
//! `{:8}`, `{:#}`) is [`Options`].
//!
//! Source: `torch/_tensor_str.py` with its default options; `tests/oracle/printing.json`.

use crate::device::Device;
use crate::dtype::{DType, Element, ScalarValue};
use crate::shape::Shape;
use crate::tensor::Tensor;
use core::fmt;

/// Digits after the decimal point.
const PRECISION: usize = 4;
/// Larger tensors are summarised.
const THRESHOLD: usize = 1000;
/// Elements shown at each end of a summarised axis.
const EDGE: usize = 3;
/// Characters per line.
const LINE: usize = 80;
/// The start of the text of a tensor; lines after the first are indented by its length.
const PREFIX: &str = "tensor(";

impl<E: Element, S: Shape, D: Device> fmt::Display for Tensor<E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, sizes, strides) = (D::name(), self.shape(), self.stride());
        let element = |at: usize| {
            let one = self.restrided::<()>(at, [], []);
            D::peek(one.elements()).ok().map(Element::to_scalar)
        };
        let (sizes, strides) = (sizes.as_ref(), strides.as_ref());
        let has_data = D::has_data(self.elements().buffer);
        Printed { dtype: E::DTYPE, device: &device, has_data, sizes, strides, element: &element }.fmt(f)
    }
}

/// What a format asks for (`torch.set_printoptions`).
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// `{:.2}`: decimal places of each float, which is then written as Rust writes it.
    precision: Option<usize>,
    /// `{:8}`: characters of each element at least.
    width: usize,
    /// `{:#}`: all elements, however many (`profile="full"`).
    whole: bool,
}

impl Options {
    pub(crate) fn of(f: &fmt::Formatter<'_>) -> Self {
        Options { precision: f.precision(), width: f.width().unwrap_or(0), whole: f.alternate() }
    }

    /// The same for indices, which are no numbers to be rounded or lined up.
    pub(crate) fn of_indices(self) -> Self {
        Options { whole: self.whole, ..Options::default() }
    }
}

/// A tensor to be printed.
pub(crate) struct Printed<'a> {
    pub(crate) dtype: DType,
    pub(crate) device: &'a str,
    pub(crate) has_data: bool,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
    /// The element at a position, counted in elements from the first.
    pub(crate) element: &'a dyn Fn(usize) -> Option<ScalarValue>,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut suffixes = Vec::new();
        if self.device != "cpu" {
            suffixes.push(format!("device='{}'", self.device));
        }
        let sizes = self.sizes;
        let size = || format!("size={}", python_tuple(sizes));
        let dtype = || format!("dtype={:?}", self.dtype);
        let text = match Elements::of(self, Options::of(f)) {
            None => {
                suffixes.push(size());
                suffixes.extend((self.dtype != DType::F32).then(dtype));
                "...".to_owned()
            }
            Some(_) if sizes.contains(&0) => {
                suffixes.extend((sizes.len() != 1).then(size));
                suffixes.extend((self.dtype != DType::F32).then(dtype));
                "[]".to_owned()
            }
            Some(elements) => {
                let is_default = matches!(self.dtype, DType::F32 | DType::C64 | DType::I64 | DType::Bool);
                suffixes.extend((!is_default).then(dtype));
                elements.text(&mut Vec::with_capacity(sizes.len()), PREFIX.len())
            }
        };
        let text = format!("{PREFIX}{text}");
        f.write_str(&text)?;
        let mut line = text.chars().rev().take_while(|&c| c != '\n').count() + 2;
        for suffix in suffixes {
            if line + suffix.len() + 2 > LINE {
                write!(f, ",\n{:indent$}{suffix}", "", indent = PREFIX.len())?;
                line = PREFIX.len() + suffix.len();
            } else {
                write!(f, ", {suffix}")?;
                line += suffix.len() + 2;
            }
        }
        f.write_str(")")
    }
}

impl Printed<'_> {
    /// The elements only, lines after the first indented; `...` if there are no data.
    pub(crate) fn elements(&self, options: Options, indent: usize) -> String {
        match Elements::of(self, options) {
            None => "...".to_owned(),
            Some(_) if self.sizes.contains(&0) => "[]".to_owned(),
            Some(elements) => elements.text(&mut Vec::with_capacity(self.sizes.len()), indent),
        }
    }
}

/// The dtype, shape and device, then the elements as `Display` prints them.
impl<E: Element, S: Shape, D: Device> fmt::Debug for Tensor<E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("dtype", &format_args!("{}", E::DTYPE))
            .field("shape", &self.shape())
            .field("stride", &self.stride())
            .field("storage_offset", &self.storage_offset())
            .field("device", &format_args!("{}", D::name()))
            .field("elements", &format_args!("{self}"))
            .finish()
    }
}

/// `(2, 3)`, `(2,)`, `()`.
pub(crate) fn python_tuple(sizes: &[usize]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The elements to print and their widths.
struct Elements<'a> {
    tensor: &'a Printed<'a>,
    options: Options,
    summarised: bool,
    first: Format,
    /// For the imaginary parts of complex tensors.
    second: Option<Format>,
}

impl<'a> Elements<'a> {
    /// `None` if there are no data.
    fn of(tensor: &'a Printed<'a>, options: Options) -> Option<Self> {
        if !tensor.has_data {
            return None;
        }
        let mut elements = Elements {
            tensor,
            options,
            summarised: !options.whole && tensor.sizes.iter().product::<usize>() > THRESHOLD,
            first: Format::Plain { width: 1 },
            second: None,
        };
        let mut shown = Vec::new();
        if !tensor.sizes.contains(&0) {
            elements.collect(&mut Vec::new(), &mut shown)?;
        }
        let parts: Vec<(f64, f64)> = shown
            .iter()
            .map(|&value| match value {
                ScalarValue::Complex(z) => (z.re, z.im),
                ScalarValue::Float(x) => (x, 0.0),
                ScalarValue::Int(_) | ScalarValue::Bool(_) => (0.0, 0.0),
            })
            .collect();
        if tensor.dtype.is_complex() {
            elements.first = Format::of_floats(options.precision, parts.iter().map(|part| part.0));
            elements.second = Some(Format::of_floats(options.precision, parts.iter().map(|part| part.1)));
        } else if tensor.dtype.is_floating_point() {
            elements.first = Format::of_floats(options.precision, parts.iter().map(|part| part.0));
        } else {
            let width = shown.iter().map(|&value| plain(value).len()).max().unwrap_or(1);
            elements.first = Format::Plain { width };
        }
        Some(elements)
    }

    /// The indices shown along an axis; `None` stands for the omitted ones in the middle.
    fn shown(&self, size: usize) -> Vec<Option<usize>> {
        if self.summarised && size > 2 * EDGE {
            (0..EDGE).map(Some).chain([None]).chain((size - EDGE..size).map(Some)).collect()
        } else {
            (0..size).map(Some).collect()
        }
    }

    fn element(&self, index: &[usize]) -> Option<ScalarValue> {
        (self.tensor.element)(index.iter().zip(self.tensor.strides).map(|(index, stride)| index * stride).sum())
    }

    fn collect(&self, index: &mut Vec<usize>, shown: &mut Vec<ScalarValue>) -> Option<()> {
        if index.len() == self.tensor.sizes.len() {
            shown.push(self.element(index)?);
            return Some(());
        }
        for at in self.shown(self.tensor.sizes[index.len()]).into_iter().flatten() {
            index.push(at);
            self.collect(index, shown)?;
            index.pop();
        }
        Some(())
    }

    /// One element, padded.
    fn cell(&self, index: &[usize]) -> String {
        let Some(value) = self.element(index) else { return String::new() };
        let text = match (value, &self.second) {
            (ScalarValue::Complex(z), Some(second)) => {
                let imaginary = format!("{}j", second.float(z.im));
                let imaginary = imaginary.trim_start();
                let plus = if imaginary.starts_with(['+', '-']) { "" } else { "+" };
                format!("{}{plus}{imaginary}", self.first.float(z.re))
            }
            (ScalarValue::Float(x), _) => self.first.float(x),
            (value, _) => self.first.pad(plain(value)),
        };
        format!("{text:>width$}", width = self.options.width)
    }

    /// The text of the sub-tensor at an index, lines after the first indented.
    fn text(&self, index: &mut Vec<usize>, indent: usize) -> String {
        let left = self.tensor.sizes.len() - index.len();
        if left == 0 {
            return self.cell(index);
        }
        let shown = self.shown(self.tensor.sizes[index.len()]);
        let mut items = Vec::with_capacity(shown.len());
        for at in shown {
            items.push(match at {
                None if left == 1 => " ...".to_owned(),
                None => "...".to_owned(),
                Some(at) => {
                    index.push(at);
                    let text = if left == 1 { self.cell(index) } else { self.text(index, indent + 1) };
                    index.pop();
                    text
                }
            });
        }
        let pad = " ".repeat(indent + 1);
        if left > 1 {
            return format!("[{}]", items.join(&format!(",{}{pad}", "\n".repeat(left - 1))));
        }
        let cell_width = self.first.width() + self.second.as_ref().map_or(0, |second| second.width() + 1);
        let per_line = (LINE.saturating_sub(indent) / (cell_width.max(self.options.width) + 2)).max(1);
        let lines: Vec<String> = items.chunks(per_line).map(|line| line.join(", ")).collect();
        format!("[{}]", lines.join(&format!(",\n{pad}")))
    }
}

/// The format of the elements of one tensor, the same for all.
enum Format {
    /// Integers and bools.
    Plain {
        width: usize,
    },
    /// Floats that are all whole numbers.
    Whole {
        width: usize,
    },
    Fixed {
        width: usize,
        precision: usize,
    },
    Scientific {
        width: usize,
    },
}

impl Format {
    /// All with this number of decimal places, or as PyTorch chooses.
    fn of_floats(precision: Option<usize>, values: impl Iterator<Item = f64> + Clone) -> Format {
        if let Some(precision) = precision {
            return Format::Fixed {
                width: values.map(|value| fixed(value, precision).len()).max().unwrap_or(1),
                precision,
            };
        }
        let values = values.filter(|value| value.is_finite() && *value != 0.0);
        let (mut smallest, mut largest, mut whole) = (f64::INFINITY, 0.0_f64, true);
        for value in values.clone() {
            smallest = smallest.min(value.abs());
            largest = largest.max(value.abs());
            whole &= value == value.ceil();
        }
        if largest == 0.0 {
            return Format::Whole { width: 1 };
        }
        let widest = |write: fn(f64) -> String| values.map(|value| write(value).len()).max().unwrap_or(0).max(1);
        if largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4 {
            Format::Scientific { width: widest(scientific) }
        } else if whole {
            // includes the decimal point
            Format::Whole { width: widest(|value| format!("{value:.0}.")) }
        } else {
            Format::Fixed { width: widest(|value| fixed(value, PRECISION)), precision: PRECISION }
        }
    }

    fn width(&self) -> usize {
        match *self {
            Format::Plain { width }
            | Format::Whole { width }
            | Format::Fixed { width, .. }
            | Format::Scientific { width } => width,
        }
    }

    fn pad(&self, text: String) -> String {
        format!("{text:>width$}", width = self.width())
    }

    fn float(&self, value: f64) -> String {
        let text = match self {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
            Format::Scientific { .. } => scientific(value),
            Format::Fixed { precision, .. } => fixed(value, *precision),
            Format::Whole { .. } | Format::Plain { .. } => format!("{value:.0}."),
        };
        self.pad(text)
    }
}

/// As C's `%.*f`.
fn fixed(value: f64, precision: usize) -> String {
    format!("{value:.precision$}")
}

/// As C's `%.4e`: a sign and at least two digits of exponent.
fn scientific(value: f64) -> String {
    let text = format!("{value:.PRECISION$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// Integers as they are; bools as Python writes them.
fn plain(value: ScalarValue) -> String {
    match value {
        ScalarValue::Bool(true) => "True".to_owned(),
        ScalarValue::Bool(false) => "False".to_owned(),
        value => value.to_string(),
    }
}
