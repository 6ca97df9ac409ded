//! Results have the same layout on every device, and PyTorch's: one generic function predicts on `Meta` what it computes elsewhere.

use super::{Gives, On, has_data};
use castiron::{
    ChannelsLast, ChannelsLast3d, Cpu, Device, Dtype, Float, Generator, Meta, Shape, Tensor, axis, cat, shape, stack,
    where_,
};

pub fn typed_results_keep_the_layout_of_their_operands<D: Device>() {
    type Image<D> = Tensor<f32, shape![2, 4, 5, 3], D>;
    let x = Image::<D>::try_zeros().unwrap().permute(axis![0, 3, 1, 2]);
    assert_eq!((x.shape(), x.stride()), ([2, 3, 4, 5], [60, 1, 15, 3]));
    let bias = Tensor::<f32, shape![1, 3, 1, 1], D>::try_zeros().unwrap();
    assert_eq!((&x + &bias).stride(), [60, 1, 15, 3]);
    assert_eq!((&bias + &x).stride(), [60, 1, 15, 3]);
    assert_eq!(x.exp().stride(), [60, 1, 15, 3]);
    assert_eq!(x.to::<f64>().stride(), [60, 1, 15, 3]);
    assert_eq!(x.sum_axis(axis![0]).stride(), [20, 5, 1]);
    assert_eq!((&x + 1.0).stride(), [60, 1, 15, 3]);
}

/// A bit of everything that keeps the device.
fn network<E: Float, D: Device>(
    x: &Tensor<E, shape![_, 4], D>,
    weight: &Tensor<E, shape![4, 3], D>,
    bias: &Tensor<E, shape![3], D>,
) -> castiron::Result<Tensor<E, shape![_, 3], D>> {
    let mut hidden = x.try_matmul(weight)?.try_add(bias)?;
    hidden *= 0.5;
    let gate = hidden.sigmoid() * hidden.relu();
    let normed = &gate - gate.try_mean_axis(axis![-1].keepdim())?;
    let chosen = where_(normed.gt(0), &normed, 0);
    let wide = cat((&chosen, &gate), axis![1]);
    let (left, _) = (wide.narrow(axis![1], 0, 3), wide.select(axis![1], 4));
    let left: Tensor<E, shape![_, 3], D> = left.contiguous().try_with_shape()?;
    let pair = stack((&left, &hidden), axis![0]);
    Ok(pair.sum_axis(axis![0]).cumsum(axis![1]).log_softmax(axis![1]))
}

pub fn what_is_planned_is_what_is_computed<D: Device>() {
    let generator = &mut Generator::seeded(0);
    let x = Tensor::<f32, shape![_, 4]>::randn_sized([5, 4], generator);
    let (weight, bias) = (Tensor::randn(generator), Tensor::randn(generator));
    let host = network(&x, &weight, &bias).unwrap();
    let computed = network(&x.on::<D>(), &weight.on::<D>(), &bias.on::<D>()).unwrap();
    let planned = network(&x.on::<Meta>(), &weight.on::<Meta>(), &bias.on::<Meta>()).unwrap();
    assert_eq!((planned.shape(), planned.stride()), (computed.shape(), computed.stride()));
    assert_eq!(planned.dtype(), computed.dtype());
    if has_data::<D>() {
        assert!(computed.here().allclose_with(&host, 1e-5, 1e-6));
    }
}

fn layout_of_results<D: Device>() -> Vec<(Vec<usize>, Vec<usize>)> {
    let x: Tensor<f32, shape![2, 3, 4], D> = Tensor::try_ones().unwrap();
    let y: Tensor<u8, shape![4, 1, 2], D> = Tensor::try_ones().unwrap();
    let (permuted, other) = (x.permute(axis![2, 0, 1]), y.permute(axis![0, 2, 1]));
    let mut seen = Vec::new();
    fn note<E: Dtype, S: Shape, D: Device>(seen: &mut Vec<(Vec<usize>, Vec<usize>)>, x: &Tensor<E, S, D>) {
        seen.push((x.shape().as_ref().to_vec(), x.stride().as_ref().to_vec()));
    }
    note(&mut seen, &(&permuted + &other));
    note(&mut seen, &permuted.exp());
    note(&mut seen, &permuted.to::<i32>());
    note(&mut seen, &permuted.eq(&other));
    note(&mut seen, &permuted.zeros_like());
    note(&mut seen, &where_(permuted.gt(0), &permuted, &other));
    note(&mut seen, &permuted.sum_axis(axis![1]));
    note(&mut seen, &permuted.cumsum(axis![1]));
    note(&mut seen, &permuted.matmul(&permuted.transpose(axis![1], axis![2])));
    note(&mut seen, &permuted.reshape::<shape![24]>());
    note(&mut seen, &permuted.contiguous());
    note(&mut seen, &cat((&permuted, &permuted), axis![1]));
    seen
}

