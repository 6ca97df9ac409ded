//! `for row in &x` and `iter_axis`: views along an axis.

use castiron::{Device, Dtype, Meta, Shape, Tensor, TensorView, TensorViewMut, axis, dims, shape, tensor};

dims! { Batch }

#[test]
fn a_tensor_goes_through_its_rows() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let mut rows = Vec::new();
    for row in &x {
        let row: Tensor<i64, shape![3]> = row;
        assert!(row.shares_storage(&x));
        rows.push(row.to_vec());
    }
    assert_eq!(rows, [[1, 2, 3], [4, 5, 6]]);
    let ones: Vec<i64> = (&tensor![7, 8]).into_iter().map(|one: Tensor<i64, ()>| one.item()).collect();
    assert_eq!(ones, [7, 8]);
    assert_eq!(x.iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn any_axis_shape_and_device() {
    let x = Tensor::<f32, shape![Batch, 2, 3]>::ones_sized([4, 2, 3]);
    let columns: Vec<Tensor<f32, shape![Batch, 2]>> = x.iter_axis(axis![-1]).collect();
    assert_eq!((columns.len(), columns[0].shape()), (3, [4, 2]));
    let plans = Tensor::<f32, shape![_, 5], Meta>::zeros_sized([1 << 40, 5]);
    let mut plan = plans.iter_axis(axis![0]);
    assert_eq!((plan.len(), plan.next().unwrap().shape(), plan.nth(8).is_some()), (1 << 40, [5], true));
    assert_eq!(plan.len(), (1 << 40) - 10);
    assert_eq!((&Tensor::<f32, shape![0, 3]>::ones()).into_iter().count(), 0);
    assert_eq!((&Tensor::<f32, shape![2, 0]>::ones()).into_iter().map(|row| row.numel()).sum::<usize>(), 0);
    let mut ends = tensor![1, 2, 3].iter_axis(axis![0]);
    assert_eq!((ends.next_back().unwrap().item(), ends.next().unwrap().item(), ends.len()), (3, 1, 1));
    let repeated = tensor![[1, 2]].expand::<shape![3, 2]>();
    assert!((&repeated).into_iter().all(|row| row == tensor![1, 2]));
}

#[test]
fn rows_of_borrowed_memory_are_not_copied() {
    let mut memory = [1, 2, 3, 4];
    let x = TensorView::<i32, shape![2, 2]>::from_slice(&memory);
    let rows: Vec<TensorView<'_, i32, shape![2]>> = (&x).into_iter().collect();
    drop(x);
    assert_eq!(rows[1].as_slice().unwrap().as_ptr(), &raw const memory[2]);
    assert_eq!(rows.iter().map(|row| row.sum().item()).collect::<Vec<_>>(), [3, 7]);
    let y = TensorViewMut::<i32, shape![2, 2]>::from_slice_mut(&mut memory);
    let rows: Vec<Tensor<i32, shape![2]>> = y.iter_axis(axis![1]).collect();
    assert_eq!(rows[0].to_vec(), [1, 3]);
}

#[test]
fn a_row_that_is_written_is_its_own() {
    let x = tensor![[1, 2], [3, 4]];
    for mut row in &x {
        row += 1;
    }
    assert_eq!(x.to_vec(), [1, 2, 3, 4]);
}

fn largest_row<E: Dtype, S: Shape + castiron::Dimensional + castiron::HasAxis<0>, D: Device>(
    x: &Tensor<E, S, D>,
) -> usize {
    x.iter_axis(axis![0]).map(|row| row.numel()).max().unwrap_or(0)
}

#[test]
fn generic_code_goes_through_rows() {
    assert_eq!(largest_row(&tensor![[1, 2], [3, 4]]), 2);
}

/// Many short lanes are computed together, and each as if it were alone: of every length, with gaps between them, and in two dtypes.
#[test]
fn short_lanes_are_computed_as_if_alone() {
    fn bits<E: Dtype + castiron::CastTo<f32>, S: Shape>(x: &Tensor<E, S>) -> Vec<u32> {
        x.to::<f32>().iter().map(|x| x.to_bits()).collect()
    }
    fn check<E: castiron::Float + castiron::CastTo<f32>>(x: &Tensor<E, shape![5, 7, _]>) {
        let (softmax, log, sums) = (x.softmax(axis![2]), x.log_softmax(axis![2]), x.logsumexp(axis![2]));
        let (softmax, log) = (softmax.iter_axis(axis![0]), log.iter_axis(axis![0]));
        for (((block, softmax), log), sums) in x.iter_axis(axis![0]).zip(softmax).zip(log).zip(sums.iter_axis(axis![0]))
        {
            for at in 0..7 {
                let row = block.select(axis![0], at);
                assert_eq!(bits(&softmax.select(axis![0], at)), bits(&row.softmax(axis![0])), "of {}", row.numel());
                assert_eq!(bits(&log.select(axis![0], at)), bits(&row.log_softmax(axis![0])), "of {}", row.numel());
                assert_eq!(bits(&sums.select(axis![0], at)), bits(&row.logsumexp(axis![0])), "of {}", row.numel());
            }
        }
    }
    for len in (1..40).chain([47, 48, 64, 65, 127, 128, 129]) {
        let x =
            Tensor::<f32, shape![5, 7, _]>::randn_sized([5, 7, len + 3], &mut castiron::Generator::seeded(len as u64));
        check(&x.narrow(axis![2], 1, len).contiguous());
        check(&x.narrow(axis![2], 2, len));
        check(&x.narrow(axis![2], 2, len).to::<castiron::bf16>());
    }
}
