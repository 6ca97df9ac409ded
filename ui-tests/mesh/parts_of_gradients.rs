//! Each rank has a part of a gradient: it is put together before a step is taken.
//!
//! Instead: `all_reduce` the parts.
//!
//! names: mismatched types
//! says: expected `&Net`, found `&Parts<Net>`
//! rustc: E0308

use castiron::{Module, Tensor, dim, dims, optim::Sgd};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Batch }

#[derive(Module)]
struct Net<D: castiron::Device = castiron::Cpu> {
    weight: Tensor<f32, (dim!(2), dim!(1)), D>,
}

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let mut net: Net = Net { weight: Tensor::ones() };
        let x: Dist<f32, (At<Batch, Data>, dim!(2))> = Dist::full(mesh, [4, 2], 1.0)?;
        let mut sgd = Sgd::new(&net).rate(0.1);
        let (_, gradients) = mesh.value_and_grad(&net, (&x,), |net, (x,)| {
            x.mean_of_blocks(x.block().matmul(&net.weight).square().mean())
        })?;
        sgd.step(&mut net, &gradients);
        // instead: sgd.step(&mut net, &gradients.all_reduce(mesh)?);
        Result::Ok(net.weight.to_vec())
    });
    assert_eq!(done[0], done[1]);
}