pub fn results_are_laid_out_alike<D: Device>() {
    assert_eq!(layout_of_results::<D>(), layout_of_results::<Cpu>());
}

fn joined_images<D: Device>() -> Vec<Vec<usize>> {
    type Images<D> = Tensor<f32, shape![2, 3, 4, 5], D>;
    type Volumes<D> = Tensor<f32, shape![2, 3, 4, 5, 6], D>;
    let rows = Images::<D>::try_ones().unwrap();
    let last = rows.to_memory_format(ChannelsLast);
    let turned = Tensor::<f32, shape![5, 4, 3, 2], D>::try_ones().unwrap().permute(axis![3, 2, 1, 0]);
    let volumes = Volumes::<D>::try_ones().unwrap().to_memory_format(ChannelsLast3d);
    let some = last.narrow(axis![1], 0, 2);
    let mut strides = Vec::new();
    macro_rules! note {
        ($($joined:expr;)*) => { $(strides.push($joined.stride().to_vec());)* };
    }
    note! {
        cat((&last, &last), axis![0]); cat((&last, &last), axis![1]); cat((&last, &last), axis![2]); cat((&last, &last), axis![3]);
        cat((&last, &rows), axis![1]); cat((&rows, &last), axis![1]); cat((&turned, &turned), axis![1]);
        cat([&some, &some], axis![1]); cat((last.to::<f64>(), &last), axis![1]); cat((&volumes, &volumes), axis![1]);
        stack((&last, &last), axis![0]); stack((&last, &last), axis![1]); stack([&last, &last], axis![2]);
        stack((&last, &last), axis![3]); stack((&last, &last), axis![4]); stack((&turned, &turned), axis![1]);
    }
    strides
}

/// `torch.cat` and `torch.stack` of the same tensors.
pub fn joined_tensors_lie_as_pytorchs_do<D: Device>() {
    let expected: [&[usize]; 16] = [
        &[60, 1, 15, 3],
        &[120, 1, 30, 6],
        &[120, 1, 15, 3],
        &[120, 1, 30, 3],
        &[120, 20, 5, 1],
        &[120, 20, 5, 1],
        &[120, 20, 5, 1],
        &[80, 1, 20, 4],
        &[120, 1, 30, 6],
        &[720, 1, 180, 36, 6],
        &[120, 60, 1, 15, 3],
        &[120, 3, 1, 30, 6],
        &[120, 1, 60, 15, 3],
        &[120, 1, 30, 15, 3],
        &[120, 40, 10, 2, 1],
        &[120, 60, 20, 5, 1],
    ];
    assert_eq!(joined_images::<D>(), expected);
    if !has_data::<D>() {
        return;
    }
    // The elements are those of row-major tensors.
    let x = Tensor::<i64, shape![2, 3, 4, 5]>::from_fn(|[n, c, h, w]| (((n * 3 + c) * 4 + h) * 5 + w) as i64);
    let x = x.on::<D>();
    let y = &x + 1000;
    let (x_last, y_last) = (x.to_memory_format(ChannelsLast), y.to_memory_format(ChannelsLast));
    macro_rules! same {
        ($($axis:literal)*) => {$(
            assert_eq!(cat((&x, &y), axis![$axis]).elements(), cat((&x_last, &y_last), axis![$axis]).elements());
            assert_eq!(stack((&x, &y), axis![$axis]).elements(), stack((&x_last, &y_last), axis![$axis]).elements());
            assert_eq!(cat((&x, &y_last), axis![$axis]).elements(), cat((&x_last, &y), axis![$axis]).elements());
        )*};
    }
    same!(0 1 2 3);
    assert_eq!(stack((&x, &y), axis![4]).elements(), stack((&x_last, &y_last), axis![4]).elements());
}

each_device! {
    also_without_data:
        typed_results_keep_the_layout_of_their_operands, what_is_planned_is_what_is_computed, results_are_laid_out_alike,
        joined_tensors_lie_as_pytorchs_do;
    with_data: ;
}
