//! The filters of `examples/image_filters`: their properties, and numbers computed by PyTorch.

#[path = "../../examples/image_filters/src/filters.rs"]
mod filters;

use castiron::{Device, Dim, Error, Float, Meta, Tensor, axis, bf16, dims, shape, tensor};
use filters::*;

dims! { Height, Width }

/// Two channels of 5 by 7 numbers without a pattern, from 0 to 1.
fn picture() -> Tensor<f32, shape![2, 5, 7]> {
    Tensor::<f32, shape![2, 5, 7]>::from_fn_sized([2, 5, 7], |[c, y, x]| {
        ((c * 31 + y * 17 + x * x * 5 + x * y * 3) % 23) as f32 / 22.0
    })
}

#[track_caller]
fn close<C: Dim, H: Dim, W: Dim>(found: &Tensor<f32, (C, H, W)>, expected: &[f32]) {
    let found = found.to_vec();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
    }
}

#[test]
fn bytes_keep_their_layout_and_come_back() {
    let image = Tensor::<u8, shape![16, 16, 3]>::from_fn_sized([16, 16, 3], |[y, x, c]| (y * 16 + x + 85 * c) as u8);
    let planes = image.permute(axis![2, 0, 1]);
    let numbers: Tensor<f32, shape![3, 16, 16]> = from_bytes(&planes);
    assert_eq!(numbers.stride(), [1, 48, 3]);
    let back = to_bytes(&numbers);
    assert_eq!(back.permute(axis![1, 2, 0]).as_slice(), image.as_slice());
    assert_eq!(to_bytes(&tensor![[[-0.5, 0.5, 1.5]]]).to_vec(), [0, 128, 255]);
}

#[test]
fn normalized_channels_have_mean_0_and_deviation_1() {
    let (mean, deviation) = statistics(&normalize(&picture()));
    assert!(mean.abs().amax().item() < 1e-6);
    assert!((deviation.amax().item() - 1.0).abs() < 1e-5 && (deviation.amin().item() - 1.0).abs() < 1e-5);
    assert_eq!(normalize(&tensor![[[0.25, 0.25]]]).to_vec(), [0.0, 0.0]);
}

#[test]
fn colours_mix() {
    let pixels = tensor![[[1.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]]];
    close(&grey(&pixels), &[0.299, 0.701]);
    let swapped: Tensor<f32, shape![2, 1, 2]> = mix(&pixels, &tensor![[0.0, 1.0, 0.0], [0.5, 0.0, 0.0]]);
    assert_eq!(swapped.to_vec(), [0.0, 1.0, 0.5, 0.0]);
    assert_eq!(posterize(&tensor![[[0.0, 0.2, 0.4, 0.7, 1.0]]], 3).to_vec(), [0.0, 0.0, 0.5, 0.5, 1.0]);
}

/// `F.conv2d` of `F.pad(picture, (2, 2, 2, 2), "reflect")`.
#[test]
fn blur_is_the_convolution_with_a_gaussian() {
    let found = blur(&picture(), 0.6).unwrap();
    close(
        &found,
        &[
            0.237788, 0.31904, 0.751499, 0.711155, 0.606779, 0.607032, 0.661515, 0.489854, 0.427405, 0.694369,
            0.427664, 0.558957, 0.648391, 0.587835, 0.609449, 0.783109, 0.779705, 0.335356, 0.225202, 0.418279,
            0.622026, 0.556585, 0.792095, 0.807905, 0.440158, 0.322581, 0.451761, 0.541337, 0.75314, 0.790056,
            0.809679, 0.528898, 0.414731, 0.345278, 0.586072, 0.364537, 0.446983, 0.303606, 0.382868, 0.564032,
            0.565205, 0.444554, 0.327483, 0.385127, 0.302706, 0.385823, 0.312596, 0.374725, 0.487517, 0.563144,
            0.365032, 0.30405, 0.492843, 0.4404, 0.522187, 0.463241, 0.452993, 0.258709, 0.304487, 0.627619, 0.680421,
            0.755878, 0.674326, 0.304629, 0.169097, 0.304494, 0.716803, 0.77389, 0.593153, 0.485462,
        ],
    );
}

#[test]
fn blur_keeps_means() {
    let constant = picture().full_like(0.25);
    close(&blur(&constant, 2.0).unwrap(), &[0.25; 70]);
    // Far from the edges nothing is lost and nothing mirrored.
    let mut point = Tensor::<f32, shape![1, 41, 41]>::zeros();
    point[(0, 20, 20)] = 1.0;
    let blurred = blur(&point, 3.0).unwrap();
    assert!((blurred.sum().item() - 1.0).abs() < 1e-5);
    assert!((blurred.amax().item() - blurred[(0, 20, 20)]).abs() < 1e-9);
    close(&(&blurred - blurred.transpose(axis![1], axis![2])), &[0.0; 41 * 41]);
    // Pictures smaller than the Gaussian are mirrored as far as they go.
    assert_eq!(blur(&tensor![[[0.5]]], 3.0).unwrap().to_vec(), [0.5]);
}

