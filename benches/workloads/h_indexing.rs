//! `h`: elements chosen by indices, by masks and by rank. Most of it is in the list of what cannot be expressed yet.

use super::ceilings::Pass;
use super::data::{M1, floats};
use super::harness::{Bench, Work};
use castiron::{shape, where_};

pub fn run(bench: &mut Bench) {
    let [x, y, z] = [1, 2, 3].map(floats::<shape![1048576]>);
    // half of it true, at random
    let mask = z.gt(0.6);
    bench.run("h.where_1M", Work::Bytes(Pass::Add, 13 * M1), || where_(&mask, &x, &y));
}
