//! Tensors as values of other crates: `serde`, `bytemuck`, `ndarray`, `image`, and DLPack.

#[cfg(feature = "serde")]
mod serialized {
    use castiron::{
        Complex, Cpu, Element, F4E2M1FNX2, F8E4M3FN, Meta, Shape, Tensor, TensorView, bf16, f16, shape, tensor,
    };

    fn json<E: Element, S: Shape>(text: &str) -> Result<Tensor<E, S>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tensor_is_its_dtype_its_shape_and_its_numbers() {
        let x = tensor![[1.0, -0.5], [0.1, 1e30]];
        let text = serde_json::to_string(&x.t()).unwrap();
        assert!(
            text.starts_with(r#"{"dtype":"float32","shape":[2,2],"data":[1.0,0.10000000149011612,-0.5,"#),
            "{text}"
        );
        assert_eq!(json::<f32, shape![_, 2]>(&text).unwrap(), x.t());
        let view: TensorView<u8, shape![2]> = TensorView::from_slice(&[1, 255]);
        assert_eq!(serde_json::to_string(&view).unwrap(), r#"{"dtype":"uint8","shape":[2],"data":[1,255]}"#);
        assert_eq!(
            serde_json::to_string(&Tensor::<i64, ()>::scalar(-3)).unwrap(),
            r#"{"dtype":"int64","shape":[],"data":[-3]}"#
        );
    }

    #[test]
    fn elements_of_every_kind_come_back() {
        fn check<E: Element>(elements: Vec<E>) {
            let x: Tensor<E, shape![_]> = Tensor::from_vec_sized(elements.clone(), [elements.len()]);
            let text = serde_json::to_string(&x).unwrap();
            let back = json::<E, shape![_]>(&text).unwrap();
            assert_eq!(format!("{:?}", back.to_vec()), format!("{elements:?}"), "{text}");
            #[cfg(feature = "any")]
            {
                let any: castiron::AnyTensor = serde_json::from_str(&text).unwrap();
                assert_eq!((any.dtype(), serde_json::to_string(&any).unwrap()), (E::DTYPE, text));
            }
        }
        check(vec![true, false]);
        check(vec![0_u8, 255]);
        check(vec![i8::MIN, i8::MAX]);
        check(vec![i64::MIN, i64::MAX]);
        check(vec![0, u64::MAX]);
        check(vec![f16::from_f32(0.1), f16::NEG_INFINITY]);
        check(vec![bf16::from_f32(0.1), bf16::from_f32(-1e30)]);
        check(vec![0.1_f32, -0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::NAN, f32::INFINITY]);
        check(vec![0.1_f64, 5e-324, f64::MAX, f64::NEG_INFINITY]);
        check(vec![Complex::new(0.1_f32, f32::NAN), Complex::new(f32::INFINITY, -0.0)]);
        check(vec![Complex::new(0.1_f64, 2.0)]);
        check((0..=0x7e).map(F8E4M3FN::from_bits).collect());
        check((0..=255).map(F4E2M1FNX2::from_bits).collect());
    }

    /// In formats that nobody reads the elements are bytes, as they are.
    #[test]
    fn binary_formats_keep_every_bit() {
        let written = |x: &Tensor<f32, shape![_]>| {
            let mut bytes = Vec::new();
            ciborium::into_writer(x, &mut bytes).unwrap();
            bytes
        };
        let read =
            |bytes: &[u8]| ciborium::from_reader::<Tensor<f32, shape![_]>, _>(bytes).map_err(|error| error.to_string());
        let x = tensor![f32::NAN, -0.0, 0.1, f32::from_bits(0x7fc0_1234)].with_shape::<shape![_]>();
        let bytes = written(&x);
        let bits = |x: Tensor<f32, shape![_]>| x.to_vec().into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(read(&bytes).unwrap()), bits(x));
        let long = written(&Tensor::zeros_sized([10_000]));
        assert!(long.len() < 40_100, "{} bytes", long.len());
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        let mut bools = Vec::new();
        ciborium::into_writer(&tensor![true, false], &mut bools).unwrap();
        assert_eq!(ciborium::from_reader::<Tensor<bool, shape![2]>, _>(&bools[..]).unwrap(), tensor![true, false]);
        *bools.last_mut().unwrap() = 2;
        let error = ciborium::from_reader::<Tensor<bool, shape![2]>, _>(&bools[..]).unwrap_err().to_string();
        assert!(error.contains("a bool is a byte of 0 or 1"), "{error}");
        #[cfg(feature = "any")]
        {
            let any: castiron::AnyTensor = ciborium::from_reader(&bytes[..]).unwrap();
            let mut again = Vec::new();
            ciborium::into_writer(&any.flip(&[0]).unwrap().flip(&[0]).unwrap(), &mut again).unwrap();
            assert_eq!(again, bytes);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |text: &str, says: &str| {
            let error = json::<u8, shape![_]>(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        };
        refused(r#"{"dtype":"uint8","shape":[3],"data":[1,2]}"#, "shape [3] of uint8 takes other than the 2 elements");
        refused(r#"{"dtype":"uint8","shape":[18446744073709551615],"data":[1]}"#, "takes other than");
        refused(r#"{"dtype":"uint8","shape":[18446744073709551616],"data":[1]}"#, "");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[256]}"#, "element Int(256) is none of uint8");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[1.5]}"#, "is none of uint8");
        refused(r#"{"dtype":"uint8","shape":[1],"data":[true]}"#, "is none of uint8");
        refused(r#"{"dtype":"bool","shape":[1],"data":[1]}"#, "is none of bool");
        refused(r#"{"dtype":"complex64","shape":[1],"data":[[1,2,3]]}"#, "two parts");
        refused(r#"{"dtype":"complex64","shape":[1],"data":[1.0]}"#, "is none of complex64");
        refused(&format!(r#"{{"dtype":"complex64","shape":[1],"data":{}"#, "[".repeat(100_000)), "recursion limit");
        refused(r#"{"dtype":"float32","shape":[1],"data":["ten"]}"#, "`ten` is no number");
        refused(r#"{"dtype":"float32","shape":[1],"data":[1]}"#, "expected a tensor of uint8 [_], found float32 [1]");
        refused(r#"{"dtype":"uint8","shape":[1,1],"data":[1]}"#, "expected a tensor of uint8 [_], found uint8 [1, 1]");
        refused(r#"{"shape":[1],"data":[1]}"#, "`dtype` has to stand before `data`");
        refused(r#"{"dtype":"uint8","data":[1]}"#, "a tensor has `dtype`, `shape` and `data`");
        refused(r#"{"dtype":"uint9","shape":[1],"data":[1]}"#, "unknown dtype `uint9`");
        assert!(serde_json::to_string(&Tensor::<f32, shape![1], Meta>::zeros()).is_err());
        let plan: Tensor<u8, shape![1], Meta> =
            serde_json::from_str(r#"{"dtype":"uint8","shape":[1],"data":[1]}"#).unwrap();
        assert!(plan.to_device::<Cpu>().is_err());
    }
}

#[cfg(feature = "bytemuck")]
#[test]
fn plain_structs_are_seen_as_elements_and_elements_as_them() {
    use castiron::{F8E5M2, TensorView, shape, tensor};
    let codes = [0x3c_u8, 0xbc];
    let floats: &[F8E5M2] = bytemuck::cast_slice(&codes);
    assert_eq!(floats.iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [1.0, -1.0]);
    let pairs = [[1.0_f32, 2.0], [3.0, 4.0]];
    let x: TensorView<f32, shape![2, 2]> = TensorView::from_pod(&pairs, [2, 2]).unwrap();
    assert_eq!((x.as_slice().unwrap().as_ptr(), x.to_vec()), (pairs[0].as_ptr(), vec![1.0, 2.0, 3.0, 4.0]));
    assert!(TensorView::<f32, shape![_, 3]>::from_pod(&pairs, [2, 3]).is_err());
    assert!(TensorView::<bool, shape![_]>::from_pod(&[1_u8, 2], [2]).is_err());
    let x = tensor![[1, 2], [3, 4]; u16];
    assert_eq!(x.as_pod::<[u16; 4]>(), Some(&[[1, 2, 3, 4]][..]));
    assert_eq!((x.as_pod::<u8>().unwrap().len(), x.as_pod::<[u16; 3]>()), (8, None));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use castiron::{Error, Tensor, TensorView, axis, s, shape, tensor};
    use ndarray::{Array, Array2, ArrayD, IxDyn, ShapeBuilder, array};

    #[test]
    fn views_go_both_ways_with_any_strides() {
        let x = Tensor::<i32, shape![_]>::arange(0, 24, 1).reshape::<shape![2, 3, 4]>();
        let odd = x.permute(axis![2, 0, 1]).slice(s![1..;2, .., ::2]);
        let array = odd.as_ndarray();
        assert_eq!((array.shape(), array.strides()), (&[2, 2, 2][..], &[2, 12, 8][..]));
        assert!(array.iter().eq(odd.to_vec().iter()));
        let back: TensorView<i32, shape![2, _, 2]> = TensorView::from_ndarray(array).unwrap();
        assert_eq!((back.to_vec(), back.stride()), (odd.to_vec(), odd.stride()));
        let wide = tensor![7].expand::<shape![3, 1]>();
        assert!(wide.as_ndarray().iter().eq(&[7, 7, 7]));
        let none = x.narrow(axis![1], 3, 0);
        assert_eq!(none.as_ndarray().shape(), [2, 0, 4]);
        let eight: Tensor<u8, shape![1, 1, 1, 1, 1, 1, 2, 1]> = Tensor::ones();
        assert_eq!(eight.as_ndarray().ndim(), 8);
        assert_eq!(Tensor::<f32, ()>::scalar(2.5).as_ndarray()[[]], 2.5);
    }

    #[test]
    fn an_array_gives_its_memory_and_takes_a_tensors() {
        let array = Array2::from_shape_vec((2, 3).f(), vec![1, 2, 3, 4, 5, 6]).unwrap();
        let place = array.as_ptr();
        let x: Tensor<i64, shape![2, 3]> = Tensor::from_ndarray(array).unwrap();
        assert_eq!((x.stride(), x.to_vec(), &raw const x[(0, 0)]), ([1, 2], vec![1, 3, 5, 2, 4, 6], place));
        let part = array![[1, 2, 3], [4, 5, 6]].slice_move(ndarray::s![1.., ..2]);
        let y: Tensor<i64, shape![_, _]> = Tensor::from_ndarray(part).unwrap();
        assert_eq!((y.storage_offset(), y.to_vec()), (3, vec![4, 5]));
        let elements = vec![1.0_f32, 2.0];
        let place = elements.as_ptr();
        let array = Tensor::<f32, shape![1, 2]>::from_vec(elements).into_ndarray();
        assert_eq!((array.as_ptr(), array), (place, array![[1.0, 2.0]]));
        assert_eq!(x.t().into_ndarray().shape(), [3, 2]);
        let none: Tensor<f32, shape![0, 3]> = Tensor::from_ndarray(Array::zeros((0, 3))).unwrap();
        assert_eq!(none.shape(), [0, 3]);
    }

    #[test]
    fn reversed_axes_and_other_sizes_are_refused_or_copied() {
        let array = array![1, 2, 3];
        let backward = array.slice(ndarray::s![..;-1]);
        let error = TensorView::<i64, shape![_]>::from_ndarray(backward).unwrap_err().to_string();
        assert!(error.starts_with("from_ndarray: strides [-1] lead backward"), "{error}");
        // What the message says helps.
        assert!(error.contains("`array.as_standard_layout()`"), "{error}");
        let standard = backward.as_standard_layout();
        let x: TensorView<i64, shape![3]> = TensorView::from_ndarray(standard.view()).unwrap();
        assert_eq!(x.to_vec(), [3, 2, 1]);
        let owned = array![1, 2, 3].slice_move(ndarray::s![..;-1]);
        assert_eq!(Tensor::<i64, shape![3]>::from_ndarray(owned).unwrap().to_vec(), [3, 2, 1]);
        assert!(matches!(TensorView::<i64, shape![2]>::from_ndarray(array.view()), Err(Error::Shape { .. })));
        assert!(matches!(TensorView::<i64, shape![_, _]>::from_ndarray(array.view()), Err(Error::Shape { .. })));
        let any_rank = ArrayD::<u8>::zeros(IxDyn(&[2, 2]));
        assert_eq!(Tensor::<u8, shape![2, 2]>::from_ndarray(any_rank).unwrap().numel(), 4);
    }
}

#[cfg(feature = "image")]
#[test]
fn images_give_and_take_their_memory() {
    use castiron::{ChannelsLast, Tensor, axis, shape};
    use image::{DynamicImage, GrayImage, Rgb, RgbImage};
    let image = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8, y as u8, 9]));
    let (place, pixels) = (image.as_raw().as_ptr(), image.clone());
    let x: Tensor<u8, shape![_, _, 3]> = Tensor::from_image(image).unwrap();
    assert_eq!((x.shape(), x.as_slice().unwrap().as_ptr(), x[(1, 2, 0)], x[(1, 2, 1)]), ([2, 3, 3], place, 2, 1));
    let batch: Tensor<u8, shape![1, 3, _, _]> = x.permute(axis![2, 0, 1]).unsqueeze(axis![0]);
    assert!(batch.is_contiguous_in(ChannelsLast) && batch.shares_storage(&x));
    drop(batch);
    let gray: Tensor<u8, shape![_, 3]> = Tensor::from_image(GrayImage::from_raw(3, 1, vec![7, 8, 9]).unwrap()).unwrap();
    assert_eq!(gray.into_image::<image::Luma<u8>>().unwrap().dimensions(), (3, 1));
    let error = Tensor::<u8, shape![_, _]>::from_rgb(image::DynamicImage::new_luma8(4, 2)).unwrap_err();
    assert!(error.to_string().contains("3 channels"), "{error}");
    let back: RgbImage = x.into_image().unwrap();
    assert_eq!((back.as_raw().as_ptr(), &back), (place, &pixels));
    let rgb: Tensor<u8, shape![2, 3, 3]> = Tensor::from_rgb(DynamicImage::ImageRgb8(pixels)).unwrap();
    assert!(
        rgb.clone().into_image::<image::Luma<u8>>().unwrap_err().to_string().contains("1 channels, the last axis 3")
    );
    let gray: Tensor<u8, shape![_, _, 1]> =
        Tensor::from_image(GrayImage::from_raw(1, 1, vec![7, 8, 9]).unwrap()).unwrap();
    assert_eq!(gray.to_vec(), [7]);
    assert!(Tensor::<u8, shape![_, _, 4]>::from_rgb(DynamicImage::new_rgb8(1, 1)).is_err());
    let flipped: image::RgbImage =
        rgb.slice(castiron::s![.., .., 0]).unsqueeze(axis![2]).expand::<shape![2, 3, 3]>().into_image().unwrap();
    assert_eq!(flipped.get_pixel(2, 1).0, [2, 2, 2]);
}

#[cfg(feature = "dlpack")]
mod exchanged {
    use castiron::io::DlPack;
    use castiron::{Complex, Cpu, Element, F4E2M1FNX2, F8E8M0FNU, Tensor, TensorView, axis, bf16, shape, tensor};
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Takes back what was given.
    fn returned<E: Element, S: castiron::Shape>(given: DlPack) -> castiron::Result<Tensor<E, S>> {
        // SAFETY: the pointer is that of a tensor of castiron's, which nobody writes.
        unsafe { Tensor::from_dlpack(DlPack::from_raw(given.into_raw())?) }
    }

    #[test]
    fn elements_are_shared_with_their_strides() {
        let x = tensor![[1, 2, 3], [4, 5, 6]];
        let part = x.t().narrow(axis![0], 1, 2);
        let mut y: Tensor<i64, shape![2, 2]> = returned(part.to_dlpack()).unwrap();
        assert_eq!((y.to_vec(), y.stride(), &raw const y[(0, 0)]), (vec![2, 5, 3, 6], [1, 3], &raw const x[(0, 1)]));
        // Written, it is copied, be it the last that castiron has.
        drop(part);
        y += 1;
        assert_eq!((y.to_vec(), x.to_vec()), (vec![3, 6, 4, 7], vec![1, 2, 3, 4, 5, 6]));
        drop(x);
        let memory = [1.5_f32, 2.5];
        let view: TensorView<f32, shape![2]> = TensorView::from_slice(&memory);
        let given = view.to_dlpack();
        drop(view);
        assert_eq!(returned::<f32, shape![_]>(given).unwrap().to_vec(), memory);
        assert_eq!(returned::<f32, ()>(Tensor::<f32, ()>::scalar(2.0).to_dlpack()).unwrap().item(), 2.0);
        let none = returned::<f32, shape![_, 0]>(Tensor::<f32, shape![3, 0]>::zeros().to_dlpack()).unwrap();
        assert_eq!(none.shape(), [3, 0]);
    }

    #[test]
    fn dtypes_are_told_apart() {
        fn check<E: Element>(x: Tensor<E, shape![1]>) {
            assert_eq!(returned::<E, shape![1]>(x.to_dlpack()).unwrap().dtype(), E::DTYPE);
            let error = returned::<u16, shape![1]>(x.to_dlpack()).unwrap_err().to_string();
            assert!(error.starts_with("from_dlpack: expected uint16, found elements of DLPack's code "), "{error}");
            #[cfg(feature = "any")]
            {
                let any = castiron::AnyTensor::from(&x);
                // SAFETY: nobody writes the tensor.
                let back = unsafe { castiron::AnyTensor::from_dlpack(any.to_dlpack().unwrap()) }.unwrap();
                assert_eq!((back.dtype(), back.to_bytes()), (E::DTYPE, any.to_bytes()));
            }
        }
        check(tensor![true]);
        check(tensor![1; i16]);
        check(tensor![1; u8]);
        check(tensor![1.0; f64]);
        check(Tensor::<bf16, _>::ones());
        check(Tensor::<Complex<f32>, _>::ones());
        check(Tensor::<F8E8M0FNU, _>::ones());
        check(Tensor::<F4E2M1FNX2, _>::from_vec(vec![F4E2M1FNX2::from_bits(0x12)]));
    }

    /// `DLManagedTensorVersioned`, as another library writes it.
    #[repr(C)]
    struct Managed {
        version: [u32; 2],
        context: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut Managed)>,
        flags: u64,
        data: *const c_void,
        device: [i32; 2],
        rank: i32,
        dtype: (u8, u8, u16),
        sizes: *const i64,
        strides: *const i64,
        byte_offset: u64,
    }

    static FREED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut Managed) {
        FREED.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn what_other_libraries_give_is_checked_and_freed() {
        let (elements, sizes, strides) = ([1.0_f32, 2.0, 3.0, 4.0], [2_i64, 2], [1_i64, 2]);
        let plain = || Managed {
            version: [1, 3],
            context: std::ptr::null_mut(),
            deleter: Some(count),
            flags: 0,
            data: elements.as_ptr().cast(),
            device: [1, 0],
            rank: 2,
            dtype: (2, 32, 1),
            sizes: sizes.as_ptr(),
            strides: strides.as_ptr(),
            byte_offset: 0,
        };
        let take = |change: &dyn Fn(&mut Managed)| {
            let mut managed = plain();
            change(&mut managed);
            // SAFETY: the struct and its lists outlive the tensor, which is copied below, or is not read.
            unsafe {
                let given = DlPack::from_raw((&raw mut managed).cast()).map_err(|error| error.to_string())?;
                let taken = Tensor::<f32, shape![_, 2]>::from_dlpack(given).map_err(|error| error.to_string())?;
                Ok::<_, String>(taken.to_vec())
            }
        };
        assert_eq!(take(&|_| ()).unwrap(), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(FREED.load(Ordering::Relaxed), 1);
        assert_eq!(take(&|of| of.strides = std::ptr::null()).unwrap(), [1.0, 2.0, 3.0, 4.0]);
        let ones = [1_i64, 2];
        // As NumPy gives `a.reshape(1, 2)[::-1]`: along an axis of one position, a stride leads nowhere.
        for stride in [-2, i64::MIN, i64::MAX] {
            let backward = [stride, 1];
            assert_eq!(take(&|of| (of.sizes, of.strides) = (ones.as_ptr(), backward.as_ptr())).unwrap(), [1.0, 2.0]);
        }
        let shifted = take(&|of| (of.sizes, of.byte_offset) = (ones.as_ptr(), 4));
        assert_eq!(shifted.unwrap(), [2.0, 4.0]);
        let refused = |change: &dyn Fn(&mut Managed), says: &str| {
            let error = take(change).unwrap_err();
            assert!(error.contains(says), "{error}\nlacks: {says}");
        };
        let (negative, large) = ([-1_i64, 2], [i64::MAX, 2]);
        let freed = FREED.load(Ordering::Relaxed);
        refused(&|of| of.data = std::ptr::null(), "the elements are a null pointer");
        refused(&|of| of.sizes = std::ptr::null(), "the sizes are a null pointer");
        refused(&|of| of.sizes = negative.as_ptr(), "the sizes [-1, 2] are not all positive");
        refused(&|of| of.strides = negative.as_ptr(), "the strides [-1, 2] are not all positive");
        refused(&|of| of.sizes = large.as_ptr(), "more elements than memory can address");
        refused(&|of| of.strides = large.as_ptr(), "reach beyond the memory");
        refused(&|of| of.byte_offset = u64::MAX, "the elements are a null pointer");
        refused(&|of| of.byte_offset = 2, "not aligned for float32");
        refused(&|of| of.rank = -1, "the number of axes is none");
        refused(&|of| of.rank = 1, "expected a tensor of shape [_, 2]");
        refused(&|of| of.dtype = (2, 64, 1), "expected float32, found elements of DLPack's code 2 with 64 bits");
        refused(&|of| of.device = [2, 0], "a device of DLPack's kind 2");
        assert_eq!(FREED.load(Ordering::Relaxed), freed + 12, "what is refused is freed");
        refused(&|of| of.version = [2, 0], "of DLPack 2.0");
        // SAFETY: a null pointer is refused.
        assert!(unsafe { DlPack::from_raw(std::ptr::null_mut()) }.is_err());
        let _: Option<Tensor<f32, shape![1], Cpu>> = None;
    }
}