#[test]
fn edges_are_where_values_change() {
    assert_eq!(edges(&picture().full_like(0.7)).unwrap().to_vec(), [0.0; 70]);
    let step = tensor![[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]];
    let both = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
    assert_eq!(edges(&step).unwrap().to_vec(), both);
    assert_eq!(edges(&step.transpose(axis![1], axis![2])).unwrap().transpose(axis![1], axis![2]).to_vec(), both);
    assert_eq!(edges(&tensor![[[0.5]]]).unwrap().to_vec(), [0.0]);
}

/// `F.interpolate(picture[None], size, mode="bilinear", antialias=…)`.
#[test]
fn resize_is_bilinear_interpolation() {
    let smaller = |antialias| -> Tensor<f32, shape![2, 3, 4]> { resize(&picture(), [3, 4], antialias).unwrap() };
    close(
        &smaller(false),
        &[
            0.229167, 0.882576, 0.604167, 0.657197, 0.6875, 0.823864, 0.028409, 0.653409, 0.753788, 0.852273, 0.454545,
            0.5625, 0.375, 0.244318, 0.575758, 0.454545, 0.659091, 0.272727, 0.392045, 0.363636, 0.289773, 0.301136,
            0.818182, 0.49053,
        ],
    );
    close(
        &smaller(true),
        &[
            0.289116, 0.677403, 0.617662, 0.639456, 0.634199, 0.689899, 0.276364, 0.56253, 0.730365, 0.753506,
            0.401039, 0.514842, 0.368275, 0.33013, 0.491429, 0.476809, 0.477874, 0.347273, 0.472727, 0.511304,
            0.283241, 0.364416, 0.764675, 0.565553,
        ],
    );
    let larger: Tensor<f32, shape![2, 6, 10]> = resize(&picture(), [6, 10], true).unwrap();
    close(
        &larger,
        &[
            0.0, 0.125, 0.397727, 0.875, 0.968182, 0.825, 0.497727, 0.465909, 0.638636, 0.863636, 0.579545, 0.329545,
            0.321023, 0.869886, 0.525, 0.453409, 0.707386, 0.747159, 0.638636, 0.488636, 0.613636, 0.617803, 0.693182,
            0.894697, 0.428977, 0.223485, 0.330492, 0.449811, 0.577652, 0.681818, 0.386364, 0.692614, 0.934659,
            0.910795, 0.502841, 0.224432, 0.127841, 0.326705, 0.534091, 0.700758, 0.420455, 0.645455, 0.849432,
            0.905114, 0.576705, 0.377841, 0.347727, 0.443182, 0.507955, 0.545455, 1.0, 0.85, 0.772727, 0.9, 0.643182,
            0.515909, 0.518182, 0.136364, 0.429545, 0.954545, 0.363636, 0.488636, 0.5, 0.245455, 0.286364, 0.509091,
            0.861364, 0.829545, 0.531818, 0.181818, 0.159091, 0.340341, 0.423295, 0.240341, 0.352841, 0.372727,
            0.286932, 0.326705, 0.453409, 0.590909, 0.541667, 0.45, 0.338068, 0.234659, 0.426705, 0.434659, 0.258523,
            0.377841, 0.427273, 0.435606, 0.75, 0.48125, 0.252841, 0.228977, 0.500568, 0.588068, 0.491477, 0.690341,
            0.623295, 0.454545, 0.522727, 0.316477, 0.167614, 0.223295, 0.574432, 0.741477, 0.711364, 0.806818,
            0.753977, 0.647727, 0.318182, 0.168182, 0.090909, 0.218182, 0.640909, 0.879545, 0.881818, 0.5, 0.322727,
            0.272727,
        ],
    );
}

#[test]
fn resize_to_the_same_size_changes_nothing() {
    for antialias in [false, true] {
        let same: Tensor<f32, shape![2, 5, 7]> = resize(&picture(), [5, 7], antialias).unwrap();
        assert_eq!(same.to_vec(), picture().to_vec());
    }
}

/// Sizes known at run time keep their names; every float dtype and every device will do.
#[test]
fn filters_are_generic() {
    fn all<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
        picture: &Tensor<E, (C, H, W), D>,
    ) -> castiron::Result<Tensor<E, (C, H, W), D>> {
        edges(&blur(&posterize(&normalize(picture), 4), 1.0)?)
    }
    let named: Tensor<f64, shape![2, Height, Width]> = picture().to::<f64>().try_with_shape().unwrap();
    assert_eq!(all(&named).unwrap().shape(), [2, 5, 7]);
    assert_eq!(all(&picture().to::<bf16>()).unwrap().shape(), [2, 5, 7]);
    let plan = Tensor::<f32, shape![3, Height, Width], Meta>::zeros_sized([3, 4000, 6000]);
    assert_eq!(all(&plan).unwrap().shape(), [3, 4000, 6000]);
    let preview: Tensor<f32, shape![3, 40, 60], Meta> = resize(&plan, [40, 60], true).unwrap();
    assert_eq!(preview.shape(), [3, 40, 60]);
}

#[test]
fn sizes_that_the_type_does_not_have_are_errors() {
    let error = resize::<_, _, _, _, castiron::dim!(3), castiron::dim!(4), _>(&picture(), [4, 3], true).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}
