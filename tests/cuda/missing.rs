//! A library that is not installed is an error that names it, never a panic.

use crate::pretend::{Installed, within};
use castiron::{AnyDevice, AnyTensor, Cuda, DType, Error, Tensor, shape, tensor};

/// The text of the error of making a tensor.
fn refusal<const N: usize>() -> String {
    let error = Tensor::<f32, shape![2], Cuda<N>>::try_zeros().unwrap_err();
    assert!(matches!(error, Error::DeviceUnavailable { .. }), "{error:?}");
    assert_eq!(tensor![1.0, 2.0].to_device::<Cuda<N>>().unwrap_err(), error);
    assert!(!AnyDevice::new(("cuda", N)).unwrap().is_available());
    assert!(AnyTensor::zeros_on(&[2], DType::F32, ("cuda", N)).is_err());
    error.to_string()
}

#[test]
fn no_driver() {
    within("missing::no_driver", Installed::Nothing, &[], || {
        let text = refusal::<0>();
        assert!(
            text.starts_with("cuda:0 is not available: no NVIDIA driver was found (the library `libcuda.so.1`"),
            "{text}"
        );
        assert!(castiron::device::current_device().is_err());
    });
}

#[test]
fn an_empty_library() {
    within("missing::an_empty_library", Installed::Empty, &[], || {
        let text = refusal::<0>();
        assert!(text.contains("`cuInit` is missing: the NVIDIA driver is too old"), "{text}");
    });
}

#[test]
fn no_device() {
    within("missing::no_device", Installed::Both, &[("PRETEND_DEVICES", "0")], || {
        let text = refusal::<0>();
        assert_eq!(
            text,
            "cuda:0 is not available: the NVIDIA driver sees no GPU: see `nvidia-smi` and `$CUDA_VISIBLE_DEVICES`"
        );
    });
}

#[test]
fn an_ordinal_too_high() {
    within("missing::an_ordinal_too_high", Installed::Both, &[], || {
        assert_eq!(refusal::<7>(), "cuda:7 is not available: there are 2 CUDA devices, `cuda:0` to `cuda:1`");
        let far = Tensor::<f32, shape![2], Cuda<500>>::try_zeros().unwrap_err();
        assert_eq!(far.to_string(), "cuda:500 is not available: ordinals are less than 128");
        assert!(Tensor::<f32, shape![2], Cuda<1>>::try_zeros().is_ok());
        assert!(AnyDevice::new("cuda:1").unwrap().is_available());
    });
}

#[test]
fn a_device_without_pools() {
    within("missing::a_device_without_pools", Installed::Both, &[("PRETEND_POOLS", "0")], || {
        let text = refusal::<0>();
        assert!(text.contains("the device has no memory pools"), "{text}");
    });
}

/// Elements go to the device and back; only what needs a kernel says that there is no compiler.
#[test]
fn no_nvrtc() {
    within("missing::no_nvrtc", Installed::DriverOnly, &[], || {
        let x = tensor![1.0, 2.0].to_device::<Cuda<0>>().unwrap();
        assert_eq!(x.cpu().unwrap().to_vec(), [1.0, 2.0]);
        let error = Tensor::<f64, shape![2], Cuda<0>>::try_full(0.1).unwrap_err();
        assert!(matches!(error, Error::CudaFailure { op: "compile", .. }), "{error:?}");
        assert!(error.to_string().contains("NVRTC, the compiler of kernels, was not found"), "{error}");
    });
}

/// What a variable without an absolute path leads to is in the current folder, where others may have put it.
#[test]
fn a_toolkit_in_the_current_folder() {
    let variables = [("CUDA_HOME", ""), ("CUDA_PATH", "."), ("VIRTUAL_ENV", "")];
    within("missing::a_toolkit_in_the_current_folder", Installed::Both, &variables, || {
        let folder = std::path::PathBuf::from(std::env::var_os("CASTIRON_CUDA_LIB").unwrap());
        std::fs::create_dir(folder.join("lib64")).unwrap();
        std::fs::rename(folder.join("libnvrtc.so.13"), folder.join("lib64/libnvrtc.so.13")).unwrap();
        std::env::set_current_dir(&folder).unwrap();
        let error = Tensor::<f64, shape![2], Cuda<0>>::try_full(0.1).unwrap_err();
        assert!(error.to_string().contains("NVRTC, the compiler of kernels, was not found"), "{error}");
    });
}
