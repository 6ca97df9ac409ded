// Layers of networks: weights, windows, heads and masks beside what they are applied to.

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
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 2, 3]>(), None, Conv::new());
    // instead: x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), Some(&x::<shape![3]>()), Conv::new());
    // instead: x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), Some(&x::<shape![4]>()), Conv::new());
    x::<shape![1, 3, 8, 8]>().conv2d(&x::<shape![4, 3, 9, 3]>(), None, Conv::new());
    // instead: x::<shape![1, 3, 8, 8]>().conv2d(&x::<shape![4, 3, 8, 3]>(), None, Conv::new());
    x::<shape![3, 8]>().conv2d(&x::<shape![4, 3, 3, 3]>(), None, Conv::new());
    // instead: x::<shape![3, 8, 8]>().conv2d(&x::<shape![4, 3, 3, 3]>(), None, Conv::new());
    x::<shape![1, 4, 8]>().conv1d(&x::<shape![3, 2, 3]>(), None, Conv::new().groups::<dim!(2)>());
    // instead: x::<shape![1, 4, 8]>().conv1d(&x::<shape![4, 2, 3]>(), None, Conv::new().groups::<dim!(2)>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().stride::<dim!(2)>().padding::<Same>());
    // instead: x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().padding::<Same>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 2]>(), None, Conv::new().padding::<Half>());
    // instead: x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().padding::<Half>());
    x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().stride::<shape![2, 2]>());
    // instead: x::<shape![1, 3, 8]>().conv1d(&x::<shape![4, 3, 3]>(), None, Conv::new().stride::<shape![2]>());
    x::<shape![1, 3, 8]>().conv1d_with(&x::<shape![4, 2, 3]>(), None, Conv::new(), ops::relu {});
    // instead: x::<shape![1, 3, 8]>().conv1d_with(&x::<shape![4, 3, 3]>(), None, Conv::new(), ops::relu {});
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![4, 3, 3]>(), None, Conv::new());
    // instead: x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), None, Conv::new());
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), Some(&x::<shape![3]>()), Conv::new()); // rustc
    // instead: x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), Some(&x::<shape![4]>()), Conv::new());
    x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), None, Conv::new().output_padding::<dim!(1)>());
    // instead: x::<shape![1, 3, 8]>().conv_transpose1d(&x::<shape![3, 4, 3]>(), None, Conv::new().stride::<dim!(2)>().output_padding::<dim!(1)>());
    x::<shape![4, 3, 3]>().pack_conv1d(Some(&x::<shape![3]>()), Conv::new());
    // instead: x::<shape![4, 3, 3]>().pack_conv1d(Some(&x::<shape![4]>()), Conv::new());
    x::<shape![3, 3, 3]>().pack_conv1d(None, Conv::new().groups::<dim!(2)>());
    // instead: x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new().groups::<dim!(2)>());
    x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward(&x::<shape![1, 2, 8]>());
    // instead: x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward(&x::<shape![1, 3, 8]>());
    x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward_with(&x::<shape![1, 2, 8]>(), ops::relu {});
    // instead: x::<shape![4, 3, 3]>().pack_conv1d(None, Conv::new()).forward_with(&x::<shape![1, 3, 8]>(), ops::relu {});
    x::<shape![4, 3]>().pack_linear(Some(&x::<shape![3]>()));
    // instead: x::<shape![4, 3]>().pack_linear(Some(&x::<shape![4]>()));
    x::<shape![4, 3, 3]>().pack_linear(None);
    // instead: x::<shape![4, 3]>().pack_linear(None);
    x::<shape![4, 3]>().pack_linear(None).forward(&x::<shape![2, 4]>());
    // instead: x::<shape![4, 3]>().pack_linear(None).forward(&x::<shape![2, 3]>());
    x::<shape![4, 3]>().pack_linear(None).forward_with(&x::<shape![2, 4]>(), ops::relu {});
    // instead: x::<shape![4, 3]>().pack_linear(None).forward_with(&x::<shape![2, 3]>(), ops::relu {});
    x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(9)>::new());
    // instead: x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(8)>::new());
    x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(2)>::new().padding::<dim!(2)>());
    // instead: x::<shape![1, 3, 8]>().max_pool1d(Pool::<dim!(2)>::new().padding::<dim!(1)>());
    x::<shape![3, 8]>().max_pool2d_with_indices(Pool::<dim!(2)>::new());
    // instead: x::<shape![3, 8, 8]>().max_pool2d_with_indices(Pool::<dim!(2)>::new());
    x::<shape![1, 3, 8, 8]>().avg_pool2d(Pool::<shape![2, 2, 2]>::new());
    // instead: x::<shape![1, 3, 8, 8]>().avg_pool2d(Pool::<shape![2, 2]>::new());
    x::<shape![1, 3, 8, 8]>().lp_pool2d(2.0, Pool::<dim!(9)>::new());
    // instead: x::<shape![1, 3, 8, 8]>().lp_pool2d(2.0, Pool::<dim!(8)>::new());
    x::<shape![1, 3, 8, 8]>().adaptive_max_pool2d::<shape![2]>();
    // instead: x::<shape![1, 3, 8, 8]>().adaptive_max_pool2d::<shape![2, 2]>();
    x::<shape![8, 8]>().adaptive_avg_pool2d::<shape![2, 2]>();
    // instead: x::<shape![3, 8, 8]>().adaptive_avg_pool2d::<shape![2, 2]>();
    x::<shape![1, 3, 8, 8]>().fractional_max_pool2d::<shape![8, 8], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    // instead: x::<shape![1, 3, 8, 8]>().fractional_max_pool2d::<shape![7, 7], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    x::<shape![1, 3, 8, 8]>().fractional_max_pool2d_with_indices::<shape![8, 8], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    // instead: x::<shape![1, 3, 8, 8]>().fractional_max_pool2d_with_indices::<shape![7, 7], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(1));
    x::<shape![1, 2, 3]>().max_unpool2d(&i::<shape![1, 3, 2]>(), Pool::<dim!(2)>::new());
    // instead: x::<shape![1, 2, 3]>().max_unpool2d(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![2, 3]>().max_unpool2d(&i::<shape![2, 3]>(), Pool::<dim!(2)>::new()); // rustc
    // instead: x::<shape![1, 2, 3]>().max_unpool2d(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 2, 3]>().max_unpool2d_to::<shape![5, 9], _>(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    // instead: x::<shape![1, 2, 3]>().max_unpool2d_to::<shape![5, 7], _>(&i::<shape![1, 2, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 3]>().max_unpool1d_to::<shape![4], _>(&i::<shape![1, 3]>(), Pool::<dim!(2)>::new());
    // instead: x::<shape![1, 3]>().max_unpool1d_to::<shape![5], _>(&i::<shape![1, 3]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 2, 2, 2]>().max_unpool3d_to::<shape![4, 4, 6], _>(&i::<shape![1, 2, 2, 2]>(), Pool::<dim!(2)>::new());
    // instead: x::<shape![1, 2, 2, 2]>().max_unpool3d_to::<shape![4, 4, 5], _>(&i::<shape![1, 2, 2, 2]>(), Pool::<dim!(2)>::new());
    x::<shape![1, 3, 8, 8]>().im2col(Patches::<dim!(9)>::new());
    // instead: x::<shape![1, 3, 8, 8]>().im2col(Patches::<dim!(8)>::new());
    x::<shape![1, 6, 9]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    // instead: x::<shape![1, 8, 9]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    x::<shape![1, 8, 8]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    // instead: x::<shape![1, 8, 9]>().col2im::<shape![4, 4], _>(Patches::<dim!(2)>::new());
    x::<shape![3, 8]>().interpolate::<shape![4]>(Nearest::new());
    // instead: x::<shape![1, 3, 8]>().interpolate::<shape![4]>(Nearest::new());
    x::<shape![1, 3, 8]>().interpolate_sized::<shape![_, _]>([4, 4], Nearest::new());
    // instead: x::<shape![1, 3, 8]>().interpolate_sized::<shape![_]>([4], Nearest::new());
    x::<shape![1, 3, 8]>().upsample::<shape![2, 2]>(Nearest::new());
    // instead: x::<shape![1, 3, 8]>().upsample::<shape![2]>(Nearest::new());
    x::<shape![1, 3, 8]>().interpolate_scaled([2.0, 2.0], Nearest::new()); // rustc
    // instead: x::<shape![1, 3, 8]>().interpolate_scaled([2.0], Nearest::new());
    x::<shape![2, 2, 2]>().affine_grid::<shape![4, 4]>(true); // rustc
    // instead: x::<shape![2, 2, 3]>().affine_grid::<shape![4, 4]>(true);
    x::<shape![1, 3, 8, 8]>().grid_sample(&x::<shape![1, 4, 4, 3]>(), Bilinear::new(), GridPadding::Zeros, true);
    // instead: x::<shape![1, 3, 8, 8]>().grid_sample(&x::<shape![1, 4, 4, 2]>(), Bilinear::new(), GridPadding::Zeros, true);
    x::<shape![1, 3, 8, 8]>().grid_sample(&x::<shape![2, 4, 4, 2]>(), Bilinear::new(), GridPadding::Zeros, true);
    // instead: x::<shape![2, 3, 8, 8]>().grid_sample(&x::<shape![2, 4, 4, 2]>(), Bilinear::new(), GridPadding::Zeros, true);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 3]>(), &x::<shape![6, 4]>(), All, None);
    // instead: x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 3]>(), All, None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![7, 4]>(), All, None);
    // instead: x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), All, None);
    x::<shape![2, 4, 5, 4]>().scaled_dot_product_attention(&x::<shape![2, 3, 6, 4]>(), &x::<shape![2, 3, 6, 4]>(), All, None);
    // instead: x::<shape![2, 4, 5, 4]>().scaled_dot_product_attention(&x::<shape![2, 2, 6, 4]>(), &x::<shape![2, 2, 6, 4]>(), All, None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Where(&b::<shape![6, 5]>()), None);
    // instead: x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Where(&b::<shape![5, 6]>()), None);
    x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Added(&x::<shape![5, 5]>()), None);
    // instead: x::<shape![5, 4]>().scaled_dot_product_attention(&x::<shape![6, 4]>(), &x::<shape![6, 4]>(), Added(&x::<shape![5, 6]>()), None);
}
