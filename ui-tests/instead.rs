// Written by tests/ui from the programs of this folder.

mod any_assigned_to_a_typed_tensor {
use castiron::{AnyTensor, Result, Tensor, shape, tensor};

pub fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y: Tensor<f32, shape![2]> = x.typed()?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_compared_by_an_operator {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let before = AnyTensor::from(tensor![1.0, 2.0]);
    let after = before.clone();
    assert!(before.equal(&after)?);
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_minus_of_a_result {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = (-(&x + 1)?)?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_question_mark_forgotten_at_the_end {
use castiron::{AnyTensor, Result};

fn double(x: &AnyTensor) -> Result<AnyTensor> {
    Ok((x * 2)?)
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_sum_of_a_result {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = (&x + 1)?;
    y.sum(None, false, None)?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_typed_plus_any {
use castiron::{AnyTensor, Cpu, Result, shape, tensor};

pub fn main() -> Result<()> {
    let x = tensor![1.0, 2.0];
    let y = AnyTensor::from(tensor![3.0, 4.0]);
    let _ = &x + &y.typed::<f32, shape![2], Cpu>()?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_typed_without_types {
use castiron::{AnyTensor, Cpu, Result, shape, tensor};

pub fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = x.typed::<f32, shape![2], Cpu>()?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_visit_of_a_typed_tensor {
use castiron::{Result, tensor, visit};

pub fn main() -> Result<()> {
    let x = tensor![1.0, 2.0];
    visit!(castiron::AnyTensor::from(x), E: Float => println!("{}", size_of::<E>()))
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_visit_of_an_unknown_set {
use castiron::{AnyTensor, Result, visit};

fn width(x: &AnyTensor) -> Result<usize> {
    visit!(x, E: Float => size_of::<E>())
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_visit_of_dtypes_that_the_code_does_not_take {
use castiron::{AnyTensor, Cpu, Dyn, Error, Float, Tensor, visit};

fn rms<E: Float>(x: &Tensor<E, (Dyn,)>) -> Tensor<E, ()> {
    x.square().mean().sqrt()
}

fn any_rms(x: &AnyTensor) -> Result<AnyTensor, Error> {
    visit!(x, E: Float => rms::<E>(&x.typed::<E, (Dyn,), Cpu>()?).into())
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_visit_that_gives_typed_tensors {
use castiron::{AnyTensor, Cpu, Result, shape, tensor, visit};

fn root(x: &AnyTensor) -> Result<AnyTensor> {
    let root: AnyTensor = visit!(x, E: Float => x.typed::<E, shape![_], Cpu>()?.sqrt().into())?;
    Ok(root)
}

pub fn main() -> Result<()> {
    root(&AnyTensor::from(tensor![4.0])).map(drop)
}

#[test]
fn runs() {
    super::done(main());
}
}

mod any_visit_without_an_arrow {
use castiron::{AnyTensor, Result, tensor, visit};

pub fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let width = visit!(x, E: Float => size_of::<E>())?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_argmax_over_two_axes {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].flatten().argmax_axis(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_axis_known_at_run_time {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    const I: isize = 1;
    let _ = x.sum_axis(axis![I]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_capital_t {
use castiron::tensor;

pub fn main() {
    let x = tensor![[1.0, 2.0]];
    let _ = x.t();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_negative_out_of_range {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].cumsum(axis![-2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_out_of_range {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_permutation_that_forgets_an_axis {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].permute(axis![1, 0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_permutation_that_names_an_axis_twice {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let _ = x.permute(axis![0, 2, 1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_select_by_two_numbers {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.select(axis![0], 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_size_by_number {
use castiron::tensor;

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.shape()[0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_softmax_out_of_range {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.softmax(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_softmax_over_the_last_axis {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.softmax(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_squeeze_of_an_axis_that_is_not_there {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.squeeze_axis(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_sum_of_an_axis {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.sum_axis(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_sum_over_an_axis_by_number {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.sum_axis(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_t_of_three_axes {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let _ = x.transpose(castiron::axis![-2], castiron::axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_the_same_axis_twice {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].sum_axis(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_transpose_of_a_vector {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.unsqueeze(axis![1]).transpose(axis![0], axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_unsqueeze_beyond_the_end {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.unsqueeze(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod axes_unsqueeze_by_number {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.unsqueeze(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_five_largest_of_three {
use castiron::{axis, dim, tensor};

pub fn main() {
    let x = tensor![3.0, 1.0, 2.0];
    let _ = x.topk::<dim!(2), _>(axis![0], true);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_gather_rank {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].gather(axis![1], tensor![0, 1].unsqueeze(axis![0]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_index_beyond_the_rows {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let index = Tensor::<i64, shape![2, 1]>::zeros();
    let _ = x.gather(axis![1], &index);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_index_not_integral {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![0.0, 1.0].to::<i64>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_index_select_by_matrix {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].index_select(axis![0], tensor![[0, 1]].flatten());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_largest_position_of_complex_numbers {
use castiron::tensor;

pub fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.abs().argmax();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_masked_select_by_integers {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2].masked_select(tensor![0, 1].ne(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_one_hot_of_floats {
use castiron::tensor;

pub fn main() {
    let _ = tensor![0.0, 1.0].to::<i64>().one_hot_sized(2);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_quantile_of_integers {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2].to::<f32>().quantile(0.5, castiron::Interpolation::Linear);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_rows_of_a_vector {
use castiron::tensor;

pub fn main() {
    let table = tensor![0.5, 1.5, 2.5];
    let _ = table.unsqueeze(castiron::axis![1]).embedding(tensor![2, 0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_scatter_dtype {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2].scatter(axis![0], tensor![0], tensor![0.5].to::<i64>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_searchsorted_shapes {
use castiron::tensor;

pub fn main() {
    let _ = tensor![[1, 2], [3, 4]].searchsorted(tensor![[1], [2]], false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_sort_complex {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1.0 + 2.0j, 3.0].abs().sort(axis![0], false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_sorted_by_an_axis_too_far {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![3, 1, 2].sort(axis![-1], false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_source_smaller_than_the_index {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 4]>::zeros();
    let index = Tensor::<i64, shape![2, 3]>::zeros();
    let source = Tensor::<f32, shape![2, 3]>::ones();
    let _ = x.scatter(axis![1], &index, &source);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_take_along_a_float_index {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2, 3].gather(axis![0], tensor![0, 2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_topk_bool {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![true, false].to::<u8>().topk::<castiron::dim!(1), _>(axis![0], true);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod choosing_values_for_other_places {
use castiron::tensor;

pub fn main() {
    let x = tensor![[0, 0, 0], [0, 0, 0]];
    let _ = x.index_put([&tensor![0, 1, 1, 0]], tensor![1, 2, 3], false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_changed_on_meta {
use castiron::{Meta, Tensor, axis, shape};

pub fn main() {
    let mut x = Tensor::<f32, shape![3, 2], Meta>::zeros();
    x = x.flip(axis![1]);
    let _ = x;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_counter_of_several_threads {
use castiron::tensor;

pub fn main() {
    let (x, mut positive) = (tensor![1.0, -2.0], 0);
    positive += x.par_fold(0, |sum, v| sum + i32::from(v > 0.0), |a, b| a + b);
    assert_eq!(positive, 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_error_without_room {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 300];
    let _ = x.try_map(|v| Ok::<_, Box<dyn std::error::Error>>(u8::try_from(v)?));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_mapped_on_a_tape {
use castiron::{grad::Grad, tensor};

pub fn main() {
    let x = tensor![1.0_f32, 2.0];
    let _ = x.value_and_grad((), |x, ()| castiron::fused!(x * x).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_mapped_on_cuda {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let _ = castiron::fused!(x * x + 1.0);
}

}

mod closures_result_that_is_larger {
use castiron::tensor;

pub fn main() {
    let (mut x, y) = (tensor![1, 2], tensor![[1, 2], [3, 4]]);
    let _ = x.zip_map(&y, |(x, y)| x + y);
    x += 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_result_that_is_no_element {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _: Vec<String> = x.iter().map(|v| v.to_string()).collect();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_shapes_that_do_not_broadcast {
use castiron::{Tensor, shape};

pub fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::ones(), Tensor::<i64, shape![2]>::ones());
    let _ = x.zip_map(y.unsqueeze(castiron::axis![1]), |(x, y)| x * y as f32);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod closures_zipped_across_devices {
use castiron::{Cuda, Tensor, shape, tensor};

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0], Tensor::<f32, shape![2], Cuda<0>>::zeros());
    let _ = x.zip_map(y.to_device::<castiron::Cpu>().unwrap(), |(x, y)| x + y);
}

}

mod closures_zipped_with_a_vector {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0], vec![3.0_f32, 4.0]);
    let y = castiron::TensorView::<f32, castiron::shape![2]>::from_slice(&y);
    let _ = x.zip_map(&y, |(x, y)| x + y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_bias_packed_across_devices {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let weight: Tensor<f32, shape![4, 3]> = Tensor::ones();
    let bias: Tensor<f32, shape![4], Cuda<0>> = Tensor::ones();
    let _ = weight.pack_linear(Some(&bias.to_device::<castiron::Cpu>().unwrap()));
}

}

mod device_choice_across_devices {
use castiron::{Cuda, Tensor, shape, where_};

pub fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let mask = Tensor::<bool, shape![3]>::zeros();
    let _ = where_(mask.to_device::<Cuda<0>>().unwrap(), &x, 0.0);
}

}

mod device_convolution_across_devices {
use castiron::{Cuda, Tensor, nn::Conv, shape};

pub fn main() {
    let x: Tensor<f32, shape![1, 3, 8, 8], Cuda<0>> = Tensor::zeros();
    let kernel: Tensor<f32, shape![4, 3, 3, 3]> = Tensor::zeros();
    let kernel = kernel.to_device::<Cuda<0>>().unwrap();
    let _ = x.conv2d(&kernel, None, Conv::new());
}

}

mod device_cpu_plus_cuda {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = x.to_device::<Cuda<0>>().unwrap() + &y;
}

}

mod device_device_named_by_a_float {
use castiron::AnyDevice;

pub fn main() {
    let _ = AnyDevice::new("cuda:1");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_element_of_a_cuda_tensor {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3], Cuda<0>>::ones();
    let _ = x.to_device::<castiron::Cpu>().unwrap()[(0, 1)];
}

}

mod device_elements_of_a_cuda_tensor {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::ones();
    let _ = x.to_device::<castiron::Cpu>().unwrap().to_vec();
}

}

mod device_elements_of_a_meta_tensor {
use castiron::{Meta, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    let _ = x.to_vec();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_function_of_cpu_tensors {
use castiron::{Cuda, Tensor, shape};

fn total<D: castiron::Device>(x: &Tensor<f32, shape![3], D>) -> Tensor<f32, (), D> {
    x.sum()
}

pub fn main() {
    total(&Tensor::<f32, shape![3], Cuda<0>>::zeros());
}

}

mod device_fused_across_devices {
use castiron::{Cuda, Tensor, fused, shape};

pub fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let y: Tensor<f32, shape![3]> = Tensor::zeros();
    let y = y.to_device::<Cuda<0>>().unwrap(); let _ = fused!(x * 2.0 + y);
}

}

mod device_in_place_across_devices {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let mut x: Tensor<f32, shape![3]> = Tensor::zeros();
    x += Tensor::<f32, shape![3], Cuda<0>>::zeros().to_device::<castiron::Cpu>().unwrap();
}

}

mod device_joining_across_devices {
use castiron::{Cuda, Tensor, axis, cat, shape};

pub fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = cat((&x, &y.to_device::<castiron::Cpu>().unwrap()), axis![0]);
}

}

mod device_kronecker_product_across_devices {
use castiron::{Meta, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    let y: Tensor<f32, shape![3, 3]> = Tensor::ones();
    let _ = x.kron(&y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_labels_on_another_device {
use castiron::{Cuda, Tensor, reduction::Mean, shape};

pub fn main() {
    let scores: Tensor<f32, shape![8, 10], Cuda<0>> = Tensor::zeros();
    let labels: Tensor<i64, shape![8]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels.to_device::<Cuda<0>>().unwrap(), (), -100, 0.0, Mean);
}

}

mod device_linear_across_devices {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![8, 2], Cuda<0>> = Tensor::zeros();
    let (w, b) = (Tensor::<f32, shape![3, 2]>::zeros(), Tensor::<f32, shape![3]>::zeros());
    let _ = x.linear(&w.to_device().unwrap(), Some(&b.to_device().unwrap()));
}

}

mod device_loop_over_a_meta_tensor {
use castiron::{Meta, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    for value in x.iter() {
        println!("{value}");
    }
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_mask_on_another_device {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let mask = Tensor::<bool, shape![3]>::zeros();
    let _ = x.masked_fill(mask.to_device::<Cuda<0>>().unwrap(), 0);
}

}

mod device_matmul_across_devices {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3, 2], Cuda<0>> = Tensor::zeros();
    let _ = x.to_device::<Cuda<0>>().unwrap().matmul(&y);
}

}

mod device_meta_plus_cpu {
use castiron::{Meta, Tensor, shape};

pub fn main() {
    let (x, y) = (Tensor::<f32, shape![3], Meta>::ones(), Tensor::<f32, shape![3]>::ones());
    let _ = &x + y.to_device::<Meta>().unwrap();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_normalised_by_weights_elsewhere {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![8, 2], Cuda<0>> = Tensor::zeros();
    let weight: Tensor<f32, shape![2]> = Tensor::ones();
    let _ = x.layer_norm(Some(&weight.to_device::<Cuda<0>>().unwrap()), None, 1e-5);
}

}

mod device_output_on_another_device {
use castiron::{Meta, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2]> = Tensor::ones();
    let mut out: Tensor<f32, shape![2]> = Tensor::ones();
    x.exp_into(&mut out);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod device_pivots_on_another_device {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let lu: Tensor<f32, shape![2, 2]> = Tensor::eye();
    let pivots: Tensor<i32, shape![2]> = Tensor::ones();
    let _ = lu.lu_solve(&pivots, &Tensor::<f32, shape![2, 1]>::ones(), false);
}

}

mod device_result_that_forgets_its_device {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let y: Tensor<f32, shape![3], Cuda<0>> = &x * 2.0;
}

}

mod device_rows_chosen_by_indices_elsewhere {
use castiron::{Cuda, Tensor, axis, shape, tensor};

pub fn main() {
    let table = Tensor::<f32, shape![5, 3], Cuda<0>>::zeros();
    let _ = table.index_select(axis![0], tensor![0, 2].to_device::<Cuda<0>>().unwrap());
}

}

mod device_stacked_across_devices {
use castiron::{Cuda, Tensor, axis, shape, stack};

pub fn main() {
    let x = Tensor::<f32, shape![3]>::zeros();
    let y = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let _ = stack((x.to_device::<Cuda<0>>().unwrap(), &y), axis![0]);
}

}

mod device_two_gpus {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let y: Tensor<f32, shape![3], Cuda<1>> = Tensor::zeros();
    let _ = x.to_device::<Cuda<1>>().unwrap() * &y;
}

}

mod device_zero_dim_cuda_beside_cpu {
use castiron::{Cuda, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let scale: Tensor<f32, (), Cuda<0>> = Tensor::zeros();
    let _ = &x + scale.to_device::<castiron::Cpu>().unwrap();
}

}

mod dtype_bitwise_and_of_floats {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0].ne(0).logical_and(tensor![1, 0].ne(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_bool_minus_bool {
use castiron::tensor;

pub fn main() {
    let mask = tensor![true, false];
    let _ = &mask ^ &mask;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_cast_by_as {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.to::<f64>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_cast_that_pytorch_lacks {
use castiron::{F4E2M1FNX2, Tensor, shape};

pub fn main() {
    let x: Tensor<F4E2M1FNX2, shape![3]> = Tensor::zeros();
    let _ = x.view_dtype::<u8>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_cast_to_usize {
use castiron::tensor;

pub fn main() {
    let x = tensor![0.0, 1.0];
    let _ = x.to::<i64>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_closeness_to_another_dtype {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![1.0, 2.0; f64]);
    assert!(x.allclose(&y.to::<f32>()));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_complex_numbers_clamped {
use castiron::tensor;

pub fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.real().clamp(0, 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_condition_that_is_no_mask {
use castiron::{tensor, where_};

pub fn main() {
    let _ = where_(tensor![1, 0].ne(0), 1.0, 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_dot_product_of_two_dtypes {
use castiron::tensor;

pub fn main() {
    let (x, counts) = (tensor![1.0, 2.0], tensor![1, 2]);
    let _ = x.dot(counts.to::<f32>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_exclamation_mark_before_floats {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 0.0];
    let _ = x.logical_not();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_exclusive_or_with_a_float {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2] ^ 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_exp_of_a_shell {
use castiron::{F8E4M3FN, Tensor, shape};

pub fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let _ = x.to::<f32>().exp();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_floor_of_complex_numbers {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0 + 2.0j, 0.5].real().floor();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_ids_of_a_shell_dtype_plus_one {
use castiron::{Tensor, shape};

pub fn main() {
    let ids = Tensor::<u32, shape![3]>::zeros();
    let _ = ids.to::<i64>() + 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_largest_complex_number {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0 + 2.0j, 0.5].abs().amax();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_logarithm_of_a_shell {
use castiron::{F8E5M2, Tensor, shape};

pub fn main() {
    let x = Tensor::<F8E5M2, shape![3]>::ones();
    let _ = x.to::<f32>().log();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_mask_from_a_comparison_minus_another {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![2.0, 1.0]);
    let _ = x.gt(1) ^ y.gt(1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_masked_fill_by_integers {
use castiron::tensor;

pub fn main() {
    let (x, padding) = (tensor![1.0, 2.0], tensor![0, 1]);
    let _ = x.masked_fill(padding.ne(0), 0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_matrix_product_of_masks {
use castiron::tensor;

pub fn main() {
    let seen = tensor![[true, false], [false, true]];
    let _ = seen.to::<f32>().matmul(seen.to::<f32>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_maximum_of_complex_numbers {
use castiron::tensor;

pub fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.abs().maximum(z.abs());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_mean_of_integers {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2, 3].to::<f32>().mean();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_minus_before_a_mask {
use castiron::tensor;

pub fn main() {
    let mask = tensor![true, false];
    let _ = !mask;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_negative_of_bools {
use castiron::tensor;

pub fn main() {
    let _ = !tensor![true, false];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_not_of_floats {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0].logical_not();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_one_minus_a_mask {
use castiron::tensor;

pub fn main() {
    let mask = tensor![true, false];
    let _ = !&mask;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_order_of_complex_numbers {
use castiron::tensor;

pub fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.abs().lt(z.abs());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_shells_of_two_kinds_compared {
use castiron::{F8E4M3FN, F8E5M2, Tensor, shape, shells};

pub fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = x.to::<f32>().eq(y.to::<f32>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_shift_of_floats {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0] * 4.0;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_softmax_of_integers {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2, 3].to::<f32>().softmax(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod dtype_standard_deviation_of_integers {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.to::<f32>().std(1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formats_batch_as_an_image {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x: Tensor<u8, shape![2, 5, 5, 3]> = Tensor::zeros();
    let image: image::RgbImage = x.select(axis![0], 0).into_image().unwrap();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formats_channels_last_3d_of_images {
use castiron::{ChannelsLast3d, Tensor, shape};

pub fn main() {
    let images: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::zeros();
    let _ = images.contiguous_in(castiron::ChannelsLast);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formats_channels_last_of_any_shape {
use castiron::{ChannelsLast, Shape, Tensor};

fn images<N: castiron::Dim, C: castiron::Dim, H: castiron::Dim, W: castiron::Dim>(x: &Tensor<f32, (N, C, H, W)>) -> Tensor<f32, (N, C, H, W)> {
    x.zeros_like_in(ChannelsLast)
}

pub fn main() {
    images(&Tensor::<f32, castiron::shape![2, 3, 4, 5]>::ones());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formats_channels_last_of_three_axes {
use castiron::{ChannelsLast, Tensor, shape};

pub fn main() {
    let image: Tensor<f32, shape![3, 4, 5]> = Tensor::zeros();
    let _ = image.unsqueeze(castiron::axis![0]).to_memory_format(ChannelsLast);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formats_contiguous_that_preserves {
use castiron::{Preserve, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = x.contiguous_in(castiron::Contiguous);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_captured_by_a_formula {
use castiron::{formula, tensor};

pub fn main() {
    let rate = 0.5;
    #[formula]
    fn decay<F: Float>(x: F, rate: F) -> F {
        (-rate * x).exp()
    }
    let _ = tensor![1.0, 2.0].apply(decay, rate);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_comparison_in_a_formula {
use castiron::{formula, tensor};

#[formula]
fn larger<F: Float>(x: F, y: F) -> F {
    let mask = x.gt(y);
    select(mask, x, y)
}

pub fn main() {
    let _ = tensor![-1.0, 2.0].apply(larger, 0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_derivative_by_some_operands {
use castiron::{formula, tensor};

#[formula]
fn by_x<F: Float>(x: F, scale: F) -> F {
    scale * (x * scale).sigmoid()
}
#[formula(derivative = (by_x, _))]
fn soft<F: Float>(x: F, scale: F) -> F {
    (1.0 + (x * scale).exp()).log()
}

pub fn main() {
    let _ = tensor![1.0, 2.0].apply(soft, 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_floats_of_a_formula_of_integers {
use castiron::{formula, tensor};

#[formula]
fn parity<I: Integer>(x: I, y: I) -> I {
    (x ^ y) & 1
}

pub fn main() {
    let _ = tensor![1.0, 2.0].to::<i64>().apply(parity, 3);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_called_without_its_operands {
use castiron::{formula, fused, tensor};

#[formula]
fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = fused!(swish(x, 0.5) + 1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_for_one_dtype {
use castiron::{formula, tensor};

#[formula]
fn third<F: Float>(x: F) -> F {
    x / 3.0
}

pub fn main() {
    let _ = tensor![1.0, 2.0].apply(third, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_of_another_set {
use castiron::{formula, tensor};

#[formula]
fn squared<F: Inexact>(x: F) -> F {
    x * x
}
#[formula]
fn next<I: Integer>(x: I) -> I {
    x * x + 1
}

pub fn main() {
    let _ = tensor![1, 2].apply(next, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_of_integers {
use castiron::{formula, tensor};

#[formula]
fn third<F: Float>(x: F) -> F {
    x / 3.0
}

pub fn main() {
    let _ = tensor![1, 2].to::<f32>().apply(third, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_on_an_any_tensor {
use castiron::any::{Args, call, register};
use castiron::{AnyTensor, Result, formula, tensor};

#[formula]
fn twice<F: Float>(x: F) -> F {
    x * 2
}

pub fn main() -> Result<()> {
    register("mine::twice", twice)?;
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let _ = call("mine::twice", &Args::new().arg(&x))?;
    let _ = call("mine::twice", &Args::new().arg(&x))?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_formula_without_its_operands {
use castiron::{formula, tensor};

#[formula]
fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}

pub fn main() {
    let _ = tensor![1.0, 2.0].apply(swish, 0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_fraction_in_a_formula_of_integers {
use castiron::{formula, tensor};

#[formula]
fn above<I: Integer>(x: I) -> I {
    x + 1
}

pub fn main() {
    let _ = tensor![1, 2].apply(above, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_function_of_integers_in_a_formula {
use castiron::{formula, tensor};

#[formula]
fn grown<I: Integer>(x: I) -> I {
    x * x
}

pub fn main() {
    let _ = tensor![1, 2].apply(grown, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_host_function_in_a_formula {
use castiron::{formula, tensor};

#[formula]
fn half<F: Float>(x: F) -> F { x / 2.0 }

#[formula]
fn wave<F: Float>(x: F) -> F {
    half(x).sin()
}

pub fn main() {
    let _ = tensor![1.0, 2.0].apply(wave, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_host_function_of_elements {
use castiron::{fused, tensor};

#[castiron::formula]
fn half<F: Float>(x: F) -> F { x / 2.0 }

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = fused!(half(x) + 1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_if_in_a_formula {
use castiron::{formula, tensor};

#[formula]
fn leaky<F: Float>(x: F) -> F {
    select(x.gt(0.0), x, 0.1 * x)
}

pub fn main() {
    let _ = tensor![-1.0, 2.0].apply(leaky, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_index_in_a_formula {
use castiron::{axis, formula, tensor};

#[formula]
fn slope<F: Float>(x: F, next: F) -> F {
    next - x
}

pub fn main() {
    let x = tensor![1.0, 4.0, 9.0];
    let _ = x.narrow(axis![0], 0, 2).apply(slope, &x.narrow(axis![0], 1, 2));
    let _ = axis![0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_loop_that_ends_by_an_element {
use castiron::{formula, tensor};

#[formula]
fn root<F: Float>(x: F) -> F {
    let mut y = 0.5 * x + 0.5;
    for _ in 0..8 {
        y = 0.5 * (y + x / y);
    }
    y
}

pub fn main() {
    let _ = tensor![1.0, 2.0].apply(root, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_numbers_for_a_mask {
use castiron::{formula, tensor};

#[formula]
fn kept<F: Float>(x: F, keep: Mask) -> F {
    select(keep, x, 0)
}

pub fn main() {
    let (x, weights) = (tensor![1.0, 2.0], tensor![0.0, 1.0]);
    let _ = x.apply(kept, weights.ne(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_plain_struct_as_a_reducer {
use castiron::tensor;

struct Total;

pub fn main() {
    let _ = (tensor![1.0, 2.0].sum(), Total);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_quotient_in_a_formula_of_integers {
use castiron::{formula, tensor};

#[formula]
fn half<I: Integer>(x: I) -> I {
    x.floor_divide(2)
}

pub fn main() {
    let _ = tensor![1, 2].apply(half, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_reducer_without_a_merge {
use castiron::{reducer, tensor};

struct Total;
#[reducer]
impl Total {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F) -> F {
        sum + x
    }
    fn merge<F: Float>(one: F, other: F) -> F { one + other } fn finish<F: Float>(sum: F) -> F { sum }
}

pub fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(Total, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_reducer_without_its_operand {
use castiron::{reducer, tensor};

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

pub fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(WeightedSum, 0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_set_of_a_formula {
use castiron::{formula, tensor};

#[formula]
    fn turned<C: ComplexFloat>(z: C) -> C {
    z.conj()
}

pub fn main() {
    let _ = tensor![1.0 + 2.0j].apply(turned, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_several_numbers_as_a_method {
use castiron::{formula, fused, tensor};

#[formula(method)]
fn polar_form<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

pub fn main() {
    let (x, y) = (tensor![3.0, 1.0], tensor![4.0, 0.0]);
    let (radius, _) = x.polar_form(&y); let _ = fused!(radius * 2);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_several_numbers_in_an_expression {
use castiron::{formula, tensor};

#[formula]
fn polar<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

pub fn main() {
    let (x, y) = (tensor![3.0, 1.0], tensor![4.0, 0.0]);
    let _ = x.apply(polar, &y).0.lazy() * 2;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_several_numbers_in_fused {
use castiron::{formula, fused, tensor};

#[formula]
fn polar<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

pub fn main() {
    let (x, y) = (tensor![3.0, 1.0], tensor![4.0, 0.0]);
    let (radius, _) = x.apply(polar, &y); let _ = fused!(radius * 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod formulas_step_of_another_state {
use castiron::{reducer, tensor};

struct Mean;
#[reducer]
impl Mean {
    fn start<F: Float>() -> [F; 2] {
        [0.0, 0.0]
    }
        fn step<F: Float>([sum, count]: [F; 2], x: F) -> [F; 2] {
        [sum + x, count + 1]
    }
    fn merge<F: Float>(one: [F; 2], other: [F; 2]) -> [F; 2] {
        [one[0] + other[0], one[1] + other[1]]
    }
    fn finish<F: Float>([sum, count]: [F; 2]) -> F {
        sum / count
    }
}

pub fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(Mean, ());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_accumulated_in_another_dtype {
use castiron::{Numeric, Tensor, shape, tensor};

    fn accumulate<A: Numeric, B: Numeric + castiron::CastTo<A>>(total: &mut Tensor<A, shape![2]>, x: &Tensor<B, shape![2]>) {
    *total += x.to::<A>();
}

pub fn main() {
    accumulate(&mut tensor![1.0, 2.0], &tensor![1, 2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_arithmetic_on_any_element {
use castiron::{Element, Shape, Tensor};

fn double<E: castiron::Dtype, S: Shape>(x: &Tensor<E, S>) {
    let _ = x + x;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_bits_of_any_number {
use castiron::{Integer, Numeric, Shape, Tensor};

fn low_bits<E: Integer, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x & x
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_comparison_with_a_generic_element {
use castiron::{Dtype, Ordered, Shape, Tensor};

fn positive<E: Ordered, S: Shape>(x: &Tensor<E, S>, bound: E) -> bool {
    x.gt(bound).all().item()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_decay_of_any_number {
use castiron::{Float, Numeric, Shape, Tensor};

fn decay<E: Float, S: Shape>(x: &mut Tensor<E, S>) {
    *x *= 0.9;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_determinant_of_a_float_and_field {
use castiron::{Dim, Field, Float, Tensor, tensor};

fn log_det<E: castiron::RealField, N: Dim>(x: &Tensor<E, (N, N)>) -> Tensor<E, ()> {
    x.slogdet().1
}

pub fn main() {
    assert_eq!(log_det(&tensor![[1.0]]).item(), 0.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_device_without_a_bound {
use castiron::{Device, Shape, Tensor};

fn total<S: Shape, D: Device>(x: &Tensor<f32, S, D>) -> Tensor<f32, (), D> {
    x.sum()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_devices_that_may_differ {
use castiron::{Device, Tensor, shape};

fn sum<D: Device>(x: &Tensor<f32, shape![3], D>, y: &Tensor<f32, shape![3], D>) {
    let _ = x + y;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_dtype_without_a_bound {
use castiron::{Dtype, Tensor, shape};

fn first<E: Dtype>(x: &Tensor<E, shape![3]>) -> E {
    x[0]
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_float_literal_as_an_element {
use castiron::{Float, Shape, Tensor};

fn halved<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    let half: E = E::from_f64(0.5);
    x * half
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_function_of_floats_called_with_integers {
use castiron::{Float, Shape, Tensor, tensor};

fn rms<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, ()> {
    x.square().mean().sqrt()
}

pub fn main() {
    rms(&tensor![1, 2, 3].to::<f32>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_halves_of_any_number {
use castiron::{Float, Numeric, Shape, Tensor};

fn halve<E: Float, S: Shape>(x: &mut Tensor<E, S>) {
    *x /= 2;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_identity_of_any_size {
use castiron::{Dim, RealField, Tensor};

fn damped<E: RealField, N: Dim>(p: &Tensor<E, (N, N)>) -> Tensor<E, (N, N)> {
    p + p.eye_like()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_in_place_of_two_dtypes {
use castiron::{Dtype, Shape, Tensor};

fn add<A: Dtype, B: Dtype, S: Shape>(x: &mut Tensor<A, S>, y: &Tensor<B, S>) {
    let _ = &*x + y;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_inner_sizes_of_two_names {
use castiron::{Dim, Numeric, Tensor};

fn product<E: Numeric, M: Dim, K: Dim, N: Dim>(x: &Tensor<E, (M, K)>, y: &Tensor<E, (K, N)>) -> Tensor<E, (M, N)> {
    x.matmul(y)
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_inverted_tensor_of_any_dtype {
use castiron::{Bits, Dtype, Shape, Tensor};

fn inverted<E: Bits, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    !x
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_largest_of_any_number {
use castiron::{Numeric, Real, Shape, Tensor};

fn peak<E: Real, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, ()> {
    x.amax()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_matmul_of_any_shape {
use castiron::{Numeric, Shape, Tensor};

fn square<E: Numeric, N: castiron::Dim>(x: &Tensor<E, (N, N)>) {
    let _ = x.matmul(x);
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_mean_needs_floats {
use castiron::{Dtype, Shape, Tensor};

fn center<E: castiron::Inexact, S: Shape>(x: &Tensor<E, S>) {
    let _ = x.mean();
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_negative_of_any_dtype {
use castiron::{Dtype, Numeric, Shape, Tensor};

fn opposite<E: Numeric, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    -x
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_order_needs_ordered {
use castiron::{Dtype, Shape, Tensor};

fn positive<E: castiron::Ordered, S: Shape>(x: &Tensor<E, S>) -> Tensor<bool, S> {
    x.gt(0)
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_shape_without_a_bound {
use castiron::{Shape, Tensor};

fn total<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, ()> {
    x.sum()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_shapes_that_may_not_broadcast {
use castiron::{Shape, Tensor};

fn sum<S: Shape>(x: &Tensor<f32, S>, y: &Tensor<f32, S>) {
    let _ = x + y;
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_size_without_a_bound {
use castiron::{Dim, Tensor};

fn total<N: Dim>(x: &Tensor<f32, (N,)>) -> Tensor<f32, ()> {
    x.sum()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_softmax_of_any_number {
use castiron::{Float, Numeric, Shape, Tensor, axis};

fn attention<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x.softmax(axis![-1])
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_solutions_of_any_float {
use castiron::{Dim, RealField, Tensor};

fn residual<E: RealField, N: Dim>(a: &Tensor<E, (N, N)>, b: &Tensor<E, (N,)>) -> Tensor<E, (N,)> {
    a.matmul(a.solve(b)) - b
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_square_root_of_any_dtype {
use castiron::{Dtype, Float, Shape, Tensor};

fn root<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    x.sqrt()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_subtraction_needs_numbers {
use castiron::{Dtype, Shape, Tensor};

fn difference<E: castiron::Numeric, S: Shape>(x: &Tensor<E, S>, y: &Tensor<E, S>) -> Tensor<E, S> {
    x - y
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_sum_of_two_dtypes {
use castiron::{Dtype, Promoted, Shape, Tensor};

fn add<A: Dtype, B: Dtype, S: Shape>(x: &Tensor<A, S>, y: &Tensor<B, S>) -> Tensor<Promoted<A, B>, S> {
    x + y
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_transposed_matrix_of_any_shape {
use castiron::{Dim, Dtype, Shape, Tensor};

fn gram<E: Dtype, M: Dim, N: Dim>(x: &Tensor<E, (M, N)>) {
    let _ = x.t();
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod generic_zeros_of_any_shape {
use castiron::{Shape, Tensor};

fn zeros<S: Shape>(x: &Tensor<f32, S>) -> Tensor<f32, S> {
    x.zeros_like()
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_backward {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    use castiron::grad::Grad;
    let (_loss, _gradient) = x.value_and_grad((), |x, ()| (x * x).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_detached_from_no_tape {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let y = x.exp();
    println!("{y}");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_gradient_of_a_tensor {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    use castiron::grad::Grad;
    let (_, _gradient) = x.value_and_grad((), |x, ()| (x * x).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_gradient_of_another_shape {
use castiron::grad::Grad;
use castiron::optim::Sgd;
use castiron::tensor;

pub fn main() {
    let (mut x, y) = (tensor![1.0, 2.0], tensor![1.0, 2.0, 3.0]);
    let (_, gradient) = x.value_and_grad((), |x, ()| x.sum());
    Sgd::new(&x).step(&mut x, &gradient);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_hessian_of_a_vector {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0_f64, 2.0];
    let _ = x.hessian((), |x, ()| x.square().sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_integers {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let n = tensor![1_i64, 2];
    let _ = n.to::<f32>().value_and_grad((), |n, ()| n.sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_jacobian_of_integers {
use castiron::tensor;

pub fn main() {
    let n = tensor![1_i64, 2];
    let _ = n.to::<f64>().jacobian((), |n, ()| n * 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_kept_from_the_tape {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let mut kept = None;
    let _ = x.value_and_grad((), |x, ()| {
        kept = Some((x * 2.0).detach());
        x.sum()
    });
    let _ = kept.unwrap() + x;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_learning_rate_called_lr {
use castiron::optim::Sgd;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = Sgd::new(&x).rate(0.1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_loss_that_is_a_number {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0_f32, 2.0];
    let (_, _) = x.value_and_grad((), |x, ()| x.sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_loss_that_is_a_vector {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.value_and_grad((), |x, ()| (x * x).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_module_on_one_device {
use castiron::grad::Grad;
use castiron::{Cpu, Device, Module, Tensor, shape, tensor};

#[derive(Module)]
struct Net<D: Device = Cpu> {
    w: Tensor<f32, shape![2], D>,
}

pub fn main() {
    let net = Net { w: tensor![1.0, 2.0] };
    let (_, _) = net.value_and_grad((), |net, ()| net.w.sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_no_grad {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0].exp();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_number_beside_the_parameters {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let k = 3.0;
    let _ = x.value_and_grad((), |x, ()| (x * k).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_pulled_twice {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let (_, back) = x.vjp((), |x, ()| x * x);
    let _ = back.pull(&tensor![1.0, 0.0]);
    let (_, back) = x.vjp((), |x, ()| x * x);
    let _ = back.pull(&tensor![0.0, 1.0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_requires_grad {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.value_and_grad((), |x, ()| x.sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_target_from_outside {
use castiron::grad::Grad;
use castiron::reduction::Mean;
use castiron::tensor;

pub fn main() {
    let (scores, classes) = (tensor![[1.0, 2.0]], tensor![1]);
    let _ = scores.value_and_grad(&classes, |scores, classes| scores.cross_entropy(classes, (), -100, 0.0, Mean));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_tensor_from_outside {
use castiron::grad::Grad;
use castiron::tensor;

pub fn main() {
    let (w, x) = (tensor![[1.0, 2.0]], tensor![[1.0], [2.0]]);
    let _ = w.value_and_grad(&x, |w, x| w.matmul(x).sum());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod gradients_zero_grad {
use castiron::optim::Adam;
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let mut adam = Adam::new(&x);
    let _ = &mut adam;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_assign_float_to_integer {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.assign(tensor![1.5, 2.5, 3.5].to::<i64>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_bool_from_integer {
use castiron::tensor;

pub fn main() {
    let mut mask = tensor![true, false];
    mask |= tensor![1, 0].ne(0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_bytes_divided_by_bytes {
use castiron::tensor;

pub fn main() {
    let mut pixels = tensor![0, 128, 255; u8];
    let scale = tensor![1, 2, 4; u8];
    pixels.floor_divide_(scale);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_bytes_divided_in_place {
use castiron::tensor;

pub fn main() {
    let mut pixels = tensor![0, 128, 255; u8];
    let scaled = &pixels / 255.0;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_complex_factor {
use castiron::{Complex, tensor};

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    let x = x * Complex::new(0.0_f32, 1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_counts_plus_a_half {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let counts = counts + 0.5;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_exp_of_integers {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let _ = counts.exp();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_float_from_complex {
use castiron::tensor;

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    x += tensor![1.0 + 2.0j, 0.5].real();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_integer_from_float {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let counts = counts + tensor![0.5, 0.5, 0.5];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_integer_from_float_scalar {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let counts = counts * 0.5;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_integer_true_division {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.floor_divide_(2);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_larger_operand {
use castiron::{Tensor, shape};

pub fn main() {
    let mut total = Tensor::<f32, shape![3]>::zeros();
    let batch = Tensor::<f32, shape![2, 3]>::ones();
    let total = total + &batch;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_mask_times_two {
use castiron::tensor;

pub fn main() {
    let mut mask = tensor![true, false];
    let counts = mask * 2;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_mean_removed_from_integers {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let counts = &counts - counts.to::<f32>().mean();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_method_with_a_float_literal {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let counts = counts.mul(0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_output_of_a_lower_category {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let mut out: Tensor<f32, shape![2]> = Tensor::zeros();
    tensor![1, 2].add_into(tensor![0.5, 0.5], &mut out);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_output_that_would_grow {
use castiron::tensor;

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    let x = x + tensor![[1.0, 2.0], [3.0, 4.0]];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_plus_itself {
use castiron::tensor;

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    x += x.clone();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_remainder_by_a_float {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![5, 6, 7];
    counts %= 2;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_shared_reference {
use castiron::{Tensor, shape, tensor};

fn step(weight: &mut Tensor<f32, shape![2]>, gradient: &Tensor<f32, shape![2]>) {
    weight.sub_(gradient * 0.1);
}

pub fn main() {
    let mut weight = tensor![1.0, 2.0];
    step(&mut weight, &tensor![0.5, 0.5]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_shift_of_floats {
use castiron::tensor;

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    x *= 4.0;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_square_root_into_bytes {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let mut out = Tensor::<f32, shape![2]>::zeros();
    tensor![1, 4; u8].sqrt_into(&mut out);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_square_root_of_integers {
use castiron::tensor;

pub fn main() {
    let mut squares = tensor![1, 4, 9; i32];
    let squares = squares.sqrt();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_tensor_that_is_not_mut {
use castiron::tensor;

pub fn main() {
    let mut x = tensor![1.0, 2.0];
    x += 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod in_place_vector_into_a_row_of_another_size {
use castiron::{axis, tensor};

pub fn main() {
    let mut x = tensor![[1, 2, 3], [4, 5, 6]];
    x.select_mut(axis![0], 0).add_(tensor![1, 2, 3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod kernels_operand_of_another_dtype {
use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

pub fn main() {
    let x: Tensor<f64, shape![3], Cuda<0>> = Tensor::zeros();
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &x.to(), &mut y);
}

}

mod kernels_operand_on_the_host {
use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

pub fn main() {
    let x: Tensor<f32, shape![3]> = Tensor::zeros();
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &x.to_device().unwrap(), &mut y);
}

}

mod kernels_result_of_a_kernel {
use castiron::{Tensor, cuda_kernel, shape};

cuda_kernel! {
        fn cleared(y: &mut Tensor<f32, shape![3]>) {
        // SAFETY: there are three.
        unsafe { "if (threadIdx.x < 3) y[threadIdx.x] = 0;" }
    }
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod kernels_size_without_a_name {
use castiron::{Dim, Tensor, cuda_kernel, shape};

cuda_kernel! {
        fn cleared<N: Dim>(y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past the size.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = 0;" }
    }
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod kernels_text_without_a_promise {
use castiron::{Tensor, cuda_kernel, shape};

cuda_kernel! {
    fn cleared(y: &mut Tensor<f32, shape![3]>) {
        unsafe { "if (threadIdx.x < 3) y[threadIdx.x] = 0;" }
    }
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod kernels_written_on_the_host {
use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

pub fn main() {
    let x: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &x, &mut y);
}

}

mod kernels_written_where_it_is_read {
use castiron::{Cuda, Dim, Tensor, cuda_kernel, gpu::Launch, shape};

cuda_kernel! {
    fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
        // SAFETY: no index is past `N`.
        unsafe { "for (i64 i = threadIdx.x; i < N; i += blockDim.x) y[i] = a * x[i] + y[i];" }
    }
}

pub fn main() {
    let mut y: Tensor<f32, shape![3], Cuda<0>> = Tensor::zeros();
    let _ = axpy(Launch::over(3), 2.0, &y.clone(), &mut y);
}

}

mod lazy_assign_narrows {
use castiron::tensor;

pub fn main() {
    let mut counts = tensor![1, 2, 3];
    let x = tensor![0.5, 1.5, 2.5];
    counts.copy_from(&(&counts + x * 2.0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_bool_minus {
use castiron::{fused, tensor};

pub fn main() {
    let a = tensor![true, false];
    let b = tensor![true, true];
    let _ = fused!(a ^ b);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_chained_comparison {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![1.0, 4.0];
    let _ = fused!((x > 0) & (x < 3));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_choice_without_else {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, -1.5];
    let _ = fused!(if x > 0 { x } else { 0 });
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_closure_on_every_element {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x * x + 1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_element_inside {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x.sum()).item();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_loop_inside {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, 1.5];
    let _ = fused! { let y = x * 2; y + 1 };
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_narrowing_into_integers {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, 1.5];
    let mut counts = tensor![1, 2];
    let counts = fused!(counts + x * 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_not_an_expression {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, 1.5, 2.5];
    let _ = fused!((x > 0) & (x < 1));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_nothing_computed {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, -1.5];
    fused!(x + 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_part_that_is_changed {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused! {
        let total = x * 2.0;
        total + x
    };
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_power_by_two_stars {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x.pow(2));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_product_of_matrices {
use castiron::{fused, tensor};

pub fn main() {
    let (x, w) = (tensor![[1.0, 3.0]], tensor![[1.0], [0.5]]);
    let _ = fused!({ x.matmul(&w) } + 1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_shapes {
use castiron::{Tensor, shape};

pub fn main() {
    let a = Tensor::<f32, shape![3, 4]>::ones();
    let b = Tensor::<f32, shape![3, 4]>::ones();
    let _ = a.lazy() * 2.0 + &b;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_two_conditions_joined_by_or {
use castiron::{fused, tensor};

pub fn main() {
    let x = tensor![0.5, 1.5, 2.5];
    let _ = fused!((x < 0) | (x > 1));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_view_of_an_expression {
use castiron::{fused, tensor};

pub fn main() {
    let (x, y) = (tensor![[1.0, 3.0]], tensor![[1.0, 0.5]]);
    let _ = fused!(x + y).t();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_what_is_no_formula {
use castiron::{fused, tensor};

pub fn main() {
    let (x, y) = (tensor![1.0, 4.0], tensor![1.0, 2.0]);
    let _ = fused!({ match x.numel() { 2 => &x, _ => &y } } + y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod lazy_written_into_a_value {
use castiron::{axis, fused, tensor};

pub fn main() {
    let mut x = tensor![[1.0, 3.0], [5.0, 7.0]];
    let y = tensor![2.0, 4.0];
    fused!(x.select_mut(axis![0], 1) = y * 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_determinant_of_a_vector {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.diag().det();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_factors_of_a_vector {
use castiron::{Reduced, Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.unsqueeze(castiron::axis![0]).qr(Reduced);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_frames_of_another_rank {
use castiron::fft::{Frames, Window};
use castiron::{Complex, Tensor, shape};

pub fn main() {
    let signal = Tensor::<f32, shape![64]>::ones();
    let window = Tensor::<f32, shape![16]>::window(&Window::Hann, false);
    let _: Tensor<Complex<f32>, shape![9, _]> = signal.stft(Some(&window), &Frames::new(16));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_half_of_the_frequencies_of_complex_numbers {
use castiron::{Complex, Tensor, axis, fft::Norm, shape};

pub fn main() {
    let x = Tensor::<Complex<f32>, shape![8]>::ones();
    let _ = x.fft(axis![0], Norm::Backward);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_inverse_of_an_oblong_matrix {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![3, 4]> = Tensor::ones();
    let _ = x.pinv(None, false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_least_squares_of_other_rows {
use castiron::{Tensor, shape};

pub fn main() {
    let a = Tensor::<f64, shape![9, 2]>::ones();
    let b = Tensor::<f64, shape![9]>::ones();
    let _ = a.lstsq(&b, None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_pivots_of_other_factors {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let (lu, pivots) = Tensor::<f32, shape![3, 3]>::eye().lu_factor();
    let _ = lu.lu_solve(&pivots, &Tensor::<f32, shape![3, 1]>::ones(), false);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_right_side_of_another_dtype {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let a = Tensor::<f64, shape![2, 2]>::eye();
    let _ = a.solve(tensor![1.0, 2.0].to::<f64>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_right_side_of_other_columns {
use castiron::{Tensor, shape};

pub fn main() {
    let a = Tensor::<f64, shape![3, 3]>::eye();
    let b = Tensor::<f64, shape![3, 2]>::ones();
    let _ = a.solve(&b);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_right_side_of_other_rows {
use castiron::{Tensor, shape};

pub fn main() {
    let a = Tensor::<f64, shape![3, 3]>::eye();
    let b = Tensor::<f64, shape![2, 3]>::ones();
    let _ = a.solve(b.t());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_samples_that_are_not_counted {
use castiron::{Complex, Tensor, axis, fft::Norm, shape};

pub fn main() {
    let frequencies = Tensor::<Complex<f32>, shape![33]>::ones();
    let _ = frequencies.irfft::<castiron::dim!(64), _>(axis![0], Norm::Backward);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_singular_values_of_a_vector {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![4]> = Tensor::ones();
    let _ = x.unsqueeze(castiron::axis![0]).svdvals();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_singular_values_of_integers {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<i64, shape![3, 3]> = Tensor::ones();
    let _ = x.to::<f32>().svdvals();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_transform_back_to_nothing {
use castiron::{Complex, Tensor, axis, dim, fft::Norm, shape};

pub fn main() {
    let frequencies = Tensor::<Complex<f32>, shape![33]>::ones();
    let _ = frequencies.irfft::<dim!(64), _>(axis![0], Norm::Backward);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_transform_of_half_floats {
use castiron::fft::Norm;
use castiron::{Tensor, axis, f16, shape};

pub fn main() {
    let x: Tensor<f16, shape![8]> = Tensor::zeros();
    let _ = x.to::<f32>().fft(axis![0], Norm::Backward);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_transform_to_another_rank {
use castiron::{Complex, Tensor, axis, fft::Norm, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let _: Tensor<Complex<f32>, shape![2, 3]> = x.rfftn(axis![0, 1], Norm::Backward);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod linalg_window_of_another_dtype {
use castiron::fft::{Frames, Window};
use castiron::{Complex, Tensor, shape};

pub fn main() {
    let signal = Tensor::<f32, shape![64]>::ones();
    let window = Tensor::<f64, shape![16]>::window(&Window::Hann, false);
    let _: Tensor<Complex<f32>, shape![9, _]> = signal.stft(Some(&window.to::<f32>()), &Frames::new(16));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_axis_that_is_not_imported {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![[1.0, 2.0]].sum_axis(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_dtype_by_its_name_in_pytorch {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0; f64];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_element_that_is_missing {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_larger_than_the_dtype {
use castiron::tensor;

pub fn main() {
    let _ = tensor![300; i64];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_shape_of_an_undeclared_name {
use castiron::{Tensor, dims, shape};
dims! { Batch }

fn first(_: &Tensor<f32, shape![Batch, 3]>) {}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_size_by_a_variable {
use castiron::{Tensor, shape};

pub fn main() {
    let n = 2;
    let x: Tensor<f32, shape![_, 3]> = Tensor::zeros_sized([n, 3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_size_of_a_float {
use castiron::{Tensor, shape};

pub fn main() {
    let _: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod macros_words_in_a_literal {
use castiron::tensor;

pub fn main() {
    let _ = tensor![97, 98];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_batches_differ {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let w: Tensor<f32, shape![1, 4, 3]> = Tensor::zeros();
    let _ = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_bmm_of_matrices {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let w = Tensor::<f32, shape![3, 4]>::ones();
    let _ = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_bmm_of_two_batch_sizes {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let w = Tensor::<f32, shape![1, 4, 3]>::ones();
    let _ = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_chain_of_oblong_matrices {
use castiron::{Tensor, multi_dot, shape};

pub fn main() {
    let a = Tensor::<f32, shape![5, 5]>::ones();
    let _ = multi_dot(&[&a, &a]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_dot_of_matrices {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 2]>::ones();
    let _ = x.matmul(&x);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_dtypes_differ {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let w: Tensor<f64, shape![3, 2]> = Tensor::zeros();
    let _ = x.to::<f64>().matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_forgotten_transpose {
use castiron::{Tensor, dims, shape};

pub fn main() {
    dims! { Batch }
    let images: Tensor<f32, shape![Batch, 784]> = Tensor::zeros_sized([32, 784]);
    let weight: Tensor<f32, shape![10, 784]> = Tensor::zeros();
    let logits = images.matmul(weight.t());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_inner_sizes_differ {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let w: Tensor<f32, shape![3, 5]> = Tensor::zeros();
    let _ = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_integers_with_floats {
use castiron::tensor;

pub fn main() {
    let (x, w) = (tensor![[1, 2]], tensor![[0.5], [0.5]]);
    let _ = x.to::<f32>().matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_last_sizes_of_inner {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let y = Tensor::<f32, shape![3, 4]>::ones();
    let _ = x.inner(&y.t());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_linear_with_a_question {
use castiron::{Tensor, ops, shape};

pub fn main() {
    let x: Tensor<f32, shape![8, 2]> = Tensor::zeros();
    let weight: Tensor<f32, shape![3, 2]> = Tensor::zeros();
    let _ = x.linear(&weight, None).isnan();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_linear_with_gelu_of_integers {
use castiron::{Tensor, ops, shape};

pub fn main() {
    let x: Tensor<i64, shape![8, 2]> = Tensor::zeros();
    let weight: Tensor<i64, shape![3, 2]> = Tensor::zeros();
    let _ = x.linear_with(&weight, None, ops::relu {});
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_matrix_and_a_vector_of_another_size {
use castiron::{Tensor, shape};

pub fn main() {
    let weight = Tensor::<f32, shape![2, 3]>::ones();
    let x = Tensor::<f32, shape![2]>::ones();
    let _ = weight.t().matmul(&x);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_name_and_a_size_at_run_time {
use castiron::{Tensor, dims, shape};

pub fn main() {
    dims! { Rows, Columns }
    let z: Tensor<f32, shape![Rows, Columns]> = Tensor::zeros_sized([5, 2]);
    let axes: Tensor<f32, shape![_, _]> = Tensor::zeros_sized([2, 2]);
    let _ = z.matmul(axes.t().with_shape::<shape![Columns, _]>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_names_differ {
use castiron::{Tensor, dims, shape};

pub fn main() {
    dims! { Features, Classes }
    let x: Tensor<f32, shape![_, Features]> = Tensor::zeros_sized([2, 3]);
    let w: Tensor<f32, shape![Classes, Features]> = Tensor::zeros_sized([3, 3]);
    let _ = x.matmul(w.t());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_names_of_batches {
use castiron::{Tensor, dims, shape};

dims! { Batch, Head }

pub fn main() {
    let x: Tensor<f32, shape![Batch, 2, 3]> = Tensor::ones_sized([4, 2, 3]);
    let y: Tensor<f32, shape![Batch, 3, 2]> = Tensor::ones_sized([4, 3, 2]);
    let _ = x.matmul(&y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_vector_and_a_matrix_of_another_size {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    let weight = Tensor::<f32, shape![2, 3]>::ones();
    let _ = x.matmul(weight.t());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_vector_dot_matrix_by_mv {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![3]>::ones();
    let _ = x.matmul(&x);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_vectors_of_different_sizes {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0, 3.0], tensor![1.0, 2.0, 3.0, 4.0]);
    let _ = x.matmul(y.slice(castiron::s![..3]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod matmul_zero_dim_factor {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let scale: Tensor<f32, ()> = Tensor::scalar(2.0);
    let _ = &x * &scale;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_argmax_over_a_cut_axis {
use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Rows, Classes }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let logits: Dist<f32, (Rows, At<Classes, Model>)> = Dist::from_fn(mesh, [2, 10], |[_, class]| class as f32)?;
        let guesses = logits.all_gather(axis![1], mesh)?.argmax_axis(axis![1]);
        Result::Ok(guesses.into_whole().to_vec())
    });
    assert_eq!(done[1], Ok(vec![9, 9]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_axis_of_another_mesh {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data, Model }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[1, 0], |mesh| {
        let x: Dist<f32, (At<Rows, Model>,)> = Dist::zeros(mesh, [4])?;
        Result::Ok(x.block().shape())
    });
    assert_eq!(done[0], Ok([2]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_bias_before_the_reduction {
use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }
type Rows = dim!(3);
type Out = dim!(2);

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let hidden: Dist<f32, (Rows, At<Wide, Model>)> = Dist::full(mesh, [3, 8], 1.0)?;
        let down: Dist<f32, (At<Wide, Model>, Out)> = Dist::full(mesh, [8, 2], 0.5)?;
        let bias: Dist<f32, (Out,)> = Dist::full(mesh, [2], 1.0)?;
        let y = hidden.matmul(&down).all_reduce(mesh)? + &bias;
        Result::Ok(y.whole()[(0, 0)])
    });
    assert_eq!(done, [Ok(5.0), Ok(5.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_collective_on_one_rank {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let sum = x.sum().all_reduce(mesh)?.item();
        mesh.alone_on(0, || println!("{sum}"));
        Result::Ok(())
    });
    assert_eq!(done[0], Ok(()));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_cut_beside_whole {
use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [4], 1.0)?;
        let y: Dist<f32, (Rows,)> = Dist::full(mesh, [4], 2.0)?;
        let sum = x + y.split(axis![0], mesh)?;
        Result::Ok(sum.block().to_vec())
    });
    assert_eq!(done[0], Ok(vec![3.0, 3.0]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_forgotten_reduction {
use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Mesh, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Batch }

fn step(
    weight: &mut Dist<f32, (dim!(4), dim!(2))>,
    images: &Dist<f32, (At<Batch, Data>, dim!(4))>,
    errors: &Dist<f32, (At<Batch, Data>, dim!(2))>,
    mesh: &Mesh<Ranks>,
) -> Result<()> {
    let gradient = images.t().matmul(errors).all_reduce(mesh)?;
    *weight -= &gradient * 0.1;
    Ok(())
}

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let mut weight = Dist::zeros(mesh, [4, 2])?;
        step(&mut weight, &Dist::zeros(mesh, [6, 4])?, &Dist::zeros(mesh, [6, 2])?, mesh)
    });
    assert_eq!(done, [Ok(()), Ok(())]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_item_of_parts {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 3.0)?;
        let mean = x.mean().all_reduce(mesh)?.item();
        Result::Ok(mean)
    });
    assert_eq!(done, [Ok(3.0), Ok(3.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_mesh_in_another_thread {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let mesh = &*mesh;
        let sum = std::thread::scope(|scope| scope.spawn(|| x.sum()).join().unwrap());
        Result::Ok(sum.all_reduce(mesh)?.item())
    });
    assert_eq!(done, [Ok(10.0), Ok(10.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_one_mesh_axis_twice {
use castiron::{axis, dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Others }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, dim!(4))> = Dist::full(mesh, [6, 4], 1.0)?;
        let y: Dist<f32, (dim!(4), At<Others, Data>)> = Dist::full(mesh, [4, 6], 1.0)?;
        let all = x.matmul(&y.all_gather(axis![1], mesh)?);
        Result::Ok(all.block().shape())
    });
    assert_eq!(done[0], Ok([3, 6]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_parts_of_gradients {
use castiron::{Module, Tensor, dim, dims, optim::Sgd};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Batch }

#[derive(Module)]
struct Net<D: castiron::Device = castiron::Cpu> {
    weight: Tensor<f32, (dim!(2), dim!(1)), D>,
}

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let mut net: Net = Net { weight: Tensor::ones() };
        let x: Dist<f32, (At<Batch, Data>, dim!(2))> = Dist::full(mesh, [4, 2], 1.0)?;
        let mut sgd = Sgd::new(&net).rate(0.1);
        let (_, gradients) = mesh.value_and_grad(&net, (&x,), |net, (x,)| {
            x.mean_of_blocks(x.block().matmul(&net.weight).square().mean())
        })?;
        sgd.step(&mut net, &gradients.all_reduce(mesh)?);
        Result::Ok(net.weight.to_vec())
    });
    assert_eq!(done[0], done[1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_placed_as_another_axis {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Columns }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, Columns)> = Dist::zeros(mesh, [4, 6])?;
        let turned: Dist<f32, (At<Columns, Data>, Rows)> = x.t().redistribute(mesh)?;
        Result::Ok(turned.block().shape())
    });
    assert_eq!(done[0], Ok([3, 4]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_product_of_two_sums {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let squared = (x.sum().all_reduce(mesh)? * x.sum()).all_reduce(mesh)?;
        Result::Ok(squared.item())
    });
    assert_eq!(done, [Ok(100.0), Ok(100.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_reduced_twice {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let sum = x.sum().all_reduce(mesh)?;
        Result::Ok(sum.item())
    });
    assert_eq!(done, [Ok(10.0), Ok(10.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_relu_of_parts {
use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (dim!(3), At<Wide, Model>)> = Dist::full(mesh, [3, 8], -1.0)?;
        let w: Dist<f32, (At<Wide, Model>, dim!(2))> = Dist::full(mesh, [8, 2], 0.5)?;
        let y = x.matmul(&w).all_reduce(mesh)?.relu();
        Result::Ok(y.shape())
    });
    assert_eq!(done[0], Ok([3, 2]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_scaled_maximum {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::from_fn(mesh, [10], |[row]| row as f32)?;
        let half = x.amax().all_reduce(mesh)? / 2.0;
        Result::Ok(half.item())
    });
    assert_eq!(done, [Ok(4.5_f32), Ok(4.5)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_softmax_over_a_cut_axis {
use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Rows, Classes }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let logits: Dist<f32, (Rows, At<Classes, Model>)> = Dist::zeros(mesh, [3, 10])?;
        let likely = logits.all_to_all(axis![1], axis![0], mesh)?.softmax(axis![1]);
        Result::Ok(likely.block().numel())
    });
    assert_eq!(done, [Ok(10), Ok(20)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_tensor_beside_a_dist {
use castiron::{dim, dims, tensor};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, dim!(2))> = Dist::full(mesh, [4, 2], 1.0)?;
        let scaled = x * Dist::same(mesh, tensor![1.0_f32, 2.0])?;
        Result::Ok(scaled.block().to_vec())
    });
    assert_eq!(done[1], Ok(vec![1.0, 2.0, 1.0, 2.0]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_used_before_it_arrives {
use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let sum = x.sum().begin_all_reduce(mesh)?;
        let more = x.exp().sum().all_reduce(mesh)?;
        Result::Ok(sum.wait(mesh)?.item() + more.item())
    });
    assert!(done[0].as_ref().is_ok_and(|sum| *sum > 37.0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_variance_over_a_cut_axis {
use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Columns }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, Columns)> = Dist::from_fn(mesh, [4, 1], |[row, _]| row as f32)?;
        let variance = x.var_over(axis![0], 0, mesh)?;
        Result::Ok(variance.block().to_vec())
    });
    assert_eq!(done, [Ok(vec![1.25]), Ok(vec![1.25])]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_whole_inner_axis_beside_a_cut_one {
use castiron::{axis, dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (dim!(3), At<Wide, Model>)> = Dist::full(mesh, [3, 8], 1.0)?;
        let w: Dist<f32, (Wide, dim!(2))> = Dist::full(mesh, [8, 2], 0.5)?;
        let y = x.matmul(&w.split(axis![0], mesh)?).all_reduce(mesh)?;
        Result::Ok(y.whole()[(2, 1)])
    });
    assert_eq!(done, [Ok(4.0), Ok(4.0)]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod mesh_whole_of_a_cut_tensor {
use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

pub fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<i64, (At<Rows, Data>,)> = Dist::from_fn(mesh, [4], |[row]| row as i64)?;
        let all = x.all_gather(axis![0], mesh)?.whole().to_vec();
        Result::Ok(all)
    });
    assert_eq!(done[0], Ok(vec![0, 1, 2, 3]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod modules_enum_of_modules {
use castiron::{Module, Tensor, shape};

#[derive(Module)]
pub struct Head {
    pub plain: Option<Tensor<f32, shape![2]>>,
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod modules_field_that_forgets_the_device {
use castiron::{Cpu, Device, Module, Tensor, shape};

#[derive(Module)]
pub struct Layer<D: Device = Cpu> {
    pub weight: Tensor<f32, shape![3, 2], D>,
    pub bias: Tensor<f32, shape![3], D>,
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod modules_field_that_is_no_module {
use castiron::{Module, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    pub weight: Tensor<f32, shape![2]>,
    #[module(skip)]
    pub steps: usize,
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod modules_on_one_device_only {
use castiron::io::ToDevice;
use castiron::{Cpu, Device, Meta, Module, Result, Tensor, shape};

#[derive(Module)]
    pub struct Layer<D: Device = Cpu> {
    pub weight: Tensor<f32, shape![2], D>,
}

fn plan<M: ToDevice>(module: &M) -> Result<M::On<Meta>> {
    module.to_device()
}

pub fn plan_of_layer(layer: &Layer) {
    let _ = plan(layer);
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod modules_unknown_attribute {
use castiron::{Module, Tensor, shape};

#[derive(Module)]
pub struct Layer {
    #[module(rename = "attention.self")]
    pub weight: Tensor<f32, shape![2]>,
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_bernoulli_of_integers {
use castiron::{Generator, Tensor, shape};

pub fn main() {
    let x = Tensor::<i64, shape![3]>::zeros();
    let _ = x.to::<f32>().bernoulli(&mut Generator::seeded(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_chunks_of_unequal_size {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 10]>::zeros();
    let _ = x.chunk(axis![1], 4);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_flip_axis_out_of_range {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.flip(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_hstack_of_different_heights {
use castiron::{Tensor, hstack, shape};

pub fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::zeros(), Tensor::<f32, shape![3, 2]>::zeros());
    let _ = hstack((x, y.t()));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_meshgrid_of_a_matrix {
use castiron::{Tensor, meshgrid, shape};

pub fn main() {
    let (x, y) = (Tensor::<f32, shape![2, 3]>::zeros(), Tensor::<f32, shape![3]>::zeros());
    let _ = meshgrid((x.flatten(), y));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_pad_more_axes_than_there_are {
use castiron::pad::Constant;
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![4]>::zeros();
    let _ = x.pad::<shape![1, 1], _>(Constant(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_reflect_bools {
use castiron::pad::Reflect;
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<bool, shape![4]>::zeros();
    let _ = x.pad::<shape![1, 1], _>(castiron::pad::Constant(false));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_reflected_beyond_the_other_end {
use castiron::pad::Reflect;
use castiron::{shape, tensor};

pub fn main() {
    let _ = tensor![1.0, 2.0, 3.0].pad::<shape![2, 0], _>(Reflect);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_repeat_too_few_counts {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.repeat::<shape![1, 2]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_rolled_along_a_missing_axis {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2, 3].roll_axis(axis![0], 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_rotate_five_times {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.rot90::<1, _, _>(axis![0, 1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_split_sizes_do_not_add_up {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 10]>::zeros();
    let _ = x.split_into::<shape![4, 6], _>(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_stacked_on_another_axis_than_there_is {
use castiron::{axis, stack, tensor};

pub fn main() {
    let (x, y) = (tensor![1, 2], tensor![3, 4]);
    let _ = stack((&x, &y), axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_trace_of_bools {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<bool, shape![3, 3]>::zeros();
    let _ = x.to::<i64>().trace();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_tril_of_a_vector {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![9]>::zeros();
    let _ = x.diag().tril(0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_unbind_into_too_few {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let [_, _, _] = x.unbind_array(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod moving_window_larger_than_the_axis {
use castiron::{Tensor, axis, dim, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.unfold::<dim!(3), dim!(1), _>(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_bias_of_another_dtype {
use castiron::nn::Conv;
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![1, 3, 8]> = Tensor::ones();
    let (weight, bias) = (Tensor::<f32, shape![4, 3, 3]>::ones(), Tensor::<f64, shape![4]>::zeros());
    let _ = x.conv1d(&weight, Some(&bias.to::<f32>()), Conv::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_channels_of_a_convolution {
use castiron::nn::Conv;
use castiron::{Tensor, shape};

pub fn main() {
    let image = Tensor::<f32, shape![1, 3, 32, 32]>::ones();
    let weight = Tensor::<f32, shape![8, 3, 7, 7]>::ones();
    let _ = image.conv2d(&weight, None, Conv::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_columns_of_a_window {
use castiron::nn::Patches;
use castiron::{Tensor, dim, shape};

pub fn main() {
    let columns = Tensor::<f32, shape![1, 12, 9]>::ones();
    let _ = columns.col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_convolution_of_bytes {
use castiron::nn::Conv;
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 3, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![8, 3, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_ctc_without_a_batch {
use castiron::{Tensor, reduction::Mean, shape, tensor};

pub fn main() {
    let logs: Tensor<f32, shape![5, 4]> = Tensor::full(-1.5);
    let _ = logs.unsqueeze(castiron::axis![1]).ctc_loss(&tensor![[1, 2]], &[5], &[2], 0, false, Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_einsum_letter_of_two_sizes {
use castiron::{Tensor, einsum, shape};

pub fn main() {
    let (a, b): (Tensor<f32, shape![2, 3]>, Tensor<f32, shape![4, 5]>) = (Tensor::zeros(), Tensor::zeros());
    let _ = einsum!("ij,lk->ik", a, b);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_einsum_letters_of_another_rank {
use castiron::{Tensor, einsum, shape};

pub fn main() {
    let a: Tensor<f32, shape![2, 3, 4]> = Tensor::zeros();
    let _ = einsum!("ijk->i", a);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_einsum_result_without_its_letter {
use castiron::{Tensor, einsum, shape};

pub fn main() {
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = einsum!("ij->j", a);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_einsum_with_dots {
use castiron::{Tensor, einsum, shape};

pub fn main() {
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = einsum!("ij->j", a);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_features_of_heads {
use castiron::nn::All;
use castiron::{Tensor, shape};

pub fn main() {
    let q = Tensor::<f32, shape![1, 12, 5, 32]>::ones();
    let k = Tensor::<f32, shape![1, 12, 7, 32]>::ones();
    let _ = q.scaled_dot_product_attention(&k, &k, All, None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_glu_of_an_odd_axis {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x: Tensor<f32, shape![4, 3]> = Tensor::zeros();
    let _ = x.glu(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_groups_that_do_not_divide {
use castiron::nn::Conv;
use castiron::{Tensor, dim, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![12, 2, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().groups::<dim!(4)>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_groups_that_leave_channels_over {
use castiron::{Tensor, dim, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 6, 3]> = Tensor::zeros();
    let _ = x.group_norm::<dim!(3), _, _>((), (), 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_half_of_an_even_window {
use castiron::nn::{Conv, Half};
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![8, 8, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().padding::<Half>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_heads_that_are_not_shared_evenly {
use castiron::{Tensor, nn::Causal, shape};

pub fn main() {
    let queries = Tensor::<f32, shape![2, 12, 6, 8]>::ones();
    let keys = Tensor::<f32, shape![2, 4, 6, 8]>::ones();
    let _ = queries.scaled_dot_product_attention(&keys, &keys, Causal, None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_instances_without_pixels {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 4]>::ones();
    let _ = x.layer_norm::<shape![4]>(None, None, 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_keys_without_values {
use castiron::nn::All;
use castiron::{Tensor, shape};

pub fn main() {
    let q = Tensor::<f32, shape![5, 32]>::ones();
    let k = Tensor::<f32, shape![7, 32]>::ones();
    let v = Tensor::<f32, shape![7, 32]>::ones();
    let _ = q.scaled_dot_product_attention(&k, &v, All, None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_labels_of_another_batch {
use castiron::{Tensor, reduction::Mean, shape};

pub fn main() {
    let scores: Tensor<f32, shape![2, 5]> = Tensor::zeros();
    let labels: Tensor<i64, shape![2]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels, (), -100, 0.0, Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_labels_of_floats {
use castiron::{Tensor, reduction::Mean, shape};

pub fn main() {
    let scores: Tensor<f32, shape![2, 5]> = Tensor::zeros();
    let labels: Tensor<i64, shape![2]> = Tensor::zeros();
    let _ = scores.cross_entropy(&labels, (), -100, 0.0, Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_mask_of_numbers {
use castiron::nn::Where;
use castiron::{Tensor, shape};

pub fn main() {
    let q = Tensor::<f32, shape![12, 5, 64]>::ones();
    let mask = Tensor::<bool, shape![5, 5]>::ones();
    let _ = q.scaled_dot_product_attention(&q, &q, Where(&mask), None);
    let _ = Where(&Tensor::<bool, shape![5, 5]>::ones());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_mask_of_other_queries {
use castiron::{Tensor, nn::Where, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 5, 8]>::ones();
    let mask = Tensor::<bool, shape![5, 5]>::ones();
    let _ = x.scaled_dot_product_attention(&x, &x, Where(&mask), None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_output_padding_of_a_stride {
use castiron::{Tensor, dim, nn::Conv, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 4, 8, 8]>::ones();
    let weight = Tensor::<f32, shape![4, 2, 3, 3]>::ones();
    let up = Conv::new().stride::<dim!(2)>().output_padding::<dim!(1)>();
    let _ = x.conv_transpose2d(&weight, None, up);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_packed_weight_of_groups_that_do_not_divide {
use castiron::{Tensor, dim, nn::Conv, shape};

pub fn main() {
    let weight = Tensor::<f32, shape![4, 3, 3, 3]>::ones();
    let _ = weight.pack_conv2d(None, Conv::new().groups::<dim!(2)>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_padding_of_more_than_half_a_window {
use castiron::{Tensor, dim, nn::Pool, shape};

pub fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let _ = image.max_pool2d(Pool::<dim!(2)>::new().padding::<dim!(1)>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_pool_of_two_axes_for_volumes {
use castiron::{Tensor, nn::Pool, shape};

pub fn main() {
    let volume = Tensor::<f32, shape![1, 3, 8, 8, 8]>::ones();
    let _ = volume.max_pool3d(Pool::<shape![2, 2, 2]>::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_resampled_without_a_batch {
use castiron::nn::Bilinear;
use castiron::{Tensor, shape};

pub fn main() {
    let image: Tensor<f32, shape![3, 8]> = Tensor::ones();
    let _ = image.unsqueeze(castiron::axis![0]).unsqueeze(castiron::axis![0]).interpolate::<shape![16, 16]>(Bilinear::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_same_padding_with_a_stride {
use castiron::nn::{Conv, Same};
use castiron::{Tensor, dim, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 8, 16, 16]>::ones();
    let weight = Tensor::<f32, shape![8, 8, 3, 3]>::ones();
    let _ = x.conv2d(&weight, None, Conv::new().padding::<Same>());
    let _ = x.conv2d(&weight, None, Conv::new().stride::<dim!(2)>().padding::<castiron::nn::Half>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_statistics_of_other_channels {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 6, 3]> = Tensor::zeros();
    let (mean, variance): (Tensor<f32, shape![6]>, Tensor<f32, shape![6]>) = (Tensor::zeros(), Tensor::ones());
    let _ = x.batch_norm(&mean, &variance, (), (), 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_stride_of_three_axes_for_images {
use castiron::{Tensor, nn::Conv, shape};

pub fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let weight = Tensor::<f32, shape![4, 3, 3, 3]>::ones();
    let conv = Conv::new().stride::<shape![2, 2]>();
    let _ = image.conv2d(&weight, None, conv);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_target_of_another_batch {
use castiron::{Tensor, reduction::Mean, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 1]> = Tensor::zeros();
    let y: Tensor<f32, shape![2, 1]> = Tensor::zeros();
    let _ = x.mse_loss(&y, Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_training_on_one_example {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::ones();
    let _ = x.batch_norm_training((), (), (), 0.1, 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_upsampled_by_three_factors {
use castiron::{Tensor, nn::Nearest, shape};

pub fn main() {
    let image = Tensor::<f32, shape![1, 3, 8, 8]>::ones();
    let _ = image.upsample::<shape![2, 2]>(Nearest::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_volumes_by_bilinear {
use castiron::nn::Bilinear;
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 8, 4, 4, 4]>::ones();
    let _ = x.interpolate::<shape![8, 8, 8]>(castiron::nn::Trilinear::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_weight_of_another_dtype {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::ones();
    let weight: Tensor<f64, shape![4, 3]> = Tensor::ones();
    let _ = x.linear(&weight.to::<f32>(), None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_weight_of_other_classes {
use castiron::{Tensor, reduction::Mean, shape};

pub fn main() {
    let (scores, labels): (Tensor<f32, shape![2, 5]>, Tensor<i64, shape![2]>) = (Tensor::zeros(), Tensor::zeros());
    let weight: Tensor<f32, shape![5]> = Tensor::ones();
    let _ = scores.cross_entropy(&labels, &weight, -100, 0.0, Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod networks_window_larger_than_the_axis {
use castiron::nn::Pool;
use castiron::{Tensor, dim, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 8, 4, 4]>::ones();
    let _ = x.max_pool2d(Pool::<dim!(2)>::new());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_astype_as_in_numpy {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2];
    let _ = x.to::<f64>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_clip_as_in_numpy {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.clamp(0.0, 1.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_comparison_by_an_operator {
use castiron::tensor;

pub fn main() {
    let x = tensor![0.2, 0.7];
    let mask = x.gt(0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_equal_sign_between_a_reference_and_a_number {
use castiron::tensor;

pub fn main() {
    let labels = tensor![0, 1, 1];
    let _ = labels.eq(1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_equal_sign_between_a_tensor_and_a_number {
use castiron::tensor;

pub fn main() {
    let labels = tensor![0, 1, 1];
    let _ = labels.eq(1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_equality_of_two_dtypes {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![1, 2]);
    assert!(x == y.to::<f32>());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_index_by_a_float {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x[0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_index_by_a_mask {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.masked_select(&x.gt(1));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_index_by_an_i32 {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2, 3];
    let i = 1_i32;
    let _ = x[i as usize];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_integers_where_floats_are_due {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let x: Tensor<f32, shape![2]> = tensor![1, 2; f32];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_length_of_a_tensor {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.numel();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_less_than_in_a_condition {
use castiron::tensor;

pub fn main() {
    let loss = tensor![0.2, 0.7].sum();
    if loss.item() < 1.0 {
        println!("small");
    }
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_mean_added_to_a_number {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let mut total = 0.0;
    total += x.mean().item();
    println!("{total}");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_numpy_of_a_tensor {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.to_vec();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_picture_without_channels {
use castiron::nn::Pool;
use castiron::{Tensor, dim, shape};

pub fn main() {
    let picture = Tensor::<f32, shape![28, 28]>::zeros();
    let half = picture.unsqueeze(castiron::axis![0]).max_pool2d(Pool::<dim!(2)>::new());
    println!("{half}");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_plus_a_vector {
use castiron::{Tensor, tensor};

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x + Tensor::from(vec![1.0_f32, 2.0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_plus_an_array {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x + tensor![1.0, 2.0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_power_of_a_float {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.pow(0.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_random_of_an_unknown_type {
use castiron::{Generator, Tensor, shape};

pub fn main() {
    let w = Tensor::<f32, shape![2, 3]>::randn(&mut Generator::seeded(0));
    let _ = w * 0.5;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_random_without_a_generator {
use castiron::{Generator, Tensor, shape};

pub fn main() {
    let w = Tensor::<f32, shape![2, 3]>::randn(&mut Generator::seeded(0));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_shape_without_parentheses {
use castiron::tensor;

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.shape()[0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_sizes_as_arguments {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_sum_as_a_number {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let total: f32 = x.sum().item();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_tensor_as_a_condition {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    if x.gt(0).all().item() {
        println!("positive");
    }
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_times_a_string {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x * "2".parse::<f32>().unwrap();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_two_tensors_of_one_type_compared_by_an_operator {
use castiron::tensor;

pub fn main() {
    let (x, y) = (tensor![0.2, 0.7], tensor![0.5, 0.5]);
    let _ = x.gt(y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod newcomers_zeros_of_an_unknown_type {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2]>::zeros();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_both_operands_the_same {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let _ = &x * &x;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_minus_in_front_takes_its_operand {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let y = -&x;
    let _ = x * y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_moved_into_a_closure {
use castiron::tensor;

pub fn main() {
    let weight = tensor![1.0, 2.0];
    let scale = { let weight = weight.clone(); move |factor: f32| &weight * factor };
    let _ = weight.sum() + scale(2.0).sum();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_operand_in_a_loop {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    for step in 0..3 {
        let _ = &x * step;
    }
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_operand_used_again {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0];
    let y = &x + 1;
    let _ = x.sum() + y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_passed_by_value {
use castiron::{Shape, Tensor, tensor};

fn total<S: Shape>(x: Tensor<f32, S>) -> f32 {
    x.sum().item()
}

pub fn main() {
    let x = tensor![1.0, 2.0];
    let total = total(x.clone());
    let _ = x / total;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod ownership_view_of_a_temporary {
use castiron::{TensorView, shape};

pub fn main() {
    let memory = vec![1.0, 2.0];
    let x: TensorView<f32, shape![2]> = TensorView::from_slice(&memory);
    println!("{x}");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_element_that_is_no_dtype {
use castiron::{Tensor, shape};

pub fn main() {
    let _: Tensor<i64, shape![3]>;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_float8_plus_float {
use castiron::{F8E4M3FN, Tensor, shape};

pub fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<f32, shape![3]> = Tensor::zeros();
    let _ = &y + x.to::<f32>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_float8_times_scalar {
use castiron::{F8E5M2, Tensor, shape};

pub fn main() {
    let x: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = x.to::<f32>() * 2.0;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_joining_different_shells {
use castiron::{F8E4M3FN, F8E5M2, Tensor, axis, cat, shape};

pub fn main() {
    let x: Tensor<F8E4M3FN, shape![3]> = Tensor::zeros();
    let y: Tensor<F8E5M2, shape![3]> = Tensor::zeros();
    let _ = cat((&x, y.to::<F8E4M3FN>()), axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_operand_that_is_no_scalar {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1.0, 2.0].pow("2".parse::<f64>().unwrap());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_result_type_of_a_string {
use castiron::dtype::result_type;
use castiron::tensor;

pub fn main() {
    let _ = result_type(tensor![1, 2], 1.5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod promotion_unsigned_16_plus_itself {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<u16, shape![3]> = Tensor::zeros();
    let _ = x.to::<i32>() + x.to::<i32>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_operand_of_an_expression {
use castiron::{Tensor, lazy, shape};
pub fn main() {
    let yes: Tensor<bool, shape![_]> = Tensor::full_sized([1000], true);
    let one: Tensor<f32, shape![_]> = Tensor::ones_sized([1]);
    assert_eq!(lazy::where_(yes.lazy(), &one, 0.0_f32).eval().numel(), 1000);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_operation {
use castiron::{ops, tensor};
pub fn main() {
    let x = tensor![[1.0, 2.0]];
    let y = x.linear_with(&x, None, ops::relu {});
    assert_eq!(y.shape(), [1, 1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_order_of_axes {
use castiron::{axis, tensor};
pub fn main() {
    assert_eq!(tensor![[1, 2], [3, 4]].permute(axis![1, 0]).to_vec(), [1, 3, 2, 4]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_part_of_an_expression {
use castiron::tensor;
pub fn main() {
    let x = tensor![1.0, 2.0];
    assert_eq!((x.lazy() * 2.0).eval().to_vec(), [2.0_f32, 4.0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_set_of_axes {
use castiron::{axis, tensor};
pub fn main() {
    assert_eq!(tensor![[1, 2], [3, 4]].sum_axis(axis![0]).to_vec(), [4, 6]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_shape {
use castiron::{Tensor, shape};
pub fn main() {
    let x: Tensor<u8, shape![_]> = Tensor::ones_sized([3]);
    assert_eq!(x.shape(), [3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_sizes_of_a_shape {
use castiron::{Tensor, shape};
pub fn main() {
    let x: Tensor<u8, shape![_]> = Tensor::ones_sized([4]);
    assert_eq!(x.shape(), [4]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sealed_way_to_pad {
use castiron::pad::Constant;
use castiron::{shape, tensor};
pub fn main() {
    assert_eq!(tensor![1, 2].pad::<shape![1, 0], _>(Constant(0)).to_vec(), [0, 1, 2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_batch_plus_sequence {
use castiron::{Tensor, dims, shape};

dims! { Batch, Time }

pub fn main() {
    let x: Tensor<f32, shape![Batch, 4]> = Tensor::ones_sized([3, 4]);
    let y: Tensor<f32, shape![Batch, 4]> = Tensor::ones_sized([3, 4]);
    let _ = &x + &y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_bias_of_another_size {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![8, 2]>::ones();
    let weight = Tensor::<f32, shape![3, 2]>::ones();
    let bias = Tensor::<f32, shape![3]>::ones();
    let _ = x.linear(&weight, Some(&bias));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_broadcast_against_a_run_time_size {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![_, 3]> = Tensor::ones_sized([2, 3]);
    let y: Tensor<f32, shape![_, 1]> = Tensor::ones_sized([2, 1]);
    let _ = &x * &y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_broadcast_of_different_sizes {
use castiron::tensor;

pub fn main() {
    let x = tensor![1, 2, 3];
    let y = tensor![1, 2];
    let _ = x.unsqueeze(castiron::axis![1]) + &y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_complex_numbers_of_three_parts {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![4, 2]>::ones();
    let _ = x.view_as_complex();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_conversion_that_can_never_hold {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![_, 3]> = Tensor::zeros_sized([2, 3]);
    let _ = x.reshape::<shape![1, 6]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_cross_product_of_two_sizes {
use castiron::{axis, tensor};

pub fn main() {
    let (x, y) = (tensor![1, 2, 3], tensor![1, 2, 0]);
    let _ = x.cross(&y, axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_distances_of_other_columns {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![4, 2]>::ones();
    let y = Tensor::<f32, shape![5, 2]>::ones();
    let _ = x.cdist(&y, 2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_division_that_leaves_something_over {
use castiron::{dim, shape::DivideExactly};

fn heads(_: <dim!(384) as DivideExactly<dim!(12)>>::Output) {}

pub fn main() {
    heads(Default::default());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_expand_of_an_axis_of_another_size {
use castiron::{shape, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.expand::<shape![2, 3]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_expand_to_fewer_axes {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![1, 3]>::ones();
    let _ = x.select(axis![0], 0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_flatten_and_back {
use castiron::{shape, tensor};

pub fn main() {
    let x = tensor![[1, 2, 3], [4, 5, 6]].flatten();
    let _ = x.reshape::<shape![3, 2]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_index_of_another_rank {
use castiron::tensor;

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x[(0, 1)];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_index_with_too_few_numbers {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 2, 2]>::zeros();
    let _ = x[(0, 1, 0)];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_item_of_a_row {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    let _ = x.sum().item();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_item_of_many_elements {
use castiron::tensor;

pub fn main() {
    let _ = tensor![1, 2, 3][1];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_joining_of_different_ranks {
use castiron::{axis, cat, tensor};

pub fn main() {
    let (x, y) = (tensor![[1, 2], [3, 4]], tensor![5, 6]);
    let _ = cat((&x, y.unsqueeze(axis![0])), axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_joining_of_different_widths {
use castiron::{axis, cat, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let y = tensor![[1, 2, 3]];
    let _ = cat((&x, y.slice(castiron::s![.., ..2])), axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_literal_of_another_size {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let x: Tensor<f32, shape![3]> = tensor![1.0, 2.0, 3.0];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_literal_of_mixed_depth {
use castiron::tensor;

pub fn main() {
    let _ = tensor![[1, 2], [3, 3]];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_mask_of_another_size {
use castiron::tensor;

pub fn main() {
    let x = tensor![1.0, 2.0, 3.0];
    let _ = x.masked_fill(tensor![true, false, true], 0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_matrix_indexed_by_one_number {
use castiron::{axis, tensor};

pub fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.select(axis![0], 0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_named_size_from_a_vector {
use castiron::{Tensor, dims, shape};

dims! { Batch }

pub fn main() {
    let x: Tensor<f32, shape![Batch]> = Tensor::from_vec_sized(vec![1.0, 2.0], [2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_names_that_differ {
use castiron::{Tensor, dims, shape};

pub fn main() {
    dims! { Batch, Time }
    let x: Tensor<f32, shape![Batch]> = Tensor::ones_sized([3]);
    let y: Tensor<f32, shape![Batch]> = Tensor::ones_sized([3]);
    let _ = &x + &y;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_negative_size {
use castiron::{shape, tensor};

pub fn main() {
    let x = tensor![1, 2, 3, 4];
    let _ = x.reshape::<shape![_, 2]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_nine_axes {
use castiron::{Tensor, shape};

pub fn main() {
    let _: Tensor<f32, shape![2, 3, 4, 5, 6, 7, 8, 9]>;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_no_shape {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let x: Tensor<f64, shape![2]> = tensor![1.0, 2.0; f64];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_outer_product_of_matrices {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 2]>::ones();
    let y = Tensor::<f32, shape![3]>::ones();
    let _ = x.flatten().outer(&y);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_ragged_literal {
use castiron::tensor;

pub fn main() {
    let _ = tensor![[1, 2, 3], [4, 5, 0]];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_reshape_to_another_number_of_elements {
use castiron::{shape, tensor};

pub fn main() {
    let x = tensor![1, 2, 3, 4, 5, 6];
    let _ = x.reshape::<shape![2, 3]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_result_of_another_shape {
use castiron::{Tensor, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let w = Tensor::<f32, shape![3, 4]>::ones();
    let y: Tensor<f32, shape![2, 4]> = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_row_added_to_columns {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let weights = Tensor::<f32, shape![2]>::ones();
    let _ = &x * weights.unsqueeze(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_size_by_a_const_parameter {
use castiron::{Dim, Tensor, shape};

fn norm<N: Dim>(x: &Tensor<f32, shape![N]>) -> Tensor<f32, ()> {
    x.norm(2.0)
}

pub fn main() {}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_sizes_in_parentheses {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_squeeze_of_unknown_size {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let x: Tensor<f32, shape![1, 3]> = Tensor::zeros();
    let _ = x.squeeze_axis(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_stacked_tensors_of_different_sizes {
use castiron::{axis, cat, stack, tensor};

pub fn main() {
    let (x, y) = (tensor![1, 2], tensor![1, 2, 3]);
    let _ = cat((&x, &y), axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_unflatten_that_leaves_something_over {
use castiron::{axis, shape, tensor};

pub fn main() {
    let x = tensor![1, 2, 3, 4, 5, 6];
    let _ = x.unflatten::<shape![2, 3], 0>(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_where_of_three_shapes {
use castiron::{tensor, where_};

pub fn main() {
    let (x, y) = (tensor![1.0, 2.0, 3.0], tensor![1.0, 2.0]);
    let _ = where_(x.gt(1), &x, y.slice(castiron::s![..1]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod shape_zeros_of_unknown_size {
use castiron::{Tensor, shape};

pub fn main() {
    let _ = Tensor::<f32, shape![_, 3]>::zeros_sized([2, 3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_cosine_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.to_dense().cos();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_element_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_dense()[(0, 1)];
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_elements_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_dense().to_vec();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_exp_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.to_dense().exp();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_given_to_a_function_of_strided_tensors {
use castiron::{Tensor, shape, tensor};

fn norm(x: &Tensor<f32, shape![2, 2]>) -> f32 {
    (x * x).sum().sqrt().item()
}

pub fn main() {
    let x = tensor![[0.0, 2.0], [0.0, 0.0]].to_sparse();
    let _ = norm(&x.to_dense());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_joined_with_a_strided_tensor {
use castiron::{axis, cat, tensor};

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let x = tensor![[1.0, 2.0]];
    let _ = cat((&s.to_dense(), &x), axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_number_minus_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = 1.0 - &s.to_dense();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_product_of_a_batch {
use castiron::{Tensor, shape};

pub fn main() {
    let batch = Tensor::<f32, shape![2, 3, 4]>::ones().to_sparse();
    let x: Tensor<f32, shape![4, 5]> = Tensor::ones();
    let _ = batch.to_dense().matmul(&x);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_quotient_of_sparse_tensors {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = &s / 2;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_reshaped_view {
use castiron::{shape, tensor};

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_dense().view::<shape![4]>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_scalar_added_to_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.to_dense() + 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_sigmoid_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.to_dense().sigmoid();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_softmax_of_a_sparse_tensor {
use castiron::{axis, tensor};

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_dense().softmax(axis![-1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_sparse_and_strided_on_two_devices {
use castiron::{Cuda, Tensor, shape, tensor};

pub fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let x = Tensor::<f32, shape![1, 2], Cuda<0>>::ones();
    let _ = &s + &x.to_device::<castiron::Cpu>().unwrap();
}

}

mod sparse_strided_result_in_a_sparse_tensor {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let mut s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    let _ = &s + &x;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_strided_tensor_coalesced {
use castiron::tensor;

pub fn main() {
    let x = tensor![[0.0, 1.0], [2.0, 0.0]];
    let _ = x.to_sparse().coalesce();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_strides_of_a_sparse_tensor {
use castiron::tensor;

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let _ = s.to_dense().stride();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_sum_of_different_shapes {
use castiron::{SparseTensor, Tensor, shape};

pub fn main() {
    let s: SparseTensor<f32, shape![2, 3]> = Tensor::<f32, shape![2, 3]>::sparse_zeros();
    let row: SparseTensor<f32, shape![1, 3]> = Tensor::<f32, shape![1, 3]>::sparse_zeros();
    let _ = s.to_dense() + row.to_dense();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_sum_of_sparse_masks {
use castiron::tensor;

pub fn main() {
    let mask = tensor![[false, true]].to_sparse();
    let _ = mask.to::<i64>() + mask.to::<i64>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_values_of_a_strided_tensor {
use castiron::tensor;

pub fn main() {
    let x = tensor![[0.0, 1.0], [2.0, 0.0]];
    let _ = x.to_sparse().values();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_where_a_strided_tensor_is_due {
use castiron::{Tensor, shape, tensor};

pub fn main() {
    let s = tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    let _ = x.matmul(s.to_dense());
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sparse_written_in_place_by_a_number {
use castiron::tensor;

pub fn main() {
    let mut s = tensor![[0.0, 1.0]].to_sparse();
    s *= 2;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_addmm_input_does_not_expand {
use castiron::{Tensor, shape};

pub fn main() {
    let input: Tensor<f32, shape![4]> = Tensor::zeros();
    let a: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let b: Tensor<f32, shape![3, 4]> = Tensor::zeros();
    let _ = input.addmm(&a, &b, 1, 1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_axes_of_other_sizes {
use castiron::{Tensor, axis, shape};

pub fn main() {
    let (a, b) = (Tensor::<f32, shape![2, 3, 4]>::ones(), Tensor::<f32, shape![4, 3, 5]>::ones());
    let _ = a.tensordot(&b, axis![1, 2], axis![1, 0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_cross_of_four {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2, 3].cross(&tensor![1, 2, 3], axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_layer_norm_of_integers {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<i64, shape![2, 3]> = Tensor::zeros();
    let _ = x.to::<f32>().layer_norm::<shape![3]>(None, None, 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_layer_norm_over_too_many_axes {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 3]> = Tensor::zeros();
    let _ = x.layer_norm::<shape![2, 3]>(None, None, 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_layer_norm_weight_differs {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![2, 384]> = Tensor::zeros();
    let weight: Tensor<f32, shape![384]> = Tensor::ones();
    let _ = x.layer_norm(Some(&weight), None, 1e-5);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_linear_weight_the_other_way {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![8, 784]> = Tensor::zeros();
    let weight: Tensor<f32, shape![784, 10]> = Tensor::zeros();
    let _ = x.linear(&weight.t(), None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_log_softmax_of_integers {
use castiron::{axis, tensor};

pub fn main() {
    let _ = tensor![1, 2, 3].to::<f32>().log_softmax(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_mean_of_integers_along_an_axis {
use castiron::{axis, tensor};

pub fn main() {
    let pixels = tensor![[0, 128], [255, 7]; u8];
    let _ = pixels.to::<f32>().mean_axis(axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_median_of_complex_numbers {
use castiron::tensor;

pub fn main() {
    let z = tensor![1.0 + 2.0j, 0.5];
    let _ = z.abs().median();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_mm_of_a_batch {
use castiron::{Tensor, shape};

pub fn main() {
    let x: Tensor<f32, shape![8, 2, 3]> = Tensor::zeros();
    let w: Tensor<f32, shape![3, 4]> = Tensor::zeros();
    let _ = x.matmul(&w);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_norm_of_integers {
use castiron::tensor;

pub fn main() {
    let _ = tensor![3, 4].to::<f32>().norm(2.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod sums_variance_of_masks {
use castiron::tensor;

pub fn main() {
    let hits = tensor![true, false, true];
    let _ = hits.to::<f32>().var(1);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_any_base_read_while_it_is_written {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let sum = x.sum(None, false, None)?;
    let mut row = x.select_mut(0, 0)?;
    row.add_(sum)?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_any_parts_written_twice {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let [mut row, mut other] = x.split_at_mut(0, 1)?;
    row.add_(1)?;
    other.add_(1)?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_any_view_that_outlives_its_tensor {
use castiron::{AnyTensor, Result, tensor};

pub fn main() -> Result<()> {
    let mut row = {
        let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
        x.select(0, 0)?
    };
    row.add_(1)?;
    Ok(())
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_base_read_while_it_is_written {
use castiron::{axis, tensor};

pub fn main() {
    let mut x = tensor![[1, 2], [3, 4]];
    let other = x.select(axis![0], 1);
    let mut row = x.select_mut(axis![0], 0);
    row += other;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_colon_instead_of_dots {
use castiron::{s, tensor};

pub fn main() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let _ = x.slice(s![0, 1..3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_index_that_is_no_integer {
use castiron::{s, tensor};

pub fn main() {
    let i = 0_usize;
    tensor![1, 2, 3].slice(s![i]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_literal_index_before_the_start {
use castiron::{s, tensor};

pub fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![-2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_literal_index_out_of_range {
use castiron::{s, tensor};

pub fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![.., 2]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_mutable_view_of_a_shared_slice {
use castiron::{TensorViewMut, shape};

pub fn main() {
    let mut memory = vec![1.0_f32, 2.0];
    let mut x = TensorViewMut::<f32, shape![2]>::from_slice_mut(&mut memory);
    x += 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_not_a_tensor {
use castiron::{AsTensor, Float, Shape, Tensor};

fn total<E: Float, S: Shape>(x: impl AsTensor<E, S, castiron::Cpu>) -> Tensor<E, (), castiron::Cpu> {
    x.as_tensor().mean()
}

pub fn main() {
    total::<f32, (castiron::Dyn,)>(Tensor::from(vec![1.0_f32, 2.0]));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_selected_row_plus_one {
use castiron::{axis, tensor};

pub fn main() {
    let mut x = tensor![[1.0, 2.0], [3.0, 4.0]];
    x.select_mut(axis![0], 0).add_(1.0);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_slice_by_a_range {
use castiron::{s, tensor};

pub fn main() {
    let x = tensor![1, 2, 3, 4];
    let _ = x.slice(s![1..3]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_slice_of_a_float {
use castiron::{s, tensor};

pub fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.slice(s![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_squeeze_axes_of_unknown_size {
use castiron::{Tensor, axis, shape};

pub fn main() {
    Tensor::<f32, shape![1, 1]>::zeros().squeeze_axes(axis![0, 1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_step_of_zero {
use castiron::{s, tensor};

pub fn main() {
    tensor![1, 2, 3].slice(s![..;1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_too_many_indices {
use castiron::{s, tensor};

pub fn main() {
    tensor![[1, 2, 3], [4, 5, 6]].slice(s![0, 1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_too_many_indices_after_an_ellipsis {
use castiron::{s, tensor};

pub fn main() {
    tensor![1, 2, 3].slice(s![..., 0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_two_ellipses {
use castiron::{Tensor, s, shape};

pub fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let _ = x.slice(s![..., 0, ..]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_two_views_of_one_tensor_written {
use castiron::{s, tensor};

pub fn main() {
    let mut x = tensor![1, 2, 3];
    let [mut first, mut second] = x.split_at_mut(castiron::axis![0], 1);
    first += 1;
    second += 1;
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_view_as_larger_elements {
use castiron::{Tensor, shape};

pub fn main() {
    Tensor::<f32, shape![2, 4]>::zeros().view_dtype::<f64>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod views_view_that_outlives_its_memory {
use castiron::{TensorView, shape};

pub fn main() {
    let memory = [1.0, 2.0, 3.0, 4.0];
    let x: TensorView<f32, shape![2, 2]> = {
        TensorView::from_slice(&memory)
    };
    println!("{x}");
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_closures {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } use castiron::{Tensor, axis, dim, shape, tensor};

calls! {
    tensor![1, 2].zip_map(tensor![[1], [3]], |(x, y)| x + y);
    tensor![1, 2].zip_map((tensor![1], tensor![1, 2]), |(x, y, z)| x + y + z);
    tensor![[1], [2]].zip_map_(tensor![[1], [3]], |(x, y)| x + y);
    tensor![1, 2].map_lanes(axis![0], |lane| lane[0]);
    tensor![1, 2].map_lanes_(axis![-1], |lane| lane.reverse());
    tensor![1, 2].map_windows::<dim!(2), dim!(1), _, _>(axis![0], |window| window[0]);
    tensor![1, 2].fold_axis(axis![0], 0, |sum, v| sum + v);
    tensor![1, 2].par_fold_axis(axis![0], 0, |sum, v| sum + v, |a, b| a + b);
    tensor![1, 2].reduce_axis(axis![-1], |a, b| a + b);
    tensor![1, 2].par_reduce_axis(axis![-1], |a, b| a + b);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_decompose {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Systems of equations, factors of matrices, and what goes with them.

use castiron::{Generator, KnownShape, Reduced, Tensor, Uplo, dim, shape, tensor};

/// A matrix of ones, with 2 on its diagonal.
fn x<S: KnownShape>() -> Tensor<f64, S> {
    let columns = S::SIZES.as_ref().last().copied().unwrap_or(1);
    Tensor::from_vec((0..S::NUMEL).map(|at| if at % columns == at / columns { 2.0 } else { 1.0 }).collect())
}
fn p<S: KnownShape>() -> Tensor<i32, S> {
    Tensor::ones()
}

calls! {
    x::<shape![3, 3]>().solve(&x::<shape![3, 1]>());
    x::<shape![2, 2]>().solve(&x::<shape![2, 1]>());
    x::<shape![3, 3]>().rsolve(&x::<shape![1, 3]>());
    x::<shape![3, 3]>().solve_ex(&x::<shape![3, 1]>());
    x::<shape![3, 3]>().solve_triangular(&x::<shape![3, 1]>(), true, false);
    x::<shape![3, 3]>().rsolve_triangular(&x::<shape![1, 3]>(), true, false);
    x::<shape![3, 2]>().lstsq(&x::<shape![3, 1]>(), None);
    x::<shape![3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![4, 3, 3]>().lu_solve(&p::<shape![4, 3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![2, 2]>().lu_solve(&p::<shape![2]>(), &x::<shape![2, 1]>(), false);
    x::<shape![3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![3, 2]>(), false);
    x::<shape![3, 2]>().lu_unpack(&p::<shape![2]>());
    x::<shape![3, 3]>().ldl_solve(&p::<shape![3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 3]>().ldl_solve(&p::<shape![3]>(), &x::<shape![3, 2]>(), false);
    x::<shape![2, 1]>().cholesky_solve(&x::<shape![2, 2]>(), false);
    x::<shape![3, 1]>().cholesky_solve(&x::<shape![3, 3]>(), false);
    x::<shape![4, 3]>().householder_product(&x::<shape![3]>());
    x::<shape![4, 4]>().householder_product(&x::<shape![3]>());
    x::<shape![3, 2]>().ormqr(&x::<shape![2]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 2]>().ormqr(&x::<shape![2]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 2]>().rormqr(&x::<shape![2]>(), &x::<shape![1, 3]>(), false);
    x::<shape![2, 2]>().tensorinv::<1>();
    tensor![[[2.0], [1.0]], [[1.0], [2.0]]].reshape::<shape![2, 1, 2]>().tensorinv::<2>();
    x::<shape![2, 2]>().cholesky(false);
    x::<shape![2, 2]>().cholesky_ex(false);
    x::<shape![2, 2]>().cholesky_inverse(false);
    x::<shape![2, 2]>().ldl_factor(false);
    x::<shape![2, 2]>().inv();
    x::<shape![2, 2]>().inv_ex();
    x::<shape![2, 2]>().det();
    x::<shape![2, 2]>().slogdet();
    x::<shape![2, 2]>().matrix_exp();
    x::<shape![2, 2]>().eig();
    x::<shape![2, 2]>().eigvals();
    x::<shape![2, 2]>().eigh(Uplo::Lower);
    x::<shape![2, 2]>().eigvalsh(Uplo::Lower);
    x::<shape![3, 2]>().svd(Reduced);
    x::<shape![3, 2]>().svdvals();
    x::<shape![3, 2]>().qr(Reduced);
    x::<shape![3, 2]>().geqrf();
    x::<shape![3, 2]>().lu();
    x::<shape![3, 2]>().lu_factor();
    x::<shape![3, 2]>().lu_factor_ex();
    x::<shape![3, 2]>().svd_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    x::<shape![3, 2]>().pca_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    x::<shape![3, 2]>().pinv(None, false);
    x::<shape![3, 2]>().matrix_rank(None, false);
    x::<shape![3, 2]>().cond(2.0);
    x::<shape![3, 2]>().spectral_norm();
    x::<shape![3, 2]>().nuclear_norm();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_elementwise {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Two operands of one operation on each element, and outputs.

use castiron::{KnownShape, Tensor, axis, fused, shape, where_};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn b<S: KnownShape>() -> Tensor<bool, S> {
    Tensor::zeros()
}

calls! {
    &x::<shape![2, 3]>() + &x::<shape![2, 1]>();
    &x::<shape![2, 3]>() - x::<shape![3]>();
    x::<shape![2, 3]>() * x::<shape![2, 3]>();
    fused!(&x::<shape![2, 3]>() / &x::<shape![1, 3]>());
    x::<shape![2, 3]>().maximum(&x::<shape![3]>());
    x::<shape![2, 3]>().pow(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().lt(&x::<shape![3]>());
    x::<shape![2, 3]>().add_(&x::<shape![2, 3]>()).numel();
    x::<shape![2, 3]>().add_(&x::<shape![3]>()).numel();
    x::<shape![2, 3]>().add_into(&x::<shape![3]>(), &mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().exp_into(&mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().leaky_relu_into(0.1, &mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().complex(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().polar(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().isclose(&x::<shape![2, 3]>(), 0.0, 0.0, false);
    x::<shape![2, 3]>().allclose(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().allclose_with(&x::<shape![2, 3]>(), 0.0, 0.0);
    x::<shape![2, 3]>().lerp(&x::<shape![2, 3]>(), 0.5);
    x::<shape![2, 3]>().lerp(&x::<shape![2, 3]>(), &x::<shape![3]>());
    x::<shape![3]>().lerp_(&x::<shape![3]>(), 0.5).numel();
    x::<shape![2, 3]>().prelu(&x::<shape![3]>());
    x::<shape![2, 3]>().prelu(&x::<shape![1]>());
    where_(&b::<shape![2, 3]>(), &x::<shape![2, 3]>(), 0.0);
    where_(&b::<shape![2, 3]>(), 0.0, &x::<shape![3]>());
    x::<shape![2, 3]>().copy_from(&x::<shape![3]>());
    x::<shape![2, 3]>().view_mut().copy_from(&x::<shape![3]>());
    x::<shape![2, 3]>().assign(&x::<shape![3]>());
    castiron::shells::eq(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 3]>().to::<castiron::F8E5M2>());
    castiron::shells::ne(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 3]>().to::<castiron::F8E5M2>());
    x::<shape![2, 3]>().view_mut().clamp_(0.0, 1.0).mul_(&x::<shape![3]>()).numel();
    x::<shape![1, 1]>().item();
    x::<shape![2, 3]>().with_shape::<shape![2, _]>();
    x::<shape![2, 3]>().size(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_formulas {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } use castiron::{axis, formula, reducer, tensor};

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
    tensor![1.0, 2.0].apply(midpoint, &tensor![1.0, 2.0]);
    tensor![1.0, 2.0].apply_(midpoint, &tensor![1.0]);
    tensor![1.0, 2.0].apply_into(midpoint, 1, &mut tensor![0.0, 0.0]);
    tensor![1.0, 2.0].reduce_by(WeightedSum, &tensor![1.0, 2.0]);
    tensor![1.0, 2.0].reduce_axis_by(WeightedSum, 1, axis![0]);
    tensor![1.0, 2.0].scan_by(WeightedSum, 1, axis![0]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_fourier {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Fourier transforms along axes that a tensor has, and of as many samples.

use castiron::fft::{Frames, Norm};
use castiron::{Complex, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn z<S: KnownShape>() -> Tensor<Complex<f64>, S> {
    Tensor::ones()
}

calls! {
    x::<shape![4]>().fft(axis![0], Norm::Backward);
    x::<shape![4]>().fftn(axis![0], Norm::Backward);
    x::<shape![4]>().ifftn(axis![0], Norm::Backward);
    x::<shape![4]>().rfft(axis![0], Norm::Backward);
    x::<shape![1]>().rfft(axis![0], Norm::Backward);
    z::<shape![4]>().irfft::<dim!(6), _>(axis![0], Norm::Backward);
    x::<shape![4]>().fftshift(axis![0]);
    x::<shape![4]>().ifftshift(axis![0]);
    x::<shape![4]>().rfftn::<shape![_], _>(axis![0], Norm::Backward);
    z::<shape![3]>().irfftn::<shape![_], _>(axis![0], 4, Norm::Backward);
    x::<shape![16]>().stft::<shape![_, _], dim!(8)>(None, &Frames::new(8));
    z::<shape![5, 5]>().istft::<shape![_], dim!(8)>(None, &Frames::new(8), None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_index {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Elements chosen by indices and masks, sorted lists and what is looked for in them.

use castiron::{BagMode, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}
fn b<S: KnownShape>() -> Tensor<bool, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().index_select(axis![0], &i::<shape![2]>());
    x::<shape![2, 3]>().gather(axis![1], &i::<shape![2, 4]>());
    x::<shape![2, 3]>().gather(axis![1], &i::<shape![2, 3]>());
    x::<shape![2, 3]>().take_along_dim(&i::<shape![2, 2]>(), axis![1]);
    x::<shape![2, 3]>().embedding(&i::<shape![5]>());
    x::<shape![2, 3]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, None, None);
    x::<shape![2, 3]>().embedding_bag(&i::<shape![5]>(), &[0], false, BagMode::Sum, Some(&x::<shape![5]>()), None);
    i::<shape![2, 3]>().index_put([&i::<shape![4]>(); 2], i::<shape![4]>(), true);
    i::<shape![2, 3]>().index_put([&i::<shape![4]>()], i::<shape![3]>(), true);
    i::<shape![2, 3]>().index_put_([&i::<shape![4]>()], i::<shape![4, 3]>(), true).numel();
    i::<shape![2, 3]>().view_mut().index_put_([&i::<shape![4]>()], i::<shape![4, 3]>(), true).numel();
    x::<shape![2, 3]>().masked_fill(&b::<shape![2, 1]>(), 0.0);
    x::<shape![3]>().masked_fill_(&b::<shape![3]>(), 0.0).numel();
    x::<shape![2, 3]>().masked_select(&b::<shape![3]>());
    x::<shape![2, 3]>().masked_scatter(&b::<shape![3]>(), &x::<shape![6]>());
    x::<shape![3]>().masked_scatter_(&b::<shape![3]>(), &x::<shape![6]>()).numel();
    x::<shape![2, 3]>().scatter(axis![1], &i::<shape![2, 4]>(), &x::<shape![2, 4]>());
    x::<shape![2, 3]>().scatter(axis![1], &i::<shape![2, 2]>(), &x::<shape![2, 3]>());
    x::<shape![2, 3]>().scatter_value(axis![1], &i::<shape![2, 3]>(), 0.0);
    x::<shape![2, 3]>().scatter_add(axis![0], &i::<shape![4, 3]>(), &x::<shape![4, 3]>());
    x::<shape![2, 3]>().index_add(axis![0], &i::<shape![4]>(), &x::<shape![4, 3]>(), 1);
    x::<shape![2, 3]>().index_copy(axis![0], &i::<shape![1]>(), &x::<shape![1, 3]>());
    x::<shape![2, 3]>().index_fill(axis![1], &i::<shape![1]>(), 0.0);
    x::<shape![3, 4]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    x::<shape![3, 4]>().rope(0, 10000.0, castiron::RotaryLayout::Halves);
    x::<shape![2, 3]>().searchsorted(&x::<shape![2, 5]>(), false);
    x::<shape![3]>().searchsorted_scalar(1.0, false);
    x::<shape![2, 3]>().bucketize(&x::<shape![3]>(), false);
    i::<shape![1, 1, 1, 1, 1, 1, 1]>().one_hot::<dim!(2)>();
    i::<shape![1, 1, 1, 1, 1, 1, 1]>().one_hot_sized(2);
    x::<shape![2, 3]>().sort(axis![1], false);
    x::<shape![2, 3]>().argsort(axis![1], false);
    x::<shape![2, 3]>().topk::<dim!(3), _>(axis![1], true);
    x::<shape![2, 3]>().topk_sized(axis![1], 1, true);
    x::<shape![2, 3]>().kthvalue(axis![1], 1);
    x::<shape![2, 3]>().mode(axis![1]);
    x::<shape![2, 3]>().unique_axis(axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_linalg {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Products of vectors and matrices, and distances.

use castiron::{KnownShape, Tensor, axis, einsum, multi_dot, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i8, S> {
    Tensor::ones()
}

calls! {
    x::<shape![2, 3]>().matmul(&x::<shape![3, 2]>());
    x::<shape![4, 2, 3]>().matmul(&x::<shape![4, 3, 2]>());
    x::<shape![3]>().matmul(&x::<shape![3]>());
    x::<shape![2, 3]>().mm(&x::<shape![3, 2]>());
    x::<shape![2, 3]>().mm(&x::<shape![3, 1]>());
    x::<shape![2, 3]>().mv(&x::<shape![3]>());
    x::<shape![3]>().dot(&x::<shape![3]>());
    x::<shape![4, 2, 3]>().bmm(&x::<shape![4, 3, 2]>());
    x::<shape![4, 2, 3]>().bmm(&x::<shape![4, 3, 3]>());
    i::<shape![2, 3]>().int_mm(&i::<shape![3, 2]>());
    x::<shape![2]>().outer(&x::<shape![3]>());
    x::<shape![3]>().vdot(&x::<shape![3]>());
    x::<shape![2, 3]>().vecdot(&x::<shape![2, 3]>(), axis![1]);
    x::<shape![2, 3]>().inner(&x::<shape![4, 3]>());
    x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 3]>(), axis![1, 2], axis![1, 0]);
    x::<shape![2, 3, 4]>().tensordot(&x::<shape![4, 3]>(), axis![1], axis![1]);
    x::<shape![2]>().tensordot(&x::<shape![1]>(), axis![0], axis![0]);
    x::<shape![1, 1, 1, 1, 1]>().tensordot(&x::<shape![1, 1, 1, 1, 1]>(), axis![0], axis![0]);
    multi_dot(&[&x::<shape![3, 3]>(), &x::<shape![3, 3]>()]);
    einsum!("ij,jk->ik", &x::<shape![2, 3]>(), &x::<shape![3, 2]>());
    x::<shape![2]>().addmm(&x::<shape![2, 3]>(), &x::<shape![3, 2]>(), 1, 1);
    x::<shape![1]>().addmm(&x::<shape![2, 3]>(), &x::<shape![3, 2]>(), 1, 1);
    x::<shape![2]>().addmv(&x::<shape![2, 3]>(), &x::<shape![3]>(), 1, 1);
    x::<shape![2, 3]>().addr(&x::<shape![2]>(), &x::<shape![3]>(), 1, 1);
    x::<shape![2]>().baddbmm(&x::<shape![4, 2, 3]>(), &x::<shape![4, 3, 2]>(), 1, 1);
    x::<shape![2]>().addbmm(&x::<shape![4, 2, 3]>(), &x::<shape![4, 3, 2]>(), 1, 1);
    x::<shape![2, 3]>().linear(&x::<shape![4, 3]>(), None);
    x::<shape![2, 3]>().linear(&x::<shape![4, 3]>(), Some(&x::<shape![4]>()));
    x::<shape![2, 3]>().linear_with(&x::<shape![4, 3]>(), None, castiron::ops::relu {});
    x::<shape![1]>().linear(&x::<shape![4, 1]>(), None);
    x::<shape![2, 3]>().bilinear(&x::<shape![2, 5]>(), &x::<shape![4, 3, 5]>(), None);
    x::<shape![2, 3]>().bilinear(&x::<shape![2, 5]>(), &x::<shape![4, 3, 5]>(), None);
    x::<shape![2, 3]>().dist(&x::<shape![2, 3]>(), 2.0);
    x::<shape![2, 3]>().cdist(&x::<shape![4, 3]>(), 2.0);
    x::<shape![2, 3]>().cross(&x::<shape![2, 3]>(), axis![1]);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_loss {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Losses: targets, labels and weights beside predictions.

use castiron::reduction::{Mean, Unreduced};
use castiron::{KnownShape, Tensor, axis, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::full(0.5)
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().mse_loss(&x::<shape![2, 3]>(), Mean);
    x::<shape![2, 1]>().l1_loss(&x::<shape![2, 1]>(), Unreduced);
    x::<shape![2, 3]>().smooth_l1_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().huber_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().soft_margin_loss(&x::<shape![2, 3]>(), Mean);
    x::<shape![2, 3]>().hinge_embedding_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().kl_div(&x::<shape![2, 3]>(), false, Mean);
    x::<shape![2, 3]>().poisson_nll_loss(&x::<shape![2, 3]>(), true, false, 1e-8, Mean);
    x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![2, 3]>(), &x::<shape![3]>(), false, 1e-6, Mean);
    x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![2, 3]>(), &x::<shape![1]>(), false, 1e-6, Mean);
    x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![2, 3]>(), (), Mean);
    x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![2, 3]>(), &x::<shape![3]>(), Mean);
    x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![2, 3]>(), (), (), Mean);
    x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![2, 3]>(), (), &x::<shape![3]>(), Mean);
    x::<shape![2, 3]>().cross_entropy(&i::<shape![2]>(), (), -100, 0.0, Mean);
    x::<shape![2, 3]>().cross_entropy(&i::<shape![2]>(), &x::<shape![3]>(), -100, 0.0, Mean);
    x::<shape![2, 3, 4]>().nll_loss(&i::<shape![2, 4]>(), (), -100, Mean);
    x::<shape![1]>().nll_loss(&i::<shape![]>(), (), -100, Mean);
    x::<shape![2, 3]>().cross_entropy_probabilities(&x::<shape![2, 3]>(), (), 0.0, Mean);
    x::<shape![5, 2, 3]>().ctc_loss(&i::<shape![2, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    x::<shape![5, 2, 3]>().ctc_loss(&i::<shape![2, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    x::<shape![2, 3]>().pairwise_distance(&x::<shape![2, 3]>(), 2.0, 1e-6);
    x::<shape![2, 3]>().cosine_similarity(&x::<shape![2, 3]>(), axis![1], 1e-8);
    x::<shape![2, 3]>().margin_ranking_loss(&x::<shape![2, 3]>(), &x::<shape![2, 3]>(), 0.0, Mean);
    x::<shape![2, 3]>().cosine_embedding_loss(&x::<shape![2, 3]>(), &x::<shape![2]>(), 0.0, Mean);
    x::<shape![2, 3]>().triplet_margin_loss(&x::<shape![2, 3]>(), &x::<shape![2, 3]>(), 1.0, 2.0, 1e-6, false, Mean);
    x::<shape![2, 3]>().pdist(2.0);
    x::<shape![2, 3]>().multi_margin_loss(&i::<shape![2]>(), 1.0, 1.0, (), Mean);
    x::<shape![2, 3]>().multi_margin_loss(&i::<shape![2]>(), 1.0, 1.0, (), Mean);
    x::<shape![2, 3]>().multilabel_margin_loss(&i::<shape![2, 3]>(), Mean);
    x::<shape![2, 3]>().multilabel_soft_margin_loss(&x::<shape![2, 3]>(), (), Mean);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_nn {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Layers of networks: weights, windows, heads and masks beside what they are applied to.

use castiron::nn::{Added, All, Bilinear, Conv, GridPadding, Half, Nearest, Patches, Pool, Same, Where};
use castiron::{Generator, KnownShape, Tensor, dim, ops, shape};

fn x<S: KnownShape>() -> Tensor<f32, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}
fn b<S: KnownShape>() -> Tensor<bool, S> {
    Tensor::ones()
}

calls! {
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), Some(&x::<shape![4]>()), Conv::new());
    x::<shape![1, 3, 8, 8]>().conv2d(&x::<shape![4, 3, 8, 3]>(), None, Conv::new());
    x::<shape![3, 8, 8]>().conv2d(&x::<shape![4, 3, 3, 3]>(), None, Conv::new());
    x::<shape![1, 4, 8]>().conv1d(&x::<shape![4, 2, 3]>(), None, Conv::new().groups::<dim!(2)>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().padding::<Same>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().padding::<Half>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().stride::<shape![2]>());
    x::<shape![1, 3, 8]>().conv1d_with(&x::<shape![4, 3, 3]>(), None, Conv::new(), ops::relu {});
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), None, Conv::new());
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), Some(&x::<shape![4]>()), Conv::new());
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), None, Conv::new().stride::<dim!(2)>().output_padding::<dim!(1)>());
    x::<shape![4, 3, 3]>().pack_conv1d(Some(&x::<shape![4]>()), Conv::new());
    x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new().groups::<dim!(2)>());
    x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward(&x::<shape![1, 3, 8]>());
    x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward_with(&x::<shape![1, 3, 8]>(), ops::relu {});
    x::<shape![4, 3]>().pack_linear(Some(&x::<shape![4]>()));
    x::<shape![4, 3]>().pack_linear(None);
    x::<shape![4, 3]>().pack_linear(None).forward(&x::<shape![2, 3]>());
    x::<shape![4, 3]>().pack_linear(None).forward_with(&x::<shape![2, 3]>(), ops::relu {});
    x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(8)>::new());
    x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(2)>::new().padding::<dim!(1)>());
    x::<shape![3, 8, 8]>().max_pool2d_with_indices(Pool::<dim!(2)>::new());
    x::<shape![1, 3, 8, 8]>().avg_pool2d(Pool::<shape![2, 2]>::new());
    x::<shape![1, 3, 8, 8]>().lp_pool2d(2.0, Pool::<dim!(8)>::new());
    x::<shape![1, 3, 8, 8]>().adaptive_max_pool2d::<shape![2, 2]>();
    x::<shape![3, 8, 8]>().adaptive_avg_pool2d::<shape![2, 2]>();
    x::<shape![1, 3, 8, 8]>().fractional_max_pool2d::<shape![7, 7], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    x::<shape![1, 3, 8, 8]>().fractional_max_pool2d_with_indices::<shape![7, 7], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    x::<shape![1, 2, 3]>().max_unpool2d(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 2, 3]>().max_unpool2d(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 2, 3]>().max_unpool2d_to::<shape![5, 7], _>(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 3]>().max_unpool1d_to::<shape![5], _>(&i::<shape![1, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 2, 2, 2]>().max_unpool3d_to::<shape![4, 4, 5], _>(&i::<shape![1, 2, 2, 2]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 3, 8, 8]>().im2col(Patches::<dim!(8)>::new());
    x::<shape![1, 8, 9]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    x::<shape![1, 8, 9]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    x::<shape![1, 3, 8]>().interpolate::<shape![4]>(Nearest::new());
    x::<shape![1, 3, 8]>().interpolate_sized::<shape![_]>([4], Nearest::new());
    x::<shape![1, 3, 8]>().upsample::<shape![2]>(Nearest::new());
    x::<shape![1, 3, 8]>().interpolate_scaled([2.0], Nearest::new());
    x::<shape![2, 2, 3]>().affine_grid::<shape![4, 4]>(true);
    x::<shape![1, 3, 8, 8]>().grid_sample(&x::<shape![1, 4, 4, 2]>(), Bilinear::new(), GridPadding::Zeros, true);
    x::<shape![2, 3, 8, 8]>().grid_sample(&x::<shape![2, 4, 4, 2]>(), Bilinear::new(), GridPadding::Zeros, true);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 3]>(), All, None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), All, None);
    x::<shape![2, 4, 5, 4]>().scaled_dot_product_attention(&x::<shape![2, 2, 6, 4]>(), &x::<shape![2, 2, 6, 4]>(), All, None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Where(&b::<shape![5, 6]>()), None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Added(&x::<shape![5, 6]>()), None);
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_rearrange {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Tensors joined, repeated, padded and turned.

use castiron::pad::{Circular, Reflect};
use castiron::{KnownShape, Tensor, axis, cat, dim, hstack, shape, stack, vstack, block_diag, cartesian_prod, dstack, column_stack, broadcast_tensors};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    cat((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()), axis![1]);
    stack((&x::<shape![2, 3]>(), &x::<shape![2, 3]>()), axis![0]);
    hstack((&x::<shape![2, 3]>(), &x::<shape![2, 4]>()));
    vstack((&x::<shape![2, 3]>(), &x::<shape![4, 3]>()));
    dstack((&x::<shape![2, 3]>(), &x::<shape![2, 3]>()));
    column_stack((&x::<shape![2, 3]>(), &x::<shape![2]>()));
    broadcast_tensors((&x::<shape![2, 3]>(), &x::<shape![2, 1]>()));
    cartesian_prod((&x::<shape![2]>(), &x::<shape![2]>()));
    block_diag((&x::<shape![2, 3]>(), &x::<shape![2]>()));
    x::<shape![2, 3]>().repeat::<shape![1, 2]>();
    x::<shape![2, 3]>().repeat_sized::<shape![_, _]>([1, 2]);
    x::<shape![2, 3]>().repeat_interleave::<dim!(2), _>(axis![1]);
    x::<shape![2, 3]>().repeat_interleave_sized(axis![1], 2);
    x::<shape![2, 3]>().repeat_interleave_by(axis![1], &i::<shape![3]>());
    x::<shape![2, 3]>().flip(axis![1]);
    x::<shape![2, 2]>().fliplr();
    x::<shape![2]>().flipud();
    x::<shape![2, 3]>().roll_axis(axis![1], 1);
    x::<shape![2, 3]>().rot90::<1, _, _>(axis![0, 1]);
    x::<shape![2, 2]>().tril(0);
    x::<shape![2, 2]>().triu(0);
    x::<shape![2, 3]>().pad::<shape![1, 1], _>(Circular);
    x::<shape![1, 2, 3]>().pad::<shape![2, 0], _>(Reflect);
    x::<shape![1, 2, 3]>().pad::<shape![3, 0], _>(Circular);
    x::<shape![2]>().pad_sized([1, 1], Circular);
    x::<shape![2, 4, 4, 4]>().pixel_shuffle::<dim!(2), _>();
    x::<shape![2, 3, 4, 4]>().pixel_unshuffle::<dim!(2), _>();
    x::<shape![2, 4, 4]>().channel_shuffle::<dim!(2)>();
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_reduce {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Axes summed over, scanned and normalised, weights and statistics beside a tensor.

use castiron::{Generator, Interpolation, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().sum_axis(axis![1]);
    x::<shape![2, 3]>().mean_axis(axis![0, 1]);
    x::<shape![2, 3]>().amax_axis(axis![-2]);
    castiron::shells::amin_axis(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), axis![1]);
    x::<shape![2, 3]>().max_axis(axis![1]);
    x::<shape![2, 3]>().argmax_axis(axis![1]);
    x::<shape![2, 3]>().logsumexp(axis![1]);
    x::<shape![2, 3]>().var_mean_axis(axis![1], 1);
    x::<shape![2, 3]>().median_axis(axis![1]);
    x::<shape![2, 3]>().nanmedian_axis(axis![1]);
    x::<shape![2, 3]>().quantile_axis(axis![1], 0.5, Interpolation::Linear);
    x::<shape![2, 3]>().quantiles(&x::<shape![2]>(), Interpolation::Linear);
    x::<shape![2, 3]>().cumsum(axis![1]);
    x::<shape![2, 3]>().cummax(axis![1]);
    x::<shape![2, 3]>().softmax(axis![1]);
    x::<shape![2, 3]>().diff(axis![1], 1);
    x::<shape![2, 3]>().trapezoid(axis![1], 1.0);
    x::<shape![2, 3]>().trapezoid_over(&x::<shape![3]>(), axis![1]);
    x::<shape![2, 3]>().cumulative_trapezoid_over(&x::<shape![3]>(), axis![1]);
    i::<shape![3]>().bincount(0);
    i::<shape![3]>().bincount_weighted(&x::<shape![3]>(), 0);
    x::<shape![3]>().histogram(2, None, Some(&x::<shape![3]>()), false);
    x::<shape![3]>().histogram_between(&x::<shape![2]>().cumsum(axis![0]), Some(&x::<shape![3]>()), false);
    x::<shape![3, 2]>().histogramdd([2, 2], None, None, false);
    x::<shape![3, 2]>().histogramdd([2, 2], None, Some(&x::<shape![3]>()), false);
    x::<shape![3, 2]>().cov(1);
    x::<shape![3, 2]>().corrcoef();
    x::<shape![2, 4]>().glu(axis![1]);
    x::<shape![2, 3]>().renorm(axis![1], 2.0, 1.0);
    x::<shape![2, 3]>().normalize(axis![1], 2.0, 1e-12);
    x::<shape![2, 3]>().layer_norm::<shape![3]>(None, None, 1e-5);
    x::<shape![2, 3]>().layer_norm(Some(&x::<shape![3]>()), None, 1e-5);
    x::<shape![2, 3]>().layer_norm(Some(&x::<shape![3]>()), Some(&x::<shape![3]>()), 1e-5);
    x::<shape![2, 3]>().rms_norm(Some(&x::<shape![3]>()), None);
    x::<shape![2, 4, 4]>().group_norm::<dim!(2), _, _>((), (), 1e-5);
    x::<shape![2, 4, 4]>().group_norm::<dim!(2), _, _>(&x::<shape![4]>(), (), 1e-5);
    x::<shape![2, 3, 2]>().instance_norm((), (), 1e-5);
    x::<shape![2, 3, 2, 1]>().instance_norm((), (), 1e-5);
    x::<shape![2, 3, 2]>().instance_norm((), &x::<shape![3]>(), 1e-5);
    x::<shape![2, 3]>().batch_norm(&x::<shape![3]>(), &x::<shape![3]>(), (), (), 1e-5);
    x::<shape![2, 3]>().batch_norm(&x::<shape![3]>(), &x::<shape![3]>(), &x::<shape![3]>(), (), 1e-5);
    x::<shape![2, 3]>().batch_norm_training((), (), (), 0.1, 1e-5);
    x::<shape![1, 3, 2]>().batch_norm_training((), (), (), 0.1, 1e-5);
    x::<shape![2, 3]>().batch_norm_training((&mut x::<shape![3]>(), &mut x::<shape![3]>()), (), (), 0.1, 1e-5);
    x::<shape![2, 3]>().local_response_norm(2, 1e-4, 0.75, 1.0);
    x::<shape![2, 3]>().multinomial(1, true, &mut Generator::seeded(1));
}

#[test]
fn runs() {
    super::done(main());
}
}

mod misfits_view {
macro_rules! calls { ($($call:expr;)*) => { pub fn main() { $({ fn call() { let _ = $call; } call(); })* } } } // Shapes seen otherwise, parts, and axes that a tensor has.

use castiron::{Complex, KnownShape, Tensor, axis, dim, s, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn z<S: KnownShape>() -> Tensor<Complex<f64>, S> {
    Tensor::ones()
}

calls! {
    x::<shape![2, 3]>().reshape::<shape![6]>();
    x::<shape![2, 3]>().reshape_sized::<shape![6]>([6]);
    x::<shape![2, 3]>().reshape_as(&x::<shape![6]>());
    x::<shape![2, 3]>().view::<shape![6]>();
    x::<shape![2, 3]>().view_sized::<shape![6]>([6]);
    x::<shape![2, 3]>().view_as(&x::<shape![6]>());
    x::<shape![2, 4]>().view_dtype::<castiron::Complex<f64>>();
    x::<shape![3, 2]>().view_as_complex();
    z::<shape![1, 1, 1, 1, 1, 1, 1]>().view_as_real();
    x::<shape![1, 3]>().expand::<shape![4, 3]>();
    x::<shape![1, 3]>().expand_sized::<shape![4, 3]>([4, 3]);
    x::<shape![1, 3]>().expand_as(&x::<shape![4, 3]>());
    x::<shape![2, 3]>().flatten_axes(axis![0], axis![1]);
    x::<shape![2, 6]>().unflatten::<shape![2, 3], _>(axis![1]);
    x::<shape![2, 3]>().t();
    x::<shape![2, 3]>().transpose(axis![0], axis![1]);
    x::<shape![2, 3]>().swapaxes(axis![0], axis![1]);
    x::<shape![2, 3]>().permute(axis![1, 0]);
    x::<shape![2, 3]>().permute(axis![0, 1]);
    x::<shape![2, 3]>().movedim(axis![1], axis![0]);
    x::<shape![2, 2]>().mT();
    x::<shape![2, 2]>().mH();
    x::<shape![2, 2]>().adjoint();
    x::<shape![2, 1]>().squeeze_axis(axis![1]);
    x::<shape![2, 1]>().squeeze_axes(axis![0, 1]);
    x::<shape![2, 3]>().unsqueeze(axis![2]);
    x::<shape![2, 3]>().select(axis![1], 0);
    x::<shape![2, 3]>().narrow(axis![1], 0, 1);
    x::<shape![2, 3]>().slice(s![.., 0]);
    x::<shape![2, 3]>().chunk(axis![1], 2);
    x::<shape![2, 4]>().chunk_array::<2, _>(axis![1]);
    x::<shape![2, 3]>().split(axis![1], 2);
    x::<shape![2, 3]>().split_sizes(axis![1], &[1, 2]);
    x::<shape![2, 3]>().split_into::<shape![1, 2], _>(axis![1]);
    x::<shape![2, 3]>().tensor_split(axis![1], 2);
    x::<shape![2, 3]>().tensor_split_at(axis![1], &[1]);
    x::<shape![2, 3]>().unbind(axis![1]);
    x::<shape![2, 3]>().unbind_array::<3, _>(axis![1]);
    x::<shape![2, 3]>().unfold::<dim!(2), dim!(1), _>(axis![1]);
    x::<shape![2, 3]>().unfold_sized(axis![1], 1, 1);
    x::<shape![2, 3]>().iter_axis(axis![1]).count();
    x::<shape![2, 3]>().iter_axis_mut(axis![1]).count();
    x::<shape![2, 3]>().split_at_mut(axis![1], 1).len();
    x::<shape![2, 3]>().diagonal(axis![0, 1]);
    x::<shape![2, 3]>().diagonal_at(axis![0, 1], 1);
    x::<shape![2, 3]>().diag();
    x::<shape![2, 3]>().diag_at(1);
    x::<shape![2]>().diag_embed();
    x::<shape![2]>().diag_embed_at(1);
    x::<shape![2, 3]>().trace();
    x::<shape![2, 2]>().eye_like();
}

#[test]
fn runs() {
    super::done(main());
}
}
