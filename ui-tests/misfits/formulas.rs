use castiron::{axis, formula, reducer, tensor};

#[formula]
fn midpoint<F: Float>(x: F, y: F) -> F {
    0.5 * (x + y)
}
struct WeightedSum;
#[reducer]
impl WeightedSum {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F, weight: F) -> F {
        sum + weight * x
    }
    fn merge<F: Float>(one: F, other: F) -> F {
        one + other
    }
    fn finish<F: Float>(sum: F) -> F {
        sum
    }
}

calls! {
    tensor![1.0, 2.0].apply(midpoint, &tensor![1.0, 2.0, 3.0]);
    // instead: tensor![1.0, 2.0].apply(midpoint, &tensor![1.0, 2.0]);
    tensor![1.0, 2.0].apply_(midpoint, &tensor![[1.0], [2.0]]);
    // instead: tensor![1.0, 2.0].apply_(midpoint, &tensor![1.0]);
    tensor![1.0, 2.0].apply_into(midpoint, 1, &mut tensor![0.0, 0.0, 0.0]);
    // instead: tensor![1.0, 2.0].apply_into(midpoint, 1, &mut tensor![0.0, 0.0]);
    tensor![1.0, 2.0].reduce_by(WeightedSum, &tensor![1.0, 2.0, 3.0]);
    // instead: tensor![1.0, 2.0].reduce_by(WeightedSum, &tensor![1.0, 2.0]);
    tensor![1.0, 2.0].reduce_axis_by(WeightedSum, 1, axis![1]);
    // instead: tensor![1.0, 2.0].reduce_axis_by(WeightedSum, 1, axis![0]);
    tensor![1.0, 2.0].scan_by(WeightedSum, 1, axis![1]);
    // instead: tensor![1.0, 2.0].scan_by(WeightedSum, 1, axis![0]);
}
