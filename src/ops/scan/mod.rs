//! Operations along one axis that keep its size: their table, and their lane kernels.

mod one_lane;
mod running;
mod softmax_lane;
pub(crate) mod steps;
mod table;

use super::Op;
use super::reduce::op;
pub(crate) use running::running_rows;
pub(crate) use running::{RunningExtreme, RunningLogSumExp, RunningProduct, RunningSum};
pub(crate) use softmax_lane::Softmax;
pub(crate) use softmax_lane::softmax_lane_rows;
pub(crate) use table::scan_table;

/// The marker of each row of the table.
macro_rules! markers {
    ($($op:ident { $($row:tt)* })*) => { op!($($op)*); };
}
scan_table!(markers);
op!(cummax cummin);
