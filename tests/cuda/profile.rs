//! Profiles of work on a GPU: times are those between events of its stream.

use crate::on_pretend;
use castiron::{Cuda, Tensor, axis, profile, shape};

#[test]
fn times_are_those_of_the_stream() {
    on_pretend!("profile::times_are_those_of_the_stream", {
        let x: Tensor<f32, shape![8, 100], Cuda<0>> = Tensor::ones();
        // The pretend GPU takes a millisecond for each piece of work between two events.
        let (_, found) = profile(|| x.exp().sum_axis(axis![1]));
        let calls: Vec<_> =
            found.records().iter().map(|record| (record.name(), record.device(), record.bytes_read())).collect();
        assert_eq!(calls, [("exp", "cuda:0", 3200), ("sum", "cuda:0", 3200)]);
        let [exp, sum] = found.records() else { unreachable!("two calls") };
        assert!(exp.time() >= 1e-3 && sum.time() >= 1e-3 && sum.start() >= exp.start() + exp.time());
        assert_eq!((exp.time() * 1e3).fract(), 0.0);
    });
}
