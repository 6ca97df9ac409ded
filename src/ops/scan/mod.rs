//! Operations along one axis that keep its size: their table, and their lane kernels.

pub(crate) mod one_lane;
mod running;
mod softmax_lane;
pub(crate) mod steps;
mod table;

use super::reduce::op;
pub(crate) use running::*;
pub(crate) use softmax_lane::Softmax;
pub(crate) use softmax_lane::softmax_lane_rows;
pub(crate) use table::scan_table;

/// What the rows of the table name, for the macros that read it.
pub(crate) mod kernels {
    #[allow(unused_imports)]
    pub(crate) use super::{running::*, softmax_lane::*};
}

/// The marker of each row of the table.
macro_rules! markers {
    ($($op:ident { $($row:tt)* })*) => { op!($($op)*); };
}
scan_table!(markers);
op!(cummax cummin);
