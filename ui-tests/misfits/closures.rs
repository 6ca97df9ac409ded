use castiron::{Tensor, axis, dim, shape, tensor};

calls! {
    tensor![1, 2].zip_map(tensor![1, 2, 3], |(x, y)| x + y);
    // instead: tensor![1, 2].zip_map(tensor![[1], [3]], |(x, y)| x + y);
    tensor![1, 2].zip_map((tensor![1], tensor![1, 2, 3]), |(x, y, z)| x + y + z);
    // instead: tensor![1, 2].zip_map((tensor![1], tensor![1, 2]), |(x, y, z)| x + y + z);
    tensor![1, 2].zip_map_(tensor![[1], [3]], |(x, y)| x + y);
    // instead: tensor![[1], [2]].zip_map_(tensor![[1], [3]], |(x, y)| x + y);
    tensor![1, 2].map_lanes(axis![1], |lane| lane[0]);
    // instead: tensor![1, 2].map_lanes(axis![0], |lane| lane[0]);
    tensor![1, 2].map_lanes_(axis![0, -1], |lane| lane.reverse());
    // instead: tensor![1, 2].map_lanes_(axis![-1], |lane| lane.reverse());
    tensor![1, 2].map_windows::<dim!(3), dim!(1), _, _>(axis![0], |window| window[0]);
    // instead: tensor![1, 2].map_windows::<dim!(2), dim!(1), _, _>(axis![0], |window| window[0]);
    tensor![1, 2].fold_axis(axis![1], 0, |sum, v| sum + v);
    // instead: tensor![1, 2].fold_axis(axis![0], 0, |sum, v| sum + v);
    tensor![1, 2].par_fold_axis(axis![1], 0, |sum, v| sum + v, |a, b| a + b);
    // instead: tensor![1, 2].par_fold_axis(axis![0], 0, |sum, v| sum + v, |a, b| a + b);
    tensor![1, 2].reduce_axis(axis![-2], |a, b| a + b);
    // instead: tensor![1, 2].reduce_axis(axis![-1], |a, b| a + b);
    tensor![1, 2].par_reduce_axis(axis![-2], |a, b| a + b);
    // instead: tensor![1, 2].par_reduce_axis(axis![-1], |a, b| a + b);
}
