//! Memory layouts and elements of operands: each layout has a letter.

use castiron::DType;
use std::fmt;

/// The description of a tensor. Its text (`float32:1024,1024:unit:rows`) tells PyTorch's side to make the same tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    pub dtype: DType,
    pub sizes: Vec<usize>,
    pub values: Values,
    pub order: Order,
}

/// The elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// Floats between 0.05 and 0.95, integers from 1 to 100, and bools.
    Unit,
    /// Floats between -30 and 30, integers from 1 to 100, and bools.
    Wide,
    /// Integers below a bound.
    Below(usize),
    /// From 0 to 1, ascending.
    Ascending,
}

/// The order of the elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row-major.
    Rows,
    /// The last two axes swapped.
    Transposed,
    /// `channels_last`, for four axes.
    ChannelsLast,
    /// Every second element of the last axis.
    Steps,
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let values = match self.values {
            Values::Unit => "unit".to_owned(),
            Values::Wide => "wide".to_owned(),
            Values::Below(bound) => format!("below{bound}"),
            Values::Ascending => "ascending".to_owned(),
        };
        let order = match self.order {
            Order::Rows => "rows",
            Order::Transposed => "transposed",
            Order::ChannelsLast => "channels_last",
            Order::Steps => "steps",
        };
        write!(f, "{}:{}:{values}:{order}", self.dtype, sizes.join(","))
    }
}

/// The operands of a case.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub letter: char,
    pub name: &'static str,
    /// The sizes at each scale. The last and largest is tried first; smaller ones are for results that would be too large.
    pub scales: &'static [&'static [usize]],
    /// Small sizes, on which the arguments of an operation are found.
    pub tiny: &'static [usize],
    pub order: Order,
    pub values: Values,
    /// The sizes of the other operand: an axis that is broadcast has size 1.
    pub other: Other,
    /// The axes to name, one after the other: lists for operations over two axes.
    pub dims: &'static [&'static [i64]],
    pub dtypes: &'static [DType],
}

/// The sizes of the second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    Same,
    /// One row.
    Row,
    /// One column.
    Column,
}

const ALL: &[DType] =
    &[DType::F32, DType::F64, DType::BF16, DType::I64, DType::I32, DType::U8, DType::Bool, DType::C64];
const USUAL: &[DType] = &[DType::F32, DType::BF16, DType::I64, DType::C64];
const FEW: &[DType] = &[DType::F32, DType::BF16, DType::I64];

const BASE: Layout = Layout {
    letter: 'a',
    name: "contiguous 1M",
    scales: &[&[64, 64], &[256, 256], &[1024, 1024]],
    tiny: &[8, 8],
    order: Order::Rows,
    values: Values::Unit,
    other: Other::Same,
    dims: &[],
    dtypes: ALL,
};

/// Every layout.
pub const LAYOUTS: &[Layout] = &[
    BASE,
    Layout { letter: 'b', name: "contiguous 16M", scales: &[&[4096, 4096]], dtypes: FEW, ..BASE },
    Layout { letter: 'c', name: "one transposed", order: Order::Transposed, dtypes: USUAL, ..BASE },
    Layout {
        letter: 'd',
        name: "channels_last",
        scales: &[&[8, 3, 208, 208]],
        tiny: &[2, 3, 4, 4],
        order: Order::ChannelsLast,
        dims: &[&[], &[1], &[-1], &[2, 3], &[0, 2, 3]],
        dtypes: FEW,
        ..BASE
    },
    Layout { letter: 'e', name: "every second", order: Order::Steps, dtypes: FEW, ..BASE },
    Layout { letter: 'f', name: "and a row", other: Other::Row, dtypes: USUAL, ..BASE },
    Layout { letter: 'g', name: "and a column", other: Other::Column, dtypes: USUAL, ..BASE },
    Layout {
        letter: 'h',
        name: "cube",
        scales: &[&[96, 104, 100]],
        tiny: &[4, 6, 5],
        dims: &[&[0], &[1], &[2], &[0, 2]],
        dtypes: ALL,
        ..BASE
    },
    Layout {
        letter: 'i',
        name: "1,000 rows",
        scales: &[&[1000, 16]],
        tiny: &[8, 4],
        dims: &[&[-1]],
        dtypes: FEW,
        ..BASE
    },
    Layout { letter: 'j', name: "64 elements", scales: &[&[64]], tiny: &[8], dtypes: FEW, ..BASE },
    Layout {
        letter: 'k',
        name: "wide values",
        values: Values::Wide,
        dtypes: &[DType::F32, DType::F64, DType::BF16],
        ..BASE
    },
];

/// The operands of one layout at one scale in one dtype, from which arguments are chosen.
#[derive(Clone, Debug)]
pub struct Setting {
    pub layout: &'static Layout,
    pub dtype: DType,
    pub sizes: Vec<usize>,
    pub dims: &'static [i64],
}

impl Setting {
    pub fn spec(&self, dtype: DType, sizes: Vec<usize>, values: Values) -> Spec {
        Spec { dtype, sizes, values, order: Order::Rows }
    }

    /// The first operand, which has the layout.
    pub fn first(&self) -> Spec {
        Spec { dtype: self.dtype, sizes: self.sizes.clone(), values: self.layout.values, order: self.layout.order }
    }

    /// The second operand: row-major (or `channels_last`, if the first one is), or one row or column.
    pub fn second(&self) -> Spec {
        let mut sizes = self.sizes.clone();
        let rank = sizes.len();
        match self.layout.other {
            Other::Row if rank == 2 => sizes[0] = 1,
            Other::Column if rank == 2 => sizes[1] = 1,
            _ => {}
        }
        let order = if self.layout.order == Order::ChannelsLast { Order::ChannelsLast } else { Order::Rows };
        Spec { dtype: self.dtype, sizes, values: self.layout.values, order }
    }

    /// The size of the axis named, or of the last.
    pub fn len(&self) -> usize {
        let dim = self.dims.first().copied().unwrap_or(-1);
        let rank = self.sizes.len() as i64;
        self.sizes[(if dim < 0 { dim + rank } else { dim }) as usize]
    }
}
