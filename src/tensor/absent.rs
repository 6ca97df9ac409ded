//! Methods of disabled features: they exist so that the compiler error says which feature to enable.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::refused::absent;
use crate::shape::Shape;
use crate::tensor::Tensor;

#[cfg(not(feature = "npy"))]
absent! { npy, "castiron is built without its feature `npy`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"npy\"] }}`, or `cargo add castiron --features npy`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn load_npy(path) -> Result<Self>;
        fn from_npy(bytes) -> Result<Self>;
        fn map_npy(path) -> Result<Self>;
        fn save_npy(&self; path) -> Result<()>;
    }
}

#[cfg(not(feature = "image"))]
absent! { image, "castiron is built without its feature `image`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"image\"] }}`, or `cargo add castiron --features image`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn from_image(image) -> Result<Self>;
        fn from_rgb(image) -> Result<Self>;
        fn into_image(&self;) -> Result<Self>;
    }
}

#[cfg(not(feature = "mmap"))]
absent! { mmap, "castiron is built without its feature `mmap`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"mmap\"] }}`, or `cargo add castiron --features mmap`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn from_file(path, sizes) -> Result<Self>;
    }
}

#[cfg(not(feature = "safetensors"))]
absent! { safetensors, "castiron is built without its feature `safetensors`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"safetensors\"] }}`, or `cargo add castiron --features safetensors`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn load(checkpoint, name) -> Result<Self>;
    }
}

#[cfg(not(feature = "bytemuck"))]
absent! { bytemuck, "castiron is built without its feature `bytemuck`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"bytemuck\"] }}`, or `cargo add castiron --features bytemuck`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn as_pod [T] (&self;) -> Option<Self>;
    }
}

#[cfg(not(feature = "ndarray"))]
absent! { ndarray, "castiron is built without its feature `ndarray`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"ndarray\"] }}`, or `cargo add castiron --features ndarray`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn from_ndarray(array) -> Result<Self>;
        fn as_ndarray(&self;) -> Self;
        fn into_ndarray(&self;) -> Self;
    }
}

#[cfg(not(feature = "dlpack"))]
absent! { dlpack, "castiron is built without its feature `dlpack`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"dlpack\"] }}`, or `cargo add castiron --features dlpack`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn to_dlpack(&self;) -> Self;
        fn from_dlpack(given) -> Result<Self>;
    }
}

#[cfg(not(feature = "cudarc"))]
absent! { cudarc, "castiron is built without its feature `cudarc`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"cudarc\"] }}`, or `cargo add castiron --features cudarc`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn to_cudarc(&self; stream) -> Self;
        fn into_cudarc(&self; stream) -> Self;
        fn from_cudarc(slice) -> Result<Self>;
        fn from_cudarc_sized(slice, sizes) -> Result<Self>;
    }
}

#[cfg(not(feature = "linalg"))]
absent! { linalg, "castiron is built without its feature `linalg`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"linalg\"] }}`, or `cargo add castiron --features linalg`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn inv(&self;) -> Self;
        fn det(&self;) -> Self;
        fn slogdet(&self;) -> (Self, Self);
        fn matrix_exp(&self;) -> Self;
        fn pinv(&self; rtol, hermitian) -> Self;
        fn matrix_rank(&self; rtol, hermitian) -> Self;
        fn cond(&self; order) -> Self;
        fn cholesky(&self; upper) -> Self;
        fn cholesky_solve(&self; factor, upper) -> Self;
        fn qr(&self; extent) -> (Self, Self);
        fn lu(&self;) -> (Self, Self, Self);
        fn lu_factor(&self;) -> (Self, Self);
        fn solve(&self; b) -> Self;
        fn rsolve(&self; b) -> Self;
        fn lu_solve(&self; pivots, b, adjoint) -> Self;
        fn solve_triangular(&self; b, upper, unitriangular) -> Self;
        fn lstsq(&self; b, rcond) -> (Self, Self);
        fn svd(&self; extent) -> (Self, Self, Self);
        fn svdvals(&self;) -> Self;
        fn eigh(&self; uplo) -> (Self, Self);
        fn eigvalsh(&self; uplo) -> Self;
        fn eig(&self;) -> (Self, Self);
        fn eigvals(&self;) -> Self;
    }
}

#[cfg(not(feature = "fft"))]
absent! { fft, "castiron is built without its feature `fft`, which this needs",
    "in Cargo.toml: `castiron = {{ version = \"…\", features = [\"fft\"] }}`, or `cargo add castiron --features fft`";
    [E: Element, S: Shape, D: Device] Tensor<E, S, D> {
        fn fft(&self; axis, norm) -> Self;
        fn ifft(&self; axis, norm) -> Self;
        fn fft_sized(&self; axis, n, norm) -> Self;
        fn ifft_sized(&self; axis, n, norm) -> Self;
        fn fftn(&self; axes, norm) -> Self;
        fn ifftn(&self; axes, norm) -> Self;
        fn rfft(&self; axis, norm) -> Self;
        fn rfft_sized(&self; axis, n, norm) -> Self;
        fn irfft [N, I] (&self; axis, norm) -> Self;
        fn irfft_sized(&self; axis, n, norm) -> Self;
        fn hfft [N, I] (&self; axis, norm) -> Self;
        fn ihfft(&self; axis, norm) -> Self;
        fn rfftn(&self; axes, norm) -> Self;
        fn irfftn(&self; axes, n, norm) -> Self;
        fn fftshift(&self; axis) -> Self;
        fn ifftshift(&self; axis) -> Self;
        fn stft(&self; window, frames) -> Self;
        fn istft(&self; window, frames, length) -> Self;
    }
}
