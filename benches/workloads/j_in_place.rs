//! `j`: tensors changed in place.

use super::ceilings::Pass;
use super::data::floats;
use super::harness::{Bench, Work};
use castiron::{KnownShape, Tensor, shape};

pub fn run(bench: &mut Bench) {
    in_place::<shape![1048576]>(bench, "1M");
    in_place::<shape![16777216]>(bench, "16M");
}

fn in_place<S: KnownShape>(bench: &mut Bench, size: &str) {
    let (mut x, y) = (floats::<S>(1), Tensor::<f32, S>::ones());
    bench.run(&format!("j.imul_{size}"), Work::Bytes(Pass::Update, 12 * S::NUMEL), || x *= &y);
    bench.run(&format!("j.iadds_{size}"), Work::Bytes(Pass::Update, 8 * S::NUMEL), || x += 1e-9);
    bench.run(&format!("j.isigmoid_{size}"), Work::Bytes(Pass::Update, 8 * S::NUMEL), || {
        x.sigmoid_();
    });
    let (mut counts, divisor) = (floats::<S>(2).mul(1000).to::<i32>(), Tensor::<i32, S>::full(7));
    bench.run(&format!("j.iremainder_i32_{size}"), Work::Bytes(Pass::Update, 8 * S::NUMEL), || counts %= &divisor);
    bench.run(&format!("j.floordivide_i32_{size}"), Work::Bytes(Pass::Copy, 8 * S::NUMEL), || {
        counts.floor_divide(&divisor)
    });
}
