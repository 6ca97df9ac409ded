//! Products of several matrices in the order with the fewest multiplications: `multi_dot`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, collected, filled, invalid};

/// The product of one matrix or more.
pub(crate) fn multi_dot<E: Dtype, D: Device>(matrices: &[Erased<'_, E, D>]) -> Result<Owned<E, D>> {
    let count = matrices.len();
    if let [] | [_] = matrices {
        let none = || invalid("multi_dot", "there are no matrices to multiply".to_owned());
        return matrices.first().map_or_else(none, |one| Ok(one.share()));
    }
    // `cost[i][j]` is the least cost of matrices `i` to `j`, `cut[i][j]` the first matrix of the right factor.
    let size = |at: usize| if at == 0 { matrices[0].sizes()[0] } else { matrices[at - 1].sizes()[1] };
    let mut cost = collected((0..count).map(|_| filled(0_f64, count)))?;
    let mut cut = collected((0..count).map(|_| filled(0, count)))?;
    for len in 1..count {
        for first in 0..count - len {
            let last = first + len;
            cost[first][last] = f64::INFINITY;
            for middle in first + 1..=last {
                let product = size(first) as f64 * size(middle) as f64 * size(last + 1) as f64;
                let total = cost[first][middle - 1] + cost[middle][last] + product;
                if total < cost[first][last] {
                    (cost[first][last], cut[first][last]) = (total, middle);
                }
            }
        }
    }
    product(matrices, &cut, 0, count - 1)
}

/// The product of the matrices from `first` to `last`, at least two.
fn product<E: Dtype, D: Device>(
    matrices: &[Erased<'_, E, D>],
    cut: &[Vec<usize>],
    first: usize,
    last: usize,
) -> Result<Owned<E, D>> {
    let middle = cut[first][last];
    match (first + 1 == middle, middle == last) {
        (true, true) => matrices[first].product(&matrices[last]),
        (true, false) => matrices[first].product(&product(matrices, cut, middle, last)?),
        (false, true) => product(matrices, cut, first, middle - 1)?.product(&matrices[last]),
        (false, false) => product(matrices, cut, first, middle - 1)?.product(&product(matrices, cut, middle, last)?),
    }
}
