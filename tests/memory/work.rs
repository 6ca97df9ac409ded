//! Work shared by several threads: each writes its own part, and the caller sees everything they wrote.

use castiron::{Dyn, Tensor, TensorViewMut, axis, fused};
use rayon::ThreadPoolBuilder;

/// Enough to be shared in builds with debug assertions.
const LEN: usize = if cfg!(debug_assertions) { 4_000 } else { 400_000 };

#[test]
fn parts_of_one_result_are_written_by_several_threads() {
    let x = Tensor::<f32, (Dyn, Dyn)>::from_vec_sized((0..LEN).map(|at| (at % 7) as f32).collect(), [LEN / 4, 4]);
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut memory = vec![0.0_f32; LEN];
    let (sum, largest) = pool.install(|| {
        let mut y = &x + &x;
        y += &x;
        let mut view = TensorViewMut::<f32, (Dyn, Dyn)>::from_slice_mut_sized(&mut memory, [LEN / 4, 4]);
        let (x, turned) = (&x, &y.t());
        view.assign(turned.t() - x);
        let whole = &view.to_tensor();
        (fused!((whole * 1.0).sum()).item(), view.amax_axis(axis![0]).to_vec())
    });
    assert!(memory.iter().zip(x.iter()).all(|(a, b)| *a == 2.0 * b));
    assert_eq!((sum, largest), (2.0 * x.sum().item(), vec![12.0; 4]));
}

#[test]
fn results_of_closures_are_written_by_several_threads() {
    let x = Tensor::<i64, (Dyn, Dyn)>::from_vec_sized((0..LEN as i64).collect(), [LEN / 4, 4]);
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let mut y = x.t().par_zip_map(&x.select(axis![1], 1), |(a, b)| a - b);
        y.par_map_(|v| v + 1);
        assert_eq!(
            y.par_map_lanes(axis![0], |lane| lane[3] - lane[0]).par_fold(0, |sum, v| sum + v, |a, b| a + b),
            3 * LEN as i64 / 4
        );
        assert!(x.par_map_indexed(|[a, b], v| v == (4 * a + b) as i64).all().item());
        y.t().contiguous().par_map_lanes_(axis![0], |lane| lane.reverse());
    });
}
